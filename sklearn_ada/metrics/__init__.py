"""What is asked: metrics, how each is measured, and how an answer about it is certified."""

from sklearn_ada.metrics.kinds import Measured, UndefinedMetricError
from sklearn_ada.metrics.metric import Metric, as_metric
from sklearn_ada.metrics.response import outputs_are_usable
from sklearn_ada.metrics.rows import n_rows, take_rows
from sklearn_ada.metrics.stored_outputs import StoredOutputs
from sklearn_ada.metrics.undefined import undefined_metric
from sklearn_ada.metrics.unequal import unequal
from sklearn_ada.metrics.units import Units, is_missing

__all__ = [
    "Measured",
    "Metric",
    "StoredOutputs",
    "UndefinedMetricError",
    "Units",
    "as_metric",
    "is_missing",
    "n_rows",
    "outputs_are_usable",
    "take_rows",
    "undefined_metric",
    "unequal",
]
