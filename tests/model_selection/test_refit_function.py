"""A search whose ``refit`` is a function has its winner by that function."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import ReusableHoldoutCV

TREE = DecisionTreeClassifier(random_state=0)
GRID = {"max_depth": [1, 2, 3, 5]}


def worst(results):
    return int(np.argmin(results["mean_test_score"]))


SEARCHES = {
    "grid": lambda: GridSearchCV(TREE, GRID, refit=worst),
    "random": lambda: RandomizedSearchCV(TREE, GRID, n_iter=4, refit=worst, random_state=0),
}


@pytest.mark.parametrize("search", SEARCHES)
def test_what_the_function_chooses_is_certified(search, numbered, tmp_path):
    wrapped = ReusableHoldoutCV(SEARCHES[search](), ask="winner", ledger=tmp_path / "ledger.db")
    wrapped.fit(numbered[0], numbered[1]["classifier"])
    assert wrapped.best_index_ == wrapped.search_.best_index_ == worst(wrapped.cv_results_)
    assert wrapped.best_params_ == wrapped.search_.best_params_
    assert wrapped.best_estimator_.get_params() == wrapped.search_.best_estimator_.get_params()


@pytest.mark.parametrize("search", SEARCHES)
def test_of_a_few_it_is_one_beside_the_next_best(search, numbered, tmp_path):
    wrapped = ReusableHoldoutCV(SEARCHES[search](), ask=2, ledger=tmp_path / "ledger.db")
    wrapped.fit(numbered[0], numbered[1]["classifier"])
    table = wrapped.cv_results_
    certified = set(np.flatnonzero(table["verdict"] != ""))
    assert certified == {wrapped.search_.best_index_, int(np.argmax(table["mean_test_score"]))}
