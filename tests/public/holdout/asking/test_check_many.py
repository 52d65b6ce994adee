"""Many models as one round: the answers of one widen no other's interval."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import Holdout, MedianSettings
from sklearn_ada.exceptions import BudgetExhaustedError

X, Y = load_breast_cancer(return_X_y=True)
TREES = [DecisionTreeClassifier(max_depth=d, random_state=0).fit(X[:200], Y[:200]) for d in (1, 2, 3, 4)]
GUESSES = [0.5, 0.9, 0.9, 0.9]  # the first is a surprise


def _holdout(**settings):
    return Holdout(X[250:], Y[250:], ledger=":memory:", random_state=0, **settings)


@pytest.fixture(autouse=True)
def _own_ledgers(monkeypatch):
    monkeypatch.setattr("sklearn_ada.ledger.memory._books", {})


def test_a_surprise_in_the_round_widens_no_other_answer_of_it():
    surprised = _holdout().check_many(TREES, scoring="accuracy", guesses=GUESSES)
    assert [answer.verdict for answer in surprised] == ["differs", "agrees", "agrees", "agrees"]
    assert len({answer.certificate.ln_delta for answer in surprised}) == 1


def test_a_surprise_widens_the_answers_after_it_that_are_asked_one_by_one():
    holdout = _holdout()
    alone = [holdout.check(t, scoring="accuracy", guess=g) for t, g in zip(TREES, GUESSES, strict=True)]
    assert alone[1].certificate.ln_delta < alone[0].certificate.ln_delta - np.log(10.0)


def test_each_has_its_part_of_the_round():
    """Four questions that share one round have less each than one question has, and together no more."""
    (alone,) = _holdout().check_many(TREES[:1], scoring="accuracy", guesses=[0.9])
    told = _holdout().check_many(TREES, scoring="accuracy", guesses=GUESSES)
    deltas = np.exp([answer.certificate.ln_delta for answer in told])
    assert max(deltas) < np.exp(alone.certificate.ln_delta)
    assert sum(deltas) <= 0.05 * 0.1


def test_asked_again_it_returns_what_is_recorded():
    holdout = _holdout()
    first = holdout.check_many(TREES, scoring="accuracy", guess_from=(X[200:250], Y[200:250]))
    again = holdout.check_many(TREES, scoring="accuracy", guess_from=(X[200:250], Y[200:250]))
    assert all(answer.repeated for answer in again)
    assert [answer.interval for answer in again] == [answer.interval for answer in first]
    assert holdout.report().asked["check"] == len(TREES)


def test_all_are_admitted_or_none():
    holdout = _holdout(tolerance=0.14)
    with pytest.raises(BudgetExhaustedError, match="4 checks planned"):
        holdout.check_many(TREES, scoring="accuracy", guesses=GUESSES)
    assert holdout.report().asked["check"] == 0


def test_rounds_may_fill_the_tolerance():
    told = _holdout(tolerance=0.2).check_many(TREES, scoring="accuracy", guesses=GUESSES, settings="fill")
    assert max(answer.half_width for answer in told) <= 0.2
    assert np.ptp([answer.certificate.ln_delta for answer in told]) == 0.0


def test_on_a_ledger_that_answers_in_cells_the_closed_round_is_returned():
    holdout = _holdout(answers="coarse")
    told = holdout.check_many(TREES, scoring="accuracy", guesses=GUESSES)
    assert len([record for record in holdout.ledger.records() if "close round" in str(record.key)]) == 1
    again = holdout.check_many(TREES, scoring="accuracy", guesses=GUESSES)
    assert [answer.interval for answer in again] == [answer.interval for answer in told]


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"guesses": [0.5]}, r"'guesses' parameter of Holdout.check_many must be one for each of 4 models"),
        ({}, r"'guess' parameter"),
        ({"guesses": GUESSES, "settings": MedianSettings()}, r"'settings' parameter of Holdout.check_many"),
    ],
)
def test_bad_parameters_are_refused_before_anything_is_charged(arguments, match):
    holdout = _holdout()
    with pytest.raises(ValueError, match=match):
        holdout.check_many(TREES, scoring="accuracy", **arguments)
    with pytest.raises(ValueError, match=r"'estimators' parameter of Holdout.check_many"):
        holdout.check_many([], scoring="accuracy", guesses=[])
    assert len(list(holdout.ledger.records())) == 1
