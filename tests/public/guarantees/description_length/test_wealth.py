"""The purse: reference numbers, and no path that takes more than there is."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_ada.guarantees import Purse, intersection, log_weight
from tests.support.rows import each_row_of


@each_row_of("weights", 24)
def test_reference_weights_are_met(row):
    j = row["j"]
    assert log_weight(j) == pytest.approx(row["pi_j"], rel=1e-11)
    assert (log_weight(j) > row["one_over_j_j_plus_1"]) == (j >= 5)
    if j <= 1000:
        total = math.fsum(log_weight(i) for i in range(1, j + 1))
        assert total == pytest.approx(row["sum_added_up"], rel=1e-11)
        assert 1.0 - 1.0 / math.log(math.e + j) == pytest.approx(total, rel=1e-12)


@st.composite
def takings(draw):
    """What a conversation takes: questions, rounds, finals and fractions of all kinds."""
    kinds = st.one_of(
        st.just(("question",)),
        st.tuples(st.just("round"), st.integers(1, 10**6)),
        st.just(("final",)),
        st.tuples(st.just("take"), st.floats(0.0, 1.0)),
    )
    return draw(st.lists(kinds, min_size=1, max_size=400))


@settings(derandomize=True, max_examples=200, deadline=None)
@given(takings())
def test_no_path_takes_more_than_there_is(path):
    purse, total = Purse(), Fraction(0)
    for kind, *arguments in path:
        weight, purse = getattr(purse, kind)(*arguments)
        assert weight >= 0.0
        assert purse.left >= 0.0
        total += Fraction(weight) * (arguments[0] if kind == "round" else 1)
        assert total + Fraction(purse.left) <= 1
    assert purse.taken == len(path)


def test_without_a_final_questions_take_what_the_sequence_says():
    purse = Purse()
    for j in range(1, 2001):
        weight, purse = purse.question()
        assert weight == pytest.approx(0.3 * log_weight(j), rel=1e-10)
    assert purse.left == pytest.approx(0.7 + 0.3 / math.log(math.e + 2000), rel=1e-12)


def test_a_round_takes_as_much_as_a_question():
    whole, after_question = Purse().question()
    for size in (*range(1, 200), 1000, 10**6):
        each, after_round = Purse().round(size)
        assert after_round == after_question
        assert size * each == pytest.approx(whole)
        assert Fraction(each) * size <= Fraction(whole)


def test_after_a_final_questions_go_on_in_proportion_and_finals_never_go_below_nothing():
    final, purse = Purse().final()
    weight, _ = purse.question()
    assert (final, purse.left) == (0.95, pytest.approx(0.05))
    assert weight == pytest.approx(0.05 * Purse(1.0, 1).question()[0], rel=1e-12)
    for _ in range(400):
        weight, purse = purse.final()
        assert 0.0 <= weight <= 1.0
        assert purse.left >= 0.0
    assert purse.left == 0.0


def test_the_whole_purse_may_be_taken_and_then_nothing_is_left():
    weight, purse = Purse().take(1.0)
    assert (weight, purse) == (1.0, Purse(0.0, 1))
    assert purse.question() == (0.0, Purse(0.0, 2))
    assert purse.round(5) == (0.0, Purse(0.0, 2))
    assert purse.final() == (0.0, Purse(0.0, 2))


intervals = st.tuples(st.floats(0, 1), st.floats(0, 1)).map(lambda ends: (min(ends), max(ends)))


@settings(derandomize=True, max_examples=200, deadline=None)
@given(intervals, st.lists(intervals, max_size=4), st.floats(0, 1))
def test_an_intersection_has_what_all_have_and_is_never_empty(fixed, others, point):
    low, high = intersection(fixed, others)
    assert low <= high
    everywhere = all(a <= point <= b for a, b in [fixed, *others])
    if everywhere:
        assert low <= point <= high
    if max(a for a, _ in [fixed, *others]) > min(b for _, b in [fixed, *others]):
        assert (low, high) == fixed
    else:
        assert (low <= point <= high) == everywhere
