"""Rows that were copied before the holdout is taken out: one warning, from X alone."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import Holdout, ReusableHoldoutCV

RNG = np.random.default_rng(0)
PLAIN, COINS = RNG.normal(size=(400, 5)), RNG.integers(2, size=400)
AGAIN = np.r_[np.arange(400), RNG.integers(400, size=300)]
COPIED = {
    "oversampled": PLAIN[AGAIN],
    "table twice": np.vstack([PLAIN, PLAIN])[:700],
    "frame": pd.DataFrame(PLAIN).iloc[AGAIN],
    "sparse": csr_matrix(np.c_[PLAIN * (PLAIN > 0), PLAIN[:, 0]])[AGAIN],
    "whole numbers": (PLAIN * 1000).astype(int)[AGAIN],
}
DISCRETE = RNG.integers(3, size=(700, 3))
NATURAL = {
    "digits": load_digits().data,
    "cancer": load_breast_cancer().data,
    "iris": load_iris().data,
    "categories": DISCRETE,
    "dependent categories": np.c_[DISCRETE, DISCRETE[:, :1]],
    "a few copies": np.vstack([PLAIN, PLAIN[:3]]),
}


def warnings_of(X, **params):
    search = ReusableHoldoutCV(GridSearchCV(DecisionTreeClassifier(max_depth=1), {"max_depth": [1]}, cv=2))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.fit(X, np.arange(X.shape[0]) % 2, **params)
    return [str(each.message) for each in caught if "occur more than once" in str(each.message)]


@pytest.mark.parametrize("kind", COPIED)
def test_copies_are_warned_of_with_their_number_and_the_fix(kind):
    (message,) = warnings_of(COPIED[kind])
    number = np.unique(AGAIN, return_counts=True)[1]
    expected = 600 if kind == "table twice" else number[number > 1].sum()
    assert message.startswith(f"{expected} of 700 rows")
    assert "groups=" in message


def test_copies_that_stay_together_are_no_matter():
    assert warnings_of(COPIED["oversampled"], groups=AGAIN) == []
    assert warnings_of(COPIED["table twice"][:640], groups=np.arange(640)) != []


def test_a_column_that_numbers_the_rows_hides_no_copies():
    for column in (np.arange(700), 1e9 + 60.0 * np.arange(700), RNG.permutation(700)):
        assert warnings_of(np.c_[COPIED["oversampled"], column]) != []
        assert warnings_of(np.c_[RNG.normal(size=(700, 3)), column]) == []


STEPS = [SelectKBest(k=2), StandardScaler(), FunctionTransformer(np.abs)]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: type(step).__name__)
def test_a_step_before_the_search_that_was_fitted_on_all_rows_is_warned_of(step):
    search = ReusableHoldoutCV(
        GridSearchCV(DecisionTreeClassifier(max_depth=1), {"max_depth": [1]}, cv=2), ledger=":memory:"
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        make_pipeline(step, search).fit(PLAIN, COINS)
        search.fit(PLAIN, COINS)
    warned = ["has fitted " + type(step).__name__ in str(each.message) for each in caught]
    assert warned.count(True) == (step is not STEPS[-1])


@pytest.mark.parametrize("kind", NATURAL)
def test_natural_tables_are_searched_in_silence(kind):
    assert warnings_of(NATURAL[kind]) == []


def test_copies_beside_a_given_holdout_are_training_rows():

    holdout = Holdout(RNG.normal(size=(100, 5)), np.arange(100) % 2)
    search = GridSearchCV(KNeighborsClassifier(1), {"p": [1]}, cv=2)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*occur more than once")
        ReusableHoldoutCV(search, holdout=holdout).fit(PLAIN[AGAIN], COINS[AGAIN])
