"""Metrics that are a monotone function of one mean, whose interval is carried over.

The root of a mean square, and the Jaccard index over all labels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada.guarantees.intervals.chernoff import chernoff_kl
from sklearn_ada.guarantees.intervals.hoeffding import hoeffding_half_width
from sklearn_ada.metrics.rules.constructions import BettingEnds, Construction, Foreseen, Range
from sklearn_ada.metrics.rules.mean import Mean
from sklearn_ada.metrics.rules.rule import IntervalRule, Measured, clipped, count_interval

__all__ = ["MicroJaccard", "RootMean"]


class _OfAMean(IntervalRule):
    """A function of the mean of one score per record, too steep for noise that would still leave anything."""

    has_noise = False

    def known_size(self, y: NDArray[Any]) -> float:
        """Return the number of records."""
        return len(y)

    def sensitivity(self, y: NDArray[Any], width: float) -> None:
        """Return None: it is not answered with noise."""


@dataclass(frozen=True)
class RootMean(_OfAMean):
    """Minus the root of the mean of squared errors, each error clipped to plus or minus the range's end.

    Parameters
    ----------
    scores : callable
        Takes ``(y, outputs, classes)`` and returns minus the squared error of every record.
    """

    scores: Callable[[NDArray[Any], NDArray[Any], NDArray[Any] | None], NDArray[Any]]
    family = "root mean"
    theorem = "Chernoff-KL (Hoeffding 1963) for the squares"

    def measure(
        self, y: NDArray[Any], outputs: NDArray[Any], classes: NDArray[Any] | None, bounds: Range
    ) -> Measured:
        """Return minus the root; the deviation is that of the root, by its slope."""
        squares = -self._terms(y, outputs, classes, _squared(bounds))
        root = math.sqrt(float(squares.mean()))
        return Measured(-root, len(y), float(squares.std()) / (2.0 * root) if root > 0.0 else 0.0)

    def beyond(
        self, y: NDArray[Any], outputs: NDArray[Any], classes: NDArray[Any] | None, bounds: Range
    ) -> NDArray[np.bool_]:
        """Return of which records the error is beyond the bounds."""
        return Mean(self.scores).beyond(y, outputs, classes, _squared(bounds))

    def construction(self, known: Foreseen) -> Construction | None:
        """Return bets on the squares, if the guess knows their deviation."""
        if known.deviation is None:
            return None
        return BettingEnds.of(
            self._terms, known, bounds=_squared(known.bounds), mean=-(known.value**2),
            deviation=2.0 * abs(known.value) * known.deviation, root=True,
        )  # fmt: skip

    def interval(self, known: Range, size: float, ln_delta: float, bounds: Range) -> Range:
        """Return the root of Chernoff's interval for the mean of the squares."""
        low, high = clipped(known, bounds)
        ends = chernoff_kl(-(low**2), -(high**2), size, ln_delta, _squared(bounds))
        low, high = (-math.sqrt(max(-end, 0.0)) for end in ends)
        return low, high

    def half_width_bound(self, half_cell: float, size: float, ln_delta: float, width: float) -> float:
        """Return a half-width not exceeded: a root moves by no more than the root of what is under it."""
        return min(
            half_cell + math.sqrt(2.0 * hoeffding_half_width(size, ln_delta)) * width / 2.0, width / 2.0
        )

    def _terms(
        self, y: NDArray[Any], outputs: NDArray[Any], classes: NDArray[Any] | None, bounds: Range
    ) -> NDArray[np.float64]:
        return Mean(self.scores).terms(y, outputs, classes, bounds)


def _squared(bounds: Range) -> Range:
    """Return the range of minus the squared errors."""
    return -(bounds[0] ** 2), 0.0


class MicroJaccard(_OfAMean):
    """The Jaccard index over all labels, ``J = A / (2 - A)`` with the accuracy A: a row has one label.

    Of n rows nA are in both sets, and each of the others is in one of them twice: ``nA / (2n - nA)``.
    """

    family = "mean"
    theorem = "Clopper-Pearson for the accuracy"

    def measure(
        self, y: NDArray[Any], outputs: NDArray[Any], classes: NDArray[Any] | None, bounds: Range
    ) -> Measured:
        """Return the index."""
        return Measured(_index(int(np.count_nonzero(outputs == y)) / len(y)), len(y))

    def interval(self, known: Range, size: float, ln_delta: float, bounds: Range) -> Range:
        """Return the interval of the accuracy, carried over."""
        low, high = (2.0 * end / (1.0 + end) for end in clipped(known, bounds))
        low, high = count_interval((low, high), int(size), ln_delta)
        return _index(low), _index(high)

    def half_width_bound(self, half_cell: float, size: float, ln_delta: float, width: float) -> float:
        """Return a half-width not exceeded: the slope is at most 2."""
        return min(half_cell + 2.0 * hoeffding_half_width(size, ln_delta), width / 2.0)


def _index(accuracy: float) -> float:
    return accuracy / (2.0 - accuracy)
