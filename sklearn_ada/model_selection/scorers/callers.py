"""Callers that a scorer with a holdout of its own cannot serve: refused before anything is charged.

Some parts of scikit-learn hand a scorer what is not a model of the holdout's rows: columns left out, labels
coded anew, predictions in place of rows, a model that is still being fitted.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from sklearn_ada.holdout import Holdout

__all__ = ["NotAScore", "check_caller", "misused", "refusal_of_columns"]

_WAY_OUT = (
    "Put ReusableHoldoutCV around the whole search, or use a plain scorer here and ask about the fitted "
    "model: holdout.certify(model, scoring=...)."
)


def misused(name: str, what: str) -> TypeError:
    """Return the error of a scorer that was used where it cannot be."""
    return TypeError(f"{name} {what}. {_WAY_OUT}")


def check_caller(scorer: Any, estimator: Any, y: Any) -> None:
    """Raise TypeError if this is no fitted model of rows and labels like the holdout's."""
    holdout: Holdout = scorer.holdout
    name = type(scorer).__name__
    if not hasattr(estimator, "fit"):
        what = f"was handed a {type(estimator).__name__} and its predictions, not a fitted model and its rows"
        raise misused(name, what)
    own = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    if own.get("scoring") is scorer and "n_iter_no_change" in own:
        raise misused(name, f"cannot stop {type(estimator).__name__} early, from inside its fit")
    known = getattr(estimator, "classes_", None)
    if holdout.classes is None or known is None or np.array_equal(holdout.classes, known):
        return
    if np.setdiff1d(holdout.classes, known).size and np.setdiff1d(y, holdout.classes).size:
        raise misused(name, "was handed labels coded anew, which are not the holdout's")


class NotAScore:
    """Stands for a score that cannot be, and raises its error where it is read as a number.

    An exception inside a scorer becomes a NaN in searches, which then choose at random.
    """

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __float__(self) -> NoReturn:
        raise self.error

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise self.error

    def item(self) -> NoReturn:
        """Raise; scikit-learn reads a score so."""
        raise self.error

    def __repr__(self) -> str:
        return f"<no score: {self.error}>"


def refusal_of_columns(scorer: Any, estimator: Any, X: Any) -> NotAScore | None:
    """Return what stands for the score of a model of some of the columns, or None if it has all of them."""
    shape = getattr(X, "shape", None) or np.shape(X[:1])
    columns = shape[1] if len(shape) == 2 else None
    expected = scorer.session.data.n_columns
    fitted_on = getattr(estimator, "n_features_in_", None)
    if columns is None or expected is None or columns == expected or fitted_on != columns:
        return None
    what = f"was asked about a model of {columns} columns, and the holdout has {expected}"
    return NotAScore(misused(type(scorer).__name__, what))
