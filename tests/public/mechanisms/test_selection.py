import math
from itertools import permutations, product

import numpy as np
import pytest

from sklearn_ada.accounting import ExponentialMechanismEvent, PermuteAndFlipEvent, Symbol
from sklearn_ada.guarantees import private_learner_sample_size
from sklearn_ada.mechanisms import (
    exponential_mechanism,
    permute_and_flip,
    private_learner,
    private_minimum,
    report_noisy_max,
    selection_error,
)
from tests.support.laws import FALSE_ALARM, chi_square, fits_only_as_it_is

SCORES, SENSITIVITY, EPSILON, N = np.array([0.2, 0.9, 0.5, 0.9, 0.0]), 0.25, 1.0, 40_000


def exponential_law(scores, sensitivity, epsilon):
    weights = [math.exp(epsilon * s / (2 * sensitivity)) for s in scores]
    return np.array(weights) / sum(weights)


def permute_and_flip_law(scores, sensitivity, epsilon):
    """By hand: over all orders, stop at the first success."""
    chance = [math.exp(epsilon * (s - max(scores)) / (2 * sensitivity)) for s in scores]
    law = np.zeros(len(scores))
    orders = list(permutations(range(len(scores))))
    for order in orders:
        reached = 1.0
        for i in order:
            law[i] += reached * chance[i] / len(orders)
            reached *= 1 - chance[i]
    return law


MECHANISMS = {
    "inverse": (exponential_mechanism, exponential_law, {}),
    "rejection": (exponential_mechanism, exponential_law, {"sampler": "rejection"}),
    "gumbel": (report_noisy_max, exponential_law, {}),
    "permute_and_flip": (permute_and_flip, permute_and_flip_law, {}),
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_sampler_agrees_with_its_law(name):
    mechanism, law, options = MECHANISMS[name]
    asked = {"sensitivity": SENSITIVITY, "epsilon": EPSILON, "rng": np.random.default_rng(0), **options}
    counts = np.bincount([mechanism(SCORES, **asked).answer for _ in range(N)], minlength=SCORES.size)
    assert fits_only_as_it_is(lambda factor: chi_square(counts, law(SCORES, SENSITIVITY, factor * EPSILON)))


def test_private_minimum_prefers_small_losses():
    rng = np.random.default_rng(0)
    drawn = [private_minimum(SCORES, sensitivity=0.25, epsilon=1.0, rng=rng).answer for _ in range(N)]
    counts = np.bincount(drawn, minlength=SCORES.size)
    assert fits_only_as_it_is(lambda factor: chi_square(counts, exponential_law(-SCORES, 0.25, factor)))


@pytest.mark.parametrize("sampler", ["inverse", "rejection"])
def test_private_learner_scores_by_mean_error(sampler):
    errors = np.array([[0, 0, 1, 0], [1, 1, 1, 0], [0, 1, 0, 1]])
    rng = np.random.default_rng(0)
    drawn = [private_learner(errors, epsilon=2.0, rng=rng, sampler=sampler).answer for _ in range(10_000)]
    # -error / sensitivity = minus the number of errors: 1, 3, 2.
    law = np.exp([-1.0, -3.0, -2.0])
    assert chi_square(np.bincount(drawn, minlength=3), law / law.sum()) > FALSE_ALARM


@pytest.mark.parametrize("law", [exponential_law, permute_and_flip_law])
def test_laws_are_private_and_only_one_is_bounded_range(law):
    ratio = spread = 0.0
    for scores in product([0.0, 0.5, 1.0], repeat=3):
        for change in product([-0.5, 0.0, 0.5], repeat=3):
            difference = np.log(law(scores, 0.5, 1.0) / law(np.add(scores, change), 0.5, 1.0))
            ratio, spread = max(ratio, np.abs(difference).max()), max(spread, np.ptp(difference))
    assert 0.89 < ratio <= 1.0 + 1e-12
    assert (spread <= 1.0 + 1e-12) == (law is exponential_law)


@pytest.mark.parametrize("law", [exponential_law, permute_and_flip_law])
def test_selection_error_holds_with_its_probability(law):
    rng = np.random.default_rng(0)
    for _ in range(100):
        scores = rng.choice([0.0, 0.3, 0.6, 1.0], size=6)
        best = int((scores == scores.max()).sum())
        for t in (0.0, 1.0, 3.0):
            bound = selection_error(6, sensitivity=0.1, epsilon=0.8, t=t, n_optimal=best)
            assert law(scores, 0.1, 0.8)[scores <= scores.max() - bound].sum() <= math.exp(-t) + 1e-12


def test_selection_error_is_nearly_attained():
    """One is the best and all others are worse by just the bound; by a twentieth less it would be false."""
    size, t = 1000, 3.0
    bound = selection_error(size, sensitivity=0.1, epsilon=0.8, t=t)

    def chance_of_the_others(by):
        return exponential_law([1.0] + [1.0 - by] * (size - 1), 0.1, 0.8)[1:].sum()

    assert 0.95 * math.exp(-t) < chance_of_the_others(bound) <= math.exp(-t)
    assert chance_of_the_others(0.95 * bound) > math.exp(-t)


def test_selection_error_by_hand():
    found = selection_error(6, sensitivity=0.1, epsilon=0.5, t=1.0, n_optimal=2)
    assert found == pytest.approx(2 * 0.1 / 0.5 * (math.log(6 / 2) + 1))
    with pytest.raises(ValueError, match="'n_optimal'"):
        selection_error(2, sensitivity=0.1, epsilon=0.5, t=1.0, n_optimal=3)


@pytest.mark.parametrize(("alpha", "epsilon"), [(0.1, 0.01), (0.1, 10.0)])
def test_learner_sample_size_is_the_least_that_the_proof_allows(alpha, epsilon):
    size, beta = 50, 0.05

    def suffices(m):
        error = selection_error(size, sensitivity=1 / m, epsilon=epsilon, t=math.log(2 / beta))
        sampling = (size + 1) * math.exp(-2 * m * (alpha / 4) ** 2)
        return error <= alpha / 2 and sampling <= beta / 2

    m = private_learner_sample_size(size, alpha=alpha, epsilon=epsilon, beta=beta)
    assert suffices(m)
    assert not suffices(m - 1)


def test_events_carry_the_index():
    asked = {"sensitivity": 0.01, "epsilon": 1.0, "rng": np.random.default_rng(0)}
    symbols = (Symbol("index", 1, 2.0),)
    assert exponential_mechanism([0.0, 5.0], **asked).event == ExponentialMechanismEvent(1.0, symbols)
    assert permute_and_flip([0.0, 5.0], **asked).event == PermuteAndFlipEvent(1.0, symbols)


def test_huge_scores_do_not_overflow():
    rng = np.random.default_rng(0)
    for mechanism in (exponential_mechanism, report_noisy_max, permute_and_flip):
        assert mechanism([-1e308, 1e308], sensitivity=1.0, epsilon=1.0, rng=rng).answer == 1
