"""What becomes of a holdout when its rows change: rows added, missing or relabelled; training rows compared.

The sample may grow, and rows with ids may come, go and get other labels, while what was revealed
goes on counting.

Theorem. Let the records of a holdout be the first n of an endless sequence of independent draws, and let a
conversation, whenever it likes, raise n: when and by how much may depend on every answer so far, which
records come next may not. Let each question speak of the first n records, n as it is when the question is
asked. If no top-up resets the nats L and the stakes pi, then with probability at least ``1 - beta``, for all
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

*Rows with ids.* Other changes are nodes of the same tree, under assumptions that later certificates name. Let
each record be drawn with everything that will ever be recorded of it: whether it is left out, and the label
that it is given in the end. Records are still independent draws.

- *Missing* rows. If the rule that leaves a record out looks at nothing but the record's own id and features
  (not at its label, and at no prediction), the records that stay are independent draws of those that such a
  rule leaves, and how many there are is fixed once they are chosen. A question after that is one about
  them, fixed before any of their labels is seen but through the transcript, whose nats count.
- *Relabelled* rows. If labels are corrected by a rule that looks at no prediction, the corrected label is a
  part of the record from the start; when it is corrected must not depend on the records, or each opening
  before would tell that it was not yet. A question before is a function of the old labels, one after of the
  new. That labels differ reveals something about the records, and is paid for: ``-ln d`` nats each time (d =
  .01); that so many do that ids must be those of other rows has a tenth of it, that they are fewer the rest.
  That they do not is revealed as often as somebody tries, so ``-ln(1 - d)`` is paid in advance, with
  the record of each set of rows: whoever tries labels of these until they are the right ones ends after some
  j of them, and ``(1 - d) sum_j d^(j-1) = 1``. Where M labellings of the same ids are recorded, any of them
  may be the right one, so the M-th pays ``ln M`` more: with S_M the sum over all ends of trying until M are
  found, ``S_M = M S_(M-1) + d S_M``, thus ``M! / (1 - d)^M``, and what was paid in advance is ``-ln((1 - d)^M
  / M!)``. Nothing is revealed for nothing: whether labels are compared, recorded or refused depends on ids
  alone.
- *Back* to the rows and labels of an earlier edition: one more change, which costs and assumes nothing more.
  The function is that of the edition, which was fixed before, and the nats of all that was revealed in
  between count. Which edition a question is about is a part of the transcript.

In each case old and new intervals hold together by the same union bound: it is over questions, each of them a
fixed function of independent records, whichever function that is. Where one opening finds rows missing,
others relabelled and others new, these are three changes in this order, with no question between them.
Changes of rows are refused, as top-ups are, where the guarantee is for one set of rows: with a privacy
budget, or with class counts that were paid for; and rows are neither added nor missing with groups or
weights.

A question after a change is a new one. It has a stake of its own, 1 / (j (j + 1)) for the j-th where no
number of questions is expected, and pays for all that was revealed before.

With fresh rows alone one can make a new holdout instead, with a ledger of its own and L = 0. Its intervals
hold at its own confidence level; those of both holdouts together fail with the sum of the failure
probabilities.

**Training rows** must not be the holdout's. Hashes of their features show whether they are
(`charge_overlap`); the outcome is recorded and has a price.
"""

from __future__ import annotations

import functools
import hashlib
import hmac
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada._notices import warn_user
from sklearn_ada._validation import bad_parameter
from sklearn_ada.accounting.events import CodedRelease, Symbol
from sklearn_ada.data.labels import check_labels, label_kind
from sklearn_ada.data.stacking import stack_rows
from sklearn_ada.digest.overlap import has_rows_of, have_rows_of, is_leak, share_memory
from sklearn_ada.digest.rows import row_hashes
from sklearn_ada.exceptions import BudgetExhaustedError, HoldoutLeakError, LedgerMismatchError
from sklearn_ada.holdout.looking import with_bare_errors
from sklearn_ada.holdout.records import (
    Key,
    LabelsRecord,
    MeanWeightRecord,
    OverlapRecord,
    RowsRecord,
    TopUpRecord,
)
from sklearn_ada.holdout.session import Session
from sklearn_ada.holdout.state import State
from sklearn_ada.ledger.hash_chain import FOLD_OF_ITS_OWN, Ledger, Record
from sklearn_ada.terms.holdout_data import HoldoutData
from sklearn_ada.terms.models import Pair, Subject, model_digest
from sklearn_ada.terms.policy import Policy
from sklearn_ada.terms.recognised_rows import (
    training_hashes,
    training_hashes_of_parts,
    within_cross_validation,
)
from sklearn_ada.terms.row_tables import (
    ANOTHER_JOIN,
    CHANGES,
    Changes,
    Table,
    are_joined_otherwise,
    fingerprint_of,
)

SECOND_BUDGET = (
    "a second ledger of these rows would be a second budget for one holdout, and no interval of either would "
    "be guaranteed any more"
)


_OWNER = "Holdout.top_up"
_IN_TRAINING = (
    "The rows contain rows of the holdout, far more than chance allows. Take the holdout out of X, on which "
    "models are fitted and from which guesses are taken. A ReusableHoldoutCV that makes the holdout does it; "
    "pass another one, which is given this holdout, X[search.train_indices_]."
)
_IN_GUESS = (
    "The 'guess_from' parameter of {} must be rows and labels that are neither the holdout's nor trained on. "
    "Got rows of the holdout. Give rows that no search was fitted with, or no guess_from."
)


def record_edition(session: Session, missing: str) -> Session:
    """Record rows with ids as an edition if they are new, and return its session.

    An edition is the rows between two changes. Rows and labels that are those of an earlier edition, and not
    of the last one, are one more change, back to these, which assumes and costs nothing: else whoever passed
    wrong labels once would have lost the budget for good. A `Holdout` that stayed open meanwhile answers
    nothing new.

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
    data, secret, ledger = session.data, session.rows_key, session.ledger
    table, fingerprint = data.table(secret), data.fingerprint(secret, "ids")
    if ledger.find(Key.rows(0)) is None:
        if fingerprint != session.genesis.fingerprint:
            raise LedgerMismatchError(
                f"The ledger {_ledger_name(session)!r} was begun by a process that ended before its rows "
                "were recorded, with other rows than these. Open it with the rows that it was begun with."
            )
        _check_units(session)
        change, stamp = CHANGES["begun"], session.asker.stamp()
        rows = {"rows": len(table), "fingerprint": fingerprint, **stamp}
        event = change.event(are_others=False, labellings=1)
        session.charge(Key.rows(0), lambda state: RowsRecord.of(state, event, change, table, **rows))
    while True:
        now, edition = session.ledger.read(lambda state: (state.fingerprint, state.top_ups))
        if now == fingerprint:
            break
        editions = editions_of(ledger)
        if np.array_equal(editions[-1], table):
            continue  # somebody else has recorded these rows since
        _record_changes(session, table, editions, missing)
    _check_units(session)
    data.top_ups = edition
    # Questions that were asked of these very rows and labels before, in whichever edition, are found again.
    if edition:
        data.first_like = next(n for n, rows in enumerate(editions_of(ledger)) if np.array_equal(rows, table))
    return replace(session, fingerprint=fingerprint)


def editions_of(ledger: Ledger[State]) -> list[Table]:
    """Return the rows of each edition of a holdout, oldest first; none if its rows were not recorded yet."""
    editions: list[Table] = []
    while found := ledger.find(Key.rows(len(editions))):
        record = RowsRecord.from_dict(found.body)
        before = editions[-1] if editions else record.table[:0]
        editions.append(record.change.after(record.table, before))
    return editions


def has_ids_of(table: Table, editions: list[Table]) -> bool:
    """Return whether rows have the ids of an edition, with whatever labels."""
    return any(np.array_equal(rows["id"], table["id"]) for rows in editions)


def _record_changes(session: Session, table: Table, editions: list[Table], missing: str) -> None:
    """Record the changes from the last edition to the rows of a session.

    It ends early if somebody else records other changes.
    """
    changes, secret, stamp = Changes.between(editions[-1], table), session.rows_key, session.asker.stamp()
    # By ids alone: a refusal of other labels, where these would do, would tell labels for nothing.
    was_there = has_ids_of(table, editions)
    _check_changes(session, changes, len(editions[-1]), "ignore" if was_there else missing, was_there)
    _check_units(session)
    if any(np.array_equal(rows, table) for rows in editions):
        steps = [(CHANGES["back"], table, table)]
    else:
        _check_join(session, changes, fingerprint_of(table, secret))
        steps = changes.steps(editions[-1], missing)
    for number, (change, rows, whole) in enumerate(steps, start=len(editions)):
        fingerprint = fingerprint_of(whole, secret)
        others = change.name == "added" and _are_others(rows, editions)
        compared = len(whole) if session.policy.format >= 3 else 0
        labellings = 1 + _labellings_of(whole, editions)
        event = change.event(are_others=others, labellings=labellings, rows=compared)
        table_of_it = whole if change.labels_differ else rows
        about = {"change": change, "rows": len(whole), "fingerprint": fingerprint, **stamp}
        made = functools.partial(RowsRecord.of, event=event, table=table_of_it, **about)
        record = session.charge(Key.rows(number), made)
        if RowsRecord.from_dict(record.body).fingerprint != fingerprint:
            return  # somebody else was first, with other rows: compare again
        editions.append(whole)
        if others or change.labels_differ:
            warn_user(
                f"Rows of the holdout of the ledger {_ledger_name(session)!r} have other labels than before. "
                "This is recorded, costs 5 nats or a little more, and every later certificate assumes that "
                "labels were corrected without looking at predictions. If these are wrong, open it again "
                "with the right ones; if they are another target, give that a ledger of its own."
            )


def _check_changes(session: Session, changes: Changes, before: int, missing: str, was_there: bool) -> None:
    """Raise LedgerMismatchError unless the rows of the holdout may change in this way.

    ``was_there`` says that the new rows have the ids of an earlier edition. ``before`` is how many rows there
    were.
    """
    name, lost, new = _ledger_name(session), len(changes.missing), len(changes.added)
    by_ids = changes.in_words(before)
    if (lost or new) and not was_there and within_cross_validation():
        raise LedgerMismatchError(
            f"Of the holdout of the ledger {name!r} {', '.join(by_ids)}. {FOLD_OF_ITS_OWN}"
        )
    if lost == before and not was_there:
        raise LedgerMismatchError(
            f"None of the {before} rows of the holdout of the ledger {name!r} is among these. An id that is "
            "a number is another one than the same as text: give the ids as they were. For other data give "
            f"another ledger; for these rows {SECOND_BUDGET}."
        )
    if lost and missing == "raise":
        raise LedgerMismatchError(
            f"Of the holdout of the ledger {name!r} {by_ids[0]}. Bring them back; or, if they were left out "
            "by a rule that did not look at their labels or at predictions, go on without them: "
            "missing='ignore', which is recorded and named by every later certificate. Otherwise "
            f"{SECOND_BUDGET}."
        )
    reason = _why_rows_are_fixed(session, changes)
    if reason is None:
        return
    # Ids are public. Of labels a refusal tells only that not all are the same, and not even that if other
    # rows are a reason already: whoever passes predictions as labels would learn something for nothing.
    what = " and ".join(by_ids) or "Labels differ"
    if not by_ids and session.policy.route == "description_length":  # that labels differ is all it reveals
        _charge_labels(session, Key.labels(session.data.fingerprint(session.rows_key, "ids")))
        what += ", and to tell that cost 4.6 nats, once for the same labels"
    raise LedgerMismatchError(
        f"The rows of the holdout of the ledger {name!r} may not change, for it has {reason}. {what}; no "
        "change was recorded. Open it with the rows as they were, and make a holdout of new rows alone, "
        f"with a ledger of its own; {SECOND_BUDGET}."
    )


def _check_join(session: Session, changes: Changes, fingerprint: str) -> None:
    """Raise LedgerMismatchError, at a price, if so many labels differ that ids seem to be of other rows."""
    y, stayed = session.data.y, len(session.data) - len(changes.added)
    if session.policy.format < 3 or not are_joined_otherwise(len(changes.relabelled), stayed, y):
        return
    stamp = session.asker.stamp()
    session.charge(Key.labels(fingerprint), lambda state: LabelsRecord.priced(state, ANOTHER_JOIN, **stamp))
    raise LedgerMismatchError(
        f"More labels of the holdout of the ledger {_ledger_name(session)!r} are others than corrections "
        "would change: ids seem to be joined to other rows (moved by one, reversed, sorted by themselves), "
        "or the labels are another target, or numbers turned into text. To tell that cost 6.9 nats; no "
        "change was recorded. Give each row its own id, and its label as it was; another target needs a "
        f"ledger of its own. For these rows and labels {SECOND_BUDGET}."
    )


def _why_rows_are_fixed(session: Session, changes: Changes) -> str | None:
    """Return why these changes of the rows are not allowed; None if they are."""
    policy, units = session.policy, (session.data.units, session.genesis.units)
    if policy.route != "description_length":
        return f"route={policy.route!r}: a privacy budget is chosen for one set of rows"
    if policy.class_mix == "priced":
        return "class_mix='priced': other class counts have not been paid for"
    if any(each is not None for each in units) and (len(changes.missing) or len(changes.added)):
        return "groups, weights or ids that occur more than once: its guarantee is for these units"
    return None


def check_not_refused(session: Session) -> None:
    """Raise LedgerMismatchError if it is on record that these labels were refused."""
    mine = session.with_data(session.data).fingerprint
    if mine != session.fingerprint and session.ledger.find(Key.labels(mine)) is not None:
        raise LedgerMismatchError(
            f"These labels were refused before: they are not those of the ledger {_ledger_name(session)!r}."
        )


def _charge_labels(session: Session, key: str | None = None) -> None:
    stamp = session.asker.stamp()
    session.charge(key, lambda state: LabelsRecord.of(state, stamp))


def _check_units(session: Session) -> None:
    """Raise if the rows are the same, but their weights or groups are not."""
    if session.genesis.units != session.data.describe_units(session.rows_key).get("units"):
        raise LedgerMismatchError(
            f"The holdout of the ledger {_ledger_name(session)!r} was begun with other weights or groups, "
            f"which are fixed before the first question. Open it with those: {SECOND_BUDGET}."
        )


def _labellings_of(table: Table, editions: list[Table]) -> int:
    """Return how many labels of rows with these ids are recorded."""
    return len({rows.tobytes() for rows in editions if np.array_equal(rows["id"], table["id"])})


def _are_others(added: Table, editions: list[Table]) -> bool:
    """Return whether rows that are added were there before, with other labels only."""
    before = np.unique(np.concatenate(editions))
    return bool(np.any(np.isin(added["id"], before["id"]) & ~np.isin(added, before)))


def _ledger_name(session: Session) -> str:
    return str(getattr(session.ledger, "name", session.ledger))


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
        expected = "the ids of the rows to be added" if ids is None else "None for a holdout without ids"
        raise bad_parameter("ids", _OWNER, expected, None if ids is None else "ids")
    needs = (
        # A privacy budget is chosen for one number of rows.
        ("route", "'description_length'", policy.route, policy.route == "description_length"),
        # The counts of the new rows have not been paid for.
        ("class_mix", "'conditional'", policy.class_mix, policy.class_mix != "priced"),
        # A group must not lie in both parts, and a mean weight is released once.
        ("sample_weight", "None, as groups and weight_bound,", "one of them", data.units is None),
    )
    for name, needed, got, holds in needs:
        if not holds:
            fix = "Make a holdout of the new rows alone, with a ledger of its own."
            raise bad_parameter(name, "Holdout", f"{needed} for rows to be added", got, fix)
    more = HoldoutData(X, check_labels(y, _OWNER))
    if policy.mix is not None:
        policy.mix.check_classes(np.concatenate([np.unique(data.y), np.unique(more.y)]))
    every = None
    if ids is not None and data.ids is not None:
        every = np.concatenate([data.ids, ids])
        if len(np.unique(every)) < len(data) + len(more):
            raise bad_parameter("ids", _OWNER, "of new rows, and each of one row", "ids that occur before")
    rows = stack_rows(data.X, more.X, _OWNER)
    if label_kind(data.y) != label_kind(more.y):
        raise bad_parameter("y", _OWNER, f"{label_kind(data.y)}, as the holdout's y", label_kind(more.y))
    whole = HoldoutData(rows, np.concatenate([data.y, more.y]), ids=every)
    if whole.is_classification != data.is_classification:
        kinds = {True: "classes", False: "numbers"}
        expected = f"{kinds[data.is_classification]}, as the holdout's y"
        raise bad_parameter("y", _OWNER, expected, kinds[whole.is_classification])
    # More than two whole numbers may be counts, of which new rows have others.
    if (
        policy.format >= 3
        and whole.classes is not None
        and data.classes is not None
        and (label_kind(data.y) == "text" or len(data.classes) == 2)
    ):
        others = sorted(set(whole.classes.tolist()) - set(data.classes.tolist()))
        if others:  # every model that was fitted without them would be refused
            fix = "Correct them, or begin a holdout of rows that have all classes."
            raise bad_parameter("y", _OWNER, "labels that the holdout has", others[:5], fix)
    whole.top_ups = whole.first_like = data.top_ups + 1
    return whole


def were_added(session: Session, more: Session) -> bool:
    """Return whether rows of these ids were added to the holdout of a session before; nothing is recorded.

    By ids alone: if their labels are others, `record_top_up` records it, at its price.

    Raises
    ------
    LedgerMismatchError
        If other rows were added to it in their place.
    """
    if session.data.ids is None:
        return False
    if has_ids_of(more.data.table(more.rows_key), editions_of(more.ledger)):
        return True
    if session.ledger.read(lambda state: state.fingerprint) != session.fingerprint:
        raise LedgerMismatchError(
            "Other rows were added to this holdout, or its rows were changed, since it was opened. Add the "
            "former rows again, which is free, and these to what that returns; or open a Holdout of all rows "
            "together. Nothing was recorded."
        )
    return False


def record_top_up(session: Session) -> Session:
    """Record the rows of this session as the holdout's, and return its session.

    Recording the same rows once more is free and changes nothing. As many rows with other labels are refused
    at the price of other labels: without ids a row is its label.

    Raises
    ------
    LedgerMismatchError
        If other rows were added in this place.
    """
    if session.data.ids is not None:
        return record_edition(session, "raise")  # back to these rows, if a script runs again from its start
    data, fingerprint, stamp = session.data, session.fingerprint, session.asker.stamp()

    def decide(state: State) -> TopUpRecord:
        if state.closed:
            raise BudgetExhaustedError("The holdout was closed: it takes no more rows.")
        return TopUpRecord.of(state, rows=len(data), fingerprint=fingerprint, **stamp)

    recorded = TopUpRecord.from_dict(session.charge(Key.top_up(data.top_ups), decide).body)
    if recorded.fingerprint != fingerprint:
        paid = ""
        if recorded.rows == len(data):  # else their number alone tells that they are others
            _charge_labels(session)
            paid = " That labels are not those is information about the holdout: it cost 4.6 nats."
        raise LedgerMismatchError(
            "Other rows were added to this holdout before (fingerprint "
            f"{recorded.fingerprint[:12]} with them, {fingerprint[:12]} with these). Add those "
            f"again, which is free, and these to what that returns.{paid}"
        )
    return session


def check_not_held_out(session: Session, X: Any, *, guess_of: str | None = None) -> None:
    """Raise `HoldoutLeakError` if rows contain the holdout, or part of it beyond chance.

    ``guess_of`` names the method to which they were given as those of a guess.
    """
    check_apart(session, [X], _IN_TRAINING if guess_of is None else _IN_GUESS.format(guess_of))


def check_apart(session: Session, tables: Sequence[Any], what: str, training: Any = None) -> None:
    """Raise `HoldoutLeakError` if some tables have rows of the holdout beside those for training.

    ``what`` says what was found, and the error adds what that cost.
    """
    check_memory(session, tables, what)
    _raise_if_found(charge_overlap(session, tables, training), what)


def _raise_if_found(found: OverlapRecord, what: str) -> None:
    if found.is_leak:
        paid = f"That it is so cost {found.price:.1f} nats" if found.price else "That it is so was recorded"
        raise HoldoutLeakError(f"{what} {paid}, once: the same rows cost nothing more.")


def check_not_trained_on(session: Session, subject: Subject) -> None:
    """Raise `HoldoutLeakError` if a search of this process has fitted a model on rows of the holdout.

    Of a closed holdout only what is recorded is returned, so nothing is compared.
    """
    pair = subject.estimator
    models = (pair.a, pair.b) if isinstance(pair, Pair) else ()
    digests = [model_digest(model, session.data, session.policy) for model in models] or [subject.digest]
    found = [hashes for hashes in map(training_hashes, digests) if hashes is not None]
    for model in models or (subject.estimator,):
        found += training_hashes_of_parts(model)
    if not found or session.ledger.read(lambda state: state.closed):
        return
    what = (
        f"The 'estimator' parameter of {subject.owner} must be a model that was trained on no row of the "
        f"holdout. Got {subject.name}, which a search of this session has fitted on some, instead. Another "
        "order of the rows, other labels, another share or added rows make another holdout. Fit it again on "
        "rows beside this one."
    )
    for hashes in found:
        compare = functools.partial(is_leak, hashes, session.data.feature_hashes)
        _raise_if_found(_charge_overlap(session, [hashes], compare), what)


def check_groups_apart(session: Session, groups: Any) -> None:
    """Raise `HoldoutLeakError` if training rows are of groups that the holdout has. Groups are public."""
    own = session.data.group_hashes
    torn = 0 if own is None or groups is None else int(np.isin(own, row_hashes(np.asarray(groups))).sum())
    if torn:
        raise HoldoutLeakError(
            f"{torn} of the groups of the training rows are groups of the holdout. Rows of one group depend "
            "on each other, so leave these out of X; or, if they are other groups and only numbered alike, "
            "give them names of their own. Nothing was fitted, and nothing recorded."
        )


def check_new(session: Session, X: Any) -> None:
    """Raise `HoldoutLeakError` if rows to be added are training rows of this session, beside this holdout.

    Whoever adds them has them, so nothing is revealed by it.
    """
    beside, new = training_hashes(session.genesis.fingerprint), row_hashes(X)
    if beside is None:
        return
    is_distinct = all(len(np.unique(each)) == len(each) for each in (beside, new))
    if np.isin(new, beside).any() if is_distinct else is_leak(beside, new):
        raise HoldoutLeakError(
            "The rows to be added must be rows that nothing was trained on. Got rows that a search of this "
            "session has trained models on instead. Add new draws only; nothing was recorded or charged."
        )


def check_memory(session: Session, tables: Sequence[Any], what: str = _IN_TRAINING) -> None:
    """Raise `HoldoutLeakError` if some tables lie in the memory of the array that the holdout was made of.

    That is plain without a look at any row, so it is neither recorded nor charged.
    """
    if any(share_memory(table, session.data.X) for table in tables):
        raise HoldoutLeakError(
            f"{what} They lie in the memory of the array that the holdout was made of, so no row was "
            "compared and nothing was charged."
        )


def charge_overlap(session: Session, tables: Sequence[Any], training: Any = None) -> OverlapRecord:
    """Return the record of whether some tables have rows of the holdout, beyond chance.

    The outcome is recorded and charged, once for the same rows in the same order; "no" costs about a
    millionth of a nat, and "yes" 14 nats. Of a closed holdout only what is recorded is returned.

    Parameters
    ----------
    session : Session
    tables : sequence of array-like, frame or sparse matrix
    training : array-like, frame or sparse matrix or None, default=None
        Rows that they may have.
    """

    def is_found() -> bool:
        is_leak = any(has_rows_of(table, session.data.X, training) for table in tables)
        return is_leak or (len(tables) > 1 and have_rows_of(tables, session.data.X, training))

    all_of_them = (*tables, *(() if training is None else (training,)))
    return _charge_overlap(session, map(row_hashes, all_of_them), is_found)


def _charge_overlap(
    session: Session, hashes: Iterable[NDArray[np.uint64]], is_found: Callable[[], bool]
) -> OverlapRecord:
    own, compared = session.data.feature_hashes, hashlib.sha256()
    for of_table in hashes:
        compared.update(of_table.tobytes())
    if session.genesis.identity != "content":  # the features of its rows may change: then they are asked anew
        compared.update(hmac.digest(session.secret, own.tobytes(), "sha256"))
    # By order: whether X is the holdout depends on it, and what is free must have been released before.
    key = Key.overlap(session.data.first_like, compared.hexdigest())
    stamp = session.asker.stamp()

    def refuse_if_closed(state: State) -> None:
        if state.closed:
            session.check_not_outgrown(state)

    def look_and_charge() -> Record:
        event = CodedRelease((Symbol("overlap", int(is_found())),))
        return session.charge(key, lambda state: OverlapRecord.priced(state, event, **stamp))

    found = session.ledger.find(key, otherwise=refuse_if_closed)
    return OverlapRecord.from_dict((found or with_bare_errors(look_and_charge)).body)


def release_mean_weight(session: Session) -> None:
    """Record what `Units.mean_share` tells of the weights, to five percent, as intervals depend on it.

    It is free if it was recorded before.
    """
    assert session.data.units is not None
    units, stamp = session.data.units, session.asker.stamp()

    def look_and_charge() -> None:
        # Expected is a mean at a third to two thirds of the bound, in steps of five percent.
        event = CodedRelease((Symbol("count", units.bucket, 10.0),))
        session.charge(Key.MEAN_WEIGHT, lambda state: MeanWeightRecord.priced(state, event, **stamp))

    with_bare_errors(look_and_charge)
