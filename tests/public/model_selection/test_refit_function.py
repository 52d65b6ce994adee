"""A search whose ``refit`` is a function has its winner by that function."""

import numpy as np
import pytest
from sklearn.model_selection import RandomizedSearchCV

from tests.support.searches import TREE, grid

DEPTHS = [1, 2, 3, 5]


def worst(results):
    return int(np.argmin(results["mean_test_score"]))


SEARCHES = {
    "grid": grid(values=DEPTHS, refit=worst),
    "random": RandomizedSearchCV(TREE, {"max_depth": DEPTHS}, n_iter=4, refit=worst, random_state=0),
}


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("ask", ["winner", 2])
def test_what_the_function_chooses_is_certified_and_of_a_few_beside_the_next_best(ask, search, searched):
    wrapped = searched(SEARCHES[search], ask=ask)
    table, own = wrapped.cv_results_, wrapped.search_
    certified = (
        {own.best_index_} if ask == "winner" else {own.best_index_, int(np.argmax(table["mean_test_score"]))}
    )
    assert set(np.flatnonzero(table["verdict"] != "")) == certified
    if ask == "winner":
        assert wrapped.best_index_ == own.best_index_ == worst(table)
        assert wrapped.best_params_ == own.best_params_
        assert wrapped.best_estimator_.get_params() == own.best_estimator_.get_params()
