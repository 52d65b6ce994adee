"""Checking whether training rows contain the holdout: the outcome is recorded and has a price."""

from __future__ import annotations

import hashlib
import hmac
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from sklearn_ada.events import CodedRelease, Symbol
from sklearn_ada.exceptions import HoldoutLeakError
from sklearn_ada.holdout.records.conversation import Conversation
from sklearn_ada.holdout.records.overlap import OverlapRecord
from sklearn_ada.holdout.rows.overlap import is_leak, row_hashes
from sklearn_ada.holdout.session.bare_errors import with_bare_errors
from sklearn_ada.holdout.session.session import Session
from sklearn_ada.ledger import Record

__all__ = ["check_hashes", "check_not_held_out", "is_whole", "overlaps"]

_CHANCE = 1e-6


def check_not_held_out(session: Session, X: Any) -> None:
    """Raise `HoldoutLeakError` if rows X contain the holdout, or part of it beyond chance; charged."""
    check_hashes(session, row_hashes(X))


def check_hashes(session: Session, hashes: NDArray[np.uint64]) -> None:
    """Do as `check_not_held_out`, for rows of which somebody has made the hashes."""
    if hashes_overlap(session, hashes):
        raise HoldoutLeakError(
            "The rows contain rows of the holdout, far more than chance allows. Take the holdout out of "
            "X, on which models are fitted and from which guesses are taken. A ReusableHoldoutCV that makes "
            "the holdout does it; pass another one, which is given this holdout, X[search.train_indices_]."
        )


def overlaps(session: Session, X: Any) -> bool:
    """Return whether rows X contain the holdout, or more of it than by chance.

    The outcome is recorded and charged, once for the same X in the same order; "no" costs about a millionth
    of a nat, and "yes" 14 nats. Of a closed holdout only what is recorded is told.
    """
    return hashes_overlap(session, row_hashes(X))


def hashes_overlap(session: Session, hashes: NDArray[np.uint64]) -> bool:
    """Do as `overlaps`, for rows of which somebody has made the hashes."""
    own = session.data.feature_hashes
    compared = hashlib.sha256(hashes.tobytes())
    if session.genesis.identity != "content":  # the features of its rows may change: then they are asked anew
        compared.update(hmac.digest(session.secret, own.tobytes(), "sha256"))
    # By order: whether X is the holdout depends on it, and what is free must have been told before.
    key = f"overlap rows {session.data.first_like} {compared.hexdigest()}"
    stamp = session.asker.stamp()

    def refuse_if_closed(state: Conversation) -> None:
        if state.closed:
            session.check_not_outgrown(state)

    def look_and_charge() -> Record:
        event = CodedRelease((Symbol("overlap", int(is_leak(hashes, own) or is_whole(hashes, own))),))
        return session.charge(key, lambda state: OverlapRecord.of(state, event, stamp))

    found = session.find(key, otherwise=refuse_if_closed)
    return OverlapRecord((found or with_bare_errors(look_and_charge)).body).is_leak


def is_whole(hashes: NDArray[np.uint64], own: NDArray[np.uint64]) -> bool:
    """Return whether some rows are those of the holdout, in whatever order.

    Only if independent rows would come out so with a probability of at most 1e-6, whatever their population.
    Twenty rows of zeros and ones are often those of the holdout, though rarely in its order. Rows that all
    differ, in the holdout's own order, always count.

    Examples
    --------
    >>> rows = np.arange(20, dtype=np.uint64)
    >>> is_whole(rows[::-1], rows)
    True
    >>> zeros_and_ones = rows % np.uint64(2)
    >>> is_whole(zeros_and_ones, zeros_and_ones), is_whole(np.sort(zeros_and_ones), zeros_and_ones)
    (True, False)
    """
    same_order = np.array_equal(hashes, own)
    if not same_order and not np.array_equal(np.sort(hashes), np.sort(own)):
        return False
    _, counts = np.unique(own, return_counts=True)
    n = len(own)
    # The probability is largest where the population has the shares that the rows have.
    ln_chance = (counts * np.log(counts / n)).sum()
    if not same_order:  # any of the orders would do
        ln_chance += gammaln(n + 1) - gammaln(counts + 1).sum()
    return bool(ln_chance <= math.log(_CHANCE) or (same_order and len(counts) == n > 1))
