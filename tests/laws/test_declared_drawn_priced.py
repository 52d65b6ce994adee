"""Conversations about what certificates rest on: one declared share, no secret, all classes that may occur.

Each has a twin in which the premise is dropped, as an earlier version of the package had it: the same
statistic must notice that.
"""

import numpy as np
import pytest

from sklearn_ada import Guess, Holdout, Metric
from sklearn_ada.holdout import framing
from sklearn_ada.questions.all_rows import RowsQuestion
from tests.support.laws import is_missed, is_too_often
from tests.support.ledgers import begun_as, forget_ledgers_in_memory

ERROR = Metric("neg_mean_absolute_error", range=(-1.0, 0.0))
ASKED = 40


class First:
    """Predicts the first column, whose distance from y is the error; without classes."""

    def __sklearn_is_fitted__(self):
        return True

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.asarray(X)[:, 0]


def errors_of_coins(seed, n, **policy):
    """A holdout on which the error of `First` is 0 or 1, each as likely: its mean is -1/2."""
    forget_ledgers_in_memory()
    rng = np.random.default_rng(seed)
    y = rng.standard_normal(n)
    return Holdout((y + rng.integers(2, size=n))[:, None], y, ledger=":memory:", **policy)


def sizes(small):
    """The number of conversations: so many by default, and 1,000 of the whole."""
    return [pytest.param(small, marks=pytest.mark.thorough), pytest.param(1000, marks=pytest.mark.slow)]


# --- a declared model, certified forty times ----------------------------------------------------------------

DECLARED = {"confidence_level": 0.72}


def misses_declared(runs):
    """Certify one declared model with forty guesses; count the conversations in which an interval misses.

    In ledgers of the first format, where each guess is another question.
    """
    missed = 0
    for seed in runs:
        with begun_as(1):
            holdout, model = errors_of_coins([seed, 1], 2, **DECLARED), First()
        holdout.declare([model], scoring=ERROR)
        for k in range(ASKED):
            guess = Guess(-0.5 - 0.003 * k, 40.0, 0.5 - 0.01 * (k % 30))
            if is_missed(holdout.certify(model, scoring=ERROR, guess=guess).interval, -0.5):
                missed += 1
                break
    return missed


@pytest.mark.filterwarnings("ignore:The holdout has")
@pytest.mark.parametrize("runs", sizes(150))
def test_a_declared_model_that_is_certified_forty_times_is_missed_no_more_often_than_once(runs, monkeypatch):
    level = 1.0 - DECLARED["confidence_level"]
    assert not is_too_often(misses_declared(range(runs)), runs, level)
    monkeypatch.setattr(RowsQuestion, "may_be_declared", True)
    monkeypatch.setattr(framing, "is_by_value_alone", lambda *given: False)
    monkeypatch.setattr(
        framing, "_declared_key", lambda session, subject, metric: subject.declared_key(metric)
    )
    assert is_too_often(misses_declared(range(runs)), runs, level)


# --- a reader of the secret ---------------------------------------------------------------------------------

READ = {"confidence_level": 0.95, "random_state": 0}
METRICS = [Metric("neg_mean_absolute_error", range=(-1.0 - 1e-4 * k, 0.0)) for k in range(ASKED)]
HALF = Guess(-0.5, 40.0, 0.5)


def luckiest(n, drawn):
    """Return the range with which the upper end is lowest on rows of one's own, with the same secret."""

    def highest(metric):
        forget_ledgers_in_memory()
        y = np.arange(n) + 0.5
        twin = Holdout(y[:, None] + 1.0, y, ledger=":memory:", **READ)
        return twin.certify(First(), scoring=metric, guess=HALF, drawn=drawn).interval[1]

    return min(METRICS, key=highest)


def misses_of_reader(runs, n, drawn):
    """Ask each of many holdouts with the luckiest range: the secret is the same, their rows are not."""
    metric, missed = luckiest(n, drawn), 0
    for seed in runs:
        holdout = errors_of_coins([seed, 2], n, **READ)
        answer = holdout.certify(First(), scoring=metric, guess=HALF, drawn=drawn)
        missed += is_missed(answer.interval, -0.5)
        named = any("knows the ledger's secret" in each for each in answer.certificate.assumptions)
        assert named == drawn
    return missed


@pytest.mark.filterwarnings("ignore:The holdout has")
@pytest.mark.parametrize("runs", [pytest.param(1000, marks=pytest.mark.thorough)])
def test_whoever_reads_the_secret_finds_no_lucky_question_where_nothing_is_drawn(runs):
    assert not is_too_often(misses_of_reader(range(runs), 3, False), runs, 0.05)
    with begun_as(3):  # where the guess does not divide the level: this reader's guess is right
        assert is_too_often(misses_of_reader(range(runs), 3, True), runs, 0.05)


# --- many classes that were not seen ------------------------------------------------------------------------

CLASSES = 200


class Seen(First):
    """Is right on the classes that the holdout has, and wrong on all others."""

    def __init__(self, seen):
        self.seen = np.unique(seen)

    def predict(self, X):
        truth = np.asarray(X)[:, 0].astype(int)
        return np.where(np.isin(truth, self.seen), truth, (truth + 1) % CLASSES)


def misses_of_unseen(runs, n, named):
    """Certify a model that was made of the class counts, which are paid for."""
    missed = 0
    for seed in runs:
        forget_ledgers_in_memory()
        y = np.random.default_rng([seed, 3, n]).integers(CLASSES, size=n)
        model, classes = Seen(y), np.arange(CLASSES) if named else None
        holdout = Holdout(y[:, None], y, class_mix="priced", classes=classes, ledger=":memory:")
        answer = holdout.certify(model, scoring="accuracy", guess=0.9)
        missed += is_missed(answer.interval, len(model.seen) / CLASSES)
    return missed


@pytest.mark.parametrize("n", [3, 5, 8])
@pytest.mark.filterwarnings("ignore:The holdout has")
@pytest.mark.parametrize("runs", sizes(150))
def test_counts_of_all_classes_that_may_occur_are_paid_for_not_only_of_those_that_did(runs, n):
    assert not is_too_often(misses_of_unseen(range(runs), n, True), runs, 0.05)
    assert is_too_often(misses_of_unseen(range(runs), n, False), runs, 0.05)
