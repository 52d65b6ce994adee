"""How often intervals of tables of unknown share miss, by exact enumeration, and mutants that miss more."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom

from sklearn_ada.guarantees import population_table_interval, two_class_interval
from tests.laws.guarantees.intervals.of_metrics.test_two_class_enumeration import value_of

RATES = (0.0, 0.02, 0.08, 0.2, 0.35, 0.5, 0.65, 0.8, 0.92, 0.98, 1.0)
SHARES = (0.01, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.99)
DELTAS = (0.36, 0.05)
EXPECTED = (0.8, 0.1, 0.2)


def worst_side(metric, n, delta, expected=None, interval_of=population_table_interval):
    """Return the largest probability that either end misses, over a grid of laws of n rows."""
    tables = np.array([
        (hits, positives, errors, n - positives) for positives in range(n + 1)
        for hits in range(positives + 1) for errors in range(n - positives + 1)
    ])  # fmt: skip
    ends = np.array([
        interval_of(metric, *table, math.log(delta), expected=expected) for table in tables.tolist()
    ])  # fmt: skip
    worst, (hits, positives, errors, negatives) = 0.0, tables.T
    for a, b, share in itertools.product(RATES, RATES, SHARES):
        truth = float(value_of(metric, share, np.float64(a), np.float64(b)))
        if math.isnan(truth):
            continue
        chance = binom.pmf(positives, n, share)
        chance = chance * binom.pmf(hits, positives, a) * binom.pmf(errors, negatives, b)
        worst = max(worst, chance[ends[:, 0] > truth].sum(), chance[ends[:, 1] < truth].sum())
    return worst


COUNTED = [(name, 6, None) for name in ("f_beta", "precision", "jaccard", "accuracy")]
SOME = [("kappa", 4, None), ("matthews_corrcoef", 6, EXPECTED), ("kappa", 6, EXPECTED)]
MANY = [(name, n, expected) for name in ("kappa", "matthews_corrcoef") for n in (9, 12)
        for expected in (None, EXPECTED)]  # fmt: skip
CASES = [
    *COUNTED, ("balanced_accuracy", 5, None), ("matthews_corrcoef", 3, EXPECTED),
    *(pytest.param(*each, marks=pytest.mark.thorough) for each in SOME),
    *(pytest.param(*each, marks=pytest.mark.slow) for each in [*MANY, ("f_beta", 12, None)]),
]  # fmt: skip


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize(("metric", "n", "expected"), CASES)
def test_no_law_of_independent_rows_is_missed_more_often_than_a_side_allows(metric, n, expected, delta):
    assert worst_side(metric, n, delta, expected) <= delta / 2


def at_the_observed_share(positives, n, ln_level):
    """Stand in for the bounds of the share: as if it were that of the rows."""
    return positives / n * (1 - 1e-9), positives / n * (1 + 1e-9)


def test_a_share_that_is_taken_for_known_is_noticed(monkeypatch):
    monkeypatch.setattr("sklearn_ada.guarantees.unknown_share._COUNTED", set())  # by tables, as of kappa
    assert worst_side("precision", 5, 0.36) <= 0.18
    monkeypatch.setattr("sklearn_ada.guarantees.unknown_share._share_ends", at_the_observed_share)
    assert worst_side("precision", 5, 0.36) > 0.25


def at_the_class_mix(metric, hits, positives, errors, negatives, ln_delta, *, expected):
    """Stand in for what takes the class mix of the rows for that of the population."""
    if min(positives, negatives) == 0:
        return -1.0, 1.0
    return two_class_interval(metric, hits, positives, errors, negatives, ln_delta)


def test_the_class_mix_of_the_rows_is_not_that_of_the_population():
    assert worst_side("f_beta", 5, 0.36, interval_of=at_the_class_mix) > 0.25
