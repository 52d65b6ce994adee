import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_ada import accounting


def leaky_randomized_response(epsilon, delta):
    """The pair of laws of lecture 11 on {0, 1, "U", "V"}."""
    truth = (1 - delta) * math.exp(epsilon) / (1 + math.exp(epsilon))
    lie = (1 - delta) / (1 + math.exp(epsilon))
    return np.array([truth, lie, delta, 0.0]), np.array([lie, truth, 0.0, delta])


def worst_event(p, q, epsilon):
    """``max over E of P(E) - exp(epsilon) * Q(E)`` by trying all events."""
    gains = p - math.exp(epsilon) * q
    return max(sum(event) for r in range(gains.size + 1) for event in itertools.combinations(gains, r))


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("delta", [0.0, 1e-3, 0.2])
def test_leaky_randomized_response_is_the_pair_of_the_lecture(epsilon, delta):
    loss = accounting.leaky_randomized_response_loss(epsilon, delta)
    p, q = leaky_randomized_response(epsilon, delta)
    for at in (0.0, 0.05, 0.1, 0.5, 1.0, 2.0):
        assert loss.delta(at) == pytest.approx(worst_event(p, q, at), abs=1e-15)
        assert loss.delta(at) == pytest.approx(accounting.finite_privacy_loss(p, q).delta(at), abs=1e-15)
    assert loss.delta(epsilon) == pytest.approx(delta, abs=1e-15)
    assert loss.infinite_mass == delta
    assert loss.mean == (math.inf if delta else pytest.approx(epsilon * (p[0] - p[1])))


@pytest.mark.parametrize(("epsilon", "delta"), [(0.3, 0.0), (0.3, 0.05), (2.0, 0.01)])
def test_convolution_is_the_law_of_the_product(epsilon, delta):
    p, q = leaky_randomized_response(epsilon, delta)
    p2, q2 = np.multiply.outer(p, p).ravel(), np.multiply.outer(q, q).ravel()
    composed = accounting.leaky_randomized_response_loss(epsilon, delta).self_compose(2)
    for at in (0.0, 0.2, 0.3, 0.6, 1.0, 3.9):
        assert composed.delta(at) == pytest.approx(worst_event(p2, q2, at), rel=1e-10, abs=1e-15)
    assert composed.infinite_mass == pytest.approx(1 - (1 - delta) ** 2)


@pytest.mark.parametrize("k", [1, 2, 3, 10, 37, 1000])
def test_self_composition_is_binomial(k):
    loss = accounting.randomized_response_loss(0.1).self_compose(k)
    assert loss.losses.size == k + 1
    truth = 1 / (1 + math.exp(-0.1))
    expected = [math.comb(k, j) * truth**j * (1 - truth) ** (k - j) for j in range(min(k, 60) + 1)]
    np.testing.assert_allclose(loss.probabilities[: len(expected)], expected, rtol=1e-9, atol=1e-250)
    np.testing.assert_allclose(loss.losses, 0.1 * (2 * np.arange(k + 1) - k), atol=1e-11)
    assert loss.mean == pytest.approx(k * 0.1 * (2 * truth - 1))


def test_different_mechanisms_compose_in_any_order():
    a, b = accounting.randomized_response_loss(0.3), accounting.leaky_randomized_response_loss(1.1, 0.01)
    for at in (0.0, 0.5, 1.0, 1.4):
        assert a.compose(b).delta(at) == pytest.approx(b.compose(a).delta(at), rel=1e-12, abs=0)
    assert a.compose(b).compose(a).losses.size == 6  # 0.3 - 0.3 and -0.3 + 0.3 coincide


def test_losses_equal_up_to_rounding_become_the_largest_of_them():
    a = accounting.PrivacyLossDistribution([-0.1, 0.1, 0.3], [0.5, 0.3, 0.2])
    composed = a.compose(accounting.randomized_response_loss(0.2))
    assert 0.3 - 0.2 < -0.1 + 0.2 == 0.1
    assert composed.losses.size == 5
    assert composed.losses[2] == 0.1


LAWS = st.lists(st.tuples(st.floats(0.01, 1.0), st.floats(0.01, 1.0)), min_size=2, max_size=6)


@settings(max_examples=100, derandomize=True, deadline=None)
@given(LAWS, st.floats(0.0, 2.0))
def test_delta_is_the_worst_event_and_at_most_the_tail(weights, epsilon):
    p, q = (np.array(column) / sum(column) for column in zip(*weights, strict=True))
    loss = accounting.finite_privacy_loss(p, q)
    assert loss.delta(epsilon) == pytest.approx(worst_event(p, q, epsilon), abs=1e-13)
    assert loss.delta(epsilon) <= loss.tail(epsilon)
    assert loss.mean >= -1e-15
    delta = 0.5 * loss.delta(0.0)
    assert loss.delta(loss.epsilon(delta)) <= delta


def test_outputs_impossible_for_one_neighbour_have_infinite_loss():
    loss = accounting.finite_privacy_loss([0.5, 0.5, 0.0], [0.0, 0.5, 0.5])
    assert (loss.infinite_mass, loss.delta(5.0), loss.tail(5.0), loss.mean) == (0.5, 0.5, 0.5, math.inf)
    assert loss.epsilon(0.5) == 0
    with pytest.raises(ValueError, match=r"'delta' parameter .* must be at least infinite_mass"):
        loss.epsilon(0.4)
    disjoint = accounting.finite_privacy_loss([1.0, 0.0], [0.0, 1.0])
    assert (disjoint.delta(9.0), disjoint.self_compose(5).infinite_mass) == (1.0, 1.0)


def test_losses_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        accounting.randomized_response_loss(1.0).losses[0] = 0.0
