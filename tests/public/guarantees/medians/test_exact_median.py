"""Certificates of medians, by exact binomial sums."""

import math

import numpy as np
import pytest
from scipy import stats

from sklearn_ada.guarantees import median_is_covered, outer_levels, quantile_interval
from tests.support.laws import is_too_often


@pytest.mark.parametrize("m", [5, 20, 101, 400])
@pytest.mark.parametrize("delta", [0.3, 0.05, 1e-6])
@pytest.mark.parametrize("rank_error", [0.0, 0.1])
def test_the_answer_is_not_below_its_low_level(m, delta, rank_error):
    """Worst case: mass just under l lies below, and the answer with it if enough of the sample does."""
    low, high = quantile_interval(m, rank_error, math.log(delta))
    assert high == pytest.approx(1 - low)
    needed = math.ceil(m * (0.5 - rank_error) - 1e-9)
    assert stats.binom.sf(needed - 1, m, low) <= delta / 2 * (1 + 1e-9)
    if (m, delta, rank_error) == (400, 0.05, 0.0):  # a level two percent sharper is noticed
        assert stats.binom.sf(needed - 1, m, low * 1.02) > delta / 2


@pytest.mark.parametrize("m", [20, 101, 400])
@pytest.mark.parametrize("delta", [0.3, 0.05, 1e-6])
@pytest.mark.parametrize("rank_error", [0.0, 0.05])
def test_outer_quantiles_enclose_the_median(m, delta, rank_error):
    level, _ = outer_levels(m, rank_error, math.log(delta))
    if level == 0.0:
        assert not median_is_covered(m, 1 / m, rank_error, math.log(delta))
        return
    most = math.floor(m * (level + rank_error) + 1e-9)
    assert stats.binom.cdf(most, m, 0.5) <= delta / 2 * (1 + 1e-9)
    assert median_is_covered(m, level, rank_error, math.log(delta))
    assert stats.binom.cdf(most + 2, m, 0.5) > delta / 2  # nothing much better would be valid


def test_a_rank_error_of_one_half_and_few_subsamples_say_nothing():
    for rank_error in (0.5, 0.7):
        assert quantile_interval(100, rank_error, math.log(0.05)) == (0.0, 1.0)
    assert outer_levels(5, 0.0, math.log(0.01)) == (0.0, 1.0)


def test_sharper_than_the_uniform_bound_of_the_published_route():
    """DKW would give 1/2 -+ sqrt(ln(2/delta) / 2m); the binomial tail at one threshold is inside.

    Chernoff's bound of that tail, ``-(m/2) ln(1 - 4 x^2) = ln(2/delta)``, is between the two.
    """
    for m in (100, 1000, 1001, 10000):
        for delta in (0.05, 1e-10):
            nats = math.log(2 / delta)
            dkw, chernoff = math.sqrt(nats / (2 * m)), math.sqrt(-math.expm1(-2 * nats / m)) / 2
            low = quantile_interval(m, 0.0, math.log(delta))[0]
            assert 0.5 - dkw < 0.5 - chernoff < low < 0.5 - 0.7 * chernoff


def test_simulated_medians_lie_between_their_levels():
    """Twin of the exact tests above: draw samples and count misses of the certified levels."""
    m, delta, runs = 51, 0.2, 2000
    low, high = quantile_interval(m, 0.0, math.log(delta))
    medians = np.median(np.random.default_rng(0).random((runs, m)), axis=1)  # uniform: value = level
    assert not is_too_often(((medians < low) | (medians > high)).sum(), runs, delta)
    assert is_too_often((np.abs(medians - 0.5) > 0.6 * (0.5 - low)).sum(), runs, delta)
