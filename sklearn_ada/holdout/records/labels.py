"""The record of labels that were passed for rows of a holdout, and are not theirs."""

from __future__ import annotations

from typing import Any

from sklearn_ada.events import CodedRelease, Symbol
from sklearn_ada.holdout.records.base import ReleaseRecord
from sklearn_ada.holdout.records.state import ConversationState

__all__ = ["LabelsRecord"]


class LabelsRecord(ReleaseRecord):
    """That labels are not those of the rows was told, where the rows then stayed as they were.

    It is information about the holdout and has the price of other labels, or whoever passes guesses as labels
    until they are not refused would learn them for nothing.
    """

    kind = "labels"

    @classmethod
    def of(cls, state: ConversationState, stamp: dict[str, Any]) -> LabelsRecord:
        """Return the record of labels that are refused now."""
        event = CodedRelease((Symbol("relabelled", 1),))
        return cls({"kind": cls.kind, "event": event.to_dict(), "price": state.account.price(event), **stamp})

    def columns(self) -> dict[str, Any]:
        """Return what a table shows of it."""
        return {**super().columns(), "reason": "labels that were passed are not those of the rows"}

    def apply(self, state: ConversationState) -> None:
        """Charge it; nothing else changes."""
        state.charge(self.event, self.price)
