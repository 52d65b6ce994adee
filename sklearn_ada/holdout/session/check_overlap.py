"""Checking whether training rows contain the holdout: the outcome is recorded and has a price."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from sklearn_ada.events import CodedRelease, Symbol
from sklearn_ada.exceptions import HoldoutLeakError
from sklearn_ada.holdout.records.overlap import OverlapRecord
from sklearn_ada.holdout.rows.overlap import is_leak, row_hashes
from sklearn_ada.holdout.session.session import Session

__all__ = ["check_not_held_out", "overlaps"]


def check_not_held_out(session: Session, X: Any) -> None:
    """Raise `HoldoutLeakError` if rows X contain the holdout, or part of it beyond chance; charged."""
    if overlaps(session, X):
        raise HoldoutLeakError(
            "The rows contain rows of the holdout, far more than chance allows. Take the holdout out of "
            "X, on which models are fitted and from which guesses are taken; ReusableHoldoutCV does it."
        )


def overlaps(session: Session, X: Any) -> bool:
    """Return whether rows X contain the holdout, or part of it beyond chance; charged, the same X once.

    A clean outcome costs about a millionth of a nat.
    """
    hashes, own = row_hashes(X), session.data.row_hashes
    leak = is_leak(hashes, own) or np.array_equal(hashes, own)
    event, stamp = CodedRelease((Symbol("overlap", int(leak)),)), session.asker.stamp()
    key = f"overlap {session.data.top_ups} {hashlib.sha256(np.sort(hashes).tobytes()).hexdigest()}"
    session.charge(key, lambda state: OverlapRecord.of(state, event, stamp))
    return leak
