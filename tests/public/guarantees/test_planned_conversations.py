"""Seeded conversations with methods that plans compare: misses must be consistent with beta.

The labels are coins, so that the population value of every question is 1/2. The naive twin, a union bound as
if the questions had been fixed in advance, misses nearly always.
"""

import math

import numpy as np

from sklearn_ada.guarantees import (
    blum_hardt_2015,
    nonadaptive_half_width,
    thresholdout_direct,
    verdict_half_width,
)
from sklearn_ada.mechanisms import Ladder, Thresholdout
from tests.support.laws import is_too_often

BETA = 0.05
LN_BETA = math.log(BETA)
RUNS = 200


def coins(n, k, rng):
    """Whether each of k - 1 random classifiers is right on each record."""
    return rng.integers(0, 2, size=(n, k - 1))


def vote(right, signs, rng):
    """Return the accuracy of the majority vote of classifiers, each taken with a sign."""
    return ((2 * right - 1) @ signs + rng.uniform(-0.5, 0.5, len(right)) > 0).mean()


def test_a_boosting_attack_on_the_ladder():
    """Blum and Hardt's own: submit random classifiers, then vote with those that the answers favour."""
    n, k = 1_000, 200
    bound, rng = blum_hardt_2015(n, k, LN_BETA), np.random.default_rng(0)
    ladder_errors, naive_errors = np.empty(RUNS), np.empty(RUNS)
    for run in range(RUNS):
        right = coins(n, k, rng)
        losses, ladder = 1.0 - right.mean(axis=0), Ladder(bound.step)
        answers = [1.0, *(ladder.ask(float(loss)).answer for loss in losses)]
        ladder.ask(float(1.0 - vote(right, np.where(np.diff(answers) < 0, 1, -1), rng)))
        ladder_errors[run] = abs(ladder.best * bound.step - 0.5)
        naive_errors[run] = abs(vote(right, np.where(losses < 0.5, 1, -1), rng) - 0.5)
    assert not is_too_often((ladder_errors > bound.half_width).sum(), RUNS, BETA)
    assert is_too_often((naive_errors > nonadaptive_half_width(n, k, LN_BETA)).sum(), RUNS, BETA)


def test_verdicts_that_choose_the_next_question():
    """A miss is a pass of a question whose population value is too low; only bits are told."""
    n, k = 1_000, 200
    rng = np.random.default_rng(1)
    misses = {"counted": 0, "naive": 0}
    widths = {"counted": verdict_half_width(n, k, LN_BETA), "naive": nonadaptive_half_width(n, k, LN_BETA)}
    for _ in range(RUNS):
        right = coins(n, k, rng)
        bits = np.where(right.mean(axis=0) > 0.5, 1, -1)  # told: above 1/2 or not
        value = vote(right, bits, rng)
        for name, width in widths.items():
            misses[name] += value > 0.5 + width  # told: above 1/2 and the half-width, so "above 1/2"
    assert not is_too_often(misses["counted"], RUNS, BETA)
    assert is_too_often(misses["naive"], RUNS, BETA)


def test_an_adaptive_analyst_against_thresholdout():
    """All guesses but the last are right; the last question is an overfitted vote."""
    n, k, hits, threshold = 3_000, 60, 3, 0.02
    bound, rng = thresholdout_direct(n, k, hits, LN_BETA, threshold=threshold), np.random.default_rng(2)
    assert not bound.vacuous
    errors, naive_errors = np.empty(RUNS), np.empty(RUNS)
    for run in range(RUNS):
        mechanism = Thresholdout(threshold, bound.noise_scale, hits, 1.0 / n)

        def answer_to(value, mechanism=mechanism):
            return 0.5 if mechanism.exhausted else mechanism.ask(0.5, float(value), rng).answer.value

        right = coins(n, k, rng)
        answers = np.array([answer_to(value) for value in right.mean(axis=0)])
        last = answer_to(vote(right, np.sign(answers - 0.5), rng))
        errors[run] = np.abs([*(answers - 0.5), last - 0.5]).max()
        naive_errors[run] = vote(right, np.where(right.mean(axis=0) > 0.5, 1, -1), rng) - 0.5
    assert not is_too_often((errors > bound.half_width).sum(), RUNS, BETA)
    assert is_too_often((naive_errors > nonadaptive_half_width(n, k, LN_BETA)).sum(), RUNS, BETA)


def test_the_noise_of_thresholdout_is_allowed_for():
    """With much noise little else matters: at 0.3 of what the bound allows to noise it fails."""
    scale, threshold, runs = 0.01, 0.05, 4_000
    bound = thresholdout_direct(10**9, 1, 1, LN_BETA, threshold=threshold, noise_scale=scale)
    rng = np.random.default_rng(3)

    def misses(error):
        """Count guesses that are off by ``error`` and yet agree."""
        return sum(
            Thresholdout(threshold, scale, 1, 1e-9).ask(0.0, error, rng).answer.verdict == "agrees"
            for _ in range(runs)
        )

    assert not is_too_often(misses(bound.half_width), runs, BETA)
    assert is_too_often(misses(threshold + 0.3 * (bound.half_width - threshold)), runs, BETA)
