"""Metrics of a ranking: areas under the ROC and the precision-recall curve, tied scores as one threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada._checks import bad_parameter
from sklearn_ada.metrics.blocks._blocks import Blocks, ratio

__all__ = ["average_precision", "roc_auc", "roc_auc_ovo", "roc_auc_ovr"]

Array = NDArray[Any]


class _Thresholds:
    """Rows of each block in order of falling score, cut where the score changes."""

    def __init__(self, scores: Array) -> None:
        n_blocks, block_size = scores.shape
        starts = block_size * np.arange(n_blocks)
        self._order = np.argsort(scores, axis=1)[:, ::-1] + starts[:, None]
        ranked = scores.ravel()[self._order]
        is_last = np.ones(scores.shape, dtype=bool)
        np.not_equal(ranked[:, 1:], ranked[:, :-1], out=is_last[:, :-1])
        self._cuts = np.flatnonzero(is_last)
        self._first = self._cuts.searchsorted(starts)  # first threshold of each block
        self._last = np.append(self._first[1:], len(self._cuts)) - 1

    def ranked(self, values: Array) -> Array:
        """Return the values of the rows in order of falling score."""
        return values.ravel()[self._order]

    def above(self, ranked: Array) -> Array:
        """Return the sum, at each threshold of each block, over the rows that reach it."""
        return ranked.cumsum(axis=1).ravel()[self._cuts].astype(np.float64)

    def steps(self, above: Array) -> Array:
        """Return what each threshold adds to ``above``."""
        steps = np.diff(above, prepend=0)
        steps[self._first] = above[self._first]
        return steps

    def per_block(self, terms: Array) -> Array:
        """Return the sum over the thresholds of each block."""
        return np.add.reduceat(terms, self._first)

    def area(self, positive: Array, negative: Array) -> Array:
        """Return the area under the ROC curve from the counts ``above`` (NaN: a class has no weight)."""
        trapezoids = self.steps(negative) * (positive - self.steps(positive) / 2)
        product = positive[self._last] * negative[self._last]
        return np.where(product > 0, self.per_block(trapezoids) / product, np.nan)

    def average_precision(self, positive: Array, negative: Array) -> Array:
        """Return the mean precision over the positive rows (0 if there are none, as in scikit-learn)."""
        precision = ratio(positive, positive + negative)
        return ratio(self.per_block(self.steps(positive) * precision), positive[self._last])


def _counted(scores: Array, positive: Array, weight: Array | None) -> tuple[_Thresholds, Array, Array]:
    """Return the thresholds and the positive and negative weight above each."""
    thresholds = _Thresholds(scores)
    is_positive = thresholds.ranked(positive)
    if weight is None:
        return thresholds, thresholds.above(is_positive), thresholds.above(~is_positive)
    weight = thresholds.ranked(weight)
    return thresholds, thresholds.above(is_positive * weight), thresholds.above(~is_positive * weight)


def _binary_auc(scores: Array, positive: Array, weight: Array | None) -> Array:
    thresholds, above_positive, above_negative = _counted(scores, positive, weight)
    return thresholds.area(above_positive, above_negative)


def roc_auc(blocks: Blocks) -> Array:
    """Return the area under the ROC curve; NaN for a block of one class."""
    return _binary_auc(blocks.outputs, blocks.codes == blocks.positive, blocks.weight)


def average_precision(blocks: Blocks) -> Array:
    """Return the average precision of the positive class."""
    thresholds, positive, negative = _counted(blocks.outputs, blocks.codes == blocks.positive, blocks.weight)
    return thresholds.average_precision(positive, negative)


def roc_auc_ovr(blocks: Blocks, weighted: bool) -> Array:
    """Return the mean area of each class against the rest.

    Weighted by the true rows of each class, classes without any are left out; unweighted, they make the
    block's value NaN.
    """
    if blocks.outputs.ndim == 2:
        return roc_auc(blocks)
    _check_simplex(blocks.outputs)
    areas = np.empty((len(blocks.y_true), len(blocks.labels)))
    support = np.empty_like(areas)
    for k in range(len(blocks.labels)):
        is_class = blocks.codes == k
        areas[:, k] = _binary_auc(blocks.outputs[:, :, k], is_class, blocks.weight)
        support[:, k] = blocks.total(is_class)
    if not weighted:
        return areas.mean(axis=1)
    return (np.where(support == 0, 0.0, areas) * support).sum(axis=1) / support.sum(axis=1)


def roc_auc_ovo(blocks: Blocks, weighted: bool) -> Array:
    """Return the mean area over the pairs of classes present, each ranked by both classes' scores.

    Weighted by the share of rows in the pair. One sort per class serves all of its pairs.
    """
    if blocks.outputs.ndim == 2:
        return roc_auc(blocks)
    _check_simplex(blocks.outputs)
    n_classes = len(blocks.labels)
    support = np.stack([(blocks.codes == k).sum(axis=1) for k in range(n_classes)], axis=1)
    total = np.zeros(len(blocks.y_true))
    total_weight = np.zeros(len(blocks.y_true))
    for a in range(n_classes):
        thresholds = _Thresholds(blocks.outputs[:, :, a])
        ranked = thresholds.ranked(blocks.codes)
        above_a = thresholds.above(ranked == a)
        for b in range(n_classes):
            if b == a:
                continue
            is_pair = (support[:, a] > 0) & (support[:, b] > 0)
            pair_weight = is_pair * (support[:, a] + support[:, b] if weighted else 1)
            area = thresholds.area(above_a, thresholds.above(ranked == b))
            total += np.where(is_pair, area, 0.0) * pair_weight
            total_weight += pair_weight
    return total / total_weight


def _check_simplex(outputs: Array) -> None:
    if not np.allclose(1, outputs.sum(axis=2)):
        raise bad_parameter("outputs", "block_scores", "rows of probabilities that sum to 1", outputs.dtype)
