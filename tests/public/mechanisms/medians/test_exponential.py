import math
import time
from collections import Counter
from itertools import combinations_with_replacement

import numpy as np
import pytest

from sklearn_ada.accounting import CodedRelease, ExponentialMechanismEvent, Symbol
from sklearn_ada.mechanisms import (
    Rounding,
    UniformGrid,
    exact_quantile,
    exponential_quantile,
    grid_quantile,
    private_quantile,
    quantile_log_law,
    rank_error,
)
from tests.support.laws import FALSE_ALARM, chi_square, fits_only_as_it_is
from tests.support.rows import reference


def cost(data, v, low=0.5, high=0.5):
    m = len(data)
    return max(sum(x < v for x in data) - high * m, sum(x > v for x in data) - (1 - low) * m)


def enumerated_law(data, size, epsilon, low=0.5, high=0.5):
    weights = [math.exp(-epsilon / 2 * cost(data, v, low, high)) for v in range(size)]
    return np.array(weights) / sum(weights)


def neighbours(data, size):
    for i in range(len(data)):
        for replacement in range(size):
            yield tuple(sorted((*data[:i], replacement, *data[i + 1 :])))


def worst_privacy(epsilon, size, m, low=0.5, high=0.5):
    """The largest log ratio and the largest range of log ratios between any two neighbours."""
    datasets = list(combinations_with_replacement(range(size), m))
    laws = {d: quantile_log_law(list(d), size, epsilon, low=low, high=high) for d in datasets}
    ratios = [laws[d] - laws[other] for d in datasets for other in neighbours(d, size)]
    return max(r.max() for r in ratios), max(np.ptp(r) for r in ratios)


@pytest.mark.parametrize(("low", "high"), [(0.5, 0.5), (0.25, 0.75), (0.7, 0.9), (0.0, 0.3)])
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_law_is_private_on_every_pair_of_neighbours(epsilon, low, high):
    assert max(worst_privacy(epsilon, 5, 4, low, high)) <= epsilon + 1e-12


def test_the_privacy_test_has_power():
    assert worst_privacy(1.1 * 0.3, 5, 4)[1] > 0.3 + 1e-3


@pytest.mark.parametrize(("low", "high"), [(0.5, 0.5), (0.25, 0.75), (0.8, 0.95)])
def test_law_agrees_with_enumeration(low, high):
    for data in combinations_with_replacement(range(6), 4):
        law = np.exp(quantile_log_law(list(data), 6, 1.3, low=low, high=high))
        assert law == pytest.approx(enumerated_law(data, 6, 1.3, low, high), rel=1e-12)


def test_a_wider_interval_has_the_law_of_its_middle():
    data = [0, 2, 2, 3, 5]
    narrow = quantile_log_law(data, 6, 1.0, low=0.8, high=0.8)
    assert quantile_log_law(data, 6, 1.0, low=0.7, high=0.9) == pytest.approx(narrow)


def test_probabilities_of_the_private_median_agree_with_the_reference():
    data = [2, 4, 4, 4, 7, 9, 10]
    rows = reference("median_pmf")
    for epsilon in (0.5, 2.0):
        expected = [float(r["probability"]) for r in rows if float(r["epsilon"]) == epsilon]
        assert np.exp(quantile_log_law(data, 11, epsilon)) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize(("low", "high"), [(0.5, 0.5), (0.7, 0.9)])
def test_sampler_agrees_with_the_law(low, high):
    data, epsilon, rng = [2, 4, 4, 4, 7, 9, 10], 2.0, np.random.default_rng(1)
    drawn = [exponential_quantile(data, 11, epsilon, rng, low=low, high=high) for _ in range(30_000)]
    counts = np.bincount(drawn, minlength=11)
    assert fits_only_as_it_is(lambda f: chi_square(counts, enumerated_law(data, 11, f * epsilon, low, high)))


def test_sampler_agrees_with_the_law_of_runs_on_a_huge_grid():
    size, epsilon, rng = 10**12, 20.0, np.random.default_rng(2)
    points = np.array([10**11, 4 * 10**11, 4 * 10**11, 9 * 10**11])
    drawn = np.array([exponential_quantile(points, size, epsilon, rng) for _ in range(20_000)])
    # The runs: below, between and above the three distinct values; each cut into halves.
    edges = np.array([0, 10**11, 4 * 10**11, 9 * 10**11, size])
    costs = np.array([4, 3, 3, 4])
    # All but e-10 of the weight is on the two inner runs and on the tied value itself.
    tied = math.exp(-epsilon / 2 * 1)
    runs = np.diff(edges) * np.exp(-epsilon / 2 * costs)
    law = np.append(np.repeat(runs / 2, 2), tied) / (runs.sum() + tied)
    halves = np.sort(np.concatenate([edges, (edges[:-1] + edges[1:]) // 2]))
    at_tie = drawn == 4 * 10**11
    counts = np.append(np.histogram(drawn[~at_tie], halves)[0], at_tie.sum())
    assert chi_square(counts, law) > FALSE_ALARM


def test_huge_grid_and_many_values():
    grid = UniformGrid(0.0, 1.0, 10**12)
    scores = np.random.default_rng(0).normal(0.8, 0.01, size=100_000)
    start = time.perf_counter()
    drawn = exponential_quantile(grid.index(scores), grid.size, 0.1, np.random.default_rng(1))
    assert time.perf_counter() - start < 2.0
    rank = (scores < grid.value(drawn)).mean()
    assert abs(rank - 0.5) < rank_error(0.1, 100_000, grid.size, 1e-9)


def test_tied_values_are_found_on_a_huge_grid():
    tied, rng = np.full(1000, 812_500_000_000), np.random.default_rng(0)
    assert {exponential_quantile(tied, 10**12, 0.2, rng) for _ in range(200)} == {int(tied[0])}


def test_rank_error_holds_with_its_probability():
    rng = np.random.default_rng(0)
    for _ in range(50):
        m, size, beta, epsilon = int(rng.integers(1, 40)), int(rng.integers(2, 30)), 0.1, rng.uniform(0.1, 3)
        data = rng.integers(size, size=m)
        bound = rank_error(epsilon, m, size, beta)
        wrong = [(data < v).mean() >= 0.5 + bound or (data <= v).mean() <= 0.5 - bound for v in range(size)]
        assert enumerated_law(data, size, epsilon)[wrong].sum() <= beta


def test_rank_error_by_hand():
    # 2/(0.5 * 200) * ln(1000/0.05) = 0.02 * ln(20000)
    assert rank_error(0.5, 200, 1000, 0.05) == pytest.approx(0.02 * (math.log(2) + 4 * math.log(10)))


@pytest.mark.parametrize("level", [0.0, 0.1, 0.25, 0.5, 0.9, 0.95, 1.0])
def test_grid_quantile_is_the_lower_sample_quantile(level):
    rng = np.random.default_rng(0)
    for m in (1, 2, 7, 10, 30, 100):
        data = rng.integers(1000, size=m)
        needed = math.ceil(round(level * 100) * m / 100)
        by_hand = min(v for v in data if (data <= v).sum() >= needed)
        assert grid_quantile(data, level) == by_hand


def test_releases_name_their_grid_point():
    rounding = Rounding(UniformGrid(0.0, 1.0, 101), guess=0.8, scale=3.0)
    scores = [0.75] * 1000
    private = private_quantile(scores, rounding, epsilon=0.5, rng=np.random.default_rng(0))
    symbols = (Symbol("grid", -5, 3.0),)
    assert private.answer == pytest.approx(0.75)
    assert private.event == ExponentialMechanismEvent(0.5, symbols)
    exact = exact_quantile(scores, rounding)
    assert exact.answer == private.answer
    assert exact.event == CodedRelease(symbols)


@pytest.mark.parametrize("level", [0.1, 0.5, 0.9])
def test_an_exact_quantile_is_that_of_numpy_rounded(level):
    values = np.random.default_rng(0).normal(0.6, 0.1, size=501)
    answer = exact_quantile(values, Rounding(UniformGrid(0.0, 1.0, 1001)), level=level).answer
    assert answer == pytest.approx(np.quantile(values, level, method="inverted_cdf"), abs=0.0005)


def test_private_quantile_draws_from_the_law_of_the_rounded_values():
    rounding, rng = Rounding(UniformGrid(0.0, 1.0, 5)), np.random.default_rng(3)
    values = [-3.0, 0.26, 0.49, 0.51, 7.0]
    counts = Counter(private_quantile(values, rounding, epsilon=1.0, rng=rng).answer for _ in range(5000))
    law = enumerated_law([0, 1, 2, 2, 4], 5, 1.0)
    assert chi_square([counts[v] for v in (0.0, 0.25, 0.5, 0.75, 1.0)], law) > FALSE_ALARM
