"""What a plan assumes, such as the expected score, besides what is given of rows, questions and width.

The methods that a plan compares, each a half-width that depends on records and questions.

The fewest rows, or the most questions, with which a half-width is as small as wanted.

One row of a plan: for one method, whichever of rows, questions and width was left out.

The rows of a plan, and the best of them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from scipy.special import ndtri
from scipy.stats import poisson

from sklearn_ada._validation import LN_2, bad_parameter, check_integer, check_real, largest_integer
from sklearn_ada.guarantees.baselines import (
    nonadaptive_half_width,
    rounding_half_width,
    sample_splitting_half_width,
    verdict_half_width,
)
from sklearn_ada.guarantees.cells import (
    PlannedCells,
    PlannedChecks,
    plan_certifies,
    plan_checks,
    wilson_deviation,
)
from sklearn_ada.guarantees.intervals import difference_half_width, expected_half_width
from sklearn_ada.guarantees.medians import (
    DRAWN_POINTS,
    MEDIAN_DEVIATION,
    feldman_steinke_2017_theorem_4_3,
    quantile_interval,
    stable_median_level,
    uniform_code_level,
)
from sklearn_ada.guarantees.noisy_answers import (
    blum_hardt_2015,
    gaussian_bassily,
    gaussian_direct,
    gaussian_jung,
    gaussian_rogers,
    laplace_bassily,
    thresholdout_direct,
)
from sklearn_ada.guarantees.transfer import is_vacuous
from sklearn_ada.guarantees.weights import ln_declared


@dataclass(frozen=True)
class Assumptions:
    """See `plan_holdout` for each of them; a bad one is refused in its name."""

    confidence_level: float = 0.95
    expected_value: float | None = 0.85
    guess_rows: int | None = None
    surprise_rate: float = 0.0
    subsample_size: int = 20
    grid_size: int = DRAWN_POINTS
    verdicts: bool = False
    passes: int | None = None
    disagreement: float | None = None

    def __post_init__(self) -> None:
        owner = "plan_holdout"
        checked: dict[str, float] = {
            "confidence_level": check_real(
                self.confidence_level, "confidence_level", owner, low=0.0, high=1.0
            )
        }
        if self.expected_value is not None:
            checked["expected_value"] = check_real(
                self.expected_value, "expected_value", owner, low=0.0, high=1.0,
                fix="It is a share such as an accuracy; None plans for the worst mean of values in [0, 1].",
            )  # fmt: skip
        checked["surprise_rate"] = check_real(
            self.surprise_rate, "surprise_rate", owner, low=0.0, high=1.0, closed="both"
        )
        if self.guess_rows is not None:
            checked["guess_rows"] = check_integer(
                self.guess_rows, "guess_rows", owner, fix="None plans for as many as the holdout has."
            )
        checked["subsample_size"] = check_integer(self.subsample_size, "subsample_size", owner)
        checked["grid_size"] = check_integer(self.grid_size, "grid_size", owner, low=2)
        if not isinstance(self.verdicts, bool):
            raise bad_parameter("verdicts", owner, "True or False", self.verdicts)
        for name in ("passes", "disagreement"):
            if getattr(self, name) is not None and not self.verdicts:
                fix = "It is planned for pass or fail only: set 'verdicts' to True."
                expected = "None where 'verdicts' is False"
                raise bad_parameter(name, owner, expected, getattr(self, name), fix)
        if self.passes is not None:
            checked["passes"] = check_integer(
                self.passes,
                "passes",
                owner,
                fix="None plans for a process that goes on whatever the verdicts.",
            )
        if self.disagreement is not None:
            checked["disagreement"] = check_real(
                self.disagreement, "disagreement", owner, low=0.0, high=1.0, closed="high",
                fix="It is a share of records; None plans for verdicts about one model.",
            )  # fmt: skip
        for name, value in checked.items():
            object.__setattr__(self, name, value)

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
        """Return the standard error of the difference between a share of n holdout records and its guess."""
        return math.sqrt(self.value * (1.0 - self.value) * (1.0 / n + 1.0 / (self.guess_rows or n)))


MEAN, LEVEL = "mean", "quantile level"
ALL, KEPT, ONE = "every answer", "the model kept", "one answer"
BEST_SO_FAR, VERDICTS = "the best so far", "pass or fail"
WINNERS, AT_END = "every winner", "every winner, in the end"

_BASSILY_BETA = 0.25  # beyond it the theorem has a further condition
_LEAST_COUNT = 0.5  # standard error of a count around its guess, at least
_FALSE_HITS = 0.05  # of a right guess, expected in a whole Thresholdout


@dataclass(frozen=True)
class Method:
    """One way to answer, and how close it gets.

    Parameters
    ----------
    name : str
    half_width : callable
        Takes the numbers of records and of questions; falls in the first, rises in the second. From 1/2 on
        it is vacuous; infinite where the method can do nothing.
    certifies : str
        What the half-width is about.
    note : str
        What to know before choosing it.
    unit : {"mean", "quantile level"}
    adaptive : bool, default=True
        Whether questions may depend on earlier answers.
    block : int, default=1
        Records that are used together: only whole blocks of them count.
    """

    name: str
    half_width: Callable[[int, int], float]
    certifies: str
    note: str
    unit: str = MEAN
    adaptive: bool = True
    block: int = 1


def methods(given: Assumptions) -> tuple[Method, ...]:
    """Return all methods under these assumptions; for verdicts, those that compare with them."""
    if given.disagreement is not None:
        return _differences(given.ln_beta, given.disagreement, given.passes)
    if given.verdicts:
        return (*_plain(given), *_coded(given))
    return (*_plain(given), *_coded(given), *_cells(given), *_noisy(given), *_medians(given))


def _plain(given: Assumptions) -> tuple[Method, ...]:
    ln_beta, p = given.ln_beta, given.expected_value
    return (
        Method(
            "one use", lambda n, k: expected_half_width(n, ln_beta, p), ONE,
            "a plain holdout: right for one question, whatever was asked elsewhere", adaptive=False,
        ),
        Method(
            "fixed in advance", lambda n, k: nonadaptive_half_width(n, k, ln_beta, expected_value=p), ALL,
            "a plain holdout and a union bound: the limit for adaptive questions", adaptive=False,
        ),
        Method(
            "declared models", lambda n, k: expected_half_width(n, ln_declared(ln_beta, k), p), ALL,
            "Holdout.declare: fixed in advance, beside adaptive questions about other models", adaptive=False,
        ),
        Method(
            "sample splitting", lambda n, k: sample_splitting_half_width(n, k, ln_beta, expected_value=p),
            ALL, "fresh records for each question",
        ),
        Method(
            "rounding", lambda n, k: rounding_half_width(n, k, ln_beta, expected_value=p), ALL,
            "answers rounded to equal cells, without a guess",
        ),
        Method(
            "verdicts",
            lambda n, k: verdict_half_width(n, k, ln_beta, expected_value=p, passes=given.passes),
            VERDICTS, f"one bit for each question, no number{_stopping(given.passes)}",
        ),
        Method(
            "Ladder", lambda n, k: blum_hardt_2015(n, k, ln_beta, expected_value=p).half_width, BEST_SO_FAR,
            "says nothing of questions that do not improve",
        ),
    )  # fmt: skip


def _differences(ln_beta: float, disagreement: float, passes: int | None) -> tuple[Method, ...]:
    """Return what is planned for differences of two models that disagree on at most this share."""

    def of(n: int, ln_questions: float) -> float:
        return difference_half_width(n, ln_beta - ln_questions, disagreement)

    return (
        Method(
            "one use", lambda n, k: of(n, 0.0), ONE,
            "a plain holdout: right for one question, whatever was asked elsewhere", adaptive=False,
        ),
        Method(
            "fixed in advance", lambda n, k: of(n, math.log(k)), ALL,
            "a plain holdout and a union bound: the limit for adaptive questions", adaptive=False,
        ),
        Method(
            "sample splitting", lambda n, k: of(n // k, math.log(k)) if k <= n else math.inf, ALL,
            "fresh records for each question",
        ),
        Method(
            "verdicts",
            lambda n, k: verdict_half_width(n, k, ln_beta, passes=passes, disagreement=disagreement),
            VERDICTS, f"one bit for each question, no number{_stopping(passes)}",
        ),
    )  # fmt: skip


def _stopping(passes: int | None) -> str:
    if passes is None:
        return ""
    return (
        "; the process stops at its first pass"
        if passes == 1
        else f"; the process stops after {passes} passes"
    )


def _coded(given: Assumptions) -> tuple[Method, ...]:
    p = given.expected_value

    def plan(n: int, k: int) -> PlannedChecks:
        return plan_checks(
            k, given.guess_error(n), wilson_deviation(given.value, given.guess_rows or n), n, given.ln_beta,
            surprise_rate=given.surprise_rate,
        )  # fmt: skip

    def check(n: int, k: int) -> float:
        checks = plan(n, k)
        return checks.check(lambda ln_delta: expected_half_width(n, ln_delta, p, reach=checks.half_cell))

    def certify(n: int, k: int) -> float:
        return plan(n, k).certify(lambda ln_delta: expected_half_width(n, ln_delta, p))

    def certify_each(n: int, k: int) -> float:
        ln_delta = plan_certifies(k, n * given.guess_error(n), given.ln_beta)
        return expected_half_width(n, ln_delta, p)

    return (
        Method(
            "coded checks", check, ALL,
            "expected if guesses hold as assumed; each surprise widens, and every interval stays valid",
        ),
        Method("certify after checks", certify, KEPT, "one model certified after the coded checks"),
        Method("certify each", certify_each, ALL, "exact values, such as the winner of every search"),
    )  # fmt: skip


def _cells(given: Assumptions) -> tuple[Method, ...]:
    """Return what searches in a row certify, each about its winner, whose count is sealed."""
    p = given.expected_value

    def planned(kind: str) -> Callable[[int, int], float]:
        def half_width(n: int, k: int) -> float:
            error = max(given.guess_error(n), _LEAST_COUNT / n)
            plan = PlannedCells(k, given.ln_beta, given.surprise_rate)
            of: Callable[[Callable[[float, float], float]], float] = getattr(plan, kind)
            return of(lambda ln_delta, cells: expected_half_width(n, ln_delta, p, reach=cells * error))

        return half_width

    return (
        Method(
            "cells, while searching", planned("told"), WINNERS,
            "answers='cells', said of each winner at once; expected if guesses hold as assumed",
        ),
        Method(
            "cells, published", planned("published"), KEPT,
            "answers='cells', the exact value of one model in the end",
        ),
        Method(
            "cells, unsealed", planned("unsealed"), AT_END,
            "answers='cells', the exact values of all winners once the holdout is closed",
        ),
    )  # fmt: skip


def _noisy(given: Assumptions) -> tuple[Method, ...]:
    ln_beta, beta = given.ln_beta, given.beta

    def bassily(bound: Callable[[int, int], float]) -> Callable[[int, int], float]:
        return lambda n, k: bound(n, k) if beta <= _BASSILY_BETA else math.inf

    def thresholdout(n: int, k: int) -> float:
        if ln_beta > -LN_2:
            return math.inf
        threshold = -given.guess_error(n) * float(ndtri(0.5 * _FALSE_HITS / k))
        hits = max(int(poisson.ppf(0.95, _FALSE_HITS + k * given.surprise_rate)), 1)
        return thresholdout_direct(n, k, hits, ln_beta, threshold=threshold).half_width

    return (
        Method(
            "Gaussian noise, direct", lambda n, k: gaussian_direct(n, k, ln_beta).half_width, ALL,
            "transfer theorem of sklearn_ada.guarantees.transfer",
        ),
        Method(
            "Gaussian noise, Jung", lambda n, k: gaussian_jung(n, k, ln_beta).half_width, ALL,
            "Jung et al. 2020 with the exact privacy curve",
        ),
        Method(
            "Gaussian noise, Rogers", lambda n, k: gaussian_rogers(n, k, ln_beta).half_width, ALL,
            "mutual information, Rogers et al. 2020, corrected",
        ),
        Method(
            "Gaussian noise, Bassily", bassily(lambda n, k: gaussian_bassily(n, k, ln_beta).half_width), ALL,
            "Bassily et al. 2016 with the exact privacy curve; confidence of 0.75 or more",
        ),
        Method(
            "Laplace noise, Bassily", bassily(lambda n, k: laplace_bassily(n, k, beta).half_width), ALL,
            "Bassily et al. 2016, lecture 19; confidence of 0.75 or more",
        ),
        Method(
            "Thresholdout", thresholdout, ALL,
            "Laplace noise and a budget of hits, direct transfer; confidence of 0.5 or more",
        ),
    )  # fmt: skip


def _medians(given: Assumptions) -> tuple[Method, ...]:
    ln_beta, grid_size = given.ln_beta, given.grid_size
    guess_subsamples = given.guess_rows and max(given.guess_rows // given.subsample_size, 1)

    def median(name: str, level: Callable[[int, int], float], note: str) -> Method:
        """Return the method of a median whose level depends on the subsamples and the questions."""

        def half_width(n: int, k: int) -> float:
            m = n // given.subsample_size
            return 0.5 - level(m, k) if m else 0.5

        return Method(name, half_width, ALL, note, LEVEL, block=given.subsample_size)

    def exact(level: Callable[[int, int], float]) -> Callable[[int, int], float]:
        """Leave one of an even number of subsamples out: their lower median has fewer on one of its sides."""
        return lambda m, k: level(m - 1 + m % 2, k)

    def guessed(m: int, k: int) -> float:
        error = MEDIAN_DEVIATION * math.sqrt(1.0 / m + 1.0 / (guess_subsamples or m))
        checks = plan_checks(
            k, error, MEDIAN_DEVIATION, m, ln_beta,
            surprise_rate=given.surprise_rate,
        )  # fmt: skip
        return checks.check(lambda ln_delta: quantile_interval(m, 0.0, ln_delta)[0])

    def feldman_steinke(m: int, k: int) -> float:
        if given.beta >= 0.5:
            return 0.0
        enough = feldman_steinke_2017_theorem_4_3(k, grid_size, given.beta, failure="beta")
        return 0.25 if m >= enough else 0.0

    def private(transfer: str) -> Callable[[int, int], float]:
        return lambda m, k: stable_median_level(m, k, grid_size, ln_beta, transfer=transfer).level

    return (
        median(
            "median, guessed", exact(guessed),
            "exact median of an odd number of subsamples, coded around a guess; expected if guesses hold",
        ),
        median(
            "median, uniform code", exact(lambda m, k: uniform_code_level(m, k, grid_size, ln_beta)),
            "exact median of an odd number of subsamples on a grid, without a guess",
        ),
        median("median, direct", private("direct"), "exponential mechanism, direct transfer"),
        median("median, Jung", private("jung"), "exponential mechanism, Jung et al. 2020"),
        median(
            "median, Feldman-Steinke", feldman_steinke,
            "Theorem 4.3 of 2017: the level 1/4 or nothing; confidence above 0.5",
        ),
    )  # fmt: skip


MOST_ROWS = 10**12
"""No plan for more records than this."""
MOST_QUESTIONS = 10**9
"""No plan for more questions than this."""

_STRIDE = 8  # ratio of the numbers tried until the crossing is behind


def fewest_rows(half_width: Callable[[int], float], width: float, most: int = MOST_ROWS) -> int | None:
    """Return the smallest n with ``half_width(n) <= width``, for a half-width that falls; None if none.

    Examples
    --------
    >>> fewest_rows(lambda n: n**-0.5, 0.01), fewest_rows(lambda n: 0.25, 0.01)
    (10000, None)
    """
    n = _last(lambda value: not value <= width, half_width, width, most) + 1
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
    holds: Callable[[float], bool],
    half_width: Callable[[int], float],
    width: float,
    most: int,
    start: int = 1,
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
        share = low_gap / (low_gap - high_gap) if low_gap != high_gap else math.nan
        if self.stalled >= 3 or not 0.0 < share < 1.0:
            return math.isqrt(max(low, 1) * high)
        return round(math.exp(math.log(low) + share * (math.log(high) - math.log(low))))


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
        Half-width reached with these records and questions; where there is none, the one asked for.
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


def solve(method: Method, n: int | None, n_questions: int | None, width: float | None) -> MethodPlan:
    """Return the row of a method, given two of the three: the third is solved for, rounded to be safe."""
    note, vacuous, rows = method.note, False, float("nan")
    questions = n_questions or 0
    if n is None:
        assert n_questions is not None
        assert width is not None
        block = method.block
        blocks = fewest_rows(lambda m: method.half_width(m * block, questions), width, MOST_ROWS // block)
        found = None if blocks is None else blocks * block
        rows, vacuous = (math.inf, True) if found is None else (found, False)
        reached = width if found is None else method.half_width(found, questions)
        note += f"; no number of records up to {MOST_ROWS:,} is enough" if vacuous else ""
    elif n_questions is None:
        assert width is not None
        if method.certifies == ONE:
            questions = int(method.half_width(n, 1) <= width)
        else:
            questions = most_questions(lambda k: method.half_width(n, k), width)
        rows, vacuous = n, questions == 0
        reached = width if vacuous else method.half_width(n, questions)
        note += f"; the search ends at {MOST_QUESTIONS:,}" if questions == MOST_QUESTIONS else ""
    else:
        rows, reached = n, method.half_width(n, questions)
        vacuous = is_vacuous(reached)
    return MethodPlan(
        method.name, rows, 1 if method.certifies == ONE and questions else questions, reached, method.unit,
        method.certifies, method.adaptive, vacuous, note,
    )  # fmt: skip


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

        For a single question that is a plain holdout. Of searches, what is said of each winner at once counts
        as well. Where pass or fail is all that is wanted, it is the row of verdicts, which need no guess.
        """
        if self.n_questions != 1:
            return self._best_of(MEAN)
        return None if self["one use"].vacuous else self["one use"]

    @property
    def best_median(self) -> MethodPlan | None:
        """The best stable median, for metrics that are not means; None if none certifies anything."""
        return None if self.given.verdicts else self._best_of(LEVEL)

    def __getitem__(self, method: str) -> MethodPlan:
        for row in self.rows:
            if row.method == method:
                return row
        known = ", ".join(repr(row.method) for row in self.rows)
        raise KeyError(f"The plan has no method {method!r}. It has {known}.")

    def _best_of(self, unit: str) -> MethodPlan | None:
        certified = (ALL, WINNERS) if self.of_searches else (VERDICTS,) if self.given.verdicts else (ALL,)
        able = [
            row
            for row in self.rows
            if row.adaptive and row.certifies in certified and row.unit == unit and not row.vacuous
        ]
        sign = -1.0 if self.solved_for == "n_questions" else 1.0
        return min(able, key=lambda row: sign * getattr(row, self.solved_for), default=None)
