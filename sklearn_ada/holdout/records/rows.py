"""The record of the rows that a holdout has, known by their ids, and of what became of them since."""

from __future__ import annotations

from typing import Any

from sklearn_ada.accounting.polya_urn import symbols_of
from sklearn_ada.events import CodedRelease, Symbol, event_from_dict
from sklearn_ada.holdout.records.base import LedgerRecord
from sklearn_ada.holdout.records.state import ConversationState
from sklearn_ada.holdout.rows.known_rows import Table, packed, unpacked

__all__ = ["ASSUMED", "RowsRecord"]

ASSUMED = {
    "missing": (
        "rows that are missing were left out by a rule that did not look at their labels or at predictions"
    ),
    "relabelled": "labels were corrected without looking at predictions, at times that depend on no record",
}
"""What every later certificate rests on, by what was done to the rows."""


class RowsRecord(LedgerRecord):
    """The rows at the beginning, or those that were added, are missing or have other labels now.

    Or a change back to an earlier edition. Its table of keyed hashes stays in the ledger: nothing that is
    shown or pickled holds it. That labels are others is information about the holdout, and has a price.
    """

    kind = "rows"

    @classmethod
    def of(
        cls,
        state: ConversationState,
        change: str,
        concerned: Table,
        rows: int,
        fingerprint: str,
        stamp: dict[str, Any],
        are_others: bool = False,
        labellings: int = 1,
    ) -> RowsRecord:
        """Return the record of a change that is made now.

        Parameters
        ----------
        state : ConversationState
        change : {"begun", "added", "relabelled", "missing", "back"}
        concerned : Table
            The rows that it is about; all that there are from now on, if labels differ or it leads back.
        rows : int
            How many there are from now on.
        fingerprint : str
            Of all of these.
        stamp : dict
        are_others : bool, default=False
            Whether rows that are added have been there before, with other labels.
        labellings : int, default=1
            How many labels of rows with these ids are recorded then, these included: any of them may be the
            ones that somebody passes later.
        """
        body = {"kind": cls.kind, "change": change, "rows": rows}
        if change != "relabelled":  # how many labels differ is told nowhere
            body["count"] = len(concerned)
        if change != "back":
            told = [Symbol("relabelled", 1)] if are_others or change == "relabelled" else []
            told.append(Symbol("relabelled", 0))  # in advance: that labels passed later are these
            if labellings > 1:
                told.append(Symbol("which", 0, 1.0 / labellings))
            event = CodedRelease(tuple(told))
            body |= {"event": event.to_dict(), "price": state.account.price(event)}
        return cls({**body, "fingerprint": fingerprint, "table": packed(concerned), **stamp})

    @property
    def change(self) -> str:
        """What was done."""
        return str(self.body["change"])

    @property
    def tells_of_labels(self) -> bool:
        """Whether it told that labels are others than before."""
        return "event" in self.body and bool(symbols_of(event_from_dict(self.body["event"]))[0].value)

    @property
    def fingerprint(self) -> str:
        """Keyed digest of all rows."""
        return str(self.body["fingerprint"])

    @property
    def table(self) -> Table:
        """The rows that it is about."""
        return unpacked(self.body["table"])

    def columns(self) -> dict[str, Any]:
        """Return what a table shows of it: what was done to how many rows, but for labels."""
        what = {"relabelled": "labels differ", "back": "as they were before"}.get(
            self.change, f"{self.body.get('count')} rows {self.change}"
        )
        told = f"{what}, {self.body['rows']} rows from now on"
        return {**super().columns(), "reason": told}

    def apply(self, state: ConversationState) -> None:
        """Change the rows; the nats and the counts of questions stay."""
        if "event" in self.body:
            state.charge(event_from_dict(self.body["event"]), self.body["price"])
            if self.tells_of_labels:
                state.assume(ASSUMED["relabelled"])
        if self.change == "begun":
            return
        same = self.body["rows"] == state.rows  # with groups rows neither come nor go
        state.grow(self.body["rows"], self.fingerprint, state.units if same else None)
        if self.change == "missing":
            state.assume(ASSUMED["missing"])
