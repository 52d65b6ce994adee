"""Two models that are asked about as one: which of them is better."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_ada._checks import bad_parameter
from sklearn_ada.holdout.models.checks import Pair, check_model
from sklearn_ada.holdout.models.predictions import Predictions
from sklearn_ada.holdout.rows.data import HoldoutData

__all__ = ["as_pair"]


def as_pair(a: Any, b: Any, data: HoldoutData) -> Pair:
    """Return two models as one to ask about, or raise before anything is charged.

    A `ReusableHoldoutCV` that has a best model stands for that one, whether it was asked about or not. Of
    nobody else's class is it known that it says what its ``best_estimator_`` says.
    """
    owner = "Holdout.compare"
    a, b = (model.best_estimator_ if _is_search(model) else model for model in (a, b))
    for name, model in (("a", a), ("b", b)):
        if isinstance(model, Predictions):
            raise bad_parameter(
                name, owner, "a fitted model", "Predictions",
                "Their target is these rows; ask about each: certify(Predictions(...)).",
            )  # fmt: skip
        check_model(model, data, owner)
    first, second = (getattr(model, "classes_", None) for model in (a, b))
    if first is not None and second is not None and not np.array_equal(np.asarray(first), np.asarray(second)):
        raise bad_parameter("b", owner, "fitted on the classes of a", f"{len(np.asarray(second))} classes")
    return Pair(a, b)


def _is_search(model: Any) -> bool:
    return hasattr(model, "train_indices_") and hasattr(model, "best_estimator_")
