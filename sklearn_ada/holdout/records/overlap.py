"""The record of a check whether training rows contain the holdout."""

from __future__ import annotations

from typing import Any

from sklearn_ada.accounting.polya_urn import symbols_of
from sklearn_ada.events import Event
from sklearn_ada.holdout.records.base import ReleaseRecord
from sklearn_ada.holdout.records.state import ConversationState

__all__ = ["OverlapRecord"]


class OverlapRecord(ReleaseRecord):
    """Whether the rows contain the holdout, or more of it than by chance (a leak)."""

    kind = "overlap"

    @classmethod
    def of(cls, state: ConversationState, event: Event, stamp: dict[str, Any]) -> OverlapRecord:
        """Return the record of a check that is made now."""
        return cls({"kind": cls.kind, "event": event.to_dict(), "price": state.account.price(event), **stamp})

    @property
    def is_leak(self) -> bool:
        """Whether a leak was found."""
        return bool(symbols_of(self.event)[0].value)

    def apply(self, state: ConversationState) -> None:
        """Charge the outcome. Telling that there is a leak is not private, so it ends the privacy route."""
        event = self.event
        state.charge(event, self.price)
        if state.privacy is not None and symbols_of(event)[0].value:
            state.privacy.end("a leak was found, which ended the privacy route of this ledger")
