"""The session's ledger for some rows: with ids, though rows were added, dropped or put in another order.

A ledger without a path belongs to rows. Where these are known by ids, it is looked for among the ledgers of
this session whose rows have ids; they are compared by hashes keyed with the ledger's own secret.

- All rows of a holdout (of one of its editions) are among these: its ledger.
- Rows of another holdout are, too: refused. One ledger would forget what the other one told.
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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_ada._notices import warn_user
from sklearn_ada.digest import labels_digest
from sklearn_ada.exceptions import LedgerMismatchError
from sklearn_ada.holdout.changing_rows.changed_rows import editions_of, within_cross_validation
from sklearn_ada.holdout.records.close import CloseRecord
from sklearn_ada.holdout.records.conversation import Conversation
from sklearn_ada.holdout.rows.known_rows import keyed_ids
from sklearn_ada.holdout.terms.asker import Asker
from sklearn_ada.ledger import (
    Ledger,
    is_begun,
    ledger_address,
    ledgers_of_kind,
    note_ids,
    noted_ledgers,
    open_existing_ledger,
    open_ledger_to_write,
)

__all__ = ["Place", "check_not_of_others", "leave_other", "place_of_rows"]

_ROWS, _FOLD = "ids", "fold"
_OF_SESSION = (None, ":memory:")


class Place(NamedTuple):
    """Where the ledger of some rows is, and which one of the same rows is to be left for it, if any."""

    address: str | os.PathLike[str]
    left: str | os.PathLike[str] | None = None


def place_of_rows(
    given: str | os.PathLike[str] | None,
    ids: NDArray[np.bytes_] | None,
    y: ArrayLike,
    missing: str = "raise",
) -> Place:
    """Return where the ledger is for rows with these ids and labels: all of them, not the holdout's alone.

    So another split of the same rows finds the ledger of the first, which refuses it. Once it has been opened
    `leave_other` closes the one that is left.

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
        return Place(by_labels)
    if ids is None:
        if any(is_begun(noted) for noted in noted_ledgers(by_labels)):
            raise _known_by_ids("with ids, and not without: give their ids again, ids=")
        return Place(by_labels)
    in_any_order = ledger_address(given, lambda: labels_digest(np.sort(np.asarray(y))), "sorted")
    place = _place_by_ids(given, np.unique(ids), by_labels, in_any_order, missing)
    # Before there is a ledger, so that the same rows without ids find it from its first moment on. Which
    # ledger it is tells workers that open the same rows at once from somebody with other ids.
    note_ids(by_labels, place.address)
    note_ids(in_any_order, place.address)
    return place


def leave_other(place: Place) -> None:
    """Close the ledger that is left, so that whoever still has it open is answered nothing.

    Raises
    ------
    LedgerMismatchError
        If somebody has asked it since.
    """

    def decide(state: Conversation) -> dict[str, Any]:
        if not state.is_untouched:
            _check_alone(2)
        return CloseRecord.of(Asker().stamp()).to_dict()

    if place.left is not None:
        open_ledger_to_write(place.left, Conversation).charge("close", decide)


def _place_by_ids(
    given: str | os.PathLike[str] | None,
    known: NDArray[np.bytes_],
    by_labels: str | os.PathLike[str],
    in_any_order: str | os.PathLike[str],
    missing: str,
) -> Place:
    """Return where the ledger of these ids is.

    ``by_labels`` is where it would be without ids; ledgers of as many rows of each label are noted under
    ``in_any_order``.
    """
    digest = hashlib.sha256(known.tobytes()).hexdigest()
    own, of_fold = (ledger_address(given, lambda: digest, kind) for kind in (_ROWS, _FOLD))
    # The same ids have one ledger, whoever was first.
    here = next((one for one in (own, of_fold) if is_begun(one)), None)
    untouched, closed = (False, False) if here is None else _told(here)
    if within_cross_validation():
        return Place(own if here == own and not (untouched and closed) else of_fold)
    shared = _sharing([one for one in ledgers_of_kind(given, _ROWS) if one != here], known)
    # But one that told nothing is left for the first one of these rows, as soon as missing="ignore" says that
    # they are the same, or the first one knows them already.
    is_left = untouched and (closed or missing == "ignore" or any(one.missing == 0 for one in shared))
    if here is not None and not is_left and _has_rows(here):
        if missing == "ignore" and any(one.missing for one in shared):
            _check_alone(1 + len(shared))
        return Place(here)
    nearest = max(shared, key=lambda one: (one.missing == 0, one.known), default=None)
    if nearest is not None and (nearest.missing == 0 or missing == "ignore"):
        _check_alone(len(shared))
        return Place(nearest.address, here)
    if is_left and here is not None:
        return Place(here)
    if nearest is not None:
        warn_user(
            f"{nearest.known} of the {nearest.known + nearest.missing} rows of a holdout that was asked in "
            f"this session are among these rows, and {nearest.missing} are missing. These rows get a ledger "
            "of their own, certified for them alone, as the folds of an outer cross-validation do. If they "
            "are the same rows with some dropped, that is a second budget for one holdout, and no interval "
            "of either ledger holds any more: use missing='ignore', which goes on with the first one and "
            "says so in every certificate, and give the ledger a path.",
            once=("rows with ids of which others are missing", os.fspath(own)),
        )
    elif is_begun(by_labels):
        return Place(by_labels)  # which is refused: it was begun without ids
    elif any(is_begun(other) for other in noted_ledgers(by_labels) if _is_of_rows(other) and other != own):
        raise _known_by_ids("with other ids: give those, as they were (a number is not the same as text)")
    elif any(is_begun(other) for other in noted_ledgers(in_any_order) if _is_of_rows(other) and other != own):
        warn_user(
            "As many rows of each label were asked about in this session, and none of their ids is among "
            "these. Other data have a ledger of their own. If they are the same rows, in another order and "
            "with ids of another kind, this is a second budget for one holdout, and no interval of either "
            "ledger holds any more: give the ids as they were (a number is not the same as text).",
            once=("as many rows of each label", os.fspath(own)),
        )
    return Place(own)


def _told(address: str | os.PathLike[str]) -> tuple[bool, bool]:
    """Return whether a ledger told nothing yet, and whether it is closed."""
    ledger = open_existing_ledger(address, Conversation)
    return ledger.read(lambda state: (state.is_untouched, state.closed))


def _has_rows(address: str | os.PathLike[str]) -> bool:
    """Return whether rows are recorded: not yet, or never, if whoever began it ended before."""
    return bool(editions_of(open_existing_ledger(address, Conversation)))


class _Sharing(NamedTuple):
    """A ledger whose holdout has rows among some: how many of an edition are known, and how many missing."""

    address: str
    known: int
    missing: int


def _sharing(addresses: list[str], ids: NDArray[np.bytes_]) -> list[_Sharing]:
    """Return the ledgers that know a row of these hashed ids, each by the edition nearest to them."""
    found = []
    for address in addresses:
        ledger = open_existing_ledger(address, Conversation)
        if ledger.read(lambda state: state.is_untouched and state.closed):
            continue  # it was left, and tells nothing
        mine = keyed_ids(ids, ledger.secret())
        editions = editions_of(ledger)
        counts = [(int(np.isin(rows["id"], mine).sum()), len(rows)) for rows in editions]
        if any(known for known, _ in counts):
            known, size = max(counts, key=lambda count: (count[0] == count[1], count[0]))
            found.append(_Sharing(address, known, size - known))
    return found


def check_not_of_others(own: Ledger[Conversation], ids: NDArray[np.bytes_]) -> None:
    """Raise LedgerMismatchError if rows with these ids are also those of another ledger of this session."""
    for given in _OF_SESSION:
        addresses = ledgers_of_kind(given, _ROWS)
        others = [one for one in addresses if open_existing_ledger(one, Conversation).genesis != own.genesis]
        if len(others) < len(addresses):  # else it is none of this session's
            _check_alone(1 + len(_sharing(others, ids)))


def _check_alone(ledgers: int) -> None:
    if ledgers > 1:
        raise LedgerMismatchError(
            f"These rows are, or contain, rows of {ledgers} holdouts of this session, and one ledger "
            "cannot count for all of them: what another one tells about its rows would be forgotten. Open "
            "each of them again with its own rows; or make a holdout of rows that nobody has asked about. In "
            "a fold of your own, made without scikit-learn's cross_validate, give each fold a path."
        )


def _is_of_rows(address: str) -> bool:
    """Return whether a ledger is not that of a fold: folds of sorted labels have the same labels."""
    return not os.path.basename(address).removeprefix(":memory:").startswith(f"{_FOLD}-")


def _known_by_ids(how: str) -> LedgerMismatchError:
    return LedgerMismatchError(
        f"These labels, in this order, were asked about in this session {how}. A second ledger of the same "
        "rows would be a second budget for one holdout, and no interval of either would hold any more. For "
        "other rows, which nobody has asked about, give a ledger of their own: ledger='holdout.db'."
    )
