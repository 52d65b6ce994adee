"""What the validation rows of ``guess_from`` give a question: its guess, and what a metric lacks."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_ada._checks import bad_parameter
from sklearn_ada._notices import warn_user
from sklearn_ada.holdout.asking.own_interval import HOW_A_MEDIAN, check_defined, why_no_interval
from sklearn_ada.holdout.changing_rows.check_overlap import check_not_held_out
from sklearn_ada.holdout.models.checks import Pair, discarded_copy
from sklearn_ada.holdout.models.predictions import (
    Predictions,
    public_predictions,
)
from sklearn_ada.holdout.questions.guess import (
    Guess,
    guess_from_rows,
    median_guess_from_rows,
    metric_of_all_rows,
    metric_with_range,
)
from sklearn_ada.holdout.questions.medians.median_settings import MedianSettings
from sklearn_ada.holdout.session.session import Session
from sklearn_ada.metrics import Metric, as_metric
from sklearn_ada.metrics.registry import OF_ALL_ROWS

__all__ = ["compared_metric", "guess_of", "tuned_on_rows", "with_suggested_range"]

_TOO_GOOD = 0.25  # of the deviation of y: a model that explains more than 99 percent of it


def tuned_on_rows(
    session: Session, estimator: Any, metric: Metric, purpose: str, rows: tuple[Any, Any] | None, owner: str
) -> Metric:
    """Return a metric as it is certified by an interval of all rows; ValueError where it cannot be."""
    check_defined(session.data, metric)
    why = why_no_interval(session, metric, purpose)
    if purpose == "certify" and rows is None and OF_ALL_ROWS[metric.string or ""].needs_rows:
        why = why or "has an interval that validation rows must tune: give guess_from=(X_val, y_val)"
    if why:
        raise bad_parameter(
            "scoring", owner, "a metric with an interval of its own", metric.name, f"It {why}. {HOW_A_MEDIAN}"
        )
    if not (isinstance(rows, tuple | list) and len(rows) == 2):
        return metric.of_all_rows()
    check_not_held_out(session, rows[0])
    return _not_too_good(metric_of_all_rows(metric, discarded_copy(estimator, owner), *rows), rows[1])


def with_suggested_range(
    session: Session, estimator: Any, metric: Metric, rows: tuple[Any, Any], owner: str
) -> Metric:
    """Return the metric with the range that validation rows suggest, where they are usable at all."""
    if not (isinstance(rows, tuple | list) and len(rows) == 2):
        return metric  # which `guess_of` says
    check_not_held_out(session, rows[0])
    return _not_too_good(metric_with_range(metric, discarded_copy(estimator, owner), *rows), rows[1])


def compared_metric(session: Session, pair: Pair, scoring: Any, guess_from: Any) -> Metric:
    """Return the metric of a comparison: with the range that both models' scores of validation rows suggest.

    That is where it has none of its own and there are such rows.
    """
    metric, owner = as_metric(scoring), "Holdout.compare"
    if not (metric.lacks_range and metric.kind == "mean" and guess_from is not None):
        return metric
    found = [with_suggested_range(session, each, metric, guess_from, owner) for each in (pair.a, pair.b)]
    ranges = [each.range for each in found if each.range is not None]
    if not ranges:
        return metric  # the rows are no pair, which `guess_of` says
    made = metric.with_range((min(low for low, _ in ranges), max(high for _, high in ranges)))
    made.most_beyond = found[0].most_beyond
    return made


def guess_of(
    session: Session,
    estimator: Any,
    metric: Metric,
    median: MedianSettings | None,
    guess: object,
    rows: tuple[Any, Any],
    owner: str,
) -> Guess:
    """Return the metric of a copy of the model on validation rows; raise if they are the holdout's."""
    if guess is not None:
        raise bad_parameter("guess_from", owner, "None where a guess is given", "both", "Give one of them.")
    if not (isinstance(rows, tuple | list) and len(rows) == 2):
        got = f"{type(rows).__name__}"
        raise bad_parameter("guess_from", owner, "a pair of validation rows and labels, (X, y)", got)
    X, y = rows
    if isinstance(estimator, Predictions):
        return guess_from_rows(metric, *public_predictions(X, owner), y)
    check_not_held_out(session, X)
    model = discarded_copy(estimator, owner)
    if median is None:
        return guess_from_rows(metric, model, X, y)
    return median_guess_from_rows(metric, model, X, y, median.subsample_size(session.data))


def _not_too_good(metric: Metric, y: Any) -> Metric:
    """Warn, before anything is charged, of errors so small that the model may know these rows."""
    most = metric.most_error
    if most is not None and most < _TOO_GOOD * float(np.std(np.asarray(y, dtype=float))):
        warn_user(
            f"The errors of the model on the rows of guess_from are below {most:g}, little beside the spread "
            "of y. If many errors on the holdout are larger the question fails, and is paid for. Give rows "
            "that the model was not trained on, or a range of your own: Metric('neg_mean_absolute_error', "
            "range=(low, 0))."
        )
    return metric
