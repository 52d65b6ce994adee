"""One set of columns after another: the holdout stays the same rows, and goes on being paid."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV

from sklearn_ada import ReusableHoldoutCV
from tests.support.laws import is_too_often

ROWS, FEATURES, SUBSETS, BETA = 800, 30, 40, 0.05


class Centroids(ClassifierMixin, BaseEstimator):
    """Nearest class mean."""

    def __init__(self, shrink=0.0):
        self.shrink = shrink

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.n_features_in_ = X.shape[1]
        means = [X[y == c].mean(axis=0) for c in self.classes_]
        step = means[1] - means[0]
        self.direction_ = np.where(np.abs(step) > self.shrink, step, 0.0)
        self.offset_ = self.direction_ @ (means[0] + means[1]) / 2
        return self

    def predict(self, X):
        return self.classes_[(X @ self.direction_ > self.offset_).astype(int)]


def labels(rng):
    """Random labels; as many of each class, so that every model is right on half of the population."""
    return rng.permutation(np.arange(ROWS) % 2)


def searches(seed, of_subset):
    """Search on 40 sets of columns, the better ones more often, and return the certified intervals."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(ROWS, FEATURES)), labels(rng)
    found, liking = [], np.zeros(FEATURES)
    for number in range(SUBSETS):
        columns = np.argsort(liking + rng.normal(scale=0.02, size=FEATURES))[-8:]
        inner = GridSearchCV(Centroids(), {"shrink": [0.0, 0.05]}, cv=2)
        wrapped = ReusableHoldoutCV(inner, ask="winner", **of_subset(number))
        wrapped.fit(X[:, columns], y)
        found.append(wrapped)
        liking[columns] += wrapped.best_score_ - 0.5
    return found


def misses(found):
    intervals = [search.best_score_interval_ for search in found]
    return any(not low <= 0.5 <= high for low, high in intervals)


@pytest.mark.parametrize(
    "users", [pytest.param(200, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.thorough)]
)
def test_all_intervals_of_a_loop_over_columns_hold_together(users, tmp_path):
    """Where each set of columns has a split and a ledger of its own, most users see a miss."""
    missed = alone = 0
    for seed in range(users):

        def paid(number, path=tmp_path / f"{seed}.db"):
            return {"ledger": path, "expected_questions": SUBSETS, "answers": "exact"}

        def anew(number, seed=seed):
            path = tmp_path / f"{seed} {number}.db"
            return {"ledger": path, "expected_questions": 1, "random_state": number, "answers": "exact"}

        found = searches(seed, paid)
        assert len({search.holdout_.fingerprint for search in found}) == 1
        # A set of columns that comes again is no question, nor is its round another one.
        assert found[-1].holdout_.report().asked["certify"] > SUBSETS / 2
        missed += misses(found)
        alone += misses(searches(seed, anew))
    assert not is_too_often(missed, users, BETA)
    assert alone > (users / 2 if users > 100 else 0)
