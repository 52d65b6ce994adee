"""A certificate that is slightly wrong must be noticed: power first, then the real thing.

Each attack is run on the package's own certificates and on a mutant of them. The real ones must miss no more
often than they say, by an exact binomial test with a false alarm below 1e-6; the mutant must be caught.
"""

import math

import numpy as np
import pytest
from scipy import stats

from benchmarks.validity.simulated import SimulatedHoldout
from sklearn_ada.guarantees.weights import round_weight
from sklearn_ada.holdout.conversation import Conversation
from sklearn_ada.holdout.outcome import Share
from sklearn_ada.holdout.policy import Policy

FALSE_ALARM = 1e-6


def consistent(misses: int, runs: int, beta: float) -> bool:
    """Whether so many misses are no surprise at a failure probability of at most beta."""
    return stats.binomtest(misses, runs, min(beta, 1.0), alternative="greater").pvalue >= FALSE_ALARM


def misses_half(outcome) -> bool:
    low, high = outcome.interval
    return not low <= 0.5 <= high


class PriceDropped(Conversation):
    """L is not counted: what was revealed costs nothing."""

    def share(self, purpose, size=1, round_name=None, ahead=0):
        share = super().share(purpose, size, round_name, ahead)
        return Share(share.ln_delta + share.nats, 0.0)


class NoUnionOverARound(Conversation):
    """Every question of a round gets the weight of the whole round."""

    def share(self, purpose, size=1, round_name=None, ahead=0):
        share = super().share(purpose, size, round_name, ahead)
        return Share(share.ln_delta + math.log(size), share.nats)


class OneSideForTwo(Conversation):
    """The factor 2 for two sides is lost."""

    def share(self, purpose, size=1, round_name=None, ahead=0):
        share = super().share(purpose, size, round_name, ahead)
        return Share(share.ln_delta + math.log(2.0), share.nats)


class FreeRefusal(SimulatedHoldout):
    """Answers that would cost too much are refused, at no price."""

    budget = 3.0

    def admits_symbols(self, symbols, price):
        return self.state.account.nats + price <= self.budget


# --- the tight case: independent coins, fixed together, everything exact ---------------------------------

COINS, COIN_ROWS, COIN_BETA = 100, 100_000, 0.4


def coins_are_missed(rng, conversation) -> bool:
    """Whether any of 100 independent coin predictors, certified as one round, is missed."""
    policy = Policy(1.0 - COIN_BETA, check_share=1e-9)
    holdout = SimulatedHoldout(COIN_ROWS, policy, conversation)
    name = holdout.open_round("certify", COINS)
    values = rng.binomial(COIN_ROWS, 0.5, COINS) / COIN_ROWS
    return any(misses_half(holdout.ask("certify", v, 0.5, round_name=name)) for v in values)


def coin_misses(runs, conversation=Conversation, seed=0) -> int:
    rng = np.random.default_rng(seed)
    return sum(coins_are_missed(rng, conversation) for _ in range(runs))


def coin_beta() -> float:
    return COIN_BETA * COINS * round_weight("certify", 0, COINS)


@pytest.mark.parametrize("runs", [pytest.param(1000, marks=pytest.mark.slow), 150])
def test_a_tight_round_of_coins_is_covered(runs):
    misses = coin_misses(runs)
    assert consistent(misses, runs, coin_beta())
    # Tight: if it almost never missed, nothing could be learned from it.
    assert misses > 0.5 * runs * coin_beta()


@pytest.mark.slow
def test_a_lost_factor_two_would_be_seen():
    assert not consistent(coin_misses(1000, OneSideForTwo), 1000, coin_beta())


def test_a_lost_union_over_the_round_would_be_seen():
    assert not consistent(coin_misses(60, NoUnionOverARound), 60, coin_beta())


# --- the boosting attack: exact answers about random predictors, then their vote ---------------------------


def vote_is_missed(rng, conversation, *, n=500, k=150) -> bool:
    """Certify k random predictors of random labels, then the majority vote of the better half."""
    labels = rng.integers(0, 2, n)
    predictions = rng.integers(0, 2, (k, n))
    values = (predictions == labels).mean(axis=1)
    holdout = SimulatedHoldout(n, Policy(check_share=0.5), conversation)
    for value in values:
        holdout.ask("certify", float(value), 0.5)
    signs = np.where(values >= 0.5, 1, -1)  # all that the analyst uses: released answers
    vote = (signs @ (2 * predictions - 1) > 0).astype(int)
    return misses_half(holdout.ask("certify", float((vote == labels).mean()), 0.5))


def test_the_boosting_attack_is_covered_and_a_dropped_price_is_seen():
    runs = 40
    real = sum(vote_is_missed(np.random.default_rng(s), Conversation) for s in range(runs))
    mutant = sum(vote_is_missed(np.random.default_rng(s), PriceDropped) for s in range(runs))
    assert consistent(real, runs, 0.05)
    assert not consistent(mutant, runs, 0.05)


# --- free refusal: who may read from a refusal gets bits for nothing ----------------------------------------


def probing_is_missed(rng, kind, *, n=2000, k=600) -> bool:
    """Ask with cells that end at one half: an answer or a refusal tells on which side the value lies."""
    labels = rng.integers(0, 2, n)
    predictions = rng.integers(0, 2, (k, n))
    values = (predictions == labels).mean(axis=1)
    holdout = kind(n, Policy(check_share=0.1))
    signs = np.zeros(k)
    for j, value in enumerate(values):
        outcome = holdout.ask("check", float(value), 0.6, half_cell=0.1)
        signs[j] = -1 if outcome is None or outcome.value < 0.5 else 1
    vote = (signs @ (2 * predictions - 1) > 0).astype(int)
    accuracy = float((vote == labels).mean())
    final = holdout.ask("certify", accuracy, accuracy)  # a guess that the budget lets pass
    return final is not None and misses_half(final)


def test_refusals_carry_no_news_and_a_free_refusal_is_seen():
    runs = 20
    real = sum(probing_is_missed(np.random.default_rng(s), SimulatedHoldout) for s in range(runs))
    assert consistent(real, runs, 0.05)

    class Generous(FreeRefusal):
        def ask(self, purpose, *args, **kwargs):
            self.budget = math.inf if purpose == "certify" else 3.0
            return super().ask(purpose, *args, **kwargs)

    mutant = sum(probing_is_missed(np.random.default_rng(s), Generous) for s in range(runs))
    assert not consistent(mutant, runs, 0.05)


# --- class counts: an analyst who knows them is right exactly where they are over-represented ---------------


def class_count_case(rng, *, n=1000, classes=10):
    labels = rng.integers(0, classes, n)
    counts = np.bincount(labels, minlength=classes)
    right_on = counts > n / classes
    accuracy = counts[right_on].sum() / n  # a predictor that is never wrong there, never right elsewhere
    holdout = SimulatedHoldout(n, Policy())
    outcome = holdout.ask("certify", float(accuracy), 0.5)
    at_class_mix = float((counts / n) @ right_on)
    in_population = right_on.mean()
    return outcome, at_class_mix, in_population


def test_the_class_mix_is_covered_and_free_class_counts_are_seen():
    runs, real, mutant = 60, 0, 0
    for seed in range(runs):
        outcome, at_class_mix, in_population = class_count_case(np.random.default_rng(seed))
        low, high = outcome.interval
        real += not low <= at_class_mix <= high
        mutant += not low <= in_population <= high  # what a certificate of the population mix would promise
    assert consistent(real, runs, 0.05)
    assert not consistent(mutant, runs, 0.05)


def test_the_certificate_says_that_it_speaks_of_the_class_mix():
    from sklearn.dummy import DummyClassifier

    from sklearn_ada import Holdout

    X, y = np.arange(40.0)[:, None], np.arange(40) % 2
    answer = Holdout(X, y).certify(DummyClassifier().fit(X, y), scoring="accuracy", guess=0.5)
    assert "at the holdout's class mix" in answer.certificate.target
