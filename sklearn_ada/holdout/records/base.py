"""What all records of a ledger have in common: a kind, a JSON body, and what they do to the state.

A record is a view of its body, the dict that the ledger keeps, and never changes it. So records of old
ledgers are read and written to the same bytes, whatever is added to the format later.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from sklearn_ada.accounting.zcdp_filter import RECORDS, Unit
from sklearn_ada.events import Event, event_from_dict
from sklearn_ada.holdout.records.state import ConversationState
from sklearn_ada.holdout.terms.privacy import PrivateRelease, epsilon_or_none, rho_or_none

__all__ = ["LedgerRecord", "ReleaseRecord", "release_body"]


@dataclass(frozen=True)
class LedgerRecord(ABC):
    """One record of a ledger, after the first one (the genesis).

    Parameters
    ----------
    body : dict
        What the ledger holds, ready for JSON.
    """

    kind: ClassVar[str]
    body: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return what the ledger keeps."""
        return self.body

    @property
    def who(self) -> str | None:
        """Name of the asker, if one was given."""
        return self.body.get("who")

    def columns(self) -> dict[str, Any]:
        """Return what a table shows of it, by the names of `sklearn_ada.holdout.report.entry.Entry`."""
        names = ("time", "who", "label", "purpose", "epsilon", "rho", "reason", "model")
        return {name: self.body.get(name) for name in names} | {"nats": self.body.get("price")}

    @abstractmethod
    def apply(self, state: ConversationState) -> None:
        """Change the state as the record says."""


_X_IS_KNOWN = "nobody who knows X of the holdout asks about a model, and not about predictions"


class ReleaseRecord(LedgerRecord):
    """A record of something that was revealed about the holdout, at a price in nats."""

    @property
    def event(self) -> Event:
        """What was revealed."""
        return event_from_dict(self.body["event"])

    @property
    def price(self) -> float:
        """What it cost, in nats."""
        return float(self.body["price"])

    @property
    def unit(self) -> Unit:
        """What is replaced between neighbouring data sets, for its privacy cost."""
        return Unit(*self.body["unit"])

    def apply(self, state: ConversationState) -> None:
        """Charge what was revealed, in nats and to the privacy budget; note that X is known, if it is."""
        event = self.event
        state.charge(event, self.price)
        if state.privacy is not None:
            state.privacy.record(event, self.unit)
        if self.body.get("given_rows"):
            state.assume(_X_IS_KNOWN)


def release_body(
    state: ConversationState, event: Event, release: PrivateRelease | None = None
) -> dict[str, Any]:
    """Return the part of a record that says what was revealed, and its cost in nats, epsilon and rho.

    ``release`` says what privacy unit and family the costs are for; None takes single records and no family.
    """
    return {
        "event": event.to_dict(),
        "price": state.account.price(event),
        "epsilon": epsilon_or_none(event),
        "rho": rho_or_none(event),
        "unit": RECORDS if release is None else release.unit,
        "family": None if release is None else release.family,
    }
