"""Labels and numbers as what they are, whoever says them: the rows of a holdout, guess rows, or a model.

Labels held as objects, such as a column of a mixed frame, come as the numbers or the text that they are.
Messages name shapes and types, never values of the rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from numbers import Real
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sklearn_ada._checks import bad_parameter

__all__ = [
    "NUMBERS",
    "all_finite",
    "are_classes",
    "check_labels",
    "family",
    "is_missing",
    "of_one_type",
    "pieces",
]

Array = NDArray[Any]

NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)
"""Types of one real number."""
# Labels are looked at in pieces of so many rows, to keep temporaries small.
PIECE = 2**16


class Typed(Protocol):
    """What has a type of NumPy."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of each value."""


def check_labels(y: Any, owner: str = "Holdout") -> Array:
    """Return y as a one-dimensional, non-empty array without missing or infinite values, or raise ValueError.

    Examples
    --------
    >>> check_labels(np.array(["no", "yes"], dtype=object)).dtype
    dtype('<U3')
    """
    if y is None:
        raise bad_parameter("y", owner, "the labels of the rows of X", None)
    if np.ma.is_masked(y):
        raise bad_parameter("y", owner, "finite", "masked values")
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise bad_parameter("y", owner, "one-dimensional", f"an array of shape {labels.shape}")
    if len(labels) == 0:
        raise bad_parameter("X", owner, "non-empty", "0 rows")
    kind = labels.dtype.kind
    if kind == "c":
        raise bad_parameter("y", owner, "real", "complex values", "Complex data not supported.")
    if kind == "S":
        fix = "Decode it, as in y.astype(str)."
        raise bad_parameter("y", owner, "of numbers only, or of text only", "bytes", fix)
    if kind == "O":
        numbers = [value for value in labels if isinstance(value, Real)]
        finite = all(math.isfinite(value) for value in numbers) and not any(map(is_missing, labels))
    else:
        finite = all_finite(labels)
    if not finite:
        raise bad_parameter("y", owner, "finite", "missing, NaN or infinite values")
    return of_one_type(labels, "y", owner)


def of_one_type(values: Array, name: str, owner: str) -> Array:
    """Return values held as objects as an array of numbers or of text, so that classes are seen as classes.

    Arrays of another type are returned as they are.

    Raises
    ------
    ValueError
        If they are of both kinds or of neither, or no type of number holds them all.
    """
    if values.dtype.kind not in "OT":
        return values
    items = values.tolist()
    types = set(map(type, items))
    is_text = all(issubclass(kind, str) for kind in types)
    if not is_text and not all(issubclass(kind, NUMBERS) for kind in types):
        names = ", ".join(sorted(kind.__name__ for kind in types))
        raise bad_parameter(
            name, owner, "of numbers only, or of text only", f"objects of type {names}",
            f"Convert it, as in {name}.astype(float) or {name}.astype(str).",
        )  # fmt: skip
    plain = np.array(items)
    if plain.dtype.kind != "O" and plain.tolist() == items:
        return plain
    if is_text:  # an array of text drops null characters at the end
        return values.astype(object)
    raise bad_parameter(
        name, owner, "such that 64 bits hold every number of it", "larger integers", "Number them anew."
    )


def is_missing(label: Any) -> bool:
    """Return whether a label is None, NaN, NaT or pandas.NA."""
    try:
        return label is None or bool(label != label)
    except TypeError:  # pandas.NA is neither equal nor unequal
        return True


def family(values: Typed) -> str:
    """Return what values are: "text", "numbers", or the kind of another type; values of two never agree."""
    kind = values.dtype.kind
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
        return all(
            (abs(piece) <= most).all() and (piece.astype(np.int64) == piece).all() for piece in pieces(values)
        )


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
