"""What labels must be for a metric to have a value, as scikit-learn has it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada.metrics.blocks import encode
from sklearn_ada.metrics.data.labels import are_classes, family

__all__ = [
    "UndefinedMetricError",
    "check_known",
    "check_positive",
    "check_target",
    "check_two_labels",
]

Array = NDArray[Any]


class UndefinedMetricError(ValueError):
    """The metric has no value on these rows (a class or a denominator is missing)."""


def check_target(y: Array, target: str | None) -> None:
    """Raise UndefinedMetricError unless y holds what a metric is of: "classes", "numbers", or anything."""
    if target == "classes" and not are_classes(y):
        raise UndefinedMetricError("it needs class labels")
    if target == "numbers" and family(y) != "numbers":
        raise UndefinedMetricError("it needs numbers")


def check_positive(y: Array, positive: Any) -> None:
    """Raise UndefinedMetricError if there are more than two classes, or no records of the positive one.

    None is any class.
    """
    others = y[y != y[0]] if len(y) else y  # much quicker than to list all values
    if len(others) and (others != others[0]).any():
        raise UndefinedMetricError("it is a metric of two classes")
    if positive is not None and not np.any(y == positive):
        raise UndefinedMetricError(f"it needs records of class {positive!r}")


def check_two_labels(y: Array, outputs: Array, positive: Any) -> None:
    """Raise UndefinedMetricError if a label is neither positive nor the one other that there is."""
    misfits = [values != positive for values in (y, outputs)]
    others = [v[np.argmax(m)] for v, m in zip((y, outputs), misfits, strict=True) if m.any()]
    for values, misfit in zip((y, outputs), misfits, strict=True):
        if others and (misfit & (values != others[0])).any():
            raise UndefinedMetricError("it is a metric of two classes, and there is a third label")


def check_known(values: Array, classes: Array, what: str) -> Array:
    """Return the positions of labels in the sorted classes; UndefinedMetricError if one is not there."""
    codes, known = (
        encode(values, classes) if family(values) == family(classes) else (values, np.zeros(1, bool))
    )
    if not known.all():
        raise UndefinedMetricError(f"{what} is not among the classes")
    return codes
