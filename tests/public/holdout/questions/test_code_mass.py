"""What a question can reveal has a mass of at most one, whatever was revealed before: or it were no code."""

import itertools
import math

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from sklearn_ada import Guess, Holdout, LadderSettings, MedianSettings
from sklearn_ada.mechanisms import UniformGrid
from tests.support import holdouts

ROWS, FAILED = 20, 12
LEDGERS = (f":memory:{number}" for number in itertools.count())


class Right(ClassifierMixin, BaseEstimator):
    """Is right on so many of the rows; on none it raises."""

    fitted_ = True

    def __init__(self, rows, name):
        self.rows, self.name = rows, name

    def predict(self, X):
        if not self.rows:
            raise ValueError("none")
        return (np.arange(len(X)) < self.rows).astype(int)


KINDS = {
    "check": ("check", None),
    "certify": ("certify", None),
    "first of a ladder": ("check", LadderSettings(0.05)),
    "median": ("check", MedianSettings(5, UniformGrid(0.0, 1.0, 21), method="exact")),
}


@pytest.mark.parametrize("before", ["nothing", "failures", "answers"])
@pytest.mark.parametrize("kind", KINDS)
def test_all_that_a_question_can_reveal_has_a_mass_of_at_most_one(kind, before):
    purpose, settings = KINDS[kind]
    asked = {"scoring": "accuracy", "purpose": purpose, "guess": Guess(0.85, 1000), "settings": settings}
    y, mass = (np.arange(ROWS) >= 3).astype(int), {}
    for rows in range(ROWS + 1):
        holdout = Holdout(np.zeros((ROWS, 1)), y, random_state=0, ledger=next(LEDGERS))
        for number in range(FAILED if before != "nothing" else 0):
            holdout.check(Right(0 if before == "failures" else 20, number), scoring="accuracy", guess=0.5)
        answer = holdouts.ask(holdout, Right(rows, "last"), **asked)
        mass[answer.verdict, answer.value, answer.interval] = math.exp(-answer.cost.nats)
    assert 0.0 < sum(mass.values()) <= 1.0 + 1e-9


@pytest.mark.parametrize("share", [0.2, 0.85])
def test_a_ladder_that_failed_first_gives_a_value_next(share):
    holdout = Holdout(np.zeros((ROWS, 1)), np.ones(ROWS, int), ledger=next(LEDGERS))
    asked = {"scoring": "accuracy", "guess": 0.85, "settings": LadderSettings(0.05)}
    assert holdout.check(Right(0, "a"), **asked).verdict == "failed"
    answer = holdout.check(Right(int(share * ROWS), "b"), **asked)
    assert answer.verdict == "improves"
    assert answer.value == pytest.approx(share, abs=0.05)
