"""Columns of more rows than fit into memory: one number for each row, read a block of rows at a time.

A column lies in an array, in a memory-mapped file or in the chunks of a Dask array or series. Whatever is
asked of it is one pass over its blocks. Counts add up in any order, and a hash of all bytes is carried on
from block to block, so nothing depends on where a block ends. The pages of a file are given back once they
were read. Blocks of Dask are read where Dask computes: on a cluster a block never comes to the client, only
what was counted in it; and the hash stays on one worker, to which the others send their blocks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada.metrics.data.dask_tasks import carried_on, of_each_chunk
from sklearn_ada.metrics.data.distinct import distinct_of, joined
from sklearn_ada.metrics.data.elsewhere import (
    UnreadableRowsError,
    file_of,
    is_dask,
    opened,
    release,
    stamp_of,
)

__all__ = ["LEAST_ROWS", "Column", "as_column", "column_of", "over_blocks"]

Array = NDArray[Any]

LEAST_ROWS = 2**16
"""Arrays and files of fewer rows are read at once."""
BLOCK_ROWS = 2**17
"""Rows in a block: its temporaries stay in the processor's cache."""


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
        What told the file of the rows from a changed one when they were first seen; None looks at it now.

    Examples
    --------
    >>> column = Column(np.array([2, 0, 2], dtype=np.int8))
    >>> column.values.tolist(), column.counts.tolist()
    ([0, 2], [1, 2])
    >>> column.sha256()[0] == hashlib.sha256(np.array([2, 0, 2], dtype=np.int8)).digest()
    True
    """

    def __init__(
        self,
        source: Any,
        convert: Callable[[Array], Array] | None = None,
        dtype: Any = None,
        block_rows: int = BLOCK_ROWS,
        stamp: tuple[int, ...] | None = None,
    ) -> None:
        self.source, self.block_rows = source, block_rows
        self._stamp = stamp_of(source) if stamp is None else stamp
        self.dtype: np.dtype[Any] = np.dtype(source.dtype if dtype is None else dtype)
        self._convert = convert

    @property
    def shape(self) -> tuple[int]:
        """The number of rows, as an array has it."""
        return (int(self.source.shape[0]),)

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if self._is_dask:
            whole = np.concatenate(over_blocks(_itself, self))
        elif self._convert is None:
            self.check_unchanged()
            whole = np.asarray(self.source)
        else:
            whole = np.concatenate(list(self.blocks()))
        return whole if dtype is None else whole.astype(dtype, copy=False)

    def __getstate__(self) -> dict[str, Any]:
        file = file_of(self.source)  # pickled, a memory map would be its rows
        return {**self.__dict__, "source": self.source if file is None else file}

    def __setstate__(self, state: dict[str, Any]) -> None:
        source = state["source"]
        if not isinstance(source, dict):
            self.__dict__.update(state)
            return
        try:
            self.__dict__.update(state, source=opened(source))
        except (OSError, ValueError) as error:
            raise UnreadableRowsError(f"{error}. A pickle of rows in a file holds its name only.") from error
        self.check_unchanged()

    def converted(self, convert: Callable[[Array], Array], dtype: Any) -> Column:
        """Return the column of what a function makes of the source's numbers."""
        assert self._convert is None
        return Column(self.source, convert, dtype, self.block_rows, self._stamp)

    def rows(self, part: slice) -> Column:
        """Return the column of some rows."""
        return Column(self.source[part], self._convert, self.dtype, self.block_rows, self._stamp)

    def check_unchanged(self) -> None:
        """Raise `UnreadableRowsError` if the file of the rows is gone, or has changed since."""
        if self._stamp is not None and stamp_of(self.source) != self._stamp:
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
            release(rows)
        self.check_unchanged()

    def sha256(self, before: bytes = b"", after: Sequence[bytes] = (b"",)) -> list[bytes]:
        """Return the hash of some bytes, those of all rows, and each of some endings."""
        try:
            if self._is_dask:
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
        return self.dtype.kind != "f" or all(over_blocks(_is_finite, self))

    @cached_property
    def _distinct(self) -> tuple[Array, NDArray[np.int64]] | None:
        found: tuple[Array, NDArray[np.int64]] | None = None
        for block in over_blocks(distinct_of, self):
            if block is None:
                return None
            found = block if found is None else joined(found, block)
        return found

    @property
    def _is_dask(self) -> bool:
        return is_dask(self.source)

    def _made_of(self, rows: Array) -> Array:
        if np.ma.isMaskedArray(rows):
            raise ValueError("Labels may not be masked: leave such rows out.")
        return np.asarray(rows) if self._convert is None else self._convert(np.asarray(rows))


def column_of(values: Any) -> Column | None:
    """Return values that are read block by block as a column, None for others.

    That is numbers, one for each row: in a Dask array or series, or more than `LEAST_ROWS` in an array or a
    memory-mapped file.
    """
    if is_dask(values):
        values = values.to_dask_array(lengths=True) if hasattr(values, "to_dask_array") else values
        if not hasattr(values, "compute_chunk_sizes"):
            return None
        if values.ndim == 1 and np.isnan(values.shape[0]):
            values = values.compute_chunk_sizes()
    elif not isinstance(values, np.ndarray) or np.ma.isMaskedArray(values) or values.size <= LEAST_ROWS:
        return None
    is_column = values.ndim == 1 and len(values) > 0
    return (
        Column(values) if is_column and values.dtype.kind in "biuf" and values.dtype.itemsize <= 8 else None
    )


def as_column(values: Column | Array) -> Column:
    """Return a column as it is, and an array as one."""
    return values if isinstance(values, Column) else Column(values)


def over_blocks(function: Callable[..., Any], *columns: Column) -> list[Any]:
    """Return what a function makes of each block of rows of some columns of one length.

    Examples
    --------
    >>> said = Column(np.array([1, 0, 1]))
    >>> int(sum(over_blocks(np.count_nonzero, said)))
    2
    """
    leader = next((column for column in columns if column._is_dask), None)
    if leader is None:
        blocks = zip(*(column.blocks(columns[0].block_rows) for column in columns), strict=True)
        return [function(*block) for block in blocks]
    of_chunks = map(list, zip(*(_chunks(column, leader) for column in columns), strict=True))
    made = of_each_chunk(partial(_over_chunk, function), leader.source.chunks[0], of_chunks)
    return [each for chunk in made for each in chunk]


def _chunks(column: Column, leader: Column) -> Iterable[Any]:
    """Return the rows of each chunk of the leader: of Dask as they come, others as columns of their own."""
    sizes = leader.source.chunks
    if column._is_dask:
        parts = column.source.rechunk(sizes).to_delayed().tolist()
        return [(part, column._convert, column.dtype, column.block_rows) for part in parts]
    ends = np.cumsum(sizes[0]).tolist()
    return [column.rows(slice(a, b)) for a, b in zip([0, *ends[:-1]], ends, strict=True)]


def _over_chunk(function: Callable[..., Any], size: int, chunk: list[Any]) -> list[Any]:
    columns = [part if isinstance(part, Column) else Column(*part) for part in chunk]
    for column in columns:
        _check_length(column, size)
    return over_blocks(function, *columns)


def _hashed(state: Any, blocks: Iterable[Array]) -> Any:
    for block in blocks:
        state.update(np.ascontiguousarray(block).view(np.uint8).data)
    return state


def _check_length(chunk: Column, size: int) -> None:
    if chunk.shape != (size,) or np.ndim(chunk.source) != 1:
        raise UnreadableRowsError(
            f"A chunk of {size:,} rows of a Dask array is of shape {np.shape(chunk.source)} once computed."
        )


def _hashed_chunk(state: Any, size: int, chunk: tuple[Any, ...]) -> Any:
    column = Column(*chunk)
    _check_length(column, size)
    return _hashed(state.copy(), column.blocks())  # a copy, as Dask may do a task again


def _ended(state: Any, after: Sequence[bytes]) -> list[bytes]:
    ends = []
    for ending in after:
        end = state.copy()
        end.update(ending)
        ends.append(end.digest())
    return ends


def _hashed_by_dask(column: Column, before: bytes, after: Sequence[bytes]) -> list[bytes]:
    """Return the hash from a chain of tasks, all on one worker: its state cannot be pickled."""
    begin, end = partial(hashlib.sha256, before), partial(_ended, after=list(after))
    ends = carried_on(begin, _hashed_chunk, end, column.source.chunks[0], _chunks(column, column))
    return list(ends)


def _itself(block: Array) -> Array:
    return np.array(block)


def _is_finite(block: Array) -> bool:
    return bool(np.isfinite(block).all())
