"""Folds without a random state make another search of a rerun; who runs it is warned of what to set."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    RandomizedSearchCV,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
)
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import ReusableHoldoutCV

X, Y = make_classification(400, 5, flip_y=0.6, random_state=0)
DEPTHS = {"max_depth": [1, 2, 3, 4, 5, 6]}
TREE = DecisionTreeClassifier(random_state=0)
FOLDS = {
    "stratified": lambda seed: StratifiedKFold(3, shuffle=True, random_state=seed),
    "plain": lambda seed: KFold(3, shuffle=True, random_state=seed),
    "splits": lambda seed: ShuffleSplit(2, random_state=seed),
    "repeated": lambda seed: RepeatedStratifiedKFold(n_splits=2, n_repeats=1, random_state=seed),
}


def warnings_of_reruns(search, path, ask, runs=5):
    """Run a search several times; return what later runs warn of, and whether they asked something new."""
    texts, is_new = [], []
    for seed in range(runs):
        np.random.seed(seed)  # noqa: NPY002
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fitted = ReusableHoldoutCV(search, ledger=path, ask=ask).fit(X, Y)
        is_new.append(not all(answer.repeated for answer in fitted.answers_))
        texts.append([str(each.message) for each in caught if "was run before" in str(each.message)])
    assert [len(each) for each in texts] == [0, *map(int, is_new[1:])] or not any(texts)
    return [text for each in texts for text in each], is_new[1:]


@pytest.mark.parametrize("ask", ["winner", 2])
@pytest.mark.parametrize("folds", FOLDS)
def test_a_rerun_that_asks_what_is_new_names_the_random_state_of_the_folds(folds, ask, tmp_path):
    found, is_new = warnings_of_reruns(
        GridSearchCV(TREE, DEPTHS, cv=FOLDS[folds](None)), tmp_path / "ledger.db", ask
    )
    assert any(is_new)
    assert len(found) == sum(is_new)
    assert all("Set the random_state of the folds, and" in text for text in found)


@pytest.mark.parametrize("folds", [*FOLDS, "not shuffled", "a number"])
def test_a_rerun_with_folds_that_stay_asks_nothing_new(folds, tmp_path):
    cv = FOLDS[folds](0) if folds in FOLDS else KFold(3) if folds == "not shuffled" else 3
    found, is_new = warnings_of_reruns(GridSearchCV(TREE, DEPTHS, cv=cv), tmp_path / "ledger.db", 2, 2)
    assert (found, is_new) == ([], [False])


def test_a_search_that_draws_its_candidates_is_named_too(tmp_path):
    search = RandomizedSearchCV(TREE, DEPTHS, n_iter=2, cv=3)
    found, is_new = warnings_of_reruns(search, tmp_path / "ledger.db", 2)
    assert any(is_new)
    assert all("Set the random_state of the search, and" in text for text in found)
    assert len(found) == sum(is_new)
