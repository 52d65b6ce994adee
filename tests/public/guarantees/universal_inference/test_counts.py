"""Intervals of the transcript theorem: reference numbers, brute force, and what they never do."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, multinomial

from sklearn_ada.guarantees import (
    bernoulli_kl,
    binomial_tail_ends,
    clopper_pearson,
    largest_ln_mass,
    transcript_cell_interval,
    transcript_interval,
    transcript_interval_beside_exact_count,
    transcript_ln_side,
    transcript_ratio_interval,
)
from tests.support.rows import each_row_of


def terms(b, nats):
    return {"ln_beta": math.log(b), "nats": nats}


@st.composite
def cells(draw):
    """A cell of counts, b, and L."""
    n = draw(st.integers(1, 3000))
    low = draw(st.integers(0, n))
    high = draw(st.integers(low, n))
    return low, high, n, draw(st.sampled_from([0.05, 0.01, 0.2])), draw(st.floats(0.0, 900.0))


@each_row_of("transcript", 252)
def test_reference_intervals_of_the_transcript_are_met(row):
    n, low_count, high_count = row["n"], row["count_low"], row["count_high"]
    level = terms(row["b"], row["L_including_own_price"])
    assert transcript_ln_side(**level) == pytest.approx(row["ln_delta_side"])
    low, high = transcript_interval(low_count, high_count, n, identical_rows=True, **level)
    assert low == pytest.approx(row["lower"], rel=1e-8, abs=1e-300)
    assert high == pytest.approx(row["upper"], rel=0, abs=3e-12 + 1e-9 * (1 - high))
    mirrored, _ = transcript_interval(n - high_count, n - low_count, n, identical_rows=True, **level)
    for end, name in ((low, "ln_lower"), (mirrored, "ln_one_minus_upper")):
        if end > 0.0:
            assert math.log(end) == pytest.approx(row[name], rel=1e-9, abs=1e-9)


def test_one_success_of_identical_rows_has_the_binomial_tail_and_a_level_above_a_quarter_is_a_quarter():
    low, _ = binomial_tail_ends(1, 1, 50, math.log(0.05), identical_rows=True)
    assert binom.sf(0, 50, low) == pytest.approx(0.05, rel=1e-9)
    quarter = binomial_tail_ends(5, 7, 20, math.log(0.25))
    assert quarter == binomial_tail_ends(5, 7, 20, -0.1) == clopper_pearson(5, 7, 20, 0.0)


def test_rows_at_a_class_mix_have_the_union_bound():
    """One row that succeeds with probability n p, others that never do: the binomial tail misses it."""
    n, b = 50, 0.2
    identical, _ = transcript_interval(1, 1, n, identical_rows=True, **terms(b, 0.0))
    unequal, _ = transcript_interval(1, 1, n, identical_rows=False, **terms(b, 0.0))
    assert n * identical > b > 0.999 * n * unequal > 0.998 * b


@pytest.mark.parametrize("n", [2, 3, 7, 20])
@pytest.mark.parametrize("level", [0.25, 0.2, 0.01])
def test_unequal_rows_never_beat_the_ends(n, level):
    """All Poisson-binomial laws with two different probabilities on a grid."""
    for count, rows in itertools.product(range(1, n + 1), range(n + 1)):
        low, _ = binomial_tail_ends(count, n, n, math.log(level))
        for p in np.linspace(0.0, 1.0, 21):
            q, others = (low * n - rows * p) / (n - rows) if rows < n else 0.0, n - rows
            if 0.0 <= q <= 1.0 and (others or p <= low):
                parts = binom.pmf(range(rows + 1), rows, p), binom.pmf(range(others + 1), others, q)
                assert np.convolve(*parts)[count:].sum() <= level * (1 + 1e-9)


@pytest.mark.parametrize("identical", [True, False])
@settings(derandomize=True, max_examples=150, deadline=None)
@given(cells(), st.floats(0.0, 50.0))
def test_the_tails_contain_the_cell_and_widen_with_what_was_said(identical, cell, more):
    low_count, high_count, n, b, nats = cell
    (low, high), wider = (
        transcript_interval(low_count, high_count, n, identical_rows=identical, **terms(b, each))
        for each in (nats, nats + more)
    )
    assert 0.0 <= wider[0] <= low * (1 + 1e-11) <= (low_count / n) * (1 + 2e-11)
    assert 1.0 >= wider[1] >= high - 1e-11 >= high_count / n - 2e-11


@pytest.mark.parametrize(
    ("low_count", "high_count", "n", "nats"),
    [
        *((3, 3, 10, 0.0), (0, 0, 10, 2.0), (10, 10, 10, 2.0), (0, 4, 9, 1.0), (4, 9, 9, 1.0)),
        *((0, 6, 6, 1.0), (1700, 1700, 2000, 4.0), (1649, 1741, 2000, 0.02), (20, 22, 50, 600.0)),
    ],
)
def test_the_cell_is_as_likely_as_the_level_at_both_ends(low_count, high_count, n, nats):
    low, high = transcript_cell_interval(low_count, high_count, n, **terms(0.05, nats))
    counts = np.arange(low_count, high_count + 1)
    for end, closed in ((low, low_count == 0), (high, high_count == n)):
        if closed:
            assert end in (0.0, 1.0)
            continue
        mass = np.logaddexp.reduce(binom.logpmf(counts, n, end))
        assert mass == pytest.approx(math.log(0.05) - nats, rel=1e-7, abs=1e-7)
        assert mass <= math.log(0.05) - nats


@settings(derandomize=True, max_examples=150, deadline=None)
@given(cells())
def test_the_interval_of_a_cell_is_inside_the_tails_and_contains_the_cell(cell):
    low_count, high_count, n, b, nats = cell
    low, high = transcript_cell_interval(low_count, high_count, n, **terms(b, nats))
    tails = transcript_interval(low_count, high_count, n, identical_rows=True, **terms(b, nats))
    assert tails[0] <= low <= low_count / n * (1 + 1e-11)
    assert tails[1] >= high >= high_count / n - 1e-11


def test_where_no_share_is_likely_enough_the_tails_are_returned():
    n, count = 100_000, 50_000  # a count of one in four hundred at best
    got = transcript_cell_interval(count, count, n, **terms(0.05, 0.0))
    assert got == transcript_interval(count, count, n, identical_rows=True, **terms(0.05, 0.0))


def test_an_exact_count_gains_about_a_nat():
    cell = transcript_cell_interval(8500, 8500, 10_000, **terms(0.01, 5.0))
    tails = transcript_interval(8500, 8500, 10_000, identical_rows=True, **terms(0.01, 5.0))
    cheaper = transcript_interval(8500, 8500, 10_000, identical_rows=True, **terms(0.01, 4.0))
    assert tails[0] < cheaper[0] < cell[0] < cell[1] < cheaper[1] < tails[1]


def tilted_bound(n, edge, p):
    return math.exp(-n * bernoulli_kl(edge, p))


def test_the_tail_of_a_ratio_is_bounded_for_rows_of_two_laws():
    """P[N >= N_low, H/N >= s_low] <= exp(-N_low kl(s_low, r)), by enumeration."""
    rng, tightest, sizes = np.random.default_rng(0), 0.0, (3, 4)
    trios = [[(h, m, s - h - m) for h in range(s + 1) for m in range(s + 1 - h)] for s in sizes]
    data = [(one, other) for one in trios[0] for other in trios[1]]
    hits = np.array([one[0] + other[0] for one, other in data])
    total = hits + np.array([one[1] + other[1] for one, other in data])
    shares = [k / m for m in range(1, 8) for k in range(1, m + 1)]
    for _ in range(60):
        laws = rng.dirichlet(np.full(3, 0.5), size=2)
        chance = np.array([multinomial.pmf(a, 3, laws[0]) * multinomial.pmf(b, 4, laws[1]) for a, b in data])
        means = sizes @ laws
        r = means[0] / (means[0] + means[1])
        for least, share in itertools.product(range(1, 8), [share for share in shares if share > r]):
            tail = chance[(total >= least) & (hits >= share * total - 1e-12)].sum()
            bound = math.exp(-least * bernoulli_kl(share, r)) if r > 0 else 0.0
            assert tail <= bound * (1 + 1e-9) + 1e-15
            tightest = max(tightest, tail / bound if bound > 0 else 0.0)
    assert tightest > 0.8


def test_the_ends_of_a_ratio_and_those_beside_an_exact_count_solve_their_equations():
    ratio = transcript_ratio_interval(0.8, 0.9, 400, **terms(0.01, 0.5))
    for share, end in zip((0.8, 0.9), ratio, strict=True):
        assert 400 * bernoulli_kl(share, end) == pytest.approx(math.log(100) + 0.5, rel=1e-8)
    ends = transcript_interval_beside_exact_count(1649, 1741, 2000, exact_count=1700, **terms(0.01, 4.2))
    nats = math.log(100) + 4.2 + binom.logpmf(1700, 2000, 0.85)
    for edge, end in zip((1649, 1741), ends, strict=True):
        assert 2000 * bernoulli_kl(edge / 2000, end) == pytest.approx(nats, rel=1e-7)


@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.floats(0, 1), st.floats(0, 1), st.floats(1, 10**5), st.floats(0, 500), st.floats(0, 50))
def test_intervals_of_a_ratio_contain_the_cell_and_widen(one, other, size, nats, more):
    share = min(one, other), max(one, other)
    low, high = transcript_ratio_interval(*share, size, **terms(0.01, nats))
    wider = transcript_ratio_interval(*share, size, **terms(0.01, nats + more))
    assert wider[0] - 1e-11 <= low <= share[0]
    assert share[1] <= high <= wider[1] + 1e-11


def test_the_tail_beside_an_exact_count_is_bounded():
    """P[count 1 is W, S >= A] <= exp(-n kl(A/n, p)) f(W), by enumeration of random joint laws."""
    rng, n, tightest = np.random.default_rng(1), 8, 0.0
    data = [each for each in itertools.product(range(n + 1), repeat=4) if sum(each) == n]  # of four pairs
    first, second = np.array([(d[0] + d[1], d[0] + d[2]) for d in data]).T
    laws = [*rng.dirichlet(np.full(4, 0.4), size=120), *((p, 1e-12, 1e-12, 1 - p) for p in (0.1, 0.4, 0.8))]
    for law in laws:
        law = np.array(law) / np.sum(law)
        chance, p = multinomial.pmf(data, n, law), law[0] + law[2]
        for exact, edge in itertools.product(range(n + 1), range(math.ceil(n * p + 1e-9), n + 1)):
            tail = chance[(first == exact) & (second >= edge)].sum()
            bound = tilted_bound(n, edge / n, p) * math.exp(largest_ln_mass(exact, n))
            assert tail <= bound * (1 + 1e-9)
            tightest = max(tightest, tail / bound if bound > 1e-100 else 0.0)
    assert tightest > 0.95  # two models that err on the same rows


def test_at_a_class_mix_the_tail_beside_an_exact_count_is_not_bounded():
    """Half of the rows always have loss 1, half never: count 1 is certain; the other model is a coin."""
    n, edge, p = 200, 110, 0.5
    tail = binom.sf(edge - 1, n, p)
    assert tail > 2.0 * tilted_bound(n, edge / n, p) * math.exp(largest_ln_mass(100, n))


@pytest.mark.parametrize("n", [10, 1000, 10**6])
def test_the_largest_mass_is_that_at_the_share_itself(n):
    for count in (0, 1, n // 3, n - 1, n):
        exact = binom.logpmf(count, n, count / n)
        assert exact <= largest_ln_mass(count, n) + 1e-12 * n
        assert largest_ln_mass(count, n) == pytest.approx(exact, abs=1e-6)
