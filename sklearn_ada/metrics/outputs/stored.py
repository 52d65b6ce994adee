"""A model that predicts all rows once, for scorers that would ask it about one subsample after another."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import get_scorer
from sklearn.utils.metaestimators import available_if

from sklearn_ada.metrics.blocks import loop_scores
from sklearn_ada.metrics.outputs.asking import classes_of, respond
from sklearn_ada.metrics.outputs.forms import UnusableOutputsError, canonical

__all__ = ["StoredOutputs", "reads_outputs_only"]

_MADE = type(get_scorer("accuracy"))


def reads_outputs_only(scorer: Any) -> bool:
    """Return whether a scorer is one of ``make_scorer``: it reads the model's outputs, never X itself.

    Examples
    --------
    >>> reads_outputs_only(get_scorer("matthews_corrcoef")), reads_outputs_only(lambda model, X, y: 0.0)
    (True, False)
    """
    return isinstance(scorer, _MADE)


def _stored(method: str) -> Any:
    """Return a method of that name, which is there if the model has it."""

    def has(self: StoredOutputs) -> bool:
        return hasattr(self._estimator, method)

    def outputs(self: StoredOutputs, rows: NDArray[np.integer]) -> NDArray[Any]:
        return self._respond(method)[rows]

    outputs.__name__ = method
    return available_if(has)(outputs)


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

    def __init__(
        self, estimator: Any, X: Any, y: NDArray[Any], form: str = "any", name: str = "a metric"
    ) -> None:
        self.outputs: dict[str, NDArray[Any]] = {}
        self._error: Exception | None = None
        self._estimator, self._X, self._y, self._form, self._name = estimator, X, y, form, name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._estimator, name)

    predict = _stored("predict")
    predict_proba = _stored("predict_proba")
    predict_log_proba = _stored("predict_log_proba")
    decision_function = _stored("decision_function")

    def scores(
        self,
        scorer: Any,
        y: NDArray[Any],
        rows: NDArray[np.integer],
        sample_weight: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Return the scorer's value on each subsample (m, t) of the rows, NaN where it has none.

        Raises
        ------
        Exception
            What the model raised; UnusableOutputsError if the scorer takes no such outputs.
        """
        order = rows.ravel()

        def score(truth: NDArray[Any], block: NDArray[np.integer], **weight: Any) -> float:
            return float(scorer(self, block, truth, **weight))

        weight = None if sample_weight is None else sample_weight[order]
        values = loop_scores(score, y[order], order, len(rows), sample_weight=weight)
        if self._error is not None:
            raise self._error
        return values

    def _respond(self, method: str) -> NDArray[Any]:
        if method not in self.outputs:
            try:
                said = respond(self._estimator, self._X, (method,))[1]
                outputs = self._canonical(said, method)
            except Exception as error:
                self._error = error
                raise
            self.outputs[method] = outputs
        return self.outputs[method]

    def _canonical(self, said: NDArray[Any], method: str) -> NDArray[Any]:
        """Return outputs as the scorer takes them: it picks the column of a class by itself, of a matrix."""
        if self._form in ("any", "labels", "numbers"):
            return canonical(said, self._form, method, self._y, name=self._name)
        if method == "predict_proba" and said.ndim == 1:
            raise UnusableOutputsError(f"The outputs of {method} have no column for each class.")
        classes = classes_of(self._estimator, self._name)
        return canonical(said, self._form, method, self._y, classes=classes, name=self._name)
