"""`Metric`: a scikit-learn metric, and which interval there is for its value."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada._checks import bad_parameter
from sklearn_ada.metrics.all_rows.average_precision import AveragePrecision
from sklearn_ada.metrics.declared import declared
from sklearn_ada.metrics.outputs.asking import available_response
from sklearn_ada.metrics.registry import KINDS, OF_ALL_ROWS, POSITIVE, example_range
from sklearn_ada.metrics.rules.constructions import Range
from sklearn_ada.metrics.rules.functions_of_mean import RootMean
from sklearn_ada.metrics.rules.mean import Mean
from sklearn_ada.metrics.rules.rule import IntervalRule, Measured
from sklearn_ada.metrics.rules.suggested_range import TOO_NARROW, check_within, most_beyond, suggested_range
from sklearn_ada.metrics.scoring import Scoring

__all__ = ["Metric", "as_metric"]


class Metric(Scoring):
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
        meant = declared(scoring, kind, range, response_method, pos_label)
        self.name, self.string, self.positive = meant.name, meant.string, meant.positive
        self.scoring, self._scorer = meant.scoring, meant.scorer
        self.response, self.methods = meant.response, meant.methods
        self._rule, self.range = meant.rule, meant.range
        self.kind = "general" if meant.rule is None else KINDS[type(meant.rule)]
        self.chosen_general = kind == "general"
        self.clips = isinstance(meant.rule, Mean | RootMean) and not meant.has_own_range
        self.most_beyond = 1.0

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

    def describe(self) -> dict[str, Any]:
        """Return a JSON-ready description, which is part of records and of a question's key."""
        bounds = None if self.range is None else [*self.range]
        known = {"name": self.name, "kind": self.kind, "range": bounds, "methods": [*self.methods]}
        clause = "" if self._rule is None else self._rule.clause
        return {**known, "clause": clause} if clause else known


def as_metric(scoring: str | Callable[..., Any] | Metric) -> Metric:
    """Return ``scoring`` as a `Metric`.

    Examples
    --------
    >>> as_metric("roc_auc").kind
    'auc'
    """
    return scoring if isinstance(scoring, Metric) else Metric(scoring)
