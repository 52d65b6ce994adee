"""`ReusableHoldoutCV` over grid and random search: what it asks, what it certifies, what it delegates."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, RandomizedSearchCV, ShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeRegressor

from sklearn_ada import Metric, ReusableHoldoutCV
from sklearn_ada.exceptions import HoldoutLeakError, LedgerMismatchError
from tests.support.ledger.fitted_models import FirstRule
from tests.support.ledgers import bodies
from tests.support.searches import TREE, grid

DEPTHS = [1, 2, 3, 4]
SEARCHES = {
    "grid": lambda model: grid(model, DEPTHS),
    "random": lambda model: RandomizedSearchCV(model, {"max_depth": DEPTHS}, n_iter=4, random_state=0),
}
LOGISTIC = LogisticRegression()


@pytest.fixture
def searched(searched):
    """Fit a wrapped search, by default over four depths of a tree, on a ledger that answers exactly."""

    def fit(search=..., *rows, **params):
        return searched(
            grid(values=DEPTHS) if search is ... else search, *rows, **{"answers": "exact", **params}
        )

    return fit


RULES = [{200.0: 1, -1.0: 0}, {-1.0: 0, 200.0: 1}]  # of the row's number: the first that applies wins


def test_candidates_whose_rules_differ_in_order_are_two(searched):
    search = searched(GridSearchCV(FirstRule(), {"rules": RULES}), ask=2)
    assert len(search.answers_) == 2
    assert np.isfinite(search.cv_results_["certified_low"]).all()


class NamedInTwoOrders(GridSearchCV):
    def _run_search(self, evaluate_candidates):
        a, b = {"max_depth": 1, "min_samples_leaf": 2}, {"max_depth": 2, "min_samples_leaf": 1}
        evaluate_candidates([order(params) for params in (a, b) for order in (dict, reversed_names)])


def reversed_names(params):
    return dict(reversed(params.items()))


def test_candidates_whose_parameters_were_named_in_another_order_are_one(searched):
    search = searched(NamedInTwoOrders(TREE, {}), ask=4)
    assert len(search.cv_results_["params"]) == 4
    assert len(search.answers_) == 2


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize(("ask", "checks", "certifies"), [("candidates", 4, 1), ("winner", 0, 1), (3, 0, 3)])
def test_number_of_questions_and_columns_of_those_that_were_asked(search, ask, checks, certifies, searched):
    search = searched(SEARCHES[search](TREE), ask=ask)
    assert search.holdout_.report().asked == {"check": checks, "certify": certifies}
    table = search.cv_results_
    certified = np.isfinite(table["certified_low"])
    assert certified.sum() == {"candidates": 4, "winner": 1, 3: 3}[ask]
    assert (table["certified_low"][certified] < table["certified_high"][certified]).all()
    assert ((table["verdict"] != "") == certified).all()
    assert certified[search.best_index_]
    assert search.best_params_ == table["params"][search.best_index_]
    if ask == "candidates":
        scores = table["mean_test_score"]
        assert scores.tolist() == [answer.value for answer in search.answers_[:4]]
        assert search.best_index_ == int(np.argmax(scores))
        assert search.answers_[-1] == search.best_answer_


@pytest.mark.parametrize("ask", ["candidates", "winner", 3])
def test_the_certified_score_is_that_of_the_best_estimator_on_the_holdout(ask, searched, numbered):
    X, y = numbered[0], numbered[1]["classifier"]
    mask = np.random.default_rng(0).random(400) < 0.3
    search = searched(ask=ask, holdout=mask)
    expected = search.best_estimator_.score(X[mask], y[mask])
    assert search.best_score_ == pytest.approx(expected)
    low, high = search.best_score_interval_
    assert low < expected < high
    assert search.best_answer_.verdict == "exact"


def test_winner_keeps_the_searchs_own_scores(searched, numbered):
    inner = grid(values=DEPTHS, cv=KFold(3, shuffle=True, random_state=0))
    search = searched(inner, holdout=np.arange(400) >= 300)
    plain = clone(inner).fit(numbered[0][:300], numbered[1]["classifier"][:300])
    assert (search.cv_results_["mean_test_score"] == plain.cv_results_["mean_test_score"]).all()


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


@pytest.mark.filterwarnings("ignore")
def test_a_search_on_validation_rows_that_scores_no_candidate_tells_why(numbered, wrap):
    wrapped = wrap(grid(LOGISTIC, scoring="neg_brier_score"), ask="candidates", reveal="winner")
    with pytest.raises(ValueError, match="No candidate got a score from the search") as caught:
        wrapped.fit(numbered[0], np.array(["ill", "well"])[numbered[1]["classifier"]])
    kinds = {record.body.get("kind", "genesis") for record in wrapped.holdout_.ledger.records()}
    assert kinds == {"genesis", "overlap"}  # no round, selection or answer
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
@pytest.mark.parametrize(("reveal", "asked"), [("all", 2), ("winner", 1)])
def test_candidates_that_the_search_could_not_score_are_not_asked(reveal, asked, searched):
    fitted = searched(grid(SomeFail(), [10.0, 0.1, 1.0]), ask=3, reveal=reveal)
    assert fitted.cv_results_["verdict"][0] == ""
    assert fitted.best_params_["C"] <= 1.0
    assert fitted.holdout_.report().asked == {"check": 0, "certify": asked}  # the round is of these only
    selected = [body["models"] for body in bodies(fitted.holdout_) if body.get("kind") == "selection"]
    assert selected == ([2] if reveal == "winner" else [])


@pytest.mark.parametrize("scoring", ["r2", Metric("neg_mean_absolute_error", range=(-0.1, 0))])
def test_a_regressor_may_be_certified_by_another_metric_than_the_searchs(scoring, searched):
    own = "neg_mean_squared_error" if scoring == "r2" else None  # or by one that fold scores are outside of
    search = searched(grid(Ridge(), scoring=own), y="regressor", scoring=scoring)
    assert search.best_answer_.answered


LAST = np.arange(400) >= 330
HOLDOUTS = {
    "quarter": (0.25, 100),
    "tenth": (0.1, 40),
    "mask": (LAST, 70),
    "list": (LAST.tolist(), 70),
    "series": (pd.Series(LAST), 70),
    "splitter": (ShuffleSplit(1, test_size=55, random_state=0), 55),
}


@pytest.mark.parametrize("case", HOLDOUTS)
def test_every_way_to_name_the_holdout(case, searched):
    holdout, rows = HOLDOUTS[case]
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


def test_the_same_search_again_is_free_and_another_one_is_charged_on_the_same_ledger(searched):
    first, again = searched(), searched()
    assert again.holdout_.report().nats == first.holdout_.report().nats
    assert again.best_answer_.repeated
    assert again.best_score_ == first.best_score_
    assert searched(grid(SVC(), [1.0])).holdout_.report().asked["certify"] == 2


@pytest.mark.parametrize(
    "change", [{"holdout": 0.3}, {"random_state": 1}, {"confidence_level": 0.9}], ids=str
)
@pytest.mark.parametrize("ledger", ["path", None], ids=str)
def test_another_split_or_policy_on_the_same_data_is_refused(change, ledger, searched):
    params = {} if ledger else {"ledger": None}
    searched(**params)
    with pytest.raises(LedgerMismatchError) as caught:
        searched(**params, **change)
    assert ledger or "ledger=None" not in str(caught.value)  # that would not help


def test_random_state_decides_the_split(searched, tmp_path):
    splits = [
        searched(random_state=seed, ledger=tmp_path / f"{name}.db").holdout_.ledger.genesis["split"]
        for name, seed in enumerate([0, 1, 1])
    ]
    assert [split["random_state"] for split in splits] == [0, 1, 1]


SAME = {"fortran": np.asfortranarray, "list": np.ndarray.tolist, "copy": np.copy, "frame": pd.DataFrame}


@pytest.mark.parametrize("container", SAME)
def test_the_same_numbers_in_another_container_have_the_same_holdout(container, searched, numbered):
    first = searched()
    assert searched(X=SAME[container](numbered[0])).holdout_.fingerprint == first.holdout_.fingerprint


def with_nan(X):
    X = X.copy()
    X[::9, 1] = np.nan
    return X


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


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("ask", ["candidates", "winner"])
def test_x_of_any_kind_reaches_the_models(container, ask, searched, numbered):
    into, search = CONTAINERS[container]
    assert np.isfinite(searched(search, into(numbered[0]), ask=ask).best_score_)


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
    assert searched(..., X, y).best_answer_.answered


def test_outer_folds_have_ledgers_of_their_own(numbered):
    wrapped = ReusableHoldoutCV(grid())
    scores = cross_val_score(wrapped, numbered[0], numbered[1]["classifier"], cv=3, error_score="raise")
    assert np.isfinite(scores).all()


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
