"""Reusable holdouts for scikit-learn.

Every score read off a holdout comes with an interval that stays valid however often, and however cleverly,
the holdout is asked; and the budget for asking cannot be lost, reset or refilled by accident.
"""

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from sklearn_ada import _session_token  # names the session before any worker is started  # noqa: F401

if TYPE_CHECKING:
    from sklearn_ada._api import *  # noqa: F403

__version__ = "0.1.0"


def _public_names() -> dict[str, Any]:
    """Return the names of the module ``_api``, which are imported at the first use of one of them."""
    module = importlib.import_module("sklearn_ada._api")
    return {"__all__": module.__all__, **{name: getattr(module, name) for name in module.__all__}}


def __getattr__(name: str) -> Any:
    if not name.startswith("_") and importlib.util.find_spec(f"sklearn_ada.{name}") is not None:
        return importlib.import_module(f"sklearn_ada.{name}")
    names = _public_names() if name == "__all__" or not name.startswith("_") else {}
    if name not in names:
        raise AttributeError(f"module 'sklearn_ada' has no attribute {name!r}")
    globals().update(names)
    return names[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *_public_names()})
