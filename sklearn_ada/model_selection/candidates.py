"""What can be read off a search before and after it runs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV, ParameterGrid, ParameterSampler, RandomizedSearchCV

from sklearn_ada.metrics import n_rows
from sklearn_ada.model_selection.engines import candidates_of, last_round
from sklearn_ada.results import Answer

__all__ = ["columns_of", "is_aligned", "n_candidates", "ranked"]


def n_candidates(search: Any) -> int | None:
    """Return how many candidates are fixed before the first is fitted, or None if that is not known."""
    if type(search) is GridSearchCV:
        return len(ParameterGrid(search.param_grid))
    if type(search) is RandomizedSearchCV:
        return len(ParameterSampler(search.param_distributions, search.n_iter))
    return None


def ranked(search: Any) -> tuple[dict[str, Any], NDArray[np.float64], list[int]]:
    """Return a fitted search's table, its own mean scores, and its candidates from the best down."""
    refit = search.get_params(deep=False).get("refit")
    results = candidates_of(search)
    scores = np.asarray(results[f"mean_test_{refit if isinstance(refit, str) else 'score'}"], dtype=float)
    order = np.lexsort((-np.nan_to_num(scores, nan=-np.inf), ~last_round(results)))
    return results, scores, [int(index) for index in order]


def columns_of(answers: list[Answer], chosen: list[int], size: int) -> dict[str, np.ndarray]:
    """Return interval columns for a search's results, empty for candidates that were not asked about."""
    low, high = np.full(size, np.nan), np.full(size, np.nan)
    verdict = np.full(size, "", dtype=object)
    for answer, index in zip(answers, chosen, strict=True):
        (low[index], high[index]), verdict[index] = answer.interval, answer.verdict
    return {"certified_low": low, "certified_high": high, "verdict": verdict}


def is_aligned(value: Any, n: int) -> bool:
    """Return whether a fit parameter has one entry per row."""
    return hasattr(value, "__len__") and not isinstance(value, (str, dict)) and n_rows(value) == n
