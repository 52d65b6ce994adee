"""Compare methods in a plan: each gives a half-width for a number of rows and of questions.

A method is one function, which `_method` registers with its description. Solving for the fewest rows, or the
most questions, with which a half-width is as small as wanted is the same search for all. What a plan assumes,
such as the expected score, besides what is given of rows, questions and width, are its `Assumptions`; its
rows, one for each method, are `PlanRows`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from scipy.special import ndtri
from scipy.stats import poisson

from sklearn_ada._solving import largest_integer
from sklearn_ada._validation import LN_2
from sklearn_ada.guarantees import medians, noise
from sklearn_ada.guarantees.baselines import blum_hardt_2015, rounding_half_width, verdict_half_width
from sklearn_ada.guarantees.cells import PlannedCells, PlannedChecks, plan_certifies, plan_checks
from sklearn_ada.guarantees.description_length import ln_declared
from sklearn_ada.guarantees.intervals import difference_half_width, expected_half_width, wilson_deviation
from sklearn_ada.guarantees.mechanisms import thresholdout_direct
from sklearn_ada.guarantees.medians import DRAWN_POINTS, MEDIAN_DEVIATION
from sklearn_ada.guarantees.tilted import LN_LIKELY_SIDE
from sklearn_ada.guarantees.transfer import is_vacuous

MEAN, QUANTILE_LEVEL = "mean", "quantile level"
ALL, KEPT, ONE = "every answer", "the model kept", "one answer"
BEST_SO_FAR, VERDICTS = "the best so far", "pass or fail"
WINNERS, AT_END = "every winner", "every winner, in the end"

MOST_ROWS = 10**12
"""No plan for more rows than this."""
MOST_QUESTIONS = 10**9
"""No plan for more questions than this."""

_STRIDE = 8  # ratio of the numbers tried until the crossing is behind

_BASSILY_BETA = 0.25  # beyond it the theorem has a further condition
_LEAST_COUNT = 0.5  # standard error of a count around its guess, at least
_FALSE_HITS = 0.05  # of a right guess, expected in a whole Thresholdout
_FOR_NUMBERS, _FOR_VERDICTS, _FOR_DIFFERENCES = range(3)  # of plans; the later, the fewer methods they have


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
        if self.disagreement is not None:
            return difference_half_width(n, ln_delta, self.disagreement)
        return expected_half_width(n, ln_delta, self.expected_value, reach=reach)

    def tilted_half_width(self, n: int, ln_delta: float, reach: float = 0.0) -> float:
        """Return the half-width of an exact answer whose level a guess divides (`Tilt`).

        A guess that is about right leaves nine tenths of the level to either side.
        """
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
        in the second, rises in the third. From 1/2 on it is vacuous; infinite where the method can do
        nothing.
    certifies : str
        What the half-width is about.
    note : str
        What to know before choosing it.
    unit : {"mean", "quantile level"}
    adaptive : bool, default=True
        Whether questions may depend on earlier answers.
    planned_for : int
        The plan with the fewest methods that has it.
    given : Assumptions
    """

    name: str
    law: Callable[[Assumptions, int, int], float]
    certifies: str
    note: str
    unit: str = MEAN
    adaptive: bool = True
    planned_for: int = _FOR_NUMBERS
    given: Assumptions = Assumptions()

    def half_width(self, n: int, n_questions: int) -> float:
        """Return the half-width with so many rows and questions."""
        return self.law(self.given, n, n_questions)

    @property
    def block(self) -> int:
        """Rows that are used together: only whole blocks of them count."""
        return self.given.subsample_size if self.unit == QUANTILE_LEVEL else 1


def methods(given: Assumptions) -> tuple[Method, ...]:
    """Return all methods under these assumptions; for verdicts, those that compare with them."""
    plan = _FOR_VERDICTS if given.verdicts else _FOR_NUMBERS
    if given.disagreement is not None:
        plan = _FOR_DIFFERENCES
    stopping = {None: "", 1: "; the process stops at its first pass"}.get(
        given.passes, f"; the process stops after {given.passes} passes"
    )
    return tuple(
        replace(each, given=given, note=each.note + (stopping if each.certifies == VERDICTS else ""))
        for each in _METHODS
        if each.planned_for >= plan
    )


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
    vacuous = not is_solved or (width is None and is_vacuous(reached))
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
        What the half-width is measured in: "mean" (of losses in [0, 1]) or "quantile level" (.1: the answer
        is between the .4 and the .6 quantile of the metric over random subsamples).
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
            return self._best_of(MEAN)
        return None if self["one use"].vacuous else self["one use"]

    @property
    def best_median(self) -> MethodPlan | None:
        """The best stable median, for metrics that are not means; None if none certifies anything."""
        return None if self.given.verdicts else self._best_of(QUANTILE_LEVEL)

    def __getitem__(self, method: str) -> MethodPlan:
        by_name = {row.method: row for row in self.rows}
        if method in by_name:
            return by_name[method]
        raise KeyError(f"The plan has no method {method!r}. It has {', '.join(map(repr, by_name))}.")

    def _best_of(self, unit: str) -> MethodPlan | None:
        certified = (ALL, WINNERS) if self.of_searches else (VERDICTS,) if self.given.verdicts else (ALL,)
        useful = [row for row in self.rows if row.unit == unit and row.adaptive and not row.vacuous]
        able = [row for row in useful if row.certifies in certified]
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


_METHODS: list[Method] = []
_Law = Callable[[Assumptions, int, int], float]


def _method(
    name: str, note: str, certifies: str = ALL, *, adaptive: bool = True, planned_for: int = _FOR_NUMBERS
) -> Callable[[_Law], _Law]:
    """Register the half-width of a method for means."""

    def register(law: _Law) -> _Law:
        _METHODS.append(Method(name, law, certifies, note, adaptive=adaptive, planned_for=planned_for))
        return law

    return register


@_method(
    "one use", "a plain holdout: right for one question, whatever was asked elsewhere", ONE,
    adaptive=False, planned_for=_FOR_DIFFERENCES,
)  # fmt: skip
def _one_use(given: Assumptions, n: int, k: int) -> float:
    return given.half_width(n, given.ln_beta)


@_method(
    "fixed in advance", "a plain holdout and a union bound: the limit for adaptive questions",
    adaptive=False, planned_for=_FOR_DIFFERENCES,
)  # fmt: skip
def _fixed_in_advance(given: Assumptions, n: int, k: int) -> float:
    return given.half_width(n, given.ln_beta - math.log(k))


@_method(
    "declared models", "Holdout.declare: fixed in advance, beside adaptive questions about other models",
    adaptive=False, planned_for=_FOR_VERDICTS,
)  # fmt: skip
def _declared_models(given: Assumptions, n: int, k: int) -> float:
    return given.half_width(n, ln_declared(given.ln_beta, k))


@_method("sample splitting", "fresh rows for each question", planned_for=_FOR_DIFFERENCES)
def _sample_splitting(given: Assumptions, n: int, k: int) -> float:
    return _fixed_in_advance(given, n // k, k) if k <= n else math.inf


@_method("rounding", "answers rounded to equal cells, without a guess", planned_for=_FOR_VERDICTS)
def _rounding(given: Assumptions, n: int, k: int) -> float:
    return rounding_half_width(n, k, given.ln_beta, expected_value=given.expected_value)


@_method("verdicts", "one bit for each question, no number", VERDICTS, planned_for=_FOR_DIFFERENCES)
def _verdicts(given: Assumptions, n: int, k: int) -> float:
    return verdict_half_width(
        n, k, given.ln_beta,
        expected_value=given.expected_value, passes=given.passes, disagreement=given.disagreement,
    )  # fmt: skip


@_method("Ladder", "says nothing of questions that do not improve", BEST_SO_FAR, planned_for=_FOR_VERDICTS)
def _ladder(given: Assumptions, n: int, k: int) -> float:
    return blum_hardt_2015(n, k, given.ln_beta, expected_value=given.expected_value).half_width


def _checks(given: Assumptions, n: int, k: int) -> PlannedChecks:
    deviation = wilson_deviation(given.value, given.guess_rows or n)
    error, rate = given.guess_error(n), given.surprise_rate
    return plan_checks(k, error, deviation, n, given.ln_beta, surprise_rate=rate)


@_method(
    "coded checks",
    "expected if guesses hold as assumed; each surprise widens, and every interval stays valid",
    planned_for=_FOR_VERDICTS,
)  # fmt: skip
def _coded_checks(given: Assumptions, n: int, k: int) -> float:
    checks = _checks(given, n, k)
    return checks.check(lambda ln_delta: given.half_width(n, ln_delta, checks.half_cell))


@_method(
    "certify after checks", "one model certified after the coded checks", KEPT, planned_for=_FOR_VERDICTS
)
def _certify_after_checks(given: Assumptions, n: int, k: int) -> float:
    return _checks(given, n, k).certify(lambda ln_delta: given.tilted_half_width(n, ln_delta))


@_method("certify each", "exact values, such as the winner of every search", planned_for=_FOR_VERDICTS)
def _certify_each(given: Assumptions, n: int, k: int) -> float:
    return given.tilted_half_width(n, plan_certifies(k, n * given.guess_error(n), given.ln_beta))


def _cells(given: Assumptions, n: int, k: int, certified: Callable[..., float]) -> float:
    """Return what searches in a row certify, each about its winner, whose count is sealed."""
    error = max(given.guess_error(n), _LEAST_COUNT / n)
    plan = PlannedCells(k, given.ln_beta, given.surprise_rate)

    def half_width(ln_delta: float, cells: float) -> float:
        exact = given.tilted_half_width if cells == 0.0 else given.half_width
        return exact(n, ln_delta, cells * error)

    return certified(plan, half_width)


@_method(
    "cells, while searching",
    "answers='coarse', said of each winner at once; expected if guesses hold as assumed", WINNERS,
)  # fmt: skip
def _cells_while_searching(given: Assumptions, n: int, k: int) -> float:
    return _cells(given, n, k, PlannedCells.coarse)


@_method("cells, published", "answers='coarse', the exact value of one model in the end", KEPT)
def _cells_published(given: Assumptions, n: int, k: int) -> float:
    return _cells(given, n, k, PlannedCells.published)


@_method(
    "cells, unsealed", "answers='coarse', the exact values of all winners once the holdout is closed", AT_END
)
def _cells_unsealed(given: Assumptions, n: int, k: int) -> float:
    return _cells(given, n, k, PlannedCells.unsealed)


@_method("Gaussian noise, direct", "transfer theorem of sklearn_ada.guarantees.transfer")
def _gaussian_direct(given: Assumptions, n: int, k: int) -> float:
    return noise.gaussian_direct(n, k, given.ln_beta).half_width


@_method("Gaussian noise, Jung", "Jung et al. 2020 with the exact privacy curve")
def _gaussian_jung(given: Assumptions, n: int, k: int) -> float:
    return noise.gaussian_jung(n, k, given.ln_beta).half_width


@_method("Gaussian noise, Rogers", "mutual information, Rogers et al. 2020, corrected")
def _gaussian_rogers(given: Assumptions, n: int, k: int) -> float:
    return noise.gaussian_rogers(n, k, given.ln_beta).half_width


@_method(
    "Gaussian noise, Bassily", "Bassily et al. 2016 with the exact privacy curve; confidence of 0.75 or more"
)
def _gaussian_bassily(given: Assumptions, n: int, k: int) -> float:
    return noise.gaussian_bassily(n, k, given.ln_beta).half_width if given.beta <= _BASSILY_BETA else math.inf


@_method("Laplace noise, Bassily", "Bassily et al. 2016, lecture 19; confidence of 0.75 or more")
def _laplace_bassily(given: Assumptions, n: int, k: int) -> float:
    return noise.laplace_bassily(n, k, given.beta).half_width if given.beta <= _BASSILY_BETA else math.inf


@_method("Thresholdout", "Laplace noise and a budget of hits, direct transfer; confidence of 0.5 or more")
def _thresholdout(given: Assumptions, n: int, k: int) -> float:
    if given.ln_beta > -LN_2:
        return math.inf
    threshold = -given.guess_error(n) * float(ndtri(0.5 * _FALSE_HITS / k))
    hits = max(int(poisson.ppf(0.95, _FALSE_HITS + k * given.surprise_rate)), 1)
    return thresholdout_direct(n, k, hits, given.ln_beta, threshold=threshold).half_width


def _median(name: str, note: str, *, exact: bool = False) -> Callable[[_Law], _Law]:
    """Register a method that certifies a median.

    The decorated function returns the level of the quantiles at which its interval ends, for numbers of
    subsamples and of questions. With ``exact``, an even number of subsamples is made odd by leaving one out,
    as the lower median of an even number has fewer values below it than above.
    """

    def register(quantile_level: _Law) -> _Law:
        def half_width(given: Assumptions, n: int, k: int) -> float:
            m = n // given.subsample_size
            return 0.5 - quantile_level(given, m - 1 + m % 2 if exact else m, k) if m else 0.5

        _METHODS.append(Method(name, half_width, ALL, note, QUANTILE_LEVEL))
        return quantile_level

    return register


@_median(
    "median, guessed",
    "exact median of an odd number of subsamples, coded around a guess; expected if guesses hold", exact=True,
)  # fmt: skip
def _guessed(given: Assumptions, m: int, k: int) -> float:
    of_guess = given.guess_rows and max(given.guess_rows // given.subsample_size, 1)
    error = MEDIAN_DEVIATION * math.sqrt(1.0 / m + 1.0 / (of_guess or m))
    checks = plan_checks(k, error, MEDIAN_DEVIATION, m, given.ln_beta, surprise_rate=given.surprise_rate)
    return checks.check(lambda ln_delta: medians.quantile_interval(m, 0.0, ln_delta)[0])


@_median(
    "median, uniform code",
    "exact median of an odd number of subsamples on a grid, without a guess", exact=True,
)  # fmt: skip
def _uniform_code(given: Assumptions, m: int, k: int) -> float:
    return medians.uniform_code_level(m, k, given.grid_size, given.ln_beta)


@_median("median, direct", "exponential mechanism, direct transfer")
def _direct(given: Assumptions, m: int, k: int) -> float:
    return medians.stable_median_level(m, k, given.grid_size, given.ln_beta, transfer="direct").level


@_median("median, Jung", "exponential mechanism, Jung et al. 2020")
def _jung(given: Assumptions, m: int, k: int) -> float:
    return medians.stable_median_level(m, k, given.grid_size, given.ln_beta, transfer="jung").level


@_median("median, Feldman-Steinke", "Theorem 4.3 of 2017: the level 1/4 or nothing; confidence above 0.5")
def _feldman_steinke(given: Assumptions, m: int, k: int) -> float:
    if given.beta >= 0.5:
        return 0.0
    enough = medians.feldman_steinke_2017_theorem_4_3(k, given.grid_size, given.beta, failure="beta")
    return 0.25 if m >= enough else 0.0
