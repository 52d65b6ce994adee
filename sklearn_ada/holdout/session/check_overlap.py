"""Asking whether some rows are in the holdout: the outcome is a symbol of the ledger, like any other."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from sklearn_ada.events import CodedRelease, Symbol
from sklearn_ada.holdout.rows.data import HoldoutData
from sklearn_ada.holdout.rows.overlap import is_leak, row_hashes
from sklearn_ada.holdout.session.state import Conversation
from sklearn_ada.holdout.terms.asker import Asker
from sklearn_ada.ledger import Ledger

__all__ = ["overlaps"]


def overlaps(X: Any, data: HoldoutData, ledger: Ledger[Conversation], asker: Asker) -> bool:
    """Return whether rows X contain the holdout, or part of it beyond chance; charged, the same X once.

    A clean outcome costs about a millionth of a nat.
    """
    hashes, own = row_hashes(X), row_hashes(data.X)
    leak = is_leak(hashes, own) or np.array_equal(hashes, own)
    event = CodedRelease((Symbol("overlap", int(leak)),))
    key = f"overlap {data.top_ups} {hashlib.sha256(np.sort(hashes).tobytes()).hexdigest()}"
    stamp = asker.stamp()

    def decide(state: Conversation) -> dict[str, Any]:
        return {"kind": "overlap", "event": event.to_dict(), "price": state.account.price(event), **stamp}

    ledger.charge(key, decide)
    return leak
