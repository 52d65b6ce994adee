"""What is said where a metric has no value with the labels that there are, and how to mend it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target

from sklearn_ada._checks import bad_parameter
from sklearn_ada.metrics.metric import Metric
from sklearn_ada.metrics.rules.defined import UndefinedMetricError

__all__ = ["undefined_metric"]

_FOR_SEVERAL = {
    **{name: f"'{name}_macro'" for name in ("f1", "jaccard", "precision", "recall")},
    "average_precision": "'roc_auc_ovr'",
    "neg_brier_score": "Metric('neg_log_loss', range=(-10, 0))",
    "roc_auc": "'roc_auc_ovr'",
}
_SHOWN = 10
_NEGATIVE = {"0", "-1", "false", "n", "neg", "negative", "no", "none", "normal", "off"}


def undefined_metric(
    metric: Metric, y: NDArray[Any], error: UndefinedMetricError, owner: str = "Holdout", fix: str = ""
) -> ValueError:
    """Return the error for labels with which a metric is undefined, with the code to write instead.

    ``fix`` is said where there is no such code.

    Examples
    --------
    >>> y, reason = np.array(["churn", "stays"]), UndefinedMetricError("it needs records of class 1")
    >>> str(undefined_metric(Metric("f1"), y, reason)).rpartition("instead. ")[2]
    "Say which class is meant, 'churn' or 'stays': scoring=Metric('f1', pos_label='churn')."
    """
    expected = f"such that {metric.name} is defined: {error}"
    if type_of_target(y) not in ("binary", "multiclass"):
        return bad_parameter("y", owner, expected, f"{len(y)} numbers")
    labels = np.unique(y).tolist()
    got = labels if len(labels) <= _SHOWN else f"{len(labels)} classes"
    return bad_parameter("y", owner, expected, got, _fix(metric, labels) or fix)


def _fix(metric: Metric, labels: list[Any]) -> str:
    if len(labels) > 2:
        other = _FOR_SEVERAL.get(metric.string or "")
        return "" if other is None else f"For several classes write scoring={other}."
    if metric.positive is not None and metric.positive not in labels:
        meant = [label for label in labels if str(label).lower() not in _NEGATIVE] or labels
        either = " or ".join(map(repr, meant))
        return (
            f"Say which class is meant, {either}: scoring=Metric({metric.string!r}, pos_label={meant[0]!r})."
        )
    return "Bring records of another class." if len(labels) == 1 else ""
