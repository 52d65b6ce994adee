"""Halve, then double, each piece of noise in a copy of the package, and see which test notices.

    python -m benchmarks.validity.halved_noise [--only TEXT]

A place is an expression in `sklearn_ada.mechanisms`, or in a call of its kernels in `sklearn_ada.questions`,
that fixes how much noise there is, found by reading the syntax: the scale of a draw, the exponent of a
weight, arithmetic with epsilon on the way to a draw, an epsilon handed on to another mechanism. Events are
left as they are (but for that other mechanism's own), so a change is a lie about privacy or about accuracy,
and the default tests must turn red. Exits with 1 if they do not.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Place", "changed", "places"]

ROOT = Path(__file__).parents[2]
FOLDERS = ("sklearn_ada/mechanisms", "sklearn_ada/questions", "sklearn_ada/holdout")
TESTS = ("tests/public/mechanisms", "tests/laws/test_laws_of_answers.py")
FACTORS = {"halved": 0.5, "doubled": 2.0}

# Kernels, and which argument is the scale of their noise: its place, or its name.
KERNELS: dict[str, int | str] = {
    "with_laplace": 1,
    "with_normal": 1,
    "laplace_threshold": 1,
    "laplace_correction": 3,
    "gaussian_correction": 3,
    "noisy_search": "deviation",
}
# Mechanisms that others are made of, and which argument is their epsilon.
HANDED_ON: dict[str, int | str] = {
    "SparseVector": 0,
    "Verification": 2,
    "exponential_mechanism": "epsilon",
    "exponential_quantile": 2,
}
_WITH_A_SCALE = ("laplace", "normal", "gumbel", "exponential")
_UNIFORM = ("random", "integers", "permutation")


@dataclass(frozen=True)
class Place:
    """Where noise is fixed.

    Parameters
    ----------
    path : str
        Of the module, from the root of the repository.
    function : str
    line : int
    start, end : int
        The expression, as bytes of the file; empty where a draw says no scale.
    kind : {"scale", "added scale", "exponent", "epsilon", "handed on"}
    """

    path: str
    function: str
    line: int
    start: int
    end: int
    kind: str

    def replacement(self, text: str, factor: float) -> str:
        """Return the expression with its noise multiplied."""
        if self.kind == "added scale":
            return f"scale={factor}, "
        return f"({text}) * {factor}" if self.kind == "scale" else f"(({text}) / {factor})"


def places(root: Path = ROOT) -> list[Place]:
    """Return every place, in the order of the files."""
    found = []
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*.py")):
            source = file.read_bytes()
            tree = ast.parse(source)
            functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
            drawing = _drawing(functions)
            for function in functions:
                for node, kind in _noise(function, draws=function.name in drawing):
                    start, end = _span(source, node)
                    if kind == "added scale":  # after the bracket that opens the call
                        start = end = source.index(b"(", _span(source, node.func)[1]) + 1  # type: ignore[attr-defined]
                    path = file.relative_to(root).as_posix()
                    found.append(Place(path, function.name, node.lineno, start, end, kind))
    inner = {(each.path, each.start): each for each in found}  # nested functions are met twice
    return sorted(inner.values(), key=lambda each: (FOLDERS[0] not in each.path, each.path, each.start))


def changed(source: bytes, place: Place, factor: float) -> bytes:
    """Return the module with one place changed."""
    text = source[place.start : place.end].decode()
    return source[: place.start] + place.replacement(text, factor).encode() + source[place.end :]


def _drawing(functions: list[ast.FunctionDef]) -> set[str]:
    """Return the functions that draw, and those of the same module that they call."""
    calls: dict[str, set[str]] = {}
    for each in functions:  # methods of several classes may have one name
        called = {_name(node) for node in ast.walk(each) if isinstance(node, ast.Call)}
        calls[each.name] = calls.get(each.name, set()) | called
    names = {name for name, called in calls.items() if called & {*_WITH_A_SCALE, *_UNIFORM, *KERNELS}}
    while True:
        more = {called for name in names for called in calls[name] if called in calls} - names
        if not more:
            return names
        names |= more


def _noise(function: ast.FunctionDef, *, draws: bool) -> Iterator[tuple[ast.expr, str]]:
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            yield from _of_call(node, draws=draws)
        elif draws and isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
            for side in (node.left, node.right):
                if ast.unparse(side) in ("epsilon", "self.epsilon"):
                    yield side, "epsilon"


def _of_call(node: ast.Call, *, draws: bool) -> Iterator[tuple[ast.expr, str]]:
    name = _name(node)
    if isinstance(node.func, ast.Attribute) and name in _WITH_A_SCALE and _is_generator(node.func.value):
        scales = [each.value for each in node.keywords if each.arg == "scale"]
        yield (scales[0], "scale") if scales else (node, "added scale")
    elif name in KERNELS and _is_of_a_module(node.func):
        yield _argument(node, KERNELS[name]), "scale"
    elif name in HANDED_ON and _is_of_a_module(node.func):
        yield _argument(node, HANDED_ON[name]), "handed on"
    elif draws and name == "exp":
        yield node.args[0], "exponent"


def _is_of_a_module(function: ast.expr) -> bool:
    """Return whether a function is called by its name or by its module's, not as a method of an object."""
    if isinstance(function, ast.Attribute):
        return isinstance(function.value, ast.Name) and function.value.id not in ("self", "cls")
    return isinstance(function, ast.Name)


def _argument(call: ast.Call, where: int | str) -> ast.expr:
    if isinstance(where, int):
        return call.args[where]
    return next(each.value for each in call.keywords if each.arg == where)


def _is_generator(node: ast.expr) -> bool:
    text = ast.unparse(node)
    return text.endswith("rng") or "generator" in text or "question()" in text or text == "run"


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _span(source: bytes, node: ast.expr) -> tuple[int, int]:
    starts = [0, *(match.end() for match in re.finditer(b"\n", source))]
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset


def _noticed(root: Path, place: Place) -> str:
    """Return the first test that fails in a copy of the repository, or nothing; likely ones are run first."""
    likely = [TESTS[1]]
    if FOLDERS[0] in place.path:
        files = [path for path in (root / TESTS[0]).rglob("test_*.py") if path.stem != "test_bad_input"]
        own = [path for path in files if path.stem == f"test_{Path(place.path).stem}"]
        likely = [f"{path}" for path in own or files if own or place.function in path.read_text()]
    return _first_failure(root, *likely) or _first_failure(root, *TESTS)


def _first_failure(root: Path, *tests: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        "-k",
        "not poison",
        "-m",
        "not slow",  # the thorough ones as well
        *tests,
    ]
    run = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    failed = re.search(r"^(?:FAILED|ERROR) \S*?([^/\s]+::\S+|\S+)", run.stdout, re.MULTILINE)
    if run.returncode == 0:
        return ""
    return failed[1] if failed else f"pytest exited with {run.returncode}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", default="", help="places whose file, function or kind holds this text")
    only = parser.parse_args().only
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in ("sklearn_ada", "tests", "benchmarks"):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("pyproject.toml", "README.md"):
            shutil.copy(ROOT / name, copy / name)
        for place in places():
            file = copy / place.path
            source = file.read_bytes()
            where = f"{place.path.removeprefix('sklearn_ada/')}:{place.line} {place.function}, {place.kind}"
            if only not in where:
                continue
            print(where, source[place.start : place.end].decode(), sep=": ")
            for word, factor in FACTORS.items():
                file.write_bytes(changed(source, place, factor))
                noticed = _noticed(copy, place)
                missed += not noticed
                print(f"    {word:8} {noticed or 'NOTICED BY NO TEST'}", flush=True)
            file.write_bytes(source)
    print(f"{missed} not noticed")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
