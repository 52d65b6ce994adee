"""What scikit-learn asks of an estimator that wraps a search: tags, routing, copies, pickles."""

from __future__ import annotations

import copy
from typing import Any, Self

from sklearn.base import MetaEstimatorMixin
from sklearn.utils import get_tags

from sklearn_ada.holdout import Holdout
from sklearn_ada.model_selection.estimator.shown import ShowsScore
from sklearn_ada.model_selection.running.metadata import router_of
from sklearn_ada.model_selection.running.pairs import is_of_pairs
from sklearn_ada.model_selection.scorers.base import HoldoutScorer

__all__ = ["WrapsSearch"]


class WrapsSearch(MetaEstimatorMixin, ShowsScore):
    """An estimator around a search, with a holdout of which there is only one."""

    search: Any

    def get_metadata_routing(self) -> Any:
        """Return the routing: ``groups`` are read here too, everything else is the search's."""
        return router_of(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.search)
        model = inner if inner.estimator_type else get_tags(self.search.estimator)  # not all searches say
        tags.estimator_type = model.estimator_type
        tags.classifier_tags, tags.regressor_tags = model.classifier_tags, model.regressor_tags
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.pairwise = is_of_pairs(self.search)
        tags.target_tags.required = True
        return tags

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Copy everything but the holdout, of which there is only one."""
        other = object.__new__(type(self))
        memo[id(self)] = other
        for name, value in vars(self).items():
            setattr(other, name, copy.deepcopy(value, memo))
        return other

    def __getstate__(self) -> dict[str, Any]:
        """Drop holdout rows and secret: a pickled fitted search keeps plain results and the report."""
        state = dict(super().__getstate__())
        if "holdout_" not in state:
            return state
        for name in ("holdout_", "holdout"):
            if isinstance(state[name], Holdout):
                state[name] = state[name].report()
        if isinstance(state["mechanism"], HoldoutScorer):  # its holdout is that of the search
            state["mechanism"] = repr(state["mechanism"])
        return state
