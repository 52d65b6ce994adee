"""Means over records that do not count alike: what covers, and which formulas for it do not."""

import math

import numpy as np
import pytest

from sklearn_ada.guarantees import bounded_weight_size, hoeffding, kish_size
from sklearn_ada.metrics import Metric, Units
from tests.support.laws import is_missed, is_too_often

DELTA = 0.05


def missed(value, size, truth):
    return is_missed(hoeffding(value, value, size, math.log(DELTA)), truth)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_weights_that_go_with_the_scores_are_covered_and_kishs_size_misses_the_population(rng):
    """One record in a thousand weighs 100 and is scored 1, the others weigh 1 and are scored 0."""
    n, runs, bound, rare = 1000, 2000, 100.0, 0.001
    truth = rare * bound / (rare * bound + 1 - rare)
    bounded = kish = 0
    for _ in range(runs):
        heavy = rng.random(n) < rare
        weight = np.where(heavy, bound, 1.0)
        value = float(weight @ heavy / weight.sum())
        bounded += missed(value, bounded_weight_size(n, weight.mean(), bound), truth)
        kish += missed(value, kish_size(weight), truth)
    assert not is_too_often(bounded, runs, DELTA)
    assert kish > 0.3 * runs  # whenever there is no heavy record, which a third of all samples lack


def test_a_bounded_weight_formula_that_forgets_the_mean_weight_is_seen(rng):
    """Power: fair coins of weight 1 or 0, the bound 1; one record in twenty counts."""
    n, runs = 500, 2000
    right = wrong = 0
    for _ in range(runs):
        weight, coins = (rng.random(n) < 0.05).astype(float), rng.integers(0, 2, n)
        value = float(weight @ coins / weight.sum())
        right += missed(value, bounded_weight_size(n, weight.mean(), 1.0), 0.5)
        wrong += missed(value, n * weight.mean() * 4, 0.5)
    assert not is_too_often(right, runs, DELTA)
    assert is_too_often(wrong, runs, DELTA)


def test_at_its_own_weights_kishs_size_covers_and_the_number_of_records_does_not(rng):
    """Fair coins whose weights are known; a tenth of the records has nearly all of the weight."""
    n, runs = 400, 2000
    weight = np.where(np.arange(n) < n // 10, 50.0, 1.0)
    values = rng.integers(0, 2, (runs, n)) @ weight / weight.sum()
    assert not is_too_often(sum(missed(v, kish_size(weight), 0.5) for v in values), runs, DELTA)
    naive = sum(missed(v, n, 0.5) for v in values)
    assert naive > 0.2 * runs
    wrong = sum(missed(v, 4 * kish_size(weight), 0.5) for v in values)  # power: half of the width is seen
    assert is_too_often(wrong, runs, DELTA)


UNEQUAL, ROWS = np.repeat([1, 2, 5, 20], 30), np.arange(600)


@pytest.mark.parametrize(
    ("metric", "y", "weight", "group", "size"),
    [
        ("accuracy", np.ones(500, dtype=int), None, np.repeat(np.arange(100), 5), 100),
        ("accuracy", np.ones(840, dtype=int), None, np.repeat(np.arange(120), UNEQUAL), 840**2 / 12_900),
        ("balanced_accuracy", ROWS % 4 == 0, 1.0 + 4.0 * (ROWS % 3 == 0), ROWS // 6, None),
    ],
    ids=["equal", "unequal", "balanced"],
)  # fmt: skip
def test_groups_are_covered_and_rows_taken_for_independent_are_not(rng, metric, y, weight, group, size):
    """A model is right on whole groups, or wrong."""
    n, runs, y = len(y), 1500, y.astype(int)
    rule = Metric(metric).measure_for(Units(n, weight, group))
    misses = naive = 0
    for _ in range(runs):
        right = rng.integers(0, 2, group.max() + 1)[group]
        seen = rule.value(y, np.where(right, y, 1 - y), None)
        assert size is None or seen.size == pytest.approx(size)
        misses += is_missed(rule.interval((seen.value, seen.value), seen.size, math.log(DELTA)), 0.5)
        naive += missed(seen.value, n, 0.5)
    assert not is_too_often(misses, runs, DELTA)
    assert naive > 0.15 * runs
