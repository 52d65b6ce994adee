"""A sealed certify: the cell of the value is told, the value itself keeps for later.

The interval that is said meanwhile is what lies in two: that of the cell at the question's own failure
probability (description length, the share s1), and that of the transcript theorem (the share s2), which needs
no weight and no horizon, only what was said so far. Both hold together
(`sklearn_ada.guarantees.description_length.shares`). The value is told later, at the failure probability of
the asking (`sklearn_ada.guarantees.description_length.sealed`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from sklearn_ada.accounting.polya_urn import symbols_of
from sklearn_ada.events import CountRelease, Event, Symbol
from sklearn_ada.guarantees.description_length.shares import intersection
from sklearn_ada.guarantees.universal_inference.theorem import THEOREM
from sklearn_ada.holdout.models.said import Observation, observed
from sklearn_ada.holdout.questions.coded import CodedQuestion
from sklearn_ada.holdout.questions.draw import Draw
from sklearn_ada.holdout.questions.guess import Guess
from sklearn_ada.holdout.questions.question import RefinedCheck
from sklearn_ada.holdout.questions.sealed_statistics import SealedStatistic
from sklearn_ada.holdout.rows.data import HoldoutData
from sklearn_ada.holdout.terms.failure_budget import FailureBudget
from sklearn_ada.holdout.terms.outcome import Outcome
from sklearn_ada.holdout.terms.privacy import NoPrivacy

__all__ = ["SealedQuestion", "Told"]

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
