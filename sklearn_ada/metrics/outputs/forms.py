"""Outputs of models in the form that a metric takes, or an error that has a price.

A model may say the same thing in many ways: a column for a vector, objects for numbers, the probabilities of
both classes for that of one. Where its meaning is plain the outputs become one canonical array, the same for
a guess and for the holdout. Whatever else it says is unusable, and never broadcast, compared across types or
completed, for a metric of such outputs would have a value that means nothing. Scikit-learn's own metric would
raise an error there, or give a value of something else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from sklearn_ada._checks import bad_parameter
from sklearn_ada.metrics.data.labels import all_finite, are_classes, family, of_one_type

__all__ = [
    "ALL_SCORES",
    "CLASS_SCORES",
    "LABELS",
    "NUMBERS",
    "POSITIVE_PROBABILITY",
    "PROBABILITIES",
    "SCORES",
    "Response",
    "UnusableOutputsError",
    "canonical",
]

Array = NDArray[Any]

_THRESHOLD = ("decision_function", "predict_proba")
_VECTORS = ("predict", "decision_function")


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
        What y must hold; None where only the user's function knows.
    """

    form: str
    methods: tuple[str, ...] = ("predict",)
    target: str | None = "classes"

    @property
    def needs_classes(self) -> bool:
        """Whether the order of the estimator's ``classes_`` says what the outputs are of."""
        return self.form in ("scores", "positive probability", "probabilities", "class scores", "all scores")

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


def canonical(
    said: Any,
    form: str,
    method: str,
    y: Array,
    *,
    classes: Array | None = None,
    positive: Any = None,
    name: str = "a metric",
) -> Array:
    """Return what a model said of some rows in the form that a metric takes.

    Parameters
    ----------
    said : ndarray
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
        If they are anything else; the message tells shapes and types, never values.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0, 1, 1])
    >>> canonical(np.array([[0], [1], [0]]), "labels", "predict", y)
    array([0, 1, 0])
    >>> canonical(np.array([0.2, 0.9, 0.4]), "labels", "predict", y, name="accuracy")
    Traceback (most recent call last):
        ...
    sklearn_ada.metrics.outputs.forms.UnusableOutputsError: The 'estimator' parameter of accuracy must be a \
model whose predict gives class labels. Got 'numbers with a fraction, or not finite' instead.
    """
    try:
        return _FORMS[form](said, method, y, classes, positive)
    except _UnusableError as error:
        expected = f"a model whose {method} gives {error.expected}"
        raise UnusableOutputsError(str(bad_parameter("estimator", name, expected, error.got))) from None


class _UnusableError(Exception):
    def __init__(self, expected: str, got: str) -> None:
        super().__init__(expected, got)
        self.expected, self.got = expected, got


def _labels(said: Array, method: str, y: Array, classes: Array | None, positive: Any) -> Array:
    labels = _plain(_vector(said, len(y), "one label for each row"), "class labels")
    if family(labels) != family(y):
        raise _UnusableError(f"class labels that are {family(y)}, as y is", f"{labels.dtype} values")
    if not are_classes(labels):
        raise _UnusableError("class labels", "numbers with a fraction, or not finite")
    if labels.dtype.kind == "O" and not all(isinstance(label, str) for label in labels.tolist()):
        raise _UnusableError("class labels", "missing values")
    return labels


def _numbers(said: Array, method: str, y: Array, classes: Array | None, positive: Any) -> Array:
    return _finite(_numeric(_plain(_vector(said, len(y), "one number for each row"), "numbers")))


def _scores(said: Array, method: str, y: Array, classes: Array | None, positive: Any) -> Array:
    if method == "predict_proba":
        return _of_positive(_probability_matrix(said, len(y), classes, two=True), classes, positive)
    scores = _numbers(said, method, y, classes, positive)
    return -1 * scores if _is_first(positive, classes) else scores


def _positive_probability(said: Array, method: str, y: Array, classes: Array | None, positive: Any) -> Array:
    matrix = _in_unit(_probability_matrix(said, len(y), classes, two=True))
    if matrix.ndim == 1:
        return matrix
    return 1 - matrix[:, 0] if _is_first(positive, classes) else matrix[:, 1]


def _probabilities(said: Array, method: str, y: Array, classes: Array | None, positive: Any) -> Array:
    return _in_unit(_probability_matrix(said, len(y), classes))


def _class_scores(said: Array, method: str, y: Array, classes: Array | None, positive: Any) -> Array:
    return _probability_matrix(said, len(y), classes)


def _all_scores(said: Array, method: str, y: Array, classes: Array | None, positive: Any) -> Array:
    if method == "predict_proba":
        return _probability_matrix(said, len(y), classes)
    scores = _plain(_rows(said, len(y), "one score, or one for each class"), "numbers")
    return _any(_numeric(scores), method, y, classes, positive)


def _any(said: Array, method: str, y: Array, classes: Array | None, positive: Any) -> Array:
    outputs = _rows(said, len(y), "one output, or one row of outputs, for each row")
    if outputs.ndim == 2 and outputs.shape[1] == 1 and method in _VECTORS:
        outputs = outputs[:, 0]
    return _finite(outputs)


_FORMS = {
    "labels": _labels,
    "numbers": _numbers,
    "scores": _scores,
    "positive probability": _positive_probability,
    "probabilities": _probabilities,
    "class scores": _class_scores,
    "all scores": _all_scores,
    "any": _any,
}


def _rows(said: Array, n: int, expected: str) -> Array:
    if said.ndim == 0 or len(said) != n:
        raise _UnusableError(f"{expected} ({n} rows)", f"an array of shape {said.shape}")
    return said


def _vector(said: Array, n: int, expected: str) -> Array:
    said = _rows(said, n, expected)
    if said.ndim == 2 and said.shape[1] == 1:
        return said[:, 0]
    if said.ndim != 1:
        raise _UnusableError(expected, f"an array of shape {said.shape}")
    return said


def _plain(values: Array, expected: str) -> Array:
    """Return objects as the numbers or the text that they are."""
    if values.dtype.kind not in "OT":
        return values
    try:
        return of_one_type(values.ravel(), "predict", expected).reshape(values.shape)
    except ValueError:
        raise _UnusableError(expected, "objects of several types, or of none that a metric takes") from None


def _finite(values: Array) -> Array:
    if values.dtype.kind in "biufc" and not all_finite(values):
        raise _UnusableError("finite outputs", "NaN or infinity")
    return values


def _probability_matrix(said: Array, n: int, classes: Array | None, *, two: bool = False) -> Array:
    """Return numbers of shape (n, n_classes); or (n,), those of the second of two classes."""
    of_each = "one number for each class"
    matrix = _numeric(_plain(_rows(said, n, of_each), "probabilities"))
    wanted = 2 if two else None if classes is None else len(classes)
    if matrix.ndim == 1:
        if wanted not in (2, None) or (classes is not None and len(classes) != 2):
            raise _UnusableError(of_each, f"an array of shape {said.shape}")
    elif matrix.ndim != 2 or matrix.shape[1] < 2 or (wanted is not None and matrix.shape[1] != wanted):
        raise _UnusableError(of_each, f"an array of shape {said.shape}")
    elif classes is not None and matrix.shape[1] != len(classes):
        raise _UnusableError(f"{of_each} of {len(classes)}", f"an array of shape {said.shape}")
    return _finite(matrix)


def _numeric(values: Array) -> Array:
    if values.dtype.kind not in "biuf":
        raise _UnusableError("numbers", f"{values.dtype} values")
    return values


def _in_unit(values: Array) -> Array:
    if values.min() < 0 or values.max() > 1:
        raise _UnusableError("probabilities", "numbers outside of [0, 1]")
    return values


def _of_positive(matrix: Array, classes: Array | None, positive: Any) -> Array:
    is_first = _is_first(positive, classes)
    if matrix.ndim == 2:
        return matrix[:, 0 if is_first else 1]
    if is_first:
        raise _UnusableError("one number for each class", f"an array of shape {matrix.shape}")
    return matrix


def _is_first(positive: Any, classes: Array | None) -> bool:
    """Return whether the positive class is the first of two."""
    return positive is not None and classes is not None and len(classes) == 2 and positive == classes[0]
