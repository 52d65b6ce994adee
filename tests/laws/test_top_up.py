"""Fresh rows do not wash off what was revealed about the old ones: a top-up that forgets L is caught."""

from contextlib import nullcontext
from unittest.mock import patch

import numpy as np
import pytest

from benchmarks.validity.simulated import SimulatedHoldout
from sklearn_ada import Guess
from sklearn_ada.accounting import DescriptionLength
from sklearn_ada.holdout.state import State
from tests.support.laws import is_missed, is_too_often, naive_interval

OLD, NEW, PREDICTORS, BETA = 500, 125, 150, 0.05


def forgets_nats():
    """A top-up that starts the account anew, as if all rows were fresh."""
    real = State.advance

    def advance(self, body):
        real(self, body)
        if body["kind"] == "top_up":
            self.account = DescriptionLength(self.policy.code)

    return patch.object(State, "advance", advance)


def certified(holdout, right):
    """The interval of a predictor that is right on so many rows."""
    return holdout.ask_count(int(right), "certify", Guess(0.5)).interval


def votes(right, signs):
    """On how many rows the vote of predictors, turned by signs, is right, given where each of them is."""
    return int((signs @ (2 * right - 1) > 0).sum())


def attack(seed):
    """Certify random predictors on the old rows, top up, then certify their vote on all rows.

    Returns whether any interval misses one half, and on how many new and on how many of all rows the vote
    is right.
    """
    right = np.random.default_rng(seed).integers(0, 2, (PREDICTORS, OLD + NEW))
    holdout = SimulatedHoldout.of_counts(OLD, confidence_level=1.0 - BETA, check_share=0.5)
    counts = right[:, :OLD].sum(axis=1)
    intervals = [certified(holdout, count) for count in counts]
    signs = np.where(counts >= OLD / 2, 1, -1)
    on_new, on_all = votes(right[:, OLD:], signs), votes(right, signs)
    larger = holdout.top_up(np.arange(OLD, OLD + NEW)[:, None], np.zeros(NEW, dtype=np.int8))
    intervals.append(certified(larger, on_all))
    return any(is_missed(interval, 0.5) for interval in intervals), on_new, on_all


def misses(runs, mutant=nullcontext):
    with mutant():
        return sum(attack(seed)[0] for seed in range(runs))


@pytest.mark.parametrize("runs", [pytest.param(300, marks=pytest.mark.slow), 20])
def test_all_intervals_hold_together_and_a_top_up_that_forgets_what_was_revealed_is_caught(runs):
    assert not is_too_often(misses(runs), runs, BETA)
    assert is_too_often(misses(20, forgets_nats), 20, BETA)


def test_the_naive_interval_on_old_and_new_rows_fails_and_fresh_rows_alone_owe_nothing():
    naive = fresh = 0
    for seed in range(20):
        _, on_new, on_all = attack(seed)
        naive += is_missed(naive_interval(on_all, OLD + NEW, BETA), 0.5)
        fresh_rows = SimulatedHoldout.of_counts(NEW, confidence_level=1.0 - BETA)
        fresh += is_missed(certified(fresh_rows, on_new), 0.5)
    assert is_too_often(naive, 20, BETA)
    assert not is_too_often(fresh, 20, BETA)
