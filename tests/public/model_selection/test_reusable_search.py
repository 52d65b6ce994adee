"""`ReusableHoldoutCV` over grid and random search: what it asks and certifies, on which rows and data."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeRegressor

from sklearn_ada import Metric
from sklearn_ada.exceptions import HoldoutLeakError, LedgerMismatchError
from tests.support.ledger.fitted_models import FirstRule
from tests.support.ledgers import bodies, kinds
from tests.support.searches import TREE, grid

DEPTHS = [1, 2, 3, 4]
SEARCHES = {
    "grid": lambda model=TREE, **params: grid(model, DEPTHS, **params),
    "random": lambda model=TREE, **params: RandomizedSearchCV(
        model, {"max_depth": DEPTHS}, n_iter=4, random_state=0, **params
    ),
}
LOGISTIC = LogisticRegression()


@pytest.fixture
def searched(searched):
    """Fit a wrapped search, by default over four depths of a tree, on a ledger that answers exactly."""

    def fit(search=None, *rows, **params):
        search = grid(values=DEPTHS) if search is None else search
        return searched(search, *rows, **{"answers": "exact", **params})

    return fit


MASK = np.random.default_rng(0).random(400) < 0.3


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize(("ask", "checks", "certifies"), [("candidates", 4, 1), ("winner", 0, 1), (3, 0, 3)])
def test_what_is_asked_is_in_the_table_and_the_best_estimator_is_certified(
    search, ask, checks, certifies, searched, numbered
):
    search = searched(SEARCHES[search](), ask=ask, holdout=MASK)
    assert search.holdout_.report().asked == {"check": checks, "certify": certifies}
    table = search.cv_results_
    certified = np.isfinite(table["certified_low"])
    assert certified.sum() == (checks or certifies)
    assert (table["certified_low"][certified] < table["certified_high"][certified]).all()
    assert ((table["verdict"] != "") == certified).all()
    assert certified[search.best_index_]
    assert search.best_params_ == table["params"][search.best_index_]
    if ask == "candidates":
        scores = table["mean_test_score"]
        assert scores.tolist() == [answer.value for answer in search.answers_[:4]]
        assert search.best_index_ == int(np.argmax(scores))
        assert search.answers_[-1] == search.best_answer_
    expected = search.best_estimator_.score(numbered[0][MASK], numbered[1]["classifier"][MASK])
    assert search.best_score_ == pytest.approx(expected)
    assert search.best_score_interval_[0] < expected < search.best_score_interval_[1]
    assert search.best_answer_.verdict == "exact"


def worst(results):
    return int(np.argmin(results["mean_test_score"]))


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("ask", ["winner", 2])
def test_what_a_refit_function_chooses_is_certified_and_of_a_few_beside_the_next_best(ask, search, searched):
    wrapped = searched(SEARCHES[search](refit=worst), ask=ask)
    table, own = wrapped.cv_results_, wrapped.search_
    next_best = {int(np.argmax(table["mean_test_score"]))}
    certified = set(np.flatnonzero(table["verdict"] != ""))
    assert certified == {own.best_index_} | (set() if ask == "winner" else next_best)
    if ask == "winner":
        assert wrapped.best_index_ == own.best_index_ == worst(table)
        assert wrapped.best_params_ == own.best_params_
        assert wrapped.best_estimator_.get_params() == own.best_estimator_.get_params()


class NamedInTwoOrders(GridSearchCV):
    def _run_search(self, evaluate_candidates):
        pairs = [{"max_depth": 1, "min_samples_leaf": 2}, {"max_depth": 2, "min_samples_leaf": 1}]
        evaluate_candidates(
            [dict(names) for pair in pairs for names in (pair.items(), reversed(pair.items()))]
        )


RULES = [{200.0: 1, -1.0: 0}, {-1.0: 0, 200.0: 1}]  # of the row's number: the first that applies wins
TWO = {
    "rules in another order are another candidate": (GridSearchCV(FirstRule(), {"rules": RULES}), 2),
    "parameters named in another order are not": (NamedInTwoOrders(TREE, {}), 4),
}


@pytest.mark.parametrize(("search", "candidates"), TWO.values(), ids=TWO)
def test_rules_in_another_order_are_another_candidate_and_parameters_are_not(search, candidates, searched):
    search = searched(search, ask=candidates)
    assert len(search.cv_results_["params"]) == candidates
    assert len(search.answers_) == 2


# regressors


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("ask", ["winner", 2])
def test_winners_that_regress_get_an_interval_of_r2(search, ask, searched):
    fitted = searched(SEARCHES[search](DecisionTreeRegressor(random_state=0)), y="regressor", ask=ask)
    assert fitted.best_answer_.levels is None
    expected = "population r2 (-1 if below), y and predictions clipped"
    assert fitted.best_answer_.certificate.target.startswith(expected)
    assert np.isfinite(fitted.best_score_)


def test_candidates_that_regress_are_not_checked_by_r2(searched, sentence):
    with pytest.raises(ValueError, match=sentence("scoring")) as caught:
        searched(grid(DecisionTreeRegressor()), y="regressor", ask="candidates")
    for part in ("r2", "ask='winner'", "mechanism='stable_median'"):
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("ask", "n"), [("candidates", 12), ("candidates", 60), ("winner", 20), ("winner", 60)]
)
def test_few_rows_make_a_regressor_vacuous_and_no_error(ask, n, searched, numbered):
    mechanism = "stable_median" if ask == "candidates" else "auto"
    few = numbered[0][:n], numbered[1]["regressor"][:n]
    assert searched(grid(Ridge()), *few, ask=ask, mechanism=mechanism).best_answer_.certificate.vacuous


@pytest.mark.parametrize("scoring", ["r2", Metric("neg_mean_absolute_error", range=(-0.1, 0))])
def test_a_regressor_may_be_certified_by_another_metric_than_the_searchs(scoring, searched):
    own = "neg_mean_squared_error" if scoring == "r2" else None  # or by one that fold scores are outside of
    search = searched(grid(Ridge(), scoring=own), y="regressor", scoring=scoring)
    assert search.best_answer_.answered


# candidates without a score


@pytest.mark.filterwarnings("ignore")
def test_a_search_on_validation_rows_that_scores_no_candidate_tells_why(numbered, wrap):
    wrapped = wrap(grid(LOGISTIC, scoring="neg_brier_score"), ask="candidates", reveal="winner")
    with pytest.raises(ValueError, match="No candidate got a score from the search") as caught:
        wrapped.fit(numbered[0], np.array(["ill", "well"])[numbered[1]["classifier"]])
    assert set(kinds(wrapped.holdout_)) == {None, "overlap"}  # no round, selection or answer
    assert wrapped.holdout_.report().nats < 1e-5
    assert "pos_label is not specified" in str(caught.value)
    assert "error_score='raise'" in str(caught.value)


class SomeFail(LogisticRegression):
    """Fails for large C in small samples only: the search cannot score it, though it could be refitted."""

    def fit(self, X, y):
        if self.C > 1 and len(y) < 300:
            raise ValueError("too few rows")
        return super().fit(X, y)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("reveal", "asked", "selected"), [("all", 2, []), ("winner", 1, [2])])
def test_candidates_that_the_search_could_not_score_are_not_asked(reveal, asked, selected, searched):
    fitted = searched(grid(SomeFail(), [10.0, 0.1, 1.0]), ask=3, reveal=reveal)
    assert fitted.cv_results_["verdict"][0] == ""
    assert fitted.best_params_["C"] <= 1.0
    assert fitted.holdout_.report().asked == {"check": 0, "certify": asked}  # the round is of these only
    of_ledger = [body["models"] for body in bodies(fitted.holdout_) if body.get("kind") == "selection"]
    assert of_ledger == selected


# which rows are held out


LAST = np.arange(400) >= 330
HOLDOUTS = {
    "quarter": (0.25, 100),
    "tenth": (0.1, 40),
    "mask": (LAST, 70),
    "list": (LAST.tolist(), 70),
    "series": (pd.Series(LAST), 70),
    "splitter": (ShuffleSplit(1, test_size=55, random_state=0), 55),
}


@pytest.mark.parametrize(("holdout", "rows"), HOLDOUTS.values(), ids=HOLDOUTS)
def test_every_way_to_name_the_holdout(holdout, rows, searched):
    assert searched(holdout=holdout).holdout_.n_rows == rows


def test_a_share_is_stratified_by_class(searched):
    search = searched(y=(np.arange(400) % 20 == 0).astype(int), scoring="roc_auc")
    assert search.best_answer_.answered  # five of the twenty positives are in the holdout


def test_a_second_search_on_the_same_data_uses_the_same_holdout_and_goes_on_paying(searched):
    first = searched(ask="candidates", ledger=None, answers="auto")
    before = first.holdout_.report()
    after = searched(grid(SVC()), ask="candidates", ledger=None, answers="auto").holdout_.report()
    assert after.fingerprint == before.fingerprint
    assert after.asked == {"check": 6, "certify": 2}
    assert after.nats > before.nats


@pytest.mark.parametrize("params", [{}, {"ask": "candidates", "reveal": "winner"}], ids=str)
def test_the_same_search_again_is_free_and_another_one_is_charged_on_the_same_ledger(params, searched):
    first, again = (searched(**params) for _ in range(2))
    assert again.holdout_.report().nats == first.holdout_.report().nats
    assert again.best_answer_.repeated
    assert again.best_score_ == first.best_score_
    assert searched(grid(SVC(), [1.0])).holdout_.report().asked["certify"] == 2


@pytest.mark.parametrize(
    "change", [{"holdout": 0.3}, {"random_state": 1}, {"confidence_level": 0.9}], ids=str
)
@pytest.mark.parametrize("ledger", [{}, {"ledger": None}], ids=["path", "None"])
def test_another_split_or_policy_on_the_same_data_is_refused(change, ledger, searched):
    searched(**ledger)
    with pytest.raises(LedgerMismatchError) as caught:
        searched(**ledger, **change)
    assert not ledger or "ledger=None" not in str(caught.value)  # that would not help


def test_random_state_decides_the_split(searched, tmp_path):
    for name, seed in enumerate([0, 1, 1]):
        genesis = searched(random_state=seed, ledger=tmp_path / f"{name}.db").holdout_.ledger.genesis
        assert genesis["split"]["random_state"] == seed


def test_a_given_holdout_is_charged_and_is_a_leak_inside_of_x(wrap, rows, holdout, asked):
    search = wrap(holdout=holdout).fit(rows[0], rows[1])
    assert asked(holdout) == 1  # about the winner
    assert search.holdout_ is holdout
    with pytest.raises(HoldoutLeakError):
        wrap(holdout=holdout).fit(np.r_[rows[0], rows[2]], np.r_[rows[1], rows[3]])


@pytest.mark.parametrize("seed", range(10))
def test_duplicates_of_discrete_rows_are_no_leak(seed, searched):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 4, size=(400, 3)), rng.integers(0, 2, size=400)
    assert searched(None, X, y).best_answer_.answered


# containers, weights, workers


SAME = {"fortran": np.asfortranarray, "list": np.ndarray.tolist, "copy": np.copy, "frame": pd.DataFrame}


@pytest.mark.parametrize("container", SAME)
def test_the_same_numbers_in_another_container_have_the_same_holdout(container, searched, numbered):
    first = searched()
    assert searched(X=SAME[container](numbered[0])).holdout_.fingerprint == first.holdout_.fingerprint


def with_nan(X):
    return np.where((np.arange(400) % 9 == 0)[:, None] & (np.arange(X.shape[1]) == 1), np.nan, X)


def texts(X):
    return ["good one" if row[1] > 0 else "bad one" for row in X]


COUNTED = GridSearchCV(make_pipeline(CountVectorizer(), LOGISTIC), {"logisticregression__C": [0.1, 1.0]})
CONTAINERS = {
    "NaN": (with_nan, grid(HistGradientBoostingClassifier(max_iter=5))),
    "csr matrix": (sparse.csr_matrix, grid(LOGISTIC)),
    "csr array": (sparse.csr_array, grid(LOGISTIC)),
    "coo matrix": (sparse.coo_matrix, grid(LOGISTIC)),
    "frame": (lambda X: pd.DataFrame(X, columns=list("abcde"), index=np.arange(400) + 7), grid(LOGISTIC)),
    "texts": (texts, COUNTED),
    "series of texts": (lambda X: pd.Series(texts(X)), COUNTED),
}


@pytest.mark.parametrize(("into", "search"), CONTAINERS.values(), ids=CONTAINERS)
@pytest.mark.parametrize("ask", ["candidates", "winner"])
def test_x_of_any_kind_reaches_the_models(into, search, ask, searched, numbered):
    assert np.isfinite(searched(search, into(numbered[0]), ask=ask).best_score_)


@pytest.mark.parametrize("ask", ["candidates", "winner"])
def test_sample_weights_are_split_along_with_x(ask, searched, numbered):
    weights = np.where(numbered[1]["classifier"] == 1, 1000.0, 1e-3)
    search = searched(grid(LOGISTIC), ask=ask, passed={"sample_weight": weights})
    assert search.predict(numbered[0]).mean() > 0.95


@pytest.mark.thorough
def test_parallel_workers_give_the_same_scores(searched, tmp_path):
    one, two = (
        searched(grid(values=DEPTHS, n_jobs=n), random_state=0, ask="candidates", ledger=tmp_path / f"{n}.db")
        for n in (1, 2)
    )
    assert (one.cv_results_["mean_test_score"] == two.cv_results_["mean_test_score"]).all()
    assert two.holdout_.report().asked == {"check": 4, "certify": 1}
