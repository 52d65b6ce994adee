"""Regions of two-class tables against brute force: what belongs to them, and how likely they are."""

import itertools

import numpy as np
import pytest
from scipy.stats import binom

from sklearn_ada.guarantees import binomial_tail_ends, two_class, unknown_share
from tests.laws.guarantees.intervals.of_metrics.test_two_class_enumeration import law_of_sum

CASES = [  # metric, share, sizes, counts, level
    ("f_beta", 0.5, (4, 4), (0, 0), 5e-11),
    ("matthews_corrcoef", 0.8, (8, 2), (1, 0), 5e-5),
    ("precision", 0.8, (8, 2), (2, 1), 0.025),
    ("kappa", 0.3, (7, 9), (5, 2), 0.18),
]


def region_of(metric, share, sizes, counts, level, one_law=True):
    """Return the region of one table, and the limits by which tables are ordered."""
    rates, whole = two_class.rates_of(metric, share, 1.0), ((0.0, 1.0), (0.0, 1.0))
    region = two_class.Region.of(rates, counts, sizes, whole, float(np.log(level)), one_law)
    x, y = np.meshgrid(np.arange(sizes[0] + 1), np.arange(sizes[1] + 1), indexing="ij")
    a, b = (x + 0.5) / (sizes[0] + 1), (y + 0.5) / (sizes[1] + 1)
    by_a, by_b = rates.slopes(a, b)
    error = np.sqrt(by_a**2 * a * (1 - a) / sizes[0] + by_b**2 * b * (1 - b) / sizes[1])
    return region, rates.value(a, b) + two_class.ndtri_exp(np.log(level)) * error


def members(region, sizes):
    """Return the tables of a region as a matrix of booleans."""
    return np.arange(sizes[1] + 1)[None, :] < region.reach[:, None]


@pytest.mark.parametrize("case", CASES)
def test_a_region_holds_the_tables_that_are_not_below_and_all_that_are_better(case):
    region, limits = region_of(*case)
    inside = members(region, case[2])
    assert inside[limits >= limits[case[3]]].all()
    for x, y in zip(*np.nonzero(inside), strict=True):
        assert inside[x:, : y + 1].all()
    for x, y in zip(*np.nonzero(inside), strict=True):  # nothing else
        assert (limits[: x + 1, y:] >= limits[case[3]] - 1e-9).any()


def test_without_its_closure_a_region_lacks_better_tables(monkeypatch):
    class Raw:
        accumulate = staticmethod(lambda reach: reach)

    class Numpy:
        maximum = Raw()

        def __getattr__(self, name):
            return getattr(np, name)

    monkeypatch.setattr(two_class, "np", Numpy())
    inside = members(region_of(*CASES[1])[0], CASES[1][2])
    assert not all(inside[x:, : y + 1].all() for x, y in zip(*np.nonzero(inside), strict=True))


def test_whatever_limits_are_regions_hold_their_table_and_are_in_each_other():
    """Else a table might be excluded by one order, and another one by another."""
    rng, sizes = np.random.default_rng(0), (5, 12)
    tables, hits = list(itertools.product(*(range(size + 1) for size in sizes))), np.arange(sizes[0] + 1.0)
    for _ in range(20):
        of_tables = rng.standard_normal((sizes[0] + 1, sizes[1] + 1))

        def limits(x, y, of_tables=of_tables):
            return of_tables[x.astype(int), y.astype(int)]

        taken = {each: two_class._taken(limits, each, hits, sizes[1]) for each in tables}
        assert all(taken[x, y][x] > y for x, y in tables)
        for one, other in itertools.combinations(taken.values(), 2):
            assert (one <= other).all() or (one >= other).all()


BOXES = [  # sizes, counts, box, share
    ((30, 200), (24, 9), ((0.5, 0.96), (0.01, 0.14)), 0.13), ((8, 12), (8, 0), ((0.4, 1.0), (0.0, 0.5)), 0.4),
    ((40, 40), (0, 37), ((0.0, 0.2), (0.7, 0.999)), 0.5),
]  # fmt: skip


def probabilities_and_bounds(sizes, counts, box, share):
    """Return how likely a region is at many rates in a box, and what is interpolated."""
    rates = two_class.rates_of("kappa", share, 1.0)
    region = two_class.Region.of(rates, counts, sizes, box, np.log(0.025), True)
    rng = np.random.default_rng(0)
    a, b = (rng.uniform(*np.sqrt(each), 5000) ** 2 for each in box)
    a[:100], b[50:150] = box[0][1], box[1][0]
    return region.probability(a, b), unknown_share._Surface.of([region], counts, box).at(0, a, b)


@pytest.mark.parametrize("case", BOXES)
def test_a_region_is_nearly_as_likely_as_is_interpolated_and_no_likelier(case, monkeypatch):
    exact, bounds = probabilities_and_bounds(*case)
    likely = exact > 1e-100
    assert (exact <= bounds * (1 + 1e-9)).all()
    assert (bounds[likely] <= 1.1 * exact[likely]).all()
    monkeypatch.setattr(unknown_share._Axis, "ln_likelihood", lambda axis, rate: np.zeros_like(rate))
    exact, bounds = probabilities_and_bounds(*case)
    assert (exact > bounds).any()


@pytest.mark.parametrize("case", CASES)
def test_the_probability_of_a_region_is_that_of_its_tables(case):
    sizes, inside = case[2], members(region_of(*case)[0], case[2])
    a, b = (each.ravel() for each in np.meshgrid((0.05, 0.4, 0.9), (0.0, 0.2, 0.7, 1.0)))
    found = region_of(*case)[0].probability(a, b)
    for each, one, other in zip(found, a, b, strict=True):
        laws = (
            binom.pmf(np.arange(size + 1), size, rate) for size, rate in zip(sizes, (one, other), strict=True)
        )
        assert each == pytest.approx(float((np.outer(*laws) * inside).sum()), rel=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_unequal_rows_are_no_likelier_than_the_bound(case):
    sizes, region = case[2], region_of(*case, one_law=False)[0]
    inside = members(region, sizes)
    for first, one, other in itertools.product(range(sizes[1] + 1), (0.0, 0.3, 0.6, 1.0), (0.1, 0.8, 1.0)):
        law = law_of_sum((first, sizes[1] - first), (one, other))
        mean = (first * one + (sizes[1] - first) * other) / sizes[1]
        for a in (0.1, 0.5, 0.95):
            exact = float((np.outer(binom.pmf(np.arange(sizes[0] + 1), sizes[0], a), law) * inside).sum())
            assert exact <= float(region.probability(np.array([a]), np.array([mean]))[0]) + 1e-12


@pytest.mark.parametrize("one_law", [True, False])
def test_a_box_of_unequal_rows_has_the_rule_of_count_one(one_law, monkeypatch):
    """Without it a lone row that alone errs is beyond the box too often, by less than sampling would show."""
    ends = {}

    def recorded(low, high, n, ln_side, *, identical_rows):
        ends[n, low] = binomial_tail_ends(low, high, n, ln_side, identical_rows=identical_rows), ln_side
        return ends[n, low][0]

    monkeypatch.setattr(two_class, "binomial_tail_ends", recorded)
    two_class.two_class_interval("f_beta", 1, 6, 1, 8, np.log(0.36), one_law=one_law)
    for (n, count), of_one_law in (((6, 1), True), ((8, 1), one_law)):
        (low, _), ln_side = ends[n, count]
        at_low = 1.0 - (1.0 - low) ** n if of_one_law else n * low
        assert at_low == pytest.approx(np.exp(ln_side), rel=1e-9)


@pytest.mark.parametrize("average", ["macro", "weighted"])
@pytest.mark.parametrize("share", [0.5, 0.02])
def test_the_false_rate_of_an_average_is_exact_where_a_class_is_hardly_predicted(share, average):
    rates = two_class.rates_of("precision", share, 1.0, average)
    a, b = (each.ravel() for each in np.meshgrid((1e-15, 1e-9, 0.01, 0.6), (0.05, 0.4995, 0.95)))
    below = b - np.array([float(rates.false_rate(x, v)) for x, v in zip(a, rates.value(a, b), strict=True)])
    assert ((below >= 0.0) & (below < 1e-6)).all()


def test_the_false_rate_of_an_average_is_in_the_box_where_one_is_worst():
    """There its value is that of one class, 0 for the other, and differs by little from that of no rates."""
    rates = two_class.rates_of("precision", 1e-6, 1.0, "macro")
    for a in np.linspace(0.9, 0.99, 10):
        assert rates.false_rate(a, rates.value(a, 1.0) * (1.0 + 1e-9)) <= 1.0
