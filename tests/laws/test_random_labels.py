"""A search over random subsets on random labels: there is nothing to find, and the naive score finds it."""

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV

from sklearn_ada import ReusableHoldoutCV
from tests.support.laws import is_too_often

ROWS, FEATURES = 1500, 40


class SubsetCentroids(ClassifierMixin, BaseEstimator):
    """Nearest class mean on a random subset of the features."""

    def __init__(self, subset=0):
        self.subset = subset

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.n_features_in_ = X.shape[1]
        self.columns_ = np.random.default_rng(self.subset).choice(X.shape[1], 8, replace=False)
        means = [X[y == c][:, self.columns_].mean(axis=0) for c in self.classes_]
        self.direction_ = means[1] - means[0]
        self.offset_ = self.direction_ @ (means[0] + means[1]) / 2
        return self

    def predict(self, X):
        return self.classes_[(X[:, self.columns_] @ self.direction_ > self.offset_).astype(int)]


def one_search(seed, tmp_path, candidates):
    """Return (certified interval, naive interval of the best candidate) on i.i.d. random labels."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(ROWS, FEATURES)), rng.integers(0, 2, ROWS)
    held = np.arange(ROWS) < 500
    inner = GridSearchCV(SubsetCentroids(), {"subset": list(range(candidates))})
    search = ReusableHoldoutCV(
        inner,
        ask="candidates",
        answers="exact",
        holdout=held,
        ledger=tmp_path / f"{seed}.db",
        expected_questions=candidates,
    ).fit(X, y)
    naive = max(
        np.mean(SubsetCentroids(s).fit(X[~held], y[~held]).predict(X[held]) == y[held])
        for s in range(candidates)
    )
    best = round(naive * 500)
    interval = stats.binomtest(best, 500).proportion_ci(0.95, method="exact")
    return search.best_score_interval_, (interval.low, interval.high)


@pytest.mark.parametrize(
    ("runs", "candidates"),
    [pytest.param(200, 300, marks=pytest.mark.slow), pytest.param(6, 120, marks=pytest.mark.thorough)],
)
def test_the_certified_interval_contains_chance_and_the_naive_one_does_not(runs, candidates, tmp_path):
    certified, naive, half_widths = 0, 0, []
    for seed in range(runs):
        (low, high), (naive_low, naive_high) = one_search(seed, tmp_path, candidates)
        certified += not low <= 0.5 <= high
        naive += not naive_low <= 0.5 <= naive_high
        half_widths.append((high - low) / 2)
    assert max(half_widths) <= 0.15
    assert not is_too_often(certified, runs, 0.05)
    assert naive > runs / 2
