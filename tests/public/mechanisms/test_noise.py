import dataclasses
import math

import numpy as np
import pytest
from scipy import stats

from sklearn_ada.accounting import CodedRelease, GaussianEvent, LaplaceEvent, RandomizedResponseEvent, Symbol
from sklearn_ada.mechanisms import (
    Rounding,
    SampleSplitting,
    UniformGrid,
    gaussian_mechanism,
    laplace_mechanism,
    randomized_response,
    rounded,
)
from tests.support.laws import fits_only_as_it_is

N = 40_000


NOISES = [
    (laplace_mechanism, {"epsilon": 0.2}, stats.laplace(0.3, 0.5 / 0.2)),
    (gaussian_mechanism, {"noise_multiplier": 3.0}, stats.norm(0.3, 1.5)),
]


@pytest.mark.parametrize(("mechanism", "noise", "law"), NOISES)
def test_noise_agrees_with_its_law(mechanism, noise, law):
    rng = np.random.default_rng(0)
    drawn = np.array([mechanism(0.3, sensitivity=0.5, **noise, rng=rng).answer for _ in range(N)])
    assert fits_only_as_it_is(lambda factor: stats.kstest(0.3 + (drawn - 0.3) / factor, law.cdf).pvalue)


@pytest.mark.parametrize("bit", [True, False])
def test_randomized_response_agrees_with_its_law(bit):
    rng = np.random.default_rng(0)
    truths = sum(randomized_response(bit, 1.0, rng).answer is bit for _ in range(N))
    assert fits_only_as_it_is(lambda factor: stats.binomtest(truths, N, 1 / (1 + math.exp(-factor))).pvalue)
    assert randomized_response(bit, 1e6, rng).answer is bit


def test_events_say_what_happened():
    rng = np.random.default_rng(0)
    assert laplace_mechanism(0.0, sensitivity=2.0, epsilon=0.3, rng=rng).event == LaplaceEvent(0.3)
    gaussian = gaussian_mechanism(0.0, sensitivity=2.0, noise_multiplier=4.0, rng=rng)
    assert gaussian.event == GaussianEvent(4.0)
    assert randomized_response(False, 0.3, rng).event == RandomizedResponseEvent(0.3)


@pytest.mark.parametrize(("mechanism", "noise"), [each[:2] for each in NOISES])
def test_answers_are_clipped_and_rounded(mechanism, noise):
    made = {"sensitivity": 1.0, **noise, "rng": np.random.default_rng(0)}
    for ends in ((0.0, 1.0), (0.25, 0.75)):
        clipped = {mechanism(0.5, **made, clip=ends).answer for _ in range(100)}
        assert set(ends) < clipped
        assert (min(clipped), max(clipped)) == ends
    rounding = Rounding(UniformGrid(0.0, 1.0, 11), guess=0.8, scale=2.0)
    releases = [mechanism(0.5, **made, rounding=rounding) for _ in range(100)]
    symbols = [release.event.symbols[0] for release in releases]
    assert [release.answer for release in releases] == pytest.approx(
        [0.8 + each.value / 10 for each in symbols]
    )
    assert symbols == [Symbol("lattice", each.value, 2.0) for each in symbols]
    assert len(set(symbols)) > 5
    assert releases[0].event == dataclasses.replace(mechanism(0.5, **made).event, symbols=(symbols[0],))


def test_noise_that_underflows_is_refused():
    with pytest.raises(ValueError, match="'scale of the noise'"):
        laplace_mechanism(0.5, sensitivity=1e-300, epsilon=1e300, rng=np.random.default_rng(0))


def test_rounding_is_a_coded_release():
    grid = UniformGrid(0.0, 1.0, 101)
    release = rounded(0.834, Rounding(grid, guess=0.85))
    assert release.answer == pytest.approx(0.83)
    assert release.event == CodedRelease((Symbol("lattice", -2),))
    assert rounded(0.834, Rounding(grid)).event == CodedRelease((Symbol("lattice", 33),))
    assert rounded(1.7, Rounding(grid)).answer == 1.0


def test_splitting_uses_each_slice_once_in_order():
    splitting, rounding = SampleSplitting(3), Rounding(UniformGrid(0.0, 2.0, 3))
    with pytest.raises(ValueError, match="'value'"):  # and not one without a value
        splitting.ask(lambda i: math.nan, rounding)
    assert [splitting.ask(float, rounding).answer for _ in range(3)] == [0.0, 1.0, 2.0]
    assert splitting.exhausted
