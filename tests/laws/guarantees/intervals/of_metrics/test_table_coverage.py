"""How often exact intervals of two-class tables and of pairs miss, under hard laws, and what is noticed.

`python -m benchmarks.validity.tables` prints the counts, and those at 5,000 rows.
"""

import pytest

from benchmarks.validity.tables import DELTAS, LAWS, misses
from tests.support.laws import is_too_often

SAMPLES = 2000
TIGHT = ["F1, rates in the middle", "pairs, often", "pairs, always"]
QUICK = ["F1, one positive in a hundred", "MCC, rates near 0 and 1", "pairs, seldom", "pairs, never worse",
         "precision, rest certain but for few", "pairs at a mix, a class for each"]  # fmt: skip
CASES = [
    *(pytest.param(name, 50, delta, marks=() if delta == 0.36 and name in QUICK else pytest.mark.thorough)
      for name in LAWS for delta in DELTAS),
    *(pytest.param(name, 300, delta, marks=pytest.mark.thorough if name in QUICK else pytest.mark.slow)
      for name in LAWS for delta in DELTAS),
]  # fmt: skip


@pytest.mark.parametrize(("name", "n", "delta"), CASES)
def test_a_hard_law_is_missed_no_more_often_than_is_allowed(name, n, delta):
    assert not is_too_often(misses(name, n, delta, SAMPLES), SAMPLES, delta)


@pytest.mark.parametrize("name", TIGHT)
def test_three_times_the_level_is_noticed(name):
    missed = misses(name, 50, 3 * 0.05, SAMPLES)
    assert is_too_often(missed, SAMPLES, 0.05)
    assert not is_too_often(missed, SAMPLES, 3 * 0.05)
