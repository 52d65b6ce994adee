"""Digest the content of any Python object: the same after refitting or pickling, and in another process.

The hash of a pickle would not do. It stays the same when a function is redefined, and differs between equal
objects, whose parts may be shared differently or padded with other bytes. Here an object is read
recursively: arrays by dtype, shape and values; functions and classes of the user by their code, those of
installed libraries by name and version; objects of pandas not by what pickle stores, because that includes
caches and how columns share memory. The order of a dict counts, as a model may depend on it; that of
attributes does not.

What predictions do not depend on is left out (`sklearn_ada.digest.left_out`). An object with a part that
cannot be read has no digest.
"""

from __future__ import annotations

import copyreg
import functools
import hashlib
import struct
import sys
import types
import typing
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_ada.data.columns import Column, UnreadableRowsError
from sklearn_ada.digest.code import (
    Undigestible,
    annotations_of,
    by_name,
    home_of,
    is_library,
    resolve,
    source,
    used_by,
    version,
)
from sklearn_ada.digest.left_out import counted_state, names_left_out, reader_of

_NOT_CODE = {
    "__dict__", "__weakref__", "__doc__", "__module__", "__annotations__", "_abc_impl",
    "__slotnames__", "__firstlineno__", "__static_attributes__", "__annotate__", "__annotate_func__",
    "__annotations_cache__",
}  # fmt: skip
_OF_ANY_MASKED_ARRAY = frozenset(vars(np.ma.array([0])))
_SLOTS = (types.MemberDescriptorType, types.GetSetDescriptorType)
_COMPILED = (
    types.MethodDescriptorType, types.ClassMethodDescriptorType, types.WrapperDescriptorType,
    types.GetSetDescriptorType,
)  # fmt: skip
_MOST_TEXTS = 10_000  # that are remembered while an object is read
_PLAIN_ARRAYS = (np.ndarray, np.memmap)  # joblib makes large arrays memory maps in its workers
_UNPICKLED = (
    property, functools.cached_property, functools.partial, weakref.ref,
    typing.TypeVar, typing.ParamSpec, typing.TypeVarTuple,
)  # fmt: skip
_LENGTHS = [size.to_bytes(8, "little") for size in range(256)]  # of the parts that are hashed


def canonical_digest(obj: Any) -> str:
    """Return a hexadecimal digest of the content of ``obj``.

    Raises
    ------
    Undigestible
        If some part (a lock, a generator, an open file) has no readable content.

    Examples
    --------
    >>> canonical_digest({"a": np.ones(2)}) == canonical_digest({"a": np.ones(2)})
    True
    >>> canonical_digest({"b": 1, "a": 0}) == canonical_digest({"a": 0, "b": 1})
    False
    >>> canonical_digest(np.arange(3)) == canonical_digest(np.arange(3.0))
    False
    """
    try:
        return _Walk().digest(obj).hex()
    except (Undigestible, UnreadableRowsError):
        raise
    except Exception as error:  # anything may fail in somebody's __reduce__
        raise Undigestible(f"{type(obj).__name__} cannot be read: {error}") from error


@dataclass(frozen=True)
class Floats:
    """An array of floats given block by block; its digest is that of the whole array.

    Parameters
    ----------
    shape : tuple of int
    blocks : callable
        Returns the blocks of rows in their order.
    """

    shape: tuple[int, ...]
    blocks: Callable[[], Iterable[NDArray[np.float64]]]


class _Walk:
    """Digests an object from the digests of its parts, each part once.

    A reference back to an object that is being read (a cycle) is digested as the number of that object, in
    the order in which they are reached.
    """

    def __init__(self) -> None:
        self._done: dict[int, tuple[Any, bytes]] = {}  # by id; holds the objects, so that no id is used again
        self._open: dict[int, int] = {}  # numbers of the objects being read, by id
        self._visits = 0
        self._of_text: dict[str, bytes] = {}  # names of attributes come again and again
        self._of_kind: dict[type, tuple[frozenset[str], Callable[[Any], list[Any]] | None]] = {}

    def digest(self, obj: Any) -> bytes:
        if type(obj) is str:
            result = self._of_text.get(obj)
            if result is None:
                result = _hash(b"str" + obj.encode("utf-8", "surrogatepass"))
                if len(self._of_text) < _MOST_TEXTS:
                    self._of_text[obj] = result
            return result
        scalar = _scalar(obj)
        if scalar is not None:
            return _hash(scalar)
        identity = id(obj)
        if identity in self._done:
            return self._done[identity][1]
        if identity in self._open:
            return _hash(b"cycle", str(self._open[identity]).encode())
        self._visits += 1
        self._open[identity] = self._visits
        try:
            result = _hash(*self._parts(obj))
        finally:
            del self._open[identity]
        self._done[identity] = (obj, result)
        return result

    def _parts(self, obj: Any) -> Iterable[bytes]:
        kind = type(obj)  # the most frequent ones first
        if kind is tuple or kind is list:
            return self._tagged(kind.__name__, *obj)
        if kind is dict or kind is types.MappingProxyType:
            return self._tagged("dict", *(part for item in obj.items() for part in item))
        if kind in _PLAIN_ARRAYS:
            return self._array(obj)
        if isinstance(obj, Column):
            return _parts_of_array(obj.dtype, obj.shape, obj.sha256()[0])
        if isinstance(obj, Floats):
            read = hashlib.sha256()
            for block in obj.blocks():
                read.update(np.ascontiguousarray(block).data)
            return _parts_of_array(np.dtype(np.float64), obj.shape, read.digest())
        if sparse.issparse(obj):
            as_any: Any = obj
            matrix = as_any.tocsr().copy()
            matrix.sum_duplicates()
            tag = "sparse array" if isinstance(obj, sparse.sparray) else "sparse"  # "*" multiplies otherwise
            return self._tagged(tag, matrix.shape, matrix.data, matrix.indices, matrix.indptr)
        if isinstance(obj, types.ModuleType):
            if is_library(obj.__name__):
                return self._tagged("module", obj.__name__, version(obj.__name__))
            return self._tagged("module", *source(obj))
        if isinstance(obj, types.CodeType):
            return self._code(obj)
        if isinstance(obj, types.FunctionType):
            return self._function(obj)
        if isinstance(obj, types.MethodType):
            return self._tagged("method", obj.__self__, obj.__func__)
        if isinstance(obj, types.BuiltinFunctionType):
            owner = None if isinstance(obj.__self__, types.ModuleType) else obj.__self__
            if owner is None and not is_library(obj.__module__):
                raise Undigestible(f"the code of {obj.__qualname__} is compiled")
            return self._tagged("builtin", obj.__module__, obj.__qualname__, owner)
        if isinstance(obj, np.ufunc):
            homes = [m for m in ("numpy", "scipy.special") if resolve(m, obj.__name__) is obj]
            if not homes:
                raise Undigestible(f"the code of the ufunc {obj.__name__} cannot be read")
            return self._tagged("ufunc", homes[0], obj.__name__)
        if isinstance(obj, type):
            return self._class(obj)
        if isinstance(obj, (staticmethod, classmethod)):
            return self._tagged(type(obj).__name__, obj.__func__)
        if isinstance(obj, _UNPICKLED):
            return self._unpickled(obj)
        if kind is set or kind is frozenset:
            return [b"set", *sorted(self.digest(item) for item in obj)]
        content = _content_of_container(obj)
        if content is None:
            reader = self._left_out(obj)[1]
            if reader is None:
                return self._reduced(obj)
            content = reader(obj)
        return self._tagged("container", type(obj), *content)

    def _left_out(self, obj: Any) -> tuple[frozenset[str], Callable[[Any], list[Any]] | None]:
        """Return which attributes do not count, and what reads an object that is stored as one piece."""
        kind = type(obj)
        if kind not in self._of_kind:
            self._of_kind[kind] = names_left_out(kind), reader_of(kind)
        return self._of_kind[kind]

    def _unpickled(self, obj: Any) -> list[bytes]:
        """Digest what pickle refuses, or of which it does not tell subclasses apart."""
        if isinstance(obj, property):
            return self._tagged("property", type(obj), obj.fget, obj.fset, obj.fdel)
        if isinstance(obj, functools.cached_property):
            return self._tagged("property", type(obj), obj.func, obj.attrname)
        if isinstance(obj, functools.partial):
            own = by_name(vars(obj))
            return self._tagged("partial", type(obj), obj.func, obj.args, obj.keywords, own)
        if isinstance(obj, weakref.ref):
            return self._tagged("weak reference", obj())
        return self._tagged("variable of types", type(obj), repr(obj))

    def _tagged(self, tag: str, *parts: Any) -> list[bytes]:
        return [tag.encode(), *(self.digest(part) for part in parts)]

    def _array(self, array: np.ndarray) -> list[bytes]:
        array = np.asarray(array)
        if array.dtype.names:  # field by field: the bytes between them are arbitrary
            fields = {name: np.ascontiguousarray(array[name]) for name in array.dtype.names}
            return self._tagged("record array", array.shape, fields)
        if array.dtype.hasobject:
            return self._tagged("object array", array.shape, array.ravel().tolist())
        plain = np.ascontiguousarray(array)  # makes a scalar a vector, so the shape is taken from ``array``
        content = hashlib.sha256(plain.view(np.uint8).data if plain.size else b"").digest()
        return _parts_of_array(plain.dtype, array.shape, content)

    def _function(self, function: types.FunctionType) -> list[bytes]:
        name = (function.__module__, function.__qualname__)
        if is_library(function.__module__) and resolve(*name) is function:
            return self._tagged("library", *name, version(function.__module__))
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        own = by_name({k: v for k, v in vars(function).items() if k != "__wrapped__"})
        keywords = by_name(function.__kwdefaults__ or {})
        return self._tagged(
            "function", function.__code__, function.__defaults__, keywords, cells, *used_by(function), own,
            annotations_of(function),
        )  # fmt: skip

    def _code(self, code: types.CodeType) -> list[bytes]:
        names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
        return self._tagged("code", code.co_code, code.co_consts, names, counts, code.co_exceptiontable)

    def _class(self, cls: type) -> list[bytes]:
        home = home_of(cls)
        name, installed = (home, cls.__qualname__), is_library(home)
        if installed and resolve(*name) is cls:
            return self._tagged("library", *name, version(home))
        content = {k: v for k, v in vars(cls).items() if k not in _NOT_CODE}
        if not installed and any(
            isinstance(v, _COMPILED) and v.__objclass__ is cls for v in content.values()
        ):
            raise Undigestible(f"the code of {cls.__qualname__} is compiled")
        content = {k: v for k, v in content.items() if not isinstance(v, _SLOTS)}
        bases, notes = list(cls.__bases__), annotations_of(cls)
        return self._tagged("class", cls.__qualname__, type(cls), bases, by_name(content), notes)

    def _reduced(self, obj: Any) -> list[bytes]:
        """Digest any other object by what pickle would store of it."""
        reducer = copyreg.dispatch_table.get(type(obj))
        reduced: Any = obj.__reduce_ex__(4) if reducer is None else reducer(obj)
        if isinstance(reduced, str):
            return self._global(obj, reduced)
        parts = [list(part) if hasattr(part, "__next__") else part for part in reduced]
        if len(parts) > 2:
            both = isinstance(parts[2], tuple) and len(parts[2]) == 2  # attributes, and those in slots
            states = parts[2] if both else (parts[2],)
            parts[2:3] = [both, *(part for state in states for part in self._state(obj, state))]
        return self._tagged("object", *parts)

    def _state(self, obj: Any, state: Any) -> list[Any]:
        """Return the attributes of a pickled state sorted by name, and its other items in their order."""
        if not (state is None or isinstance(state, dict)):
            return [state]
        attributes = getattr(obj, "__dict__", {})
        counted = counted_state(state or {}, self._left_out(obj)[0])
        own = {k: v for k, v in counted.items() if k in attributes}
        return [by_name(own), {k: v for k, v in counted.items() if k not in attributes}]

    def _global(self, obj: Any, name: str) -> list[bytes]:
        """Digest what pickle stores by name: by the function it wraps, or its library's name and version."""
        if hasattr(obj, "__wrapped__"):
            return self._tagged("wrapper", type(obj), obj.__wrapped__)
        module = getattr(obj, "__module__", None)
        if is_library(module) and resolve(module, name) is obj:
            return self._tagged("library", module, name, version(module))
        raise Undigestible(f"the code of {name} cannot be read")


def _content_of_container(obj: Any) -> list[Any] | None:
    """Return everything that a container holds, without its type; None for an object of another kind.

    A container is a masked array, an object of a subclass of ndarray, or a frame, series, index or dtype of
    pandas, or a frame of polars.
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


def _parts_of_array(dtype: np.dtype[Any], shape: tuple[int, ...], content: bytes) -> list[bytes]:
    return [b"array", dtype.str.encode(), str(shape).encode(), content]


def _scalar(obj: Any) -> bytes | None:
    """Return the content of an immutable scalar, tagged by type."""
    kind = type(obj)
    if obj is None or obj is Ellipsis or obj is NotImplemented:
        return repr(obj).encode()
    if kind in (bool, int):
        return f"{kind.__name__}{obj}".encode()
    if kind is float:
        return b"float" + struct.pack("<d", obj)
    if kind is complex:
        return b"complex" + struct.pack("<dd", obj.real, obj.imag)
    if kind in (bytes, bytearray):
        return b"bytes" + bytes(obj)
    if isinstance(obj, np.generic) and not obj.dtype.hasobject and not obj.dtype.names:
        return b"numpy" + obj.dtype.str.encode() + obj.tobytes()
    if isinstance(obj, np.dtype):
        return b"dtype" + repr(obj).encode()
    return None


def _hash(*parts: bytes) -> bytes:
    chunks: list[bytes] = []
    for part in parts:
        size = len(part)
        chunks += (_LENGTHS[size] if size < len(_LENGTHS) else size.to_bytes(8, "little"), part)
    return hashlib.sha256(b"".join(chunks)).digest()
