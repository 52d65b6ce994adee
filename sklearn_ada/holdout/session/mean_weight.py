"""The mean weight of a holdout: released once, to five percent, because intervals are made of it."""

from __future__ import annotations

from typing import Any

from sklearn_ada.events import CodedRelease, Symbol
from sklearn_ada.holdout.rows.data import HoldoutData
from sklearn_ada.holdout.session.state import Conversation
from sklearn_ada.holdout.terms.asker import Asker
from sklearn_ada.ledger import Ledger

__all__ = ["release_mean_weight"]

_EXPECTED = 10.0  # a mean at a third to two thirds of the bound, in steps of five percent


def release_mean_weight(data: HoldoutData, ledger: Ledger[Conversation], asker: Asker) -> None:
    """Record what `Units.mean_share` tells of the weights; free if it was recorded before."""
    assert data.units is not None
    event = CodedRelease((Symbol("count", data.units.bucket, _EXPECTED),))
    stamp = asker.stamp()

    def decide(state: Conversation) -> dict[str, Any]:
        price = state.account.price(event)
        return {"kind": "mean weight", "event": event.to_dict(), "price": price, **stamp}

    ledger.charge("mean weight", decide)
