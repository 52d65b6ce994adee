"""What a new user met in the second hour: more rows for a search, counts of what is left, headlines."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LogisticRegression, Ridge

from sklearn_ada import CertifiedSearchDisplay, Holdout, Metric
from sklearn_ada.exceptions import HoldoutLeakError
from tests.support.searches import grid

X, Y = make_classification(3000, flip_y=0.1, random_state=0)
SEARCH = grid(LogisticRegression())


def test_a_search_goes_on_with_a_larger_holdout_and_the_rows_that_are_not_in_it(wrap):
    first = wrap(SEARCH).fit(X[:1000], Y[:1000])
    rows = first.train_indices_
    assert len(rows) + first.holdout_.n_rows == 1000
    assert len(np.unique(rows)) == len(rows)
    second = wrap(SEARCH, holdout=first.holdout_.top_up(X[1000:], Y[1000:]))
    with pytest.raises(HoldoutLeakError, match=r"X\[search\.train_indices_\]"):
        second.fit(X[:1000], Y[:1000])
    second.fit(X[rows], Y[rows])
    assert second.holdout_.n_rows == 2000 + first.holdout_.n_rows
    assert second.train_indices_.tolist() == list(range(len(rows)))


def test_a_search_is_compared_as_its_best_model(wrap):
    searches = [wrap(grid(LogisticRegression(), [c])).fit(X, Y) for c in (1e-4, 1.0)]
    holdout = searches[0].holdout_
    with pytest.warns(UserWarning, match="A comparison is told exactly, at once, for some ten nats"):
        answer = holdout.compare(*searches, scoring="accuracy")
    again = holdout.compare(*(each.best_estimator_ for each in searches), scoring="accuracy")
    assert again.repeated
    assert again.interval == answer.interval


def test_where_no_row_can_be_left_out_a_loss_of_ones_own_gets_its_range_from_y(wrap):
    numbers, y = make_regression(400, 3, noise=1.0, random_state=0)
    loss = Metric(lambda y, outputs: -np.abs(y - outputs), kind="mean")
    inner = grid(Ridge(), [0.1], cv=2, scoring="neg_mean_absolute_error")
    found = wrap(inner, scoring=loss, holdout=np.arange(400) >= 4).fit(numbers, y)
    assert "clipped to" in found.best_score_target_
    assert found.best_score_interval_[0] <= found.best_score_ <= found.best_score_interval_[1]


@pytest.mark.filterwarnings("ignore")
def test_the_headline_of_a_regression_does_not_speak_of_the_accuracy(wrap):
    search = wrap(grid(Ridge(), [1.0])).fit(*make_regression(1200, 5, noise=10.0, random_state=0))
    headline = search.holdout_.report().headline
    assert headline.startswith("Scores of a regression are told exactly, at once: ")
    assert "accuracy" not in headline


def test_the_picture_says_that_the_centre_of_a_cell_is_not_the_exact_score(wrap):
    pytest.importorskip("matplotlib")
    search = wrap(SEARCH).fit(X, Y)
    display = CertifiedSearchDisplay.from_estimator(search)
    assert display.value_.get_label().startswith("centre of its cell, exact score sealed")
    assert display.value_.get_linestyle() == ":"
    search.publish()
    display = CertifiedSearchDisplay.from_estimator(search)
    assert display.value_.get_label().startswith("certified score")
    assert display.value_.get_linestyle() == "-"


def test_remaining_counts_what_the_ledger_is_used_for(tmp_path):
    holdout = Holdout(X, Y, ledger=tmp_path / "ledger.db", tolerance=0.05)
    assert holdout.remaining() == holdout.remaining(purpose="check")
    model = LogisticRegression().fit(X[:10], Y[:10])
    holdout.certify(model, scoring="accuracy", guess=0.9)
    assert holdout.remaining() == holdout.remaining(purpose="certify")
    holdout.check(model, scoring="accuracy", guess=0.9)
    assert holdout.remaining() == holdout.remaining(purpose="check")


class Contrary(ClassifierMixin, BaseEstimator):
    """Says the opposite of its best model."""

    def __init__(self, best_estimator_):
        self.best_estimator_ = best_estimator_
        self.classes_ = best_estimator_.classes_

    def predict(self, X):
        return 1 - self.best_estimator_.predict(X)


def test_a_model_of_ones_own_is_compared_as_itself(tmp_path):
    model = LogisticRegression().fit(X[:1000], Y[:1000])
    holdout = Holdout(X[1000:], Y[1000:], ledger=tmp_path / "ledger.db")
    answer = holdout.compare(Contrary(model), model, scoring="accuracy")
    right = (model.predict(X[1000:]) == Y[1000:]).mean()
    assert answer.value == pytest.approx(2 * right - 1, abs=0.1 * answer.half_width)
