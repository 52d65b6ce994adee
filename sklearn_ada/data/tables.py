"""Find the tables in whatever is passed beside X: in tuples, lists, dicts, and objects that hold rows.

What is a table is a matter of its container: an array, a frame, a series, a sparse matrix, a tensor, a list
of rows, a dict of columns. Everything else is looked into: sequences, mappings, attributes of objects and of
their classes (data sets of boosters, pipelines, callbacks), arguments of partial functions, defaults and
closures of functions. Rows handed over one by one, as in pairs of a row and a label, are put together.

Not looked into are modules, files and bytes; and methods of classes and what a function reads of its module,
global variables, unless whoever asks says what these are.
"""

from __future__ import annotations

import array
import functools
import inspect
import io
import itertools
import sys
import types
from collections import defaultdict, deque
from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, ValuesView
from typing import Any

import numpy as np

from sklearn_ada._validation import bad_parameter

ReadBy = Callable[[types.FunctionType], Mapping[str, Any]]
GLOBALS = ".__globals__."
"""How the places begin of what a function reads of its module."""
_PLAIN = (str, bytes, bytearray, bool, int, float, complex, np.generic, types.ModuleType)
_ENDLESS = (itertools.count, itertools.cycle, itertools.repeat)  # counters, which hold no rows to be used up
_SHUT = (io.IOBase, np.random.Generator, np.random.RandomState, *_ENDLESS, *_PLAIN)
_LISTS = (list, tuple, set, frozenset, deque, KeysView, ValuesView, ItemsView)
_LIBRARIES = {
    *sys.stdlib_module_names,
    "numpy",
    "scipy",
    "sklearn",
    "sklearn_ada",
}  # whose classes hold no rows
_MOST = 1_000_000  # objects with parts that are looked into
_FEW = 16  # parts of a list which may be rows, or tables of one column
_GETTERS = {"DMatrix": "get_data", "QuantileDMatrix": "get_data", "Pool": "get_features"}
"""Methods that return the rows of data sets of XGBoost and CatBoost, which are in no attribute."""


def tables_in(
    value: Any, name: str, owner: str, shut: tuple[type, ...] = (), read_by: ReadBy | None = None
) -> Iterator[tuple[str, Any]]:
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
    read_by : callable or None, default=None
        Takes a function, and returns what it reads of its module by name.

    Raises
    ------
    ValueError
        For a generator, or another iterator that can be walked through once. For more objects than can be
        looked into.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.zeros((3, 2)), np.zeros(3)
    >>> [(place, table.shape) for place, table in tables_in({"rows": [(X, y)]}, "p", "fit")]
    [("p['rows'][0][0]", (3, 2)), ("p['rows'][0][1]", (3,))]
    """
    vectors: dict[int, list[tuple[str, Any]]] = defaultdict(list)  # by length
    for place, each, table in objects_in(value, name, owner, shut, read_by):
        if table is not None:
            yield place, table
            if np.ndim(table) == 1 and len(table) > 1:
                vectors[len(table)].append((place, each if isinstance(each, (list, tuple)) else table))
    for alike in vectors.values():
        table = _of_rows([vector for _, vector in alike]) if len(alike) > 1 else None
        if table is not None:
            yield f"{alike[0][0]} and others like it", table


def objects_in(
    value: Any, name: str, owner: str, shut: tuple[type, ...] = (), read_by: ReadBy | None = None
) -> Iterator[tuple[str, Any, Any]]:
    """Yield the place of every object in a value, the object, and what it is as a table, or None.

    Parameters and errors are those of `tables_in`.

    Examples
    --------
    >>> [(place, type(each).__name__) for place, each, _ in objects_in([{"a": [1, 2]}], "p", "fit")]
    [('p', 'list'), ('p[0]', 'dict'), ("p[0]['a']", 'list')]
    """
    seen: dict[int, Any] = {}  # with the objects: ids of what is gone are given out again
    left = [(name, value)]
    opened = 0
    while left:
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
            if read_by is not None:
                parts += _read_in(each, read_by)
        except Exception:  # whatever the attributes of somebody's object raise
            continue
        yield place, each, table
        opened += bool(parts)
        if opened > _MOST:
            fix = "So many cannot be compared with the holdout: pass rows as an array or a frame."
            raise bad_parameter(name, owner, f"of at most {_MOST:,} objects", "more", fix)
        left += reversed([(place + step, part) for step, part in parts])


def _as_table(value: Any) -> Any:
    """Return a value as an array, a frame or a sparse matrix; None if it is no table."""
    if isinstance(value, type):
        return None
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
    if isinstance(value, _LISTS):
        return _of_rows(list(value))
    found = _as_array(value)
    if found is not None and found.dtype.names:
        return _of_columns({name: found[name] for name in found.dtype.names})
    if found is None or found.ndim == 0:
        return None
    is_nested = found.dtype.kind == "O" and any(map(_has_parts, found.ravel()[:1]))
    return found if not is_nested else _of_rows(list(found)) if found.ndim == 1 else None


def _as_array(value: Any) -> np.ndarray | None:
    """Return what NumPy makes of an array, a series, a buffer or a tensor; None for anything else."""
    is_buffer = isinstance(value, (array.array, memoryview))
    if not (is_buffer or hasattr(value, "__array__") or hasattr(value, "__array_interface__")):
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
        table = np.asarray(rows, dtype=object if is_list and _is_mixed(first) else None)
    except (TypeError, ValueError):  # of rows that are not as long as each other
        return None
    return table if table.ndim <= 2 and table.size else None


def _of_columns(value: Mapping[Any, Any]) -> Any:
    """Return a dict of columns as a frame, or as an array without pandas; None if it is none."""
    columns = {}
    for name, each in value.items():
        column = _of_rows(each) if isinstance(each, (list, tuple)) else _as_array(each)
        if column is None or column.ndim != 1:
            return None
        columns[name] = column
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
        if len(value) > _FEW:  # rows, or labels, by number or id; labels or places by row
            yield from ((".keys()", list(value)), (".values()", list(value.values())))
    elif isinstance(value, type):
        yield from ((f".{name}", part) for name, part in _attributes_of_class(value))
    elif (found := _as_array(value)) is not None:
        yield from ((f"[{number}]", part) for number, part in enumerate(found.ravel().tolist()))
    elif isinstance(value, _LISTS):
        if any(_has_parts(part) or isinstance(part, Iterator) for part in value):
            yield from ((f"[{number}]", part) for number, part in enumerate(value))
    elif isinstance(value, functools.partial):
        yield from ((".func", value.func), (".args", value.args), (".keywords", value.keywords))
    elif inspect.ismethod(value):
        yield from ((".__self__", value.__self__), (".__func__", value.__func__))
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


def _read_in(value: Any, read_by: ReadBy) -> Iterator[tuple[str, Any]]:
    """Yield what a function, or the methods of a class, read of their modules."""
    functions = [value]
    if isinstance(value, type):
        members = [part for kind in value.__mro__ if _may_hold_tables(kind) for part in vars(kind).values()]
        functions = [getattr(part, "__func__", getattr(part, "fget", part)) for part in members]
    for function in filter(inspect.isfunction, functions):
        yield from ((f"{GLOBALS}{name}", part) for name, part in read_by(function).items())


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
    yield "__class__", type(value)


def _may_hold_tables(kind: type) -> bool:
    return kind.__module__.partition(".")[0] not in _LIBRARIES


def _attributes_of_class(value: type) -> Iterator[tuple[str, Any]]:
    """Yield what a class holds itself, beside its methods and counters."""
    for kind in value.__mro__:
        if _may_hold_tables(kind):
            for name, part in vars(kind).items():
                if name[:2] != "__" and not hasattr(part, "__get__") and not isinstance(part, Iterator):
                    yield name, part
