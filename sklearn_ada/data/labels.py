"""Check and read labels, rows and weights, whatever holds them: arrays, frames, sparse matrices, lists.

Labels held as objects, such as a column of a mixed frame, are read as the numbers or the text that they
are, whoever gives them: the rows of a holdout, guess rows, or a model. Rows are whatever scikit-learn
accepts as X. `Units` are what counts together, and how much each row counts. Messages name shapes and
types, never values of the rows.
"""

from __future__ import annotations

import math
import mmap
from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada._validation import bad_parameter, counted, or_none, real
from sklearn_ada.guarantees.intervals import bounded_weight_size, kish_size

Array = NDArray[Any]

Subsamples = NDArray[np.integer] | Sequence[NDArray[np.integer]]
"""Row numbers of several subsamples: a matrix, or one array for each if their sizes differ."""
NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)
"""Types of one real number."""
PIECE = 2**16
"""Labels are looked at in pieces of so many rows, to keep temporaries small."""

LEAST_ROWS = 2**16
"""Arrays and files of fewer rows are read at once."""

_LEAVE_OUT = "Leave these rows out, or find out what is missing."
_GROWTH = 1.05  # mean weights are distinguished to five percent


def check_labels(y: Any, owner: str = "Holdout") -> Array:
    """Return y as a one-dimensional, non-empty array without missing or infinite values, or raise ValueError.

    Examples
    --------
    >>> check_labels(np.array(["no", "yes"], dtype=object)).dtype
    dtype('<U3')
    """
    refused = partial(bad_parameter, "y", owner)
    if y is None:
        raise refused("the labels of the rows of X", None)
    if np.ma.is_masked(y):
        raise refused("finite", "masked values")
    labels = np.asarray(y)
    kind = labels.dtype.kind
    if labels.ndim != 1:
        raise refused("one-dimensional", f"an array of shape {labels.shape}")
    if len(labels) == 0:
        raise bad_parameter("X", owner, "non-empty", "0 rows")
    if kind == "c":
        raise refused("real", "complex values", "Complex data not supported.")
    if kind == "S":
        raise refused("of numbers only, or of text only", "bytes", "Decode it, as in y.astype(str).")
    if kind == "O":
        missing = sum(is_missing(v) or (isinstance(v, Real) and not math.isfinite(v)) for v in labels)
    else:
        missing = 0 if all_finite(labels) else int(np.sum(~np.isfinite(labels)))
    if missing:
        raise refused("finite", f"missing, NaN or infinite values in {counted(missing, 'row')}", _LEAVE_OUT)
    return of_one_type(labels, "y", owner)


def of_one_type(values: Array, name: str, owner: str) -> Array:
    """Return values held as objects as an array of numbers or of text.

    Arrays of another type are returned as they are.

    Raises
    ------
    ValueError
        If they are of both kinds or of neither, or no type of number holds them all.
    """
    if values.dtype.kind not in "OT":
        return values
    refused, items = partial(bad_parameter, name, owner), values.tolist()
    types = set(map(type, items))
    is_text = all(issubclass(kind, str) for kind in types)
    if not is_text and not all(issubclass(kind, NUMBERS) for kind in types):
        names = ", ".join(sorted(kind.__name__ for kind in types))
        fix = f"Convert it, as in {name}.astype(float) or {name}.astype(str)."
        raise refused("of numbers only, or of text only", f"objects of type {names}", fix)
    plain = np.array(items)
    if plain.dtype.kind != "O" and plain.tolist() == items:
        return plain
    if is_text:  # an array of text drops null characters at the end
        return values.astype(object)
    raise refused("such that 64 bits hold every number of it", "larger integers", "Number them anew.")


def labels_by_value(labels: Array) -> Array:
    """Return labels as one type for all whole numbers and one for text; others as they are.

    Examples
    --------
    >>> [labels_by_value(np.array(each)).dtype.kind for each in ([True], [1.0], ["a"], [0.5])]
    ['i', 'i', 'O', 'f']
    """
    if label_kind(labels) == "text":
        return labels.astype(object, copy=False)
    is_whole = labels.dtype.kind in "biu" or (labels.dtype.kind == "f" and are_classes(labels))
    return labels.astype(np.int64, copy=False) if is_whole else labels


def is_missing(label: Any) -> bool:
    """Return whether a label is None, NaN, NaT or pandas.NA."""
    try:
        return label is None or bool(label != label)
    except TypeError:  # pandas.NA is neither equal nor unequal
        return True


def label_kind(values: Any) -> str:
    """Return what values are: "text", "numbers", or the kind of another type; values of two never agree."""
    kind: str = values.dtype.kind
    return "text" if kind in "UTO" else "numbers" if kind in "biuf" else kind


def are_classes(values: Array) -> bool:
    """Return whether values may be class labels: no fractions, and nothing that 64 bits do not hold.

    Examples
    --------
    >>> are_classes(np.array([1.0, 3.0])), are_classes(np.array([1.0, 3.5])), are_classes(np.array([np.inf]))
    (True, False, False)
    """
    if values.dtype.kind != "f":
        return values.dtype.kind != "c"
    most = 2.0 ** (np.finfo(values.dtype).nmant + 1) - 1.0  # beyond, a float stands for several integers
    with np.errstate(invalid="ignore"):
        return all(((abs(x) <= most) & (x.astype(np.int64) == x)).all() for x in pieces(values))


def all_finite(values: Array) -> bool:
    """Return whether no value is NaN, NaT or infinite."""
    if values.dtype.kind in "mM":
        return not np.isnat(values).any()
    if values.dtype.kind not in "fc":
        return True
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):  # one pass; a sum may overflow where no value does
            return True
    return bool(np.isfinite(values).all())


def pieces(values: Array) -> Iterator[Array]:
    """Cut values into runs of `PIECE` rows."""
    return (values[start : start + PIECE] for start in range(0, len(values), PIECE))


def n_rows(X: Any) -> int:
    """Return the number of rows of any container of rows."""
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
    return X[rows] if hasattr(X, "shape") or isinstance(rows, slice) else [X[i] for i in rows]


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


class Units:
    """The independent units of a holdout, and the weights of its rows.

    Units are rows, or groups of them.

    Parameters
    ----------
    n : int
        Number of rows.
    sample_weight : array-like of shape (n,) or None
        Non-negative; None counts every row once.
    groups : array-like of shape (n,) or None
        Rows of one group are one unit; None makes each row a unit.
    weight_bound : float or None
        Largest total weight that any unit of the population can have.

    Raises
    ------
    ValueError
        For bad weights, groups or bound; the message holds none of their values.
    """

    def __init__(self, n: int, sample_weight: Any, groups: Any, weight_bound: float | None = None) -> None:
        self.has_weight, self.has_groups = sample_weight is not None, groups is not None
        self.weight = np.ones(n) if sample_weight is None else _check_weight(sample_weight, n)
        self.unit: NDArray[np.int64] = np.arange(n) if groups is None else _codes_of_groups(groups, n)
        self.n_units = int(self.unit.max()) + 1
        self.bound = or_none(real(0.0))(weight_bound, "weight_bound", "Holdout")
        if self.bound is not None and self.totals(self.weight).max() > self.bound:
            wanted = "at least the total weight of every row or group"
            fix = "It must be fixed without the holdout."
            raise bad_parameter("weight_bound", "Holdout", wanted, weight_bound, fix)

    def totals(self, per_row: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what each unit has in all."""
        return np.bincount(self.unit, weights=per_row, minlength=self.n_units).astype(np.float64)

    @cached_property
    def bucket(self) -> int:
        """The mean weight as a part of the bound, on a logarithmic scale; see `mean_share`."""
        assert self.bound is not None
        return math.ceil(-math.log(self.weight.sum() / self.n_units / self.bound) / math.log(_GROWTH) - 1e-9)

    @property
    def mean_share(self) -> float:
        """The mean weight of a unit as a part of the bound, rounded down."""
        return float(_GROWTH ** -float(self.bucket))

    def size(self, shares: NDArray[np.float64]) -> float:
        """Return how many equal rows a sum with these shares is worth, for Hoeffding."""
        if self.bound is not None:
            return bounded_weight_size(self.n_units, self.mean_share, 1.0)
        return kish_size(self.totals(shares))


def _check_weight(sample_weight: Any, n: int) -> NDArray[np.float64]:
    wanted = f"{n} finite numbers of at least 0, not all 0"
    refused = partial(bad_parameter, "sample_weight", "Holdout", wanted)
    try:
        weight = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise refused("something else") from None
    if weight.shape != (n,):
        raise refused(f"an array of shape {weight.shape}")
    if not (np.isfinite(weight).all() and (weight >= 0).all()):
        raise refused("negative, missing or infinite values")
    if not weight.any():
        raise refused("0 for every row", "Give rows that count a weight above 0, or leave sample_weight out.")
    return weight


def check_groups(groups: Any, n: int, owner: str = "Holdout") -> Array:
    """Return groups as an array of one known label for each row, or raise ValueError."""
    labels, refused = np.asarray(groups), partial(bad_parameter, "groups", owner)
    if labels.shape != (n,):
        raise refused(f"{n} labels, one for each row", f"an array of shape {labels.shape}")
    missing = sum(map(is_missing, labels.tolist()))
    if missing:
        fix = f"{_LEAVE_OUT} A row that belongs to no other can be a group of its own."
        raise refused("given for every row", f"missing values in {counted(missing, 'row')}", fix)
    return labels


def _codes_of_groups(groups: Any, n: int) -> NDArray[np.int64]:
    labels, refused = check_groups(groups, n), partial(bad_parameter, "groups", "Holdout")
    if labels.dtype.kind == "O":  # labels of several types have no order
        named: dict[Any, str] = {}  # one name for 7, 7.0 and NumPy's 7, which are one patient
        texts = (named.setdefault(label, f"{type(label).__name__} {label}") for label in labels.tolist())
        labels = np.array(list(texts))
    codes = np.unique(labels, return_inverse=True)[1].reshape(-1)
    if codes.max() == 0:
        raise refused("of at least two kinds", "one group", "Nothing is learned from one.")
    return codes.astype(np.int64)


# Where rows lie.


def is_dask(values: Any) -> bool:
    """Return whether values are a Dask array, series or frame."""
    return hasattr(values, "__dask_graph__")


def lies_elsewhere(values: Any) -> bool:
    """Return whether values are in a memory-mapped file or in Dask."""
    return is_dask(values) or memory_map_of(values) is not None


def is_read_in_blocks(values: Any) -> bool:
    """Return whether values are read block by block.

    These are values in Dask, and more than `LEAST_ROWS` of them in an array or a memory-mapped file.
    """
    is_array = isinstance(values, np.ndarray) and not np.ma.isMaskedArray(values)
    return is_dask(values) or (is_array and values.size > LEAST_ROWS)


def memory_map_of(values: Any) -> Any:
    """Return the memory map that values are rows of, if any.

    None for a map with unsaved changes.
    """
    while isinstance(values, np.memmap) and isinstance(values.base, np.memmap):
        values = values.base
    if not isinstance(values, np.memmap) or not isinstance(values.base, mmap.mmap):
        return None
    return values if values.mode != "c" else None
