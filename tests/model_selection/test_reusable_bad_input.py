"""Bad parameters of `ReusableHoldoutCV` are refused before any model is fitted or anything is charged."""

import os

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut, RepeatedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import Holdout, ReusableHoldoutCV
from sklearn_ada.exceptions import LedgerMismatchError, LedgerUnavailableError


class Fitless(ClassifierMixin, BaseEstimator):
    """Fitting it is a failure of the test."""

    def __init__(self, C=1.0):
        self.C = C

    def fit(self, X, y):
        pytest.exit("a model was fitted before its parameters were checked")

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


@pytest.fixture
def refused(numbered, tmp_path, sentence):
    """Assert that fitting with these parameters is refused, with no ledger made."""

    def check(name, match="", owner=".+", **params):
        search = GridSearchCV(Fitless(), {"C": [0.1, 1.0]})
        wrapped = ReusableHoldoutCV(**{"search": search, "ledger": tmp_path / "ledger.db", **params})
        with pytest.raises(ValueError, match=f"{sentence(name, owner)}.*{match}"):
            wrapped.fit(numbered[0], numbered[1]["classifier"])
        assert not os.listdir(tmp_path)

    return check


BAD = [
    *(("ask", v) for v in ("all", "best", 0, -1, 2.5, True, None)),
    *(("mechanism", v) for v in ("median", "laplace", None, 1)),
    *(("validation", v) for v in (0.0, 1.0, -0.25, np.nan, None, "quarter")),
    *(("confidence_level", v) for v in (0.0, 1.0, 95, np.nan, None)),
    *(("tolerance", v) for v in (0.0, 0.6, -1.0, np.nan, "wide")),
    *(("expected_questions", v) for v in (0, -1, 1.5, "many")),
    *(("ledger", v) for v in (5, True)),
    *(("search", v) for v in ("grid", None, LogisticRegression())),
]


@pytest.mark.parametrize(("name", "value"), BAD, ids=str)
def test_bad_parameters_are_refused(name, value, refused):
    refused(name, **{name: value})


PROMISE = [(name, v) for name, v in BAD if name in ("confidence_level", "tolerance", "expected_questions")]


@pytest.mark.parametrize(("name", "value"), PROMISE, ids=str)
def test_a_bad_policy_is_refused_in_the_name_of_what_the_user_wrote(name, value, refused):
    refused(name, owner="ReusableHoldoutCV", **{name: value})


def test_a_class_as_search_is_refused(refused):
    refused("search", search=GridSearchCV)


BAD_HOLDOUTS = {
    "0": 0,
    "1": 1,
    "1.0": 1.0,
    "0.0": 0.0,
    "negative": -0.25,
    "NaN": np.nan,
    "None": None,
    "numpy integer": np.int64(5),
    "indices": np.arange(100),
    "list of indices": [1, 2, 3],
    "zeros and ones": (np.arange(400) < 100).astype(int),
    "short mask": np.arange(399) < 100,
    "long mask": np.arange(401) < 100,
    "table": np.zeros((400, 2), dtype=bool),
    "all True": np.ones(400, dtype=bool),
    "all False": np.zeros(400, dtype=bool),
    "five splits": KFold(5),
    "ten splits": RepeatedKFold(n_splits=5, n_repeats=2),
    "leave one out": LeaveOneOut(),
}


@pytest.mark.parametrize("case", BAD_HOLDOUTS)
def test_bad_holdouts_are_refused(case, refused):
    refused("holdout", holdout=BAD_HOLDOUTS[case])


@pytest.mark.parametrize("value", [25, True, "0.25", None])
def test_a_bad_holdout_that_is_one_value_is_shown(value, refused):
    refused("holdout", rf"(?<=Got {value!r} instead\.)", holdout=value)


@pytest.mark.parametrize("indices", [np.arange(100), [1, 2, 3]])
def test_the_refusal_of_indices_says_why(indices, numbered):
    search = ReusableHoldoutCV(GridSearchCV(Fitless(), {"C": [1.0]}), holdout=indices)
    with pytest.raises(ValueError, match="make a mask of them"):
        search.fit(numbered[0], numbered[1]["classifier"])


def test_a_text_as_holdout_is_refused(refused):
    refused("holdout", holdout="quarter")


class Overlapping:
    """A splitter whose two parts share ten rows."""

    def split(self, X, y=None, groups=None):
        yield np.arange(310), np.arange(300, 400)


def test_a_splitter_whose_parts_overlap_is_refused(refused):
    refused("holdout", holdout=Overlapping())


@pytest.mark.parametrize("value", ["seed", 1.5, True, np.random.RandomState(0)], ids=str)
def test_a_bad_random_state_is_refused(value, refused):
    refused("random_state", random_state=value)


def test_a_numpy_integer_is_a_random_state(numbered, tmp_path):
    search = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1]})
    wrapped = ReusableHoldoutCV(search, random_state=np.int64(3), ledger=tmp_path / "ledger.db")
    wrapped.fit(numbered[0], numbered[1]["classifier"])


@pytest.mark.parametrize("cv", [5, 2, KFold(3), [(np.arange(300), np.arange(300, 400))]], ids=repr)
def test_the_searchs_own_cv_is_refused_with_candidates_and_names_winner(cv, numbered, sentence):
    search = ReusableHoldoutCV(GridSearchCV(Fitless(), {"C": [1.0]}, cv=cv), ask="candidates")
    with pytest.raises(ValueError, match=sentence("search") + ".*ask='winner'"):
        search.fit(numbered[0], numbered[1]["classifier"])


@pytest.mark.parametrize("reveal", ["all", "winner"])
def test_a_function_as_refit_is_refused_with_candidates_and_names_the_rule(reveal, refused):
    search = GridSearchCV(Fitless(), {"C": [1.0]}, refit=lambda results: 0)
    refused(
        "search", ask="candidates", search=search, reveal=reveal, match="one_standard_error=, or ask='winner'"
    )


@pytest.mark.parametrize("reveal", ["all", "winner"])
@pytest.mark.parametrize("model", [SVC(kernel="precomputed"), KNeighborsClassifier(metric="precomputed")])
def test_a_matrix_of_pairs_is_refused_with_candidates_that_know_a_part_of_its_columns(model, reveal, refused):
    grid = {"C": [1.0]} if isinstance(model, SVC) else {"n_neighbors": [3]}
    search = GridSearchCV(model, grid)
    refused("search", ask="candidates", search=search, reveal=reveal, match="ask='winner'")


def test_a_model_of_pairs_is_certified_on_pairs_with_its_rows(rows, tmp_path):
    model = SVC(kernel="precomputed").fit(rows[0] @ rows[0].T, rows[1])
    holdout = Holdout(rows[2] @ rows[0].T, rows[3], ledger=tmp_path / "ledger.db")
    answer = holdout.certify(model, scoring="accuracy")
    assert answer.value == pytest.approx(model.score(rows[2] @ rows[0].T, rows[3]))


@pytest.mark.parametrize("scoring", [["accuracy", "f1"], {"a": "accuracy"}, ("accuracy",)], ids=repr)
def test_several_metrics_are_refused(scoring, refused):
    refused("scoring", scoring=scoring)


def test_a_search_of_a_list_of_metrics_that_names_none_is_refused(refused):
    search = GridSearchCV(Fitless(), {"C": [1.0]}, scoring=["accuracy", "f1"], refit=False)
    refused("scoring", ask="candidates", search=search)


def test_a_search_of_named_metrics_is_certified_by_the_one_it_refits_for(numbered, tmp_path):
    scoring = {"a": "accuracy", "auc": "roc_auc"}
    inner = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}, scoring=scoring, refit="auc")
    search = ReusableHoldoutCV(inner, ask="winner", ledger=tmp_path / "ledger.db")
    search.fit(numbered[0], numbered[1]["classifier"])
    assert "roc_auc" in search.best_answer_.certificate.target


@pytest.mark.parametrize(("refit", "ask"), [(False, "candidates"), (True, "winner")])
def test_a_search_of_named_metrics_that_refits_for_none_is_refused(refit, ask, numbered, tmp_path, sentence):
    scoring = {"b": "balanced_accuracy", "auc": "roc_auc"}
    inner = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}, scoring=scoring, refit=refit)
    search = ReusableHoldoutCV(inner, ask=ask, ledger=tmp_path / "ledger.db")
    with pytest.raises(ValueError, match=sentence("scoring")):
        search.fit(numbered[0], numbered[1]["classifier"])


def test_unknown_scoring_is_refused(refused):
    refused("scoring", scoring="acuracy")


def test_y_none_is_refused(numbered, tmp_path, sentence):
    search = ReusableHoldoutCV(GridSearchCV(Fitless(), {"C": [1.0]}), ledger=tmp_path / "ledger.db")
    with pytest.raises(ValueError, match=sentence("y")):
        search.fit(numbered[0])


BAD_LABELS = {"a table": lambda y: np.c_[y, y], "short": lambda y: y[:-1]}


@pytest.mark.parametrize("case", BAD_LABELS)
def test_labels_of_a_wrong_shape_are_refused(case, numbered, tmp_path):
    search = ReusableHoldoutCV(GridSearchCV(Fitless(), {"C": [1.0]}), ledger=tmp_path / "ledger.db")
    with pytest.raises(ValueError, match=r"one-dimensional|inconsistent numbers of samples"):
        search.fit(numbered[0], BAD_LABELS[case](numbered[1]["classifier"]))
    assert not os.listdir(tmp_path)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
def test_a_column_of_labels_is_flattened_as_scikit_learn_does(numbered, tmp_path):
    X, y = numbered[0], numbered[1]["classifier"]
    search = ReusableHoldoutCV(
        GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1]}), ledger=tmp_path / "l"
    )
    assert np.isfinite(search.fit(X, y[:, None]).best_score_)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_labels_that_are_not_finite_are_refused(value, numbered, tmp_path):
    search = ReusableHoldoutCV(GridSearchCV(Ridge(), {"alpha": [1.0]}), ledger=tmp_path / "ledger.db")
    y = numbered[1]["regressor"].copy()
    y[0] = value
    with pytest.raises(ValueError, match=r"(?i)nan|infini"):
        search.fit(numbered[0], y)
    assert not os.listdir(tmp_path)


def test_thresholdout_of_what_has_no_interval_names_the_stable_median(numbered, tmp_path):
    search = ReusableHoldoutCV(
        GridSearchCV(Ridge(), {"alpha": [1.0]}), mechanism="thresholdout", ask="candidates",
        ledger=tmp_path / "ledger.db",
    )  # fmt: skip
    with pytest.raises(ValueError, match="StableHoldoutScorer"):
        search.fit(numbered[0], numbered[1]["regressor"])


def test_thresholdout_of_the_winner_is_not_silently_a_stable_median(refused):
    search = GridSearchCV(Fitless(), {"C": [1.0]}, scoring="f1_macro")
    refused("scoring", search=search, mechanism="thresholdout", ask="winner")


def test_a_ledger_of_other_data_is_refused(numbered, tmp_path):
    X, y = numbered[0], numbered[1]["classifier"]
    tree = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1]})
    ReusableHoldoutCV(tree, ask="winner", ledger=tmp_path / "ledger.db").fit(X, y)
    other = ReusableHoldoutCV(GridSearchCV(Fitless(), {"C": [1.0]}), ledger=tmp_path / "ledger.db")
    with pytest.raises(LedgerMismatchError):
        other.fit(X, y[::-1])


def test_an_unwritable_path_is_refused_before_any_fit(numbered, tmp_path):
    search = ReusableHoldoutCV(GridSearchCV(Fitless(), {"C": [1.0]}), ledger=tmp_path / "no" / "ledger.db")
    with pytest.raises(LedgerUnavailableError):
        search.fit(numbered[0], numbered[1]["classifier"])


class Wavering(ClassifierMixin, BaseEstimator):
    """Predicts NaN if told to."""

    def __init__(self, act="predict"):
        self.act = act

    def fit(self, X, y):
        if self.act == "fail":
            raise ValueError("cannot be fitted")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), np.nan if self.act == "nan" else 1.0)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ask", ["candidates", "winner"])
def test_a_candidate_that_cannot_be_fitted_does_not_lose_the_search(ask, numbered, tmp_path):
    search = GridSearchCV(Wavering(), {"act": ["fail", "predict"]})
    search = ReusableHoldoutCV(search, ask=ask, ledger=tmp_path / "ledger.db")
    search.fit(numbered[0], numbered[1]["classifier"])
    assert search.best_params_ == {"act": "predict"}
    assert np.isnan(search.cv_results_["mean_test_score"][0])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ask", ["candidates", "winner"])
def test_a_candidate_without_a_guess_does_not_lose_the_search(ask, numbered, tmp_path):
    search = GridSearchCV(Wavering(), {"act": ["predict", "nan"]})
    search = ReusableHoldoutCV(search, ask=ask, ledger=tmp_path / "ledger.db")
    search.fit(numbered[0], numbered[1]["classifier"])
    assert search.best_params_ == {"act": "predict"}


@pytest.mark.filterwarnings("ignore")
def test_if_no_candidate_has_a_guess_the_error_says_so(numbered, tmp_path):
    search = GridSearchCV(Wavering(), {"act": ["nan"]})
    search = ReusableHoldoutCV(search, ask="candidates", ledger=tmp_path / "ledger.db")
    with pytest.raises(ValueError, match="not finite"):
        search.fit(numbered[0], numbered[1]["classifier"])


@pytest.mark.parametrize("ask", ["candidates", "winner"])
def test_a_class_that_only_the_holdout_has_is_named_before_any_fit(ask, numbered, tmp_path, sentence):
    y = numbered[1]["classifier"].astype("U9")
    y[399] = "rare"
    search = GridSearchCV(Fitless(), {"C": [1.0]})
    search = ReusableHoldoutCV(search, ask=ask, holdout=np.arange(400) >= 300, ledger=tmp_path / "ledger.db")
    with pytest.raises(ValueError, match=sentence("y")) as caught:
        search.fit(numbered[0], y)
    assert "'rare'" in str(caught.value)
    assert "holdout=mask" in str(caught.value)
    assert not os.listdir(tmp_path)  # another holdout may be chosen


def test_a_class_that_only_a_given_holdout_has_is_named_before_any_fit(rows, holdout, uncharged):
    search = ReusableHoldoutCV(GridSearchCV(Fitless(), {"C": [1.0]}), holdout=holdout)
    with uncharged(holdout), pytest.raises(ValueError, match="no training row of 1"):
        search.fit(rows[0], np.zeros(len(rows[1]), dtype=int))


def test_whole_numbers_of_a_regressor_are_no_classes(numbered, tmp_path):
    search = ReusableHoldoutCV(
        GridSearchCV(Ridge(), {"alpha": [1.0]}), ask="winner", ledger=tmp_path / "ledger.db"
    )
    assert np.isfinite(search.fit(numbered[0], np.arange(400)).best_score_)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ask", ["candidates", "winner"])
def test_a_metric_that_the_model_cannot_serve_is_named_as_the_cause(ask, numbered, tmp_path):
    search = GridSearchCV(Wavering(), {"act": ["predict"]})
    search = ReusableHoldoutCV(search, ask=ask, scoring="roc_auc", ledger=tmp_path / "ledger.db")
    cause = "decision_function, predict_proba"
    is_error = ask == "candidates"
    with pytest.raises(TypeError, match=cause) if is_error else pytest.warns(UserWarning, match=cause):
        search.fit(numbered[0], numbered[1]["classifier"])
