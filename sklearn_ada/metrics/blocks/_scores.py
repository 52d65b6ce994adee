"""The table of metrics, and the one way in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_ada._checks import bad_parameter, check_integer, check_option
from sklearn_ada.metrics.blocks import _counts, _probabilities, _ranking, _regression
from sklearn_ada.metrics.blocks._blocks import Blocks, chunks
from sklearn_ada.metrics.blocks._inputs import (
    as_labels,
    as_numbers,
    as_real,
    check_finite,
    check_labels,
    check_lengths,
    check_same_kind,
    check_weight,
    one_column,
    positive_class,
    probabilities,
    with_labels_of,
)

__all__ = ["BLOCK_SCORERS", "block_scores", "response_method"]

Array = NDArray[Any]

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


def _averages(name: str, per_class: _counts.PerClass) -> dict[str, _Metric]:
    return {
        name: _Metric(partial(_counts.binary, per_class=per_class), "binary"),
        f"{name}_macro": _Metric(partial(_counts.macro, per_class=per_class), "classes"),
        f"{name}_micro": _Metric(partial(_counts.micro, per_class=per_class), "hits"),
        f"{name}_weighted": _Metric(partial(_counts.weighted, per_class=per_class), "classes"),
    }


def _of_probabilities(function: Callable[..., Array], **options: Any) -> _Metric:
    return _Metric(function, "probabilities", "predict_proba", **options)


def _one_vs_one(weighted: bool) -> _Metric:
    return _of_probabilities(partial(_ranking.roc_auc_ovo, weighted=weighted), weighs="two classes")


def _of_numbers(function: Callable[..., Array], cell_bytes: int = 24, **options: Any) -> _Metric:
    return _Metric(function, "numbers", cell_bytes=cell_bytes, **options)


_METRICS: dict[str, _Metric] = {
    "accuracy": _Metric(_counts.accuracy, "hits"),
    "balanced_accuracy": _Metric(_counts.balanced_accuracy, "classes"),
    **_averages("precision", _counts.precision),
    **_averages("recall", _counts.recall),
    **_averages("f1", _counts.f1),
    **_averages("jaccard", _counts.jaccard),
    "neg_log_loss": _of_probabilities(_probabilities.log_loss),
    "neg_brier_score": _of_probabilities(_probabilities.brier),
    "roc_auc": _Metric(_ranking.roc_auc, "ranking", _THRESHOLD),
    "average_precision": _Metric(_ranking.average_precision, "ranking", _THRESHOLD),
    "roc_auc_ovr": _of_probabilities(partial(_ranking.roc_auc_ovr, weighted=False)),
    "roc_auc_ovr_weighted": _of_probabilities(partial(_ranking.roc_auc_ovr, weighted=True)),
    "roc_auc_ovo": _one_vs_one(weighted=False),
    "roc_auc_ovo_weighted": _one_vs_one(weighted=True),
    "r2": _of_numbers(_regression.r2),
    "explained_variance": _of_numbers(_regression.explained_variance),
    "neg_mean_squared_error": _of_numbers(_regression.squared),
    "neg_root_mean_squared_error": _of_numbers(_regression.root_squared),
    "neg_mean_squared_log_error": _of_numbers(_regression.squared_log),
    "neg_root_mean_squared_log_error": _of_numbers(_regression.root_squared_log),
    "neg_mean_absolute_error": _of_numbers(_regression.absolute),
    "neg_mean_absolute_percentage_error": _of_numbers(_regression.absolute_percentage),
    "neg_median_absolute_error": _of_numbers(_regression.median_absolute, cell_bytes=64),
    "neg_max_error": _of_numbers(_regression.largest, weighs="never"),
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
