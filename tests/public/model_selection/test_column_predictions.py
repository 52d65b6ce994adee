"""A search over classifiers that answer with a column gets scikit-learn's score."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

from tests.support.searches import grid


class ByColumn(LogisticRegression):
    def predict(self, X):
        return super().predict(X)[:, None]


@pytest.mark.parametrize("ask", ["winner", "candidates"])
def test_the_f1_of_a_column_is_that_of_its_labels(ask, wrap):
    X, y = make_classification(600, 5, n_informative=3, weights=[0.7], flip_y=0.1, random_state=0)
    mask = np.arange(600) >= 400
    search = wrap(grid(ByColumn(), [0.01, 1.0], scoring="f1"), scoring="f1", ask=ask, holdout=mask).fit(X, y)
    expected = f1_score(y[mask], search.best_estimator_.predict(X[mask]).ravel())
    assert search.best_score_ == pytest.approx(expected, abs=0.06)
    exact = search.holdout_.certify(search.best_estimator_, scoring="f1", guess=float(expected))
    assert exact.value == pytest.approx(expected, abs=1e-9)
    assert search.best_score_interval_[0] <= expected <= search.best_score_interval_[1]
