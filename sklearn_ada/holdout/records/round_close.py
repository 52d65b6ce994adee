"""The record of closing a round: from then on its sealed answers are certified by the transcript, too."""

from __future__ import annotations

import math
from typing import Any

from sklearn_ada.exceptions import LedgerDamagedError
from sklearn_ada.holdout.records.base import LedgerRecord
from sklearn_ada.holdout.records.state import ConversationState

__all__ = ["RoundCloseRecord"]


class RoundCloseRecord(LedgerRecord):
    """Which round, and the nats L that were revealed by then, all of its answers included."""

    kind = "round_close"

    @classmethod
    def of(cls, state: ConversationState, name: str, stamp: dict[str, Any]) -> RoundCloseRecord:
        """Return the record of a round that is closed now."""
        return cls({"kind": cls.kind, "round": name, "nats": state.account.nats, **stamp})

    def apply(self, state: ConversationState) -> None:
        """Close it: whoever asks later is on their own."""
        if not math.isclose(self.body["nats"], state.account.nats, rel_tol=1e-9, abs_tol=1e-12):
            raise LedgerDamagedError("A recorded sum of nats is not that of the records: it was edited.")
        state.end_round(self.body["round"])
