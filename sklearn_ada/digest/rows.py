"""Digests of rows: the same values have the same digest, whether in an array, a frame or a list."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada._checks import bad_parameter
from sklearn_ada.digest.canonical import Floats, Undigestible, canonical_digest
from sklearn_ada.metrics.data.columns import Column
from sklearn_ada.metrics.data.labels import NUMBERS
from sklearn_ada.metrics.data.rows import n_rows, take_rows

__all__ = ["content_digest", "labels_digest", "rows_digest"]

_BLOCK_CELLS = 2**17  # of a sparse matrix that are made dense at a time
_DENSE_CELLS = 2**28  # 2 GiB as floats, read in a second or two


def content_digest(X: Any, y: Any) -> str:
    """Return the digest of the values of some rows and labels, whatever their container or number type.

    Arrays, lists, frames and sparse matrices of the same values have the same digest; names of columns and of
    rows do not count. Exceptions: a sparse matrix with more than ``2**28`` entries, zeros included, differs
    from the dense array (but all sparse formats agree); numbers that NumPy has turned into text are text; and
    dates of NumPy differ from those of datetime and pandas.

    Raises
    ------
    ValueError
        If X holds objects whose content cannot be read.

    Examples
    --------
    >>> y = [0, 1]
    >>> content_digest([[1, "a"], [2, "b"]], y) == content_digest(np.array([[1.0, "a"], [2.0, "b"]], "O"), y)
    True
    """
    try:
        return canonical_digest((_values(X), _values(y)))
    except Undigestible as error:
        raise bad_parameter("X", "Holdout", "made of readable values", type(X).__name__) from error


def labels_digest(y: Any) -> str:
    """Return the digest of labels and their order, whatever their container or number type.

    Examples
    --------
    >>> labels_digest([0, 1]) == labels_digest(np.array([False, True])) == labels_digest(np.array([0.0, 1.0]))
    True
    >>> labels_digest([0, 1]) == labels_digest([1, 0])
    False
    """
    return canonical_digest(("labels", _values(y)))


def rows_digest(X: Any, y: Any) -> str:
    """Return a quick digest of some rows: of up to 256 of them, evenly spread, and of all labels.

    It tells which rows a guess is from, where an error does no harm but to charge a question.
    """
    n = n_rows(X)
    some = np.unique(np.linspace(0, max(n - 1, 0), min(n, 256)).astype(np.int64))
    return content_digest(take_rows(X, some), y)


def _values(data: Any) -> Any:
    """Return numbers as floats, text as objects, and a table of both as its columns."""
    if hasattr(data, "tocsr"):
        return _of_sparse(data)
    if isinstance(data, Column):
        return data.converted(_floats, np.float64)
    array = np.asarray(data)
    if array.dtype.kind in "US":  # NumPy turns the numbers of a mixed list into text: read them as objects
        array = np.asarray(data if isinstance(data, (list, tuple)) else array, dtype=object)
    if array.dtype.kind in "biuf":
        return _floats(array)
    return _of_objects(data, array) if array.dtype.kind == "O" else array


def _floats(array: NDArray[Any]) -> NDArray[np.float64]:
    return array.astype(np.float64) + 0.0  # -0.0 is 0.0


def _of_sparse(matrix: Any) -> Any:
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        return matrix
    rows = matrix.tocsr().astype(np.float64)  # a copy, to be put in order
    rows.sum_duplicates()
    rows.eliminate_zeros()
    n, width = rows.shape
    if n * width > _DENSE_CELLS:
        return "sparse", (n, width), rows.data, rows.indices.astype(np.int64), rows.indptr.astype(np.int64)

    def blocks() -> Iterator[NDArray[np.float64]]:
        step = max(_BLOCK_CELLS // max(width, 1), 1)
        block = np.zeros((min(step, n), width))
        for start in range(0, n, step):
            ends = rows.indptr[start : start + step + 1]
            at = np.repeat(np.arange(len(ends) - 1), np.diff(ends)), rows.indices[ends[0] : ends[-1]]
            block[at] = rows.data[ends[0] : ends[-1]]
            yield block[: len(ends) - 1]
            block[at] = 0.0

    return Floats((n, width), blocks)


def _of_objects(data: Any, array: NDArray[Any]) -> Any:
    columns = list(array.T) if array.ndim == 2 else [array.ravel()]
    if hasattr(data, "iloc") and array.ndim == 2:  # a frame's number columns need not be read as objects
        for j, dtype in enumerate(data.dtypes):
            if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
                columns[j] = np.asarray(data.iloc[:, j])
    read = [_of_column(column) for column in columns]
    kinds = {column.dtype.kind for column in read}
    if len(kinds) == 2:
        return "columns", array.shape, read
    whole = np.empty(array.shape, dtype=np.float64 if kinds == {"f"} else object)
    for column, values in zip(whole.T if array.ndim == 2 else [whole.reshape(-1)], read, strict=True):
        column[:] = values
    return whole


def _of_column(column: NDArray[Any]) -> NDArray[Any]:
    """Return values as floats if all are numbers, else as objects with numbers as floats."""
    if column.dtype.kind in "biuf":
        return _floats(column)
    values = column.tolist()
    try:
        if all(issubclass(kind, NUMBERS) for kind in set(map(type, values))):
            return _floats(np.array(values, dtype=np.float64))
    except OverflowError:  # of an integer
        pass
    return np.fromiter(map(_plain, values), dtype=object, count=len(values))


def _plain(value: Any) -> Any:
    if type(value) is str:
        return value
    if isinstance(value, datetime.date):  # datetimes and pandas' timestamps, too
        return b"date " + value.isoformat().encode()
    if isinstance(value, NUMBERS):
        try:
            return float(value) + 0.0
        except OverflowError:
            return value
    return str(value) if isinstance(value, np.str_) else value
