"""The record of closing a holdout: nothing new is answered after it."""

from __future__ import annotations

from typing import Any

from sklearn_ada.holdout.records.base import LedgerRecord
from sklearn_ada.holdout.records.state import ConversationState

__all__ = ["CloseRecord"]


class CloseRecord(LedgerRecord):
    """From here on nothing new is asked; what was asked may still be unsealed."""

    kind = "close"

    @classmethod
    def of(cls, stamp: dict[str, Any]) -> CloseRecord:
        """Return the record of a holdout that is closed now."""
        return cls({"kind": cls.kind, **stamp})

    def apply(self, state: ConversationState) -> None:
        """Close it."""
        state.closed = True
