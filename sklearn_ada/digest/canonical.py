"""Digest the content of any Python object: the same after refitting or pickling, and in another process.

The hash of a pickle would not do. It stays the same when a function is redefined, and differs between equal
objects, whose parts may be shared differently or padded with other bytes. Here an object is read
recursively: arrays by dtype, shape and values; functions and classes of the user by their code, those of
installed libraries by name and version; objects of pandas not by what pickle stores, because that includes
caches and how columns share memory. The order of a dict counts, as a model may depend on it; that of
attributes does not.

An object with a part that cannot be read has no digest.

**What predictions do not depend on is left out**, by two tables: names of attributes and settings, by the
library whose estimators have them; and classes whose state is stored as one piece, with a function that
returns the part that counts. A wrong line costs little: a match of digests is only proposed, and the holdout
compares what the models predict.
"""

from __future__ import annotations

import copy
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
_VARIABLES = (typing.TypeVar, typing.ParamSpec, typing.TypeVarTuple)
_LENGTHS = [size.to_bytes(8, "little") for size in range(256)]  # of the parts that are hashed
_NAMES = {
    "": "n_jobs n_threads pre_dispatch "  # how many threads or processes work
    "verbose verbosity verbose_interval "  # how much is printed
    "memory",  # where intermediate results are kept
    "sklearn": "refit_time_ "  # how long it took
    "cache_size "  # how much memory the solver may take
    "_stop_words_id "  # an id()
    "_deprecated_key_to_warnings",  # lost by pickle
    "xgboost": "nthread silent",  # other names of threads and printing
    "lightgbm": "num_threads num_thread nthread nthreads silent verbose_eval "  # the same
    "snapshot_freq output_model save_binary local_listen_port time_out",  # files of a training run
    "catboost": "thread_count silent verbose_eval logging_level metric_period "  # threads and printing
    "allow_writing_files train_dir name used_ram_limit gpu_ram_part pinned_memory_size save_snapshot "
    "snapshot_file snapshot_interval detailed_profile log_cout log_cerr "  # files of a training run
    "_prediction_values_change",  # filled after fit, by pickle or when it is read
    "skorch": "history_ callbacks callbacks_ optimizer_",  # of training: its times, who looked on
}
"""Attributes and settings of objects of each library: the top-level package of a class or of one that it
inherits from; "" is every class with ``get_params``."""

_LEFT_OUT = {library: frozenset(names.split()) for library, names in _NAMES.items()}
Reader = Callable[[Any], list[Any]]
LeftOut = tuple[frozenset[str], Reader | None]
_of_class: weakref.WeakKeyDictionary[type, LeftOut] = weakref.WeakKeyDictionary()
_GENERATORS = (np.random.RandomState, np.random.Generator)
_TIMES = "_time"  # how the keys of ``cv_results_`` end that hold seconds
_SETTINGS = ("kwargs", "_other_params", "_init_params", "params")  # attributes that hold names of this table
# Random, times, and settings that the estimator has as well.
_NOTES_OF_CATBOOST = {"model_guid", "train_finish_time", "training", "output_options", "params"}


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
    return digest_by(Walk(), obj)


def digest_by(walk: Walk, obj: Any) -> str:
    """Return the digest that a walk makes of an object; Undigestible if it has none."""
    try:
        return walk.digest(obj).hex()
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


class Walk:
    """Digests an object from the digests of its parts, each part once.

    A reference back to an object that is being read (a cycle) is digested as the number of that object, in
    the order in which they are reached.
    """

    lasting = False
    """Whether versions of libraries are left out (`lasting.LastingWalk`)."""

    def __init__(self) -> None:
        self._done: dict[int, tuple[Any, bytes]] = {}  # by id; holds the objects, so that no id is used again
        self._open: dict[int, int] = {}  # numbers of the objects being read, by id
        self._visits = 0
        self._of_text: dict[str, bytes] = {}  # names of attributes come again and again
        self._left_out: Callable[[type], LeftOut] = functools.cache(left_out)  # and so do classes

    def digest(self, obj: Any) -> bytes:
        """Return the digest of an object."""
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
            return self.array(obj)
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
                return self._tagged("module", obj.__name__, self.version(obj.__name__))
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
            return self._tagged(kind.__name__, obj.__func__)
        # What pickle refuses, or whose subclasses it does not distinguish.
        if isinstance(obj, property):
            return self._tagged("property", kind, obj.fget, obj.fset, obj.fdel)
        if isinstance(obj, functools.cached_property):
            return self._tagged("property", kind, obj.func, obj.attrname)
        if isinstance(obj, functools.partial):
            return self._tagged("partial", kind, obj.func, obj.args, obj.keywords, by_name(vars(obj)))
        if isinstance(obj, weakref.ref):
            return self._tagged("weak reference", obj())
        if isinstance(obj, _VARIABLES):
            return self._tagged("variable of types", kind, repr(obj))
        if kind is set or kind is frozenset:
            return [b"set", *sorted(self.digest(item) for item in obj)]
        content = _content_of_container(obj)
        reader = self._left_out(kind)[1] if content is None else None
        if reader is not None:
            content = reader(obj)
        return self._reduced(obj) if content is None else self._tagged("container", kind, *content)

    def version(self, module: str) -> str:
        """Return the version that is part of the digest of what a module holds."""
        return "" if self.lasting else version(module)

    def _tagged(self, tag: str, *parts: Any) -> list[bytes]:
        return [tag.encode(), *(self.digest(part) for part in parts)]

    def array(self, array: np.ndarray) -> list[bytes]:
        """Return the parts that the digest of an array is made of."""
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
            return self._tagged("library", *name, self.version(function.__module__))
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        own = by_name({k: v for k, v in vars(function).items() if k != "__wrapped__"})
        keywords = by_name(function.__kwdefaults__ or {})
        used = used_by(function, lasting=self.lasting)
        return self._tagged(
            "function", function.__code__, function.__defaults__, keywords, cells, *used, own,
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
            return self._tagged("library", *name, self.version(home))
        content = {k: v for k, v in vars(cls).items() if k not in _NOT_CODE}
        compiled = [v for v in content.values() if isinstance(v, _COMPILED) and v.__objclass__ is cls]
        if compiled and not installed:
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

    def counted(self, obj: Any, state: dict[Any, Any]) -> dict[Any, Any]:
        """Return the part of an object's state that counts."""
        return counted_state(state, self._left_out(type(obj))[0])

    def _state(self, obj: Any, state: Any) -> list[Any]:
        """Return pickled attributes sorted by name, and other items in their order."""
        if not (state is None or isinstance(state, dict)):
            return [state]
        attributes = getattr(obj, "__dict__", {})
        counted = self.counted(obj, state or {})
        own = {k: v for k, v in counted.items() if k in attributes}
        return [by_name(own), {k: v for k, v in counted.items() if k not in attributes}]

    def _global(self, obj: Any, name: str) -> list[bytes]:
        """Digest an object that pickle stores by its name only.

        A wrapper counts as the function that it wraps, an object of a library as its name and the library's
        version.
        """
        if hasattr(obj, "__wrapped__"):
            return self._tagged("wrapper", type(obj), obj.__wrapped__)
        module = getattr(obj, "__module__", None)
        if is_library(module) and resolve(module, name) is obj:
            return self._tagged("library", module, name, self.version(module))
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
    if type(obj).__module__.partition(".")[0] == "polars" and hasattr(obj, "columns"):
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
    return b"dtype" + repr(obj).encode() if isinstance(obj, np.dtype) else None


def _hash(*parts: bytes) -> bytes:
    chunks: list[bytes] = []
    for part in parts:
        size = len(part)
        chunks += (_LENGTHS[size] if size < len(_LENGTHS) else size.to_bytes(8, "little"), part)
    return hashlib.sha256(b"".join(chunks)).digest()


def left_out(kind: type) -> LeftOut:
    """Return which attributes of a class do not count, and its own reader.

    The reader is for objects whose state is one piece, else None.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> sorted(left_out(RandomForestClassifier)[0] & {"n_jobs", "verbose", "max_depth"})
    ['n_jobs', 'verbose']
    >>> left_out(dict)
    (frozenset(), None)
    """
    if kind not in _of_class:
        packages = {one.__module__.partition(".")[0] for one in kind.__mro__}
        if hasattr(kind, "get_params"):
            packages.add("")
        found: set[str] = set().union(*(_LEFT_OUT.get(package, ()) for package in packages))
        for one in kind.__mro__:  # a value computed when it is first read
            found.update(k for k, v in vars(one).items() if isinstance(v, functools.cached_property))
        readers = (_CONTENT.get((one.__module__, one.__qualname__)) for one in kind.__mro__)
        _of_class[kind] = frozenset(found), next(filter(None, readers), None)
    return _of_class[kind]


def counted_state(state: dict[Any, Any], names: frozenset[str]) -> dict[Any, Any]:
    """Return the attributes of an object without those of the given names.

    Also without settings of these names and, once it is fitted, its generators of random numbers.
    """
    if not names:
        return state
    kept = {k: v for k, v in state.items() if k not in names}
    for name in _SETTINGS:
        if type(kept.get(name)) is dict:
            kept[name] = {k: v for k, v in kept[name].items() if k not in names}
            if not kept[name]:
                del kept[name]  # XGBoost sets it only where there are any
    if any(isinstance(k, str) and k.endswith("_") and not k.startswith("_") for k in kept):
        # It is fitted: a generator has done its work, and the global one goes on.
        kept = {k: v for k, v in kept.items() if not isinstance(v, _GENERATORS)}
    results = kept.get("cv_results_")
    if type(results) is dict:
        kept["cv_results_"] = {k: v for k, v in results.items() if not str(k).endswith(_TIMES)}
    return kept


def _of_tree_of_neighbours(tree: Any) -> list[Any]:
    """Return all but the four numbers that count what queries did."""
    state = tree.__getstate__()
    counters = len(state) - 6
    return [*state[:counters], *state[counters + 4 :]]


def _of_kd_tree(tree: Any) -> list[Any]:
    """Return all but the tree of Python objects, which is made at its first use."""
    return [tree.__getstate__(), [(k, v) for k, v in sorted(vars(tree).items()) if k != "_tree"]]


def _of_xgboost(booster: Any) -> list[Any]:
    """Return the trees with their names and attributes: no settings of threads, devices and printing."""
    settings = [(k, v) for k, v in sorted(vars(booster).items()) if k != "handle"]
    return [bytes(booster.save_raw("ubj")), settings]


def _of_lightgbm(booster: Any) -> list[Any]:
    """Return the trees as text, and how many count.

    Lines of the settings that are left out are not in it.
    """
    out = _LEFT_OUT[""] | _LEFT_OUT["lightgbm"]
    lines = booster.model_to_string(num_iteration=-1).split("\n")
    text = "\n".join(line for line in lines if line[1:].partition(":")[0] not in out or line[:1] != "[")
    best, trees = booster.best_iteration, booster.current_iteration()
    return [text, min(best, trees) if best > 0 else trees, booster.pandas_categorical]


def _of_catboost(model: Any) -> list[Any]:
    """Return the trees without what is noted about their training, and the settings."""
    state = dict(model.__getstate__())
    if "__model" in state:
        bare = model.copy()
        noted = bare.get_metadata()
        for name in _NOTES_OF_CATBOOST.intersection(noted.keys()):
            del noted[name]
        state["__model"] = bare._serialize_model()
    return [sorted(counted_state(state, left_out(type(model))[0]).items())]


def _of_torch(tensor: Any) -> list[Any]:
    """Return type, shape and numbers: no gradient, and nothing of how the numbers are stored."""
    plain = tensor.detach().cpu().contiguous().reshape(-1)
    numbers = plain.view(sys.modules["torch"].uint8).numpy()  # NumPy lacks some of its types
    return [str(tensor.dtype), tuple(tensor.shape), numbers]


def _of_skorch(net: Any) -> list[Any]:
    """Return the attributes, whose pickle differs each time; modules as in ``eval``, where they predict."""
    module = sys.modules["torch"].nn.Module
    state = counted_state(vars(net), left_out(type(net))[0])
    return [(k, copy.deepcopy(v).eval() if isinstance(v, module) else v) for k, v in sorted(state.items())]


_CONTENT: dict[tuple[str, str], Reader] = {
    ("sklearn.neighbors._kd_tree", "BinaryTree64"): _of_tree_of_neighbours,
    ("sklearn.neighbors._kd_tree", "BinaryTree32"): _of_tree_of_neighbours,
    ("sklearn.neighbors._ball_tree", "BinaryTree64"): _of_tree_of_neighbours,
    ("sklearn.neighbors._ball_tree", "BinaryTree32"): _of_tree_of_neighbours,
    ("scipy.spatial._kdtree", "KDTree"): _of_kd_tree,
    ("xgboost.core", "Booster"): _of_xgboost,
    ("lightgbm.basic", "Booster"): _of_lightgbm,
    ("catboost.core", "_CatBoostBase"): _of_catboost,
    ("torch", "Tensor"): _of_torch,
    ("skorch.net", "NeuralNet"): _of_skorch,
}  # by module and name, as the libraries need not be installed
