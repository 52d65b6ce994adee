import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from sklearn_ada.accounting import (
    ComposedEvent,
    GaussianEvent,
    GaussianPrivacyLoss,
    LaplaceEvent,
    SelfComposedEvent,
    gaussian_composition,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_log_delta,
    gaussian_mu,
    zcdp_cost,
)
from sklearn_ada.exceptions import UnsupportedEventError


@pytest.mark.parametrize("mu", [0.05, 0.5, 2.0, 6.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 5.0])
def test_delta_is_the_expectation_over_the_privacy_loss(mu, epsilon):
    loss = GaussianPrivacyLoss(mu)
    law = norm(loss.mean, loss.standard_deviation)
    top = max(loss.mean, epsilon) + 40 * mu
    expected = quad(
        lambda x: law.pdf(x) * -math.expm1(epsilon - x),
        epsilon,
        top,
        points=[loss.mean] if loss.mean > epsilon else None,
        epsabs=0,
        epsrel=1e-10,
        limit=200,
    )[0]
    assert gaussian_delta(mu, epsilon) == pytest.approx(expected, rel=1e-8, abs=1e-300)
    assert loss.tail(epsilon) == pytest.approx(law.sf(epsilon), rel=1e-12, abs=1e-300)
    assert gaussian_delta(mu, epsilon) <= loss.tail(epsilon)


def test_loss_law_is_that_of_the_mechanism():
    # Lecture 11: with sensitivity 1 the log-likelihood ratio is N(1/(2 sigma^2), 1/sigma^2).
    sigma = 0.8
    output = norm(0, sigma).rvs(200_000, random_state=0)
    losses = norm(0, sigma).logpdf(output) - norm(1, sigma).logpdf(output)
    loss = GaussianPrivacyLoss(1 / sigma)
    assert losses.mean() == pytest.approx(loss.mean, abs=5 * loss.standard_deviation / math.sqrt(200_000))
    assert losses.std() == pytest.approx(loss.standard_deviation, rel=0.01, abs=0)


@pytest.mark.parametrize("mu", [1e-9, 1e-6, 1e-3, 0.1, 0.99, 1.01, 3.0, 30.0, 300.0])
@pytest.mark.parametrize("z", [-1e9, -3.0, -1.01, -0.99, 0.0, 1.0, 9.0, 99.0, 101.0, 3000.0])
def test_log_delta_is_accurate_where_delta_underflows_or_cancels(mu, z):
    mpmath = pytest.importorskip("mpmath")
    epsilon = max(0.0, mu * (z + mu / 2))
    with mpmath.workdps(120):
        m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)

        def tail(t):
            return mpmath.erfc(t / mpmath.sqrt(2)) / 2

        expected = float(mpmath.log(tail(e / m - m / 2) - mpmath.exp(e) * tail(e / m + m / 2)))
    assert gaussian_log_delta(mu, epsilon) == pytest.approx(expected, rel=1e-12, abs=1e-10)


@settings(max_examples=200, derandomize=True, deadline=None)
@given(
    st.floats(-4.0, 1.5).map(lambda power: 10.0**power),
    st.floats(-200.0, -0.1).map(lambda power: 10.0**power),
)
def test_epsilon_is_the_conservative_inverse_of_delta(mu, delta):
    epsilon = gaussian_epsilon(mu, delta)
    assert gaussian_log_delta(mu, epsilon) <= math.log(delta)
    if epsilon > 0:
        assert gaussian_log_delta(mu, epsilon * (1 - 1e-6)) > math.log(delta)


def test_composition_is_that_of_the_losses():
    # Sums of independent normal losses: variances add.
    assert gaussian_composition([0.3, 0.4, 1.2]) == pytest.approx(1.3)
    assert gaussian_composition([]) == 0
    event = ComposedEvent((GaussianEvent(1 / 0.3), SelfComposedEvent(GaussianEvent(5.0), 4)))
    assert gaussian_mu(event) == pytest.approx(0.5)
    # rho of a Gaussian is mu**2 / 2, also composed.
    assert zcdp_cost(event) == pytest.approx(gaussian_mu(event) ** 2 / 2)


def test_only_gaussian_noise_has_a_mu():
    with pytest.raises(UnsupportedEventError, match="LaplaceEvent"):
        gaussian_mu(ComposedEvent((GaussianEvent(1.0), LaplaceEvent(1.0))))


@pytest.mark.parametrize("mu", [0.0, 1e-300, 1e-9, 1.0, 1e9, 1e150])
@pytest.mark.parametrize("epsilon", [0.0, 1e-300, 1.0, 1e9, 1e30, 1e300])
def test_a_probability_at_the_ends_of_the_range(mu, epsilon):
    delta = gaussian_delta(mu, epsilon)
    assert 0 <= delta <= 1
    assert (delta == 0) == (mu == 0)
    if mu > 0:
        assert -sys.float_info.max <= gaussian_log_delta(mu, epsilon) <= 0


def test_agrees_with_dp_accounting():
    dp_accounting = pytest.importorskip("dp_accounting")
    pld = pytest.importorskip("dp_accounting.pld")
    for sigma, delta in [(0.7, 1e-6), (5.0, 1e-3), (40.0, 1e-9)]:
        theirs = dp_accounting.get_epsilon_gaussian(sigma, delta)
        assert gaussian_epsilon(1 / sigma, delta) == pytest.approx(theirs, rel=1e-4, abs=0)
    accountant = pld.PLDAccountant()
    accountant.compose(dp_accounting.GaussianDpEvent(20.0), 100)
    event = SelfComposedEvent(GaussianEvent(20.0), 100)
    theirs = accountant.get_epsilon(1e-6)
    assert gaussian_epsilon(gaussian_mu(event), 1e-6) == pytest.approx(theirs, rel=1e-3, abs=0)


def test_two_percent_less_noise_is_seen():
    # The curve against the definition on half lines, which are the worst events for a Gaussian pair.
    mu, epsilon = 0.7, 0.4
    cuts = np.linspace(-8, 8, 20_001)
    worst = (norm.sf(cuts, mu) - math.exp(epsilon) * norm.sf(cuts)).max()
    assert gaussian_delta(mu, epsilon) >= worst * (1 - 1e-12)
    assert gaussian_delta(0.98 * mu, epsilon) < worst
