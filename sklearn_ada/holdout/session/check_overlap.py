"""Checking whether training rows contain the holdout: the outcome is recorded and has a price."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from sklearn_ada.events import CodedRelease, Symbol
from sklearn_ada.exceptions import HoldoutLeakError
from sklearn_ada.holdout.records.overlap import OverlapRecord
from sklearn_ada.holdout.rows.overlap import is_leak, row_hashes
from sklearn_ada.holdout.session.session import Session

__all__ = ["check_not_held_out", "is_whole", "overlaps"]

_CHANCE = 1e-6


def check_not_held_out(session: Session, X: Any) -> None:
    """Raise `HoldoutLeakError` if rows X contain the holdout, or part of it beyond chance; charged."""
    if overlaps(session, X):
        raise HoldoutLeakError(
            "The rows contain rows of the holdout, far more than chance allows. Take the holdout out of "
            "X, on which models are fitted and from which guesses are taken; ReusableHoldoutCV does it."
        )


def overlaps(session: Session, X: Any) -> bool:
    """Return whether rows X contain the holdout, or more of it than by chance.

    The outcome is recorded and charged, once for the same X; "no" costs about a millionth of a nat.
    """
    hashes, own = row_hashes(X), row_hashes(session.data.X)
    leak = is_leak(hashes, own) or is_whole(hashes, own)
    event, stamp = CodedRelease((Symbol("overlap", int(leak)),)), session.asker.stamp()
    # "rows": before, a holdout in another order was recorded as clean under the key without it.
    key = f"overlap rows {session.data.top_ups} {hashlib.sha256(np.sort(hashes).tobytes()).hexdigest()}"
    session.charge(key, lambda state: OverlapRecord.of(state, event, stamp))
    return leak


def is_whole(hashes: NDArray[np.uint64], own: NDArray[np.uint64]) -> bool:
    """Return whether some rows are those of the holdout, in whatever order.

    In another order, rows of which some repeat count only if independent rows would come out so with a
    probability of at most 1e-6, whatever their population: twenty rows of zeros and ones often do.

    Examples
    --------
    >>> rows = np.arange(20, dtype=np.uint64)
    >>> is_whole(rows[::-1], rows)
    True
    >>> zeros_and_ones = rows % np.uint64(2)
    >>> is_whole(zeros_and_ones, zeros_and_ones), is_whole(np.sort(zeros_and_ones), zeros_and_ones)
    (True, False)
    """
    if np.array_equal(hashes, own):
        return True
    if not np.array_equal(np.sort(hashes), np.sort(own)):
        return False
    _, counts = np.unique(own, return_counts=True)
    n = len(own)
    # The multinomial probability is largest where the population has the shares that the rows have.
    ln_chance = gammaln(n + 1) - gammaln(counts + 1).sum() + (counts * np.log(counts / n)).sum()
    return bool(len(counts) == n or ln_chance <= math.log(_CHANCE))
