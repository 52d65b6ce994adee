"""Ask a model about rows, and bring its outputs into the metric's form.

A model may give the same outputs in many ways: a column for a vector, objects for numbers, the
probabilities of both classes for that of one. Where the meaning is plain they become one canonical array, the
same for a guess and for the holdout. Whatever else it gives is unusable, which has a price, and never
broadcast, compared across types or completed: a metric of such outputs would have a value that means nothing.
Scikit-learn's own metric would raise an error there, or give a value of something else.

A model is shown many rows in chunks of `CHUNK_CELLS` numbers, so that what it needs for its work stays
bounded however large the holdout is. The chunks depend on X alone, and a model predicts row by row, so they
alter no answer. Where labels are read block by block, outputs are a column, too. A scorer that would ask a
model about one subsample after another is shown `StoredOutputs`, which predict all rows once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import get_scorer

from sklearn_ada._validation import bad_parameter
from sklearn_ada.data.columns import Column, as_column, drop_pages, scratch
from sklearn_ada.data.labels import (
    all_finite,
    are_classes,
    guarded,
    is_dask,
    label_kind,
    lies_elsewhere,
    n_rows,
    of_one_type,
    own_copy,
    take_rows,
)
from sklearn_ada.metrics.blocks import loop_scores

Array = NDArray[Any]

CHUNK_CELLS = 2**23
"""Numbers in a chunk of X: 64 MB of float64. A row of a sparse matrix counts its mean number of entries."""
LIST_CELLS = 128
"""What a row of a list, a text perhaps, counts as."""

_THRESHOLD = ("decision_function", "predict_proba")
_METHODS = (*_THRESHOLD, "predict", "predict_log_proba")
_SCORER = type(get_scorer("accuracy"))


class UnusableOutputsError(ValueError):
    """A model's outputs are not what the metric takes: not finite, of another type or of a wrong shape."""


@dataclass(frozen=True)
class Response:
    """What a metric takes of a model.

    Attributes
    ----------
    form : str
        "labels": one class label for each row. "numbers": one number. "scores": one number, larger for the
        positive class. "positive probability": the probability of the positive class. "probabilities": those
        of all classes. "class scores": one number for each class. "all scores": that, or a decision function.
        "any": rows of finite outputs, which the user's own function understands.
    methods : tuple of str
        Methods of the estimator, of which the first that it has gives the outputs.
    target : {"classes", "numbers"} or None
        What y must hold; None where it depends on the user's function.
    needs_classes : bool
        Whether the estimator's ``classes_`` say which class an output is for.
    """

    form: str
    methods: tuple[str, ...] = ("predict",)
    target: str | None = "classes"
    needs_classes: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "needs_classes", self.form not in ("labels", "numbers", "any"))

    def unreduced(self) -> Response:
        """Return the response of a scorer that picks the positive class itself."""
        forms = {"scores": "any", "positive probability": "probabilities"}
        return replace(self, form=forms.get(self.form, self.form))


LABELS = Response("labels")
NUMBERS = Response("numbers", target="numbers")
SCORES = Response("scores", _THRESHOLD)
POSITIVE_PROBABILITY = Response("positive probability", ("predict_proba",))
PROBABILITIES = Response("probabilities", ("predict_proba",))
CLASS_SCORES = Response("class scores", ("predict_proba",))
ALL_SCORES = Response("all scores", _THRESHOLD)


class Given:
    """Outputs that are given for all rows, whatever X holds."""

    @property
    def given_outputs(self) -> Any:
        """An array, or a column that is labels for certain."""
        raise NotImplementedError


def available_response(estimator: Any, methods: tuple[str, ...]) -> str:
    """Return the first of ``methods`` that the estimator has; TypeError if it has none."""
    for method in methods:
        if callable(getattr(estimator, method, None)):
            return method
    raise TypeError(
        f"The 'estimator' parameter must have one of the methods {', '.join(methods)} for this metric. Got "
        f"{type(estimator).__name__}, which has none; choose a metric of its predictions."
    )


def classes_of(estimator: Any, owner: str) -> Array | None:
    """Return the estimator's ``classes_`` as numbers or text, None if it has none.

    Raises
    ------
    ValueError
        If they are not sorted and distinct, as scikit-learn's are: its metrics sort labels.
    """
    given = getattr(estimator, "classes_", None)
    if given is None:
        return None
    try:
        classes = of_one_type(np.asarray(given), "classes_", owner)
        if classes.ndim == 1 and np.array_equal(np.unique(classes), classes):
            return classes
    except (TypeError, ValueError):
        pass
    expected = "a model whose classes_ are sorted and distinct labels"
    fix = "Fit it on one column of labels, as scikit-learn's models are."
    raise bad_parameter("estimator", owner, expected, "others", fix)


def respond(estimator: Any, X: Any, methods: tuple[str, ...]) -> tuple[str, Array]:
    """Return the first available method, and its outputs for all rows.

    Raises
    ------
    UnusableOutputsError
        If they are no array of one type.
    """
    method = available_response(estimator, methods)
    if isinstance(estimator, Given):
        return method, estimator.given_outputs
    predict, n = getattr(estimator, method), n_rows(X)
    if n <= _rows_in_chunk(X):
        return method, _predicted(predict, X)
    outputs = np.empty(0)
    for rows, chunk in _chunks(X):
        part = _predicted(predict, chunk)
        if rows.start == 0:
            outputs = np.empty((n, *part.shape[1:]), dtype=part.dtype)
        if part.shape != outputs[rows].shape:
            raise UnusableOutputsError("The outputs of a chunk of rows are of the wrong shape.")
        if part.dtype != outputs.dtype:  # texts of another length
            if label_kind(part) != label_kind(outputs):
                raise UnusableOutputsError("The outputs are of several types.")
            both = np.promote_types(outputs.dtype, part.dtype)
            if both.kind == "f" and outputs.dtype.kind in "biu" and part.dtype.kind in "biu":
                raise UnusableOutputsError("The outputs are integers that no type holds together.")
            outputs = outputs.astype(both)
        outputs[rows] = part
    return method, outputs


def predicted_column(
    estimator: Any, X: Any, y: Column, methods: tuple[str, ...], judge: Callable[[Array, str, Any], Array]
) -> Column:
    """Return the outputs of the first available method as a column.

    Labels of the rows are read block by block. Outputs of rows that lie elsewhere do so, too: in a temporary
    file, or where Dask computes them.

    Parameters
    ----------
    estimator : fitted estimator
    X : array-like, frame, sparse matrix, list or Dask array
    y : Column
        Labels of the rows.
    methods : tuple of str
    judge : callable
        Takes outputs, the name of the method and the labels of a chunk; returns one label for each row.
    """
    if isinstance(estimator, Given):
        return as_column(estimator.given_outputs)
    method = available_response(estimator, methods)

    def of_chunk(rows: Any, labels: Column) -> Array:
        return judge(_predicted(getattr(estimator, method), rows), method, labels)

    if is_dask(X):
        return Column(_predicted_by_dask(of_chunk, X, y.dtype))
    outputs = np.empty(0)
    for rows, chunk in _chunks(X):
        part = of_chunk(chunk, y.rows(rows))
        if rows.start == 0:
            n = n_rows(X)
            outputs = scratch(n, part.dtype) if lies_elsewhere(y.source) else np.empty(n, dtype=part.dtype)
        if part.dtype != outputs.dtype:
            raise UnusableOutputsError("The outputs are of several types.")
        outputs[rows] = part
        drop_pages(outputs[rows])
    return Column(outputs)


def _chunks(X: Any) -> Iterator[tuple[slice, Any]]:
    """Cut X into chunks, each with its place; its pages are given back once it was used."""
    n, step = n_rows(X), _rows_in_chunk(X)
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        chunk = take_rows(X, rows)
        yield rows, chunk
        drop_pages(chunk)


def _rows_in_chunk(X: Any) -> int:
    """Return how many rows a model is shown at once."""
    if hasattr(X, "nnz"):
        cells = X.nnz / max(n_rows(X), 1)
    else:
        cells = math.prod(X.shape[1:]) if hasattr(X, "shape") else LIST_CELLS
    return max(int(CHUNK_CELLS // max(cells, 1)), 1)


def _predicted(predict: Callable[[Any], Any], X: Any) -> Array:
    """Return what a model predicts of rows that it cannot change; one that insists on it gets a copy."""
    try:
        outputs = predict(guarded(X))
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        outputs = predict(own_copy(X))
    if np.ma.is_masked(outputs):
        raise UnusableOutputsError("Some outputs are masked.")
    try:
        return np.asarray(outputs)
    except ValueError:
        raise UnusableOutputsError("The outputs are no array: their rows are of several lengths.") from None


def _predicted_by_dask(of_chunk: Callable[[Any, Column], Array], X: Any, dtype: np.dtype[Any]) -> Any:
    """Return the Dask array of the outputs for each chunk of rows of another.

    It is kept where it is computed. ``dtype`` is that of the labels of the rows.
    """
    import dask

    rows = X.rechunk(dict.fromkeys(range(1, X.ndim), -1))
    predict = partial(_of_dask_chunk, of_chunk, dtype)
    filled = next((number for number, size in enumerate(X.chunks[0]) if size), 0)
    (first,) = dask.compute(dask.delayed(predict)(rows.blocks[filled]).dtype)
    all_but_rows, like = list(range(1, X.ndim)), np.empty(0, dtype=first)
    made = rows.map_blocks(partial(predict, dtype=first), dtype=first, drop_axis=all_but_rows, meta=like)
    return dask.persist(made)[0]


def _of_dask_chunk(
    of_chunk: Callable[[Any, Column], Array], of_labels: np.dtype[Any], rows: Array, dtype: Any = None
) -> Array:
    if len(rows) == 0:  # no model is asked about no rows
        return np.empty(0, dtype=dtype)
    labels = Column(np.broadcast_to(np.zeros((), dtype=of_labels), (len(rows),)))  # only their number is read
    return of_chunk(rows, labels)


def canonical(
    outputs: Any,
    form: str,
    method: str,
    y: Array,
    *,
    classes: Array | None = None,
    positive: Any = None,
    name: str = "a metric",
) -> Array:
    """Return a model's outputs for some rows in the form that a metric takes.

    Parameters
    ----------
    outputs : ndarray
        What the method returned.
    form : str
        See `Response`.
    method : str
        The estimator's method.
    y : ndarray of shape (n,)
        The labels or numbers of the same rows.
    classes : ndarray or None
        The estimator's ``classes_``.
    positive : label or None
        The positive class of "scores" and "positive probability"; None is the last of ``classes``.
    name : str
        The metric, for the message.

    Returns
    -------
    outputs : ndarray of shape (n,) or (n, n_classes)
        An array that is canonical already is returned as it is.

    Raises
    ------
    UnusableOutputsError
        If they are anything else; the message names shapes and types, never values.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0, 1, 1])
    >>> canonical(np.array([[0], [1], [0]]), "labels", "predict", y)
    array([0, 1, 0])
    >>> canonical(np.array([0.2, 0.9, 0.4]), "labels", "predict", y, name="accuracy")
    Traceback (most recent call last):
        ...
    sklearn_ada.metrics.outputs.UnusableOutputsError: The 'estimator' parameter of accuracy must be a \
model whose predict gives class labels. Got 'numbers with a fraction, or not finite' instead.
    """
    try:
        if form == "labels":
            return _labels(outputs, y)
        if form == "any" or (form == "all scores" and method != "predict_proba"):
            return _any(outputs, method, len(y), numbers=form != "any")
        first = None if classes is None or len(classes) != 2 else classes[0]
        is_first = first is not None and positive is not None and bool(positive == first)
        if form == "numbers" or (form == "scores" and method != "predict_proba"):
            vector = _vector(outputs, len(y), "one number for each row")
            numbers = _finite(_numeric(_plain(vector, "numbers")))
            return -1 * numbers if form == "scores" and is_first else numbers
        matrix = _of_classes(outputs, len(y), classes, two=form in ("scores", "positive probability"))
        if form in ("positive probability", "probabilities") and (matrix.min() < 0 or matrix.max() > 1):
            raise _UnusableError("probabilities", "numbers outside of [0, 1]")
        if form in ("probabilities", "class scores", "all scores"):
            return matrix
        if matrix.ndim == 2:
            if form == "scores":
                return matrix[:, 0 if is_first else 1]
            return 1 - matrix[:, 0] if is_first else matrix[:, 1]
        if form == "scores" and is_first:
            raise _UnusableError("one number for each class", f"an array of shape {matrix.shape}")
        return matrix
    except _UnusableError as error:
        wanted, got = error.args
        message = bad_parameter("estimator", name, f"a model whose {method} gives {wanted}", got)
        raise UnusableOutputsError(str(message)) from None


class _UnusableError(Exception):
    """What is wanted of outputs, and what they are instead."""


def _labels(outputs: Array, y: Array) -> Array:
    labels = _plain(_vector(outputs, len(y), "one label for each row"), "class labels")
    if label_kind(labels) != label_kind(y):
        raise _UnusableError(f"class labels that are {label_kind(y)}, as y is", f"{labels.dtype} values")
    if not are_classes(labels):
        raise _UnusableError("class labels", "numbers with a fraction, or not finite")
    if labels.dtype.kind == "O" and not all(isinstance(label, str) for label in labels.tolist()):
        raise _UnusableError("class labels", "missing values")
    return labels


def _any(outputs: Array, method: str, n: int, *, numbers: bool) -> Array:
    """Return rows of finite outputs, or of finite numbers."""
    if numbers:
        outputs = _numeric(_plain(_rows(outputs, n, "one score, or one for each class"), "numbers"))
    else:
        outputs = _rows(outputs, n, "one output, or one row of outputs, for each row")
    if outputs.ndim == 2 and outputs.shape[1] == 1 and method in ("predict", "decision_function"):
        outputs = outputs[:, 0]
    return _finite(outputs)


def _of_classes(outputs: Array, n: int, classes: Array | None, *, two: bool) -> Array:
    """Return numbers of shape (n, n_classes); or (n,), those of the second of two classes."""
    each = "one number for each class"
    matrix = _numeric(_plain(_rows(outputs, n, each), "probabilities"))
    n_columns = 2 if matrix.ndim == 1 else matrix.shape[1] if matrix.ndim == 2 else 0
    fits = classes is None or n_columns == len(classes)
    if n_columns < 2 or (n_columns != 2 if two else not fits) or (matrix.ndim == 1 and not fits):
        raise _UnusableError(each, f"an array of shape {outputs.shape}")
    if classes is not None and not fits:
        raise _UnusableError(f"{each} of {len(classes)}", f"an array of shape {outputs.shape}")
    return _finite(matrix)


def _vector(outputs: Array, n: int, expected: str) -> Array:
    outputs = _rows(outputs, n, expected)
    if outputs.ndim == 2 and outputs.shape[1] == 1:
        return outputs[:, 0]
    if outputs.ndim != 1:
        raise _UnusableError(expected, f"an array of shape {outputs.shape}")
    return outputs


def _rows(outputs: Array, n: int, expected: str) -> Array:
    if outputs.ndim == 0 or len(outputs) != n:
        raise _UnusableError(f"{expected} ({n} rows)", f"an array of shape {outputs.shape}")
    return outputs


def _plain(values: Array, expected: str) -> Array:
    """Return objects as the numbers or the text that they are."""
    if values.dtype.kind not in "OT":
        return values
    try:
        return of_one_type(values.ravel(), "predict", expected).reshape(values.shape)
    except ValueError:
        raise _UnusableError(expected, "objects of several types, or of none that a metric takes") from None


def _numeric(values: Array) -> Array:
    if values.dtype.kind not in "biuf":
        raise _UnusableError("numbers", f"{values.dtype} values")
    return values


def _finite(values: Array) -> Array:
    if values.dtype.kind in "biufc" and not all_finite(values):
        raise _UnusableError("finite outputs", "NaN or infinity")
    return values


def reads_outputs_only(scorer: Any) -> bool:
    """Return whether a scorer is one of ``make_scorer``: it reads the model's outputs, never X itself.

    Examples
    --------
    >>> reads_outputs_only(get_scorer("matthews_corrcoef")), reads_outputs_only(lambda model, X, y: 0.0)
    (True, False)
    """
    return isinstance(scorer, _SCORER)


def one_number(value: Any) -> float:
    """Return what a scorer returned as a number, or raise ValueError.

    Examples
    --------
    >>> one_number(np.array([0.5]))
    0.5
    """
    if isinstance(value, Real) or (isinstance(value, np.ndarray) and value.size == 1):
        return float(np.asarray(value).item())
    fix = "Ask for one metric at a time."
    raise bad_parameter("scoring", "Metric", "a scorer that returns one number", type(value).__name__, fix)


def weighing(sample_weight: Array | None, rows: Any = slice(None)) -> dict[str, Any]:
    """Return the weights of some rows, if there are any, as a scorer takes them."""
    return {} if sample_weight is None else {"sample_weight": sample_weight[rows]}


class StoredOutputs:
    """A fitted model as a scorer sees it, asked by row number.

    Parameters
    ----------
    estimator : fitted estimator
    X : array-like, frame, sparse matrix or list
        The rows; each method predicts them all at its first use.
    y : ndarray of shape (n,)
        Their labels, which outputs must be like.
    form : str
        What the scorer takes (see `Response`).
    name : str
        The metric, for messages.

    Attributes
    ----------
    outputs : dict
        What was predicted, by method.
    """

    def __init__(self, estimator: Any, X: Any, y: Array, form: str = "any", name: str = "a metric") -> None:
        self.outputs: dict[str, Array] = {}
        self._error: Exception | None = None
        self._estimator, self._X, self._y, self._form, self._name = estimator, X, y, form, name

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._estimator, name)
        if name not in _METHODS:
            return found

        def outputs(rows: NDArray[np.integer]) -> Array:
            return self._respond(name)[rows]

        outputs.__name__ = name  # by which scikit-learn's scorers tell them apart
        return outputs

    def scores(
        self, scorer: Any, y: Array, rows: NDArray[np.integer], sample_weight: Array | None = None
    ) -> NDArray[np.float64]:
        """Return the scorer's value on each subsample (m, t), NaN where undefined.

        Raises
        ------
        Exception
            What the model raised; UnusableOutputsError if the scorer takes no such outputs.
        """

        def score_block(block: NDArray[np.integer]) -> float:
            value = scorer(self, block, y[block], **weighing(sample_weight, block))
            try:
                return one_number(value)
            except ValueError as error:
                self._error = error
                raise

        values = loop_scores(score_block, rows)
        if self._error is not None:
            raise self._error
        return values

    def _respond(self, method: str) -> Array:
        if method not in self.outputs:
            try:
                given = respond(self._estimator, self._X, (method,))[1]
                self.outputs[method] = self._canonical(given, method)
            except Exception as error:
                self._error = error
                raise
        return self.outputs[method]

    def _canonical(self, outputs: Array, method: str) -> Array:
        """Return outputs as the scorer takes them: it picks the column of a class by itself, of a matrix."""
        if self._form in ("any", "labels", "numbers"):
            return canonical(outputs, self._form, method, self._y, name=self._name)
        if method == "predict_proba" and outputs.ndim == 1:
            raise UnusableOutputsError(f"The outputs of {method} have no column for each class.")
        classes = classes_of(self._estimator, self._name)
        return canonical(outputs, self._form, method, self._y, classes=classes, name=self._name)
