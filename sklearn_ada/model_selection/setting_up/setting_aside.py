"""Taking the holdout out of X, the same way every time for the same data."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils.multiclass import type_of_target

from sklearn_ada._checks import bad_parameter, check_real
from sklearn_ada._notices import warn_user
from sklearn_ada.digest import id_hashes, labels_digest
from sklearn_ada.holdout import (
    Holdout,
    check_sides,
    check_unchanged,
    held_before,
    leave_other,
    place_of_rows,
    session_of,
)
from sklearn_ada.metrics import check_labels, n_rows, take_rows
from sklearn_ada.model_selection.running.folds import folds_of_training_rows
from sklearn_ada.model_selection.running.pairs import is_of_pairs, take_for
from sklearn_ada.model_selection.scorers.base import HoldoutScorer
from sklearn_ada.model_selection.scorers.splitter import is_share, split_rows
from sklearn_ada.model_selection.setting_up.ids import split_by_ids
from sklearn_ada.model_selection.setting_up.row_order import is_shuffled_for, shuffled
from sklearn_ada.model_selection.setting_up.time_order import check_time_order
from sklearn_ada.model_selection.wrapper import Wrapper

__all__ = ["set_aside"]

_POLICY = ("confidence_level", "tolerance", "expected_questions", "answers", "seal_key")


def set_aside(
    wrapper: Wrapper, X: Any, y: Any, groups: Any = None, cv: Any = None, ids: Any = None
) -> tuple[Holdout, NDArray[np.int64], Any]:
    """Return the holdout of a `ReusableHoldoutCV`, the numbers of the rows for training, and their cv.

    The split is a function of the labels, their order and ``random_state``, so a second search on the same
    rows uses the same holdout, whatever was done to columns. With ``ledger=None`` or ``":memory:"`` the
    ledger belongs to all rows, so another split of them does not get a fresh budget. Groups stay whole: they
    are the independent units. No class is in the holdout alone, for no classifier could know it. ``cv`` is
    that of the search, for all rows.

    With ``ids`` a share is chosen by them, each row by itself (`split_by_ids`).

    The rows for training are in a random order where the search's cv does not mind (`row_order`). With a
    given Holdout they stay in theirs: whoever split them has chosen it.
    """
    n = n_rows(X)
    y = check_labels(y)  # classes held as objects are split as classes
    is_scorer = isinstance(wrapper.mechanism, HoldoutScorer)
    holdout = wrapper.mechanism.holdout if is_scorer else wrapper.holdout
    of_classes = is_classifier(wrapper.search.estimator) and type_of_target(y) in ("binary", "multiclass")
    hashed = None if ids is None else id_hashes(ids, "ReusableHoldoutCV.fit", n)
    if isinstance(holdout, Holdout):
        _check_given(holdout, hashed)
        if of_classes and holdout.classes is not None:
            _check_classes(y, holdout.classes)
        return holdout, np.arange(n), cv
    ledger, random_state = wrapper.ledger, wrapper.random_state
    random_state = None if random_state is None else int(random_state)
    digest = "" if hashed is not None else labels_digest(y)
    place = place_of_rows(ledger, hashed, y, wrapper.missing)
    address = place.address
    if hashed is not None and is_share(holdout):
        share = check_real(holdout, "holdout", "ReusableHoldoutCV", low=0.0, high=1.0)
        known = held_before(address, hashed) if groups is None else None
        train, test = split_by_ids(hashed, groups, share, random_state, known)
        kind = f"share {share:g}, by a hash of each {'id' if groups is None else 'group'}"
    else:
        train, test, kind = _rows(X, y, holdout, n, digest, random_state, groups)
    folds = folds_of_training_rows(cv, train, n)
    check_time_order(
        wrapper,
        folds,
        lambda: [rows if rows is None else take_rows(rows, train) for rows in (X, y, groups)],
        is_last=len(train) > 0 and len(test) > 0 and int(np.max(train)) < int(np.min(test)),
    )
    if wrapper.ask != "candidates" and is_shuffled_for(folds):
        train = shuffled(train, digest, random_state, hashed, groups)
    policy = {name: getattr(wrapper, name) for name in (*_POLICY, "who")}
    if groups is not None:
        own, others = take_rows(np.asarray(groups), test), take_rows(np.asarray(groups), train)
        if set(own.tolist()) & set(others.tolist()):
            raise bad_parameter(
                "holdout", "ReusableHoldoutCV", "of whole groups when groups are passed", kind,
                "Use a share, or a splitter such as GroupShuffleSplit(1).",
            )  # fmt: skip
        policy["groups"] = own
    if of_classes:
        _check_classes(take_rows(y, train), take_rows(y, test))
    split = {"holdout": kind, "random_state": random_state}
    if ids is None or hashed is None:
        split["rows_in_all"] = n
    else:
        policy |= {"ids": [ids[row] for row in test], "missing": wrapper.missing}
        _check_whole(hashed, train, test)
        check_unchanged(
            address, hashed[train], hashed[test], take_rows(np.asarray(y), test),
            of_share=is_share(wrapper.holdout), is_path=ledger not in (None, ":memory:"),
        )  # fmt: skip
    rows = take_for(X, test, train, is_of_pairs(wrapper.search))
    made = Holdout(rows, take_rows(np.asarray(y), test), ledger=address, split=split, **policy)
    leave_other(place)
    if hashed is not None and not is_share(wrapper.holdout):
        check_sides(
            session_of(made), hashed[train]
        )  # a process with another mask may have begun it meanwhile
    return made, train, folds


def _rows(
    X: Any, y: Any, holdout: Any, n: int, digest: str, random_state: int | None, groups: Any
) -> tuple[NDArray[np.int64], NDArray[np.int64], str]:
    if is_share(holdout):
        share = check_real(holdout, "holdout", "ReusableHoldoutCV", low=0.0, high=1.0)
        seed = int(hashlib.sha256(f"{digest} {random_state}".encode()).hexdigest()[:8], 16)
        train, test = split_rows(n, y, share, seed, groups)
        return train, test, f"share {share:g}"
    if hasattr(holdout, "split") and not isinstance(holdout, str):
        splits = list(holdout.split(X, y, groups))
        if len(splits) != 1:
            raise _bad(f"a splitter with {len(splits)} splits")
        train, test = splits[0]
        if len(np.intersect1d(train, test)):
            raise _bad("a splitter whose two parts share rows")
        return np.asarray(train), np.asarray(test), "splitter"
    try:
        mask = np.asarray(holdout)
    except ValueError:  # rows and labels, say
        raise _bad(type(holdout).__name__, _OF_ROWS) from None
    if mask.dtype.kind not in "biu" and mask.ndim:
        raise _bad(f"{type(holdout).__name__} of {mask.dtype.name}", _OF_ROWS)
    if mask.dtype == bool and mask.shape == (n,) and (not mask.any() or mask.all()):
        raise _bad(
            f"a mask that is {bool(mask.all())} everywhere",
            "It needs both: True for the rows of the holdout, False for the others.",
        )
    if mask.dtype != bool or mask.shape != (n,):
        raise _bad(f"{type(holdout).__name__} of {mask.dtype.name}" if mask.ndim else holdout)
    return np.flatnonzero(~mask), np.flatnonzero(mask), "mask"


def _check_given(holdout: Holdout, ids: NDArray[np.bytes_] | None) -> None:
    """Raise if training rows are known to be rows of a holdout that was given."""
    session = session_of(holdout)
    if session.data.ids is not None and ids is None:
        warn_user(
            "The rows of the holdout are known by ids, and fit was passed none: so whether X repeats rows of "
            "the holdout is told by their features alone. Certificates assume that X has none of them. "
            "Use fit(X, y, ids=...).",
            once=("training rows without ids", session.fingerprint),
        )
    elif session.data.ids is None and ids is not None:
        raise bad_parameter(
            "ids", "ReusableHoldoutCV.fit", "None where the rows of the given holdout have no ids", "ids",
            "They could be compared with nothing: make the holdout with ids, Holdout(X_hold, y_hold, "
            "ids=...), or leave them out.",
        )  # fmt: skip
    elif ids is not None:
        check_sides(session, ids)


def _check_whole(ids: NDArray[np.bytes_], train: NDArray[np.int64], test: NDArray[np.int64]) -> None:
    """Raise ValueError if rows of one id are on both sides."""
    torn = len(np.intersect1d(ids[train], ids[test]))
    if torn:
        raise bad_parameter(
            "ids", "ReusableHoldoutCV.fit", "such that all rows of one id are on one side of the split",
            f"{torn} ids on both sides", "Rows of one id depend on each other: put them into one group.",
        )  # fmt: skip


def _check_classes(train: Any, test: Any) -> None:
    only = sorted(set(np.asarray(test).tolist()) - set(np.asarray(train).tolist()), key=str)
    if only:
        raise bad_parameter(
            "y", "ReusableHoldoutCV.fit", "such that each class of the holdout is among the training rows",
            f"no training row of {', '.join(map(repr, only[:5]))}",
            "Bring more rows of such a class, leave it out, or choose the holdout yourself: holdout=mask.",
        )  # fmt: skip


_OF_ROWS = "For rows that are set aside already: holdout=Holdout(X_hold, y_hold)."


def _bad(got: Any, fix: str | None = None) -> ValueError:
    return bad_parameter(
        "holdout",
        "ReusableHoldoutCV",
        "a share in (0, 1), a boolean mask of X's length, a splitter with one split, or a Holdout",
        got,
        fix
        or "Row numbers are no mask (inside an outer cross-validation they would be those of other rows): "
        "make a mask of them.",
    )
