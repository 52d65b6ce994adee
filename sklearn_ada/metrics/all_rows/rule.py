"""What metrics have in common that only an interval of all rows certifies: their value bounds nothing.

Such a metric is certified, not checked, by the construction of its rule
(`sklearn_ada.metrics.rules.constructions`). What the rows of a guess foresee, beyond the value, tunes it: a
confusion matrix, means of losses, or scores. Whatever they foresee, the interval holds; it is narrower if
they foresee well.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada.metrics.rules.constructions import Construction, Foreseen, Range
from sklearn_ada.metrics.rules.rule import IntervalRule

__all__ = ["AllRowsEnds", "AllRowsRule"]

Array = NDArray[Any]


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
