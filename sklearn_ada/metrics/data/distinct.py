"""The distinct whole numbers in a block of labels, and how many rows have each of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["distinct_of", "joined"]

Array = NDArray[Any]

_FEW = 2**16  # whole numbers in so narrow a range are counted without being sorted


def distinct_of(block: Array) -> tuple[Array, NDArray[np.int64]] | None:
    """Return the distinct whole numbers of a block and their counts; None if there are others."""
    if block.dtype.kind == "b":
        ones = int(np.count_nonzero(block))
        both = np.array([len(block) - ones, ones], dtype=np.int64)
        return np.array([False, True])[both > 0], both[both > 0]
    low, high = block.min(), block.max()
    if block.dtype.kind == "f" and not (np.isfinite([low, high]).all() and (np.floor(block) == block).all()):
        return None
    if int(high) - int(low) >= _FEW:
        values, counts = np.unique(block, return_counts=True)
        return values, counts.astype(np.int64)
    wide: Any = {"i": np.int64, "u": np.uint64, "f": np.float64}[block.dtype.kind]
    numbers = np.bincount((block.astype(wide, copy=False) - wide(low)).astype(np.intp, copy=False))
    found = np.flatnonzero(numbers)
    return (found.astype(wide) + wide(low)).astype(block.dtype), numbers[found].astype(np.int64)


def joined(
    one: tuple[Array, NDArray[np.int64]], other: tuple[Array, NDArray[np.int64]]
) -> tuple[Array, NDArray[np.int64]]:
    """Return the distinct numbers of two blocks together, and their counts."""
    if np.array_equal(one[0], other[0]):
        return one[0], one[1] + other[1]
    values, where = np.unique(np.concatenate([one[0], other[0]]), return_inverse=True)
    counts = np.bincount(where.ravel(), weights=np.concatenate([one[1], other[1]]))
    return values, counts.astype(np.int64)
