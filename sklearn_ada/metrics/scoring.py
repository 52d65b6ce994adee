"""A metric as a scorer of scikit-learn: what it takes of a model, and its plain value on any rows."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada._checks import bad_parameter
from sklearn_ada.metrics import blocks
from sklearn_ada.metrics.data.columns import Column
from sklearn_ada.metrics.data.rows import Subsamples, n_rows, take_rows
from sklearn_ada.metrics.outputs.asking import classes_of, respond
from sklearn_ada.metrics.outputs.forms import Response, canonical
from sklearn_ada.metrics.outputs.in_columns import predicted_column
from sklearn_ada.metrics.outputs.stored import StoredOutputs, reads_outputs_only
from sklearn_ada.metrics.registry import POSITIVE
from sklearn_ada.metrics.rules.constructions import Range
from sklearn_ada.metrics.rules.defined import UndefinedMetricError, check_positive, check_target
from sklearn_ada.metrics.rules.mean import Mean
from sklearn_ada.metrics.rules.rule import IntervalRule
from sklearn_ada.metrics.weighing import takes_weights

__all__ = ["Scoring"]


class Scoring:
    """What a metric takes of a model, and its plain value.

    Attributes
    ----------
    name : str
    string : str or None
        The scorer string, if it was one.
    scoring : str or callable
        What the scorer is known by.
    positive : label or None
        The positive class of a metric of one class.
    range : tuple of float or None
        To which a user's scores per record are clipped.
    response : Response
        Which outputs of a model it takes, and what y must hold.
    """

    name: str
    string: str | None
    scoring: str | Callable[..., Any]
    positive: Any
    range: Range | None
    response: Response
    _scorer: Any
    """The scorer of scikit-learn; None for a user's scores per record."""
    _rule: IntervalRule | None

    def __call__(self, estimator: Any, X: Any, y: Any, **params: Any) -> float:
        """Return `score`: a metric is a scorer, as the ``scoring`` of any search."""
        return self.score(estimator, X, y, **params)

    def check_target(self, y: NDArray[Any]) -> None:
        """Raise UndefinedMetricError if y is of the wrong type, such as text where numbers are needed.

        Parameters
        ----------
        y : ndarray of shape (n,)
            The labels of the rows.
        """
        check_target(y, self.response.target)

    def check_classes(self, y: NDArray[Any]) -> None:
        """Raise UndefinedMetricError if a metric of one class has no meaning for these labels.

        That is so for more than two classes, and for two of which neither is the positive one. Rows of a
        single class that is not the positive one pass: scikit-learn has a value for them.

        Parameters
        ----------
        y : array-like of shape (n,)
        """
        if self.string not in POSITIVE:
            return
        try:
            check_positive(y, self.positive)
        except UndefinedMetricError:
            if len(np.unique(y)) > 1:
                raise

    def takes_weights(self, n_classes: int = 2) -> bool:
        """Return whether the metric can be computed with ``sample_weight``, for so many classes.

        Parameters
        ----------
        n_classes : int, default=2
        """
        return self._scorer is None or takes_weights(self._scorer, n_classes)

    def outputs(self, estimator: Any, X: Any, y: NDArray[Any]) -> NDArray[Any]:
        """Return the estimator's predictions for some rows, in the form that `measure` takes.

        Parameters
        ----------
        estimator : fitted estimator
        X : array-like of shape (n, ...)
        y : array-like of shape (n,)

        Raises
        ------
        UnusableOutputsError
            If they are not finite, or of another type or shape than the metric takes.
        """
        return self._outputs(estimator, X, y, self.response)

    def score(self, estimator: Any, X: Any, y: Any, **params: Any) -> float:
        """Return the metric on any rows, as scikit-learn's scorer would. The holdout is not asked.

        Parameters
        ----------
        estimator : fitted estimator
        X : array-like of shape (n, ...)
        y : array-like of shape (n,)
        **params : dict
            What the scorer takes besides, such as ``sample_weight``.
        """
        if isinstance(self._rule, Mean) and self._scorer is None:
            y = np.asarray(y)
            return self._mean_score(y, self.outputs(estimator, X, y), params.get("sample_weight"))
        value = self._scorer(estimator, X, y, **params)
        if not isinstance(value, Real) and not (isinstance(value, np.ndarray) and value.size == 1):
            raise bad_parameter(
                "scoring", "Metric", "a scorer that returns one number", type(value).__name__,
                "Ask for one metric at a time.",
            )  # fmt: skip
        return float(value)

    def blocks(
        self,
        estimator: Any,
        X: Any,
        y: NDArray[Any],
        rows: Subsamples,
        sample_weight: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Return the metric on each of several subsamples of the rows, NaN where it is undefined.

        Parameters
        ----------
        estimator : fitted estimator
        X : array-like of shape (n, ...)
        y : array-like of shape (n,)
        rows : ndarray of int, shape (m, t), or sequence of ndarray of int
            The row numbers of each subsample. Where the metric allows it, the model predicts all rows once.
        sample_weight : ndarray of shape (n,) or None
        """
        outputs = self.block_outputs(estimator, X, y)
        return self.blocks_of(outputs, estimator, X, y, rows, sample_weight)

    def block_outputs(self, estimator: Any, X: Any, y: NDArray[Any]) -> NDArray[Any] | StoredOutputs | None:
        """Return predictions for all rows, from which `blocks_of` scores every subsample.

        None for a user's scorer that may read X itself: it is called for each subsample.

        Parameters
        ----------
        estimator : fitted estimator
        X : array-like of shape (n, ...)
        y : array-like of shape (n,)
        """
        if self.scoring in blocks.BLOCK_SCORERS:
            brier = self.response.form == "positive probability"
            return self._outputs(estimator, X, y, self.response.unreduced() if brier else self.response)
        if self._scorer is None:
            return self.outputs(estimator, X, y)
        if reads_outputs_only(self._scorer):
            return StoredOutputs(estimator, X, y, self.response.unreduced().form, self.name)
        return None

    def blocks_of(
        self,
        outputs: NDArray[Any] | StoredOutputs | None,
        estimator: Any,
        X: Any,
        y: NDArray[Any],
        rows: Subsamples,
        sample_weight: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Return `blocks` from what `block_outputs` gave.

        Parameters
        ----------
        outputs : ndarray, StoredOutputs or None
            What `block_outputs` returned.
        estimator : fitted estimator
        X : array-like of shape (n, ...)
        y : array-like of shape (n,)
        rows : ndarray of int, shape (m, t), or sequence of ndarray of int
            The row numbers of each subsample.
        sample_weight : ndarray of shape (n,) or None, default=None
        """
        if outputs is None:
            weights = [{} if sample_weight is None else {"sample_weight": sample_weight[b]} for b in rows]
            return np.array(
                [
                    self.score(estimator, take_rows(X, block), y[block], **weight)
                    for block, weight in zip(rows, weights, strict=True)
                ]
            )
        labels = self._classes(estimator)

        def of_one_size(order: NDArray[np.integer]) -> NDArray[np.float64]:
            if isinstance(outputs, StoredOutputs):
                return outputs.scores(self._scorer, y, order, sample_weight)
            if self.scoring in blocks.BLOCK_SCORERS:
                try:
                    return blocks.block_scores(
                        self.name, y, outputs, len(order), labels=labels, order=order,
                        sample_weight=sample_weight,
                    )  # fmt: skip
                except ValueError as error:  # name the metric, which is what the user has called
                    message = str(error).replace("block_scores", f"Metric({self.name!r})")
                    raise UndefinedMetricError(message) from error
            flat = order.ravel()
            weight = None if sample_weight is None else sample_weight[flat]
            return blocks.loop_scores(
                self._mean_score, y[flat], outputs[flat], len(order), sample_weight=weight
            )

        matrices = [rows] if isinstance(rows, np.ndarray) else [block[None, :] for block in rows]
        return np.concatenate([of_one_size(order) for order in matrices])

    def whole(
        self,
        estimator: Any,
        X: Any,
        y: NDArray[Any],
        outputs: NDArray[Any] | StoredOutputs | None = None,
        sample_weight: NDArray[np.float64] | None = None,
    ) -> float:
        """Return the metric on all rows without an interval; NaN where it is undefined.

        ``outputs`` is what `block_outputs` returned, to save a prediction.

        Parameters
        ----------
        estimator : fitted estimator
        X : array-like of shape (n, ...)
        y : array-like of shape (n,)
        outputs : ndarray, StoredOutputs or None, default=None
        sample_weight : ndarray of shape (n,) or None, default=None
        """
        weight = {} if sample_weight is None else {"sample_weight": sample_weight}
        if self._scorer is None or not reads_outputs_only(self._scorer):
            return self.score(estimator, X, y, **weight)
        stored = StoredOutputs(estimator, X, y, self.response.unreduced().form, self.name)
        if isinstance(outputs, StoredOutputs):
            stored = outputs
        return float(stored.scores(self._scorer, y, np.arange(n_rows(X))[None, :], sample_weight)[0])

    def _outputs(self, estimator: Any, X: Any, y: NDArray[Any], response: Response) -> NDArray[Any]:
        classes = self._classes(estimator)

        def judged(said: NDArray[Any], method: str, y: NDArray[Any]) -> NDArray[Any]:
            return canonical(
                said, response.form, method, y, classes=classes, positive=self.positive, name=self.name
            )

        if isinstance(y, Column):
            return predicted_column(estimator, X, y, response.methods, judged)
        method, predicted = respond(estimator, X, response.methods)
        return predicted if isinstance(predicted, Column) else judged(predicted, method, y)

    def _classes(self, estimator: Any) -> NDArray[Any] | None:
        """Return the estimator's ``classes_`` if the metric needs them, else None."""
        return classes_of(estimator, self.name) if self.response.needs_classes else None

    def _mean_score(self, y: NDArray[Any], outputs: NDArray[Any], sample_weight: Any = None) -> float:
        """Return the mean of a user's scores per record."""
        assert isinstance(self._rule, Mean)
        one_by_one = np.asarray(self._rule.scores(y, outputs, None))
        if one_by_one.shape != y.shape or y.ndim != 1:
            raise UndefinedMetricError("a score per record is missing")
        values = one_by_one if self.range is None else np.clip(one_by_one, *self.range)
        return float(np.average(values, weights=sample_weight))
