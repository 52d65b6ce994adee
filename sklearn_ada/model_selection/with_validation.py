"""`WithValidation`: early stopping on rows that are cut from those that a model is fitted on.

A booster that stops by rows which a search passes to `fit` sees the same rows in every fold, and in the final
refit: those that judge a fold, or the holdout, are then among those that stop the model. Cut inside `fit`,
they are always a part of the rows that the model may see.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import get_tags, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sklearn_ada._validation import bad_parameter, check_real
from sklearn_ada.data.labels import n_rows, take_rows
from sklearn_ada.model_selection.training_rows import split_rows

OWNER = "WithValidation"
_FORMS: dict[str, Callable[[Any, Any], dict[str, Any]]] = {
    "eval_set": lambda X, y: {"eval_set": [(X, y)]},
    "validation_data": lambda X, y: {"validation_data": (X, y)},
    "X_val": lambda X, y: {"X_val": X, "y_val": y},
}
"""What `fit` of LightGBM, XGBoost and CatBoost takes; of Keras; of scikit-learn's boosting and others."""


def _form_of(model: Any) -> str:
    """Return the first form that `fit` of a model names; "eval_set" where it takes whatever it is passed.

    Raises
    ------
    ValueError
        If it takes none of them.
    """
    parameters = inspect.signature(model.fit).parameters
    named = next((form for form in _FORMS if form in parameters), None)
    if named is None and not any(each.kind is each.VAR_KEYWORD for each in parameters.values()):
        names = ", ".join(_FORMS)
        fix = f"Its fit takes none of {names}: give a function (X_val, y_val) -> parameters of fit."
        raise bad_parameter("passed_as", OWNER, f"given for {type(model).__name__}", "auto", fix)
    return named or "eval_set"


def _of_model(name: str, summary: str) -> Any:
    """Return a method that is that of the model within, and exists where the model has it."""

    def has(self: Any) -> bool:
        getattr(getattr(self, "estimator_", self.estimator), name)
        return True

    def call(self: Any, X: Any) -> Any:
        check_is_fitted(self, "estimator_")
        return getattr(self.estimator_, name)(X)

    call.__name__, call.__qualname__, call.__doc__ = name, f"{OWNER}.{name}", summary
    return available_if(has)(call)


@dataclass(eq=False, repr=False)
class WithValidation(MetaEstimatorMixin, BaseEstimator):
    """Fit a model on some of its rows, and stop it early by the rest.

    In a search each fold, and the final refit, cuts the rows to stop by from its own training part. So no row
    that a model is judged by stops it.

    Parameters
    ----------
    estimator : estimator
        A model whose `fit` takes validation rows, such as ``LGBMClassifier(early_stopping_round=20)`` or
        ``XGBClassifier(early_stopping_rounds=20)``.
    validation_fraction : float, default=0.1
        The part of the rows that is cut off. It is stratified by class where y holds classes.
    passed_as : {"auto", "eval_set", "validation_data", "X_val"} or callable, default="auto"
        How they are passed.

        - "auto": by the first of these names that the model's `fit` has.
        - "eval_set": ``eval_set=[(X_val, y_val)]``, as LightGBM, XGBoost and CatBoost take them.
        - "validation_data": ``validation_data=(X_val, y_val)``, as Keras takes them.
        - "X_val": ``X_val=X_val, y_val=y_val``, as `HistGradientBoostingClassifier` takes them.
        - A function of X_val and y_val that returns the parameters of `fit`, as a dict.
    random_state : int, default=0
        Seeds the split.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.

    Examples
    --------
    >>> from sklearn.base import ClassifierMixin
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn_ada import ReusableHoldoutCV, WithValidation
    >>> class StopsEarly(KNeighborsClassifier):
    ...     def fit(self, X, y, eval_set=()):
    ...         self.stopped_by_ = len(eval_set[0][0])
    ...         return super().fit(X, y)
    >>> X, y = make_classification(150, random_state=11)
    >>> model = WithValidation(StopsEarly(), validation_fraction=0.2)
    >>> grid = GridSearchCV(model, {"estimator__n_neighbors": [1, 5]})
    >>> search = ReusableHoldoutCV(grid, ledger=":memory:").fit(X, y)
    >>> len(search.train_indices_), search.best_estimator_.estimator_.stopped_by_
    (112, 23)
    """

    estimator: Any
    _: KW_ONLY
    validation_fraction: float = 0.1
    passed_as: str | Callable[[Any, Any], dict[str, Any]] = "auto"
    random_state: int = 0

    predict = _of_model("predict", "Predict with the model.")
    predict_proba = _of_model("predict_proba", "Predict probabilities with the model.")
    predict_log_proba = _of_model("predict_log_proba", "Predict log-probabilities with the model.")
    decision_function = _of_model("decision_function", "Return the decision function of the model.")

    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, **fit_params: Any
    ) -> WithValidation:
        """Cut the validation rows off, and fit the model on the others.

        Parameters
        ----------
        X : array-like of shape (n, ...)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,) or None, default=None
            Those of the rows that the model is fitted on are passed to it.
        **fit_params : dict
            Passed to the model as they are.

        Returns
        -------
        self
        """
        share = check_real(self.validation_fraction, "validation_fraction", OWNER, low=0.0, high=1.0)
        how = _form_of(self.estimator) if self.passed_as == "auto" else self.passed_as
        form = how if callable(how) else _FORMS.get(how)
        if form is None:
            expected = f"a function or one of 'auto', {', '.join(map(repr, _FORMS))}"
            raise bad_parameter("passed_as", OWNER, expected, how)
        X, y = indexable(X, y)
        first, rest = split_rows(n_rows(X), y, share, self.random_state)
        params = {**fit_params, **form(take_rows(X, rest), take_rows(y, rest))}
        if sample_weight is not None:
            params["sample_weight"] = take_rows(np.asarray(sample_weight), first)
        self.estimator_ = clone(self.estimator).fit(take_rows(X, first), take_rows(y, first), **params)
        return self

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the score of the model.

        Parameters
        ----------
        X : array-like of shape (n, ...)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,) or None, default=None
        """
        check_is_fitted(self, "estimator_")
        params = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(self.estimator_.score(X, y, **params))

    @property
    def classes_(self) -> Any:
        """Class labels of the model."""
        return self._fitted("classes_")

    @property
    def n_features_in_(self) -> int:
        """Number of columns that the model takes."""
        return int(self._fitted("n_features_in_"))

    @property
    def feature_names_in_(self) -> Any:
        """Feature names of the model, if any."""
        return self._fitted("feature_names_in_")

    def _fitted(self, name: str) -> Any:
        if "estimator_" not in vars(self):
            raise AttributeError(f"{type(self).__name__} is not fitted, so it has no {name!r}.")
        return getattr(self.estimator_, name)

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type, tags.input_tags = inner.estimator_type, inner.input_tags
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.target_tags.required = True
        return tags
