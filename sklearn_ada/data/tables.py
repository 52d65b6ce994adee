"""Find the tables in whatever is passed beside X: in tuples, lists, dicts, and objects that hold rows.

What is a table is a matter of its container: an array, a frame, a series, a sparse matrix, a tensor, a list
of rows, a dict of columns. Everything else is looked into: sequences, mappings, attributes of objects (data
sets of boosters, pipelines, callbacks), arguments of partial functions, defaults and closures of functions.

Not looked into are classes and modules, files, and what a function reads of its module: global variables.
"""

from __future__ import annotations

import functools
import inspect
import io
import types
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from sklearn_ada._validation import bad_parameter

_PLAIN = (str, bytes, bytearray, memoryview, bool, int, float, complex, np.generic, type, types.ModuleType)
_SHUT = (io.IOBase, np.random.Generator, np.random.RandomState, *_PLAIN)
_LISTS = (list, tuple, set, frozenset, deque)
_MOST = 200_000  # objects that are looked into
_FEW = 16  # parts of a list which may be rows, or tables of one column
_GETTERS = {"DMatrix": "get_data", "QuantileDMatrix": "get_data", "Pool": "get_features"}
"""Methods that return the rows of data sets of XGBoost and CatBoost, which are in no attribute."""


def tables_in(value: Any, name: str, owner: str, shut: tuple[type, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield the place and the content of every table in a value, each once.

    Parameters
    ----------
    value : object
    name : str
        Of the parameter.
    owner : str
        Name of the function or class, for error messages.
    shut : tuple of type
        Classes that are not looked into.

    Raises
    ------
    ValueError
        For a generator, or another iterator that can be walked through once.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.zeros((3, 2)), np.zeros(3)
    >>> [(place, table.shape) for place, table in tables_in({"rows": [(X, y)]}, "p", "fit")]
    [("p['rows'][0][0]", (3, 2)), ("p['rows'][0][1]", (3,))]
    """
    seen: dict[int, Any] = {}  # with the objects: ids of what is gone are given out again
    left = [(name, value)]
    while left and len(seen) < _MOST:
        place, each = left.pop()
        if each is None or id(each) in seen or isinstance(each, (*_SHUT, *shut)):
            continue
        seen[id(each)] = each
        if isinstance(each, Iterator):
            fix = "To compare its rows with the holdout's would use it up: pass a list of them."
            raise bad_parameter(name, owner, "tables, or objects that hold them", type(each).__name__, fix)
        try:
            table = _as_table(each)
            is_short = isinstance(each, Mapping) or (isinstance(each, _LISTS) and len(each) <= _FEW)
            parts = list(_parts_of(each)) if table is None or is_short else []
        except Exception:  # whatever the attributes of somebody's object raise
            continue
        if table is not None:
            yield place, table
        left += reversed([(place + step, part) for step, part in parts])


def _as_table(value: Any) -> Any:
    """Return a value as an array, a frame or a sparse matrix; None if it is no table."""
    if hasattr(value, "__dask_graph__"):
        value = value.compute()
    if hasattr(value, "tocsr"):
        return value
    if hasattr(value, "to_pandas") and hasattr(value, "column_names"):  # of Arrow
        return value.to_pandas()
    if hasattr(value, "columns") and hasattr(value, "shape"):
        return value
    if isinstance(value, Mapping):
        return _of_columns(value)
    if isinstance(value, (list, tuple)):
        return _of_rows(value)
    array = _as_array(value)
    if array is not None and array.dtype.names:
        return _of_columns({name: array[name] for name in array.dtype.names})
    if array is None or array.ndim == 0:
        return None
    is_nested = array.dtype.kind == "O" and any(map(_has_parts, array.ravel()[:1]))
    return array if not is_nested else _of_rows(list(array)) if array.ndim == 1 else None


def _as_array(value: Any) -> np.ndarray | None:
    """Return what NumPy makes of an array, a series or a tensor; None for anything else."""
    if not (hasattr(value, "__array__") or hasattr(value, "__array_interface__")):
        return None
    try:
        return np.asarray(value.detach().cpu() if hasattr(value, "detach") else value)
    except (TypeError, ValueError, RuntimeError):  # it lies where NumPy cannot read it
        return None


def _of_rows(value: list[Any] | tuple[Any, ...]) -> Any:
    """Return a list of numbers, of texts or of rows as an array; None if it is a list of other things."""
    first = value[0] if value else None
    if isinstance(first, Mapping):  # records
        if any(map(_has_parts, first.values())) or not all(isinstance(each, Mapping) for each in value):
            return None
        return _of_columns({name: [each.get(name) for each in value] for name in first})
    is_list = isinstance(first, (list, tuple)) and bool(first) and not any(map(_has_parts, first))
    if not (isinstance(first, (str, int, float, np.generic)) or is_list or _is_one_dimensional(first)):
        return None
    try:
        rows = [list(each) for each in value] if _has_parts(first) else list(value)
        array = np.asarray(rows, dtype=object if is_list and _is_mixed(first) else None)
    except (TypeError, ValueError):  # of rows that are not as long as each other
        return None
    return array if array.ndim <= 2 and array.size else None


def _of_columns(value: Mapping[Any, Any]) -> Any:
    """Return a dict of columns as a frame, or as an array without pandas; None if it is none."""
    columns = {}
    for name, each in value.items():
        array = _of_rows(each) if isinstance(each, (list, tuple)) else _as_array(each)
        if array is None or array.ndim != 1:
            return None
        columns[name] = array
    if len({len(each) for each in columns.values()}) != 1:
        return None
    try:
        import pandas
    except ImportError:
        return np.stack(list(columns.values()), axis=1)
    return pandas.DataFrame(columns)


def _is_one_dimensional(value: Any) -> bool:
    return len(getattr(value, "shape", ())) == 1


def _is_mixed(row: Any) -> bool:
    kinds = {isinstance(value, str) for value in row}
    return len(kinds) == 2


def _has_parts(value: Any) -> bool:
    """Return whether a value is more than one number or text."""
    is_object = any(hasattr(value, name) for name in ("__len__", "__dict__", "__slots__"))
    return is_object and not isinstance(value, _PLAIN)


def _parts_of(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parts of an object and how each is reached."""
    if isinstance(value, Mapping):
        yield from ((f"[{key!r}]", part) for key, part in value.items())
    elif (array := _as_array(value)) is not None:
        yield from ((f"[{number}]", part) for number, part in enumerate(array.ravel().tolist()))
    elif isinstance(value, _LISTS):
        if any(_has_parts(part) or isinstance(part, Iterator) for part in value):
            yield from ((f"[{number}]", part) for number, part in enumerate(value))
    elif isinstance(value, functools.partial):
        yield from ((".func", value.func), (".args", value.args), (".keywords", value.keywords))
    elif inspect.ismethod(value):
        yield ".__self__", value.__self__
    elif inspect.isfunction(value):
        yield ".__defaults__", value.__defaults__
        yield ".__kwdefaults__", value.__kwdefaults__
        for cell in value.__closure__ or ():
            yield ".__closure__", _content_of(cell)
    else:
        getter = getattr(value, _GETTERS.get(type(value).__name__, ""), None)
        if callable(getter):
            yield f".{getter.__name__}()", getter()
        yield from ((f".{name}", part) for name, part in _attributes_of(value))


def _content_of(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it has none yet
        return None


def _attributes_of(value: Any) -> Iterator[tuple[str, Any]]:
    yield from getattr(value, "__dict__", {}).items()
    for kind in type(value).__mro__:
        slots = vars(kind).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(value, name):
                yield name, getattr(value, name)
