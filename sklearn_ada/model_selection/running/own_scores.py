"""Which of a search's own scores it goes by, and what that is a score of."""

from __future__ import annotations

from typing import Any

from sklearn import get_config
from sklearn.utils import get_tags

from sklearn_ada._checks import bad_parameter
from sklearn_ada.metrics import Metric

__all__ = [
    "chooses_by_several", "has_usual_metric", "metric_of", "own_scorings", "plain_scoring", "score_name",
    "scores_otherwise",
]  # fmt: skip

_OWNER = "ReusableHoldoutCV"


def plain_scoring(metric: Metric) -> Any:
    """Return the plain metric as a search's scoring; with metadata routing one that requests nothing."""
    is_routing = get_config()["enable_metadata_routing"]
    return metric.scoring if isinstance(metric.scoring, str) and not is_routing else metric.score


def scores_otherwise(search: Any, scoring: Any) -> bool:
    """Return whether a search without scoring would not rank its candidates by this one."""
    own = search.get_params(deep=False).get("scoring")
    return own is None and (scoring is not None or not hasattr(search.estimator, "score"))


def own_scorings(search: Any) -> list[Any]:
    """Return every scoring that a search computes."""
    scoring = search.get_params(deep=False).get("scoring")
    named = _named(scoring)
    return [scoring] if named is None else list(named.values())


def chooses_by_several(search: Any) -> bool:
    """Return whether a search's winner is chosen by a function of several scores, of which it names none."""
    own = search.get_params(deep=False)
    return _named(own.get("scoring")) is not None and callable(own.get("refit"))


def has_usual_metric(search: Any) -> bool:
    """Return whether a search names its metric, or its model has one by itself.

    Of what is neither a classifier nor a regressor, such as a clustering, the score is none of labels.
    """
    named = search.get_params(deep=False).get("scoring") is not None
    return named or get_tags(search.estimator).estimator_type in ("classifier", "regressor", None)


def metric_of(search: Any) -> Any:
    """Return the scoring of a search; of one with several scores that which it refits by.

    Raises
    ------
    ValueError
        If it has several and names none.
    """
    own = search.get_params(deep=False)
    scoring, refit = own.get("scoring"), own.get("refit")
    named = _named(scoring)
    if callable(scoring) and isinstance(refit, str):
        return OneOfSeveral(scoring, refit)
    if named is None:
        return scoring
    if isinstance(refit, str) and refit in named:
        return named[refit]
    raise bad_parameter(
        "scoring", _OWNER, "one metric", scoring,
        "For multi-metric scoring, the parameter refit must be set to a scorer key; or name the metric to "
        "certify: scoring='accuracy'.",
    )  # fmt: skip


def score_name(search: Any, metric: Metric) -> tuple[str, Any]:
    """Return the name of the score that a search's candidates are ranked by, and its scoring.

    Raises
    ------
    ValueError
        If the search has several scores, none of which is that of ``refit`` or of the metric.
    """
    own = search.get_params(deep=False)
    scoring, refit = own.get("scoring"), own.get("refit")
    named = _named(scoring)
    if named is None:
        is_named = isinstance(refit, str) and callable(scoring)  # a callable that returns several
        return (refit, None) if is_named else ("score", scoring)
    if isinstance(refit, str) and refit in named:
        return refit, named[refit]
    for name, one in named.items():
        if one == metric or one == metric.scoring:
            return name, one
    raise bad_parameter(
        "search", _OWNER, "with refit= naming the score that ranks its candidates", f"refit={refit!r}",
    )  # fmt: skip


class OneOfSeveral:
    """The score of this name, of a function that returns a dict of several.

    Examples
    --------
    >>> OneOfSeveral(lambda estimator, X, y: {"a": 0.5, "b": 0.7}, "b")(None, None, None)
    0.7
    """

    def __init__(self, scoring: Any, name: str) -> None:
        self.scoring = scoring
        self.name = name
        self.__name__ = f"{getattr(scoring, '__name__', type(scoring).__name__)}[{name!r}]"

    def __call__(self, estimator: Any, X: Any, y: Any, **params: Any) -> Any:
        return self.scoring(estimator, X, y, **params)[self.name]


def _named(scoring: Any) -> dict[str, Any] | None:
    if isinstance(scoring, dict):
        return scoring
    return {name: name for name in scoring} if isinstance(scoring, (list, tuple, set)) else None
