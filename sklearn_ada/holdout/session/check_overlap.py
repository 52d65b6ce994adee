"""Checking whether training rows contain the holdout: the outcome is recorded and has a price."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from sklearn_ada.events import CodedRelease, Symbol
from sklearn_ada.holdout.records.overlap import OverlapRecord
from sklearn_ada.holdout.rows.overlap import is_leak, row_hashes
from sklearn_ada.holdout.session.session import Session

__all__ = ["overlaps"]


def overlaps(session: Session, X: Any) -> bool:
    """Return whether rows X contain the holdout, or more of it than by chance.

    The outcome is recorded and charged, once for the same X; "no" costs about a millionth of a nat.
    """
    hashes, own = row_hashes(X), session.data.row_hashes
    leak = is_leak(hashes, own) or np.array_equal(hashes, own)
    event, stamp = CodedRelease((Symbol("overlap", int(leak)),)), session.asker.stamp()
    key = f"overlap {session.data.top_ups} {hashlib.sha256(np.sort(hashes).tobytes()).hexdigest()}"
    session.charge(key, lambda state: OverlapRecord.of(state, event, stamp))
    return leak
