"""What ``fit`` is passed beside X and y: split along with the rows, and handed to whom it belongs."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils.metadata_routing import MetadataRequest, MetadataRouter, MethodMapping, process_routing

from sklearn_ada.metrics import n_rows, take_rows
from sklearn_ada.model_selection.wrapper import Wrapper

__all__ = ["FitParams", "router_of"]


def router_of(wrapper: Wrapper) -> MetadataRouter:
    """Return how a `ReusableHoldoutCV` routes: it reads ``groups`` and ``ids``, the rest is its search's."""
    own = MetadataRequest(owner=wrapper)
    own.fit.add_request(param="groups", alias=True)
    own.fit.add_request(param="ids", alias=True)
    mapping = MethodMapping().add(caller="fit", callee="fit")
    return (
        MetadataRouter(owner=wrapper).add_self_request(own).add(search=wrapper.search, method_mapping=mapping)
    )


class FitParams:
    """Parameters of one call of ``fit``.

    Without metadata routing all of them go to the search, and all but ``groups`` to the final refit. With it,
    each goes where it was requested.

    Parameters
    ----------
    wrapper : ReusableHoldoutCV
    params : dict
    n : int
        Number of rows; parameters of this length are split along with them.

    Raises
    ------
    UnsetMetadataPassedError
        With routing, for what is passed but neither requested nor declined.
    TypeError
        With routing, for what nobody asked for.
    """

    def __init__(self, wrapper: Wrapper, params: dict[str, Any], n: int) -> None:
        self.groups = params.get("groups")
        self.of_search, self.of_model = dict(params), dict(params)
        self.of_model.pop("groups", None)
        if get_config()["enable_metadata_routing"] and params:
            self.of_search = dict(process_routing(wrapper, "fit", **params).search.fit)
            self.of_model = {}
            if self.of_search and hasattr(wrapper.search, "get_metadata_routing"):
                self.of_model = dict(process_routing(wrapper.search, "fit", **self.of_search).estimator.fit)
        self._n = n

    def take(self, rows: NDArray[Any]) -> FitParams:
        """Return the parameters of some of the rows."""
        part = object.__new__(FitParams)
        part.groups = None if self.groups is None else take_rows(self.groups, rows)
        part.of_search = self._taken(self.of_search, rows)
        part.of_model = self._taken(self.of_model, rows)
        part._n = len(rows)
        return part

    def of_asking(self) -> dict[str, Any]:
        """Return what goes to a search whose cv takes guesses from whole groups."""
        return self.of_search if self.groups is None else {**self.of_search, "groups": self.groups}

    def _taken(self, params: dict[str, Any], rows: NDArray[Any]) -> dict[str, Any]:
        return {name: take_rows(v, rows) if _is_aligned(v, self._n) else v for name, v in params.items()}


def _is_aligned(value: Any, n: int) -> bool:
    """Return whether a fit parameter has one entry per row."""
    return hasattr(value, "__len__") and not isinstance(value, (str, dict)) and n_rows(value) == n
