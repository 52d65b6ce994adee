"""What is asked: metrics, how each is measured, and how an answer about it is certified."""

from sklearn_ada.data.labels import Units, check_labels, is_missing, n_rows, take_rows
from sklearn_ada.metrics.base import Construction, Foreseen, Measured, UndefinedMetricError
from sklearn_ada.metrics.means import unequal
from sklearn_ada.metrics.metric import Metric, as_metric, undefined_metric
from sklearn_ada.metrics.outputs import StoredOutputs, UnusableOutputsError

__all__ = [
    "Construction",
    "Foreseen",
    "Measured",
    "Metric",
    "StoredOutputs",
    "UndefinedMetricError",
    "Units",
    "UnusableOutputsError",
    "as_metric",
    "check_labels",
    "is_missing",
    "n_rows",
    "take_rows",
    "undefined_metric",
    "unequal",
]
