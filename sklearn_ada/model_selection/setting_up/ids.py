"""The ids of the rows that ``ReusableHoldoutCV.fit`` is passed, and the holdout that they choose."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada._checks import bad_parameter
from sklearn_ada.digest import id_hashes, part_of_each

__all__ = ["ids_of_rows", "split_by_ids", "without_column"]

_OWNER = "ReusableHoldoutCV"


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
        raise bad_parameter(
            "ids", f"{_OWNER}.fit", f"None where {_OWNER} has ids={named!r}", "ids", "Give one."
        )
    columns = list(getattr(X, "columns", ()))
    if named == "index":
        if not hasattr(X, "iloc"):
            raise bad_parameter(
                "ids", _OWNER, "None, or the name of a column, where X has no index", "index",
                "Pass them by themselves: fit(X, y, ids=...).",
            )  # fmt: skip
        if "index" in columns:
            raise bad_parameter(
                "ids", _OWNER, "one of the two where X has an index and a column 'index'", "index",
                "Rename the column.",
            )  # fmt: skip
        if _counts_positions(X.index):
            raise bad_parameter(
                "ids", _OWNER, "None or the name of a column, where X has an index that counts its rows",
                "index",
                "These are positions, not identities: rows in another order would have those of other rows. "
                "Take a column that says who the rows are, or make it the index, X.set_index(...).",
            )  # fmt: skip
        return X, _values(X.index), None
    if named not in columns:
        fix = "X has no column of this name: pass the ids by themselves, fit(X, y, ids=...)."
        if named in list(getattr(getattr(X, "index", None), "names", ())):
            fix = "It is the name of the index of X: use ids='index'."
        elif not columns:
            fix = "Arrays have no names: pass the ids by themselves, fit(X, y, ids=...)."
        raise bad_parameter("ids", _OWNER, "None, 'index' or the name of a column of X", named, fix)
    return without_column(X, named), _values(X[named]), named


def _values(given: Any) -> Any:
    """Return ids as a list or an array: as a list, NumPy's types would not be what they were."""
    if isinstance(given, (list, tuple)):
        return list(given)
    if not hasattr(given, "__array__"):
        raise bad_parameter(
            "ids", f"{_OWNER}.fit", "an array or a list, in the order of the rows", type(given).__name__
        )
    return np.asarray(given)


def _counts_positions(index: Any) -> bool:
    """Return whether an index of pandas is what a frame has if nobody said anything, stored or not."""
    is_range = all(hasattr(index, name) for name in ("start", "step", "stop"))
    return (is_range or index.name is None) and np.array_equal(index, np.arange(len(index)))


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
    known: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers of the rows for training and of those of the holdout, each row assigned by itself.

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
    known : ndarray of bool or None, default=None
        Rows that the ledger knows as its holdout's, such as those of a `Holdout.top_up`: they stay there.

    Examples
    --------
    >>> ids = id_hashes(np.arange(1000), "Holdout")
    >>> train, test = split_by_ids(ids, None, 0.25, None)
    >>> moved = split_by_ids(ids[::-1], None, 0.25, None)[1]
    >>> len(train) + len(test), bool((np.sort(999 - moved) == test).all())
    (1000, True)
    """
    which = ids if groups is None else id_hashes(groups, _OWNER, len(ids), "groups")
    values, of_row = np.unique(which, return_inverse=True)
    held = (part_of_each(values, random_state) < share)[of_row.reshape(-1)]
    if known is not None:
        held |= known
    if held.all() or not held.any():
        raise bad_parameter(
            "holdout", _OWNER, "a share that leaves rows on both sides", share,
            f"Ids choose it, and put {'all' if held.any() else 'none'} of the {len(values)} "
            f"{'rows' if groups is None else 'groups'} into it: bring more, or choose them yourself, "
            "holdout=mask.",
        )  # fmt: skip
    return np.flatnonzero(~held), np.flatnonzero(held)
