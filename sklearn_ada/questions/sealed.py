"""What a metric needs to be answered in cells: a statistic on a lattice, and its tail at any level.

A *sealed* answer tells in which cell a statistic lies, and keeps the statistic itself hidden, to be told
later at the failure probability of the asking. A statistic that can be sealed says

- which point of a lattice of integers it is (`SealedStatistic.point_of`), which is all that is sealed;
- how the points are put into cells, and how likely the code takes each cell, and each point of a cell, to be;
- what a cell, or a point, certifies at a level that was fixed beforehand (description length), and what a
  cell certifies by the transcript theorem.

All of it is fixed without the holdout, stands in the question's record and can be rebuilt from that
(`statistic_from`): nothing that comes after the asking tunes it.

A sealed certify: the cell of the value is told, the value itself keeps for later.

The interval that is said meanwhile is what lies in two: that of the cell at the question's own failure
probability (description length, the share s1), and that of the transcript theorem (the share s2), which needs
no weight and no horizon, only what was said so far. Both hold together
(`sklearn_ada.guarantees.weights`). The value is told later, at the failure probability of
the asking (`sklearn_ada.guarantees.cells`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

from sklearn_ada.accounting.codes import CountCode, largest_unsealing_nats, symbols_of
from sklearn_ada.accounting.events import CountRelease, CountSymbol, Event, Symbol
from sklearn_ada.guarantees.description_length import intersection, question_interval
from sklearn_ada.guarantees.transcript import THEOREM, transcript_cell_interval, transcript_interval
from sklearn_ada.mechanisms.rounding import WINNER_WIDTH, CountCells, guess_error
from sklearn_ada.metrics.base import Measured
from sklearn_ada.questions.coded import CodedQuestion, RefinedCheck
from sklearn_ada.questions.question import Draw, Guess, Outcome
from sklearn_ada.terms.holdout_data import HoldoutData
from sklearn_ada.terms.models import Observation, observed
from sklearn_ada.terms.policy import FailureBudget
from sklearn_ada.terms.privacy_account import NoPrivacy

Ends = tuple[float, float]
_FINE = 10_000.0  # points to a standard error, so that the width of a cell is whole


class SealedStatistic(Protocol):
    """A statistic whose point on a lattice is sealed, and of which only the cell is told."""

    @property
    def theorem(self) -> str:
        """Name of the bound for one question that was fixed beforehand."""

    @property
    def step(self) -> float:
        """How wide a cell is, in units of the metric."""

    @property
    def expected(self) -> int:
        """The point that the guess suggests."""

    def describe(self) -> dict[str, Any]:
        """Return all that is fixed, ready for JSON."""

    def point_of(self, measured: Measured) -> int:
        """Return the statistic of these rows: what is sealed."""

    def value(self, point: int) -> float:
        """Return the metric's value at a point."""

    def centre(self, cell: int) -> float:
        """Return the metric's value in the middle of a cell."""

    def cell_of(self, point: int) -> int:
        """Return the number of the cell that holds a point."""

    def ends(self, cell: int) -> tuple[int, int]:
        """Return the first and the last point of a cell that a statistic can be."""

    def symbol(self, stream: str, value: int | str) -> CountSymbol:
        """Return the symbol of a cell, or of a failure."""

    def symbol_within(self, point: int, known: tuple[int, int]) -> CountSymbol:
        """Return the symbol of a point that is known to be one of these."""

    def largest_unsealing_nats(self, known: tuple[int, int]) -> float:
        """Return the price of the dearest of the points that are known to be possible."""

    def fixed_interval(self, low: int, high: int, ln_delta: float) -> Ends:
        """Return what points certify at a level that was fixed before anything was said of them."""

    def transcript_interval(self, low: int, high: int, ln_beta: float, nats: float) -> Ends:
        """Return what a cell certifies by the transcript theorem; ``nats`` include its own price."""


@dataclass(frozen=True)
class LossCount:
    """How many of n rows have a 0/1 loss (or score) of 1, in cells of counts around the guess.

    Parameters
    ----------
    n : int
        Number of rows.
    base, width : int
        First count of cell 0, and counts in a cell.
    expected_count, tau : float
        The count that the guess suggests, and its standard error.
    half : float
        Half a cell in standard errors.
    identical_rows : bool
        Whether rows are draws of one law; not where intervals are at the holdout's class mix.
    """

    n: int
    base: int
    width: int
    expected_count: float
    tau: float
    half: float
    identical_rows: bool
    theorem = "Clopper-Pearson"

    @classmethod
    def around(cls, question: CodedQuestion, n: int, *, identical_rows: bool, width: float) -> Self:
        """Fix cells and code from the guess; ``width`` is half a cell in standard errors."""
        guess = question.guess
        rows = max(round(guess.size or n), 1)
        cells = CountCells.around(n, guess=guess.value, guess_rows=rows, width=width)
        tau = guess_error(n, guess.value, rows)
        return cls(n, cells.base, cells.width, n * guess.value, tau, width, identical_rows)

    @property
    def _cells(self) -> CountCells:
        return CountCells(self.n, self.base, self.width)

    @property
    def code(self) -> CountCode:
        """How likely each count is taken to be."""
        return CountCode(self.expected_count, self.tau)

    @property
    def step(self) -> float:
        """How wide a cell is, as a share of the rows."""
        return self.width / self.n

    @property
    def expected(self) -> int:
        """The count that the guess suggests."""
        return min(max(round(self.expected_count), 0), self.n)

    def describe(self) -> dict[str, Any]:
        """Return all that is fixed, ready for JSON."""
        return {"statistic": "loss count", **vars(self)}  # all plain numbers: asdict would copy each

    def point_of(self, measured: Measured) -> int:
        """Return the count."""
        return round(measured.value * self.n)

    def value(self, point: int) -> float:
        """Return the count as a share of the rows."""
        return point / self.n

    def centre(self, cell: int) -> float:
        """Return the middle of a cell as a share of the rows."""
        return self._cells.centre(cell)

    def cell_of(self, point: int) -> int:
        """Return the number of the cell that holds a count."""
        return self._cells.index(point)

    def ends(self, cell: int) -> tuple[int, int]:
        """Return the first and the last count of a cell, within 0 to n."""
        return self._cells.counts(cell)

    def symbol(self, stream: str, value: int | str) -> CountSymbol:
        """Return the symbol of a cell, or of a failure.

        All candidates of a search have one code, that of cells so many standard errors wide: then what they
        cost together does not depend on the order in which they are recorded.
        """
        if stream == "candidate":
            half = round(_FINE * self.half)
            return CountSymbol(stream, value, -half, 2 * half, -0.5, _FINE)
        return CountSymbol(stream, value, self.base, self.width, self.expected_count, self.tau)

    def symbol_within(self, point: int, known: tuple[int, int]) -> CountSymbol:
        """Return the symbol of a count that is known to be one of these."""
        low, high = known
        return CountSymbol("unsealed", point, low, high - low + 1, self.expected_count, self.tau)

    def largest_unsealing_nats(self, known: tuple[int, int]) -> float:
        """Return the price of the dearest of the counts that are known to be possible."""
        return largest_unsealing_nats(*known, self.code)

    def fixed_interval(self, low: int, high: int, ln_delta: float) -> Ends:
        """Return Clopper and Pearson's interval; the whole range where nothing is left of the level."""
        if ln_delta == -math.inf:
            return 0.0, 1.0
        return question_interval(low, high, self.n, ln_beta=ln_delta, weight=1.0, nats=0.0)

    def transcript_interval(self, low: int, high: int, ln_beta: float, nats: float) -> Ends:
        """Return the binomial tails from the cell's edges or, of identical rows, the cell's probability."""
        if self.identical_rows:
            return transcript_cell_interval(low, high, self.n, ln_beta=ln_beta, nats=nats)
        return transcript_interval(low, high, self.n, ln_beta=ln_beta, nats=nats, identical_rows=False)


_KINDS = {"loss count": LossCount}


def statistic_of(
    question: CodedQuestion, data: HoldoutData, *, identical_rows: bool, width: float = WINNER_WIDTH
) -> SealedStatistic | None:
    """Return what can be sealed of a question, or None: then it is answered as if nothing were.

    A count of 0/1 losses of rows that all count the same, each by itself.
    """
    if question.rule.counts and data.units is None and question.metric.bounds == (0.0, 1.0):
        return LossCount.around(question, len(data), identical_rows=identical_rows, width=width)
    return None


def statistic_from(described: dict[str, Any]) -> SealedStatistic:
    """Return the statistic that `SealedStatistic.describe` told."""
    kind = _KINDS[described["statistic"]]
    names = kind.__dataclass_fields__
    return kind(**{name: described[name] for name in names})


_VERDICTS = {True: "agrees", False: "differs"}


@dataclass(frozen=True)
class Told:
    """What the transcript theorem takes: its share of the failure probability, and L with the own price.

    Attributes
    ----------
    ln_beta : float
    nats : float
    """

    ln_beta: float
    nats: float


@dataclass(frozen=True)
class SealedQuestion(RefinedCheck, NoPrivacy):
    """One certify that is answered with a cell.

    Parameters
    ----------
    coded : CodedQuestion
        The same question, answered at once.
    statistic : SealedStatistic
        What is sealed, and its cells.
    urn : {"winner", "candidate"}
        Which urn learns from the answer.
    """

    coded: CodedQuestion
    statistic: SealedStatistic
    urn: str = "winner"
    stream = "cells"  # under which `asking.ask.look` notes a failure; `release` gives it its own code
    scale = 0.0
    state_name = ""

    @property
    def target(self) -> str:
        """The population quantity, and that the score is the centre of a cell."""
        step = f"{self.statistic.step:.3g}"
        return f"{self.coded.target}, told as the centre of its cell, rounded to steps of {step}"

    def describe(self) -> dict[str, Any]:
        """Return a JSON-ready description of everything that is fixed."""
        return {"name": "sealed", "urn": self.urn, **self.statistic.describe()}

    def exhausted(self, state: dict[str, Any]) -> None:
        """Return None: there is no budget but the tolerance."""

    def evaluate(self, estimator: Any, data: HoldoutData) -> Observation:
        """Look at the holdout and return the point, which nobody is shown."""
        measured, outputs = self.coded.measure(estimator, data)
        return observed(self.metric, self.statistic.point_of(measured), outputs, measured.value)

    def release(
        self, seen: int | tuple[Symbol, ...], share: FailureBudget, draw: Draw
    ) -> tuple[CountRelease, dict[str, Any]]:
        """Return the event of telling the cell, or the failure."""
        if isinstance(seen, int):
            return CountRelease((self.statistic.symbol(self.urn, self.statistic.cell_of(seen)),)), {}
        failure, *more = seen
        return CountRelease((self.statistic.symbol(self.urn, failure.value), *more)), {}

    def expected_symbols(self, share: FailureBudget) -> tuple[Any, ...]:
        """Return what would be released if the guess were exact."""
        return (self.statistic.symbol(self.urn, 0),)

    def half_width_bound(self, share: FailureBudget) -> tuple[float, float]:
        """Return the half-width of the agreeing answer by description length, and the width of the range."""
        return self.agreeing(share, None), 1.0

    def agreeing(self, share: FailureBudget, told: Told | None) -> float:
        """Return the half-width of the answer if the guess holds, known before it is looked at."""
        low, high = self._interval(0, share, told)
        return (high - low) / 2.0

    def read(self, event: Event, share: FailureBudget, state: dict[str, Any]) -> Outcome:
        """Return what the cell certifies by description length."""
        return self.outcome(event, share, None)

    def outcome(self, event: Event, share: FailureBudget, told: Told | None) -> Outcome:
        """Return what the cell certifies; ``told`` is None where description length speaks alone."""
        value = symbols_of(event)[0].value
        if isinstance(value, str):
            return Outcome.failed(value, self.metric.bounds, self.target)
        interval = self._interval(value, share, told)
        theorem = self.statistic.theorem + ("" if told is None else f"; {THEOREM}")
        vacuous = interval[0] <= 0.0 and interval[1] >= 1.0
        centre = self.statistic.centre(value)
        return Outcome(centre, interval, _VERDICTS[value == 0], theorem, self.target, vacuous)

    def of(self, statistic: SealedStatistic, guess: Guess) -> SealedQuestion:
        """Return the question as it was asked with this guess."""
        return replace(self, coded=replace(self.coded, guess=guess), statistic=statistic)

    def _interval(self, cell: int, share: FailureBudget, told: Told | None) -> tuple[float, float]:
        ends = self.statistic.ends(cell)
        fixed = self.statistic.fixed_interval(*ends, share.ln_delta)
        if told is None:
            return fixed
        return intersection(fixed, [self.statistic.transcript_interval(*ends, told.ln_beta, told.nats)])
