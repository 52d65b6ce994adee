"""Verification and private multiplicative weights against populations that are known, and their plans."""

import itertools
import math

import numpy as np
import pytest

from sklearn_ada import guarantees, mechanisms
from tests.support.laws import is_too_often

BETA = 0.05
LN_BETA = math.log(BETA)
SETTINGS = {"rho": 0.4, "alpha": 0.3, "max_failures": 5}


def verified(m, epsilon, rng, near):
    """Verify guesses of a uniform variable, nearer and nearer to the threshold; return (share, answer)."""
    values = np.sort(rng.uniform(size=m))
    verification, answers, low, high = mechanisms.Verification(**SETTINGS, epsilon=epsilon), [], 0.0, near
    while len(answers) < 12 and not verification.exhausted:
        guess = (low + high) / 2.0  # its smaller share in the population is the guess itself
        answers.append((guess, verification.ask(values, guess, rng).answer))
        low, high = (low, guess) if answers[-1][1] == "Y" else (guess, high)
    return answers


def false_claims(answers, inside, outside):
    return any(share <= inside if answer == "Y" else share > outside for share, answer in answers)


def test_verification_speaks_of_the_population():
    """An analyst who closes in on the threshold is told nothing false, and would be without the noise."""
    m, epsilon, runs = 6_000, 0.05, 200
    levels = guarantees.verification_levels(m, 12, epsilon=epsilon, ln_beta=LN_BETA, **SETTINGS)
    assert not levels.vacuous
    rng = np.random.default_rng(0)
    conversations = [verified(m, epsilon, rng, 0.5) for _ in range(runs)]
    assert {answer for answers in conversations for _, answer in answers} == {"Y", "N"}
    assert not is_too_often(sum(false_claims(answers, *levels) for answers in conversations), runs, BETA)
    threshold = SETTINGS["rho"] - SETTINGS["alpha"] / 2.0
    assert is_too_often(
        sum(false_claims(answers, threshold, threshold) for answers in conversations), runs, BETA
    )


def test_the_plan_of_a_verification_is_enough_and_no_more():
    plan = guarantees.verification_plan(100, beta=BETA, **SETTINGS)
    levels = guarantees.verification_levels(plan.m, 100, epsilon=plan.epsilon, ln_beta=LN_BETA, **SETTINGS)
    assert levels.inside >= SETTINGS["rho"] - SETTINGS["alpha"]
    assert levels.outside <= SETTINGS["rho"]
    for epsilon in np.geomspace(plan.epsilon / 30.0, plan.epsilon * 30.0, 200):
        fewer = guarantees.verification_levels(plan.m - 2, 100, epsilon=epsilon, ln_beta=LN_BETA, **SETTINGS)
        assert fewer.outside > SETTINGS["rho"]


def test_few_subsamples_verify_nothing():
    levels = guarantees.verification_levels(100, 100, epsilon=0.1, ln_beta=LN_BETA, **SETTINGS)
    assert levels == (0.0, 1.0)
    assert levels.vacuous


def asked(n, bound, rng, k, size=8):
    """Ask an adaptive analyst's questions; return the largest distance of an answer from the population."""
    law = np.arange(1.0, size + 1.0) / np.arange(1.0, size + 1.0).sum()
    counts = np.bincount(rng.choice(size, size=n, p=law), minlength=size) / n
    mechanism, worst, signs = private_weights(n, size, bound), 0.0, np.zeros(size)
    for _ in range(k):
        question = rng.integers(0, 2, size=size).astype(float)
        question = np.where(signs != 0.0, (signs > 0).astype(float), question)
        if mechanism.exhausted:
            break
        answer = mechanism.ask(question, float(question @ counts), rng).answer
        worst = max(worst, abs(answer - float(question @ law)))
        signs = np.where(rng.uniform(size=size) < 0.5, np.sign(law - mechanism.model), 0.0)
    return worst


def private_weights(n, size, bound):
    return mechanisms.PrivateMultiplicativeWeights(
        universe_size=size, n_records=n, alpha=bound.alpha, epsilon=bound.epsilon
    )


def test_multiplicative_weights_speaks_of_the_population():
    """Questions where the public model errs most: within the bound; not within that of fixed questions."""
    n, k, runs = 400_000, 40, 100
    bound = guarantees.multiplicative_weights_direct(n, k, LN_BETA, universe_size=8)
    assert not bound.vacuous
    rng = np.random.default_rng(1)
    worst = np.array([asked(n, bound, rng, k) for _ in range(runs)])
    assert not is_too_often((worst > bound.half_width).sum(), runs, BETA)
    assert is_too_often((worst > guarantees.nonadaptive_half_width(n, k, LN_BETA)).sum(), runs, BETA)


def test_medians_by_multiplicative_weights_speak_of_the_population():
    n, size, runs, grid = 400_000, 9, 30, mechanisms.UniformGrid(0.0, 1.0, 9)
    k = 4 * mechanisms.n_counting_questions(grid.size)
    bound = guarantees.multiplicative_weights_direct(
        n, k, LN_BETA, universe_size=size, alpha=0.125, epsilon=0.006
    )
    level = guarantees.multiplicative_weights_median_level(bound)
    assert level < 0.5
    rng, wrong, wrong_at_less = np.random.default_rng(2), 0, 0
    for _ in range(runs):
        law = rng.dirichlet(np.ones(size))
        records = rng.choice(size, size=n, p=law)
        mechanism = private_weights(n, size, bound)
        for order in (np.arange(size), rng.permutation(size)):
            values = order / (size - 1)
            found = mechanisms.multiplicative_weights_median(mechanism, values, records, grid, rng).answer
            at_most, below = law[values <= found + 1e-9].sum(), law[values < found - 1e-9].sum()
            wrong += not (at_most > 0.5 - level and below < 0.5 + level)
            wrong_at_less += not (at_most > 0.5 - level / 8.0 and below < 0.5 + level / 8.0)
    assert not is_too_often(wrong, runs, BETA)
    assert is_too_often(wrong_at_less, 2 * runs, BETA)


@pytest.mark.parametrize("failure", [1e-3, 1e-6])
def test_accuracy_on_the_records_is_that_of_the_mechanism(failure):
    """At the sample size of the mechanism for some failure, half-width less gap is alpha + failure/beta."""
    settings = {"universe_size": 64, "alpha": 0.2, "epsilon": 0.001}
    n = mechanisms.multiplicative_weights_sample_size(100, beta=failure, **settings)
    few, many = (
        guarantees.multiplicative_weights_direct(m, 100, LN_BETA, **settings).half_width for m in (n, 100 * n)
    )
    assert few - many == pytest.approx(failure / BETA, rel=1e-3)


def test_settings_are_about_the_best():
    def half_width(**settings):
        return guarantees.multiplicative_weights_direct(
            10**6, 1000, LN_BETA, universe_size=64, **settings
        ).half_width

    grid = itertools.product(np.geomspace(0.02, 0.5, 40), np.geomspace(1e-4, 1e-1, 60))
    assert half_width() <= 1.02 * min(half_width(alpha=alpha, epsilon=epsilon) for alpha, epsilon in grid)


def test_records_are_enough_and_about_the_least():
    n = guarantees.multiplicative_weights_records(100, 0.2, universe_size=16, beta=BETA)
    assert guarantees.multiplicative_weights_direct(n, 100, LN_BETA, universe_size=16).half_width <= 0.2
    fewer = guarantees.multiplicative_weights_direct(int(0.97 * n), 100, LN_BETA, universe_size=16)
    assert fewer.half_width > 0.2
