"""Scorer objects that scikit-learn registers under a name."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import joblib
from sklearn.metrics import get_scorer, get_scorer_names

__all__ = ["registered_name"]

_MADE = type(get_scorer("accuracy"))


def registered_name(scoring: Callable[..., Any]) -> str | None:
    """Return the scorer string that stands for the same scorer, or None.

    The same is: the same function with the same options, and no request of metadata.

    Examples
    --------
    >>> from sklearn.metrics import accuracy_score, fbeta_score, make_scorer
    >>> registered_name(get_scorer("f1_macro")), registered_name(make_scorer(accuracy_score))
    ('f1_macro', 'accuracy')
    >>> registered_name(make_scorer(fbeta_score, beta=2)) is None
    True
    """
    if type(scoring) is not _MADE:
        return None
    try:
        return _names().get(joblib.hash(scoring))
    except Exception:  # what cannot be pickled is a scorer of one's own
        return None


@cache
def _names() -> dict[str, str]:
    # Reversed, so that of two strings for one scorer the first is told.
    return {joblib.hash(get_scorer(name)): name for name in reversed(get_scorer_names())}
