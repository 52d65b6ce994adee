"""Weighted means: within Hoeffding's interval, and coverage where weights go with the scores."""

import math

import numpy as np
import pytest
from scipy import stats

from sklearn_ada.guarantees import (
    bounded_weight_size,
    bounded_weights_kl,
    chernoff_kl,
    fixed_shares_kl,
    hoeffding,
)

DELTAS = [0.5, 0.05, 1e-6, 1e-40]


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("value", [0.0, 0.02, 0.5, 0.98, 1.0])
def test_weighted_means_are_within_hoeffding(value, delta):
    n, ln_delta = 500, math.log(delta)
    outer = hoeffding(value, value, bounded_weight_size(n, 0.3, 1.0), ln_delta)
    low, high = bounded_weights_kl(value, value, n, 0.3, 1.0, ln_delta)
    assert outer[0] - 1e-9 <= low <= value <= high <= outer[1] + 1e-9
    plain = chernoff_kl(value, value, n, ln_delta)
    assert bounded_weights_kl(value, value, n, 1.0, 1.0, ln_delta) == pytest.approx(plain, abs=1e-9)
    assert fixed_shares_kl(value, value, n, 1 / n, ln_delta) == pytest.approx(plain, abs=1e-9)


@pytest.mark.parametrize("likely", [0.02, 0.5])
def test_weighted_means_cover_where_weights_go_with_the_scores(likely):
    """Rows that weigh 1 are scored 1 with probability ``likely``; half of them weigh .1 and are right."""
    rng, n, runs, delta = np.random.default_rng(3), 200, 2000, 0.36
    truth = (0.5 * likely + 0.05) / 0.55
    misses = wrong = 0
    for _ in range(runs):
        heavy = rng.random(n) < 0.5
        weight, x = np.where(heavy, 1.0, 0.1), np.where(heavy, rng.random(n) < likely, 1.0)
        value, mean = float(weight @ x / weight.sum()), float(weight.mean())
        low, high = bounded_weights_kl(value, value, n, mean, 1.0, math.log(delta))
        misses += not low <= truth <= high
        low, high = chernoff_kl(value, value, 20.0 * n, math.log(delta))
        wrong += not low <= truth <= high
    assert stats.binomtest(misses, runs, delta, alternative="greater").pvalue >= 1e-6
    assert stats.binomtest(wrong, runs, delta, alternative="greater").pvalue < 1e-6
