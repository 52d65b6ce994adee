"""A plan must foresee what a real conversation certifies."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from benchmarks.speed.stored import StoredPredictions
from benchmarks.validity.simulated import SimulatedHoldout
from sklearn_ada import Guess, Holdout, MedianSettings, plan_holdout


def checks_then_certify(n, k, guess_rows, seed):
    """Check k models of accuracies about .85 with honest guesses, then certify one of them."""
    rng = np.random.default_rng(seed)
    holdout = SimulatedHoldout.of_counts(n, expected_questions=k)

    def ask(mechanism, accuracy):
        guess = Guess(rng.binomial(guess_rows, accuracy) / guess_rows, guess_rows)
        return holdout.ask_count(rng.binomial(n, accuracy), mechanism, guess).half_width

    checks = [ask("check", accuracy) for accuracy in rng.normal(0.85, 0.02, k).clip(0, 1)]
    return checks[-1], ask("certify", 0.85)


@pytest.mark.parametrize(
    ("n", "k", "guess_rows"), [(1_000, 100, 1_000), (10_000, 300, 30_000), (100_000, 100, 100_000)]
)
def test_checks_and_the_certify_after_them_are_as_wide_as_planned(n, k, guess_rows):
    """The means of a few runs; one run may see a surprise, which the plan counts by its chance."""
    plan = plan_holdout(n=n, n_questions=k, guess_rows=guess_rows)
    check, certify = np.mean([checks_then_certify(n, k, guess_rows, seed) for seed in range(4)], axis=0)
    assert check == pytest.approx(plan["coded checks"].width, rel=0.1)
    assert certify == pytest.approx(plan["certify after checks"].width, rel=0.1)


@pytest.mark.thorough
def test_checks_with_surprises_are_as_wide_as_planned():
    """Two in a hundred guesses are off by a cell; the half-widths are those of the widest check, the last."""
    n, k, rate = 10_000, 500, 0.02
    plan = plan_holdout(n=n, n_questions=k, surprise_rate=rate)
    widths = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        holdout = SimulatedHoldout.of_counts(n, expected_questions=k)
        off = np.zeros(k)
        surprises = rng.permutation(k)[: round(rate * k)]
        off[surprises] = rng.choice([-2, 2], len(surprises)) * holdout.half_cell(0.85, n)
        checks = [
            holdout.ask_count(right, "check", Guess(right / n + shift, n)).half_width
            for right, shift in zip(rng.binomial(n, 0.85, k), off, strict=True)
        ]
        certify = holdout.ask_count(8_500, "certify", Guess(0.85, n)).half_width
        widths.append((checks[-1], certify))
    check, certify = np.mean(widths, axis=0)
    assert check == pytest.approx(plan["coded checks"].width, rel=0.1)
    assert certify == pytest.approx(plan["certify after checks"].width, rel=0.1)


def test_certifies_without_checks_are_as_wide_as_planned():
    """One certify after the other, such as the winner of every search."""
    n, k = 10_000, 12
    plan = plan_holdout(n=n, n_questions=k)
    last = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        holdout = SimulatedHoldout.of_counts(n)
        for _ in range(k):
            guess = Guess(rng.binomial(n, 0.85) / n, n)
            answer = holdout.ask_count(rng.binomial(n, 0.85), "certify", guess)
        last.append(answer.half_width)
    assert np.mean(last) == pytest.approx(plan["certify each"].width, rel=0.05)


@pytest.fixture
def stored(tmp_path):
    """Models that are right about as often as planned, and their holdout."""
    n, rng = 2_000, np.random.default_rng(0)
    y = rng.integers(0, 2, n)

    def of(count, **options):
        models = [StoredPredictions(np.where(rng.random(n) < 0.85, y, 1 - y)) for _ in range(count)]
        return models, Holdout(np.zeros((n, 1)), y, ledger=tmp_path / "ledger.db", **options)

    return of


def test_checks_and_a_certify_of_a_real_holdout_are_as_wide_as_planned(stored):
    n, k, rng = 2_000, 40, np.random.default_rng(1)
    models, holdout = stored(k, expected_questions=k)
    plan = plan_holdout(n=n, n_questions=k)
    for number, model in enumerate(models):
        guess = Guess(rng.binomial(n, 0.85) / n, n, outputs=str(number))
        answer = holdout.check(model, scoring="accuracy", guess=guess)
    assert answer.half_width == pytest.approx(plan["coded checks"].width, rel=0.1)
    answer = holdout.certify(models[0], scoring="accuracy", guess=0.85)
    assert answer.half_width == pytest.approx(plan["certify after checks"].width, rel=0.1)


def test_declared_models_of_a_real_holdout_are_as_wide_as_planned(stored):
    """The tenth of ten, certified after a surprise that would have cost any other model."""
    models, holdout = stored(10)
    assert holdout.declare(models, scoring="accuracy") == 10
    holdout.certify(models[0], scoring="accuracy", guess=0.2)
    answer = holdout.certify(models[9], scoring="accuracy", guess=0.85)
    plan = plan_holdout(n=2_000, n_questions=10)
    assert answer.half_width == pytest.approx(plan["declared models"].width, rel=0.03)


class Shifted(BaseEstimator):
    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y):
        self.n_features_in_ = 1
        return self

    def predict(self, X):
        return np.asarray(X)[:, 0] + self.shift


def test_a_guessed_median_of_a_real_holdout_is_as_wide_as_planned(tmp_path):
    """Levels of the last exact median, and of one whose guesses hold."""
    n, k, t = 4_000, 10, 20
    rng = np.random.default_rng(0)
    X, noise = rng.normal(size=(n, 1)), rng.normal(size=n)
    holdout = Holdout(X, X[:, 0] + noise, expected_questions=k, ledger=tmp_path / "ledger.db")
    asked = {
        "scoring": "neg_median_absolute_error",
        "settings": MedianSettings(n_subsamples=n // t, method="exact"),
    }
    for shift in np.linspace(0, 0.1, k):
        guess = Guess(-np.median(np.abs(noise - shift)), n // t, 0.17, outputs=str(shift))
        answer = holdout.check(Shifted(shift).fit(X, None), guess=guess, **asked)
        assert answer.verdict == "agrees"
    low, high = answer.levels
    plan = plan_holdout(n=n, n_questions=k, subsample_size=t)
    assert (high - low) / 2 == pytest.approx(plan["median, guessed"].width, rel=0.1)
