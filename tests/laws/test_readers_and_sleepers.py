"""Conversations about rounds and arrival: models that read the log, and threads that sleep by their rows.

Each has a twin in which the premise is dropped, as an earlier version of the package had it: the same
statistic must notice that.
"""

import functools
import importlib
import threading

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV

from sklearn_ada import Holdout, ReusableHoldoutCV
from sklearn_ada.accounting.arrivals import Arrivals
from sklearn_ada.holdout import asking, pending, rounds
from sklearn_ada.model_selection import certifying
from tests.support.laws import is_missed, is_too_often
from tests.support.ledgers import forget_ledgers_in_memory
from tests.support.processes import together

LEVEL, MANY = 0.36, 20  # so many conversations show that nearly all miss
POLICY = {"ledger": ":memory:", "answers": "exact", "confidence_level": 1.0 - LEVEL}


def sized(*small):
    """Conversations and their number: so many of each kind by default, and 1,000 of the whole."""
    few = [pytest.param(*each, marks=pytest.mark.thorough) for each in small]
    return few + [pytest.param(each[0], 1000, marks=pytest.mark.slow) for each in small]


# --- readers of the log, in rounds --------------------------------------------------------------------------

COINS, ROWS = 40, 40
LOG = []


class Coin(ClassifierMixin, BaseEstimator):
    """Right where one fair column is 1; number 0 votes by what it reads in the log."""

    def __init__(self, number=0):
        self.number = number

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        X = np.asarray(X)
        votes = self.number == 0 and X[0, -1] == 1
        return np.where(_vote(X) if votes else X[:, self.number + 1] == 1, X[:, 0], 1 - X[:, 0])


def _vote(X):
    (holdout,) = importlib.import_module(__name__).LOG  # where the digest of a model does not follow
    read = np.array([answer.value for _, answer in holdout.report().answers])
    return (2 * X[:, 2 : 2 + len(read)] - 1) @ (read - 0.5) > 0 if len(read) else X[:, 2] == 1


def rows_of_coins(seed):
    """Return rows with their label, a column that ranks the vote last, fair coins and a mark."""
    rng, y = np.random.default_rng([seed, 1]), np.arange(ROWS) % 2
    return np.column_stack([y, 0 * y, rng.integers(2, size=(ROWS, COINS)), 0 * y + 1]), y


def rows_that_rank():
    """Return training rows on which each coin is worse than the one before it, and the vote is the worst."""
    y, m = np.tile([0, 1], 2 * COINS), 4 * COINS
    right = [[0] * m, *([1] * (m * 5 // 8 - number) + [0] * (m * 3 // 8 + number) for number in range(COINS))]
    return np.column_stack([y, np.transpose(right), 0 * y]), y


def by_check_many(holdout):
    models = [Coin(number).fit(None, None) for number in (*range(1, COINS + 1), 0)]
    holdout.check_many(models, scoring="accuracy", guesses=[0.5] * len(models), settings=0.5 / ROWS)


def by_search(holdout):
    X, y = rows_that_rank()
    inner = GridSearchCV(Coin(), {"number": list(range(COINS + 1))}, cv=[(np.arange(2), np.arange(len(y)))])
    ReusableHoldoutCV(inner, ask=COINS + 1, holdout=holdout).fit(X, y)


def misses_of_readers(ask, runs):
    """Count the conversations in which an interval of a round misses, whose last model votes by the log."""
    missed = 0
    for seed in runs:
        forget_ledgers_in_memory()
        LOG[:] = [Holdout(*rows_of_coins(seed), **POLICY)]
        ask(LOG[0])
        answers = [answer for _, answer in LOG[0].report().answers]
        assert len(answers) == COINS + 1
        missed += any(is_missed(answer.interval, 0.5) for answer in answers)
    return missed


def one_by_one(session, questions):
    """Record each answer as soon as its model has looked, with the L of the round's opening for all."""
    opening = session.ledger.read(lambda state: state.account.nats)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asking, "Together", functools.partial(asking.Together, opening))
        return [asking.put_question(session, *each) for each in questions]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("ask", "runs"), sized((by_check_many, 100), (by_search, 40)))
def test_whoever_reads_the_log_of_its_own_round_is_missed_no_more_often_than_allowed(ask, runs, monkeypatch):
    assert not is_too_often(misses_of_readers(ask, range(runs)), runs, LEVEL)
    for room in (rounds, certifying):
        monkeypatch.setattr(room, "put_together", one_by_one)
    assert is_too_often(misses_of_readers(ask, range(MANY)), MANY, LEVEL)


# --- sleepers, in threads -----------------------------------------------------------------------------------

FEW = 20  # rows


class Turns:
    """Lets threads look at once, and go on by what they have seen: the best first.

    As if each slept the longer the worse it is, without the time that takes.
    """

    def __init__(self, askers):
        self._gate, self._counts, self._answered = threading.Barrier(askers), [], threading.Condition()

    def sleep(self, count, number):
        self._counts.append((-count, number))
        self._gate.wait(60)
        with self._answered:
            self._answered.wait_for(lambda: (-count, number) == min(self._counts), 60)

    def awake(self):
        with self._answered:
            self._counts.remove(min(self._counts))
            self._answered.notify_all()


class Sleeper(Coin):
    """Answers once all that are right more often have their answers."""

    def predict(self, X):
        importlib.import_module(__name__).TURNS[-1].sleep(int(np.sum(X[:, self.number + 1])), self.number)
        return super().predict(X)


TURNS = []


def misses_of_sleepers(askers, runs):
    """Count the conversations in which an interval misses of threads of which the luckiest is the first."""
    missed = 0
    for seed in runs:
        forget_ledgers_in_memory()
        rng, y = np.random.default_rng([seed, 2]), np.arange(FEW) % 2
        X = np.column_stack([y, 0 * y, rng.integers(2, size=(FEW, askers)), 0 * y])
        holdout, answers = Holdout(X, y, **POLICY), []
        TURNS[:] = [Turns(askers)]

        def ask(number, holdout=holdout, answers=answers):
            model = Sleeper(number).fit(None, None)
            answers.append(holdout.certify(model, scoring="accuracy", guess=0.8))
            TURNS[0].awake()

        together(*(functools.partial(ask, number) for number in range(1, askers + 1)))
        assert len(answers) == askers
        missed += any(is_missed(answer.interval, 0.5) for answer in answers)
    return missed


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("askers", "runs"), sized((40, 60), (3, 60)))
def test_threads_that_sleep_by_their_rows_are_missed_no_more_often_than_allowed(askers, runs, monkeypatch):
    monkeypatch.setattr(pending, "PATIENCE", 0.0)  # the time for which they wait before they pay
    assert not is_too_often(misses_of_sleepers(askers, range(runs)), runs, LEVEL)
    for price in ("nats", "nats_anew"):
        monkeypatch.setattr(Arrivals, price, lambda *given: 0.0)
    assert is_too_often(misses_of_sleepers(40, range(MANY)), MANY, LEVEL)
