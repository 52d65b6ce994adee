"""Find the ledger of some rows, and the rows that are its holdout's.

A ledger without a path belongs to rows. Where these have ids, it is looked for among the ledgers of
this session whose rows have ids; they are compared by hashes keyed with the ledger's own secret.

- All rows of a holdout (of one of its editions) are among these: its ledger.
- Rows of another holdout are, too: refused. One ledger would forget what the other one revealed.
- Some are, and others are missing: other rows, such as an outer fold, or the same with rows dropped. They get
  a ledger that is certified for these rows alone, and a warning, because nothing tells the two apart.
- None is, but the same labels in the same order were asked about, without ids or with others: refused, as a
  second budget for what may be the same rows.
- In a fold of scikit-learn's cross-validation: a ledger of its own, which only the same ids find again, in a
  fold or not. No fold's answers are mixed with those about all rows, and nothing is warned of.

**Rows with ids keep their side**: none that a ledger has as its holdout's is ever trained on. Where a
share of the rows is the holdout, each row is assigned by a hash of its own id, and cannot cross. A mask, a
splitter or a `Holdout` chooses rows by something else: these are compared with what the ledger knows. Ids are
no secret, so an error may say how many rows are missing, new, or on the wrong side. It never says how many
labels differ: labels that are somebody's predictions would then be scored for nothing.
"""

from __future__ import annotations

import hashlib
import os
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_ada._notices import warn_user
from sklearn_ada.data.labels import check_labels
from sklearn_ada.digest.rows import labels_digest
from sklearn_ada.exceptions import HoldoutLeakError, LedgerMismatchError, LedgerUnavailableError
from sklearn_ada.holdout.changes import editions_of
from sklearn_ada.holdout.pending import charge
from sklearn_ada.holdout.records import CloseRecord, Key, LabelsRecord
from sklearn_ada.holdout.session import Session
from sklearn_ada.holdout.state import State
from sklearn_ada.ledger.hash_chain import FOLD_OF_ITS_OWN, Ledger
from sklearn_ada.ledger.opening import (
    goes_with_data,
    is_begun,
    ledger_address,
    ledgers_of_kind,
    note_ids,
    noted_ledgers,
    open_existing_ledger,
    open_ledger_to_write,
)
from sklearn_ada.ledger.transactions import BACKENDS, Address
from sklearn_ada.terms.policy import Asker
from sklearn_ada.terms.recognised_rows import within_cross_validation
from sklearn_ada.terms.row_tables import Changes, Table, key_of_rows, keyed_ids, keyed_table

Ids = NDArray[np.bytes_]
_ROWS, _FOLD = "ids", "fold"


class LedgerPlace(NamedTuple):
    """The addresses of the ledger of some rows and of one left for it."""

    address: Address
    left: Address | None = None


def place_of_rows(
    given: Address | None, ids: Ids | None, y: ArrayLike, missing: str = "raise"
) -> LedgerPlace:
    """Return where the ledger is for rows with these ids and labels: all of them, not the holdout's alone.

    So another split of the same rows finds the ledger of the first, which refuses it. Once it has been opened
    `leave_other` closes the one that is left.

    Parameters
    ----------
    given : path-like, str or None
        What a user gave as ``ledger``; a path or a URL is returned as it is.
    ids : ndarray of bytes or None
        Hashed. None: labels and their order identify the rows.
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
    of_session = goes_with_data(given)
    if of_session and ids is None and any(map(is_begun, noted_ledgers(by_labels))):
        raise _asked_otherwise("with ids, and not without: give their ids again, ids=")
    if not of_session or ids is None:
        return LedgerPlace(by_labels)
    in_any_order = ledger_address(given, lambda: labels_digest(np.sort(np.asarray(y))), "sorted")
    place = _place_by_ids(given, np.unique(ids), by_labels, in_any_order, missing)
    if place.address != by_labels:  # else it was begun without ids, goes on so, and refuses these
        # Before there is a ledger, so that the same rows without ids find it from its first moment on. Which
        # ledger it is tells workers that open the same rows at once from somebody with other ids.
        note_ids(by_labels, place.address)
        note_ids(in_any_order, place.address)
    return place


def leave_other(place: LedgerPlace) -> None:
    """Close the ledger that is left: it answers nothing to whoever has it open.

    Raises
    ------
    LedgerMismatchError
        If somebody has asked it since.
    """

    def decide(state: State) -> dict[str, Any]:
        if not state.is_untouched:
            _check_alone(2)
        return CloseRecord(**Asker().stamp()).to_dict(state.policy.format)

    if place.left is not None:
        open_ledger_to_write(place.left, State).charge(Key.CLOSE, decide)


def _place_by_ids(
    given: Address | None, ids: Ids, by_labels: Address, in_any_order: Address, missing: str
) -> LedgerPlace:
    """Return where the ledger of these ids is.

    ``by_labels`` is where it would be without ids; ledgers of as many rows of each label are noted under
    ``in_any_order``.
    """
    digest = hashlib.sha256(ids.tobytes()).hexdigest()
    own, of_fold = (ledger_address(given, lambda: digest, kind) for kind in (_ROWS, _FOLD))
    # The same ids have one ledger, whoever was first.
    here = next((one for one in (own, of_fold) if is_begun(one)), None)
    untouched = closed = False
    if here is not None:
        ledger = open_existing_ledger(here, State)
        untouched, closed = ledger.read(lambda state: (state.is_untouched, state.closed))
    if within_cross_validation():
        return LedgerPlace(own if here == own and not (untouched and closed) else of_fold)
    shared = _ledgers_sharing([one for one in ledgers_of_kind(given, _ROWS) if one != here], ids)
    # But an untouched one is left for the first one of these rows, as soon as ``missing`` says that they
    # are the same, or the first one knows them already.
    is_left = untouched and (closed or missing != "raise" or any(one.missing == 0 for one in shared))
    # Rows are not recorded yet, or never, if whoever began it ended before.
    if here is not None and not is_left and editions_of(open_existing_ledger(here, State)):
        if missing != "raise" and any(one.missing for one in shared):
            _check_alone(1 + len(shared))
        return LedgerPlace(here)
    nearest = max(shared, key=lambda one: (one.missing == 0, one.present), default=None)
    if nearest is not None and (nearest.missing == 0 or missing != "raise"):
        _check_alone(len(shared))
        return LedgerPlace(nearest.address, here)
    if is_left and here is not None:
        return LedgerPlace(here)
    if nearest is not None:
        warn_user(
            f"{nearest.present} of the {nearest.present + nearest.missing} rows of a holdout that was asked "
            f"in this session are among these rows, and {nearest.missing} are missing. These rows get a "
            "ledger of their own, certified for them alone, as the folds of an outer cross-validation do. If "
            "they are the same rows with some dropped, that is a second budget for one holdout, and no "
            "interval of either ledger is guaranteed any more: use missing='ignore', which goes on with the "
            "first one and says so in every certificate, and give the ledger a path.",
            once=("rows with ids of which others are missing", os.fspath(own)),
        )
        return LedgerPlace(own)
    if is_begun(by_labels):
        return LedgerPlace(by_labels)  # which is refused: it was begun without ids
    _check_other_ids(own, by_labels, in_any_order, given)
    return LedgerPlace(own)


def _check_other_ids(own: Address, by_labels: Address, in_any_order: Address, given: Address | None) -> None:
    """Raise if the same labels were asked about with other ids; warn if they were in another order."""

    def have_others(noted: Address) -> bool:
        begun = {other for other in noted_ledgers(noted) if other != own and is_begun(other)}
        return not begun <= set(ledgers_of_kind(given, _FOLD))  # folds of sorted labels have the same labels

    if have_others(by_labels):
        raise _asked_otherwise("with other ids: give those, as they were (a number is not the same as text)")
    if have_others(in_any_order):
        warn_user(
            "As many rows of each label were asked about in this session, and none of their ids is among "
            "these. Other data have a ledger of their own. If they are the same rows, in another order and "
            "with ids of another kind, this is a second budget for one holdout, and no interval of either "
            "ledger is guaranteed any more: give the ids as they were (a number is not the same as text).",
            once=("as many rows of each label", os.fspath(own)),
        )


class _SharingLedger(NamedTuple):
    """A ledger with some of these rows: how many of an edition are present, and how many missing."""

    address: str
    present: int
    missing: int


def _ledgers_sharing(addresses: list[str], ids: Ids) -> list[_SharingLedger]:
    """Return the ledgers that have rows of these ids, each by its nearest edition."""
    found = []
    for address in addresses:
        ledger = open_existing_ledger(address, State)
        if ledger.read(lambda state: state.is_untouched and state.closed):
            continue  # it was left, and tells nothing
        mine = keyed_ids(ids, key_of_rows(ledger.secret(), ledger.genesis))
        editions = editions_of(ledger)
        counts = [(int(np.isin(rows["id"], mine).sum()), len(rows)) for rows in editions]
        if any(present for present, _ in counts):
            present, size = max(counts, key=lambda count: (count[0] == count[1], count[0]))
            found.append(_SharingLedger(address, present, size - present))
    return found


def check_not_of_others(own: Ledger[State], ids: Ids) -> None:
    """Raise LedgerMismatchError if another ledger of this session has rows with these ids."""
    for backend in BACKENDS:
        addresses = backend.addresses_of_kind(_ROWS)
        others = [one for one in addresses if open_existing_ledger(one, State).genesis != own.genesis]
        if len(others) < len(addresses):  # else it is none of this session's
            _check_alone(1 + len(_ledgers_sharing(others, ids)))


def _check_alone(ledgers: int) -> None:
    if ledgers > 1:
        raise LedgerMismatchError(
            f"These rows are, or contain, rows of {ledgers} holdouts of this session, and one ledger "
            "cannot count for all of them: what another one tells about its rows would be forgotten. Open "
            "each of them again with its own rows; or make a holdout of rows that nobody has asked about. In "
            "a fold of your own, made without scikit-learn's cross_validate, give each fold a path."
        )


def _asked_otherwise(how: str) -> LedgerMismatchError:
    return LedgerMismatchError(
        f"These labels, in this order, were asked about in this session {how}. A second ledger of the same "
        "rows would be a second budget for one holdout, and no interval of either would be guaranteed any "
        "more. For other rows, which nobody has asked about, give a ledger of their own: ledger='holdout.db'."
    )


_CHOSEN = (
    "Rows may come, go or be relabelled only where a share such as holdout=0.25 chooses the holdout, because "
    "then each row keeps its side."
)


def check_sides(session: Session, ids: Ids) -> None:
    """Raise `HoldoutLeakError` if rows with these ids are, or once were, rows of the holdout.

    Parameters
    ----------
    session : Session
        Of a holdout whose rows have ids.
    ids : ndarray of bytes
        Hashed ids of the rows that models will be fitted on; an id may occur more than once.
    """
    _check_crossed(editions_of(session.ledger), ids, session.rows_key)


def held_before(address: Address, ids: Ids) -> NDArray[np.bool_]:
    """Return which of these hashed ids are, or were, of a ledger's holdout."""
    found = _begun_with_rows(address)
    if found is None:
        return np.zeros(len(ids), dtype=bool)
    ledger, editions = found
    return np.isin(
        keyed_ids(ids, key_of_rows(ledger.secret(), ledger.genesis)),
        np.concatenate([rows["id"] for rows in editions]),
    )


def check_unchanged(
    address: Address, train: Ids, ids: Ids, y: NDArray[np.generic], *, of_share: bool, is_path: bool
) -> None:
    """Raise if a ledger's holdout would have other rows and may not.

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
    found = _begun_with_rows(address)
    if found is None:
        return
    ledger, editions = found
    secret = key_of_rows(ledger.secret(), ledger.genesis)
    changes = Changes.between(editions[-1], keyed_table(ids, check_labels(y), secret))
    reasons = changes.in_words(len(editions[-1]))
    # Only alone: else labels of some rows could be tried one by one, for nothing.
    if len(changes.relabelled) and not reasons:
        reasons.append("labels differ" + _paid_for_labels(address))
    if reasons:
        raise LedgerMismatchError(
            f"The rows of the holdout of the ledger {str(getattr(ledger, 'name', ledger))!r} may not change "
            f"here: {', '.join(reasons)}. {FOLD_OF_ITS_OWN if of_fold else _CHOSEN} No change was recorded. "
            "Bring the rows as they were, or make a holdout of rows that nobody has asked about, with a "
            "ledger of its own: a second ledger of these rows would be a second budget for one holdout."
        )
    _check_crossed(editions, train, secret)


def _begun_with_rows(address: Address) -> tuple[Ledger[State], list[Table]] | None:
    """Return a ledger with the editions of its holdout; None if it will be begun, or its rows recorded."""
    try:
        ledger = open_existing_ledger(address, State)
    except LedgerUnavailableError:  # opening it tells why
        return None
    editions = editions_of(ledger)
    return (ledger, editions) if editions else None


def _paid_for_labels(address: Address) -> str:
    """Charge the news that labels differ, if nats are what pays; return what to say."""
    ledger, stamp = open_ledger_to_write(address, State), Asker().stamp()
    if ledger.read(lambda state: state.policy.route) != "description_length":
        return ""
    charge(ledger, None, lambda state: LabelsRecord.of(state, stamp))
    return ", and to tell that cost 4.6 nats"


def _check_crossed(editions: list[Table], ids: Ids, secret: bytes) -> None:
    if not editions:
        return
    held = np.unique(np.concatenate([rows["id"] for rows in editions]))
    crossed = int(np.isin(held, keyed_ids(ids, secret)).sum())
    if crossed:
        raise HoldoutLeakError(
            f"{crossed} of the ids of the training rows are those of rows of the holdout, now or before. "
            "Leave these rows out of X, on which models are fitted and from which guesses are taken; "
            "nothing was fitted, and nothing recorded."
        )
