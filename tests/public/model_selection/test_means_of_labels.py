"""A column that holds the mean of y over all rows of a group is warned of: it tells the holdout's labels."""

import contextlib
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import TargetEncoder

from sklearn_ada import ReusableHoldoutCV

RNG = np.random.default_rng(0)
COINS, CITY = RNG.integers(0, 2, 800), RNG.integers(0, 200, 800)
FRAME = pd.DataFrame(RNG.normal(size=(800, 2)), columns=["a", "b"])
LETTERS = np.array(["b", "a", "c"])[RNG.integers(0, 3, 800)]
RATINGS = RNG.integers(1, 6, 800)
NUMBERS = RNG.normal(size=800)


def mean_by_city(y):
    return pd.Series(y).groupby(CITY).transform("mean")


def of_others(y):
    """Return the mean of the others of a group, as in leaving one out."""
    by_city = pd.Series(y).groupby(CITY)
    return ((by_city.transform("sum") - y) / (by_city.transform("size") - 1)).fillna(0.5)


WARNED = {
    "coins": (mean_by_city(COINS), COINS),
    "text": (mean_by_city(COINS == 1), np.where(COINS == 1, "no", "yes")),
    "in single precision": (mean_by_city(COINS).astype("float32"), COINS),
    "one of three classes": (mean_by_city(LETTERS == "b"), LETTERS),
    "numbers": (mean_by_city(NUMBERS), NUMBERS),
    "ratings": (mean_by_city(RATINGS), RATINGS),
}
SILENT = {
    "a mean of others": (of_others(COINS), COINS),
    "the column is a code": (pd.Series(CITY), COINS),
    "y itself": (pd.Series(COINS), COINS),
    "numbers that all differ": (pd.Series(NUMBERS), NUMBERS),
    "constant": (pd.Series(np.zeros(800)), COINS),
    "missing": (pd.Series(np.full(800, np.nan)), COINS),
}


def warnings_of(X, y):
    is_numeric = y.dtype.kind == "f"
    search = GridSearchCV(Ridge() if is_numeric else LogisticRegression(), {}, cv=2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with contextlib.suppress(ValueError):  # of missing values
            ReusableHoldoutCV(search, ledger=":memory:").fit(X, y)
    return [str(each.message) for each in caught if "is the mean of y" in str(each.message)]


@pytest.mark.parametrize("kind", WARNED)
@pytest.mark.parametrize("has_names", [True, False])
def test_means_of_labels_are_warned_of(kind, has_names):
    column, y = WARNED[kind]
    X = FRAME.assign(rate=column)
    (message,) = warnings_of(X if has_names else X.to_numpy(), y)
    assert message.startswith("Column 'rate' of X" if has_names else "Column 2 of X")


@pytest.mark.parametrize("kind", SILENT)
def test_other_columns_are_not(kind):
    column, y = SILENT[kind]
    assert not warnings_of(FRAME.assign(rate=column), y)


def test_what_is_advised_certifies_one_half():
    X = np.c_[FRAME, CITY]
    model = make_pipeline(TargetEncoder(), LogisticRegression())
    inside = ReusableHoldoutCV(GridSearchCV(model, {}), ledger=":memory:", answers="coarse").fit(X, COINS)
    assert inside.best_score_interval_[0] < 0.5 < inside.best_score_interval_[1]
