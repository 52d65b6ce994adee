"""No module needs, for running or for its types, a module that needs it."""

import ast
import pathlib

import sklearn_ada

PACKAGE = pathlib.Path(sklearn_ada.__file__).parent


def imports_of(package):
    """Return which modules of a package each of its modules imports, under ``TYPE_CHECKING`` too."""
    paths = {path: path.with_suffix("").relative_to(package.parent).parts for path in package.rglob("*.py")}
    modules = {".".join(parts).removesuffix(".__init__"): path for path, parts in paths.items()}
    arrows = {}
    for name, path in modules.items():
        nodes = list(ast.walk(ast.parse(path.read_text())))
        found = [
            (f"{node.module}.{alias.name}", node.module)
            for node in nodes
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        ]
        found += [(alias.name,) for node in nodes if isinstance(node, ast.Import) for alias in node.names]
        firsts = (next((one for one in names if one in modules), name) for names in found)
        arrows[name] = {target for target in firsts if target != name}
    return arrows


def circles_of(arrows):
    """Return the modules that are left when those without arrows are taken away, again and again."""
    while free := {name for name, targets in arrows.items() if not targets & arrows.keys()}:
        arrows = {name: targets for name, targets in arrows.items() if name not in free}
    return sorted(arrows)


def test_modules_import_without_circles():
    arrows = imports_of(PACKAGE)
    assert "sklearn_ada.accounting.events" in arrows["sklearn_ada.accounting.codes"]
    assert circles_of(arrows) == []


def test_a_circle_of_imports_is_found(tmp_path):
    package = tmp_path / "house"
    package.mkdir()
    texts = {
        "cellar": "",
        "hall": "from house.cellar import x",
        "stairs": "if TYPE_CHECKING:\n    from house.attic import y",
        "attic": "from house import hall, stairs",
    }
    for name, text in {"__init__": "", **texts}.items():
        (package / f"{name}.py").write_text(text)
    assert circles_of(imports_of(package)) == ["house.attic", "house.stairs"]
