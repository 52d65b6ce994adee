"""Read columns of more rows than fit into memory, block by block.

A column has one number for each row and lies in an array, in a memory-mapped file or in the chunks of a
Dask array or series. Whatever is asked of it is one pass over its blocks. Counts add up in any order, and a
hash of all bytes is carried on from block to block, so nothing depends on where a block ends. The pages of
a file are given back once they were read. Blocks of Dask are read where Dask computes: on a cluster a block
never comes to the client, only what was counted in it; and the hash stays on one worker, to which the
others send their blocks.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada.data.labels import all_finite, is_dask, is_read_in_blocks, memory_map_of

Array = NDArray[Any]
Counted = tuple[Array, NDArray[np.int64]]
"""Distinct numbers, sorted, and how many rows have each of them."""

BLOCK_ROWS = 2**17
"""Rows in a block: its temporaries stay in the processor's cache."""

_FEW = 2**16  # whole numbers in so narrow a range are counted without being sorted
_WINDOW = 2**23  # rows of Dask that are read at a time to be hashed, so that they do not pile up before it
_PATIENCE = 2.0  # seconds, after which it is looked whether a worker is still there


class UnreadableRowsError(RuntimeError):
    """Rows that lie elsewhere could not be read to the end, or have changed.

    Noticed before the look at the holdout, nothing is charged. In the middle of a look it is recorded and
    paid for as a failure, as all that is raised there.
    """


@dataclass(eq=False, repr=False)
class Column:
    """One number for each row.

    Parameters
    ----------
    source : ndarray, memmap or dask.array.Array of shape (n,)
    convert : callable or None, default=None
        What is made of the numbers of a block, one by one.
    dtype : dtype or None, default=None
        What it makes of them.
    block_rows : int, default=2**17
        How many rows are read at a time, within a chunk of Dask.
    stamp : tuple or None, default=None
        What distinguishes the file of the rows, as it was first read, from a changed one; None looks at it
        now.

    Examples
    --------
    >>> column = Column(np.array([2, 0, 2], dtype=np.int8))
    >>> column.values.tolist(), column.counts.tolist()
    ([0, 2], [1, 2])
    >>> column.sha256()[0] == hashlib.sha256(np.array([2, 0, 2], dtype=np.int8)).digest()
    True
    """

    source: Any
    convert: Callable[[Array], Array] | None = None
    dtype: Any = None
    block_rows: int = BLOCK_ROWS
    stamp: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        self.dtype = np.dtype(self.source.dtype if self.dtype is None else self.dtype)
        self.stamp = _stamp_of(self.source) if self.stamp is None else self.stamp

    @property
    def shape(self) -> tuple[int]:
        """The number of rows, as an array has it."""
        return (int(self.source.shape[0]),)

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if is_dask(self.source):
            whole = np.concatenate(over_blocks(np.array, self))
        elif self.convert is None:
            self.check_unchanged()
            whole = np.asarray(self.source)
        else:
            whole = np.concatenate(list(self.blocks()))
        return whole if dtype is None else whole.astype(dtype, copy=False)

    def __getstate__(self) -> dict[str, Any]:
        file = _file_of(self.source)  # pickled, a memory map would be its rows
        return {**self.__dict__, "source": self.source if file is None else file}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if isinstance(self.source, dict):
            try:
                self.source = np.memmap(mode="r", **self.source)
            except (OSError, ValueError) as error:
                message = f"{error}. A pickle of rows in a file holds its name only."
                raise UnreadableRowsError(message) from error
            self.check_unchanged()

    def converted(self, convert: Callable[[Array], Array], dtype: Any) -> Column:
        """Return the column of what a function makes of the source's numbers."""
        assert self.convert is None
        return replace(self, convert=convert, dtype=dtype)

    def with_labels_by_value(self) -> Column:
        """Return the column of the same whole numbers as 64-bit integers."""
        convert = _as_int64 if self.convert is None else partial(_as_int64, convert=self.convert)
        return replace(self, convert=convert, dtype=np.int64)

    def rows(self, part: slice) -> Column:
        """Return the column of some rows."""
        return replace(self, source=self.source[part])

    def check_unchanged(self) -> None:
        """Raise `UnreadableRowsError` if the file of the rows is gone, or has changed since."""
        if self.stamp is not None and _stamp_of(self.source) != self.stamp:
            raise UnreadableRowsError(
                "The file of the rows was changed, replaced or removed since they were first read. Put back "
                "what it held, or copy the rows: y[:]."
            )

    def blocks(self, block_rows: int | None = None) -> Iterator[Array]:
        """Read the blocks of rows, in their order; not of Dask."""
        step = block_rows or self.block_rows
        self.check_unchanged()  # before it is read: what a file no longer has ends the process
        for start in range(0, len(self), step):
            rows = self.source[start : start + step]
            yield self._made_of(rows)
            drop_pages(rows)
        self.check_unchanged()

    def sha256(self, before: bytes = b"", after: Sequence[bytes] = (b"",)) -> list[bytes]:
        """Return the hash of some bytes, those of all rows, and each of some endings."""
        try:
            if is_dask(self.source):
                return _hashed_by_dask(self, before, after)
            return _ended(_hashed(hashlib.sha256(before), self.blocks()), after)
        except UnreadableRowsError:
            raise
        except Exception as error:
            raise UnreadableRowsError(f"Rows could not be read: {type(error).__name__}: {error}") from error

    @property
    def is_whole(self) -> bool:
        """Whether there are no fractions among the numbers, and nothing that is not finite."""
        return self._distinct is not None

    @property
    def values(self) -> Array:
        """The distinct numbers, sorted, of a column that `is_whole`."""
        assert self._distinct is not None
        return self._distinct[0]

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many rows have each of them."""
        assert self._distinct is not None
        return self._distinct[1]

    @cached_property
    def is_finite(self) -> bool:
        """Whether no number is NaN or infinite."""
        return self.dtype.kind != "f" or all(over_blocks(all_finite, self))

    @cached_property
    def _distinct(self) -> Counted | None:
        blocks = over_blocks(_distinct_of, self)
        return None if any(block is None for block in blocks) else reduce(_joined, blocks)

    def _made_of(self, rows: Array) -> Array:
        if np.ma.isMaskedArray(rows):
            raise ValueError("Labels may not be masked: leave such rows out.")
        return np.asarray(rows) if self.convert is None else self.convert(np.asarray(rows))


def column_of(values: Any) -> Column | None:
    """Return values that are read block by block as a column, None for others.

    That is numbers, one for each row: see `is_read_in_blocks`.
    """
    if not is_read_in_blocks(values):
        return None
    if is_dask(values):
        values = values.to_dask_array(lengths=True) if hasattr(values, "to_dask_array") else values
        if not hasattr(values, "compute_chunk_sizes"):
            return None
        if values.ndim == 1 and np.isnan(values.shape[0]):
            values = values.compute_chunk_sizes()
    is_column = values.ndim == 1 and len(values) > 0
    is_read = is_column and values.dtype.kind in "biuf" and values.dtype.itemsize <= 8
    return Column(values) if is_read else None


def as_column(values: Column | Array) -> Column:
    """Return a column as it is, and an array as one."""
    return values if isinstance(values, Column) else Column(values)


def over_blocks(function: Callable[..., Any], *columns: Column) -> list[Any]:
    """Return what a function makes of each block of rows.

    Several columns of one length are read side by side.

    Examples
    --------
    >>> labels = Column(np.array([1, 0, 1]))
    >>> int(sum(over_blocks(np.count_nonzero, labels)))
    2
    """
    leader = next((column for column in columns if is_dask(column.source)), None)
    if leader is None:
        blocks = zip(*(column.blocks(columns[0].block_rows) for column in columns), strict=True)
        return [function(*block) for block in blocks]
    import dask

    over_chunk = dask.delayed(partial(_over_chunk, function))
    chunks = map(list, zip(*(_chunks(column, leader) for column in columns), strict=True))
    sizes = leader.source.chunks[0]
    made = dask.compute(*(over_chunk(size, chunk) for size, chunk in zip(sizes, chunks, strict=True)))
    return [each for chunk in made for each in chunk]


def drop_pages(rows: Any) -> None:
    """Give back the pages of a memory-mapped file that were read: they stay in the system's cache."""
    root = memory_map_of(rows)
    if root is None or not hasattr(mmap, "MADV_DONTNEED") or rows.nbytes == 0 or not rows.flags.c_contiguous:
        return
    begin = root.offset % mmap.ALLOCATIONGRANULARITY + _address(rows) - _address(root)
    aligned = begin - begin % mmap.PAGESIZE
    root.base.madvise(mmap.MADV_DONTNEED, aligned, begin - aligned + rows.nbytes)


def scratch(n: int, dtype: np.dtype[Any]) -> Array:
    """Return room for a column in a temporary file.

    The file is removed when nothing refers to it.
    """
    with tempfile.TemporaryFile() as file:
        return np.memmap(file, dtype=dtype, mode="w+", shape=(n,))


def _as_int64(rows: Array, convert: Callable[[Array], Array] = np.asarray) -> Array:
    return convert(rows).astype(np.int64, copy=False)


def _address(values: Array) -> int:
    return int(values.__array_interface__["data"][0])


def _file_of(values: Any) -> dict[str, Any] | None:
    """Return where the rows of a memory map lie, as `numpy.memmap` takes it."""
    root = memory_map_of(values)
    if root is None or root.filename is None or not values.flags.c_contiguous:
        return None
    offset = root.offset + _address(values) - _address(root)
    return {"filename": root.filename, "dtype": values.dtype, "offset": offset, "shape": values.shape}


def _stamp_of(values: Any) -> tuple[int, ...] | None:
    """Return what changes when the file of a memory map does.

    (-1,) if the file is gone; None without a file.
    """
    root = memory_map_of(values)
    if root is None or root.filename is None:
        return None
    try:
        found = os.stat(root.filename)
    except OSError:
        return (-1,)
    return found.st_ino, found.st_size, found.st_mtime_ns


def _distinct_of(block: Array) -> Counted | None:
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


def _joined(one: Counted, other: Counted) -> Counted:
    """Return the distinct numbers of two blocks together, and their counts."""
    if np.array_equal(one[0], other[0]):
        return one[0], one[1] + other[1]
    values, where = np.unique(np.concatenate([one[0], other[0]]), return_inverse=True)
    return values, np.bincount(where.ravel(), weights=np.concatenate([one[1], other[1]])).astype(np.int64)


def _hashed(sha: Any, blocks: Iterable[Array]) -> Any:
    for block in blocks:
        sha.update(np.ascontiguousarray(block).view(np.uint8).data)
    return sha


def _ended(sha: Any, after: Sequence[bytes]) -> list[bytes]:
    ends = []
    for ending in after:
        end = sha.copy()
        end.update(ending)
        ends.append(end.digest())
    return ends


def _chunks(column: Column, leader: Column) -> Iterable[Any]:
    """Return the rows of each chunk of the leader: of Dask as they come, others as columns of their own."""
    sizes = leader.source.chunks
    if is_dask(column.source):
        parts = column.source.rechunk(sizes).to_delayed().tolist()
        return [(part, column.convert, column.dtype, column.block_rows) for part in parts]
    ends = np.cumsum(sizes[0]).tolist()
    return [column.rows(slice(a, b)) for a, b in zip([0, *ends[:-1]], ends, strict=True)]


def _computed(size: int, chunk: Any) -> Column:
    """Return a chunk of so many rows as a column, once Dask has computed it."""
    column = chunk if isinstance(chunk, Column) else Column(*chunk)
    if column.shape != (size,) or np.ndim(column.source) != 1:
        raise UnreadableRowsError(
            f"A chunk of {size:,} rows of a Dask array is of shape {np.shape(column.source)} once computed."
        )
    return column


def _over_chunk(function: Callable[..., Any], size: int, chunk: list[Any]) -> list[Any]:
    return over_blocks(function, *(_computed(size, part) for part in chunk))


def _hashed_chunk(sha: Any, size: int, chunk: Any) -> Any:
    return _hashed(sha.copy(), _computed(size, chunk).blocks())  # a copy, as Dask may do a task again


def _hashed_by_dask(column: Column, before: bytes, after: Sequence[bytes]) -> list[bytes]:
    """Return the hash from a chain of tasks, all on one worker: its state cannot be pickled."""
    import dask

    where, wait = _one_worker()
    sha = dask.delayed(partial(hashlib.sha256, before))()
    waiting = 0
    for size, chunk in zip(column.source.chunks[0], _chunks(column, column), strict=True):
        if waiting + size > _WINDOW:
            (sha,) = dask.persist(sha, **where)
            wait(sha)
            waiting = 0
        sha = dask.delayed(_hashed_chunk)(sha, size, chunk)
        waiting += size
    (made,) = dask.persist(dask.delayed(partial(_ended, after=list(after)))(sha), **where)
    wait(made)
    (ends,) = dask.compute(made, **where)
    return list(ends)


def _one_worker() -> tuple[dict[str, Any], Callable[[Any], Any]]:
    """Return where tasks run that must run together, and what waits for them."""
    try:
        client: Any = sys.modules["distributed"].default_client()
    except (KeyError, ValueError):  # there is no cluster
        return {}, lambda work: None
    workers = client.nthreads()  # scheduler_info may be overwritten meanwhile by one that lists no workers
    if not workers:
        raise UnreadableRowsError("The cluster has no workers to read the rows.")
    return {"workers": [min(workers)]}, partial(_wait_for, client, min(workers))


def _wait_for(client: Any, worker: str, work: Any) -> None:
    """Wait for what one worker computes; raise if it is gone, as nobody else can go on with a hash."""
    while True:
        try:
            sys.modules["distributed"].wait(work, timeout=_PATIENCE)
            return
        except TimeoutError:
            if worker not in client.nthreads():
                raise UnreadableRowsError("The worker that hashed the rows is gone: ask again.") from None
