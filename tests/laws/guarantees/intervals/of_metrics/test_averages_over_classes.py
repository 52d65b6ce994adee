"""How often intervals of averages over classes, by the rates of each, miss, and a mutant that misses more."""

import math

import numpy as np
import pytest

from sklearn_ada.guarantees import average_ratio_interval, class_tables
from tests.support.laws import is_missed, is_too_often

LN_DELTA = math.log(0.05)


def even(classes, right):
    """Return laws of classes that are predicted right with a chance, and else evenly wrong."""
    return np.where(np.eye(classes) > 0, right, (1 - right) / (classes - 1))


POPULATIONS = {  # class counts, laws of their predictions, laws that the guess foresees
    "ten classes": ([30] * 10, even(10, 0.85), even(10, 0.85)),
    "nearly all right": ([30] * 10, even(10, 0.995), even(10, 0.995)),
    "few rows": ([20, 15, 15], even(3, 0.7), even(3, 0.7)),
    "a wrong guess": ([100, 60, 40], even(3, 0.6), even(3, 0.95)),
    "one way wrong": ([200, 60, 40], np.array([[1, 0, 0], [0.5, 0.5, 0], [0.5, 0, 0.5]]), even(3, 0.6)),
    "many rows": ([10_000, 6000, 4000], even(3, 0.6), even(3, 0.95)),
    "a rare class": ([4, 198, 198], even(3, 0.85), even(3, 0.85)),
}


def drawn(rng, sizes, laws):
    return np.array([rng.multinomial(size, law) for size, law in zip(sizes, laws, strict=True)])


def value_of(metric, table, average):
    """Return the average of a metric of a confusion matrix, written out once more."""
    hits, sizes, predicted = np.diag(table), table.sum(axis=1), table.sum(axis=0)
    each = {
        "f_beta": 2 * hits / (sizes + predicted), "jaccard": hits / (sizes + predicted - hits),
        "precision": hits / np.maximum(predicted, 1e-12),
    }[metric]  # fmt: skip
    return float(np.average(each, weights=sizes if average == "weighted" else None))


def misses(metric, average, population, samples):
    """Return how often the population's value is missed."""
    sizes, laws, foreseen = POPULATIONS[population]
    truth = value_of(metric, np.array(sizes)[:, None] * laws, average)
    rng, count = np.random.default_rng(0), 0
    for _ in range(samples):
        seen, known = drawn(rng, sizes, laws), drawn(rng, sizes, foreseen)
        ends = average_ratio_interval(metric, seen, LN_DELTA, expected=known, average=average, by_rates=True)
        count += is_missed(ends, truth)
    return count


EXACT = ("a rare class", "few rows", "a wrong guess", "one way wrong")  # whose exact ends take longer


def is_right(metric, average, population, samples):
    samples = samples // 10 if population in EXACT else samples
    return not is_too_often(misses(metric, average, population, samples), samples, 0.05)


@pytest.mark.parametrize("population", POPULATIONS)
def test_an_average_is_not_missed_too_often(population):
    assert is_right("f_beta", "macro", population, 80)


@pytest.mark.thorough
@pytest.mark.parametrize("population", POPULATIONS)
@pytest.mark.parametrize(("metric", "average", "samples"), [
    ("f_beta", "macro", 1000), ("jaccard", "macro", 200), ("precision", "weighted", 200),
])  # fmt: skip
def test_in_many_samples_it_is_not_missed_too_often_either(metric, average, samples, population):
    assert is_right(metric, average, population, samples)


def test_without_the_rest_an_average_is_missed_too_often(monkeypatch):
    monkeypatch.setattr(class_tables, "_rest_ends", lambda *given: (0.0, 0.0))
    assert is_too_often(misses("f_beta", "macro", "many rows", 40), 40, 0.05)


@pytest.mark.parametrize("metric", ["f_beta", "jaccard", "precision"])
def test_the_rest_in_a_box_is_between_its_ends(metric):
    """Its extremes are at an end of one rate, and at an end or a root of the other."""
    rng = np.random.default_rng(0)
    for _ in range(100):
        rates = class_tables.Fraction.of(metric, 0.05 + 0.9 * rng.random(), 0.2 + 2 * rng.random())
        box, (ratio, size) = [tuple(np.sort(rng.random(2))) for _ in range(2)], rng.random(2)
        low, high = class_tables._rest_ends(rates, ratio, size, box)
        a, b = np.meshgrid(*(np.linspace(*ends, 60) for ends in box))
        over, under = rates.terms(a, b)
        rest = (over / under - ratio) * (size - under) / size
        assert low <= rest.min() + 1e-12
        assert rest.max() - 1e-12 <= high
        assert rest.min() - low + high - rest.max() < 0.04 * (high - low)


@pytest.mark.parametrize("n", [300, 1000, 5000, 50_000])
@pytest.mark.parametrize("metric", ["f_beta", "jaccard", "precision"])
@pytest.mark.parametrize("population", ["ten classes", "few rows", "a rare class"])
def test_rates_make_an_average_narrower_at_every_size(population, metric, n):
    shares, laws, _ = POPULATIONS[population]
    sizes = np.round(np.array(shares) * n / sum(shares)).astype(int)
    seen, known = (drawn(np.random.default_rng(seed), sizes, laws) for seed in (0, 1))
    widths = [
        np.diff(average_ratio_interval(metric, seen, LN_DELTA, expected=known, by_rates=each)).item()
        for each in (True, False)
    ]
    assert widths[0] < widths[1]
