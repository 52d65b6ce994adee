"""Weights sum to at most one, codes are sub-probabilities, prices are those of the urn."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_ada.accounting import (
    FAILURES,
    Code,
    CodedRelease,
    DescriptionLength,
    ExponentialMechanismEvent,
    LaplaceEvent,
    Symbol,
)
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
def test_a_round_weighs_as_much_as_its_questions_one_by_one(purpose, expected):
    for first, size in itertools.product(range(12), range(1, 9)):
        alone = sum(round_weight(purpose, first + i, 1, expected) for i in range(size))
        assert size * round_weight(purpose, first, size, expected) == pytest.approx(alone)


def test_all_weight_is_used_in_the_limit():
    assert 10**9 * round_weight("check", 0, 10**9) == pytest.approx(1.0)
    assert 10**9 * round_weight("certify", 0, 10**9) == pytest.approx(1.0)


@pytest.mark.parametrize("stream", ["cells", "lattice", "grid", "count", "spread"])
def test_every_code_with_its_failures_sums_to_at_most_one(stream):
    code = Code(decay=0.2, failure_mass=0.05)
    low = 0 if stream == "spread" else -3000
    total = sum(math.exp(code.ln_prior(Symbol(stream, z, 4.0))) for z in range(low, 3001))
    total += sum(math.exp(code.ln_prior(Symbol(stream, reason, 4.0))) for reason in FAILURES)
    assert 0.98 < total <= 1.0 + 1e-12


def test_index_and_overlap_codes_sum_to_at_most_one():
    code = Code()
    index = sum(math.exp(code.ln_prior(Symbol("index", i, 5.0))) for i in range(5))
    overlap = sum(math.exp(code.ln_prior(Symbol("overlap", i))) for i in (0, 1))
    assert index <= 1.0
    assert overlap == pytest.approx(1.0)
    with pytest.raises(ValueError, match="index in"):
        code.ln_prior(Symbol("index", 5, 5.0))


def test_confirmations_have_an_urn_of_their_own_with_masses_that_sum_to_one():
    account, cells = DescriptionLength(Code(urn_weight=50.0)), Symbol("cells", 0)
    same, different = (CodedRelease((Symbol("confirmation", value),)) for value in (0, 1))
    untouched = account.price(CodedRelease((cells,)))
    for number, event in enumerate([same] * 5 + [different] * 2 + [same]):
        ones = (0, 0, 0, 0, 0, 0, 1, 2)[number]
        expected = [(number - ones + 9.99) / (number + 10.0), (ones + 0.01) / (number + 10.0)]
        prices = [account.price(same), account.price(different)]
        assert [math.exp(-price) for price in prices] == pytest.approx(expected)
        account.record(event)
    assert account.price(CodedRelease((cells,))) == untouched
    with pytest.raises(ValueError, match=r"0 \(the same\) or 1 \(different\)"):
        Code().ln_prior(Symbol("confirmation", 2))


def test_confirmations_among_several_versions_have_another_urn():
    account = DescriptionLength(Code())
    same, different = (CodedRelease((Symbol("version", value),)) for value in (0, 1))
    single = CodedRelease((Symbol("confirmation", 0),))
    before = account.price(single), account.price(same)
    assert before[0] == before[1] == pytest.approx(-math.log1p(-1e-3))
    for _ in range(30):
        account.record(different)
    assert account.price(single) == before[0]
    assert account.price(same) == pytest.approx(math.log(40 / 9.99))
    assert math.exp(-account.price(same)) + math.exp(-account.price(different)) == pytest.approx(1.0)
    told = account.to_dict()
    assert told["urns"] == {"cells": [], "version": [[1, 30]]}
    later = DescriptionLength(Code())
    later.restore(told)
    assert later.to_dict() == told
    with pytest.raises(ValueError, match=r"0 \(the same\) or 1 \(different\)"):
        Code().ln_prior(Symbol("version", 2))


def test_the_price_of_many_confirmations_in_closed_form_is_that_of_one_after_the_other():
    account, event = DescriptionLength(Code()), CodedRelease((Symbol("confirmation", 0),))
    in_one = account.price_of_repeats(event.symbols[0], 1000)
    assert in_one == pytest.approx(sum(account.record(event) for _ in range(1000)))
    assert 0.02 < in_one < 0.05


def test_which_of_several_has_the_probability_that_it_is_given():
    code = Code()
    assert code.ln_prior(Symbol("which", 2, 0.25)) == pytest.approx(math.log(0.25))
    for chance in (0.0, 1.5):
        with pytest.raises(ValueError, match="scale"):
            code.ln_prior(Symbol("which", 0, chance))


def test_other_labels_are_one_of_two():
    code = Code()
    masses = [math.exp(code.ln_prior(Symbol("relabelled", value))) for value in (0, 1)]
    assert masses == pytest.approx([0.99, 0.01])
    with pytest.raises(ValueError, match="labels as before"):
        code.ln_prior(Symbol("relabelled", 2))


def test_an_account_without_confirmations_is_written_as_before_there_were_any():
    account = DescriptionLength(Code())
    account.record(CodedRelease((Symbol("cells", 3),)))
    told = account.to_dict()
    assert told["urns"] == {"cells": [[3, 1]]}
    later = DescriptionLength(Code())
    later.record(CodedRelease((Symbol("confirmation", 1),)))
    assert later.to_dict()["urns"] == {"cells": [], "confirmation": [[1, 1]]}
    later.restore(told)
    assert later.to_dict() == told


def _release(value):
    return CodedRelease((Symbol("cells", value),))


def _cells_prior(z, decay, tail_mass):
    near = (1 - decay) / (1 + decay) * decay ** abs(z)
    return (1 - tail_mass) * near + tail_mass * (math.atan(z + 0.5) - math.atan(z - 0.5)) / math.pi


@pytest.mark.parametrize("z", [0, 1, -1, 2, 17, -400])
def test_the_prior_of_cells_is_geometric_with_a_tail_that_is_not(z):
    code = Code(failure_mass=0.01)
    assert math.exp(code.ln_prior(Symbol("cells", z))) == pytest.approx(0.99 * _cells_prior(z, 1e-3, 1e-5))
    lattice = 0.99 * (math.atan((z + 0.5) / 7.0) - math.atan((z - 0.5) / 7.0)) / math.pi
    assert math.exp(code.ln_prior(Symbol("lattice", z, 7.0))) == pytest.approx(lattice)


def test_a_guess_that_is_far_off_costs_little_more_than_one_that_is_just_off():
    """A geometric law alone would ask seven nats for every cell."""
    code = Code()
    worst = [-code.ln_prior(Symbol("cells", z)) for z in (10, 100, 1000)]
    assert worst == pytest.approx([17, 22, 26.5], abs=0.5)
    assert -10 * math.log(code.decay) > 69


def test_urn_prices_are_those_of_the_formula():
    code = Code(urn_weight=3.0, decay=0.1, tail_mass=0.2, failure_mass=0.01)
    account = DescriptionLength(code)
    counts: dict[object, int] = {}
    for size, value in enumerate([0, 0, 1, 0, -2, FAILURES[1], 1]):
        failed = isinstance(value, str)
        prior = 0.01 / len(FAILURES) if failed else 0.99 * _cells_prior(value, 0.1, 0.2)
        expected = -math.log((counts.get(value, 0) + 3.0 * prior) / (size + 3.0))
        assert account.record(_release(value)) == pytest.approx(expected)
        counts[value] = counts.get(value, 0) + 1


def test_the_total_does_not_depend_on_the_order():
    values = [0, 0, 1, 0, -1, 3, 0, FAILURES[0]]
    totals = []
    for order in itertools.islice(itertools.permutations(values), 0, 5000, 250):
        account = DescriptionLength(Code())
        for value in order:
            account.record(_release(value))
        totals.append(account.nats)
    assert totals == pytest.approx([totals[0]] * len(totals))


def test_an_event_of_many_symbols_costs_what_its_symbols_cost():
    values = [0, 1, 1, 0, -1]
    one_by_one, at_once = DescriptionLength(Code()), DescriptionLength(Code())
    for value in values:
        one_by_one.record(_release(value))
    at_once.record(CodedRelease(tuple(Symbol("cells", v) for v in values)))
    assert at_once.nats == pytest.approx(one_by_one.nats)


def test_the_urn_is_a_sub_probability_after_any_history():
    account = DescriptionLength(Code(decay=0.2, failure_mass=0.05))
    for value in (0, 0, 2, FAILURES[0], -1):
        account.record(_release(value))
    total = sum(math.exp(-account.price(_release(z))) for z in range(-2000, 2001))
    total += sum(math.exp(-account.price(_release(reason))) for reason in FAILURES)
    assert total == pytest.approx(1.0, abs=1e-6)
    assert total < 1.0


def test_a_continuous_release_has_no_price():
    with pytest.raises(UnsupportedEventError, match="no price"):
        DescriptionLength(Code()).price(LaplaceEvent(0.5))


def test_a_drawn_symbol_costs_what_a_coded_one_does():
    symbols = (Symbol("grid", 3, 5.0),)
    account = DescriptionLength(Code())
    drawn = account.price(ExponentialMechanismEvent(0.5, symbols))
    assert drawn == account.price(CodedRelease(symbols))


def test_closed_form_of_the_urn_is_its_product():
    code = Code()
    account = DescriptionLength(code)
    for value in [0] * 30 + [1, -1, 1]:
        account.record(_release(value))
    assert urn_nats(33, np.array([3]), code)[0] == pytest.approx(account.nats)


def test_half_cells_grow_with_the_questions_and_shrink_with_the_records():
    few = choose_half_cell(10, 0.005, 0.4, 1e4, -5.0, -3.3, Code())
    many = choose_half_cell(1000, 0.005, 0.4, 1e4, -9.6, -3.3, Code())
    large = choose_half_cell(10, 0.0005, 0.4, 1e6, -5.0, -3.3, Code())
    assert large < few < many


@pytest.mark.parametrize("stream", ["cells", "lattice"])
@pytest.mark.parametrize("sign", [-1, 1])
def test_an_offset_has_a_price_up_to_the_most_there_is_and_none_beyond(stream, sign):
    most, one = (Code().ln_prior(Symbol(stream, sign * z, 0.5)) for z in (10**15, 1))
    assert -math.inf < most < one
    for beyond in (10**15 + 1, 10**17):
        with pytest.raises(ValueError, match=f"from -{10**15} to {10**15}"):
            Symbol(stream, sign * beyond, 0.5)
