"""Blocks of rows as matrices, and the few sums that every metric takes of them.

Checks of labels, outputs and weights. Messages name shapes and types, never values of the rows.

Any other score: one prediction, then a loop over the blocks.

Metrics of predicted labels: hits, and counts of true and predicted rows per class.

Metrics of predicted probabilities: log loss and Brier score, as losses.

Metrics of a ranking: areas under the ROC and the precision-recall curve, tied scores as one threshold.

Metrics of predicted numbers: losses, and shares of the variance explained.

A block with an infinite or missing number has no finite value: so `block_scores` need not read the numbers
twice to find out.

The table of metrics, and the one way in.

A metric on every block of a permuted holdout, from one prediction.

The rows are permuted once and cut into equal blocks: block ``i`` is rows ``i * t`` to ``(i + 1) * t``. So
labels and predictions are matrices with one row per block, and a metric on every block is a few array
operations along the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_ada._validation import bad_parameter, check_integer, check_option
from sklearn_ada.data.labels import all_finite, are_classes, family, of_one_type, pieces

Array = NDArray[Any]

# Blocks are taken in chunks whose temporaries stay within this, whatever the size of the holdout; it also
# keeps them in the processor's cache. No result depends on it.
CHUNK_BYTES = 2**22


def chunks(n_blocks: int, block_bytes: int) -> list[slice]:
    """Cut the blocks, of so many bytes each, into runs that fit into `CHUNK_BYTES`; of one block at least."""
    step = max(1, CHUNK_BYTES // block_bytes)
    return [slice(start, min(start + step, n_blocks)) for start in range(0, n_blocks, step)]


def encode(values: Array, labels: Array) -> tuple[Array, Array]:
    """Return the position of each value in the sorted ``labels``, and whether it is one of them."""
    last = len(labels) - 1
    if values.dtype.kind in "biu" and labels.dtype.kind in "biu" and int(labels[-1]) - int(labels[0]) == last:
        codes = values.astype(np.intp) - int(labels[0])  # consecutive integers need no search
        known = (codes >= 0) & (codes <= last)
        return (codes if known.all() else codes.clip(0, last)), known
    codes = np.minimum(labels.searchsorted(values), last)
    return codes, labels[codes] == values


def ratio(numerator: Array, denominator: Array) -> Array:
    """Return the quotient, and 0 where the denominator is (scikit-learn's ``zero_division``)."""
    return np.where(denominator == 0, 0.0, numerator / denominator)


@dataclass(frozen=True)
class Blocks:
    """Some blocks of equal size, one in each row.

    Attributes
    ----------
    y_true : ndarray of shape (n_blocks, block_size)
    outputs : ndarray of shape (n_blocks, block_size) or (n_blocks, block_size, n_classes)
    weight : float ndarray of shape (n_blocks, block_size) or None
    labels : ndarray of shape (n_classes,)
        Sorted; empty for a metric without classes.
    positive : int
        Position of the positive class in ``labels``.
    room : float ndarray of shape (n_blocks, block_size) or None
        For `error` of numbers; the same for all chunks, as fresh memory costs more than the arithmetic.
    """

    y_true: Array
    outputs: Array
    weight: Array | None
    labels: Array
    positive: int
    room: Array | None = None

    @cached_property
    def _encoded(self) -> tuple[Array, Array]:
        return encode(self.y_true, self.labels)

    @property
    def codes(self) -> Array:
        """Positions of the true classes in ``labels``."""
        return self._encoded[0]

    @property
    def has_unknown(self) -> Array:
        """Whether a block holds a true class that is not one of ``labels``."""
        return np.asarray(~self._encoded[1].all(axis=1))

    @cached_property
    def size(self) -> Array | float:
        """Total weight of each block."""
        return float(self.y_true.shape[1]) if self.weight is None else self.weight.sum(axis=1)

    @property
    def error(self) -> Array:
        """The true less the predicted numbers; each use overwrites the last."""
        return np.subtract(self.y_true, self.outputs, out=self.room)

    def total_square(self, values: Array) -> Array:
        """Return the weighted sum of squares of each block; overwrites the values."""
        if self.weight is None and values.dtype == np.float64:  # one pass; too coarse in single precision
            return np.einsum("ij,ij->i", values, values)
        return self.total(np.multiply(values, values, out=values))

    def total(self, values: Array) -> Array:
        """Return the weighted sum of each block."""
        if self.weight is None:
            return values.sum(axis=1)
        return np.multiply(values, self.weight).sum(axis=1)

    def mean(self, values: Array) -> Array:
        """Return the weighted mean of each block."""
        if self.weight is None:
            return values.mean(axis=1)
        return self.total(values) / self.size


OWNER = "block_scores"


def check_lengths(
    y_true: Array,
    outputs: Array,
    weight: Array | None,
    n_blocks: int,
    owner: str,
    order: Array | None = None,
) -> int:
    """Return the number of rows in a block, or raise ValueError."""
    if y_true.ndim != 1 or len(y_true) == 0:
        raise bad_parameter("y_true", owner, "one value for each of at least one row", y_true.shape)
    n = len(y_true)
    if outputs.ndim == 0 or len(outputs) != n:
        raise bad_parameter("outputs", owner, f"as long as y_true ({n} rows)", outputs.shape)
    if weight is not None and weight.shape != (n,):
        raise bad_parameter("sample_weight", owner, f"one weight for each of {n} rows", weight.shape)
    if order is not None:
        is_row_number = order.dtype.kind in "iu" and order.size > 0 and order.min() >= 0 and order.max() < n
        if not is_row_number:
            raise bad_parameter("order", owner, f"numbers of the {n} rows", order.dtype)
        n = order.size
    if n % n_blocks:
        fix = f"Drop the last {n % n_blocks} rows."
        raise bad_parameter("n_blocks", owner, f"a divisor of the number of rows ({n})", n_blocks, fix)
    return n // n_blocks


def check_weight(weight: Array) -> None:
    """Raise ValueError unless the weights are finite and not negative."""
    if weight.dtype.kind not in "biuf" or not (weight.min() >= 0 and np.isfinite(weight.max())):
        raise bad_parameter("sample_weight", OWNER, "finite and not negative", "other values")


def as_numbers(values: Array, name: str) -> Array:
    """Return the values if they are finite real numbers, or raise ValueError."""
    values = as_real(values, name)
    check_finite(values, name)
    return values


def as_real(values: Array, name: str) -> Array:
    """Return the values if their type is that of real numbers, or raise ValueError."""
    values = of_one_type(values, name, OWNER)
    if values.dtype.kind not in "biuf":
        raise bad_parameter(name, OWNER, "real numbers", values.dtype)
    return values


def check_finite(values: Array, name: str) -> None:
    """Raise ValueError if there is NaN or infinity among real numbers."""
    if not all_finite(values):
        raise bad_parameter(name, OWNER, "finite", "NaN or infinity")


def as_labels(values: Array, name: str) -> Array:
    """Return one label for each row, as an array of numbers or of strings, or raise ValueError."""
    if values.ndim != 1:
        raise bad_parameter(name, OWNER, "one label for each row", values.shape)
    values = of_one_type(values, name, OWNER)
    if is_text(values):
        return values
    values = as_real(values, name)
    if not are_classes(values):
        check_finite(values, name)
        raise bad_parameter(name, OWNER, "labels, not numbers with a fraction", values.dtype)
    return values


def is_text(values: Array) -> bool:
    """Return whether the values are strings."""
    return family(values) == "text"


def check_same_kind(values: Array, name: str, labels: Array) -> None:
    """Raise ValueError if one array holds strings and the other numbers."""
    if is_text(values) != is_text(labels):
        raise bad_parameter(name, OWNER, f"labels like the others ({labels.dtype})", values.dtype)


def one_column(outputs: Array) -> Array:
    """Return one output for each row, or raise ValueError."""
    if outputs.ndim == 2 and outputs.shape[1] == 1:
        return outputs[:, 0]
    if outputs.ndim != 1:
        raise bad_parameter("outputs", OWNER, "one value for each row with this metric", outputs.shape)
    return outputs


def check_labels(labels: Any) -> Array:
    """Return the labels as an array if they are sorted and distinct, or raise ValueError."""
    labels = as_labels(np.asarray(labels), "labels")
    if len(labels) == 0 or not np.array_equal(np.unique(labels), labels):
        expected = "sorted and distinct (the estimator's classes_)"
        raise bad_parameter("labels", OWNER, expected, labels.tolist())
    return labels


def with_labels_of(values: Array, labels: Array | None, name: str) -> Array:
    """Return the sorted labels, joined by those of ``values`` that are not among them."""
    if labels is not None:
        check_same_kind(values, name, labels)
    for piece in pieces(values):
        if labels is None:
            labels = np.unique(piece)
        elif not encode(piece, labels)[1].all():
            labels = np.union1d(labels, piece)
    assert labels is not None  # there is at least one row
    return labels


def probabilities(outputs: Array, n_classes: int) -> Array:
    """Return the probabilities as floats: of the second class alone if there are two."""
    outputs = as_numbers(outputs, "outputs")
    n_columns = outputs.shape[1] if outputs.ndim == 2 else 1
    if outputs.ndim > 2 or n_classes < 2 or max(n_columns, 2) != n_classes:
        expected = f"one probability for each of {n_classes} classes (at least two)"
        raise bad_parameter("outputs", OWNER, expected, outputs.shape, "Pass labels=estimator.classes_.")
    if outputs.ndim == 2 and n_columns <= 2:
        outputs = outputs[:, -1]
    return outputs if outputs.dtype.kind == "f" else outputs.astype(np.float64)


def positive_class(pos_label: Any, labels: Array) -> tuple[Array, int]:
    """Return the two sorted labels and the position of the positive one, or raise ValueError.

    If the data show one label only, the positive class may be the other.
    """
    if len(labels) > 2:
        raise bad_parameter("labels", OWNER, "two classes for this metric", len(labels))
    positive = np.asarray([pos_label])
    if is_text(positive) != is_text(labels) or (len(labels) == 2 and pos_label not in labels):
        raise bad_parameter("pos_label", OWNER, f"one of the {len(labels)} labels", pos_label)
    labels = np.union1d(labels, positive)
    return labels, int(labels.searchsorted(positive[0]))


def loop_scores(
    score_function: Callable[..., float],
    y_true: ArrayLike,
    outputs: ArrayLike,
    n_blocks: int,
    *,
    sample_weight: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Return a score function's value on every block.

    Parameters
    ----------
    score_function : callable
        Called as ``score_function(y_true, outputs)`` with the rows of one block, and with
        ``sample_weight=`` if weights are given. Where it raises ValueError, as scikit-learn's metrics
        do where they are undefined, the value is NaN; other exceptions pass.
    y_true : array-like of shape (n,)
        True values, cut into ``n_blocks`` equal runs.
    outputs : array-like of shape (n, ...)
        Outputs of the model for the same rows.
    n_blocks : int
        Number of blocks; must divide n.
    sample_weight : array-like of shape (n,), default=None
        Weight of each row.

    Returns
    -------
    scores : ndarray of shape (n_blocks,)

    See Also
    --------
    block_scores : The same without the loop, for most of scikit-learn's scorers.

    Examples
    --------
    >>> from sklearn.metrics import matthews_corrcoef
    >>> loop_scores(matthews_corrcoef, [0, 1, 1, 0], [0, 1, 0, 1], n_blocks=2)
    array([ 1., -1.])
    """
    n_blocks = check_integer(n_blocks, "n_blocks", "loop_scores")
    y_true, outputs = np.asarray(y_true), np.asarray(outputs)
    weight = None if sample_weight is None else np.asarray(sample_weight)
    size = check_lengths(y_true, outputs, weight, n_blocks, "loop_scores")
    scores = np.full(n_blocks, np.nan)
    for i in range(n_blocks):
        rows = slice(i * size, (i + 1) * size)
        weights = {} if weight is None else {"sample_weight": weight[rows]}
        try:
            scores[i] = score_function(y_true[rows], outputs[rows], **weights)
        except ValueError:
            continue
    return scores


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


_OWNER = "block_scores"
_THRESHOLD = ("decision_function", "predict_proba")


@dataclass(frozen=True)
class _Metric:
    """How a metric is computed and what it takes.

    ``task`` is the kind of outputs: predicted labels ("hits" only compares them, "classes" counts each
    class, "binary" the positive one), scores of the positive class ("ranking"), probabilities of all
    classes ("probabilities") or predicted numbers ("numbers").
    """

    function: Callable[[Blocks], Array]
    task: Literal["hits", "classes", "binary", "ranking", "probabilities", "numbers"]
    response: str | tuple[str, ...] = "predict"
    weighs: Literal["always", "two classes", "never"] = "always"
    cell_bytes: int = 64
    """Temporaries for each cell of a block; a ranking needs most (order, sorted scores, counts)."""


def _averages(name: str, per_class: PerClass) -> dict[str, _Metric]:
    return {
        name: _Metric(partial(binary, per_class=per_class), "binary"),
        f"{name}_macro": _Metric(partial(macro, per_class=per_class), "classes"),
        f"{name}_micro": _Metric(partial(micro, per_class=per_class), "hits"),
        f"{name}_weighted": _Metric(partial(weighted, per_class=per_class), "classes"),
    }


def _of_probabilities(function: Callable[..., Array], **options: Any) -> _Metric:
    return _Metric(function, "probabilities", "predict_proba", **options)


def _one_vs_one(weighted: bool) -> _Metric:
    return _of_probabilities(partial(roc_auc_ovo, weighted=weighted), weighs="two classes")


def _of_numbers(function: Callable[..., Array], cell_bytes: int = 24, **options: Any) -> _Metric:
    return _Metric(function, "numbers", cell_bytes=cell_bytes, **options)


_METRICS: dict[str, _Metric] = {
    "accuracy": _Metric(accuracy, "hits"),
    "balanced_accuracy": _Metric(balanced_accuracy, "classes"),
    **_averages("precision", precision),
    **_averages("recall", recall),
    **_averages("f1", f1),
    **_averages("jaccard", jaccard),
    "neg_log_loss": _of_probabilities(log_loss),
    "neg_brier_score": _of_probabilities(brier),
    "roc_auc": _Metric(roc_auc, "ranking", _THRESHOLD),
    "average_precision": _Metric(average_precision, "ranking", _THRESHOLD),
    "roc_auc_ovr": _of_probabilities(partial(roc_auc_ovr, weighted=False)),
    "roc_auc_ovr_weighted": _of_probabilities(partial(roc_auc_ovr, weighted=True)),
    "roc_auc_ovo": _one_vs_one(weighted=False),
    "roc_auc_ovo_weighted": _one_vs_one(weighted=True),
    "r2": _of_numbers(r2),
    "explained_variance": _of_numbers(explained_variance),
    "neg_mean_squared_error": _of_numbers(squared),
    "neg_root_mean_squared_error": _of_numbers(root_squared),
    "neg_mean_squared_log_error": _of_numbers(squared_log),
    "neg_root_mean_squared_log_error": _of_numbers(root_squared_log),
    "neg_mean_absolute_error": _of_numbers(absolute),
    "neg_mean_absolute_percentage_error": _of_numbers(absolute_percentage),
    "neg_median_absolute_error": _of_numbers(median_absolute, cell_bytes=64),
    "neg_max_error": _of_numbers(largest, weighs="never"),
}

BLOCK_SCORERS = frozenset(_METRICS)
"""Names of the scikit-learn scorers that `block_scores` computes."""


def response_method(scorer_name: str) -> str | tuple[str, ...]:
    """Return the estimator's method that a scorer takes its outputs from, as scikit-learn has it.

    Parameters
    ----------
    scorer_name : str
        One of `BLOCK_SCORERS`.

    Returns
    -------
    method : str or tuple of str
        A name, or names of which the first that the estimator has is meant.

    Examples
    --------
    >>> response_method("f1_macro"), response_method("roc_auc")
    ('predict', ('decision_function', 'predict_proba'))
    """
    return _METRICS[check_option(scorer_name, "scorer_name", "response_method", BLOCK_SCORERS)].response


def block_scores(
    scorer_name: str,
    y_true: ArrayLike,
    outputs: ArrayLike,
    n_blocks: int,
    *,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    order: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Return the value of a scikit-learn scorer on every block of rows.

    Parameters
    ----------
    scorer_name : str
        One of `BLOCK_SCORERS`, such as "accuracy", "f1_macro" or "neg_log_loss".
    y_true : array-like of shape (n,)
        True values, cut into ``n_blocks`` equal runs.
    outputs : array-like of shape (n,) or (n, n_classes)
        What the estimator's `response_method` says of the same rows: labels or numbers of ``predict``;
        the matrix of ``predict_proba`` for "neg_log_loss", "neg_brier_score" and "roc_auc_ov*" (for two
        classes the positive column will do); for "roc_auc" and "average_precision" the decision values
        or probabilities of the positive class.
    n_blocks : int
        Number of blocks; must divide n, or the size of ``order``.
    labels : array-like of shape (n_classes,), default=None
        The estimator's ``classes_``. By default the labels found in ``y_true`` (and in predicted
        labels), of all blocks together.
    pos_label : label, default=None
        The positive class of "precision", "recall", "f1", "jaccard" and "average_precision" (by default
        1, as in scikit-learn) and of "roc_auc" (by default the last of ``labels``); others ignore it.
    sample_weight : array-like of shape (n,), default=None
        Weight of each row.
    order : array-like of int, default=None
        Numbers of the rows that fill the blocks, one block after the other; by default all rows as they
        stand. They are gathered chunk by chunk, so that no permuted copy of the rows is made.

    Returns
    -------
    scores : ndarray of shape (n_blocks,)
        Signed as the scorer is: larger is better. NaN where the metric is undefined: one class only for
        an area under the ROC curve, a block of weight 0, a true class that is not one of ``labels`` (for
        metrics that need to know it).

    See Also
    --------
    loop_scores : Any other score, by a loop over the blocks.

    Notes
    -----
    Each value is scikit-learn's on that block. Labels that metrics average over are those of the block,
    as scikit-learn's scorers have it; but probabilities belong to ``labels``, so that a class missing
    from a block does not make its log loss undefined: the value is that of ``log_loss(..., labels=labels)``,
    where the scorer, which passes no labels, raises an error. The same holds for the Brier score and the
    one-vs-rest and one-vs-one areas.

    Blocks are taken in chunks, so that temporaries stay within a few megabytes (or those of one block).

    Examples
    --------
    >>> y_true = [0, 1, 1, 0, 0, 1]
    >>> block_scores("accuracy", y_true, [0, 1, 0, 0, 1, 1], n_blocks=2).round(3)
    array([0.667, 0.667])
    >>> block_scores("roc_auc", y_true, [0.1, 0.9, 0.4, 0.2, 0.6, 0.4], n_blocks=2)
    array([1. , 0.5])
    """
    metric = _METRICS[check_option(scorer_name, "scorer_name", _OWNER, BLOCK_SCORERS)]
    n_blocks = check_integer(n_blocks, "n_blocks", _OWNER)
    y_true, outputs = np.asarray(y_true), np.asarray(outputs)
    weight = None if sample_weight is None else np.asarray(sample_weight)
    taken = None if order is None else np.asarray(order)
    size = check_lengths(y_true, outputs, weight, n_blocks, _OWNER, taken)
    if metric.task == "numbers":
        y_true, outputs = as_real(y_true, "y_true"), as_real(one_column(outputs), "outputs")
        classes, positive = np.empty(0), 0
    else:
        y_true = as_labels(y_true, "y_true")
        known = None if labels is None else check_labels(labels)
        outputs, classes, positive = _classes(metric, scorer_name, y_true, outputs, known, pos_label)
    if weight is not None:
        check_weight(weight)
        if metric.weighs == "never" or (metric.weighs == "two classes" and outputs.ndim == 2):
            raise bad_parameter("sample_weight", _OWNER, f"None for {scorer_name!r}", "weights")

    def chunk(values: Array, part: slice, dtype: Any = None) -> Array:
        if taken is None:
            blocks = values.reshape(n_blocks, size, *values.shape[1:])[part]
        else:
            blocks = values.take(taken.reshape(n_blocks, size)[part], axis=0)
        return np.ascontiguousarray(blocks, dtype=dtype)

    number = _float_type(y_true, outputs, weight) if metric.task == "numbers" else None
    parts = chunks(n_blocks, metric.cell_bytes * (size * outputs[:1].size + len(classes)))
    room = None if number is None else np.empty((parts[0].stop, size), dtype=number)
    scores = np.empty(n_blocks)
    for part in parts:
        blocks = Blocks(
            y_true=chunk(y_true, part, number),
            outputs=chunk(outputs, part, number),
            weight=None if weight is None else chunk(weight, part, _float_type(weight)),
            labels=classes,
            positive=positive,
            room=None if room is None else room[: part.stop - part.start],
        )
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # undefined values become NaN
            values = metric.function(blocks)
        undefined = np.asarray(blocks.size) == 0
        if metric.task in ("binary", "ranking", "probabilities"):
            undefined = undefined | blocks.has_unknown
        if metric.task == "numbers" and not np.isfinite(values).all():
            check_finite(blocks.y_true, "y_true")
            check_finite(blocks.outputs, "outputs")
        scores[part] = np.where(undefined, np.nan, values)
    return -scores if scorer_name.startswith("neg_") else scores


def _classes(
    metric: _Metric, name: str, y_true: Array, outputs: Array, labels: Array | None, pos_label: Any
) -> tuple[Array, Array, int]:
    """Return the checked outputs of a classifier, the sorted labels and the position of the positive one."""
    if metric.task in ("hits", "classes", "binary"):
        outputs = as_labels(one_column(outputs), "outputs")
        check_same_kind(outputs, "outputs", y_true)
    if metric.task == "hits":
        return outputs, np.empty(0), 0
    if labels is None or metric.task == "classes":
        labels = with_labels_of(y_true, labels, "y_true")
    check_same_kind(y_true, "y_true", labels)
    if metric.task == "probabilities":
        return probabilities(outputs, len(labels)), labels, 1
    if metric.task == "ranking":
        outputs = as_numbers(one_column(outputs), "outputs")
    else:
        labels = with_labels_of(outputs, labels, "outputs")
    if metric.task == "classes":
        return outputs, labels, 0
    if pos_label is None:
        pos_label = labels[-1] if name == "roc_auc" else 1
    return outputs, *positive_class(pos_label, labels)


def _float_type(*arrays: Array | None) -> np.dtype[Any]:
    """Return the widest floating type among the arrays, as scikit-learn's metrics do."""
    types = [a.dtype for a in arrays if a is not None and a.dtype.kind == "f"]
    return np.result_type(*types) if types else np.dtype(np.float64)
