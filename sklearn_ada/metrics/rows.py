"""Counting and taking rows of whatever scikit-learn accepts as X."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Subsamples", "n_rows", "take_rows"]

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
