"""The record of a round: questions that are all fixed before any of their answers is seen."""

from __future__ import annotations

from typing import Any

from sklearn_ada.holdout.records.base import LedgerRecord
from sklearn_ada.holdout.records.state import ConversationState
from sklearn_ada.holdout.terms.failure_budget import FailureBudget, finite, level_of

__all__ = ["RoundRecord"]


class RoundRecord(LedgerRecord):
    """How many questions of which purpose, and what each of them may spend of the failure probability."""

    kind = "round"

    @classmethod
    def of(
        cls,
        name: str,
        purpose: str,
        size: int,
        share: FailureBudget,
        stamp: dict[str, Any],
        *,
        at_once: bool = False,
    ) -> RoundRecord:
        """Return the record of a round that is opened now.

        ``at_once`` says, where there is a purse, that its answers are exact.
        """
        body = {"kind": cls.kind, "round": name, "purpose": purpose, "size": size, **stamp}
        taken = {**share.taken(), "at_once": at_once} if share.purse is not None else {}
        return cls({**body, "ln_delta": finite(share.ln_delta), "nats": share.nats, **taken})

    def apply(self, state: ConversationState) -> None:
        """Count its questions, and keep their share."""
        body = self.body
        share = FailureBudget(level_of(body["ln_delta"]), body["nats"])
        state.take(body, size=body["size"])
        state.begin_round(body["round"], body["purpose"], body["size"], share, body.get("at_once", False))
