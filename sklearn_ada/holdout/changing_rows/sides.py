"""Rows known by ids keep their side: none that a ledger knows as its holdout's is ever trained on.

Where a share of the rows is the holdout, each row is assigned by a hash of its own id, and cannot cross. A
mask, a splitter or a `Holdout` chooses rows by something else: these are compared with what the ledger knows.
Ids are no secret, so an error may say how many rows are missing, new, or on the wrong side. It never says how
many labels differ: labels that are somebody's predictions would then be scored for nothing.
"""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from sklearn_ada.exceptions import HoldoutLeakError, LedgerMismatchError, LedgerUnavailableError
from sklearn_ada.holdout.changing_rows.changed_rows import editions_of, within_cross_validation
from sklearn_ada.holdout.records.conversation import Conversation
from sklearn_ada.holdout.records.labels import LabelsRecord
from sklearn_ada.holdout.rows.known_rows import Changes, Table, keyed_ids, keyed_table
from sklearn_ada.holdout.session.session import Session
from sklearn_ada.holdout.terms.asker import Asker
from sklearn_ada.ledger import open_existing_ledger, open_ledger_to_write
from sklearn_ada.metrics import check_labels

__all__ = ["check_sides", "check_unchanged", "held_before"]

_FOLD = (
    "An outer fold is other rows: ledger=None gives each fold a ledger that is certified for that fold alone."
)
_CHOSEN = (
    "Rows may come, go or be relabelled only where a share such as holdout=0.25 chooses the holdout, because "
    "then each row keeps its side."
)


def check_sides(session: Session, ids: NDArray[np.bytes_]) -> None:
    """Raise `HoldoutLeakError` if rows with these ids are, or once were, rows of the holdout.

    Parameters
    ----------
    session : Session
        Of a holdout whose rows are known by ids.
    ids : ndarray of bytes
        Hashed ids of the rows that models will be fitted on; an id may occur more than once.
    """
    _check_crossed(editions_of(session.ledger), ids, session.secret)


def held_before(address: str | os.PathLike[str], ids: NDArray[np.bytes_]) -> NDArray[np.bool_]:
    """Return which of these hashed ids a ledger knows as those of its holdout's rows, now or before."""
    try:
        ledger = open_existing_ledger(address, Conversation)
    except LedgerUnavailableError:  # it will be begun, or opening it tells why not
        return np.zeros(len(ids), dtype=bool)
    editions = editions_of(ledger)
    if not editions:
        return np.zeros(len(ids), dtype=bool)
    return np.isin(keyed_ids(ids, ledger.secret()), np.concatenate([rows["id"] for rows in editions]))


def check_unchanged(
    address: str | os.PathLike[str],
    train: NDArray[np.bytes_],
    ids: NDArray[np.bytes_],
    y: NDArray[np.generic],
    *,
    of_share: bool,
    is_path: bool,
) -> None:
    """Raise if a ledger's holdout is to consist of other rows than before and must not.

    No change is recorded; that labels alone differ is paid for. It may change by itself only where a share
    chooses it, and not on a path within scikit-learn's cross-validation, where the rows are those of a fold.

    Parameters
    ----------
    address : path-like or str
        Where the ledger is, if it was begun.
    train, ids : ndarray of bytes
        Hashed ids of the rows for training, and of those of the holdout.
    y : array-like
        Labels of the holdout.
    of_share : bool
        Whether a share chose the holdout.
    is_path : bool
        Whether the user gave the ledger a path.

    Raises
    ------
    LedgerMismatchError
        If rows of the holdout are missing, new or relabelled.
    HoldoutLeakError
        If rows that once were the holdout's are to be trained on.
    """
    of_fold = is_path and within_cross_validation()
    if of_share and not of_fold:
        return
    try:
        ledger = open_existing_ledger(address, Conversation)
    except LedgerUnavailableError:  # it will be begun, or opening it tells why not
        return
    editions = editions_of(ledger)
    if not editions:
        return
    secret = ledger.secret()
    changes = Changes.between(editions[-1], keyed_table(ids, check_labels(y), secret))
    told = []
    if len(changes.missing):
        told.append(f"{len(changes.missing)} of the {len(editions[-1])} rows are missing")
    if len(changes.added):
        told.append(f"{len(changes.added)} rows are new")
    if (
        len(changes.relabelled) and not told
    ):  # else labels of some rows could be tried one by one, for nothing
        told.append("labels differ" + _paid_for_labels(address))
    if told:
        raise LedgerMismatchError(
            f"The rows of the holdout of the ledger {str(getattr(ledger, 'name', ledger))!r} may not change "
            f"here: {', '.join(told)}. {_FOLD if of_fold else _CHOSEN} No change was recorded. Bring the "
            "rows as they were, or make a holdout of rows that nobody has asked about, with a ledger of its "
            "own: a second ledger of these rows would be a second budget for one holdout."
        )
    _check_crossed(editions, train, secret)


def _paid_for_labels(address: str | os.PathLike[str]) -> str:
    """Charge that labels differ, which is told now, where nats are what is paid with; return what to say."""
    ledger, stamp = open_ledger_to_write(address, Conversation), Asker().stamp()
    if ledger.read(lambda state: state.policy.route) != "description_length":
        return ""
    ledger.charge(None, lambda state: LabelsRecord.of(state, stamp).to_dict())
    return ", and to tell that cost 4.6 nats"


def _check_crossed(editions: list[Table], ids: NDArray[np.bytes_], secret: bytes) -> None:
    if not editions:
        return
    known = np.unique(np.concatenate([rows["id"] for rows in editions]))
    crossed = int(np.isin(known, keyed_ids(ids, secret)).sum())
    if crossed:
        raise HoldoutLeakError(
            f"{crossed} of the ids of the training rows are those of rows of the holdout, now or before. "
            "Leave these rows out of X, on which models are fitted and from which guesses are taken; "
            "nothing was fitted, and nothing recorded."
        )
