"""Counting and taking rows of whatever scikit-learn accepts as X."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["Subsamples", "guarded", "n_rows", "own_copy", "stack_rows", "take_rows"]

Subsamples = NDArray[np.integer] | Sequence[NDArray[np.integer]]
"""Row numbers of several subsamples: a matrix, or one array for each if their sizes differ."""


def n_rows(X: Any) -> int:
    """Return the number of rows of an array, a frame, a sparse matrix or a list."""
    shape = getattr(X, "shape", None)
    return int(shape[0]) if shape else len(X)


def take_rows(X: Any, rows: NDArray[np.integer] | Sequence[int] | slice) -> Any:
    """Return some rows of an array, a frame, a sparse matrix or a list.

    Examples
    --------
    >>> take_rows([["a"], ["b"], ["c"]], [2, 0])
    [['c'], ['a']]
    """
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "shape") or isinstance(rows, slice):
        return X[rows]
    return [X[i] for i in rows]


def own_copy(X: Any) -> Any:
    """Return a copy of the rows (of a list: not of what it holds)."""
    return X.copy() if hasattr(X, "copy") else take_rows(X, slice(None))


def guarded(X: Any) -> Any:
    """Return the rows for somebody who must not change them: an array as a read-only view, others copied.

    What objects in them hold, such as rows that are lists, is not guarded.

    Examples
    --------
    >>> X = np.ones((2, 2))
    >>> guarded(X)[0, 0] = 7.0
    Traceback (most recent call last):
        ...
    ValueError: assignment destination is read-only
    """
    if not isinstance(X, np.ndarray):
        return own_copy(X)
    view = X.view()
    view.flags.writeable = False
    return view


def stack_rows(X: Any, more: Any) -> Any:
    """Return the rows of X with those of ``more`` below them, in a container like that of X.

    Raises
    ------
    ValueError
        If they are not rows of one table: other columns, or another kind of container.

    Examples
    --------
    >>> stack_rows(np.array([[1, 2]]), [[3, 4]])
    array([[1, 2],
           [3, 4]])
    """
    if hasattr(X, "columns"):
        if list(X.columns) != list(getattr(more, "columns", ())):
            raise ValueError("Pass a frame with the same columns in the same order")
        if hasattr(X, "vstack"):
            return X.vstack(more)
        import pandas

        return pandas.concat([X, more], ignore_index=True)
    if hasattr(more, "columns") or hasattr(X, "tocsr") != hasattr(more, "tocsr"):
        raise ValueError("Pass the same kind of container")
    if hasattr(X, "tocsr"):
        return sparse.vstack([X, more], format="csr")
    return np.concatenate([X, np.asarray(more)]) if hasattr(X, "shape") else [*X, *more]
