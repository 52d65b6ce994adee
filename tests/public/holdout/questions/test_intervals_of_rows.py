"""Certifies whose interval is a function of all rows: coverage out of a Holdout, prices, identity."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LogisticRegression, Ridge

from sklearn_ada import Guess, Holdout, Metric
from tests.support import holdouts
from tests.support.models import Column


class Constant(RegressorMixin, BaseEstimator):
    """Predicts 0, so that y itself is the error."""

    def fit(self, X, y):
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return np.zeros(len(X))


def errors(rng, n):
    """Errors in [0, 1] whose mean is .2 and whose mean square is .07."""
    return rng.choice([0.1, 0.1, 0.1, 0.5], n) + rng.uniform(-1e-3, 1e-3, n)


TRUTHS = {"neg_mean_absolute_error": -0.2, "neg_root_mean_squared_error": -math.sqrt(0.07 + 1e-6 / 3)}


def certified(name, seed, n=150, level=0.5):
    """Certify on a fresh holdout, as its first question, which has .36 of failure probability."""
    y, guessed = errors(np.random.default_rng(seed), n), errors(np.random.default_rng(99), 100)
    X = np.arange(n * 2.0).reshape(n, 2) + seed
    model = Constant().fit(X, y)
    holdout = Holdout(X, y, ledger=":memory:", confidence_level=level)
    rows = (-np.arange(200.0).reshape(100, 2) - 1.0, guessed)
    return holdout.certify(model, scoring=Metric(name, range=(-1, 0)), guess_from=rows)


@pytest.mark.parametrize(
    "runs", [30, pytest.param(300, marks=pytest.mark.thorough), pytest.param(2000, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("name", TRUTHS)
def test_intervals_out_of_holdouts_cover(name, runs):
    answers = [certified(name, seed) for seed in range(runs)]
    misses = sum(not a.interval[0] <= TRUTHS[name] <= a.interval[1] for a in answers)
    assert all(a.interval[0] <= a.value <= a.interval[1] for a in answers)
    assert all("predictable bets" in a.certificate.theorem for a in answers)
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
    "name", ["neg_mean_absolute_error", "neg_mean_squared_error", "neg_root_mean_squared_error"]
)
def test_a_range_is_proposed_from_the_guess_rows_alone_and_named_in_the_target(name, regression):
    model, guess_rows, (X, y) = regression
    holdout = Holdout(X, y, ledger=":memory:")
    answer, again = (holdout.certify(model, scoring=name, guess_from=guess_rows) for _ in range(2))
    assert "each error clipped to" in answer.certificate.target
    assert "median" not in answer.certificate.target
    plain = Metric(name).score(model, X, y)
    assert answer.value == pytest.approx(plain, rel=0.02)
    assert answer.interval[0] < plain < answer.interval[1]
    assert (again.repeated, again.interval) == (True, answer.interval)
    other = Holdout(X, 5 * y, ledger=":memory:").certify(model, scoring=name, guess_from=guess_rows)
    assert other.certificate.target == answer.certificate.target


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
    assert len(holdout.ledger.record(bet.index).body["event"]["symbols"]) == 3
    assert bet.cost.nats > 4.0  # three symbols of a Cauchy code


def test_what_an_older_release_answered_is_returned(regression):
    """The question by its value alone, recorded before, is not asked anew with another interval."""
    model, _, rows = regression
    holdout = Holdout(*rows, ledger=":memory:")
    metric, guess = Metric("neg_mean_absolute_error", range=(-8, 0)), Guess(-0.8, 300.0, 0.6, 1.0)
    before = holdouts.ask_by_value(holdout, model, scoring=metric, purpose="certify", guess=guess)
    assert "bets" not in before.certificate.theorem
    again = holdout.certify(model, scoring=metric, guess=guess)
    assert (again.repeated, again.index, again.interval) == (True, before.index, before.interval)


def test_class_counts_make_balanced_accuracy_narrower_where_classes_are_few():
    rng = np.random.default_rng(3)
    y = (rng.random(1500) < 0.3).astype(int)
    X = np.c_[np.where(rng.random(1500) < 0.95, y, 1 - y), rng.random(1500)]
    model = Column()
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
