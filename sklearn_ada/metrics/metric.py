"""`Metric`: what a user asks by, such as a scorer string, and which interval there is for its value.

A metric is also a scorer of scikit-learn: it has a plain value on any rows, for which the holdout is not
asked. `Difference` is a metric of one model minus that of another on the same rows. `undefined_metric` says,
where a metric has no value with the labels that there are, how to mend it.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.utils.multiclass import type_of_target

from sklearn_ada._validation import bad_parameter, check_option
from sklearn_ada.accounting.events import BLOCKS, FORMAT
from sklearn_ada.answer import OF_TWO
from sklearn_ada.data.class_mix import ClassMix
from sklearn_ada.data.columns import Column
from sklearn_ada.data.labels import Subsamples, Units, are_classes, label_kind, n_rows, take_rows
from sklearn_ada.metrics import blocks
from sklearn_ada.metrics.base import (
    SCORERS,
    TOO_NARROW,
    AllRows,
    Array,
    Measure,
    Measured,
    MedianOnly,
    Range,
    UndefinedMetricError,
    UnsuitableUnitsError,
    check_positive,
    most_beyond,
)
from sklearn_ada.metrics.functions import check_function, measure_of_scorer
from sklearn_ada.metrics.means import Mean, UserScores
from sklearn_ada.metrics.mixes import AtMix, MeanAtMix
from sklearn_ada.metrics.outputs import (
    Response,
    StoredOutputs,
    available_response,
    canonical,
    classes_of,
    one_number,
    predicted_column,
    reads_outputs_only,
    respond,
    weighing,
)
from sklearn_ada.metrics.scorers import (
    ASKED,
    check_is_scorer,
    name_of,
    name_of_class,
    registered_name,
    takes_weights,
)

Weights = NDArray[np.float64] | None
Outputs = Array | StoredOutputs | None


class Metric:
    """Describe a metric that a holdout can be asked about.

    It turns the value on the holdout into an interval for the value on the population. Means of bounded
    scores (accuracy), the root of a mean square, the ROC AUC, means over classes (balanced accuracy) and
    ratios of counts (F1) have such an interval. Any other metric has ``kind="general"``: a holdout answers
    with the *stable median* of its values on disjoint subsamples, if that is asked for. The kind of a scorer
    string follows from its name; the kind of a function is declared.

    A metric is a scorer, too: ``GridSearchCV(model, grid, scoring=Metric("f1", pos_label="yes"))`` searches
    by it, and `ReusableHoldoutCV` around the search certifies it.

    Parameters
    ----------
    scoring : str or callable
        A scorer string, such as "accuracy"; or a scorer ``(estimator, X, y) -> float``, such as those of
        ``make_scorer``; or, with ``kind="mean"``, a function ``(y_true, outputs) -> array (n,)`` that returns
        one score for each row. A scorer that scikit-learn has under a name stands for that name.
    kind : {"mean", "general"} or None, default=None
        "mean" for a function that returns one score for each row. "general" asks for the stable median, also
        of a scorer string. None is "general" for callables; for strings it follows from the name.
    range : tuple of float or None, default=None
        Finite bounds of the score of one row, larger being better, such as ``(-10, 0)`` for
        ``"neg_mean_absolute_error"``. Scores outside are clipped to it, and the certificate is about the
        clipped scores.
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
        Whether scores are clipped to the range, because the metric itself has none.
    most_beyond : float
        The largest share of the holdout's scores that may be beyond a range that other rows suggested; else
        1.
    chosen_general : bool
        Whether the stable median was asked for, by ``kind="general"``.
    string : str or None
        The scorer string; None for a callable.
    scoring : str or callable
        The scorer string, or the callable.
    measure : Measure
        How it is measured, and what its intervals rest on.
    methods : tuple of str
        Methods of the estimator, of which the first that it has gives the outputs for an interval.
    positive : label or None
        The positive class of a metric of one class.
    response : Response
        Which outputs of a model it takes, and what y must hold.

    Raises
    ------
    ValueError
        For an unknown scorer string, kind, range or pos_label, for multilabel metrics, for a function of
        labels and predictions, which is no scorer (``make_scorer`` makes one of it), and for a scorer with
        options that scikit-learn refuses, or of several numbers.

    Examples
    --------
    >>> Metric("accuracy")
    Metric('accuracy', kind='mean', range=(0.0, 1.0))
    >>> Metric("neg_mean_absolute_error", range=(-10, 0))
    Metric('neg_mean_absolute_error', kind='mean', range=(-10.0, 0.0))
    >>> Metric("r2")
    Metric('r2', kind='general', range=None)
    """

    _since = 1
    """From which format of ledgers on it is what it is; before, `of_format` says what it was."""

    def __init__(
        self,
        scoring: str | Callable[..., Any],
        *,
        kind: str | None = None,
        range: tuple[float, float] | None = None,
        response_method: str = "predict",
        pos_label: Any = None,
    ) -> None:
        if isinstance(scoring, Metric) or not (isinstance(scoring, str) or callable(scoring)):
            raise bad_parameter("scoring", ASKED, "a scorer string or a scorer", scoring)
        if kind != "mean":
            check_function(scoring)
        given = scoring, kind, _check_range(range), response_method, pos_label
        self._set(FORMAT, *given)
        if self._since > 1:
            self._written = given

    def _set(
        self,
        number: int,
        scoring: Any,
        kind: str | None,
        bounds: Range | None,
        response_method: str,
        pos_label: Any,
    ) -> None:
        """Set everything as ledgers of a format know it."""
        self._since = 1
        if not isinstance(scoring, str) and kind != "mean":
            scoring, label, self._since = _named(scoring, number)
            pos_label = label if pos_label is None else pos_label
        if isinstance(scoring, str):
            measure = _measure_of_string(scoring, kind)
            self._since = max(self._since, measure.since)
            if number < measure.since:
                measure = MedianOnly(response=measure.response, reason=_SINCE)
            if None not in (measure.bounds, bounds) and bounds != measure.bounds:
                raise bad_parameter("range", "Metric", f"left out, as {scoring} has {measure.bounds}", bounds)
            self.name = scoring
            self.string: str | None = scoring
            is_theirs = scoring in get_scorer_names()  # else its own scores say its value
            self._scorer: Callable[..., Any] | None = get_scorer(scoring) if is_theirs else None
        else:
            self.name, self.string = _name_of_function(scoring, kind, pos_label), None
            response = Response("any", (response_method,), target=None)
            if kind == "mean":
                measure, self._scorer = Mean(UserScores(scoring), response=response, bounds=None), None
            else:
                found = measure_of_scorer(scoring) if kind is None else None
                self._since = 1 if found is None else found.since
                if found is None or number < found.since:
                    found = MedianOnly(response=response)
                measure, self._scorer = found, scoring
        self.chosen_general, self.most_beyond = kind == "general", 1.0
        # Else it is the stable median, or all rows once `of_all_rows` says so, that certifies it.
        self._is_certified = measure.value_is_enough and not self.chosen_general
        self.clips = self._is_certified and measure.bounds is None
        self.measure = measure if bounds is None else replace(measure, bounds=bounds)
        self.methods = measure.response.methods if self._is_certified else (response_method,)
        self.scoring = scoring
        if isinstance(pos_label, np.generic):  # the name of the metric had NumPy's type in it
            self._since = max(self._since, BLOCKS)
            pos_label = pos_label.item() if number >= BLOCKS else pos_label
        if pos_label is not None:
            self._ask_of_class(pos_label)

    def _ask_of_class(self, label: Any) -> None:
        """Make this the metric of another class than 1."""
        if self.measure.scorer_of is None:
            allowed = ", ".join(sorted(name for name, each in SCORERS.items() if each.scorer_of))
            fix = f"Leave it out; it is for {allowed}."
            raise bad_parameter("pos_label", "Metric", f"None for {self.string}", label, fix)
        self.name = f"{self.string} of {label!r}"
        self.scoring = self._scorer = self.measure.scorer_of(pos_label=label)
        # Its subsamples were never stratified, and what an old ledger was asked stays the same question.
        self.measure = replace(self.measure, positive=label, needs_every_class=False)

    def of_format(self, number: int) -> Metric:
        """Return the metric as ledgers of a format know it.

        Before format 3 a scorer had the name only of those that are written in the same way; before format 5
        one of ``make_scorer`` had an interval only if scikit-learn has it under a name.

        Parameters
        ----------
        number : int

        Examples
        --------
        >>> from sklearn.metrics import accuracy_score, make_scorer
        >>> written = Metric(make_scorer(accuracy_score, normalize=True))
        >>> written.of_format(3).string, written.of_format(1).string
        ('accuracy', None)
        """
        if number >= self._since:
            return self
        made = copy(self)
        made._set(number, *self._written)
        return made

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

    def entry(self) -> dict[str, Any]:
        """Return what records say of it: `describe` without the names of methods, which nothing reads."""
        return {name: each for name, each in self.describe().items() if name != "methods"}

    def describe(self) -> dict[str, Any]:
        """Return a JSON-ready description, which is part of a question's key."""
        bounds = None if self.range is None else [*self.range]
        described = {"name": self.name, "kind": self.kind, "range": bounds, "methods": [*self.methods]}
        clause = self.measure.clause if self._is_certified else ""
        return {**described, "clause": clause} if clause else described

    @property
    def kind(self) -> str:
        """How it is certified, as records have it."""
        return "general" if self.chosen_general else self.measure.kind

    @property
    def range(self) -> Range | None:
        """To which scores are clipped; None without a range."""
        return self.measure.bounds

    @property
    def positive(self) -> Any:
        """The positive class of a metric of one class, or None."""
        return self.measure.positive

    @property
    def response(self) -> Response:
        """Which outputs of a model it takes, and what y must hold."""
        return self.measure.response

    @property
    def has_interval(self) -> bool:
        """Whether the metric itself has an interval, not only its stable median."""
        return self._is_certified and self.range is not None

    @property
    def lacks_range(self) -> bool:
        """Whether the metric lacks only a range to have an interval."""
        return self._is_certified and self.range is None

    @property
    def has_interval_of_all_rows(self) -> bool:
        """Whether `of_all_rows` has an interval, and the value alone has none."""
        return self.measure.of_all_rows and not (self._is_certified or self.chosen_general)

    @property
    def is_median_chosen(self) -> bool:
        """Whether ``kind="general"`` was chosen for a metric with its own interval."""
        return self.chosen_general and self.is_scorer_with_interval

    @property
    def is_tuned(self) -> bool:
        """Whether rows tune it before it is certified: its range, or the scale of all rows."""
        return self.lacks_range or self.has_interval_of_all_rows

    @property
    def is_scorer_with_interval(self) -> bool:
        """Whether the value of this scorer string has an interval, given a range.

        It has one whether or not the stable median was chosen in its place.
        """
        return self.string is not None and self.measure.value_is_enough

    @property
    def certified_measure(self) -> Measure:
        """How the metric's value becomes an interval; ValueError if there is the stable median only."""
        if self.has_interval:
            return self.measure
        reason, ways = "is no mean of bounded scores", ["certify it"]
        if not isinstance(self.measure, AtMix):  # which no median is of
            ways = ["use the stable median (StableHoldoutScorer, or settings=MedianSettings())"]
        if self.lacks_range:
            reason = "has no finite range"
            ways.append(f"declare one, as in Metric({self.name!r}, range={self.measure.example_range})")
        expected = "a mean of bounded scores, an AUC, a per-class mean or a ratio"
        fix = f"It {reason}: {' or '.join(ways)}."
        raise bad_parameter("scoring", "a check or certify", expected, self.name, fix)

    def measure_for(self, units: Units | None, of_format: int = FORMAT) -> Measure:
        """Return `certified_measure` for a holdout with weights or groups, if it has them.

        Parameters
        ----------
        units : Units or None
        of_format : int
            Of the ledger, which has the measures that it was begun with.

        Raises
        ------
        ValueError
            If only the stable median is sound.
        """
        measure = self.certified_measure if units is None else self.certified_measure.weighted(units)
        if measure is None or measure.since > of_format:
            of_given = "a mean, an AUC, F1 or another ratio, or a mean of class means,"
            mean = of_given if units is None or units.bound is None else "a mean"
            owner = "a holdout with sample_weight or groups"
            median = f"the stable median: StableHoldoutScorer, or Metric({self.name!r}, kind='general')"
            fix = f"It {self.why_alike(units)}; or use {median}."
            raise bad_parameter("scoring", owner, f"{mean} to have an interval of its own", self.name, fix)
        return measure

    def why_alike(self, units: Units | None) -> str:
        """Return why it has no interval with these weights or groups, and what has one.

        Parameters
        ----------
        units : Units or None

        Examples
        --------
        >>> Metric("average_precision").why_alike(None)
        "depends on where each row ranks among all others: use 'roc_auc'"
        """
        if units is not None and units.bound is not None:
            means = "'accuracy' or 'neg_mean_absolute_error'"
            return f"is no mean and no root of one, as weight_bound needs: use {means}"
        return self.measure.alike

    @property
    def bounds(self) -> Range:
        """The range of a metric with an interval; ValueError for any other."""
        return self.certified_measure.limits

    @property
    def width(self) -> float:
        """How wide this range is."""
        return self.certified_measure.width

    @property
    def mix(self) -> str:
        """The words that a target uses for the distribution of y in these rows."""
        return "mix of values of y" if self.response.target == "numbers" else "class mix"

    @property
    def suggests_range(self) -> bool:
        """Whether rows of a guess have suggested the range."""
        return self.most_beyond < 1.0

    def tuned(self, estimator: Any, X: Any, y: Array) -> Metric:
        """Return the metric with what other rows suggest: its range, or its scale.

        A range reaches a quarter beyond the farthest score (a half, of squared errors), rounded outwards to
        two digits. What lies farther is clipped, and if that is more than a twentieth of the holdout, the
        question fails. A range that is much too wide would make the interval wide.

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
        >>> Metric("neg_mean_absolute_error").tuned(DummyRegressor().fit(X, y), X, y).range
        (-2.5, 0.0)
        """
        made = self.of_all_rows() if self.has_interval_of_all_rows else copy(self)
        made.measure = made.measure.tuned(y, self.outputs(estimator, X, y), self._classes(estimator))
        if self.lacks_range:
            _check_range(made.range)
        made.most_beyond = most_beyond(len(y))
        return made

    def of_all_rows(self) -> Metric:
        """Return the metric certified by an interval of all rows, not tuned yet.

        Returns
        -------
        Metric

        Examples
        --------
        >>> Metric("f1_macro").of_all_rows().has_interval
        True
        """
        assert isinstance(self.measure, AllRows)
        made = copy(self)
        made.measure = replace(self.measure, bounds=self.measure.widest)
        made.methods, made._is_certified = self.response.methods, True
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
        made = copy(self)
        made.measure, made.most_beyond = replace(self.measure, bounds=_check_range(bounds)), 1.0
        return made

    def measured_by(self, measure: Measure) -> Metric:
        """Return the metric with another measure of the same score.

        Parameters
        ----------
        measure : Measure

        Returns
        -------
        Metric
        """
        made = copy(self)
        made.measure = measure
        return made

    def at_mix(self, mix: ClassMix | None) -> Metric:
        """Return the metric of the population at declared class shares.

        Parameters
        ----------
        mix : ClassMix or None
            None: the metric as it is.

        Raises
        ------
        ValueError
            If it has no interval there.
        """
        if mix is None or isinstance(self.measure, AtMix):
            return self
        measure = None if self.chosen_general else self.measure.at_mix(mix)
        if measure is None:
            expected, owner = (
                "a metric with an interval at declared shares",
                f"a holdout with class_mix={mix}",
            )
            fix = (
                "There are accuracy and means of other scores, what does not depend on the class mix, such "
                "as 'balanced_accuracy' and 'roc_auc', and for two classes metrics of a confusion matrix, "
                "such as 'f1' and 'matthews_corrcoef'. For others use class_mix='conditional'."
            )
            raise bad_parameter("scoring", owner, expected, self.name, fix)
        made = copy(self)
        made.measure, made._is_certified = measure, measure.value_is_enough
        made.methods = measure.response.methods if made._is_certified else self.methods
        return made

    def check_target(self, y: Array) -> None:
        """Raise UndefinedMetricError if y is of the wrong type.

        Such as text where numbers are needed.

        Parameters
        ----------
        y : ndarray of shape (n,)
            The labels of the rows.
        """
        target = self.response.target
        if target == "classes" and not are_classes(y):
            raise UndefinedMetricError("it needs class labels")
        if target == "numbers" and label_kind(y) != "numbers":
            raise UndefinedMetricError("it needs numbers")

    def check_classes(self, y: Array) -> None:
        """Raise UndefinedMetricError if a metric of one class has no meaning for these labels.

        That is so for more than two classes, and for two of which neither is the positive one. Rows of a
        single class that is not the positive one pass: scikit-learn has a value for them.

        Parameters
        ----------
        y : array-like of shape (n,)
        """
        if self.measure.scorer_of is None:
            return
        try:
            check_positive(y, self.positive)
        except UndefinedMetricError:
            if len(np.unique(y)) > 1:
                raise

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
            where the metric needs them: they say which class a column of outputs is for.
        """
        if self._is_certified:
            available_response(estimator, self.methods)
        if self._classes(estimator) is None and self._is_certified and self.response.needs_classes:
            expected = "a fitted classifier, whose classes_ say what its outputs are of"
            got = f"{type(estimator).__name__} without classes_"
            raise bad_parameter("estimator", self.name, expected, got)

    def takes_weights(self, n_classes: int = 2) -> bool:
        """Return whether the metric can be computed with ``sample_weight``, for so many classes.

        Parameters
        ----------
        n_classes : int, default=2
        """
        return self._scorer is None or takes_weights(self._scorer, n_classes)

    def outputs(self, estimator: Any, X: Any, y: Array) -> Array:
        """Return the estimator's predictions for some rows, in the form that `measured` takes.

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

    def measured(self, estimator: Any, y: Array, outputs: Array, measure: Measure | None = None) -> Measured:
        """Return the value on some rows, and the number of independent terms behind it.

        ``measure`` replaces the metric's own, for rows with weights or groups.

        Parameters
        ----------
        estimator : fitted estimator
        y : array-like of shape (n,)
        outputs : ndarray of shape (n, ...)
            What `outputs` returned.
        measure : Measure or None, default=None
        """
        classes = self._classes(estimator)
        self.check_within(y, outputs, classes)
        return (measure or self.certified_measure).value(y, outputs, classes)

    def check_within(self, y: Array, outputs: Array, classes: Array | None) -> None:
        """Raise UndefinedMetricError if rows suggested the range, and too many scores are beyond it.

        Parameters
        ----------
        y : array-like of shape (n,)
        outputs : ndarray of shape (n, ...)
        classes : ndarray or None
            Of the model, where the metric needs them.
        """
        beyond = self.certified_measure.beyond
        if self.suggests_range and np.mean(beyond(y, outputs, classes)) > self.most_beyond:
            raise UndefinedMetricError("the scores are beyond the range that the rows of the guess suggest")

    def why_failed(self, reason: str) -> str:
        """Return why a question failed; of an undefined metric, what else that may be.

        Parameters
        ----------
        reason : str
            One of `sklearn_ada.accounting.events.FAILURES`.
        """
        may_be_narrow = reason == "metric is undefined" and self.suggests_range
        return f"{reason}, {TOO_NARROW}" if may_be_narrow else reason

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
        if isinstance(self.measure, AtMix):
            if params:
                raise bad_parameter("sample_weight", self.name, "None at a declared class mix", "weights")
            y = np.asarray(y)
            return self.measure.value(y, self.outputs(estimator, X, y), self._classes(estimator)).value
        if self._scorer is None:
            y, classes = np.asarray(y), self._classes(estimator)
            return self._mean_score(y, self.outputs(estimator, X, y), classes, params.get("sample_weight"))
        return one_number(self._scorer(estimator, X, y, **params))

    def whole(
        self, estimator: Any, X: Any, y: Array, outputs: Outputs = None, sample_weight: Weights = None
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
        if self._scorer is None or not reads_outputs_only(self._scorer):
            return self.score(estimator, X, y, **weighing(sample_weight))
        stored = outputs if isinstance(outputs, StoredOutputs) else self._stored(estimator, X, y)
        return float(stored.scores(self._scorer, y, np.arange(n_rows(X))[None, :], sample_weight)[0])

    def blocks(
        self, estimator: Any, X: Any, y: Array, rows: Subsamples, sample_weight: Weights = None
    ) -> NDArray[np.float64]:
        """Return the metric on several subsamples of the rows, NaN where undefined.

        Parameters
        ----------
        estimator : fitted estimator
        X : array-like of shape (n, ...)
        y : array-like of shape (n,)
        rows : ndarray of int, shape (m, t), or sequence of ndarray of int
            The row numbers of each subsample. Where the metric allows it, the model predicts all rows once.
        sample_weight : ndarray of shape (n,) or None
        """
        return self.blocks_of(self.block_outputs(estimator, X, y), estimator, X, y, rows, sample_weight)

    def block_outputs(self, estimator: Any, X: Any, y: Array) -> Array | StoredOutputs | None:
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
        return self._stored(estimator, X, y) if reads_outputs_only(self._scorer) else None

    def blocks_of(
        self,
        outputs: Outputs,
        estimator: Any,
        X: Any,
        y: Array,
        rows: Subsamples,
        sample_weight: Weights = None,
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

            def score_alone(block: NDArray[np.integer]) -> float:
                return self.score(estimator, take_rows(X, block), y[block], **weighing(sample_weight, block))

            return np.array([score_alone(block) for block in rows])
        labels, weights = self._classes(estimator), weighing(sample_weight)

        def of_one_size(order: NDArray[np.integer]) -> NDArray[np.float64]:
            if isinstance(outputs, StoredOutputs):
                return outputs.scores(self._scorer, y, order, sample_weight)
            if self.scoring in blocks.BLOCK_SCORERS:
                try:
                    return blocks.block_scores(
                        self.name, y, outputs, len(order), labels=labels, order=order, **weights
                    )
                except ValueError as error:  # name the metric, which is what the user has called
                    message = str(error).replace("block_scores", f"Metric({self.name!r})")
                    raise UndefinedMetricError(message) from error

            def score_block(block: NDArray[np.integer]) -> float:
                return self._mean_score(y[block], outputs[block], labels, **weighing(sample_weight, block))

            return blocks.loop_scores(score_block, order)

        matrices = [rows] if isinstance(rows, np.ndarray) else [block[None, :] for block in rows]
        return np.concatenate([of_one_size(order) for order in matrices])

    def _stored(self, estimator: Any, X: Any, y: Array) -> StoredOutputs:
        return StoredOutputs(estimator, X, y, self.response.unreduced().form, self.name)

    def _outputs(self, estimator: Any, X: Any, y: Array, response: Response) -> Array:
        classes = self._classes(estimator)

        def judged(outputs: Array, method: str, y: Array) -> Array:
            return canonical(
                outputs, response.form, method, y, classes=classes, positive=self.positive, name=self.name
            )

        if isinstance(y, Column):
            return predicted_column(estimator, X, y, response.methods, judged)
        method, predicted = respond(estimator, X, response.methods)
        return predicted if isinstance(predicted, Column) else judged(predicted, method, y)

    def _classes(self, estimator: Any) -> Array | None:
        """Return the estimator's ``classes_`` if the metric needs them, else None."""
        return classes_of(estimator, self.name) if self.response.needs_classes else None

    def _mean_score(
        self, y: Array, outputs: Array, classes: Array | None, sample_weight: Any = None
    ) -> float:
        """Return the mean of scores per row that no scorer of scikit-learn computes."""
        assert isinstance(self.measure, Mean)
        one_by_one = np.asarray(self.measure.scores(y, outputs, classes))
        if one_by_one.shape != y.shape or y.ndim != 1:
            raise UndefinedMetricError("a score per row is missing")
        values = one_by_one if self.range is None else np.clip(one_by_one, *self.range)
        return float(np.average(values, weights=sample_weight))


def as_metric(scoring: str | Callable[..., Any] | Metric) -> Metric:
    """Return ``scoring`` as a `Metric`.

    Examples
    --------
    >>> as_metric("roc_auc").kind
    'auc'
    """
    return scoring if isinstance(scoring, Metric) else Metric(scoring)


class Difference(Metric):
    """A metric of one model minus that of another, on the same rows.

    Both are asked as one model (`sklearn_ada.terms.models.Pair`).

    Parameters
    ----------
    base : Metric
        A mean of bounded scores.
    range_of_both : bool, default=True
        Whether a range that rows have suggested was suggested for both models. Else it is that of b, and a
        may be so bad that its errors are clipped, which makes b look less good.

    Raises
    ------
    ValueError
        If it is another metric, or has no range.
    """

    def __init__(self, base: Metric, range_of_both: bool = True) -> None:
        if not (base.has_interval and base.measure.has_differences):
            fix = "It has no interval for a difference: ask about each model, and compare the intervals."
            if base.lacks_range and base.measure.has_differences:
                rows = "validation rows that suggest one, guess_from=(X_val, y_val)"
                fix = f"It needs a range: Metric({base.name!r}, range=(low, 0)), or {rows}."
            expected = "a mean of bounded scores, such as 'accuracy'"
            raise bad_parameter("scoring", "Holdout.compare", expected, base.name, fix)
        assert isinstance(base.measure, Mean | MeanAtMix)
        vars(self).update(vars(base))
        self.base, self.range_of_both = base, range_of_both
        self.string = self._scorer = None
        self.name, self.measure = f"{base.name}{OF_TWO}", base.measure.paired()

    def describe(self) -> dict[str, Any]:
        """Return a JSON-ready description."""
        return {**super().describe(), "base": self.base.describe()}

    def entry(self) -> dict[str, Any]:
        """Return what records say of it."""
        return super().entry() | {"base": self.base.entry()}

    def check_estimator(self, estimator: Any) -> None:
        """Raise unless both models can be scored."""
        for each in (estimator.a, estimator.b):
            self.base.check_estimator(each)

    def outputs(self, estimator: Any, X: Any, y: Array) -> Array:
        """Return the outputs of both models, side by side."""
        return np.stack([self.base.outputs(each, X, y) for each in (estimator.a, estimator.b)], axis=1)

    def measured(self, estimator: Any, y: Array, outputs: Array, measure: Measure | None = None) -> Measured:
        """Return the mean difference on some rows."""
        self.base.check_within(y, outputs[:, 1], self.base._classes(estimator.b))
        if self.range_of_both:
            self.base.check_within(y, outputs[:, 0], self.base._classes(estimator.a))
        return (measure or self.certified_measure).value(y, outputs, self._classes(estimator.a))

    def score(self, estimator: Any, X: Any, y: Any, **params: Any) -> float:
        """Return the difference of the scores on any rows. The holdout is not asked."""
        return self.base.score(estimator.b, X, y, **params) - self.base.score(estimator.a, X, y, **params)


def metric_of_record(metric: Metric, described: dict[str, Any]) -> Metric:
    """Return a metric with the name and the range that it has in a record of the same question.

    Parameters
    ----------
    metric : Metric
    described : dict
        What `Metric.describe` returned; of another name of the same score, or with a range that other rows
        have suggested.
    """
    if isinstance(metric, Difference):
        return Difference(metric_of_record(metric.base, described["base"]), metric.range_of_both)
    made = metric
    if metric.string is not None and described["name"] != metric.name and described["name"] in SCORERS:
        made = Metric(described["name"]).at_mix(getattr(metric.measure, "mix", None))
        made = made.of_all_rows() if made.has_interval_of_all_rows and metric.has_interval else made
    if described["range"] is None or made.range == tuple(described["range"]):
        return made
    made = made.with_range(tuple(described["range"]))
    made.most_beyond = metric.most_beyond
    return made


def measure_of_record(described: dict[str, Any], theorem: str) -> Measure:
    """Return the measure that reads the answers of a record.

    Parameters
    ----------
    described : dict
        What `Metric.describe` returned.
    theorem : str
        Of the answer. Of counts it says so: a function may have the name of a scorer.
    """
    measure = SCORERS.get(described["name"].partition(" of ")[0], MedianOnly())
    if measure.kind != described["kind"] or (measure.counts and measure.theorem not in theorem):
        measure = Mean(UserScores(no_scores)) if described["kind"] == Mean.kind else MedianOnly()
    return replace(measure, bounds=described["range"] and tuple(described["range"]))


def no_scores(*outputs: Any) -> Any:
    """Raise: where an answer is read from its record, no rows are scored."""
    raise AssertionError("nothing is scored here")


def undefined_metric(
    metric: Metric, y: Array, error: UndefinedMetricError, owner: str = "Holdout", fix: str = ""
) -> ValueError:
    """Return the error for labels with which a metric is undefined.

    Its message shows the code to write instead, or ``fix`` where there is none.

    Examples
    --------
    >>> y, reason = np.array(["churn", "stays"]), UndefinedMetricError("it needs rows of class 1")
    >>> str(undefined_metric(Metric("f1"), y, reason)).rpartition("instead. ")[2]
    "Say which class is meant, 'churn' or 'stays': scoring=Metric('f1', pos_label='churn')."
    """
    expected = f"such that {metric.name} is defined: {error}"
    if isinstance(error, UnsuitableUnitsError):
        return bad_parameter(error.name, owner, expected, error.got, error.fix)
    if type_of_target(y) not in ("binary", "multiclass"):
        return bad_parameter("y", owner, expected, f"{len(y)} numbers")
    labels = np.unique(y).tolist()
    got = labels if len(labels) <= _SHOWN else f"{len(labels)} classes"
    return bad_parameter("y", owner, expected, got, _fix(metric, labels) or fix)


def _fix(metric: Metric, labels: list[Any]) -> str:
    if len(labels) > 2:
        other = metric.measure.instead
        return f"For several classes write scoring={other}." if other else ""
    if metric.string and metric.positive is not None and metric.positive not in labels:
        meant = [label for label in labels if str(label).lower() not in _NEGATIVE] or labels
        either = " or ".join(map(repr, meant))
        code = f"Metric({metric.string!r}, pos_label={meant[0]!r})"
        return f"Say which class is meant, {either}: scoring={code}."
    return "Bring rows of another class." if len(labels) == 1 else ""


_SHOWN = 10
_NEGATIVE = {"0", "-1", "false", "n", "neg", "negative", "no", "none", "normal", "off"}


def _measure_of_string(scoring: str, kind: str | None) -> Measure:
    """Return the measure of a scorer string; ValueError for an unknown or a refused one."""
    is_own = isinstance(SCORERS.get(scoring), Mean)  # which needs no scorer of scikit-learn
    if not is_own and scoring not in get_scorer_names():
        near = difflib.get_close_matches(scoring, get_scorer_names(), 3, 0.4)
        fix = f"Did you mean {' or '.join(map(repr, near))}?" if near else ""
        expected = "a scikit-learn scorer string, a scorer or a Metric"
        raise bad_parameter("scoring", ASKED, expected, scoring, fix)
    measure = SCORERS.get(scoring, MedianOnly(response=Response("any", (), target=None)))
    if measure.is_refused:
        fix = f"It {measure.reason}."
        raise bad_parameter("scoring", "Metric", "a metric of one label a row", scoring, fix)
    if kind is not None:
        check_option(kind, "kind", "Metric", ("general",))
    return measure


def _name_of_function(scoring: Callable[..., Any], kind: str | None, pos_label: Any) -> str:
    """Return what a scorer or a function is called; ValueError if it is neither."""
    if pos_label is not None:
        fix = "Give it to the scorer: make_scorer(function, pos_label=...)."
        raise bad_parameter("pos_label", "Metric", "None for a function", pos_label, fix)
    check_option(kind or "general", "kind", "Metric", ("mean", "general"))
    name = name_of(scoring)
    if kind != "mean":
        check_is_scorer(scoring, name)
    return name


_SINCE = "has an interval on ledgers that are begun by this release, and this one was begun by an older one"


def _named(scoring: Any, number: int) -> tuple[Any, Any, int]:
    """Return the string and the class that stand for a scorer, if some do, and since which format."""
    name = registered_name(scoring, number)
    if name is not None:
        return name, None, next(n for n in (1, 3, BLOCKS) if registered_name(scoring, n) == name)
    of_class = name_of_class(scoring) if number >= BLOCKS else None
    return (scoring, None, 1) if of_class is None else (*of_class, BLOCKS)


def _check_range(bounds: tuple[float, float] | None) -> Range | None:
    """Return the bounds as floats, None if there are none; ValueError unless they are finite."""
    if bounds is None:
        return None
    try:
        low, high = (float(bound) for bound in bounds)
    except (TypeError, ValueError):
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise bad_parameter("range", "Metric", "a pair of finite numbers low < high", bounds)
    return low, high
