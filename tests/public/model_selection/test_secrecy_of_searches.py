"""A fitted search shows and pickles no row of the holdout and no secret; of other candidates, no score."""

import copy
import math
import pickle
import struct

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, RandomizedSearchCV
from sklearn.tree import DecisionTreeRegressor

from sklearn_ada import Holdout, Metric, ReusableHoldoutCV, ThresholdoutScorer
from sklearn_ada.exceptions import BudgetExhaustedError
from sklearn_ada.holdout import HoldoutReport
from tests.support.ledgers import kinds
from tests.support.searches import TREE, grid, warned

MARKER = 987654.125
BYTES = struct.pack("<d", MARKER)
QUARTER = np.arange(400) % 4 == 1
INNER = grid(values=[1, 2, 3])
asks = pytest.mark.parametrize("ask", ["candidates", "winner", 3])


@pytest.fixture(scope="module")
def marked(numbered):
    """Rows of which those of the holdout, and only those, hold a marker."""
    X = numbered[0].copy()
    X[QUARTER, 0] = MARKER
    return X, numbered[1]


@pytest.fixture
def fitted(marked, wrap):
    """Fit a search whose holdout are the marked rows."""

    def fit(ask="candidates", task="classifier"):
        model = TREE if task == "classifier" else DecisionTreeRegressor(random_state=0)
        inner = grid(model, [1, 2, 3]) if ask != 3 else RandomizedSearchCV(model, INNER.param_grid, n_iter=3)
        metric = None if task == "classifier" else Metric("neg_mean_absolute_error", range=(-100, 0))
        return wrap(inner, scoring=metric, ask=ask, holdout=QUARTER).fit(marked[0], marked[1][task])

    return fit


@pytest.fixture
def beside(marked, tmp_path):
    """A holdout of the marked rows."""
    X, y = marked[0], marked[1]["classifier"]
    return Holdout(X[QUARTER], y[QUARTER], ledger=tmp_path / "ledger.db")


@pytest.fixture
def others(marked):
    """X and y of the rows without a marker."""
    return marked[0][~QUARTER], marked[1]["classifier"][~QUARTER]


@pytest.mark.parametrize("task", ["classifier", "regressor"])
@asks
def test_neither_the_pickle_nor_the_inner_search_nor_the_ledger_holds_a_row_or_the_secret(
    task, ask, fitted, tmp_path
):
    search = fitted(ask, task)
    assert BYTES in pickle.dumps(search.holdout_)  # it would be found
    assert BYTES not in pickle.dumps(search)
    secret = search.holdout_.ledger.secret()
    assert secret not in pickle.dumps(search)
    assert [name for name, value in vars(search.search_).items() if BYTES in pickle.dumps(value)] == []
    shown = [search, search.search_, search.search_.scorer_, search.holdout_, search.holdout_.report()]
    shown += [search.answers_, search.best_answer_, search.cv_results_, search._repr_html_()]
    text = " ".join(f"{thing!r} {thing!s}" for thing in shown)
    assert "987654" not in text
    assert secret.hex() not in text
    content = (tmp_path / "ledger.db").read_bytes()
    assert BYTES not in content
    assert b"987654" not in content


@asks
def test_the_pickle_of_a_search_with_a_given_holdout_or_scorer_holds_no_row_of_it(ask, beside, others, wrap):
    assert BYTES not in pickle.dumps(wrap(INNER, ask=ask, holdout=beside).fit(*others))
    search = wrap(INNER, ask=ask, mechanism=ThresholdoutScorer("f1", beside)).fit(*others)
    pickled = pickle.dumps(search)
    assert BYTES not in pickled
    assert beside.ledger.secret() not in pickled
    again = pickle.loads(pickled)
    assert again.best_answer_ == search.best_answer_
    assert again.score(*others) == search.score(*others) == f1_score(others[1], search.predict(others[0]))


COPIES = {
    "pickle": lambda search: pickle.loads(pickle.dumps(search)),
    "clone": clone,
    "deepcopy": copy.deepcopy,
}


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_an_unfitted_search_keeps_the_scorer_that_is_its_mechanism_and_its_holdout(copied, beside, others):
    scorer = ThresholdoutScorer("f1", beside)
    copied(ReusableHoldoutCV(INNER, ask="candidates", mechanism=scorer)).fit(*others)
    assert beside.report().asked == {"check": 3, "certify": 1}
    search = ReusableHoldoutCV(INNER, holdout=beside)
    copied(search).fit(*others)
    assert beside.report().asked["certify"] == 2
    copy.deepcopy(search.fit(*others)).fit(*others)


def test_after_unpickling_the_results_and_the_report_are_there(fitted, marked):
    search, data = fitted(), (marked[0], marked[1]["classifier"])
    again = pickle.loads(pickle.dumps(search))
    assert isinstance(again.holdout_, HoldoutReport)
    assert again.holdout_ == search.holdout_.report()
    assert again.best_answer_ == search.best_answer_
    assert (again.predict(data[0]) == search.predict(data[0])).all()
    assert again.score(*data) == search.score(*data)


# reveal="winner": the best of the candidates and its certified score, and nothing of the others


THIRD = np.random.default_rng(1).random(400) < 0.34
GRID = {"max_depth": [1, 2, 3, 5], "min_samples_leaf": [1, 7]}
SEARCHES = {
    "grid": lambda **params: GridSearchCV(TREE, GRID, **params),
    "random": lambda **params: RandomizedSearchCV(TREE, GRID, n_iter=8, random_state=0, **params),
}


@pytest.fixture
def revealed(searched):
    """Fit a wrapped search that reveals its winner only, by default of all candidates on an exact ledger."""

    def fit(search=None, ask="candidates", **params):
        params = {"holdout": THIRD, "answers": "exact", "reveal": "winner", **params}
        return searched(SEARCHES["grid"]() if search is None else search, ask=ask, **params)

    return fit


def on_holdout(search, numbered):
    """Return what each candidate, fitted on all rows but the holdout's, scores on the holdout."""
    X, y = numbered[0], numbered[1]["classifier"]
    trees = [clone(TREE).set_params(**params) for params in search.cv_results_["params"]]
    return np.array([tree.fit(X[~THIRD], y[~THIRD]).score(X[THIRD], y[THIRD]) for tree in trees])


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("ask", ["candidates", 8])
def test_the_best_on_the_holdout_wins_and_the_index_and_its_answer_are_all_that_is_recorded(
    search, ask, revealed, numbered
):
    fitted = revealed(SEARCHES[search](), ask)
    scores = on_holdout(fitted, numbered)
    assert scores[fitted.best_index_] == scores.max()
    assert fitted.best_score_ == pytest.approx(scores.max())
    assert fitted.answers_ == [fitted.best_answer_]
    assert fitted.best_answer_.verdict == "exact"
    report, answer = fitted.holdout_.report(), fitted.best_answer_
    assert report.asked == {"check": 0, "certify": 1}
    recorded = [kind for kind in kinds(fitted.holdout_)[1:] if kind != "overlap"]
    assert sorted(recorded) == ["answer", "round", "selection"]
    assert report.nats == pytest.approx(answer.cost.nats + math.log(8), abs=0.02)
    # The certificate allows for the choice among all, and for what was recorded on the way.
    assert answer.certificate.ln_delta == pytest.approx(math.log(0.05 * 0.9 * 0.8 / 8), abs=2e-3)


@pytest.mark.parametrize("search", SEARCHES)
def test_the_tables_show_the_winner_only(search, revealed):
    fitted = revealed(SEARCHES[search]())
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
def test_no_score_of_another_candidate_leaves(n_jobs, revealed, numbered, tmp_path):
    fitted, caught = warned("", revealed, SEARCHES["grid"](n_jobs=n_jobs))
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


def test_the_searches_own_models_are_never_shown_the_holdout(recorder, revealed, monkeypatch):
    """Up to the selection, models predict training rows only, and so do all that workers run."""
    kind, seen, select = recorder["classifier"], [], Holdout.select

    def noted(self, *args, **kwargs):
        seen.append(set().union(*kind.predicted_on))
        return select(self, *args, **kwargs)

    monkeypatch.setattr(Holdout, "select", noted)
    revealed(grid(kind()))
    assert len(seen) == 1
    assert not seen[0] & set(np.flatnonzero(THIRD))


def test_an_integer_keeps_the_searchs_own_cross_validation(revealed):
    fitted = revealed(ask=3)
    assert np.isfinite(fitted.cv_results_["mean_test_score"]).all()
    assert np.isfinite(fitted.cv_results_["certified_low"]).sum() == 1
    order = np.argsort(-fitted.cv_results_["mean_test_score"], kind="stable")
    assert fitted.best_index_ in order[:3]


def test_a_regressors_winner_is_chosen_by_r2_and_certified_by_its_interval(revealed):
    fitted = revealed(grid(DecisionTreeRegressor(random_state=0), [1, 3]), y="regressor")
    assert fitted.best_answer_.certificate.target.startswith("population r2 (-1 if below)")
    assert fitted.best_params_ == {"max_depth": 3}


def test_the_budget_is_checked_before_the_first_fit(revealed, recorder):
    kind = recorder["classifier"]
    with pytest.raises(BudgetExhaustedError):
        revealed(grid(kind()), tolerance=0.01)
    assert kind.fitted_on == []


def test_what_would_reveal_more_is_refused(revealed, holdout, sentence):
    with pytest.raises(ValueError, match=f"(?={sentence('reveal')}).*HalvingGridSearchCV"):
        revealed(HalvingGridSearchCV(TREE, {"max_depth": [1, 2]}))
    for mechanism in ("ladder", ThresholdoutScorer("accuracy", holdout)):
        with pytest.raises(ValueError, match=sentence("mechanism")):
            revealed(mechanism=mechanism, holdout=0.25, ledger=None, answers="auto")
    with pytest.raises(ValueError, match=sentence("one_standard_error")):
        revealed(one_standard_error=True)
