"""A bad question is refused before anything is charged."""

import copy
import math
import threading

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
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
from sklearn_ada.questions.question import median_guess_from_rows
from tests.support import holdouts

BAD_GUESSES = [None, np.nan, np.inf, -0.01, 1.01, "0.9", True, [0.9], Guess(np.nan), Guess(2.0)]


@pytest.mark.parametrize("guess", BAD_GUESSES, ids=repr)
def test_check_refuses_a_guess_that_is_none(holdout, model, guess, uncharged, sentence):
    with uncharged(holdout), pytest.raises(ValueError, match=sentence("guess")):
        holdout.check(model, scoring="accuracy", guess=guess)


@pytest.mark.parametrize("guess", [np.nan, 5.0, "0.9"])
def test_certify_refuses_a_bad_guess(holdout, model, guess, uncharged, sentence):
    with uncharged(holdout), pytest.raises(ValueError, match=sentence("guess")):
        holdout.certify(model, scoring="accuracy", guess=guess)


@pytest.mark.parametrize("scoring", ["acuracy", "", None, 3, ["accuracy"], {"acc": "accuracy"}])
def test_unknown_scoring_is_refused(holdout, model, scoring, uncharged, sentence):
    with uncharged(holdout), pytest.raises(ValueError, match=sentence("scoring", "Metric")):
        holdout.certify(model, scoring=scoring)


def agreement(y_true, y_pred):
    return np.mean(y_true == y_pred)


@pytest.mark.parametrize("function", [accuracy_score, roc_auc_score, fbeta_score, agreement])
def test_a_function_of_labels_is_no_scorer(function, holdout, model, uncharged, sentence):
    with uncharged(holdout), pytest.raises(ValueError, match=sentence("scoring", "Metric") + ".*make_scorer"):
        holdout.certify(model, scoring=function)
    Metric(make_scorer(function))  # which is one


@pytest.mark.parametrize("purpose", ["median", "Check", None, 0])
def test_unknown_purpose_is_refused(holdout, model, purpose, uncharged, sentence):
    with uncharged(holdout), pytest.raises(ValueError, match=sentence("purpose", "a question")):
        holdouts.ask(holdout, model, scoring="accuracy", purpose=purpose, guess=0.8)


@pytest.mark.parametrize("name", ["neg_mean_absolute_error", "neg_mean_squared_error"])
def test_a_mean_without_a_range_is_told_to_declare_one(holdout, rows, name, uncharged, sentence):
    regressor = Ridge().fit(rows[0], rows[1])
    with uncharged(holdout), pytest.raises(ValueError, match=rf"Metric\('{name}', range=\(low, 0\)\)"):
        holdout.check(regressor, scoring=name, guess=-1.0)
    assert holdout.check(regressor, scoring=Metric(name, range=(-4.0, 0.0)), guess=-1.0).answered


def test_without_a_range_the_median_says_how_to_give_a_grid(holdout, rows, uncharged, sentence):
    regressor = Ridge().fit(rows[0], rows[1])
    with uncharged(holdout), pytest.raises(ValueError, match=sentence("grid", "MedianSettings")) as error:
        holdout.certify(regressor, scoring="r2", guess=0.5, settings=MedianSettings())
    fix = "ask with settings=MedianSettings(grid=sklearn_ada.mechanisms.UniformGrid(low, high, size))"
    assert fix in str(error.value)
    settings = MedianSettings(grid=UniformGrid(-1.0, 1.0, 201))
    answer = holdout.certify(regressor, scoring="r2", guess=0.5, settings=settings)
    assert answer.answered


def test_what_is_advised_instead_of_an_interval_works(holdout, rows, uncharged):
    regressor = Ridge().fit(rows[0], rows[1])
    with uncharged(holdout), pytest.raises(ValueError, match=r"or settings=MedianSettings\(\)"):
        holdout.check(regressor, scoring="r2", guess=0.5, settings=0.1)
    guess = median_guess_from_rows(Metric("r2"), regressor, rows[0], rows[1], 20)
    answer = holdout.check(regressor, scoring="r2", guess=guess, settings=MedianSettings())
    assert answer.answered


@pytest.mark.parametrize("estimator", [LogisticRegression(), make_pipeline(StandardScaler(), LinearSVC())])
def test_an_unfitted_model_is_refused(holdout, estimator, uncharged):
    with uncharged(holdout), pytest.raises(NotFittedError):
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
    expected = estimator.fit(rows[0], rows[1]).score(rows[2], rows[3])
    assert holdout.certify(estimator, scoring="accuracy").value == pytest.approx(expected)


def test_a_search_over_such_models_is_answered(holdout, rows):
    inner = GridSearchCV(OwnNames(), {"C": [0.01, 1.0]})
    search = ReusableHoldoutCV(inner, holdout=holdout).fit(rows[0], rows[1])
    assert search.best_answer_.answered


@pytest.mark.parametrize("estimator", ["model", None, StandardScaler(), LogisticRegression])
def test_what_is_no_model_is_refused(holdout, estimator, uncharged):
    with uncharged(holdout), pytest.raises(TypeError):
        holdout.certify(estimator, scoring="accuracy")


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


def test_another_number_of_columns_is_refused(holdout, rows, uncharged, sentence):
    narrow = LogisticRegression().fit(rows[0][:, :3], rows[1])
    with uncharged(holdout), pytest.raises(ValueError, match=sentence("estimator", "Holdout.certify")):
        holdout.certify(narrow, scoring="accuracy")


def test_another_number_of_columns_is_refused_for_lists_too(rows, tmp_path, uncharged, sentence):
    holdout = Holdout(rows[2].tolist(), rows[3].tolist(), ledger=tmp_path / "ledger.db")
    narrow = LogisticRegression().fit(rows[0][:, :3], rows[1])
    with uncharged(holdout), pytest.raises(ValueError, match=sentence("estimator", "Holdout.certify")):
        holdout.certify(narrow, scoring="accuracy")


@pytest.mark.parametrize("columns", [list("abcdz"), list("bacde"), list("ABCDE")])
def test_other_column_names_or_another_order_are_refused(rows, columns, tmp_path, uncharged, sentence):
    holdout = Holdout(pd.DataFrame(rows[2], columns=list("abcde")), rows[3], ledger=tmp_path / "ledger.db")
    estimator = LogisticRegression().fit(pd.DataFrame(rows[0], columns=columns), rows[1])
    with uncharged(holdout), pytest.raises(ValueError, match=sentence("estimator", "Holdout.certify")):
        holdout.certify(estimator, scoring="accuracy")


@pytest.mark.parametrize("relabel", [lambda y: 2 * y - 1, lambda y: y.astype(str), lambda y: y + 1])
def test_other_classes_are_refused(holdout, rows, relabel, uncharged, sentence):
    other = LogisticRegression().fit(rows[0], relabel(rows[1]))
    with uncharged(holdout), pytest.raises(ValueError, match=sentence("estimator", "Holdout.certify")):
        holdout.certify(other, scoring="accuracy")


@pytest.mark.parametrize("name", ["roc_auc", "balanced_accuracy", "recall_macro"])
def test_one_class_is_refused_where_the_metric_needs_both(rows, model, name, tmp_path, uncharged, sentence):
    ones = rows[3] == 1
    holdout = Holdout(rows[2][ones], rows[3][ones], ledger=tmp_path / "ledger.db")
    with uncharged(holdout), pytest.raises(ValueError, match=sentence("y", "Holdout")):
        holdout.certify(model, scoring=name)


@pytest.mark.parametrize("name", ["recall", "precision", "f1", "jaccard"])
def test_a_missing_positive_class_is_refused(rows, model, name, tmp_path, uncharged, sentence):
    zeros = rows[3] == 0
    holdout = Holdout(rows[2][zeros], rows[3][zeros], ledger=tmp_path / "ledger.db")
    with uncharged(holdout), pytest.raises(ValueError, match=sentence("y", "Holdout")):
        holdout.certify(model, scoring=name)


def test_one_class_is_enough_for_accuracy(rows, model, tmp_path):
    ones = rows[3] == 1
    holdout = Holdout(rows[2][ones], rows[3][ones], ledger=tmp_path / "ledger.db")
    expected = np.mean(model.predict(rows[2][ones]) == 1)
    assert holdout.certify(model, scoring="accuracy").value == pytest.approx(expected)


@pytest.fixture(scope="module")
def three_classes():
    X, y = make_classification(400, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
    return X[:200], y[:200], X[200:], y[200:]


def test_auc_of_three_classes_is_refused(three_classes, tmp_path, uncharged, sentence):
    X, y, X_hold, y_hold = three_classes
    holdout = Holdout(X_hold, y_hold, ledger=tmp_path / "ledger.db")
    with uncharged(holdout), pytest.raises(ValueError, match=sentence("y", "Holdout")):
        holdout.certify(LogisticRegression().fit(X, y), scoring="roc_auc")


@pytest.mark.parametrize("name", ["f1", "precision", "recall", "jaccard"])
def test_binary_metrics_of_three_classes_are_refused_as_scikit_learn_does(
    name, three_classes, tmp_path, uncharged, sentence
):
    X, y, X_hold, y_hold = three_classes
    holdout = Holdout(X_hold, y_hold, ledger=tmp_path / "ledger.db")
    with uncharged(holdout), pytest.raises(ValueError, match=sentence("y", "Holdout")):
        holdout.certify(LogisticRegression().fit(X, y), scoring=name)


def test_brier_score_of_three_classes_is_refused(three_classes, tmp_path, uncharged):
    X, y, X_hold, y_hold = three_classes
    holdout = Holdout(X_hold, y_hold, ledger=tmp_path / "ledger.db")
    with uncharged(holdout), pytest.raises(ValueError, match="neg_brier_score"):
        holdout.certify(LogisticRegression().fit(X, y), scoring="neg_brier_score")


def test_a_model_without_scores_cannot_be_asked_for_its_auc(holdout, rows, uncharged):
    class Labels(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            return np.zeros(len(X), dtype=int)

    with uncharged(holdout), pytest.raises(TypeError, match="decision_function, predict_proba"):
        holdout.certify(Labels().fit(rows[0], rows[1]), scoring="roc_auc")


@pytest.mark.parametrize("size", [0, -1, 2.0, None])
def test_a_round_of_no_size_is_refused(holdout, size, uncharged, sentence):
    with uncharged(holdout), pytest.raises(ValueError, match=sentence("size")):
        holdouts.open_round(holdout, size, purpose="check", scoring="accuracy", key="round")


BAD_METRICS = {
    "reversed": {"scoring": "neg_log_loss", "range": (0, -10)},
    "empty": {"scoring": "neg_log_loss", "range": (0, 0)},
    "infinite": {"scoring": "neg_log_loss", "range": (-np.inf, 0)},
    "no pair": {"scoring": "neg_log_loss", "range": 10},
    "known already": {"scoring": "accuracy", "range": (0, 2)},
}


@pytest.mark.parametrize("case", BAD_METRICS)
def test_a_bad_range_is_refused(case, sentence):
    with pytest.raises(ValueError, match=sentence("range", "Metric")):
        Metric(**BAD_METRICS[case])


@pytest.mark.parametrize(("scoring", "kind"), [("accuracy", "mean"), (max, "auc"), ("r2", "ratio")])
def test_a_kind_that_cannot_be_declared_is_refused(scoring, kind, sentence):
    with pytest.raises(ValueError, match=sentence("kind", "Metric")):
        Metric(scoring, kind=kind)


WRONG = [True, "auto", {}, [], MedianSettings, object()]


def repr_of(value):
    """Return a name that is the same in every process."""
    return (
        f"{type(value).__name__} {value}"
        if isinstance(value, (bool, float, int, str))
        else type(value).__name__
    )


@pytest.mark.parametrize(
    "settings", [*WRONG, 0.1, 3, NoiseSettings("laplace"), LadderSettings()], ids=repr_of
)
@pytest.mark.parametrize("route", ["description_length", "both"])
def test_a_certify_takes_settings_of_a_median_only(
    rows, model, settings, route, uncharged, sentence, tmp_path
):
    holdout = Holdout(rows[2], rows[3], ledger=tmp_path / "ledger.db", route=route)
    with uncharged(holdout), pytest.raises(ValueError, match=sentence("settings", "Holdout.certify")):
        holdout.certify(model, scoring="accuracy", guess=0.8, settings=settings)


@pytest.mark.parametrize("settings", WRONG, ids=repr_of)
def test_a_check_takes_settings_of_its_mechanisms_only(holdout, model, settings, uncharged, sentence):
    with uncharged(holdout), pytest.raises(ValueError, match=sentence("settings", "Holdout.check")):
        holdout.check(model, scoring="accuracy", guess=0.8, settings=settings)


@pytest.mark.parametrize("settings", [math.nan, math.inf, -0.1, 0, 10**400])
def test_a_check_takes_no_such_number(holdout, model, settings, uncharged):
    with uncharged(holdout), pytest.raises(ValueError, match="must be"):
        holdout.check(model, scoring="accuracy", guess=0.8, settings=settings)
