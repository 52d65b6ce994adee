"""What a fitted model holds that its predictions do not depend on, and that its digest leaves out.

Two tables: names of attributes and settings, by the library whose estimators have them; and classes whose
state is stored as one piece, with a function that returns the part that counts. A wrong line costs little: a
match of digests is only proposed, and the holdout compares what the models say.
"""

from __future__ import annotations

import copy
import functools
import sys
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["counted_state", "names_left_out", "reader_of"]


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


def _names(library: str, why: str, names: str) -> _Names:
    return _Names(library, frozenset(names.split()), why)


_NAMES = (
    _names("", "how many threads or processes work", "n_jobs n_threads pre_dispatch"),
    _names("", "how much is printed", "verbose verbosity verbose_interval"),
    _names("", "where intermediate results are kept", "memory"),
    _names("sklearn", "how long it took", "refit_time_"),
    _names("sklearn", "how much memory the solver may take", "cache_size"),
    _names("sklearn", "an id()", "_stop_words_id"),
    _names("sklearn", "lost by pickle", "_deprecated_key_to_warnings"),
    _names("xgboost", "other names of threads and printing", "nthread silent"),
    _names(
        "lightgbm",
        "other names of threads and printing; files of a training run",
        "num_threads num_thread nthread nthreads silent verbose_eval snapshot_freq output_model "
        "save_binary local_listen_port time_out",
    ),
    _names(
        "catboost",
        "threads, printing, and files of a training run",
        "thread_count silent verbose_eval logging_level metric_period allow_writing_files train_dir name "
        "used_ram_limit gpu_ram_part pinned_memory_size save_snapshot snapshot_file snapshot_interval "
        "detailed_profile log_cout log_cerr",
    ),
    _names("skorch", "of training: its times, who looked on", "history_ callbacks callbacks_ optimizer_"),
    _names("catboost", "filled after fit, by pickle or when it is read", "_prediction_values_change"),
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
