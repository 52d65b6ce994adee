"""The record of a top-up: rows were added to the holdout."""

from __future__ import annotations

from typing import Any

from sklearn_ada.events import CodedRelease, Symbol, event_from_dict
from sklearn_ada.holdout.records.base import LedgerRecord
from sklearn_ada.holdout.records.state import ConversationState

__all__ = ["TopUpRecord"]


class TopUpRecord(LedgerRecord):
    """How many rows there are from now on, and the fingerprint of all of them.

    That labels which are passed later are these is paid for in advance. Records of older releases have no
    price.
    """

    kind = "top_up"

    @classmethod
    def of(cls, state: ConversationState, rows: int, fingerprint: str, stamp: dict[str, Any]) -> TopUpRecord:
        """Return the record of a top-up that is made now."""
        event = CodedRelease((Symbol("relabelled", 0),))
        paid = {"event": event.to_dict(), "price": state.account.price(event)}
        return cls({"kind": cls.kind, "rows": rows, "fingerprint": fingerprint, **paid, **stamp})

    @property
    def rows(self) -> int:
        """How many rows there are from now on."""
        return int(self.body["rows"])

    @property
    def fingerprint(self) -> str:
        """Keyed digest of all rows."""
        return str(self.body["fingerprint"])

    def apply(self, state: ConversationState) -> None:
        """Change the rows; the nats and the count of questions stay."""
        if "event" in self.body:
            state.charge(event_from_dict(self.body["event"]), self.body["price"])
        state.grow(self.rows, self.fingerprint)
