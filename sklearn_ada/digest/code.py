"""Which modules belong to Python or to an installed library, and in which version.

What a function uses besides its own code: global names, modules it imports when called, annotations.

What a fitted model holds that its predictions do not depend on, and that its digest leaves out.

Two tables: names of attributes and settings, by the library whose estimators have them; and classes whose
state is stored as one piece, with a function that returns the part that counts. A wrong line costs little: a
match of digests is only proposed, and the holdout compares what the models say.

Whether a model has code of the user's own: then its digest may miss what its predictions depend on.
"""

from __future__ import annotations

import copy
import dis
import functools
import hashlib
import importlib.util
import inspect
import os
import pickle
import re
import sys
import types
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata
from importlib.machinery import ModuleSpec, PathFinder
from types import BuiltinFunctionType, FunctionType
from typing import Any, TypeGuard

import numpy as np

_PYTHON = (os.path.dirname(os.__file__), os.path.join(sys.base_prefix, "DLLs"))
_WITHOUT_PACKAGE = {"_loss": "sklearn._loss._loss"}  # scikit-learn's before 1.7 say so of their classes


def home_of(cls: type) -> str:
    """Return the name of the module that a class can be found in."""
    home = _WITHOUT_PACKAGE.get(cls.__module__, "")
    return home if home and resolve(home, cls.__qualname__) is cls else cls.__module__


def is_library(module: str | None) -> TypeGuard[str]:
    """Whether a module belongs to Python, or to an installed distribution whose version is known."""
    if not module or module == "__main__":
        return False
    path = getattr(sys.modules.get(module), "__file__", None) or ""
    return is_installed(module, path) and (_is_of_python(module) or bool(version(module)))


def is_installed(module: str, path: str) -> bool:
    """Whether a module with this file belongs to Python or to an installed distribution."""
    if _is_of_python(module) and (not path or path.startswith(_PYTHON)):
        return True  # and no file of the user's that happens to be called code.py
    return "site-packages" in path or "dist-packages" in path


def _is_of_python(module: str) -> bool:
    return module.partition(".")[0] in sys.stdlib_module_names


def resolve(module: str, qualname: str) -> Any:
    """Return what a module holds under a name; None if there is nothing."""
    found: Any = sys.modules.get(module)
    for part in qualname.split("."):
        found = getattr(found, part, None)
    return found


def spec_of(module: str) -> ModuleSpec | None:
    """Return where a module is or would be imported from; nothing is imported. None if it is not found."""
    loaded = sys.modules.get(module)
    if loaded is not None:
        return getattr(loaded, "__spec__", None)
    spec, path, name = None, None, ""
    for part in module.split("."):
        name = f"{name}.{part}" if name else part
        spec = PathFinder.find_spec(name, path)
        if spec is None:
            return None
        path = spec.submodule_search_locations
    return spec


def version(module: str) -> str:
    """Return the version of a module's package, or of the distributions it came with; "" if there is none."""
    package = module.partition(".")[0]
    return str(getattr(sys.modules.get(package), "__version__", "")) or distributed_version(package)


@functools.cache
def distributed_version(package: str) -> str:
    """Return names and versions of the distributions that a top-level package came with."""
    if package in sys.stdlib_module_names:
        return ""
    names = sorted(set(_distributions().get(package, ())))
    return " ".join(f"{name} {metadata.version(name)}" for name in names)


@functools.cache
def _distributions() -> Mapping[str, list[str]]:
    return metadata.packages_distributions()  # reads all that is installed: a tenth of a second


_IMPORT_NAME = dis.opmap["IMPORT_NAME"]
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


class Undigestible(TypeError):  # noqa: N818 - control flow between this package and its callers
    """The object holds something whose content cannot be read."""


def by_name(named: Mapping[str, Any]) -> list[Any]:
    """Return names, each followed by its value, sorted by name."""
    return [part for item in sorted(named.items(), key=lambda item: str(item[0])) for part in item]


def used_by(function: types.FunctionType) -> list[Any]:
    """Return what the global names of a function refer to, and what it imports when it is called.

    Nothing is imported, and a module has the same content before and after the first call imports it.
    """
    names, inside = function.__globals__, function.__code__
    used = _names(inside)
    package = names.get("__package__") or ""
    imported = {name: _imported(name, package, used) for name in _imports(inside)}
    return [by_name({name: _reached(names.get(name), used) for name in used}), by_name(imported)]


def annotations_of(obj: Any) -> list[str]:
    """Return the annotations of a function or class as text: code may read them, such as a dataclass."""
    try:
        own = inspect.get_annotations(obj)
    except Exception:  # they may be code that fails
        return []
    return [_ADDRESS.sub("", f"{name}: {value!r}") for name, value in own.items()]


def source(module: types.ModuleType) -> list[Any]:
    """Return the digest of the file of a user's module.

    Raises
    ------
    Undigestible
        If it has none.
    """
    digest = _digest_of_file(getattr(module, "__file__", None))
    if digest is None:
        raise Undigestible(f"how much of the module {module.__name__} is used cannot be told")
    return ["source", module.__name__, digest]


def _digest_of_file(path: str | None) -> str | None:
    try:
        with open(path or "", "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def _names(code: types.CodeType) -> set[str]:
    """Return every global name that a function's code, or code nested in it, may use."""
    nested = (const for const in code.co_consts if isinstance(const, types.CodeType))
    return set(code.co_names).union(*(_names(inner) for inner in nested))


def _imports(code: types.CodeType) -> set[str]:
    """Return the modules that a function, or one nested in it, imports when it is called."""
    found: set[str] = set()
    if _IMPORT_NAME in code.co_code[::2]:
        steps = list(dis.get_instructions(code))
        for level, step in zip(steps, steps[2:], strict=False):
            if step.opcode == _IMPORT_NAME:  # the two instructions before it load its level and its names
                found.add("." * level.argval + step.argval)
    nested = (const for const in code.co_consts if isinstance(const, types.CodeType))
    return found.union(*(_imports(inner) for inner in nested))


def _imported(name: str, package: str, used: set[str]) -> Any:
    """Return what an import statement inside a function stands for."""
    if name.startswith("."):
        try:
            name = importlib.util.resolve_name(name, package)
        except ImportError:
            return ["not found", name]
    loaded, spec = sys.modules.get(name), spec_of(name)
    if loaded is None and spec is None:
        return ["not found", name]
    origin = getattr(loaded, "__file__", None) or getattr(spec, "origin", None) or ""
    if is_installed(name, origin if origin not in ("built-in", "frozen") else ""):
        return ["library", name, distributed_version(name.partition(".")[0])]
    digest = _digest_of_file(origin)
    if digest is not None:
        return ["source", name, digest]
    return ["not found", name] if loaded is None else _reached(loaded, used)


def _reached(value: Any, used: set[str]) -> Any:
    """Return what a name refers to; instead of a module of the user's, the attributes that are used of it."""
    if not _is_own_module(value):
        return value
    reached: dict[str, list[Any]] = {}
    modules = [value]
    while modules:
        module = modules.pop()
        attributes = {name: getattr(module, name) for name in used if hasattr(module, name)}
        if not attributes:
            reached[module.__name__] = source(module)  # it is used as a whole
            continue
        inner = {name: one for name, one in attributes.items() if _is_own_module(one)}
        reached[module.__name__] = by_name(attributes | {k: one.__name__ for k, one in inner.items()})
        modules += [one for one in inner.values() if one.__name__ not in reached]
    return by_name(reached)


def _is_own_module(value: Any) -> bool:
    return isinstance(value, types.ModuleType) and not is_library(value.__name__)


@dataclass(frozen=True)
class _Names:
    """Attributes and settings of objects of one library.

    Parameters
    ----------
    library : str
        The top-level package of a class or of one it inherits from; "" is every class with ``get_params``.
    names : frozenset of str
    why : str
    """

    library: str
    names: frozenset[str]
    why: str


def _names_2(library: str, why: str, names: str) -> _Names:
    return _Names(library, frozenset(names.split()), why)


_NAMES = (
    _names_2("", "how many threads or processes work", "n_jobs n_threads pre_dispatch"),
    _names_2("", "how much is printed", "verbose verbosity verbose_interval"),
    _names_2("", "where intermediate results are kept", "memory"),
    _names_2("sklearn", "how long it took", "refit_time_"),
    _names_2("sklearn", "how much memory the solver may take", "cache_size"),
    _names_2("sklearn", "an id()", "_stop_words_id"),
    _names_2("sklearn", "lost by pickle", "_deprecated_key_to_warnings"),
    _names_2("xgboost", "other names of threads and printing", "nthread silent"),
    _names_2(
        "lightgbm",
        "other names of threads and printing; files of a training run",
        "num_threads num_thread nthread nthreads silent verbose_eval snapshot_freq output_model "
        "save_binary local_listen_port time_out",
    ),
    _names_2(
        "catboost",
        "threads, printing, and files of a training run",
        "thread_count silent verbose_eval logging_level metric_period allow_writing_files train_dir name "
        "used_ram_limit gpu_ram_part pinned_memory_size save_snapshot snapshot_file snapshot_interval "
        "detailed_profile log_cout log_cerr",
    ),
    _names_2("skorch", "of training: its times, who looked on", "history_ callbacks callbacks_ optimizer_"),
    _names_2("catboost", "filled after fit, by pickle or when it is read", "_prediction_values_change"),
)  # fmt: skip
_known: weakref.WeakKeyDictionary[type, frozenset[str]] = weakref.WeakKeyDictionary()
_GENERATORS = (np.random.RandomState, np.random.Generator)
_TIMES = "_time"  # how the keys of ``cv_results_`` end that hold seconds
_SETTINGS = ("kwargs", "_other_params", "_init_params", "params")  # attributes that hold names of this table


def names_left_out(kind: type) -> frozenset[str]:
    """Return the attributes of objects of a class that are left out.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> sorted(names_left_out(RandomForestClassifier) & {"n_jobs", "verbose", "max_depth"})
    ['n_jobs', 'verbose']
    >>> names_left_out(dict)
    frozenset()
    """
    if kind in _known:
        return _known[kind]
    found: set[str] = set()
    ancestors = kind.__mro__
    packages = {one.__module__.partition(".")[0] for one in ancestors}
    if hasattr(kind, "get_params"):
        packages.add("")
    found.update(*(row.names for row in _NAMES if row.library in packages))
    for one in ancestors:  # a value computed when it is first read
        found.update(k for k, v in vars(one).items() if isinstance(v, functools.cached_property))
    _known[kind] = frozenset(found)
    return _known[kind]


def counted_state(state: dict[Any, Any], names: frozenset[str]) -> dict[Any, Any]:
    """Return the attributes of an object without those of the given names, nor these as keys of settings.

    Nor, once it is fitted, its generators of random numbers.
    """
    if not names:
        return state
    kept = {k: v for k, v in state.items() if k not in names}
    for name in _SETTINGS:
        if type(kept.get(name)) is dict:
            kept[name] = {k: v for k, v in kept[name].items() if k not in names}
            if not kept[name]:
                del kept[name]  # XGBoost sets it only where there are any
    if any(_is_fitted_name(k) for k in kept):  # a generator has done its work, and the global one goes on
        kept = {k: v for k, v in kept.items() if not isinstance(v, _GENERATORS)}
    results = kept.get("cv_results_")
    if type(results) is dict:
        kept["cv_results_"] = {k: v for k, v in results.items() if not str(k).endswith(_TIMES)}
    return kept


def _is_fitted_name(name: object) -> bool:
    return isinstance(name, str) and name.endswith("_") and not name.startswith("_")


def reader_of(kind: type) -> Callable[[Any], list[Any]] | None:
    """Return what reads all that counts of an object whose state is one piece; None for other classes."""
    readers = (_CONTENT.get((one.__module__, one.__qualname__)) for one in kind.__mro__)
    return next((read for read in readers if read is not None), None)


def _of_tree_of_neighbours(tree: Any) -> list[Any]:
    """Return all but the four numbers that count what queries did."""
    state = tree.__getstate__()
    counters = len(state) - 6
    return [*state[:counters], *state[counters + 4 :]]


def _of_kd_tree(tree: Any) -> list[Any]:
    """Return all but the tree of Python objects that is made when it is first read."""
    return [tree.__getstate__(), [(k, v) for k, v in sorted(vars(tree).items()) if k != "_tree"]]


def _of_xgboost(booster: Any) -> list[Any]:
    """Return the trees with their names and attributes: no settings of threads, devices and printing."""
    settings = [(k, v) for k, v in sorted(vars(booster).items()) if k != "handle"]
    return [bytes(booster.save_raw("ubj")), settings]


def _of_lightgbm(booster: Any) -> list[Any]:
    """Return the trees as text, without those lines of the settings that are left out, and how many count."""
    out = _rows_of("lightgbm")
    lines = booster.model_to_string(num_iteration=-1).split("\n")
    text = "\n".join(line for line in lines if line[1:].partition(":")[0] not in out or line[:1] != "[")
    best, trees = booster.best_iteration, booster.current_iteration()
    return [text, min(best, trees) if best > 0 else trees, booster.pandas_categorical]


def _of_catboost(model: Any) -> list[Any]:
    """Return the trees without what is noted about their training, and the settings."""
    state, out = dict(model.__getstate__()), names_left_out(type(model))
    if "__model" in state:
        bare = model.copy()
        noted = bare.get_metadata()
        for name in [*noted.keys()]:
            if name in _NOTES_OF_CATBOOST:
                del noted[name]
        state["__model"] = bare._serialize_model()
    return [sorted(counted_state(state, out).items())]


def _of_torch(tensor: Any) -> list[Any]:
    """Return type, shape and numbers: no gradient, and nothing of how the numbers are stored."""
    plain = tensor.detach().cpu().contiguous().reshape(-1)
    numbers = plain.view(sys.modules["torch"].uint8).numpy()  # NumPy does not know all of its types
    return [str(tensor.dtype), tuple(tensor.shape), numbers]


def _of_skorch(net: Any) -> list[Any]:
    """Return the attributes, whose pickle differs each time; modules as in ``eval``, where they predict."""
    module = sys.modules["torch"].nn.Module
    state = counted_state(vars(net), names_left_out(type(net)))
    return [(k, copy.deepcopy(v).eval() if isinstance(v, module) else v) for k, v in sorted(state.items())]


_NOTES_OF_CATBOOST = frozenset(
    ["model_guid", "train_finish_time", "training", "output_options", "params"]
)  # random, times, and settings that the estimator has as well


def _rows_of(library: str) -> frozenset[str]:
    return frozenset().union(*(row.names for row in _NAMES if row.library in ("", library)))


_CONTENT: dict[tuple[str, str], Callable[[Any], list[Any]]] = {
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


def has_own_code(model: Any) -> bool:
    """Return whether any part of a model has a class or function that is no installed library's.

    A model that cannot be read counts as one that has. That code of a library was patched is not seen.

    Examples
    --------
    >>> from sklearn.preprocessing import FunctionTransformer
    >>> import numpy as np
    >>> has_own_code(FunctionTransformer(np.log1p)), has_own_code(FunctionTransformer(lambda X: X))
    (False, True)
    """
    try:
        # Large arrays are handed to the callback, which drops them: their content has no code.
        _Reader(_Nowhere(), protocol=5, buffer_callback=lambda buffer: False).dump(model)
    except Exception:  # whatever the parts of a model raise
        return True
    return False


class _OwnCodeError(Exception):
    pass


class _Nowhere:
    def write(self, content: bytes) -> int:
        return len(content)


class _Reader(pickle.Pickler):
    """Walks over all parts of an object as pickle does."""

    def reducer_override(self, obj: Any) -> Any:
        """Raise at the first class or function of the user's."""
        named = obj if isinstance(obj, type | FunctionType | BuiltinFunctionType) else type(obj)
        if not is_library(named.__module__):
            raise _OwnCodeError
        # A function in a library's wrapper, such as functools.lru_cache, says where it is from itself.
        module = getattr(obj, "__module__", None)
        if isinstance(module, str) and not is_library(module):
            raise _OwnCodeError
        return NotImplemented
