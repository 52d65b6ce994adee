"""Chernoff's interval: the equation of its ends, and ranges."""

import math

import pytest

from sklearn_ada.guarantees import bernoulli_kl, chernoff_kl


def test_kl_solves_its_own_equation():
    low, high = chernoff_kl(0.85, 0.85, 1000, math.log(0.05))
    for end in (low, high):
        assert 1000 * bernoulli_kl(0.85, end) == pytest.approx(math.log(40), rel=1e-9)


def test_a_range_is_rescaled():
    low, high = chernoff_kl(-0.15, -0.15, 100, math.log(0.05), (-1.0, 0.0))
    unit = chernoff_kl(0.85, 0.85, 100, math.log(0.05))
    assert (low + 1, high + 1) == pytest.approx(unit)


def test_values_outside_the_range_are_refused():
    with pytest.raises(ValueError, match="low_value"):
        chernoff_kl(-0.1, 0.5, 10, -1.0)
    with pytest.raises(ValueError, match="range"):
        chernoff_kl(0.1, 0.5, 10, -1.0, (1.0, 0.0))
