"""What is asked: metrics, how each is measured, and how an answer about it is certified."""

from sklearn_ada.data.labels import Units, check_labels, is_missing, n_rows, take_rows
from sklearn_ada.metrics import classes, means, ranking, regression  # whose metrics register themselves
from sklearn_ada.metrics.base import (
    Foreseen,
    Measure,
    Measured,
    RowsInterval,
    UndefinedMetricError,
    classify_scorers,
)
from sklearn_ada.metrics.metric import Metric, as_metric, undefined_metric
from sklearn_ada.metrics.outputs import StoredOutputs, UnusableOutputsError

__all__ = [
    "Foreseen",
    "Measure",
    "Measured",
    "Metric",
    "RowsInterval",
    "StoredOutputs",
    "UndefinedMetricError",
    "Units",
    "UnusableOutputsError",
    "as_metric",
    "check_labels",
    "classes",
    "classify_scorers",
    "is_missing",
    "means",
    "n_rows",
    "ranking",
    "regression",
    "take_rows",
    "undefined_metric",
]
