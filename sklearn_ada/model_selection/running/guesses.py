"""Where the guess of a search's winner comes from: its own folds, or rows set aside for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.utils.multiclass import type_of_target

from sklearn_ada.holdout import (
    Guess,
    guess_from_rows,
    median_guess_from_rows,
    metric_of_all_rows,
    metric_with_range,
)
from sklearn_ada.metrics import Metric, n_rows, take_rows
from sklearn_ada.model_selection.running.pairs import take_for
from sklearn_ada.model_selection.scorers.splitter import split_rows

__all__ = ["guess_from_folds", "guess_from_validation", "tuned_by_validation"]

_OWN_FOLDS = "the search's own folds"  # of the rows that the model was fitted on, so they need no digest


def guess_from_folds(
    over_folds: np.ndarray,
    scores: np.ndarray,
    index: int,
    n: int,
    folds: int,
    metric: Metric,
    subsample_size: int | None,
) -> Guess | None:
    """Return a candidate's out-of-fold score as a guess, or None if it has none.

    For a stable median of subsamples of ``subsample_size`` rows its deviation over the folds is scaled to
    them.
    """
    if not np.isfinite(scores[index]):
        return None
    value = float(scores[index])
    if subsample_size is None:
        low, high = metric.bounds  # one record's score is clipped, so the mean of others may be outside
        return Guess(min(max(value, low), high), size=float(n), rows=_OWN_FOLDS)
    spread = float(over_folds[index]) * (n / folds / subsample_size) ** 0.5 or abs(value) or 1.0
    return Guess(value, size=float(folds), deviation=spread, rows=_OWN_FOLDS)


def tuned_by_validation(
    fit: Callable[[NDArray[Any]], Any],
    X: Any,
    y: Any,
    validation: float,
    groups: Any,
    metric: Metric,
    of_pairs: bool = False,
) -> tuple[Metric, Guess | None]:
    """Return a metric tuned by a part of the rows, and a guess from it.

    Its range, if it lacks one, or what an interval of all rows needs. Where the rows are too few to leave
    some of them out, a model that knows nothing of X tunes it: that y has this scale.

    Raises
    ------
    ValueError
        If that cannot be either.
    """
    tune = metric_with_range if metric.lacks_range else metric_of_all_rows
    try:
        rows = _validated(fit, X, y, validation, groups, of_pairs)
        tuned = tune(metric, *rows)
        return tuned, guess_from_rows(tuned, *rows)
    except Exception:  # too few rows, a class is missing, ...
        if metric.has_interval_of_all_rows and not metric.of_all_rows().rule.needs_rows:
            return metric.of_all_rows(), None
        rows = _knowing_nothing(metric, y)
        tuned = tune(metric, *rows)
        return tuned, guess_from_rows(tuned, *rows)


def guess_from_validation(
    fit: Callable[[NDArray[Any]], Any],
    X: Any,
    y: Any,
    validation: float,
    groups: Any,
    metric: Metric,
    subsample_size: int | None,
    of_pairs: bool = False,
) -> Guess | None:
    """Return a guess from a model that ``fit`` makes of one part of the rows, taken on the rest.

    It raises nothing: the search's choice may be paid for by now, and without a guess the answer is as good.
    """
    try:
        rows = _validated(fit, X, y, validation, groups, of_pairs)
        if subsample_size is None:
            return guess_from_rows(metric, *rows)
        return median_guess_from_rows(metric, *rows, subsample_size)
    except Exception:  # too few rows, a class is missing, ...: only the price suffers
        return None if subsample_size is None else Guess(0.0, deviation=1.0)


def _knowing_nothing(metric: Metric, y: Any) -> tuple[Any, Any, Any]:
    """Return a model that says the same of all rows, and rows with these labels."""
    of_numbers = metric.response.target == "numbers" or type_of_target(y).startswith("continuous")
    dummy = DummyRegressor() if of_numbers else DummyClassifier()
    nothing = np.zeros((len(y), 1))
    return dummy.fit(nothing, y), nothing, y


def _validated(
    fit: Callable[[NDArray[Any]], Any], X: Any, y: Any, validation: float, groups: Any, of_pairs: bool
) -> tuple[Any, Any, Any]:
    """Return a model of one part of the rows, and the rest with its labels."""
    first, rest = split_rows(n_rows(X), y, validation, 0, groups)
    return fit(first), take_for(X, rest, first, of_pairs), take_rows(y, rest)
