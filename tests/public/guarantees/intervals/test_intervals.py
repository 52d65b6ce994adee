"""Intervals of a mean in [0, 1]: reference numbers, which is inside which, equations, coverage."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from sklearn_ada import guarantees
from tests.support.laws import is_missed, is_too_often
from tests.support.rows import each_row_of

DELTAS = [0.5, 0.05, 1e-6, 1e-40]


@each_row_of("intervals", 12)
def test_reference_intervals_of_a_share_are_met(row):
    n, count, ln_delta = row["n"], row["successes"], -row["ln_one_over_delta"]
    got = {
        "clopper_pearson": guarantees.clopper_pearson(count, count, n, ln_delta),
        "kl": guarantees.chernoff_kl(count / n, count / n, n, ln_delta),
        "hoeffding": guarantees.hoeffding(count / n, count / n, n, ln_delta),
    }
    for name, ends in got.items():
        assert ends == pytest.approx((row[f"{name}_low"], row[f"{name}_high"]), abs=2e-8)


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.integers(1, 10**6), st.floats(0, 1), st.floats(0.1, 2000))
def test_exact_is_inside_chernoff_inside_hoeffding(n, share, nats):
    count = round(share * n)
    exact = guarantees.clopper_pearson(count, count, n, -nats)
    chernoff = guarantees.chernoff_kl(count / n, count / n, n, -nats)
    plain = guarantees.hoeffding(count / n, count / n, n, -nats)
    assert plain[0] - 1e-11 <= chernoff[0] <= exact[0] + 1e-11
    assert exact[1] - 1e-11 <= chernoff[1] <= plain[1] + 1e-11
    assert exact[0] <= count / n <= exact[1]


def test_the_ends_of_chernoffs_interval_solve_their_own_equation():
    for end in guarantees.chernoff_kl(0.85, 0.85, 1000, math.log(0.05)):
        assert 1000 * guarantees.bernoulli_kl(0.85, end) == pytest.approx(math.log(40), rel=1e-9)


def test_a_range_rescales_chernoffs_interval():
    low, high = guarantees.chernoff_kl(-0.15, -0.15, 100, math.log(0.05), (-1.0, 0.0))
    unit = guarantees.chernoff_kl(0.85, 0.85, 100, math.log(0.05))
    assert (low + 1, high + 1) == pytest.approx(unit)


@each_row_of("auc_bentkus", 36)
def test_reference_intervals_of_the_auc_are_met(row):
    n, value = min(row["n_pos"], row["n_neg"]), row["auc_hat"]
    found = guarantees.bentkus(value, value, n, math.log(row["delta_two_sided"]))
    assert found == pytest.approx((row["min_lower"], row["min_upper"]), abs=1e-8)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("n", [1, 2, 20, 1000])
def test_bentkus_is_within_chernoff_and_holds_the_binomial_tail(n, delta):
    for value in np.unique(np.r_[0.0, 1.0, 0.5, 0.9, 0.97, round(0.7 * n) / n]):
        low, high = guarantees.bentkus(value, value, n, math.log(delta))
        outer = guarantees.chernoff_kl(value, value, n, math.log(delta))
        assert outer[0] - 1e-12 <= low <= value <= high <= outer[1] + 1e-12
        if low > 0.0:  # a binomial count is such a sum, so its tail at the end must be within
            tail = stats.binom.sf(math.ceil(value * n - 1e-9) - 1, n, low)
            assert tail <= delta / 2 * (1 + 1e-6)


def test_bentkus_by_brute_force():
    n, total, p = 40, 33.3, 0.7
    counts = np.arange(n + 1)
    masses = stats.binom.pmf(counts, n, p)
    least = min((masses * np.maximum(counts - t, 0)).sum() / (total - t) for t in np.linspace(0, 33.2, 4000))
    low, _ = guarantees.bentkus(total / n, total / n, n, math.log(2 * least))
    assert low == pytest.approx(p, abs=2e-4)


def test_bentkus_of_a_million_rows_is_found():
    low, high = guarantees.bentkus(0.9, 0.9, 1_000_000, math.log(0.05))
    assert 0.8992 < low < 0.9 < high < 0.9008


def test_class_mean_size_is_the_variance_bound():
    counts = (10, 40, 50)
    mean_variance = sum(1 / (4 * c) for c in counts) / 9
    assert guarantees.class_mean_size(counts) == pytest.approx(1 / (4 * mean_variance))


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("value", [0.0, 0.02, 0.5, 0.98, 1.0])
def test_weighted_means_are_within_hoeffding(value, delta):
    n, ln_delta = 500, math.log(delta)
    outer = guarantees.hoeffding(value, value, guarantees.bounded_weight_size(n, 0.3, 1.0), ln_delta)
    low, high = guarantees.bounded_weights_kl(value, value, n, 0.3, 1.0, ln_delta)
    assert outer[0] - 1e-9 <= low <= value <= high <= outer[1] + 1e-9
    plain = guarantees.chernoff_kl(value, value, n, ln_delta)
    assert guarantees.bounded_weights_kl(value, value, n, 1.0, 1.0, ln_delta) == pytest.approx(
        plain, abs=1e-9
    )
    assert guarantees.fixed_shares_kl(value, value, n, 1 / n, ln_delta) == pytest.approx(plain, abs=1e-9)


@pytest.mark.parametrize("likely", [0.02, 0.5])
def test_weighted_means_cover_where_weights_go_with_the_scores(likely):
    """Rows that weigh 1 are scored 1 with probability ``likely``; half of them weigh .1 and are right."""
    rng, n, runs, delta = np.random.default_rng(3), 200, 2000, 0.36
    truth = (0.5 * likely + 0.05) / 0.55
    misses = wrong = 0
    for _ in range(runs):
        heavy = rng.random(n) < 0.5
        weight, x = np.where(heavy, 1.0, 0.1), np.where(heavy, rng.random(n) < likely, 1.0)
        value, mean = float(weight @ x / weight.sum()), float(weight.mean())
        misses += is_missed(guarantees.bounded_weights_kl(value, value, n, mean, 1.0, math.log(delta)), truth)
        wrong += is_missed(guarantees.chernoff_kl(value, value, 20.0 * n, math.log(delta)), truth)
    assert not is_too_often(misses, runs, delta)
    assert is_too_often(wrong, runs, delta)
