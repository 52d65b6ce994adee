"""The record of a question that was refused. It reveals nothing, as earlier records alone decided it."""

from __future__ import annotations

import math
from typing import Any

from sklearn_ada.holdout.records.base import LedgerRecord
from sklearn_ada.holdout.records.genesis import Genesis
from sklearn_ada.holdout.records.state import ConversationState
from sklearn_ada.ledger import Record
from sklearn_ada.results import Answer, Cost

__all__ = ["RefusalRecord"]


class RefusalRecord(LedgerRecord):
    """What was asked, and why it was not answered."""

    kind = "refusal"

    @classmethod
    def of(cls, purpose: str, reason: str, asked: dict[str, Any]) -> RefusalRecord:
        """Return the record of a refusal; ``asked`` is metric, mechanism, guess and asker."""
        return cls({"kind": cls.kind, "purpose": purpose, "reason": reason, **asked})

    @property
    def metric_name(self) -> str:
        """Name of the metric."""
        return str(self.body["metric"]["name"])

    def columns(self) -> dict[str, Any]:
        """Return what a table shows of it, by the names of `Entry`."""
        body = self.body
        return {
            **super().columns(),
            "metric": self.metric_name,
            "mechanism": body["mechanism"]["name"],
            "guess": body["guess"].get("value"),
            "verdict": "refused",
        }

    def apply(self, state: ConversationState) -> None:
        """Count it."""
        state.count_asker(self.who)
        state.refused += 1

    def answer(self, record: Record, genesis: Genesis) -> Answer:
        """Return what the asker gets; ``record`` is where it stands in the ledger."""
        no_interval = (-math.inf, math.inf)
        reason = self.body["reason"]
        return Answer(math.nan, no_interval, "refused", Cost(0.0), None, record.seq, reason=reason)
