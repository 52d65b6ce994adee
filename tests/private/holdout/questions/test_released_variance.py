"""A certify of a score that varies little releases its variance, pays for it, and is narrower."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from sklearn_ada import Guess, Holdout
from sklearn_ada.guarantees import chernoff_kl
from sklearn_ada.metrics import Measured, Metric
from sklearn_ada.questions.coded import CodedQuestion
from sklearn_ada.questions.question import guess_from_rows
from sklearn_ada.terms.holdout_data import HoldoutData
from sklearn_ada.terms.policy import Allowance, Policy
from tests.support.laws import is_too_often
from tests.support.ledgers import bodies

N = 2000


def _question(value=-0.2):
    data = HoldoutData(np.zeros((N, 1)), np.arange(N) % 2)
    return CodedQuestion.plan("certify", Metric("neg_brier_score"), Guess(value, N, 0.1), data, Policy())


def _read(question, mean, deviation, ln_delta, monkeypatch):
    measured = Measured(mean, question.size, deviation), np.empty(0)
    monkeypatch.setattr(CodedQuestion, "look_at", lambda *_: measured, raising=True)
    event, remembered = question.release(
        question.evaluate(None, SimpleNamespace(by_value=True)).seen, Allowance(ln_delta, 0.0), None
    )
    return question.described_outcome(event, Allowance(ln_delta, 0.0), remembered), event


def test_a_model_of_low_variance_gets_a_narrower_interval(rows, tmp_path):
    X, y, X_hold, y_hold = rows
    model = LogisticRegression(C=1e-3).fit(X, y)  # probabilities near one half
    holdout = Holdout(X_hold, y_hold, ledger=tmp_path / "ledger.db")
    informed = guess_from_rows(Metric("neg_brier_score"), model, X, y)
    answer = holdout.certify(model, scoring="neg_brier_score", guess=informed)
    usual = chernoff_kl(answer.value, answer.value, len(y_hold), answer.certificate.ln_delta, (-1.0, 0.0))
    assert "betting" in answer.certificate.theorem
    assert 2 * answer.half_width < 0.75 * (usual[1] - usual[0])
    symbols = bodies(holdout)[-1]["event"]["symbols"]
    assert [symbol["stream"] for symbol in symbols] == ["lattice", "count", "count"]


def test_a_bare_guess_and_a_count_release_no_variance(rows, model, tmp_path):
    holdout = Holdout(rows[2], rows[3], ledger=tmp_path / "ledger.db")
    for scoring, guess in (("neg_brier_score", -0.15), ("accuracy", 0.8)):
        assert "Bernstein" not in holdout.certify(model, scoring=scoring, guess=guess).certificate.theorem


def test_a_variance_far_above_the_expected_one_falls_back(monkeypatch):
    question = _question()
    outcome, _ = _read(question, -0.3, 0.45, -5.0, monkeypatch)
    usual = chernoff_kl(-0.3, -0.3, 2000, -5.0, (-1.0, 0.0))
    assert outcome.interval[1] - outcome.interval[0] < 1.4 * (usual[1] - usual[0])
    bound, width = question.half_width_bound(Allowance(-5.0, 0.0))
    assert (outcome.interval[1] - outcome.interval[0]) / 2.0 <= bound * width


@pytest.mark.parametrize("deviation", [1e-12, 0.01, 0.1, 0.3])
def test_the_released_variance_is_never_below_the_measured_one(deviation, monkeypatch):
    """The interval must contain the published one at the exact variance and nine tenths of delta."""
    n, ln_delta = N, -5.0
    outcome, _ = _read(_question(), -0.2, deviation, ln_delta, monkeypatch)
    nats = math.log(4.0) - ln_delta - math.log(0.9)
    reach = math.sqrt(2 * deviation**2 * n / (n - 1) * nats / n) + 7 * nats / (3 * (n - 1))
    fallback = chernoff_kl(-0.2, -0.2, n, ln_delta - math.log(10.0), (-1.0, 0.0))
    assert outcome.interval[0] <= max(-0.2 - reach, fallback[0]) + 1e-12
    assert outcome.interval[1] >= min(-0.2 + reach, fallback[1]) - 1e-12


def test_certified_brier_scores_cover(monkeypatch):
    delta, runs = 0.2, 1000
    question, rng, misses = _question(-0.1), np.random.default_rng(0), 0
    assert question.variance is not None
    for _ in range(runs):
        scores = np.where(rng.random(N) < 0.05, -1.0, -0.05)  # a rare large loss, the hard case
        outcome, _ = _read(question, scores.mean(), scores.std(), math.log(delta), monkeypatch)
        misses += not outcome.interval[0] <= -0.0975 <= outcome.interval[1]
    assert not is_too_often(misses, runs, delta)
