"""Compute scikit-learn's metrics on many subsamples of rows at once, from one prediction.

The rows are permuted once and cut into equal blocks: block ``i`` is rows ``i * t`` to ``(i + 1) * t``. So
labels and predictions are matrices with one row per block, and a metric on every block is a few array
operations along the rows. Such a metric is a function of `Blocks`, registered under the name of its scorer;
any other score is a loop over the blocks.

What is given is not checked anew: labels and weights are those that a holdout lets pass
(`sklearn_ada.data.labels`), of the kind that the metric is of, and outputs are in its form
(`sklearn_ada.metrics.outputs.canonical`). Messages name shapes and types, never values of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_ada._validation import bad_parameter
from sklearn_ada.data.labels import label_kind, pieces

Array = NDArray[Any]

# Blocks are taken in chunks whose temporaries stay within this, whatever the size of the holdout; it also
# keeps them in the processor's cache. No result depends on it.
CHUNK_BYTES = 2**22

Takes = Literal["hits", "classes", "binary", "ranking", "probabilities", "numbers"]
Weighs = Literal["always", "two classes", "never"]


@dataclass(frozen=True)
class _Kernel:
    """How a metric is computed and what it takes.

    ``takes`` is the kind of outputs: predicted labels ("hits" only compares them, "classes" counts each
    class, "binary" the positive one), scores of the positive class ("ranking"), probabilities of all
    classes ("probabilities") or predicted numbers ("numbers").
    """

    function: Callable[[Blocks], Array]
    takes: Takes
    weighs: Weighs
    cell_bytes: int
    """Temporaries for each cell of a block; a ranking needs most (order, sorted scores, counts)."""


_KERNELS: dict[str, _Kernel] = {}

BLOCK_SCORERS: Set[str] = _KERNELS.keys()
"""Names of the scikit-learn scorers that `block_scores` computes."""


def _register(
    name: str, takes: Takes, *, weighs: Weighs = "always", cell_bytes: int = 64, **options: Any
) -> Callable[[Callable[..., Array]], Callable[..., Array]]:
    """Register a function of `Blocks`, with these options, as the scorer of this name."""

    def decorate(function: Callable[..., Array]) -> Callable[..., Array]:
        _KERNELS[name] = _Kernel(partial(function, **options), takes, weighs, cell_bytes)
        return function

    return decorate


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
        What the scorer takes of the estimator for the same rows: labels or numbers of ``predict``;
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
        metrics that take ``labels``).

    Raises
    ------
    ValueError
        If labels are not those of so many classes, or weights are none that the metric takes.

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
    kernel = _KERNELS[scorer_name]
    y, outputs = np.asarray(y_true), np.asarray(outputs)
    weight = None if sample_weight is None else np.asarray(sample_weight)
    classes, positive = np.empty(0), 0
    if kernel.takes not in ("numbers", "hits"):
        classes = _labels(kernel, y, outputs, None if labels is None else np.asarray(labels))
    if kernel.takes == "probabilities":
        outputs, positive = _probabilities(outputs, len(classes)), 1
    elif kernel.takes in ("binary", "ranking"):
        default = classes[-1] if scorer_name == "roc_auc" else 1
        classes, positive = _positive_class(default if pos_label is None else pos_label, classes)
    weighs = kernel.weighs == "always" or (kernel.weighs == "two classes" and outputs.ndim == 1)
    if weight is not None and not weighs:
        raise bad_parameter("sample_weight", "block_scores", f"None for {scorer_name!r}", "weights")
    number = _float_type(y, outputs, weight) if kernel.takes == "numbers" else None

    rows = None if order is None else np.asarray(order).reshape(n_blocks, -1)
    size = len(y) // n_blocks if rows is None else rows.shape[1]

    def chunk(values: Array, part: slice, dtype: Any = None) -> Array:
        if rows is None:
            blocks = values.reshape(n_blocks, size, *values.shape[1:])[part]
        else:
            blocks = values.take(rows[part], axis=0)
        return np.ascontiguousarray(blocks, dtype=dtype)

    step = max(1, CHUNK_BYTES // (kernel.cell_bytes * (size * outputs[:1].size + len(classes))))
    room = None if number is None else np.empty((min(step, n_blocks), size), dtype=number)
    scores = np.empty(n_blocks)
    for start in range(0, n_blocks, step):
        part = slice(start, min(start + step, n_blocks))
        blocks = Blocks(
            y_true=chunk(y, part, number),
            outputs=chunk(outputs, part, number),
            weight=None if weight is None else chunk(weight, part, _float_type(weight)),
            labels=classes,
            positive=positive,
            room=None if room is None else room[: part.stop - start],
        )
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # undefined values become NaN
            values = kernel.function(blocks)
        undefined = np.asarray(blocks.size) == 0
        if kernel.takes in ("binary", "ranking", "probabilities"):
            undefined = undefined | blocks.has_unknown
        scores[part] = np.where(undefined, np.nan, values)
    return -scores if scorer_name.startswith("neg_") else scores


def loop_scores(
    score: Callable[[NDArray[np.integer]], float], order: NDArray[np.integer]
) -> NDArray[np.float64]:
    """Return a score function's value on every block.

    Parameters
    ----------
    score : callable
        Takes the numbers of the rows of a block. Where it raises ValueError, as scikit-learn's metrics do
        where they are undefined, the value is NaN; other exceptions pass.
    order : ndarray of int, shape (n_blocks, block_size)
        Numbers of the rows of each block.

    Returns
    -------
    scores : ndarray of shape (n_blocks,)

    See Also
    --------
    block_scores : The same without the loop, for most of scikit-learn's scorers.

    Examples
    --------
    >>> from sklearn.metrics import matthews_corrcoef
    >>> y, predicted = np.array([0, 1, 1, 0]), np.array([0, 1, 0, 1])
    >>> loop_scores(lambda rows: matthews_corrcoef(y[rows], predicted[rows]), np.array([[0, 1], [2, 3]]))
    array([ 1., -1.])
    """
    scores = np.full(len(order), np.nan)
    for i, rows in enumerate(order):
        try:
            scores[i] = score(rows)
        except ValueError:
            continue
    return scores


def encode(values: Array, labels: Array) -> tuple[Array, Array]:
    """Return each value's position in the sorted labels, and whether it is there."""
    last = len(labels) - 1
    if values.dtype.kind in "biu" and labels.dtype.kind in "biu" and int(labels[-1]) - int(labels[0]) == last:
        codes = values.astype(np.intp) - int(labels[0])  # consecutive integers need no search
        found = (codes >= 0) & (codes <= last)
        return (codes if found.all() else codes.clip(0, last)), found
    codes = np.minimum(labels.searchsorted(values), last)
    return codes, labels[codes] == values


def probability_of_true(outputs: Array, codes: Array) -> Array:
    """Return the probability of each row's class, clipped as in scikit-learn.

    Parameters
    ----------
    outputs : float ndarray of the shape of ``codes``, or with one axis more
        The probability of the second of two classes, or those of all classes.
    codes : ndarray of int
        The position of each row's class.
    """
    if outputs.ndim == codes.ndim:
        probability = np.where(codes == 1, outputs, 1 - outputs)
    else:
        probability = np.take_along_axis(outputs, codes[..., None], axis=-1)[..., 0]
    eps = np.finfo(outputs.dtype).eps
    return probability.clip(eps, 1 - eps)


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

    @property
    def predicted(self) -> Array:
        """Positions of the predicted classes in ``labels``."""
        return encode(self.outputs, self.labels)[0]

    @cached_property
    def size(self) -> Array | float:
        """Total weight of each block."""
        return float(self.y_true.shape[1]) if self.weight is None else self.weight.sum(axis=1)

    @property
    def error(self) -> Array:
        """The true less the predicted numbers; each use overwrites the last."""
        return np.subtract(self.y_true, self.outputs, out=self.room)

    @property
    def distance(self) -> Array:
        """The absolute value of `error`, in its place."""
        return np.abs(self.error, out=self.room)

    def total(self, values: Array) -> Array:
        """Return the weighted sum of each block."""
        return values.sum(axis=1) if self.weight is None else np.multiply(values, self.weight).sum(axis=1)

    def total_square(self, values: Array) -> Array:
        """Return the weighted sum of squares of each block; overwrites the values."""
        if self.weight is None and values.dtype == np.float64:  # one pass; too coarse in single precision
            return np.einsum("ij,ij->i", values, values)
        return self.total(np.multiply(values, values, out=values))

    def mean(self, values: Array) -> Array:
        """Return the weighted mean of each block."""
        return values.mean(axis=1) if self.weight is None else self.total(values) / self.size

    def deviations(self, values: Array) -> Array:
        """Return the values less their mean in each block, in the place of `error`."""
        return np.subtract(values, self.mean(values)[:, None], out=self.room)


def _labels(kernel: _Kernel, y: Array, outputs: Array, labels: Array | None) -> Array:
    """Return the sorted labels of a classifier, joined by those that occur where others may."""
    occurring = [y] if labels is None or kernel.takes == "classes" else []
    if labels is not None and (label_kind(y) == "text") != (label_kind(labels) == "text"):
        raise bad_parameter("y_true", "block_scores", f"labels like the others ({labels.dtype})", y.dtype)
    if kernel.takes in ("classes", "binary"):
        occurring.append(outputs)
    for values in occurring:
        for piece in pieces(values):
            if labels is None:
                labels = np.unique(piece)
            elif not encode(piece, labels)[1].all():
                labels = np.union1d(labels, piece)
    assert labels is not None  # there is at least one row
    return labels


def _probabilities(outputs: Array, n_classes: int) -> Array:
    """Return the probabilities as floats: of the second class alone if there are two."""
    n_columns = outputs.shape[1] if outputs.ndim == 2 else 1
    if n_classes < 2 or max(n_columns, 2) != n_classes:
        expected = f"one probability for each of {n_classes} classes (at least two)"
        fix = "Pass labels=estimator.classes_."
        raise bad_parameter("outputs", "block_scores", expected, outputs.shape, fix)
    if outputs.ndim == 2 and n_columns <= 2:
        outputs = outputs[:, -1]
    return outputs if outputs.dtype.kind == "f" else outputs.astype(np.float64)


def _positive_class(pos_label: Any, labels: Array) -> tuple[Array, int]:
    """Return the two sorted labels and the position of the positive one, or raise ValueError.

    If the data show one label only, the positive class may be the other.
    """
    if len(labels) > 2:
        raise bad_parameter("labels", "block_scores", "two classes for this metric", len(labels))
    positive = np.asarray([pos_label])
    is_other = (label_kind(positive) == "text") != (label_kind(labels) == "text")
    if is_other or (len(labels) == 2 and pos_label not in labels):
        raise bad_parameter("pos_label", "block_scores", f"one of the {len(labels)} labels", pos_label)
    labels = np.union1d(labels, positive)
    return labels, int(labels.searchsorted(positive[0]))


def _float_type(*arrays: Array | None) -> np.dtype[Any]:
    """Return the widest floating type among the arrays, as scikit-learn's metrics do."""
    types = [a.dtype for a in arrays if a is not None and a.dtype.kind == "f"]
    return np.result_type(*types) if types else np.dtype(np.float64)


# Predicted labels: hits, and counts of true and predicted rows per class.


@_register("accuracy", "hits")
def accuracy(blocks: Blocks) -> Array:
    """Return the weighted share of right labels."""
    return blocks.mean(blocks.y_true == blocks.outputs)


@_register("balanced_accuracy", "classes")
def balanced_accuracy(blocks: Blocks) -> Array:
    """Return the mean recall of the classes that have weight in the block."""
    hits, true, _, _ = _counts(blocks)
    return _ratio(hits, true).sum(axis=1) / np.count_nonzero(true, axis=1)


PerClass = Callable[[Array, Array, Array], Array]


def _averaged(per_class: PerClass) -> PerClass:
    """Register a function of the counts (hits, true, predicted) of one class, and its averages."""
    name = per_class.__name__
    _register(name, "binary", per_class=per_class)(_of_positive)
    _register(f"{name}_macro", "classes", per_class=per_class)(_macro)
    _register(f"{name}_micro", "hits", per_class=per_class)(_micro)
    _register(f"{name}_weighted", "classes", per_class=per_class)(_weighted)
    return per_class


def _of_positive(blocks: Blocks, per_class: PerClass) -> Array:
    """Return the metric of the positive class."""
    true, predicted = blocks.codes == blocks.positive, blocks.predicted == blocks.positive
    return per_class(blocks.total(true & predicted), blocks.total(true), blocks.total(predicted))


def _macro(blocks: Blocks, per_class: PerClass) -> Array:
    """Return the mean over the classes that are true or predicted somewhere in the block."""
    hits, true, predicted, present = _counts(blocks)
    return per_class(hits, true, predicted).sum(axis=1) / np.count_nonzero(present, axis=1)


def _micro(blocks: Blocks, per_class: PerClass) -> Array:
    """Return the metric of the counts summed over classes: each row is one true and one predicted label."""
    size = np.asarray(blocks.size)
    return per_class(blocks.total(blocks.y_true == blocks.outputs), size, size)


def _weighted(blocks: Blocks, per_class: PerClass) -> Array:
    """Return the mean over classes, each weighted by its true rows."""
    hits, true, predicted, _ = _counts(blocks)
    return (per_class(hits, true, predicted) * true).sum(axis=1) / true.sum(axis=1)


@_averaged
def precision(hits: Array, true: Array, predicted: Array) -> Array:
    """Return the share of predicted rows that are true."""
    return _ratio(hits, predicted)


@_averaged
def recall(hits: Array, true: Array, predicted: Array) -> Array:
    """Return the share of true rows that are predicted."""
    return _ratio(hits, true)


@_averaged
def f1(hits: Array, true: Array, predicted: Array) -> Array:
    """Return the harmonic mean of precision and recall."""
    return _ratio(2 * hits, true + predicted)


@_averaged
def jaccard(hits: Array, true: Array, predicted: Array) -> Array:
    """Return the share of true or predicted rows that are both."""
    return _ratio(hits, true + predicted - hits)


def _counts(blocks: Blocks) -> tuple[Array, Array, Array, Array]:
    """Return weighted counts (hits, true, predicted) per block and class, and which classes are present.

    A class of weight zero is present all the same: scikit-learn looks for labels before weights.
    """
    n_blocks, n_classes = len(blocks.y_true), len(blocks.labels)
    start = n_classes * np.arange(n_blocks)[:, None]
    true, predicted = (blocks.codes + start).ravel(), (blocks.predicted + start).ravel()
    hit = true == predicted
    weight = None if blocks.weight is None else blocks.weight.ravel()

    def count(cells: Array, weights: Array | None = None) -> Array:
        return np.bincount(cells, weights, n_blocks * n_classes).reshape(n_blocks, n_classes)

    present = (count(true) + count(predicted)) > 0
    if weight is None:
        return count(true[hit]), count(true), count(predicted), present
    return count(true[hit], weight[hit]), count(true, weight), count(predicted, weight), present


def _ratio(numerator: Array, denominator: Array) -> Array:
    """Return the quotient, and 0 where the denominator is (scikit-learn's ``zero_division``)."""
    return np.where(denominator == 0, 0.0, numerator / denominator)


# Predicted probabilities, as losses.


@_register("neg_log_loss", "probabilities")
def log_loss(blocks: Blocks) -> Array:
    """Return the mean log loss, probabilities clipped as in scikit-learn."""
    return blocks.mean(-np.log(probability_of_true(blocks.outputs, blocks.codes)))


@_register("neg_brier_score", "probabilities")
def brier(blocks: Blocks) -> Array:
    """Return the mean squared distance to the true class; halved, in [0, 1], for two classes."""
    if blocks.outputs.ndim == 2:
        return blocks.mean(((blocks.codes == 1) - blocks.outputs) ** 2)
    miss = blocks.outputs.copy()
    chosen = blocks.codes[:, :, None]
    np.put_along_axis(miss, chosen, np.take_along_axis(miss, chosen, axis=2) - 1, axis=2)
    return blocks.mean((miss**2).sum(axis=2))


# Rankings: areas under the ROC and the precision-recall curve, tied scores as one threshold.


@_register("roc_auc", "ranking")
def roc_auc(blocks: Blocks) -> Array:
    """Return the area under the ROC curve; NaN for a block of one class."""
    return _area(blocks.outputs, blocks.codes == blocks.positive, blocks.weight)


@_register("average_precision", "ranking")
def average_precision(blocks: Blocks) -> Array:
    """Return the mean precision over the positive rows; 0 if there are none."""
    curve, positive, negative = _counted(blocks.outputs, blocks.codes == blocks.positive, blocks.weight)
    precision = _ratio(positive, positive + negative)
    return _ratio(curve.per_block(curve.steps(positive) * precision), positive[curve.last])


@_register("roc_auc_ovr", "probabilities", weighted=False)
@_register("roc_auc_ovr_weighted", "probabilities", weighted=True)
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
        areas[:, k] = _area(blocks.outputs[:, :, k], is_class, blocks.weight)
        support[:, k] = blocks.total(is_class)
    if not weighted:
        return areas.mean(axis=1)
    return (np.where(support == 0, 0.0, areas) * support).sum(axis=1) / support.sum(axis=1)


@_register("roc_auc_ovo", "probabilities", weighs="two classes", weighted=False)
@_register("roc_auc_ovo_weighted", "probabilities", weighs="two classes", weighted=True)
def roc_auc_ovo(blocks: Blocks, weighted: bool) -> Array:
    """Return the mean area over the pairs of classes present.

    Each pair is ranked by both classes' scores, and weighted by its share of the rows. One sort per class
    serves all of its pairs.
    """
    if blocks.outputs.ndim == 2:
        return roc_auc(blocks)
    _check_simplex(blocks.outputs)
    n_classes = len(blocks.labels)
    support = np.stack([(blocks.codes == k).sum(axis=1) for k in range(n_classes)], axis=1)
    total = np.zeros(len(blocks.y_true))
    of_all_pairs = np.zeros(len(blocks.y_true))
    for a in range(n_classes):
        curve = _Curve(blocks.outputs[:, :, a])
        ranked = curve.ranked(blocks.codes)
        above_a = curve.above(ranked == a)
        for b in range(n_classes):
            if b == a:
                continue
            is_pair = (support[:, a] > 0) & (support[:, b] > 0)
            of_pair = is_pair * (support[:, a] + support[:, b] if weighted else 1)
            total += np.where(is_pair, curve.area(above_a, curve.above(ranked == b)), 0.0) * of_pair
            of_all_pairs += of_pair
    return total / of_all_pairs


class _Curve:
    """Rows of each block in order of falling score, cut at the thresholds: where the score changes."""

    def __init__(self, scores: Array) -> None:
        n_blocks, block_size = scores.shape
        starts = block_size * np.arange(n_blocks)
        self._order = np.argsort(scores, axis=1)[:, ::-1] + starts[:, None]
        ranked = self.ranked(scores)
        is_last = np.ones(scores.shape, dtype=bool)
        np.not_equal(ranked[:, 1:], ranked[:, :-1], out=is_last[:, :-1])
        self._cuts = np.flatnonzero(is_last)
        self._first = self._cuts.searchsorted(starts)  # first threshold of each block
        self.last = np.append(self._first[1:], len(self._cuts)) - 1

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
        product = positive[self.last] * negative[self.last]
        return np.where(product > 0, self.per_block(trapezoids) / product, np.nan)


def _counted(scores: Array, positive: Array, weight: Array | None) -> tuple[_Curve, Array, Array]:
    """Return the thresholds and the positive and negative weight above each."""
    curve = _Curve(scores)
    is_positive = curve.ranked(positive)
    if weight is None:
        return curve, curve.above(is_positive), curve.above(~is_positive)
    weight = curve.ranked(weight)
    return curve, curve.above(is_positive * weight), curve.above(~is_positive * weight)


def _area(scores: Array, positive: Array, weight: Array | None) -> Array:
    curve, above_positive, above_negative = _counted(scores, positive, weight)
    return curve.area(above_positive, above_negative)


def _check_simplex(outputs: Array) -> None:
    if not np.allclose(1, outputs.sum(axis=2)):
        raise bad_parameter("outputs", "block_scores", "rows of probabilities that sum to 1", outputs.dtype)


# Predicted numbers: losses, and parts of the variance explained.


@_register("neg_mean_squared_error", "numbers", cell_bytes=24, root=False)
@_register("neg_root_mean_squared_error", "numbers", cell_bytes=24, root=True)
def squared(blocks: Blocks, root: bool) -> Array:
    """Return the mean squared error, or its root."""
    mean = blocks.total_square(blocks.error) / blocks.size
    return np.sqrt(mean) if root else mean


@_register("neg_mean_squared_log_error", "numbers", cell_bytes=24, root=False)
@_register("neg_root_mean_squared_log_error", "numbers", cell_bytes=24, root=True)
def squared_log(blocks: Blocks, root: bool) -> Array:
    """Return the mean squared error of log(1 + y), or its root; NaN where a value is -1 or less."""
    defined = (blocks.y_true > -1).all(axis=1) & (blocks.outputs > -1).all(axis=1)
    mean = blocks.mean((np.log1p(blocks.y_true) - np.log1p(blocks.outputs)) ** 2)
    return np.where(defined, np.sqrt(mean) if root else mean, np.nan)


@_register("neg_mean_absolute_error", "numbers", cell_bytes=24)
def absolute(blocks: Blocks) -> Array:
    """Return the mean absolute error."""
    return blocks.mean(blocks.distance)


@_register("neg_mean_absolute_percentage_error", "numbers", cell_bytes=24)
def absolute_percentage(blocks: Blocks) -> Array:
    """Return the mean absolute error relative to the target, which counts as eps at least."""
    scale = np.maximum(np.abs(blocks.y_true), np.asarray(np.finfo(np.float64).eps, blocks.y_true.dtype))
    return blocks.mean(blocks.distance / scale)


@_register("neg_max_error", "numbers", cell_bytes=24, weighs="never")
def largest(blocks: Blocks) -> Array:
    """Return the largest absolute error."""
    return blocks.distance.max(axis=1)


@_register("neg_median_absolute_error", "numbers")
def median_absolute(blocks: Blocks) -> Array:
    """Return the median absolute error; where the weights split in half, of the middle two."""
    errors = blocks.distance
    if blocks.weight is None:
        return np.median(errors, axis=1)
    order = np.argsort(errors, axis=1)
    errors = np.take_along_axis(errors, order, axis=1)
    below = np.take_along_axis(blocks.weight.astype(errors.dtype), order, axis=1).cumsum(axis=1)
    half = below[:, -1:] / 2
    last = errors.shape[1] - 1

    def entry(values: Array, position: Array) -> Array:
        return np.take_along_axis(values, position, axis=1)

    lower = np.minimum((below < half).sum(axis=1, keepdims=True), last)
    upper = (below <= entry(below, lower)).sum(axis=1, keepdims=True)  # the next row of positive weight
    upper = np.where(upper > last, lower, upper)
    is_split = entry(below, lower) - half <= np.finfo(errors.dtype).eps
    return np.where(is_split, (entry(errors, lower) + entry(errors, upper)) / 2, entry(errors, lower))[:, 0]


@_register("r2", "numbers", cell_bytes=24)
def r2(blocks: Blocks) -> Array:
    """Return the part of the target's variation explained; NaN for blocks of one row."""
    if blocks.y_true.shape[1] < 2:
        return np.full(len(blocks.y_true), np.nan)
    return _part_explained(blocks.total_square(blocks.error), blocks)


@_register("explained_variance", "numbers", cell_bytes=24)
def explained_variance(blocks: Blocks) -> Array:
    """Return the part of the target's variance explained, whatever the mean error."""
    return _part_explained(blocks.total_square(blocks.deviations(blocks.error)), blocks)


def _part_explained(left: Array, blocks: Blocks) -> Array:
    """Return 1 - left / whole; for a constant target 1 if nothing is left and else 0, as in scikit-learn."""
    whole = blocks.total_square(blocks.deviations(blocks.y_true))
    of_constant = 0.0 * left  # 0, unless what is left is not finite
    return np.where(left == 0, 1.0, np.where(whole == 0, of_constant, 1 - left / whole))
