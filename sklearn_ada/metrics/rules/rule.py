"""How the value of a metric becomes an interval: what every kind of metric knows.

A kind knows three things: the value and the number of independent terms behind it, the interval around what
is known of the value, and a half-width that no such interval exceeds (for admission, before the answer
exists).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada.accounting.zcdp_filter import RECORDS
from sklearn_ada.guarantees.intervals.chernoff import chernoff_kl
from sklearn_ada.guarantees.intervals.clopper_pearson import clopper_pearson
from sklearn_ada.guarantees.intervals.hoeffding import hoeffding_half_width
from sklearn_ada.metrics.rules.constructions import Construction, Foreseen, Range

__all__ = ["IntervalRule", "Measured", "clipped", "count_interval"]


@dataclass(frozen=True)
class Measured:
    """An empirical value and what an interval around it rests on.

    Attributes
    ----------
    value : float
    size : float
        Number of independent terms behind the value.
    deviation : float or None
        Standard deviation of one term as seen on these rows; None where the value alone bounds it.
    details : object
        What else these rows foresee of others, for an interval of all rows.
    """

    value: float
    size: float
    deviation: float | None = None
    details: Any = field(default=None, repr=False, compare=False)


class IntervalRule(ABC):
    """How a metric is measured and what its intervals rest on."""

    counts = False
    """Whether the value is a count over the size."""
    has_variance = False
    """Whether the value is a mean of scores whose variance is measured beside it."""
    size_is_released = False
    """Whether the size depends on the answer, so that it must be released and priced."""
    expected_size: float = math.nan
    """The size that a guess foresees where it is not known (see `foreseeing`)."""
    theorem: str
    has_noise = True
    """Whether a value with noise can be certified by privacy."""
    influence = 1.0
    """Sum over all records of how far one of them can move the value, as a share of its range."""

    family: str
    """Which questions one record moves in the same proportion (`guarantees.transfer.family_weights`)."""
    unit = RECORDS
    """By what a record may be replaced for `sensitivity` to hold."""
    clause = ""
    """What a target says beyond the metric's name."""
    of_all_rows = False
    """Whether the value alone bounds nothing, so that only the construction certifies."""
    needs_rows = False
    """Whether the construction must be tuned by what the rows of a guess foresee; a number does not do it."""
    at_class_mix = False
    """Whether the target is the population at the holdout's class proportions, whatever is paid for."""
    joins_labels_and_units = False
    """Whether the size tells how classes and weights (or groups) go together, beyond the class counts."""

    @abstractmethod
    def known_size(self, y: NDArray[Any]) -> float | None:
        """Return the size that the labels alone decide, or None if it depends on the predictions."""

    def foreseeing(self, value: float, share: float | None, y: NDArray[Any]) -> IntervalRule:
        """Return this rule tuned to a guess: its value, and its size as a share of the rows, if known."""
        return self

    def construction(self, known: Foreseen) -> Construction | None:
        """Return how all rows become an interval, tuned to a guess; None where the value is enough."""
        return None

    def sensitivity(self, y: NDArray[Any], width: float) -> float | None:
        """Return how far the value can move when one record (of the same class) is replaced, if bounded."""
        size = self.known_size(y)
        return None if size is None else width / size

    @abstractmethod
    def measure(
        self, y: NDArray[Any], outputs: NDArray[Any], classes: NDArray[Any] | None, bounds: Range
    ) -> Measured:
        """Return the value on some rows; `UndefinedMetricError` where there is none."""

    def beyond(
        self, y: NDArray[Any], outputs: NDArray[Any], classes: NDArray[Any] | None, bounds: Range
    ) -> NDArray[np.bool_]:
        """Return of which records the score is worse than bounds that were suggested allow."""
        return np.zeros(len(y), dtype=bool)

    def interval(self, known: Range, size: float, ln_delta: float, bounds: Range) -> Range:
        """Return the certified interval when the value is known to lie in ``known``."""
        return chernoff_kl(*clipped(known, bounds), size, ln_delta, bounds)

    def half_width_bound(self, half_cell: float, size: float, ln_delta: float, width: float) -> float:
        """Return a half-width that no interval of this kind exceeds."""
        return min(half_cell + hoeffding_half_width(size, ln_delta, width), width / 2.0)


def count_interval(known: Range, n: int, ln_delta: float) -> Range:
    """Return Clopper and Pearson's interval of a count over n that is known to be in a range.

    A cell that is narrower than a count, and between two, has no count: then the nearest ones outside.
    """
    slack = 1e-9  # of one count, against rounding
    low, high = math.ceil(known[0] * n - slack), math.floor(known[1] * n + slack)
    return clopper_pearson(min(low, max(high, 0)), max(high, min(low, n)), n, ln_delta)


def clipped(known: Range, bounds: Range) -> Range:
    """Return two ends, each clipped to a range."""
    low, high = (min(max(end, bounds[0]), bounds[1]) for end in known)
    return low, high
