"""The record of a top-up: rows were added to the holdout."""

from __future__ import annotations

from typing import Any

from sklearn_ada.holdout.records.base import LedgerRecord
from sklearn_ada.holdout.records.state import ConversationState

__all__ = ["TopUpRecord"]


class TopUpRecord(LedgerRecord):
    """How many rows there are from now on, and the fingerprint of all of them."""

    kind = "top_up"

    @classmethod
    def of(cls, rows: int, fingerprint: str, stamp: dict[str, Any]) -> TopUpRecord:
        """Return the record of a top-up that is made now."""
        return cls({"kind": cls.kind, "rows": rows, "fingerprint": fingerprint, **stamp})

    @property
    def fingerprint(self) -> str:
        """Keyed digest of all rows."""
        return str(self.body["fingerprint"])

    def apply(self, state: ConversationState) -> None:
        """Change the rows; the nats and the count of questions stay."""
        state.grow(self.body["rows"], self.fingerprint)
