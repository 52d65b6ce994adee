"""Ends of metrics of an unknown share: what one excludes has a region that is no likelier than its level."""

import numpy as np
import pytest

from sklearn_ada.guarantees import population_table_interval, two_class, unknown_share

TABLES = [  # metric, counts, ln_delta, expected, beta
    ("f_beta", (12, 12, 269, 400), -30.0, (0.96, 0.67, 0.03), 2.0),  # of few shares has a level far less
    ("kappa", (0, 8, 400, 400), -0.01, None, 1.0),
    ("matthews_corrcoef", (7, 12, 30, 40), -3.0, (0.6, 0.7, 0.2), 1.0),
    ("f_beta", (3, 3, 1, 40), -1.0, None, 0.1),
]


def largest_excess(monkeypatch, metric, counts, ln_delta, expected, beta):
    """Return how much likelier than its level a region is, at most, where either end excludes the metric."""
    tests, regions, found = [], [], []
    of, low_end, kind = unknown_share._Surface.of, unknown_share._low_end, unknown_share._Test

    def test(*given):
        tests.append(kind(*given))
        return tests[-1]

    def surface(each, *given):
        regions.append(each)
        return of(each, *given)

    def end(*given):
        found.append(low_end(*given))
        return found[-1]

    monkeypatch.setattr(unknown_share, "_Test", test)
    monkeypatch.setattr(unknown_share._Surface, "of", surface)
    monkeypatch.setattr(unknown_share, "_low_end", end)
    population_table_interval(metric, *counts, ln_delta, expected=expected, beta=beta)
    monkeypatch.undo()
    return max(excess(*each) for each in zip(tests, regions, found, strict=True))


def excess(test, regions, end):
    """Return the largest ratio of a region's probability to its level, on a grid of shares and rates."""
    ((low_a, high_a), (low_b, high_b)), worst = test.box, 0.0
    part = np.linspace(0.0, 1.0, 41)
    shares = np.linspace(test.slices[:-1], test.slices[1:], 9, axis=1)
    each_share = [(region, each) for region, row in zip(regions, shares, strict=True) for each in row]
    for region, share in each_share:
        metric, a = test.at(np.float64(share)), low_a + (high_a - low_a) * part**2
        low, high = np.full_like(a, low_b), np.full_like(a, high_b)
        is_met = metric.value(a, high) < end  # at the least b of each a, by halving
        for _ in range(50):
            middle = 0.5 * (low + high)
            is_less = metric.value(a, middle) < end
            low, high = np.where(is_less, low, middle), np.where(is_less, middle, high)
        high = np.where(metric.value(a, np.full_like(a, low_b)) < end, low_b, high)[is_met]
        ratios = region.probability(a[is_met], high) / test.levels.at(np.float64(share))
        worst = max(worst, *ratios, 0.0)
    return worst


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("table", TABLES)
def test_what_an_end_excludes_is_excluded_at_all_rates(table, monkeypatch):
    assert 0.5 < largest_excess(monkeypatch, *table) <= 1.0 + 1e-6


def test_a_kappa_that_no_rates_have_has_no_false_rate():
    """At a small share even a model that is always wrong has a kappa of little less than 0."""
    kappa, a = two_class.rates_of("kappa", 0.05, 1.0), np.array([0.0, 0.4, 1.0])
    assert (kappa.value(a, np.ones(3)) > -0.11).all()
    assert (kappa.false_rate(a, -0.3) > 1.0).all()
    assert (two_class.Mirror(kappa).false_rate(a, 0.3) < 0.0).all()  # all rates have at least as much
