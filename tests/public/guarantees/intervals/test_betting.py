"""Betting intervals: reference numbers, about the normal width, bad input, and a million rows."""

import itertools
import math
import time
import tracemalloc

import numpy as np
import pytest

from sklearn_ada.guarantees import betting_fixed, betting_half_width, betting_predictable
from tests.support.laws import is_missed
from tests.support.rows import each_row_of, reference

DATA: dict[str, list[float]] = {}
for line in reference("betting_data"):
    DATA.setdefault(line["dataset"], []).append(float(line["x"]))


def grid_of(text):
    step, (first, last) = int(text.split()[0].split("/")[1]), text.split("=")[1].split("..")
    return np.arange(int(first), int(last) + 1) / step


@each_row_of("betting", 40)
def test_reference_intervals_by_betting_are_met(row):
    x, variance = np.array(DATA[row["dataset"]]), row["v_guess"]
    ln_delta = math.log(row["delta_two_sided"])
    assert len(x) == row["n"]
    fixed = row["mixture_lower_root"], row["mixture_upper_root"]
    assert betting_fixed(x, variance, ln_delta) == pytest.approx(fixed, abs=1e-9)
    one_by_one = betting_predictable(x, variance, ln_delta, grid_of(row["grid"]))
    assert one_by_one == pytest.approx((row["star_lower"], row["star_upper"]), abs=1e-12)


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_atoms_at_the_ends_of_the_range_are_no_error(value):
    values, grid = np.full(50, value), np.arange(1, 100) / 100
    for low, high in (
        betting_fixed(values, 0.0, math.log(0.05)),
        betting_predictable(values, 0.0, math.log(0.05), grid),
    ):
        assert 0.0 <= low <= value <= high <= 1.0


def test_order_of_rows_does_not_matter_to_fixed_bets():
    x = np.random.default_rng(0).beta(0.5, 2.0, 300)
    expected = betting_fixed(x, 0.05, math.log(0.05))
    assert betting_fixed(np.sort(x), 0.05, math.log(0.05)) == pytest.approx(expected, abs=1e-12)


def test_nothing_left_of_the_level_is_the_whole_range():
    assert betting_fixed([0.5, 0.5], 0.1, -1e9)[0] < 1e-6
    assert betting_predictable([0.5, 0.5], 0.1, -1e9, [0.2, 0.8]) == (0.0, 1.0)


def test_a_drawn_bound_is_as_if_the_level_were_larger_and_never_rejects_by_itself():
    x, grid = np.random.default_rng(0).beta(1.0, 8.0, 200), np.arange(1, 400) / 400
    ends = [betting_predictable(x, 0.01, math.log(0.05), grid, uniform=u / 20) for u in range(21)]
    low, high = np.array(ends).T
    for end in (low, high):
        assert (np.diff(end) <= 0.0).all()
        assert end[0] > end[-1]
    assert low[0] == low[1] == low[2]
    assert high[-1] == high[-2] == high[-3]
    idle = np.full(50, 0.5)  # as far from both ends of the grid as can be: nothing is rejected at once
    assert betting_predictable(idle[:1], 0.25, math.log(0.05), [0.4, 0.6], uniform=0.0) == (0.0, 1.0)


def missed_of_five_rows(law, delta, draws):
    """Probability of a miss, over all samples of five rows in {0, 1/2, 1} and the drawn numbers."""
    atoms, missed = np.array([0.0, 0.5, 1.0]), 0.0
    mean = float(np.dot(atoms, law))
    grid = np.unique(np.r_[np.arange(1, 20) / 20, mean])
    for rows in itertools.product(np.flatnonzero(law), repeat=5):
        chance = math.prod(law[i] for i in rows) / len(draws)
        for uniform in draws:
            ends = betting_predictable(atoms[list(rows)], 0.1, math.log(delta), grid, uniform=uniform)
            missed += chance * is_missed(ends, mean)
    return missed


@pytest.mark.parametrize("delta", [0.5, 0.2, 0.05])
@pytest.mark.parametrize("law", [(0.5, 0.0, 0.5), (0.9, 0.0, 0.1), (0.2, 0.3, 0.5), (0.05, 0.05, 0.9)])
def test_a_drawn_bound_misses_as_often_as_allowed_by_exact_enumeration(law, delta):
    assert missed_of_five_rows(law, delta, (np.arange(20) + 0.5) / 20) <= delta


def test_power_a_bound_that_is_not_drawn_misses_too_often():
    """The same number for every sample: three times the misses that are allowed."""
    assert missed_of_five_rows((0.05, 0.05, 0.9), 0.2, [0.05]) > 0.6


def test_about_the_width_of_the_normal_interval_from_a_thousand_rows():
    x, grid = np.random.default_rng(1).beta(1.0, 8.0, 1000), np.arange(1, 2000) / 2000
    variance, ln_delta = float(x.var()), math.log(0.05)
    fixed = betting_fixed(x, variance, ln_delta)
    one_by_one, drawn = (betting_predictable(x, variance, ln_delta, grid, uniform=u) for u in (None, 0.5))
    normal = 2 * 1.96 * x.std() / math.sqrt(1000)
    for ends, most in ((fixed, 1.6), (one_by_one, 1.2), (drawn, 1.1)):
        assert np.ptp(ends) / normal < most
    planned = betting_half_width(1000, variance, ln_delta, predictable=True)
    assert planned == pytest.approx(np.ptp(drawn) / 2, rel=0.15)


@pytest.mark.thorough
def test_a_million_rows_within_two_seconds_and_64_mb():
    x = np.random.default_rng(2).beta(1.0, 8.0, 1_000_000)
    tracemalloc.start()
    started = time.process_time()
    betting_fixed(x, float(x.var()), math.log(0.05))
    used = time.process_time() - started
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert used < 6.0  # two seconds, and room for other work on the same machine
    assert most < 64e6
