"""What is done with a fitted search: compared with a model in use, gone on with, shown in a notebook."""

import html
import pickle

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification, make_regression
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge

from sklearn_ada import Holdout, Metric, ReusableHoldoutCV
from sklearn_ada.exceptions import HoldoutLeakError
from tests.support.searches import grid

X, Y = make_classification(2000, flip_y=0.1, random_state=0)
NUMERIC = make_regression(2000, 5, noise=10.0, random_state=0)
LAST = np.arange(2000) >= 1000
LOGISTIC = LogisticRegression()


@pytest.fixture
def winner(wrap):
    """Fit a search over few values on the first half of the rows, by default of labels."""

    def fit(values, model=LOGISTIC, data=(X, Y), **params):
        return wrap(grid(model, values), holdout=LAST, **params).fit(*data)

    return fit


# compared


def test_the_winner_is_compared_on_the_ledger_of_its_search(winner):
    old, new = (winner(strengths) for strengths in ([1e-4], [0.1, 1.0]))
    model = old.best_estimator_
    before = new.holdout_.report()
    assert "comparison" not in str(before)
    answer = new.compare(model)  # whose guess is the difference of those on record
    assert answer.cost.nats < 0.1
    right = [search.best_estimator_.predict(X[LAST]) == Y[LAST] for search in (old, new)]
    low, high = answer.interval
    assert low <= right[1].mean() - right[0].mean() <= high
    assert answer.target.startswith("population accuracy of b minus a at the holdout's class mix, shown as")
    # It says nothing of where the next score lies, and is counted as a comparison.
    report = new.holdout_.report()
    assert report.outlook.value == before.outlook.value
    assert "3 questions (1 comparison among them)" in str(report)
    assert report.entries[-1].purpose == "certify"
    assert new.compare(model).repeated
    again = new.holdout_.compare(old, new, scoring="accuracy")  # a search stands for its best model
    assert again.repeated
    assert again.interval == answer.interval
    assert old.holdout_.report().nats == new.holdout_.report().nats
    with pytest.warns(UserWarning, match="difference of two models is released at once, for some ten nats"):
        brier = new.compare(model, scoring="neg_brier_score").target
    assert brier.startswith("population neg_brier_score of b minus a")
    assert new.publish().half_width < 0.03  # it was asked before the exact comparison


def test_errors_are_compared_within_the_range_that_validation_rows_have_suggested(winner):
    scoring = "neg_mean_absolute_error"
    old, new = (winner([alpha], Ridge(), NUMERIC, scoring=scoring) for alpha in (1e4, 1.0))
    answer = new.compare(old.best_estimator_)
    assert answer.interval[0] > 0.0
    assert "each error clipped to" in answer.target


def test_comparisons_without_an_interval_or_rows_are_refused(winner, uncharged):
    search = winner([1.0], Ridge(), NUMERIC)
    model, errors = search.best_estimator_, Metric("neg_mean_absolute_error", range=(-9, 0))
    with uncharged(search.holdout_):
        with pytest.raises(ValueError, match="a mean of bounded scores"):
            search.compare(model)  # by R^2
        with pytest.raises(ValueError, match="Open the holdout on its ledger"):
            pickle.loads(pickle.dumps(search)).compare(model, scoring=errors)
        with pytest.raises(NotFittedError):
            ReusableHoldoutCV(grid(Ridge())).compare(model)


class Contrary(ClassifierMixin, BaseEstimator):
    """Says the opposite of its best model."""

    def __init__(self, best_estimator_):
        self.best_estimator_ = best_estimator_
        self.classes_ = best_estimator_.classes_

    def predict(self, X):
        return 1 - self.best_estimator_.predict(X)


def test_a_model_of_ones_own_is_compared_as_itself(tmp_path):
    model = LogisticRegression().fit(X[~LAST], Y[~LAST])
    holdout = Holdout(X[LAST], Y[LAST], ledger=tmp_path / "ledger.db")
    answer = holdout.compare(Contrary(model), model, scoring="accuracy")
    right = (model.predict(X[LAST]) == Y[LAST]).mean()
    assert answer.value == pytest.approx(2 * right - 1, abs=0.1 * answer.half_width)


# gone on with


def test_a_search_goes_on_with_a_larger_holdout_and_the_rows_that_are_not_in_it(wrap):
    first = wrap(grid(LOGISTIC)).fit(X[:800], Y[:800])
    rows = first.train_indices_
    assert len(rows) + first.holdout_.n_rows == 800
    assert len(np.unique(rows)) == len(rows)
    second = wrap(grid(LOGISTIC), holdout=first.holdout_.top_up(X[800:], Y[800:]))
    with pytest.raises(HoldoutLeakError, match=r"X\[search\.train_indices_\]"):
        second.fit(X[:800], Y[:800])
    second.fit(X[rows], Y[rows])
    assert second.holdout_.n_rows == 1200 + first.holdout_.n_rows
    assert second.train_indices_.tolist() == list(range(len(rows)))


def test_where_no_row_can_be_left_out_a_loss_of_ones_own_gets_its_range_from_y(wrap):
    loss = Metric(lambda y, outputs: -np.abs(y - outputs), kind="mean")
    inner = grid(Ridge(), [0.1], cv=2, scoring="neg_mean_absolute_error")
    search = wrap(inner, scoring=loss, holdout=np.arange(2000) >= 4).fit(*NUMERIC)
    assert "clipped to" in search.best_score_target_
    assert search.best_score_interval_[0] <= search.best_answer_.value <= search.best_score_interval_[1]


def test_remaining_counts_what_the_ledger_is_used_for(tmp_path):
    holdout = Holdout(X, Y, ledger=tmp_path / "ledger.db", tolerance=0.2)
    assert holdout.remaining() == holdout.remaining(purpose="check") > 1
    for ask, purpose, rows in ((holdout.certify, "certify", 10), (holdout.check, "check", 20)):
        ask(LogisticRegression().fit(X[:rows], Y[:rows]), scoring="accuracy", guess=0.9)
        assert holdout.remaining() == holdout.remaining(purpose=purpose)


# shown in a notebook


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    path = tmp_path_factory.mktemp("shown") / "a.db"
    return ReusableHoldoutCV(grid(cv=3), ledger=path, holdout=0.4).fit(X[:600], Y[:600])


def page_of(thing):
    return html.unescape(thing._repr_html_()).replace("±", "+-")  # as texts in a terminal have it


def test_a_search_shows_diagram_score_and_what_is_left_or_was_when_it_was_pickled(shown):
    page, headline = page_of(shown), shown.holdout_.report().headline
    line = repr(shown).splitlines()[-1]
    for part in ("sk-top-container", line, shown.best_score_target_, "Not published yet.", headline):
        assert part in page
    assert "published now" not in page  # which an answer alone says
    assert shown._repr_mimebundle_()["text/html"].count("sk-top-container") >= 1
    assert f"When it was pickled: {headline}" in page_of(pickle.loads(pickle.dumps(shown)))


def test_before_fit_there_is_the_diagram_alone_and_without_diagrams_text_only(shown):
    page = page_of(ReusableHoldoutCV(shown.search))
    assert "sk-top-container" in page
    assert "sklearn-ada" not in page
    with config_context(display="text"):
        assert not hasattr(shown, "_repr_html_")
        assert list(shown._repr_mimebundle_()) == ["text/plain"]


def test_a_holdout_shows_what_is_left_and_what_was_asked(shown):
    page, report = page_of(shown.holdout_), shown.holdout_.report()
    for part in (report.headline, report.head, "1 question, 0 refused", repr(shown.holdout_)):
        assert part in page
    assert not any(str(value) in page for value in X[:5, 0])


def test_an_answer_shows_its_certificate_and_a_refusal_its_reason(shown, tmp_path):
    answer = shown.best_answer_
    for part in (answer.summary, answer.certificate.theorem, *answer.certificate.assumptions):
        assert part in page_of(answer)
    assert page_of(answer.certificate) in page_of(answer)
    held = np.delete(np.arange(2000), shown.train_indices_)[:100]
    strict = Holdout(X[held], Y[held], tolerance=0.01, ledger=tmp_path / "strict.db")
    refused = strict.certify(shown.best_estimator_, scoring="accuracy", guess=0.8)
    assert refused.reason in page_of(refused)
    assert "certificate" not in page_of(refused)


def test_names_are_text_and_a_ledger_out_of_reach_is_said_and_raises_nothing(tmp_path):
    evil = "<script>alert(1)</script>"
    holdout = Holdout(X[:100], Y[:100], ledger=tmp_path / "evil.db", who=evil)
    holdout.check(LogisticRegression().fit(X[100:], Y[100:]), scoring="accuracy", guess=0.8)
    for thing in (holdout, holdout.report()):
        assert evil not in thing._repr_html_()
        assert html.escape(evil) in thing._repr_html_()
    for path in tmp_path.iterdir():
        path.unlink()
    assert "What is left cannot be read" in page_of(holdout)


def test_rows_of_the_holdout_as_a_guess_cost_nothing_where_fit_took_it_out_of_x(winner):
    search = winner([0.1, 1.0])
    model = LogisticRegression().fit(X[~LAST], Y[~LAST])
    before = search.holdout_.report()
    for rows in (X, X[LAST][::-1]):
        with pytest.raises(HoldoutLeakError, match=r"'guess_from'.* Set rows aside before fit.* Nothing was"):
            search.compare(model, guess_from=(rows, Y[: len(rows)]))
    assert search.holdout_.report().head == before.head
