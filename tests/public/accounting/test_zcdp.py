"""The constants of zCDP against the Renyi divergences of the laws that the mechanisms really have."""

import decimal
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import logsumexp

from sklearn_ada.accounting import exponential_mechanism_zcdp, gaussian_zcdp, laplace_zcdp, pure_dp_zcdp
from tests.support.rows import each_row_of

ORDERS = (1.0 + 1e-4, 1.01, 1.1, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0)
EPSILONS = (0.01, 0.1, 0.5, 1.0, 2.0, 5.0)


def renyi(p, q, order):
    """Divergence of a given order between two finite laws."""
    p, q = np.asarray(p, float), np.asarray(q, float)
    return float(logsumexp(order * np.log(p) + (1 - order) * np.log(q))) / (order - 1)


def smallest_rho(divergence, orders=ORDERS):
    """Smallest rho with ``divergence(a) <= a * rho`` for all orders tried."""
    return max(divergence(order) / order for order in orders)


def assert_exact(price, smallest):
    """The price covers the smallest rho; one that is 2 % smaller must be seen to fail."""
    assert smallest <= price * (1 + 1e-7)
    assert smallest > 0.98 * price


@each_row_of("zcdp", 8)
def test_prices_in_zcdp_agree_with_the_reference(row):
    epsilon = row["epsilon"]
    found = {
        "rho_exponential_mechanism": exponential_mechanism_zcdp(epsilon),
        "rho_laplace": laplace_zcdp(epsilon),
        "rho_pure_dp": pure_dp_zcdp(epsilon),
    }
    assert found == pytest.approx({name: row[name] for name in found}, rel=1e-11, abs=0)
    assert found["rho_pure_dp"] <= row["rho_pure_dp_simple"]


@pytest.mark.parametrize("epsilon", np.geomspace(1e-9, 700.0, 60))
def test_accurate_from_tiny_to_huge_epsilon(epsilon):
    with decimal.localcontext() as context:
        context.prec = 60
        e = decimal.Decimal(float(epsilon))
        decay = (-e).exp()
        u = e / (1 - decay)
        laplace, exponential = float(e + decay - 1), float(u - 1 - u.ln())
    assert laplace_zcdp(epsilon) == pytest.approx(laplace, rel=1e-13, abs=0)
    assert exponential_mechanism_zcdp(epsilon) == pytest.approx(exponential, rel=1e-13, abs=0)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_randomized_response_attains_the_pure_price(epsilon):
    truth = 1 / (1 + math.exp(-epsilon))
    p = [truth, 1 - truth]
    assert_exact(pure_dp_zcdp(epsilon), smallest_rho(lambda a: renyi(p, p[::-1], a)))


@settings(max_examples=100, derandomize=True, deadline=None)
@given(
    st.floats(0.01, 4.0),
    st.lists(st.tuples(st.floats(0.01, 1.0), st.floats(-1.0, 1.0)), min_size=2, max_size=5),
)
def test_no_pure_dp_mechanism_costs_more_rho_than_the_conversion_says(epsilon, outputs):
    weights, shifts = (np.array(column) for column in zip(*outputs, strict=True))
    q = weights / weights.sum()
    p = q * np.exp(shifts)
    p /= p.sum()
    realised = np.abs(np.log(p / q)).max()
    if realised > 0:
        shrink = min(1.0, epsilon / realised)
        p = (1 - shrink) * q + shrink * p  # by convexity within epsilon
        realised = np.abs(np.log(p / q)).max()
    if realised > 1e-6:
        assert smallest_rho(lambda a: renyi(p, q, a)) <= pure_dp_zcdp(realised) * (1 + 1e-6) + 1e-12


def renyi_of_densities(ln_p, ln_q, order, edges):
    """Divergence of a given order between two laws with densities, integrated from edge to edge."""

    def integrand(x):
        return math.exp(order * ln_p(x) + (1 - order) * ln_q(x))

    parts = [quad(integrand, low, high, epsabs=0, epsrel=1e-12)[0] for low, high in itertools.pairwise(edges)]
    return math.log(math.fsum(parts)) / (order - 1)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_laplace_price_is_exact(epsilon):
    def divergence(order):
        edges = (-60.0, 0.0, epsilon, epsilon + 60.0)
        ln_2 = math.log(2)
        return renyi_of_densities(lambda x: -abs(x) - ln_2, lambda x: -abs(x - epsilon) - ln_2, order, edges)

    # Quadrature leaves nothing of orders nearer to 1.
    assert_exact(laplace_zcdp(epsilon), smallest_rho(divergence, (1 + 1e-3, *ORDERS[1:])))


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_gaussian_price_is_exact(epsilon):
    sigma = 1 / epsilon

    def ln_density(x):
        return -0.5 * (x / sigma) ** 2 - math.log(sigma * math.sqrt(2 * math.pi))

    def divergence(order):
        edges = (1 - order - 12 * sigma, 1 - order + 12 * sigma)
        return renyi_of_densities(ln_density, lambda x: ln_density(x - 1), order, edges)

    assert_exact(gaussian_zcdp(sigma), smallest_rho(divergence, (1.1, 2.0, 3.0)))


def exponential_mechanism(scores, epsilon):
    weights = epsilon * np.asarray(scores) / 2
    return np.exp(weights - logsumexp(weights))


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_exponential_mechanism_price_is_exact(epsilon):
    # One candidate rises by the sensitivity while the other falls, from all starting points.
    def at(start):
        p, q = (exponential_mechanism(scores, epsilon) for scores in ([start + 1.0, -1.0], [start, 0.0]))
        return smallest_rho(lambda a: renyi(p, q, a))

    smallest = max(at(start) for start in np.linspace(-8.0, 8.0, 161) / epsilon)
    assert_exact(exponential_mechanism_zcdp(epsilon), smallest)


@settings(max_examples=150, derandomize=True, deadline=None)
@given(
    st.floats(0.01, 6.0),
    st.lists(st.tuples(st.floats(-5.0, 5.0), st.floats(-1.0, 1.0)), min_size=2, max_size=6),
)
def test_exponential_mechanism_never_costs_more(epsilon, candidates):
    scores, changes = (np.array(column) for column in zip(*candidates, strict=True))
    p, q = exponential_mechanism(scores + changes, epsilon), exponential_mechanism(scores, epsilon)
    smallest = smallest_rho(lambda a: renyi(p, q, a))
    assert smallest <= exponential_mechanism_zcdp(epsilon) * (1 + 1e-6) + 1e-11


def permute_and_flip(scores, epsilon):
    """Law on two candidates: the better one if it comes first or the other one is rejected."""
    other = math.exp(-epsilon * abs(scores[0] - scores[1]) / 2) / 2
    return [1 - other, other] if scores[0] >= scores[1] else [other, 1 - other]


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_permute_and_flip_needs_the_pure_price(epsilon):
    def at(start):
        p, q = permute_and_flip([start + 1.0, -1.0], epsilon), permute_and_flip([start, 0.0], epsilon)
        return max(smallest_rho(lambda a: renyi(p, q, a)), smallest_rho(lambda a: renyi(q, p, a)))

    smallest = max(at(start) for start in np.linspace(-6, 6, 121))
    assert smallest <= pure_dp_zcdp(epsilon) * (1 + 1e-7)
    assert smallest > exponential_mechanism_zcdp(epsilon)
    if epsilon <= 0.01:
        assert smallest > 0.98 * pure_dp_zcdp(epsilon)


def above_threshold(answers, epsilon, threshold=0.0):
    """Law of the place of the first "above", the last entry being none, by integration over the threshold."""
    t = np.linspace(-60.0, 60.0, 48_001) / epsilon
    density = epsilon / 4 * np.exp(-epsilon * np.abs(t) / 2)
    gaps = threshold + t[None, :] - np.asarray(answers)[:, None]
    tail = 0.5 * np.exp(-epsilon * np.abs(gaps) / 4)
    below = np.where(gaps > 0, 1 - tail, tail)
    silent = np.vstack([np.ones_like(t), np.cumprod(below, axis=0)])
    law = np.append(silent[:-1] * (1 - below), silent[-1:], axis=0)
    return np.trapezoid(law * density, t, axis=1)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_above_threshold_costs_even_without_an_above(epsilon):
    answers = np.array([-2.0, -1.0, 0.0, -3.0])
    for change in ([1, 1, 1, 1], [-1, -1, -1, -1], [-1, -1, 1, -1], [-1, -1, -1, 1]):
        p, q = above_threshold(answers, epsilon), above_threshold(answers + np.array(change), epsilon)
        assert p.sum() == pytest.approx(1, abs=1e-6)
        assert np.abs(np.log(p / q)).max() <= epsilon
        assert smallest_rho(lambda a, p=p, q=q: renyi(p, q, a), ORDERS[1:]) <= pure_dp_zcdp(epsilon)
    # Saying "below" to everything is itself evidence.
    assert abs(math.log(p[-1] / q[-1])) > 0.05 * epsilon
