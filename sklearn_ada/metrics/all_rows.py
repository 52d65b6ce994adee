"""Metrics that only an interval of all rows certifies: their value alone bounds nothing.

Such a metric is certified, not checked, by the construction of its rule
(`sklearn_ada.metrics.constructions`). What the rows of a guess foresee, beyond the value, tunes it: a
confusion matrix, means of losses, or scores. Whatever they foresee, the interval holds; it is narrower if
they foresee well.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import (
    average_precision_score,
    confusion_matrix,
    f1_score,
    jaccard_score,
    matthews_corrcoef,
    precision_score,
)

from sklearn_ada.guarantees.intervals.of_metrics.average_precision import average_precision_interval
from sklearn_ada.guarantees.intervals.of_metrics.macro_average import average_ratio_interval
from sklearn_ada.guarantees.intervals.of_metrics.mcc import mcc_interval
from sklearn_ada.guarantees.intervals.of_metrics.r_squared import (
    ExpectedLosses,
    d2_pinball_interval,
    r_squared_interval,
)
from sklearn_ada.metrics.constructions import Construction, Foreseen, Range
from sklearn_ada.metrics.interval_rules import IntervalRule, Measured
from sklearn_ada.metrics.target import UndefinedMetricError, check_known

__all__ = ["AllRowsRule", "AveragePrecision", "ClassTable", "Explained"]

Array = NDArray[Any]
Table = NDArray[np.float64]

_ERROR_MARGIN, _TARGET_MARGIN = 1.25, 0.25  # beyond what the rows of the guess have


class AllRowsRule(IntervalRule):
    """A metric that has an interval of all rows only."""

    has_noise = False
    family = "all rows"
    at_class_mix = True
    """Whether the target is the population at the holdout's class proportions."""
    of_all_rows = True

    @property
    def bounds(self) -> Range:
        """The metric's range."""
        return 0.0, 1.0

    def known_size(self, y: Array) -> float:
        """Return the number of records."""
        return len(y)

    def sensitivity(self, y: Array, width: float) -> None:
        """Return None: there is no answer with noise."""

    def interval(self, known: Range, size: float, ln_delta: float, bounds: Range) -> Range:
        """Return the whole range, which is what the value alone certifies."""
        return bounds

    def half_width_bound(self, half_cell: float, size: float, ln_delta: float, width: float) -> float:
        """Return half of the range."""
        return width / 2.0

    @abstractmethod
    def construction(self, known: Foreseen) -> AllRowsEnds:
        """Return how all rows become an interval, tuned to a guess."""

    def tuned_by(self, y: Array, outputs: Array) -> AllRowsRule:
        """Return this rule with what rows that are not the holdout's say of its scale."""
        return self


@dataclass(frozen=True)
class AllRowsEnds(Construction):
    """An interval of all rows by one of the functions of `sklearn_ada.guarantees.intervals`.

    Parameters
    ----------
    name, theorem : str
    function : callable
        Takes ``(y, outputs, classes, ln_delta, rng)`` and returns the ends.
    below, above : float
        How far the ends are foreseen from the value at ``ln_planned``.
    ln_planned : float
        The level that the question is expected to have.
    bounds : tuple of float
        The metric's range.
    """

    name: str
    theorem: str
    function: Callable[[Array, Array, Array | None, float, np.random.Generator], Range]
    below: float
    above: float
    ln_planned: float
    bounds: Range

    def describe(self) -> dict[str, Any]:
        """Return what it is, and where its ends are foreseen."""
        return {"construction": self.name, "below": self.below, "above": self.above}

    def foreseen(self, value: float, ln_delta: float) -> Range:
        """Return about where the ends will be: a half-width grows as the root of the logarithm."""
        grown = math.sqrt((math.log(2.0) - ln_delta) / (math.log(2.0) - self.ln_planned))
        low, high = self.bounds
        return max(value - self.below * grown, low), min(value + self.above * grown, high)

    def ends(
        self, y: Array, outputs: Array, classes: Array | None, ln_delta: float, rng: np.random.Generator
    ) -> Range:
        """Return the ends, clipped to the range."""
        bottom, top = self.bounds
        low, high = (min(max(end, bottom), top) for end in self.function(y, outputs, classes, ln_delta, rng))
        return low, high

    @classmethod
    def around(
        cls,
        name: str,
        theorem: str,
        function: Callable[[Array, Array, Array | None, float, np.random.Generator], Range],
        known: Foreseen,
        value: float,
        ends: Range,
        scale: float = 1.0,
    ) -> AllRowsEnds:
        """Return the construction whose ends, at the value foreseen, are foreseen there."""
        width = known.bounds[1] - known.bounds[0]
        below, above = (
            float(f"{min(max(away * scale, 1e-4 * width), width):.3g}")
            for away in (value - ends[0], ends[1] - value)
        )
        return cls(name, theorem, function, below, above, known.ln_delta, known.bounds)


_AVERAGED = {"f_beta": f1_score, "jaccard": jaccard_score, "precision": precision_score}


@dataclass(frozen=True)
class ClassTable(AllRowsRule):
    """Matthews' correlation, or an average over classes, by the confusion matrix.

    Parameters
    ----------
    metric : {"f_beta", "jaccard", "precision", "mcc"}
    average : {"macro", "weighted", ""}, default=""
    """

    metric: str
    average: str = ""
    theorem = "fixed bets on the confusion matrix (Waudby-Smith, Ramdas 2024)"

    @property
    def bounds(self) -> Range:
        """The metric's range."""
        return (-1.0 if self.metric == "mcc" else 0.0), 1.0

    def known_size(self, y: Array) -> float:
        """Return the number of records, if they are of two classes at least."""
        if len(np.unique(y)) < 2:
            raise UndefinedMetricError("it compares two classes or more")
        return len(y)

    def measure(self, y: Array, outputs: Array, classes: Array | None, bounds: Range) -> Measured:
        """Return scikit-learn's value, if no class is predicted that has no rows."""
        labels = np.unique(y)
        check_known(outputs, labels, "a predicted label")
        if self.metric == "mcc":
            value = float(matthews_corrcoef(y, outputs))
        else:
            value = float(_AVERAGED[self.metric](y, outputs, average=self.average, zero_division=0))
        seen = _Matrix(tuple(labels.tolist()), confusion_matrix(y, outputs, labels=labels).astype(float))
        return Measured(value, len(y), details=seen)

    def construction(self, known: Foreseen) -> AllRowsEnds:
        """Return fixed bets on the entries of the confusion matrix, tuned to the one foreseen."""
        labels, sizes = np.unique(known.y, return_counts=True)
        expected = self._expected(known, labels, sizes)

        def function(
            y: Array, outputs: Array, classes: Array | None, ln_delta: float, rng: np.random.Generator
        ) -> Range:
            return self._ends(confusion_matrix(y, outputs, labels=labels), expected, ln_delta)

        at_mix = np.round(expected / expected.sum(axis=1, keepdims=True) * sizes[:, None])
        ends = self._ends(at_mix, expected, known.ln_delta)
        value = min(max(known.value, ends[0]), ends[1])
        return AllRowsEnds.around("confusion matrix", self.theorem, function, known, value, ends)

    def _ends(self, table: Table, expected: Table, ln_delta: float) -> Range:
        if self.metric == "mcc":
            return mcc_interval(table, ln_delta, expected=expected)
        return average_ratio_interval(self.metric, table, ln_delta, expected=expected, average=self.average)

    def _expected(self, known: Foreseen, labels: Array, sizes: NDArray[np.int64]) -> Table:
        """Return the confusion matrix foreseen; where no rows foresee it, of equally likely mistakes."""
        shares = sizes / sizes.sum()
        chance = float(shares @ shares) if self.metric == "mcc" else 0.0
        right = min(max(known.value + (1.0 - known.value) * chance, 0.01), 0.99)
        others = np.tile(shares, (len(labels), 1)) * (1.0 - np.eye(len(labels)))
        laws = right * np.eye(len(labels)) + (1.0 - right) * others / others.sum(axis=1, keepdims=True)
        table: Table = laws * sizes[:, None]
        seen = known.details
        if isinstance(seen, _Matrix):
            position = {label: number for number, label in enumerate(seen.labels)}
            common = [(i, position[label]) for i, label in enumerate(labels.tolist()) if label in position]
            rows, columns = np.array([i for i, _ in common]), np.array([j for _, j in common])
            if len(common) == len(labels):
                table = seen.table[np.ix_(columns, columns)] + laws  # as if one more row of each class
            elif len(common):
                table[np.ix_(rows, rows)] = seen.table[np.ix_(columns, columns)]
        return table


@dataclass(frozen=True)
class _Matrix:
    """A confusion matrix, and of which labels."""

    labels: tuple[Any, ...]
    table: Table


@dataclass(frozen=True)
class Explained(AllRowsRule):
    """The share of a loss that a model explains: R^2, or D^2 of the absolute loss.

    Parameters
    ----------
    quantile : float or None
        None for squared losses; 1/2 for absolute ones.
    target_range : tuple of float or None
        To which y and predictions are clipped; None as long as no rows have suggested it.
    most_error : float
        To which errors are clipped.
    """

    quantile: float | None = None
    target_range: Range | None = None
    most_error: float = math.inf
    theorem = "fixed bets on both losses (Waudby-Smith, Ramdas 2024)"
    at_class_mix = False
    needs_rows = True

    @property
    def bounds(self) -> Range:
        """The range of what is told."""
        return -1.0, 1.0

    @property
    def clause(self) -> str:  # type: ignore[override]
        """What the certificate says of the range."""
        if self.target_range is None:
            return ""
        low, high = self.target_range
        return (
            f" (-1 if below), y and predictions clipped to [{low:g}, {high:g}] and each error to "
            f"+-{self.most_error:g}"
        )

    def known_size(self, y: Array) -> float:
        """Return the number of records; UndefinedMetricError if there is nothing to explain."""
        if len(y) and np.min(y) == np.max(y):
            raise UndefinedMetricError("y is constant")
        return super().known_size(y)

    def tuned_by(self, y: Array, outputs: Array) -> Explained:
        """Return the rule with the range of y on some rows, a quarter wider, and that of errors."""
        low, high = float(np.min(y)), float(np.max(y))
        more = _TARGET_MARGIN * (high - low) or 1.0
        step = float(f"{(high - low + 2.0 * more) / 1000.0:.0e}")  # of the width: y may be far from 0
        least = float(f"{math.floor((low - more) / step) * step:.12g}")
        most = float(f"{math.ceil((high + more) / step) * step:.12g}")
        errors = np.abs(np.asarray(y, dtype=float) - np.clip(outputs, least, most))
        largest = float(f"{_ERROR_MARGIN * float(errors.max()) or most - least:.2g}")
        return replace(self, target_range=(least, most), most_error=largest)

    def measure(self, y: Array, outputs: Array, classes: Array | None, bounds: Range) -> Measured:
        """Return the value with everything clipped, and what these rows foresee of other ones."""
        clip = self._clip
        seen = ExpectedLosses.of_rows(y, outputs, quantile=self.quantile, **clip)
        if seen.baseline <= 0.0:
            raise UndefinedMetricError("y is constant")
        unexplained = seen.loss / seen.baseline
        mixed = (
            seen.loss_variance + unexplained**2 * seen.baseline_variance - 2.0 * unexplained * seen.covariance
        )
        deviation = math.sqrt(max(mixed, 0.0)) / seen.baseline
        value = min(max(1.0 - unexplained, bounds[0]), bounds[1])
        return Measured(value, len(y), deviation, details=seen)

    def construction(self, known: Foreseen) -> AllRowsEnds:
        """Return fixed bets on both losses, tuned to the means and variances foreseen."""
        expected: ExpectedLosses = known.details
        clip, deviation = self._clip, known.deviation or 0.1

        def function(
            y: Array, outputs: Array, classes: Array | None, ln_delta: float, rng: np.random.Generator
        ) -> Range:
            if self.quantile is None:
                return r_squared_interval(y, outputs, ln_delta, expected=expected, **clip)
            return d2_pinball_interval(
                y, outputs, ln_delta, quantile=self.quantile, expected=expected, **clip
            )

        reach = 1.5 * deviation * math.sqrt(2.0 * (math.log(2.0) - known.ln_delta) / len(known.y))
        ends = known.value - reach, known.value + reach
        return AllRowsEnds.around("explained loss", self.theorem, function, known, known.value, ends)

    def beyond(self, y: Array, outputs: Array, classes: Array | None, bounds: Range) -> NDArray[np.bool_]:
        """Return of which records the error is larger than it may be."""
        said = np.clip(np.asarray(outputs, dtype=float), *self._clip["target_range"])
        away: Array = np.abs(np.asarray(y, dtype=float) - said)
        return np.asarray(away > self.most_error)

    @property
    def _clip(self) -> dict[str, Any]:
        if self.target_range is None:
            raise UndefinedMetricError("it needs the range of y, which the rows of a guess suggest")
        return {"target_range": self.target_range, "most_error": self.most_error}


@dataclass(frozen=True)
class AveragePrecision(AllRowsRule):
    """Average precision of one class, from bands of two rates.

    Parameters
    ----------
    positive : object
        The class.
    """

    positive: Any = 1
    theorem = "Clopper-Pearson for bands of two rates"
    needs_rows = True
    clause = ", ties broken at random"

    def known_size(self, y: Array) -> float:
        """Return the number of records of the class."""
        count = int(np.count_nonzero(y == self.positive))
        if not 0 < count < len(y) or len(np.unique(y)) != 2:
            raise UndefinedMetricError("it needs records of two classes, one of them the positive one")
        return count

    def measure(self, y: Array, outputs: Array, classes: Array | None, bounds: Range) -> Measured:
        """Return scikit-learn's value."""
        is_positive = np.asarray(y == self.positive)
        size = self.known_size(y)
        value = float(average_precision_score(is_positive, outputs))
        return Measured(value, size, details=(np.asarray(outputs, dtype=float), is_positive))

    def construction(self, known: Foreseen) -> AllRowsEnds:
        """Return bands at thresholds that the rows of the guess suggest."""
        scores, is_positive = known.details
        foreseen = {"expected_scores": scores, "expected_positive": is_positive}

        def function(
            y: Array, outputs: Array, classes: Array | None, ln_delta: float, rng: np.random.Generator
        ) -> Range:
            seed = int(rng.integers(2**32))
            return average_precision_interval(outputs, y == self.positive, ln_delta, seed=seed, **foreseen)

        ends = average_precision_interval(scores, is_positive, known.ln_delta, seed=0, **foreseen)
        scale = math.sqrt(np.count_nonzero(is_positive) / np.count_nonzero(known.y == self.positive))
        return AllRowsEnds.around("bands", self.theorem, function, known, known.value, ends, scale)
