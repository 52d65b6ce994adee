"""Describe a metric in one object, and register the scorers of scikit-learn.

A `Measure` says everything about a metric: what it takes of a model, its range, its value and the number of
independent terms behind it, the interval around what is released of the value, and a half-width that no such
interval exceeds (for admission, before the answer exists). Families of metrics are its subclasses, in a file
each. A scorer of scikit-learn registers itself there, by the decorator `register`.

*Intervals of all rows.* Some intervals are a function of all rows, not of the value alone. A `RowsInterval`
looks at every row of the holdout and gives the ends of an interval for a level that was fixed beforehand.
Which one a question uses, and how it is tuned, is fixed before the holdout is looked at, from the guess and
what the asker may know of the labels (`Foreseen`). Its ends tell more of the rows than the value does, so
they are released on a lattice, outwards, and priced around those that `RowsInterval.foreseen` gives
(`sklearn_ada.questions.all_rows`). Of an `AllRows` metric, such as R2 and MCC, the value alone bounds
nothing: only such an interval certifies it. What the rows of a guess foresee beyond the value tunes it: a
confusion matrix, means of losses, or scores. Whatever they foresee, the interval holds; it is narrower if
they foresee well.

*Suggested ranges.* A metric without a range takes the one that rows which are not the holdout's suggest. It
reaches a quarter beyond the worst score there, and scores of the holdout are clipped to it. From rows that
the model was trained on, it is much too narrow: if errors on the holdout were clipped to those, no model
could look bad. So a question whose scores are often beyond it fails instead of being answered, which is one
of the events that have a price anyway.

*Labels.* What labels must be for a metric to have a value is as scikit-learn has it; else there is an
`UndefinedMetricError`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from sklearn.metrics import get_scorer_names

from sklearn_ada.accounting.filters import RECORDS
from sklearn_ada.data.class_mix import ClassMix
from sklearn_ada.data.labels import Units, label_kind
from sklearn_ada.guarantees.intervals import chernoff_kl, clopper_pearson, hoeffding_half_width
from sklearn_ada.metrics.blocks import encode
from sklearn_ada.metrics.counted import Counted
from sklearn_ada.metrics.outputs import LABELS, Response

Array = NDArray[Any]
Range = tuple[float, float]
Ends = Callable[[Array, Array, float, Generator], Range]
ZERO_TO_ONE: Range = (0.0, 1.0)


class UndefinedMetricError(ValueError):
    """The metric has no value on these rows (a class or a denominator is missing)."""


class UnsuitableUnitsError(UndefinedMetricError):
    """Groups or weights allow the metric no interval.

    Parameters
    ----------
    reason : str
    name : str
        The parameter that is to blame.
    got : str
    fix : str
    """

    def __init__(self, reason: str, name: str = "groups", got: str = "others", fix: str = "") -> None:
        super().__init__(reason)
        self.name, self.got, self.fix = name, got, fix


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


@dataclass(frozen=True)
class Foreseen:
    """What is fixed of a question before the holdout is looked at.

    Attributes
    ----------
    value : float
        The guess, in the metric's units.
    deviation : float or None
        Standard deviation of one term, as the guess rows have it.
    error : float
        Standard error of the holdout's value minus the guess.
    y : ndarray of shape (n,)
        The labels of the holdout. Only what the asker may know of them may be used: the class counts.
    identical_rows : bool
        Whether the rows are draws of one law; not where intervals are at the holdout's class mix.
    ln_delta : float
        The level that the question is expected to have.
    details : object
        What the rows of the guess foresee beyond that (`Measured.details`).
    drawn : bool
        Whether ends may be drawn from the ledger's secret, where that makes them narrower.
    guess_rows : float or None
        Of how many rows the guess is that tilts the interval; None: none does.
    as_first_released : bool
        Whether constructions of later releases are ruled out, as on ledgers that were begun before format 5
        and where privacy certifies, for which they are in the identity of a question.
    by_tables : bool
        Whether tables of two classes may have their exact intervals (`sklearn_ada.metrics.two_class`).
    by_blocks : bool
        Whether bets on matched blocks, and on sums over a unit, may be used.
    behind : float
        Of how many rows the guess is.
    given_rows : bool
        Whether X is given, so that each row has a law of its own and only its label is drawn.
    """

    value: float
    deviation: float | None
    error: float
    y: Array
    identical_rows: bool
    ln_delta: float
    details: Any = None
    drawn: bool = True
    guess_rows: float | None = None
    as_first_released: bool = False
    by_tables: bool = False
    by_blocks: bool = False
    behind: float = math.inf
    given_rows: bool = False


USUAL_IN, SELDOM_IN = 10.0, 50.0
"""One part in so many of a level has the interval of the value alone, with and without a tolerance."""


@dataclass(frozen=True)
class RowsInterval:
    """How all rows become the ends of an interval.

    Parameters
    ----------
    name, theorem : str
        What records and certificates call it, and its bound.
    tuning : dict
        All that tunes it, ready for JSON.
    foreseen : callable
        Takes a value and a level. Returns about where the ends will be; no guarantee rests on it.
    ends : callable
        Takes ``(y, outputs, classes, ln_delta, rng)``. Returns the ends, which miss the population value with
        probability at most delta. ``rng`` is seeded by the ledger's secret and the question: it may draw what
        the asker must not know, as the order of the rows.
    is_drawn : bool
        Whether it draws something: then the interval holds against nobody who knows the secret.
    announced : callable or None
        Takes a level. Returns the ends on rows like those of the guess, moved to the guess itself, which may
        be of more rows; None where these are not at hand.
    several : callable or None
        Takes ``(y, outputs, classes, ln_deltas, rng, even)`` and returns the ends at several levels, where
        that is quicker than one after the other. The first ``even`` of them are not tilted.
    deviation : float or None
        Standard deviation of one term, where the guess has none and the construction foresees it.
    error : float or None
        Standard error of the value around the guess, where units of rows decide on it; else it follows from
        the deviation of a term.
    is_tilted : bool
        Whether the guess divides the level among the sides.
    recorded : dict
        What the record of a window has of the choice of the construction, for `Measure.with_tuning`.
    usual_in : float
        One part in so many of delta goes to the interval that follows from the value alone.
    is_alone : bool
        Whether it has the whole level, and the interval that follows from the value alone has none of it.
    counted : Counted or None
        Of an interval that depends on a few counts: these, which may be released instead of the ends. Its
        ends have the whole level.
    """

    name: str
    theorem: str
    tuning: dict[str, Any]
    foreseen: Callable[[float, float], Range]
    ends: Callable[[Array, Array, Array | None, float, Generator], Range]
    is_drawn: bool = False
    announced: Callable[[float], Range] | None = None
    several: Callable[[Array, Array, Array | None, Sequence[float], Generator, int], list[Range]] | None = (
        None
    )
    deviation: float | None = None
    error: float | None = None
    is_tilted: bool = False
    recorded: dict[str, Any] = field(default_factory=dict)
    usual_in: float = USUAL_IN
    is_alone: bool = False
    counted: Counted | None = None

    def describe(self) -> dict[str, Any]:
        """Return what it is and what tunes it."""
        return {"construction": self.name, **self.tuning}


@dataclass(frozen=True, kw_only=True)
class Measure(ABC):
    """How a metric is measured, and what its intervals rest on.

    Parameters
    ----------
    response : Response
        What it takes of a model, and of y.
    bounds : tuple of float or None
        Its range; None until one is declared or suggested.
    positive : label or None
        The positive class of a metric of one class; None is either of two.
    scorer_of : callable or None
        Makes the scorer for the class given as ``pos_label``; None for metrics that are not of one class.
    needs_every_class : bool
        Whether it has no value, or one that says nothing (such as 0), on rows that lack a class.
    at_class_mix : bool
        Whether the target is the population at the holdout's class proportions, whatever is paid for.
    instead : str
        What to write for more than two classes, where it is of two.
    since : int
        From which format of ledgers on it has an interval.
    power : int
        Of which power of errors of numbers a score is the negative, in units of the range; 0 if of none.
    """

    response: Response = LABELS
    bounds: Range | None = ZERO_TO_ONE
    positive: Any = None
    scorer_of: Callable[..., Any] | None = None
    needs_every_class: bool = False
    at_class_mix: bool = False
    instead: str = ""
    since: int = 1
    power: int = 0

    kind = "general"
    """What records call it: "general" where the value alone bounds nothing."""
    value_is_enough = True
    """Whether an interval follows from the value alone, with a range."""
    of_all_rows = False
    """Whether only an interval of all rows certifies it."""
    needs_rows = False
    """Whether rows of a guess must tune the interval of all rows; a number does not do it."""
    counts = False
    """Whether the value is a count over the size."""
    has_differences = False
    """Whether the difference of two models has an interval, too."""
    size_is_released = False
    """Whether the size depends on the answer, so that it must be released and priced."""
    unsteadiness = 1.0
    """How much more than those of a mean the ends of its interval vary, where these are of all rows."""
    has_noise = True
    """Whether a value with noise can be certified by privacy: no row moves it too far."""
    influence = 1.0
    """Sum over all rows of how far one of them can move the value, as a part of its range."""
    joins_labels_and_units = False
    """Whether the size tells how classes and weights (or groups) go together, beyond the class counts."""
    unit = RECORDS
    """By what a row may be replaced for `sensitivity` to hold."""
    reason = "is a function of which nothing is known but its values"
    """Why there is no interval, where there is none."""
    alike = "has none here: use a mean, such as 'accuracy' or 'neg_mean_absolute_error'"
    """Why there is no interval with weights or groups, where there is none, and what has one."""
    is_refused = False
    """Whether it cannot be asked of a holdout at all, and `reason` says why."""

    @property
    @abstractmethod
    def theorem(self) -> str:
        """Name of the fixed-question bound."""

    @property
    @abstractmethod
    def family(self) -> str:
        """The questions that one row moves in the same proportion (`guarantees.transfer.family_level`)."""

    @property
    def clause(self) -> str:
        """What a target says beyond the metric's name."""
        return ""

    @property
    def has_variance(self) -> bool:
        """Whether the value is a mean of scores whose variance is measured beside it."""
        return False

    @property
    def limits(self) -> Range:
        """The range, of a metric that has one by now."""
        assert self.bounds is not None
        return self.bounds

    @property
    def width(self) -> float:
        """The width of the range."""
        low, high = self.limits
        return high - low

    def size(self, y: Array) -> float:
        """Return the number of independent terms; `UndefinedMetricError` if the labels allow no value.

        Where it depends on the predictions, it is the number that a guess foresees.
        """
        return len(y)

    @abstractmethod
    def value(self, y: Array, outputs: Array, classes: Array | None) -> Measured:
        """Return the value on some rows; `UndefinedMetricError` where there is none."""

    def interval(self, ends: Range, size: float, ln_delta: float) -> Range:
        """Return the certified interval of a value between two ends."""
        return chernoff_kl(*clipped(ends, self.limits), size, ln_delta, self.limits)

    def half_width_bound(self, half_cell: float, size: float, ln_delta: float) -> float:
        """Return a half-width that no interval of this kind exceeds."""
        return min(half_cell + hoeffding_half_width(size, ln_delta, self.width), self.width / 2.0)

    def foreseeing(self, value: float, share: float | None, y: Array) -> Measure:
        """Return the measure tuned to a guess: its value, and its size as a share of the rows, if given."""
        return self

    def rows_interval(self, foreseen: Foreseen) -> RowsInterval | None:
        """Return the construction of an interval from all rows, tuned to a guess.

        None if an interval that follows from the value alone is used.
        """
        return None

    def tuning(self, details: Any) -> dict[str, Any]:
        """Return what rows of a guess have tuned beside the range, ready for JSON."""
        return {}

    def with_tuning(self, tuning: dict[str, Any]) -> tuple[Measure, Any]:
        """Return the measure and the details of which `tuning` returned this."""
        return self, None

    def sensitivity(self, y: Array) -> float | None:
        """Return how far replacing one row may move the value, if bounded.

        The other row is of the same class, where that matters (`unit`).
        """
        return self.width / self.size(y) if self.has_noise else None

    def tuned(self, y: Array, outputs: Array, classes: Array | None) -> Measure:
        """Return the measure with the scale that rows which are not the holdout's suggest."""
        return self

    def beyond(self, y: Array, outputs: Array, classes: Array | None) -> NDArray[np.bool_]:
        """Return which rows have a score beyond the bounds that were suggested."""
        return np.zeros(len(y), dtype=bool)

    def error_bound(self) -> float | None:
        """Return to what errors of predicted numbers are clipped; None without a range."""
        if self.response.target != "numbers" or self.bounds is None:
            return None
        return math.sqrt(-self.bounds[0]) if self.power == 2 else -self.bounds[0]

    @property
    def clipping(self) -> str:
        """What a certificate says of a declared range."""
        low, high = self.limits
        if self.power and high == 0.0:
            return f"each error clipped to +-{self.error_bound():g}"
        return f"each score clipped to [{low:g}, {high:g}]"

    @property
    def example_range(self) -> tuple[int, int]:
        """A range to show in messages, where a user is to declare one; shares of a loss end at 1."""
        return -10, int(self.at_class_mix)

    def weighted(self, units: Units) -> Measure | None:
        """Return the measure of rows with weights or groups; None if only the stable median is sound."""
        return None

    def at_mix(self, mix: ClassMix) -> Measure | None:
        """Return the measure of the population at declared class shares; None if there is none."""
        return None

    def holds_for_one_law(self, n_classes: int) -> bool:
        """Return whether an interval holds where class counts may not be conditioned on."""
        return not self.at_class_mix

    def replayed(self, value: float, share: float | None, rows: int) -> tuple[Measure, float] | str:
        """Return the measure that reads an answer from its record, and the number of terms.

        The measure is tuned to the recorded guess. If it needs what is not recorded, the words for that are
        returned instead.
        """
        return "class counts"

    @property
    def listed(self) -> str:
        """What certifies it, for the table of scorers."""
        return self.theorem


@dataclass(frozen=True, kw_only=True)
class MedianOnly(Measure):
    """A metric without an interval of its own: refused unless the stable median is asked for.

    Parameters
    ----------
    reason : str
        Why there is no interval.
    is_refused : bool
        Whether the median is refused, too.
    """

    bounds: Range | None = None
    reason: str = Measure.reason
    is_refused: bool = False
    value_is_enough = False
    theorem = family = ""

    @property
    def listed(self) -> str:
        """The reason why the metric is refused, for the table of scorers."""
        wanted = "" if self.is_refused else "refused unless the stable median is asked for: "
        return f"{wanted}it {self.reason}"

    def value(self, y: Array, outputs: Array, classes: Array | None) -> Measured:
        """Raise: no interval is asked for."""
        raise UndefinedMetricError(f"it {self.reason}")


@dataclass(frozen=True, kw_only=True)
class AllRows(Measure):
    """A metric that has an interval of all rows only: its value alone bounds nothing."""

    at_class_mix: bool = True
    value_is_enough = has_noise = False
    of_all_rows = True
    family = "all rows"

    @property
    def widest(self) -> Range | None:
        """The range of what is certified, as long as no rows have tuned it."""
        return self.bounds

    def interval(self, ends: Range, size: float, ln_delta: float) -> Range:
        """Return the whole range, which is what the value alone certifies."""
        return self.limits

    def half_width_bound(self, half_cell: float, size: float, ln_delta: float) -> float:
        """Return half of the range."""
        return self.width / 2.0

    @property
    def listed(self) -> str:
        """What certifies it, for the table of scorers."""
        rows = ", with guess_from=" if self.needs_rows else ""
        return f"certify only{rows}: {self.theorem}"

    @abstractmethod
    def rows_interval(self, foreseen: Foreseen) -> RowsInterval:
        """Return the construction of an interval from all rows, tuned to a guess."""

    def _around(
        self, name: str, ends: Ends, foreseen: Foreseen, value: float, at_value: Range, scale: float = 1.0
    ) -> RowsInterval:
        """Return the interval with these ends, clipped to the range and foreseen as `around` does."""
        tuning, at = around(self.limits, foreseen.ln_delta, value, at_value, scale)
        return RowsInterval(
            name, self.theorem, tuning, at,
            lambda y, outputs, _, ln_delta, rng: clipped(ends(y, outputs, ln_delta, rng), self.limits),
        )  # fmt: skip


Made = TypeVar("Made", bound=Callable[..., Any])
SCORERS: dict[str, Measure] = {}
"""The measure of each scorer of scikit-learn, by its name."""


def register(*names: str, of: Callable[..., Measure] | None = None, **options: Any) -> Callable[[Made], Made]:
    """Return a decorator that registers a metric under the names of scorers of scikit-learn.

    A mean of scores may have a name of its own.

    Parameters
    ----------
    *names : str
    of : type or None, default=None
        The kind of measure, if a function of scores is decorated; by default the class that is decorated.
    **options : dict
        Other parameters of the measure.
    """

    def registered(made: Made) -> Made:
        SCORERS.update(dict.fromkeys(names, made(**options) if of is None else of(made, **options)))
        return made

    return registered


def classify_scorers() -> list[tuple[str, str, str]]:
    """Return name, kind and certification of every scorer of the installed scikit-learn.

    Examples
    --------
    >>> classify_scorers()[0]
    ('accuracy', 'mean', 'Clopper-Pearson')
    """
    rows = []
    for name in get_scorer_names():
        measure = SCORERS.get(name, MedianOnly())
        kind, listed = "refused" if measure.is_refused else measure.kind, measure.listed
        if measure.value_is_enough and measure.bounds is None:
            declared = f"Metric({name!r}, range={measure.example_range})"
            listed += f"; each score clipped to the range of {declared}, or to what guess_from= suggests"
        rows.append((name, kind, listed))
    return rows


def around(
    limits: Range, ln_planned: float, value: float, at_value: Range, scale: float = 1.0
) -> tuple[dict[str, float], Callable[[float, float], Range]]:
    """Return how far ends are foreseen to be from a value, and what foresees them at another.

    ``at_value`` is the interval that is foreseen if the metric is ``value``, at the level planned. At another
    value it has the same distances to its ends; at another level they grow with the root of its logarithm.
    """
    (low, high), width = limits, limits[1] - limits[0]
    below, above = (
        float(f"{min(max(away * scale, 1e-4 * width), width):.3g}")
        for away in (value - at_value[0], at_value[1] - value)
    )

    def at(value: float, ln_delta: float) -> Range:
        grown = math.sqrt((math.log(2.0) - ln_delta) / (math.log(2.0) - ln_planned))
        return max(value - below * grown, low), min(value + above * grown, high)

    return {"below": below, "above": above}, at


def moved(ends: Range, by: float) -> Range:
    """Return ends of an interval moved, but not by a rounding error.

    Examples
    --------
    >>> moved((0.25, 0.5), 0.25), moved((0.25, 0.5), 1e-17)
    ((0.5, 0.75), (0.25, 0.5))
    """
    return ends if abs(by) < 1e-9 else (ends[0] + by, ends[1] + by)


def alike(terms: Array, n: int, by: Array | None = None) -> Array:
    """Return n rows that are distributed like others, of which one column is sorted by.

    Examples
    --------
    >>> alike(np.array([3.0, 1.0, 2.0]), 6)
    array([1., 1., 2., 2., 3., 3.])
    """
    order = np.argsort(terms if by is None else by, kind="stable")
    return np.asarray(terms[order[((np.arange(n) + 0.5) * (len(order) / n)).astype(int)]])


def clipped(ends: Range, bounds: Range) -> Range:
    """Return two ends, each clipped to a range."""
    low, high = (min(max(end, bounds[0]), bounds[1]) for end in ends)
    return low, high


def count_interval(ends: Range, n: int, ln_delta: float) -> Range:
    """Return Clopper and Pearson's interval of a count over n, which is in a range.

    A cell that is narrower than a count, and between two, has no count: then the nearest ones outside.
    """
    slack = 1e-9  # of one count, against rounding
    low, high = math.ceil(ends[0] * n - slack), math.floor(ends[1] * n + slack)
    return clopper_pearson(min(low, max(high, 0)), max(high, min(low, n)), n, ln_delta)


def check_positive(y: Array, positive: Any) -> None:
    """Raise UndefinedMetricError for more than two classes, or without the positive one.

    None is any class.
    """
    others = y[y != y[0]] if len(y) else y  # much quicker than to list all values
    if len(others) and (others != others[0]).any():
        raise UndefinedMetricError("it is a metric of two classes")
    if positive is not None and not np.any(y == positive):
        raise UndefinedMetricError(f"it needs rows of class {positive!r}")


def check_two_labels(y: Array, outputs: Array, positive: Any) -> None:
    """Raise UndefinedMetricError if there are two labels besides the positive one."""
    misfits = [values != positive for values in (y, outputs)]
    others = [v[np.argmax(m)] for v, m in zip((y, outputs), misfits, strict=True) if m.any()]
    for values, misfit in zip((y, outputs), misfits, strict=True):
        if others and (misfit & (values != others[0])).any():
            raise UndefinedMetricError("it is a metric of two classes, and there is a third label")


def class_positions(values: Array, classes: Array, what: str) -> Array:
    """Return the positions of labels in the sorted classes, or raise UndefinedMetricError."""
    if label_kind(values) == label_kind(classes):
        codes, is_class = encode(values, classes)
        if is_class.all():
            return codes
    raise UndefinedMetricError(f"{what} is not among the classes")


TOO_NARROW = (
    "or more than a twentieth of the scores are beyond the range that guess_from= suggests: it takes rows "
    "that the model was not trained on"
)
"""What the reason of a failure adds, for a metric with such a range."""

_BEYOND, _BEYOND_ROWS = 0.05, 3.0


def suggested_range(scores: NDArray[Any], margin: float) -> Range:
    """Return a range with all these scores and 0, and a margin.

    It is rounded outwards to two digits.

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
    """Return the largest share of scores beyond a range that is not a failure.

    The range was suggested by ``n_rows`` other rows. The share is a twentieth plus three in ``n_rows``: the
    fewer rows suggested a range, the more scores lie beyond it.

    Examples
    --------
    >>> most_beyond(100), most_beyond(2)
    (0.08, 1.0)
    """
    return min(_BEYOND + _BEYOND_ROWS / n_rows, 1.0)


def _outwards(end: float) -> float:
    """Return a number rounded away from 0 to two digits.

    Examples
    --------
    >>> _outwards(-12.34), _outwards(0.0)
    (-13.0, 0.0)
    """
    if end == 0.0 or not math.isfinite(end):
        return end
    step = 10.0 ** (math.floor(math.log10(abs(end))) - 1)
    return float(f"{math.copysign(math.ceil(abs(end) / step - 1e-6) * step, end):.2g}")
