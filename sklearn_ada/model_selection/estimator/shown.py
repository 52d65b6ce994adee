"""How a fitted search is shown in a notebook: with its certified score, and what that is a score of."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from sklearn.base import BaseEstimator

from sklearn_ada.results import Answer

__all__ = ["ShowsScore"]


class ShowsScore(BaseEstimator):
    """Puts the certified answer beneath the diagram, whose table of attributes cuts a target short."""

    best_answer_: Answer

    @property
    def _repr_html_(self) -> Callable[[], str]:
        diagram = BaseEstimator._repr_html_.fget(self._with_fitted())  # AttributeError: diagrams are off
        return lambda: diagram() + self._score_as_html()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        shown = dict(BaseEstimator._repr_mimebundle_(self._with_fitted(), **kwargs))
        if "text/html" in shown:
            shown["text/html"] += self._score_as_html()
        return shown

    def _with_fitted(self) -> ShowsScore:
        """Return this, once fitted with its best model (or its fitted search) in place of the search."""
        if not hasattr(self, "search_"):
            return self
        other = object.__new__(type(self))
        other.__dict__.update(vars(self), search=copy.copy(self.search_))
        if hasattr(self, "best_estimator_"):
            other.search.best_estimator_ = self.best_estimator_
        return other

    def _score_as_html(self) -> str:
        return self.best_answer_._repr_html_() if hasattr(self, "best_answer_") else ""
