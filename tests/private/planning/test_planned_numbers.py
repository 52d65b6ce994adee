"""The search for the crossing: exact on integers, and quick."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_ada import plan_holdout
from sklearn_ada.planning.methods import fewest_rows, most_questions

MOST_ROWS, MOST_QUESTIONS = 10**12, 10**9


@given(
    power=st.floats(0.05, 3.0),
    scale=st.floats(1e-3, 1e3),
    step=st.integers(1, 50),
    target=st.floats(1e-3, 0.49),
)
@settings(max_examples=300, deadline=None)
def test_the_first_number_of_rows_that_is_enough(power, scale, step, target):
    def half_width(n):
        return scale * max(n // step, 1e-3) ** -power

    n = fewest_rows(half_width, target)
    if n is None:
        assert half_width(MOST_ROWS) > target
    else:
        assert half_width(n) <= target
        assert n == 1 or half_width(n - 1) > target


@given(power=st.floats(0.02, 3.0), scale=st.floats(1e-6, 1.0), target=st.floats(1e-3, 0.49))
@settings(max_examples=300, deadline=None)
def test_the_last_number_of_questions_that_fits(power, scale, target):
    def half_width(k):
        return scale * k**power if k < 10**7 else math.inf  # beyond, the method can do nothing

    k = most_questions(half_width, target)
    assert k == 0 or half_width(k) <= target
    assert half_width(k + 1) > target or k == MOST_QUESTIONS


@pytest.mark.parametrize("value", [math.inf, math.nan, 0.3])
def test_a_method_that_can_do_nothing_or_everything(value):
    assert fewest_rows(lambda n: value, 0.2) is None
    assert most_questions(lambda k: value, 0.2) == 0
    assert most_questions(lambda k: 1.0 / k, 1e-12) == 0  # beyond the range nothing falls
    assert fewest_rows(lambda n: 0.0, 0.2) == 1
    assert most_questions(lambda k: 0.1, 0.2) == MOST_QUESTIONS


def test_a_search_for_rows_needs_few_evaluations():
    """Dozens would do by bisection; the slowest bounds take tens of milliseconds each."""
    calls = []

    def half_width(n):
        calls.append(n)
        return math.sqrt(math.log(n + 10.0) ** 2 / n)

    assert fewest_rows(half_width, 0.01) > 10**6
    assert len(calls) < 20


@pytest.mark.parametrize("dip", [5, 40, 3000])
@pytest.mark.parametrize("target", [0.6, 0.9])
def test_a_half_width_that_falls_before_it_rises_is_followed_beyond_the_dip(dip, target):
    def half_width(k):
        return 0.5 + 0.1 * abs(math.log(k / dip))

    k = most_questions(half_width, target)
    assert half_width(k) <= target < half_width(k + 1)
    assert k > dip


@pytest.mark.parametrize("questions", [1, 10, 64, 100])
def test_as_many_checks_before_a_certify_fit_its_width_as_it_was_planned_for(questions):
    method = "certify after checks"
    width = plan_holdout(n=1000, n_questions=questions)[method].width
    assert plan_holdout(n=1000, width=1.0001 * width)[method].n_questions >= questions
