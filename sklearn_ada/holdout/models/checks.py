"""Checks of a model before it is asked about: fitted, on the columns and classes of the holdout."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from sklearn_ada._checks import bad_parameter
from sklearn_ada._table import printable
from sklearn_ada.holdout.rows.data import HoldoutData

__all__ = ["Pair", "check_model", "discarded_copy", "name_of_model"]

_LONGEST = 60
_SAYING = ("predict", "predict_proba", "decision_function")  # one of them is what a metric reads of a model


class Pair:
    """Two fitted models; ``predict`` returns what both say, side by side.

    Parameters
    ----------
    a, b : fitted estimator
    """

    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b

    @property
    def classes_(self) -> Any:
        """The classes of the first model, which are those of the second; AttributeError if it has none."""
        return self.a.classes_

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predictions of both models."""
        return np.stack([np.asarray(each.predict(X)) for each in (self.a, self.b)], axis=1)


def check_model(estimator: Any, data: HoldoutData, owner: str, fitted: bool = False) -> None:
    """Raise unless the model is fitted, on columns and classes like those of the holdout.

    ``owner`` is what is called, for the message. ``fitted``: whether it is known to be.

    Raises
    ------
    TypeError
        If it has no ``predict``, ``predict_proba`` or ``decision_function``.
    NotFittedError
        If it is not fitted.
    ValueError
        If it was fitted on other columns, or lacks a class of the holdout.
    """
    if not any(callable(getattr(estimator, method, None)) for method in _SAYING):
        raise TypeError(
            f"The 'estimator' parameter of {owner} must be a fitted model, with one of {', '.join(_SAYING)}. "
            f"Got {type(estimator).__name__} instead."
        )
    if hasattr(estimator, "fit") and not fitted:
        _check_fitted(estimator)
    _check_columns(estimator, data, owner)
    classes = getattr(estimator, "classes_", None)
    if data.classes is not None and classes is not None and not isinstance(classes, list):  # of one output
        missing = set(data.classes.tolist()) - set(np.asarray(classes).tolist())
        if missing:
            raise bad_parameter(
                "estimator",
                owner,
                "fitted on all classes of the holdout",
                f"{len(classes)} classes, {len(missing)} missing",
                "Fit on labels like the holdout's.",
            )


def discarded_copy(estimator: Any, owner: str = "Holdout.check") -> Any:
    """Return a copy of a model to be asked and discarded; TypeError if it cannot be copied.

    A model that changes when it predicts could keep something of the holdout's rows.
    """
    try:
        return copy.deepcopy(estimator)
    except Exception as error:  # whatever the model's parts raise
        raise TypeError(
            f"The 'estimator' parameter of {owner} must be a model that can be copied. Got "
            f"{type(estimator).__name__} instead ({error}). Leave out what cannot be copied, such as a lock, "
            "or define __deepcopy__."
        ) from error


def name_of_model(estimator: Any) -> str:
    """Return the name of a model's class, in a pipeline that of its last step, for people who read records.

    It is no part of a question, and nothing is computed from it.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import SVC
    >>> name_of_model(SVC()), name_of_model(make_pipeline(StandardScaler(), SVC()))
    ('SVC', 'Pipeline: SVC')
    """
    if isinstance(estimator, Pair):
        return f"{name_of_model(estimator.b)} minus {name_of_model(estimator.a)}"[:_LONGEST]
    names = [type(estimator).__name__]
    steps = getattr(estimator, "steps", None)
    if isinstance(steps, list) and steps and isinstance(steps[-1], tuple) and len(steps[-1]) == 2:
        names.append(type(steps[-1][1]).__name__)
    return printable(": ".join(names))[:_LONGEST]


def _check_fitted(estimator: Any) -> None:
    """Raise NotFittedError unless scikit-learn says that the model is fitted.

    Attributes that an unfitted clone does not have count as well, for estimators without a trailing
    underscore. A model that is none of scikit-learn's is fitted if it says so, or has attributes whose names
    end in "_".
    """
    says = getattr(estimator, "__sklearn_is_fitted__", None)
    try:
        check_is_fitted(estimator)
        return
    except NotFittedError:
        if hasattr(estimator, "get_params"):
            if says is not None or not _is_set(estimator) - _is_set(clone(estimator)):
                raise
            return
    except AttributeError:  # it has no tags
        pass
    learnt = [name for name in getattr(estimator, "__dict__", ()) if name.endswith("_") and name[:1] != "_"]
    if not (says() if callable(says) else learnt):
        raise NotFittedError(
            f"This {type(estimator).__name__} instance is not fitted yet, or does not say so. Call its fit; "
            "what it learns there must be in attributes whose names end in '_', or it must have "
            "__sklearn_is_fitted__()."
        )


def _is_set(estimator: Any) -> set[str]:
    """Return the names of the attributes that are not None."""
    return {name for name, value in vars(estimator).items() if value is not None}


def _check_columns(estimator: Any, data: HoldoutData, owner: str) -> None:
    features = getattr(estimator, "n_features_in_", None) or None  # 0: CatBoost, after pickle and copy
    if features is not None and data.n_columns is not None and features != data.n_columns:
        raise bad_parameter("estimator", owner, f"fitted on {data.n_columns} columns", f"{features} columns")
    names = getattr(estimator, "feature_names_in_", None)
    columns = getattr(data.X, "columns", None)
    if names is not None and columns is not None and list(names) != list(columns):
        raise bad_parameter(
            "estimator", owner, "fitted on the holdout's columns, in their order", list(names)[:5]
        )
