"""Rows that lie elsewhere than in memory: in a memory-mapped file, or in Dask."""

from __future__ import annotations

import mmap
import os
import tempfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "UnreadableRowsError",
    "file_of",
    "is_dask",
    "lies_elsewhere",
    "opened",
    "release",
    "scratch",
    "stamp_of",
]

Array = NDArray[Any]


class UnreadableRowsError(RuntimeError):
    """Rows that lie elsewhere could not be read to the end, or are not those that were first read.

    Noticed before the look at the holdout, nothing is charged. In the middle of a look it is recorded and
    paid for as a failure, as all that is raised there.
    """


def lies_elsewhere(values: Any) -> bool:
    """Return whether values are in a memory-mapped file or in Dask."""
    return is_dask(values) or _root_of(values) is not None


def is_dask(values: Any) -> bool:
    """Return whether values are a Dask array, series or frame."""
    return hasattr(values, "__dask_graph__")


def release(rows: Any) -> None:
    """Give back the pages of a memory-mapped file that were read: they stay in the system's cache."""
    root = _root_of(rows)
    if root is None or not hasattr(mmap, "MADV_DONTNEED") or rows.nbytes == 0 or not rows.flags.c_contiguous:
        return
    begin = root.offset % mmap.ALLOCATIONGRANULARITY + _address(rows) - _address(root)
    aligned = begin - begin % mmap.PAGESIZE
    root.base.madvise(mmap.MADV_DONTNEED, aligned, begin - aligned + rows.nbytes)


def scratch(n: int, dtype: np.dtype[Any]) -> Array:
    """Return room for a column in a temporary file, which is removed when nothing refers to it."""
    with tempfile.TemporaryFile() as file:
        return np.memmap(file, dtype=dtype, mode="w+", shape=(n,))


def _root_of(values: Any) -> Any:
    """Return the memory map that values are rows of, None for others and for those with unsaved changes."""
    while isinstance(values, np.memmap) and isinstance(values.base, np.memmap):
        values = values.base
    if not isinstance(values, np.memmap) or not isinstance(values.base, mmap.mmap):
        return None
    return values if values.mode != "c" else None


def _address(values: Array) -> int:
    return int(values.__array_interface__["data"][0])


def file_of(values: Any) -> dict[str, Any] | None:
    """Return where the rows of a memory map lie, None for others."""
    root = _root_of(values)
    if root is None or root.filename is None or not values.flags.c_contiguous:
        return None
    offset = root.offset + _address(values) - _address(root)
    return {"filename": root.filename, "dtype": values.dtype, "offset": offset, "shape": values.shape}


def stamp_of(values: Any) -> tuple[int, ...] | None:
    """Return what changes when the file of a memory map does, (-1,) if it is gone; None without a file."""
    root = _root_of(values)
    if root is None or root.filename is None:
        return None
    try:
        found = os.stat(root.filename)
    except OSError:
        return (-1,)
    return found.st_ino, found.st_size, found.st_mtime_ns


def opened(file: dict[str, Any]) -> Array:
    """Return the rows of a memory map again, from what `file_of` said of them."""
    return np.memmap(mode="r", **file)
