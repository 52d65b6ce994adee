"""The content of frames, series, indexes and special arrays, for their digest.

Pandas objects are not read by what pickle stores, because that includes caches and how columns share memory.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

__all__ = ["content_of_container"]

_OF_ANY_MASKED_ARRAY = frozenset(vars(np.ma.array([0])))


def content_of_container(obj: Any) -> list[Any] | None:
    """Return everything that a container holds, without its type; None for an object of another kind.

    Parameters
    ----------
    obj : object
        A masked array, an object of a subclass of ndarray, or a frame, series, index or dtype of pandas, or a
        frame of polars; anything else has no content here.
    """
    if obj is np.ma.masked:  # the one object of its type
        return []
    if isinstance(obj, np.ma.MaskedArray):
        of_user = [item for item in _attributes(obj) if item[0] not in _OF_ANY_MASKED_ARRAY]
        plain = np.asarray(obj.fill_value).item()  # pickle may truncate a text, or turn it into a str
        fill_value = np.asarray(plain, dtype=obj.dtype)
        return [obj.data, np.ma.getmaskarray(obj), fill_value, obj.hardmask, of_user]
    if isinstance(obj, np.ndarray):
        return [np.asarray(obj), _attributes(obj)]
    library = type(obj).__module__.partition(".")[0]
    if library == "polars" and hasattr(obj, "columns"):
        columns = [obj[:, j] for j in range(obj.shape[1])]
        read = [(np.asarray(column), np.asarray(column.is_null())) for column in columns]  # None is no NaN
        return [list(obj.columns), repr(obj.dtypes), read]
    pandas = sys.modules.get("pandas")
    return None if pandas is None else _of_pandas(obj, pandas)


def _attributes(array: np.ndarray) -> list[tuple[str, Any]]:
    """Return attributes that were set on an array: pickle loses them, but a model may use them."""
    state: Any = object.__getstate__(array)
    parts = state if isinstance(state, tuple) else (state,)  # of a class with slots, theirs come second
    return sorted(item for part in parts if part for item in part.items())


def _of_pandas(obj: Any, pandas: Any) -> list[Any] | None:
    if isinstance(obj, pandas.DataFrame):
        columns = [_values(obj.iloc[:, j]) for j in range(obj.shape[1])]
        return [obj.columns, obj.index, columns, _state(obj)]
    if isinstance(obj, pandas.Series):
        return [obj.index, _values(obj), _state(obj)]
    if isinstance(obj, pandas.MultiIndex):
        return [list(obj.names), list(obj.levels), [np.asarray(code) for code in obj.codes]]
    if isinstance(obj, pandas.Index):
        return [list(obj.names), _values(obj), getattr(obj, "freq", None)]
    if isinstance(obj, pandas.api.extensions.ExtensionDtype):
        return [getattr(obj, name) for name in obj._metadata]  # by which pandas compares dtypes
    return None


def _values(column: Any) -> tuple[Any, Any]:
    return column.dtype, np.asarray(column)


def _state(obj: Any) -> list[tuple[str, Any]]:
    """Return name, attrs and flags, and the attributes that a user has set."""
    state = {k: v for k, v in obj.__getstate__().items() if k != "_mgr"}
    return sorted((state | {k: v for k, v in vars(obj).items() if not k.startswith("_")}).items())
