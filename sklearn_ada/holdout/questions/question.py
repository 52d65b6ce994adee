"""The interface of a question, which every mechanism implements.

What happens to one, in this order: `describe` says what is fixed; `exhausted` and `half_width_bound` decide
whether it is admitted, without the holdout; `evaluate` looks at the holdout; `release` turns what was seen
into what is told, with noise if need be; `read` and `read_private` turn that into an interval.
"""

from __future__ import annotations

from typing import Any, Protocol

from sklearn_ada.events import Event
from sklearn_ada.holdout.models.said import Observation, observed
from sklearn_ada.holdout.questions.coded import CodedQuestion
from sklearn_ada.holdout.questions.draw import Draw
from sklearn_ada.holdout.questions.guess import Guess
from sklearn_ada.holdout.rows.data import HoldoutData
from sklearn_ada.holdout.terms.failure_budget import FailureBudget
from sklearn_ada.holdout.terms.outcome import Outcome
from sklearn_ada.holdout.terms.privacy import PrivateRelease, TransferShare
from sklearn_ada.metrics import Metric

__all__ = ["Question", "RefinedCheck"]


class Question(Protocol):
    """A question fixed before the holdout is looked at."""

    @property
    def purpose(self) -> str:
        """The purpose, "check" or "certify", whose part of the failure probability it uses."""

    @property
    def metric(self) -> Metric:
        """The metric that is asked for."""

    @property
    def guess(self) -> Guess | None:
        """What the answer is expected to be; None if nothing is."""

    @property
    def stream(self) -> str:
        """Which code prices its first symbol (`sklearn_ada.accounting.codes`)."""

    @property
    def scale(self) -> float:
        """How large that code expects the symbol to be; 0 where it has no such parameter."""

    @property
    def state_name(self) -> str:
        """Name under which its mechanism remembers earlier questions; empty if it remembers nothing."""

    def describe(self) -> dict[str, Any]:
        """Return everything that is fixed, ready for JSON."""

    def exhausted(self, state: dict[str, Any]) -> str | None:
        """Return why the mechanism answers no more, judged from what it remembers, or None."""

    def evaluate(self, estimator: Any, data: HoldoutData) -> Observation:
        """Look at the holdout and return what was seen, which nobody is shown before `release`."""

    def release(self, seen: Any, share: FailureBudget, draw: Draw) -> tuple[Event, dict[str, Any]]:
        """Return the event of what is told, and what the mechanism remembers of it."""

    def half_width_bound(self, share: FailureBudget) -> tuple[float, float]:
        """Return the worst half-width of the answer and the width of the metric's range, in one unit."""

    def read(self, event: Event, share: FailureBudget, state: dict[str, Any]) -> Outcome:
        """Return value and interval by description length."""

    def private_release(self, state: dict[str, Any]) -> PrivateRelease | None:
        """Return what it can cost of the privacy budget at most, or None if there is no privacy in it."""

    def private_half_width(self, transfer: TransferShare) -> float:
        """Return the worst half-width by the privacy route, in the units of `half_width_bound`."""

    def read_private(self, event: Event, share: FailureBudget) -> Outcome:
        """Return value and interval by the privacy route."""


class RefinedCheck:
    """What a mechanism takes from the question without noise, ``coded``, on which it is built."""

    coded: CodedQuestion

    @property
    def purpose(self) -> str:
        """The purpose, "check" or "certify"."""
        return self.coded.purpose

    @property
    def metric(self) -> Metric:
        """The metric that is asked for."""
        return self.coded.metric

    @property
    def guess(self) -> Guess:
        """What the answer is expected to be."""
        return self.coded.guess

    @property
    def stream(self) -> str:
        """Which code prices its symbol."""
        return self.coded.stream

    @property
    def scale(self) -> float:
        """How large that code expects the symbol to be."""
        return self.coded.scale

    def evaluate(self, estimator: Any, data: HoldoutData) -> Observation:
        """Look at the holdout and return the metric's value, which nobody is shown before `release`."""
        measured, outputs = self.coded.measure(estimator, data)
        return observed(self.metric, measured.value, outputs, measured.value)
