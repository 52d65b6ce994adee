"""Metrics of the population at declared shares of its classes, whatever those of the holdout are.

Rows of a class are draws of the population's rows of that class, so how a model does on each class is that
of any population that has the same classes in other shares. A metric at declared shares is made of the
estimates for each class. Its value is the plug-in estimate: that of rows weighted by a class's share over its
number of rows. No shares of the holdout are left in it, and none of the rows of a guess.

A mean is the mean of class means at these shares. Of a score that is 0 or 1 and two classes it is the
accuracy of a table (`sklearn_ada.guarantees.two_class`), like F1, precision and Matthews' correlation. Else
bets that the value is above r win ``w (x - r)`` on a row with the score x and the weight w: these have the
mean 0 over all rows, not in each class. So bets are fixed beforehand (`sklearn_ada.guarantees.bets`); those
that follow earlier rows would be wrong, as the rows of one class may come first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator

from sklearn_ada.data.class_mix import ClassMix
from sklearn_ada.guarantees import bets
from sklearn_ada.guarantees.intervals import hoeffding, ln_side
from sklearn_ada.guarantees.two_class import two_class_value
from sklearn_ada.metrics.base import (
    AllRows,
    Array,
    Foreseen,
    Measure,
    Measured,
    Range,
    RowsInterval,
    UndefinedMetricError,
    around,
    check_positive,
    check_two_labels,
    clipped,
)
from sklearn_ada.metrics.two_class import TwoClasses


def _rows(mix: ClassMix, y: Array) -> list[Array]:
    """Return which rows are of each class; `UndefinedMetricError` if a class has none, or has no share."""
    masks = mix.rows(y)
    if not all(mask.any() for mask in masks):
        raise UndefinedMetricError("a class of the declared class mix has no rows")
    if sum(int(np.count_nonzero(mask)) for mask in masks) < len(y):
        raise UndefinedMetricError("a label has no share in the declared class mix")
    return masks


def _weights(mix: ClassMix, y: Array) -> Array:
    """Return the weight of each row, of mean 1."""
    weight = np.empty(len(y))
    for mask, (_, share) in zip(_rows(mix, y), mix.shares, strict=True):
        weight[mask] = share * len(y) / np.count_nonzero(mask)
    return weight


@dataclass(frozen=True, kw_only=True)
class AtMix(Measure):
    """A metric at a declared class mix.

    Parameters
    ----------
    mix : ClassMix
    """

    mix: ClassMix
    has_noise = False

    @property
    def clause(self) -> str:
        """What a target says beyond the metric's name."""
        return f" at the declared class mix {self.mix}"


@dataclass(frozen=True, kw_only=True)
class TableAtMix(AtMix, AllRows):
    """A metric of two classes, by their table.

    Parameters
    ----------
    table : str
        What `sklearn_ada.guarantees.two_class_interval` calls it.
    beta : float
        Of F-beta.
    average : {None, "macro", "weighted"}
        How both classes are averaged, if they are.
    """

    table: str
    beta: float = 1.0
    average: str | None = None
    theorem = "binomial laws of both classes, exactly, with a box for their rates (Berger, Boos 1994)"

    def size(self, y: Array) -> float:
        """Return the number of rows, if they are of both classes."""
        check_positive(y, self.positive)
        _rows(self.mix, y)
        return len(y)

    def value(self, y: Array, outputs: Array, classes: Array | None) -> Measured:
        """Return the metric at the rates of both classes and the declared share."""
        check_two_labels(y, outputs, self._positive)
        _rows(self.mix, y)
        hits, positives, errors, negatives = counts = self._classes.counts(y, outputs)
        value = two_class_value(
            self.table, hits / positives, errors / negatives, self.mix.share_of(self._positive), self.beta,
            self.average,
        )  # fmt: skip
        if math.isnan(value):
            raise UndefinedMetricError("the denominator is zero")
        return Measured(value, len(y), details=counts)

    def rows_interval(self, foreseen: Foreseen) -> RowsInterval:
        """Return the interval from the table."""
        made = self._classes.rows_interval(self, replace(foreseen, by_tables=True))
        assert made is not None  # as both classes have rows
        return made

    @property
    def _positive(self) -> Any:
        return self.mix.shares[-1][0] if self.positive is None else self.positive

    @property
    def _classes(self) -> TwoClasses:
        share = self.mix.share_of(self._positive)
        return TwoClasses(self.table, self._positive, share=share, beta=self.beta, average=self.average)


def table_at_mix(
    base: Measure, mix: ClassMix, table: str, beta: float = 1.0, average: str | None = None
) -> Measure | None:
    """Return a metric of two classes at declared shares; None for more classes."""
    if len(mix.shares) > 2:
        return None
    kept = {name: getattr(base, name) for name in ("response", "bounds", "positive", "scorer_of")}
    kept["needs_every_class"] = base.needs_every_class
    return TableAtMix(mix=mix, table=table, beta=beta, average=average, **kept)


@dataclass(frozen=True, kw_only=True)
class MeanAtMix(AtMix):
    """The mean of class means at the declared shares.

    Parameters
    ----------
    base : Measure
        A mean of one bounded score per row (`sklearn_ada.metrics.means.Mean`).
    """

    base: Any
    kind = "mean at a class mix"
    family = "mean at a class mix"
    theorem = "Hoeffding for independent terms of unequal weight (Hoeffding 1963)"

    def size(self, y: Array) -> float:
        """Return how many equal rows the holdout is worth."""
        self.base.size(y)
        counts = [np.count_nonzero(mask) for mask in _rows(self.mix, y)]
        return 1.0 / math.fsum(s * s / n for (_, s), n in zip(self.mix.shares, counts, strict=True))

    def value(self, y: Array, outputs: Array, classes: Array | None) -> Measured:
        """Return the mean; the details are count, mean and variance of each class."""
        size, terms = self.size(y), self._terms(y, outputs, classes)
        details = tuple(
            (int(np.count_nonzero(mask)), float(terms[mask].mean()), float(terms[mask].var()))
            for mask in _rows(self.mix, y)
        )
        value = math.fsum(s * mean for (_, s), (_, mean, _) in zip(self.mix.shares, details, strict=True))
        spread = sum(s * s * var / n for (_, s), (n, _, var) in zip(self.mix.shares, details, strict=True))
        low, high = self.bounds or (-math.inf, math.inf)
        return Measured(min(max(value, low), high), size, math.sqrt(spread * size), details)

    def interval(self, ends: Range, size: float, ln_delta: float) -> Range:
        """Return Hoeffding's interval at this size."""
        return hoeffding(*clipped(ends, self.limits), size, ln_delta, self.limits)

    def rows_interval(self, foreseen: Foreseen) -> RowsInterval | None:
        """Return that of a table of two classes, or fixed bets; None if no rows foresee scores."""
        y, details = foreseen.y, foreseen.details
        if self.base.counts and len(self.mix.shares) == 2:
            return self._by_table(foreseen)
        if self.base.counts and details is None:
            share = min(max(foreseen.value, 0.0), 1.0)
            details = ((0, share, share * (1.0 - share)),) * len(self.mix.shares)
        if details is None:
            return None
        (bottom, _), width, n = self.limits, self.width, len(y)
        weights = [share * n / np.count_nonzero(mask) for mask, (_, share) in self._by_class(y)]
        largest, least = max(weights), 1.0 / n
        corners = [*(0.0 for _ in weights), *weights], [*weights, *weights]
        variance = math.fsum(
            share * weight * (max(var, least * width**2) + (mean - foreseen.value) ** 2)
            for (_, share), weight, (_, mean, var) in zip(self.mix.shares, weights, details, strict=True)
        )
        variance = float(f"{variance / width**2:.3g}")  # of w (x - r), x in [0, 1]
        centre = float(f"{min(max((foreseen.value - bottom) / width, 0.0), 1.0):.6g}")

        def low_end(x: Array, weight: Array, centre: float, ln_level: float) -> float:
            reach = math.sqrt(-2.0 * variance * ln_level / n) - 2.0 * ln_level * largest / n
            sizes = bets.bet_sizes(n, ln_level, variance, largest * min(centre + reach, 1.0))
            return bets.lowest_ratio(weight * x, weight, ln_level, sizes, corners, (0.0, 1.0))

        def ends(y: Array, outputs: Array, classes: Array | None, ln_delta: float, rng: Generator) -> Range:
            x, weight = (self._terms(y, outputs, classes) - bottom) / width, _weights(self.mix, y)
            low = low_end(x, weight, centre, ln_side(ln_delta))
            high = 1.0 - low_end(1.0 - x, weight, 1.0 - centre, ln_side(ln_delta))
            return clipped((bottom + width * low, bottom + width * high), self.limits)

        scaled = min(variance / largest**2, 0.25)
        half = bets.betting_half_width(n, max(scaled, 1e-9), foreseen.ln_delta) * largest * width
        value = min(max(foreseen.value, self.limits[0]), self.limits[1])
        at_value = clipped((value - half, value + half), self.limits)
        tuning, at = around(self.limits, foreseen.ln_delta, value, at_value)
        theorem = "betting, fixed bets on weighted rows (Waudby-Smith, Ramdas 2024)"
        tuning |= {"centre": centre, "variance": variance}
        return RowsInterval("fixed bets", theorem, tuning, at, ends, usual_in=50.0)

    def _by_table(self, foreseen: Foreseen) -> RowsInterval | None:
        """Return the interval of a score of 0 or 1 and two classes."""
        (_, (label, share)), details = self.mix.shares, foreseen.details
        if details is not None:
            (others, specificity, _), (rows, recall, _) = details
            details = recall * rows, rows, (1.0 - specificity) * others, others

        def counts(y: Array, outputs: Array, classes: Array | None) -> tuple[int, int, int, int]:
            right, is_positive = self._terms(y, outputs, classes) == 1.0, np.asarray(y == label)
            return TwoClasses("accuracy", True).counts(is_positive, right == is_positive)

        by_tables = replace(foreseen, details=details, by_tables=True)
        return TwoClasses("accuracy", label, share=share, of=counts).rows_interval(self, by_tables)

    @property
    def has_differences(self) -> bool:  # type: ignore[override]
        """Whether the difference of two models has an interval, too."""
        return bool(self.base.has_differences)

    @property
    def clipping(self) -> str:
        """What a certificate says of a declared range, which is that of the mean."""
        return str(self._base.clipping)

    def paired(self) -> MeanAtMix:
        """Return the difference of two models."""
        return replace(self, base=self._base.paired(), bounds=(-self.width, self.width))

    def tuning(self, details: Any) -> dict[str, Any]:
        """Return count, mean and variance of each class."""
        return {} if details is None else {"classes": [[*each] for each in details]}

    def with_tuning(self, tuning: dict[str, Any]) -> tuple[Measure, Any]:
        """Return this, and what the rows of the guess foresaw."""
        return self, tuple(map(tuple, tuning["classes"])) if "classes" in tuning else None

    def tuned(self, y: Array, outputs: Array, classes: Array | None) -> Measure:
        """Return it with the range that scores of these rows suggest."""
        return replace(self, bounds=self.base.tuned(y, outputs, classes).bounds)

    def beyond(self, y: Array, outputs: Array, classes: Array | None) -> Any:
        """Return which rows have a score below the bounds."""
        return self._base.beyond(y, outputs, classes)

    @property
    def _base(self) -> Any:
        return replace(self.base, bounds=self.bounds or (-math.inf, math.inf))

    def _terms(self, y: Array, outputs: Array, classes: Array | None) -> Array:
        return np.asarray(self._base.terms(y, outputs, classes))

    def _by_class(self, y: Array) -> Any:
        return zip(_rows(self.mix, y), self.mix.shares, strict=True)
