"""The session's ledger for rows with ids, found although rows were added, dropped or put in another order.

A ledger without a path belongs to rows. Where these are known by ids, it is looked for among the ledgers of
this session whose rows have ids; they are compared by hashes keyed with the ledger's own secret.

- All rows of a holdout (of one of its editions) are among these: its ledger, whatever else there is.
- Some are, and others are missing: other rows, such as an outer fold, or the same with rows dropped. They get
  a ledger that is certified for these rows alone, and a warning, because nothing tells the two apart.
- Within scikit-learn's cross-validation a fold has its own ledger, which only the same rows find again, in
  the same fold: no fold's answers are mixed with those about all rows, and nothing is warned of.
"""

from __future__ import annotations

import hashlib
import os

import numpy as np
from numpy.typing import NDArray

from sklearn_ada._notices import warn_user
from sklearn_ada.holdout.records.conversation import Conversation
from sklearn_ada.holdout.rows.known_rows import keyed_ids
from sklearn_ada.holdout.session.changed_rows import editions_of, within_cross_validation
from sklearn_ada.ledger import ledger_address, ledgers_of_kind, open_existing_ledger

__all__ = ["address_of_rows"]

_ROWS, _FOLD = "ids", "fold"


def address_of_rows(
    given: str | os.PathLike[str] | None, ids: NDArray[np.bytes_], missing: str = "raise"
) -> str | os.PathLike[str]:
    """Return where the ledger is for rows with these hashed ids: all of them, also those not in the holdout.

    So another split of the same rows finds the ledger of the first, which refuses it.

    Parameters
    ----------
    given : path-like, str or None
        What a user gave as ``ledger``; a path or a URL is returned as it is.
    ids : ndarray of bytes
    missing : {"raise", "ignore"}, default="raise"
        "ignore": rows that were dropped still have the ledger of those that are left.

    Warns
    -----
    UserWarning
        Once a process, if rows of a holdout of this session are among these, and others are not.
    """
    known = np.unique(ids)
    digest = hashlib.sha256(known.tobytes()).hexdigest()
    kind = _FOLD if within_cross_validation() else _ROWS
    own = ledger_address(given, lambda: digest, kind)
    others = [] if kind == _FOLD else ledgers_of_kind(given, kind)
    if own in others:
        return own
    whole: list[tuple[int, str]] = []
    partial: list[tuple[int, int, str]] = []
    for address in others:
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
            "alone, as the folds of an outer cross-validation do. If they are the same rows with some dropped, that "
            "is a second budget for one holdout, and no interval of either ledger holds any more: use "
            "missing='ignore', which goes on with the first one and says so in every certificate, and give "
            "the ledger a path.",
            once=("rows with ids of which others are missing",),
        )
    return own
