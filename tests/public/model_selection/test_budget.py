"""A budget that is too small is told before the first fit; a refusal in mid search reaches the parent."""

import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV

from sklearn_ada.exceptions import BudgetExhaustedError
from tests.support.searches import TREE, grid, warned

DEPTHS = {"max_depth": list(range(1, 41))}
SEARCHES = {
    "grid": lambda model: GridSearchCV(model, DEPTHS),
    "random": lambda model: RandomizedSearchCV(model, DEPTHS, n_iter=40, random_state=0),
}
TINY = grid(LogisticRegression(), [1.0])


class OwnSearch(GridSearchCV):
    """A search whose number of candidates is not known beforehand."""


def refusal_of(search, X, y):
    """Return what a search says of its budget, if it ends with that."""
    try:
        search.fit(X, y)
    except BudgetExhaustedError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("search", SEARCHES)
def test_more_candidates_than_the_budget_are_refused_before_the_first_fit(search, recorder, searched):
    model = recorder["classifier"]()
    with pytest.raises(BudgetExhaustedError, match=r"40 checks planned.* can answer (\d+) of them") as caught:
        searched(SEARCHES[search](model), ask="candidates", answers="exact", tolerance=0.48)
    assert not model.fitted_on
    message = str(caught.value)
    most, short = (int(message.split(text)[0].split()[-1]) for text in (" of them", " too many"))
    assert most + short == 40


def test_a_winner_that_cannot_be_certified_is_told_before_the_first_fit(recorder, searched):
    model = recorder["classifier"]()
    with pytest.raises(BudgetExhaustedError, match="1 certif"):
        searched(grid(model), tolerance=0.02)
    assert not model.fitted_on


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.thorough)])
def test_a_refusal_in_mid_search_is_raised_in_the_parent(n_jobs, classes, wrap):
    wrapped = wrap(OwnSearch(TREE, DEPTHS, n_jobs=n_jobs), ask="candidates", tolerance=0.45)
    with pytest.raises(BudgetExhaustedError, match=r"\d+ of 40 candidates were refused"):
        wrapped.fit(*classes)
    assert not hasattr(wrapped, "best_estimator_")


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_round_that_was_admitted_is_answered_whole(coins, wrap, tmp_path):
    for tolerance in np.arange(0.4, 0.5, 0.01):
        how = {"ask": "candidates", "tolerance": float(tolerance), "ledger": tmp_path / f"{tolerance}.db"}
        assert "were refused" not in refusal_of(wrap(grid(values=[1, 2, 3, 4]), **how), *coins)


@pytest.mark.parametrize("ask", ["candidates", "winner"])
def test_within_the_budget_nothing_is_refused(ask, searched):
    wrapped = searched(ask=ask, tolerance=0.5)
    assert wrapped.holdout_.report().refused == 0
    assert all(answer.half_width <= 0.5 for answer in wrapped.answers_)


REVEALED = {"ask": 2, "reveal": "winner"}
LAST = [
    *(("exact", params) for params in ({"ask": "winner"}, REVEALED)),
    *(("coarse", params) for params in ({"ask": "winner"}, REVEALED, {"ask": "candidates"})),
]


@pytest.mark.parametrize(("answers", "params"), LAST, ids=str)
def test_the_last_search_that_is_admitted_may_run_again(answers, params, classes, wrap, tmp_path):
    """What is asked again is recorded, whatever the tolerance would say of a new question."""
    for tolerance in np.geomspace(0.12, 0.5, 120):
        how = {"tolerance": float(tolerance), "ledger": tmp_path / f"{tolerance}.db", "answers": answers}
        wrapped = wrap(holdout=np.arange(400) >= 300, **how, **params)
        if not refusal_of(wrapped, *classes):
            break
    first = wrapped.best_answer_
    assert answers == "coarse" or wrapped.holdout_.remaining(purpose="certify") == 0
    again = wrapped.fit(*classes).best_answer_
    assert again.repeated
    assert again == first


def test_a_refused_search_names_a_tolerance_that_would_do_and_what_may_be_begun_again(
    classes, wrap, tmp_path
):
    X, y = classes[0][:300], classes[1][:300]
    search = wrap(clone(TINY), tolerance=0.01, ledger=tmp_path / "small.db")
    refusal = refusal_of(search, X, y)
    assert "has answered nothing yet" in refusal
    width = float(re.search(r"as wide as \+-([\d.]+)\. ", refusal)[1])
    search.set_params(ledger=tmp_path / "large.db", tolerance=1.01 * width).fit(X, y)
    low, high = search.best_score_interval_
    assert (high - low) / 2.0 <= 1.01 * width
    later = (refusal_of(search.set_params(search__param_grid={"C": [1.0 / n]}), X, y) for n in range(2, 60))
    refusal = next(filter(None, later))
    assert "has answered nothing yet" not in refusal  # the first answer was a part of what it admits


def test_a_tolerance_that_admits_fewer_than_expected_is_warned_of_at_the_first_search(
    classes, wrap, tmp_path
):
    X, y = classes[0][:300], classes[1][:300]

    def warned_of(name, expected=None):
        ledger = {"ledger": tmp_path / f"{name}.db", "expected_questions": expected}
        search = wrap(clone(TINY), holdout=0.5, answers="exact", tolerance=0.12, **ledger)
        return warned("questions are expected", search.fit, X, y)

    search, texts = warned_of("nobody said how many")
    assert not texts
    most = 1 + search.holdout_.remaining(purpose="certify")
    assert not warned_of("as many as are admitted", most)[1]
    _, (text,) = warned_of("one more", most + 1)
    assert re.search(f"{most + 1} questions are expected, and .* answers about {most} by", text)
