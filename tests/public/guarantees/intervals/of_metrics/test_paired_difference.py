"""Paired differences: exact misses by enumeration, the sign test, widths, and bad parameters."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binomtest, multinomial

from sklearn_ada.guarantees import clopper_pearson, paired_loss_interval, paired_zero_one_interval

LAWS = [(0.0, 0.1), (0.02, 0.02), (0.3, 0.3), (0.05, 0.3), (0.9, 0.1), (0.0, 0.99), (0.005, 0.0)]


def exact_misses(n, law, ln_delta, **settings):
    """Return the exact chances that the interval is above and below the difference of two error rates."""
    gain, loss = law
    above = below = 0.0
    for better, worse in itertools.product(range(n + 1), repeat=2):
        counts = [better, worse, n - better - worse]
        mass = multinomial.pmf(
            counts, n, [gain, loss, max(1.0 - gain - loss, 0.0)]
        )  # none of negative counts
        if mass >= 1e-9:
            low, high = paired_zero_one_interval(better, worse, n, ln_delta, **settings)
            above += mass * (low > gain - loss + 1e-12)
            below += mass * (high < gain - loss - 1e-12)
    return above, below


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("n", [3, 14])
def test_no_side_misses_more_than_its_half(n, law):
    for ln_delta in (math.log(0.36), math.log(0.05)):
        for settings in ({"identical_rows": True}, {"expected": (0.05, 0.02)}):
            assert max(exact_misses(n, law, ln_delta, **settings)) <= math.exp(ln_delta) / 2 + 1e-6


def test_a_side_that_took_twice_its_share_would_miss_more():
    def worst(ln_delta):
        laws = [(p, 0.9 - p) for p in (0.3, 0.45, 0.5, 0.6)]
        return max(max(exact_misses(14, law, ln_delta, identical_rows=True)) for law in laws)

    assert worst(math.log(0.18)) <= 0.09 < worst(math.log(0.36))


@pytest.mark.parametrize(("better", "worse"), [(9, 1), (30, 14), (14, 30), (8, 8), (60, 41)])
def test_the_sign_of_a_paired_interval_is_that_of_a_sign_test(better, worse):
    for delta in (0.001, 0.05, 0.3):
        low, high = paired_zero_one_interval(better, worse, 500, math.log(delta), identical_rows=True)
        for end, wins in ((low, better), (-high, worse)):
            p = binomtest(wins, better + worse, 0.5, alternative="greater").pvalue
            assert (end > 0) == (p < 0.9 * delta / 2)


def test_models_that_mostly_agree_are_compared_more_sharply_than_by_two_intervals():
    n, errors, delta = 1000, (125, 100), math.log(0.05)
    two = [clopper_pearson(k, k, n, delta - math.log(2)) for k in errors]
    apart = (two[0][1] - two[1][0]) - (two[0][0] - two[1][1])
    for settings in ({"identical_rows": True}, {"expected": (0.04, 0.015)}):
        low, high = paired_zero_one_interval(40, 15, n, delta, **settings)
        assert 0 < low < 0.025 < high
        assert high - low < 0.55 * apart


def test_of_zero_one_losses_both_forms_of_bets_agree():
    a, b = np.zeros(400), np.zeros(400)
    a[:40], b[30:50] = 1.0, 1.0  # only b is right on 30 rows, only a on 10
    counts = paired_zero_one_interval(30, 10, 400, -3.0, expected=(0.075, 0.025))
    expected = {"expected_difference": 0.05, "expected_variance": 0.1 - 0.05**2}
    assert counts == pytest.approx(paired_loss_interval(a, b, -3.0, bounds=(0, 1), **expected), abs=1e-3)


def test_losses_in_other_units_scale():
    a, b = np.random.default_rng(0).random((2, 300))

    def interval(unit, variance):
        expected = {"expected_difference": 0.0, "expected_variance": variance}
        return paired_loss_interval(5 + unit * a, 5 + unit * b, -3.0, bounds=(5, 5 + unit), **expected)

    assert interval(10, 20.0) == pytest.approx(tuple(10 * end for end in interval(1, 0.2)))


def test_few_rows_give_an_interval_around_the_difference():
    for better, worse, n in ((0, 0, 1), (1, 0, 1), (0, 3, 3), (0, 0, 100)):
        for settings in ({"identical_rows": True}, {}, {"identical_rows": True, "expected": (0.0, 0.0)}):
            low, high = paired_zero_one_interval(better, worse, n, -3.0, **settings)
            assert -1.0 <= low <= (better - worse) / n <= high <= 1.0
