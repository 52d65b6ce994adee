"""Conversations in which labels are guessed: who passes them until they are the right ones knows them all.

Labels are fair coins, so that no model is right on more than half of new rows, and one that has learnt those
of the holdout is right on all of its rows. Without a price of wrong ones, as in an earlier version of the
package, the same statistic must notice that.
"""

import itertools

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from sklearn_ada import Holdout
from sklearn_ada.accounting import codes
from sklearn_ada.exceptions import LedgerMismatchError
from tests.support.laws import is_missed, is_too_often
from tests.support.ledgers import changes_of, forget_ledgers_in_memory

LEVEL, MANY, ROWS = 0.36, 20, 6
POLICY = {"ledger": ":memory:guessed", "answers": "exact", "confidence_level": 1.0 - LEVEL}
X = np.arange(ROWS)[:, None]
NEWS = ("relabelled", "which")  # that labels are others, and of how many these are
LABELLINGS = [np.isin(X[:, 0], ones).astype(int) for ones in itertools.combinations(range(ROWS), ROWS // 2)]


class Learnt(ClassifierMixin, BaseEstimator):
    """Says the labels that it is handed over; of any other row that it is 0."""

    classes_ = np.array([0, 1])

    def __init__(self, labels):
        self.labels = labels

    def __sklearn_is_fitted__(self):
        return True

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.append(self.labels, 0)[np.minimum(X[:, 0], len(self.labels))]


def by_opening(labels):
    """Begin a holdout; return it, and how it is opened with other labels."""
    return Holdout(X, labels, **POLICY), lambda guess: Holdout(X, guess, **POLICY)


def by_opening_with_ids(labels):
    """Begin one with ids, which goes on with any labels, and records that they are others."""
    policy = {**POLICY, "ids": X[:, 0]}
    return Holdout(X, labels, **policy), lambda guess: Holdout(X, guess, **policy)


def by_adding(labels):
    """Begin one of two other rows, to which somebody adds the rows."""
    mine = Holdout(X[:2] + ROWS, [0, 1], **POLICY)
    return mine.top_up(X, labels), lambda guess: mine.top_up(X, guess)


def learnt(owner, opened):
    """Try one labelling after the other; return the one that is right, and the holdout opened with it."""
    for guess in LABELLINGS:
        before = len(changes_of(owner))
        try:
            holdout = opened(guess)
        except LedgerMismatchError:
            continue
        if not any(change == "relabelled" for change, *_ in changes_of(owner)[before:]):  # but "back", if any
            return guess, holdout
    raise AssertionError


def misses(runs, begun):
    """Count the conversations in which the interval misses of a model that has learnt the labels."""
    missed = 0
    for seed in runs:
        forget_ledgers_in_memory()
        labels = np.random.default_rng([seed, 4]).permutation(LABELLINGS)[0]
        guess, holdout = learnt(*begun(labels))
        assert np.array_equal(guess, labels)
        answer = holdout.certify(Learnt(labels), scoring="accuracy", guess=1.0)
        missed += is_missed(answer.interval, 0.5)
    return missed


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "runs", [pytest.param(40, marks=pytest.mark.thorough), pytest.param(1000, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("begun", [by_opening, by_opening_with_ids, by_adding])
def test_whoever_guesses_labels_is_missed_no_more_often_than_allowed(begun, runs, monkeypatch):
    assert not is_too_often(misses(range(runs), begun), runs, LEVEL)
    priced = codes.Code.ln_prior
    monkeypatch.setattr(codes.Code, "ln_prior", lambda *of: 0.0 if of[1].stream in NEWS else priced(*of))
    assert is_too_often(misses(range(MANY), begun), MANY, LEVEL)
