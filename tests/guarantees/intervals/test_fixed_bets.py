"""Fixed bets: the wealth against a plain product, its mean, and what may not be done with it."""

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_ada.guarantees import fixed_bets_mean, hoeffding_half_width
from sklearn_ada.guarantees.bets import bet_sizes, ln_wealth, lowest_ratio

WEIGHTS = np.array([0.1, 0.2, 0.4, 0.2, 0.1])
MEAN = {"corners": ([0.0, 1.0], [1.0, 1.0]), "bracket": (0.0, 1.0)}


def plain_wealth(rows, ratio, bets):
    """Return the wealth by the formula, one factor at a time."""
    return math.fsum(
        w * math.prod(1.0 + bet * (a - ratio * b) for a, b in rows)
        for w, bet in zip(WEIGHTS, bets, strict=True)
    )


@pytest.mark.parametrize("n", [1, 15, 16, 17, 300])
def test_the_wealth_is_the_mean_of_products(n):
    rng = np.random.default_rng(n)
    a, b = rng.random(n), rng.random(n)
    bets = bet_sizes(n, -3.0, 0.1, 1.0)
    expected = plain_wealth(list(zip(a, b, strict=True)), 0.6, bets)
    assert ln_wealth(a, b, 0.6, bets) == pytest.approx(math.log(expected), abs=1e-9)


def test_rows_in_blocks_counts_and_all_at_once_are_the_same():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 4, 70_001) / 4.0
    counts = np.bincount((4 * values).astype(int)).astype(float)
    bets = bet_sizes(len(values), -3.0, 0.08, 1.0)
    table = ln_wealth(np.arange(4) / 4.0, 1.0, 0.37, bets, counts)
    sums = np.log1p(np.multiply.outer(bets, values - 0.37)).sum(axis=1)
    direct = math.log(math.fsum(WEIGHTS * np.exp(sums - sums.max()))) + sums.max()
    assert ln_wealth(values, 1.0, 0.37, bets) == pytest.approx(direct, rel=1e-12, abs=1e-8)
    assert table == pytest.approx(direct, rel=1e-12, abs=1e-8)


CHANCE = st.floats(0.0, 1.0)
ROW = st.tuples(CHANCE, CHANCE, CHANCE)  # the chance of a large value, the values


def mean_wealth(rows, ratio, bets):
    """Return the mean of the wealth for independent rows that take one of two values each."""
    return math.fsum(
        w * math.prod(1.0 + bet * (p * high + (1.0 - p) * low - ratio) for p, high, low in rows)
        for w, bet in zip(WEIGHTS, bets, strict=True)
    )


@given(st.lists(ROW, min_size=1, max_size=30), st.floats(0.0, 4.0))
def test_its_mean_is_at_most_one_for_rows_of_any_laws(rows, variance):
    mean = math.fsum(p * high + (1.0 - p) * low for p, high, low in rows) / len(rows)
    bets = bet_sizes(len(rows), -3.0, variance, 1.0)
    assert mean_wealth(rows, mean, bets) <= 1.0 + 1e-9


def test_its_mean_is_above_one_just_below_the_ratio():
    rows = [(0.3, 1.0, 0.0)] * 100
    bets = bet_sizes(100, -3.0, 0.21, 0.3)
    assert mean_wealth(rows, 0.3, bets) == pytest.approx(1.0)
    assert mean_wealth(rows, 0.299, bets) > 1.01


@pytest.mark.parametrize("seed", range(5))
def test_the_end_is_where_the_wealth_crosses_one_over_the_level(seed):
    rng = np.random.default_rng(seed)
    n, level = 200, math.log(0.025)
    b = 0.5 + rng.random(n)
    a = b * rng.random(n)
    bets = bet_sizes(n, level, 0.1, 1.0)
    corners = (np.array([0.0, 1.5, 0.0]), np.array([0.5, 1.5, 1.5]))
    low = lowest_ratio(a, b, level, bets=bets, corners=corners, bracket=(0.0, 1.0))
    rows = list(zip(a, b, strict=True))
    assert plain_wealth(rows, low, bets) >= 40.0 * (1 - 1e-6) > plain_wealth(rows, low + 1e-6, bets)


def test_a_bet_that_could_lose_all_has_no_wealth():
    values, bets = np.ones(50), np.full(5, 0.9)  # at ratios above 1/.9 a row of 0 would lose more than all
    corners = ([0.0, 3.0], [1.0, 1.0])
    low = lowest_ratio(3.0 * values, 1.0, -3.0, bets=bets, corners=corners, bracket=(0.0, 3.0))
    assert low == pytest.approx(1.0 / 0.9, rel=1e-6)


def test_looked_at_on_the_way_sorted_classes_miss_and_after_the_last_row_they_do_not():
    """Rows of class 1 come first and are all right, those of class 0 are all wrong: the mean is one half."""
    values = np.repeat([1.0, 0.0], 500)
    bets = bet_sizes(1000, math.log(0.025), 0.25, 0.5)
    on_the_way = max(ln_wealth(values[:k], 1.0, 0.5, bets) for k in (100, 300, 500))
    assert on_the_way > math.log(40.0)
    low, high = fixed_bets_mean(values, math.log(0.05), expected_mean=0.5, expected_variance=0.25)
    assert low < 0.5 < high


@pytest.mark.parametrize(("factor", "most"), [(0.25, 1.70), (1.0, 1.55), (4.0, 1.70)])
def test_a_wrong_variance_costs_little(factor, most):
    values = np.random.default_rng(0).random(2000) ** 3
    ends = fixed_bets_mean(
        values, math.log(0.05), expected_mean=0.25, expected_variance=float(values.var()) * factor
    )
    normal = 2 * 1.96 * values.std() / math.sqrt(2000)
    assert 1.0 < (ends[1] - ends[0]) / normal < most
    assert ends[1] - ends[0] < 2 * hoeffding_half_width(2000, math.log(0.05))


@pytest.mark.parametrize("ln_delta", [0.0, -3.0, -2000.0])
@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_extremes_contain_the_value(value, ln_delta):
    for n in (1, 50):
        low, high = fixed_bets_mean(np.full(n, value), ln_delta, expected_mean=0.5, expected_variance=0.0)
        assert 0.0 <= low <= value <= high <= 1.0


@pytest.mark.thorough
def test_a_million_rows_need_few_blocks_of_memory():
    values = np.random.default_rng(0).random(1_000_000)
    bets = bet_sizes(1_000_000, math.log(0.025), 1 / 12, 1.0)
    tracemalloc.start()
    low = lowest_ratio(values, 1.0, math.log(0.025), bets=bets, **MEAN)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8e6
    assert 0.498 < low < 0.5


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("values", {"values": [0.5, 1.5]}),
        ("values", {"values": []}),
        ("values", {"values": [math.nan]}),
        ("ln_delta", {"ln_delta": 0.1}),
        ("expected_mean", {"expected_mean": 2.0}),
        ("expected_variance", {"expected_variance": -1.0}),
    ],
)
def test_bad_parameters_are_refused(name, change):
    good = {"values": [0.5], "ln_delta": -3.0, "expected_mean": 0.5, "expected_variance": 0.1} | change
    values, ln_delta = good.pop("values"), good.pop("ln_delta")
    with pytest.raises(ValueError, match=rf"^The '{name}' parameter of fixed_bets_mean must be"):
        fixed_bets_mean(values, ln_delta, **good)
