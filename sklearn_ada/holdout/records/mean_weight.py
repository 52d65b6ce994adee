"""The record of the mean weight of the holdout's rows, which is revealed once, to five percent."""

from __future__ import annotations

from typing import Any

from sklearn_ada.events import Event
from sklearn_ada.holdout.records.base import ReleaseRecord
from sklearn_ada.holdout.records.state import ConversationState

__all__ = ["MeanWeightRecord"]


class MeanWeightRecord(ReleaseRecord):
    """The mean weight, rounded on a logarithmic scale. Released before the first question; counts as none."""

    kind = "mean weight"

    @classmethod
    def of(cls, state: ConversationState, event: Event, stamp: dict[str, Any]) -> MeanWeightRecord:
        """Return the record of a mean weight that is released now."""
        return cls({"kind": cls.kind, "event": event.to_dict(), "price": state.account.price(event), **stamp})
