"""What becomes of a holdout when its rows change: found again, compared, kept out of training, added to.

A holdout of which the rows are known by ids, opened again: which of its editions these rows are.

An edition is the rows between two changes. Rows and labels that are those of an earlier edition, and not of
the last one, are one more change, back to these, which assumes and costs nothing: else whoever passed wrong
labels once would have lost the budget for good. A `Holdout` that stayed open meanwhile answers nothing new.
Why all intervals hold together, whatever was changed, stands in `sklearn_ada.holdout.changes`.

Checking whether training rows contain the holdout: the outcome is recorded and has a price.

The session's ledger for some rows: with ids, though rows were added, dropped or put in another order.

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

The mean weight of a holdout: released once, to five percent, because intervals depend on it.

Rows known by ids keep their side: none that a ledger knows as its holdout's is ever trained on.

Where a share of the rows is the holdout, each row is assigned by a hash of its own id, and cannot cross. A
mask, a splitter or a `Holdout` chooses rows by something else: these are compared with what the ledger knows.
Ids are no secret, so an error may say how many rows are missing, new, or on the wrong side. It never says how
many labels differ: labels that are somebody's predictions would then be scored for nothing.

Adding fresh rows to a holdout: the sample grows, and what was revealed about it goes on counting.

Theorem. Let the records of a holdout be the first n of an endless sequence of independent draws, and let a
conversation, whenever it likes, raise n: when and by how much may depend on every answer so far, which
records come next may not. Let each question speak of the first n records, n as it is when the question is
asked. If no top-up resets the nats L and the weights pi, then with probability at least ``1 - beta``, for all
questions before and after every top-up at once, the fixed-question interval at
``delta = beta * pi * exp(-L)`` holds.

Proof. Condition on all randomness other than the records. As in `sklearn_ada.guarantees.description_length`
the conversation is a tree whose nodes are transcripts. A top-up reveals nothing about the records, so it is a
part of the transcript with one continuation, and each node still fixes, before any record is seen, both its
question and its n; a fixed-question interval about the first n records holds at any fixed n. The union bound
over all nodes is the same sum, at most ``beta * E_code[sum pi] <= beta``.

So every old interval stays valid, and all old and new ones hold together. L must not start again from 0: what
was asked depends on the old rows, which are still among the rows. A round that was open is closed, because
its questions were fixed for the old rows.

*Rows known by ids.* Other changes are nodes of the same tree, under assumptions that later certificates name.
Let each record be drawn with everything that will ever be said of it: whether it is left out, and the label
that it is given in the end. Records are still independent draws.

- *Missing* rows. If the rule that leaves a record out looks at nothing but the record's own id and features
  (not at its label, and at no prediction), the records that stay are independent draws of those that such a
  rule leaves, and how many there are is fixed once it is known which. A question after that is one about
  them, fixed before any of their labels is seen but through the transcript, whose nats count.
- *Relabelled* rows. If labels are corrected by a rule that looks at no prediction, the corrected label is a
  part of the record from the start; when it is corrected must not depend on the records, or each opening
  before would tell that it was not yet. A question before is a function of the old labels, one after of the
  new. That labels differ is itself told about the records, and is paid for:
  ``-ln d`` nats each time (d = .01). That they do not is told as often as somebody tries, so ``-ln(1 - d)``
  is paid in advance, with the record of each set of rows: whoever tries labels of these until they are the
  right ones ends after some j of them, and ``(1 - d) sum_j d^(j-1) = 1``. Where M labellings of the same ids
  are recorded, any of them may be the right one, so the M-th pays ``ln M`` more: with S_M the sum over all
  ends of trying until M are found, ``S_M = M S_(M-1) + d S_M``, thus ``M! / (1 - d)^M``, and what was paid
  in advance is ``-ln((1 - d)^M / M!)``. Nothing is told for nothing: whether labels are compared, recorded or
  refused depends on ids alone.
- *Back* to the rows and labels of an earlier edition: one more change, which costs and assumes nothing more.
  The function is that of the edition, which was fixed before, and the nats of all that was revealed in
  between count. Which edition a question is about is a part of the transcript.

In each case old and new intervals hold together by the same union bound: it is over questions, each of them a
fixed function of independent records, whichever function that is. Where one opening finds rows missing,
others relabelled and others new, these are three changes in this order, with no question between them.
Changes of rows are refused, as top-ups are, where the guarantee is for one set of rows: with a privacy
budget, or with class counts that were paid for; and rows are neither added nor missing with groups or
weights.

A question after a change is a new one. It has a weight of its own, 1 / (j (j + 1)) for the j-th where no
number of questions is expected, and pays for all that was revealed before.

With fresh rows alone one can make a new holdout instead, with a ledger of its own and L = 0. Its intervals
hold at its own confidence level; those of both holdouts together fail with the sum of the failure
probabilities.
"""

from __future__ import annotations

import functools
import hashlib
import hmac
import math
import os
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from sklearn_ada._notices import is_called_by_function, warn_user
from sklearn_ada._validation import bad_parameter
from sklearn_ada.accounting.events import CodedRelease, Symbol
from sklearn_ada.data.labels import check_labels, stack_rows
from sklearn_ada.digest.rows import labels_digest
from sklearn_ada.exceptions import (
    BudgetExhaustedError,
    HoldoutLeakError,
    LedgerMismatchError,
    LedgerUnavailableError,
)
from sklearn_ada.holdout.records import (
    CloseRecord,
    LabelsRecord,
    MeanWeightRecord,
    OverlapRecord,
    RowsRecord,
    TopUpRecord,
)
from sklearn_ada.holdout.session import Session, with_bare_errors
from sklearn_ada.holdout.state import State
from sklearn_ada.ledger.hash_chain import Ledger, Record
from sklearn_ada.ledger.opening import (
    is_begun,
    ledger_address,
    ledgers_of_kind,
    note_ids,
    noted_ledgers,
    open_existing_ledger,
    open_ledger_to_write,
)
from sklearn_ada.terms.holdout_data import HoldoutData
from sklearn_ada.terms.overlap import is_leak, row_hashes
from sklearn_ada.terms.policy import Asker, Policy
from sklearn_ada.terms.row_tables import Changes, Table, after, fingerprint_of, keyed_ids, keyed_table

_FIRST = "rows 0"
_FITS_A_FOLD = {
    "sklearn.model_selection": frozenset(
        {
            "_fit_and_score",  # cross_validate, searches, learning curves
            "_fit_and_predict",  # cross_val_predict
            "_permutation_test_score",
            "_fit_and_score_over_thresholds",  # TunedThresholdClassifierCV
        }
    ),
    "sklearn.calibration": frozenset({"_fit_classifier_calibrator_pair"}),  # CalibratedClassifierCV
    "sklearn.feature_selection": frozenset({"_rfe_single_fit"}),  # RFECV
}
_FOLD = (
    "An outer fold is other rows: ledger=None gives each fold a ledger that is certified for that fold alone."
)
_SECOND = (
    "a second ledger of these rows would be a second budget for one holdout, and no interval of either would "
    "hold any more"
)


def within_cross_validation() -> bool:
    """Return whether a fold of scikit-learn's cross-validation is fitted among the callers.

    Not the refit of an outer search, nor a wrapper that lies in ``sklearn.model_selection`` as well: their
    rows are all rows.
    """
    return any(is_called_by_function(package, names) for package, names in _FITS_A_FOLD.items())


def editions_of(ledger: Ledger[State]) -> list[Table]:
    """Return the rows of each edition of a holdout, oldest first; none if its rows were not recorded yet."""
    editions: list[Table] = []
    while True:
        found = ledger.find(f"rows {len(editions)}")
        if found is None:
            return editions
        record = RowsRecord.from_dict(found.body)
        editions.append(after(record.change, record.table, editions[-1]) if editions else record.table)


def as_edition(session: Session, missing: str) -> Session:
    """Return the session of rows with ids as the edition that they are, which is recorded if it is new.

    Parameters
    ----------
    session : Session
    missing : {"raise", "ignore"}
        What to do if rows of the holdout are not among these.

    Raises
    ------
    LedgerMismatchError
        If rows are missing, or changed in a way that the holdout's guarantee does not allow; or if weights or
        groups are others. Nothing was recorded.
    """
    data, secret, ledger = session.data, session.secret, session.ledger
    table, fingerprint = data.table(secret), data.fingerprint(secret, "ids")
    stamp = session.asker.stamp()
    if ledger.find(_FIRST) is None:
        if fingerprint != session.genesis.fingerprint:
            raise LedgerMismatchError(
                f"The ledger {_name(session)!r} was begun by a process that ended before its rows were "
                "recorded, with other rows than these. Open it with the rows that it was begun with."
            )
        _check_units(session)
        session.charge(
            _FIRST, lambda state: RowsRecord.of(state, "begun", table, len(table), fingerprint, stamp)
        )
    while True:
        now, edition = session.ledger.read(lambda state: (state.fingerprint, state.top_ups))
        if now == fingerprint:
            break
        editions = editions_of(ledger)
        if np.array_equal(editions[-1], table):
            continue  # somebody else has recorded these rows since
        changes = Changes.between(editions[-1], table)
        # By ids alone: a refusal of other labels, where these would do, would tell labels for nothing.
        was_there = has_ids_of(table, editions)
        _check_changes(session, changes, len(editions[-1]), "ignore" if was_there else missing, was_there)
        _check_units(session)
        is_known = any(np.array_equal(rows, table) for rows in editions)
        steps = [("back", table, table)] if is_known else changes.steps(editions[-1])
        for number, (change, rows, whole) in enumerate(steps, start=len(editions)):
            # Of labels all are kept: how many are others would tell, for nothing, how often predictions err.
            concerned, after_it = whole if change == "relabelled" else rows, fingerprint_of(whole, secret)
            others = change == "added" and _are_others(rows, editions)
            made = functools.partial(
                RowsRecord.of,
                change=change,
                concerned=concerned,
                rows=len(whole),
                fingerprint=after_it,
                stamp=stamp,
                are_others=others,
                labellings=1 + _labellings_of(whole, editions),
            )
            record = session.charge(f"rows {number}", made)
            if RowsRecord.from_dict(record.body).fingerprint != after_it:
                break  # somebody else was first, with other rows: compare again
            editions.append(whole)
            if others or change == "relabelled":
                _tell_of_labels(session)
    _check_units(session)
    data.top_ups = edition
    # Questions that were asked of these very rows and labels before, in whichever edition, are found again.
    if edition:
        data.first_like = next(n for n, rows in enumerate(editions_of(ledger)) if np.array_equal(rows, table))
    return replace(session, fingerprint=fingerprint)


def has_ids_of(table: Table, editions: list[Table]) -> bool:
    """Return whether rows have the ids of an edition, with whatever labels."""
    return any(np.array_equal(rows["id"], table["id"]) for rows in editions)


def _labellings_of(table: Table, editions: list[Table]) -> int:
    """Return how many labels of rows with these ids are recorded."""
    return len({rows.tobytes() for rows in editions if np.array_equal(rows["id"], table["id"])})


def _check_changes(session: Session, changes: Changes, before: int, missing: str, was_there: bool) -> None:
    """Raise unless the rows may be changed so; ``was_there``: to ids of an earlier edition."""
    data, policy, name = session.data, session.policy, _name(session)
    lost = len(changes.missing)
    if (lost or len(changes.added)) and not was_there and within_cross_validation():
        what = f"{lost} of the {before} rows are missing, and {len(changes.added)} are new"
        raise LedgerMismatchError(f"Of the holdout of the ledger {name!r} {what}. {_FOLD}")
    if lost == before and not was_there:
        raise LedgerMismatchError(
            f"None of the {before} rows of the holdout of the ledger {name!r} is among these. An id that is "
            "a number is another one than the same as text: give the ids as they were. For other data give "
            f"another ledger; for these rows {_SECOND}."
        )
    if lost and missing == "raise":
        raise LedgerMismatchError(
            f"{lost} of the {before} rows of the holdout of the ledger {name!r} are missing. Bring "
            "them back; or, if they were left out by a rule that did not look at their labels or at "
            "predictions, go on without them: missing='ignore', which is recorded and named by every later "
            f"certificate. Otherwise {_SECOND}."
        )
    # Ids are public. Of labels a refusal tells only that not all are the same, and not even that if other
    # rows are a reason already: whoever passes predictions as labels would learn something for nothing.
    told = [
        f"{len(rows)} rows are {word}"
        for rows, word in ((changes.missing, "missing"), (changes.added, "new"))
        if len(rows)
    ]
    reasons = []
    if policy.route != "description_length":
        reasons.append(f"route={policy.route!r}: a privacy budget is chosen for one set of rows")
    if policy.class_mix == "priced":
        reasons.append("class_mix='priced': other class counts have not been paid for")
    if (lost or len(changes.added)) and (data.units is not None or session.genesis.units is not None):
        reasons.append("groups, weights or ids that occur more than once: its guarantee is for these units")
    if reasons:
        what = " and ".join(told) or "Labels differ"
        if not told and policy.route == "description_length":  # that labels differ is all that is told
            stamp = session.asker.stamp()
            session.charge(None, lambda state: LabelsRecord.of(state, stamp))
            what += ", and to tell that cost 4.6 nats"
        raise LedgerMismatchError(
            f"The rows of the holdout of the ledger {name!r} may not change, for it has {reasons[0]}. "
            f"{what}; no change was recorded. Open it with the rows as they were, and make a holdout of new "
            f"rows alone, with a ledger of its own; {_SECOND}."
        )


def _check_units(session: Session) -> None:
    """Raise if the rows are the same, but their weights or groups are not."""
    if session.genesis.units != session.data.describe_units(session.secret).get("units"):
        raise LedgerMismatchError(
            f"The holdout of the ledger {_name(session)!r} was begun with other weights or groups, which are "
            f"fixed before the first question. Open it with those: {_SECOND}."
        )


def _are_others(added: Table, editions: list[Table]) -> bool:
    """Return whether rows that are added were there before, with other labels only."""
    before = np.unique(np.concatenate(editions))
    return bool(np.any(np.isin(added["id"], before["id"]) & ~np.isin(added, before)))


def _tell_of_labels(session: Session) -> None:
    warn_user(
        f"Rows of the holdout of the ledger {_name(session)!r} have other labels than before. This is "
        "recorded, costs 5 nats or a little more, and every later certificate assumes that labels were "
        "corrected without looking at predictions. Questions are asked anew. If these labels are wrong, open "
        "it again with the right ones; if they are another target, give it a ledger of its own."
    )


def _name(session: Session) -> str:
    return str(getattr(session.ledger, "name", session.ledger))


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

    def refuse_if_closed(state: State) -> None:
        if state.closed:
            session.check_not_outgrown(state)

    def look_and_charge() -> Record:
        event = CodedRelease((Symbol("overlap", int(is_leak(hashes, own) or is_whole(hashes, own))),))
        return session.charge(key, lambda state: OverlapRecord.priced(state, event, **stamp))

    found = session.ledger.find(key, otherwise=refuse_if_closed)
    return OverlapRecord.from_dict((found or with_bare_errors(look_and_charge)).body).is_leak


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


_ROWS, _FOLD_2 = "ids", "fold"
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

    def decide(state: State) -> dict[str, Any]:
        if not state.is_untouched:
            _check_alone(2)
        return CloseRecord(**Asker().stamp()).to_dict()

    if place.left is not None:
        open_ledger_to_write(place.left, State).charge("close", decide)


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
    own, of_fold = (ledger_address(given, lambda: digest, kind) for kind in (_ROWS, _FOLD_2))
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
    ledger = open_existing_ledger(address, State)
    return ledger.read(lambda state: (state.is_untouched, state.closed))


def _has_rows(address: str | os.PathLike[str]) -> bool:
    """Return whether rows are recorded: not yet, or never, if whoever began it ended before."""
    return bool(editions_of(open_existing_ledger(address, State)))


class _Sharing(NamedTuple):
    """A ledger whose holdout has rows among some: how many of an edition are known, and how many missing."""

    address: str
    known: int
    missing: int


def _sharing(addresses: list[str], ids: NDArray[np.bytes_]) -> list[_Sharing]:
    """Return the ledgers that know a row of these hashed ids, each by the edition nearest to them."""
    found = []
    for address in addresses:
        ledger = open_existing_ledger(address, State)
        if ledger.read(lambda state: state.is_untouched and state.closed):
            continue  # it was left, and tells nothing
        mine = keyed_ids(ids, ledger.secret())
        editions = editions_of(ledger)
        counts = [(int(np.isin(rows["id"], mine).sum()), len(rows)) for rows in editions]
        if any(known for known, _ in counts):
            known, size = max(counts, key=lambda count: (count[0] == count[1], count[0]))
            found.append(_Sharing(address, known, size - known))
    return found


def check_not_of_others(own: Ledger[State], ids: NDArray[np.bytes_]) -> None:
    """Raise LedgerMismatchError if rows with these ids are also those of another ledger of this session."""
    for given in _OF_SESSION:
        addresses = ledgers_of_kind(given, _ROWS)
        others = [one for one in addresses if open_existing_ledger(one, State).genesis != own.genesis]
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
    return not os.path.basename(address).removeprefix(":memory:").startswith(f"{_FOLD_2}-")


def _known_by_ids(how: str) -> LedgerMismatchError:
    return LedgerMismatchError(
        f"These labels, in this order, were asked about in this session {how}. A second ledger of the same "
        "rows would be a second budget for one holdout, and no interval of either would hold any more. For "
        "other rows, which nobody has asked about, give a ledger of their own: ledger='holdout.db'."
    )


_EXPECTED = 10.0  # a mean at a third to two thirds of the bound, in steps of five percent


def release_mean_weight(session: Session) -> None:
    """Record what `Units.mean_share` tells of the weights; free if it was recorded before."""
    assert session.data.units is not None
    units, stamp = session.data.units, session.asker.stamp()

    def look_and_charge() -> None:
        event = CodedRelease((Symbol("count", units.bucket, _EXPECTED),))
        session.charge("mean weight", lambda state: MeanWeightRecord.priced(state, event, **stamp))

    with_bare_errors(look_and_charge)


_FOLD_3 = (
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
        ledger = open_existing_ledger(address, State)
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
        ledger = open_existing_ledger(address, State)
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
            f"here: {', '.join(told)}. {_FOLD_3 if of_fold else _CHOSEN} No change was recorded. Bring the "
            "rows as they were, or make a holdout of rows that nobody has asked about, with a ledger of its "
            "own: a second ledger of these rows would be a second budget for one holdout."
        )
    _check_crossed(editions, train, secret)


def _paid_for_labels(address: str | os.PathLike[str]) -> str:
    """Charge that labels differ, which is told now, where nats are what is paid with; return what to say."""
    ledger, stamp = open_ledger_to_write(address, State), Asker().stamp()
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


_OWNER = "Holdout.top_up"


def pooled(
    data: HoldoutData, policy: Policy, X: Any, y: Any, ids: NDArray[np.bytes_] | None = None
) -> HoldoutData:
    """Return the data of a holdout with more rows below them.

    Raises
    ------
    ValueError
        If the rows cannot be part of one table with the holdout's, or its guarantee is for one size only.
    """
    if (ids is None) != (data.ids is None):
        known = "the ids of the rows to be added" if ids is None else "None for a holdout without ids"
        raise bad_parameter("ids", _OWNER, known, None if ids is None else "ids")
    fix = "Make a holdout of the new rows alone, with a ledger of its own."
    if policy.route != "description_length":  # a privacy budget is chosen for one number of records
        raise bad_parameter(
            "route", "Holdout", "'description_length' for rows to be added", policy.route, fix
        )
    if policy.class_mix == "priced":  # the counts of the new rows have not been paid for
        raise bad_parameter(
            "class_mix", "Holdout", "'conditional' for rows to be added", policy.class_mix, fix
        )
    if data.units is not None:  # a group must not lie in both parts, and a mean weight is released once
        raise bad_parameter(
            "sample_weight",
            "Holdout",
            "None, as groups and weight_bound, for rows to be added",
            "one of them",
            fix,
        )
    more = HoldoutData(X, y)
    every = None
    if ids is not None and data.ids is not None:
        every = np.concatenate([data.ids, ids])
        if len(np.unique(every)) < len(data) + len(more):
            raise bad_parameter("ids", _OWNER, "of new rows, and each of one row", "ids that occur before")
    try:
        rows = stack_rows(data.X, more.X)
    except ValueError as error:
        raise bad_parameter("X", _OWNER, "like the holdout's X", type(X).__name__, f"{error}.") from error
    if (data.y.dtype.kind in "biuf") != (more.y.dtype.kind in "biuf"):
        raise bad_parameter("y", _OWNER, "of the same type as the holdout's y", f"dtype {more.y.dtype}")
    whole = HoldoutData(rows, np.concatenate([data.y, more.y]), ids=every)
    if whole.is_classification != data.is_classification:
        kinds = {True: "classes", False: "numbers"}
        raise bad_parameter(
            "y",
            _OWNER,
            f"{kinds[data.is_classification]}, as the holdout's y",
            kinds[whole.is_classification],
        )
    whole.top_ups = whole.first_like = data.top_ups + 1
    return whole


def is_known(session: Session, more: Session) -> bool:
    """Return whether rows of these ids were added to the holdout of a session before; nothing is recorded.

    By ids alone: if their labels are others, `with_top_up` records it, at its price.

    Raises
    ------
    LedgerMismatchError
        If other rows were added to it in their place.
    """
    if session.data.ids is None:
        return False
    if has_ids_of(more.data.table(more.secret), editions_of(more.ledger)):
        return True
    if session.ledger.read(lambda state: state.fingerprint) != session.fingerprint:
        raise LedgerMismatchError(
            "Other rows were added to this holdout, or its rows were changed, since it was opened. Add the "
            "former rows again, which is free, and these to what that returns; or open a Holdout of all rows "
            "together. Nothing was recorded."
        )
    return False


def with_top_up(session: Session) -> Session:
    """Record that the rows of this session are the holdout from now on, and return its session.

    Recording the same rows once more is free and changes nothing. As many rows with other labels are refused
    at the price of other labels: without ids a row is its label.

    Raises
    ------
    LedgerMismatchError
        If other rows were added in this place.
    """
    if session.data.ids is not None:
        return as_edition(session, "raise")  # back to these rows, if a script runs again from its start
    data, fingerprint = session.data, session.fingerprint
    stamp = session.asker.stamp()

    def decide(state: State) -> TopUpRecord:
        if state.closed:
            raise BudgetExhaustedError("The holdout was closed: it takes no more rows.")
        return TopUpRecord.of(state, len(data), fingerprint, stamp)

    recorded = TopUpRecord.from_dict(session.charge(f"top up {data.top_ups}", decide).body)
    known = recorded.fingerprint
    if known != fingerprint:
        paid = ""
        if recorded.rows == len(data):  # else their number alone tells that they are others
            session.charge(None, lambda state: LabelsRecord.of(state, stamp))
            paid = " That labels are not those is information about the holdout: it cost 4.6 nats."
        raise LedgerMismatchError(
            f"Other rows were added to this holdout before (fingerprint {known[:12]} with them, "
            f"{fingerprint[:12]} with these). Add those again, which is free, and these to what that "
            f"returns.{paid}"
        )
    return session
