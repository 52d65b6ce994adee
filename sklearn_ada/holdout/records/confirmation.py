"""The record of a comparison: whether a model found by its digest says what is recorded of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sklearn_ada.accounting.polya_urn import symbols_of
from sklearn_ada.events import CodedRelease, Event, Symbol
from sklearn_ada.exceptions import LedgerDamagedError
from sklearn_ada.holdout.records.base import ReleaseRecord
from sklearn_ada.holdout.records.state import ConversationState

__all__ = ["OUTCOMES", "ConfirmationRecord", "confirmation_event"]

OUTCOMES = ("the same", "different")
"""What can come of a confirmation, by the value of its symbol."""


class ConfirmationRecord(ReleaseRecord):
    """With which records a model was compared, and whether it is one of these. It is no question."""

    kind = "confirmation"

    @classmethod
    def of(
        cls, state: ConversationState, numbers: Sequence[int], same: int | None, asked: dict[str, Any]
    ) -> ConfirmationRecord:
        """Return the record of a comparison that is made now.

        Parameters
        ----------
        state : ConversationState
        numbers : sequence of int
            Numbers of the records that it was compared with, all at once.
        same : int or None
            Which of these it agrees with, counted from 0; None if with none.
        asked : dict
            Purpose, metric and asker.
        """
        event = confirmation_event(same, state.chances_of_versions(numbers))
        body = {"kind": cls.kind, "compared_with": [*numbers], **asked}
        return cls({**body, "event": event.to_dict(), "price": state.account.price(event)})

    @property
    def same_as(self) -> int | None:
        """Number of the record that holds the answer; None if the model says something else."""
        symbols, numbers = symbols_of(self.event), self.body["compared_with"]
        if symbols[0].value:
            return None
        index = int(symbols[1].value) if len(symbols) > 1 else 0
        if index >= len(numbers):
            raise ValueError("A confirmation names a record that it was not compared with.")
        return int(numbers[index])

    def apply(self, state: ConversationState) -> None:
        """Charge the outcome, and count which of several versions it was.

        Raises
        ------
        LedgerDamagedError
            If the recorded probability of a version does not follow from the records before.
        """
        numbers, same = self.body["compared_with"], self.same_as
        if len(numbers) > 1 and same is not None:
            chance = state.chances_of_versions(numbers)[numbers.index(same)]
            if not math.isclose(symbols_of(self.event)[1].scale, chance, rel_tol=1e-9):
                raise LedgerDamagedError(
                    "The probability of a version is not that of its records: the ledger was edited."
                )
        super().apply(state)
        if len(numbers) > 1 and same is not None:
            state.count_version(same)

    def columns(self) -> dict[str, Any]:
        """Return what a table shows of it, by the names of `Entry`."""
        same, compared = self.same_as, ", ".join(map(str, self.body["compared_with"]))
        return {
            **super().columns(),
            "metric": self.body["metric"]["name"],
            "verdict": OUTCOMES[same is None],
            "reason": f"not as in record {compared}" if same is None else f"as in record {same}",
        }


def confirmation_event(same: int | None, chances: Sequence[float]) -> Event:
    """Return the event of saying which of some recorded answers a model has, or none of them.

    "The same" or "different" is one symbol for all of them, of one urn if there is one and of another if
    there are several; which one it is, is a second. ``chances`` are their probabilities
    (`ConversationState.chances_of_versions`).

    Examples
    --------
    >>> len(confirmation_event(0, [1.0]).symbols), len(confirmation_event(1, [0.5, 0.25, 0.25]).symbols)
    (1, 2)
    """
    first = Symbol("confirmation" if len(chances) == 1 else "version", int(same is None))
    if same is None or len(chances) == 1:
        return CodedRelease((first,))
    return CodedRelease((first, Symbol("which", same, chances[same])))
