"""Put rows below others, as rows of one table: columns have the types that they had.

A model sees each row of the joined table as it saw it before. So new rows take the types of the old ones, if
no value changes by that: whole numbers as floats, another unit of time, texts of another type. Where a column
of numbers has to be wider (whole numbers, and now fractions or gaps), the old values stay what they are, as
floats. Categories are those of both, the old ones first. A column without any value takes the other's
type. All else is refused, with both types: joined by pandas or NumPy it would be a column of objects or of
texts, on which models fail, at a price.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_ada._validation import bad_parameter
from sklearn_ada.data.labels import NUMBERS, is_dask, is_missing

_FIX = "Read both in the same way. Nothing was recorded."


class _UnlikeError(Exception):
    """Rows that are no rows of one table: what was expected, and what there is."""


def stack_rows(X: Any, more: Any, owner: str = "Holdout.top_up") -> Any:
    """Return the rows of X with those of ``more`` below, in a container like X.

    Raises
    ------
    ValueError
        If they are not rows of one table: another container, other columns, or columns of other types.

    Examples
    --------
    >>> stack_rows(np.array([[1.5, 2.0]]), [[3, 4]])
    array([[1.5, 2. ],
           [3. , 4. ]])
    >>> stack_rows(np.array([1.5, 2.0]), ["3"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: The 'X' parameter of Holdout.top_up must be like the holdout's X, float64. Got 'text' ...
    """
    try:
        if _library(X) != _library(more):
            raise _UnlikeError(f"a {type(X).__name__}", f"a {type(more).__name__}")
        if hasattr(X, "to_frame"):  # a series
            frame = stack_rows(X.to_frame(), more.rename(X.name).to_frame(), owner)
            return frame.iloc[:, 0] if hasattr(frame, "iloc") else frame.to_series()
        if hasattr(X, "columns"):
            return _frames(X, more)
        if hasattr(X, "tocsr"):
            return _matrices(X, more)
        return _arrays(X, np.asarray(more)) if hasattr(X, "shape") else _lists(X, list(more))
    except _UnlikeError as error:
        expected, got = error.args
        raise bad_parameter("X", owner, f"like the holdout's X, {expected}", got, _FIX) from None


def _library(X: Any) -> str:
    """Return what tells containers apart that cannot be joined."""
    for name in ("columns", "to_frame", "tocsr"):
        if hasattr(X, name):
            return f"{name} {type(X).__module__.partition('.')[0] if name != 'tocsr' else ''}"
    return ""


def _frames(X: Any, more: Any) -> Any:
    names = list(X.columns)
    if names != list(more.columns):
        raise _UnlikeError(f"with the columns {_short(names)}", _short(list(more.columns)))
    join = _of_polars if hasattr(X, "vstack") else _of_pandas
    places = range(len(names))
    columns = [_column(X, place) for place in places], [_column(more, place) for place in places]
    pairs = []
    for name, old, new in zip(names, *columns, strict=True):
        try:
            pairs.append(join(old, new))
        except _UnlikeError as error:
            raise _UnlikeError(f"{error.args[0]} in column {name!r}", error.args[1]) from None
    if hasattr(X, "vstack"):
        return X.with_columns([old for old, _ in pairs]).vstack(more.with_columns([new for _, new in pairs]))
    import pandas

    if all(old is was and new is came for (old, new), was, came in zip(pairs, *columns, strict=True)):
        return pandas.concat([X, more], ignore_index=True)
    joined = pandas.concat([pandas.concat(pair, ignore_index=True) for pair in pairs], axis=1)
    return joined.set_axis(X.columns, axis=1)


def _short(names: list[Any]) -> str:
    return ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")


def _column(frame: Any, place: int) -> Any:
    return frame.iloc[:, place] if hasattr(frame, "iloc") else frame.to_series(place)


def _of_pandas(old: Any, new: Any) -> tuple[Any, Any]:
    """Return two series of pandas as ones of one type."""
    import pandas
    from pandas.api import types

    old, new = _typed(old, new), _typed(new, old)
    both = [old.dtype, new.dtype]
    are_categories = [isinstance(dtype, pandas.CategoricalDtype) for dtype in both]
    if all(are_categories):
        before = both[0].categories.to_list()
        merged = _categories((before, both[0].ordered), (both[1].categories.to_list(), both[1].ordered))
        return (old if merged == before else old.cat.set_categories(merged)), new.cat.set_categories(merged)
    is_object = [types.is_object_dtype(dtype) for dtype in both]
    if both[0] == both[1] and not is_object[0]:
        return old, new
    if all(isinstance(dtype, np.dtype) for dtype in both):
        values = _of_one_type(old.to_numpy(), new.to_numpy())
        of_one = [
            each if each.dtype == array.dtype else pandas.Series(array, name=each.name)
            for each, array in zip((old, new), values, strict=True)
        ]
        return of_one[0], of_one[1]

    def family(column: Any) -> Any:
        if types.is_bool_dtype(column.dtype):
            return "bool"
        if types.is_numeric_dtype(column.dtype):
            return "numbers"
        if types.is_datetime64_any_dtype(column.dtype):
            return "dates", str(getattr(column.dtype, "tz", None))
        is_text = isinstance(column.dtype, pandas.StringDtype) or _kinds(column.to_numpy(object)) <= {"text"}
        return "text" if is_text and not types.is_numeric_dtype(column.dtype) else str(column.dtype)

    if not any(are_categories) and family(old) == family(new):
        try:
            cast = new.astype(old.dtype)
        except (TypeError, ValueError, OverflowError):
            raise _UnlikeError(*map(_type_of_series, (old, new))) from None
        if is_object[0]:
            cast = cast.where(new.notna(), np.nan)
        there = new.notna().to_numpy(bool)
        same = cast[there].to_numpy(object) == new[there].to_numpy(object)
        if np.array_equal(cast.notna().to_numpy(bool), there) and np.all(same):
            return old, cast
    raise _UnlikeError(*map(_type_of_series, (old, new)))


def _typed(column: Any, other: Any) -> Any:
    """Return a series without any value in the type of another one, if that holds gaps; else as floats."""
    import pandas

    if column.dtype == other.dtype or column.notna().any() or other.isna().all():
        return column
    gaps = pandas.Series(np.nan, column.index, name=column.name)
    try:
        cast = gaps.astype(other.dtype)
    except (TypeError, ValueError):
        return gaps
    return cast if cast.isna().all() else gaps


def _type_of_series(column: Any) -> str:
    return _words(column.to_numpy()) if column.dtype == object else str(column.dtype)


def _categories(old: tuple[list[Any], bool], new: tuple[list[Any], bool]) -> list[Any]:
    """Return the categories of both, the old ones first; of those in order none may be new."""
    (before, is_ordered), (now, ordered) = old, new
    kinds = [_kinds(np.array(each, dtype=object)) for each in (before, now)]
    words = [
        f"categories ({', '.join(sorted(kind)) or 'none'}{', in order' if flag else ''})"
        for kind, flag in zip(kinds, (is_ordered, ordered), strict=True)
    ]
    merged = [*before, *(each for each in now if each not in set(before))]
    in_order = [each for each in before if each in set(now)] == now
    if is_ordered != ordered or (before and not kinds[1] <= kinds[0]) or (ordered and not in_order):
        raise _UnlikeError(*words)
    return merged


def _of_polars(old: Any, new: Any) -> tuple[Any, Any]:
    """Return two series of polars as ones of one type."""
    import polars

    if old.dtype != new.dtype:
        old, new = (
            each.cast(other.dtype) if each.null_count() == len(each) > 0 else each
            for each, other in ((old, new), (new, old))
        )
    both = [old.dtype, new.dtype]
    names = [str(dtype) for dtype in both]
    if all(dtype == polars.Enum for dtype in both):
        merged = polars.Enum(_categories(*((dtype.categories.to_list(), False) for dtype in both)))
        return old.cast(merged), new.cast(merged)
    if both[0] == both[1]:
        return old, new
    are_times = all(dtype == polars.Datetime for dtype in both) and both[0].time_zone == both[1].time_zone
    if are_times or all(dtype.is_numeric() for dtype in both):
        for dtype in (both[0], *(() if are_times else (polars.Float64,))):
            cast = [each.cast(dtype, strict=False) for each in (old, new)]
            if all(
                c.cast(each.dtype, strict=False).equals(each)
                for c, each in zip(cast, (old, new), strict=True)
            ):
                return cast[0], cast[1]
    raise _UnlikeError(*names)


def _matrices(X: Any, more: Any) -> Any:
    if X.shape[1:] != more.shape[1:]:
        raise _UnlikeError(f"with {X.shape[1]} columns", f"{more.shape[1]} columns")
    X, more = X.tocsr().copy(), more.tocsr().copy()
    X.data, more.data = _of_one_type(X.data, more.data)
    return sparse.vstack([X, more], format="csr")


def _arrays(X: Any, more: NDArray[Any]) -> Any:
    if X.shape[1:] != more.shape[1:]:
        raise _UnlikeError(f"rows of shape {X.shape[1:]}", f"rows of shape {more.shape[1:]}")
    if np.ma.isMaskedArray(X) or np.ma.isMaskedArray(more):
        raise _UnlikeError("an array without a mask", "a masked array")
    if isinstance(X, np.ndarray):
        return np.concatenate(_of_one_type(X, more))
    cast = _exactly(more, X.dtype) if is_dask(X) else more
    if cast is None:
        raise _UnlikeError(str(X.dtype), _words(more))
    return np.concatenate([X, cast])


def _lists(X: list[Any], more: list[Any]) -> list[Any]:
    shapes = [{() if isinstance(row, str) else np.shape(row) for row in rows} for rows in (X, more)]
    if not shapes[1] <= shapes[0]:
        words = [" and ".join(map(str, sorted(each, key=str))) for each in shapes]
        raise _UnlikeError(f"rows of shape {words[0]}", f"rows of shape {words[1]}")
    if len(shapes[0]) == 1:  # texts, numbers, or rows of as many values
        _of_one_type(*(_of_objects(rows, shapes[0] == {()}) for rows in (X, more)))
    return [*X, *more]


def _of_objects(rows: list[Any], are_values: bool) -> NDArray[Any]:
    return np.array([*rows, None], dtype=object)[:-1] if are_values else np.array(rows, dtype=object)


def _of_one_type(old: NDArray[Any], new: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return two arrays as ones of one type in which no value is another one."""
    kinds = old.dtype.kind + new.dtype.kind
    if old.dtype == new.dtype and kinds != "OO":
        return old, new
    if set(kinds) <= set("iuf") or kinds in ("UU", "MM", "mm", "SS"):
        for dtype in (old.dtype, np.result_type(old, new)):
            cast = _exactly(old, dtype), _exactly(new, dtype)
            if cast[0] is not None and cast[1] is not None:
                return cast[0], cast[1]
    elif "O" in kinds and _fits(old, new):
        return old.astype(object, copy=False), new.astype(object, copy=False)
    elif kinds[1] == "O" and _fits(new, old) and _kinds(new) == {"number"}:
        return _of_one_type(old, new.astype(np.float64))
    raise _UnlikeError(_words(old), _words(new))


def _exactly(values: NDArray[Any], dtype: Any) -> NDArray[Any] | None:
    """Return values of another type, if each is the same as before."""
    with np.errstate(all="ignore"):
        cast = values.astype(dtype)
        same = cast.astype(values.dtype) == values
    if values.dtype.kind in "fmM" and cast.dtype.kind == values.dtype.kind:
        same |= np.isnan(values) if values.dtype.kind == "f" else np.isnat(values)
    return cast if np.all(same) else None


def _fits(old: NDArray[Any], new: NDArray[Any]) -> bool:
    """Return whether each column of an array has values of the kinds that one of objects has there."""
    if old.dtype.kind != "O":
        return False
    columns = zip(*(each.reshape(len(each), -1).T for each in (old, new)), strict=True)
    return all(not (before := _kinds(a)) or _kinds(b) <= before for a, b in columns)


def _kinds(values: NDArray[Any]) -> set[str]:
    """Return the kinds of values: texts, numbers, and other types by their names; those missing have none."""
    if values.dtype.kind in "UT":
        return {"text"}
    types = {type(value) for value in values.ravel().tolist() if not is_missing(value)}
    return {
        "text" if issubclass(kind, str) else "bool" if issubclass(kind, (bool, np.bool_))
        else "number" if issubclass(kind, NUMBERS) else kind.__name__
        for kind in types
    }  # fmt: skip


def _words(values: NDArray[Any]) -> str:
    """Return what values are: of objects, the kinds among them."""
    if values.dtype.kind in "UT":
        return "text"
    return f"objects ({', '.join(sorted(_kinds(values)))})" if values.dtype.kind == "O" else str(values.dtype)
