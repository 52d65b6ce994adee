"""The code of counts, its urns, and the price of unsealing: reference numbers and masses of at most 1."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import cauchy
from scipy.stats import t as student

from sklearn_ada import accounting
from tests.support.rows import each_row_of

codes = st.builds(accounting.CountCode, st.floats(-50.0, 3000.0), st.floats(0.5, 500.0), st.floats(1e-6, 0.1))


@each_row_of("cells", 30)
def test_reference_prices_of_cells_are_met(row):
    low, high, z, width = row["cell_low"], row["cell_high"], row["z"], row["width_counts"]
    if high == row["n"]:  # the file has cells clipped to counts there can be; the code has whole ones
        high = low + width - 1
    if low == 0:
        low = high - width + 1
    ln_prior = accounting.CountCode(row["n"] * row["guess"], row["tau_counts"]).ln_mass(low, high)
    assert math.exp(ln_prior) == pytest.approx(row["prior_mass"], rel=1e-9)
    for column, answers in [
        ("price_urn_empty", []), ("price_none_of_100", [99] * 100), ("price_7_of_8", [z] * 7 + [99]),
    ]:  # fmt: skip
        urn = accounting.PolyaUrn()
        for answer in answers:
            urn.record(answer)
        assert urn.price(z, ln_prior) == pytest.approx(row[column], rel=1e-8)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(codes, st.integers(1, 400), st.integers(-300, 300))
def test_cells_and_failures_have_mass_of_at_most_one(code, width, base):
    total = sum(math.exp(code.ln_mass(base + z * width, base + (z + 1) * width - 1)) for z in range(-80, 81))
    total += len(accounting.FAILURES) * math.exp(code.ln_failure())
    assert total <= 1.0 + 1e-12


def test_all_mass_of_a_count_code_is_used():
    code = accounting.CountCode(425.6, 9.2)
    everything = math.exp(code.ln_mass(-(10**12), 10**12)) + 7 * math.exp(code.ln_failure())
    assert everything == pytest.approx(1.0, abs=1e-9)


def test_a_count_code_is_the_mixture_that_it_says():
    code = accounting.CountCode(100.3, 7.0)
    for low, high in ((60, 80), (95, 95), (100, 130), (300, 310)):
        ends = (np.array([low - 0.5, high + 0.5]) - 100.3) / 7.0
        mass = 0.99 * np.diff(student.cdf(ends, 30)) + 0.01 * np.diff(cauchy.cdf(ends, scale=3.0))
        assert math.exp(code.ln_mass(low, high)) == pytest.approx(0.999 * mass[0], rel=1e-9)


@pytest.mark.parametrize("offset", [0, 10**3, 10**9, 10**14])
def test_far_cells_keep_their_digits(offset):
    code = accounting.CountCode(0.0, 2.0)
    near, far = code.ln_mass(offset, offset), code.ln_mass(-offset, -offset)
    assert near == pytest.approx(far, rel=1e-12)
    if offset > 10**3:  # the Cauchy density
        density = 0.01 * 0.999 * 6.0 / (math.pi * (36.0 + offset**2))
        assert near == pytest.approx(math.log(density), abs=1e-6)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(codes, st.integers(-300, 3000), st.integers(0, 300), st.integers(0, 300))
def test_a_cell_has_the_mass_of_its_parts(code, low, first, second):
    parts = code.ln_mass(low, low + first), code.ln_mass(low + first + 1, low + first + 1 + second)
    whole = code.ln_mass(low, low + first + 1 + second)
    assert whole == pytest.approx(np.logaddexp(*parts), abs=1e-9)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(codes, st.integers(1, 400), st.lists(st.integers(-5, 5), max_size=40))
def test_after_any_answers_all_next_ones_have_mass_of_at_most_one(code, width, answers):
    """The prior may be another one for every question."""
    urn = accounting.PolyaUrn()
    for z in answers:
        urn.record(z)
    cells = range(-60, 61)
    total = sum(math.exp(-urn.price(z, code.ln_mass(z * width, (z + 1) * width - 1))) for z in cells)
    total += sum(math.exp(-urn.price(reason, code.ln_failure())) for reason in accounting.FAILURES)
    assert total <= 1.0 + 1e-12


def test_each_purpose_learns_from_its_own_answers():
    winners, candidates = accounting.PolyaUrn(), accounting.PolyaUrn()
    for _ in range(100):
        candidates.record(0)
    assert winners.price(1, math.log(0.01)) < candidates.price(1, math.log(0.01)) - 2.0
    assert winners.size == 0


@settings(derandomize=True, max_examples=80, deadline=None)
@given(codes, st.integers(0, 3000), st.integers(0, 300))
def test_values_of_an_unsealed_cell_and_failures_have_mass_of_at_most_one(code, low, more):
    prices = [accounting.unsealing_nats(k, low, low + more, code) for k in range(low, low + more + 1)]
    total = math.fsum(math.exp(-p) for p in prices) + len(accounting.FAILURES) * math.exp(
        -accounting.failed_unsealing_nats(code)
    )
    assert total == pytest.approx(1.0, abs=1e-9)
    assert max(prices) <= accounting.largest_unsealing_nats(low, low + more, code) + 1e-12


def test_cell_and_value_cost_what_the_value_alone_would():
    """But for the mass of failures, which is kept twice."""
    code = accounting.CountCode(425.6, 9.2)
    whole = -code.ln_mass(403, 448) + accounting.unsealing_nats(431, 403, 448, code)
    assert whole == pytest.approx(-code.ln_mass(431, 431) - math.log1p(-0.001))


def test_released_ends_and_a_failure_have_mass_of_at_most_one():
    codes = accounting.CountCode(5.0, 2.0), accounting.CountCode(8.0, 2.0)
    pairs = itertools.combinations_with_replacement(range(13), 2)
    total = math.fsum(math.exp(-accounting.released_ends_nats(low, high, 12, *codes)) for low, high in pairs)
    assert total == pytest.approx(0.999)
