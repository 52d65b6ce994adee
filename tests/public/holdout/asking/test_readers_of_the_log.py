"""A model that reads the log while it predicts learns nothing that its interval does not pay for."""

import sqlite3
import sys

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import Holdout, ReusableHoldoutCV

HOLDOUTS = []
COINS, ROWS = 40, 80


def fair(seed):
    """Return coins about rows of labels that no other conversation has."""
    rng, y = np.random.default_rng([8, seed]), np.arange(ROWS) % 2 + 2 * seed + 10
    return np.column_stack([y, (rng.random((ROWS, COINS)) < 0.5).astype(int)]), y


def released(holdout):
    """What the ledger says of the coins: an exact score, or the middle of a cell."""
    return [answer.value for _, answer in holdout.report().answers]


class Coin(ClassifierMixin, BaseEstimator):
    """Right where one fair column is 1; number 0 votes by what it reads in the log."""

    def __init__(self, number=0):
        self.number = number

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        X = np.asarray(X)
        a, b = self.classes_
        right = X[:, self.number] == 1 if self.number else self._vote(X)
        return np.where(right, X[:, 0], np.where(X[:, 0] == a, b, a)).astype(int)

    def _vote(self, X):
        told = released(HOLDOUTS[-1]) if HOLDOUTS else []
        votes = (2 * X[:, 1 : 1 + len(told)] - 1) @ (np.array(told) - 0.5)
        return votes > 0 if told else X[:, 1] == 1


def by_check_many(seed, policy):
    X, y = fair(seed)
    HOLDOUTS.append(Holdout(X, y, ledger=":memory:", **policy))
    models = [Coin(number).fit(X, y) for number in (*range(1, COINS), 0)]
    return HOLDOUTS[-1].check_many(models, scoring="accuracy", guesses=[0.5] * COINS, settings=0.5 / ROWS)[-1]


def misses(conversation, seeds, **policy):
    return sum(not low <= 0.5 <= high for low, high in (conversation(s, policy).interval for s in seeds))


@pytest.mark.parametrize(("answers", "level"), [("exact", 0.64), ("coarse", 0.95), ("auto", 0.8)])
def test_the_last_of_a_round_is_covered_though_it_reads_what_was_recorded(answers, level):
    assert misses(by_check_many, range(1), answers=answers, confidence_level=level) == 0


def test_the_models_of_a_round_look_before_any_of_them_is_recorded(monkeypatch):
    seen = []
    monkeypatch.setattr(Coin, "_vote", lambda self, X: seen.append(released(HOLDOUTS[-1])) or X[:, 1] == 1)
    by_check_many(0, {"answers": "exact"})
    assert seen[-1] == []


class Digger(Coin):
    """Looks for what other models were seen to give in the frames that it is called from."""

    found = ()

    def predict(self, X):
        said = super().predict(X)
        frame = sys._getframe()
        while frame is not None:
            if "sklearn_ada" in frame.f_code.co_filename:
                type(self).found += tuple(_parts(list(frame.f_locals.values())))
            frame = frame.f_back
        return said


def _parts(part, deep=6):
    yield type(part).__name__
    inside = part if isinstance(part, (list, tuple)) else getattr(part, "__dict__", {}).values()
    for each in inside if deep else ():
        yield from _parts(each, deep - 1)


def test_no_model_finds_in_the_frames_around_it_what_others_were_seen_to_give():
    X, y = fair(0)
    models = [Digger(number).fit(X, y) for number in range(1, 6)]
    holdout = Holdout(X, y, ledger=":memory:", answers="exact")
    holdout.check_many(models, scoring="accuracy", guesses=[0.5] * 5)
    assert "Hidden" in Digger.found
    assert "Recording" in Digger.found
    assert not {"Observation", "OutputSummary"} & set(Digger.found)


class Watched(DecisionTreeClassifier):
    """Notes how many answers there are whenever it predicts rows in the number of the holdout's."""

    ledger, seen = "", []

    def predict(self, X, check_input=True):
        if len(X) == 75:
            self.seen.append(sum('"answer"' in line or '"sealed"' in line for line in kinds_in(self.ledger)))
        return super().predict(X, check_input)


def kinds_in(path):
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
        return [text for (text,) in db.execute("SELECT body FROM records")]


@pytest.mark.parametrize("answers", ["exact", "coarse"])
def test_the_best_few_of_a_search_look_before_any_of_them_is_recorded(answers, tmp_path, monkeypatch):
    monkeypatch.setattr(Watched, "ledger", tmp_path / "ledger.db")
    monkeypatch.setattr(Watched, "seen", [])
    inner = GridSearchCV(Watched(random_state=0), {"max_depth": [1, 2, 3, 4]}, cv=5)
    wrapped = ReusableHoldoutCV(inner, ask=4, answers=answers, ledger=Watched.ledger)
    assert len(wrapped.fit(*make_classification(300, random_state=0)).answers_) == 4
    assert Watched.seen == [0, 0, 0, 0]
