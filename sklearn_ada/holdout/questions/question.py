"""What every question must know, and what those that refine a check share."""

from __future__ import annotations

from typing import Any, Protocol

from sklearn_ada.events import Event
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
        """Whose share of the failure probability it uses: "check" or "certify"."""

    @property
    def metric(self) -> Metric:
        """What is asked."""

    @property
    def guess(self) -> Guess | None:
        """What the answer is expected to be."""

    @property
    def stream(self) -> str:
        """The code of its first symbol."""

    @property
    def scale(self) -> float:
        """The expected size of that symbol."""

    @property
    def state_name(self) -> str:
        """Name under which its mechanism remembers earlier questions; empty if it remembers nothing."""

    def describe(self) -> dict[str, Any]:
        """Return everything that is fixed, ready for JSON."""

    def exhausted(self, state: dict[str, Any]) -> str | None:
        """Return why the mechanism answers no more, judged from what it remembers, or None."""

    def evaluate(self, estimator: Any, data: HoldoutData) -> Any:
        """Look at the holdout and return what was seen, sealed."""

    def release(self, seen: Any, share: FailureBudget, draw: Draw) -> tuple[Event, dict[str, Any]]:
        """Return what leaves the holdout, and what the mechanism remembers of it."""

    def half_width_bound(self, share: FailureBudget) -> tuple[float, float]:
        """Return the worst half-width of the answer and the width of the metric's range."""

    def read(self, event: Event, share: FailureBudget, state: dict[str, Any]) -> Outcome:
        """Return what the release certifies by description length."""

    def private_release(self, state: dict[str, Any]) -> PrivateRelease | None:
        """Return the dearest release that can come of it, or None if there is no privacy in it."""

    def private_half_width(self, transfer: TransferShare) -> float:
        """Return the worst half-width by the privacy route, in the units of `half_width_bound`."""

    def read_private(self, event: Event, share: FailureBudget) -> Outcome:
        """Return what the release certifies by the privacy route."""


class RefinedCheck:
    """What a mechanism built on a check takes from it."""

    coded: CodedQuestion

    @property
    def purpose(self) -> str:
        """Whose share of the failure probability it uses."""
        return self.coded.purpose

    @property
    def metric(self) -> Metric:
        """What is asked."""
        return self.coded.metric

    @property
    def guess(self) -> Guess | None:
        """What the answer is expected to be."""
        return self.coded.guess

    @property
    def stream(self) -> str:
        """The code of its symbol."""
        return self.coded.stream

    @property
    def scale(self) -> float:
        """The expected size of that symbol."""
        return self.coded.scale

    def evaluate(self, estimator: Any, data: HoldoutData) -> float:
        """Look at the holdout: return its value, still sealed."""
        return self.coded.measure(estimator, data).value
