"""Means over records that do not count alike: what covers, and which formulas for it do not."""

import math

import numpy as np
import pytest

from sklearn_ada.guarantees import bounded_weight_size, hoeffding, kish_size
from sklearn_ada.metrics import Metric, Units
from tests.support.laws import is_too_often

DELTA = 0.05


def missed(value, size, truth):
    low, high = hoeffding(value, value, size, math.log(DELTA))
    return not low <= truth <= high


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


def test_groups_are_covered_and_rows_taken_for_independent_are_not(rng):
    """Fair coins, five copies of each."""
    patients, copies, runs = 100, 5, 2000
    values = rng.integers(0, 2, (runs, patients)).mean(axis=1)
    units = Units(patients * copies, None, np.repeat(np.arange(patients), copies))
    size = units.size(np.full(patients * copies, 1 / (patients * copies)))
    assert size == pytest.approx(patients)
    rule = Metric("accuracy").rule_for(units)
    grouped = naive = 0
    for value in values:
        low, high = rule.interval((value, value), size, math.log(DELTA))
        grouped += not low <= 0.5 <= high
        naive += missed(value, patients * copies, 0.5)
    assert not is_too_often(grouped, runs, DELTA)
    assert naive > 0.15 * runs


def test_unequal_groups_are_covered_at_their_sizes(rng):
    """Groups of 1 to 20 rows that are all right or all wrong."""
    sizes = np.repeat([1, 2, 5, 20], 30)
    group = np.repeat(np.arange(len(sizes)), sizes)
    n, runs = len(group), 1500
    units, y = Units(n, None, group), np.ones(n, dtype=int)
    rule = Metric("accuracy").rule_for(units)
    misses = naive = 0
    for _ in range(runs):
        outputs = rng.integers(0, 2, len(sizes))[group]
        seen = rule.value(y, outputs, None)
        low, high = rule.interval((seen.value, seen.value), seen.size, math.log(DELTA))
        misses += not low <= 0.5 <= high
        naive += missed(seen.value, n, 0.5)
    assert not is_too_often(misses, runs, DELTA)
    assert is_too_often(naive, runs, DELTA)


def test_class_means_are_covered_at_weights_and_groups(rng):
    """A model that is right on whole groups, of both classes; the heavy class is the rare one."""
    n, runs = 600, 1500
    y = (np.arange(n) % 4 == 0).astype(int)
    weight, group = np.where(np.arange(n) % 3 == 0, 5.0, 1.0), np.arange(n) // 6
    units = Units(n, weight, group)
    rule = Metric("balanced_accuracy").rule_for(units)
    misses = naive = 0
    for _ in range(runs):
        right = rng.integers(0, 2, group.max() + 1)[group]
        seen = rule.value(y, np.where(right, y, 1 - y), None)
        low, high = rule.interval((seen.value, seen.value), seen.size, math.log(DELTA))
        misses += not low <= 0.5 <= high
        naive += missed(seen.value, n, 0.5)
    assert not is_too_often(misses, runs, DELTA)
    assert is_too_often(naive, runs, DELTA)
