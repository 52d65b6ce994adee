import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from sklearn_ada import accounting
from sklearn_ada.exceptions import UnsupportedEventError
from tests.support.rows import each_row_of


@pytest.mark.parametrize("mu", [0.05, 0.5, 2.0, 6.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 5.0])
def test_delta_is_the_expectation_over_the_privacy_loss(mu, epsilon):
    loss = accounting.GaussianPrivacyLoss(mu)
    law = norm(loss.mean, loss.standard_deviation)
    top, points = max(loss.mean, epsilon) + 40 * mu, [loss.mean] if loss.mean > epsilon else None

    def integrand(x):
        return law.pdf(x) * -math.expm1(epsilon - x)

    expected = quad(integrand, epsilon, top, points=points, epsabs=0, epsrel=1e-10, limit=200)[0]
    assert accounting.gaussian_delta(mu, epsilon) == pytest.approx(expected, rel=1e-8, abs=1e-300)
    assert loss.tail(epsilon) == pytest.approx(law.sf(epsilon), rel=1e-12, abs=1e-300)
    assert accounting.gaussian_delta(mu, epsilon) <= loss.tail(epsilon)


def test_loss_law_is_that_of_the_mechanism():
    # Lecture 11: with sensitivity 1 the log-likelihood ratio is N(1/(2 sigma^2), 1/sigma^2).
    sigma = 0.8
    output = norm(0, sigma).rvs(200_000, random_state=0)
    losses = norm(0, sigma).logpdf(output) - norm(1, sigma).logpdf(output)
    loss = accounting.GaussianPrivacyLoss(1 / sigma)
    assert losses.mean() == pytest.approx(loss.mean, abs=5 * loss.standard_deviation / math.sqrt(200_000))
    assert losses.std() == pytest.approx(loss.standard_deviation, rel=0.01, abs=0)


@each_row_of("gaussian_log_delta", 90)
def test_log_delta_is_accurate_where_delta_underflows_or_cancels(row):
    """Reference numbers by mpmath at 120 digits."""
    epsilon = max(0.0, row["mu"] * (row["z"] + row["mu"] / 2))
    found = accounting.gaussian_log_delta(row["mu"], epsilon)
    assert found == pytest.approx(row["ln_delta"], rel=1e-12, abs=1e-10)


@settings(max_examples=200, derandomize=True, deadline=None)
@given(
    st.floats(-4.0, 1.5).map(lambda power: 10.0**power),
    st.floats(-200.0, -0.1).map(lambda power: 10.0**power),
)
def test_epsilon_is_the_conservative_inverse_of_delta(mu, delta):
    epsilon = accounting.gaussian_epsilon(mu, delta)
    assert accounting.gaussian_log_delta(mu, epsilon) <= math.log(delta)
    if epsilon > 0:
        assert accounting.gaussian_log_delta(mu, epsilon * (1 - 1e-6)) > math.log(delta)


def test_composition_is_that_of_the_losses():
    # Sums of independent normal losses: variances add.
    assert accounting.gaussian_composition([0.3, 0.4, 1.2]) == pytest.approx(1.3)
    assert accounting.gaussian_composition([]) == 0
    event = accounting.ComposedEvent(
        (accounting.GaussianEvent(1 / 0.3), accounting.SelfComposedEvent(accounting.GaussianEvent(5.0), 4))
    )
    assert accounting.gaussian_mu(event) == pytest.approx(0.5)
    # rho of a Gaussian is mu**2 / 2, also composed.
    assert accounting.zcdp_cost(event) == pytest.approx(accounting.gaussian_mu(event) ** 2 / 2)


def test_only_gaussian_noise_has_a_mu():
    with pytest.raises(UnsupportedEventError, match="LaplaceEvent"):
        accounting.gaussian_mu(
            accounting.ComposedEvent((accounting.GaussianEvent(1.0), accounting.LaplaceEvent(1.0)))
        )


@pytest.mark.parametrize("mu", [0.0, 1e-300, 1e-9, 1.0, 1e9, 1e150])
@pytest.mark.parametrize("epsilon", [0.0, 1e-300, 1.0, 1e9, 1e30, 1e300])
def test_a_probability_at_the_ends_of_the_range(mu, epsilon):
    delta = accounting.gaussian_delta(mu, epsilon)
    assert 0 <= delta <= 1
    assert (delta == 0) == (mu == 0)
    if mu > 0:
        assert -sys.float_info.max <= accounting.gaussian_log_delta(mu, epsilon) <= 0


DP_ACCOUNTING = [  # noise, copies, delta, and the epsilon of dp_accounting 0.6.0
    *((0.7, 1, 1e-6, 7.372642728474066), (5.0, 1, 1e-3, 0.4539201557417135)),
    *((40.0, 1, 1e-9, 0.12663802899789603), (20.0, 100, 1e-6, 2.2540846566590367)),
]


@pytest.mark.parametrize(("noise", "copies", "delta", "expected"), DP_ACCOUNTING)
def test_epsilon_is_that_of_dp_accounting(noise, copies, delta, expected):
    mu = accounting.gaussian_mu(accounting.SelfComposedEvent(accounting.GaussianEvent(noise), copies))
    rel = 1e-3 if copies > 1 else 1e-4
    assert accounting.gaussian_epsilon(mu, delta) == pytest.approx(expected, rel=rel, abs=0)


def test_two_percent_less_noise_is_seen():
    # The curve against the definition on half lines, which are the worst events for a Gaussian pair.
    mu, epsilon = 0.7, 0.4
    cuts = np.linspace(-8, 8, 20_001)
    worst = (norm.sf(cuts, mu) - math.exp(epsilon) * norm.sf(cuts)).max()
    assert accounting.gaussian_delta(mu, epsilon) >= worst * (1 - 1e-12)
    assert accounting.gaussian_delta(0.98 * mu, epsilon) < worst
