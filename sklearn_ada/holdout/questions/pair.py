"""Two models that are asked about as one: which of them is better."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada._checks import bad_parameter
from sklearn_ada.holdout.questions.models import check_model, name_of_model
from sklearn_ada.holdout.questions.predictions import Predictions
from sklearn_ada.holdout.rows.data import HoldoutData

__all__ = ["Pair", "as_pair"]


class Pair:
    """Two fitted models; ``predict`` returns what both say, side by side.

    Parameters
    ----------
    a, b : fitted estimator
    """

    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b

    @property
    def described(self) -> str:
        """Names of both, for people who read records."""
        return f"{name_of_model(self.b)} minus {name_of_model(self.a)}"

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predictions of both models."""
        return np.stack([np.asarray(each.predict(X)) for each in (self.a, self.b)], axis=1)


def as_pair(a: Any, b: Any, data: HoldoutData) -> Pair:
    """Return two models as one to ask about, or raise before anything is charged."""
    owner = "Holdout.compare"
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
