"""Scorer objects that scikit-learn registers under a name.

Whether a scorer can weigh records, found out on rows that everybody knows.

A metric as a scorer of scikit-learn: what it takes of a model, and its plain value on any rows.

What a user declares a metric by, such as a scorer string, and what scorer, range and rule that means.

`Metric`: a scikit-learn metric, and which interval there is for its value.

The difference of two models in a mean of scores, from their scores on the same rows.

Two models that agree on most rows have small differences, however much their scores vary, so the interval of
the difference is much narrower than the difference of two intervals
(`sklearn_ada.guarantees.scores`).

What is said where a metric has no value with the labels that there are, and how to mend it.
"""

from __future__ import annotations

import difflib
import inspect
import math
import re
import warnings
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import cache, partial
from numbers import Real
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    f1_score,
    get_scorer,
    get_scorer_names,
    jaccard_score,
    make_scorer,
    precision_score,
    recall_score,
)
from sklearn.utils.multiclass import type_of_target

from sklearn_ada._validation import bad_parameter, check_option
from sklearn_ada.data.columns import Column
from sklearn_ada.data.labels import Subsamples, n_rows, take_rows
from sklearn_ada.guarantees.scores import paired_zero_one_interval
from sklearn_ada.metrics import blocks
from sklearn_ada.metrics.base import (
    TOO_NARROW,
    BettingEnds,
    Construction,
    Foreseen,
    IntervalRule,
    Measured,
    Range,
    UndefinedMetricError,
    check_positive,
    check_target,
    check_within,
    most_beyond,
    suggested_range,
)
from sklearn_ada.metrics.means import Mean, RootMean, UserScores
from sklearn_ada.metrics.outputs import (
    Response,
    StoredOutputs,
    available_response,
    canonical,
    classes_of,
    predicted_column,
    reads_outputs_only,
    respond,
)
from sklearn_ada.metrics.ranking import AveragePrecision
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

_MADE = type(get_scorer("accuracy"))
_AVERAGED = {"f1": f1_score, "jaccard": jaccard_score, "precision": precision_score, "recall": recall_score}
_AVERAGES = ("", "macro", "micro", "weighted", "samples")
_WRITTEN: tuple[dict[str, Any], ...] = (
    {},
    {"zero_division": 0},
    {"zero_division": 0.0},
    {"zero_division": "warn"},
)


def registered_name(scoring: Callable[..., Any]) -> str | None:
    """Return the scorer string that stands for the same scorer, or None.

    The same is: the same function with the same options, and no request of metadata. Averages over classes
    need no ``pos_label=None``, as ``make_scorer(f1_score, average="macro")``, and a ``zero_division`` of 0
    changes nothing but a warning.

    Examples
    --------
    >>> from sklearn.metrics import accuracy_score, fbeta_score, make_scorer
    >>> registered_name(get_scorer("f1_macro")), registered_name(make_scorer(accuracy_score))
    ('f1_macro', 'accuracy')
    >>> registered_name(make_scorer(fbeta_score, beta=2)) is None
    True
    """
    if type(scoring) is not _MADE:
        return None
    try:
        return _names().get(joblib.hash(scoring))
    except Exception:  # what cannot be pickled is a scorer of one's own
        return None


@cache
def _names() -> dict[str, str]:
    known = {joblib.hash(get_scorer(name)): name for name in get_scorer_names()}
    for name, function in _AVERAGED.items():
        for average in _AVERAGES:
            for options in _WRITTEN:
                made = make_scorer(function, **({"average": average} if average else {}), **options)
                known[joblib.hash(made)] = f"{name}_{average}" if average else name
    return known


_TIMES = 4  # rows of each class


def takes_weights(scorer: Callable[..., Any], n_classes: int) -> bool:
    """Return whether a scorer takes ``sample_weight``.

    A function of one's own says so itself. One of ``make_scorer`` is tried on a few public rows: if it has a
    value there without weights and none with them, it does not. If it has none either way, it may.

    Parameters
    ----------
    scorer : callable
        Called as ``scorer(estimator, X, y)``.
    n_classes : int
        Number of classes of the rows; some metrics weigh two classes only.

    Examples
    --------
    >>> from sklearn.metrics import get_scorer
    >>> takes_weights(get_scorer("accuracy"), 2), takes_weights(get_scorer("neg_max_error"), 2)
    (True, False)
    """
    if not reads_outputs_only(scorer):
        try:
            inspect.signature(scorer).bind(None, None, None, sample_weight=None)
        except ValueError:  # of some callables written in C
            return True
        except TypeError:
            return False
        return True
    toys = [_Toy(np.arange(first, first + max(n_classes, 2))) for first in (0, 1)]
    return all(_has_value(scorer, toy, weighted=True) or not _has_value(scorer, toy) for toy in toys)


class _Toy(ClassifierMixin, BaseEstimator):
    """A model of these classes that is right on most rows, whose numbers are its true labels."""

    def __init__(self, labels: NDArray[np.int64]) -> None:
        self.labels = labels
        self.classes_ = labels

    def predict(self, X: NDArray[np.int64]) -> NDArray[np.int64]:
        said = X[:, 0].copy()
        said[0] = self.classes_[1]
        return said

    def predict_proba(self, X: NDArray[np.int64]) -> NDArray[np.float64]:
        likely = self.predict(X)[:, None] == self.classes_
        return np.where(likely, 0.8, 0.2 / (len(self.classes_) - 1))

    def predict_log_proba(self, X: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.log(self.predict_proba(X))

    def decision_function(self, X: NDArray[np.int64]) -> NDArray[np.float64]:
        scores = self.predict_log_proba(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores


def _has_value(scorer: Callable[..., Any], toy: _Toy, *, weighted: bool = False) -> bool:
    y = np.tile(toy.classes_, _TIMES)
    weight = {"sample_weight": np.linspace(1.0, 2.0, len(y))} if weighted else {}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            float(scorer(toy, y[:, None], y, **weight))
    except Exception:  # of a function of anybody's
        return False
    return True


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


_OF_ONE_CLASS: dict[str, Callable[..., Any]] = {
    "average_precision": partial(
        make_scorer, average_precision_score, response_method=("decision_function", "predict_proba")
    ),
    "f1": partial(make_scorer, f1_score),
    "jaccard": partial(make_scorer, jaccard_score),
    "neg_brier_score": partial(
        make_scorer, brier_score_loss, greater_is_better=False, response_method="predict_proba"
    ),
    "precision": partial(make_scorer, precision_score),
    "recall": partial(make_scorer, recall_score),
}
"""Scorers for another positive class than scikit-learn's strings have."""


_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


@dataclass(frozen=True)
class Declared:
    """What the parameters of `Metric` mean.

    Attributes
    ----------
    name : str
        What the metric is called.
    string : str or None
        The scorer string, if it is one.
    scoring : str or callable
        The scorer string or the callable; the scorer, if it is one of another class than the string's.
    scorer : callable or None
        The scorer; None for a user's function of labels and outputs.
    positive : label or None
        The positive class of a metric of one class.
    response : Response
    methods : tuple of str
        Of the estimator, which give the outputs for an interval.
    rule : IntervalRule or None
        How the value becomes an interval; None where it does not.
    range : tuple of float or None
    has_own_range : bool
        Whether scikit-learn's definition gives the range.
    """

    name: str
    string: str | None
    scoring: str | Callable[..., Any]
    scorer: Callable[..., Any] | None
    positive: Any
    response: Response
    methods: tuple[str, ...]
    rule: IntervalRule | None
    range: Range | None
    has_own_range: bool


def declared(
    scoring: str | Callable[..., Any],
    kind: str | None,
    range: tuple[float, float] | None,
    response_method: str,
    pos_label: Any,
) -> Declared:
    """Return what the parameters of `Metric` mean, or raise ValueError.

    Examples
    --------
    >>> declared("recall", None, None, "predict", "yes").name
    "recall of 'yes'"
    """
    bounds = _check_range(range)
    if isinstance(scoring, Scoring):
        raise bad_parameter("scoring", "Metric", "a scorer string or a scorer", scoring)
    if callable(scoring) and kind != "mean":
        scoring = registered_name(scoring) or scoring
    if isinstance(scoring, str):
        meant = _of_string(scoring, kind, range, bounds, response_method)
        return meant if pos_label is None else _of_class(meant, scoring, pos_label)
    if callable(scoring):
        return _of_function(scoring, kind, bounds, response_method, pos_label)
    raise bad_parameter("scoring", "Metric", "a scorer string, a scorer or a Metric", scoring)


def _of_string(
    scoring: str, kind: str | None, given: Any, bounds: Range | None, response_method: str
) -> Declared:
    """Return what a scorer string means; ``given`` is the range as it was written."""
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
        raise bad_parameter("range", "Metric", f"left out, as {scoring} has {natural}", given)
    response = RESPONSES.get(scoring, Response("any", (), target=None))
    rule = None if known is None or kind is not None else known.rule
    return Declared(
        name=scoring,
        string=scoring,
        scoring=scoring,
        scorer=get_scorer(scoring),
        positive=POSITIVE.get(scoring),
        response=response,
        methods=(response_method,) if rule is None else response.methods,
        rule=rule,
        range=natural if bounds is None else bounds,
        has_own_range=natural is not None,
    )


def _of_class(meant: Declared, string: str, pos_label: Any) -> Declared:
    """Return what a scorer string means for another class than 1."""
    if string not in POSITIVE:
        fix = f"Leave it out; it is for {', '.join(POSITIVE)}."
        raise bad_parameter("pos_label", "Metric", f"None for {string}", pos_label, fix)
    scorer = _OF_ONE_CLASS[string](pos_label=pos_label)
    rule = None if meant.rule is None else replace(meant.rule, positive=pos_label)  # type: ignore[type-var]
    return replace(
        meant, name=f"{string} of {pos_label!r}", scoring=scorer, scorer=scorer, positive=pos_label, rule=rule
    )


def _of_function(
    scoring: Callable[..., Any],
    kind: str | None,
    bounds: Range | None,
    response_method: str,
    pos_label: Any,
) -> Declared:
    """Return what a scorer, or a function of labels and outputs, means."""
    if pos_label is not None:
        fix = "Give it to the scorer: make_scorer(function, pos_label=...)."
        raise bad_parameter("pos_label", "Metric", "None for a function", pos_label, fix)
    check_option(kind or "general", "kind", "Metric", ("mean", "general"))
    name = getattr(scoring, "__name__", None) or _described(scoring)
    if kind != "mean":
        _check_is_scorer(scoring, name)
    return Declared(
        name,
        string=None,
        scoring=scoring,
        scorer=None if kind == "mean" else scoring,
        positive=None,
        response=Response("any", (response_method,), target=None),
        methods=(response_method,),
        rule=Mean(UserScores(scoring)) if kind == "mean" else None,
        range=bounds,
        has_own_range=False,
    )


def _described(scoring: Callable[..., Any]) -> str:
    """Return the text of a callable without its address, which would be another one in each process."""
    try:
        return _ADDRESS.sub("", repr(scoring))
    except Exception:  # scikit-learn 1.6 asks a partial for its name
        return type(scoring).__name__


def _check_is_scorer(scoring: Callable[..., Any], name: str) -> None:
    """Raise ValueError for a function of labels and predictions, such as `accuracy_score`."""
    try:
        signature = inspect.signature(scoring)
    except (TypeError, ValueError):  # of some callables written in C
        return
    try:
        signature.bind(None, None, None)
    except TypeError:
        raise bad_parameter(
            "scoring", "Metric", "a scorer, to be called as scoring(estimator, X, y)", name,
            "For a function of labels and predictions use its scorer string, such as 'accuracy' for "
            "accuracy_score, or sklearn.metrics.make_scorer(function).",
        ) from None  # fmt: skip


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
            One of `sklearn_ada.accounting.events.FAILURES`.
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


DIFFERENCE = "difference"
"""The kind of these metrics."""

OF_TWO = " of b minus a"
"""How their names end."""

Array = NDArray[Any]


class Difference(Metric):
    """A metric of one model minus that of another, asked of both as of one (`holdout.models.pair`).

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
        rule = base.rule if base.has_interval else None
        if not isinstance(rule, Mean):
            fix = "It has no interval for a difference: ask about each model, and compare the intervals."
            if base.lacks_range and base.kind == "mean":
                fix = (
                    f"It needs a range: Metric({base.name!r}, range=(low, 0)), or validation rows that "
                    "suggest one, guess_from=(X_val, y_val)."
                )
            raise bad_parameter(
                "scoring", "Holdout.compare", "a mean of bounded scores, such as 'accuracy'", base.name, fix
            )
        low, high = base.bounds
        self.base, self.range_of_both = base, range_of_both
        self.string = self._scorer = None
        self.name = f"{base.name}{OF_TWO}"
        self.kind, self.range, self.clips = DIFFERENCE, (low - high, high - low), base.clips
        self.positive, self.scoring, self.methods, self.response = (
            None,
            base.scoring,
            base.methods,
            base.response,
        )
        self.chosen_general, self.most_beyond = False, base.most_beyond
        self._rule = PairedMean(
            rule.scores, two_classes=rule.two_classes, positive=rule.positive, at_class_mix=rule.at_class_mix,
            base=rule, base_bounds=(low, high),
        )  # fmt: skip

    @property
    def clipped(self) -> str:
        """What a certificate says of a declared range."""
        return self.base.clipped

    def check_estimator(self, estimator: Any) -> None:
        """Raise unless both models can be scored."""
        for each in (estimator.a, estimator.b):
            self.base.check_estimator(each)

    def check_classes(self, y: Array) -> None:
        """Raise if the metric has no meaning for these labels."""
        self.base.check_classes(y)

    def takes_weights(self, n_classes: int = 2) -> bool:
        """Return whether records may have weights."""
        return True

    def outputs(self, estimator: Any, X: Any, y: Array) -> Array:
        """Return the outputs of both models, side by side."""
        return np.stack([self.base.outputs(each, X, y) for each in (estimator.a, estimator.b)], axis=1)

    def measure(self, estimator: Any, y: Array, outputs: Array, rule: Any = None) -> Measured:
        """Return the mean difference on some rows."""
        self.base.check_within(y, outputs[:, 1], self.base._classes(estimator.b))
        if self.range_of_both:
            self.base.check_within(y, outputs[:, 0], self.base._classes(estimator.a))
        return (rule or self.rule).measure(y, outputs, self._classes(estimator.a), self.bounds)

    def score(self, estimator: Any, X: Any, y: Any, **params: Any) -> float:
        """Return the difference of the scores on any rows. The holdout is not asked."""
        return self.base.score(estimator.b, X, y, **params) - self.base.score(estimator.a, X, y, **params)

    def describe(self) -> dict[str, Any]:
        """Return a JSON-ready description."""
        return {**super().describe(), "base": self.base.describe()}


@dataclass(frozen=True)
class PairedMean(Mean):
    """The mean of the differences of two models' scores, the second's minus the first's."""

    base: Mean = None  # type: ignore[assignment] # always given; fields before it have defaults
    base_bounds: Range = (0.0, 1.0)
    family = DIFFERENCE
    has_noise = False  # no family of private releases
    zero_one = False

    @property
    def theorem(self) -> str:  # type: ignore[override]
        """Name of the fixed-question bound."""
        return "Chernoff-KL (Hoeffding 1963) for differences"

    def sensitivity(self, y: Array, width: float) -> None:
        """Return None: differences are told without noise."""

    def terms(self, y: Array, outputs: Array, classes: Array | None, bounds: Range) -> NDArray[np.float64]:
        """Return the difference on every record."""
        first, second = (self.base.terms(y, outputs[:, i], classes, self.base_bounds) for i in (0, 1))
        return second - first

    def measure(self, y: Array, outputs: Array, classes: Array | None, bounds: Range) -> Measured:
        """Return the mean difference; of 0/1 scores, how often either model alone is right, too."""
        away = self.terms(y, outputs, classes, bounds)
        shares = float((away > 0).mean()), float((away < 0).mean())
        details = shares if self.base.zero_one else None
        if self.base.zero_one:
            value = (int(np.count_nonzero(away > 0)) - int(np.count_nonzero(away < 0))) / len(y)
            return Measured(value, len(y), float(away.std()), details)
        return Measured(float(away.mean()), len(y), float(away.std()))

    def construction(self, known: Foreseen) -> Construction | None:
        """Return the disagreements, of 0/1 scores; bets, if the guess knows the deviation of a difference."""
        if not self.base.zero_one:
            if known.deviation is None:
                return None
            return BettingEnds.of(
                self.terms, known, bounds=known.bounds, mean=known.value, deviation=known.deviation
            )
        if known.details is not None:
            gain, loss = known.details
        else:  # a bare number: as if the models disagreed on a tenth of the rows more
            gain = min(0.05 + max(known.value, 0.0), 0.5)
            loss = min(0.05 + max(-known.value, 0.0), 0.5)
        least = 1.0 / len(known.y)
        gain, loss = (float(f"{min(max(each, least), 0.5):.3g}") for each in (gain, loss))
        return DisagreementEnds(self, gain, loss, len(known.y), known.identical_rows, known.bounds)


@dataclass(frozen=True)
class DisagreementEnds(Construction):
    """The difference of two accuracies by the rows on which one model alone is right."""

    rule: PairedMean
    gain: float
    loss: float
    n: int
    identical_rows: bool
    bounds: Range
    name = "disagreements"
    theorem = "disagreements (McNemar 1947), or fixed bets on them (Waudby-Smith, Ramdas 2024)"

    def describe(self) -> dict[str, Any]:
        """Return all that tunes it, ready for JSON."""
        return {"construction": self.name, "gain": self.gain, "loss": self.loss}

    def foreseen(self, value: float, ln_delta: float) -> Range:
        """Return the ends if so many rows differ as the guess foresees, at this value."""
        differ = max(round(self.n * (self.gain + self.loss)), math.ceil(abs(value) * self.n - 1e-6))
        better = min(max(round((differ + value * self.n) / 2.0), 0), differ)
        return self._ends(better, differ - better, ln_delta)

    def ends(
        self, y: Array, outputs: Array, classes: Array | None, ln_delta: float, rng: np.random.Generator
    ) -> Range:
        """Return the ends, from how often either model alone is right."""
        away = self.rule.terms(y, outputs, classes, self.bounds)
        return self._ends(int(np.count_nonzero(away > 0)), int(np.count_nonzero(away < 0)), ln_delta)

    def _ends(self, better: int, worse: int, ln_delta: float) -> Range:
        return paired_zero_one_interval(
            better, min(worse, self.n - better), self.n, ln_delta,
            identical_rows=self.identical_rows, expected=(self.gain, self.loss),
        )  # fmt: skip


_FOR_SEVERAL = {
    **{name: f"'{name}_macro'" for name in ("f1", "jaccard", "precision", "recall")},
    "average_precision": "'roc_auc_ovr'",
    "neg_brier_score": "Metric('neg_log_loss', range=(-10, 0))",
    "roc_auc": "'roc_auc_ovr'",
}
_SHOWN = 10
_NEGATIVE = {"0", "-1", "false", "n", "neg", "negative", "no", "none", "normal", "off"}


def undefined_metric(
    metric: Metric, y: NDArray[Any], error: UndefinedMetricError, owner: str = "Holdout", fix: str = ""
) -> ValueError:
    """Return the error for labels with which a metric is undefined, with the code to write instead.

    ``fix`` is said where there is no such code.

    Examples
    --------
    >>> y, reason = np.array(["churn", "stays"]), UndefinedMetricError("it needs records of class 1")
    >>> str(undefined_metric(Metric("f1"), y, reason)).rpartition("instead. ")[2]
    "Say which class is meant, 'churn' or 'stays': scoring=Metric('f1', pos_label='churn')."
    """
    expected = f"such that {metric.name} is defined: {error}"
    if type_of_target(y) not in ("binary", "multiclass"):
        return bad_parameter("y", owner, expected, f"{len(y)} numbers")
    labels = np.unique(y).tolist()
    got = labels if len(labels) <= _SHOWN else f"{len(labels)} classes"
    return bad_parameter("y", owner, expected, got, _fix(metric, labels) or fix)


def _fix(metric: Metric, labels: list[Any]) -> str:
    if len(labels) > 2:
        other = _FOR_SEVERAL.get(metric.string or "")
        return "" if other is None else f"For several classes write scoring={other}."
    if metric.positive is not None and metric.positive not in labels:
        meant = [label for label in labels if str(label).lower() not in _NEGATIVE] or labels
        either = " or ".join(map(repr, meant))
        return (
            f"Say which class is meant, {either}: scoring=Metric({metric.string!r}, pos_label={meant[0]!r})."
        )
    return "Bring records of another class." if len(labels) == 1 else ""
