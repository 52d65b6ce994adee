"""Root-finder and search for integers: the ends of a bisection, on the side that was asked for."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_ada._solving import enclosed_root, largest_integer, last_negative, root
from sklearn_ada.guarantees import smallest_integer
from tests.support.processes import ROOT


def bisection(function, low, high, rising, halvings=50):
    """The definition: every middle is looked at."""
    for _ in range(halvings):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if (function(middle) > 0.0) == rising else (middle, high)
    return low, high


@pytest.mark.parametrize("rising", [True, False])
def test_the_ends_are_those_of_a_bisection(rising):
    """Rounding errors make a function cross 0 more than once: the ends are the same even then."""
    rng = random.Random(3)
    for _ in range(2000):
        at, power, scale = rng.random(), rng.choice([0.3, 1.0, 1.5]), 10 ** rng.uniform(-12, 3)
        low, high = at - rng.uniform(0.5, 3.0), at + rng.uniform(0.5, 3.0)

        def function(x, at=at, power=power, scale=scale):
            value = scale * math.copysign(abs(x - at) ** power, x - at) + 1e-13 * scale * math.sin(1e15 * x)
            return value if rising else -value

        assert enclosed_root(function, low, high, rising=rising) == bisection(function, low, high, rising)


def test_the_function_was_called_at_the_ends_and_few_times_elsewhere():
    calls = {}

    def function(x):
        calls[x] = math.expm1(x) - 0.5
        return calls[x]

    low, high = enclosed_root(function, 0.0, 1.0)
    assert calls[low] <= 0.0 < calls[high]
    assert high - low == 2.0**-50
    assert len(calls) < 40


@pytest.mark.parametrize(("constant", "ends"), [(1.0, (0.0, 2.0**-50)), (-1.0, (1.0 - 2.0**-50, 1.0))])
def test_without_a_crossing_the_ends_are_at_an_end_of_the_bracket(constant, ends):
    assert enclosed_root(lambda x: constant, 0.0, 1.0) == ends


def test_a_function_that_is_no_number_counts_as_not_positive():
    assert enclosed_root(lambda x: math.nan, 0.0, 1.0)[1] == 1.0


def test_a_root_is_where_the_function_is_zero():
    assert root(math.cos, 1.0, 2.0, xtol=1e-14, rtol=1e-15) == pytest.approx(math.pi / 2, rel=1e-13)


@given(
    at=st.floats(-0.9, 0.9), power=st.sampled_from([1.0, 0.4, 3.0]), start=st.floats(-3.0, 3.0),
    slope=st.floats(0.01, 1e3),
)  # fmt: skip
@settings(max_examples=300, deadline=None)
def test_the_last_negative_number_was_looked_at_and_the_function_is_near_zero_there(at, power, start, slope):
    calls = {}

    def function(x):
        calls[x] = math.copysign(abs(x - at) ** power, x - at)
        return calls[x]

    found = last_negative(function, -1.0, 1.0, start, slope)
    assert -1e-3 <= calls[found] <= 0.0 or found < at < math.nextafter(found, 2.0)
    assert len(calls) <= 60


def test_where_nothing_is_negative_or_a_number_the_low_end_is_the_last():
    for value in (1.0, math.nan):
        assert last_negative(lambda x, v=value: v, -1.0, 1.0, 0.0, 1.0) == -1.0
    assert last_negative(lambda x: -1.0, -1.0, 1.0, 0.0, 1.0) > 1.0 - 1e-9


@given(answer=st.integers(0, 10**9), most=st.integers(0, 10**9), stride=st.integers(2, 9))
@settings(max_examples=300, deadline=None)
def test_the_largest_integer(answer, most, stride):
    tried = []

    def holds(n):
        tried.append(n)
        return n <= answer

    assert largest_integer(holds, most, stride=stride) == min(answer, most)
    assert len(tried) < 80
    assert all(1 <= n <= most for n in tried)


@given(answer=st.integers(0, 10**6), start=st.integers(1, 10**6), share=st.floats(0.0, 1.0))
@settings(max_examples=300, deadline=None)
def test_a_guess_and_a_start_change_the_way_but_not_the_answer(answer, start, share):
    def guess(low, high):
        assert low <= answer < high
        return low + round(share * (high - low))

    guessed = guess if 0.1 < share < 0.9 else None
    assert largest_integer(lambda n: n <= answer, 10**6, start=start, guess=guessed) == answer


@pytest.mark.parametrize("start", [0, 1, 7, 10**6])
def test_the_smallest_integer(start):
    for answer in (0, 1, 2, 6, 7, 8, 1000, 2**40):
        assert smallest_integer(lambda n, a=answer: n >= a, start=start) == max(answer, start)
    with pytest.raises(OverflowError, match="does not hold"):
        smallest_integer(lambda n: False, start=start)
    with pytest.raises(ValueError, match="'start' parameter of smallest_integer"):
        smallest_integer(lambda n: True, start=-1)


def test_no_other_module_looks_for_roots_by_itself():
    modules = (ROOT / "sklearn_ada").rglob("*.py")
    assert [path.name for path in modules if "brentq" in path.read_text()] == ["_solving.py"]
