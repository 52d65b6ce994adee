"""A sealed answer: the cell of a value is released, and the value itself kept for later.

The interval meanwhile is the intersection of two: that of the cell by description length (with the part s1 of
the failure probability), and that of the transcript theorem (with the part s2), which needs no stake and no
horizon, only what was released so far. Both hold together (`sklearn_ada.guarantees.intersection`). The value
is released later, at the level of the asking (`sklearn_ada.guarantees.question_interval`).

What is sealed is a count of losses (`LossCount`), which stands with its cells, and with the probabilities
that the code gives them, in the question's record. All of it is fixed without the holdout and can be rebuilt
from that record: nothing that comes after the asking tunes it.
"""

from __future__ import annotations

import hashlib
import hmac
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

from sklearn_ada._validation import plain
from sklearn_ada.accounting.codes import CountCode, largest_unsealing_nats, symbols_of
from sklearn_ada.accounting.events import CountRelease, CountSymbol, Event
from sklearn_ada.exceptions import LedgerDamagedError
from sklearn_ada.guarantees.description_length import intersection, question_interval
from sklearn_ada.guarantees.transcript import THEOREM, transcript_cell_interval, transcript_interval
from sklearn_ada.mechanisms.rounding import WINNER_WIDTH, CountCells, candidate_width, guess_error
from sklearn_ada.questions.all_rows import by_value_alone
from sklearn_ada.questions.coded import CodedQuestion, RefinedQuestion
from sklearn_ada.questions.question import Draw, Failure, Guess, Outcome, Question, Released
from sklearn_ada.terms.holdout_data import HoldoutData
from sklearn_ada.terms.outputs import Observation, observed
from sklearn_ada.terms.policy import Allowance, Policy

Ends = tuple[float, float]
# Counts of cells are checked where the cells are made.
_guess_error, _question_interval = plain(guess_error), plain(question_interval)
_FINE = 10_000.0  # points to a standard error, so that the width of a cell is whole


@dataclass(frozen=True)
class SealedQuestion(RefinedQuestion):
    """One certify that is answered with a cell.

    Parameters
    ----------
    coded : CodedQuestion
        The same question, answered at once.
    statistic : LossCount
        What is sealed, and its cells.
    urn : {"winner", "candidate"}
        Which urn learns from the answer.
    """

    statistic: LossCount
    urn: str = "winner"
    stream = "cells"  # under which a look notes a failure; `release` gives it its own code
    scale = 0.0
    may_be_declared = True
    is_found_by_subject = True

    @property
    def exact(self) -> Question:
        """The same question, answered at once."""
        return self.coded

    @property
    def target(self) -> str:  # type: ignore[override]
        """The population quantity, and that the score is the centre of a cell."""
        step = f"{self.statistic.step:.3g}"
        return f"{self.coded.target}, told as the centre of its cell, rounded to steps of {step}"

    def describe(self) -> dict[str, Any]:
        """Return a JSON-ready description of everything that is fixed."""
        return {"name": "sealed", "urn": self.urn, **self.statistic.describe()}

    def evaluate(self, estimator: Any, data: HoldoutData) -> Observation:
        """Look at the holdout and return the point, which nobody is shown."""
        measured, outputs = self.coded.measure(estimator, data)
        return observed(self.metric, round(measured.value * self.statistic.n), outputs, measured.value)

    def release(self, seen: int | Failure, allowance: Allowance, draw: Draw) -> Released:
        """Return the event of releasing the cell, or the failure."""
        if isinstance(seen, int):
            return CountRelease((self.statistic.symbol(self.urn, self.statistic.cells.index(seen)),)), {}
        failure, *more = seen
        return CountRelease((self.statistic.symbol(self.urn, failure.value), *more)), {}

    def expected_symbols(self, allowance: Allowance) -> tuple[Any, ...]:
        """Return what would be released if the guess were exact."""
        return (self.statistic.symbol(self.urn, 0),)

    def half_width_bound(
        self, allowance: Allowance, transcript: Transcript | None = None
    ) -> tuple[float, float]:
        """Return the half-width of the agreeing answer, and the width of the range."""
        low, high = self._interval(0, allowance, transcript)
        return (high - low) / 2.0, 1.0

    def foreseen_half_width(
        self, allowance: Allowance, transcript_of: Callable[[Event], Transcript]
    ) -> tuple[float, float]:
        """Return the half-width if the guess holds: a surprise is wider, and may not decide on admission."""
        return self.half_width_bound(allowance, transcript_of(CountRelease(self.expected_symbols(allowance))))

    def read(self, event: Event, allowance: Allowance, memory: dict[str, Any]) -> Outcome:
        """Return what the cell certifies by description length."""
        return self.outcome(event, allowance, memory, None)

    def outcome(
        self, event: Event, allowance: Allowance, memory: dict[str, Any], transcript: Transcript | None
    ) -> Outcome:
        """Return what the cell certifies; ``transcript`` is None where description length speaks alone."""
        value = symbols_of(event)[0].value
        if isinstance(value, str):
            return Outcome.failed(value, self.metric.bounds, self.target)
        interval = self._interval(value, allowance, transcript)
        theorem = self.statistic.theorem + ("" if transcript is None else f"; {THEOREM}")
        vacuous = interval[0] <= 0.0 and interval[1] >= 1.0
        centre, verdict = self.statistic.cells.centre(value), "differs" if value else "agrees"
        return Outcome(centre, interval, verdict, theorem, self.target, vacuous)

    def _interval(self, cell: int, allowance: Allowance, transcript: Transcript | None) -> Ends:
        ends, statistic = self.statistic.cells.counts(cell), self.statistic
        fixed = statistic.fixed_interval(*ends, allowance.ln_delta)
        if transcript is None:
            return fixed
        by_transcript = statistic.transcript_interval(*ends, transcript.ln_beta, transcript.nats)
        return intersection(fixed, [by_transcript])


def in_cells(
    question: Question, data: HoldoutData, policy: Policy, candidates: int | None = None
) -> SealedQuestion | None:
    """Return the question as it is answered with a cell; None where it is answered as on any ledger.

    What can be sealed is a count of 0/1 losses of rows that all count the same, each by itself.
    ``candidates`` is of how many candidates of one search it is a check, whose cells are the wider.
    """
    if not (policy.seals and isinstance(question, CodedQuestion)):
        return None
    if not question.rule.counts or data.units is not None or question.metric.bounds != (0.0, 1.0):
        return None
    urn, width = "winner", WINNER_WIDTH
    if question.purpose == "check":
        if candidates is None or question.is_chosen:
            return None
        urn, width = "candidate", candidate_width(candidates)
    same_mix = policy.class_mix == "priced" or not data.is_classification
    identical, guess, n = same_mix and not question.given_rows, question.guess, len(data)
    size = guess.size or n
    statistic = LossCount.around(guess.value, size, n, identical_rows=identical, width=width)
    return SealedQuestion(question, statistic, urn)


def as_recorded(
    question: Question, guess: Guess, mechanism: dict[str, Any], data: HoldoutData, policy: Policy
) -> Question:
    """Return a question as a record has it: with the guess of its asking, which has fixed its cells."""
    if not isinstance(question, CodedQuestion):
        return question
    if mechanism["name"] == "sealed":
        return SealedQuestion(replace(question, guess=guess), LossCount.described(mechanism))
    return by_value_alone(CodedQuestion.plan("certify", question.metric, guess, data, policy), mechanism)


@dataclass(frozen=True)
class LossCount:
    """How many of n rows have a loss of 1, in cells around the guess.

    Losses (or scores) are 0 or 1.

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
    def around(cls, guess: float, size: float, n: int, *, identical_rows: bool, width: float) -> Self:
        """Fix cells and code from a guess made on ``size`` rows; ``width`` is half a cell in its errors."""
        rows = max(round(size), 1)
        cells = CountCells.around(n, guess=guess, guess_rows=rows, width=width)
        return cls(n, cells.base, cells.width, n * guess, _guess_error(n, guess, rows), width, identical_rows)

    @classmethod
    def described(cls, mechanism: dict[str, Any]) -> Self:
        """Return the statistic that `describe` wrote into a record."""
        return cls(**{name: mechanism[name] for name in cls.__dataclass_fields__})

    @property
    def cells(self) -> CountCells:
        """The cells of the counts."""
        return CountCells(self.n, self.base, self.width)

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

    def symbol(self, stream: str, value: int | str) -> CountSymbol:
        """Return the symbol of a cell, or of a failure.

        All candidates of a search have one code, that of cells so many standard errors wide: then what they
        cost together does not depend on the order in which they are recorded.
        """
        if stream == "candidate":
            half = round(_FINE * self.half)
            return CountSymbol(stream, value, -half, 2 * half, -0.5, _FINE)
        return CountSymbol(stream, value, self.base, self.width, self.expected_count, self.tau)

    def symbol_within(self, point: int, possible: tuple[int, int]) -> CountSymbol:
        """Return the symbol of a count that is one of these."""
        low, high = possible
        return CountSymbol("unsealed", point, low, high - low + 1, self.expected_count, self.tau)

    def largest_unsealing_nats(self, possible: tuple[int, int]) -> float:
        """Return the price of the dearest of the counts that are possible."""
        return largest_unsealing_nats(*possible, CountCode(self.expected_count, self.tau))

    def fixed_interval(self, low: int, high: int, ln_delta: float) -> Ends:
        """Return Clopper and Pearson's interval; the whole range where nothing is left of the level."""
        if ln_delta == -math.inf:
            return 0.0, 1.0
        return _question_interval(low, high, self.n, ln_beta=ln_delta, weight=1.0, nats=0.0)

    def transcript_interval(self, low: int, high: int, ln_beta: float, nats: float) -> Ends:
        """Return the binomial tails from the cell's edges or, of identical rows, the cell's probability."""
        if self.identical_rows:
            return transcript_cell_interval(low, high, self.n, ln_beta=ln_beta, nats=nats)
        return transcript_interval(low, high, self.n, ln_beta=ln_beta, nats=nats, identical_rows=False)


@dataclass(frozen=True)
class Transcript:
    """What the transcript theorem takes: its level, and the nats with the own price.

    Attributes
    ----------
    ln_beta : float
    nats : float
    """

    ln_beta: float
    nats: float


# The value itself, as its record keeps it where no public key was given (else `terms.seal_key`).

_BYTES = 8  # of a value


def sealed_context(fingerprint: str, key: str) -> str:
    """Return what a value is sealed for: the record of this key, of a ledger with this genesis."""
    return f"sealed {fingerprint} {key}"


def hidden(point: int, secret: bytes, context: str) -> str:
    """Return a point as its record keeps it, hidden by the ledger's secret."""
    return _padded(point.to_bytes(_BYTES, "big", signed=True), secret, context).hex()


def shown(text: str, secret: bytes, context: str) -> int:
    """Return the point that `hidden` hid."""
    try:
        return int.from_bytes(_padded(bytes.fromhex(text), secret, context), "big", signed=True)
    except (TypeError, ValueError) as error:
        raise LedgerDamagedError(
            "What a record keeps sealed cannot be read: the ledger was edited."
        ) from error


def _padded(content: bytes, secret: bytes, context: str) -> bytes:
    """Return bytes under the pad of a record, which also takes it off."""
    pad = hmac.new(secret, context.encode(), hashlib.sha256).digest()[:_BYTES]
    return bytes(a ^ b for a, b in zip(content, pad, strict=True))
