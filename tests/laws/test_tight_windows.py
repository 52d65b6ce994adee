"""Windows where their levels are used up: conversations whose misses are known exactly, and what breaks them.

Analysts of small rows have little power against a correct bound, so what counts here are questions whose
one-sided ends miss with exactly the probability that they may. Everything that decides on levels, windows and
prices is the package's own: a question is asked after the state of a ledger.
"""

import math
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest

from benchmarks.validity import gates
from benchmarks.validity.simulated import SimulatedHoldout
from benchmarks.validity.window_conversations import BETA, KINDS, ROWS, Vote, conversation, missed_by_naive
from sklearn_ada.accounting.codes import symbols_of
from sklearn_ada.guarantees.windows import Windows
from sklearn_ada.holdout.asking import transcript_of
from sklearn_ada.holdout.state import State
from sklearn_ada.metrics.base import RowsInterval
from sklearn_ada.questions.all_rows import RowsQuestion
from sklearn_ada.questions.question import Transcript
from sklearn_ada.questions.seals import SealedInterval
from sklearn_ada.questions.windows import WindowQuestion
from tests.support.laws import is_missed, is_too_often

pytestmark = pytest.mark.filterwarnings("ignore:An answer of the holdout certifies", "ignore:The holdout has")
ASKS, VOTERS = 20, 61


def begun():
    """Return the state of a ledger that has answered nothing, and all that its windows may miss."""
    holdout = SimulatedHoldout(
        np.arange(4.0)[:, None], np.arange(4) % 2, answers="coarse", confidence_level=0.1
    )
    state = State(holdout.ledger.genesis)
    return state, math.exp(state.policy.ln_transcript)


class Ends(SimpleNamespace):
    """The ends of a question as a function of what was seen and, at most, of the first of the levels."""

    def ends(self, seen, ln_deltas, draw, even=0):
        return [self.of(seen.value, math.exp(min(each, ln_deltas[0])) / 2.0) for each in ln_deltas]


def question(of, windows):
    """Return a question with these ends, which are a function of what was seen and of the level of a side."""
    return WindowQuestion(SimpleNamespace(), Ends(of=of), SealedInterval(windows))


def told(asked, state, seen):
    """Return which window is released next, and the event of it."""
    (event, _), _ = asked.sealing(SimpleNamespace(value=seen), state.allowance("certify"), None)
    return symbols_of(event)[0].value, event


def without_own_price(state, event):
    return Transcript(state.policy.ln_transcript, state.account.nats)


def without_earlier_prices(state, event):
    return Transcript(state.policy.ln_transcript, state.account.price(event))


def without_prices(state, event):
    return Transcript(state.policy.ln_transcript, 0.0)


def around(guess, half, reach=1e-3):
    span = {"bottom": -100.0, "top": 100.0}
    return Windows(guess, guess - reach, guess + reach, -3.0, 1.0, half=half, slack=0.0, **span)


def misses_of_independent_records(rule, half):
    """Return how often one of twenty announced windows is told that lies above the truth, which is 0.

    Every question is about a record of its own, U, and its lower end at level t is above 0 if and only if U
    is above 1 - t. So an announced window above 0 is told with exactly the probability t, else its neighbour.
    """
    state, _ = begun()
    windows, nothing = around(2.0 * half, half), 1.0
    asked = question(lambda u, t: (windows.guess,) * 2 if u > 1.0 - t else (0.0, 0.0), windows)
    for _ in range(ASKS):
        now = asked.after(partial(rule, state))
        level = math.exp(now.ln_level)
        number, event = told(now, state, 1.0 - 1.001 * level)
        assert (number, told(now, state, 1.0 - 0.999 * level)[0]) == (-1, 0)
        low, high = now.seal.span(0, now.ln_level, 0.0)
        assert 0.0 < low < high
        nothing *= 1.0 - level
        state.account.record(event)
    return 1.0 - nothing


@pytest.mark.parametrize(("half", "least"), [(0.25, 0.2), (1.0, 0.7), (2.5, 0.95)])
def test_twenty_independent_records_miss_hardly_less_often_than_they_may(half, least):
    _, may = begun()
    assert least * may < misses_of_independent_records(transcript_of, half) <= may


@pytest.mark.parametrize(
    ("mutant", "half"), [(without_own_price, 0.25), (without_earlier_prices, 0.25), (without_prices, 2.5)]
)
def test_a_price_that_is_left_out_is_noticed(mutant, half):
    _, may = begun()
    assert misses_of_independent_records(mutant, half) > 1.15 * may


def misses_of_one_record(rule):
    """Return how often the second question about one record U misses, after the first has told its third.

    The ends of the first question always hold its truth, 0, and lie in another window for each third of U.
    The second's lower end at level t is above the truth on a part of measure t of the third that was told.
    """
    total = 0.0
    ends = {0: (-3.0, 3.0), 1: (-1.0, 5.0), -1: (-5.0, 1.0)}
    for third in ends:
        state, _ = begun()
        first = question(lambda u, t: ends[u], around(0.0, 1.0, reach=3.0)).after(partial(rule, state))
        number, event = told(first, state, third)
        assert number == third
        state.account.record(event)
        second = question(lambda u, t: (u, u), around(2.0, 1.0)).after(partial(rule, state))
        total += min(math.exp(second.ln_level), 1.0 / 3.0)
    return total


def test_a_record_that_is_known_by_its_window_is_paid_for():
    _, may = begun()
    assert misses_of_one_record(transcript_of) <= may
    assert misses_of_one_record(without_prices) > 2.0 * may


def levels_of_parts():
    """Return the levels at which construction and fallback of a question of all rows are evaluated."""
    used = []

    def of(*rows_and_level):
        used.append(rows_and_level[-2])
        return 0.0, 1.0

    def usual(seen, ln_deltas, draw):
        used.extend(ln_deltas)
        return [(0.0, 1.0)] * len(ln_deltas)

    coded = SimpleNamespace(
        measure=SimpleNamespace(of_all_rows=False), metric=SimpleNamespace(bounds=(0.0, 1.0)), ends=usual
    )
    seen = SimpleNamespace(value=0.5, y=None, outputs=None, classes=None)
    draw = SimpleNamespace(own_generator=lambda: None)
    RowsQuestion(coded, RowsInterval("", "", {}, None, of), 1.0).ends(seen, (math.log(0.1),), draw)
    return sum(map(math.exp, used))


def test_a_fallback_has_a_level_of_its_own():
    assert 0.09 < levels_of_parts() <= 0.1 * (1.0 + 1e-12)
    with patch.object(RowsQuestion, "_parts", lambda self, ln_delta: (ln_delta, ln_delta)):
        assert levels_of_parts() > 0.15


def vote_by_values(seed):
    """Return whether the published vote misses whose features have the sides of the values that are told."""
    kind = KINDS["F1"]
    rng = np.random.default_rng([43, seed])
    X, y = rng.normal(size=(ROWS, VOTERS)), rng.permutation(np.arange(ROWS) % 2)
    settings = {"answers": "coarse", "confidence_level": 1.0 - BETA, "scoring": "f1"}
    holdout, truth = SimulatedHoldout(X, y, seed=seed, **settings), kind.truth(y)
    values = [kind.ask(holdout, kind.model(one), truth).value for one in np.eye(VOTERS)]
    weights = np.array(values) - truth
    weights[weights == 0.0] = 1e-3
    return is_missed(kind.publish(holdout, kind.model(weights), truth).interval, truth)


def announced_by(of):
    """Let windows be announced by what ``of`` makes of them and of what was seen of the holdout."""
    sealing = WindowQuestion.sealing

    def mutant(self, seen, allowance, draw):
        windows = replace(self.seal.windows, **of(self.seal.windows, seen))
        object.__setattr__(self, "seal", replace(self.seal, windows=windows))
        return sealing(self, seen, allowance, draw)

    return patch.object(WindowQuestion, "sealing", mutant)


def by_value(windows, seen):
    by = seen.value - windows.guess
    return {"guess": seen.value, "low": windows.low + by, "high": windows.high + by}


def by_deviation(windows, seen):
    by = np.std(np.abs(seen.y.ravel() - seen.outputs.ravel())) / DEVIATION
    ends = {"low": windows.low, "high": windows.high}
    return {name: float(windows.guess + by * (end - windows.guess)) for name, end in ends.items()}


def test_windows_that_are_announced_from_the_holdout_tell_its_values_for_nothing():
    assert not is_too_often(sum(map(vote_by_values, range(8))), 8, BETA)
    with announced_by(by_value):
        assert is_too_often(sum(map(vote_by_values, range(22))), 22, BETA)


FEW, TRUTH, DEVIATION = 160, -0.75, math.sqrt(3.0) / 4.0
"""A quarter of all errors is 1.5, the rest .5, whatever a vote says of labels that are -1, 0, 0 and 1."""


def vote_by_widths(seed, usual=None):
    """Return whether the published vote misses that counts on features with narrow windows.

    The analyst guesses that it is half as often wrong, so that the guess does not draw an end to the truth.
    ``usual`` is how wide windows are that are not announced from the holdout; None to return that.
    """
    rng = np.random.default_rng([44, seed])
    X, y = rng.normal(size=(FEW, VOTERS)), rng.permutation(np.resize([-1.0, 0.0, 0.0, 1.0], FEW))
    known = np.random.default_rng(45).normal(size=(4 * FEW, VOTERS))
    holdout = SimulatedHoldout(X, y, seed=seed, answers="coarse", scoring="neg_mean_absolute_error")

    def guess(model, wrong=(-1.0,)):
        labels = np.sign(model.predict(known)) * np.resize([*wrong, 0.0, 0.0, 1.0], 4 * FEW)
        return {"scoring": "neg_mean_absolute_error", "guess_from": (known, labels)}

    asked = [Vote(one, 0.5) for one in np.eye(VOTERS)]
    widths = np.array([2.0 * holdout.certify(model, **guess(model)).half_width for model in asked])
    if usual is None:
        return widths
    model = Vote(usual - widths + 1e-9, 0.5)
    return is_missed(holdout.publish(model, **guess(model, (-1.0, 0.0, 0.0, 1.0, 1.0))).interval, TRUTH)


def test_windows_that_are_announced_from_the_deviation_of_the_holdout_tell_its_values_for_nothing():
    usual = vote_by_widths(0)
    assert not any(vote_by_widths(seed, usual) for seed in range(2))
    with announced_by(by_deviation):
        assert is_too_often(sum(vote_by_widths(seed, usual) for seed in range(5)), 5, 0.05)


@pytest.mark.thorough
@pytest.mark.parametrize("name", KINDS)
def test_conversations_that_learn_from_windows_are_covered_and_the_bootstrap_is_not(name):
    runs = 20
    found = [conversation(KINDS[name], seed)["any"] for seed in range(runs)]
    assert not is_too_often(sum(found), runs, BETA)
    assert is_too_often(sum(missed_by_naive(KINDS[name], seed) for seed in range(3 * runs)), 3 * runs, BETA)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", gates.GATES)
def test_who_keeps_what_a_gate_lets_pass_is_covered_and_by_the_values_is_not(kind):
    runs = 6
    assert not is_too_often(sum(gates.conversation(kind, seed) for seed in range(runs)), runs, BETA)
    assert is_too_often(sum(map(gates.missed_by_naive, range(5 * runs))), 5 * runs, BETA)
