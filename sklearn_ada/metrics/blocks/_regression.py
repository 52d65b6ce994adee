"""Metrics of predicted numbers: losses, and shares of the variance explained.

A block with an infinite or missing number has no finite value: so `block_scores` need not read the numbers
twice to find out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada.metrics.blocks._blocks import Blocks

__all__ = [
    "absolute",
    "absolute_percentage",
    "explained_variance",
    "largest",
    "median_absolute",
    "r2",
    "root_squared",
    "root_squared_log",
    "squared",
    "squared_log",
]

Array = NDArray[Any]


def squared(blocks: Blocks) -> Array:
    """Return the mean squared error."""
    return blocks.total_square(blocks.error) / blocks.size


def root_squared(blocks: Blocks) -> Array:
    """Return the root of the mean squared error."""
    return np.sqrt(squared(blocks))


def squared_log(blocks: Blocks) -> Array:
    """Return the mean squared error of log(1 + y); NaN for a block with a value of -1 or less."""
    defined = (blocks.y_true > -1).all(axis=1) & (blocks.outputs > -1).all(axis=1)
    error = blocks.mean((np.log1p(blocks.y_true) - np.log1p(blocks.outputs)) ** 2)
    return np.where(defined, error, np.nan)


def root_squared_log(blocks: Blocks) -> Array:
    """Return the root of the mean squared error of log(1 + y)."""
    return np.sqrt(squared_log(blocks))


def absolute(blocks: Blocks) -> Array:
    """Return the mean absolute error."""
    return blocks.mean(np.abs(blocks.error, out=blocks.room))


def absolute_percentage(blocks: Blocks) -> Array:
    """Return the mean absolute error relative to the target, which counts as eps at least."""
    scale = np.maximum(np.abs(blocks.y_true), np.asarray(np.finfo(np.float64).eps, blocks.y_true.dtype))
    return blocks.mean(np.abs(blocks.error, out=blocks.room) / scale)


def largest(blocks: Blocks) -> Array:
    """Return the largest absolute error."""
    return np.abs(blocks.error, out=blocks.room).max(axis=1)


def median_absolute(blocks: Blocks) -> Array:
    """Return the median absolute error; where the weights split in half, of the middle two."""
    errors = np.abs(blocks.error, out=blocks.room)
    finite = np.isfinite(errors.max(axis=1))  # a median passes over what is infinite
    return np.where(finite, _weighted_median(errors, blocks.weight), np.nan)


def _weighted_median(errors: Array, weight: Array | None) -> Array:
    if weight is None:
        return np.median(errors, axis=1)
    order = np.argsort(errors, axis=1)
    errors = np.take_along_axis(errors, order, axis=1)
    below = np.take_along_axis(weight.astype(errors.dtype), order, axis=1).cumsum(axis=1)
    half = below[:, -1:] / 2
    last = errors.shape[1] - 1

    def entry(values: Array, position: Array) -> Array:
        return np.take_along_axis(values, position, axis=1)

    lower = np.minimum((below < half).sum(axis=1, keepdims=True), last)
    upper = (below <= entry(below, lower)).sum(axis=1, keepdims=True)  # the next row of positive weight
    upper = np.where(upper > last, lower, upper)
    is_split = entry(below, lower) - half <= np.finfo(errors.dtype).eps
    middle = np.where(is_split, (entry(errors, lower) + entry(errors, upper)) / 2, entry(errors, lower))
    return middle[:, 0]


def r2(blocks: Blocks) -> Array:
    """Return the share of the target's variation explained; NaN for blocks of one row."""
    if blocks.y_true.shape[1] < 2:
        return np.full(len(blocks.y_true), np.nan)
    left = blocks.total_square(blocks.error)
    return _share_explained(left, blocks.total_square(_deviations(blocks, blocks.y_true)))


def explained_variance(blocks: Blocks) -> Array:
    """Return the share of the target's variance explained, whatever the mean error."""
    left = blocks.total_square(_deviations(blocks, blocks.error))
    return _share_explained(left, blocks.total_square(_deviations(blocks, blocks.y_true)))


def _deviations(blocks: Blocks, values: Array) -> Array:
    return np.subtract(values, blocks.mean(values)[:, None], out=blocks.room)


def _share_explained(left: Array, whole: Array) -> Array:
    """Return 1 - left / whole; for a constant target 1 if nothing is left and else 0, as in scikit-learn."""
    of_constant = 0.0 * left  # 0, unless what is left is not finite
    return np.where(left == 0, 1.0, np.where(whole == 0, of_constant, 1 - left / whole))
