"""Weights sum to at most one, codes are sub-probabilities, prices are those of the urn."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_ada import accounting
from sklearn_ada.exceptions import UnsupportedEventError
from sklearn_ada.guarantees import choose_half_cell, round_weight, urn_nats


@settings(derandomize=True, max_examples=100, deadline=None)
@given(
    st.sampled_from(["check", "certify"]),
    st.lists(st.integers(1, 500), min_size=1, max_size=60),
    st.one_of(st.none(), st.integers(1, 2000)),
)
def test_weights_of_any_sequence_of_rounds_sum_to_at_most_one(purpose, sizes, expected):
    first, total = 0, 0.0
    for size in sizes:
        weight = round_weight(purpose, first, size, expected)
        assert weight > 0
        total += size * weight
        first += size
    assert total <= 1.0 + 1e-12


@pytest.mark.parametrize("purpose", ["check", "certify"])
@pytest.mark.parametrize("expected", [None, 7])
def test_a_round_weighs_as_much_as_its_questions_one_by_one_and_in_the_limit_all(purpose, expected):
    for first, size in itertools.product(range(12), range(1, 9)):
        alone = sum(round_weight(purpose, first + i, 1, expected) for i in range(size))
        assert size * round_weight(purpose, first, size, expected) == pytest.approx(alone)
    assert 10**9 * round_weight(purpose, 0, 10**9) == pytest.approx(1.0)


def release(value, stream="cells"):
    return accounting.CodedRelease((accounting.Symbol(stream, value),))


def recorded(*releases, code=None):
    """Return an account of these releases."""
    account = accounting.DescriptionLength(code or accounting.Code())
    for each in releases:
        account.record(each)
    return account


def mass(code, *symbol):
    return math.exp(code.ln_prior(accounting.Symbol(*symbol)))


@pytest.mark.parametrize("stream", ["cells", "lattice", "grid", "count", "spread"])
def test_every_code_with_its_failures_sums_to_at_most_one(stream):
    code = accounting.Code(decay=0.2, failure_mass=0.05)
    values = range(0 if stream == "spread" else -3000, 3001)
    assert (
        0.98 < sum(mass(code, stream, each, 4.0) for each in (*values, *accounting.FAILURES)) <= 1.0 + 1e-12
    )


def test_codes_of_few_values_have_the_masses_that_they_should():
    code = accounting.Code()
    assert sum(mass(code, "index", value, 5.0) for value in range(5)) <= 1.0
    assert sum(mass(code, "overlap", value) for value in (0, 1)) == pytest.approx(1.0)
    assert [mass(code, "relabelled", value) for value in (0, 1)] == pytest.approx([0.99, 0.01])
    assert mass(code, "which", 2, 0.25) == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("symbol", "match"),
    [
        (("index", 5, 5.0), "index in"),
        *(((stream, 2), r"0 \(the same\) or 1 \(different\)") for stream in ("confirmation", "version")),
        *((("which", 0, chance), "scale") for chance in (0.0, 1.5)),
        (("relabelled", 2), "labels as before"),
        *(
            ((stream, sign * beyond, 0.5), f"from -{10**15} to {10**15}")
            for stream in ("cells", "lattice")
            for sign in (-1, 1)
            for beyond in (10**15 + 1, 10**17)
        ),
    ],
    ids=str,
)
def test_what_is_no_value_of_a_stream_has_no_price(symbol, match):
    with pytest.raises(ValueError, match=match):
        accounting.Code().ln_prior(accounting.Symbol(*symbol))


@pytest.mark.parametrize("stream", ["cells", "lattice"])
@pytest.mark.parametrize("sign", [-1, 1])
def test_the_farthest_offset_has_a_price(stream, sign):
    most, one = (accounting.Code().ln_prior(accounting.Symbol(stream, sign * z, 0.5)) for z in (10**15, 1))
    assert -math.inf < most < one


def test_a_continuous_release_has_no_price_and_a_drawn_symbol_that_of_a_coded_one():
    account, symbols = accounting.DescriptionLength(accounting.Code()), (accounting.Symbol("grid", 3, 5.0),)
    with pytest.raises(UnsupportedEventError, match="no price"):
        account.price(accounting.LaplaceEvent(0.5))
    drawn = account.price(accounting.ExponentialMechanismEvent(0.5, symbols))
    assert drawn == account.price(accounting.CodedRelease(symbols))


def test_confirmations_have_an_urn_of_their_own_with_masses_that_sum_to_one():
    account = accounting.DescriptionLength(accounting.Code(urn_weight=50.0))
    same, different = (release(value, "confirmation") for value in (0, 1))
    untouched = account.price(release(0))
    for number, event in enumerate([same] * 5 + [different] * 2 + [same]):
        ones = (0, 0, 0, 0, 0, 0, 1, 2)[number]
        expected = [(number - ones + 9.99) / (number + 10.0), (ones + 0.01) / (number + 10.0)]
        prices = [account.price(same), account.price(different)]
        assert [math.exp(-price) for price in prices] == pytest.approx(expected)
        account.record(event)
    assert account.price(release(0)) == untouched


def test_confirmations_among_several_versions_have_another_urn():
    account = accounting.DescriptionLength(accounting.Code())
    same, different = (release(value, "version") for value in (0, 1))
    single = account.price(release(0, "confirmation"))
    assert single == account.price(same) == pytest.approx(-math.log1p(-1e-3))
    for _ in range(30):
        account.record(different)
    assert account.price(release(0, "confirmation")) == single
    assert account.price(same) == pytest.approx(math.log(40 / 9.99))
    assert math.exp(-account.price(same)) + math.exp(-account.price(different)) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("releases", "urns"),
    [
        ([release(3)], {"cells": [[3, 1]]}),  # as before there were confirmations
        ([release(1, "confirmation")], {"cells": [], "confirmation": [[1, 1]]}),
        ([release(1, "version")] * 30, {"cells": [], "version": [[1, 30]]}),
    ],
)
def test_an_account_is_written_with_the_urns_that_it_has_and_restored(releases, urns):
    written = recorded(*releases).to_dict()
    assert written["urns"] == urns
    for other in (recorded(), recorded(release(0, "confirmation"))):
        other.restore(written)
        assert other.to_dict() == written


def test_the_price_of_many_confirmations_in_closed_form_is_that_of_one_after_the_other():
    account, event = recorded(), release(0, "confirmation")
    in_one = account.price_of_repeats(event.symbols[0], 1000)
    assert in_one == pytest.approx(sum(account.record(event) for _ in range(1000)))
    assert 0.02 < in_one < 0.05


def cells_prior(z, decay, tail_mass):
    near = (1 - decay) / (1 + decay) * decay ** abs(z)
    return (1 - tail_mass) * near + tail_mass * (math.atan(z + 0.5) - math.atan(z - 0.5)) / math.pi


@pytest.mark.parametrize("z", [0, 1, -1, 2, 17, -400])
def test_the_prior_of_cells_is_geometric_with_a_tail_that_is_not(z):
    code = accounting.Code(failure_mass=0.01)
    assert mass(code, "cells", z) == pytest.approx(0.99 * cells_prior(z, 1e-3, 1e-5))
    lattice = 0.99 * (math.atan((z + 0.5) / 7.0) - math.atan((z - 0.5) / 7.0)) / math.pi
    assert mass(code, "lattice", z, 7.0) == pytest.approx(lattice)


def test_a_guess_that_is_far_off_costs_little_more_than_one_that_is_just_off():
    """A geometric law alone would ask seven nats for every cell."""
    worst = [-accounting.Code().ln_prior(accounting.Symbol("cells", z)) for z in (10, 100, 1000)]
    assert worst == pytest.approx([17, 22, 26.5], abs=0.5)
    assert -10 * math.log(accounting.Code().decay) > 69


def test_urn_prices_are_those_of_the_formula():
    code = accounting.Code(urn_weight=3.0, decay=0.1, tail_mass=0.2, failure_mass=0.01)
    account = accounting.DescriptionLength(code)
    counts: dict[object, int] = {}
    for size, value in enumerate([0, 0, 1, 0, -2, accounting.FAILURES[1], 1]):
        failed = isinstance(value, str)
        prior = 0.01 / len(accounting.FAILURES) if failed else 0.99 * cells_prior(value, 0.1, 0.2)
        expected = -math.log((counts.get(value, 0) + 3.0 * prior) / (size + 3.0))
        assert account.record(release(value)) == pytest.approx(expected)
        counts[value] = counts.get(value, 0) + 1


def test_the_total_does_not_depend_on_the_order_nor_on_how_many_symbols_an_event_has():
    values = [0, 0, 1, 0, -1, 3, 0, accounting.FAILURES[0]]
    orders = itertools.islice(itertools.permutations(values), 0, 5000, 250)
    totals = [recorded(*map(release, order)).nats for order in orders]
    at_once = recorded(
        accounting.CodedRelease(tuple(accounting.Symbol("cells", value) for value in values))
    ).nats
    assert totals == pytest.approx([at_once] * len(totals))


def test_the_urn_is_a_sub_probability_after_any_history():
    code = accounting.Code(decay=0.2, failure_mass=0.05)
    account = recorded(*map(release, (0, 0, 2, accounting.FAILURES[0], -1)), code=code)
    total = sum(math.exp(-account.price(release(z))) for z in (*range(-2000, 2001), *accounting.FAILURES))
    assert total == pytest.approx(1.0, abs=1e-6)
    assert total < 1.0


def test_closed_form_of_the_urn_is_its_product():
    product = recorded(*map(release, [0] * 30 + [1, -1, 1])).nats
    assert urn_nats(33, np.array([3]), accounting.Code())[0] == pytest.approx(product)


def test_half_cells_grow_with_the_questions_and_shrink_with_the_records():
    few = choose_half_cell(10, 0.005, 0.4, 1e4, -5.0, -3.3, accounting.Code())
    many = choose_half_cell(1000, 0.005, 0.4, 1e4, -9.6, -3.3, accounting.Code())
    large = choose_half_cell(10, 0.0005, 0.4, 1e6, -5.0, -3.3, accounting.Code())
    assert large < few < many
