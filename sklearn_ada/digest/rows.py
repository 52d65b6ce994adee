"""Recognise rows: by ids, and by values.

The same values have the same digest in an array, a frame or a list, and so have the same ids. An id is a
whole number, a text, bytes or a date, and an id of one of these kinds is none of another: 1 is not "1". They
are public: whoever has an id can compute its hash. What a ledger keeps of them is keyed with its secret.
"""

from __future__ import annotations

import datetime
import hashlib
import uuid
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada._validation import bad_parameter
from sklearn_ada.data.columns import Column
from sklearn_ada.data.labels import NUMBERS, is_missing, n_rows, take_rows
from sklearn_ada.digest.canonical import Floats, canonical_digest
from sklearn_ada.digest.code import Undigestible

_KINDS = "whole numbers, texts, bytes or dates, known for every row"
_LARGE = "floats so large that they stand for several whole numbers"
_PARTS = "floats that are no whole numbers"
_FAR = "dates that NumPy does not hold exactly in nanoseconds"
_FIX = {
    _LARGE: "From 2**53 on (2**24 in 32 bits) two ids may be one float: read them as integers or texts.",
    _FAR: "Those of the years 1678 to 2261 it does, to the nanosecond: turn others into texts.",
}
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MICROSECOND = datetime.timedelta(microseconds=1)
_BLOCK_CELLS = 2**17  # of a sparse matrix that are made dense at a time
_DENSE_CELLS = 2**28  # 2 GiB as floats, read in a second or two
_FEW_COPIES, _SHARE_OF_COPIES = 10, 0.02  # of rows that occur more than once, of which nobody is warned

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def id_hashes(ids: Any, owner: str, n: int | None = None, name: str = "ids") -> NDArray[np.bytes_]:
    """Return a hash of 32 hexadecimal digits for each id.

    A whole number has the same hash as an int, as one of NumPy's integers and as a float (pandas turns a
    column with gaps into floats). Refused are floats so large that several whole numbers share one, and dates
    that nanoseconds since 1970 cannot hold.

    Parameters
    ----------
    ids : array-like of shape (n,)
    owner : str
        Name of the function or class, for error messages.
    n : int or None, default=None
        Number of rows; None does not check it.
    name : str, default="ids"
        Name of the parameter, for error messages.

    Raises
    ------
    ValueError
        If there are not n of them, or if some are missing or of another kind.

    Examples
    --------
    >>> one, same, text = id_hashes([1, np.float64(1.0), "1"], "Holdout")
    >>> bool(one == same), bool(one == text)
    (True, False)
    """
    if isinstance(ids, np.ma.MaskedArray):
        ids = np.ma.filled(ids.astype(object), None)
    # NumPy turns the numbers of a mixed list into text: read them as objects.
    values = np.asarray(ids, dtype=object if isinstance(ids, (list, tuple)) else None)
    if values.ndim != 1 or n not in (None, len(values)):
        raise bad_parameter(name, owner, "one id for each row", f"an array of shape {values.shape}")
    # As a list, dates and floats of NumPy would be Python's, and no longer tell how exact they are.
    plain = list(values) if values.dtype.kind in "Mf" else values.tolist()
    texts = [_text(value) for value in plain]
    missing = texts.count(None)
    if missing:
        fix = "Leave these rows out, or number them."
        raise bad_parameter(name, owner, _KINDS, f"{missing} missing ids", fix)
    others = sorted({type(v).__name__ for v, t in zip(plain, texts, strict=True) if t == b""})
    if others:
        is_joined = {"tuple", "list", "ndarray"}.issuperset(others)
        fix = "Join several columns into one text." if is_joined else "Turn them into texts."
        raise bad_parameter(name, owner, _KINDS, f"values of type {', '.join(others)}", fix)
    inexact = [text for text in texts if isinstance(text, str)]
    if inexact:
        got = min(inexact)
        raise bad_parameter(name, owner, _KINDS, got, _FIX.get(got, "Turn them into texts."))
    hashed = partial(hashlib.blake2b, digest_size=16, person=b"ada id")
    return np.array([hashed(text).hexdigest() for text in texts if isinstance(text, bytes)], dtype="S32")


def part_of_each(hashes: NDArray[np.bytes_], seed: int | None) -> NDArray[np.float64]:
    """Return a pseudorandom number in [0, 1) for each hashed id.

    It depends on the id and the seed alone. So the rows whose number is below a share are about that share of
    the rows, and no row changes sides when other rows come or go.
    """
    start = hashlib.blake2b(f"{seed}".encode(), digest_size=8, person=b"ada split")

    def part(one: bytes) -> int:
        whole = start.copy()
        whole.update(one)
        return int.from_bytes(whole.digest(), "big")

    return np.array([part(one) for one in hashes.tolist()], dtype=np.uint64) / 2.0**64


def content_digest(X: Any, y: Any) -> str:
    """Return the digest of the values of some rows and labels.

    Neither the container nor the type of numbers counts.

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


def _text(value: Any) -> bytes | str | None:
    """Return what is hashed of an id.

    None if it is missing, nothing if it is of no kind of ids, and what is wrong, as str, if it is inexact.
    """
    if isinstance(value, (str, bytes)) and not value.strip():
        return None
    if isinstance(value, (str, uuid.UUID)):
        return b"text" + str(value).encode("utf-8", "surrogatepass")
    if isinstance(value, bytes):
        return b"bytes" + value
    if is_missing(value):
        return None
    if isinstance(value, (bool, np.bool_)):
        return b""
    if isinstance(value, (int, np.integer)):
        return b"int%d" % int(value)
    if isinstance(value, (float, np.floating)):
        if not np.isfinite(value) or value != np.floor(value):
            return _PARTS
        exact = np.finfo(type(value)).nmant + 1  # bits
        return b"int%d" % int(value) if abs(int(value)) < 2**exact else _LARGE
    if isinstance(value, np.datetime64):
        try:
            same = value.astype("datetime64[ns]")
        except OverflowError:
            return _FAR
        return b"date%d" % same.astype(np.int64) if same.astype(value.dtype) == value else _FAR
    if isinstance(value, datetime.date):
        if not isinstance(value, datetime.datetime):
            value = datetime.datetime.combine(value, datetime.time())
        aware = value if value.tzinfo is not None else value.replace(tzinfo=datetime.UTC)
        since = (aware - _EPOCH) // _MICROSECOND * 1000 + getattr(value, "nanosecond", 0)
        return b"date%d" % since if abs(since) < 2**63 else _FAR
    return b""


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
    read = [readable(column) for column in columns]
    kinds = {column.dtype.kind for column in read}
    if len(kinds) == 2:
        return "columns", array.shape, read
    whole = np.empty(array.shape, dtype=np.float64 if kinds == {"f"} else object)
    for column, values in zip(whole.T if array.ndim == 2 else [whole.reshape(-1)], read, strict=True):
        column[:] = values
    return whole


def readable(column: NDArray[Any]) -> NDArray[Any]:
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


def row_hashes(
    X: Any, change: Callable[[NDArray[Any]], NDArray[Any]] | None = None, *, ordered: bool = True
) -> NDArray[np.uint64]:
    """Return a 64-bit hash of every row, the same in every process and container.

    ``change`` is what is made of each column before; ``ordered`` says whether the order of columns counts.

    Examples
    --------
    >>> hashes = row_hashes(np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]]))
    >>> bool(hashes[0] == hashes[2]), bool(hashes[0] == hashes[1])
    (True, False)
    """
    total = np.zeros(n_rows(X), dtype=np.uint64)
    with np.errstate(over="ignore"):
        if hasattr(X, "tocsr"):
            matrix = X.tocsr()
            values = matrix.data if change is None else change(matrix.data)
            entries = _entries(values, matrix.indices if ordered else np.zeros_like(matrix.indices))
            np.add.at(total, np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), entries)
            return total
        for j, column in enumerate(columns_of(X)):
            total += _entries(column if change is None else change(column), np.array([j if ordered else 0]))
    return total


def copies_beyond_chance(X: Any, groups: Any = None) -> int:
    """Return how many rows occur more than once, or 0 if that may be chance.

    It may be if few do, or if half as many would where each column is in an order of its own: rows of a few
    discrete columns are often equal. Columns that number the rows, or say when they came, do not count.

    Parameters
    ----------
    X : array-like of shape (n, ...)
    groups : array-like of shape (n,) or None, default=None
        Then rows count of which a copy is in another group.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 2))
    >>> copies_beyond_chance(np.vstack([X, X[:20]]))
    40
    >>> copies_beyond_chance(np.vstack([X, X[:20]]), [*range(100), *range(20)])
    0
    >>> copies_beyond_chance(rng.integers(2, size=(100, 2)))
    0
    """
    if hasattr(X, "tocsr"):  # of many columns, of which no row is like another by chance
        return _beyond_a_few(_count_copies(row_hashes(X), groups), n_rows(X))
    rng, (total, by_chance) = np.random.default_rng(0), np.zeros((2, n_rows(X)), dtype=np.uint64)
    with np.errstate(over="ignore"):
        for j, column in enumerate(columns_of(X)):
            if not _numbers_rows(column):
                entries = _entries(column, np.array([j]))
                total += entries
                by_chance += rng.permutation(entries)
    copies = _beyond_a_few(_count_copies(total, groups), n_rows(X))
    return copies if _count_copies(by_chance, groups) < copies / 2 else 0


def _beyond_a_few(copies: int, n: int) -> int:
    return copies if copies > max(_FEW_COPIES, _SHARE_OF_COPIES * n) else 0


def _numbers_rows(column: NDArray[Any]) -> bool:
    """Return whether a column is of whole numbers or times of which no two are equal."""
    if column.dtype.kind == "f" and len(column) and not (column == np.floor(column)).all():
        return False
    return column.dtype.kind in "iufmM" and len(np.unique(column)) == len(column)


def _count_copies(hashes: NDArray[np.uint64], groups: Any) -> int:
    """Return how many rows have a copy; with groups, one in another group."""
    _, of_row, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    if groups is None:
        return int(counts[counts > 1].sum())
    seen: dict[Any, int] = {}  # of any types, some of them missing: that is refused later
    numbers = [seen.setdefault(group, len(seen)) for group in np.asarray(groups, dtype=object).tolist()]
    pairs = np.unique(np.column_stack([of_row.reshape(-1), numbers]), axis=0)
    in_several = np.bincount(pairs[:, 0], minlength=len(counts)) > 1
    return int(counts[in_several].sum())


def _entries(values: NDArray[Any], columns: NDArray[Any]) -> NDArray[np.uint64]:
    """Return what each value adds to its row's hash; zeros add nothing, so sparse and dense rows agree."""
    mixed = _mix(_bits(values) + (columns.astype(np.uint64) + np.uint64(1)) * _GOLDEN)
    if values.dtype.kind in "biuf":
        mixed[values == 0] = 0
    return mixed


def columns_of(X: Any) -> list[NDArray[Any]]:
    """Return the columns of a table as arrays."""
    if hasattr(X, "iloc") and X.ndim == 2:
        return [np.asarray(X.iloc[:, j]) for j in range(X.shape[1])]
    if hasattr(X, "get_columns"):
        return [np.asarray(column) for column in X.get_columns()]
    array = np.asarray(X)
    return list(array.reshape(len(array), -1).T)


def _bits(column: NDArray[Any]) -> NDArray[np.uint64]:
    """Return 64 bits for every value, equal for equal values of any numeric type."""
    if column.dtype.kind in "biuf":
        plain = _floats(column)
        plain[np.isnan(plain)] = np.nan
        return plain.view(np.uint64)

    @cache
    def bits_of(text: str) -> int:
        hashed = hashlib.blake2b(text.encode("utf-8", "backslashreplace"), digest_size=8)
        return int.from_bytes(hashed.digest(), "little")

    return np.array([bits_of(repr(value)) for value in column.tolist()], dtype=np.uint64)


def _mix(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Finalise as splitmix64 does, so that a sum over columns tells rows apart."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
