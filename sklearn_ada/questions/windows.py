"""A certify that is answered with a window: value and interval are sealed.

Any question that has an interval is answered so on a ledger that answers coarsely, if its guess foresees
where the interval will lie (`sklearn_ada.guarantees.windows`): an area under a curve, an error of numbers,
the difference of two models. What is released is the number of a window; value and interval, at the level of
the asking, are kept for later. Counts of 0/1 losses have narrower cells instead
(`sklearn_ada.questions.sealed`).

Without a guess nothing can be foreseen: such a certify is answered exactly, at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from scipy.special import ndtr, stdtrit

from sklearn_ada._validation import LN_2
from sklearn_ada.accounting.codes import symbols_of
from sklearn_ada.accounting.events import BLOCKS, CountRelease, Event
from sklearn_ada.guarantees.description_length import FINAL, intersection
from sklearn_ada.guarantees.intervals import Interval
from sklearn_ada.guarantees.transcript import THEOREM
from sklearn_ada.guarantees.windows import LEAST_SLACK, SLACK, Windows
from sklearn_ada.mechanisms.rounding import winner_width
from sklearn_ada.metrics.counted import Counts
from sklearn_ada.metrics.metric import Metric
from sklearn_ada.questions.all_rows import RowsQuestion, with_rows_interval
from sklearn_ada.questions.coded import CodedQuestion, RefinedQuestion, Rows
from sklearn_ada.questions.question import (
    Draw,
    Failure,
    Guess,
    Outcome,
    Question,
    Released,
    Transcript,
    rounded,
)
from sklearn_ada.questions.seals import (
    LEAST_LN_DELTA,
    SealedInterval,
    SealedTable,
    interval_or_table,
    seal_of,
)
from sklearn_ada.terms.holdout_data import HoldoutData
from sklearn_ada.terms.outputs import Observation, observed
from sklearn_ada.terms.policy import Allowance, Policy

_FEW_ROWS = 100.0  # of a guess, whose precision is not well known then
_LIKELY_NATS = 0.04  # of a window that was announced
_DIGITS = 4  # of what foresees a window: the shorter a record is, the more of them are on one page


@dataclass(frozen=True)
class WindowQuestion(RefinedQuestion):
    """One certify that is answered with a window.

    Parameters
    ----------
    coded : CodedQuestion
        The same question, with the interval that follows from its value alone.
    whole : CodedQuestion or RowsQuestion
        The same question, answered at once.
    seal : SealedInterval
        What is sealed, and its windows.
    ln_level : float or None
        Logarithm of the level of one side of the announced window, once the records before it are fixed; None
        where description length speaks alone.
    """

    whole: CodedQuestion | RowsQuestion
    seal: SealedInterval
    ln_level: float | None = None
    stream = "cells"  # under which a look notes a failure; `release` gives it its own code
    scale = 0.0
    urn = "winner"
    is_found_by_subject = True

    @property
    def is_drawn(self) -> bool:  # type: ignore[override]
        """Whether the interval draws something from the ledger's secret."""
        return self.whole.is_drawn

    @property
    def exact(self) -> Question:
        """The same question, answered at once."""
        return self.whole

    @property
    def target(self) -> str:  # type: ignore[override]
        """The population quantity, and that the score is a guess."""
        return f"{self.coded.target}, shown as the guess, or moved to its window"

    def describe(self) -> dict[str, Any]:
        """Return a JSON-ready description of everything that is fixed."""
        drawn = {"drawn": True} if self.is_drawn else {}
        return {"name": "sealed", **self.seal.describe(), **drawn}

    def chosen(self) -> dict[str, Any] | None:
        """Return nothing: the guess fixes the windows."""
        return {}

    def after(self, transcript_of: Callable[[Event], Transcript] | None) -> WindowQuestion:
        """Return the question as it is asked after some records, which fix its level."""
        if transcript_of is None:
            return replace(self, ln_level=None)
        transcript = transcript_of(CountRelease((self.seal.symbol(self.urn, 0),)))
        return replace(self, ln_level=transcript.ln_beta - transcript.nats)

    def evaluate(self, estimator: Any, data: HoldoutData) -> Observation:
        """Look at the holdout: return what intervals are made of, which nobody is shown."""
        seen, outputs = self.coded.rows_seen(estimator, data)
        return observed(self.metric, seen, outputs, seen.value, by_value=data.by_value)

    def coarse(self, seen: Any) -> Any:
        """Return nothing: which window it is follows from the records before."""
        return []

    def point(self, seen: Rows, ln_delta: float, draw: Draw, final: float) -> Any:
        """Return the value and what is in both intervals: at its level, and at that of a final.

        Of a table these are the counts.
        """
        counts = self._counts(seen)
        if counts is not None:
            return counts
        now, before = self.whole.ends(seen, (final, ln_delta), draw)
        return seen.value, *intersection(now, [before])

    def release(self, seen: Rows | Failure, allowance: Allowance, draw: Draw) -> Released:
        """Return the event of releasing the number of the window, or the failure."""
        return self.sealing(seen, allowance, draw)[0]

    def sealing(self, seen: Rows | Failure, allowance: Allowance, draw: Draw) -> tuple[Released, Any]:
        """Return what is released, and value and interval, which are sealed.

        The interval is evaluated at the same levels whatever comes of it.
        """
        if isinstance(seen, tuple):
            failure, *more = seen
            return (CountRelease((self.seal.symbol(self.urn, failure.value), *more)), {}), None
        ln_delta, ln_asked = allowance.ln_delta, max(allowance.ln_delta, LEAST_LN_DELTA) - LN_2
        ln_level = ln_asked if self.ln_level is None else self.ln_level
        announced, asked = self.whole.ends(seen, (ln_level + LN_2, ln_delta), draw, 1)
        number = self.seal.windows.released(announced, ln_level, asked, ln_asked)
        point = self._counts(seen) or (seen.value, *asked)
        return (CountRelease((self.seal.symbol(self.urn, number),)), {}), point

    def _counts(self, seen: Rows) -> Counts | None:
        """Return the counts that are sealed; None where value and ends are."""
        if not isinstance(self.seal, SealedTable):
            return None
        assert isinstance(self.whole, RowsQuestion)
        return self.whole.counts(seen)

    def expected_symbols(self, allowance: Allowance) -> tuple[Any, ...]:
        """Return what would be released if the guess were exact."""
        return (self.seal.symbol(self.urn, 0),)

    def half_width_bound(
        self, allowance: Allowance, transcript: Transcript | None = None
    ) -> tuple[float, float]:
        """Return the half-width if the answer agrees with the guess, and the range's width."""
        ln_level = allowance.ln_delta - LN_2 if transcript is None else transcript.ln_beta - transcript.nats
        low, high = self.seal.windows.window(0, ln_level)
        return (high - low) / 2.0, self.metric.width

    def foreseen_half_width(
        self, allowance: Allowance, transcript_of: Callable[[Event], Transcript]
    ) -> tuple[float, float]:
        """Return the half-width if the guess holds: a surprise is wider, and may not decide on admission."""
        return self.half_width_bound(allowance, transcript_of(CountRelease(self.expected_symbols(allowance))))

    def described_outcome(self, event: Event, allowance: Allowance, memory: dict[str, Any]) -> Outcome:
        """Return what the window certifies."""
        number, windows = symbols_of(event)[0].value, self.seal.windows
        if isinstance(number, str):
            return Outcome.failed(self.metric.why_failed(number), self.metric.bounds, self.target)
        low, high = _outwards(self.seal.span(number, self.ln_level, allowance.ln_delta), windows)
        by_transcript = number == 0 and self.ln_level is not None
        theorem = self._theorem + (f"; {THEOREM}" if by_transcript else "")
        vacuous, verdict = low <= windows.bottom and high >= windows.top, "differs" if number else "agrees"
        return Outcome(windows.value(number), (low, high), verdict, theorem, self.target, vacuous)

    def outcome(
        self, event: Event, allowance: Allowance, memory: dict[str, Any], transcript: Transcript | None
    ) -> Outcome:
        """Return what the window certifies, at the level that was fixed before."""
        return self.described_outcome(event, allowance, memory)

    @property
    def _theorem(self) -> str:
        if not isinstance(self.whole, RowsQuestion):
            return self.coded.measure.theorem
        return self.whole.theorem


def in_windows(
    question: Question, data: HoldoutData, policy: Policy, *, asks: int, nats: float
) -> WindowQuestion | None:
    """Return the question as it is answered with a window; None if it is answered as on any ledger.

    Parameters
    ----------
    question : Question
        In the form in which it would be answered at once.
    data : HoldoutData
    policy : Policy
    asks : int
        How many questions about winners the ledger has answered before: windows widen with it.
    nats : float
        What was released before, at about whose level the windows are announced.
    """
    coded = question.coded if isinstance(question, RowsQuestion) else question
    if not (policy.seals and policy.format >= 3 and isinstance(coded, CodedQuestion)):
        return None
    if coded.purpose != "certify" or coded.error is None:
        return None
    whole = question if isinstance(question, RowsQuestion) else replace(coded.untilted, variance=None)
    assert isinstance(whole, CodedQuestion | RowsQuestion)
    guess, (bottom, top), half = coded.guess, coded.metric.bounds, rounded(winner_width(asks + 1), _DIGITS)
    by_rows = isinstance(whole, RowsQuestion)
    tau = rounded(_error(coded, whole, half), _DIGITS)
    ln_level = rounded(policy.ln_transcript - nats - _LIKELY_NATS, _DIGITS)
    low, high = map(rounded, whole.announced(ln_level + LN_2, half * tau))
    low, high = min(max(low, bottom), guess.value), max(min(high, top), guess.value)
    slack = SLACK if by_rows or coded.measure.size_is_released else LEAST_SLACK
    slack *= coded.measure.unsteadiness
    windows = Windows(guess.value, low, high, ln_level, tau, half, slack, bottom, top)
    recorded = whole.construction.recorded if isinstance(whole, RowsQuestion) else {}
    tuning = {**coded.measure.tuning(guess.details), **recorded}
    counted = whole.construction.counted if isinstance(whole, RowsQuestion) else None
    varies = by_rows and counted is None and policy.format >= BLOCKS
    by_value: tuple[float, ...] = ()
    if varies or (not by_rows and policy.format >= 4):
        by_value = _by_value(whole, policy.ln_sealed + math.log(FINAL) - nats, tau)
    tilted = isinstance(whole, RowsQuestion) and whole.construction.is_tilted
    seal = SealedInterval(windows, tuning, tilted, (*by_value[:2], *by_value[3:4]) if varies else by_value)
    return WindowQuestion(coded, whole, interval_or_table(seal, counted))


def _outwards(window: Interval, windows: Windows) -> Interval:
    """Return a window with eleven digits, as it is recorded."""
    low, high = (
        rounded(end + sign * 5e-11 * abs(end), 11) for end, sign in zip(window, (-1.0, 1.0), strict=True)
    )
    return max(low, windows.bottom), min(high, windows.top)


def _by_value(whole: CodedQuestion | RowsQuestion, ln_final: float, tau: float) -> tuple[float, ...]:
    """Return the ends that follow from values at and beside the guess; see `SealedInterval`."""
    at, beside = (whole.announced(ln_final, away) for away in (0.0, tau))
    most = whole.metric.width  # an end that the guess foresees may be infinite
    distances = [min(abs(ends[side] - whole.guess.value), most) for side in (0, 1) for ends in (at, beside)]
    return tuple(rounded(each, _DIGITS) for each in (ln_final - LN_2, *distances))


def _error(coded: CodedQuestion, whole: CodedQuestion | RowsQuestion, half: float) -> float:
    """Return the standard error of the value around the guess, larger where few rows have made that."""
    guess, size, error = coded.guess, coded.size, coded.error or 0.0
    rows = guess.size or size
    made = whole.construction if isinstance(whole, RowsQuestion) else None
    if made is not None and made.error is not None:
        error = made.error
    elif made is not None and made.deviation is not None and guess.deviation is None:
        error = made.deviation * math.sqrt(1.0 / size + 1.0 / rows)
    if rows < _FEW_ROWS:
        error *= float(stdtrit(max(rows - 1.0, 1.0), float(ndtr(half)))) / half
    return min(error, coded.metric.width)


def window_as_recorded(
    question: CodedQuestion,
    metric: Metric,
    guess: Guess,
    mechanism: dict[str, Any],
    data: HoldoutData,
    policy: Policy,
) -> WindowQuestion:
    """Return a question as the record of its window has it: metric, guess and tuning of its asking."""
    seal = seal_of(mechanism)
    assert isinstance(seal, SealedInterval)
    measure, details = metric.measure.with_tuning(seal.tuning)
    metric = metric.measured_by(measure)
    guess = replace(guess, details=details)
    coded = CodedQuestion.plan("certify", metric, guess, data, policy)
    coded = replace(coded, given_rows=question.given_rows)
    drawn = mechanism.get("drawn", False)
    newer = "by" in seal.tuning
    tuned = with_rows_interval(coded, data, policy, drawn=drawn, tilted=seal.tilted, newer=newer)
    whole = tuned or replace(coded, tilt=None, variance=None)
    return WindowQuestion(coded, whole, seal)
