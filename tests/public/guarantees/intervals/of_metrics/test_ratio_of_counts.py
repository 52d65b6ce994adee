"""Ratios of counts: the inequality, the interval against enumeration, and what a wrong foresight costs."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from sklearn_ada.guarantees import chernoff_kl, hoeffding_half_width, ratio_half_width, ratio_interval

SHARES = [0.0, 0.02, 0.3, 0.5, 0.85, 0.99, 1.0]
CHANCE = st.floats(0.0, 1.0)


RECORDS = st.lists(st.tuples(CHANCE, CHANCE), min_size=1, max_size=30)


def ln_moment(inside, hit, exponent):
    """Return the logarithm of the mean of the test's product, of the chances of each record."""
    ratio = hit.sum() / inside.sum()
    with np.errstate(divide="ignore"):  # without cancellation, which is 2e-9 at an exponent of -17
        ln_z = float(np.logaddexp(np.log1p(-ratio), np.log(ratio) + exponent))
    # outside the denominator, in it without a hit, and a hit
    factors = 1 - inside + (inside - hit) * math.exp(-ln_z) + hit * math.exp(exponent - ln_z)
    return math.fsum(np.log(factors))


@given(RECORDS.filter(lambda records: any(d > 1e-6 for d, _ in records)), st.floats(-20, 20))
def test_the_moment_never_exceeds_one_whatever_the_laws_of_the_records(records, exponent):
    inside, hit = np.array([(d, d * h) for d, h in records]).T
    assert ln_moment(inside, hit, exponent) <= 1e-9


def test_the_moment_is_one_for_records_of_one_law():
    assert ln_moment(np.full(9, 0.4), np.full(9, 0.4 * 0.7), 1.3) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("ln_delta", [math.log(0.05), -40.0, -600.0])
@pytest.mark.parametrize("size", [5, 100, 10_000])
@pytest.mark.parametrize("share", [0.3, 0.5, 0.85])
def test_as_foreseen_it_is_chernoffs(share, size, ln_delta):
    found = interval_of(share, size, ln_delta)
    expected = chernoff_kl(share, share, size, ln_delta + math.log(0.9))
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_a_size_foreseen_wrongly_by_a_factor_of_two_costs_six_percent(factor):
    low, high = interval_of(0.85, 1000, math.log(0.05), size_foreseen=1000 * factor)
    sharpest = chernoff_kl(0.85, 0.85, 1000, math.log(0.05 * 0.9))
    assert 1.0 < (high - low) / (sharpest[1] - sharpest[0]) < 1.07


def interval_of(share, size, ln_delta, *, share_foreseen=None, size_foreseen=None):
    """Return the interval of a share, which was foreseen as it is unless something else was."""
    expected = {"expected_share": share if share_foreseen is None else share_foreseen}
    return ratio_interval(share, share, size, ln_delta, **expected, expected_size=size_foreseen or size)


def missed(kind, positives, hit, negatives, alarm, ln_delta, foreseen):
    """Return the exact chances that the interval is above and below the ratio at this class mix.

    Each of the positives is hit, each of the negatives raises an alarm, with a chance of its own.
    """
    hits, alarms = np.arange(positives + 1)[:, None], np.arange(negatives + 1)
    counted = alarms + (hits if kind == "precision" else np.full_like(hits, positives))
    ratio = positives * hit / ((positives * hit if kind == "precision" else positives) + negatives * alarm)
    law = binom.pmf(hits, positives, hit) * binom.pmf(alarms, negatives, alarm)
    above = below = 0.0
    for hits, alarms in np.argwhere((law > 0) & (counted > 0)):
        size = int(counted[hits, alarms])
        low, high = interval_of(hits / size, size, ln_delta, **foreseen)
        above += law[hits, alarms] * (low > ratio)
        below += law[hits, alarms] * (high < ratio)
    return above, below


CASES = [
    *(("precision", 3, 0.9, 3, 0.2), ("precision", 1, 1.0, 30, 0.9), ("precision", 8, 0.5, 20, 0.05)),
    *(("precision", 20, 0.2, 5, 0.9), ("jaccard", 3, 0.97, 3, 0.1), ("jaccard", 12, 0.6, 20, 0.2)),
    *(("jaccard", 2, 0.05, 30, 0.5), ("jaccard", 25, 0.98, 3, 0.5)),
]


@pytest.mark.parametrize("expected_size", [1, 10, 100])
@pytest.mark.parametrize("expected_share", [0.1, 0.5, 0.95])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_at_a_fixed_class_mix_no_side_misses_more_than_its_half(case, expected_share, expected_size):
    foreseen = {"share_foreseen": expected_share, "size_foreseen": expected_size}
    for ln_delta in (math.log(0.5), math.log(0.05), math.log(0.001)):
        assert max(missed(*case, ln_delta, foreseen)) <= math.exp(ln_delta) / 2


def test_a_side_that_took_all_of_delta_would_miss_more():
    """What is checked above can fail, by little: all records are hits with a chance just above delta/2."""
    delta, foreseen = 0.05, {"share_foreseen": 1.0, "size_foreseen": 5}
    case = ("jaccard", 5, 1.05 * (delta / 2) ** 0.2, 1, 0.0)
    assert max(missed(*case, math.log(delta), foreseen)) <= delta / 2
    assert max(missed(*case, math.log(2 * delta), foreseen)) > delta / 2


@pytest.mark.parametrize("ln_delta", [-0.1, -3.0, -30.0, -2000.0])
@pytest.mark.parametrize("size", [1, 10, 1000])
@pytest.mark.parametrize("expected", SHARES)
def test_no_interval_at_the_foreseen_size_is_wider_than_the_bound(expected, size, ln_delta):
    for least in (size, max(size // 2, 1), size / 1.1):
        most = ratio_half_width(least, ln_delta, expected_size=size)
        for share in np.linspace(0, 1, 201):
            low, high = interval_of(share, least, ln_delta, share_foreseen=expected, size_foreseen=size)
            assert 0 <= low <= share <= high <= 1
            assert (high - low) / 2 <= most + 1e-9


@pytest.mark.parametrize("ln_delta", [-3.0, -15.0, -100.0])
def test_a_share_that_was_not_expected_is_hardly_worse_than_by_hoeffding(ln_delta):
    hoeffding = hoeffding_half_width(1000, ln_delta - math.log(10))
    for expected, share in itertools.product(SHARES, repeat=2):
        low, high = interval_of(share, 1000, ln_delta, share_foreseen=expected)
        assert (high - low) / 2 <= hoeffding * (1 + 1e-9)
