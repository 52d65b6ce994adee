"""Sealed answers: reference numbers, small trees with adaptive unsealing, a tight case, and mutants."""

import itertools
import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from sklearn_ada import guarantees
from sklearn_ada.accounting import CountCode, unsealing_nats
from sklearn_ada.guarantees import ln_delta
from tests.support.guarantees.small_trees import worst_of_six_trees
from tests.support.rows import each_row_of

BETA = 0.3
LN_BETA = math.log(BETA)


@each_row_of("sealed", 48)
def test_reference_sealed_intervals_are_met(row):
    n, count = row["n"], row["count"]
    beta, share, weight, nats = (row[name] for name in ("beta", "share", "pi", "L_before"))
    ln_beta = math.log(beta * share)
    assert ln_delta(ln_beta, weight, nats) == pytest.approx(row["ln_delta_two_sided"], abs=1e-10)
    low, high = guarantees.question_interval(count, count, n, ln_beta=ln_beta, weight=weight, nats=nats)
    assert low == pytest.approx(row["lower"], abs=3e-12)
    assert high == pytest.approx(row["upper"], abs=3e-12)


def unsealed(tree, path, counts):
    """Every question's interval around its exact count, at the level of its asking, unsealed or not."""
    for asked, count in zip(path.asked, counts, strict=True):
        terms = {"ln_beta": LN_BETA, "weight": asked.weight, "nats": asked.before}
        yield asked.values, *guarantees.question_interval(count, count, tree.n, **terms)


@pytest.mark.parametrize(("strata", "n_values"), [((6,), 3), ((9,), 2), ((4,), 4), ((3, 3), 2)])
@pytest.mark.parametrize("depth", [3, 4, 6])
def test_random_adaptive_trees_fail_at_most_as_often_as_promised(strata, n_values, depth):
    worst = worst_of_six_trees(unsealed, strata, n_values, depth)
    assert 0.1 * BETA < worst <= BETA * (1.0 + 1e-9)  # laws that are hard for the intervals were found


@cache
def misses(n, ln_delta, tuned=False):
    """Return the worst probability, over p near 1/2, that an interval around the exact count misses p.

    ``tuned`` is the mutant that gives all of delta to the side that the half of the range tells.
    """

    def interval(c):
        if not tuned:
            return guarantees.clopper_pearson(c, c, n, ln_delta)
        low, high = guarantees.binomial_tail_ends(c, c, n, ln_delta)
        return (low, 1.0) if 2 * c > n else (0.0, high)

    lows, highs = np.array([interval(c) for c in range(n + 1)]).T
    near = np.concatenate([np.linspace(0.49, 0.51, 401), lows[abs(lows - 0.5) < 0.01] * (1 - 1e-9)])
    return max(float(binom.pmf(np.arange(n + 1), n, p)[(p < lows) | (p > highs)].sum()) for p in near)


def independent_questions(total_weight=1.0, count=4, n=1000, held=0.98):
    """Return how often some of several sealed intervals misses, where every guess holds.

    Models err independently, so the questions' exact counts are independent; every cell costs ``-ln held``.
    """
    price, right = -math.log(held), 1.0
    for j in range(count):
        right *= 1.0 - misses(n, ln_delta(math.log(0.05), total_weight / count, j * price))
    return 1.0 - right


def test_independent_questions_come_close_and_weights_that_sum_to_more_than_one_are_noticed():
    assert 0.85 * 0.05 < independent_questions() <= 0.05
    assert independent_questions(total_weight=1.5) > 1.2 * 0.05


def test_an_interval_tuned_by_its_own_cell_is_noticed():
    level = math.log(0.05)
    assert 0.9 * 0.05 < misses(1000, level) <= 0.05
    assert misses(1000, level, tuned=True) > 1.8 * 0.05


def best_of_unsealed(n=12, models=4, paid=True):
    """Return how often the last interval misses: all models unsealed, and the best asked about once more."""
    code = CountCode(centre=n / 2, tau=math.sqrt(n) / 2)
    price = [unsealing_nats(c, 0, n, code) * paid for c in range(n + 1)]
    weight, _ = guarantees.Purse().final()

    @cache
    def interval(count, nats):
        return guarantees.question_interval(count, count, n, ln_beta=LN_BETA, weight=weight, nats=nats)

    worst = 0.0
    for count in range(n // 2, n + 1):
        p = interval(count, 0.0)[0] * (1.0 - 1e-9)
        law = binom.pmf(np.arange(n + 1), n, p)
        total = 0.0
        for counts in itertools.combinations_with_replacement(range(n + 1), models):
            ways = math.factorial(models) / math.prod(math.factorial(counts.count(c)) for c in set(counts))
            low, high = interval(counts[-1], round(sum(price[c] for c in counts), 9))
            if not low <= p <= high:
                total += ways * math.prod(law[c] for c in counts)
        worst = max(worst, total)
    return worst


def test_unsealing_costs_what_it_must_and_for_nothing_is_noticed():
    assert best_of_unsealed() <= BETA
    assert best_of_unsealed(paid=False) > 1.4 * BETA


@settings(derandomize=True, max_examples=150, deadline=None)
@given(st.data(), st.integers(1, 2000), st.floats(1e-12, 1.0), st.floats(0.0, 900.0))
def test_intervals_contain_what_is_known_and_narrow_with_it(data, n, weight, nats):
    low = data.draw(st.integers(0, n))
    high = data.draw(st.integers(low, n))
    count = data.draw(st.integers(low, high))
    terms = {"ln_beta": math.log(0.04), "weight": weight}
    cell = guarantees.question_interval(low, high, n, nats=nats, **terms)
    exact = guarantees.question_interval(count, count, n, nats=nats, **terms)
    later = guarantees.question_interval(low, high, n, nats=nats + 1.0, **terms)
    assert cell[0] <= low / n <= high / n <= cell[1]
    assert cell[0] * (1 - 1e-11) <= exact[0] <= count / n <= exact[1] <= cell[1] + 1e-11
    assert later[0] <= cell[0] * (1 + 1e-11) <= cell[1] <= later[1] + 1e-11


def test_an_exhausted_weight_certifies_nothing():
    assert guarantees.question_interval(50, 50, 100, ln_beta=LN_BETA, weight=0.0, nats=0.0) == (0.0, 1.0)


def test_weights_of_all_ranks_of_locked_candidates_sum_to_at_most_one():
    total = math.fsum(guarantees.rank_weight(r) for r in range(1, 10_001))
    assert 0.9999 < total <= 1.0


def test_the_level_of_a_locked_candidate_is_that_of_the_opening():
    assert guarantees.locked_ln_delta(LN_BETA, 0.1, 3, 2.5) == pytest.approx(
        ln_delta(LN_BETA, 0.1 * 0.1 / 6, 2.5)
    )


def test_candidates_of_a_round_are_covered_together():
    """All refits asked sealed at the opening: the best of three by a selection that sees everything."""
    n, weight = 200, 1.0
    level = [guarantees.locked_ln_delta(math.log(0.05), weight, rank, 0.0) for rank in (1, 2, 3)]
    missed = 1.0 - math.prod(1.0 - misses(n, one) for one in level)
    assert 0.6 * 0.05 < missed <= 0.05
