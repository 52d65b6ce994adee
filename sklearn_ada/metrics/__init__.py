"""What is asked: metrics, how each is measured, and how an answer about it is certified."""

from sklearn_ada.data.labels import Units
from sklearn_ada.metrics import classes, means, ranking, regression, tables  # noqa: F401 # these register
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
    "Foreseen", "Measure", "Measured", "Metric", "RowsInterval", "StoredOutputs", "UndefinedMetricError",
    "Units", "UnusableOutputsError", "as_metric", "classify_scorers", "undefined_metric",
]  # fmt: skip
