"""Successive halving passes few of the rows that its cv set aside, and scores train rows too."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import HalvingGridSearchCV, HalvingRandomSearchCV

from sklearn_ada import Holdout, ReusableHoldoutCV, ThresholdoutScorer
from sklearn_ada.exceptions import BudgetExhaustedError
from tests.support.searches import TREE

GRID = {"max_depth": [1, 2, 3, 4]}
FOREST = RandomForestClassifier(random_state=0)
ESTIMATORS = {"resource": "n_estimators", "max_resources": 9, "random_state": 0}
ROWS = {"min_resources": 60, "random_state": 0}
SEARCHES = {
    "grid, rows": lambda: HalvingGridSearchCV(TREE, GRID, **ROWS),
    "random, rows": lambda: HalvingRandomSearchCV(TREE, GRID, n_candidates=4, **ROWS),
    "grid, estimators": lambda: HalvingGridSearchCV(FOREST, GRID, **ESTIMATORS),
    "random, estimators": lambda: HalvingRandomSearchCV(FOREST, GRID, n_candidates=4, **ESTIMATORS),
}


@pytest.fixture(params=SEARCHES)
def search(request):
    return SEARCHES[request.param]()


@pytest.fixture
def scorer(holdout):
    return ThresholdoutScorer("accuracy", holdout)


def test_every_candidate_of_every_round_is_one_question_and_train_scores_are_free(
    search, scorer, rows, asked, recwarn
):
    assert search.return_train_score  # its default
    search.set_params(scoring=scorer, cv=scorer.cv).fit(rows[0], rows[1])
    assert len(search.cv_results_["params"]) > 4  # more than one round
    answers = [answer.value for _, answer in scorer.holdout.report().answers]
    assert asked(scorer.holdout) == len(answers)
    assert set(search.cv_results_["mean_test_score"]) == set(answers)
    assert not [warning for warning in recwarn if "did not set aside" in str(warning.message)]


def test_its_train_scores_are_plain(rows, scorer):
    search = HalvingGridSearchCV(FOREST, GRID, scoring=scorer, cv=scorer.cv, **ESTIMATORS)
    search.fit(rows[0], rows[1])
    fit, _ = next(scorer.cv.split(rows[0], rows[1]))
    model = clone(FOREST).set_params(**search.cv_results_["params"][0]).fit(rows[0][fit], rows[1][fit])
    assert search.cv_results_["mean_train_score"][0] == model.score(rows[0][fit], rows[1][fit])


def test_a_wrapped_search_asks_about_every_candidate_and_certifies_the_best_of_the_last_round(
    search, searched
):
    wrapped = searched(search, ask="candidates", answers="exact")
    table = wrapped.cv_results_
    assert (table["verdict"] != "").all()
    assert table["mean_test_score"].tolist() == [answer.value for answer in wrapped.answers_[:-1]]
    last = table["iter"] == table["iter"].max()
    assert last[wrapped.best_index_]
    assert table["mean_test_score"][wrapped.best_index_] == table["mean_test_score"][last].max()
    assert wrapped.best_answer_.verdict == "exact"


@pytest.mark.parametrize("ask", ["winner", 2])
def test_the_winner_is_the_searchs_own(ask, search, searched):
    wrapped = searched(search, ask=ask)
    certified = wrapped.cv_results_["verdict"] != ""
    assert certified[wrapped.search_.best_index_]
    assert wrapped.holdout_.report().asked == {"check": 0, "certify": 1 if ask == "winner" else 2}


@pytest.mark.parametrize("case", ["grid, rows", "random, rows"])
def test_a_candidate_of_several_rounds_is_certified_once(case, searched):
    table = searched(SEARCHES[case](), ask=5).cv_results_
    certified = [params for params, verdict in zip(table["params"], table["verdict"], strict=True) if verdict]
    assert len(table["params"]) > len(certified) == 4
    assert all(certified.count(params) == 1 for params in certified)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_refusals_reach_the_parent(search, searched):
    with pytest.raises(BudgetExhaustedError, match="candidates were refused"):
        searched(search, ask="candidates", tolerance=0.3)


@pytest.fixture
def discrete():
    """Rows of which almost all occur many times, in every part."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(500, 3)).astype(float)
    return X, (X[:, 0] + rng.random(500) > 0.9).astype(int)


def test_rows_that_may_be_of_either_part_are_no_question_outside_of_a_search(discrete, tmp_path, uncharged):
    """A few test rows that look like validation rows must be scored as they are."""
    X, y = discrete
    holdout = Holdout(X[:100], y[:100], ledger=tmp_path / "ledger.db")
    scorer = ThresholdoutScorer("accuracy", holdout)
    next(scorer.cv.split(X[200:], y[200:]))
    model = clone(TREE).fit(X[200:], y[200:])
    with uncharged(holdout), pytest.warns(UserWarning, match="costs nothing"):
        assert scorer(model, X[100:110], y[100:110]) == model.score(X[100:110], y[100:110])


def test_inside_a_wrapped_search_they_are_the_models_first_call(discrete, tmp_path):
    wrapped = ReusableHoldoutCV(SEARCHES["grid, rows"](), ledger=tmp_path / "ledger.db").fit(*discrete)
    assert "agrees" in wrapped.cv_results_["verdict"][wrapped.cv_results_["iter"] > 0]
    assert wrapped.best_answer_.answered
