"""Intervals that are a function of all rows, not of the value alone.

A *construction* looks at every row of the holdout and gives the ends of an interval for a level that was
fixed beforehand. Which one a question uses, and how it is tuned, is fixed before the holdout is looked at,
from the guess and what is known of the labels (`Foreseen`). Its ends tell more of the rows than the value
does, so they are released on a lattice, outwards, and priced around those that `Construction.foreseen` gives
(`sklearn_ada.holdout.questions.of_rows`).

A metric has one if its rule gives one: `IntervalRule.construction`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada.guarantees.intervals.betting import (
    MOST_ROWS_ONE_BY_ONE,
    betting_fixed,
    betting_half_width,
    betting_predictable,
)
from sklearn_ada.guarantees.intervals.of_metrics.recall_and_balanced_accuracy import class_mean_interval

__all__ = ["BettingEnds", "ClassCountEnds", "Construction", "Foreseen"]

Array = NDArray[Any]
Range = tuple[float, float]

_POINTS = 400  # of the grid of predictable bets
_HALF_WIDTHS = 2.5  # by which the grid goes beyond what the guess foresees


@dataclass(frozen=True)
class Foreseen:
    """What is known of a question before the holdout is looked at.

    Attributes
    ----------
    value : float
        The guess, in the metric's units.
    deviation : float or None
        Standard deviation of one term, as the guess rows have it.
    error : float
        Standard error of the holdout's value minus the guess.
    bounds : tuple of float
        The metric's range.
    y : ndarray of shape (n,)
        The labels of the holdout. Only what the asker may know of them may be used: the class counts.
    identical_rows : bool
        Whether the rows are draws of one law; not where intervals are at the holdout's class mix.
    ln_delta : float
        The level that the question is expected to have.
    details : object
        What the rows of the guess foresee beyond that (`sklearn_ada.metrics.all_rows`).
    """

    value: float
    deviation: float | None
    error: float
    bounds: Range
    y: Array
    identical_rows: bool
    ln_delta: float
    details: Any = None


class Construction(ABC):
    """How the rows become the ends of an interval."""

    name: str
    """What records and certificates call it."""
    theorem: str

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Return all that tunes it, ready for JSON."""

    @abstractmethod
    def foreseen(self, value: float, ln_delta: float) -> Range:
        """Return about where the ends will be if this is the value; no guarantee rests on it."""

    @abstractmethod
    def ends(
        self, y: Array, outputs: Array, classes: Array | None, ln_delta: float, rng: np.random.Generator
    ) -> Range:
        """Return the ends, which miss the population value with probability at most delta.

        ``rng`` is seeded by the ledger's secret and the question: it may draw what the asker must not know,
        as the order of the rows.
        """


@dataclass(frozen=True)
class BettingEnds(Construction):
    """The mean of a bounded score by betting (`sklearn_ada.guarantees.intervals.betting`).

    Parameters
    ----------
    terms : callable
        Takes ``(y, outputs, classes, bounds)`` and returns the clipped score of every row.
    bounds : tuple of float
        Of a score.
    centre, reach : float
        The middle of the grid of predictable bets as a share of the range, and the standard error of the
        guess.
    variance : float
        Of one score, as a share of the squared range.
    n : int
        Number of rows.
    predictable : bool
        Bets row by row; else fixed bets.
    root : bool
        Whether the metric is ``-sqrt`` of the mean of the negated scores, as the RMSE.
    """

    terms: Callable[[Array, Array, Array | None, Range], NDArray[np.float64]]
    bounds: Range
    centre: float
    reach: float
    variance: float
    n: int
    predictable: bool
    root: bool = False

    @property
    def name(self) -> str:  # type: ignore[override]
        """What records and certificates call it."""
        return "predictable bets" if self.predictable else "fixed bets"

    @property
    def theorem(self) -> str:  # type: ignore[override]
        """Name of the bound."""
        how = "predictable bets with a drawn bound" if self.predictable else "fixed bets"
        return f"betting, {how} (Waudby-Smith, Ramdas 2024)"

    @classmethod
    def of(
        cls,
        terms: Callable[[Array, Array, Array | None, Range], NDArray[np.float64]],
        known: Foreseen,
        *,
        bounds: Range,
        mean: float,
        deviation: float,
        root: bool = False,
    ) -> BettingEnds:
        """Return the bets that suit a guess: mean and deviation of one score, in its own units."""
        low, high = bounds
        n, width = len(known.y), high - low
        variance = min(max((deviation / width) ** 2, 1e-6), 0.25)
        centre = min(max((mean - low) / width, 0.0), 1.0)
        error = math.sqrt(variance) * known.error
        predictable = known.identical_rows and n <= MOST_ROWS_ONE_BY_ONE
        return cls(
            terms, bounds, float(f"{centre:.6g}"), float(f"{error:.3g}"), float(f"{variance:.3g}"), n,
            predictable, root,
        )  # fmt: skip

    def describe(self) -> dict[str, Any]:
        """Return all that tunes it, ready for JSON."""
        return {
            "construction": self.name,
            "centre": self.centre,
            "reach": self.reach,
            "variance": self.variance,
        }

    def foreseen(self, value: float, ln_delta: float) -> Range:
        """Return about where the ends will be."""
        low, high = self.bounds
        mean = -(value**2) if self.root else value
        scaled = min(max((mean - low) / (high - low), 0.0), 1.0)
        half = betting_half_width(self.n, self.variance, ln_delta, predictable=self.predictable)
        return self._of_metric(max(scaled - half, 0.0), min(scaled + half, 1.0))

    def ends(
        self, y: Array, outputs: Array, classes: Array | None, ln_delta: float, rng: np.random.Generator
    ) -> Range:
        """Return the ends; row by row in an order, and to a bound, drawn from ``rng``."""
        low, high = self.bounds
        scaled = np.clip((self.terms(y, outputs, classes, self.bounds) - low) / (high - low), 0.0, 1.0)
        if not self.predictable:
            return self._of_metric(*betting_fixed(scaled, self.variance, ln_delta))
        half = betting_half_width(self.n, self.variance, ln_delta, predictable=True)
        reach = _HALF_WIDTHS * half + 6.0 * self.reach
        grid = np.linspace(self.centre - reach, self.centre + reach, _POINTS)
        grid = grid[(grid > 1e-9) & (grid < 1.0 - 1e-9)]
        drawn = scaled[rng.permutation(len(scaled))]
        return self._of_metric(
            *betting_predictable(drawn, self.variance, ln_delta, grid, uniform=rng.random())
        )

    def _of_metric(self, low: float, high: float) -> Range:
        """Return ends of a scaled mean in units of the metric."""
        bottom, top = self.bounds
        ends = bottom + low * (top - bottom), bottom + high * (top - bottom)
        if not self.root:
            return ends
        return -math.sqrt(max(-ends[0], 0.0)), -math.sqrt(max(-ends[1], 0.0))


@dataclass(frozen=True)
class ClassCountEnds(Construction):
    """The mean of the recalls of all classes by the count of each."""

    labels: tuple[Any, ...]
    rows: tuple[int, ...]
    name = "class counts"
    theorem = "Clopper-Pearson for each class (Bonferroni)"

    def describe(self) -> dict[str, Any]:
        """Return what it is; class counts, which may not be printed, tune it."""
        return {"construction": self.name}

    def foreseen(self, value: float, ln_delta: float) -> Range:
        """Return the ends if all classes had this recall."""
        recall = min(max(value, 0.0), 1.0)
        return class_mean_interval([round(recall * n) for n in self.rows], self.rows, ln_delta)

    def ends(
        self, y: Array, outputs: Array, classes: Array | None, ln_delta: float, rng: np.random.Generator
    ) -> Range:
        """Return the means of the ends of all classes."""
        hits = [int(np.count_nonzero((y == label) & (outputs == label))) for label in self.labels]
        return class_mean_interval(hits, self.rows, ln_delta)
