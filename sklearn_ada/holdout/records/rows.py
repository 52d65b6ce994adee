"""The record of the rows that a holdout has, known by their ids, and of what became of them since."""

from __future__ import annotations

from typing import Any

from sklearn_ada.holdout.records.base import LedgerRecord
from sklearn_ada.holdout.records.state import ConversationState
from sklearn_ada.holdout.rows.known_rows import Table, packed, unpacked

__all__ = ["ASSUMED", "RowsRecord"]

ASSUMED = {
    "missing": (
        "rows that are missing were left out by a rule that did not look at their labels or at predictions"
    ),
    "relabelled": "labels were corrected without looking at predictions",
}
"""What every later certificate rests on, by what was done to the rows."""


class RowsRecord(LedgerRecord):
    """The rows at the beginning, or those that were added, are missing or have other labels now.

    Its table of keyed hashes stays in the ledger: nothing that is shown or pickled holds it.
    """

    kind = "rows"

    @classmethod
    def of(
        cls, change: str, concerned: Table, rows: int, fingerprint: str, stamp: dict[str, Any]
    ) -> RowsRecord:
        """Return the record of a change that is made now.

        Parameters
        ----------
        change : {"begun", "added", "relabelled", "missing"}
        concerned : Table
            The rows that it is about; all that there are, if labels differ.
        rows : int
            How many there are from now on.
        fingerprint : str
            Of all of these.
        stamp : dict
        """
        body = {"kind": cls.kind, "change": change, "rows": rows}
        if change != "relabelled":  # how many labels differ is told nowhere
            body["count"] = len(concerned)
        return cls({**body, "fingerprint": fingerprint, "table": packed(concerned), **stamp})

    @property
    def change(self) -> str:
        """What was done."""
        return str(self.body["change"])

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
        what = "labels differ" if self.change == "relabelled" else f"{self.body['count']} rows {self.change}"
        told = f"{what}, {self.body['rows']} rows from now on"
        return {**super().columns(), "reason": told}

    def apply(self, state: ConversationState) -> None:
        """Change the rows; the nats and the counts of questions stay."""
        if self.change == "begun":
            return
        grouped = self.change == "relabelled"  # which alone is possible with groups, and keeps them
        state.grow(self.body["rows"], self.fingerprint, state.units if grouped else None)
        if self.change in ASSUMED:
            state.assume(ASSUMED[self.change])
