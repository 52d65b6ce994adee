"""`Metric`: a scikit-learn metric, and which interval there is for its value."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import get_scorer, get_scorer_names

from sklearn_ada._checks import bad_parameter, check_option
from sklearn_ada.metrics import blocks, scores
from sklearn_ada.metrics.all_rows import AveragePrecision
from sklearn_ada.metrics.columns import Column
from sklearn_ada.metrics.declared import OF_ONE_CLASS, check_is_scorer, check_range
from sklearn_ada.metrics.interval_rules import IntervalRule, Mean, Measured, Range
from sklearn_ada.metrics.of_a_mean import RootMean
from sklearn_ada.metrics.outputs import Response, canonical
from sklearn_ada.metrics.registered import registered_name
from sklearn_ada.metrics.registry import (
    KINDS,
    KNOWN_RANGES,
    OF_ALL_ROWS,
    POSITIVE,
    REFUSED,
    RESPONSES,
    WITH_INTERVAL,
    example_range,
)
from sklearn_ada.metrics.response import available_response, classes_of, predicted_column, respond
from sklearn_ada.metrics.rows import Subsamples, n_rows, take_rows
from sklearn_ada.metrics.stored_outputs import StoredOutputs, reads_outputs_only
from sklearn_ada.metrics.suggested_range import TOO_NARROW, check_within, most_beyond, suggested_range
from sklearn_ada.metrics.target import UndefinedMetricError, check_positive, check_target
from sklearn_ada.metrics.weighing import takes_weights

__all__ = ["Metric", "as_metric"]

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


class Metric:
    """A metric, and how its value on a holdout becomes an interval for its population value.

    There is an interval for means of bounded scores (accuracy), the root of a mean square, the ROC AUC,
    per-class means (balanced accuracy) and ratios of counts (F1). Of any other metric there is the *stable
    median*, where it is asked for: the median of its values on disjoint subsamples of the holdout
    (``kind="general"``). The kind of scikit-learn's scorer strings is known; that of a function is declared.
    A metric is a scorer, too: ``GridSearchCV(model, grid, scoring=Metric("f1", pos_label="yes"))`` searches
    by it, and `ReusableHoldoutCV` around it certifies it.

    Parameters
    ----------
    scoring : str or callable
        A scorer string; or a scorer ``(estimator, X, y) -> float`` (kind "general", unless it is one that
        scikit-learn has under a name, which is then meant); or, with ``kind="mean"``, a function
        ``(y_true, outputs) -> array (n,)`` of one score per record.
    kind : {"mean", "general"} or None, default=None
        Which of the two a callable is; None is "general". A string may be forced to "general".
    range : tuple of float or None, default=None
        Finite bounds of one record's score, larger being better, such as ``(-10, 0)`` for
        ``"neg_mean_absolute_error"``. Scores outside are clipped to it, and the certificate speaks of
        the clipped score.
    response_method : str, default="predict"
        The method of the estimator that gives ``outputs``, for a callable with ``kind="mean"``.
    pos_label : label or None, default=None
        The positive class of "average_precision", "f1", "jaccard", "precision" and "recall"; None is 1, as in
        scikit-learn. "neg_brier_score" takes one as well, but only `score` depends on it.

    Attributes
    ----------
    name : str
    kind : {"mean", "root_mean", "auc", "class_mean", "ratio", "general"}
    range : tuple of float or None
    clips : bool
        Whether scores are clipped to the range: to one that was declared, as the metric has none itself.
    most_beyond : float
        The largest share of scores that may be beyond a range that other rows suggested; else 1.
    chosen_general : bool
        Whether ``kind="general"`` was written, which asks for the stable median.
    string : str or None
        The scorer string, if it was one.
    positive : label or None
        The positive class of a metric of one class.
    response : Response
        Which outputs of a model it takes, and what y must hold.

    Raises
    ------
    ValueError
        For an unknown scorer string, kind, range or pos_label, for multilabel metrics, and for a function of
        labels and predictions, which is no scorer (``make_scorer`` makes one of it).

    Examples
    --------
    >>> Metric("accuracy")
    Metric('accuracy', kind='mean', range=(0.0, 1.0))
    >>> Metric("neg_mean_absolute_error", range=(-10, 0))
    Metric('neg_mean_absolute_error', kind='mean', range=(-10.0, 0.0))
    >>> Metric("r2")
    Metric('r2', kind='general', range=None)
    """

    def __init__(
        self,
        scoring: str | Callable[..., Any],
        *,
        kind: str | None = None,
        range: tuple[float, float] | None = None,
        response_method: str = "predict",
        pos_label: Any = None,
    ) -> None:
        bounds = check_range(range)
        natural: Range | None = None
        rule: IntervalRule | None = None
        methods: tuple[str, ...] = (response_method,)
        response = Response("any", methods, target=None)
        if isinstance(scoring, Metric):
            raise bad_parameter("scoring", "Metric", "a scorer string or a scorer", scoring)
        if callable(scoring) and kind != "mean":
            scoring = registered_name(scoring) or scoring
        self.string = scoring if isinstance(scoring, str) else None
        self.positive = POSITIVE.get(self.string or "") if pos_label is None else pos_label
        if isinstance(scoring, str):
            if scoring not in get_scorer_names():
                near = difflib.get_close_matches(scoring, get_scorer_names(), 3, 0.4)
                fix = f"Did you mean {' or '.join(map(repr, near))}?" if near else ""
                expected = "a scikit-learn scorer string, a scorer or a Metric"
                raise bad_parameter("scoring", "Metric", expected, scoring, fix)
            if scoring in REFUSED:
                fix = f"It {REFUSED[scoring]}."
                raise bad_parameter("scoring", "Metric", "a metric of one label a record", scoring, fix)
            if kind is not None:
                check_option(kind, "kind", "Metric", ("general",))
            known = WITH_INTERVAL.get(scoring)
            natural = KNOWN_RANGES.get(scoring) if known is None else known.range
            if natural is not None and bounds is not None and bounds != natural:
                raise bad_parameter("range", "Metric", f"left out, as {scoring} has {natural}", range)
            bounds = natural if bounds is None else bounds
            response = RESPONSES.get(scoring, Response("any", (), target=None))
            if known is not None and kind is None:
                rule, methods = known.rule, response.methods
            self.name, self._scorer = scoring, get_scorer(scoring)
            if pos_label is not None:
                scoring, rule = self._of_class(scoring, rule, pos_label)
        elif callable(scoring):
            if pos_label is not None:
                fix = "Give it to the scorer: make_scorer(function, pos_label=...)."
                raise bad_parameter("pos_label", "Metric", "None for a function", pos_label, fix)
            check_option(kind or "general", "kind", "Metric", ("mean", "general"))
            self.name = getattr(scoring, "__name__", None) or _described(scoring)
            self._scorer = scoring
            if kind != "mean":
                check_is_scorer(scoring, self.name)
            else:
                rule = Mean(scores.UserScores(scoring))
                self._scorer = None
        else:
            raise bad_parameter("scoring", "Metric", "a scorer string, a scorer or a Metric", scoring)
        self.chosen_general = kind == "general"
        self.most_beyond = 1.0
        self.kind = "general" if rule is None else KINDS[type(rule)]
        self.range = bounds
        self.clips = isinstance(rule, Mean | RootMean) and natural is None
        self.methods = methods
        self.scoring = scoring
        self.response = response
        self._rule = rule

    def _of_class(
        self, scoring: str, rule: IntervalRule | None, pos_label: Any
    ) -> tuple[Any, IntervalRule | None]:
        """Return the scorer and the rule of a metric of one class for another class than 1."""
        if scoring not in POSITIVE:
            fix = f"Leave it out; it is for {', '.join(POSITIVE)}."
            raise bad_parameter("pos_label", "Metric", f"None for {scoring}", pos_label, fix)
        self.name = f"{scoring} of {pos_label!r}"
        self._scorer = OF_ONE_CLASS[scoring](pos_label=pos_label)
        return self._scorer, None if rule is None else replace(rule, positive=pos_label)  # type: ignore[type-var]

    def __call__(self, estimator: Any, X: Any, y: Any, **params: Any) -> float:
        """Return `score`: a metric is a scorer, as the ``scoring`` of any search."""
        return self.score(estimator, X, y, **params)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Metric):
            return NotImplemented
        mine, others = (of.string or of.scoring for of in (self, other))  # a string tells more than a copy
        return bool(mine == others and self.describe() == other.describe())

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"Metric({self.name!r}, kind={self.kind!r}, range={self.range})"

    @property
    def rule(self) -> IntervalRule:
        """How the metric's value becomes an interval; ValueError if there is the stable median only."""
        if self._rule is None or self.range is None:
            reason = "is no mean of bounded scores" if self._rule is None else "has no finite range"
            fix = (
                ""
                if self._rule is None
                else f" or declare one, as in Metric({self.name!r}, range={example_range(self.name)})"
            )
            raise bad_parameter(
                "scoring",
                "a check or certify",
                "a mean of bounded scores, an AUC, a per-class mean or a ratio",
                self.name,
                f"It {reason}: use the stable median (StableHoldoutScorer, or "
                f"settings=MedianSettings()){fix}.",
            )
        return self._rule

    @property
    def has_interval(self) -> bool:
        """Whether there is an interval for the metric itself, not only for its stable median."""
        return self._rule is not None and self.range is not None

    @property
    def has_interval_of_all_rows(self) -> bool:
        """Whether `of_all_rows` has an interval, and the value alone has none."""
        return self._rule is None and self.string in OF_ALL_ROWS and not self.chosen_general

    def of_all_rows(self, rows: tuple[Any, Any, Any] | None = None) -> Metric:
        """Return the metric as it is certified by an interval of all rows.

        Parameters
        ----------
        rows : tuple or None, default=None
            A fitted model, X and y of rows that are not the holdout's, which suggest the range of a ratio of
            losses; None where there are none.

        Returns
        -------
        Metric

        Examples
        --------
        >>> Metric("f1_macro").of_all_rows().has_interval
        True
        """
        rule = OF_ALL_ROWS[self.string or ""]
        made = copy(self)
        if isinstance(rule, AveragePrecision):
            rule = replace(rule, positive=self.positive)
        if rows is not None:
            estimator, X, y = rows
            rule = rule.tuned_by(y, self.outputs(estimator, X, y))
            made.most_beyond = most_beyond(len(y))
        made.range, made._rule, made.methods = rule.bounds, rule, self.response.methods
        return made

    @property
    def clipped(self) -> str:
        """What a certificate says of a declared range."""
        low, high = self.bounds
        if high == 0.0 and (isinstance(self._rule, RootMean) or self.string == "neg_mean_absolute_error"):
            return f"each error clipped to +-{-low:g}"
        if high == 0.0 and self.string == "neg_mean_squared_error":
            return f"each error clipped to +-{math.sqrt(-low):g}"
        return f"each score clipped to [{low:g}, {high:g}]"

    @property
    def most_error(self) -> float | None:
        """To what errors of predicted numbers are clipped; None for other metrics, or while unknown."""
        if self.response.target != "numbers" or self.range is None:
            return None
        known = getattr(self._rule, "most_error", None)
        if known is not None:
            return float(known)
        return math.sqrt(-self.range[0]) if self.string == "neg_mean_squared_error" else -self.range[0]

    @property
    def mix(self) -> str:
        """What a target calls the counts of the values of y, which are no classes where y holds numbers."""
        return "mix of values of y" if self.response.target == "numbers" else "class mix"

    @property
    def lacks_range(self) -> bool:
        """Whether a range is all that the metric lacks to have an interval of its own."""
        return self._rule is not None and self.range is None

    def with_range_of(self, estimator: Any, X: Any, y: NDArray[Any]) -> Metric:
        """Return the metric with a range that rows which are not the holdout's suggest.

        A quarter beyond the farthest score (a half, of squared errors), rounded outwards to two digits. What
        lies farther is clipped, and if that is more than a twentieth of the holdout, the question fails. A
        range that is much too wide would make the interval wide.

        Parameters
        ----------
        estimator : estimator
            A fitted model.
        X : array-like of shape (n, n_features)
            Rows that are not the holdout's.
        y : ndarray of shape (n,)
            Their labels.

        Returns
        -------
        Metric

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.dummy import DummyRegressor
        >>> X, y = np.zeros((4, 1)), np.array([0.0, 0.0, 4.0, 4.0])
        >>> Metric("neg_mean_absolute_error").with_range_of(DummyRegressor().fit(X, y), X, y).range
        (-2.5, 0.0)
        """
        assert isinstance(self._rule, Mean | RootMean)
        outputs = self.outputs(estimator, X, y)
        scores = Mean(self._rule.scores).terms(y, outputs, self._classes(estimator), (-np.inf, np.inf))
        if isinstance(self._rule, RootMean):
            scores = -np.sqrt(-scores)
        margin = 1.5 if self.string == "neg_mean_squared_error" else 1.25
        low, high = suggested_range(scores, margin)
        made = self.with_range((low, min(high, 1.0) if self._rule.at_class_mix else high))  # D^2 is at most 1
        made.most_beyond = most_beyond(len(scores))
        return made

    def with_range(self, bounds: Range) -> Metric:
        """Return the metric with a range.

        Parameters
        ----------
        bounds : tuple of float

        Returns
        -------
        Metric

        Examples
        --------
        >>> Metric("neg_mean_absolute_error").with_range((-3, 0)).range
        (-3.0, 0.0)
        """
        kind = None if self.string is not None else "mean"
        positive = self.positive if self.string in POSITIVE and self.name != self.string else None
        method = self.methods[0] if kind == "mean" else "predict"
        return Metric(self.scoring, kind=kind, range=bounds, response_method=method, pos_label=positive)

    @property
    def bounds(self) -> Range:
        """The range of a metric with an interval; ValueError for any other."""
        rule_range = self.range if self.rule else None
        assert rule_range is not None  # `rule` has raised otherwise
        return rule_range

    def check_estimator(self, estimator: Any) -> None:
        """Raise unless the estimator can be scored by this metric at all.

        Parameters
        ----------
        estimator : object
            A fitted estimator.

        Raises
        ------
        TypeError
            If it lacks the method.
        ValueError
            If its ``classes_`` are not sorted, as scikit-learn's metrics take for granted, or are missing
            where the metric needs them to know which class a column of outputs is for.
        """
        if self._rule is not None:
            available_response(estimator, self.methods)
        if self._classes(estimator) is None and self._rule is not None and self.response.needs_classes:
            raise bad_parameter(
                "estimator", self.name, "a fitted classifier, whose classes_ say what its outputs are of",
                f"{type(estimator).__name__} without classes_",
            )  # fmt: skip

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

    def measure(
        self, estimator: Any, y: NDArray[Any], outputs: NDArray[Any], rule: IntervalRule | None = None
    ) -> Measured:
        """Return the value on some rows, and the number of independent terms behind it.

        ``rule`` replaces the metric's own, for rows with weights or groups.

        Parameters
        ----------
        estimator : fitted estimator
        y : array-like of shape (n,)
        outputs : ndarray of shape (n, ...)
            What `outputs` returned.
        rule : IntervalRule or None, default=None
        """
        classes = self._classes(estimator)
        self.check_within(y, outputs, classes)
        return (rule or self.rule).measure(y, outputs, classes, self.bounds)

    def why_failed(self, reason: str) -> str:
        """Return why a question failed; of an undefined metric, what else that may be.

        Parameters
        ----------
        reason : str
            One of `sklearn_ada.events.FAILURES`.
        """
        may_be_narrow = reason == "metric is undefined" and self.suggests_range
        return f"{reason}, {TOO_NARROW}" if may_be_narrow else reason

    @property
    def suggests_range(self) -> bool:
        """Whether rows of a guess have suggested the range."""
        return self.most_beyond < 1.0

    def check_within(self, y: NDArray[Any], outputs: NDArray[Any], classes: NDArray[Any] | None) -> None:
        """Raise UndefinedMetricError if rows suggested the range, and too many scores are beyond it.

        Parameters
        ----------
        y : array-like of shape (n,)
        outputs : ndarray of shape (n, ...)
        classes : ndarray or None
            Of the model, where the metric needs them.
        """
        if self.suggests_range:
            check_within(self.rule.beyond(y, outputs, classes, self.bounds), self.most_beyond)

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

    def _mean_score(self, y: NDArray[Any], outputs: NDArray[Any], sample_weight: Any = None) -> float:
        """Return the mean of a user's scores per record."""
        assert isinstance(self._rule, Mean)
        one_by_one = np.asarray(self._rule.scores(y, outputs, None))
        if one_by_one.shape != y.shape or y.ndim != 1:
            raise UndefinedMetricError("a score per record is missing")
        values = one_by_one if self.range is None else np.clip(one_by_one, *self.range)
        return float(np.average(values, weights=sample_weight))

    def describe(self) -> dict[str, Any]:
        """Return a JSON-ready description, which is part of records and of a question's key."""
        bounds = None if self.range is None else [*self.range]
        known = {"name": self.name, "kind": self.kind, "range": bounds, "methods": [*self.methods]}
        clause = "" if self._rule is None else self._rule.clause
        return {**known, "clause": clause} if clause else known


def _described(scoring: Callable[..., Any]) -> str:
    """Return the text of a callable without its address, which would be another one in each process."""
    try:
        return _ADDRESS.sub("", repr(scoring))
    except Exception:  # scikit-learn 1.6 asks a partial for its name
        return type(scoring).__name__


def as_metric(scoring: str | Callable[..., Any] | Metric) -> Metric:
    """Return ``scoring`` as a `Metric`.

    Examples
    --------
    >>> as_metric("roc_auc").kind
    'auc'
    """
    return scoring if isinstance(scoring, Metric) else Metric(scoring)
