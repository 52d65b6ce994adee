"""R^2 and D^2: scikit-learn's values, the inequality for the best constant, clipping, bad parameters."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import d2_absolute_error_score, d2_pinball_score, r2_score

from sklearn_ada.guarantees import ExpectedLosses, d2_pinball_interval, r_squared_interval

CLIP = {"target_range": (-4.0, 4.0), "most_error": 4.0}


def sample(seed, n=1000, noise=0.7):
    rng = np.random.default_rng(seed)
    y = np.clip(rng.standard_normal(n), -4, 4)
    return y, np.clip(y + noise * rng.standard_normal(n), y - 4, y + 4).clip(-4, 4)


@pytest.mark.parametrize("noise", [0.05, 0.7, 1.5])
@pytest.mark.parametrize("quantile", [None, 0.5, 0.1])
def test_the_interval_is_around_scikit_learns_value(quantile, noise):
    y, p = sample(0, noise=noise)
    interval, value = r_squared_interval, r2_score(y, p)
    if quantile is not None:
        interval = partial(d2_pinball_interval, quantile=quantile)
        value = d2_pinball_score(y, p, alpha=quantile)
    expected = ExpectedLosses.of_rows(*sample(1, noise=noise), quantile=quantile, **CLIP)
    low, high = interval(y, p, -3.0, expected=expected, **CLIP)
    assert low < value < high <= 1.0
    if noise > 0.1:  # a range of many deviations of the error costs more
        assert high - low < 0.6 * (1.0 - value) + 0.01
    if quantile == 0.5:
        assert value == pytest.approx(d2_absolute_error_score(y, p))


VALUES = st.lists(st.integers(0, 6), min_size=1, max_size=25)


@given(VALUES, st.floats(0.0, 6.0), st.floats(0.05, 0.95))
def test_what_a_constant_loses_to_the_best_one(values, constant, quantile):
    """The law is that of the values, so all probabilities are known."""
    y = np.array(values, dtype=float)

    def loss(m):
        return np.mean(np.maximum(quantile * (y - m), (quantile - 1.0) * (y - m)))

    best = min(loss(m) for m in y)
    bounds = []
    for m in y[np.isclose([loss(m) for m in y], best, atol=1e-12)]:
        above = max(m - constant, 0.0) * max(quantile - np.mean(y <= constant), 0.0)
        below = max(constant - m, 0.0) * max(np.mean(y < constant) - quantile, 0.0)
        bounds.append(max(above, below))
    assert loss(constant) - best <= min(bounds) + 1e-9


def test_a_constant_far_off_makes_it_wider_and_not_wrong():
    y, p = sample(0)
    good = ExpectedLosses.of_rows(*sample(1), **CLIP)
    low, high = r_squared_interval(y, p, -3.0, expected=good, **CLIP)
    bad = good._replace(constant=1.0, baseline=good.baseline + 1.0)
    low_bad, high_bad = r_squared_interval(y, p, -3.0, expected=bad, **CLIP)
    assert low_bad < low < r2_score(y, p) < high < high_bad


def test_targets_predictions_and_errors_are_clipped():
    y, p = sample(0)
    expected = ExpectedLosses.of_rows(*sample(1), target_range=(-1, 1), most_error=0.5)
    clip = {"target_range": (-1.0, 1.0), "most_error": 0.5}
    inside = np.clip(y, -1, 1)
    error = np.clip(inside - np.clip(p, -1, 1), -0.5, 0.5)
    found = r_squared_interval(y, p, -3.0, expected=expected, **clip)
    assert found == r_squared_interval(inside, inside - error, -3.0, expected=expected, **clip)


@pytest.mark.parametrize("n", [1, 2, 50])
@pytest.mark.parametrize("ln_delta", [0.0, -3.0, -2000.0])
def test_degenerate_rows_give_intervals(n, ln_delta):
    for y in (np.zeros(n), np.full(n, 4.0), np.arange(n) % 2.0):
        expected = ExpectedLosses.of_rows(y, y, **CLIP)
        for interval in (r_squared_interval, d2_pinball_interval):
            low, high = interval(y, y, ln_delta, expected=expected, **CLIP)
            assert low <= high <= 1.0
            assert high == pytest.approx(1.0)
