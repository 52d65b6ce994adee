"""``reveal="winner"``: the best of the candidates and its certified score, and nothing of the others."""

import math
import pickle
import struct

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, RandomizedSearchCV
from sklearn.tree import DecisionTreeRegressor

from sklearn_ada import Holdout, ThresholdoutScorer
from sklearn_ada.exceptions import BudgetExhaustedError
from tests.support.ledgers import bodies
from tests.support.searches import TREE, grid, warned

HOLDOUT = np.random.default_rng(1).random(400) < 0.34
GRID = {"max_depth": [1, 2, 3, 5], "min_samples_leaf": [1, 7]}
SEARCHES = {
    "grid": lambda **params: GridSearchCV(TREE, GRID, **params),
    "random": lambda **params: RandomizedSearchCV(TREE, GRID, n_iter=8, random_state=0, **params),
}


@pytest.fixture
def searched(searched):
    """Fit a wrapped search that reveals its winner only, by default of all candidates on an exact ledger."""

    def fit(search="grid", ask="candidates", *, inner=None, **params):
        search = SEARCHES[search](**(inner or {})) if isinstance(search, str) else search
        params = {"holdout": HOLDOUT, "answers": "exact", "reveal": "winner", **params}
        return searched(search, ask=ask, **params)

    return fit


def on_holdout(search, numbered):
    """What each candidate, fitted on all rows but the holdout's, scores on the holdout."""
    X, y = numbered[0], numbered[1]["classifier"]
    models = [
        clone(TREE).set_params(**params).fit(X[~HOLDOUT], y[~HOLDOUT])
        for params in search.cv_results_["params"]
    ]
    return np.array([model.score(X[HOLDOUT], y[HOLDOUT]) for model in models])


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("ask", ["candidates", 8])
def test_the_best_on_the_holdout_wins_and_is_certified(search, ask, searched, numbered):
    fitted = searched(search, ask)
    scores = on_holdout(fitted, numbered)
    assert scores[fitted.best_index_] == scores.max()
    assert fitted.best_score_ == pytest.approx(scores.max())
    assert fitted.answers_ == [fitted.best_answer_]
    assert fitted.best_answer_.verdict == "exact"


@pytest.mark.parametrize("search", SEARCHES)
def test_one_index_and_one_answer_are_all_that_the_ledger_records(search, searched):
    fitted = searched(search)
    report, answer = fitted.holdout_.report(), fitted.best_answer_
    assert report.asked == {"check": 0, "certify": 1}
    kinds = [body["kind"] for body in bodies(fitted.holdout_) if body.get("kind") not in (None, "genesis")]
    assert kinds.count("overlap") in (1, 2)
    assert sorted({*kinds}) == ["answer", "overlap", "round", "selection"]
    assert len(kinds) == 3 + kinds.count("overlap")
    assert report.nats == pytest.approx(answer.cost.nats + math.log(8), abs=0.02)
    # The certificate allows for the choice among all.
    assert answer.certificate.ln_delta == pytest.approx(math.log(0.05 * 0.9 * 0.8 / 8), abs=1e-4)


@pytest.mark.parametrize("search", SEARCHES)
def test_the_tables_show_the_winner_only(search, searched):
    fitted = searched(search)
    others = np.arange(8) != fitted.best_index_
    shown = ("mean_test_score", "split0_test_score", "std_test_score", "certified_low", "certified_high")
    for table in (fitted.cv_results_, fitted.search_.cv_results_):
        for name in shown:
            assert np.isnan(table[name][others]).all()
            assert np.isfinite(table[name][fitted.best_index_])
        assert table["mean_test_score"][fitted.best_index_] == fitted.best_score_
        assert (table["rank_test_score"] == np.where(others, 2, 1)).all()
        assert (table["verdict"][others] == "").all()
        assert np.isfinite(table["validation_score"]).all()


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.thorough)])
def test_no_score_of_another_candidate_leaves(n_jobs, searched, numbered, tmp_path):
    fitted, caught = warned("", searched, inner={"n_jobs": n_jobs})
    public = {fitted.best_score_, *fitted.cv_results_["validation_score"]}
    secret = {score for score in on_holdout(fitted, numbered) if score not in public}
    assert len(secret) >= 2
    shown = " ".join(caught) + repr(fitted.cv_results_) + repr(fitted.holdout_.report())
    ledger = (tmp_path / "ledger.db").read_bytes()
    for score in secret:
        assert struct.pack("<d", score) not in pickle.dumps(fitted)
        for text in (repr(float(score)), f"{score:.6f}"):
            assert text not in shown
            assert text.encode() not in ledger


def test_the_searches_own_models_are_never_shown_the_holdout(recorder, searched, monkeypatch):
    """Up to the selection, models predict training rows only, and so do all that workers run."""
    kind, seen, select = recorder["classifier"], [], Holdout.select

    def noted(self, *args, **kwargs):
        seen.append(set().union(*kind.predicted_on))
        return select(self, *args, **kwargs)

    monkeypatch.setattr(Holdout, "select", noted)
    searched(grid(kind()))
    assert len(seen) == 1
    assert not seen[0] & set(np.flatnonzero(HOLDOUT))


def test_an_integer_keeps_the_searchs_own_cross_validation(searched):
    fitted = searched("grid", 3)
    assert np.isfinite(fitted.cv_results_["mean_test_score"]).all()
    assert np.isfinite(fitted.cv_results_["certified_low"]).sum() == 1
    order = np.argsort(-fitted.cv_results_["mean_test_score"], kind="stable")
    assert fitted.best_index_ in order[:3]


def test_a_regressors_winner_is_chosen_by_r2_and_certified_by_its_interval(searched):
    fitted = searched(grid(DecisionTreeRegressor(random_state=0), [1, 3]), y="regressor")
    assert fitted.best_answer_.certificate.target.startswith("population r2 (-1 if below)")
    assert fitted.best_params_ == {"max_depth": 3}


def test_the_same_search_again_is_free(searched):
    first, again = searched(), searched()
    assert again.best_answer_.repeated
    assert again.holdout_.report().nats == first.holdout_.report().nats


def test_the_budget_is_checked_before_the_first_fit(searched, recorder):
    kind = recorder["classifier"]
    with pytest.raises(BudgetExhaustedError):
        searched(grid(kind()), tolerance=0.01)
    assert kind.fitted_on == []


def test_what_would_reveal_more_is_refused(searched, holdout, sentence):
    with pytest.raises(ValueError, match=f"(?={sentence('reveal')}).*HalvingGridSearchCV"):
        searched(HalvingGridSearchCV(TREE, {"max_depth": [1, 2]}))
    for mechanism in ("ladder", ThresholdoutScorer("accuracy", holdout)):
        with pytest.raises(ValueError, match=sentence("mechanism")):
            searched(mechanism=mechanism, holdout=0.25, ledger=None, answers="auto")
    with pytest.raises(ValueError, match=sentence("one_standard_error")):
        searched(one_standard_error=True)
