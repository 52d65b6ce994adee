"""The code of a model is part of its digest, with all that it refers to; nothing is imported to find out."""

import functools
import re
import sys
import types

import numpy as np
import pytest
from scipy.optimize import _lbfgsb
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import _tree

from sklearn_ada.digest import code as libraries
from sklearn_ada.digest.canonical import canonical_digest
from sklearn_ada.digest.code import Undigestible


def made(source, **scope):
    """Return the ``f`` that a source defines, as a notebook cell would."""
    namespace = {"__name__": "__main__", "functools": functools, "np": np, **scope}
    exec(source, namespace)
    return namespace["f"]


def versions(source):
    """Return the two versions of a source: where they differ stands <this|that>."""
    return [re.sub(r"<([^<>|]*)\|([^<>|]*)>", rf"\{number}", source) for number in (1, 2)]


def unlike(first, second):
    """Whether no answer about one would be given for the other: digests differ, or there is none."""
    try:
        return canonical_digest(first) != canonical_digest(second)
    except Undigestible:
        return True


DIFFERENT_CODE = {
    "constant": "def f(X): return X + <1|2>",
    "operator": "def f(X): return X <+|-> 1",
    "attribute": "def f(X): return X.<real|imag>",
    "library function": "def f(X): return np.<sin|cos>(X)",
    "default": "def f(X, k=<1|2>): return X * k",
    "keyword default": "def f(X, *, k=<1|2>): return X * k",
    "global": "k = <1|2>\ndef f(X): return X * k",
    "global array": "k = np.<ones|zeros>(2)\ndef f(X): return X * k",
    "called function": "def g(X): return <|->X\ndef f(X): return g(X)",
    "inner function": "def f(X): return [x for x in X if <|not >x]",
    "global of an inner function": "k = <1|2>\ndef f(X): return [k * x for x in X]",
    "guarded statement": "def f(X):\n <try:\n  |>X = g(X)<|\n try:>\n  X = h(X)\n except E: pass\n return X",
    "method": "class f:\n def transform(self, X): return <|->X",
    "inherited method": "class b:\n def t(self, X): return <|->X\nclass f(b): pass",
    "class attribute": "class f: k = <1|2>",
    "static method": "class f:\n @staticmethod\n def t(X): return <|->X",
    "property": "class f:\n p = property(lambda self: <1|2>)",
    "partial": "f = functools.partial(np.power, <1|2>)",
    "decorated": "def d(g):\n @functools.wraps(g)\n def w(X): return g(X)\n return w\n"
    "@d\ndef f(X): return <|->X",
    "vectorized": "f = np.vectorize(lambda x: x + <1|2>)",
}
FALSE_MATCHES = {
    "cached": "@functools.cache\ndef f(X): return <|->X",
    "calls a cached function": "@functools.cache\ndef g(k): return <|->k\ndef f(X): return X * g(2)",
    "universal function": "f = np.frompyfunc(lambda x: x + <1|2>, 1, 1)",
    "bound method of a builtin": "f = {0: <1|2>}.get",
    "attribute of the function": "def f(X): return X * f.k\nf.k = <1|2>",
    "kind of argument": "def f(X, <|*>k): return X",
    "metaclass": "class M(type):\n def __call__(cls): return <1|2>\nclass f(metaclass=M): pass",
    "tokenizer": "import re\nf = re.compile('<a|b>').findall",
}


@pytest.mark.parametrize("source", DIFFERENT_CODE.values(), ids=DIFFERENT_CODE)
def test_other_code_makes_another_model_and_the_same_code_run_again_the_same(source):
    first, second = (canonical_digest(FunctionTransformer(made(version))) for version in versions(source))
    assert first != second
    for version in versions(source):
        assert canonical_digest(made(version)) == canonical_digest(made("\n\n" + version))


@pytest.mark.parametrize("source", FALSE_MATCHES.values(), ids=FALSE_MATCHES)
def test_other_code_is_never_taken_for_the_same(source):
    assert unlike(*map(made, versions(source)))


def test_what_a_closure_holds_is_part_of_it():
    source = "def g(cell, scale):\n def f(X): return X * cell[0] * scale\n return f\nf = g([<1|2>], {})"
    digests = {canonical_digest(made(each.format(scale))) for each in versions(source) for scale in (1, 2)}
    assert len(digests) == 4


def test_a_class_keeps_its_digest_when_an_object_of_it_was_pickled():
    fresh = made("class f:\n def transform(self, X): return X")
    before = canonical_digest(fresh)
    fresh().__reduce_ex__(4)
    assert "__slotnames__" in vars(fresh)
    assert canonical_digest(fresh) == before


@pytest.fixture
def of_user(monkeypatch):
    """Modules of the user's own, in two versions: helpers without a file, and a package that holds them."""

    def modules(factor):
        helpers, package = types.ModuleType("helpers_of_a_user"), types.ModuleType("package_of_a_user")
        helpers.f = made(f"def f(X): return X * {factor}")
        package.helpers, helpers.package_of_a_user = helpers, package  # which know each other
        for module in (helpers, package):
            monkeypatch.setitem(sys.modules, module.__name__, module)
        return {"helpers": helpers, "package_of_a_user": package}

    return modules


USES_OF_A_FUNCTION = {
    "of a module": "def f(X): return helpers.f(X)",
    "imported inside": "def f(X):\n from helpers_of_a_user import f as g\n return g(X)",
    "of a package": "def f(X): return package_of_a_user.helpers.f(X)",
    "of a package, imported inside": "def f(X):\n from package_of_a_user import helpers as h\n return h.f(X)",
    "of a package, in a method": "class f:\n def p(self, X): return package_of_a_user.helpers.f(X)",
}
USES_OF_A_MODULE_AS_A_WHOLE = {
    "attribute": "import types\nf = types.SimpleNamespace(helpers=helpers)",
    "argument": "def f(X): return call(helpers, X)",
    "by name": "def f(X): return getattr(helpers, 'f')(X)",
    "default": "def f(X, h=helpers): return h.f(X)",
}


@pytest.mark.parametrize("source", USES_OF_A_FUNCTION.values(), ids=USES_OF_A_FUNCTION)
def test_a_function_of_a_user_module_is_part_of_who_calls_it(source, of_user):
    first, again, other = (canonical_digest(made(source, **of_user(factor))) for factor in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize("source", USES_OF_A_MODULE_AS_A_WHOLE.values(), ids=USES_OF_A_MODULE_AS_A_WHOLE)
def test_a_user_module_without_a_file_of_which_anything_may_be_used_has_no_digest(source, of_user):
    with pytest.raises(Undigestible):
        canonical_digest(made(source, **of_user(1)))


@pytest.fixture
def installed(monkeypatch):
    """A function of a library, in the version and with the code given."""

    def install(source, version=None, name="library_of_somebody", folder="/somewhere/site-packages"):
        library = types.ModuleType(name)
        library.__file__ = f"{folder}/{name}.py"
        if version is not None:
            library.__version__ = version
        exec(source, vars(library))
        monkeypatch.setitem(sys.modules, name, library)
        return library.f

    return install


CODES = ["def f(X): return X", "def f(X): return -X"]
CLASSES = ["class f:\n def p(self, X): return X", "class f:\n def p(self, X): return -X"]
AS_IN_PYTHON = {"name": "code", "folder": "/home/user"}


@pytest.mark.parametrize(
    ("sources", "where"),
    [(CODES, {}), (CLASSES, {}), (CODES, AS_IN_PYTHON)],
    ids=["function", "class", "in a user module that is named like one of Python"],
)
def test_a_library_without_a_version_is_known_by_its_code(sources, where, installed):
    first, again, other = (canonical_digest(installed(sources[number], **where)) for number in (0, 0, 1))
    assert first == again != other


@pytest.mark.parametrize("of_distribution", [False, True])
def test_a_library_is_known_by_its_version(of_distribution, installed, monkeypatch):
    if of_distribution:
        monkeypatch.setattr(libraries, "_distributions", lambda: {"library_of_somebody": ["lib"]})
    digests = []
    for version in "112":
        libraries.distributed_version.cache_clear()
        monkeypatch.setattr(libraries.metadata, "version", lambda name, version=version: version)
        digests.append(canonical_digest(installed(CODES[0], None if of_distribution else version)))
    libraries.distributed_version.cache_clear()
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize("compiled", [_tree.Tree, _lbfgsb.setulb], ids=["class", "function"])
def test_compiled_code_has_a_digest_in_a_library_only(compiled, monkeypatch):
    canonical_digest(compiled)
    monkeypatch.setattr(sys.modules[compiled.__module__], "__file__", "/home/user/compiled.so")
    with pytest.raises(Undigestible):
        canonical_digest(compiled)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder that modules are imported from, and forgotten after the test."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith("module_of_a_user"):
            del sys.modules[name]


def test_a_library_that_is_imported_later_changes_nothing(monkeypatch):
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    function = made("def f(X):\n import colorsys\n return colorsys")
    before = canonical_digest(function)
    assert "colorsys" not in sys.modules
    function(1)
    assert canonical_digest(function) == before


def test_a_module_of_a_user_is_known_by_its_file_before_and_after_it_is_imported(folder):
    file = folder / "module_of_a_user.py"
    file.write_text("a = 1")
    function = made("def f(X):\n import module_of_a_user\n return module_of_a_user")
    before = canonical_digest(function)
    assert "module_of_a_user" not in sys.modules
    held = types.SimpleNamespace(module=function(1))
    assert canonical_digest(function) == before
    as_a_whole = canonical_digest(held)
    file.write_text("a = 2")
    assert canonical_digest(function) != before
    assert canonical_digest(held) != as_a_whole
    file.unlink()
    with pytest.raises(Undigestible):
        canonical_digest(held)


def test_a_relative_import_is_found_in_its_package(folder):
    package = folder / "package_of_a_user"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "inner.py").write_text("a = 1")
    scope = {"__name__": "package_of_a_user.m", "__package__": "package_of_a_user"}
    function = made("def f(X):\n from .inner import a\n return a", **scope)
    before = canonical_digest(function)
    assert "package_of_a_user" not in sys.modules
    (package / "inner.py").write_text("a = 2")
    assert canonical_digest(function) != before


def test_a_module_that_is_not_there_is_known_by_its_name():
    names = ("not_there_a", "not_there_b", "not_there_a")
    first, other, again = (canonical_digest(made(f"def f(X):\n import {name}")) for name in names)
    assert first == again != other
