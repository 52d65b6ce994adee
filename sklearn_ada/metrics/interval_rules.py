"""How the value of a metric becomes an interval: one class per kind of metric.

A kind knows three things: the value and the number of independent terms behind it, the interval around what
is known of the value, and a half-width that no such interval exceeds (for admission, before the answer
exists).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from sklearn_ada.accounting.zcdp_filter import RECORDS, SAME_CLASS
from sklearn_ada.guarantees.intervals.bentkus import bentkus
from sklearn_ada.guarantees.intervals.chernoff import chernoff_kl
from sklearn_ada.guarantees.intervals.clopper_pearson import clopper_pearson
from sklearn_ada.guarantees.intervals.effective_size import class_mean_size
from sklearn_ada.guarantees.intervals.hoeffding import hoeffding, hoeffding_half_width
from sklearn_ada.guarantees.intervals.of_metrics.ratio_of_counts import ratio_half_width, ratio_interval
from sklearn_ada.guarantees.intervals.of_metrics.recall_and_balanced_accuracy import counts_are_narrower
from sklearn_ada.metrics.columns import Column, as_column, over_blocks
from sklearn_ada.metrics.constructions import BettingEnds, ClassCountEnds, Construction, Foreseen
from sklearn_ada.metrics.target import UndefinedMetricError, check_known, check_positive, check_two_labels

__all__ = ["AUC", "ClassMean", "IntervalRule", "Mean", "Measured", "Ratio", "clipped", "count_interval"]

Range = tuple[float, float]


@dataclass(frozen=True)
class Measured:
    """An empirical value and what an interval around it rests on.

    Attributes
    ----------
    value : float
    size : float
        Number of independent terms behind the value.
    deviation : float or None
        Standard deviation of one term as seen on these rows; None where the value alone bounds it.
    details : object
        What else these rows foresee of others, for an interval of all rows.
    """

    value: float
    size: float
    deviation: float | None = None
    details: Any = field(default=None, repr=False, compare=False)


class IntervalRule(ABC):
    """How a metric is measured and what its intervals rest on."""

    counts = False
    """Whether the value is a count over the size."""
    has_variance = False
    """Whether the value is a mean of scores whose variance is measured beside it."""
    size_is_released = False
    """Whether the size depends on the answer, so that it must be released and priced."""
    expected_size: float = math.nan
    """The size that a guess foresees where it is not known (see `foreseeing`)."""
    theorem: str
    has_noise = True
    """Whether a value with noise can be certified by privacy."""
    influence = 1.0
    """Sum over all records of how far one of them can move the value, as a share of its range."""

    family: str
    """Which questions one record moves in the same proportion (`guarantees.transfer.family_weights`)."""
    unit = RECORDS
    """By what a record may be replaced for `sensitivity` to hold."""
    clause = ""
    """What a target says beyond the metric's name."""
    of_all_rows = False
    """Whether the value alone bounds nothing, so that only the construction certifies."""
    needs_rows = False
    """Whether the construction must be tuned by what the rows of a guess foresee; a number does not do it."""
    at_class_mix = False
    """Whether the target is the population at the holdout's class proportions, whatever is paid for."""
    joins_labels_and_units = False
    """Whether the size tells how classes and weights (or groups) go together, beyond the class counts."""

    @abstractmethod
    def known_size(self, y: NDArray[Any]) -> float | None:
        """Return the size that the labels alone decide, or None if it depends on the predictions."""

    def foreseeing(self, value: float, share: float | None, y: NDArray[Any]) -> IntervalRule:
        """Return this rule tuned to a guess: its value, and its size as a share of the rows, if known."""
        return self

    def construction(self, known: Foreseen) -> Construction | None:
        """Return how all rows become an interval, tuned to a guess; None where the value is enough."""
        return None

    def sensitivity(self, y: NDArray[Any], width: float) -> float | None:
        """Return how far the value can move when one record (of the same class) is replaced, if bounded."""
        size = self.known_size(y)
        return None if size is None else width / size

    @abstractmethod
    def measure(
        self, y: NDArray[Any], outputs: NDArray[Any], classes: NDArray[Any] | None, bounds: Range
    ) -> Measured:
        """Return the value on some rows; `UndefinedMetricError` where there is none."""

    def beyond(
        self, y: NDArray[Any], outputs: NDArray[Any], classes: NDArray[Any] | None, bounds: Range
    ) -> NDArray[np.bool_]:
        """Return of which records the score is worse than bounds that were suggested allow."""
        return np.zeros(len(y), dtype=bool)

    def interval(self, known: Range, size: float, ln_delta: float, bounds: Range) -> Range:
        """Return the certified interval when the value is known to lie in ``known``."""
        return chernoff_kl(*clipped(known, bounds), size, ln_delta, bounds)

    def half_width_bound(self, half_cell: float, size: float, ln_delta: float, width: float) -> float:
        """Return a half-width that no interval of this kind exceeds."""
        return min(half_cell + hoeffding_half_width(size, ln_delta, width), width / 2.0)


@dataclass(frozen=True)
class Mean(IntervalRule):
    """The mean of one bounded score per record.

    Parameters
    ----------
    scores : callable
        Takes ``(y, outputs, classes)`` and returns an array (n,); clipped to the metric's range.
    zero_one : bool
        Whether every score is 0 or 1, so that the exact binomial tail applies.
    two_classes : bool
        Whether the score is defined for two classes only.
    positive : object or None
        The class that is meant, if one was named; the score is the same for either of two.
    at_class_mix : bool
        Whether a score depends on the class counts.
    """

    scores: Callable[[NDArray[Any], NDArray[Any], NDArray[Any] | None], NDArray[Any]]
    zero_one: bool = False
    two_classes: bool = False
    positive: Any = None
    at_class_mix: bool = False
    family = "mean"

    @property
    def counts(self) -> bool:  # type: ignore[override]
        """Whether the value is a count over the size."""
        return self.zero_one

    @property
    def has_variance(self) -> bool:  # type: ignore[override]
        """Whether the scores are other than 0 and 1, whose mean tells their variance."""
        return not self.zero_one

    @property
    def theorem(self) -> str:  # type: ignore[override]
        """Name of the fixed-question bound."""
        return "Clopper-Pearson" if self.zero_one else "Chernoff-KL (Hoeffding 1963)"

    def known_size(self, y: NDArray[Any]) -> float:
        """Return the number of records."""
        if self.two_classes:
            check_positive(y, self.positive)
        return len(y)

    def measure(
        self, y: NDArray[Any], outputs: NDArray[Any], classes: NDArray[Any] | None, bounds: Range
    ) -> Measured:
        """Return the mean of the clipped scores; of columns, block by block."""
        if isinstance(outputs, Column) or isinstance(y, Column):
            return self._measure_blocks(as_column(y), as_column(outputs), classes, bounds)
        scores = self.terms(y, outputs, classes, bounds)
        if self.zero_one:  # a count, so that the value is exactly count / n
            value = int(np.count_nonzero(scores)) / len(y)
            return Measured(value, len(y))
        return Measured(float(scores.mean()), len(y), float(scores.std()))

    def _measure_blocks(
        self, y: Column, outputs: Column, classes: NDArray[Any] | None, bounds: Range
    ) -> Measured:
        assert self.zero_one
        count = partial(_hits, self, classes=classes, bounds=bounds)
        return Measured(sum(over_blocks(count, y, outputs)) / len(y), len(y))

    def terms(
        self, y: NDArray[Any], outputs: NDArray[Any], classes: NDArray[Any] | None, bounds: Range
    ) -> NDArray[np.float64]:
        """Return the clipped score of every record."""
        said = self.scores(y, outputs, classes)
        scores = np.asarray(said)
        if np.ma.is_masked(said) or scores.shape != (len(y),) or scores.dtype.kind not in "biuf":
            raise UndefinedMetricError("a score per record is missing")
        if np.isnan(scores).any():
            raise UndefinedMetricError("a score per record is missing")
        return np.clip(scores.astype(np.float64), *bounds)

    def shares(self, y: NDArray[Any], weight: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what part of the mean each record is when records have these weights."""
        return weight / weight.sum()

    def beyond(
        self, y: NDArray[Any], outputs: NDArray[Any], classes: NDArray[Any] | None, bounds: Range
    ) -> NDArray[np.bool_]:
        """Return of which records the score is below the bounds."""
        return self.terms(y, outputs, classes, (-np.inf, np.inf)) < bounds[0]

    def construction(self, known: Foreseen) -> Construction | None:
        """Return bets, if the guess knows the deviation of one score."""
        if self.zero_one or known.deviation is None:
            return None
        return BettingEnds.of(
            self.terms, known, bounds=known.bounds, mean=known.value, deviation=known.deviation
        )

    def interval(self, known: Range, size: float, ln_delta: float, bounds: Range) -> Range:
        """Return Clopper-Pearson for counts, Chernoff-KL for other bounded scores."""
        if self.zero_one:
            return count_interval(clipped(known, bounds), int(size), ln_delta)
        return super().interval(known, size, ln_delta, bounds)


def _hits(
    rule: Mean, y: NDArray[Any], outputs: NDArray[Any], classes: NDArray[Any] | None, bounds: Range
) -> int:
    return int(np.count_nonzero(rule.terms(y, outputs, classes, bounds)))


class AUC(IntervalRule):
    """The area under the ROC curve of a binary classifier, ties counting one half."""

    theorem = "Bentkus for two-sample U-statistics (Bentkus 2004, Hoeffding 1963)"
    family, unit = "auc", SAME_CLASS
    influence = 2.0  # each class moves it all

    def known_size(self, y: NDArray[Any]) -> float:
        """Return the size of the smaller class."""
        counts = np.unique(y, return_counts=True)[1]
        if len(counts) != 2:
            raise UndefinedMetricError("the AUC needs two classes")
        return int(counts.min())

    def measure(
        self, y: NDArray[Any], outputs: NDArray[Any], classes: NDArray[Any] | None, bounds: Range
    ) -> Measured:
        """Return the AUC; its size is that of the smaller class."""
        if classes is None or len(classes) != 2 or outputs.ndim != 1:
            raise UndefinedMetricError("the AUC needs two classes and one score per record")
        check_known(y, classes, "a label")
        positive = np.asarray(y == classes[1])
        size = int(min(np.count_nonzero(positive), np.count_nonzero(~positive)))
        if size == 0:
            raise UndefinedMetricError("the AUC needs records of both classes")
        value = float(roc_auc_score(positive, outputs))
        return Measured(value, size)

    def interval(self, known: Range, size: float, ln_delta: float, bounds: Range) -> Range:
        """Return Bentkus's interval, which is never wider than Chernoff's."""
        return bentkus(*clipped(known, bounds), int(size), ln_delta, bounds)


@dataclass(frozen=True)
class ClassMean(IntervalRule):
    """The mean over classes of the share of each class that is predicted right.

    Parameters
    ----------
    positive : object or None
        Only this class (recall), of two; by default all classes of the rows (balanced accuracy).
    only_known : bool
        Whether there is no value if a class is predicted that has no rows. Scikit-learn's macro recall then
        counts one class more, whose recall is 0: a mean over classes that the labels do not fix. Its balanced
        accuracy does not.
    """

    positive: Any = None
    only_known: bool = False
    unit = SAME_CLASS

    @property
    def theorem(self) -> str:  # type: ignore[override]
        """Name of the fixed-question bound."""
        if self.positive is not None:
            return "Clopper-Pearson on the rows of the class"
        return "Hoeffding for independent class means (Hoeffding 1963)"

    @property
    def family(self) -> str:  # type: ignore[override]
        """That of all classes, or of one, whose recall only its own records move."""
        return "class mean" if self.positive is None else "recall"

    def known_size(self, y: NDArray[Any]) -> float:
        """Return the harmonic size of the class counts."""
        if self.positive is not None:
            check_positive(y, self.positive)
        counts = [int(np.count_nonzero(y == c)) for c in self._classes(y)]
        if self.positive is None and len(counts) < 2:
            raise UndefinedMetricError("a mean over classes needs two classes")
        return class_mean_size(tuple(counts))

    def sensitivity(self, y: NDArray[Any], width: float) -> float:
        """Return that of the smallest class."""
        counts = [int(np.count_nonzero(y == c)) for c in self._classes(y)]
        return width / (len(counts) * min(counts))

    def _check(self, y: NDArray[Any], outputs: NDArray[Any], classes: list[Any]) -> None:
        if self.positive is not None:
            check_two_labels(y, outputs, self.positive)
        elif self.only_known:
            check_known(outputs, np.asarray(classes), "a predicted label")

    def _classes(self, y: NDArray[Any]) -> list[Any]:
        return list(np.unique(y)) if self.positive is None else [self.positive]

    def measure(
        self, y: NDArray[Any], outputs: NDArray[Any], classes: NDArray[Any] | None, bounds: Range
    ) -> Measured:
        """Return the mean recall; its size is the harmonic one of the class counts."""
        classes_of_y = self._classes(y)
        self._check(y, outputs, classes_of_y)
        hits = [(outputs[y == c] == c) for c in classes_of_y]
        if not all(len(h) for h in hits):
            raise UndefinedMetricError("a class has no records")
        value = float(np.mean([h.mean() for h in hits]))
        size = class_mean_size(tuple(len(h) for h in hits))
        return Measured(value, size)

    def construction(self, known: Foreseen) -> Construction | None:
        """Return the counts of all classes, where the guess foresees a narrower interval from them."""
        if self.positive is not None:
            return None
        labels, counts = np.unique(known.y, return_counts=True)
        rows = tuple(int(count) for count in counts)
        if not counts_are_narrower([known.value] * len(rows), rows, known.ln_delta):
            return None
        return ClassCountEnds(tuple(labels.tolist()), rows)

    def terms(
        self, y: NDArray[Any], outputs: NDArray[Any], classes: NDArray[Any] | None, bounds: Range
    ) -> NDArray[np.float64]:
        """Return 1 for every record that is predicted right."""
        self._check(y, outputs, self._classes(y))
        return np.asarray(outputs == y, dtype=np.float64)

    def shares(self, y: NDArray[Any], weight: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what part of the mean each record is when records have these weights."""
        labels, parts = self._classes(y), np.zeros(len(y))
        for label in labels:
            total = weight[y == label].sum()
            if total == 0.0:
                raise UndefinedMetricError("all records of a class have weight 0")
            parts += np.where(y == label, weight / total, 0.0)
        return parts / len(labels)

    def interval(self, known: Range, size: float, ln_delta: float, bounds: Range) -> Range:
        """Return Hoeffding's interval, as a mean of unequal means is no binomial; of one class, it is."""
        if self.positive is not None:
            return count_interval(clipped(known, bounds), round(size), ln_delta)
        return hoeffding(*clipped(known, bounds), size, ln_delta, bounds)


@dataclass(frozen=True)
class Ratio(IntervalRule):
    """Precision, Jaccard index or F1 of one class: a ratio of two counts of records.

    J, the precision or the Jaccard index, is the true positives over the denominator N, and
    ``F1 = 2J / (1 + J)``. N depends on the predictions, so it is released (coarsely, rounded down) and
    priced; the interval does not condition on it
    (`sklearn_ada.guarantees.intervals.of_metrics.ratio_of_counts`).

    Parameters
    ----------
    positive : object
        The class.
    counts_misses : bool
        Whether N holds false negatives (Jaccard, F1) or not (precision).
    doubled : bool
        Whether the score is ``2J / (1 + J)``.
    expected_size, expected_share : float
        The N and J that the interval is tuned to.
    """

    positive: Any
    counts_misses: bool
    doubled: bool
    expected_size: float = 1.0
    expected_share: float = 0.5
    size_is_released = True
    has_noise = False  # one record can move it too far
    theorem = "Chernoff's bound for a ratio, with the exponent that the guess suggests"

    def known_size(self, y: NDArray[Any]) -> None:
        """Return None: the denominator depends on the predictions."""
        check_positive(y, self.positive)

    def foreseeing(self, value: float, share: float | None, y: NDArray[Any]) -> Ratio:
        """Return the rule tuned to a guess; the denominator of a bare number is the count of the class."""
        size = np.count_nonzero(y == self.positive) if share is None else share * len(y)
        return replace(self, expected_size=max(float(size), 1.0), expected_share=self._share(value))

    def measure(
        self, y: NDArray[Any], outputs: NDArray[Any], classes: NDArray[Any] | None, bounds: Range
    ) -> Measured:
        """Return the score; its size is the denominator."""
        check_two_labels(y, outputs, self.positive)
        true, said = y == self.positive, outputs == self.positive
        hits = int(np.count_nonzero(true & said))
        size = int(np.count_nonzero(true | said if self.counts_misses else said))
        if size == 0:
            raise UndefinedMetricError("the denominator is zero")
        share = hits / size
        return Measured(self._score(share), size)

    def interval(self, known: Range, size: float, ln_delta: float, bounds: Range) -> Range:
        """Return the interval of the share, carried over to the score."""
        low, high = (self._share(end) for end in clipped(known, bounds))
        share_low, share_high = ratio_interval(
            low, high, size, ln_delta, expected_share=self.expected_share, expected_size=self.expected_size
        )
        return self._score(share_low), self._score(share_high)

    def half_width_bound(self, half_cell: float, size: float, ln_delta: float, width: float) -> float:
        """Return a half-width not exceeded at this denominator (the score's slope is at most 2)."""
        slope = 2.0 if self.doubled else 1.0
        half_width = ratio_half_width(size, ln_delta, expected_size=self.expected_size)
        return min(half_cell + slope * half_width, 0.5)

    def _score(self, share: float) -> float:
        return 2.0 * share / (1.0 + share) if self.doubled else share

    def _share(self, score: float) -> float:
        return score / (2.0 - score) if self.doubled else score


def count_interval(known: Range, n: int, ln_delta: float) -> Range:
    """Return Clopper and Pearson's interval of a count over n that is known to be in a range.

    A cell that is narrower than a count, and between two, has no count: then the nearest ones outside.
    """
    slack = 1e-9  # of one count, against rounding
    low, high = math.ceil(known[0] * n - slack), math.floor(known[1] * n + slack)
    return clopper_pearson(min(low, max(high, 0)), max(high, min(low, n)), n, ln_delta)


def clipped(known: Range, bounds: Range) -> Range:
    """Return two ends, each clipped to a range."""
    low, high = (min(max(end, bounds[0]), bounds[1]) for end in known)
    return low, high
