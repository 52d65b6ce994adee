import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_ada import accounting
from tests.support.rows import each_row_of

RHOS = st.floats(-5.0, 1.5).map(lambda power: 10.0**power)
DELTAS = st.floats(-12.0, -0.5).map(lambda power: 10.0**power)


@each_row_of("zcdp_to_dp", 15)
def test_reference_conversions_are_met(row):
    found = [
        convert(row["rho"], row["delta"])
        for convert in (accounting.zcdp_epsilon, accounting.zcdp_epsilon_simple)
    ]
    assert found == pytest.approx([row["epsilon_optimal"], row["epsilon_simple"]], rel=1e-7, abs=0)


@pytest.mark.parametrize("rho", [1e-4, 0.01, 0.3, 5.0])
@pytest.mark.parametrize("ratio", [0.5, 1.0, 4.0, 20.0])
def test_delta_is_the_minimum_over_orders(rho, ratio):
    epsilon = ratio * math.sqrt(rho)
    t = np.geomspace(1e-8, 1e8, 400_001)
    a = 1 + t
    exponents = t * (a * rho - epsilon) - a * np.log1p(1 / t) - np.log(t)
    excess = min(0.0, exponents.min()) - math.log(accounting.zcdp_delta(rho, epsilon))
    assert -1e-9 < excess < 1e-6  # the grid just misses the minimum


@settings(max_examples=200, derandomize=True, deadline=None)
@given(RHOS, DELTAS)
def test_epsilon_is_the_conservative_inverse_of_delta(rho, delta):
    epsilon = accounting.zcdp_epsilon(rho, delta)
    assert accounting.zcdp_delta(rho, epsilon) <= delta * (1 + 1e-9)
    if epsilon > 0:
        assert accounting.zcdp_delta(rho, epsilon * (1 - 1e-6)) > delta
    simple = accounting.zcdp_epsilon_simple(rho, delta)
    assert epsilon <= simple
    assert accounting.zcdp_delta_simple(rho, simple) == pytest.approx(delta, rel=1e-9, abs=0)


@settings(max_examples=200, derandomize=True, deadline=None)
@given(RHOS, st.floats(0.0, 20.0))
def test_no_zcdp_mechanism_is_underpriced(rho, epsilon):
    delta = accounting.zcdp_delta(rho, epsilon)
    assert accounting.gaussian_delta(math.sqrt(2 * rho), epsilon) <= delta
    assert delta <= accounting.zcdp_delta_simple(rho, epsilon)


@pytest.mark.parametrize(("k", "eps"), [(1, 0.5), (10, 0.5), (50, 0.1), (400, 0.05)])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 2.0])
def test_composed_randomized_response_is_not_underpriced(k, eps, epsilon):
    exact = accounting.randomized_response_loss(eps).self_compose(k).delta(epsilon)
    assert exact <= accounting.zcdp_delta(k * accounting.pure_dp_zcdp(eps), epsilon)


@pytest.mark.parametrize("rho", [0.0, 1e-320, 1e-9, 1.0, 1e6, 1e300])
def test_at_the_ends_of_the_range_delta_is_a_probability_and_epsilon_finite(rho):
    for convert, epsilon in product(
        (accounting.zcdp_delta, accounting.zcdp_delta_simple), (0.0, 1e-9, 1.0, 1e5, 1e300)
    ):
        delta = convert(rho, epsilon)
        assert 0 <= delta <= 1
        assert (delta == 0) == (rho == 0)
    for delta in (1e-300, 1e-6, 0.5, 1 - 1e-16):
        epsilon = accounting.zcdp_epsilon(rho, delta)
        assert 0 <= epsilon <= accounting.zcdp_epsilon_simple(rho, delta) * (1 + 1e-12)
        assert (epsilon == 0) or rho > 0


@pytest.mark.parametrize(
    ("k", "epsilon", "exact"), [(1, 1.0, 0.9999800002999969), (50, 0.1, 2.796601104353855)]
)
def test_composed_laplace_is_not_underpriced(k, epsilon, exact):
    """The exact epsilon is that of the PLDAccountant of dp_accounting 0.6.0."""
    bound = accounting.zcdp_epsilon(k * accounting.laplace_zcdp(epsilon), 1e-5)
    assert exact <= bound < accounting.zcdp_epsilon(k * accounting.pure_dp_zcdp(epsilon), 1e-5)


@pytest.mark.parametrize(
    ("rho", "delta", "expected"),
    [(0.001, 1e-6, 0.1828955547892019), (0.1, 1e-3, 1.3561959195879538), (2.0, 1e-9, 14.150160392997272)],
)
def test_epsilon_is_that_of_dp_accounting(rho, delta, expected):
    """Its RdpAccountant, version 0.6.0, takes the best of finitely many orders, so it is never below."""
    assert expected * (1 - 1e-4) <= accounting.zcdp_epsilon(rho, delta) <= expected * (1 + 1e-9)
