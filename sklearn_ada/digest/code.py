"""What a function uses besides its own code: global names, modules it imports when called, annotations."""

from __future__ import annotations

import dis
import hashlib
import importlib.util
import inspect
import re
import sys
import types
from collections.abc import Mapping
from typing import Any

from sklearn_ada.digest.libraries import distributed_version, is_installed, is_library, spec_of

__all__ = ["Undigestible", "annotations_of", "by_name", "source", "used_by"]

_IMPORT_NAME = dis.opmap["IMPORT_NAME"]
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


class Undigestible(TypeError):  # noqa: N818 - control flow between this package and its callers
    """The object holds something whose content cannot be read."""


def by_name(named: Mapping[str, Any]) -> list[Any]:
    """Return names, each followed by its value, sorted by name."""
    return [part for item in sorted(named.items(), key=lambda item: str(item[0])) for part in item]


def used_by(function: types.FunctionType) -> list[Any]:
    """Return what the global names of a function refer to, and what it imports when it is called.

    Nothing is imported, and a module has the same content before and after the first call imports it.
    """
    names, inside = function.__globals__, function.__code__
    used = _names(inside)
    package = names.get("__package__") or ""
    imported = {name: _imported(name, package, used) for name in _imports(inside)}
    return [by_name({name: _reached(names.get(name), used) for name in used}), by_name(imported)]


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
        raise Undigestible(f"how much of the module {module.__name__} is used cannot be told")
    return ["source", module.__name__, digest]


def _digest_of_file(path: str | None) -> str | None:
    try:
        with open(path or "", "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def _names(code: types.CodeType) -> set[str]:
    """Return every global name that a function's code, or code nested in it, may use."""
    nested = (const for const in code.co_consts if isinstance(const, types.CodeType))
    return set(code.co_names).union(*(_names(inner) for inner in nested))


def _imports(code: types.CodeType) -> set[str]:
    """Return the modules that a function, or one nested in it, imports when it is called."""
    found: set[str] = set()
    if _IMPORT_NAME in code.co_code[::2]:
        steps = list(dis.get_instructions(code))
        for level, step in zip(steps, steps[2:], strict=False):
            if step.opcode == _IMPORT_NAME:  # the two instructions before it load its level and its names
                found.add("." * level.argval + step.argval)
    nested = (const for const in code.co_consts if isinstance(const, types.CodeType))
    return found.union(*(_imports(inner) for inner in nested))


def _imported(name: str, package: str, used: set[str]) -> Any:
    """Return what an import statement inside a function stands for."""
    if name.startswith("."):
        try:
            name = importlib.util.resolve_name(name, package)
        except ImportError:
            return ["not found", name]
    loaded, spec = sys.modules.get(name), spec_of(name)
    if loaded is None and spec is None:
        return ["not found", name]
    origin = getattr(loaded, "__file__", None) or getattr(spec, "origin", None) or ""
    if is_installed(name, origin if origin not in ("built-in", "frozen") else ""):
        return ["library", name, distributed_version(name.partition(".")[0])]
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
