"""Models declared before the first question."""

from __future__ import annotations

from typing import Any

from sklearn_ada.holdout.records.base import LedgerRecord
from sklearn_ada.holdout.records.state import ConversationState

__all__ = ["FamilyRecord"]


class FamilyRecord(LedgerRecord):
    """The keys of the declared models: digests of model and metric (`models.keys.member_key`).

    "Family" here means the declared models, not the questions that share a gap (`terms.privacy`).
    """

    kind = "family"

    @classmethod
    def of(cls, members: list[str], stamp: dict[str, Any]) -> FamilyRecord:
        """Return the record of models that are declared now; ``members`` are their keys."""
        return cls({"kind": cls.kind, "members": members, **stamp})

    @property
    def size(self) -> int:
        """How many models there are."""
        return len(self.body["members"])

    def apply(self, state: ConversationState) -> None:
        """Set half of the failure probability aside for them."""
        state.declare(self.body["members"])
