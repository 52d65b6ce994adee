"""What can be read off a search before and after it runs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, ParameterGrid, ParameterSampler, RandomizedSearchCV
from sklearn.utils.parallel import Parallel, delayed

from sklearn_ada.digest import Undigestible, canonical_digest
from sklearn_ada.metrics.data.rows import own_copy
from sklearn_ada.model_selection.running.engines import candidates_of, last_round
from sklearn_ada.results import Answer

__all__ = ["columns_of", "n_candidates", "ranked", "refitted"]


def n_candidates(search: Any) -> int | None:
    """Return how many candidates are fixed before the first is fitted, or None if that is not known."""
    if type(search) is GridSearchCV:
        return len(ParameterGrid(search.param_grid))
    if type(search) is RandomizedSearchCV:
        return len(ParameterSampler(search.param_distributions, search.n_iter))
    return None


def ranked(search: Any, name: str) -> tuple[dict[str, Any], NDArray[np.float64], list[int]]:
    """Return a fitted search's table, its mean scores of this name, and its candidates from the best down.

    Without such scores they are NaN. A search whose ``refit`` is a function has its best by that. Of
    candidates with equal parameters, such as those of several rounds, the first stands for all.
    """
    results = candidates_of(search)
    unknown = np.full(len(results["params"]), np.nan)
    scores = np.asarray(results.get(f"mean_test_{name}", unknown), dtype=float)
    order = np.lexsort((-np.nan_to_num(scores, nan=-np.inf), ~last_round(results))).tolist()
    if callable(search.get_params(deep=False).get("refit")):
        order.insert(0, int(search.best_index_))
    distinct: dict[Any, int] = {}
    for index in order:
        distinct.setdefault(_content(results["params"][index], index), index)
    return results, scores, list(distinct.values())


def _content(params: dict[str, Any], index: int) -> str | int:
    try:
        return canonical_digest(sorted(params.items()))  # by name: only the order inside a value counts
    except Undigestible:
        return index


def columns_of(answers: list[Answer], chosen: list[int], size: int) -> dict[str, np.ndarray]:
    """Return interval columns for a search's results, empty for candidates that were not asked about."""
    low, high = np.full(size, np.nan), np.full(size, np.nan)
    target, verdict = np.full(size, "", dtype=object), np.full(size, "", dtype=object)
    for answer, index in zip(answers, chosen, strict=True):
        (low[index], high[index]), verdict[index] = answer.interval, answer.verdict
        target[index] = answer.target or ""
    return {
        "certified_low": low, "certified_high": high, "certified_target": target, "verdict": verdict
    }  # fmt: skip


def refitted(
    search: Any, candidates: list[dict[str, Any]], X: Any, y: Any, params: dict[str, Any]
) -> list[Any]:
    """Return the search's estimator fitted for each of some candidates, by as many jobs as the search has."""
    n_jobs = search.get_params(deep=False).get("n_jobs")
    fit = delayed(_fitted)
    return list(Parallel(n_jobs=n_jobs)(fit(search.estimator, c, X, y, params) for c in candidates))


def _fitted(estimator: Any, candidate: dict[str, Any], X: Any, y: Any, params: dict[str, Any]) -> Any:
    values = {key: clone(value, safe=False) for key, value in candidate.items()}
    model = clone(estimator).set_params(**values)
    model.fit(own_copy(X), y, **params)  # it may work in place, and others are fitted on these rows
    return model  # whatever its fit returns
