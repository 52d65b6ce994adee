"""`ReusableHoldoutCV` over grid and random search: what it asks, what it certifies, what it delegates."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    RandomizedSearchCV,
    ShuffleSplit,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_ada import Metric, ReusableHoldoutCV
from sklearn_ada.exceptions import HoldoutLeakError, LedgerMismatchError
from sklearn_ada.model_selection.engines import ranked
from tests.ledger.fitted_models import FirstRule

TREE = DecisionTreeClassifier(random_state=0)
GRID = {"max_depth": [1, 2, 3, 4]}
SEARCHES = {
    "grid": lambda model: GridSearchCV(model, GRID),
    "random": lambda model: RandomizedSearchCV(model, GRID, n_iter=4, random_state=0),
}


@pytest.fixture
def searched(numbered, tmp_path):
    """Fit a wrapped grid search over trees with a ledger of its own."""

    def fit(search=None, X=None, y=None, **params):
        params = {"ledger": tmp_path / "ledger.db", "answers": "exact", **params}
        wrapped = ReusableHoldoutCV(GridSearchCV(TREE, GRID) if search is None else search, **params)
        return wrapped.fit(numbered[0] if X is None else X, numbered[1]["classifier"] if y is None else y)

    return fit


RULES = [{200.0: 1, -1.0: 0}, {-1.0: 0, 200.0: 1}]  # of the row's number: the first that applies wins


def test_candidates_whose_rules_differ_in_order_are_two(searched):
    search = searched(GridSearchCV(FirstRule(), {"rules": RULES}), ask=2)
    assert len(search.answers_) == 2
    assert np.isfinite(search.cv_results_["certified_low"]).all()


def test_candidates_whose_parameters_were_named_in_another_order_are_one(numbered):
    search = GridSearchCV(TREE, GRID).fit(numbered[0], numbered[1]["classifier"])
    search.cv_results_["params"] = [{"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 2, "b": 1}, {"b": 1, "a": 2}]
    assert len(ranked(search, "score").order) == 2


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize(("ask", "checks", "certifies"), [("candidates", 4, 1), ("winner", 0, 1), (3, 0, 3)])
def test_number_of_questions(search, ask, checks, certifies, searched):
    report = searched(SEARCHES[search](TREE), ask=ask).holdout_.report()
    assert report.asked == {"check": checks, "certify": certifies}


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


@pytest.mark.parametrize("ask", ["candidates", "winner", 3])
def test_certified_columns_tell_every_candidate_that_was_asked(ask, searched):
    search = searched(ask=ask)
    table = search.cv_results_
    certified = np.isfinite(table["certified_low"])
    assert certified.sum() == {"candidates": 4, "winner": 1, 3: 3}[ask]
    assert (table["certified_low"][certified] < table["certified_high"][certified]).all()
    assert ((table["verdict"] != "") == certified).all()
    assert certified[search.best_index_]
    assert search.best_params_ == table["params"][search.best_index_]


def test_candidates_are_scored_by_the_holdouts_answers(searched):
    search = searched(ask="candidates")
    scores = search.cv_results_["mean_test_score"]
    assert scores.tolist() == [answer.value for answer in search.answers_[:4]]
    assert search.best_index_ == int(np.argmax(scores))
    assert search.answers_[-1] == search.best_answer_


def test_winner_keeps_the_searchs_own_scores(searched, numbered):
    inner = GridSearchCV(TREE, GRID, cv=KFold(3, shuffle=True, random_state=0))
    search = searched(inner, ask="winner", holdout=np.arange(400) >= 300)
    plain = clone(inner).fit(numbered[0][:300], numbered[1]["classifier"][:300])
    assert (search.cv_results_["mean_test_score"] == plain.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("ask", ["winner", 2])
def test_winners_that_regress_get_an_interval_of_r2(search, ask, searched, numbered):
    model = DecisionTreeRegressor(random_state=0)
    fitted = searched(SEARCHES[search](model), y=numbered[1]["regressor"], ask=ask)
    assert fitted.best_answer_.levels is None
    expected = "population r2 (-1 if below), y and predictions clipped"
    assert fitted.best_answer_.certificate.target.startswith(expected)
    assert np.isfinite(fitted.best_score_)


def test_candidates_that_regress_are_not_checked_by_r2(searched, numbered, sentence, tmp_path):
    search = GridSearchCV(DecisionTreeRegressor(random_state=0), GRID)
    with pytest.raises(ValueError, match=sentence("scoring")) as caught:
        searched(search, y=numbered[1]["regressor"], ask="candidates")
    assert "r2" in str(caught.value)
    assert "ask='winner'" in str(caught.value)
    assert "mechanism='stable_median'" in str(caught.value)


@pytest.mark.parametrize(
    ("ask", "n"), [("candidates", 12), ("candidates", 60), ("winner", 20), ("winner", 60)]
)
def test_few_rows_make_a_regressor_vacuous_and_no_error(ask, n, searched, numbered):
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]})
    mechanism = "stable_median" if ask == "candidates" else "auto"
    fitted = searched(search, numbered[0][:n], numbered[1]["regressor"][:n], ask=ask, mechanism=mechanism)
    assert fitted.best_answer_.certificate.vacuous


@pytest.mark.filterwarnings("ignore")
def test_a_search_on_validation_rows_that_scores_no_candidate_tells_why(numbered, tmp_path):
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, scoring="neg_brier_score")
    named = np.array(["ill", "well"])[numbered[1]["classifier"]]
    wrapped = ReusableHoldoutCV(search, ask="candidates", reveal="winner", ledger=tmp_path / "ledger.db")
    with pytest.raises(ValueError, match="No candidate got a score from the search") as caught:
        wrapped.fit(numbered[0], named)
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
@pytest.mark.parametrize(("ask", "reveal"), [(3, "all"), (3, "winner")])
def test_candidates_that_the_search_could_not_score_are_not_asked(ask, reveal, searched):
    search = GridSearchCV(SomeFail(), {"C": [10.0, 0.1, 1.0]})
    fitted = searched(search, ask=ask, reveal=reveal)
    assert fitted.cv_results_["verdict"][0] == ""
    assert fitted.best_params_["C"] <= 1.0
    asked = {"all": 2, "winner": 1}[reveal]
    assert fitted.holdout_.report().asked == {"check": 0, "certify": asked}  # the round is of these only
    bodies = [record.body for record in fitted.holdout_.ledger.records()]
    selected = [body["models"] for body in bodies if body.get("kind") == "selection"]
    assert selected == ([2] if reveal == "winner" else [])


def test_a_regressor_may_be_certified_by_another_metric_than_the_searchs(searched, numbered):
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, scoring="neg_mean_squared_error")
    searched(search, y=numbered[1]["regressor"], scoring="r2", ask="winner")


def test_fold_scores_outside_the_range_are_clipped_to_be_a_guess(searched, numbered):
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]})
    metric = Metric("neg_mean_absolute_error", range=(-0.1, 0))
    searched(search, y=numbered[1]["regressor"], scoring=metric, ask="winner")


@pytest.mark.parametrize(
    ("holdout", "rows"),
    [
        (0.25, 100),
        (0.1, 40),
        (np.arange(400) >= 330, 70),
        ((np.arange(400) >= 330).tolist(), 70),
        (pd.Series(np.arange(400) >= 330), 70),
        (ShuffleSplit(1, test_size=55, random_state=0), 55),
    ],
    ids=["quarter", "tenth", "mask", "list", "series", "splitter"],
)
def test_every_way_to_name_the_holdout(holdout, rows, searched):
    assert searched(holdout=holdout, ask="winner").holdout_.n_rows == rows


def test_a_share_is_stratified_by_class(searched, numbered):
    y = (np.arange(400) % 20 == 0).astype(int)
    search = searched(y=y, scoring="roc_auc", ask="winner")
    assert search.best_answer_.answered  # five of the twenty positives are in the holdout


def test_a_second_search_on_the_same_data_uses_the_same_holdout_and_goes_on_paying(numbered):
    X, y = numbered[0] + 0.5, numbered[1]["classifier"]  # no other test has these rows
    first = ReusableHoldoutCV(GridSearchCV(TREE, GRID), ask="candidates").fit(X, y)
    before = first.holdout_.report()
    second = ReusableHoldoutCV(GridSearchCV(SVC(), {"C": [0.1, 1.0]}), ask="candidates").fit(X, y)
    after = second.holdout_.report()
    assert after.fingerprint == before.fingerprint
    assert after.asked == {"check": 6, "certify": 2}
    assert after.nats > before.nats


def test_the_same_search_again_is_free(searched):
    first, again = searched(), searched()
    assert again.holdout_.report().nats == first.holdout_.report().nats
    assert again.best_answer_.repeated
    assert again.best_score_ == first.best_score_


def test_a_durable_ledger_remembers_the_first_search(searched):
    searched(ask="winner")
    assert searched(GridSearchCV(SVC(), {"C": [1.0]}), ask="winner").holdout_.report().asked["certify"] == 2


@pytest.mark.parametrize(
    "change", [{"holdout": 0.3}, {"random_state": 1}, {"confidence_level": 0.9}], ids=str
)
@pytest.mark.parametrize("durable", [True, False])
def test_another_split_or_policy_on_the_same_data_is_refused(change, durable, searched, numbered):
    params = {} if durable else {"ledger": None, "X": numbered[0] + len(str(change))}
    searched(ask="winner", **params)
    with pytest.raises(LedgerMismatchError):
        searched(ask="winner", **params, **change)


def test_the_refusal_of_another_split_gives_advice_that_helps(searched, numbered):
    searched(ask="winner", ledger=None, X=numbered[0] + 0.75)
    with pytest.raises(LedgerMismatchError) as caught:
        searched(ask="winner", ledger=None, X=numbered[0] + 0.75, random_state=1)
    assert "ledger=None" not in str(caught.value)


def test_random_state_decides_the_split(searched, tmp_path):
    prints = {
        searched(ask="winner", random_state=seed, ledger=tmp_path / f"{name}.db").holdout_.ledger.genesis[
            "split"
        ]["random_state"]
        for name, seed in enumerate([0, 1, 1])
    }
    assert prints == {0, 1}


@pytest.mark.parametrize(
    "container",
    [np.asfortranarray, np.ndarray.tolist, lambda X: np.array(X, order="K")],
    ids=["fortran", "list", "copy"],
)
def test_the_same_numbers_in_another_container_have_the_same_holdout(container, searched, numbered):
    first = searched(ask="winner")
    assert searched(X=container(numbered[0]), ask="winner").holdout_.fingerprint == first.holdout_.fingerprint


def test_the_same_numbers_in_a_frame_have_the_same_holdout(searched, numbered):
    searched(ask="winner")
    searched(X=pd.DataFrame(numbered[0]), ask="winner")


def with_nan(X):
    X = X.copy()
    X[::9, 1] = np.nan
    return X


def texts(X):
    return ["good one" if row[1] > 0 else "bad one" for row in X]


def counted(model):
    return GridSearchCV(make_pipeline(CountVectorizer(), model), {"logisticregression__C": [0.1, 1.0]})


LOGISTIC = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]})
CONTAINERS = {
    "NaN": (with_nan, GridSearchCV(HistGradientBoostingClassifier(max_iter=5), {"max_depth": [1, 2]})),
    "csr matrix": (sparse.csr_matrix, LOGISTIC),
    "csr array": (sparse.csr_array, LOGISTIC),
    "coo matrix": (sparse.coo_matrix, LOGISTIC),
    "frame": (lambda X: pd.DataFrame(X, columns=list("abcde"), index=np.arange(400) + 7), LOGISTIC),
    "texts": (texts, counted(LogisticRegression())),
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("ask", ["candidates", "winner"])
def test_x_of_any_kind_reaches_the_models(container, ask, searched, numbered):
    wrap, search = CONTAINERS[container]
    assert np.isfinite(searched(search, X=wrap(numbered[0]), ask=ask).best_score_)


def test_a_series_of_texts_reaches_the_models(searched, numbered):
    searched(counted(LogisticRegression()), X=pd.Series(texts(numbered[0])), ask="winner")


def test_predictions_are_delegated_to_the_best_estimator(searched, numbered):
    search, X = searched(ask="winner"), numbered[0]
    for method in ("predict", "predict_proba", "predict_log_proba"):
        expected = getattr(search.best_estimator_, method)(X)
        assert (getattr(search, method)(X) == expected).all()


def test_methods_that_the_model_lacks_are_lacking_before_and_after_fit(searched):
    search = ReusableHoldoutCV(GridSearchCV(SVC(), {"C": [1.0]}), ask="winner")
    assert hasattr(search, "decision_function")
    assert not hasattr(search, "predict_proba")
    assert not hasattr(searched(ask="winner"), "decision_function")


def test_attributes_are_delegated_to_the_best_estimator(searched, numbered):
    frame = pd.DataFrame(numbered[0], columns=list("abcde"))
    search = searched(X=frame, ask="winner")
    assert search.feature_names_in_.tolist() == list("abcde")
    assert search.n_features_in_ == 5
    assert search.classes_.tolist() == [0, 1]


def test_before_fit_there_are_no_fitted_attributes():
    search = ReusableHoldoutCV(GridSearchCV(TREE, GRID))
    for name in ("n_features_in_", "feature_names_in_", "classes_", "best_estimator_"):
        assert not hasattr(search, name)


@pytest.mark.parametrize("scoring", [None, "roc_auc", "f1"])
def test_score_is_the_plain_metric_of_the_rows_given_and_free(scoring, searched, numbered, uncharged):
    search = searched(ask="winner", scoring=scoring)
    X, y = numbered[0][:90], numbered[1]["classifier"][:90]
    with uncharged(search.holdout_):
        score = search.score(X, y)
    assert score == Metric(scoring or "accuracy").score(search.best_estimator_, X, y)


def test_clone_is_unfitted_and_has_the_same_parameters(searched):
    search = searched(ask="winner", tolerance=0.4, expected_questions=7)
    copy = clone(search)
    assert not hasattr(copy, "holdout_")
    assert copy.get_params(deep=False).keys() == search.get_params(deep=False).keys()
    assert (copy.tolerance, copy.expected_questions, copy.ask) == (0.4, 7, "winner")


def test_the_searchs_parameters_can_be_set():
    search = ReusableHoldoutCV(GridSearchCV(TREE, GRID)).set_params(search__estimator__min_samples_leaf=3)
    assert search.search.estimator.min_samples_leaf == 3


def test_the_search_given_is_not_fitted_or_changed(searched):
    inner = GridSearchCV(TREE, GRID)
    before = repr(inner.get_params())
    searched(inner)
    assert repr(inner.get_params()) == before
    assert not hasattr(inner, "cv_results_")


def test_a_given_holdout_is_charged(searched, rows, holdout, asked):
    search = ReusableHoldoutCV(GridSearchCV(TREE, GRID), holdout=holdout).fit(rows[0], rows[1])
    assert asked(holdout) == 1  # about the winner
    assert search.holdout_ is holdout


def test_a_given_holdout_inside_x_is_a_leak(rows, holdout):
    X, y = np.r_[rows[0], rows[2]], np.r_[rows[1], rows[3]]
    with pytest.raises(HoldoutLeakError):
        ReusableHoldoutCV(GridSearchCV(TREE, GRID), holdout=holdout).fit(X, y)


@pytest.mark.parametrize("seed", range(10))
def test_duplicates_of_discrete_rows_are_no_leak(seed, searched):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 4, size=(400, 3)), rng.integers(0, 2, size=400)
    assert searched(X=X, y=y, ask="winner").best_answer_.answered


def test_outer_folds_have_ledgers_of_their_own(numbered):
    X, y = numbered[0] + 0.25, numbered[1]["classifier"]
    search = ReusableHoldoutCV(GridSearchCV(TREE, GRID), ask="winner")
    scores = cross_val_score(search, X, y, cv=3, error_score="raise")
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("ask", ["candidates", "winner"])
def test_sample_weights_are_split_along_with_x(ask, searched, numbered, tmp_path):
    weights = np.where(numbered[1]["classifier"] == 1, 1000.0, 1e-3)
    search = ReusableHoldoutCV(LOGISTIC, ask=ask, ledger=tmp_path / "ledger.db")
    search.fit(numbered[0], numbered[1]["classifier"], sample_weight=weights)
    assert search.predict(numbered[0]).mean() > 0.95


def test_groups_reach_the_searchs_cv_and_not_the_model(numbered, tmp_path):
    inner = GridSearchCV(TREE, GRID, cv=GroupKFold(3))
    search = ReusableHoldoutCV(inner, ask="winner", ledger=tmp_path / "ledger.db")
    search.fit(numbered[0], numbered[1]["classifier"], groups=np.arange(400) // 10)


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.thorough)])
def test_parallel_workers_give_the_same_scores(n_jobs, searched):
    search = searched(GridSearchCV(TREE, GRID, n_jobs=n_jobs), random_state=0, ask="candidates")
    assert search.cv_results_["mean_test_score"].shape == (4,)
    assert search.holdout_.report().asked == {"check": 4, "certify": 1}
