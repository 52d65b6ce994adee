"""Which modules belong to Python or to an installed library, and in which version."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Mapping
from importlib import metadata
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any, TypeGuard

__all__ = ["distributed_version", "home_of", "is_installed", "is_library", "resolve", "spec_of", "version"]

_PYTHON = (os.path.dirname(os.__file__), os.path.join(sys.base_prefix, "DLLs"))
_WITHOUT_PACKAGE = {"_loss": "sklearn._loss._loss"}  # scikit-learn's before 1.7 say so of their classes


def home_of(cls: type) -> str:
    """Return the name of the module that a class can be found in."""
    home = _WITHOUT_PACKAGE.get(cls.__module__, "")
    return home if home and resolve(home, cls.__qualname__) is cls else cls.__module__


def is_library(module: str | None) -> TypeGuard[str]:
    """Whether a module belongs to Python, or to an installed distribution whose version is known."""
    if not module or module == "__main__":
        return False
    path = getattr(sys.modules.get(module), "__file__", None) or ""
    return is_installed(module, path) and (_is_of_python(module) or bool(version(module)))


def is_installed(module: str, path: str) -> bool:
    """Whether a module with this file belongs to Python or to an installed distribution."""
    if _is_of_python(module) and (not path or path.startswith(_PYTHON)):
        return True  # and no file of the user's that happens to be called code.py
    return "site-packages" in path or "dist-packages" in path


def _is_of_python(module: str) -> bool:
    return module.partition(".")[0] in sys.stdlib_module_names


def resolve(module: str, qualname: str) -> Any:
    """Return what a module holds under a name; None if there is nothing."""
    found: Any = sys.modules.get(module)
    for part in qualname.split("."):
        found = getattr(found, part, None)
    return found


def spec_of(module: str) -> ModuleSpec | None:
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


@functools.cache
def _distributions() -> Mapping[str, list[str]]:
    return metadata.packages_distributions()  # reads all that is installed: a tenth of a second
