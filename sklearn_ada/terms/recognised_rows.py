"""What rows are recognised by in this process: those of a holdout or of a fold, and those of a model.

A search knows the rows that it fits its best model on. Another holdout may be asked about that model later:
of the same data once they were sorted, or some rows dropped, of another share of them, or of rows that were
added. So hashes of the training rows are remembered by the model's digest.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import threading
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from sklearn_ada._notices import is_called_by_function
from sklearn_ada.data.columns import Column
from sklearn_ada.digest.rows import row_hashes
from sklearn_ada.ledger.elsewhere import Rows
from sklearn_ada.terms.holdout_data import HoldoutData

_CELLS = 2**24  # of a table that is read to recognise its rows
_MOST_HASHES = 2**24  # of training rows that are remembered: 128 MB
_WINDOW = 6
_MIXED = np.array([1, 3, 5, 7], dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)

_trained_on: dict[str, NDArray[np.uint64]] = {}  # by models and holdouts, those remembered last at the end
_models: WeakKeyDictionary[Any, NDArray[np.uint64]] = WeakKeyDictionary()
_remembering = threading.Lock()


def remember_beside(holdout: str, hashes: NDArray[np.uint64]) -> None:
    """Remember hashes of rows that models beside a holdout were fitted on, by its first fingerprint."""
    before = training_hashes(holdout)
    new = hashes if before is None else np.concatenate([before, hashes[~np.isin(hashes, before)]])
    remember_training(holdout, new)


def remember_training(name: str, hashes: NDArray[np.uint64], model: Any = None) -> None:
    """Remember hashes of the rows that a model was fitted on, by its digest; of too many, the latest."""
    with _remembering:
        _trained_on.pop(name, None)
        _trained_on[name] = hashes
        while len(_trained_on) > 1 and sum(map(len, _trained_on.values())) > _MOST_HASHES:
            _trained_on.pop(next(iter(_trained_on)))
        if model is not None:
            with contextlib.suppress(TypeError):  # it has no hash
                _models[model] = hashes


def training_hashes(name: str) -> NDArray[np.uint64] | None:
    """Return hashes of the training rows of a model, or beside a holdout; None if nobody remembers them."""
    return _trained_on.get(name)


def training_hashes_of_parts(model: Any) -> list[NDArray[np.uint64]]:
    """Return hashes of the rows that parts of a model were fitted on, such as a frozen one, if remembered."""
    if not _models:
        return []
    try:
        settings = list(model.get_params().values())
    except AttributeError:  # it has none, or not all that it names
        return []
    parts = [part for each in settings for part in _flat(each)]
    return [_models[part] for part in parts if hasattr(part, "fit") and _has_hash(part) and part in _models]


def _flat(value: Any) -> list[Any]:
    return [part for each in value for part in _flat(each)] if isinstance(value, list | tuple) else [value]


def _has_hash(value: Any) -> bool:
    return type(value).__hash__ is not None


def rows_of(data: HoldoutData) -> Rows:
    """Return what rows are recognised by; what lies outside of memory is not read for it."""
    if isinstance(data.labels, Column):
        return Rows.of([data.digest])
    hashes, labels = [], row_hashes(data.y) * _MIXED[1]
    shape = np.shape(data.X) if isinstance(data.X, list | tuple) else getattr(data.X, "shape", None)
    if shape is not None and math.prod(shape) <= _CELLS:
        hashes.append(data.feature_hashes ^ labels)
    if data.ids is not None:
        parts = data.ids.view(np.uint64).reshape(len(data), 4)
        hashes.append((parts * _MIXED).sum(axis=1) ^ labels)
    orders = []  # none that other rows could have, too
    if _is_order_of_its_own(labels):
        orders = [data.digest, _digest_of_classes(labels)] if data.is_classification else [data.digest]
    return Rows.of(orders, *hashes)


def _is_order_of_its_own(labels: NDArray[np.uint64]) -> bool:
    """Return whether labels change without a rule; in order or by turns other rows have them, too."""
    changes = np.count_nonzero(labels[1:] != labels[:-1])
    if len(labels) < 2 * _WINDOW or 20 * changes < len(labels):
        return False
    windows = np.lib.stride_tricks.sliding_window_view(labels, _WINDOW)
    return len(np.unique(windows, axis=0)) >= 16


def _digest_of_classes(labels: NDArray[np.uint64]) -> str:
    """Return what labels have in common with those of which only the classes are called otherwise."""
    _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    in_order = np.argsort(np.argsort(first))[codes.ravel()]
    return hashlib.sha256(in_order.astype("<i8").tobytes()).hexdigest()


_FITS_A_FOLD = {
    "sklearn.model_selection": frozenset(
        ("_fit_and_score", "_fit_and_predict", "_permutation_test_score", "_fit_and_score_over_thresholds")
    ),
    "sklearn.calibration": frozenset(("_fit_classifier_calibrator_pair",)),
    "sklearn.feature_selection": frozenset(("_rfe_single_fit",)),
}
"""Functions that fit one fold: of ``cross_validate``, searches and learning curves, ``cross_val_predict``,
permutation tests, `TunedThresholdClassifierCV`, `CalibratedClassifierCV` and `RFECV`."""


def within_cross_validation() -> bool:
    """Return whether a fold of scikit-learn's cross-validation is fitted among the callers.

    Not the refit of an outer search, nor a wrapper that lies in ``sklearn.model_selection`` as well: their
    rows are all rows.
    """
    return any(is_called_by_function(package, names) for package, names in _FITS_A_FOLD.items())
