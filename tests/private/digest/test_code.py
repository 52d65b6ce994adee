"""What a function refers to is part of it, imports inside it too, and nothing is imported to find out."""

import functools
import sys
import types
import weakref
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.special
from scipy import sparse

from sklearn_ada.digest.canonical import canonical_digest
from sklearn_ada.digest.code import Undigestible


def function_of(body, package=""):
    """Return a function of a notebook, or of a module in a package of the user's."""
    namespace = {"__name__": f"{package}.m" if package else "__main__", "__package__": package}
    exec("def f(X):\n" + "".join(f"    {line}\n" for line in body.split("\n")), namespace)
    return namespace["f"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder that modules are imported from, and forgotten after the test."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith("module_of_a_user") or name.startswith("package_of_a_user"):
            del sys.modules[name]


def test_a_library_that_is_imported_later_changes_nothing(monkeypatch):
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    function = function_of("import colorsys\nreturn colorsys")
    before = canonical_digest(function)
    assert "colorsys" not in sys.modules
    function(1)
    assert canonical_digest(function) == before


def test_a_module_of_a_user_is_known_by_its_file_before_and_after_it_is_imported(folder):
    (folder / "module_of_a_user.py").write_text("a = 1")
    function = function_of("import module_of_a_user\nreturn module_of_a_user.a")
    before = canonical_digest(function)
    assert "module_of_a_user" not in sys.modules
    function(1)
    assert canonical_digest(function) == before
    (folder / "module_of_a_user.py").write_text("a = 2")
    assert canonical_digest(function) != before


def test_a_relative_import_is_found_in_its_package(folder):
    (folder / "package_of_a_user").mkdir()
    (folder / "package_of_a_user" / "__init__.py").write_text("")
    (folder / "package_of_a_user" / "inner.py").write_text("a = 1")
    function = function_of("from .inner import a\nreturn a", package="package_of_a_user")
    before = canonical_digest(function)
    assert "package_of_a_user" not in sys.modules
    (folder / "package_of_a_user" / "inner.py").write_text("a = 2")
    assert canonical_digest(function) != before


def test_a_module_that_is_not_there_is_known_by_its_name():
    names = ("not_there_a", "not_there_b", "not_there_a")
    first, other, again = (canonical_digest(function_of(f"import {name}")) for name in names)
    assert first == again != other


def test_a_module_used_as_a_whole_is_known_by_its_file(folder):
    (folder / "module_of_a_user.py").write_text("a = 1")
    import module_of_a_user

    before = canonical_digest(types.SimpleNamespace(held=module_of_a_user))
    (folder / "module_of_a_user.py").write_text("a = 2")
    assert canonical_digest(types.SimpleNamespace(held=module_of_a_user)) != before
    (folder / "module_of_a_user.py").unlink()
    with pytest.raises(Undigestible):
        canonical_digest(types.SimpleNamespace(held=module_of_a_user))


class Half(functools.partial):
    pass


class Kept(property):
    pass


def held(obj):
    return obj


@dataclass
class Pair:
    a: int = 1
    b: int = 2


@dataclass
class Other:
    a: int = 1
    b: int = 3


def annotated(kind):
    return type("Annotated", (), {"__annotations__": {"a": kind}, "__module__": "__main__"})


def noted(kind):
    def f(X):
        return X

    f.__annotations__ = {"X": kind}
    return f


class Target:
    def __init__(self, value):
        self.value = value


TARGETS = [Target(1), Target(2)]
TOLD_APART = {
    "a sparse array": (sparse.csr_matrix(np.eye(2)), sparse.csr_array(np.eye(2))),
    "a subclass of partial": (functools.partial(held, 1), Half(held, 1)),
    "a subclass of property": (property(held), Kept(held)),
    "a cached property": (functools.cached_property(held), functools.cached_property(len)),
    "annotations of a class": (annotated(int), annotated(float)),
    "annotations of a function": (noted(int), noted(float)),
    "ufuncs of one name": (np.log1p, scipy.special.log1p),
    "dataclasses": (Pair(), Other()),
    "fields": (Pair(), Pair(a=5)),
    "weak references": tuple(weakref.ref(target) for target in TARGETS),
    "read-only dicts": (types.MappingProxyType({"a": 1}), types.MappingProxyType({"a": 2})),
}


@pytest.mark.parametrize("pair", TOLD_APART.values(), ids=TOLD_APART)
def test_what_is_cheap_to_tell_apart_is_told_apart(pair):
    digests = [canonical_digest(obj) for obj in pair]
    assert digests[0] != digests[1]
    assert digests == [canonical_digest(obj) for obj in pair]
