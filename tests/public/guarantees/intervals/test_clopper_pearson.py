"""Clopper and Pearson's interval: SciPy's, exact coverage of equal and unequal rows, and far tails."""

import math

import numpy as np
import pytest
from scipy import special, stats

from sklearn_ada.guarantees import clopper_pearson


@pytest.mark.parametrize("count", [2, 3, 25, 48, 50])
def test_clopper_pearson_is_scipys(count):
    exact = stats.binomtest(count, 50).proportion_ci(0.95, method="exact")
    found = clopper_pearson(count, count, 50, math.log(0.05))
    assert found == pytest.approx((exact.low, exact.high), rel=1e-9)


@pytest.mark.parametrize("n", [1, 2, 5, 20, 50])
@pytest.mark.parametrize("delta", [0.5, 0.05, 1e-4])
def test_clopper_pearson_covers_every_p(n, delta):
    ends = [clopper_pearson(c, c, n, math.log(delta)) for c in range(n + 1)]
    for p in np.linspace(0.0, 1.0, 201):
        missed = [c for c, (low, high) in enumerate(ends) if not low <= p <= high]
        assert stats.binom.pmf(missed, n, p).sum() <= delta * (1 + 1e-9)


@pytest.mark.parametrize("n", [2, 5, 20])
@pytest.mark.parametrize("delta", [0.5, 0.05])
def test_clopper_pearson_covers_unequal_probabilities(n, delta):
    """The worst Poisson-binomial law near the edge puts all of its mean on one record."""
    ends = [clopper_pearson(c, c, n, math.log(delta)) for c in range(n + 1)]
    for mean in np.linspace(0.0, 1.0, 401):
        law = np.zeros(n + 1)
        law[:2] = 1.0 - mean, mean  # one record succeeds with this probability, the others never
        missed = sum(law[c] for c, (low, high) in enumerate(ends) if not low <= mean / n <= high)
        assert missed <= delta / 2 * (1 + 1e-9)


def test_the_plain_binomial_tail_would_miss_that_edge():
    """Power of the test above: uncorrected Clopper-Pearson fails it for one success."""
    n, delta = 20, 0.5
    low = stats.binomtest(1, n).proportion_ci(1 - delta, method="exact").low
    mean = n * low * 0.999999  # a law whose single success happens more often than delta / 2
    assert mean > delta / 2


@pytest.mark.parametrize("count", [0, 1, 2, 25, 49, 50])
def test_far_tails_stay_finite_and_ordered(count):
    previous = (0.5, 0.5)
    for nats in (1, 10, 100, 299, 301, 599, 601, 741, 2000):
        low, high = clopper_pearson(count, count, 50, -float(nats))
        assert 0.0 <= low <= previous[0] or nats == 1
        assert previous[1] <= high <= 1.0 or nats == 1
        previous = (low, high)


def test_the_logarithmic_tail_solves_its_own_equation():
    """At 2000 nats: P[Bin(n, low) >= count] = delta / 2, by an independent sum in logarithms."""
    n, count, nats = 1000, 850, 2000.0
    low, _ = clopper_pearson(count, count, n, -nats)
    tail = np.logaddexp.reduce(stats.binom.logpmf(np.arange(count, n + 1), n, low))
    assert tail == pytest.approx(-nats - math.log(2), abs=1e-6)


def test_the_interval_of_a_cell_is_the_union_of_those_of_its_counts():
    (low, _), (_, high) = (clopper_pearson(count, count, 100, math.log(0.05)) for count in (40, 45))
    assert clopper_pearson(40, 45, 100, math.log(0.05)) == (low, high)


@pytest.mark.parametrize(("count", "ln_delta"), [(29, -2731.8), (2, -3700.0), (60, -1600.0)])
def test_an_upper_end_next_to_one_is_rounded_outwards(count, ln_delta):
    n = 106
    _, high = clopper_pearson(count, count, n, ln_delta)
    fewer = np.arange(count + 1)
    ln_ways = special.gammaln(n + 1) - special.gammaln(fewer + 1) - special.gammaln(n - fewer + 1)
    with np.errstate(divide="ignore"):
        ln_tail = special.logsumexp(ln_ways + fewer * math.log(high) + (n - fewer) * np.log1p(-high))
    assert ln_tail <= ln_delta - math.log(2)
