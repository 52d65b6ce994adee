"""Composition theorems against the exact convolution of (leaky) randomised response."""

import decimal
import functools
import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_ada import accounting
from tests.support.rows import each_row_of

CASES = [(1, 1.0, 0.0), (7, 0.4, 0.0), (7, 0.4, 1e-4), (60, 0.1, 0.0), (60, 0.1, 1e-5), (501, 0.02, 1e-7)]


@each_row_of("composition", 4)
def test_reference_guarantees_of_composition_are_met(row):
    k, epsilon, delta = row["k"], row["epsilon"], row["delta"]
    exponential = accounting.SelfComposedEvent(accounting.ExponentialMechanismEvent(epsilon), k)
    found = {
        "basic": accounting.basic_composition(k, epsilon).epsilon,
        "advanced_lecture11": accounting.advanced_composition(k, epsilon, slack=delta).epsilon,
        "advanced_lecture19": accounting.advanced_composition_simple(k, epsilon, slack=delta).epsilon,
        "advanced_feldman_steinke_2_5": accounting.heterogeneous_composition(
            [epsilon] * k, slack=delta
        ).epsilon,
        "optimal_kov": accounting.optimal_composition_epsilon(delta, k, epsilon),
        "zcdp_pure": accounting.zcdp_epsilon(k * epsilon**2 / 2, delta),
        "zcdp_exponential_mechanism": accounting.zcdp_epsilon(accounting.zcdp_cost(exponential), delta),
    }
    assert found == pytest.approx({name: row[name] for name in found}, rel=1e-7, abs=0)


@pytest.mark.parametrize(("k", "epsilon", "delta"), CASES)
def test_optimal_equals_the_exact_convolution(k, epsilon, delta):
    exact = accounting.leaky_randomized_response_loss(epsilon, delta).self_compose(k)
    for share in (0.0, 0.05, 0.123, 0.4, 0.77, 0.99):
        at = share * k * epsilon
        expected = pytest.approx(exact.delta(at), rel=1e-9, abs=0)
        assert accounting.optimal_composition_delta(at, k, epsilon, delta) == expected
    for failure in (1.5 * k * delta + 1e-9, k * delta + 1e-3, k * delta + 0.1):
        ours = accounting.optimal_composition_epsilon(failure, k, epsilon, delta)
        assert ours == pytest.approx(exact.epsilon(failure), rel=1e-7, abs=1e-9)
        assert exact.delta(ours) <= failure * (1 + 1e-9)


def test_optimal_equals_the_printed_theorem_at_its_corners():
    # Theorem 3.3 gives delta_i at epsilon_i = (k - 2i) * epsilon as a difference of huge numbers.
    k, epsilon = 300, 0.2
    with decimal.localcontext() as context:
        context.prec = 200
        e = decimal.Decimal(epsilon)
        for i in (10, 60, 100, 140):
            gains = [((k - j) * e).exp() - ((k - 2 * i + j) * e).exp() for j in range(i)]
            total = sum(math.comb(k, j) * gain for j, gain in enumerate(gains))
            expected, at = float(total / (1 + e.exp()) ** k), float((k - 2 * i) * e)
            assert accounting.optimal_composition_delta(at, k, epsilon) == pytest.approx(
                expected, rel=1e-9, abs=0
            )


@pytest.mark.parametrize(("k", "epsilon", "delta"), CASES)
@pytest.mark.parametrize("slack", [1e-9, 1e-4, 0.1])
def test_no_theorem_is_below_the_exact_guarantee(k, epsilon, delta, slack):
    exact = accounting.leaky_randomized_response_loss(epsilon, delta).self_compose(k)
    basic = accounting.basic_composition(k, epsilon, delta)
    assert exact.delta(basic.epsilon * (1 + 1e-12)) <= basic.delta * (1 + 1e-9)
    sharp = accounting.advanced_composition(k, epsilon, delta, slack=slack)
    loose = accounting.advanced_composition_simple(k, epsilon, delta, slack=slack)
    mixed = accounting.heterogeneous_composition([epsilon] * k, [delta] * k, slack=slack)
    for guarantee in (sharp, loose, mixed):
        assert exact.delta(guarantee.epsilon) <= guarantee.delta
        assert guarantee.delta == pytest.approx(k * delta + slack)
    assert sharp.epsilon <= min(loose.epsilon, mixed.epsilon)
    assert accounting.optimal_composition_epsilon(sharp.delta, k, epsilon, delta) <= min(
        sharp.epsilon, basic.epsilon
    )


def test_the_exact_convolution_catches_a_bound_that_is_too_small():
    k, epsilon, slack = 501, 0.02, 0.01
    exact = accounting.randomized_response_loss(epsilon).self_compose(k)
    sharp = accounting.advanced_composition(k, epsilon, slack=slack).epsilon
    without_two = epsilon * math.sqrt(k * math.log(1 / slack))
    assert exact.delta(sharp) <= slack
    assert exact.delta(0.5 * without_two) > slack
    mixed = accounting.heterogeneous_composition([epsilon] * k, slack=slack).epsilon
    assert exact.delta(mixed) <= slack < exact.delta(0.5 * mixed)
    assert exact.delta(accounting.optimal_composition_epsilon(slack, k, epsilon) * 0.98) > slack


@settings(max_examples=60, derandomize=True, deadline=None)
@given(
    st.lists(st.tuples(st.floats(0.01, 0.8), st.floats(0.0, 0.01)), min_size=1, max_size=7),
    st.floats(-8.0, -1.0).map(lambda power: 10.0**power),
)
def test_heterogeneous_is_not_below_the_exact_guarantee(parameters, slack):
    guarantee = accounting.heterogeneous_composition(*zip(*parameters, strict=True), slack=slack)
    parts = [accounting.leaky_randomized_response_loss(epsilon, delta) for epsilon, delta in parameters]
    exact = functools.reduce(lambda a, b: a.compose(b), parts)
    assert exact.delta(guarantee.epsilon) <= guarantee.delta * (1 + 1e-9)


def test_optimal_is_stable_for_thousands_of_mechanisms():
    # Normal approximation of the loss: mean k*epsilon*tanh(epsilon/2), sd epsilon*sqrt(k).
    k, epsilon = 20_000, 0.005
    composed = accounting.optimal_composition_epsilon(1e-9, k, epsilon)
    assert 0.9 < composed / (0.25 + math.sqrt(0.5) * 5.4) < 1.1
    deltas = [accounting.optimal_composition_delta(at, k, epsilon) for at in (0.0, 0.5, 1.0, 3.0, 20.0, 80.0)]
    assert all(a > b > 0 for a, b in itertools.pairwise(deltas))
    assert accounting.optimal_composition_delta(k * epsilon, k, epsilon) == 0


def test_optimal_epsilon_at_the_edges():
    assert accounting.optimal_composition_epsilon(1e-9, 1, 0.3) == pytest.approx(0.3, rel=1e-7, abs=0)
    assert accounting.optimal_composition_epsilon(0.9, 3, 0.1) == 0
    assert accounting.optimal_composition_epsilon(1e-6, 3, 0.0) == 0
    assert accounting.optimal_composition_epsilon(1e-300, 10, 0.5) <= 5.0
    with pytest.raises(ValueError, match=r"'composed_delta' parameter .* must be more than"):
        accounting.optimal_composition_epsilon(0.0956, 10, 0.1, 0.01)  # 1 - 0.99**10 = 0.09562
    assert accounting.optimal_composition_epsilon(0.0957, 10, 0.1, 0.01) <= 1.0


def test_delta_never_exceeds_one():
    assert accounting.basic_composition(100, 0.1, 0.5).delta == 1
    assert accounting.advanced_composition(100, 0.1, 0.5, slack=0.5).delta == 1
    assert accounting.advanced_composition_simple(100, 800.0, 0.5, slack=0.5) == (math.inf, 1.0)
    assert accounting.heterogeneous_composition([0.1, 0.1], [0.6, 0.6], slack=0.5).delta == 1


def test_optimal_epsilon_is_that_of_dp_accounting():
    """Its PLDAccountant, version 0.6.0, rounds up to a grid."""
    epsilon = accounting.optimal_composition_epsilon(1e-5, 50, 0.1)
    assert epsilon <= 2.8486933121630287 <= 1.005 * epsilon
