"""One set of columns after another: the holdout stays the same rows, and goes on being paid."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from sklearn_ada import ReusableHoldoutCV
from tests.support.laws import is_missed, is_too_often
from tests.support.models import Centroids

ROWS, FEATURES, SUBSETS, BETA = 800, 30, 40, 0.05


def searches(seed, of_subset):
    """Search on 40 sets of columns, the better ones more often, and return the searches.

    Labels are random, as many of each class, so that every model is right on half of the population.
    """
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(ROWS, FEATURES)), rng.permutation(np.arange(ROWS) % 2)
    found, liking = [], np.zeros(FEATURES)
    for number in range(SUBSETS):
        columns = np.argsort(liking + rng.normal(scale=0.02, size=FEATURES))[-8:]
        inner = GridSearchCV(Centroids(), {"shrink": [0.0, 0.05]}, cv=2)
        wrapped = ReusableHoldoutCV(inner, ask="winner", **of_subset(number)).fit(X[:, columns], y)
        found.append(wrapped)
        liking[columns] += wrapped.best_score_ - 0.5
    return found


@pytest.mark.parametrize(
    "users", [pytest.param(200, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.thorough)]
)
def test_all_intervals_of_a_loop_over_columns_hold_together(users, tmp_path):
    """Where each set of columns has a split and a ledger of its own, most users see a miss."""

    def user_misses(found):
        return any(is_missed(search.best_score_interval_, 0.5) for search in found)

    missed = alone = 0
    for seed in range(users):
        one_ledger = {"ledger": tmp_path / f"{seed}.db", "expected_questions": SUBSETS, "answers": "exact"}

        def anew(number, seed=seed):
            path = tmp_path / f"{seed} {number}.db"
            return {"ledger": path, "expected_questions": 1, "random_state": number, "answers": "exact"}

        found = searches(seed, lambda number, paid=one_ledger: paid)
        assert len({search.holdout_.fingerprint for search in found}) == 1
        # A set of columns that comes again is no question, nor is its round another one.
        assert found[-1].holdout_.report().asked["certify"] > SUBSETS / 2
        missed += user_misses(found)
        alone += user_misses(searches(seed, anew))
    assert not is_too_often(missed, users, BETA)
    assert alone > (users / 2 if users > 100 else 0)
