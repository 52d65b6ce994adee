"""Scorer objects that scikit-learn registers under a name."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import joblib
from sklearn.metrics import (
    f1_score,
    get_scorer,
    get_scorer_names,
    jaccard_score,
    make_scorer,
    precision_score,
    recall_score,
)

__all__ = ["registered_name"]

_MADE = type(get_scorer("accuracy"))
_AVERAGED = {"f1": f1_score, "jaccard": jaccard_score, "precision": precision_score, "recall": recall_score}
_AVERAGES = ("", "macro", "micro", "weighted", "samples")
_WRITTEN: tuple[dict[str, Any], ...] = (
    {},
    {"zero_division": 0},
    {"zero_division": 0.0},
    {"zero_division": "warn"},
)


def registered_name(scoring: Callable[..., Any]) -> str | None:
    """Return the scorer string that stands for the same scorer, or None.

    The same is: the same function with the same options, and no request of metadata. Averages over classes
    need no ``pos_label=None``, as ``make_scorer(f1_score, average="macro")``, and a ``zero_division`` of 0
    changes nothing but a warning.

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
    known = {joblib.hash(get_scorer(name)): name for name in get_scorer_names()}
    for name, function in _AVERAGED.items():
        for average in _AVERAGES:
            for options in _WRITTEN:
                made = make_scorer(function, **({"average": average} if average else {}), **options)
                known[joblib.hash(made)] = f"{name}_{average}" if average else name
    return known
