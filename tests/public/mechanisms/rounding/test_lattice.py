"""The last digits of an answer must not tell which of two neighbours it came from (Mironov, CCS 2012)."""

import math
from fractions import Fraction

import numpy as np
import pytest

from sklearn_ada.mechanisms import (
    PrivateMultiplicativeWeights,
    Thresholdout,
    gaussian_mechanism,
    gaussian_thresholdout,
    laplace_mechanism,
)


class Fixed(np.random.Generator):
    """Draws no noise but in its last draw: whether an answer is possible can then be tried out."""

    def __init__(self, draws, last):
        super().__init__(np.random.PCG64(0))
        self.noise = [0.0] * (draws - 1) + [last]

    def laplace(self, loc=0.0, scale=1.0, size=None):
        return self.noise.pop(0)

    normal = laplace


def laplace(value, rng):
    return laplace_mechanism(value, sensitivity=1.0, epsilon=0.7, rng=rng).answer


def gaussian(value, rng):
    return gaussian_mechanism(value, sensitivity=1.0, noise_multiplier=1.3, rng=rng).answer


def thresholdout(value, rng):
    return Thresholdout(0.1, 1.4, 1, 1.0).ask(1e4, value, rng).answer.value


def figure(value, rng):
    options = {"threshold": 0.1, "scale": 1.3, "sensitivity": 1.0}
    return gaussian_thresholdout(1e4, value, **options, rng=rng).answer.value


def weights(value, rng):
    # Two records: the model says 1/2, and a value in [0, 1] is corrected where noise says so.
    return PrivateMultiplicativeWeights(2, 2, 0.2, 1.0).ask([0.0, 1.0], value, rng).answer


# Name: mechanism, noise drawn for one answer, scale of the last of it, the values of two neighbours.
RELEASES = {
    "laplace": (laplace, 1, 1 / 0.7, (0.0, 1.0)),
    "gaussian": (gaussian, 1, 1.3, (0.0, 1.0)),
    "thresholdout": (thresholdout, 3, 1.4, (0.0, 1.0)),
    "figure": (figure, 2, 1.3, (0.0, 1.0)),
    "weights": (weights, 3, 0.5, (1.0, 0.0)),
}


def answers(name, value, count=400):
    mechanism, rng = RELEASES[name][0], np.random.default_rng(0)
    return [mechanism(value, rng) for _ in range(count)]


def is_possible(name, value, answer):
    """Whether some double, as noise, makes this answer of this value."""
    mechanism, draws, _, _ = RELEASES[name]
    noise = answer - value
    tried = (noise, math.nextafter(noise, -math.inf), math.nextafter(noise, math.inf))
    return any(mechanism(value, Fixed(draws, each)) == answer for each in tried)


@pytest.mark.parametrize("name", RELEASES)
def test_every_answer_of_a_value_is_possible_for_its_neighbours(name):
    for here, there in (RELEASES[name][3], RELEASES[name][3][::-1]):
        impossible = [each for each in answers(name, here) if not is_possible(name, there, each)]
        assert impossible == []


@pytest.mark.parametrize("name", RELEASES)
def test_answers_are_multiples_of_one_step_whatever_the_value(name):
    _, _, scale, values = RELEASES[name]
    step = Fraction(2) ** (math.floor(math.log2(scale)) - 10)
    assert scale / 2048 < step <= scale / 1024
    for value in (*values, 0.3):
        seen = answers(name, value)
        assert len(set(seen)) > 50
        assert all(Fraction(each) % step == 0 for each in seen)


@pytest.mark.parametrize("scale", [1e-320, 5e-324, 1e-9, 1.0, 1e300, 1e308])
@pytest.mark.parametrize("value", [0.0, 0.3, -1e5, 1e300])
def test_no_scale_is_too_small_or_too_large(scale, value):
    def released(noise):
        return laplace_mechanism(value, sensitivity=scale, epsilon=1.0, rng=Fixed(1, noise)).answer

    step = Fraction(max(math.ldexp(1.0, math.frexp(scale)[1] - 11), 5e-324))
    assert Fraction(released(0.0)) % step == 0
    assert abs(Fraction(released(0.0)) - Fraction(value)) <= step / 2
    assert released(math.inf) == math.inf


def test_a_clipped_answer_is_an_end_or_on_the_lattice():
    rng, ends = np.random.default_rng(0), (-0.7, 0.7)
    releases = [laplace_mechanism(0.5, sensitivity=1.0, epsilon=1.0, rng=rng, clip=ends) for _ in range(300)]
    answers = {release.answer for release in releases}
    assert set(ends) < answers
    assert all(each % 2.0**-10 == 0 for each in answers - set(ends))
