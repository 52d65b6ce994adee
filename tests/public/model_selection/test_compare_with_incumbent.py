"""The winner of a search against the model in use: one interval of the difference, on the same ledger."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge

from sklearn_ada import Metric, ReusableHoldoutCV
from tests.support.searches import grid

MASK = np.arange(2000) >= 1000


@pytest.fixture
def winner(wrap):
    def fit(X, y, values, model=None, **params):
        return wrap(
            grid(LogisticRegression() if model is None else model, values), holdout=MASK, **params
        ).fit(X, y)

    return fit


def test_the_winner_is_compared_on_the_ledger_of_its_search(winner):
    X, y = make_classification(2000, flip_y=0.1, random_state=0)
    old, new = (winner(X, y, strengths) for strengths in ([1e-4], [0.1, 1.0]))
    model = old.best_estimator_
    before = new.holdout_.report()
    assert "comparison" not in str(before)
    answer = new.compare(model)
    right = [search.best_estimator_.predict(X[MASK]) == y[MASK] for search in (old, new)]
    assert answer.value == pytest.approx(right[1].mean() - right[0].mean(), abs=0.1 * answer.half_width)
    assert answer.interval[0] <= answer.value <= answer.interval[1]
    assert answer.target == "population accuracy of b minus a at the holdout's class mix"
    # It says nothing of where the next score lies, and is counted as a comparison.
    report = new.holdout_.report()
    assert report.outlook.value == before.outlook.value
    assert "3 certifies (1 comparison among them)" in str(report)
    assert report.entries[-1].purpose == "certify"
    assert new.compare(model).repeated
    assert old.holdout_.report().nats == new.holdout_.report().nats
    brier = new.compare(model, scoring="neg_brier_score").target
    assert brier.startswith("population neg_brier_score of b minus a")
    assert new.publish().half_width < report.outlook.published < 0.05  # it was asked before the comparison


def test_errors_are_compared_within_the_range_that_validation_rows_have_suggested(winner):
    X, y = make_regression(2000, 5, noise=10.0, random_state=0)
    old, new = (winner(X, y, [a], Ridge(), scoring="neg_mean_absolute_error") for a in (1e4, 1.0))
    answer = new.compare(old.best_estimator_)
    assert answer.interval[0] > 0.0
    assert "each error clipped to" in answer.target


def test_what_cannot_be_compared_is_refused(winner, uncharged):
    X, y = make_regression(2000, 5, noise=10.0, random_state=0)
    search = winner(X, y, [1.0], Ridge())
    model, errors = search.best_estimator_, Metric("neg_mean_absolute_error", range=(-9, 0))
    with uncharged(search.holdout_):
        with pytest.raises(ValueError, match="a mean of bounded scores"):
            search.compare(model)  # by R^2
        with pytest.raises(ValueError, match="Open the holdout on its ledger"):
            pickle.loads(pickle.dumps(search)).compare(model, scoring=errors)
        with pytest.raises(NotFittedError):
            ReusableHoldoutCV(grid(Ridge())).compare(model)
