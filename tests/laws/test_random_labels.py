"""A search over random subsets on random labels: there is nothing to find, and the naive score finds it."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from sklearn_ada import ReusableHoldoutCV
from tests.support.laws import is_missed, is_too_often, naive_interval
from tests.support.models import Centroids

ROWS, FEATURES = 1500, 40


def one_search(seed, tmp_path, candidates):
    """Return (certified interval, naive interval of the best candidate) on i.i.d. random labels."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(ROWS, FEATURES)), rng.integers(0, 2, ROWS)
    held = np.arange(ROWS) < 500
    exact = {"ask": "candidates", "answers": "exact", "expected_questions": candidates}
    inner, ledger = GridSearchCV(Centroids(), {"subset": list(range(candidates))}), tmp_path / f"{seed}.db"
    search = ReusableHoldoutCV(inner, holdout=held, ledger=ledger, **exact).fit(X, y)
    fitted = [Centroids(subset).fit(X[~held], y[~held]) for subset in range(candidates)]
    best = max(np.count_nonzero(model.predict(X[held]) == y[held]) for model in fitted)
    return search.best_score_interval_, naive_interval(best, 500)


@pytest.mark.parametrize(
    ("runs", "candidates"),
    [pytest.param(200, 300, marks=pytest.mark.slow), pytest.param(6, 120, marks=pytest.mark.thorough)],
)
def test_the_certified_interval_contains_chance_and_the_naive_one_does_not(runs, candidates, tmp_path):
    certified, naive = zip(*(one_search(seed, tmp_path, candidates) for seed in range(runs)), strict=True)
    assert max(np.ptp(interval) for interval in certified) <= 0.3
    assert not is_too_often(sum(is_missed(interval, 0.5) for interval in certified), runs, 0.05)
    assert sum(is_missed(interval, 0.5) for interval in naive) > runs / 2
