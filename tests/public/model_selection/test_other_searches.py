"""Successive halving, and searches of Optuna and scikit-optimize: how they ask, and how they end."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import HalvingGridSearchCV, HalvingRandomSearchCV

from sklearn_ada import Holdout, LadderScorer, ReusableHoldoutCV, ThresholdoutScorer
from sklearn_ada.exceptions import BudgetExhaustedError
from tests.support.searches import TREE, bayes_search, optuna_search, warned

pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore:OptunaSearchCV is experimental"),
]
GRID, FOREST = {"max_depth": [1, 2, 3, 4]}, RandomForestClassifier(random_state=0)
ESTIMATORS = {"resource": "n_estimators", "max_resources": 9, "random_state": 0}
ROWS = {"min_resources": 60, "random_state": 0}
HALVING = {
    "grid, rows": lambda **p: HalvingGridSearchCV(TREE, GRID, **ROWS, **p),
    "random, rows": lambda **p: HalvingRandomSearchCV(TREE, GRID, n_candidates=4, **ROWS, **p),
    "grid, estimators": lambda **p: HalvingGridSearchCV(FOREST, GRID, **ESTIMATORS, **p),
    "random, estimators": lambda **p: HalvingRandomSearchCV(FOREST, GRID, n_candidates=4, **ESTIMATORS, **p),
}
FOREIGN = {
    "optuna": optuna_search,
    "optuna, two threads": lambda **p: optuna_search(n_jobs=2, **p),
    "bayes": bayes_search,
    "bayes, two workers": lambda **p: bayes_search(n_jobs=2, n_points=2, **p),
}


def crossed(first, second):
    """Return all searches with two ways to ask; the slow ones are quick tests with one of them only."""
    quick = dict(zip(FOREIGN, (first, second, second, first), strict=True))
    return [
        pytest.param(
            make,
            way,
            id=f"{name}-{way}",
            marks=pytest.mark.thorough if name in quick and way != quick[name] else (),
        )
        for name, make in {**HALVING, **FOREIGN}.items()
        for way in (first, second)
    ]


all_searches = pytest.mark.parametrize(
    "search", [*HALVING.values(), *FOREIGN.values()], ids=[*HALVING, *FOREIGN]
)
halving = pytest.mark.parametrize("search", HALVING.values(), ids=HALVING)
foreign = pytest.mark.parametrize("search", FOREIGN.values(), ids=FOREIGN)


@pytest.mark.parametrize(("search", "kind"), crossed(ThresholdoutScorer, LadderScorer))
def test_a_bare_scorer_asks_once_a_candidate_and_train_scores_are_free(search, kind, rows, holdout, asked):
    scorer = kind("accuracy", holdout, on_exhausted="raise")
    search = search(scoring=scorer, cv=scorer.cv, error_score="raise")
    found, strange = warned("did not set aside", search.fit, rows[0], rows[1])
    answers = [answer.value for _, answer in holdout.report().answers]
    assert asked(holdout) == len(answers)
    assert set(found.cv_results_["mean_test_score"]) == set(answers)
    assert not strange


def test_train_scores_of_halving_are_plain(rows, holdout):
    scorer = ThresholdoutScorer("accuracy", holdout)
    search = HALVING["grid, estimators"](scoring=scorer, cv=scorer.cv).fit(rows[0], rows[1])
    fit, _ = next(scorer.cv.split(rows[0], rows[1]))
    model = clone(FOREST).set_params(**search.cv_results_["params"][0]).fit(rows[0][fit], rows[1][fit])
    assert search.cv_results_["mean_train_score"][0] == model.score(rows[0][fit], rows[1][fit])


@all_searches
def test_a_wrapped_search_asks_about_every_candidate_and_leads_to_no_holdout(search, numbered, searched):
    X, held = numbered[0].copy(), np.arange(400) % 4 == 1
    X[held, 0] = 987654.125
    wrapped = searched(search(), X, holdout=held, ask="candidates", answers="exact")
    table, best = wrapped.cv_results_, wrapped.best_index_
    assert len(table["params"]) > 4
    assert (table["verdict"] != "").all()
    assert list(table["mean_test_score"]) == [answer.value for answer in wrapped.answers_[:-1]]
    last = np.max(table["iter"]) == table["iter"] if "iter" in table else np.ones(len(table["params"]), bool)
    assert last[best]  # of halving, the best of the last round
    assert table["mean_test_score"][best] == np.max(np.asarray(table["mean_test_score"])[last])
    assert wrapped.best_params_ == table["params"][best]
    assert wrapped.best_answer_.verdict == "exact"
    assert wrapped.predict(X).shape == (400,)
    assert np.float64(987654.125).tobytes() not in pickle.dumps(wrapped.search_)


@pytest.mark.parametrize(("search", "ask"), crossed("winner", 2))
def test_the_winner_is_the_searchs_own(search, ask, searched):
    wrapped = searched(search(), ask=ask)
    certified = wrapped.cv_results_["verdict"] != ""
    assert certified[wrapped.search_.best_index_]
    assert wrapped.holdout_.report().asked == {"check": 0, "certify": 1 if ask == "winner" else 2}


@pytest.mark.parametrize("case", ["grid, rows", "random, rows"])
def test_a_candidate_of_several_rounds_is_certified_once(case, searched):
    table = searched(HALVING[case](), ask=5).cv_results_
    certified = [params for params, verdict in zip(table["params"], table["verdict"], strict=True) if verdict]
    assert len(table["params"]) > len(certified) == 4
    assert all(certified.count(params) == 1 for params in certified)


@halving
def test_refusals_within_halving_reach_the_parent(search, searched):
    with pytest.raises(BudgetExhaustedError, match="candidates were refused"):
        searched(search(), ask="candidates", tolerance=0.3)


@pytest.fixture
def discrete():
    """Rows of which almost all occur many times, in every part."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(500, 3)).astype(float)
    return X, (X[:, 0] + rng.random(500) > 0.9).astype(int)


def test_test_rows_that_look_like_validation_rows_are_scored_as_they_are(discrete, tmp_path, uncharged):
    X, y = discrete
    holdout = Holdout(X[:100], y[:100], ledger=tmp_path / "ledger.db")
    scorer = ThresholdoutScorer("accuracy", holdout)
    next(scorer.cv.split(X[200:], y[200:]))
    model = clone(TREE).fit(X[200:], y[200:])
    with uncharged(holdout), pytest.warns(UserWarning, match="costs nothing"):
        assert scorer(model, X[100:110], y[100:110]) == model.score(X[100:110], y[100:110])


def test_inside_a_wrapped_search_they_are_the_models_first_call(discrete, wrap):
    wrapped = wrap(HALVING["grid, rows"]()).fit(*discrete)
    assert "agrees" in wrapped.cv_results_["verdict"][wrapped.cv_results_["iter"] > 0]
    assert wrapped.best_answer_.answered


def tight(X, y, folder):
    """Return a holdout that answers three questions of a search."""
    folder.mkdir()
    for number, tolerance in enumerate(np.arange(0.2, 0.5, 0.005)):
        holdout = Holdout(X, y, tolerance=float(tolerance), ledger=folder / f"{number}.db")
        if holdout.remaining() == 3:
            return holdout
    raise AssertionError("no tolerance admits three questions")


@foreign
def test_a_search_stops_when_the_holdout_is_exhausted_and_a_wrapped_one_tells_the_parent(
    search, coins, tmp_path
):
    X, y = coins
    bare, within = (tight(X[:100], y[:100], tmp_path / name) for name in ("bare", "within"))
    scorer = ThresholdoutScorer("accuracy", bare, on_exhausted="raise")
    with pytest.raises(BudgetExhaustedError, match="tolerance"):
        search(scoring=scorer, cv=scorer.cv, error_score="raise").fit(X[100:], y[100:])
    with pytest.raises(BudgetExhaustedError):
        ReusableHoldoutCV(search(), ask="candidates", holdout=within).fit(X[100:], y[100:])
    for holdout in (bare, within):
        assert 1 <= holdout.report().refused <= 2  # as many as there are workers


def test_bayes_cannot_go_on_when_a_model_fails_on_the_holdout_and_says_so(numbered, searched):
    X, held = numbered[0].copy(), np.arange(400) % 4 == 1
    X[held, 1] = np.inf
    with pytest.raises(ValueError, match=r"cannot go on.*prediction raised ValueError"):
        searched(bayes_search(), X, ask="candidates", holdout=held)


def pruned(**params):
    """Return a search of Optuna that may give up a candidate after each step of its fit."""
    how = {"n_trials": 2, "max_iter": 5, "enable_pruning": True}
    return optuna_search(SGDClassifier(random_state=0), "n_iter_no_change", (3, 9), **how, **params)


def with_a_trial():
    """Return a search of Optuna that goes on with a study of another one."""
    study = pytest.importorskip("optuna").create_study(direction="maximize")
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=1)
    return optuna_search(study=study)


@pytest.mark.parametrize(
    ("search", "ask", "way"), [(pruned, "candidates", "ask='winner'"), (with_a_trial, "winner", "")]
)
def test_pruning_of_candidates_and_a_study_with_trials_are_refused(
    search, ask, way, rows, holdout, uncharged, sentence
):
    wrapped = ReusableHoldoutCV(search(), ask=ask, holdout=holdout)
    with uncharged(holdout), pytest.raises(ValueError, match=sentence("search") + f".*{way}"):
        wrapped.fit(rows[0], rows[1])


def test_with_winner_a_search_may_prune_and_with_a_bare_scorer_every_step_is_a_question(
    rows, holdout, asked, wrap
):
    assert asked(wrap(pruned(), ledger=None).fit(rows[0], rows[1]).holdout_) == 1
    scorer = ThresholdoutScorer("accuracy", holdout)
    pruned(scoring=scorer, cv=scorer.cv).fit(rows[0], rows[1])
    assert asked(holdout) > 2
