"""Certify metrics of rows that have weights, or that come in groups.

*Means.* Given the weights, the groups and the labels, a mean of scores is ``sum_i a_i X_i`` with given shares
``a_i`` that sum to one, and so is a mean of class means. The units (rows, or groups of them) are independent,
and unit u moves the sum by at most ``a_u``, the sum of its shares: Hoeffding's bound with ``1 / sum_u a_u^2``
terms (Kish's size) holds for the sum's expectation *at the holdout's weights and group sizes*. Where all
``a_u`` are equal, so does Chernoff's.

It does not hold for the population's ``E[w X] / E[w]``, from which the former strays when weights go with
scores. For that target the terms ``w (X - r)`` have mean 0 at the true r and a range of the bound b of the
weights, so that ``n (mean weight / b)^2`` terms are left, and the class mix may still be conditioned on. But
the weights may not, so their mean, which the width shows, must be released and priced.

Bets on the sums over a unit (`sklearn_ada.guarantees.units`) hold for either target, and are narrower where
the guess foresees that the scores vary less than they could. How rows of one group go together is not
foreseen: a tenth of their variance is taken to be common to them, by bets and by windows.

*Ratios.* F-beta, precision and the Jaccard index of one class are ratios of sums over rows: the target is
``sum E TP / sum E (TP + errors)`` at the holdout's weights, group sizes and labels. The same bets certify it;
its value alone does not, as the denominator depends on the predictions.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from sklearn_ada.accounting.filters import SAME_WEIGHT
from sklearn_ada.data.labels import Units
from sklearn_ada.guarantees.intervals import chernoff_kl, hoeffding, hoeffding_half_width
from sklearn_ada.guarantees.tilted import TiltedMean, tilted_by
from sklearn_ada.guarantees.units import foreseen_squares, unit_mean_foreseen, unit_mean_interval
from sklearn_ada.metrics.base import (
    SELDOM_IN,
    USUAL_IN,
    AllRows,
    Array,
    Foreseen,
    Measure,
    Measured,
    Range,
    RowsInterval,
    UndefinedMetricError,
    UnsuitableUnitsError,
    check_positive,
    check_two_labels,
    clipped,
)

Floats = NDArray[np.float64]
BETS_ON_UNITS = "bets on units"
"""What records call the construction."""
LEAST_UNITS = 8
"""Fewer prove next to nothing by bets that may lose no more than all."""


class SumOfTerms(Measure):
    """A measure that sums, over the rows, a row's share times its term.

    Labels and weights decide the shares, labels and predictions the terms.
    """

    @abstractmethod
    def shares(self, y: Array, weight: Floats) -> Floats:
        """Return the share of each row when rows have these weights."""

    @abstractmethod
    def terms(self, y: Array, outputs: Array, classes: Array | None) -> Floats:
        """Return the bounded term of every row."""


@dataclass(frozen=True)
class UnequalMean(Measure):
    """A mean, or a mean of class means, over the units of one holdout.

    Parameters
    ----------
    base : Mean or ClassMean
    units : Units
    joins_labels_and_units : bool
        Whether the shares of the rows depend on their classes.
    """

    base: SumOfTerms
    units: Units
    joins_labels_and_units: bool = False
    unit = SAME_WEIGHT

    @property
    def theorem(self) -> str:
        """Name of the fixed-question bound."""
        if self.units.bound is not None:
            return "Hoeffding for weights below a bound (Hoeffding 1963)"
        return "Hoeffding for independent terms of unequal weight (Hoeffding 1963)"

    @property
    def family(self) -> str:
        """That of the base: on these rows it is asked of no other."""
        return self.base.family

    def size(self, y: Array) -> float:
        """Return how many equal rows the holdout is worth."""
        self.base.size(y)  # raises where the labels do not allow the metric
        return self.units.size(self.base.shares(y, self.units.weight))

    def value(self, y: Array, outputs: Array, classes: Array | None) -> Measured:
        """Return the weighted value."""
        shares = self.base.shares(y, self.units.weight)
        return Measured(float(shares @ self.base.terms(y, outputs, classes)), self.units.size(shares))

    def interval(self, ends: Range, size: float, ln_delta: float) -> Range:
        """Return Chernoff's interval where all units count alike, else Hoeffding's."""
        low, high = clipped(ends, self.limits)
        is_equal = self.units.bound is None and size >= self.units.n_units * (1.0 - 1e-9)
        return (chernoff_kl if is_equal else hoeffding)(low, high, size, ln_delta, self.limits)

    def rows_interval(self, foreseen: Foreseen) -> RowsInterval | None:
        """Return bets on sums over a unit, if they are foreseen to be narrower."""
        return self.by_bets(foreseen, foreseen.value, foreseen.deviation)

    def by_bets(
        self, foreseen: Foreseen, value: float, deviation: float | None, *, root: bool = False
    ) -> RowsInterval | None:
        """Return the interval by bets on sums over a unit; None where it is not foreseen to be narrower.

        Parameters
        ----------
        foreseen : Foreseen
        value : float
            The mean, as the guess has it.
        deviation : float or None
            Of one score, as the guess has it; None for the largest, as of a 0/1 score.
        root : bool, default=False
            Whether the metric is ``-sqrt`` of the negated mean, as the RMSE.
        """
        (bottom, _), width = self.limits, self.width
        mean = min(max((value - bottom) / width, 0.0), 1.0)
        spread = math.sqrt(mean * (1.0 - mean)) if deviation is None else deviation / width

        def columns(y: Array, outputs: Array, classes: Array | None) -> tuple[Floats, Floats]:
            terms = np.clip((self.base.terms(y, outputs, classes) - bottom) / width, 0.0, 1.0)
            return terms, np.ones(len(terms))

        def ratio_of(value: float) -> float:
            return ((-(value**2) if root else value) - bottom) / width

        def metric_of(low: float, high: float) -> Range:
            ends = bottom + low * width, bottom + high * width
            return negated_roots(ends) if root else ends

        usual = self.interval((value, value), self.size(foreseen.y), foreseen.ln_delta)
        usual = negated_roots(usual) if root else usual
        made = bets_on_units(self.units, foreseen, self._scale, columns, ratio_of, metric_of, spread)
        if made is None:
            return None
        low, high = made.foreseen(foreseen.value, foreseen.ln_delta)
        return None if high - low >= usual[1] - usual[0] else made

    def _scale(self, y: Array) -> Floats:
        """Return the weight of every row, such that a unit has about 1 on average."""
        units = self.units
        if units.bound is None:
            return self.base.shares(y, units.weight) * units.n_units
        return np.asarray(units.weight / (units.bound * units.mean_share))

    def sensitivity(self, y: Array) -> float | None:
        """Return how far one unit replaced by another of its weight moves the value; None with a bound."""
        if self.units.bound is not None:
            return None
        return self.width * float(self.units.totals(self.base.shares(y, self.units.weight)).max())


@dataclass(frozen=True)
class UnequalRoot(Measure):
    """Minus the root of a mean of squared errors over the units of one holdout.

    Parameters
    ----------
    squares : UnequalMean
        The mean of minus the squared errors.
    """

    squares: UnequalMean
    family = "root mean"
    has_noise = False

    @property
    def theorem(self) -> str:
        """Name of the fixed-question bound."""
        return f"{self.squares.theorem}, for the squares"

    def size(self, y: Array) -> float:
        """Return how many equal rows the holdout is worth."""
        return self.squares.size(y)

    def value(self, y: Array, outputs: Array, classes: Array | None) -> Measured:
        """Return minus the root of the weighted mean."""
        measured = self.squares.value(y, outputs, classes)
        return Measured(-math.sqrt(max(-measured.value, 0.0)), measured.size)

    def interval(self, ends: Range, size: float, ln_delta: float) -> Range:
        """Return the root of the interval for the mean of the squares."""
        low, high = clipped(ends, self.limits)
        return negated_roots(self.squares.interval((-(low**2), -(high**2)), size, ln_delta))

    def half_width_bound(self, half_cell: float, size: float, ln_delta: float) -> float:
        """Return a half-width not exceeded: that of a root of a mean of equal rows."""
        return root_half_width(half_cell, size, ln_delta, self.width / 2.0)

    def rows_interval(self, foreseen: Foreseen) -> RowsInterval | None:
        """Return bets on the sums of squares over a unit, if the guess has their deviation."""
        if foreseen.deviation is None:
            return None
        deviation = 2.0 * abs(foreseen.value) * foreseen.deviation
        return self.squares.by_bets(foreseen, -(foreseen.value**2), deviation, root=True)


@dataclass(frozen=True, kw_only=True)
class UnequalRatio(AllRows):
    """F-beta, precision or the Jaccard index of one class over the units of one holdout.

    The ratio is that of TP to ``TP + a FN + b FP``, where the larger of a and b is 1.

    Parameters
    ----------
    units : Units
    missed, false : float
        The weights a and b.
    part : float
        By which these are too large: the metric is ``TP / (TP + part (a FN + b FP))``.
    """

    units: Units
    missed: float
    false: float
    part: float = 1.0
    theorem = "bets on sums over a unit with a drawn bound (Waudby-Smith, Ramdas 2024)"
    needs_rows = joins_labels_and_units = True

    def size(self, y: Array) -> float:
        """Return Kish's number of units."""
        check_positive(y, self.positive)
        check_enough(self.units)
        if not self.units.weight[y == self.positive].any():
            raise without_weight()
        return self.units.size(self.units.weight / self.units.weight.sum())

    def value(self, y: Array, outputs: Array, classes: Array | None) -> Measured:
        """Return the weighted value."""
        hits, below = (float(self.units.weight @ each) for each in self._columns(y, outputs, classes))
        if below == 0.0:
            raise UndefinedMetricError("the denominator is zero")
        return Measured(self._metric(hits / below), self.size(y))

    def rows_interval(self, foreseen: Foreseen) -> RowsInterval:
        """Return bets on sums over a unit, as the counts of a guess size them."""
        is_table = len(foreseen.details) == 2  # else it is the counts
        found = counts_of(foreseen.details, self.positive) if is_table else foreseen.details
        counts = [float(each) for each in found or (0.5, 1.0, 0.5, 1.0)]
        hits, positives, errors, negatives = counts
        rows, ratio = positives + negatives, self._ratio(foreseen.value)
        others = self.missed * (positives - hits) + self.false * errors
        squares = self.missed**2 * (positives - hits) + self.false**2 * errors
        density = max((hits + others) / rows, 1.0 / rows)
        spread = math.sqrt((hits * (1.0 - ratio) ** 2 + squares * ratio**2) / rows)
        made = bets_on_units(
            self.units, foreseen, self._scale, self._columns, self._ratio, self._of_ratios, spread, density
        )
        assert made is not None
        return replace(made, recorded={**made.recorded, "counts": counts})

    def _scale(self, y: Array) -> Floats:
        """Return the weight of every row, such that a unit has about 1 on average."""
        return self.units.weight / (self.units.weight.sum() / self.units.n_units)

    def _columns(self, y: Array, outputs: Array, classes: Array | None) -> tuple[Floats, Floats]:
        check_two_labels(y, outputs, self.positive)
        is_true, is_predicted = y == self.positive, outputs == self.positive
        hits = (is_true & is_predicted).astype(np.float64)
        return hits, hits + self.missed * (is_true & ~is_predicted) + self.false * (is_predicted & ~is_true)

    def _metric(self, ratio: float) -> float:
        return ratio / (ratio + self.part * (1.0 - ratio))

    def _ratio(self, value: float) -> float:
        return value * self.part / (1.0 - value * (1.0 - self.part))

    def _of_ratios(self, low: float, high: float) -> Range:
        return self._metric(low), self._metric(high)


Columns = Callable[[Array, Array, Array | None], tuple[Floats, Floats]]


def bets_on_units(
    units: Units,
    foreseen: Foreseen,
    scale_of: Callable[[Array], Floats],
    columns: Columns,
    ratio_of: Callable[[float], float],
    metric_of: Callable[[float, float], Range],
    spread: float,
    density: float = 1.0,
) -> RowsInterval | None:
    """Return the interval of a ratio of sums over rows by bets on the sums over a unit.

    None if there are too few units.

    Parameters
    ----------
    units : Units
    foreseen : Foreseen
    scale_of : callable
        Returns of the labels the weight of every row, such that a unit has about 1 on average.
    columns : callable
        Returns the numerator and the denominator of every row, with ``0 <= numerator <= denominator <= 1``.
    ratio_of, metric_of : callable
        The ratio at a value of the metric, and the ends of the metric at those of the ratio; rising.
    spread : float
        Deviation of the numerator less the ratio times the denominator, of one row.
    density : float, default=1.0
        The mean denominator of a row.
    """
    n, drawn = units.n_units, foreseen.drawn
    if n < LEAST_UNITS:
        return None

    def scaled(value: float) -> float:
        return min(max(ratio_of(value), 0.0), 1.0)

    mean, density = float(f"{scaled(foreseen.value):.6g}"), float(f"{density:.3g}")
    spread = float(f"{max(spread, 1e-3):.3g}")
    scale = scale_of(foreseen.y)
    if units.bound is None:
        most = float(units.totals(scale).max())
        apart = foreseen_squares(scale, units.totals(scale)) / n
    else:  # weights, which are drawn, tune nothing but by their mean, which is on record
        most, apart = 1.0 / units.mean_share, math.sqrt(1.0 / units.mean_share)
    most, variance = most / density, (spread / density) ** 2 * apart

    tilt, tuning = None, {"centre": mean, "spread": spread} | ({} if density == 1.0 else {"density": density})
    if foreseen.guess_rows is not None:
        tuning["guess_rows"] = foreseen.guess_rows
        tilt = TiltedMean(mean, foreseen.guess_rows * n / len(foreseen.y), n, variance)

    def at(value: float, ln_delta: float, tilt: TiltedMean | None = tilt) -> Range:
        tuned: dict[str, Any] = {"most": most, "expected_mean": mean, "expected_variance": variance}
        return metric_of(*unit_mean_foreseen(scaled(value), n, ln_delta, **tuned, drawn=drawn, tilt=tilt))

    def ends(y: Array, outputs: Array, classes: Array | None, ln_delta: float, rng: Generator) -> Range:
        return several(y, outputs, classes, (ln_delta,), rng, 0)[0]

    def several(
        y: Array, outputs: Array, classes: Array | None, ln_deltas: Sequence[float], rng: Generator, even: int
    ) -> list[Range]:
        scale, uniform = scale_of(y) / density, float(rng.random()) if drawn else None
        sums, below = (units.totals(scale * each) for each in columns(y, outputs, classes))
        about: dict[str, Any] = {"most": most * (1.0 + 1e-9), "expected_mean": mean, "uniform": uniform}
        return [
            metric_of(*unit_mean_interval(
                sums, below, each, **about, expected_variance=variance, tilt=None if i < even else tilt
            ))
            for i, each in enumerate(ln_deltas)
        ]  # fmt: skip

    error = math.sqrt(variance / n * (1.0 + len(foreseen.y) / foreseen.behind))
    low, high = metric_of(max(mean - error, 0.0), min(mean + error, 1.0))
    bound = " with a drawn bound" if drawn else ""
    theorem = f"bets on sums over a unit{bound} (Waudby-Smith, Ramdas 2024)"
    if tilt is not None:
        theorem += f", {tilted_by(foreseen.value, tuning['guess_rows'])} (Pratt 1961)"
    return RowsInterval(
        BETS_ON_UNITS, theorem, tuning, at, ends, drawn, lambda ln_delta: at(foreseen.value, ln_delta, None),
        several=several, error=(high - low) / 2.0, is_tilted=tilt is not None, recorded={"by": BETS_ON_UNITS},
        usual_in=USUAL_IN if tilt is None else SELDOM_IN,
    )  # fmt: skip


def check_enough(units: Units) -> None:
    """Raise UnsuitableUnitsError for too few units to bet on."""
    if units.n_units < LEAST_UNITS:
        kind, name = ("groups", "groups") if units.has_groups else ("rows", "X")
        fix = f"Hold out more {kind}, or ask for a mean, such as 'accuracy' or 'neg_mean_absolute_error'."
        reason = f"its interval needs {LEAST_UNITS} {kind} at least"
        raise UnsuitableUnitsError(reason, name, f"{units.n_units} {kind}", fix)


def without_weight() -> UnsuitableUnitsError:
    """Return the error for a class of which no row counts."""
    reason, got = "it needs rows of each class that count", "weights of 0 for all rows of a class"
    return UnsuitableUnitsError(reason, "sample_weight", got, "Give some of them a weight above 0.")


def negated_roots(ends: Range) -> Range:
    """Return the ends of minus the root of a mean, of those of minus the mean."""
    low, high = (-math.sqrt(max(-end, 0.0)) for end in ends)
    return low, high


def counts_of(details: Any, label: Any) -> tuple[float, ...] | None:
    """Return hits, rows, errors and other rows of a class, of labels and a table; None if it is not there."""
    if details is None or not np.any(details[0] == label):
        return None
    labels, table = details
    at = int(np.flatnonzero(labels == label)[0])
    hits, size = table[at, at], table[at].sum()
    return hits, size, table[:, at].sum() - hits, table.sum() - size


def root_half_width(half_cell: float, size: float, ln_delta: float, half: float) -> float:
    """Return a half-width not exceeded: a root moves by no more than the root of what is under it."""
    return min(half_cell + math.sqrt(2.0 * hoeffding_half_width(size, ln_delta)) * half, half)
