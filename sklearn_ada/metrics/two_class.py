"""Intervals of metrics of two classes, by the binomial laws of their table.

They are exact at the holdout's class mix (`sklearn_ada.guarantees.two_class`), and narrower than any other
interval of these metrics here. No guess tunes them: it only foresees where they will lie.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import ndtri_exp

from sklearn_ada.guarantees.two_class import two_class_interval, two_class_value
from sklearn_ada.metrics.base import Array, Foreseen, Measure, Range, RowsInterval, around, clipped, moved

TWO_CLASSES = "two-class table"
"""What records call the construction."""
_THEOREM = "binomial laws of both classes, exactly, with a box for their rates (Berger, Boos 1994)"

Rates = tuple[float, float]


@dataclass(frozen=True)
class TwoClasses:
    """A metric of two classes, and which of them is positive.

    Parameters
    ----------
    metric : str
        One of `sklearn_ada.guarantees.two_class_interval`.
    positive : label
    """

    metric: str
    positive: Any

    def counts(self, y: Array, outputs: Array) -> tuple[int, int, int, int]:
        """Return true positives, positives, false positives and negatives."""
        is_positive, is_predicted = y == self.positive, outputs == self.positive
        hits = int(np.count_nonzero(is_positive & is_predicted))
        positives = int(np.count_nonzero(is_positive))
        return hits, positives, int(np.count_nonzero(is_predicted)) - hits, len(y) - positives

    def rows_interval(self, measure: Measure, foreseen: Foreseen) -> RowsInterval | None:
        """Return the interval of all rows; None where it does not hold, or a class has no row."""
        positives = int(np.count_nonzero(foreseen.y == self.positive))
        sizes = positives, len(foreseen.y) - positives
        if not foreseen.by_tables or min(sizes) == 0:
            return None
        share, limits = positives / len(foreseen.y), measure.limits
        rates = self._rates(foreseen, share)
        hits, errors = (round(rate * size) for rate, size in zip(rates, sizes, strict=True))

        def announced(ln_delta: float) -> Range:
            ends = two_class_interval(self.metric, hits, sizes[0], errors, sizes[1], ln_delta)
            return clipped(moved(ends, by), limits)

        def ends(y: Array, outputs: Array, _: Array | None, ln_delta: float, rng: Generator) -> Range:
            return clipped(two_class_interval(self.metric, *self.counts(y, outputs), ln_delta), limits)

        expected = two_class_value(self.metric, hits / sizes[0], errors / sizes[1], share)
        by = 0.0 if math.isnan(expected) else foreseen.value - expected
        below, above = announced(foreseen.ln_delta)
        value = min(max(foreseen.value, below), above)
        tuning, at = around(limits, foreseen.ln_delta, value, (below, above))
        error = (above - below) / -2.0 / float(ndtri_exp(foreseen.ln_delta - math.log(2.0)))
        deviation = error * math.sqrt(measure.size(foreseen.y))
        return RowsInterval(
            TWO_CLASSES,
            _THEOREM,
            tuning,
            at,
            ends,
            announced=announced,
            deviation=deviation,
            is_alone=True,
            recorded={"by": TWO_CLASSES},
        )

    def _rates(self, foreseen: Foreseen, share: float) -> Rates:
        """Return both rates as the rows of a guess have them; from a number, those of alike classes."""
        if foreseen.details is not None:
            hits, positives, errors, negatives = foreseen.details
            if min(positives, negatives) > 0:
                return (hits + 0.5) / (positives + 1.0), (errors + 0.5) / (negatives + 1.0)
        low, high = 0.0, 1.0  # of the recall, where as many are missed as are false
        for _ in range(30):
            recall = 0.5 * (low + high)
            error = min((1.0 - recall) * share / (1.0 - share), 1.0)
            is_less = two_class_value(self.metric, recall, error, share) < foreseen.value
            low, high = (recall, high) if is_less else (low, recall)
        return recall, error
