"""How a model is asked about rows whose labels are read block by block: what it says is a column, too."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada.metrics.data.columns import Column, as_column
from sklearn_ada.metrics.data.elsewhere import is_dask, lies_elsewhere, release, scratch
from sklearn_ada.metrics.data.rows import n_rows, take_rows
from sklearn_ada.metrics.outputs.asking import Given, available_response, rows_in_chunk, said_of
from sklearn_ada.metrics.outputs.forms import UnusableOutputsError

__all__ = ["predicted_column"]

Array = NDArray[Any]
Judge = Callable[[Array, str, Any], Array]


def predicted_column(estimator: Any, X: Any, y: Column, methods: tuple[str, ...], judged: Judge) -> Column:
    """Return what the first available method says of rows whose labels are read block by block.

    Outputs of rows that lie elsewhere do so, too: in a temporary file, or where Dask computes them.

    Parameters
    ----------
    estimator : fitted estimator
    X : array-like, frame, sparse matrix, list or Dask array
    y : Column
        Labels of the rows.
    methods : tuple of str
    judged : callable
        Takes outputs, the name of the method and the labels of a chunk; returns one label for each row.
    """
    if isinstance(estimator, Given):
        return as_column(estimator.known_outputs)
    method = available_response(estimator, methods)

    def of_chunk(rows: Any, labels: Column) -> Array:
        return judged(said_of(getattr(estimator, method), rows), method, labels)

    if is_dask(X):
        return Column(_predicted_by_dask(of_chunk, X, y.dtype))
    n, step = n_rows(X), rows_in_chunk(X)
    outputs = np.empty(0)
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        chunk = take_rows(X, rows)
        part = of_chunk(chunk, y.rows(rows))
        if start == 0:
            outputs = scratch(n, part.dtype) if lies_elsewhere(y.source) else np.empty(n, dtype=part.dtype)
        if part.dtype != outputs.dtype:
            raise UnusableOutputsError("The outputs are of several types.")
        outputs[rows] = part
        release(chunk)
        release(outputs[rows])
    return Column(outputs)


def _predicted_by_dask(of_chunk: Callable[[Any, Column], Array], X: Any, dtype: np.dtype[Any]) -> Any:
    """Return the Dask array of what is said of each chunk of rows of another, kept where it is computed.

    ``dtype`` is that of the labels of the rows.
    """
    import dask

    rows = X.rechunk(dict.fromkeys(range(1, X.ndim), -1))
    said = partial(_of_dask_chunk, of_chunk, dtype)
    filled = next((number for number, size in enumerate(X.chunks[0]) if size), 0)
    (first,) = dask.compute(dask.delayed(_dtype_of)(said, rows.blocks[filled]))
    made = rows.map_blocks(
        partial(_or_nothing, said, first),
        dtype=first,
        drop_axis=list(range(1, X.ndim)),
        meta=np.empty(0, dtype=first),
    )
    (kept,) = dask.persist(made)
    return kept


def _of_dask_chunk(of_chunk: Callable[[Any, Column], Array], dtype: np.dtype[Any], rows: Array) -> Array:
    labels = Column(np.broadcast_to(np.zeros((), dtype=dtype), (len(rows),)))  # only their number is read
    return of_chunk(rows, labels)


def _or_nothing(said: Callable[[Array], Array], dtype: np.dtype[Any], rows: Array) -> Array:
    return said(rows) if len(rows) else np.empty(0, dtype=dtype)  # no model is asked about no rows


def _dtype_of(said: Callable[[Array], Array], rows: Array) -> np.dtype[Any]:
    return said(rows).dtype
