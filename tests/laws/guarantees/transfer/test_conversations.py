"""Seeded conversations with a known population: simultaneous misses must be consistent with beta."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from sklearn_ada import guarantees
from tests.support.laws import is_too_often

BETA = 0.05


def conversations(n, k, noise, runs, seed):
    """Ask k - 1 coin questions, then the accuracy of the classifier that the answers suggest.

    Labels are coins, so every population value is 1/2. ``noise(rng, size)`` is added to the sample means.
    Returns, of each run, the largest distance of an answer from 1/2.
    """
    rng, worst = np.random.default_rng(seed), np.empty(runs)
    for run in range(runs):
        agree = rng.integers(0, 2, size=(n, k - 1))  # whether feature j equals the label
        first = agree.mean(axis=0) + noise(rng, k - 1)
        signs = np.where(first > 0.5, 1, -1)
        votes = (2 * agree - 1) @ signs + rng.uniform(-0.5, 0.5, size=n)  # a coin decides ties
        last = (votes > 0).mean() + noise(rng, 1)
        worst[run] = max(np.abs(first - 0.5).max(), np.abs(last - 0.5).max())
    return worst


@pytest.mark.parametrize(
    "bound_of", [guarantees.gaussian_direct, guarantees.gaussian_jung, guarantees.gaussian_rogers]
)
def test_adaptive_analyst_against_gaussian_noise(bound_of):
    n, k, runs = 1000, 100, 300
    bound = bound_of(n, k, math.log(BETA))
    errors = conversations(n, k, lambda rng, size: rng.normal(0.0, bound.noise_scale, size), runs, seed=1)
    assert not is_too_often((errors > bound.half_width).sum(), runs, BETA)


def test_adaptive_analyst_catches_the_naive_holdout():
    """The same analyst, exact answers: the non-adaptive interval and exact use of rounding's width fail."""
    n, k, runs = 1000, 100, 300
    errors = conversations(n, k, lambda rng, size: 0.0, runs, seed=2)
    assert is_too_often((errors > guarantees.nonadaptive_half_width(n, k, math.log(BETA))).sum(), runs, BETA)
    assert not is_too_often((errors > guarantees.rounding_half_width(n, k, math.log(BETA))).sum(), runs, BETA)


def test_adaptive_analyst_against_laplace_noise():
    n, k, runs, scale = 1000, 20, 300, 0.02
    epsilon = 1.0 / (n * scale)
    rho = k * (epsilon + math.exp(-epsilon) - 1.0)
    half_width = guarantees.laplace_tail_mean(k, scale, math.log(BETA)) + guarantees.zcdp_gap(
        rho, math.log(BETA)
    )
    errors = conversations(n, k, lambda rng, size: rng.laplace(0.0, scale, size), runs, seed=3)
    assert half_width < 0.5
    assert not is_too_often((errors > half_width).sum(), runs, BETA)


@pytest.mark.parametrize("n", [400, 20_000])
@pytest.mark.parametrize("k", [1, 10])
def test_questions_fixed_in_advance_and_slices_hold_exactly_and_not_at_much_less(n, k):
    """Of k independent coins: the chance that one of the means is further off, by the binomial law."""

    def one_is_off(size, half_width):
        each = 2.0 * binom.cdf(math.ceil(size * (0.5 - half_width)) - 1, size, 0.5)
        return -math.expm1(k * math.log1p(-each))

    for half_width, size in (
        (guarantees.nonadaptive_half_width, n),
        (guarantees.sample_splitting_half_width, n // k),
    ):
        width = half_width(n, k, math.log(BETA))
        assert one_is_off(size, width) <= BETA
        assert one_is_off(size, 0.7 * width) > BETA


@pytest.mark.parametrize("k", [1, 20])
def test_noise_part_of_the_direct_bound_is_tight(k):
    """With much noise little else matters: at three quarters of its width the bound fails."""
    n, runs = 10**6, 20_000
    bound = guarantees.gaussian_direct(n, k, math.log(BETA), noise_scale=0.05)
    rng = np.random.default_rng(4)
    noise, sampling = (rng.normal(0.0, scale, size=(runs, k)) for scale in (0.05, 0.5e-3))
    errors = np.abs(noise + sampling).max(axis=1)
    assert not is_too_often((errors > bound.half_width).sum(), runs, BETA)
    assert is_too_often((errors > 0.75 * bound.half_width).sum(), runs, BETA)


def test_adaptive_analyst_against_pure_dp_answers():
    """Laplace noise of a fixed total epsilon: the interval in odds."""
    n, k, runs = 2000, 5, 300
    epsilon = 0.25 / k
    noise = 1.0 / (n * epsilon)
    alpha = noise * math.log(2.0 * k / BETA)  # fails with probability beta/2; eta is the other half
    assert guarantees.laplace_tail_mean(k, noise, math.log(BETA / 2.0)) == pytest.approx(alpha + noise)
    answers = 0.5 + conversations(n, k, lambda rng, size: rng.laplace(0.0, noise, size), runs, seed=5)
    ends = np.clip([answers - alpha, answers + alpha], 0.0, 1.0).T
    lows = [guarantees.pure_dp_interval(*each, k * epsilon, n, math.log(BETA / 2.0))[0] for each in ends]
    assert not is_too_often(np.greater(lows, 0.5).sum(), runs, BETA)


def median_by_exponential_mechanism(values, grid, epsilon, rng):
    below = np.searchsorted(np.sort(values), grid, side="left")
    above = len(values) - np.searchsorted(np.sort(values), grid, side="right")
    scores = -epsilon * np.maximum(below, above) / 2.0 + rng.gumbel(size=grid.size)
    return grid[np.argmax(scores)]


@pytest.mark.thorough
@pytest.mark.parametrize("atoms", [False, True])
def test_stable_medians_of_adaptive_questions(atoms):
    """Questions are signed sums of coordinates chosen from the answers; their law is known."""
    k, runs, grid = 10, 40, np.linspace(-4.0, 4.0, 1000)
    m, epsilon = guarantees.stable_median_plan(k, grid.size, math.log(BETA))
    rng = np.random.default_rng(6)
    misses = {0.25: 0, 0.47: 0}
    for _ in range(runs):
        records = rng.normal(size=(m, k))
        direction = np.zeros(k)
        worst = 0.5
        for j in range(k):
            direction[j] = 1.0
            values = records @ direction / np.linalg.norm(direction)  # standard normal for fixed directions
            values = np.clip(np.sign(values) * 0.5 if atoms else values, grid[0], grid[-1])
            values = grid[np.argmin(np.abs(values[:, None] - grid), axis=1)]
            answer = median_by_exponential_mechanism(values, grid, epsilon, rng)
            direction[j] = 1.0 if answer > 0.0 else -1.0
            worst = min(worst, level_of(answer, atoms))
        for level in misses:
            misses[level] += worst < level
    assert not is_too_often(misses[0.25], runs, BETA)
    if not atoms:
        assert is_too_often(misses[0.47], runs, BETA)  # of a non-private use of the same


def level_of(answer, atoms):
    if atoms:
        return 0.5 if abs(answer) <= 0.5 + 0.005 else 0.0
    half_step = 4.0 / 999.0
    at_most = 0.5 * math.erfc(-(answer + half_step) / math.sqrt(2.0))
    at_least = 0.5 * math.erfc((answer - half_step) / math.sqrt(2.0))
    return min(at_most, at_least)


def test_the_plan_of_the_stable_median_is_what_was_certified():
    m, epsilon = guarantees.stable_median_plan(10, 1000, math.log(BETA))
    rho = 10 * (lambda u: u - 1.0 - math.log(u))(epsilon / -math.expm1(-epsilon))
    a = guarantees.median_rank_error(m, 10, 1000, epsilon, math.log(BETA), mean=True)
    assert guarantees.median_level_direct(a, rho, math.log(BETA)) >= 0.25


def test_private_learner_reaches_its_accuracy():
    """One hypothesis is good, all others are just too bad: the exponential mechanism at the solver's n."""
    size, alpha, epsilon, beta, runs = 20, 0.1, 0.05, 0.2, 2000
    n = guarantees.private_learner_sample_size(size, alpha, epsilon, beta)
    errors = np.array([0.3] + [0.3 + 1.01 * alpha] * (size - 1))
    rng = np.random.default_rng(7)

    def misses(records):
        empirical = rng.binomial(records, errors, size=(runs, size)) / records
        chosen = np.argmax(-epsilon * records * empirical / 2.0 + rng.gumbel(size=(runs, size)), axis=1)
        return (chosen > 0).sum()

    assert not is_too_often(misses(n), runs, beta)
    assert is_too_often(misses(n // 6), runs, beta)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "k"), [(10_000, 100), (10_000, 1000)])
def test_adaptive_analyst_at_full_size(n, k):
    runs = 1000
    bound = guarantees.gaussian_direct(n, k, math.log(BETA))
    errors = conversations(n, k, lambda rng, size: rng.normal(0.0, bound.noise_scale, size), runs, seed=8)
    assert not is_too_often((errors > bound.half_width).sum(), runs, BETA)
    assert is_too_often((errors > 0.4 * bound.half_width).sum(), runs, BETA)
