"""Monotonicity, agreement between theorems, extremes, and bad input."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import ndtri

from sklearn_ada import guarantees
from sklearn_ada.accounting import gaussian_delta, laplace_zcdp, zcdp_epsilon
from sklearn_ada.guarantees import TransferBound, gaussian_direct, gaussian_jung, gaussian_rogers, is_vacuous

LN_BETA = math.log(0.05)


def test_preconditions_of_bassily_2016():
    good = {"alpha": 0.01, "beta": 1e-5, "n_questions": 10, "epsilon": 0.05, "delta": 1e-5, "n": 10_000}
    assert guarantees.bassily_2016(**good).half_width == pytest.approx(0.31)
    for name, bad in [("epsilon", 0.13), ("epsilon", 0.03), ("delta", 0.05 / 15.9)]:
        with pytest.raises(ValueError, match=f"The '{name}' parameter.*The theorem needs"):
            guarantees.bassily_2016(**{**good, name: bad})


def test_theorem_4_2_counts_subsamples_for_any_beta():
    assert guarantees.feldman_steinke_2017_theorem_4_2(15_339, 10, 0.05, 1e-4, 0.05) == 0.1
    with pytest.raises(ValueError, match=r"'n_subsamples' parameter.* at least 1896"):  # 2560 (ln 2 + 740)
        guarantees.feldman_steinke_2017_theorem_4_2(20_000, 1, 0.05, 0.0, math.exp(-740.0))


@pytest.mark.parametrize("noise_scale", [1e-300, 1e-160, 1e-12, 1e-9])
@pytest.mark.parametrize("ln_beta", [-700.0, -20.0, -1e-9])
def test_rogers_says_nothing_with_hardly_any_noise(noise_scale, ln_beta):
    for n, k in [(1, 1), (10**6, 10**6), (10**9, 1)]:
        half_width = gaussian_rogers(n, k, ln_beta, noise_scale=noise_scale).half_width
        nats = k / (n * noise_scale) / noise_scale  # nats, twice; what any l costs at least
        assert half_width >= math.sqrt(nats / (2.0 * n)) / math.exp(ln_beta / 2.0)


def test_theorem_4_2_follows_from_theorem_4_1():
    """1/16 + mad/8 with one function: what its proof takes from Theorem 4.1."""
    beta = 0.05
    m = math.ceil(2560.0 * math.log(2.0 / beta))
    bound = guarantees.feldman_steinke_2017_theorem_4_1(m, 1, 0.05, beta / 256.0, beta)
    assert bound.constant <= 1.0 / 16.0
    assert bound.factor <= 1.0 / 8.0
    fewer = guarantees.feldman_steinke_2017_theorem_4_1(int(0.99 * m), 1, 0.05, beta / 256.0, beta)
    assert fewer.constant > 1.0 / 16.0


def test_closed_form_of_jung_is_the_minimum_over_c_and_d():
    alpha, beta, epsilon, delta, failure = 0.02, 1e-5, 0.03, 4e-6, 0.05
    best = guarantees.jung_2020_best(alpha, math.log(beta), epsilon, math.log(delta), math.log(failure))
    widths = []
    for share in np.linspace(0.01, 0.99, 197):
        bound = guarantees.jung_2020(
            alpha, beta, epsilon, delta, c=beta / (share * failure), d=delta / ((1.0 - share) * failure)
        )
        assert bound.failure == pytest.approx(failure)
        widths.append(bound.half_width)
    assert best <= min(widths)
    assert best == pytest.approx(min(widths), rel=1e-4)


def test_sharper_forms_are_never_worse_than_those_published():
    for beta, epsilon, delta, failure in itertools.product(
        (0.0, 1e-6, 1e-3), (0.0, 0.01, 0.3, 2.0), (0.0, 1e-8, 1e-3), (1e-3, 0.05, 0.4)
    ):
        sharper = guarantees.direct_transfer(0.1, beta, epsilon, delta, failure).half_width
        ln_beta, ln_delta = (math.log(p) if p > 0.0 else -math.inf for p in (beta, delta))
        published = guarantees.jung_2020_best(0.1, ln_beta, epsilon, ln_delta, math.log(failure))
        assert sharper <= published + 1e-12
    for epsilon, n, eta in itertools.product((0.001, 0.1, 2.0), (10, 10_000), (1e-6, 0.3)):
        published = guarantees.jung_2020_pure(0.1, 0.0, epsilon, n, eta).half_width
        assert guarantees.pure_dp_half_width(0.1, epsilon, n, math.log(eta)) <= published
    for mu, ln_beta in itertools.product((0.01, 0.2, 1.0), (-1.0, -3.0, -100.0)):
        gap = guarantees.gaussian_dp_gap(mu, ln_beta)
        assert gap <= guarantees.zcdp_gap(mu**2 / 2.0, ln_beta)
    for error, rho, ln_beta in itertools.product((0.0, 0.05, 0.2), (1e-6, 1e-4, 1e-2), (-3.0, -10.0)):
        jung = guarantees.median_level_jung(error, -math.inf, rho, ln_beta)
        assert guarantees.median_level_direct(error, rho, ln_beta) >= jung


def test_gap_of_approximate_dp_agrees_with_the_privacy_curve():
    """The gap of mu-GDP is the best of the gaps at all points of its (epsilon, delta) curve."""
    mu, beta = 0.3, 0.05
    points = [
        guarantees.approximate_dp_gap(e, gaussian_delta(mu, e), beta) for e in np.linspace(0.01, 3.0, 3000)
    ]
    assert guarantees.gaussian_dp_gap(mu, math.log(beta)) == pytest.approx(min(points), rel=1e-5)


@pytest.mark.parametrize("k", [1, 5, 100])
def test_gaussian_tail_mean_against_the_exact_law(k):
    """The exact tail mean of the largest of k independent noises, by its quantile function."""
    beta = 0.05
    u = (np.arange(200_000) + 0.5) / 200_000 * beta  # probabilities of the tail
    exact = -ndtri(-np.expm1(np.log1p(-u) / k) / 2.0).mean()
    bound = guarantees.gaussian_tail_mean(k, 1.0, math.log(beta))
    assert exact <= bound * (1.0 + 1e-6)
    assert bound == pytest.approx(exact, rel=0.01)


def test_gaussian_direct_is_tail_and_gap():
    n, k, sigma = 5000, 30, 0.02
    expected = guarantees.gaussian_tail_mean(k, sigma, LN_BETA)
    expected += guarantees.gaussian_dp_gap(math.sqrt(k) / (n * sigma), LN_BETA)
    assert gaussian_direct(n, k, LN_BETA, noise_scale=sigma).half_width == pytest.approx(expected)


def test_low_sensitivity_bound_equals_its_formula():
    bound = guarantees.jung_2020_low_sensitivity(0.1, 1e-6, 0.2, 1e-5, 1000, 0.002, c=50.0, d=0.01)
    assert bound.half_width == pytest.approx(0.1 + math.expm1(0.2) * 2.0 + 4.0 * 50.0 * 1e-5 * 2.0 + 0.01)
    assert bound.failure == pytest.approx(1e-4 + 0.02)


@pytest.mark.parametrize("bound_of", [gaussian_direct, gaussian_jung, gaussian_rogers])
def test_half_widths_are_monotone_and_their_noise_the_best(bound_of):
    base = bound_of(10_000, 100, LN_BETA)
    assert bound_of(20_000, 100, LN_BETA).half_width < base.half_width
    for more in ((10_000, 200, LN_BETA), (10_000, 100, LN_BETA - 1.0)):
        assert bound_of(*more).half_width > base.half_width
    less, same, more = (
        bound_of(10_000, 100, LN_BETA, noise_scale=factor * base.noise_scale).half_width
        for factor in (0.5, 1.0, 2.0)
    )
    assert base.half_width < min(less, more)
    assert same == pytest.approx(base.half_width, rel=1e-6)


def test_median_levels_are_monotone():
    level = guarantees.median_level_direct
    assert level(0.0, 0.0, LN_BETA) == pytest.approx(0.5)
    assert level(0.05, 0.0, LN_BETA) == pytest.approx(0.45)
    assert level(0.05, 0.01, LN_BETA) > level(0.06, 0.01, LN_BETA) > level(0.06, 0.02, LN_BETA)
    assert level(0.06, 0.02, LN_BETA) > level(0.06, 0.02, LN_BETA - 1.0)


@pytest.mark.parametrize("ln_beta", [-30.0, -700.0, -2000.0, -1e6])
def test_tiny_failure_probabilities(ln_beta):
    n = 10**9
    widths = [
        guarantees.rounding_half_width(n, 10, ln_beta),
        gaussian_direct(n, 10, ln_beta).half_width,
        guarantees.zcdp_gap(1e-9, ln_beta),
        guarantees.laplace_tail_mean(10, 1e-9, ln_beta),
        guarantees.pure_dp_half_width(0.0, 1e-6, n, ln_beta),
    ]
    assert all(0.0 < w < 0.2 for w in widths)
    assert all(w >= 0.9 * math.sqrt(-ln_beta / (2.0 * n)) for w in (widths[0], widths[1], widths[4]))
    assert gaussian_jung(n, 10, ln_beta).half_width > widths[1]
    assert gaussian_rogers(n, 10, ln_beta).half_width > widths[1]
    low, high = guarantees.pure_dp_interval(0.5, 0.5, 1e-6, n, ln_beta)
    assert low < 0.5 < high
    assert 0.0 < guarantees.median_level_direct(0.01, 1e-9, ln_beta) < 0.49


def test_what_says_nothing_is_called_vacuous():
    assert guarantees.sample_splitting_half_width(10, 11, LN_BETA) == math.inf
    assert is_vacuous(math.inf)
    assert not is_vacuous(0.49)
    assert gaussian_direct(100, 10_000, LN_BETA).vacuous
    assert gaussian_rogers(1000, 10, -800.0).vacuous
    assert TransferBound(0.1, 1.0).vacuous
    assert TransferBound(math.nan, 0.1).vacuous
    assert guarantees.OverfittingBound(0.4, 0.3).vacuous
    assert not guarantees.OverfittingBound(0.4, 0.1).vacuous
    assert guarantees.median_level_direct(0.5, 0.01, LN_BETA) == 0.0
    assert guarantees.median_level_jung(0.3, -12.0, 1.0, LN_BETA) == 0.0
    assert guarantees.mean_deviation(0.0).standard_deviations == math.inf
    assert guarantees.pure_dp_interval(0.0, 1.0, 0.1, 100, LN_BETA) == (0.0, 1.0)
    assert guarantees.feldman_steinke_2017_theorem_4_7(10**6, 10, 0.1, 1e-3, 0.05) == 0.0


def test_mean_deviation_is_attained():
    """A law with one atom at the edge of what Cantelli and Markov allow."""
    level = 0.25
    values, law = np.array([0.0, 1.0]), np.array([1.0 - level, level])
    mean = values @ law
    sd, mad = math.sqrt(law @ (values - mean) ** 2), law @ np.abs(values - mean)
    multiples = guarantees.mean_deviation(level)
    assert multiples.standard_deviations * sd == pytest.approx(1.0 - mean)
    assert multiples.mean_absolute_deviations * mad == pytest.approx(1.0 - mean)


@pytest.mark.parametrize("k", [1, 10, 300])
def test_laplace_plan_meets_the_theorem(k):
    """Its n is certified by the theorem itself at some delta, and clearly fewer records are not found."""
    alpha, beta = 0.2, 0.05
    n, epsilon = guarantees.laplace_plan(k, alpha, beta)
    widths = []
    for delta in np.geomspace(1e-7, 1e-2, 200):
        total = zcdp_epsilon(k * laplace_zcdp(epsilon), delta)
        per_question = beta / k * (1.0 - np.linspace(0.01, 0.999, 200))
        for b in per_question:
            drawn = math.log(1.0 / b) / (n * epsilon)
            for e, d in ((total, delta), (k * epsilon, 0.0)):
                if math.sqrt(12.0 / n) <= e <= 0.125 and d <= e / 16.0:
                    bound = guarantees.bassily_2016(drawn, b, k, e, d, n)
                    if bound.failure <= beta:
                        widths.append(bound.half_width)
    assert min(widths) == pytest.approx(alpha, rel=0.01)
    assert guarantees.laplace_plan(k + 1, alpha, beta).n > n
