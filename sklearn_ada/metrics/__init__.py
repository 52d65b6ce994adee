"""What is asked: metrics, how each is measured, and how an answer about it is certified."""

from sklearn_ada.metrics.constructions import Construction, Foreseen
from sklearn_ada.metrics.interval_rules import Measured
from sklearn_ada.metrics.labels import check_labels
from sklearn_ada.metrics.metric import Metric, as_metric
from sklearn_ada.metrics.outputs import UnusableOutputsError
from sklearn_ada.metrics.rows import n_rows, take_rows
from sklearn_ada.metrics.stored_outputs import StoredOutputs
from sklearn_ada.metrics.target import UndefinedMetricError
from sklearn_ada.metrics.undefined import undefined_metric
from sklearn_ada.metrics.unequal import unequal
from sklearn_ada.metrics.units import Units, is_missing

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
