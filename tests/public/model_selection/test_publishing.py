"""Searches in a row in cells, and the exact score of the model that is kept."""

import math
import pickle
import warnings

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import Holdout, ReusableHoldoutCV
from sklearn_ada.exceptions import BudgetExhaustedError, LedgerMismatchError
from sklearn_ada.guarantees import Purse, clopper_pearson
from tests.support.ledgers import bodies, kinds
from tests.support.searches import TREE, grid

X, Y = make_classification(1600, 6, n_informative=4, flip_y=0.1, random_state=3)
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)
BAYES = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, cv=FOLDS)
BY_HAND = r"holdout\.publish\(model\)"


def depths(model=TREE, values=(2, 4, 6), **params):
    return grid(model, list(values), **{"cv": FOLDS, **params})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.db"


def searched(ledger, inner=None, **how):
    inner = depths() if inner is None else inner
    return ReusableHoldoutCV(inner, ledger=ledger, **{"answers": "coarse", **how}).fit(X, Y)


@pytest.fixture
def beside(path):
    """Fit a search beside a holdout of the first rows, which answers in cells."""
    holdout = Holdout(X[:400], Y[:400], ledger=path, answers="coarse")

    def fitted(inner=None, scoring=None):
        return ReusableHoldoutCV(inner or depths(), holdout=holdout, scoring=scoring).fit(X[400:], Y[400:])

    return fitted


def exact_score(search):
    data = search.holdout_._session.data
    return float(np.mean(search.best_estimator_.predict(data.X) == data.y))


def width_of_one(search):
    """Return the width of the interval that the score of one search alone has on 400 rows."""
    count = round(400 * exact_score(search))
    low, high = clopper_pearson(count, count, 400, math.log(0.05))
    return high - low


def test_a_search_tells_the_centre_of_a_cell_and_publishes_the_value_once(path):
    search = searched(path)
    assert "centre of its cell" in search.best_answer_.target
    assert search.best_score_target_ == "population accuracy at the holdout's class mix"
    assert search.best_answer_.published < search.best_answer_.half_width
    interim = search.best_score_interval_
    final = search.publish()
    assert search.best_score_ == final.value == exact_score(search)
    assert search.best_score_target_ == "population accuracy at the holdout's class mix"
    assert search.best_score_interval_ == final.interval
    assert interim[0] <= final.interval[0] < final.interval[1] <= interim[1]
    assert search.answers_[-1] == search.best_answer_ == final
    assert kinds(search.holdout_)[-3:] == ["sealed", "confirmation", "unsealed"]
    nats = search.holdout_.report().nats
    assert search.publish() == final
    assert kinds(search.holdout_)[-2:] == ["unsealed", "confirmation"]
    assert search.holdout_.report().nats < nats + 0.0011
    assert search.answers_.count(final) == 1


def test_nine_searches_in_a_row_are_as_wide_as_the_first_and_the_kept_one_as_one_alone(path):
    families = [
        *(depths(values=[depth, depth + 1]) for depth in (2, 4, 6)),
        *(depths(KNeighborsClassifier(), [k, k + 2]) for k in (3, 9, 15)),
        *(depths(LogisticRegression(), strengths) for strengths in ([0.01, 0.1], [1.0, 10.0])),
        BAYES,
    ]
    searches = [searched(path, inner) for inner in families]
    # Of these data and seeds; a surprise would widen what follows.
    assert {search.best_answer_.verdict for search in searches} == {"agrees"}
    widths = [2 * search.best_answer_.half_width for search in searches]
    assert max(widths) < 1.15 * widths[0]
    assert 2 * searches[3].publish().half_width < 1.25 * width_of_one(searches[3])
    unsealed = searches[-1].holdout_.unseal()
    assert [answer.value for answer in unsealed] == [exact_score(search) for search in searches]
    for answer, search in zip(unsealed, searches, strict=True):
        assert 2 * answer.half_width < 2.0 * width_of_one(search)


def test_an_empty_purse_says_what_is_left_and_searches_go_on_in_cells(beside):
    first = beside()
    before = first.best_score_
    state = first.holdout_.ledger.read(lambda s: s)
    state.purse = Purse(0.0, 250)
    with pytest.raises(BudgetExhaustedError, match=r"nothing is left.*What is left: cells.*unsealing"):
        first.publish()
    assert first.best_score_ == before
    for scoring in (None, "neg_brier_score"):
        later = beside(BAYES, scoring=scoring)
        assert not later.best_answer_.certificate.vacuous


def test_a_second_model_is_published_after_a_warning_that_can_stop_it(path, uncharged):
    searched(path).publish()
    other = searched(path, depths(values=[1]))
    with uncharged(other.holdout_), warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="published before"):
            other.publish()
    with pytest.warns(UserWarning, match="published before"):
        assert other.publish().answered


def test_publishing_after_unsealing_costs_next_to_nothing(path):
    search = searched(path)
    with pytest.warns(UserWarning, match="Unsealing"):
        (exact,) = search.holdout_.unseal(search.best_answer_)
    final = search.publish()
    assert final.value == exact.value
    assert final.cost.nats < 0.0011


def test_a_model_that_was_changed_not_kept_or_not_fitted_is_refused_by_name(path, uncharged):
    search = searched(path)
    search.best_estimator_.fit(X[:100], Y[:100])
    with uncharged(search.holdout_), pytest.raises(ValueError, match=BY_HAND):
        search.publish()
    assert search.holdout_.publish(search.best_estimator_, scoring="accuracy").answered
    search = searched(path, depths().set_params(refit=False, cv=None), ask="candidates")
    with pytest.raises(ValueError, match=BY_HAND):
        search.publish()
    with pytest.raises(NotFittedError):
        ReusableHoldoutCV(depths()).publish()


def test_after_unpickling_the_rows_are_needed_again(path):
    fitted = searched(path)
    search = pickle.loads(pickle.dumps(fitted))
    with pytest.raises(ValueError, match=r"publish\(X, y\)"):
        search.publish()
    with pytest.raises(LedgerMismatchError):
        search.publish(X, 1 - Y)
    final = search.publish(X, Y)
    assert final == fitted.publish()
    assert search.best_score_ == exact_score(search)


def test_a_given_holdout_is_dropped_by_a_pickle_and_must_be_made_again(beside):
    fitted = beside()
    assert "centre of its cell" in fitted.best_answer_.target  # its genesis decides
    with pytest.raises(ValueError, match=BY_HAND):
        pickle.loads(pickle.dumps(fitted)).publish(X, Y)
    assert fitted.publish().value == exact_score(fitted)
    with pytest.raises(ValueError, match="'holdout' parameter"):  # it has answers of its own
        fitted.set_params(answers="coarse").fit(X[400:], Y[400:])


def test_a_closed_holdout_publishes_nothing(path):
    search = searched(path)
    search.holdout_.close()
    with pytest.raises(BudgetExhaustedError, match="closed"):
        search.publish()
    with pytest.raises(BudgetExhaustedError):
        searched(path, depths(values=[3, 5]))
    assert [answer.value for answer in search.holdout_.unseal()] == [exact_score(search)]


def test_on_an_exact_ledger_winners_are_certified_when_they_are_found(path, uncharged):
    search = searched(path, answers="exact")
    with uncharged(search.holdout_):
        assert search.publish() == search.best_answer_
    assert search.best_score_ == exact_score(search)
    later = searched(path, BAYES, answers="auto")
    assert later.best_answer_.verdict == "exact"
    assert later.best_score_ == exact_score(later)


def test_one_search_on_a_temporary_ledger_is_exact_and_later_ones_are_cells():
    first = searched(None, answers="auto")
    assert first.best_score_ == exact_score(first)
    assert 2 * first.best_answer_.half_width < 1.12 * width_of_one(first)
    second = searched(None, depths(values=[3, 5]), answers="auto")
    assert "centre of its cell" in second.best_answer_.target
    assert searched(None, answers="auto").best_answer_ == first.best_answer_
    assert second.publish().value == exact_score(second)
    assert first.publish().value == first.best_score_


def test_a_search_whose_refit_is_not_deterministic_asks_each_time_and_publishes_its_own(path):
    inner = grid(DecisionTreeClassifier(splitter="random", max_features=1), [3, 4], cv=FOLDS)
    first, second = searched(path, inner), searched(path, inner)
    assert kinds(second.holdout_).count("sealed") == 2
    for search in (second, first):
        assert search.publish().value == exact_score(search)


OTHERS = {  # parameters of the search, and of the wrapper
    "no cv": ({}, {}),
    "a number": ({"cv": 3}, {}),
    "folds": ({"cv": FOLDS}, {}),
    "a function": ({"refit": lambda results: 1}, {}),
    "the best three": ({"cv": FOLDS}, {"ask": 3}),
    "candidates": ({}, {"ask": "candidates"}),
}


@pytest.mark.parametrize(("inner", "how"), OTHERS.values(), ids=OTHERS)
def test_by_default_any_search_is_answered_in_cells_on_a_ledger_that_stays_and_publishes(inner, how, path):
    search = ReusableHoldoutCV(grid(values=[2, 4, 6], **inner), ledger=path, **how).fit(X, Y)
    if not how:
        assert search.holdout_.report().asked == {"check": 0, "certify": 1}
    assert search.holdout_.ledger.genesis["answers"] == "cells"
    assert "centre of its cell" in search.best_answer_.target
    assert search.publish().value == search.best_score_ == exact_score(search)
    assert search.holdout_.ledger.verify() == len(bodies(search.holdout_))


@pytest.mark.parametrize("scoring", ["roc_auc", "f1", "neg_log_loss"])
def test_what_has_windows_shows_the_guess_and_is_published_once(path, scoring):
    search = searched(path, grid(LogisticRegression(), cv=FOLDS, scoring=scoring))
    assert search.best_score_ == search.search_.best_score_
    assert search.best_answer_.verdict == "agrees"
    width, final = search.best_answer_.half_width, search.publish()
    assert search.best_score_ == final.value
    assert final.half_width < 0.7 * width
