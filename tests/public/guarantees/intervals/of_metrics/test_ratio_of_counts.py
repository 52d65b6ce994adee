"""Ratios of counts: the inequality, the interval against enumeration, and what a wrong foresight costs."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from sklearn_ada.guarantees import chernoff_kl, hoeffding_half_width, ratio_half_width, ratio_interval

SHARES = [0.0, 0.02, 0.3, 0.5, 0.85, 0.99, 1.0]
CHANCE = st.floats(0.0, 1.0)


@given(
    st.lists(st.tuples(CHANCE, CHANCE), min_size=1, max_size=30).filter(
        lambda r: any(d > 1e-6 for d, _ in r)
    ),
    st.floats(-20, 20),
)
def test_the_moment_never_exceeds_one_whatever_the_laws_of_the_records(records, exponent):
    inside = np.array([d for d, _ in records])
    hit = np.array([d * h for d, h in records])
    ratio = hit.sum() / inside.sum()
    with np.errstate(divide="ignore"):  # without cancellation, which is 2e-9 at an exponent of -17
        ln_z = float(np.logaddexp(np.log1p(-ratio), np.log(ratio) + exponent))
    # outside the denominator, in it without a hit, and a hit
    factors = 1 - inside + (inside - hit) * math.exp(-ln_z) + hit * math.exp(exponent - ln_z)
    assert math.fsum(np.log(factors)) <= 1e-9


def test_the_moment_is_one_for_records_of_one_law():
    inside, ratio, exponent = 0.4, 0.7, 1.3
    z = 1 - ratio + ratio * math.exp(exponent)
    assert 1 - inside + inside * ((1 - ratio) + ratio * math.exp(exponent)) / z == pytest.approx(1)


@pytest.mark.parametrize("ln_delta", [math.log(0.05), -40.0, -600.0])
@pytest.mark.parametrize("size", [5, 100, 10_000])
@pytest.mark.parametrize("share", [0.3, 0.5, 0.85])
def test_as_foreseen_it_is_chernoffs(share, size, ln_delta):
    found = ratio_interval(share, share, size, ln_delta, expected_share=share, expected_size=size)
    expected = chernoff_kl(share, share, size, ln_delta + math.log(0.9))
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_a_size_foreseen_wrongly_by_a_factor_of_two_costs_six_percent(factor):
    low, high = ratio_interval(
        0.85, 0.85, 1000, math.log(0.05), expected_share=0.85, expected_size=1000 * factor
    )
    sharpest = chernoff_kl(0.85, 0.85, 1000, math.log(0.05 * 0.9))
    assert 1.0 < (high - low) / (sharpest[1] - sharpest[0]) < 1.07


def missed(kind, positives, hit, negatives, alarm, ln_delta, foreseen):
    """Return the exact chances that the interval is above and below the ratio at this class mix.

    Each of the positives is hit, each of the negatives raises an alarm, with a chance of its own.
    """
    if kind == "precision":
        counted = np.arange(positives + 1)[:, None] + np.arange(negatives + 1)
        mean = positives * hit + negatives * alarm
    else:
        counted = positives + np.arange(negatives + 1)[None, :] + np.zeros((positives + 1, 1), dtype=int)
        mean = positives + negatives * alarm
    ratio = positives * hit / mean
    law = binom.pmf(np.arange(positives + 1), positives, hit)[:, None]
    law = law * binom.pmf(np.arange(negatives + 1), negatives, alarm)
    above = below = 0.0
    for hits, alarms in np.argwhere(law > 0):
        size = int(counted[hits, alarms])
        if size == 0:
            continue
        share = hits / size
        low, high = ratio_interval(share, share, size, ln_delta, **foreseen)
        above += law[hits, alarms] * (low > ratio)
        below += law[hits, alarms] * (high < ratio)
    return above, below


CASES = [
    ("precision", 3, 0.9, 3, 0.2),
    ("precision", 1, 1.0, 30, 0.9),
    ("precision", 8, 0.5, 20, 0.05),
    ("precision", 20, 0.2, 5, 0.9),
    ("jaccard", 3, 0.97, 3, 0.1),
    ("jaccard", 12, 0.6, 20, 0.2),
    ("jaccard", 2, 0.05, 30, 0.5),
    ("jaccard", 25, 0.98, 3, 0.5),
]


@pytest.mark.parametrize("expected_size", [1, 10, 100])
@pytest.mark.parametrize("expected_share", [0.1, 0.5, 0.95])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_at_a_fixed_class_mix_no_side_misses_more_than_its_half(case, expected_share, expected_size):
    foreseen = {"expected_share": expected_share, "expected_size": expected_size}
    for ln_delta in (math.log(0.5), math.log(0.05), math.log(0.001)):
        assert max(missed(*case, ln_delta, foreseen)) <= math.exp(ln_delta) / 2


def test_a_side_that_took_all_of_delta_would_miss_more():
    """What is checked above can fail, by little: all records are hits with a chance just above delta/2."""
    delta, foreseen = 0.05, {"expected_share": 1.0, "expected_size": 5}
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
            low, high = ratio_interval(
                share, share, least, ln_delta, expected_share=expected, expected_size=size
            )
            assert 0 <= low <= share <= high <= 1
            assert (high - low) / 2 <= most + 1e-9


@pytest.mark.parametrize("ln_delta", [-3.0, -15.0, -100.0])
def test_a_share_that_was_not_expected_is_hardly_worse_than_by_hoeffding(ln_delta):
    hoeffding = hoeffding_half_width(1000, ln_delta - math.log(10))
    for expected in SHARES:
        for share in SHARES:
            low, high = ratio_interval(
                share, share, 1000, ln_delta, expected_share=expected, expected_size=1000
            )
            assert (high - low) / 2 <= hoeffding * (1 + 1e-9)
