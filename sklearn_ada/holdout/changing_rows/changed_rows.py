"""A holdout of which the rows are known by ids, opened again: which of its editions these rows are.

An edition is the rows between two changes. Rows and labels that are those of an earlier edition, and not of
the last one, are one more change, back to these, which assumes and costs nothing: else whoever passed wrong
labels once would have lost the budget for good. A `Holdout` that stayed open meanwhile answers nothing new.
Why all intervals hold together, whatever was changed, stands in `sklearn_ada.holdout.changing_rows.top_up`.
"""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np

from sklearn_ada._callers import is_called_by_function
from sklearn_ada._notices import warn_user
from sklearn_ada.exceptions import LedgerMismatchError
from sklearn_ada.holdout.records.conversation import Conversation
from sklearn_ada.holdout.records.labels import LabelsRecord
from sklearn_ada.holdout.records.rows import RowsRecord
from sklearn_ada.holdout.rows.known_rows import Changes, Table, after, fingerprint_of
from sklearn_ada.holdout.session.session import Session
from sklearn_ada.ledger import Ledger

__all__ = ["as_edition", "editions_of", "has_ids_of", "within_cross_validation"]

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


def editions_of(ledger: Ledger[Conversation]) -> list[Table]:
    """Return the rows of each edition of a holdout, oldest first; none if its rows were not recorded yet."""
    editions: list[Table] = []
    while True:
        found = ledger.find(f"rows {len(editions)}")
        if found is None:
            return editions
        record = RowsRecord(found.body)
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
        now, edition = session.read(lambda state: (state.fingerprint, state.top_ups))
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
            if RowsRecord(record.body).fingerprint != after_it:
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
    if (lost or len(changes.added)) and (data.units is not None or "units" in session.genesis.body):
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
    stored = session.genesis.body.get("units")
    if stored != session.data.describe_units(session.secret).get("units"):
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
