"""Leave out of a model's digest what its predictions do not depend on.

Two tables: names of attributes and settings, by the library whose estimators have them; and classes whose
state is stored as one piece, with a function that returns the part that counts. A wrong line costs little: a
match of digests is only proposed, and the holdout compares what the models predict.
"""

from __future__ import annotations

import copy
import functools
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

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
_of_class: weakref.WeakKeyDictionary[type, frozenset[str]] = weakref.WeakKeyDictionary()
_GENERATORS = (np.random.RandomState, np.random.Generator)
_TIMES = "_time"  # how the keys of ``cv_results_`` end that hold seconds
_SETTINGS = ("kwargs", "_other_params", "_init_params", "params")  # attributes that hold names of this table
_NOTES_OF_CATBOOST = frozenset(
    ["model_guid", "train_finish_time", "training", "output_options", "params"]
)  # random, times, and settings that the estimator has as well


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
    if kind not in _of_class:
        packages = {one.__module__.partition(".")[0] for one in kind.__mro__}
        if hasattr(kind, "get_params"):
            packages.add("")
        found: set[str] = set().union(*(_LEFT_OUT.get(package, ()) for package in packages))
        for one in kind.__mro__:  # a value computed when it is first read
            found.update(k for k, v in vars(one).items() if isinstance(v, functools.cached_property))
        _of_class[kind] = frozenset(found)
    return _of_class[kind]


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
    is_fitted = any(isinstance(k, str) and k.endswith("_") and not k.startswith("_") for k in kept)
    if is_fitted:  # a generator has done its work, and the global one goes on
        kept = {k: v for k, v in kept.items() if not isinstance(v, _GENERATORS)}
    results = kept.get("cv_results_")
    if type(results) is dict:
        kept["cv_results_"] = {k: v for k, v in results.items() if not str(k).endswith(_TIMES)}
    return kept


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
        for name in [*noted.keys()]:
            if name in _NOTES_OF_CATBOOST:
                del noted[name]
        state["__model"] = bare._serialize_model()
    return [sorted(counted_state(state, names_left_out(type(model))).items())]


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
