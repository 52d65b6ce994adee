"""Digest a fitted model so that time does not make another one of it.

A model that is fitted again by the same code on the same rows should be proposed as the same: a day later,
with another release of NumPy or scikit-learn, or from another folder. So this digest leaves out

- versions of libraries, and settings that have their default, which a release may rename;
- the last digits of floats: an array counts to six digits of its size, as solvers agree to about that;
- types of whole numbers and of text: 1 and 1.0 are one setting, and labels are what they are in any array;
- names of the steps of a pipeline, and what a search keeps beside the model by which it predicts;
- what an estimator notes down besides: numbers, texts, times, paths and loggers, alone or in lists, that are
  no settings of its. Clocks, counters and random names are such notes. Attributes of scikit-learn's own
  estimators count if the code of these names them.

A number that was learnt may be among the notes, such as a threshold. So they are handed over, and a copy of
the model is tried without them on rows that are made up (`terms.models.model_digest`). What is still taken
for the same wrongly costs the price of a comparison: the holdout decides (`asking.Proposal`).
"""

from __future__ import annotations

import collections
import datetime
import decimal
import functools
import inspect
import logging
import math
import os
import random
import re
import sys
import uuid
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sklearn_ada.data.labels import labels_by_value
from sklearn_ada.digest.canonical import Walk, digest_by
from sklearn_ada.digest.code import Undigestible

_DIGITS = 1e-6 / math.pi  # no round number: 1/2 would lie between two multiples of one
_TINY = 1e-12  # below it a number is what a cancellation left
_KNOWN = {
    "sklearn", "numpy", "scipy", "pandas", "polars", "xgboost", "lightgbm", "catboost", "torch", "skorch",
    "joblib", "sklearn_ada",
}  # fmt: skip
"""Libraries whose objects keep no notes but those that `canonical` names."""
_NOTES = (
    int, float, complex, str, bytes, bytearray, np.generic, decimal.Decimal, uuid.UUID, os.PathLike,
    datetime.date, datetime.time, datetime.timedelta, datetime.tzinfo, logging.Logger, logging.LoggerAdapter,
    random.Random, np.random.RandomState, np.random.Generator,
)  # fmt: skip
_PLACES = (os.PathLike, logging.Logger, logging.LoggerAdapter)  # settings that say where, not what
_CONTAINERS = (list, tuple, set, frozenset, collections.deque)
_PLAIN = (bool, int, float, str)
_OF_FOLDS = {
    "cv_results_", "scores_", "mse_path_", "coefs_paths_", "cv_values_", "best_score_", "scorer_", "cv",
    "_curve_scorer",
}  # fmt: skip
"""What scikit-learn's estimators keep of their own cross-validation, beside what it has chosen."""
_INTERNAL = {"_label_encoder", "n_iter_", "n_samples_seen_", "feature_names_in_", "_fill_dtype"}
"""What some releases of scikit-learn keep and others do not, or not as the same; and names of columns."""
_NAME = re.compile(r"""[."'](\w+)""")  # of an attribute, or in quotes
_ALWAYS = {"n_features_in_", "fitted_", "is_fitted_"}  # which tell nothing


class Note(NamedTuple):
    """An attribute that was left out: whose it is, its name and its value."""

    owner: Any
    name: str
    value: Any

    def altered(self) -> Any:
        """Return another value of the same kind; the same where it tells nothing but a time or a place."""
        return _altered(self.value)


def lasting_digest(obj: Any) -> tuple[str, list[Note]]:
    """Return a hexadecimal digest of what lasts of an object, and the notes that were left out.

    Raises
    ------
    Undigestible
        If some part has no readable content.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> lasting_digest(Ridge(alpha=2.0)) == lasting_digest(Ridge(alpha=2.0 + 1e-13))
    True
    >>> lasting_digest(Ridge(alpha=2.0)) == lasting_digest(Ridge(alpha=2.1))
    False
    """
    walk = _LastingWalk()
    return digest_by(walk, obj), walk.notes


class _LastingWalk(Walk):
    """Digests an object without versions, last digits and notes."""

    lasting = True

    def __init__(self) -> None:
        super().__init__()
        self.notes: list[Note] = []
        self._settings_of: Callable[[type], dict[str, Any]] = functools.cache(_settings_of)

    def digest(self, obj: Any) -> bytes:
        """Return the digest of an object; a float to some digits, and as an integer where it is whole."""
        if isinstance(obj, np.integer):
            obj = int(obj)
        elif isinstance(obj, float | np.floating):
            value = float(obj)
            obj = value if not math.isfinite(value) else 0.0 if abs(value) < _TINY else float(f"{value:.6g}")
            obj = int(obj) if obj.is_integer() else obj
        return super().digest(_predicting(obj))

    def array(self, array: np.ndarray) -> list[bytes]:
        """Return the parts of an array: of floats to some digits, and of integers of whatever size."""
        if array.dtype.kind == "f" and array.size:
            array = _to_digits(np.asarray(array))
        elif array.dtype.kind in "biuU":
            array = labels_by_value(np.asarray(array))
        return super().array(array)

    def counted(self, obj: Any, state: dict[Any, Any]) -> dict[Any, Any]:
        """Return the part of an object's state that counts, without notes."""
        counted, kind = super().counted(obj, state), type(obj)
        counted = {name: value for name, value in counted.items() if name != "_sklearn_version"}
        if "best_estimator_" in counted and _is_named("BaseSearchCV", kind):
            return {"best_estimator_": counted["best_estimator_"]}  # which predicts
        if isinstance(counted.get("classes_"), np.ndarray):  # floats as well
            counted["classes_"] = labels_by_value(counted["classes_"])
        if kind.__name__ == "Pipeline" and _is_known(kind) and isinstance(counted.get("steps"), list):
            counted["steps"] = [step for _, step in counted["steps"]]  # whatever they are called
        settings = (_settings_of_library if _is_known(kind) else self._settings_of)(kind)
        if hasattr(kind, "get_params"):
            counted = {k: v for k, v in counted.items() if k not in settings or not _is_same(settings[k], v)}
        if _is_known(kind):
            names = set(_OF_FOLDS if kind.__name__[-2:] == "CV" else ())
            if kind.__module__.startswith("sklearn."):
                names |= _that_follow(counted, settings)
            counted = {k: v for k, v in counted.items() if k not in names and not _is_internal(k, v)}
            return {k: v for k, v in counted.items() if not (_is_note(v) and _is_unread(kind, k))}
        kept = {}
        for name, value in counted.items():
            if name in settings:
                left, is_note = value, _is_place(value)
            else:
                left, is_note = _without_notes(value), _is_note(value)
            if (is_note or left is not value) and _tells(name, value):
                self.notes.append(Note(obj, name, value))
            if not is_note:
                kept[name] = left
        return kept


def _predicting(obj: Any) -> Any:
    """Return the model by which a search of scikit-learn predicts; any other object as it is."""
    is_search = _is_known(type(obj)) and _is_named("BaseSearchCV", type(obj))
    return getattr(obj, "best_estimator_", obj) if is_search else obj


def _is_known(kind: type) -> bool:
    return kind.__module__.partition(".")[0] in _KNOWN


def _is_named(name: str, kind: type) -> bool:
    return any(one.__name__ == name for one in kind.__mro__)


def _is_unread(kind: type, name: Any) -> bool:
    """Return whether no code of a class of scikit-learn names an attribute, which somebody else has set."""
    if not (kind.__module__.startswith("sklearn.") and hasattr(kind, "get_params")):
        return False
    texts = [_names_in(each.__module__) for each in kind.__mro__[:-1]]
    return all(texts) and not any(name in text for text in texts)


@functools.cache
def _names_in(module: str) -> frozenset[str]:
    """Return the attributes that the text of a module names, and words in quotes; nothing without a text."""
    try:
        return frozenset(_NAME.findall(inspect.getsource(sys.modules[module])))
    except (KeyError, OSError, TypeError):
        return frozenset()


def _tells(name: Any, value: Any) -> bool:
    """Return whether a note may tell anything."""
    return isinstance(name, str) and name not in _ALWAYS and not (value is None or isinstance(value, bool))


def _altered(value: Any) -> Any:
    if value is None or isinstance(value, bool | np.bool_):
        return value
    if isinstance(value, int | np.integer):
        return type(value)(~value)  # without a sign, too
    if isinstance(value, float | np.floating):
        return type(value)(-value - 1)
    if isinstance(value, str | bytes | bytearray):
        return type(value)()
    if isinstance(value, dict):
        return (
            type(value)({name: _altered(each) for name, each in value.items()})
            if type(value) is dict
            else value
        )
    return type(value)(map(_altered, value)) if type(value) in _CONTAINERS else value


def _settings_of(kind: type) -> dict[str, Any]:
    """Return the parameters of a class with their defaults; none if they cannot be read."""
    try:
        return {name: each.default for name, each in inspect.signature(kind).parameters.items()}
    except (TypeError, ValueError):
        return {}


_settings_of_library = functools.cache(_settings_of)  # whose classes last as long as the process


def _is_same(default: Any, value: Any) -> bool:
    """Return whether a setting has its default."""
    if value is default:
        return True
    kinds = {type(value), type(default)}
    if isinstance(value, _PLAIN) and value == value:  # NaN is another object in a copy, as sets are
        return (len(kinds) == 1 or kinds == {int, float}) and bool(value == default)
    try:
        return len(kinds) == 1 and lasting_digest(value) == lasting_digest(default)
    except Undigestible:
        return False


def _is_internal(name: Any, value: Any) -> bool:
    """Return whether an attribute of a library's object follows from others, or says how these were made."""
    if value is None or isinstance(value, bool) or name in _INTERNAL:
        return True
    return isinstance(name, str) and name[:1] == "_" and isinstance(value, str | int | np.integer)


def _that_follow(counted: dict[Any, Any], settings: dict[str, Any]) -> set[Any]:
    """Return the attributes of an estimator of scikit-learn that its class or other attributes determine."""
    constants = {
        name for name, value in counted.items()
        if isinstance(value, int | float) and name not in settings and str(name)[-1:] != "_"
    }  # fmt: skip
    return constants | ({"classes_"} if "_label_binarizer" in counted else set())


def _is_place(value: Any) -> bool:
    """Return whether a setting says where something is kept or written."""
    return isinstance(value, _PLACES) or (isinstance(value, str) and os.path.isabs(value))


def _is_note(value: Any) -> bool:
    """Return whether a value is a number, a text, a time or the like, or holds nothing else."""
    if value is None or isinstance(value, _NOTES):
        return True
    if isinstance(value, dict):
        return all(_is_note(part) for item in value.items() for part in item)
    return isinstance(value, _CONTAINERS) and all(map(_is_note, value))


def _without_notes(value: Any) -> Any:
    """Return a dict without the values that are notes; anything else as it is."""
    if type(value) is not dict or not any(map(_is_note, value.values())):
        return value
    return {name: each for name, each in value.items() if not _is_note(each)}


def _to_digits(floats: Any) -> Any:
    """Return floats as multiples of a step that is a part of the size of them all."""
    wide = floats.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    largest = float(np.abs(finite).max()) if finite.size else 0.0
    if not largest:
        return wide + 0.0
    size = float(np.sqrt(np.mean((finite / largest) ** 2))) * largest
    # A power of two, so that the size itself has no last digits.
    return np.round(wide / 2.0 ** round(math.log2(size)) / _DIGITS) + 0.0
