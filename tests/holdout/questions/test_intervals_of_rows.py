"""Certifies whose interval is a function of all rows: coverage out of a Holdout, prices, identity."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import LogisticRegression, Ridge

from sklearn_ada import Guess, Holdout, Metric
from sklearn_ada.holdout.asking import answer_to
from sklearn_ada.holdout.framing import Framed, in_form, plan_question
from sklearn_ada.holdout.holdout import session_of
from sklearn_ada.questions.coded import CodedQuestion
from tests.support import holdouts


class Constant(RegressorMixin, BaseEstimator):
    """Predicts 0, so that y itself is the error."""

    def fit(self, X, y):
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return np.zeros(len(X))


class FirstColumn(ClassifierMixin, BaseEstimator):
    """Predicts the class that the first column says, and its probability in the second."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return X[:, 0].astype(int)

    def predict_proba(self, X):
        return np.c_[1 - X[:, 1], X[:, 1]]


def errors(rng, n):
    """Errors in [0, 1] whose mean is .2 and whose mean square is .07."""
    return rng.choice([0.1, 0.1, 0.1, 0.5], n) + rng.uniform(-1e-3, 1e-3, n)


TRUTHS = {"neg_mean_absolute_error": -0.2, "neg_root_mean_squared_error": -math.sqrt(0.07 + 1e-6 / 3)}


def certified(name, seed, n=150, level=0.5):
    """Certify on a fresh holdout, as its first question, which has .36 of failure probability."""
    rng = np.random.default_rng(seed)
    y, guessed = errors(rng, n), errors(np.random.default_rng(99), 100)
    X = np.arange(n * 2.0).reshape(n, 2) + seed
    model = Constant().fit(X, y)
    holdout = Holdout(X, y, ledger=":memory:", confidence_level=level)
    rows = (-np.arange(200.0).reshape(100, 2) - 1.0, guessed)
    return holdout.certify(model, scoring=Metric(name, range=(-1, 0)), guess_from=rows)


@pytest.mark.parametrize("name", TRUTHS)
def test_intervals_out_of_a_holdout_cover(name):
    runs, misses, answers = 30, 0, [certified(name, seed) for seed in range(30)]
    for answer in answers:
        misses += not answer.interval[0] <= TRUTHS[name] <= answer.interval[1]
        assert answer.interval[0] <= answer.value <= answer.interval[1]
        assert "predictable bets" in answer.certificate.theorem
    delta = math.exp(answers[0].certificate.ln_delta)
    assert binomtest(misses, runs, delta, alternative="greater").pvalue >= 1e-6


@pytest.mark.parametrize(
    "runs", [pytest.param(300, marks=pytest.mark.thorough), pytest.param(2000, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("name", TRUTHS)
def test_intervals_out_of_many_holdouts_cover(name, runs):
    answers = [certified(name, seed) for seed in range(runs)]
    misses = sum(not a.interval[0] <= TRUTHS[name] <= a.interval[1] for a in answers)
    delta = math.exp(answers[0].certificate.ln_delta)
    assert delta > 0.3
    assert binomtest(misses, runs, delta, alternative="greater").pvalue >= 1e-6


@pytest.fixture
def regression():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 4))
    y = X @ [1.0, 2.0, 0.0, -1.0] + rng.normal(size=900)
    return Ridge().fit(X[:300], y[:300]), (X[300:600], y[300:600]), (X[600:], y[600:])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("neg_mean_absolute_error", "each error clipped to"),
        ("neg_mean_squared_error", "each error clipped to"),
        ("neg_root_mean_squared_error", "each error clipped to"),
    ],
)
def test_a_range_is_proposed_from_the_guess_rows_and_said(name, said, regression):
    model, guess_rows, rows = regression
    holdout = Holdout(*rows, ledger=":memory:")
    answer = holdout.certify(model, scoring=name, guess_from=guess_rows)
    assert said in answer.certificate.target
    assert "median" not in answer.certificate.target
    plain = Metric(name).score(model, *rows)
    assert answer.value == pytest.approx(plain, rel=0.02)
    assert answer.interval[0] < plain < answer.interval[1]
    again = holdout.certify(model, scoring=name, guess_from=guess_rows)
    assert again.repeated
    assert again.interval == answer.interval


def test_the_proposed_range_does_not_depend_on_the_holdout(regression):
    model, guess_rows, (X, y) = regression
    first = Holdout(X, y, ledger=":memory:").certify(
        model, scoring="neg_mean_absolute_error", guess_from=guess_rows
    )
    other = Holdout(X, 5 * y, ledger=":memory:").certify(
        model, scoring="neg_mean_absolute_error", guess_from=guess_rows
    )
    assert first.certificate.target == other.certificate.target


def test_betting_is_narrower_than_before_and_pays_for_its_ends(regression):
    model, _, rows = regression
    metric = Metric("neg_mean_absolute_error", range=(-8, 0))
    guess = Guess(-0.8, 300.0, 0.6, 1.0)
    plain = Holdout(*rows, ledger=":memory:").certify(model, scoring=metric, guess=-0.8)
    holdout = Holdout(rows[0] + 1e-9, rows[1], ledger=":memory:")
    bet = holdout.certify(model, scoring=metric, guess=guess)
    assert "bets" not in plain.certificate.theorem
    width, usual = (one.interval[1] - one.interval[0] for one in (bet, plain))
    assert width < 0.5 * usual
    event = session_of(holdout).ledger.record(bet.index).body["event"]
    assert len(event["symbols"]) == 3
    assert bet.cost.nats > 4.0  # three symbols of a Cauchy code


def test_what_an_older_release_answered_is_returned(regression):
    """The question by its value alone, recorded before, is not asked anew with another interval."""
    model, _, rows = regression
    holdout = Holdout(*rows, ledger=":memory:")
    metric = Metric("neg_mean_absolute_error", range=(-8, 0))
    guess = Guess(-0.8, 300.0, 0.6, 1.0)
    asked = holdouts.asked(holdout, model, scoring=metric, purpose="certify", guess=guess)
    session = session_of(holdout)
    question = plan_question(session, asked)
    assert isinstance(question, CodedQuestion)
    assert not isinstance(in_form(session, asked, question), CodedQuestion)
    before = answer_to(session, Framed.of(session, asked, question))
    assert "bets" not in before.certificate.theorem
    assert in_form(session, asked, question) is question
    again = holdout.certify(model, scoring=metric, guess=guess)
    assert again.repeated
    assert (again.index, again.interval) == (before.index, before.interval)


def test_class_counts_make_balanced_accuracy_narrower_where_classes_are_few():
    rng = np.random.default_rng(3)
    y = (rng.random(1500) < 0.3).astype(int)
    X = np.c_[np.where(rng.random(1500) < 0.95, y, 1 - y), rng.random(1500)]
    model = FirstColumn().fit(X, y)
    holdout = Holdout(X[:1000], y[:1000], ledger=":memory:")
    answer = holdout.certify(model, scoring="balanced_accuracy", guess_from=(X[1000:], y[1000:]))
    assert "Clopper-Pearson for each class" in answer.certificate.theorem
    assert answer.interval[0] < 0.95 < answer.interval[1]
    assert (answer.interval[1] - answer.interval[0]) / 2 < 0.035  # Hoeffding's: .049


def test_a_final_reads_the_value_of_such_an_answer_alone(regression):
    model, guess_rows, rows = regression
    holdout = Holdout(*rows, ledger=":memory:", answers="coarse")
    first = holdout.certify(model, scoring="neg_mean_absolute_error", guess_from=guess_rows)
    final = holdout.publish(model, scoring="neg_mean_absolute_error", guess_from=guess_rows)
    assert final.interval[0] >= first.interval[0]
    assert final.interval[1] <= first.interval[1]
    assert final.value == first.value


class FailsOn(Constant):
    """Fails on rows whose first number is large."""

    def predict(self, X):
        if X[0, 0] > 100:
            raise ValueError
        return super().predict(X)


def test_a_model_that_fails_on_the_holdout_is_paid_for():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(400, 2)), rng.normal(size=400)
    holdout = Holdout(X[200:] + 1000, y[200:], ledger=":memory:")
    answer = holdout.certify(
        FailsOn().fit(X, y), scoring="neg_mean_absolute_error", guess_from=(X[:200], y[:200])
    )
    assert answer.verdict == "failed"
    assert answer.cost.nats > 6.0


def test_fixed_bets_at_the_class_mix_and_predictable_ones_of_identical_rows(tmp_path):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(900, 3))
    y = (X[:, 0] + rng.normal(size=900) > 0).astype(int)
    model = LogisticRegression().fit(X[:300], y[:300])
    for class_mix, how in (("conditional", "fixed bets"), ("priced", "predictable bets")):
        holdout = Holdout(X[600:], y[600:], ledger=tmp_path / class_mix, class_mix=class_mix)
        answer = holdout.certify(model, scoring="neg_brier_score", guess_from=(X[300:600], y[300:600]))
        assert how in answer.certificate.theorem
