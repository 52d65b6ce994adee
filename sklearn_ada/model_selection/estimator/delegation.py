"""What a fitted search hands on to its best estimator."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sklearn_ada._checks import bad_parameter
from sklearn_ada.model_selection.estimator.rows_of_fit import warn_of_rows_of_fit
from sklearn_ada.model_selection.running.engines import keeps_model
from sklearn_ada.model_selection.setting_up.ids import without_column

__all__ = ["OF_BEST", "DelegatesToBest", "hand_on"]

OF_BEST = (
    "best_answer_", "best_estimator_", "best_index_", "best_params_", "best_score_", "best_score_interval_",
    "best_score_target_",
)  # fmt: skip
"""What is known of the best candidate."""

_OF_SEARCH = (
    "max_resources_", "min_resources_", "multimetric_", "n_candidates_", "n_iterations_",
    "n_possible_iterations_", "n_remaining_candidates_", "n_required_iterations_", "n_resources_",
    "n_splits_", "refit_time_",
)  # fmt: skip
"""Fitted attributes of scikit-learn's searches that are the wrapper's too."""


def hand_on(search: Any, wrapper: Any) -> None:
    """Set on the wrapper what a search of scikit-learn says of itself, and nothing of an earlier one."""
    for name in _OF_SEARCH:
        wrapper.__dict__.pop(name, None)
        if hasattr(search, name):
            setattr(wrapper, name, getattr(search, name))


def _delegated(method: str) -> Any:
    def has(self: Any) -> bool:
        if hasattr(self, "best_estimator_"):
            getattr(self.best_estimator_, method)
        elif not keeps_model(self):
            raise AttributeError(
                f"This {type(self).__name__} has a search with `refit=False`. {method} is available only "
                "after refitting on the best parameters. Use refit=True, or fit a model with best_params_."
            )
        else:
            getattr(self.search.estimator, method)
        return True

    return available_if(has)


class DelegatesToBest:
    """Methods and attributes of ``best_estimator_``; the methods exist where the estimator has them."""

    search: Any
    scorer_: Any
    best_estimator_: Any
    _id_column: str | None = None  # which no model sees
    _takes_pairs_with: tuple[int, NDArray[Any]] | None = None  # of how many rows, which are for training

    @_delegated("predict")
    def predict(self, X: Any) -> Any:
        """Predict with ``best_estimator_``."""
        return self._fitted().predict(self._columns(X))

    @_delegated("predict_proba")
    def predict_proba(self, X: Any) -> Any:
        """Predict probabilities with ``best_estimator_``."""
        return self._fitted().predict_proba(self._columns(X))

    @_delegated("predict_log_proba")
    def predict_log_proba(self, X: Any) -> Any:
        """Predict log-probabilities with ``best_estimator_``."""
        return self._fitted().predict_log_proba(self._columns(X))

    @_delegated("decision_function")
    def decision_function(self, X: Any) -> Any:
        """Return the decision function of ``best_estimator_``."""
        return self._fitted().decision_function(self._columns(X))

    @_delegated("score_samples")
    def score_samples(self, X: Any) -> Any:
        """Return the score of every row by ``best_estimator_``."""
        return self._fitted().score_samples(self._columns(X))

    @_delegated("transform")
    def transform(self, X: Any) -> Any:
        """Transform with ``best_estimator_``."""
        return self._fitted().transform(self._columns(X))

    @_delegated("inverse_transform")
    def inverse_transform(self, X: Any) -> Any:
        """Transform back with ``best_estimator_``."""
        return self._fitted().inverse_transform(X)

    def score(self, X: Any, y: Any = None, **params: Any) -> float:
        """Return the plain metric on the X given; asks the holdout nothing.

        A warning tells if these are the rows of `fit`, on most of which the model was trained.

        Parameters
        ----------
        X : array-like of shape (n, ...)
        y : array-like of shape (n,) or None, default=None
        **params : dict
            ``sample_weight``; with metadata routing whatever the scorer requests.
        """
        model, scorer = self._fitted(), self.scorer_
        if params.keys() - {"sample_weight"} and not get_config()["enable_metadata_routing"]:
            raise bad_parameter(
                "**params", "ReusableHoldoutCV.score", "sample_weight at most: metadata is only supported if "
                "enable_metadata_routing=True", sorted(params), "Set it: sklearn.set_config(...).",
            )  # fmt: skip
        if self._takes_pairs_with is None:
            warn_of_rows_of_fit(self, without_column(X, self._id_column), y)
        refit = self.search.get_params(deep=False).get("refit")
        if isinstance(scorer, dict):
            return float(scorer[refit](model, self._columns(X), y, **params))
        score = scorer(model, self._columns(X), y, **params)
        return float(score[refit] if isinstance(score, dict) else score)

    def _fitted(self) -> Any:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    def _columns(self, X: Any) -> Any:
        """Return X without ids; of pairs with all rows that were passed, those with the rows fitted on."""
        X = without_column(X, self._id_column)
        return X if self._takes_pairs_with is None else X[:, self._takes_pairs_with[1]]

    @property
    def classes_(self) -> Any:
        """Class labels of ``best_estimator_``."""
        self._of_best("classes_")
        return self.best_estimator_.classes_

    @property
    def n_features_in_(self) -> int:
        """Number of columns that `predict` takes; AttributeError before fit."""
        self._of_best("n_features_in_")
        if self._takes_pairs_with is None:
            return int(self.best_estimator_.n_features_in_)
        return self._takes_pairs_with[0]

    @property
    def feature_names_in_(self) -> Any:
        """Feature names of ``best_estimator_``, where it has them."""
        self._of_best("feature_names_in_")
        return self.best_estimator_.feature_names_in_

    def _of_best(self, attribute: str) -> None:
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(f"{type(self).__name__} is not fitted, so it has no {attribute!r}.")
