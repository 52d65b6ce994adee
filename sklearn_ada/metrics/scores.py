"""One score per record, larger is better: the terms of metrics that are means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["UserScores", "hits", "neg_absolute", "neg_brier", "neg_log", "neg_squared"]

_Array = NDArray[Any]


def hits(y: _Array, outputs: _Array, classes: _Array | None) -> _Array:
    """Return 1 where the predicted label is right."""
    return np.asarray(outputs == y)


def neg_brier(y: _Array, outputs: _Array, classes: _Array | None) -> _Array:
    """Return the negative squared error of the positive class's probability."""
    if classes is None or len(classes) != 2 or outputs.ndim != 1:
        return np.full(len(y), np.nan)  # undefined: this score is for two classes
    return -((outputs - (y == classes[1])) ** 2)


def neg_log(y: _Array, outputs: _Array, classes: _Array | None) -> _Array:
    """Return the logarithm of the probability given to the true class."""
    if classes is None or outputs.ndim != 2 or outputs.shape[1] != len(classes):
        return np.full(len(y), np.nan)
    column = np.searchsorted(classes, y)
    with np.errstate(divide="ignore"):
        return np.log(outputs[np.arange(len(y)), column])


def neg_absolute(y: _Array, outputs: _Array, classes: _Array | None) -> _Array:
    """Return the negative absolute error."""
    return -np.abs(y - outputs)


def neg_squared(y: _Array, outputs: _Array, classes: _Array | None) -> _Array:
    """Return the negative squared error."""
    return -((y - outputs) ** 2)


@dataclass(frozen=True)
class UserScores:
    """A user's function of ``(y, outputs)`` that returns one score per record."""

    function: Callable[[_Array, _Array], _Array]

    def __call__(self, y: _Array, outputs: _Array, classes: _Array | None) -> _Array:
        """Return the user's scores."""
        return self.function(y, outputs)
