"""Reusable holdouts for scikit-learn.

Every score read off a holdout comes with an interval that stays valid however often, and however cleverly,
the holdout is asked; and the budget for asking cannot be lost, reset or refilled by accident.
"""

from typing import TYPE_CHECKING

import sklearn_ada._session_token  # names the session before any worker is started  # noqa: F401
from sklearn_ada._lazy import lazy_names

if TYPE_CHECKING:
    from sklearn_ada._api import *  # noqa: F403

__version__ = "0.1.0"
__getattr__, __dir__ = lazy_names(__name__)
