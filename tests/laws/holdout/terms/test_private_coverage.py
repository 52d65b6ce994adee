"""The privacy route under attack: it covers, and without its filter or its allowances it would not."""

import math

import numpy as np
import pytest
from scipy import stats

from sklearn_ada import Guess
from sklearn_ada.exceptions import BudgetExhaustedError
from sklearn_ada.holdout.asking import with_routes
from sklearn_ada.holdout.records import AnswerRecord
from sklearn_ada.holdout.state import RefusedError, State
from sklearn_ada.metrics import Metric
from sklearn_ada.questions.coded import CodedQuestion
from sklearn_ada.questions.noisy import GaussianQuestion
from sklearn_ada.questions.question import Draw
from sklearn_ada.terms.holdout_data import HoldoutData
from sklearn_ada.terms.policy import Genesis, Policy
from tests.support.laws import is_too_often

ROWS = 400
CONVERSATIONS = 60
BETA = 0.05
POLICY = Policy(1.0 - BETA, expected_questions=5, route="differential_privacy")
DATA = HoldoutData(np.zeros((ROWS, 1)), np.zeros(ROWS, dtype=int))


class Conversant:
    """Ask for accuracies whose values on the holdout are given; everything else is the real thing."""

    def __init__(self, seed):
        self.state = State(Genesis.of(DATA, POLICY, {}, b"", None).body)
        self.secret, self.asked = str(seed).encode(), 0
        coded = CodedQuestion.plan("certify", Metric("accuracy"), Guess(0.5), DATA, POLICY)
        self.question = GaussianQuestion.plan(coded, DATA, POLICY)

    def ask(self, value):
        try:
            share = with_routes(self.state, self.question, self.state.allowance("certify"))
        except RefusedError as error:
            raise BudgetExhaustedError(str(error)) from None
        self.asked += 1
        event, remembered = self.question.release(value, share, Draw(self.secret, str(self.asked)))
        outcome = self.question.outcome(event, share, remembered, None)
        record = AnswerRecord.of(
            self.state, event, share, self.question.private_release({}), subject="", purpose="certify",
            round_name=None, outcome=outcome, memory_name="", memory={}, metric={"range": (0.0, 1.0)},
            mechanism={}, guess={},
        )  # fmt: skip
        self.state.advance(record.to_dict(POLICY.format))
        return outcome


def _attack(seed, n_questions):
    """Ask for random predictors on random labels, then for their vote; return whether any interval missed.

    Also returns the accuracy of the vote on the holdout, whose population accuracy is one half.
    """
    right = np.random.default_rng(seed).choice([-1, 1], size=(n_questions, ROWS)).astype(np.int8)
    conversant, vote, missed = Conversant(seed), np.zeros(ROWS), False
    try:
        for signs in right:
            outcome = conversant.ask(float((signs > 0).mean()))
            missed |= not outcome.interval[0] <= 0.5 <= outcome.interval[1]
            vote += (outcome.value - 0.5) * signs
        combined = conversant.ask(float((vote > 0).mean()))
        missed |= not combined.interval[0] <= 0.5 <= combined.interval[1]
    except BudgetExhaustedError:
        pass
    return missed, float((vote > 0).mean())


def misses(n_questions):
    return sum(_attack(seed, n_questions)[0] for seed in range(CONVERSATIONS))


@pytest.mark.parametrize("n_questions", [4, 100])
def test_every_private_interval_covers_at_once(n_questions):
    assert not is_too_often(misses(n_questions), CONVERSATIONS, BETA)


def test_without_the_filter_the_attack_succeeds(monkeypatch):
    """The budget is what protects: the same intervals, for many more questions, miss."""
    account = "sklearn_ada.terms.privacy_account.PrivacyAccount"
    monkeypatch.setattr(f"{account}.refusal", lambda self, release, count=1: None)
    monkeypatch.setattr(f"{account}.record", lambda self, event, unit: None)
    seen = [_attack(seed, 5000) for seed in range(3)]
    assert min(naive for _, naive in seen) > 0.9
    assert all(missed for missed, _ in seen)


def test_without_its_allowances_the_intervals_miss(monkeypatch):
    monkeypatch.setattr(GaussianQuestion, "noise_bound", lambda self, ln_noise: 0.0)
    monkeypatch.setattr("sklearn_ada.terms.privacy_account.zcdp_gap", lambda rho, ln_beta: 0.0)
    assert is_too_often(misses(4), CONVERSATIONS, BETA)


def test_the_allowance_for_noise_is_the_normal_quantile():
    question = Conversant(0).question
    allowed = question.noise_bound(math.log(0.01))
    assert 2.0 * stats.norm.sf(allowed, scale=question.deviation) == pytest.approx(0.01)
    assert question.deviation == pytest.approx(question.multiplier / ROWS)
