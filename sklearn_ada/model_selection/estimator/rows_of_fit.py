"""Whether rows that are scored are those that were passed to fit, most of which the model was trained on.

A digest of each fitted search is kept in this process only: in a pickle it would let anybody test a guess of
the labels.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from sklearn_ada._notices import warn_user
from sklearn_ada.digest import Undigestible, canonical_digest
from sklearn_ada.metrics import n_rows, take_rows

__all__ = ["remember_rows", "warn_of_rows_of_fit"]

_ROWS = 256  # of X, evenly spaced; of y all

_of_fit: WeakKeyDictionary[Any, str] = WeakKeyDictionary()


def remember_rows(search: Any, X: Any, y: Any) -> None:
    """Remember which rows a search is fitted on."""
    _of_fit.pop(search, None)
    digest = _digest(X, y)
    if digest is not None:
        _of_fit[search] = digest


def warn_of_rows_of_fit(search: Any, X: Any, y: Any) -> None:
    """Warn, once a search and process, if these are the rows that it was fitted on."""
    known = _of_fit.get(search)
    if known is None or y is None or _digest(X, y) != known:
        return
    warn_user(
        "These are the rows that were passed to fit, and the model was trained on all of them but the "
        "holdout's: this score is too good, and is no part of a certificate. The certified score is "
        "best_score_ (certify() publishes it); score other rows, or none.",
        once=("rows of fit", known),
    )


def _digest(X: Any, y: Any) -> str | None:
    try:
        at = np.linspace(0, n_rows(X) - 1, min(n_rows(X), _ROWS)).astype(int)
        return canonical_digest((take_rows(X, at), np.asarray(y)))
    except (Undigestible, ValueError, TypeError, IndexError):  # such rows were not passed to fit
        return None
