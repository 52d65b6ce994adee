"""Metrics such as R2 and MCC that only an interval of all rows certifies: the value alone bounds nothing.

Intervals that are a function of all rows, not of the value alone.

A *construction* looks at every row of the holdout and gives the ends of an interval for a level that was
fixed beforehand. Which one a question uses, and how it is tuned, is fixed before the holdout is looked at,
from the guess and what is known of the labels (`Foreseen`). Its ends tell more of the rows than the value
does, so they are released on a lattice, outwards, and priced around those that `Construction.foreseen` gives
(`sklearn_ada.questions.of_rows`).

A metric has one if its rule gives one: `IntervalRule.construction`.

How the value of a metric becomes an interval: what every kind of metric knows.

A kind knows three things: the value and the number of independent terms behind it, the interval around what
is known of the value, and a half-width that no such interval exceeds (for admission, before the answer
exists).

What metrics have in common that only an interval of all rows certifies: their value bounds nothing.

Such a metric is certified, not checked, by the construction of its rule
(`sklearn_ada.metrics.base`). What the rows of a guess foresee, beyond the value, tunes it: a
confusion matrix, means of losses, or scores. Whatever they foresee, the interval holds; it is narrower if
they foresee well.

How the value of a metric becomes an interval, one module for each kind of metric.

What labels must be for a metric to have a value, as scikit-learn has it.

The range that rows which are not the holdout's suggest for a metric that has none.

It reaches a quarter beyond the worst score there, and scores of the holdout are clipped to it. Of rows that
the model knows, as those it was trained on, it is much too narrow: if errors on the holdout were clipped to
those, no model could look bad. So a question whose scores are often beyond it fails instead of being
answered, which is one of the events that have a price anyway.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada.accounting.filters import RECORDS
from sklearn_ada.data.labels import are_classes, family
from sklearn_ada.guarantees.bets import (
    MOST_ROWS_ONE_BY_ONE,
    betting_fixed,
    betting_half_width,
    betting_predictable,
)
from sklearn_ada.guarantees.class_tables import class_mean_interval
from sklearn_ada.guarantees.intervals import chernoff_kl, clopper_pearson, hoeffding_half_width
from sklearn_ada.metrics.blocks import encode

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
        What the rows of the guess foresee beyond that (`sklearn_ada.metrics.base`).
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
    """The mean of a bounded score by betting (`sklearn_ada.guarantees.bets`).

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


class UndefinedMetricError(ValueError):
    """The metric has no value on these rows (a class or a denominator is missing)."""


def check_target(y: Array, target: str | None) -> None:
    """Raise UndefinedMetricError unless y holds what a metric is of: "classes", "numbers", or anything."""
    if target == "classes" and not are_classes(y):
        raise UndefinedMetricError("it needs class labels")
    if target == "numbers" and family(y) != "numbers":
        raise UndefinedMetricError("it needs numbers")


def check_positive(y: Array, positive: Any) -> None:
    """Raise UndefinedMetricError if there are more than two classes, or no records of the positive one.

    None is any class.
    """
    others = y[y != y[0]] if len(y) else y  # much quicker than to list all values
    if len(others) and (others != others[0]).any():
        raise UndefinedMetricError("it is a metric of two classes")
    if positive is not None and not np.any(y == positive):
        raise UndefinedMetricError(f"it needs records of class {positive!r}")


def check_two_labels(y: Array, outputs: Array, positive: Any) -> None:
    """Raise UndefinedMetricError if a label is neither positive nor the one other that there is."""
    misfits = [values != positive for values in (y, outputs)]
    others = [v[np.argmax(m)] for v, m in zip((y, outputs), misfits, strict=True) if m.any()]
    for values, misfit in zip((y, outputs), misfits, strict=True):
        if others and (misfit & (values != others[0])).any():
            raise UndefinedMetricError("it is a metric of two classes, and there is a third label")


def check_known(values: Array, classes: Array, what: str) -> Array:
    """Return the positions of labels in the sorted classes; UndefinedMetricError if one is not there."""
    codes, known = (
        encode(values, classes) if family(values) == family(classes) else (values, np.zeros(1, bool))
    )
    if not known.all():
        raise UndefinedMetricError(f"{what} is not among the classes")
    return codes


TOO_NARROW = (
    "or more than a twentieth of the scores are beyond the range that guess_from= suggests: it takes rows "
    "that the model was not trained on"
)
"""What the reason of a failure adds, for a metric with such a range."""

_BEYOND, _BEYOND_ROWS = 0.05, 3.0


def suggested_range(scores: NDArray[Any], margin: float) -> tuple[float, float]:
    """Return a range with all these scores and 0, a margin wider, rounded outwards to two digits.

    Parameters
    ----------
    scores : ndarray of shape (n,)
    margin : float
        By how much it reaches beyond the farthest score.

    Examples
    --------
    >>> suggested_range(np.array([-0.1, -0.2]), 1.25)
    (-0.25, 0.0)
    """
    low, high = (_outwards(margin * float(end)) for end in (min(scores.min(), 0.0), max(scores.max(), 0.0)))
    return (low, high) if low < high else (-1.0, high)  # all scores are 0


def most_beyond(n_rows: int) -> float:
    """Return what share of the holdout's scores may be beyond a range that so many rows suggested.

    A twentieth, and what three rows are of them: beyond the farthest score of few rows lie more of others.

    Examples
    --------
    >>> most_beyond(100), most_beyond(2)
    (0.08, 1.0)
    """
    return min(_BEYOND + _BEYOND_ROWS / n_rows, 1.0)


def check_within(beyond: NDArray[np.bool_], most: float) -> None:
    """Raise UndefinedMetricError if too many scores are beyond a suggested range."""
    if float(np.mean(beyond)) > most:
        raise UndefinedMetricError("the scores are beyond the range that the rows of the guess suggest")


def _outwards(end: float) -> float:
    """Return a number rounded away from 0 to two digits, so that last bits do not matter.

    Examples
    --------
    >>> _outwards(-12.34), _outwards(0.0)
    (-13.0, 0.0)
    """
    if end == 0.0 or not math.isfinite(end):
        return end
    unit = 10.0 ** (math.floor(math.log10(abs(end))) - 1)
    return float(f"{math.copysign(math.ceil(abs(end) / unit - 1e-6) * unit, end):.2g}")
