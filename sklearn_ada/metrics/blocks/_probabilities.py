"""Metrics of predicted probabilities: log loss and Brier score, as losses."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada._checks import bad_parameter
from sklearn_ada.metrics.blocks._blocks import Blocks

__all__ = ["brier", "log_loss"]

Array = NDArray[Any]


def log_loss(blocks: Blocks) -> Array:
    """Return the mean of -log of the probability of the true class, clipped as in scikit-learn."""
    _check_probabilities(blocks.outputs)
    if blocks.outputs.ndim == 2:
        probability = np.where(blocks.codes == 1, blocks.outputs, 1 - blocks.outputs)
    else:
        probability = np.take_along_axis(blocks.outputs, blocks.codes[:, :, None], axis=2)[:, :, 0]
    eps = np.finfo(probability.dtype).eps
    return blocks.mean(-np.log(probability.clip(eps, 1 - eps)))


def brier(blocks: Blocks) -> Array:
    """Return the mean squared distance to the true class; halved, in [0, 1], for two classes."""
    _check_probabilities(blocks.outputs)
    if blocks.outputs.ndim == 2:
        return blocks.mean(((blocks.codes == 1) - blocks.outputs) ** 2)
    miss = blocks.outputs.copy()
    chosen = blocks.codes[:, :, None]
    np.put_along_axis(miss, chosen, np.take_along_axis(miss, chosen, axis=2) - 1, axis=2)
    return blocks.mean((miss**2).sum(axis=2))


def _check_probabilities(outputs: Array) -> None:
    if outputs.min() < 0 or outputs.max() > 1:
        raise bad_parameter("outputs", "block_scores", "probabilities in [0, 1]", outputs.dtype)
