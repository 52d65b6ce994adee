"""What is asked: metrics, how each is measured, and how an answer about it is certified."""

from sklearn_ada.metrics.data.labels import check_labels, is_missing
from sklearn_ada.metrics.data.rows import n_rows, take_rows
from sklearn_ada.metrics.data.units import Units
from sklearn_ada.metrics.metric import Metric, as_metric
from sklearn_ada.metrics.outputs.forms import UnusableOutputsError
from sklearn_ada.metrics.outputs.stored import StoredOutputs
from sklearn_ada.metrics.rules.constructions import Construction, Foreseen
from sklearn_ada.metrics.rules.defined import UndefinedMetricError
from sklearn_ada.metrics.rules.rule import Measured
from sklearn_ada.metrics.rules.unequal_mean import unequal
from sklearn_ada.metrics.undefined import undefined_metric

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
