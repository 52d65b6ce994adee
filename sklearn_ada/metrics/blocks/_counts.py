"""Metrics of predicted labels: hits, and counts of true and predicted rows per class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada.metrics.blocks._blocks import Blocks, encode, ratio

__all__ = [
    "PerClass",
    "accuracy",
    "balanced_accuracy",
    "binary",
    "f1",
    "jaccard",
    "macro",
    "micro",
    "precision",
    "recall",
    "weighted",
]

Array = NDArray[Any]
PerClass = Callable[[Array, Array, Array], Array]


def precision(hits: Array, true: Array, predicted: Array) -> Array:
    """Return the share of predicted rows that are true."""
    return ratio(hits, predicted)


def recall(hits: Array, true: Array, predicted: Array) -> Array:
    """Return the share of true rows that are predicted."""
    return ratio(hits, true)


def f1(hits: Array, true: Array, predicted: Array) -> Array:
    """Return the harmonic mean of precision and recall."""
    return ratio(2 * hits, true + predicted)


def jaccard(hits: Array, true: Array, predicted: Array) -> Array:
    """Return the share of true or predicted rows that are both."""
    return ratio(hits, true + predicted - hits)


def accuracy(blocks: Blocks) -> Array:
    """Return the weighted share of right labels."""
    return blocks.mean(blocks.y_true == blocks.outputs)


def balanced_accuracy(blocks: Blocks) -> Array:
    """Return the mean recall of the classes that have weight in the block."""
    hits, true, _, _ = _counts(blocks)
    return ratio(hits, true).sum(axis=1) / np.count_nonzero(true, axis=1)


def binary(blocks: Blocks, per_class: PerClass) -> Array:
    """Return the metric of the positive class."""
    true = blocks.codes == blocks.positive
    predicted = encode(blocks.outputs, blocks.labels)[0] == blocks.positive
    return per_class(blocks.total(true & predicted), blocks.total(true), blocks.total(predicted))


def macro(blocks: Blocks, per_class: PerClass) -> Array:
    """Return the mean over the classes that are true or predicted somewhere in the block."""
    hits, true, predicted, present = _counts(blocks)
    return per_class(hits, true, predicted).sum(axis=1) / np.count_nonzero(present, axis=1)


def micro(blocks: Blocks, per_class: PerClass) -> Array:
    """Return the metric of the counts summed over classes: each row is one true and one predicted label."""
    return per_class(
        blocks.total(blocks.y_true == blocks.outputs), np.asarray(blocks.size), np.asarray(blocks.size)
    )


def weighted(blocks: Blocks, per_class: PerClass) -> Array:
    """Return the mean over classes, each weighted by its true rows."""
    hits, true, predicted, _ = _counts(blocks)
    return (per_class(hits, true, predicted) * true).sum(axis=1) / true.sum(axis=1)


def _counts(blocks: Blocks) -> tuple[Array, Array, Array, Array]:
    """Return weighted counts (hits, true, predicted) per block and class, and which classes are present.

    A class of weight zero is present all the same: scikit-learn looks for labels before weights.
    """
    n_blocks, n_classes = len(blocks.y_true), len(blocks.labels)
    start = n_classes * np.arange(n_blocks)[:, None]
    true = (blocks.codes + start).ravel()
    predicted = (encode(blocks.outputs, blocks.labels)[0] + start).ravel()
    hit = true == predicted
    weight = None if blocks.weight is None else blocks.weight.ravel()

    def count(cells: Array, weights: Array | None = None) -> Array:
        return np.bincount(cells, weights, n_blocks * n_classes).reshape(n_blocks, n_classes)

    present = (count(true) + count(predicted)) > 0
    if weight is None:
        return count(true[hit]), count(true), count(predicted), present
    return count(true[hit], weight[hit]), count(true, weight), count(predicted, weight), present
