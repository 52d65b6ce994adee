"""Bad parameters of `ReusableHoldoutCV` are refused before any model is fitted or anything is charged."""

import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, LeaveOneOut, RepeatedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from sklearn_ada import Holdout, ReusableHoldoutCV
from sklearn_ada.exceptions import LedgerDamagedError, LedgerMismatchError, LedgerUnavailableError
from tests.support.searches import grid


class Fitless(ClassifierMixin, BaseEstimator):
    """Fitting it is a failure of the test."""

    def __init__(self, C=1.0):
        self.C = C

    def fit(self, X, y):
        pytest.exit("a model was fitted before its parameters were checked")

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


def fitless(values=(1.0,), **params):
    return grid(Fitless(), list(values), **params)


MISTAKES = {
    "labels of fewer rows": (lambda X, y: {"y": y[:-1]}, "y", "Both are of the same rows"),
    "groups of fewer rows": (lambda X, y: {"y": y, "groups": y[:10]}, "groups", "one for each row"),
    "one group": (lambda X, y: {"y": y, "groups": 0 * y}, "groups", "Whole groups are set aside"),
}


@pytest.mark.parametrize(("passed", "name", "text"), MISTAKES.values(), ids=MISTAKES)
def test_what_is_passed_beside_rows_is_refused_with_how_to_mend_it(passed, name, text, sentence, tmp_path):
    X, y = np.arange(80.0)[:, None], np.arange(80) % 2
    search = ReusableHoldoutCV(fitless(), ledger=tmp_path / "ledger.db")
    with pytest.raises(ValueError, match=sentence(name, "ReusableHoldoutCV.fit")) as refused:
        search.fit(X, **passed(X, y))
    assert text in str(refused.value)
    assert not list(tmp_path.iterdir())


def test_one_model_to_choose_among_and_files_where_none_can_be_are_refused(tmp_path, sentence):
    X, y = np.arange(80.0)[:, None], np.arange(80) % 2
    holdout = Holdout(X, y, ledger=tmp_path / "ledger.db")
    with pytest.raises(ValueError, match=sentence("models", "Holdout.select")):
        holdout.select(make_pipeline(LogisticRegression()).fit(X, y), scoring="accuracy")
    with pytest.raises(ValueError, match=r"There is no folder '.*/none': make it, or give another"):
        holdout.export(tmp_path / "none" / "page.html")
    (tmp_path / "table.csv").write_text("a,b\n1,2\n" * 99)
    with pytest.raises(LedgerDamagedError, match="If it never was one, give another path"):
        Holdout(X, y, ledger=tmp_path / "table.csv")


class Overlapping:
    """A splitter whose two parts share ten rows."""

    def split(self, X, y=None, groups=None):
        yield np.arange(310), np.arange(300, 400)


BAD_HOLDOUTS = [
    *(0, 1, 25, True, 1.0, 0.0, -0.25, np.nan, None, "quarter", "0.25", np.int64(5)),
    *(np.arange(100), [1, 2, 3], (np.arange(400) < 100).astype(int)),  # indices, zeros and ones
    *(np.arange(399) < 100, np.arange(401) < 100, np.zeros((400, 2), dtype=bool)),  # masks of another shape
    *(np.ones(400, dtype=bool), np.zeros(400, dtype=bool)),
    *(KFold(5), RepeatedKFold(n_splits=5, n_repeats=2), LeaveOneOut(), Overlapping()),
]
BAD = [
    *(("ask", v) for v in ("all", "best", 0, -1, 2.5, True, None)),
    *(("answers", v) for v in ("cell", None, 1)),
    *(("mechanism", v) for v in ("median", "laplace", None, 1)),
    *(("validation", v) for v in (0.0, 1.0, -0.25, np.nan, None, "quarter")),
    *(("confidence_level", v) for v in (0.0, 1.0, 95, np.nan, None)),
    *(("tolerance", v) for v in (0.0, 0.6, -1.0, np.nan, "wide")),
    *(("expected_questions", v) for v in (0, -1, 1.5, "many")),
    *(("ledger", v) for v in (5, True)),
    *(("holdout", v) for v in BAD_HOLDOUTS),
    *(("random_state", v) for v in ("seed", 1.5, True, np.random.RandomState(0))),
    *(("scoring", v) for v in (["accuracy", "f1"], {"a": "accuracy"}, ("accuracy",))),
    *(("search", v) for v in ("grid", None, LogisticRegression(), GridSearchCV)),
    *(("who", v) for v in ("", "two\nlines", 7)),
]


@pytest.mark.parametrize(("name", "value"), BAD)
def test_bad_parameters_are_refused_in_the_name_of_what_the_user_wrote(name, value, refused):
    shown = name == "holdout" and isinstance(value, str | bool | int | float | None)
    owner = "Holdout" if name == "ledger" else "ReusableHoldoutCV"
    got = f"(?<=Got {re.escape(repr(value))} instead\\.)" if shown else ""
    refused(name, got, owner, **{"search": fitless([0.1, 1.0]), name: value})


def test_the_refusal_of_indices_says_why_and_a_numpy_integer_is_a_random_state(searched):
    for indices in (np.arange(100), [1, 2, 3]):
        with pytest.raises(ValueError, match="make a mask of them"):
            searched(fitless(), holdout=indices)
    assert searched(grid(values=[1]), random_state=np.int64(3)).best_answer_.answered


SPLIT = [(np.arange(300), np.arange(300, 400))]
NOT_BY_CANDIDATES = [  # what says so may be the search's own, and what is advised
    *((fitless(cv=cv), "ask='winner'") for cv in (5, 2, KFold(3), SPLIT)),
    (fitless(refit=lambda results: 0), "one_standard_error=, or ask='winner'"),
    (grid(SVC(kernel="precomputed"), [1.0]), "ask='winner'"),  # they know a part of its columns
    (grid(KNeighborsClassifier(metric="precomputed"), [3]), "ask='winner'"),
]


@pytest.mark.parametrize("reveal", ["all", "winner"])
@pytest.mark.parametrize(("search", "way"), NOT_BY_CANDIDATES)
def test_what_candidates_cannot_be_asked_with_is_refused_with_the_way_out(search, way, reveal, refused):
    refused("search", way, search=search, ask="candidates", reveal=reveal)


def test_a_model_of_pairs_is_certified_on_pairs_with_its_rows(rows, tmp_path):
    model = SVC(kernel="precomputed").fit(rows[0] @ rows[0].T, rows[1])
    pairs = rows[2] @ rows[0].T
    answer = Holdout(pairs, rows[3], ledger=tmp_path / "ledger.db").certify(model, scoring="accuracy")
    assert answer.value == pytest.approx(model.score(pairs, rows[3]))


LABELS = np.arange(400) % 2
BAD_LABELS = {
    "none": (fitless(), None, r"^The 'y' parameter of"),
    "a table": (fitless(), np.c_[LABELS, LABELS], "one-dimensional"),
    "short": (fitless(), LABELS[:-1], "as long as X, which has 400 rows"),
    "NaN": (grid(Ridge()), np.where(np.arange(400) == 0, np.nan, 0.5), r"(?i)nan|infini"),
    "infinite": (grid(Ridge()), np.where(np.arange(400) == 0, np.inf, 0.5), r"(?i)nan|infini"),
}


@pytest.mark.parametrize(("search", "y", "message"), BAD_LABELS.values(), ids=BAD_LABELS)
def test_bad_labels_are_refused(search, y, message, searched, tmp_path):
    with pytest.raises(ValueError, match=message):
        searched(search, y=y)
    assert not list(tmp_path.iterdir())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
def test_a_column_of_labels_is_flattened_and_whole_numbers_of_a_regressor_are_no_classes(searched, numbered):
    assert np.isfinite(searched(y=numbered[1]["classifier"][:, None]).best_score_)
    assert np.isfinite(searched(grid(Ridge()), y=np.arange(400), ledger=None).best_score_)


def test_a_metric_that_cannot_be_is_refused(searched, refused):
    refused("scoring", search=fitless(), scoring="acuracy")
    # not silently a stable median
    refused("scoring", search=fitless(scoring="f1_macro"), mechanism="thresholdout", ask="winner")
    with pytest.raises(ValueError, match="StableHoldoutScorer"):
        searched(grid(Ridge()), y="regressor", mechanism="thresholdout", ask="candidates")


def test_a_ledger_of_other_data_or_on_an_unwritable_path_is_refused(searched, numbered, tmp_path):
    searched()
    with pytest.raises(LedgerMismatchError):
        searched(fitless(), y=numbered[1]["classifier"][::-1])
    with pytest.raises(LedgerUnavailableError):
        searched(fitless(), ledger=tmp_path / "no" / "ledger.db")


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


def wavering(*acts):
    return GridSearchCV(Wavering(), {"act": list(acts)})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ask", ["candidates", "winner"])
@pytest.mark.parametrize("acts", [("fail", "predict"), ("predict", "nan")])
def test_a_candidate_without_a_fit_or_a_guess_does_not_lose_the_search(acts, ask, searched):
    search = searched(wavering(*acts), ask=ask)
    assert search.best_params_ == {"act": "predict"}
    assert np.isnan(search.cv_results_["mean_test_score"][0]) == (acts[0] == "fail")


@pytest.mark.filterwarnings("ignore")
def test_if_no_candidate_has_a_guess_the_error_says_so(searched):
    with pytest.raises(ValueError, match="not finite"):
        searched(wavering("nan"), ask="candidates")


@pytest.mark.parametrize("ask", ["candidates", "winner"])
def test_a_class_that_only_the_holdout_has_is_named_before_any_fit(ask, numbered, refused):
    y = numbered[1]["classifier"].astype("U9")
    y[399] = "rare"
    last = np.arange(400) >= 300
    # No ledger is made: another holdout may be chosen.
    refused("y", "'rare'.*holdout=mask", search=fitless(), y=y, ask=ask, holdout=last)


def test_a_class_that_only_a_given_holdout_has_is_named_before_any_fit(rows, holdout, uncharged, wrap):
    with uncharged(holdout), pytest.raises(ValueError, match="no training row of 1"):
        wrap(fitless(), holdout=holdout).fit(rows[0], np.zeros(len(rows[1]), dtype=int))


def test_folds_of_whole_groups_take_groups(refused):
    refused("groups", r"Call fit\(X, y, groups=groups\)", search=fitless(cv=GroupKFold(2)), ask="winner")


@pytest.mark.parametrize("ask", ["candidates", "winner"])
def test_a_metric_that_the_model_cannot_serve_is_named_as_the_cause(ask, refused):
    search = wavering("predict")
    refused("search", "", search=search, ask=ask, scoring="roc_auc")
