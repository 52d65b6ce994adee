"""From the parameters of a `ReusableHoldoutCV` to the metric, the mechanism and the scorer they name."""

from __future__ import annotations

import contextlib

from sklearn.base import is_classifier

from sklearn_ada._checks import bad_parameter
from sklearn_ada.holdout import Holdout, MedianSettings, check_defined, session_of, why_no_interval
from sklearn_ada.metrics import Metric, as_metric
from sklearn_ada.metrics.registry import NEED_EVERY_CLASS
from sklearn_ada.model_selection.running.own_scores import metric_of
from sklearn_ada.model_selection.scorers.base import HoldoutScorer
from sklearn_ada.model_selection.scorers.scorers import LadderScorer, StableHoldoutScorer, ThresholdoutScorer
from sklearn_ada.model_selection.wrapper import Wrapper

__all__ = ["chosen_median", "chosen_metric", "chosen_scorer", "is_tuned", "median_settings"]

_OWNER = "ReusableHoldoutCV"


def chosen_metric(wrapper: Wrapper) -> Metric:
    """Return what is certified: ``scoring``, the scorer's metric, the search's own, or the usual one.

    Raises
    ------
    ValueError
        For several metrics, and for another than that of the scorer which is to ask about it.
    """
    of_scorer = wrapper.mechanism.metric if isinstance(wrapper.mechanism, HoldoutScorer) else None
    scoring = wrapper.scoring
    if scoring is None:
        scoring = metric_of(wrapper.search) if of_scorer is None else of_scorer
    if scoring is None:
        scoring = "accuracy" if is_classifier(wrapper.search.estimator) else "r2"
    if isinstance(scoring, (dict, list, tuple, set)):
        raise bad_parameter(
            "scoring", _OWNER, "one metric", scoring, "Name the one to certify: scoring='accuracy'."
        )
    metric = as_metric(scoring)
    if of_scorer is None:
        return metric
    if (metric.scoring, metric.describe()) != (of_scorer.scoring, of_scorer.describe()):
        raise bad_parameter(
            "scoring", _OWNER, f"None or {of_scorer.name}, the metric of the scorer that is its mechanism",
            scoring,
        )  # fmt: skip
    return of_scorer


def chosen_median(wrapper: Wrapper, metric: Metric, holdout: Holdout) -> MedianSettings | None:
    """Return the settings of the stable median, or None where the metric has an interval of its own.

    With ``mechanism="auto"`` a scorer of scikit-learn's is certified on its own value, or refused: a median
    answers where it was asked for, and for a function of which nothing is known but its values.
    What validation rows tune is for winners: candidates are checked, all of them in the same way.
    Exact, unless privacy alone certifies: by description length a draw's noise would only widen the interval.

    Raises
    ------
    ValueError
        If the metric has no interval on this holdout; it says why, and what to write.
    """
    if isinstance(wrapper.mechanism, StableHoldoutScorer):
        return wrapper.mechanism.median
    if wrapper.mechanism == "stable_median":
        return median_settings(metric, holdout)
    is_auto = wrapper.mechanism == "auto"
    winners = is_auto and (wrapper.ask != "candidates" or wrapper.reveal == "winner")
    session = session_of(holdout)
    why = why_no_interval(session, metric, "certify" if winners else "check")
    if not why:
        return None
    if is_auto and (metric.string is None or metric.chosen_general):
        return median_settings(metric, holdout)
    check_defined(session.data, metric)
    of_winner = "" if winners or not is_tuned(metric) else " Its winner can be certified: ask='winner'."
    raise bad_parameter(
        "scoring", _OWNER, "a metric with an interval of its own", metric.name,
        f"It {why}.{of_winner} mechanism='stable_median' answers the median over subsamples instead, "
        "which is another quantity.",
    )  # fmt: skip


def is_tuned(metric: Metric) -> bool:
    """Return whether validation rows tune a winner's interval: its range, or what all rows are bounded by."""
    return metric.has_interval_of_all_rows or metric.lacks_range


def median_settings(metric: Metric, holdout: Holdout) -> MedianSettings:
    """Return the usual settings; each subsample gets every class where the metric has no value otherwise."""
    method = "exponential" if holdout.route == "differential_privacy" else "exact"
    if metric.name in NEED_EVERY_CLASS:
        stratified = MedianSettings(method=method, stratify=True)
        with contextlib.suppress(ValueError):  # with groups it cannot be had
            stratified.subsample_size(session_of(holdout).data)
            return stratified
    return MedianSettings(method=method)


def chosen_scorer(
    wrapper: Wrapper, metric: Metric, holdout: Holdout, median: MedianSettings | None
) -> HoldoutScorer:
    """Return the scorer that asks about every candidate."""
    if isinstance(wrapper.mechanism, HoldoutScorer):
        return wrapper.mechanism.fresh(wrapper.validation)
    if wrapper.mechanism == "ladder":
        return LadderScorer(metric, holdout, validation=wrapper.validation)
    if median is not None:
        return StableHoldoutScorer(
            metric, holdout, method=median.method, stratify=median.stratify, validation=wrapper.validation
        )
    return ThresholdoutScorer(metric, holdout, validation=wrapper.validation)
