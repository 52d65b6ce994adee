"""Certifies whose interval is a function of all rows: coverage out of a Holdout, prices, identity."""

import math

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LogisticRegression, Ridge

from sklearn_ada import Guess, Holdout, Metric
from tests.support import holdouts
from tests.support.laws import is_too_often
from tests.support.ledgers import begun_as
from tests.support.models import Column

RNG = np.random.default_rng(0)
X = RNG.normal(size=(900, 4))
Y = X @ [1.0, 2.0, 0.0, -1.0] + RNG.normal(size=900)
MODEL, VALIDATION, HELD = Ridge().fit(X[:300], Y[:300]), (X[300:600], Y[300:600]), (X[600:], Y[600:])
BOUNDED = {"scoring": Metric("neg_mean_absolute_error", range=(-8, 0)), "guess": Guess(-0.8, 300.0, 0.6, 1.0)}


class Zero(RegressorMixin, BaseEstimator):
    """Predicts 0, so that y itself is the error; fails on rows whose first number is large."""

    def fit(self, X, y):
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        if X[0, 0] > 1e6:
            raise ValueError
        return np.zeros(len(X))


def errors(rng, n):
    """Errors in [0, 1] whose mean is .2 and whose mean square is .07."""
    return rng.choice([0.1, 0.1, 0.1, 0.5], n) + rng.uniform(-1e-3, 1e-3, n)


TRUTHS = {"neg_mean_absolute_error": -0.2, "neg_root_mean_squared_error": -math.sqrt(0.07 + 1e-6 / 3)}


def certified(name, seed, n=150, level=0.5):
    """Certify on a fresh holdout, as its first question, which has .36 of failure probability."""
    y, guessed = errors(np.random.default_rng(seed), n), errors(np.random.default_rng(99), 100)
    X = np.arange(n * 2.0).reshape(n, 2) + seed
    holdout = Holdout(X, y, ledger=":memory:", confidence_level=level)
    rows = (-np.arange(200.0).reshape(100, 2) - 1.0, guessed)
    return holdout.certify(Zero().fit(X, y), scoring=Metric(name, range=(-1, 0)), guess_from=rows)


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
    assert not is_too_often(misses, runs, delta)


ERRORS = ["neg_mean_absolute_error", "neg_mean_squared_error", "neg_root_mean_squared_error"]


@pytest.mark.parametrize("name", ERRORS)
def test_a_range_is_proposed_from_the_guess_rows_alone_and_named_in_the_target(name):
    holdout, plain = Holdout(*HELD, ledger=":memory:"), Metric(name).score(MODEL, *HELD)
    answer, again = (holdout.certify(MODEL, scoring=name, guess_from=VALIDATION) for _ in range(2))
    assert "each error clipped to" in answer.certificate.target
    assert "median" not in answer.certificate.target
    assert answer.value == pytest.approx(plain, rel=0.02)
    assert answer.interval[0] < plain < answer.interval[1]
    assert (again.repeated, again.interval) == (True, answer.interval)
    other = Holdout(HELD[0], 5 * HELD[1], ledger=":memory:")
    target = other.certify(MODEL, scoring=name, guess_from=VALIDATION).certificate.target
    assert target == answer.certificate.target.partition(", rounded to steps of ")[0]


def test_betting_is_narrower_than_before_and_pays_for_its_ends(tmp_path):
    one, other = (Holdout(*HELD, ledger=tmp_path / f"{number}.db") for number in range(2))
    plain, bet = one.certify(MODEL, **BOUNDED | {"guess": -0.8}), other.certify(MODEL, **BOUNDED)
    assert "bets" not in plain.certificate.theorem
    assert bet.half_width < 0.5 * plain.half_width
    assert len(other.ledger.record(bet.index).body["event"]["symbols"]) == 3
    assert bet.cost.nats > 4.0  # three symbols of a Cauchy code


def test_what_an_older_release_answered_is_returned():
    """The question by its value alone, recorded before, is not asked anew with another interval."""
    with begun_as(1):
        holdout = Holdout(*HELD, ledger=":memory:")
    before = holdouts.ask_by_value(holdout, MODEL, purpose="certify", **BOUNDED)
    assert "bets" not in before.certificate.theorem
    again = holdout.certify(MODEL, **BOUNDED)
    assert (again.repeated, again.index, again.interval) == (True, before.index, before.interval)


def test_class_counts_make_balanced_accuracy_narrower_where_classes_are_few():
    rng = np.random.default_rng(3)
    y = rng.choice(3, 1500, p=[0.3, 0.3, 0.4])
    X = np.c_[np.where(rng.random(1500) < 0.95, y, (y + 1) % 3), rng.random(1500)]
    holdout = Holdout(X[:1000], y[:1000], ledger=":memory:")
    model = Column().fit(X[1000:], y[1000:])
    answer = holdout.certify(model, scoring="balanced_accuracy", guess_from=(X[1000:], y[1000:]))
    assert "Clopper-Pearson for each class" in answer.certificate.theorem
    assert answer.interval[0] < 0.95 < answer.interval[1]
    assert answer.half_width < 0.035  # Hoeffding's: .045


def test_a_final_reads_the_value_of_such_an_answer_alone():
    holdout = Holdout(*HELD, ledger=":memory:", answers="auto")
    asked = {"scoring": "neg_mean_absolute_error", "guess_from": VALIDATION}
    first, final = holdout.certify(MODEL, **asked), holdout.publish(MODEL, **asked)
    assert first.interval[0] <= final.interval[0] < final.interval[1] <= first.interval[1]
    assert final.value == first.value


def test_a_model_that_fails_on_the_holdout_is_paid_for():
    holdout = Holdout(HELD[0] + 1e7, HELD[1], ledger=":memory:")
    answer = holdout.certify(Zero().fit(X, Y), scoring="neg_mean_absolute_error", guess_from=VALIDATION)
    assert answer.verdict == "failed"
    assert answer.cost.nats > 6.0


@pytest.mark.parametrize(("class_mix", "bets"), [("conditional", "fixed"), ("priced", "predictable")])
def test_bets_are_fixed_at_the_class_mix_and_predictable_for_identical_rows(class_mix, bets, tmp_path):
    y = (X[:, 0] + np.random.default_rng(4).normal(size=900) > 0).astype(int)
    model = LogisticRegression().fit(X[:300], y[:300])
    holdout = Holdout(X[600:], y[600:], ledger=tmp_path / "ledger.db", class_mix=class_mix)
    answer = holdout.certify(model, scoring="neg_brier_score", guess_from=(X[300:600], y[300:600]))
    assert f"{bets} bets" in answer.certificate.theorem
