"""Checks without noise whose cells take all the room that the tolerance leaves.

The interval of a check reaches half a cell beyond that of the exact value, which is the wider the more was
revealed before. So while little was, wide cells keep within the tolerance, and wide cells rarely surprise.
The width of a cell follows from the question's share of the failure probability, which earlier records decide
and the answer does not: everything is still fixed before the holdout is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from sklearn_ada._checks import bad_parameter
from sklearn_ada.events import CodedRelease, Event, Symbol
from sklearn_ada.holdout.models.said import Observation, observed
from sklearn_ada.holdout.questions.coded import CodedQuestion
from sklearn_ada.holdout.questions.draw import Draw
from sklearn_ada.holdout.questions.question import RefinedCheck
from sklearn_ada.holdout.rows.data import HoldoutData
from sklearn_ada.holdout.terms.failure_budget import FailureBudget
from sklearn_ada.holdout.terms.outcome import Outcome
from sklearn_ada.holdout.terms.privacy import NoPrivacy
from sklearn_ada.mechanisms.rounding.cells import LEAST_CELL, Cells

__all__ = ["FILL", "FilledCheck"]

FILL = "fill"


@dataclass(frozen=True)
class FilledCheck(RefinedCheck, NoPrivacy):
    """A check whose half cell is the tolerance minus the half-width of an exact answer at the current L.

    No answer is wider than the tolerance, and none is narrower by much: this is for those who want as many
    answers as there can be within a width that was chosen beforehand. Once less than half a record's share is
    left for the half cell, questions are refused.

    Parameters
    ----------
    coded : CodedQuestion
        The question; its own cells are not used.
    room : float
        Largest half-width accepted, in units of the metric.
    """

    coded: CodedQuestion
    room: float

    @classmethod
    def plan(cls, coded: CodedQuestion, tolerance: float | None) -> FilledCheck:
        """Fix everything but the width; ValueError without a tolerance, a share of the metric's range."""
        if tolerance is None:
            fix = "Open the holdout with tolerance=, which is what cells can fill."
            raise bad_parameter(
                "settings", "Holdout.check", "something else on a holdout without a tolerance", FILL, fix
            )
        low, high = coded.metric.bounds
        return cls(coded, tolerance * (high - low))

    def of_share(self, share: FailureBudget) -> CodedQuestion:
        """Return the check with the cells that it has at this share.

        The half cell is rounded down to seven digits, so that it is the same on every machine.
        """
        low, high = self.coded.metric.bounds
        least = (high - low) * max(LEAST_CELL, 0.5 / self.coded.size)
        narrowest = replace(self.coded, cells=Cells(self.coded.guess.value, least))
        half_width, _ = narrowest.half_width_bound(share)
        half_cell = float(f"{(self.room - half_width + least) * (1.0 - 1e-6):.7g}")
        if half_cell <= least:
            return narrowest
        return replace(self.coded, cells=Cells(self.coded.guess.value, half_cell))

    def describe(self) -> dict[str, Any]:
        """Return what is fixed by the question alone; earlier records fix the rest."""
        return {**self.coded.describe(), "half_cell": FILL}

    @property
    def state_name(self) -> str:
        """Return nothing: no earlier question of this kind needs to be remembered."""
        return ""

    def exhausted(self, state: dict[str, Any]) -> None:
        """Return None: there is no budget but the tolerance."""

    def evaluate(self, estimator: Any, data: HoldoutData) -> Observation:
        """Look at the holdout; which cell the value is in follows when it is recorded."""
        measured, outputs = self.coded.measure(estimator, data)
        return observed(self.metric, measured, outputs, measured.value)

    def release(self, seen: Any, share: FailureBudget, draw: Draw) -> tuple[Event, dict[str, Any]]:
        """Return the event of telling the cell; nothing is drawn and nothing remembered."""
        is_failure = isinstance(seen, tuple) and all(isinstance(each, Symbol) for each in seen)
        return CodedRelease(seen if is_failure else self.of_share(share).symbols_of(seen)), {}

    def expected_symbols(self, share: FailureBudget) -> tuple[Symbol, ...]:
        """Return what would be released if the guess were exact."""
        return self.coded.expected_symbols(share)

    def half_width_bound(self, share: FailureBudget) -> tuple[float, float]:
        """Return the worst half-width of the answer, and the width of the metric's range."""
        return self.of_share(share).half_width_bound(share)

    def read(self, event: Event, share: FailureBudget, state: dict[str, Any]) -> Outcome:
        """Return what the symbols certify at this failure probability."""
        return self.of_share(share).read(event, share, state)
