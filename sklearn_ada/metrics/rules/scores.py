"""One score per record, larger is better: the terms of metrics that are means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from sklearn_ada.metrics.rules.defined import UndefinedMetricError, check_known

__all__ = [
    "UserScores",
    "d2_brier",
    "d2_log",
    "hits",
    "neg_absolute",
    "neg_brier",
    "neg_gamma_deviance",
    "neg_log",
    "neg_poisson_deviance",
    "neg_relative",
    "neg_squared",
    "neg_squared_log",
    "top_two",
]

_Array = NDArray[Any]


def hits(y: _Array, outputs: _Array, classes: _Array | None) -> _Array:
    """Return 1 where the predicted label is right."""
    return np.asarray(outputs == y)


def top_two(y: _Array, outputs: _Array, classes: _Array | None) -> _Array:
    """Return 1 where the label is among the two with the largest scores, as scikit-learn breaks ties."""
    if classes is None:
        return np.full(len(y), np.nan)
    column = check_known(y, classes, "a label")
    if outputs.ndim == 1:  # of two classes
        return np.ones(len(y))
    if len(classes) == 2:  # for which scikit-learn has no score from two columns
        return np.full(len(y), np.nan)
    largest = np.argsort(outputs, axis=1, kind="mergesort")[:, ::-1][:, :2]
    return np.asarray((largest == column[:, None]).any(axis=1))


def neg_brier(y: _Array, outputs: _Array, classes: _Array | None) -> _Array:
    """Return the negative squared error of the positive class's probability."""
    if classes is None or len(classes) != 2:
        return np.full(len(y), np.nan)  # undefined: this score is for two classes
    check_known(y, classes, "a label")
    return -((_floats(outputs) - (y == classes[1])) ** 2)


def neg_log(y: _Array, outputs: _Array, classes: _Array | None) -> _Array:
    """Return the logarithm of the probability given to the true class, clipped as in scikit-learn."""
    if classes is None:
        return np.full(len(y), np.nan)
    column = check_known(y, classes, "a label")
    if outputs.dtype.kind != "f":
        outputs = outputs.astype(np.float64)
    if outputs.ndim == 2 and outputs.shape[1] == 2:
        outputs = outputs[:, 1]  # all that scikit-learn's scorer reads, whatever the other column says
    if outputs.ndim == 1:
        probability = np.where(column == 1, outputs, 1 - outputs)
    else:
        probability = outputs[np.arange(len(y)), column]
    eps = np.finfo(outputs.dtype).eps
    return np.log(_floats(probability.clip(eps, 1 - eps)))


def d2_log(y: _Array, outputs: _Array, classes: _Array | None) -> _Array:
    """Return 1 minus the log loss over that of the class shares, of which the mean is D^2."""
    shares = _shares(y, classes)
    return 1.0 + neg_log(y, outputs, classes) / -(shares @ np.log(shares))


def d2_brier(y: _Array, outputs: _Array, classes: _Array | None) -> _Array:
    """Return 1 minus the squared errors of the probabilities over those of the class shares.

    Their mean is D^2.
    """
    shares = _shares(y, classes)
    assert classes is not None
    of_class = _floats(outputs)
    if of_class.ndim == 1 or of_class.shape[1] == 2:
        positive = of_class if of_class.ndim == 1 else of_class[:, 1]
        of_class = np.column_stack((1.0 - positive, positive))  # all that scikit-learn's scorer reads
    errors = (of_class - (y[:, None] == classes)) ** 2
    return np.asarray(1.0 - errors.sum(axis=1) / (1.0 - shares @ shares))


def _shares(y: _Array, classes: _Array | None) -> _Array:
    """Return the share of each class, all of which have rows."""
    labels, counts = np.unique(y, return_counts=True)
    if classes is None or len(labels) < 2:
        raise UndefinedMetricError("it compares with the shares of two classes or more")
    check_known(y, classes, "a label")
    if len(labels) < len(classes):
        raise UndefinedMetricError("a class has no records")
    return np.asarray(counts / len(y))


def neg_absolute(y: _Array, outputs: _Array, classes: _Array | None) -> _Array:
    """Return the negative absolute error."""
    return -np.abs(_floats(y) - _floats(outputs))


def neg_squared(y: _Array, outputs: _Array, classes: _Array | None) -> _Array:
    """Return the negative squared error."""
    return -((_floats(y) - _floats(outputs)) ** 2)


def neg_squared_log(y: _Array, outputs: _Array, classes: _Array | None) -> _Array:
    """Return the negative squared error of log(1 + y); NaN for numbers of -1 or less."""
    y, outputs = _floats(y), _floats(outputs)
    defined = (y > -1) & (outputs > -1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(defined, -((np.log1p(y) - np.log1p(outputs)) ** 2), np.nan)


def neg_relative(y: _Array, outputs: _Array, classes: _Array | None) -> _Array:
    """Return the negative absolute error relative to the truth, which counts as eps at least."""
    y, outputs = _floats(y), _floats(outputs)
    return -np.abs(y - outputs) / np.maximum(np.abs(y), np.finfo(np.float64).eps)


def neg_poisson_deviance(y: _Array, outputs: _Array, classes: _Array | None) -> _Array:
    """Return the negative Poisson deviance; NaN unless y >= 0 and the prediction is positive."""
    y, outputs = _floats(y), _floats(outputs)
    defined = (y >= 0) & (outputs > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(defined, -2.0 * (xlogy(y, y / outputs) - y + outputs), np.nan)


def neg_gamma_deviance(y: _Array, outputs: _Array, classes: _Array | None) -> _Array:
    """Return the negative gamma deviance; NaN unless both are positive."""
    y, outputs = _floats(y), _floats(outputs)
    defined = (y > 0) & (outputs > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(defined, -2.0 * (np.log(outputs / y) + y / outputs - 1.0), np.nan)


def _floats(values: _Array) -> _Array:
    """Return numbers as floats, of which differences and squares do not wrap around."""
    return values if values.dtype.kind == "f" and values.dtype.itemsize > 2 else values.astype(np.float64)


@dataclass(frozen=True)
class UserScores:
    """A user's function of ``(y, outputs)`` that returns one score per record."""

    function: Callable[[_Array, _Array], _Array]

    def __call__(self, y: _Array, outputs: _Array, classes: _Array | None) -> _Array:
        """Return the user's scores; the function may work in place."""
        return self.function(y.copy(), outputs.copy())
