"""The range that rows which are not the holdout's suggest for a metric that has none.

Scores are clipped to it, so it must not be narrow: a model that has seen these rows, as those it was trained
on, makes small errors there, and if errors on the holdout were clipped to those, no model could look bad. So
it reaches beyond the model's worst score, and at least to twice what a constant prediction loses (its root
mean square; of numbers, two standard deviations of y). Of classes it is three times that: a model that is
sure and wrong half of the time is then still seen to be worse than the constant.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada.metrics.interval_rules import Range

__all__ = ["constant_outputs", "least_error", "suggested_range"]

Array = NDArray[Any]

_OF_NUMBERS, _OF_CLASSES = 2.0, 3.0


def suggested_range(scores: Array, margin: float, least: float = 0.0) -> Range:
    """Return a range with all these scores and one more, a margin wider, rounded outwards to two digits.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        Of the model, of each row.
    margin : float
        By how much the range reaches beyond the farthest score.
    least : float, default=0.0
        A number that it reaches to, without a margin.

    Examples
    --------
    >>> suggested_range(np.array([-0.1, -0.2]), 1.25)
    (-0.25, 0.0)
    >>> suggested_range(np.array([-0.1, -0.2]), 1.25, -1.234)
    (-1.3, 0.0)
    """
    low = _outwards(min(margin * float(scores.min()), least, 0.0))
    high = _outwards(max(margin * float(scores.max()), 0.0))
    return (low, high) if low < high else (-1.0, high)  # all scores are 0


def least_error(errors: Array, *, of_classes: bool = False) -> float:
    """Return what no suggested range may clip, from the errors of a constant prediction.

    Examples
    --------
    >>> least_error(np.array([-1.0, 1.0, -1.0, 1.0]))
    2.0
    """
    return (_OF_CLASSES if of_classes else _OF_NUMBERS) * math.sqrt(float(np.mean(np.square(errors))))


def constant_outputs(y: Array, classes: Array | None) -> Array:
    """Return what a model says that knows only the mean of y, or the share of each class.

    Examples
    --------
    >>> constant_outputs(np.array([1.0, 3.0]), None)
    array([2., 2.])
    >>> constant_outputs(np.array(["a", "b"]), np.array(["a", "b"]))
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    if classes is None:
        return np.full(len(y), np.mean(y))
    return np.tile([float(np.mean(y == label)) for label in classes], (len(y), 1))


def _outwards(end: float) -> float:
    """Return a number rounded away from 0 to two digits, so that last bits do not matter.

    Examples
    --------
    >>> _outwards(-12.34), _outwards(0.0)
    (-13.0, 0.0)
    """
    if end == 0.0 or not math.isfinite(end):
        return end
    unit = 10.0 ** (math.floor(math.log10(abs(end))) - 1)
    return float(f"{math.copysign(math.ceil(abs(end) / unit - 1e-6) * unit, end):.2g}")
