"""EffectiveRounds on a ledger: slices give guesses until the holdout denies one; the ledger counts them."""

import json
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin

from sklearn_ada import Holdout
from tests.support.laws import is_too_often

pytestmark = pytest.mark.thorough
SLICES, SIZE, HELD, FEATURES, BETA = 3, 300, 1000, 200, 0.05


class Vote(ClassifierMixin, BaseEstimator):
    """Say what the sum of some features says; there is nothing to learn."""

    def __init__(self, weights):
        self.weights = weights
        self.classes_ = np.array([0, 1])

    def predict(self, X):
        return (X @ np.asarray(self.weights) > 0).astype(int)


def rows(seed):
    """Return slices and a holdout of features and labels that are coins: every accuracy is one half."""
    rng = np.random.default_rng(seed)
    sizes = [SIZE] * SLICES + [HELD]
    return [(rng.choice([-1, 1], (size, FEATURES)), rng.integers(0, 2, size)) for size in sizes]


class OnLedger:
    """What the page on EffectiveRounds does; it keeps nothing but the holdout."""

    def __init__(self, seed, ledger):
        *self.slices, held = rows(seed)
        self.holdout = Holdout(*held, ledger=ledger, expected_questions=SLICES * (FEATURES + 1))

    @property
    def defeated(self):
        return sum(answer.verdict == "differs" for _, answer in self.holdout.report().answers)

    def ask(self, model, defeated):
        return self.holdout.check(model, scoring="accuracy", guess_from=self.slices[defeated])

    def attack(self):
        """Ask about each feature, then about the vote of those that the slice favours; return all answers."""
        used = self.defeated
        single = [self.ask(Vote(row), used) for row in np.eye(FEATURES, dtype=int)]
        favoured = np.sign([answer.value - 0.5 for answer in single]).astype(int)
        return [*single, self.ask(Vote(favoured + (favoured == 0)), used)]


def naive_interval(model, X, y):
    """Return the interval of a slice as if nobody had looked at it before."""
    right = int((model.predict(X) == y).sum())
    interval = stats.binomtest(right, len(y)).proportion_ci(1.0 - BETA)
    return interval.low, interval.high


def test_every_interval_holds_while_slices_are_defeated_one_after_the_other():
    runs, missed, fooled = 8, 0, 0
    for seed in range(runs):
        asker = OnLedger(seed, ":memory:")
        told = []
        for number in range(SLICES):
            assert asker.defeated == number
            told += asker.attack()
        assert [answer.verdict for answer in told].count("differs") == asker.defeated == SLICES
        missed += not all(answer.interval[0] <= 0.5 <= answer.interval[1] for answer in told)
        first = np.sign([answer.value - 0.5 for answer in told[:FEATURES]]).astype(int)
        assert Vote(first).score(*asker.slices[0]) > 0.65
        low, high = naive_interval(Vote(first), *asker.slices[0])
        fooled += not low <= 0.5 <= high
    assert not is_too_often(missed, runs, BETA)
    assert fooled > 0.9 * runs  # by the slice alone


def test_another_process_goes_on_with_the_slice_that_is_next(tmp_path):
    path = str(tmp_path / "rounds.db")
    here = OnLedger(0, path)
    told = here.attack()
    code = f"""
import json
from tests.laws.test_slices_on_a_ledger import OnLedger
there = OnLedger(0, {path!r})
before = there.defeated
told = there.attack()
print(json.dumps([before, there.defeated, [answer.index for answer in told]]))
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    before, after, places = json.loads(ran.stdout)
    assert (before, after) == (1, 2) == (before, here.defeated)
    assert min(places) > max(answer.index for answer in told)
    assert OnLedger(0, path).defeated == 2
