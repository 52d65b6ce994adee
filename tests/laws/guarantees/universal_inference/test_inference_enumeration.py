"""The transcript theorem where everything can be enumerated, how close it comes, and what breaks it."""

import itertools
import math

import numpy as np
import pytest

from sklearn_ada.guarantees import (
    intersection,
    question_interval,
    transcript_cell_interval,
    transcript_interval,
    transcript_interval_beside_exact_count,
)
from tests.support.guarantees.small_trees import SmallTree, independent, worst_failure, worst_of_six_trees
from tests.support.laws import is_missed

B = 0.2
LN_B = math.log(B)


def every_interval(tree, path, counts):
    """All that the theorem says of every answer, by the tails, by the cell, and beside exact counts."""
    identical = len(tree.strata) == 1
    exact = []
    for answer in path.answers:
        values = path.asked[answer.question].values
        charged = {"ln_beta": LN_B, "nats": answer.including}
        cell = answer.low, answer.high, tree.n
        yield values, *transcript_interval(*cell, identical_rows=identical, **charged)
        if identical:
            yield values, *transcript_cell_interval(*cell, **charged)
            for count in exact:
                yield values, *transcript_interval_beside_exact_count(*cell, exact_count=count, **charged)
        if answer.low == answer.high:
            exact.append(answer.low)


@pytest.mark.parametrize(
    ("strata", "n_values"), [((6,), 3), ((9,), 2), ((4,), 4), ((3, 3), 2), ((1, 2, 3), 2)]
)
@pytest.mark.parametrize("depth", [3, 4, 6])
def test_random_adaptive_trees_fail_at_most_as_often_as_promised(strata, n_values, depth):
    worst = worst_of_six_trees(every_interval, strata, n_values, depth)
    assert 0.5 * B < worst <= B * (1.0 + 1e-9)  # laws that are hard for the intervals were found


def test_random_trees_notice_a_price_that_is_left_out():
    """Power of the test above: L without the price of the answer itself."""

    def mutant(tree, path):
        for answer in path.answers:
            nats = answer.including - answer.price
            cell = answer.low, answer.high, tree.n
            charged = {"ln_beta": LN_B, "nats": nats, "identical_rows": True}
            yield path.asked[answer.question].values, *transcript_interval(*cell, **charged)

    trees = [SmallTree(np.random.default_rng([seed, 4, 2, 9]), (9,), 2, 4) for seed in range(6)]
    assert sum(worst_failure(tree, lambda p, c, t=tree: mutant(t, p)) > 1.05 * B for tree in trees) >= 3


def bold_analyst(prices, n=20, own=1.0):
    """Return how often an analyst succeeds who asks about the next model until one has no error.

    The code gives ``prices[j]`` to "no error", and the j-th share is the worst for the interval it then gets.
    ``own`` is how much of the price of the answer itself the intervals pay.
    """
    spent, ends = 0.0, []
    for chance in prices:
        nats = spent - own * math.log(chance)
        low, _ = transcript_interval(n, n, n, ln_beta=LN_B, nats=nats, identical_rows=True)
        ends.append(low * (1.0 - 1e-9))
        spent -= math.log1p(-chance)
    marginals = [(1.0 - p**n, p**n) for p in ends]
    return sum(chance for outcome, chance in independent(*marginals) if any(outcome))


def test_an_analyst_who_plays_boldly_comes_close_and_without_their_own_price_answers_say_too_much():
    prices = [0.5, 0.5, 0.6, 0.9, 0.9]
    assert 0.8 * B < bold_analyst(prices) <= B
    assert bold_analyst(prices, own=0.0) > 1.2 * B


def misses_of_a_round(order, n=20, size=6, chance=0.5):
    """Return how often a round of independent models has a wrong interval, if answers are coded in an order.

    Each model has no error with the same probability, the worst for an answer that is coded first.
    """
    low, _ = transcript_interval(n, n, n, ln_beta=LN_B, nats=-math.log(chance), identical_rows=True)
    share = low * (1.0 - 1e-9)
    total = 0.0
    for outcome, probability in independent(*[(1.0 - share**n, share**n)] * size):
        spent, missed = 0.0, False
        for model in order(outcome):
            spent -= math.log(chance)
            cell = (n, n) if outcome[model] else (0, n - 1)
            ends = transcript_interval(*cell, n, ln_beta=LN_B, nats=spent, identical_rows=True)
            missed |= is_missed(ends, share)
        total += probability * missed
    return total


def test_answers_coded_in_the_order_of_their_keys_are_covered_and_in_that_of_their_scores_are_not():
    best_first = misses_of_a_round(lambda outcome: sorted(range(len(outcome)), key=lambda i: -outcome[i]))
    assert misses_of_a_round(lambda outcome: range(len(outcome))) <= B
    assert best_first > 1.5 * B


def test_the_intersection_of_both_theorems_holds_at_the_sum_of_their_shares():
    """Of one conversation: sealed answers at 0.8 of beta, the transcript at 0.2, and what lies in both."""
    beta, worst = 0.3, 0.0
    for seed in range(8):
        tree = SmallTree(np.random.default_rng([9, seed]), (6,), 3, 4)

        def both(path, counts, tree=tree):
            for answer in path.answers:
                asked = path.asked[answer.question]
                cell = answer.low, answer.high, tree.n
                terms = {"ln_beta": math.log(0.8 * beta), "weight": asked.weight, "nats": asked.before}
                charged = {"ln_beta": math.log(0.2 * beta), "nats": answer.including}
                sealed = question_interval(*cell, **terms)
                transcript = transcript_interval(*cell, identical_rows=True, **charged)
                yield asked.values, *intersection(sealed, [transcript])

        worst = max(worst, worst_failure(tree, both))
    assert 0.1 * beta < worst <= beta * (1.0 + 1e-9)


def test_trees_are_adaptive_and_prices_are_those_of_a_code():
    """What the tests above stand on: different answers lead to different questions, codes sum to 1."""
    tree = SmallTree(np.random.default_rng(3), (6,), 3, 4)
    assert sum(len(rows) for _, rows in tree.leaves) == len(tree.data)
    assert sum(math.exp(-path.nats) for path, _ in tree.leaves) <= 1.0 + 1e-12
    assert len({path.asked[1:] for path, _ in tree.leaves}) > 1
    for (_, one), (_, other) in itertools.combinations(tree.leaves, 2):
        assert not set(one) & set(other)
