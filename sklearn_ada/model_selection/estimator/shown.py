"""How a fitted search is shown in a notebook: with its certified score, and what is left of its holdout."""

from __future__ import annotations

import copy
import html
from collections.abc import Callable
from typing import Any

from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.utils import estimator_html_repr

from sklearn_ada.holdout import Holdout, HoldoutReport, headline_of
from sklearn_ada.results import Answer

__all__ = ["ShowsScore"]


class ShowsScore(BaseEstimator):
    """Puts the certified answer beneath the diagram, whose table of attributes cuts a target short."""

    best_answer_: Answer
    _unasked: str
    holdout_: Holdout | HoldoutReport

    @property
    def _repr_html_(self) -> Callable[[], str]:
        if get_config()["display"] != "diagram":
            raise AttributeError(
                "There is a page only where the 'display' of sklearn.set_config is 'diagram'."
            )
        return self._as_page

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        shown = {"text/plain": repr(self)}
        return shown | ({"text/html": self._as_page()} if get_config()["display"] == "diagram" else {})

    def _as_page(self) -> str:
        page: str = estimator_html_repr(self._with_fitted())
        return page + self._score_as_html()

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
        if not hasattr(self, "best_answer_"):
            why = html.escape(getattr(self, "_unasked", ""))
            return f"<p><b>Nothing is certified of best_estimator_</b></p><p>{why}</p>" if why else ""
        left = html.escape(headline_of(self.holdout_))
        return (
            f"<p><b>Certified score of best_estimator_</b></p>{self.best_answer_._repr_html_()}<p>{left}</p>"
        )
