"""The filter for several privacy units: conversions by brute force, budgets kept at every unit."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_ada.accounting import RECORDS, Unit, UnitZCDPFilter


def of(parts):
    """Return the unit with this number of parts; 0 for records."""
    return Unit(f"{parts} subsamples", parts) if parts else RECORDS


def _touched(n, unit, other, rng):
    """How many units of ``other`` change when the records of one ``unit`` do, at most over its units."""
    orders = {m: rng.permutation(n)[: m * (n // m)].reshape(m, -1) for m in {unit, other} - {0}}
    groups = [[i] for i in range(n)] if unit == 0 else orders[unit].tolist()
    if other == 0:
        return max(len(group) for group in groups)
    if unit == other:
        return 1
    return max(sum(bool(set(group) & set(part)) for part in orders[other].tolist()) for group in groups)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(n=st.integers(4, 40), seed=st.integers(0, 999), data=st.data())
def test_a_cost_for_one_unit_counts_for_other_units_by_the_square_of_those_it_can_change(n, seed, data):
    unit, other = (data.draw(st.integers(0, n)) for _ in range(2))
    units = UnitZCDPFilter(n, lambda unit: math.inf)
    units.record(of(other), 1.0)
    assert units.spent(of(unit)) >= _touched(n, unit, other, np.random.default_rng(seed)) ** 2 - 1e-12


def test_the_conversion_is_not_wasteful():
    units = UnitZCDPFilter(1000, lambda unit: math.inf)
    units.record(RECORDS, 1e-4)
    units.record(of(100), 1e-3)
    expected = {  # ten records a subsample of a hundred; two records touch two of five hundred
        0: 1e-4 + 1e-3, 100: 1e-2 + 1e-3, 500: 4e-4 + 4e-3, 2: 1e-4 * 500**2 + 1e-3 * 100**2
    }  # fmt: skip
    assert {unit: units.spent(of(unit)) for unit in expected} == pytest.approx(expected)
    # A partition of one size is another unit: each of its parts may touch ten of the others.
    assert units.spent(Unit("100 stratified subsamples", 100)) == pytest.approx(1e-2 + 10**2 * 1e-3)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(costs=st.lists(st.tuples(st.sampled_from([0, 10, 20]), st.floats(0.0, 0.5)), max_size=12))
def test_no_unit_in_use_ever_exceeds_its_budget(costs):
    budgets = {0: 0.3, 10: 1.0, 20: 0.7}
    units, used = UnitZCDPFilter(100, lambda unit: budgets[unit.parts]), set()
    for unit, cost in costs:
        if units.admits(of(unit), cost):
            units.record(of(unit), cost)
            used.add(unit)
        assert all(units.spent(of(u)) <= budgets[u] for u in used)


def test_many_at_once_are_admitted_only_together():
    units = UnitZCDPFilter(100, lambda unit: 1.0)
    assert [units.admits(RECORDS, 0.25, count=count) for count in (4, 5)] == [True, False]
