"""Blocks of rows as matrices, and the few sums that every metric takes of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Blocks", "chunks", "encode", "ratio"]

Array = NDArray[Any]

# Blocks are taken in chunks whose temporaries stay within this, whatever the size of the holdout; it also
# keeps them in the processor's cache. No result depends on it.
CHUNK_BYTES = 2**22


def chunks(n_blocks: int, block_bytes: int) -> list[slice]:
    """Cut the blocks, of so many bytes each, into runs that fit into `CHUNK_BYTES`; of one block at least."""
    step = max(1, CHUNK_BYTES // block_bytes)
    return [slice(start, min(start + step, n_blocks)) for start in range(0, n_blocks, step)]


def encode(values: Array, labels: Array) -> tuple[Array, Array]:
    """Return the position of each value in the sorted ``labels``, and whether it is one of them."""
    last = len(labels) - 1
    if values.dtype.kind in "biu" and labels.dtype.kind in "biu" and int(labels[-1]) - int(labels[0]) == last:
        codes = values.astype(np.intp) - int(labels[0])  # consecutive integers need no search
        known = (codes >= 0) & (codes <= last)
        return (codes if known.all() else codes.clip(0, last)), known
    codes = np.minimum(labels.searchsorted(values), last)
    return codes, labels[codes] == values


def ratio(numerator: Array, denominator: Array) -> Array:
    """Return the quotient, and 0 where the denominator is (scikit-learn's ``zero_division``)."""
    return np.where(denominator == 0, 0.0, numerator / denominator)


@dataclass(frozen=True)
class Blocks:
    """Some blocks of equal size, one in each row.

    Attributes
    ----------
    y_true : ndarray of shape (n_blocks, block_size)
    outputs : ndarray of shape (n_blocks, block_size) or (n_blocks, block_size, n_classes)
    weight : float ndarray of shape (n_blocks, block_size) or None
    labels : ndarray of shape (n_classes,)
        Sorted; empty for a metric without classes.
    positive : int
        Position of the positive class in ``labels``.
    room : float ndarray of shape (n_blocks, block_size) or None
        For `error` of numbers; the same for all chunks, as fresh memory costs more than the arithmetic.
    """

    y_true: Array
    outputs: Array
    weight: Array | None
    labels: Array
    positive: int
    room: Array | None = None

    @cached_property
    def _encoded(self) -> tuple[Array, Array]:
        return encode(self.y_true, self.labels)

    @property
    def codes(self) -> Array:
        """Positions of the true classes in ``labels``."""
        return self._encoded[0]

    @property
    def has_unknown(self) -> Array:
        """Whether a block holds a true class that is not one of ``labels``."""
        return np.asarray(~self._encoded[1].all(axis=1))

    @cached_property
    def size(self) -> Array | float:
        """Total weight of each block."""
        return float(self.y_true.shape[1]) if self.weight is None else self.weight.sum(axis=1)

    @property
    def error(self) -> Array:
        """The true less the predicted numbers; each use overwrites the last."""
        return np.subtract(self.y_true, self.outputs, out=self.room)

    def total_square(self, values: Array) -> Array:
        """Return the weighted sum of squares of each block; overwrites the values."""
        if self.weight is None and values.dtype == np.float64:  # one pass; too coarse in single precision
            return np.einsum("ij,ij->i", values, values)
        return self.total(np.multiply(values, values, out=values))

    def total(self, values: Array) -> Array:
        """Return the weighted sum of each block."""
        if self.weight is None:
            return values.sum(axis=1)
        return np.multiply(values, self.weight).sum(axis=1)

    def mean(self, values: Array) -> Array:
        """Return the weighted mean of each block."""
        if self.weight is None:
            return values.mean(axis=1)
        return self.total(values) / self.size
