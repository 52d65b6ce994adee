"""Intervals of metrics of two classes, by the binomial laws of their table.

They are exact at the holdout's class mix or at a declared one (`sklearn_ada.guarantees.two_class`), and for
rows of one law (`sklearn_ada.guarantees.unknown_share`), and narrower than any other interval of these
metrics here. At a class mix no guess tunes them: it only foresees where they will lie. For rows of one law it
says how much of the error is that of the share of positives.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import ndtri_exp

from sklearn_ada.guarantees.two_class import two_class_interval, two_class_value
from sklearn_ada.guarantees.unknown_share import population_table_interval
from sklearn_ada.metrics.base import Array, Foreseen, Measure, Range, RowsInterval, around, clipped, moved

TWO_CLASSES = "two-class table"
"""What records call the construction."""
_THEOREM = "binomial laws of both classes, exactly, with a box for their rates (Berger, Boos 1994)"
_OF_REST = f"{_THEOREM}, those of the rest unequal (Hoeffding 1956)"
_OF_RECALL = "Clopper-Pearson on the rows of the class"
_OF_ONE_LAW = "binomial laws, exactly, with a box for what is unknown (Berger, Boos 1994)"

_at_mix, _of_population = (
    lru_cache(maxsize=512)(each) for each in (two_class_interval, population_table_interval)
)
Rates = tuple[float, float]


@dataclass(frozen=True)
class TwoClasses:
    """A metric of two classes, and which of them is positive.

    Parameters
    ----------
    metric : str
        One of `sklearn_ada.guarantees.two_class_interval`.
    positive : label
    share : float or None, default=None
        Declared share of the positive class; None: that of the holdout, or of the population where the
        holdout's rows are of one law.
    beta : float, default=1.0
        Of F-beta.
    of : callable or None, default=None
        Returns what `counts` does, of ``(y, outputs, classes)``; None: `counts` itself.
    average : {None, "macro", "weighted"}, default=None
        How both classes are averaged, if they are.
    is_of_several : bool, default=False
        Whether the others are of several classes.
    """

    metric: str
    positive: Any
    share: float | None = None
    beta: float = 1.0
    of: Callable[[Array, Array, Array | None], tuple[int, int, int, int]] | None = None
    average: str | None = None
    is_of_several: bool = False

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
        is_one_law = foreseen.identical_rows and self.share is None
        share = self.share or (self._share_of_guess(foreseen) if is_one_law else positives / len(foreseen.y))
        rates, limits = self._rates(foreseen, share), measure.limits
        hits, errors = (round(rate * size) for rate, size in zip(rates, sizes, strict=True))
        if is_one_law:
            recall, error, share = (float(f"{min(max(each, 1e-4), 0.999):.3g}") for each in (*rates, share))
            interval_of = partial(_of_population, expected=(recall, error, share), beta=self.beta)
        else:
            interval_of = partial(
                _at_mix, share=self.share, beta=self.beta, average=self.average,
                one_law=not self.is_of_several,
            )  # fmt: skip

        def announced(ln_delta: float) -> Range:
            ends = interval_of(self.metric, hits, sizes[0], errors, sizes[1], ln_delta)
            return clipped(moved(ends, by), limits)

        def ends(y: Array, outputs: Array, classes: Array | None, ln_delta: float, rng: Generator) -> Range:
            counts = self.counts(y, outputs) if self.of is None else self.of(y, outputs, classes)
            return clipped(interval_of(self.metric, *counts, ln_delta), limits)

        expected = self._value(hits / sizes[0], errors / sizes[1], share)
        by = foreseen.value - expected if math.isfinite(expected) else 0.0
        below, above = announced(foreseen.ln_delta)
        value = min(max(foreseen.value, below), above)
        tuning, at = around(limits, foreseen.ln_delta, value, (below, above))
        error = (above - below) / -2.0 / float(ndtri_exp(foreseen.ln_delta - math.log(2.0)))
        deviation = error * math.sqrt(measure.size(foreseen.y))
        return RowsInterval(
            TWO_CLASSES,
            self._theorem(is_one_law),
            tuning,
            at,
            ends,
            announced=announced,
            deviation=deviation,
            is_alone=True,
            recorded={"by": TWO_CLASSES},
        )

    def _value(self, recall: float, false_rate: float, share: float) -> float:
        return two_class_value(self.metric, recall, false_rate, share, self.beta, self.average)

    def _theorem(self, is_one_law: bool) -> str:
        if self.metric == "recall":
            return _OF_RECALL
        return _OF_ONE_LAW if is_one_law else _OF_REST if self.is_of_several else _THEOREM

    def _share_of_guess(self, foreseen: Foreseen) -> float:
        """Return the share of positives as the rows of a guess have it; a half without them."""
        _, positives, _, negatives = foreseen.details or (0, 0, 0, 0)
        return (positives + 0.5) / (positives + negatives + 1.0)

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
            is_less = self._value(recall, error, share) < foreseen.value
            low, high = (recall, high) if is_less else (low, recall)
        return recall, error
