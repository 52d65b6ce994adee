"""Bernstein's interval: the published form, coverage, and twins that miss."""

import math

import numpy as np
import pytest

from sklearn_ada.guarantees import chernoff_kl, empirical_bernstein
from tests.support.laws import is_missed, is_too_often


@pytest.mark.parametrize("delta", [0.5, 0.01, 1e-9])
@pytest.mark.parametrize("bounds", [(0.0, 1.0), (-3.0, 1.0)])
def test_empirical_bernstein_is_the_published_bound_for_both_sides(delta, bounds):
    n, variance, width = 5000, 0.02, bounds[1] - bounds[0]
    low, high = empirical_bernstein(0.5, 0.6, variance * width**2, n, math.log(delta), bounds)
    side = math.log(2.0 / (delta / 2.0))
    reach = math.sqrt(2 * variance * side / n) + 7 * side / (3 * (n - 1))
    assert high == pytest.approx(min(0.6 + width * reach, bounds[1]), rel=1e-9)
    assert low == pytest.approx(max(0.5 - width * reach, bounds[0]), rel=1e-9)


def laws(rng, shape):
    """Means that are hard for a variance: a rare large score, two values, and unequal laws."""
    yield rng.random(shape) < 0.002, 0.002
    yield rng.choice([0.4, 0.6], size=shape), 0.5
    p = np.linspace(0.0, 0.3, shape[1])
    yield rng.random(shape) < p, float(p.mean())
    yield rng.beta(0.05, 2.0, size=shape), 0.05 / 2.05


def misses(scores, mean, delta, allowance=1.0, dropped=0.0):
    """Count samples that are missed at so much of their variance, and without so much of the second term."""
    n = scores.shape[1]
    second = dropped * 7 * math.log(4 / delta) / (3 * (n - 1))
    count = 0
    for row in scores.astype(float):
        variance = row.var(ddof=1) * allowance
        low, high = empirical_bernstein(row.mean(), row.mean(), variance, n, math.log(delta))
        count += is_missed((low + second, high - second), mean)
    return count


def test_empirical_bernstein_covers_and_without_its_second_term_misses_a_rare_score():
    delta, runs = 0.1, 600
    for scores, mean in laws(np.random.default_rng(0), (runs, 400)):
        assert not is_too_often(misses(scores, mean, delta), runs, delta)
    scores, mean = next(iter(laws(np.random.default_rng(1), (runs, 400))))
    assert is_too_often(misses(scores, mean, delta, dropped=1.0), runs, delta)


def test_with_half_the_variance_two_values_are_missed():
    """Where the second term is small the first is tight up to constants; a tenth of it is not enough."""
    rng, delta, runs = np.random.default_rng(2), 0.3, 600
    scores = rng.choice([0.0, 1.0], size=(runs, 20_000))
    assert is_too_often(misses(scores, 0.5, delta, allowance=0.1), runs, delta)


def test_empirical_bernstein_is_narrower_than_chernoff_where_scores_vary_little():
    low, high = empirical_bernstein(0.2, 0.2, 0.01, 10_000, -5.0)
    usual = chernoff_kl(0.2, 0.2, 10_000, -5.0)
    assert high - low < 0.5 * (usual[1] - usual[0])
