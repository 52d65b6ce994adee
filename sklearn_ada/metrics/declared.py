"""What a user may declare a metric by: a positive class, a scorer, a range."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from functools import partial
from typing import Any

from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    f1_score,
    jaccard_score,
    make_scorer,
    precision_score,
    recall_score,
)

from sklearn_ada._checks import bad_parameter
from sklearn_ada.metrics.interval_rules import Range

__all__ = ["OF_ONE_CLASS", "check_is_scorer", "check_range"]

OF_ONE_CLASS: dict[str, Callable[..., Any]] = {
    "average_precision": partial(
        make_scorer, average_precision_score, response_method=("decision_function", "predict_proba")
    ),
    "f1": partial(make_scorer, f1_score),
    "jaccard": partial(make_scorer, jaccard_score),
    "neg_brier_score": partial(
        make_scorer, brier_score_loss, greater_is_better=False, response_method="predict_proba"
    ),
    "precision": partial(make_scorer, precision_score),
    "recall": partial(make_scorer, recall_score),
}
"""Scorers for another positive class than scikit-learn's strings have."""


def check_is_scorer(scoring: Callable[..., Any], name: str) -> None:
    """Raise ValueError for a function of labels and predictions, such as `accuracy_score`."""
    try:
        signature = inspect.signature(scoring)
    except (TypeError, ValueError):  # of some callables written in C
        return
    try:
        signature.bind(None, None, None)
    except TypeError:
        raise bad_parameter(
            "scoring", "Metric", "a scorer, to be called as scoring(estimator, X, y)", name,
            "For a function of labels and predictions use its scorer string, such as 'accuracy' for "
            "accuracy_score, or sklearn.metrics.make_scorer(function).",
        ) from None  # fmt: skip


def check_range(bounds: tuple[float, float] | None) -> Range | None:
    """Return the bounds as floats, None if there are none; ValueError unless they are finite."""
    if bounds is None:
        return None
    try:
        low, high = (float(bound) for bound in bounds)
    except (TypeError, ValueError):
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise bad_parameter("range", "Metric", "a pair of finite numbers low < high", bounds)
    return low, high
