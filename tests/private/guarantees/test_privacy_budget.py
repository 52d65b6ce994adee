"""Budgets against a grid search, and inverses against what they invert."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from sklearn_ada.accounting import (
    exponential_epsilon,
    exponential_mechanism_zcdp,
    thresholdout_scale,
    thresholdout_zcdp,
)
from sklearn_ada.guarantees import median_rank_error, zcdp_gap
from sklearn_ada.guarantees.noise import rows_budget, subsamples_budget

LN_GAP = math.log(0.025)


def _best(width):
    return min(width(rho) for rho in np.geomspace(1e-7, 1.0, 4000))


@pytest.mark.parametrize(("n", "k"), [(1000, 10), (10_000, 100), (1_000_000, 3000)])
def test_the_budget_of_records_is_where_noise_and_gap_are_least(n, k):
    ln_noise = LN_GAP - math.log(k)

    def width(rho):
        sigma = math.sqrt(k / (2.0 * rho)) / n
        return -sigma * norm.ppf(math.exp(ln_noise) / 2.0) + zcdp_gap(rho, LN_GAP)

    assert width(rows_budget(n, k, LN_GAP, ln_noise)) <= _best(width) * 1.001


@pytest.mark.parametrize(("m", "k"), [(2000, 10), (100_000, 1000)])
def test_the_budget_of_subsamples_is_where_rank_error_and_gap_are_least(m, k):
    ln_noise = LN_GAP - math.log(k)

    def width(rho):
        epsilon = math.sqrt(8.0 * rho / k)  # to within a factor that does not matter at small epsilon
        return median_rank_error(m, 1, 1001, epsilon, ln_noise) + zcdp_gap(rho, LN_GAP)

    assert width(subsamples_budget(m, k, 1001, LN_GAP, ln_noise)) <= _best(width) * 1.01


@pytest.mark.parametrize("rho", [1e-9, 1e-4, 0.1, 3.0, 40.0])
def test_an_exponential_mechanism_costs_what_it_was_chosen_for(rho):
    assert exponential_mechanism_zcdp(exponential_epsilon(rho)) == pytest.approx(rho, rel=1e-9)


@pytest.mark.parametrize("rho", [1e-8, 1e-3, 0.5])
@pytest.mark.parametrize("hits", [1, 20])
def test_a_thresholdout_costs_at_most_what_it_was_chosen_for(rho, hits):
    cost = thresholdout_zcdp(1e-3 / thresholdout_scale(rho, 1e-3, hits), hits)
    assert 0.999 * rho < cost <= rho
