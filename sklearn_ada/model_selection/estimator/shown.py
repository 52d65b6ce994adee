"""How a fitted search is shown in a notebook: with its certified score, and what that is a score of."""

from __future__ import annotations

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
        diagram = super()._repr_html_  # AttributeError where diagrams are switched off
        return lambda: diagram() + self._score_as_html()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        shown = dict(super()._repr_mimebundle_(**kwargs))
        if "text/html" in shown:
            shown["text/html"] += self._score_as_html()
        return shown

    def _score_as_html(self) -> str:
        return self.best_answer_._repr_html_() if hasattr(self, "best_answer_") else ""
