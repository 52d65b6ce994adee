"""Bets whose level a guess divides: what they miss, what they gain, and mutants that are seen."""

import math

import numpy as np
import pytest
from scipy.stats import halfnorm, norm

from sklearn_ada.guarantees import TiltedMean, betting_fixed, betting_predictable
from tests.support.laws import is_missed, is_too_often

N, RUNS = 60, 400
LAWS = {  # draws rows; their mean and variance
    "skewed": (lambda rng: rng.beta(1.0, 3.0, N), 0.25, 0.0375),
    "rare": (lambda rng: 0.5 * (rng.random(N) < 0.1), 0.05, 0.0225),
}


def unequal(rng):
    """Rows of two laws, sorted; their mean is .25."""
    return np.r_[rng.random(10) < 0.9, 0.24 * (rng.random(50) < 0.5)].astype(float)


def misses_of(draw, mean, variance, delta, tilts, *, runs=RUNS, drawn=True):
    """Return how often the mean is missed with each tilt, which may be a function of the rows."""
    rng, reach = np.random.default_rng(0), 8 * math.sqrt(variance / N)
    grid = np.linspace(max(mean - reach, 1e-3), mean + reach, 31)
    misses = [0] * len(tilts)
    for _ in range(runs):
        x, uniform = draw(rng), rng.random()
        for i, tilt in enumerate(tilts):
            tilt = tilt(x) if callable(tilt) else tilt
            if drawn:
                ends = betting_predictable(x, variance, math.log(delta), grid, uniform=uniform, tilt=tilt)
            else:
                ends = betting_fixed(x, variance, math.log(delta), tilt=tilt)
            misses[i] += is_missed(ends, mean)
    return misses


def off_by(errors, mean, variance):
    """Return the tilt of a guess from 3 N rows that is so many standard errors off."""
    guess = mean + errors * math.sqrt(variance * (1 / N + 1 / (3 * N)))
    return TiltedMean(min(max(guess, 0.0), 1.0), 3 * N, N, variance)


@pytest.mark.parametrize("delta", [0.36, 0.05])
@pytest.mark.parametrize("law", LAWS)
def test_whatever_the_guess_is_tilted_bets_cover(law, delta):
    draw, mean, variance = LAWS[law]
    tilts = [off_by(errors, mean, variance) for errors in (-30, -2, 0, 1, 3)]
    misses = misses_of(draw, mean, variance, delta, tilts)
    assert not any(is_too_often(each, RUNS, delta) for each in misses), misses


def test_fixed_bets_cover_the_mean_of_unequal_rows():
    tilts = [off_by(errors, 0.25, 0.06) for errors in (-2, 0, 2)]
    misses = misses_of(unequal, 0.25, 0.06, 0.36, tilts, runs=150, drawn=False)
    assert not any(is_too_often(each, 150, 0.36) for each in misses), misses


def test_a_tilt_by_the_rows_themselves_is_seen():
    draw, mean, variance = LAWS["rare"]
    by_rows = lambda x: TiltedMean(float(x.mean()), 3 * N, N, variance)  # noqa: E731
    misses = misses_of(draw, mean, variance, 0.36, [by_rows, off_by(0, mean, variance)])
    assert is_too_often(misses[0], RUNS, 0.36)
    assert not is_too_often(misses[1], RUNS, 0.36)


@pytest.mark.parametrize("delta", [0.5, 0.05, 1e-6])
def test_the_part_below_falls_and_leaves_something_to_both_sides(delta):
    for rows, guess in ((1, 0.3), (180, 0.0), (10_000, 1.0)):
        parts = TiltedMean(guess, rows, N, 0.04).part_below(math.log(delta))(np.linspace(0, 1, 401))
        assert max(np.diff(parts)) <= 0
        assert 0.03 <= parts[-1] <= parts[0] <= 0.97


def test_what_is_rejected_by_fixed_bets_is_one_segment():
    """Its end is where halving found it: below it all is rejected, above it nothing is."""
    x, variance = np.random.default_rng(1).beta(1.0, 3.0, N), 0.0375
    for errors in (-3, 0, 3):
        tilt = off_by(errors, 0.25, variance)
        low, high = betting_fixed(x, variance, math.log(0.05), tilt=tilt)
        part = tilt.part_below(math.log(0.05))
        sizes = np.array([0.4, 0.7, 1.0, 1.4, 2.0]) * math.sqrt(-2 * math.log(0.045) / (N * variance))
        for end, sign in ((low, 1), (high, -1)):
            for m in np.linspace(0.02, 0.6, 59):
                bets = np.minimum(sizes, 0.95 / (m if sign > 0 else 1 - m))
                wealth = np.prod(1 + sign * bets[:, None] * (x - m), axis=1).mean()
                level = 0.05 * (part(np.array(m)) if sign > 0 else 1 - part(np.array(m)))
                assert (wealth >= 1 / level) == (sign * (end - m) > 0)


def test_bets_gain_what_the_module_says():
    """At 2,000 rows that follow their law closely, but for a mean that is moved as chance moves it."""
    n, rng = 2000, np.random.default_rng(3)
    rows = rng.permutation(halfnorm.ppf((np.arange(n) + 0.5) / n)) / 5
    mean, variance = float(rows.mean()), float(rows.var())
    error, grid = math.sqrt(variance / n), np.linspace(mean - 0.02, mean + 0.02, 161)
    tilts = [TiltedMean(mean + off * error * math.sqrt(4 / 3), 3 * n, n, variance) for off in range(4)]
    widths = [
        [
            np.diff(betting_predictable(x, variance, math.log(0.05), grid, uniform=u, tilt=tilt))[0]
            for tilt in (None, *tilts)
        ]
        for z, u in zip(norm.ppf((np.arange(12) + 0.5) / 12), rng.permutation(12) / 11, strict=True)
        for x in [np.clip(rows + z * error, 0.0, 1.0)]
    ]
    worth = np.mean(widths, axis=0)
    assert worth[1:] / worth[0] == pytest.approx([0.86, 0.89, 0.99, 1.12], abs=0.01)
