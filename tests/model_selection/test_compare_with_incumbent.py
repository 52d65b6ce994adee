"""The winner of a search against the model in use: one interval of the difference, on the same ledger."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV

from sklearn_ada import Metric, ReusableHoldoutCV
from tests.support.searches import grid

MASK = np.arange(2000) >= 1000


def winner(X, y, grid, path, model=None, **params):
    inner = GridSearchCV(LogisticRegression() if model is None else model, grid)
    return ReusableHoldoutCV(inner, holdout=MASK, ledger=path, **params).fit(X, y)


def test_the_winner_is_compared_on_the_ledger_of_its_search(tmp_path):
    X, y = make_classification(2000, flip_y=0.1, random_state=0)
    old = winner(X, y, {"C": [1e-4]}, tmp_path / "ledger.db")
    new = winner(X, y, {"C": [0.1, 1.0]}, tmp_path / "ledger.db")
    told = new.compare(old.best_estimator_)
    right = [search.best_estimator_.predict(X[MASK]) == y[MASK] for search in (old, new)]
    assert told.value == pytest.approx(right[1].mean() - right[0].mean(), abs=0.1 * told.half_width)
    assert told.interval[0] <= told.value <= told.interval[1]
    assert told.target == "population accuracy of b minus a at the holdout's class mix"
    assert new.holdout_.report().entries[-1].purpose == "certify"
    assert new.compare(old.best_estimator_).repeated
    assert old.holdout_.report().nats == new.holdout_.report().nats
    assert new.compare(old.best_estimator_, scoring="neg_brier_score").target.startswith(
        "population neg_brier_score of b minus a"
    )


def test_errors_are_compared_within_the_range_that_validation_rows_have_suggested(tmp_path):
    X, y = make_regression(2000, 5, noise=10.0, random_state=0)
    grids = {"alpha": [1e4]}, {"alpha": [1.0]}
    scoring = {"scoring": "neg_mean_absolute_error"}
    old, new = (winner(X, y, grid, tmp_path / "ledger.db", Ridge(), **scoring) for grid in grids)
    told = new.compare(old.best_estimator_)
    assert told.interval[0] > 0.0
    assert "each error clipped to" in told.target


def test_what_cannot_be_compared_is_said(tmp_path):
    X, y = make_regression(2000, 5, noise=10.0, random_state=0)
    search = winner(X, y, {"alpha": [1.0]}, tmp_path / "ledger.db", Ridge())
    spent = search.holdout_.report().nats
    with pytest.raises(ValueError, match="a mean of bounded scores"):
        search.compare(search.best_estimator_)  # by R^2
    with pytest.raises(ValueError, match="Open the holdout on its ledger"):
        pickle.loads(pickle.dumps(search)).compare(
            search.best_estimator_, scoring=Metric("neg_mean_absolute_error", range=(-9, 0))
        )
    with pytest.raises(NotFittedError):
        ReusableHoldoutCV(grid(Ridge(), [1.0])).compare(search.best_estimator_)
    assert search.holdout_.report().nats == spent


def test_a_comparison_says_nothing_of_where_the_next_score_lies_and_is_counted_as_one(tmp_path):
    X, y = make_classification(2000, flip_y=0.1, random_state=0)
    old = winner(X, y, {"C": [1e-4]}, tmp_path / "ledger.db")
    new = winner(X, y, {"C": [0.1, 1.0]}, tmp_path / "ledger.db")
    assert "comparison" not in str(new.holdout_.report())
    foreseen = new.holdout_.report().outlook
    new.compare(old.best_estimator_)
    report = new.holdout_.report()
    assert report.outlook.value == foreseen.value
    assert "3 certifies (1 comparison among them)" in str(report)
    assert new.publish().half_width < report.outlook.published < 0.05  # it was asked before the comparison
