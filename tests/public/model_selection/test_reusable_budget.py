"""A budget that is too small is told before the first fit; a refusal in mid search reaches the parent."""

import re
import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV

from sklearn_ada import Holdout, ReusableHoldoutCV
from sklearn_ada.exceptions import BudgetExhaustedError
from tests.support import holdouts
from tests.support.searches import TREE, grid

DEPTHS = {"max_depth": list(range(1, 41))}
SEARCHES = {
    "grid": lambda model: GridSearchCV(model, DEPTHS),
    "random": lambda model: RandomizedSearchCV(model, DEPTHS, n_iter=40, random_state=0),
}


class OwnSearch(GridSearchCV):
    """A search whose number of candidates is not known beforehand."""


def just_below(X, y, folder, count):
    """Return a tolerance at which a holdout of a quarter of the rows answers a few, but not ``count``."""
    for number, tolerance in enumerate(np.arange(0.2, 0.5, 0.01)):
        holdout = Holdout(X[:100], y[:100], tolerance=float(tolerance), ledger=folder / f"{number}.db")
        if 1 < holdout.remaining() < count:
            return float(tolerance)
    raise AssertionError("no tolerance admits a few questions")


@pytest.mark.parametrize("search", SEARCHES)
def test_more_candidates_than_the_budget_are_refused_before_the_first_fit(
    search, recorder, numbered, tmp_path, searched
):
    model = recorder["classifier"]()
    tolerance = just_below(numbered[0], numbered[1]["classifier"], tmp_path, 40)
    with pytest.raises(BudgetExhaustedError, match=r"40 checks planned.* can answer (\d+) of them") as caught:
        searched(SEARCHES[search](model), ask="candidates", answers="exact", tolerance=tolerance)
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
def test_a_refusal_in_mid_search_is_raised_in_the_parent(n_jobs, numbered, wrap):
    wrapped = wrap(OwnSearch(TREE, DEPTHS, n_jobs=n_jobs), ask="candidates", tolerance=0.45)
    with pytest.raises(BudgetExhaustedError, match=r"\d+ of 40 candidates were refused"):
        wrapped.fit(numbered[0], numbered[1]["classifier"])
    assert not hasattr(wrapped, "best_estimator_")


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_round_that_was_admitted_is_answered_whole(coins, wrap, tmp_path):
    messages = []
    for tolerance in np.arange(0.4, 0.5, 0.01):
        how = {"ask": "candidates", "tolerance": float(tolerance), "ledger": tmp_path / f"{tolerance}.db"}
        messages.append(refusal_of(wrap(grid(values=[1, 2, 3, 4]), **how), *coins))
    assert not [message for message in messages if "candidates were refused" in message]


def refusal_of(search, X, y):
    """Return what a search says of its budget, if it ends with that."""
    try:
        search.fit(X, y)
    except BudgetExhaustedError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("ask", ["candidates", "winner"])
def test_within_the_budget_nothing_is_refused(ask, searched):
    wrapped = searched(ask=ask, tolerance=0.5)
    assert wrapped.holdout_.report().refused == 0
    assert all(answer.half_width <= 0.5 for answer in wrapped.answers_)


@pytest.mark.parametrize(
    "params", [{"ask": "winner"}, {"ask": 2, "reveal": "winner"}], ids=["winner", "sealed"]
)
def test_the_last_search_that_is_admitted_may_run_again(params, numbered, wrap, tmp_path):
    data, held = (numbered[0], numbered[1]["classifier"]), np.arange(400) >= 300
    for tolerance in np.arange(0.13, 0.2, 0.002):
        how = {"holdout": held, "tolerance": float(tolerance), "ledger": tmp_path / f"{tolerance}.db"}
        wrapped = wrap(answers="exact", **how, **params)
        if not refusal_of(wrapped, *data):
            break
    assert wrapped.holdout_.remaining(purpose="certify") == 0
    assert wrapped.fit(*data).best_answer_.repeated


def test_a_refused_round_charges_nothing(numbered, tmp_path):
    X, y = numbered[0], numbered[1]["classifier"]
    holdout = Holdout(X[300:], y[300:], tolerance=0.05, ledger=tmp_path / "ledger.db")
    with pytest.raises(BudgetExhaustedError):
        holdouts.open_round(holdout, 10, purpose="check", scoring="accuracy", key="ten")
    assert holdout.report().asked == {"check": 0, "certify": 0}


def test_a_refused_search_names_a_tolerance_that_would_do_and_what_may_be_begun_again(rows, tmp_path):
    X, y = rows[0], rows[1]
    search = ReusableHoldoutCV(GridSearchCV(LogisticRegression(), {"C": [1.0]}), tolerance=0.01)
    with pytest.raises(BudgetExhaustedError, match="has answered nothing yet") as refused:
        search.set_params(ledger=tmp_path / "small.db").fit(X, y)
    width = float(re.search(r"as wide as \+-([\d.]+)\. ", str(refused.value))[1])
    search.set_params(ledger=tmp_path / "large.db", tolerance=1.01 * width).fit(X, y)
    low, high = search.best_score_interval_
    assert (high - low) / 2.0 <= 1.01 * width

    def search_on():
        for number in range(2, 60):
            search.set_params(search__param_grid={"C": [1.0 / number]}).fit(X, y)

    with pytest.raises(BudgetExhaustedError) as refused:  # the first answer was a part of what it admits
        search_on()
    assert "has answered nothing yet" not in str(refused.value)


def test_a_tolerance_that_admits_fewer_than_expected_is_told_at_the_first_search(rows, tmp_path):
    X, y = rows[0], rows[1]
    inner = GridSearchCV(LogisticRegression(), {"C": [1.0]})
    search = ReusableHoldoutCV(
        inner, holdout=0.5, answers="exact", tolerance=0.12, ledger=tmp_path / "ledger.db"
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*questions are expected")
        search.fit(X, y)  # nobody said how many are expected
    asked = 1 + search.holdout_.remaining(purpose="certify")
    with pytest.warns(
        UserWarning, match=f"{asked + 1} questions are expected, and .* answers about {asked} by"
    ):
        search.set_params(ledger=tmp_path / "other.db", expected_questions=asked + 1).fit(X, y)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*questions are expected")
        search.set_params(ledger=tmp_path / "third.db", expected_questions=asked).fit(X, y)
