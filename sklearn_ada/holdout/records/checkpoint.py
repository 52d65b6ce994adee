"""A checkpoint: the state that all records before it amount to, so that a summary need not read them.

It is a record like any other, chained to those before it, and whoever replays the ledger compares it with
what they amount to. It reveals nothing and costs nothing: the log has it all already.
"""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction
from typing import Any

from sklearn_ada.exceptions import LedgerDamagedError
from sklearn_ada.holdout.records.base import LedgerRecord
from sklearn_ada.holdout.records.state import ConversationState

__all__ = ["EVERY", "CheckpointRecord"]

EVERY = 10_000
"""After so many records comes a checkpoint."""
_LARGEST = 2**18  # characters: a state that is larger (of a million kinds of targets, say) is not written


class CheckpointRecord(LedgerRecord):
    """The state of the conversation, before this record."""

    kind = "checkpoint"

    @classmethod
    def of(cls, state: ConversationState) -> CheckpointRecord:
        """Return the record of the state as it is now; without it where it is too large."""
        told = state.to_dict()
        return cls({"kind": cls.kind, "state": told if len(json.dumps(told)) <= _LARGEST else None})

    @property
    def state(self) -> dict[str, Any] | None:
        """What `ConversationState.restore` takes; None if it was too large."""
        state: dict[str, Any] | None = self.body["state"]
        return state

    def apply(self, state: ConversationState) -> None:
        """Compare; a checkpoint changes nothing."""
        if self.state is not None and not _same(self.state, json.loads(json.dumps(state.to_dict()))):
            raise LedgerDamagedError(
                "A recorded state is not what the records before it amount to: the ledger was edited."
            )


def _fraction(text: str) -> float | None:
    """Return the number that an exact fraction is, None if the text is none."""
    found = re.fullmatch(r"\d+(/[1-9]\d*)?", text)
    return None if found is None else float(Fraction(text))


def _same(one: Any, other: Any) -> bool:
    """Return whether two states are equal, but for the last digits, which differ between processors."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(one, str) and isinstance(other, str) and one != other:
        return _fraction(one) is not None and _same(_fraction(one), _fraction(other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)
