"""Metrics of one class that are a ratio of two counts, such as precision and F1."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada.guarantees.intervals.of_metrics.ratio_of_counts import ratio_half_width, ratio_interval
from sklearn_ada.metrics.rules.constructions import Range
from sklearn_ada.metrics.rules.defined import UndefinedMetricError, check_positive, check_two_labels
from sklearn_ada.metrics.rules.rule import IntervalRule, Measured, clipped

__all__ = ["Ratio"]


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
