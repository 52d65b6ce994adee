"""Metrics that only the confusion matrix certifies: F-beta, kappa, Matthews' correlation, class averages.

With two classes, or of one class against the rest, the interval is that of the table
(`sklearn_ada.metrics.two_class`); of several classes it is by bets, and by the rates of each of them
(`sklearn_ada.guarantees.class_tables`). Scorers of scikit-learn register themselves by their strings, and
what ``make_scorer`` makes of such a function with other options is found by `table_of_scorer`.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from sklearn import metrics

from sklearn_ada.accounting.events import BLOCKS
from sklearn_ada.data.class_mix import ClassMix
from sklearn_ada.data.labels import Units
from sklearn_ada.guarantees import class_tables
from sklearn_ada.guarantees.intervals import class_mean_size, hoeffding
from sklearn_ada.metrics.base import (
    AllRows,
    Array,
    Foreseen,
    Measure,
    Measured,
    Range,
    RowsInterval,
    UndefinedMetricError,
    check_positive,
    class_positions,
    moved,
    register,
)
from sklearn_ada.metrics.mixes import table_at_mix
from sklearn_ada.metrics.scorers import as_shortest, is_of_function
from sklearn_ada.metrics.two_class import TWO_CLASSES, TwoClasses
from sklearn_ada.metrics.units import UnequalRatio, counts_of

Table = NDArray[np.float64]
_CORRELATION: Range = (-1.0, 1.0)


@dataclass(frozen=True)
class ClassTable(AllRows):
    """A metric of the confusion matrix: of two classes, of one against the rest, or over several.

    Parameters
    ----------
    score : callable
        Scikit-learn's, of labels and predicted labels.
    metric : str
        One of `sklearn_ada.guarantees.two_class_interval`.
    beta : float
        Of F-beta.
    average : {None, "macro", "weighted"}
        How classes are averaged, if they are.
    labels : tuple or None
        The classes that are averaged, or the one against the rest; None for all.
    is_of_two : bool
        Whether there is no value for three classes.
    weights : {None, "linear", "quadratic"}
        How far apart classes are, of kappa.
    """

    score: Callable[..., Any]
    metric: str
    beta: float = 1.0
    average: str | None = None
    labels: tuple[Any, ...] | None = None
    is_of_two: bool = False
    weights: str | None = None
    theorem = "fixed bets on the confusion matrix (Waudby-Smith, Ramdas 2024)"

    def size(self, y: Array) -> float:
        """Return the number of rows, if they are of the classes that it needs."""
        found = np.unique(y)
        if len(found) < 2:
            raise UndefinedMetricError("it compares two classes or more")
        if self.is_of_two:
            check_positive(y, self.positive)
        for label in self.labels or ():
            if not np.any(y == label):
                raise UndefinedMetricError(f"it needs rows of class {label!r}")
        return len(y)

    def value(self, y: Array, outputs: Array, classes: Array | None) -> Measured:
        """Return scikit-learn's value, if all predicted classes have rows."""
        self.size(y)
        labels = np.unique(y)
        class_positions(outputs, labels, "a predicted label")
        if self.metric == "precision" and self._only is not None and not np.any(outputs == self._only):
            raise UndefinedMetricError("the denominator is zero")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = float(self.score(y, outputs))
        if math.isnan(value):
            raise UndefinedMetricError("the denominator is zero")
        if self.bounds is not None:
            value = min(max(value, self.bounds[0]), self.bounds[1])
        table = metrics.confusion_matrix(y, outputs, labels=labels).astype(float)
        return Measured(value, len(y), details=(labels, table))

    def rows_interval(self, foreseen: Foreseen) -> RowsInterval:
        """Return the interval of the table, or bets on the confusion matrix, tuned to the one foreseen."""
        labels, sizes = np.unique(foreseen.y, return_counts=True)
        by_tables = foreseen.by_tables or self.since > 1
        if by_tables and (len(labels) == 2 or self._only is not None):
            positive = labels[1] if self._only is None else self._only
            average = self.average if self._only is None else None
            exact = TwoClasses(
                self.metric, positive, beta=self.beta, average=average, is_of_several=len(labels) > 2
            )
            known = replace(foreseen, by_tables=True, details=counts_of(foreseen.details, positive))
            made = exact.rows_interval(self, known)
            if made is not None:
                return made
        interval_of = self._interval_of(labels, by_rates=by_tables)
        expected = self._expected(foreseen, labels, sizes)
        at_mix = np.round(expected / expected.sum(axis=1, keepdims=True) * sizes[:, None])
        by = 0.0 if foreseen.details is None else foreseen.value - self._value_of(*foreseen.details)

        def announced(ln_delta: float) -> Range:
            return moved(interval_of(at_mix, ln_delta, expected=expected), by)

        ends = announced(foreseen.ln_delta)
        value = min(max(foreseen.value, ends[0]), ends[1])

        def bets(y: Array, outputs: Array, ln_delta: float, rng: Generator) -> Range:
            table = metrics.confusion_matrix(y, outputs, labels=labels)
            return interval_of(table, ln_delta, expected=expected)

        made = self._around("confusion matrix", bets, foreseen, value, ends)
        sub_gaussian = math.sqrt(2.0 * (math.log(2.0) - foreseen.ln_delta))
        theorem = self.theorem
        if self.metric == "informedness":
            theorem = "Clopper-Pearson for each class, or Hoeffding for their means"
        elif by_tables and self.average is not None:
            theorem += ", with boxes for the rates of each class"
        return replace(
            made,
            theorem=theorem,
            announced=announced,
            deviation=(ends[1] - ends[0]) / 2.0 * math.sqrt(len(foreseen.y)) / sub_gaussian,
            recorded={"by": TWO_CLASSES} if foreseen.by_tables and self.average else {},
        )

    def weighted(self, units: Units) -> Measure | None:
        """Return the ratio of sums over units, of a class of two; None for others, and with a bound."""
        if not (self.is_of_two and self.metric in ("f_beta", "precision")) or units.bound is not None:
            return None
        missed = self.beta**2 if self.metric == "f_beta" else 0.0
        largest = max(missed, 1.0)
        return UnequalRatio(
            units=units, missed=missed / largest, false=1.0 / largest, part=largest / (1.0 + missed),
            since=BLOCKS, positive=self.positive, response=self.response, bounds=self.bounds,
        )  # fmt: skip

    def at_mix(self, mix: ClassMix) -> Measure | None:
        """Return the metric at declared shares; None for one of several classes that depends on them."""
        if self.metric in _OF_RATES:
            return self
        average = self.average if self._only is None else None
        return table_at_mix(replace(self, positive=self._only), mix, self.metric, self.beta, average)

    def holds_for_one_law(self, n_classes: int) -> bool:
        """Return whether it is of two classes, and no average over both."""
        return n_classes == 2 and (self.average is None or self._only is not None)

    def tuning(self, details: Any) -> dict[str, Any]:
        """Return the confusion matrix that is foreseen, with its labels."""
        if details is None:
            return {}
        labels, table = details
        return {"labels": labels.tolist(), "table": table.tolist()}

    def with_tuning(self, tuning: dict[str, Any]) -> tuple[ClassTable, Any]:
        """Return this, and the confusion matrix that was foreseen."""
        if "labels" not in tuning:
            return self, tuple(tuning["counts"]) if "counts" in tuning else None
        return self, (np.asarray(tuning["labels"]), np.asarray(tuning["table"]))

    @property
    def alike(self) -> str:  # type: ignore[override]
        """Why there is no interval with weights or groups, and what has one."""
        if self.average is None:
            return "is no ratio of two sums over rows: use 'balanced_accuracy', or 'f1' of two classes"
        return "averages ratios over classes: use 'balanced_accuracy', or the metric of one class of two"

    @property
    def clause(self) -> str:
        """What the certificate says of a range that was declared."""
        low, high = self.bounds or (0.0, 0.0)
        return f", clipped to [{low:g}, {high:g}]" if self.metric in _UNBOUNDED else ""

    @property
    def example_range(self) -> tuple[int, int]:
        """A range to show in messages."""
        return _UNBOUNDED[self.metric]

    @property
    def listed(self) -> str:
        """What certifies it, for the table of scorers."""
        exact = "binomial laws of both classes"
        if self.is_of_two:
            return f"certify only, with a declared range: {exact}"
        return f"{super().listed}; of two classes {exact}"

    @property
    def _only(self) -> Any:
        """Return the one class that it is about; None for a metric of all."""
        if self.positive is not None:
            return self.positive
        return self.labels[0] if self.labels is not None and len(self.labels) == 1 else None

    def _interval_of(self, labels: Array, *, by_rates: bool) -> Callable[..., Range]:
        """Return the interval of several classes, by a confusion matrix of these labels."""
        if self.metric == "matthews_corrcoef":
            return class_tables.mcc_interval
        if self.metric == "kappa":
            return partial(class_tables.confusion_ratio_interval, "kappa", weights=self.weights)
        if self.metric == "informedness":
            return _chance_adjusted
        chosen = None if self.labels is None else np.searchsorted(labels, np.array(self.labels)).tolist()
        return partial(
            class_tables.average_ratio_interval, self.metric, average=self.average or "macro",
            beta=self.beta, labels=chosen, by_rates=by_rates,
        )  # fmt: skip

    def _value_of(self, labels: Array, table: Table) -> float:
        """Return the score of the rows that a confusion matrix counts."""
        counts = table.astype(int).ravel()
        y, outputs = np.repeat(labels, len(labels)), np.tile(labels, len(labels))
        return float(self.score(np.repeat(y, counts), np.repeat(outputs, counts)))

    def _expected(self, foreseen: Foreseen, labels: Array, sizes: NDArray[np.int64]) -> Table:
        """Return the confusion matrix that the guess foresees.

        A guess without rows foresees equally likely mistakes.
        """
        shares = sizes / sizes.sum()
        chance = float(shares @ shares) if self.bounds == _CORRELATION else 0.0
        right = min(max(foreseen.value + (1.0 - foreseen.value) * chance, 0.01), 0.99)
        others = np.tile(shares, (len(labels), 1)) * (1.0 - np.eye(len(labels)))
        laws = right * np.eye(len(labels)) + (1.0 - right) * others / others.sum(axis=1, keepdims=True)
        table: Table = laws * sizes[:, None]
        if foreseen.details is not None:
            of_guess, matrix = foreseen.details
            _, here, there = np.intersect1d(labels, of_guess, assume_unique=True, return_indices=True)
            table[np.ix_(here, here)] = matrix[np.ix_(there, there)]
            if len(here) == len(labels):
                table += laws  # as if one more row of each class
        return table


def table_of_scorer(scoring: Any) -> ClassTable | None:
    """Return the measure of what ``make_scorer`` makes of a function of scikit-learn; None for any other.

    F-beta, precision, Jaccard index and recall of a class, averages over some classes, Cohen's kappa,
    balanced accuracy adjusted for chance; and the geometric mean of imbalanced-learn.

    Examples
    --------
    >>> from sklearn.metrics import cohen_kappa_score, fbeta_score, make_scorer
    >>> table_of_scorer(make_scorer(fbeta_score, beta=2)).beta
    2.0
    >>> table_of_scorer(make_scorer(cohen_kappa_score, weights="linear")).weights
    'linear'
    """
    written = as_shortest(scoring)
    if not is_of_function(written) or written[2] != as_shortest(_PLAIN)[2]:
        return None
    function, options, _ = written
    if function is metrics.cohen_kappa_score and options.keys() <= {"weights"}:
        weights = options.get("weights")
        return _new(partial(function, **options), "kappa", weights=weights, bounds=_CORRELATION)
    if function is metrics.balanced_accuracy_score and options == {"adjusted": 1.0}:
        return _new(partial(function, adjusted=True), "informedness", bounds=_CORRELATION)
    module = str(getattr(function, "__module__", "")).partition(".")[0]
    if (module, getattr(function, "__name__", "")) == ("imblearn", "geometric_mean_score") and not options:
        median = "Metric(make_scorer(geometric_mean_score), kind='general')"
        return _new(function, "geometric_mean", is_of_two=True, instead=median)
    return _of_classes(function, dict(options))


def _of_classes(function: Any, options: dict[str, Any]) -> ClassTable | None:
    """Return the measure of a function that has averages over classes, with these options."""
    metric, written = _OF_CLASSES.get(function), dict(options)
    beta, average = float(options.pop("beta", 1.0)), options.pop("average", "binary")
    positive, labels = options.pop("pos_label", 1), options.pop("labels", None)
    if metric is None or options.pop("zero_division", 0) not in (0, "warn") or options:
        return None
    if metric == "f_beta" and beta == 0.0:
        metric, beta = "precision", 1.0
    if not math.isfinite(beta):
        return None
    if average == "binary":
        instead = f"make_scorer({function.__name__}, average='macro', ...)"
        return _new(
            partial(function, **written), metric, beta=beta, positive=positive, is_of_two=True,
            instead=instead,
        )  # fmt: skip
    if labels is not None:
        given = np.asarray(labels).tolist()
        labels = tuple(sorted(set(given)))
        if len(labels) < len(given):  # scikit-learn counts a class as often as it is written
            return None
    is_one = labels is not None and len(labels) == 1 and average in ("macro", "micro", "weighted")
    if not is_one and (metric == "recall" or average not in ("macro", "weighted")):
        return None
    return _new(partial(function, **written), metric, beta=beta, average=average, labels=labels)


def _new(score: Callable[..., Any], metric: str, **options: Any) -> ClassTable:
    return ClassTable(score, metric, since=BLOCKS, **options)


_PLAIN = metrics.make_scorer(metrics.accuracy_score)
_OF_CLASSES = {
    metrics.fbeta_score: "f_beta", metrics.jaccard_score: "jaccard", metrics.recall_score: "recall",
}  # fmt: skip
_UNBOUNDED = {"neg_negative_likelihood_ratio": (-10, 0), "positive_likelihood_ratio": (0, 100)}
"""What has no range of its own, with one to show in messages."""
_OF_RATES = {*_UNBOUNDED, "recall", "informedness", "geometric_mean"}
"""What the shares of classes are no part of."""


def _chance_adjusted(table: Table, ln_delta: float, *, expected: Table) -> Range:
    """Return the interval of balanced accuracy, adjusted for chance; the one foreseen decides which."""
    rows, classes = [int(size) for size in table.sum(axis=1)], len(table)
    recalls = np.diag(expected) / expected.sum(axis=1)
    if class_tables.counts_are_narrower(recalls.tolist(), rows, ln_delta):
        ends = class_tables.class_mean_interval(np.diag(table).astype(int).tolist(), rows, ln_delta)
    else:
        mean = float(np.mean(np.diag(table) / table.sum(axis=1)))
        ends = hoeffding(mean, mean, class_mean_size(tuple(rows)), ln_delta, (0.0, 1.0))
    low, high = (end - (1.0 - end) / (classes - 1.0) for end in ends)
    return low, high


def _likelihood_ratio(y: Array, outputs: Array, *, at: int) -> float:
    """Return the positive likelihood ratio, or the negative one with its sign turned."""
    return float((1 - 2 * at) * metrics.class_likelihood_ratios(y, outputs)[at])


def _register_averages(name: str, score: Callable[..., float], metric: str) -> None:
    for average in ("macro", "weighted"):
        register(
            f"{name}_{average}",
            score=partial(score, average=average, zero_division=0),
            metric=metric,
            average=average,
        )(ClassTable)


_register_averages("f1", metrics.f1_score, "f_beta")
_register_averages("jaccard", metrics.jaccard_score, "jaccard")
_register_averages("precision", metrics.precision_score, "precision")
register(
    "matthews_corrcoef", score=metrics.matthews_corrcoef, metric="matthews_corrcoef", bounds=_CORRELATION,
    needs_every_class=True,
)(ClassTable)  # fmt: skip
for _at, _name in enumerate(("positive_likelihood_ratio", "neg_negative_likelihood_ratio")):
    register(
        _name, metric=_name, bounds=None, is_of_two=True, since=BLOCKS,
        score=partial(_likelihood_ratio, at=_at),
    )(ClassTable)  # fmt: skip
