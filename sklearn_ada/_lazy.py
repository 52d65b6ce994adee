"""Packages whose names are imported at their first use, so that one class does not load every theorem.

The names of such a package, and where they come from, stand in its module ``_api``.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from typing import Any

__all__ = ["lazy_names"]


def lazy_names(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` for a package (PEP 562); no name may be a module's, too."""

    def api() -> dict[str, Any]:
        module = importlib.import_module(f"{package}._api")
        return {"__all__": module.__all__, **{name: getattr(module, name) for name in module.__all__}}

    def __getattr__(name: str) -> Any:  # noqa: N807 - its name in the package
        if not name.startswith("_") and importlib.util.find_spec(f"{package}.{name}") is not None:
            return importlib.import_module(f"{package}.{name}")
        names = api() if name == "__all__" or not name.startswith("_") else {}
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        vars(sys.modules[package]).update(names)
        return names[name]

    def __dir__() -> list[str]:  # noqa: N807
        return sorted({*vars(sys.modules[package]), *api()})

    return __getattr__, __dir__
