"""Distinguish a user's own code from that of libraries, and read what a function uses.

A module belongs to Python, or to an installed library that has a version; or else to the user: then its code
counts. A function uses, besides its own code, global names and modules that it imports when it is
called; code may read annotations, too. Of a model with code of the user's own, the digest may miss what its
predictions depend on.
"""

from __future__ import annotations

import dis
import functools
import hashlib
import importlib.util
import inspect
import os
import pickle
import re
import sys
import types
from collections.abc import Iterator, Mapping
from importlib import metadata
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any, TypeGuard

_PYTHON = (os.path.dirname(os.__file__), os.path.join(sys.base_prefix, "DLLs"))
_WITHOUT_PACKAGE = {"_loss": "sklearn._loss._loss"}  # scikit-learn's before 1.7 say so of their classes
_IMPORT_NAME = dis.opmap["IMPORT_NAME"]
_READ_GLOBAL = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


class Undigestible(TypeError):  # noqa: N818 - control flow between this package and its callers
    """The object holds something whose content cannot be read."""


def home_of(cls: type) -> str:
    """Return the name of the module that a class can be found in."""
    home = _WITHOUT_PACKAGE.get(cls.__module__, "")
    return home if home and resolve(home, cls.__qualname__) is cls else cls.__module__


def is_library(module: str | None) -> TypeGuard[str]:
    """Whether a module belongs to Python, or to an installed distribution with a version."""
    if not module or module == "__main__":
        return False
    path = getattr(sys.modules.get(module), "__file__", None) or ""
    return _is_installed(module, path) and (_is_of_python(module) or bool(version(module)))


def version(module: str) -> str:
    """Return the version of a module's package, or of the distributions it came with; "" if there is none."""
    package = module.partition(".")[0]
    return str(getattr(sys.modules.get(package), "__version__", "")) or distributed_version(package)


@functools.cache
def distributed_version(package: str) -> str:
    """Return names and versions of the distributions that a top-level package came with."""
    if package in sys.stdlib_module_names:
        return ""
    names = sorted(set(_distributions().get(package, ())))
    return " ".join(f"{name} {metadata.version(name)}" for name in names)


def resolve(module: str, qualname: str) -> Any:
    """Return what a module holds under a name; None if there is nothing."""
    found: Any = sys.modules.get(module)
    for part in qualname.split("."):
        found = getattr(found, part, None)
    return found


def used_by(function: types.FunctionType, *, lasting: bool = False) -> list[Any]:
    """Return what a function refers to by global names, and what it imports when called.

    Nothing is imported, and a module has the same content before and after the first call imports it.

    Parameters
    ----------
    function : function
    lasting : bool, default=False
        Whether versions of libraries are left out, and names of attributes are no global names. It is False
        for ledgers of older formats.
    """
    names, codes = function.__globals__, [*_with_nested(function.__code__)]
    used = {name for code in codes for name in code.co_names}
    read = {name for code in codes for name in _globals_of(code)} if lasting else used
    package = names.get("__package__") or ""
    imports = {name for code in codes for name in _imports(code)}
    imported = {name: _imported(name, package, used, with_version=not lasting) for name in imports}
    return [by_name({name: _reached(names.get(name), used) for name in read}), by_name(imported)]


def tables_read_by(function: types.FunctionType) -> dict[str, Any]:
    """Return what a user's function reads of its module that may be a table, or another function, by name.

    Of a library's function nothing. Where only names and sizes are read of a table, as in ``X.columns`` or
    ``len(X)``, it is left out.

    Parameters
    ----------
    function : function

    Examples
    --------
    >>> import numpy as np
    >>> def scaled(X):
    ...     return X / RANGE, len(ROWS)
    >>> scaled.__globals__.update(RANGE=np.ones(3), ROWS=np.ones((9, 3)))
    >>> list(tables_read_by(scaled))
    ['RANGE']
    """
    if is_library(function.__module__):
        return {}
    found: dict[str, Any] = {}
    values, uses = function.__globals__, set[tuple[str, str]]()
    for code in _with_nested(function.__code__):
        if any(_may_reach_rows(values.get(name)) for name in code.co_names):
            uses |= _uses_in(code)
    for name, attribute in uses:
        value = values.get(name)
        if _is_own_module(value) and attribute:
            name, value = f"{name}.{attribute}", getattr(value, attribute, None)
        elif attribute in _OF_COLUMNS:
            continue
        parts: Any = ()
        if isinstance(value, _SEVERAL) and len(value) <= _FEW:
            parts = value.items() if isinstance(value, dict) else enumerate(value)
        found |= {f"{name}[{key!r}]": part for key, part in parts if _may_hold_rows(part)}
        if _may_hold_rows(value):
            found[name] = value
    return dict(sorted(found.items()))


_OF_COLUMNS = {"columns", "dtype", "dtypes", "feature_names_in_", "ndim", "shape"}
_SEVERAL = (dict, list, tuple)
_OF_TABLES = ("__array_interface__", "columns", "tocsr", "detach")  # of arrays, frames, matrices, tensors
_FEW = 100  # parts of a dict or list that are looked at


def _may_reach_rows(value: Any) -> bool:
    return _may_hold_rows(value) or isinstance(value, _SEVERAL) or _is_own_module(value)


def _may_hold_rows(value: Any) -> bool:
    """Return whether a value is a function, or a table in memory: others would be read from elsewhere."""
    kind = type(value)
    is_table = any(hasattr(kind, name) for name in _OF_TABLES) and not hasattr(kind, "__dask_graph__")
    return inspect.isfunction(value) or is_table


@functools.lru_cache(maxsize=10_000)
def _uses_in(code: types.CodeType) -> frozenset[tuple[str, str]]:
    """Return the global names that code reads, each with the attribute of it that is read, or ""."""
    steps, uses = [step for step in dis.get_instructions(code) if step.opname not in _BETWEEN], set()
    for before, step, after in zip([None, *steps], steps, [*steps[1:], None], strict=False):
        if step.opname in _READ_GLOBAL:
            attribute = str(after.argval) if after is not None and after.opname in _READ_PART else ""
            is_len = before is not None and before.opname in _READ_GLOBAL and before.argval == "len"
            uses.add((str(step.argval), "shape" if is_len and not attribute else attribute))
    return frozenset(uses)


_BETWEEN = {"CACHE", "PUSH_NULL", "PRECALL", "RESUME", "EXTENDED_ARG"}
_READ_PART = {"LOAD_ATTR", "LOAD_METHOD"}


def annotations_of(obj: Any) -> list[str]:
    """Return the annotations of a function or class as text: code may read them, such as a dataclass."""
    try:
        own = inspect.get_annotations(obj)
    except Exception:  # they may be code that fails
        return []
    return [_ADDRESS.sub("", f"{name}: {value!r}") for name, value in own.items()]


def source(module: types.ModuleType) -> list[Any]:
    """Return the digest of the file of a user's module.

    Raises
    ------
    Undigestible
        If it has none.
    """
    digest = _digest_of_file(getattr(module, "__file__", None))
    if digest is None:
        raise Undigestible(f"how much of the module {module.__name__} is used cannot be seen")
    return ["source", module.__name__, digest]


def by_name(named: Mapping[str, Any]) -> list[Any]:
    """Return names, each followed by its value, sorted by name."""
    return [part for item in sorted(named.items(), key=lambda item: str(item[0])) for part in item]


def has_own_code(model: Any) -> bool:
    """Return whether a model has a class or function that is no installed library's.

    A model that cannot be read counts as one that has. That code of a library was patched is not seen.

    Examples
    --------
    >>> from sklearn.preprocessing import FunctionTransformer
    >>> import numpy as np
    >>> has_own_code(FunctionTransformer(np.log1p)), has_own_code(FunctionTransformer(lambda X: X))
    (False, True)
    """
    try:
        # Large arrays are handed to the callback, which drops them: their content has no code.
        with open(os.devnull, "wb") as nowhere:
            _Reader(nowhere, protocol=5, buffer_callback=lambda buffer: False).dump(model)
    except Exception:  # whatever the parts of a model raise
        return True
    return False


def _is_installed(module: str, path: str) -> bool:
    """Whether a module with this file belongs to Python or to an installed distribution."""
    if _is_of_python(module) and (not path or path.startswith(_PYTHON)):
        return True  # and no file of the user's that happens to be called code.py
    return "site-packages" in path or "dist-packages" in path


def _is_of_python(module: str) -> bool:
    return module.partition(".")[0] in sys.stdlib_module_names


def _spec_of(module: str) -> ModuleSpec | None:
    """Return where a module is or would be imported from; nothing is imported. None if it is not found."""
    loaded = sys.modules.get(module)
    if loaded is not None:
        return getattr(loaded, "__spec__", None)
    spec, path, name = None, None, ""
    for part in module.split("."):
        name = f"{name}.{part}" if name else part
        spec = PathFinder.find_spec(name, path)
        if spec is None:
            return None
        path = spec.submodule_search_locations
    return spec


@functools.cache
def _distributions() -> Mapping[str, list[str]]:
    return metadata.packages_distributions()  # reads all that is installed: a tenth of a second


def _with_nested(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield a function's code, and the code nested in it."""
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from _with_nested(const)


@functools.lru_cache(maxsize=10_000)
def _globals_of(code: types.CodeType) -> frozenset[str]:
    """Return the names that code reads of its module, without those of attributes and methods."""
    steps = dis.get_instructions(code)
    return frozenset(str(step.argval) for step in steps if step.opname in _READ_GLOBAL)


def _imports(code: types.CodeType) -> Iterator[str]:
    """Yield the modules that a function imports when it is called."""
    if _IMPORT_NAME in code.co_code[::2]:
        steps = list(dis.get_instructions(code))
        for dots, step in zip(steps, steps[2:], strict=False):
            if step.opcode == _IMPORT_NAME:  # the two instructions before it load its dots and its names
                yield "." * dots.argval + step.argval


def _imported(name: str, package: str, used: set[str], *, with_version: bool) -> Any:
    """Return what an import statement inside a function stands for."""
    if name.startswith("."):
        try:
            name = importlib.util.resolve_name(name, package)
        except ImportError:
            return ["not found", name]
    loaded, spec = sys.modules.get(name), _spec_of(name)
    if loaded is None and spec is None:
        return ["not found", name]
    origin = getattr(loaded, "__file__", None) or getattr(spec, "origin", None) or ""
    if _is_installed(name, origin if origin not in ("built-in", "frozen") else ""):
        return ["library", name, distributed_version(name.partition(".")[0]) if with_version else ""]
    digest = _digest_of_file(origin)
    if digest is not None:
        return ["source", name, digest]
    return ["not found", name] if loaded is None else _reached(loaded, used)


def _reached(value: Any, used: set[str]) -> Any:
    """Return what a name refers to; instead of a module of the user's, the attributes that are used of it."""
    if not _is_own_module(value):
        return value
    reached: dict[str, list[Any]] = {}
    modules = [value]
    while modules:
        module = modules.pop()
        attributes = {name: getattr(module, name) for name in used if hasattr(module, name)}
        if not attributes:
            reached[module.__name__] = source(module)  # it is used as a whole
            continue
        inner = {name: one for name, one in attributes.items() if _is_own_module(one)}
        reached[module.__name__] = by_name(attributes | {k: one.__name__ for k, one in inner.items()})
        modules += [one for one in inner.values() if one.__name__ not in reached]
    return by_name(reached)


def _is_own_module(value: Any) -> bool:
    return isinstance(value, types.ModuleType) and not is_library(value.__name__)


def _digest_of_file(path: str | None) -> str | None:
    try:
        with open(path or "", "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


class _Reader(pickle.Pickler):
    """Walks over all parts of an object as pickle does."""

    def reducer_override(self, obj: Any) -> Any:
        """Raise at the first class or function of the user's."""
        named = obj if isinstance(obj, type | types.FunctionType | types.BuiltinFunctionType) else type(obj)
        # A function in a library's wrapper, such as functools.lru_cache, says where it is from itself.
        own = getattr(obj, "__module__", None)
        for module in (named.__module__, own if isinstance(own, str) else named.__module__):
            if not is_library(module):
                raise Undigestible(f"{module} is the user's own")
        return NotImplemented
