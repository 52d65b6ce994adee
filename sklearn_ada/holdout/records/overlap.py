"""An overlap: the outcome of a check that some rows do not contain the holdout."""

from __future__ import annotations

from typing import Any

from sklearn_ada.accounting.polya_urn import symbols_of
from sklearn_ada.events import Event
from sklearn_ada.holdout.records.base import ReleaseRecord
from sklearn_ada.holdout.records.state import ConversationState

__all__ = ["OverlapRecord"]


class OverlapRecord(ReleaseRecord):
    """Whether a leak was found."""

    kind = "overlap"

    @classmethod
    def of(cls, state: ConversationState, event: Event, stamp: dict[str, Any]) -> OverlapRecord:
        """Return the record of a check that is made now."""
        return cls({"kind": cls.kind, "event": event.to_dict(), "price": state.account.price(event), **stamp})

    def apply(self, state: ConversationState) -> None:
        """Charge the outcome; a leak ends the privacy route, as that it is told has no privacy."""
        event = self.event
        state.charge(event, self.price)
        if state.privacy is not None and symbols_of(event)[0].value:
            state.privacy.end("a leak was found, which ended the privacy route of this ledger")
