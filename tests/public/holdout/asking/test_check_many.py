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


@pytest.fixture
def opened(tmp_path):
    paths = (tmp_path / f"{number}.db" for number in range(9))
    return lambda **policy: Holdout(X[250:], Y[250:], ledger=next(paths), random_state=0, **policy)


def check_all(holdout, **how):
    return holdout.check_many(TREES, scoring="accuracy", **({"guesses": GUESSES} | how))


def levels(answers):
    return [answer.certificate.ln_delta for answer in answers]


def test_a_surprise_in_the_round_widens_no_other_answer_of_it_as_it_would_one_by_one(opened):
    together, holdout = check_all(opened()), opened()
    alone = [holdout.check(t, scoring="accuracy", guess=g) for t, g in zip(TREES, GUESSES, strict=True)]
    assert [answer.verdict for answer in together] == ["differs", "agrees", "agrees", "agrees"]
    assert len(set(levels(together))) == 1
    assert levels(alone)[1] < levels(alone)[0] - np.log(10.0)


def test_each_has_its_part_of_the_round(opened):
    """Four questions that share one round have less each than one question has, and together no more."""
    alone = opened().check_many(TREES[:1], scoring="accuracy", guesses=[0.9])
    deltas = np.exp(levels(check_all(opened())))
    assert max(deltas) < np.exp(levels(alone))
    assert sum(deltas) <= 0.05 * 0.1


@pytest.mark.parametrize("answers", ["exact", "coarse"])
def test_asked_again_it_returns_what_is_recorded(answers, opened):
    holdout, guess = opened(answers=answers), {"guesses": None, "guess_from": (X[200:250], Y[200:250])}
    first, again = (check_all(holdout, **guess) for _ in range(2))
    assert all(answer.repeated for answer in again)
    assert [answer.interval for answer in again] == [answer.interval for answer in first]
    assert holdout.report().asked["check"] == len(TREES)
    closings = [record for record in holdout.ledger.records() if "close round" in str(record.key)]
    assert len(closings) == (answers == "coarse")


def test_all_are_admitted_or_none_and_rounds_may_fill_the_tolerance(opened):
    strict = opened(tolerance=0.14)
    with pytest.raises(BudgetExhaustedError, match="4 checks planned"):
        check_all(strict)
    assert strict.report().asked["check"] == 0
    filled = check_all(opened(tolerance=0.2), settings="fill")
    assert max(answer.half_width for answer in filled) <= 0.2
    assert len(set(levels(filled))) == 1


BAD = [
    ({"guesses": [0.5]}, r"'guesses' parameter of Holdout.check_many must be one for each of 4 models"),
    ({"guesses": None}, r"'guess' parameter"),
    ({"settings": MedianSettings()}, r"'settings' parameter of Holdout.check_many"),
]


@pytest.mark.parametrize(("how", "match"), BAD)
def test_bad_parameters_are_refused_before_anything_is_charged(how, match, opened, uncharged):
    holdout = opened()
    with uncharged(holdout), pytest.raises(ValueError, match=match):
        check_all(holdout, **how)
    with uncharged(holdout), pytest.raises(ValueError, match="'estimators' parameter"):
        holdout.check_many([], scoring="accuracy", guesses=[])
