"""Metrics of predicted labels that are no mean over rows: of one class, or averages over classes.

They are averages of how much of each class is predicted right, such as balanced accuracy, and ratios of two
counts, such as precision and F1, whose denominator depends on the predictions. What only the whole confusion
matrix certifies is in `sklearn_ada.metrics.tables`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator
from sklearn import metrics

from sklearn_ada.accounting.events import BLOCKS
from sklearn_ada.accounting.filters import SAME_CLASS
from sklearn_ada.data.class_mix import ClassMix
from sklearn_ada.data.labels import Units
from sklearn_ada.guarantees import class_tables
from sklearn_ada.guarantees.intervals import class_mean_size, hoeffding, hoeffding_half_width
from sklearn_ada.metrics.base import (
    ZERO_TO_ONE,
    Array,
    Foreseen,
    Measure,
    Measured,
    MedianOnly,
    Range,
    RowsInterval,
    UndefinedMetricError,
    check_positive,
    check_two_labels,
    class_positions,
    clipped,
    count_interval,
    register,
)
from sklearn_ada.metrics.mixes import table_at_mix
from sklearn_ada.metrics.two_class import TwoClasses
from sklearn_ada.metrics.units import Floats, SumOfTerms, UnequalMean, UnequalRatio, without_weight


def _of_one_class(name: str, score: Callable[..., Any], **options: Any) -> Callable[[Any], Any]:
    """Return the decorator of a metric of one class that has averages over several."""
    scorer_of, instead = partial(metrics.make_scorer, score), f"'{name}_macro'"
    return register(name, positive=1, scorer_of=scorer_of, instead=instead, **options)


@register("balanced_accuracy")
@register("recall_macro", only_present=True)
@_of_one_class("recall", metrics.recall_score)
@dataclass(frozen=True)
class ClassMean(SumOfTerms):
    """The mean over classes of the share of each class that is predicted right.

    With a positive class it is the share of that class alone, its recall, and there are two classes.

    Parameters
    ----------
    only_present : bool
        Whether there is no value if a class without rows is predicted. Scikit-learn's macro recall then
        counts one class more, whose recall is 0: a mean over classes that the labels do not fix. Its balanced
        accuracy does not.
    """

    only_present: bool = False
    kind = "class_mean"
    unit = SAME_CLASS

    @property
    def theorem(self) -> str:
        """Name of the fixed-question bound."""
        if self.positive is not None:
            return "Clopper-Pearson on the rows of the class"
        return "Hoeffding for independent class means (Hoeffding 1963)"

    @property
    def family(self) -> str:
        """The family of questions: class means share one, recalls of one class another."""
        return "class mean" if self.positive is None else "recall"

    def size(self, y: Array) -> float:
        """Return the harmonic size of the class counts."""
        if self.positive is not None:
            check_positive(y, self.positive)
        counts = self._counts(y)
        if self.positive is None and len(counts) < 2:
            raise UndefinedMetricError("a mean over classes needs two classes")
        return class_mean_size(tuple(counts))

    def value(self, y: Array, outputs: Array, classes: Array | None) -> Measured:
        """Return the mean recall; its size is the harmonic one of the class counts."""
        labels = self._classes(y)
        self._check(y, outputs, labels)
        hits = [(outputs[y == c] == c) for c in labels]
        if not all(len(h) for h in hits):
            raise UndefinedMetricError("a class has no rows")
        details = TwoClasses("balanced_accuracy", labels[1]).counts(y, outputs) if len(labels) == 2 else None
        value, size = float(np.mean([h.mean() for h in hits])), class_mean_size(tuple(map(len, hits)))
        return Measured(value, size, details=details)

    def terms(self, y: Array, outputs: Array, classes: Array | None) -> Floats:
        """Return 1 for every row that is predicted right."""
        self._check(y, outputs, self._classes(y))
        return np.asarray(outputs == y, dtype=np.float64)

    def shares(self, y: Array, weight: Floats) -> Floats:
        """Return each row's share: every class has an equal part of the mean, divided by weights."""
        labels, parts = self._classes(y), np.zeros(len(y))
        for label in labels:
            total = weight[y == label].sum()
            if total == 0.0:
                raise without_weight()
            parts += np.where(y == label, weight / total, 0.0)
        return parts / len(labels)

    def interval(self, ends: Range, size: float, ln_delta: float) -> Range:
        """Return Hoeffding's interval for several classes, and the binomial one for a single class."""
        if self.positive is not None:
            return count_interval(clipped(ends, self.limits), round(size), ln_delta)
        return hoeffding(*clipped(ends, self.limits), size, ln_delta, self.limits)

    def rows_interval(self, foreseen: Foreseen) -> RowsInterval | None:
        """Return the construction from the counts of all classes; None if it would be wider."""
        if self.positive is not None:
            return None
        labels, counts = np.unique(foreseen.y, return_counts=True)
        if len(labels) == 2:
            exact = TwoClasses("balanced_accuracy", labels[1]).rows_interval(self, foreseen)
            if exact is not None:
                return exact
        rows = tuple(int(count) for count in counts)
        if not class_tables.counts_are_narrower([foreseen.value] * len(rows), rows, foreseen.ln_delta):
            return None

        def ends(y: Array, outputs: Array, classes: Array | None, ln_delta: float, rng: Generator) -> Range:
            hits = [int(np.count_nonzero((y == label) & (outputs == label))) for label in labels.tolist()]
            return class_tables.class_mean_interval(hits, rows, ln_delta)

        def at(value: float, ln_delta: float) -> Range:
            recall = min(max(value, 0.0), 1.0)  # of all classes
            return class_tables.class_mean_interval([round(recall * n) for n in rows], rows, ln_delta)

        # Class counts, which may not be printed, tune it.
        return RowsInterval("class counts", "Clopper-Pearson for each class (Bonferroni)", {}, at, ends)

    def sensitivity(self, y: Array) -> float:
        """Return that of the smallest class."""
        counts = self._counts(y)
        return self.width / (len(counts) * min(counts))

    def at_mix(self, mix: ClassMix) -> Measure:
        """Return this, as each class counts alike whatever its share is."""
        return self

    def weighted(self, units: Units) -> Measure | None:
        """Return the weighted mean; None with a bound of the weights, which may not be conditioned on."""
        return UnequalMean(self, units, True, bounds=self.bounds) if units.bound is None else None

    @property
    def listed(self) -> str:
        """What certifies it, for the table of scorers."""
        counts = ", or Clopper-Pearson for each class where the guess foresees a narrower interval"
        return f"{self.theorem}{counts if self.positive is None else ''}"

    def _classes(self, y: Array) -> list[Any]:
        return list(np.unique(y)) if self.positive is None else [self.positive]

    def _counts(self, y: Array) -> list[int]:
        return [int(np.count_nonzero(y == c)) for c in self._classes(y)]

    def _check(self, y: Array, outputs: Array, labels: list[Any]) -> None:
        if self.positive is not None:
            check_two_labels(y, outputs, self.positive)
        elif self.only_present:
            class_positions(outputs, np.asarray(labels), "a predicted label")


@_of_one_class("f1", metrics.f1_score, counts_misses=True, doubled=True)
@_of_one_class("jaccard", metrics.jaccard_score, counts_misses=True, doubled=False)
@_of_one_class("precision", metrics.precision_score, counts_misses=False, doubled=False)
@dataclass(frozen=True)
class Ratio(Measure):
    """Precision, Jaccard index or F1 of one class: a ratio of two counts of rows.

    J, the precision or the Jaccard index, is the true positives over the denominator N, and
    ``F1 = 2J / (1 + J)``. N depends on the predictions, so it is released (coarsely, rounded down) and
    priced; the interval does not condition on it (`sklearn_ada.guarantees.class_tables`).

    Parameters
    ----------
    counts_misses : bool
        Whether N holds false negatives (Jaccard, F1) or not (precision).
    doubled : bool
        Whether the score is ``2J / (1 + J)``.
    expected_size, expected_ratio : float
        The N and J that the interval is tuned to.
    """

    counts_misses: bool
    doubled: bool
    expected_size: float = 1.0
    expected_ratio: float = 0.5
    kind = family = "ratio"
    size_is_released = True
    has_noise = False  # one row can move it too far
    theorem = "Chernoff's bound for a ratio, with the exponent that the guess suggests"

    def size(self, y: Array) -> float:
        """Return the denominator that a guess foresees: it depends on the predictions."""
        check_positive(y, self.positive)
        return self.expected_size

    def foreseeing(self, value: float, share: float | None, y: Array) -> Ratio:
        """Return the ratio tuned to a guess; the denominator of a bare number is the count of the class."""
        size = np.count_nonzero(y == self.positive) if share is None else share * len(y)
        return replace(self, expected_size=max(float(size), 1.0), expected_ratio=self._ratio(value))

    def value(self, y: Array, outputs: Array, classes: Array | None) -> Measured:
        """Return the score; its size is the denominator."""
        check_two_labels(y, outputs, self.positive)
        is_true, is_predicted = y == self.positive, outputs == self.positive
        size = int(np.count_nonzero(is_true | is_predicted if self.counts_misses else is_predicted))
        if size == 0:
            raise UndefinedMetricError("the denominator is zero")
        value = self._score(int(np.count_nonzero(is_true & is_predicted)) / size)
        return Measured(value, size, details=TwoClasses(self.name, self.positive).counts(y, outputs))

    def rows_interval(self, foreseen: Foreseen) -> RowsInterval | None:
        """Return the interval from the table; None where it does not hold."""
        return TwoClasses(self.name, self.positive).rows_interval(self, foreseen)

    def interval(self, ends: Range, size: float, ln_delta: float) -> Range:
        """Return the interval of the ratio, carried over to the score."""
        low, high = (self._ratio(end) for end in clipped(ends, self.limits))
        low, high = class_tables.ratio_interval(
            low, high, size, ln_delta, expected_share=self.expected_ratio, expected_size=self.expected_size
        )
        return self._score(low), self._score(high)

    def half_width_bound(self, half_cell: float, size: float, ln_delta: float) -> float:
        """Return a half-width not exceeded at this denominator (the score's slope is at most 2)."""
        half_width = class_tables.ratio_half_width(size, ln_delta, expected_size=self.expected_size)
        return min(half_cell + (2.0 if self.doubled else 1.0) * half_width, 0.5)

    def weighted(self, units: Units) -> Measure | None:
        """Return the ratio of sums over units; None with a bound of the weights."""
        if units.bound is not None:
            return None
        missed, part = float(self.counts_misses), 0.5 if self.doubled else 1.0
        kept = {"positive": self.positive, "response": self.response, "bounds": self.bounds}
        return UnequalRatio(units=units, missed=missed, false=1.0, part=part, since=BLOCKS, **kept)

    def with_tuning(self, tuning: dict[str, Any]) -> tuple[Measure, Any]:
        """Return this, and the counts of the guess, where these are recorded."""
        return self, tuple(tuning["counts"]) if "counts" in tuning else None

    def at_mix(self, mix: ClassMix) -> Measure | None:
        """Return the metric of the table of two classes."""
        return table_at_mix(self, mix, self.name)

    def replayed(self, value: float, share: float | None, rows: int) -> tuple[Measure, float] | str:
        """Return the ratio tuned to a recorded guess, and the denominator that it foresees."""
        if share is None:
            return "the count of a class"
        tuned = self.foreseeing(value, share, np.empty(rows))
        return tuned, tuned.expected_size

    @property
    def name(self) -> str:
        """What the exact interval of a table calls it."""
        return "f_beta" if self.doubled else "jaccard" if self.counts_misses else "precision"

    def _score(self, ratio: float) -> float:
        return 2.0 * ratio / (1.0 + ratio) if self.doubled else ratio

    def _ratio(self, score: float) -> float:
        return score / (2.0 - score) if self.doubled else score


@register("jaccard_micro")
@dataclass(frozen=True)
class MicroJaccard(Measure):
    """The Jaccard index over all labels, a function of the accuracy.

    A row has one label. Of n rows at accuracy A, nA are in both sets, and each of the others is in one of
    them twice: ``J = nA / (2n - nA) = A / (2 - A)``.
    """

    kind = "ratio"
    family = "mean"
    theorem = "Clopper-Pearson for the accuracy"
    has_noise = False
    alike = "is a function of the accuracy: use 'accuracy'"

    def value(self, y: Array, outputs: Array, classes: Array | None) -> Measured:
        """Return the index."""
        return Measured(_index(int(np.count_nonzero(outputs == y)) / len(y)), len(y))

    def interval(self, ends: Range, size: float, ln_delta: float) -> Range:
        """Return the interval of the accuracy, carried over."""
        low, high = (2.0 * end / (1.0 + end) for end in clipped(ends, self.limits))
        low, high = count_interval((low, high), int(size), ln_delta)
        return _index(low), _index(high)

    def half_width_bound(self, half_cell: float, size: float, ln_delta: float) -> float:
        """Return a half-width not exceeded: the slope is at most 2."""
        return min(half_cell + 2.0 * hoeffding_half_width(size, ln_delta), self.width / 2.0)


def _index(accuracy: float) -> float:
    return accuracy / (2.0 - accuracy)


_PAIRS = "compares clusterings by pairs of rows, which are no independent terms"
register("adjusted_mutual_info_score", "adjusted_rand_score", "mutual_info_score", reason=_PAIRS)(MedianOnly)
register(
    "completeness_score", "fowlkes_mallows_score", "homogeneity_score", "normalized_mutual_info_score",
    "rand_score", "v_measure_score", reason=_PAIRS, bounds=ZERO_TO_ONE,
)(MedianOnly)  # fmt: skip
register(
    "f1_samples", "jaccard_samples", "precision_samples", "recall_samples", is_refused=True,
    reason="is for rows with several labels each, and y of a Holdout is one-dimensional",
)(MedianOnly)  # fmt: skip
