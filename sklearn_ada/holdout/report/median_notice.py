"""What is said when a metric is certified by a stable median that nobody has asked for."""

from __future__ import annotations

from sklearn_ada.holdout.questions.median_settings import MedianSettings
from sklearn_ada.holdout.rows.data import HoldoutData
from sklearn_ada.metrics import Metric
from sklearn_ada.metrics.registry import WITH_INTERVAL

__all__ = ["is_chosen", "median_notice"]


def is_chosen(metric: Metric) -> bool:
    """Return whether the metric has an interval, and was declared to do without: ``kind="general"``."""
    return metric.kind == "general" and metric.string in WITH_INTERVAL


def median_notice(metric: Metric, settings: MedianSettings, data: HoldoutData, *, regression: bool) -> str:
    """Return that the median of a metric is another quantity than the metric, and what has an interval.

    Parameters
    ----------
    metric : Metric
    settings : MedianSettings
    data : HoldoutData
    regression : bool
        Whether the model is a regressor, however few values y has.
    """
    name = metric.name
    size = data.subsample_size(settings.subsamples(data), stratify=settings.stratify)
    units = "groups" if data.has_groups else "records"
    return (
        f"{name} has no interval of its own on this holdout. Its answers are the median of {name} over "
        f"random subsamples of {size} {units}, which is another quantity than {name} on all rows and can be "
        f"far from it. Use {_with_interval(metric, data, regression)}"
    )


def _with_interval(metric: Metric, data: HoldoutData, regression: bool) -> str:
    if metric.string in WITH_INTERVAL and metric.range is None:
        return f"a metric with an interval, here Metric({metric.string!r}, range=(low, 0))"
    if regression or data.classes is None:
        return "a metric with an interval, such as Metric('neg_mean_absolute_error', range=(low, 0))"
    names = ["roc_auc"] if len(data.classes) == 2 else []
    known = [repr(n) for n in (*names, "balanced_accuracy", "accuracy") if data.has_interval(Metric(n))]
    return f"a metric with an interval, such as {', '.join(known)}"
