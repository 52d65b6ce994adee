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
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import ndtri_exp

from sklearn_ada.guarantees.two_class import two_class_interval, two_class_value
from sklearn_ada.guarantees.unknown_share import population_table_interval
from sklearn_ada.metrics.base import Array, Foreseen, Measure, Range, RowsInterval, around, clipped, moved
from sklearn_ada.metrics.counted import Counted, CountedTable, Counts, foreseen_count

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
class TwoClassTable(CountedTable):
    """How many rows of either class are predicted positive, in a holdout with so many of them.

    Parameters
    ----------
    metric : str
        One of `sklearn_ada.guarantees.two_class_interval`.
    sizes : tuple of int
        Positive and negative rows.
    share, beta, average, one_law
        As for `sklearn_ada.guarantees.two_class_interval`.
    expected_rates : tuple of float or None, default=None
        As ``expected`` of `sklearn_ada.guarantees.population_table_interval`; None if only the rows of each
        class are of one law.
    """

    metric: str
    sizes: tuple[int, int]
    share: float | None = None
    beta: float = 1.0
    average: str | None = None
    one_law: bool = True
    expected_rates: tuple[float, float, float] | None = None
    kind = TWO_CLASSES

    def most(self, before: Counts) -> int:
        """Return how many rows the class has."""
        return self.sizes[len(before)]

    def value(self, counts: Counts) -> float:
        """Return the metric of these rows."""
        hits, errors = (count / size for count, size in zip(counts, self.sizes, strict=True))
        share = self.share or self.sizes[0] / sum(self.sizes)
        return two_class_value(self.metric, hits, errors, share, self.beta, self.average)

    def interval(self, counts: Counts, ln_delta: float) -> Range:
        """Return the exact interval."""
        (hits, errors), (positives, negatives) = counts, self.sizes
        about = self.metric, hits, positives, errors, negatives, ln_delta
        if self.expected_rates is not None:
            return _of_population(*about, expected=self.expected_rates, beta=self.beta)
        return _at_mix(*about, share=self.share, beta=self.beta, average=self.average, one_law=self.one_law)


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
        of_holdout = share if is_one_law else positives / len(foreseen.y)
        rates, limits = self._rates(foreseen, share, of_holdout), measure.limits
        table = self._table(foreseen, sizes, (*rates, share), is_one_law)
        likely = tuple(round(rate * size) for rate, size in zip(rates, sizes, strict=True))

        def announced(ln_delta: float) -> Range:
            return clipped(moved(table.interval(likely, ln_delta), by), limits)

        def count(y: Array, outputs: Array, classes: Array | None) -> Counts:
            counted = self.counts(y, outputs) if self.of is None else self.of(y, outputs, classes)
            return counted[0], counted[2]

        def ends(y: Array, outputs: Array, classes: Array | None, ln_delta: float, rng: Generator) -> Range:
            return clipped(table.interval(count(y, outputs, classes), ln_delta), limits)

        expected = self._value(likely[0] / sizes[0], likely[1] / sizes[1], share)
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
            counted=Counted(table, count),
        )

    def _table(
        self, foreseen: Foreseen, sizes: tuple[int, int], expected: tuple[float, ...], is_one_law: bool
    ) -> TwoClassTable:
        """Return the table, with the code that the guess fixes for its counts."""
        behind, vaguely = self._rows_behind(foreseen), False
        if behind is None:
            behind, vaguely = sizes, True
        about = zip(expected, sizes, behind, strict=False)
        codes = [foreseen_count(rate, size, rows, vaguely=vaguely) for rate, size, rows in about]
        counts, errors = zip(*codes, strict=True)
        if not is_one_law:
            more = self.share, self.beta, self.average, not self.is_of_several
            return TwoClassTable(counts, errors, self.metric, sizes, *more)
        recall, error, share = (float(f"{min(max(each, 1e-4), 0.999):.3g}") for each in expected)
        rates = recall, error, share
        return TwoClassTable(counts, errors, self.metric, sizes, beta=self.beta, expected_rates=rates)

    def _rows_behind(self, foreseen: Foreseen) -> tuple[int, int] | None:
        """Return how many rows of each class a guess has; None if it is a number, or a class has none."""
        if foreseen.details is None:
            return None
        _, positives, _, negatives = foreseen.details
        return (positives, negatives) if min(positives, negatives) > 0 else None

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

    def _rates(self, foreseen: Foreseen, share: float, of_holdout: float) -> Rates:
        """Return both rates as the rows of a guess have them.

        From a number, those of a model that errs on as many rows of either class of the holdout.
        """
        if self._rows_behind(foreseen) is not None:
            hits, positives, errors, negatives = foreseen.details
            return (hits + 0.5) / (positives + 1.0), (errors + 0.5) / (negatives + 1.0)
        low, high = 0.0, 1.0  # of the recall
        for _ in range(30):
            recall = 0.5 * (low + high)
            error = min((1.0 - recall) * of_holdout / (1.0 - of_holdout), 1.0)
            is_less = self._value(recall, error, share) < foreseen.value
            low, high = (recall, high) if is_less else (low, recall)
        return recall, error
