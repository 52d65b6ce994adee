"""A sealed answer: the cell of a value is released, and the value itself kept for later.

The interval meanwhile is the intersection of two: that of the cell by description length (with the part s1 of
the failure probability), and that of the transcript theorem (with the part s2), which needs no stake and no
horizon, only what was released so far. Both hold together (`sklearn_ada.guarantees.intersection`). The value
is released later, at the level of the asking (`sklearn_ada.guarantees.question_interval`).

What is sealed is a count of losses (`sklearn_ada.questions.seals.LossCount`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from sklearn_ada.accounting.codes import symbols_of
from sklearn_ada.accounting.events import CountRelease, Event
from sklearn_ada.guarantees.description_length import intersection
from sklearn_ada.guarantees.tilted import Tilt
from sklearn_ada.guarantees.transcript import THEOREM
from sklearn_ada.mechanisms.rounding import WINNER_WIDTH, candidate_width, winner_width
from sklearn_ada.metrics.metric import Metric
from sklearn_ada.questions.all_rows import as_released
from sklearn_ada.questions.coded import CodedQuestion, RefinedQuestion
from sklearn_ada.questions.question import Draw, Failure, Guess, Outcome, Question, Released, Transcript
from sklearn_ada.questions.seals import Ends, LossCount, SealedInterval, seal_of
from sklearn_ada.questions.windows import window_as_recorded
from sklearn_ada.terms.holdout_data import HoldoutData
from sklearn_ada.terms.outputs import Observation, observed
from sklearn_ada.terms.policy import Allowance, Policy


@dataclass(frozen=True)
class SealedQuestion(RefinedQuestion):
    """One certify that is answered with a cell.

    Parameters
    ----------
    coded : CodedQuestion
        The same question, answered at once.
    seal : LossCount
        What is sealed, and its cells.
    urn : {"winner", "candidate"}
        Which urn learns from the answer.
    """

    seal: LossCount
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
        step = f"{self.seal.step:.3g}"
        return f"{self.coded.target}, told as the centre of its cell, rounded to steps of {step}"

    def describe(self) -> dict[str, Any]:
        """Return a JSON-ready description of everything that is fixed."""
        return {"name": "sealed", "urn": self.urn, **self.seal.describe()}

    def chosen(self) -> dict[str, Any] | None:
        """Return nothing: the guess fixes the cells."""
        return {}

    def evaluate(self, estimator: Any, data: HoldoutData) -> Observation:
        """Look at the holdout and return the point, which nobody is shown."""
        measured, outputs = self.coded.look_at(estimator, data)
        return observed(
            self.metric, round(measured.value * self.seal.n), outputs, measured.value, by_value=data.by_value
        )

    def coarse(self, seen: Any) -> Any:
        """Return the number of the cell."""
        return self.seal.cells.index(seen) if isinstance(seen, int) else super().coarse(seen)

    def release(self, seen: int | Failure, allowance: Allowance, draw: Draw) -> Released:
        """Return the event of releasing the cell, or the failure."""
        if isinstance(seen, int):
            return CountRelease((self.seal.symbol(self.urn, self.seal.cells.index(seen)),)), {}
        failure, *more = seen
        return CountRelease((self.seal.symbol(self.urn, failure.value), *more)), {}

    def expected_symbols(self, allowance: Allowance) -> tuple[Any, ...]:
        """Return what would be released if the guess were exact."""
        return (self.seal.symbol(self.urn, 0),)

    def half_width_bound(
        self, allowance: Allowance, transcript: Transcript | None = None
    ) -> tuple[float, float]:
        """Return the half-width if the answer agrees with the guess, and the range's width."""
        low, high = self._interval(0, allowance, transcript)
        return (high - low) / 2.0, 1.0

    def foreseen_half_width(
        self, allowance: Allowance, transcript_of: Callable[[Event], Transcript]
    ) -> tuple[float, float]:
        """Return the half-width if the guess holds: a surprise is wider, and may not decide on admission."""
        return self.half_width_bound(allowance, transcript_of(CountRelease(self.expected_symbols(allowance))))

    def described_outcome(self, event: Event, allowance: Allowance, memory: dict[str, Any]) -> Outcome:
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
        theorem = self.seal.theorem + ("" if transcript is None else f"; {THEOREM}")
        vacuous = interval[0] <= 0.0 and interval[1] >= 1.0
        centre, verdict = self.seal.cells.centre(value), "differs" if value else "agrees"
        return Outcome(centre, interval, verdict, theorem, self.target, vacuous)

    def _interval(self, cell: int, allowance: Allowance, transcript: Transcript | None) -> Ends:
        ends, count = self.seal.cells.counts(cell), self.seal
        fixed = count.fixed_interval(*ends, allowance.ln_delta)
        if transcript is None:
            return fixed
        by_transcript = count.transcript_interval(*ends, transcript.ln_beta, transcript.nats)
        return intersection(fixed, [by_transcript])


def in_cells(
    question: Question, data: HoldoutData, policy: Policy, candidates: int | None = None, *, asks: int = 0
) -> SealedQuestion | None:
    """Return the question as it is answered with a cell; None where it is answered as on any ledger.

    What can be sealed is a count of 0/1 losses of rows that all count the same, each by itself.

    Parameters
    ----------
    question : Question
    data : HoldoutData
    policy : Policy
    candidates : int or None, default=None
        Of how many candidates of one search it is a check, whose cells are the wider.
    asks : int, default=0
        How many questions about winners the ledger has answered before. Their cells widen with it; under a
        tolerance, and on ledgers of older formats, they do not.
    """
    if not (policy.seals and isinstance(question, CodedQuestion)):
        return None
    if not question.measure.counts or data.units is not None or question.metric.bounds != (0.0, 1.0):
        return None
    widens = policy.format >= 3 and policy.tolerance is None
    urn, half = "winner", winner_width(asks + 1) if widens else WINNER_WIDTH
    if question.purpose == "check":
        if candidates is None or question.is_chosen:
            return None
        urn, half = "candidate", candidate_width(candidates)
    same_mix = policy.class_mix == "priced" or not data.is_classification
    identical, guess, n = same_mix and not question.given_rows, question.guess, len(data)
    about: dict[str, Any] = {"identical_rows": identical, "half": half, "tilted": question.tilt is not None}
    return SealedQuestion(question, LossCount.around(guess.value, guess.size or n, n, **about), urn)


def as_recorded(
    question: Question,
    metric: Metric,
    guess: Guess | None,
    mechanism: dict[str, Any],
    data: HoldoutData,
    policy: Policy,
) -> Question:
    """Return a question as a record has it: metric and guess of its asking have fixed its cells.

    The guess is None of a median that was asked for without one.
    """
    if not isinstance(question, CodedQuestion):
        return question
    if mechanism["name"] == "sealed":
        assert guess is not None
        seal = seal_of(mechanism)
        if isinstance(seal, SealedInterval):
            return window_as_recorded(question, metric, guess, mechanism, data, policy)
        return SealedQuestion(replace(question, metric=metric, guess=guess), seal)
    width = mechanism.get("half_cell") if question.is_chosen else None
    half_cell = width if isinstance(width, float) else None
    planned = CodedQuestion.plan(question.purpose, metric, guess, data, policy, half_cell)
    planned = replace(planned, tilt=Tilt(**mechanism["tilt"]) if "tilt" in mechanism else None)
    return as_released(planned, mechanism)


def verdict_on_record(question: Question, recorded: Outcome, mechanism: dict[str, Any]) -> str:
    """Return the verdict on a question's guess by what was answered when there was another guess.

    It is computed from what was revealed: whether the recorded cell holds the guess or, where the exact value
    is on record, whether the cell that the question would have asked for holds that.

    Parameters
    ----------
    question : Question
    recorded : Outcome
    mechanism : dict
        The recorded one.
    """
    is_exact = recorded.verdict == "exact"
    at_least = question.coded if isinstance(question, RefinedQuestion) else question
    if (
        recorded.verdict not in ("agrees", "differs", "exact")
        or (is_exact and question.purpose == "certify")
        or not isinstance(at_least, CodedQuestion)
    ):
        return recorded.verdict
    guess, width = at_least.guess.value, mechanism.get("half_cell")
    if not is_exact and mechanism["name"] == "sealed":
        agrees = seal_of(mechanism).agrees(guess, recorded.value)
    else:
        if is_exact or not isinstance(width, float):
            width = (at_least.cells if question.seal is None else question.seal).half_cell
        agrees = abs(guess - recorded.value) <= width * (1.0 + 1e-9)
    return "agrees" if agrees else "differs"
