"""Compare methods in a plan: each gives a half-width for a number of rows and of questions.

Solving for the fewest rows, or the most questions, with which a half-width is as small as wanted is the same
search for all methods (`sklearn_ada.planning.laws`). What a plan assumes, such as the expected score, besides
what is given of rows, questions and width, are its `Assumptions`; its rows, one for each method, are
`PlanRows`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from sklearn_ada._solving import largest_integer
from sklearn_ada._validation import LN_2
from sklearn_ada.guarantees.description_length import SEALED_PART, TRANSCRIPT_PART
from sklearn_ada.guarantees.intervals import difference_half_width, expected_half_width
from sklearn_ada.guarantees.medians import DRAWN_POINTS
from sklearn_ada.guarantees.tilted import LN_LIKELY_SIDE
from sklearn_ada.guarantees.transfer import is_vacuous
from sklearn_ada.metrics.metric import Metric
from sklearn_ada.planning.typical import TypicalRows
from sklearn_ada.terms.policy import WINDOW_PART

MEAN, QUANTILE_LEVEL = "mean", "quantile level"
ALL, KEPT, ONE = "every answer", "the model kept", "one answer"
BEST_SO_FAR, VERDICTS = "the best so far", "pass or fail"
WINNERS, AT_END = "every winner", "every winner, in the end"

MOST_ROWS = 10**12
"""No plan for more rows than this."""
MOST_QUESTIONS = 10**9
"""No plan for more questions than this."""

_STRIDE = 8  # ratio of the numbers tried until the crossing is behind

FOR_NUMBERS, FOR_VERDICTS, FOR_DIFFERENCES = range(3)
"""Kinds of plans; the later, the fewer methods they have."""


@dataclass(frozen=True)
class Assumptions:
    """What a plan rests on; see `plan_holdout` for each of them, which also checks them."""

    confidence_level: float = 0.95
    expected_value: float | None = 0.85
    guess_rows: int | None = None
    surprise_rate: float = 0.0
    subsample_size: int = 20
    grid_size: int = DRAWN_POINTS
    verdicts: bool = False
    passes: int | None = None
    disagreement: float | None = None
    scoring: str | None = None
    positive_share: float | None = None
    error_spread: float | None = None

    @cached_property
    def typical(self) -> TypicalRows | None:
        """Rows on which the metric has the value expected; None for counts and means, which need none."""
        if self.scoring is None or Metric(self.scoring).measure.counts:
            return None
        assert self.expected_value is not None
        share = 0.5 if self.positive_share is None else self.positive_share
        rows = self.scoring, self.expected_value, share, self.error_spread
        return TypicalRows(*rows, self.confidence_level)

    @property
    def shares(self) -> tuple[float, float]:
        """The parts of the failure probability on a ledger that is begun for the metric."""
        is_count = self.typical is None
        return (SEALED_PART, TRANSCRIPT_PART) if is_count else (1.0 - WINDOW_PART, WINDOW_PART)

    @property
    def beta(self) -> float:
        """Failure probability of the whole conversation."""
        return 1.0 - self.confidence_level

    @property
    def ln_beta(self) -> float:
        """Its logarithm."""
        return math.log1p(-self.confidence_level)

    @property
    def value(self) -> float:
        """The share whose sampling error guesses have: the expected one, or the most uncertain."""
        return 0.5 if self.expected_value is None else self.expected_value

    def guess_error(self, n: int) -> float:
        """Return the standard error of a holdout share around its guess."""
        return math.sqrt(self.value * (1.0 - self.value) * (1.0 / n + 1.0 / (self.guess_rows or n)))

    def half_width(self, n: int, ln_delta: float, reach: float = 0.0) -> float:
        """Return the half-width of one answer, or of one difference of models."""
        if self.typical is not None:
            return self.typical.half_width(n, self.guess_rows or n, ln_delta, tilted=False)
        if self.disagreement is not None:
            return difference_half_width(n, ln_delta, self.disagreement)
        return expected_half_width(n, ln_delta, self.expected_value, reach=reach)

    def tilted_half_width(self, n: int, ln_delta: float, reach: float = 0.0) -> float:
        """Return the half-width of an exact answer whose level a guess divides (`Tilt`).

        A guess that is about right leaves nine tenths of the level to either side, of a count.
        """
        if self.typical is not None:
            return self.typical.half_width(n, self.guess_rows or n, ln_delta, tilted=True)
        tilted = min(ln_delta + LN_2 + LN_LIKELY_SIDE, -LN_2) if self.disagreement is None else ln_delta
        return self.half_width(n, max(ln_delta, tilted), reach)


@dataclass(frozen=True)
class Method:
    """One way to answer, and how close it gets.

    Parameters
    ----------
    name : str
    law : callable
        Takes the assumptions and the numbers of rows and of questions, and returns the half-width; falls
        in the second, rises in the third. Of means it is vacuous from 1/2 on; it is infinite where the
        method can do nothing.
    certifies : str
        What the half-width is about.
    note : str
        What to know before choosing it.
    unit : {"mean", "quantile level"}
    adaptive : bool, default=True
        Whether questions may depend on earlier answers.
    planned_for : int
        The plan with the fewest methods that has it.
    of_any_metric : bool, default=False
        Whether it is planned for metrics that are no counts, too.
    given : Assumptions
    """

    name: str
    law: Callable[[Assumptions, int, int], float]
    certifies: str
    note: str
    unit: str = MEAN
    adaptive: bool = True
    planned_for: int = FOR_NUMBERS
    of_any_metric: bool = False
    given: Assumptions = Assumptions()

    def half_width(self, n: int, n_questions: int) -> float:
        """Return the half-width with so many rows and questions."""
        return self.law(self.given, n, n_questions)

    @property
    def block(self) -> int:
        """Rows that are used together: only whole blocks of them count."""
        return self.given.subsample_size if self.unit == QUANTILE_LEVEL else 1


def solve(method: Method, n: int | None, n_questions: int | None, width: float | None) -> MethodPlan:
    """Return a method's row, solved for the one of three that is None.

    It is rounded to the safe side.
    """
    note, rows, questions, is_solved = method.note, n, n_questions or 0, True
    if n is None:
        assert width is not None
        block = method.block
        blocks = fewest_rows(lambda m: method.half_width(m * block, questions), width, MOST_ROWS // block)
        rows, is_solved = blocks and blocks * block, blocks is not None
        note += "" if is_solved else f"; no number of rows up to {MOST_ROWS:,} is enough"
    elif n_questions is None:
        assert width is not None
        if method.certifies == ONE:
            questions = int(method.half_width(n, 1) <= width)
        else:
            questions = most_questions(lambda k: method.half_width(n, k), width)
        is_solved = questions > 0
        note += f"; the search ends at {MOST_QUESTIONS:,}" if questions == MOST_QUESTIONS else ""
    reached = method.half_width(rows, questions) if is_solved and rows is not None else width
    assert reached is not None
    says_nothing = math.isinf if method.given.typical is not None else is_vacuous
    vacuous = not is_solved or (width is None and says_nothing(reached))
    if method.certifies == ONE:
        questions = min(questions, 1)
    return MethodPlan(
        method.name, math.inf if rows is None else rows, questions, reached, method.unit, method.certifies,
        method.adaptive, vacuous, note,
    )  # fmt: skip


@dataclass(frozen=True)
class MethodPlan:
    """What one method certifies.

    Attributes
    ----------
    method : str
        Its name.
    n : int or float
        Records of the holdout; infinite if no number of them is enough.
    n_questions : int
        Questions; 0 if it cannot answer even one, and 10^9 if at least so many.
    width : float
        Half-width reached with these rows and questions; where there is none, the one asked for.
    unit : str
        What the half-width is measured in: "mean" (of losses in [0, 1]), "quantile level" (.1: the answer
        is between the .4 and the .6 quantile of the metric over random subsamples), or the metric itself.
    certifies : str
        What it is about: "every answer", "one answer", "the model kept", "the best so far", "pass or fail".
    adaptive : bool
        Whether questions may depend on earlier answers.
    vacuous : bool
        Whether the method says nothing here.
    note : str
        What to know before choosing it.
    """

    method: str
    n: float
    n_questions: int
    width: float
    unit: str
    certifies: str
    adaptive: bool
    vacuous: bool
    note: str


@dataclass(frozen=True, repr=False)
class PlanRows:
    """What was asked of a plan and one row for each method; for the attributes see `HoldoutPlan`."""

    n: int | None
    n_questions: int | None
    width: float | None
    given: Assumptions
    rows: tuple[MethodPlan, ...]
    of_searches: bool = False

    @property
    def solved_for(self) -> str:
        """Which of "n", "n_questions" and "width" was left out."""
        return next(name for name in ("n", "n_questions", "width") if getattr(self, name) is None)

    @property
    def best(self) -> MethodPlan | None:
        """The best method that certifies every answer to adaptive questions about means; None if none does.

        For a single question that is a plain holdout. Of searches, coarse answers about each winner count as
        well. Where pass or fail is all that is wanted, it is the row of verdicts, which need no guess.
        """
        if self.n_questions != 1:
            return self._best(of_medians=False)
        return None if self["one use"].vacuous else self["one use"]

    @property
    def best_median(self) -> MethodPlan | None:
        """The best stable median, for metrics that are not means; None if none certifies anything."""
        return None if self.given.verdicts else self._best(of_medians=True)

    def __getitem__(self, method: str) -> MethodPlan:
        by_name = {row.method: row for row in self.rows}
        if method in by_name:
            return by_name[method]
        raise KeyError(f"The plan has no method {method!r}. It has {', '.join(map(repr, by_name))}.")

    def _best(self, *, of_medians: bool) -> MethodPlan | None:
        certified = (ALL, WINNERS) if self.of_searches else (VERDICTS,) if self.given.verdicts else (ALL,)
        useful = [row for row in self.rows if row.adaptive and not row.vacuous]
        of_unit = [row for row in useful if (row.unit == QUANTILE_LEVEL) == of_medians]
        able = [row for row in of_unit if row.certifies in certified]
        sign = -1.0 if self.solved_for == "n_questions" else 1.0
        return min(able, key=lambda row: sign * getattr(row, self.solved_for), default=None)


def fewest_rows(half_width: Callable[[int], float], width: float, most: int = MOST_ROWS) -> int | None:
    """Return the smallest n with ``half_width(n) <= width``, for a half-width that falls; None if none.

    Examples
    --------
    >>> fewest_rows(lambda n: n**-0.5, 0.01), fewest_rows(lambda n: 0.25, 0.01)
    (10000, None)
    """
    n = _last(lambda value: not value <= width, half_width, width, most, start=1) + 1
    return n if n <= most else None


def most_questions(half_width: Callable[[int], float], width: float) -> int:
    """Return the largest k with ``half_width(k) <= width``, for a half-width that rises; 0 if none.

    It may fall at first, as that of a certify after checks does, whose cells are chosen for their number.
    Then k is beyond the dip, and 0 if neither the powers of 8 along the fall nor what is tried between them
    are narrow enough.

    Examples
    --------
    >>> most_questions(lambda k: 0.001 * k**0.5, 0.01), most_questions(lambda k: k / 10, 0.01)
    (100, 0)
    """
    start, value = 1, half_width(1)
    while value > width and start < MOST_QUESTIONS and (later := half_width(_STRIDE * start)) < value:
        start, value = _STRIDE * start, later
    return _last(lambda value: value <= width, half_width, width, MOST_QUESTIONS, min(start, MOST_QUESTIONS))


def _last(
    holds: Callable[[float], bool], half_width: Callable[[int], float], width: float, most: int, start: int
) -> int:
    """Return the last x in [1, most] at which ``half_width(x)`` holds; 0 if there is none."""
    crossing = _FalsePosition()

    def noted(x: int) -> bool:
        value = half_width(x)
        crossing.gaps[x] = math.log(value / width) if 0.0 < value < math.inf else math.nan
        return holds(value)

    return largest_integer(noted, most, start=start, stride=_STRIDE, guess=crossing)


@dataclass
class _FalsePosition:
    """Guesses by false position in logarithms (the Illinois rule): half-widths are nearly powers.

    Where it stalls, or where a half-width is infinite, the geometric middle is guessed.
    """

    gaps: defaultdict[int, float] = field(default_factory=lambda: defaultdict(lambda: math.nan))
    # ln(half-width/width) wherever it was computed
    ends: tuple[int, int] | None = None
    held: bool | None = None  # at the last guess
    stalled: int = 0

    def __call__(self, low: int, high: int) -> int:
        if self.ends is not None:
            held = low != self.ends[0]
            self.stalled = self.stalled + 1 if high - low > (self.ends[1] - self.ends[0]) // 2 else 0
            if held is self.held:  # the other end was kept twice: it counts half from now on
                self.gaps[high if held else low] *= 0.5
            self.held = held
        self.ends = low, high
        low_gap, high_gap = self.gaps[low], self.gaps[high]
        part = low_gap / (low_gap - high_gap) if low_gap != high_gap else math.nan
        if self.stalled >= 3 or not 0.0 < part < 1.0:
            return math.isqrt(max(low, 1) * high)
        return round(math.exp(math.log(low) + part * (math.log(high) - math.log(low))))
