"""The session's ledger for some rows: with ids, though rows were added, dropped or put in another order.

A ledger without a path belongs to rows. Where these are known by ids, it is looked for among the ledgers of
this session whose rows have ids; they are compared by hashes keyed with the ledger's own secret.

- All rows of a holdout (of one of its editions) are among these: its ledger, whatever else there is.
- Some are, and others are missing: other rows, such as an outer fold, or the same with rows dropped. They get
  a ledger that is certified for these rows alone, and a warning, because nothing tells the two apart.
- None is, but the same labels in the same order were asked about, without ids or with others: refused, as a
  second budget for what may be the same rows.
- In a fold of scikit-learn's cross-validation: a ledger of its own, which only the same ids find again, in a
  fold or not. No fold's answers are mixed with those about all rows, and nothing is warned of.
"""

from __future__ import annotations

import hashlib
import os

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_ada._notices import warn_user
from sklearn_ada.digest import labels_digest
from sklearn_ada.exceptions import LedgerMismatchError
from sklearn_ada.holdout.records.conversation import Conversation
from sklearn_ada.holdout.rows.known_rows import keyed_ids
from sklearn_ada.holdout.session.changed_rows import editions_of, within_cross_validation
from sklearn_ada.ledger import (
    is_begun,
    ledger_address,
    ledgers_of_kind,
    note_ids,
    noted_ledgers,
    open_existing_ledger,
)

__all__ = ["address_of_rows"]

_ROWS, _FOLD = "ids", "fold"
_OF_SESSION = (None, ":memory:")


def address_of_rows(
    given: str | os.PathLike[str] | None,
    ids: NDArray[np.bytes_] | None,
    y: ArrayLike,
    missing: str = "raise",
) -> str | os.PathLike[str]:
    """Return where the ledger is for rows with these ids and labels: all of them, not the holdout's alone.

    So another split of the same rows finds the ledger of the first, which refuses it.

    Parameters
    ----------
    given : path-like, str or None
        What a user gave as ``ledger``; a path or a URL is returned as it is.
    ids : ndarray of bytes or None
        Hashed. None: rows are known by their labels and their order.
    y : array-like
        Labels.
    missing : {"raise", "ignore"}, default="raise"
        "ignore": rows that were dropped still have the ledger of those that are left.

    Raises
    ------
    LedgerMismatchError
        If these labels were asked about in this session, with ids where there are none now, or with others.

    Warns
    -----
    UserWarning
        Once for each ledger, if rows of a holdout of this session are among these, and others are not.
    """
    by_labels = ledger_address(given, lambda: labels_digest(y))
    if given not in _OF_SESSION:
        return by_labels
    if ids is None:
        if any(is_begun(noted) for noted in noted_ledgers(by_labels)):
            raise _known_by_ids("with ids, and not without: give their ids again, ids=")
        return by_labels
    address = _address_by_ids(given, np.unique(ids), by_labels, missing)
    # Before there is a ledger, so that the same rows without ids find it from its first moment on. Which
    # ledger it is tells workers that open the same rows at once from somebody with other ids.
    note_ids(by_labels, address)
    return address


def _address_by_ids(
    given: str | os.PathLike[str] | None,
    known: NDArray[np.bytes_],
    by_labels: str | os.PathLike[str],
    missing: str,
) -> str | os.PathLike[str]:
    """Return where the ledger of these ids is; ``by_labels`` is where it would be without ids."""
    digest = hashlib.sha256(known.tobytes()).hexdigest()
    own, of_fold = (ledger_address(given, lambda: digest, kind) for kind in (_ROWS, _FOLD))
    for address in (own, of_fold):  # the same ids have one ledger, whoever was first
        if is_begun(address):
            return address
    if within_cross_validation():
        return of_fold
    whole: list[tuple[int, str]] = []
    partial: list[tuple[int, int, str]] = []
    for address in ledgers_of_kind(given, _ROWS):
        ledger = open_existing_ledger(address, Conversation)
        mine = keyed_ids(known, ledger.secret())
        for rows in editions_of(ledger):
            shared = int(np.isin(rows["id"], mine).sum())
            if shared == len(rows):
                whole.append((shared, address))
            elif shared:
                partial.append((shared, len(rows), address))
    if whole:
        return max(whole)[1]
    if partial and missing == "ignore":
        return max(partial)[2]
    if partial:
        shared, size, _ = max(partial)
        warn_user(
            f"{shared} of the {size} rows of a holdout that was asked in this session are among these rows, "
            f"and {size - shared} are missing. These rows get a ledger of their own, certified for them "
            "alone, as the folds of an outer cross-validation do. If they are the same rows with some "
            "dropped, that is a second budget for one holdout, and no interval of either ledger holds any "
            "more: use missing='ignore', which goes on with the first one and says so in every certificate, "
            "and give the ledger a path.",
            once=("rows with ids of which others are missing", os.fspath(own)),
        )
    elif is_begun(by_labels):
        return by_labels  # which is refused: it was begun without ids
    elif any(is_begun(other) for other in noted_ledgers(by_labels) if _is_of_rows(other) and other != own):
        raise _known_by_ids("with other ids: give those, as they were (a number is not the same as text)")
    return own


def _is_of_rows(address: str) -> bool:
    """Return whether a ledger is not that of a fold: folds of sorted labels have the same labels."""
    return not os.path.basename(address).removeprefix(":memory:").startswith(f"{_FOLD}-")


def _known_by_ids(how: str) -> LedgerMismatchError:
    return LedgerMismatchError(
        f"These labels, in this order, were asked about in this session {how}. A second ledger of the same "
        "rows would be a second budget for one holdout, and no interval of either would hold any more. For "
        "other rows, which nobody has asked about, give a ledger of their own: ledger='holdout.db'."
    )
