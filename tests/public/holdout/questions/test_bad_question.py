"""A bad question is refused before anything is charged."""

import copy
import itertools
import math
import threading

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, fbeta_score, make_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from sklearn_ada import (
    Guess,
    Holdout,
    LadderSettings,
    MedianSettings,
    Metric,
    NoiseSettings,
    ReusableHoldoutCV,
    ThresholdoutScorer,
)
from sklearn_ada.mechanisms import UniformGrid
from tests.support import holdouts
from tests.support.models import Always

BAD_GUESSES = [np.nan, np.inf, -0.01, 1.01, 5.0, "0.9", True, [0.9], Guess(np.nan), Guess(2.0)]
BAD_GUESSES = [("check", None), *itertools.product(("check", "certify"), BAD_GUESSES)]


@pytest.mark.parametrize(("purpose", "guess"), BAD_GUESSES, ids=repr)
def test_a_bad_guess_is_refused(holdout, model, purpose, guess, uncharged, sentence):
    with uncharged(holdout), pytest.raises(ValueError, match=sentence("guess")):
        getattr(holdout, purpose)(model, scoring="accuracy", guess=guess)


@pytest.mark.parametrize("scoring", ["acuracy", "", None, 3, ["accuracy"], {"acc": "accuracy"}])
def test_unknown_scoring_is_refused(holdout, model, scoring, uncharged, sentence):
    with (
        uncharged(holdout),
        pytest.raises(ValueError, match=sentence("scoring", "a search, a Holdout or Metric")),
    ):
        holdout.certify(model, scoring=scoring)


def agreement(y_true, y_pred):
    return np.mean(y_true == y_pred)


@pytest.mark.parametrize("function", [accuracy_score, roc_auc_score, fbeta_score, agreement])
def test_a_function_of_labels_is_no_scorer(function, holdout, model, uncharged, sentence):
    with (
        uncharged(holdout),
        pytest.raises(
            ValueError, match=sentence("scoring", "a search, a Holdout or Metric") + ".*make_scorer"
        ),
    ):
        holdout.certify(model, scoring=function)
    Metric(make_scorer(function))  # which is one


@pytest.mark.parametrize("purpose", ["median", "Check", None, 0])
def test_unknown_purpose_is_refused(holdout, model, purpose, uncharged, sentence):
    with uncharged(holdout), pytest.raises(ValueError, match=sentence("purpose", "a question")):
        holdouts.ask(holdout, model, scoring="accuracy", purpose=purpose, guess=0.8)


@pytest.fixture(scope="session")
def regressor(rows):
    return Ridge().fit(*rows[:2])


@pytest.mark.parametrize("name", ["neg_mean_absolute_error", "neg_mean_squared_error"])
def test_a_mean_without_a_range_is_told_to_declare_one(holdout, regressor, name, uncharged):
    with uncharged(holdout), pytest.raises(ValueError, match=rf"Metric\('{name}', range=\(low, 0\)\)"):
        holdout.check(regressor, scoring=name, guess=-1.0)
    assert holdout.check(regressor, scoring=Metric(name, range=(-4.0, 0.0)), guess=-1.0).answered


def test_without_an_interval_or_a_range_the_way_out_is_named_and_works(
    holdout, rows, regressor, uncharged, sentence
):
    asked = {"scoring": "r2", "guess": 0.5}
    with uncharged(holdout), pytest.raises(ValueError, match=r"settings=MedianSettings\(\)"):
        holdout.check(regressor, settings=0.1, **asked)
    by_rows = {"guess_from": rows[:2], "settings": MedianSettings()}
    assert holdout.check(regressor, scoring="r2", **by_rows).answered
    with uncharged(holdout), pytest.raises(ValueError, match=sentence("grid", "MedianSettings")) as error:
        holdout.certify(regressor, settings=MedianSettings(), **asked)
    fix = "ask with settings=MedianSettings(grid=sklearn_ada.mechanisms.UniformGrid(low, high, size))"
    assert fix in str(error.value)
    settings = MedianSettings(grid=UniformGrid(-1.0, 1.0, 201))
    assert holdout.certify(regressor, settings=settings, **asked).answered


@pytest.mark.parametrize(
    ("estimator", "error"),
    [
        (LogisticRegression(), NotFittedError),
        (make_pipeline(StandardScaler(), LinearSVC()), NotFittedError),
        *((each, TypeError) for each in ("model", None, StandardScaler(), LogisticRegression)),
    ],
)
def test_what_is_no_fitted_model_is_refused(holdout, estimator, error, uncharged):
    with uncharged(holdout), pytest.raises(error):
        holdout.certify(estimator, scoring="accuracy")


class OwnNames(ClassifierMixin, BaseEstimator):
    """What it learns has no underscore at its end; ``prepared`` is there before it does."""

    def __init__(self, C=1.0, prepared=True):
        self.C, self.prepared = C, prepared
        if prepared:
            self.model, self.rounds = None, 0

    def fit(self, X, y):
        self.model = LogisticRegression(C=self.C).fit(X, y)
        return self

    def predict(self, X):
        return self.model.predict(X)


@pytest.mark.parametrize("prepared", [True, False])
def test_a_fitted_model_may_name_what_it_learns_as_it_likes(holdout, rows, prepared, uncharged):
    estimator = OwnNames(prepared=prepared)
    with uncharged(holdout), pytest.raises(NotFittedError):
        holdout.certify(estimator, scoring="accuracy")
    expected = estimator.fit(*rows[:2]).score(*rows[2:])
    assert holdout.certify(estimator, scoring="accuracy").value == pytest.approx(expected)
    search = ReusableHoldoutCV(GridSearchCV(OwnNames(prepared=prepared), {"C": [0.01, 1.0]}), holdout=holdout)
    assert search.fit(*rows[:2]).best_answer_.answered


def test_a_model_that_cannot_be_copied_is_refused(holdout, model, rows, uncharged):
    locked = copy.copy(model)
    locked.lock_ = threading.Lock()
    for ask in (
        lambda: holdout.certify(locked, scoring="accuracy"),
        lambda: holdout.select([model, locked], scoring="accuracy"),
        lambda: ThresholdoutScorer("accuracy", holdout)(locked, rows[0], rows[1]),
    ):
        message = r"^The 'estimator' parameter of Holdout\.\w+ must be a model that can be copied\..*lock"
        with uncharged(holdout), pytest.raises(TypeError, match=message):
            ask()


def same(values):
    return values


def named(names):
    return lambda X: pd.DataFrame(X, columns=list(names))


OTHER = {
    "columns": (same, lambda X: X[:, :3], same),
    "columns of lists": (np.ndarray.tolist, lambda X: X[:, :3], same),
    **{f"names {names}": (named("abcde"), named(names), same) for names in ("abcdz", "bacde", "ABCDE")},
    "signs": (same, same, lambda y: 2 * y - 1),
    "texts": (same, same, lambda y: y.astype(str)),
    "shifted classes": (same, same, lambda y: y + 1),
}


@pytest.mark.parametrize(("held", "seen", "relabel"), OTHER.values(), ids=OTHER)
def test_a_model_of_other_columns_or_classes_is_refused(
    held, seen, relabel, rows, tmp_path, uncharged, sentence
):
    holdout = Holdout(held(rows[2]), rows[3], ledger=tmp_path / "ledger.db")
    estimator = LogisticRegression().fit(seen(rows[0]), relabel(rows[1]))
    with uncharged(holdout), pytest.raises(ValueError, match=sentence("estimator", "Holdout.certify")):
        holdout.certify(estimator, scoring="accuracy")


MISSING = [
    *((name, 1) for name in ("roc_auc", "balanced_accuracy", "recall_macro")),
    *((name, 0) for name in ("recall", "precision", "f1", "jaccard")),  # no positive class
]


@pytest.mark.parametrize(("name", "label"), MISSING)
def test_one_class_is_refused_where_the_metric_needs_the_other(
    rows, model, name, label, tmp_path, uncharged, sentence
):
    some = rows[3] == label
    holdout = Holdout(rows[2][some], rows[3][some], ledger=tmp_path / "ledger.db")
    with uncharged(holdout), pytest.raises(ValueError, match=sentence("y", "Holdout")):
        holdout.certify(model, scoring=name)
    expected = np.mean(model.predict(rows[2][some]) == label)
    assert holdout.certify(model, scoring="accuracy").value == pytest.approx(expected)


def test_a_model_without_scores_cannot_be_asked_for_its_auc(holdout, uncharged):
    with uncharged(holdout), pytest.raises(TypeError, match="decision_function, predict_proba"):
        holdout.certify(Always(0), scoring="roc_auc")


@pytest.mark.parametrize("size", [0, -1, 2.0, None])
def test_a_round_of_no_size_is_refused(holdout, size, uncharged, sentence):
    with uncharged(holdout), pytest.raises(ValueError, match=sentence("size")):
        holdouts.open_round(holdout, size, purpose="check", scoring="accuracy", name="round")


BAD_METRICS = [
    *(("range", {"scoring": "neg_log_loss", "range": bad}) for bad in ((0, -10), (0, 0), (-np.inf, 0), 10)),
    ("range", {"scoring": "accuracy", "range": (0, 2)}),  # which has one
    ("kind", {"scoring": "accuracy", "kind": "mean"}),
    ("kind", {"scoring": max, "kind": "auc"}),
    ("kind", {"scoring": "r2", "kind": "ratio"}),
]


@pytest.mark.parametrize(("name", "parameters"), BAD_METRICS)
def test_a_bad_range_or_a_kind_that_cannot_be_declared_is_refused(name, parameters, sentence):
    with pytest.raises(ValueError, match=sentence(name, "Metric")):
        Metric(**parameters)


WRONG = {"a bool": True, "auto": "auto", "a dict": {}, "a list": [], "a class": MedianSettings, "?": object()}
OF_CHECKS = {"float": 0.1, "int": 3, "noise": NoiseSettings("laplace"), "ladder": LadderSettings()}
BAD_SETTINGS = [
    *(("certify", route, name) for route in ("description_length", "both") for name in (*WRONG, *OF_CHECKS)),
    *(("check", "description_length", name) for name in WRONG),
]


@pytest.mark.parametrize(("purpose", "route", "name"), BAD_SETTINGS)
def test_a_question_takes_settings_of_its_mechanisms_only(
    rows, model, purpose, route, name, uncharged, sentence, tmp_path
):
    holdout = Holdout(*rows[2:], ledger=tmp_path / "ledger.db", route=route)
    settings = (WRONG | OF_CHECKS)[name]
    with uncharged(holdout), pytest.raises(ValueError, match=sentence("settings", f"Holdout.{purpose}")):
        getattr(holdout, purpose)(model, scoring="accuracy", guess=0.8, settings=settings)


@pytest.mark.parametrize("settings", [math.nan, math.inf, -0.1, 0, 10**400])
def test_a_check_takes_no_such_number(holdout, model, settings, uncharged):
    with uncharged(holdout), pytest.raises(ValueError, match="must be"):
        holdout.check(model, scoring="accuracy", guess=0.8, settings=settings)
