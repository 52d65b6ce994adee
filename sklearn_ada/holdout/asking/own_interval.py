"""Whether a metric has an interval of its own on a holdout, and if not, why not."""

from __future__ import annotations

from sklearn_ada._checks import bad_parameter
from sklearn_ada.holdout.rows.data import HoldoutData
from sklearn_ada.holdout.session.session import Session
from sklearn_ada.metrics import Metric, UndefinedMetricError, undefined_metric
from sklearn_ada.metrics.registry import NO_INTERVAL, OF_ALL_ROWS

__all__ = ["HOW_A_MEDIAN", "check_defined", "check_median_is_wanted", "why_no_interval"]

HOW_A_MEDIAN = (
    "settings=MedianSettings(), or mechanism='stable_median' of a search, answers the median over "
    "subsamples instead."
)
"""What to write for a stable median."""
_ALIKE = "has an interval for records that count alike and are independent, not with weights or groups"
_KNOWN_COUNTS = "has an interval at known class counts only, not with class_mix='priced'"


def why_no_interval(session: Session, metric: Metric, purpose: str) -> str:
    """Return why a metric has no interval of its own on this holdout; empty if it has.

    Of a certify it is taken for granted that there are validation rows, to tune it or to suggest a range.

    Parameters
    ----------
    session : Session
    metric : Metric
    purpose : {"check", "certify"}

    Returns
    -------
    str
        Such as "compares clusterings by pairs of records, ...", to be put after the metric's name.
    """
    data, policy = session.data, session.policy
    if metric.has_interval_of_all_rows:
        if data.units is not None:
            return _ALIKE
        if not policy.is_described:
            return "has no answer with noise, and this holdout certifies by privacy alone"
        if OF_ALL_ROWS[metric.string or ""].at_class_mix and policy.class_mix == "priced":
            return _KNOWN_COUNTS
        return (
            ""
            if purpose == "certify"
            else "has an interval of all rows, which a certify tells and a check does not"
        )
    if metric.lacks_range:
        if purpose == "check":
            return f"has no finite range: declare one, Metric({metric.name!r}, range=(low, 0))"
        metric = metric.with_range((-1.0, 0.0))  # any: it only matters that validation rows will suggest one
    if not metric.has_interval:
        return NO_INTERVAL.get(metric.string or "", "is a function of which nothing is known but its values")
    if data.has_interval(metric):
        return ""
    return _ALIKE if data.units is not None else _KNOWN_COUNTS


def check_defined(data: HoldoutData, metric: Metric) -> None:
    """Raise ValueError, which says what to write, for a metric that has no meaning for these labels."""
    try:
        metric.check_target(data.some_labels)
        metric.check_classes(data.some_labels)
    except UndefinedMetricError as error:
        raise undefined_metric(metric, data.some_labels, error) from error


def check_median_is_wanted(metric: Metric, owner: str) -> None:
    """Raise unless the asker wrote that a stable median is wanted, or a function of their own."""
    if metric.string is None or metric.chosen_general:
        return
    name = metric.name
    if metric.lacks_range:
        fix = (
            f"It has no finite range: declare one, Metric({name!r}, range=(low, 0)), or give validation "
            "rows, guess_from=(X_val, y_val), which suggest one."
        )
    else:
        fix = f"It {NO_INTERVAL[metric.string]}."
    raise bad_parameter(
        "scoring", owner, "a metric with an interval of its own", name,
        f"{fix} {HOW_A_MEDIAN}",
    )  # fmt: skip
