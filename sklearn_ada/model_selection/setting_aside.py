"""Taking the holdout out of X, the same way every time for the same data.

The split is a function of who the rows are: of their ids where they have any, else of their labels and the
order of these; never of the values of features.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    LeaveOneGroupOut,
    LeavePGroupsOut,
    StratifiedGroupKFold,
)
from sklearn.utils import column_or_1d, indexable
from sklearn.utils.multiclass import type_of_target

from sklearn_ada._notices import warn_user
from sklearn_ada._validation import bad_parameter, check_real, counted
from sklearn_ada.data.labels import check_groups, check_labels, n_rows, take_rows
from sklearn_ada.digest.rows import id_hashes, labels_digest, part_of_each
from sklearn_ada.exceptions import LedgerMismatchError
from sklearn_ada.holdout.changes import check_groups_apart
from sklearn_ada.holdout.finding import check_sides, check_unchanged, held_before, leave_other, place_of_rows
from sklearn_ada.holdout.holdout import Holdout, session_of
from sklearn_ada.ledger.hash_chain import FOLD_OF_ITS_OWN
from sklearn_ada.ledger.opening import goes_with_data, is_begun, is_temporary
from sklearn_ada.metrics.metric import Metric
from sklearn_ada.model_selection.parameters import OWNER, Parameters
from sklearn_ada.model_selection.searches import folds_of_training_rows, take_for
from sklearn_ada.model_selection.training_rows import (
    check_time_order,
    is_share,
    is_shuffled_for,
    shuffled,
    split_rows,
)
from sklearn_ada.terms.recognised_rows import within_cross_validation

_OF_GROUPS = (GroupKFold, GroupShuffleSplit, LeaveOneGroupOut, LeavePGroupsOut, StratifiedGroupKFold)
_FIT = f"{OWNER}.fit"
_POLICY = (
    "confidence_level", "tolerance", "expected_questions", "answers", "seal_key", "who", "class_mix",
    "used_before",
)  # fmt: skip


def set_aside(
    given: Parameters,
    X: Any,
    y: Any,
    groups: Any = None,
    cv: Any = None,
    ids: Any = None,
    metric: Metric | None = None,
) -> tuple[Holdout, NDArray[np.int64], Any]:
    """Return the holdout of a search, the numbers of the training rows, and their cv.

    The split is a function of the labels, their order and ``random_state``, so a second search on the same
    rows uses the same holdout, whatever was done to columns. With ``ledger=None`` or ``":memory:"`` the
    ledger belongs to all rows, so another split of them does not get a fresh budget. Groups stay whole: they
    are the independent units. No class is in the holdout alone, for no classifier could know it. ``cv`` is
    that of the search, for all rows. If a ledger is begun, it is for this ``metric``.

    With ``ids`` a share is chosen by them, each row by itself (`split_by_ids`).

    The rows for training are in a random order where the search's cv does not mind (`training_rows`). With a
    given Holdout they stay in theirs: whoever split them has chosen it.
    """
    n = n_rows(X)
    if groups is not None:
        check_groups(groups, n, _FIT)
    elif type(cv) in _OF_GROUPS:
        expected = f"given, for {type(cv).__name__} keeps them together"
        fix = "Call fit(X, y, groups=groups). (scikit-learn: The 'groups' parameter should not be None.)"
        raise bad_parameter("groups", _FIT, expected, None, fix)
    y = check_labels(y, _FIT)  # classes held as objects are split as classes
    of_classes = is_classifier(given.search.estimator) and type_of_target(y) in ("binary", "multiclass")
    hashed = None if ids is None else id_hashes(ids, _FIT, n)
    if given.given_holdout is not None:
        _check_given(given.given_holdout, hashed)
        check_groups_apart(session_of(given.given_holdout), groups)
        session = session_of(given.given_holdout)
        if of_classes and session.data.classes is not None:
            _check_classes(y, session.data.classes)
            session.data.check_paid_for(y, "y", _FIT)
        return given.given_holdout, np.arange(n), cv
    holdout = given.holdout
    random_state = None if given.random_state is None else int(given.random_state)
    digest = "" if hashed is not None else labels_digest(y)
    place = place_of_rows(given.ledger, hashed, y, given.missing)
    if within_cross_validation() and not (is_temporary(place.address) or is_begun(place.address)):
        raise LedgerMismatchError(
            f"A fold of a cross-validation begins no ledger at a path. {FOLD_OF_ITS_OWN}"
        )
    if hashed is not None and is_share(holdout):
        share = check_real(holdout, "holdout", OWNER, low=0.0, high=1.0)
        before = held_before(place.address, hashed) if groups is None else None
        train, test = split_by_ids(hashed, groups, share, random_state, before)
        kind = f"share {share:g}, by a hash of each {'id' if groups is None else 'group'}"
    else:
        train, test, kind = _split(X, y, holdout, n, digest, random_state, groups)
    folds = folds_of_training_rows(cv, train, n)
    if not (len(train) and len(test) and int(np.max(train)) < int(np.min(test))):  # it is not the last rows
        check_time_order(
            holdout, folds, lambda: [r if r is None else take_rows(r, train) for r in (X, y, groups)]
        )
    if not given.asks_candidates and is_shuffled_for(folds):
        train = shuffled(train, digest, random_state, hashed, groups)
    policy = {name: getattr(given, name) for name in _POLICY}
    if of_classes and given.class_mix == "priced":
        policy["classes"] = np.unique(y)
    if groups is not None:
        own, others = (take_rows(np.asarray(groups), part) for part in (test, train))
        if set(own.tolist()) & set(others.tolist()):
            fix = "Use a share, or a splitter such as GroupShuffleSplit(1)."
            raise bad_parameter("holdout", OWNER, "of whole groups when groups are passed", kind, fix)
        policy["groups"] = own
    if of_classes:
        _check_classes(take_rows(y, train), take_rows(y, test))
    labels = take_rows(np.asarray(y), test)
    split = {"holdout": kind, "random_state": random_state}
    if hashed is None:
        split["rows_in_all"] = n
    else:
        policy |= {"ids": [ids[row] for row in test], "missing": given.missing}
        _check_whole(hashed, train, test)
        check_unchanged(
            place.address, hashed[train], hashed[test], labels,
            of_share=is_share(holdout), is_path=not goes_with_data(given.ledger),
        )  # fmt: skip
    rows = take_for(X, test, train, given.of_pairs)
    policy |= {"create": given.create, "split": split, "scoring": metric}
    made = Holdout(rows, labels, ledger=place.address, **policy)
    leave_other(place)
    if hashed is not None and not is_share(holdout):  # another mask may have begun it meanwhile
        check_sides(session_of(made), hashed[train])
    return made, train, folds


def checked_rows(given: Parameters, X: Any, y: Any, ids: Any) -> tuple[Any, Any, Any, str | None]:
    """Return X without ids, y as a vector, the ids, and their column's name.

    Raises
    ------
    ValueError
        If they are unusable.
    """
    if y is None:
        fix = "It requires y to be passed, but the target y is None."
        raise bad_parameter("y", _FIT, "the labels of X", None, fix)
    X, ids, column = ids_of_rows(given.ids, X, ids)
    if all(hasattr(each, "__len__") or hasattr(each, "shape") for each in (X, y)) and n_rows(X) != n_rows(y):
        fix = "Both are of the same rows, in the same order."
        raise bad_parameter(
            "y", _FIT, f"as long as X, which has {n_rows(X)} rows", f"{n_rows(y)} values", fix
        )
    X, y = indexable(X, y)
    if getattr(y, "ndim", 1) == 2 and np.shape(y)[1] == 1:
        y = column_or_1d(y, warn=True)
    shape = np.shape(y)
    if len(shape) > 1:  # a metric of one output is certified
        fix = "Put the search inside MultiOutputClassifier or MultiOutputRegressor: one output at a time."
        raise bad_parameter("y", _FIT, "one-dimensional", f"an array of shape {shape}", fix)
    check_labels(y, _FIT)
    if given.of_pairs:
        of_holdout = isinstance(given.holdout, Holdout)
        _check_pairs(X, session_of(given.holdout).data.n_columns if of_holdout else None)
    return X, y, ids, column


def ids_of_rows(named: Any, X: Any, given: Any) -> tuple[Any, Any, str | None]:
    """Return X without the ids, the ids, and the name of their column; None where there are none.

    Parameters
    ----------
    named : str or None
        The wrapper's ``ids``: the name of a column, "index", or None.
    X : array-like or frame
    given : array-like or None
        What `fit` was passed as ``ids``.

    Raises
    ------
    ValueError
        If they are named and given both, X has no such column, or they have no order of their own.
    """
    if named is None:
        return X, None if given is None else _values(given), None
    if given is not None:
        raise bad_parameter("ids", _FIT, f"None where {OWNER} has ids={named!r}", "ids", "Give one.")
    columns = list(getattr(X, "columns", ()))
    if named == "index":
        expected = fix = ""
        if not hasattr(X, "iloc"):
            expected = "None, or the name of a column, where X has no index"
            fix = "Pass them by themselves: fit(X, y, ids=...)."
        elif "index" in columns:
            expected = "one of the two where X has an index and a column 'index'"
            fix = "Rename the column."
        elif _counts_positions(X.index):
            expected = "None or the name of a column, where X has an index that counts its rows"
            fix = "These are positions, not identities: take a column that says who the rows are."
        if expected:
            raise bad_parameter("ids", OWNER, expected, "index", fix)
        return X, _values(X.index), None
    if named not in columns:
        fix = "X has no column of this name: pass the ids by themselves, fit(X, y, ids=...)."
        if named in list(getattr(getattr(X, "index", None), "names", ())):
            fix = "It is the name of the index of X: use ids='index'."
        elif not columns:
            fix = "Arrays have no names: pass the ids by themselves, fit(X, y, ids=...)."
        raise bad_parameter("ids", OWNER, "None, 'index' or the name of a column of X", named, fix)
    return without_column(X, named), _values(X[named]), named


def without_column(X: Any, name: str | None) -> Any:
    """Return X without the column of ids, if it has it: no model ever sees that."""
    if name is None or name not in list(getattr(X, "columns", ())):
        return X
    return X.drop(columns=[name]) if hasattr(X, "iloc") else X.drop(name)


def split_by_ids(
    ids: NDArray[np.bytes_],
    groups: Any,
    share: float,
    random_state: int | None,
    before: NDArray[np.bool_] | None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers of training and holdout rows, each row assigned by itself.

    A row is in the holdout if a hash of its id (of its group, if there are groups) and ``random_state`` is
    below the share. So rows may be put in any order and others may be added: each stays where it is. The
    share is met on average, and classes are not stratified.

    Parameters
    ----------
    ids : ndarray of bytes
        Hashed.
    groups : array-like or None
    share : float
    random_state : int or None
    before : ndarray of bool or None, default=None
        Rows that the ledger knows as its holdout's, such as those of a `Holdout.top_up`: they stay there.

    Examples
    --------
    >>> ids = id_hashes(np.arange(1000), "Holdout")
    >>> train, test = split_by_ids(ids, None, 0.25, None, None)
    >>> moved = split_by_ids(ids[::-1], None, 0.25, None, None)[1]
    >>> len(train) + len(test), bool((np.sort(999 - moved) == test).all())
    (1000, True)
    """
    which = ids if groups is None else id_hashes(groups, OWNER, len(ids), "groups")
    values, of_row = np.unique(which, return_inverse=True)
    held = (part_of_each(values, random_state) < share)[of_row.reshape(-1)]
    if before is not None:
        held |= before
    if held.all() or not held.any():
        units = counted(len(values), "row" if groups is None else "group")
        fix = f"Ids put {'all' if held.any() else 'none'} of {units} into it: bring more, or holdout=mask."
        raise bad_parameter("holdout", OWNER, "a share that leaves rows on both sides", share, fix)
    return np.flatnonzero(~held), np.flatnonzero(held)


def _split(
    X: Any, y: Any, holdout: Any, n: int, digest: str, random_state: int | None, groups: Any
) -> tuple[NDArray[np.int64], NDArray[np.int64], str]:
    """Return the training rows, the holdout's rows, and how they were divided, in words."""
    if is_share(holdout):
        share = check_real(holdout, "holdout", OWNER, low=0.0, high=1.0)
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
    if mask.dtype != bool or mask.shape != (n,):
        raise _bad(f"{type(holdout).__name__} of {mask.dtype.name}" if mask.ndim else holdout)
    if not mask.any() or mask.all():
        fix = "It needs both: True for the rows of the holdout, False for the others."
        raise _bad(f"a mask that is {bool(mask.all())} everywhere", fix)
    return np.flatnonzero(~mask), np.flatnonzero(mask), "mask"


def _check_given(holdout: Holdout, ids: NDArray[np.bytes_] | None) -> None:
    """Raise if ids of training rows are those of a holdout that was given."""
    session = session_of(holdout)
    if session.data.ids is not None and ids is None:
        warn_user(
            "The rows of the holdout are known by ids, and fit was passed none: so whether X repeats rows of "
            "the holdout is seen by their features alone. Certificates assume that X has none of them. "
            "Use fit(X, y, ids=...).",
            once=("training rows without ids", session.fingerprint),
        )
    elif session.data.ids is None and ids is not None:
        fix = "They could be compared with nothing: make the holdout with ids, or leave them out."
        raise bad_parameter("ids", _FIT, "None where the rows of the given holdout have no ids", "ids", fix)
    elif ids is not None:
        check_sides(session, ids)


def _check_whole(ids: NDArray[np.bytes_], train: NDArray[np.int64], test: NDArray[np.int64]) -> None:
    """Raise ValueError if rows of one id are on both sides."""
    torn = len(np.intersect1d(ids[train], ids[test]))
    if torn:
        expected = "such that all rows of one id are on one side of the split"
        fix = "Rows of one id depend on each other: put them into one group."
        raise bad_parameter("ids", _FIT, expected, f"{torn} ids on both sides", fix)


def _check_classes(train: Any, test: Any) -> None:
    only = sorted(set(np.asarray(test).tolist()) - set(np.asarray(train).tolist()), key=str)
    if only:
        expected = "such that each class of the holdout is among the training rows"
        got = f"no training row of {', '.join(map(repr, only[:5]))}"
        fix = "Bring more rows of such a class, leave it out, or choose the holdout yourself: holdout=mask."
        raise bad_parameter("y", _FIT, expected, got, fix)


_OF_ROWS = "For rows that are set aside already: holdout=Holdout(X_hold, y_hold)."
_NO_MASK = (
    "Row numbers are no mask (inside an outer cross-validation they would be those of other rows): make a "
    "mask of them."
)


def _bad(got: Any, fix: str = _NO_MASK) -> ValueError:
    expected = "a share in (0, 1), a boolean mask of X's length, a splitter with one split, or a Holdout"
    return bad_parameter("holdout", OWNER, expected, got, fix)


def _values(given: Any) -> Any:
    """Return ids as a list or an array: as a list, NumPy's types would not be what they were."""
    if isinstance(given, (list, tuple)):
        return list(given)
    if not hasattr(given, "__array__"):
        raise bad_parameter("ids", _FIT, "an array or a list, in the order of the rows", type(given).__name__)
    return np.asarray(given)


def _counts_positions(index: Any) -> bool:
    """Return whether an index of pandas is the default one, stored or not."""
    is_range = all(hasattr(index, name) for name in ("start", "step", "stop"))
    return (is_range or index.name is None) and np.array_equal(index, np.arange(len(index)))


def _check_pairs(X: Any, n_columns: int | None) -> None:
    """Raise ValueError unless X is a square array or sparse matrix.

    A holdout that is given must have as many columns, ``n_columns``; None if none is given.
    """
    shape = getattr(X, "shape", None)
    if shape is None or hasattr(X, "iloc"):
        got, fix = type(X).__name__, "Its rows and its columns are split: pass np.asarray(X)."
        raise bad_parameter("X", _FIT, "an array or a sparse matrix where a model is of pairs", got, fix)
    if len(shape) != 2 or shape[0] != shape[1]:
        got, fix = f"an array of shape {tuple(shape)}", "Pass the kernel or distance of all pairs of rows."
        raise bad_parameter("X", _FIT, "a square matrix where the model is of pairs of rows", got, fix)
    if n_columns is not None and shape[0] != n_columns:
        got, fix = f"{shape[0]} columns", "The holdout's are the pairs of its rows with the training rows."
        raise bad_parameter("X", _FIT, f"of {n_columns} columns, as its holdout is", got, fix)
