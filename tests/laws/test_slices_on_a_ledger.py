"""EffectiveRounds on a ledger: slices give guesses until the holdout denies one; the ledger counts them."""

import json

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from sklearn_ada import Holdout
from tests.support.laws import is_missed, is_too_often, naive_interval
from tests.support.processes import interpreter

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
        # Another guess is no other question, and another width of the cells is.
        asked = {"guess_from": self.slices[defeated], "settings": 0.13 + 0.001 * defeated}
        return self.holdout.check(model, scoring="accuracy", **asked)

    def attack(self):
        """Ask about each feature, then about the vote of those that the slice favours; return all answers."""
        used = self.defeated
        single = [self.ask(Vote(row), used) for row in np.eye(FEATURES, dtype=int)]
        favoured = np.sign([answer.value - 0.5 for answer in single]).astype(int)
        return [*single, self.ask(Vote(favoured + (favoured == 0)), used)]


def test_every_interval_holds_while_slices_are_defeated_one_after_the_other():
    runs, missed, fooled = 8, 0, 0
    for seed in range(runs):
        asker = OnLedger(seed, ":memory:")
        answers = []
        for number in range(SLICES):
            assert asker.defeated == number
            answers += asker.attack()
        assert [answer.verdict for answer in answers].count("differs") == asker.defeated == SLICES
        missed += any(is_missed(answer.interval, 0.5) for answer in answers)
        first = np.sign([answer.value - 0.5 for answer in answers[:FEATURES]]).astype(int)
        assert Vote(first).score(*asker.slices[0]) > 0.65
        X, y = asker.slices[0]  # by the slice alone, as if nobody had looked at it before
        fooled += is_missed(naive_interval((Vote(first).predict(X) == y).sum(), len(y), BETA), 0.5)
    assert not is_too_often(missed, runs, BETA)
    assert fooled > 0.9 * runs


def test_another_process_goes_on_with_the_slice_that_is_next(tmp_path):
    path = str(tmp_path / "rounds.db")
    here = OnLedger(0, path)
    first = here.attack()
    code = f"""
        import json
        from tests.laws.test_slices_on_a_ledger import OnLedger
        there = OnLedger(0, {path!r})
        before, answers = there.defeated, there.attack()
        print(json.dumps([before, there.defeated, [answer.index for answer in answers]]))
    """
    before, after, places = json.loads(interpreter(code).stdout)
    assert (before, after) == (1, 2) == (before, here.defeated)
    assert min(places) > max(answer.index for answer in first)
    assert OnLedger(0, path).defeated == 2
