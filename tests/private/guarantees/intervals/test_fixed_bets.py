"""Fixed bets: where the wealth crosses its bound, its mean, and what may not be done with it."""

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_ada.guarantees import fixed_bets_mean, hoeffding_half_width
from sklearn_ada.guarantees.bets import lowest_ratio

WEIGHTS = np.array([0.1, 0.2, 0.4, 0.2, 0.1])
MULTIPLES = np.array([0.4, 0.7, 1.0, 1.4, 2.0])
MEAN = {"corners": ([0.0, 1.0], [1.0, 1.0]), "bracket": (0.0, 1.0)}


def sizes(n, ln_level, variance, most_lost):
    """Return the sizes of the bets by the formula."""
    return np.minimum(MULTIPLES * math.sqrt(-2.0 * ln_level / (n * variance)), 0.95 / most_lost)


def ln_wealth(a, b, ratio, bets):
    """Return the logarithm of the wealth by the formula, all rows at once."""
    sums = np.log1p(np.multiply.outer(bets, a - ratio * b)).sum(axis=1)
    return sums.max() + math.log(math.fsum(WEIGHTS * np.exp(sums - sums.max())))


@pytest.mark.parametrize("n", [1, 15, 16, 17, 200, 300, 70_001])
@pytest.mark.parametrize("seed", range(5))
def test_the_end_of_fixed_bets_is_where_their_wealth_crosses_one_over_the_level(n, seed):
    rng, level = np.random.default_rng([n, seed]), math.log(0.025)
    b = 0.5 + rng.random(n)
    a = b * rng.random(n)
    bets = sizes(n, level, 0.1, 1.0)
    corners = (np.array([0.0, 1.5, 0.0]), np.array([0.5, 1.5, 1.5]))
    low = lowest_ratio(a, b, level, bets=bets, corners=corners, bracket=(0.0, 1.0))
    if low > 0.0:
        assert ln_wealth(a, b, low, bets) >= -level - 1e-6 * abs(level)
    assert (n == 1) == (low == 0.0)
    assert ln_wealth(a, b, low + 1e-6, bets) < -level


def test_equal_rows_by_their_counts_have_the_same_end_as_one_by_one():
    values = np.random.default_rng(0).integers(0, 4, 70_001)
    bets = sizes(len(values), -3.0, 0.08, 1.0)
    counts = np.bincount(values).astype(float)
    one_by_one = lowest_ratio(values / 4.0, 1.0, -3.0, bets=bets, **MEAN)
    counted = lowest_ratio(np.arange(4) / 4.0, 1.0, -3.0, bets=bets, counts=counts, **MEAN)
    assert one_by_one == pytest.approx(counted, abs=1e-9)


CHANCE = st.floats(0.0, 1.0)
ROW = st.tuples(CHANCE, CHANCE, CHANCE)  # the chance of a large value, the values


def mean_wealth(rows, ratio, bets):
    """Return the mean of the wealth for independent rows that take one of two values each."""
    return math.fsum(
        w * math.prod(1.0 + bet * (p * high + (1.0 - p) * low - ratio) for p, high, low in rows)
        for w, bet in zip(WEIGHTS, bets, strict=True)
    )


@given(st.lists(ROW, min_size=1, max_size=30), st.floats(1e-9, 4.0))
def test_the_mean_wealth_of_fixed_bets_is_at_most_one_for_rows_of_any_laws(rows, variance):
    mean = math.fsum(p * high + (1.0 - p) * low for p, high, low in rows) / len(rows)
    assert mean_wealth(rows, mean, sizes(len(rows), -3.0, variance, 1.0)) <= 1.0 + 1e-9


def test_the_mean_wealth_of_fixed_bets_is_above_one_just_below_the_ratio():
    rows = [(0.3, 1.0, 0.0)] * 100
    bets = sizes(100, -3.0, 0.21, 0.3)
    assert mean_wealth(rows, 0.3, bets) == pytest.approx(1.0)
    assert mean_wealth(rows, 0.299, bets) > 1.01


def test_a_bet_that_could_lose_all_has_no_wealth():
    values, bets = np.ones(50), np.full(5, 0.9)  # at ratios above 1/.9 a row of 0 would lose more than all
    corners = ([0.0, 3.0], [1.0, 1.0])
    low = lowest_ratio(3.0 * values, 1.0, -3.0, bets=bets, corners=corners, bracket=(0.0, 3.0))
    assert low == pytest.approx(1.0 / 0.9, rel=1e-6)


def test_looked_at_on_the_way_sorted_classes_miss_and_after_the_last_row_they_do_not():
    """Rows of class 1 come first and are all right, those of class 0 are all wrong: the mean is one half."""
    values = np.repeat([1.0, 0.0], 500)
    bets = sizes(1000, math.log(0.025), 0.25, 0.5)
    assert max(ln_wealth(values[:k], 1.0, 0.5, bets) for k in (100, 300, 500)) > math.log(40.0)
    low, high = fixed_bets_mean(values, math.log(0.05), expected_mean=0.5, expected_variance=0.25)
    assert low < 0.5 < high


@pytest.mark.parametrize(("factor", "most"), [(0.25, 1.70), (1.0, 1.55), (4.0, 1.70)])
def test_a_wrong_variance_costs_fixed_bets_little(factor, most):
    values = np.random.default_rng(0).random(2000) ** 3
    settings = {"expected_mean": 0.25, "expected_variance": float(values.var()) * factor}
    ends = fixed_bets_mean(values, math.log(0.05), **settings)
    normal = 2 * 1.96 * values.std() / math.sqrt(2000)
    assert 1.0 < (ends[1] - ends[0]) / normal < most
    assert ends[1] - ends[0] < 2 * hoeffding_half_width(2000, math.log(0.05))


@pytest.mark.parametrize("ln_delta", [0.0, -3.0, -2000.0])
@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_extreme_values_are_in_the_interval_of_fixed_bets(value, ln_delta):
    for n in (1, 50):
        low, high = fixed_bets_mean(np.full(n, value), ln_delta, expected_mean=0.5, expected_variance=0.0)
        assert 0.0 <= low <= value <= high <= 1.0


@pytest.mark.thorough
def test_fixed_bets_on_a_million_rows_need_few_blocks_of_memory():
    values = np.random.default_rng(0).random(1_000_000)
    bets = sizes(1_000_000, math.log(0.025), 1 / 12, 1.0)
    tracemalloc.start()
    low = lowest_ratio(values, 1.0, math.log(0.025), bets=bets, **MEAN)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8e6
    assert 0.498 < low < 0.5
