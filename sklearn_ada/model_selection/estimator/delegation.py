"""What a fitted search hands on to its best estimator."""

from __future__ import annotations

from typing import Any

from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

__all__ = ["DelegatesToBest"]


def _delegated(method: str) -> Any:
    def has(self: Any) -> bool:
        getattr(getattr(self, "best_estimator_", None) or self.search.estimator, method)
        return True

    return available_if(has)


class DelegatesToBest:
    """Methods and attributes of ``best_estimator_``; the methods exist where the estimator has them."""

    search: Any
    best_estimator_: Any

    @_delegated("predict")
    def predict(self, X: Any) -> Any:
        """Predict with ``best_estimator_``."""
        return self._fitted().predict(X)

    @_delegated("predict_proba")
    def predict_proba(self, X: Any) -> Any:
        """Predict probabilities with ``best_estimator_``."""
        return self._fitted().predict_proba(X)

    @_delegated("predict_log_proba")
    def predict_log_proba(self, X: Any) -> Any:
        """Predict log-probabilities with ``best_estimator_``."""
        return self._fitted().predict_log_proba(X)

    @_delegated("decision_function")
    def decision_function(self, X: Any) -> Any:
        """Return the decision function of ``best_estimator_``."""
        return self._fitted().decision_function(X)

    @_delegated("transform")
    def transform(self, X: Any) -> Any:
        """Transform with ``best_estimator_``."""
        return self._fitted().transform(X)

    def _fitted(self) -> Any:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    @property
    def classes_(self) -> Any:
        """Class labels of ``best_estimator_``."""
        return self._fitted().classes_

    @property
    def n_features_in_(self) -> int:
        """Number of features of ``best_estimator_``; AttributeError before fit."""
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(f"{type(self).__name__} is not fitted, so it has no 'n_features_in_'.")
        return int(self.best_estimator_.n_features_in_)

    @property
    def feature_names_in_(self) -> Any:
        """Feature names of ``best_estimator_``, where it has them."""
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(f"{type(self).__name__} is not fitted, so it has no 'feature_names_in_'.")
        return self.best_estimator_.feature_names_in_
