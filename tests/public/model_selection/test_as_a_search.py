"""What a user of searches finds in a wrapped one: methods, attributes, scores, refit=False, diagrams."""

import pickle
import zlib

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.exceptions import FitFailedWarning
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, RandomizedSearchCV
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import ReusableHoldoutCV
from tests.support.searches import TREE, grid, warned


def several(model, X, y):
    predicted = model.predict(X)
    return {"acc": accuracy_score(y, predicted), "f1": f1_score(y, predicted)}


class Scaled(ClassifierMixin, BaseEstimator):
    """A classifier that also transforms, there and back."""

    def __init__(self, depth=1):
        self.depth = depth

    def fit(self, X, y):
        self.scaler_ = StandardScaler().fit(X)
        self.tree_ = DecisionTreeClassifier(max_depth=self.depth, random_state=0).fit(X, y)
        self.classes_ = self.tree_.classes_  # and returns nothing

    def predict(self, X):
        return self.tree_.predict(X)

    def transform(self, X):
        return self.scaler_.transform(X)

    def inverse_transform(self, X):
        return self.scaler_.inverse_transform(X)


def test_transforms_there_and_back_with_the_best_model_whatever_its_fit_returns(classes, wrap):
    search = wrap(GridSearchCV(Scaled(), {"depth": [1, 2]})).fit(*classes)
    there = search.transform(classes[0])
    np.testing.assert_allclose(there, search.best_estimator_.scaler_.transform(classes[0]))
    np.testing.assert_allclose(search.inverse_transform(there), classes[0])


def test_scores_samples_where_the_model_does(classes, wrap):
    X, y = classes
    inner = grid(LocalOutlierFactor(novelty=True), [5, 10], scoring="accuracy")
    search = wrap(inner).fit(X, np.where(y == 0, 1, -1))
    np.testing.assert_allclose(search.score_samples(X), search.best_estimator_.score_samples(X))
    with pytest.raises(AttributeError, match="'ReusableHoldoutCV' has no attribute 'inverse_transform'"):
        _ = search.inverse_transform


def test_predictions_and_attributes_are_delegated_to_the_best_estimator(searched, numbered):
    X = pd.DataFrame(numbered[0], columns=list("abcde"))
    search = searched(X=X)
    for method in ("predict", "predict_proba", "predict_log_proba"):
        assert (getattr(search, method)(X) == getattr(search.best_estimator_, method)(X)).all()
    assert search.feature_names_in_.tolist() == list("abcde")
    assert search.n_features_in_ == 5
    assert search.classes_.tolist() == [0, 1]
    assert not hasattr(search, "decision_function")


def test_what_the_model_lacks_is_lacking_and_before_fit_there_are_no_fitted_attributes(wrap):
    search = wrap(grid(SVC(), [1.0]))
    assert hasattr(search, "decision_function")
    for name in ("predict_proba", "n_features_in_", "feature_names_in_", "classes_", "best_estimator_"):
        assert not hasattr(search, name)


@pytest.mark.parametrize("ask", ["winner", "candidates"])
def test_a_wrapped_search_has_the_attributes_of_its_search(ask, classes, wrap):
    search = wrap(grid(cv=4 if ask == "winner" else None), ask=ask).fit(*classes)
    assert search.multimetric_ is False
    assert search.n_splits_ == (4 if ask == "winner" else 1)
    if ask == "winner":
        assert search.refit_time_ >= 0.0
        search.set_params(search__scoring=["accuracy", "f1"], search__refit="f1").fit(*classes)
        assert search.multimetric_ is True
        assert sorted(search.scorer_) == ["accuracy", "f1"]


def test_says_of_a_halving_search_what_that_says(classes, wrap):
    halving = HalvingGridSearchCV(TREE, {"max_depth": [1, 2, 3]}, min_resources=60, random_state=0)
    search = wrap(halving).fit(*classes)
    for name in ("n_resources_", "n_candidates_", "n_iterations_", "min_resources_", "max_resources_"):
        assert getattr(search, name) == getattr(search.search_, name)
    search.set_params(search=grid()).fit(*classes)
    assert not hasattr(search, "n_resources_")  # of the earlier search


def test_clone_is_unfitted_and_has_the_same_parameters(searched):
    search = searched(ask="winner", tolerance=0.4, expected_questions=7)
    copy = clone(search)
    assert not hasattr(copy, "holdout_")
    assert copy.get_params(deep=False).keys() == search.get_params(deep=False).keys()
    assert (copy.tolerance, copy.expected_questions, copy.ask) == (0.4, 7, "winner")


def test_the_search_given_is_not_fitted_or_changed_but_by_set_params(searched):
    inner = grid()
    before = repr(inner.get_params())
    search = searched(inner)
    assert repr(inner.get_params()) == before
    assert not hasattr(inner, "cv_results_")
    search.set_params(search__estimator=clone(TREE), search__estimator__min_samples_leaf=3)
    assert search.search.estimator.min_samples_leaf == 3


# scores


SCORES = [  # scoring and refit of the search, scoring of the wrapper, and what is scored
    *(("f1", True, None, "f1"), (["accuracy", "f1"], "f1", None, "f1")),
    *(({"a": "accuracy", "b": "f1"}, "a", None, "acc"), (several, "f1", None, "f1")),
    *((None, True, None, "acc"), (None, True, "f1", "f1")),
]


@pytest.mark.parametrize(("own", "refit", "scoring", "expected"), SCORES)
def test_score_is_the_certified_metric_of_the_rows_given_and_free(
    own, refit, scoring, expected, classes, wrap, uncharged
):
    search = wrap(grid(scoring=own, refit=refit), scoring=scoring).fit(*classes)
    rows = classes[0][:90], classes[1][:90]
    with uncharged(search.holdout_):
        score = search.score(*rows)
    assert score == pytest.approx(several(search.best_estimator_, *rows)[expected])


class OwnScore(DecisionTreeClassifier):
    def score(self, X, y):
        return -7.0


def test_a_score_of_the_models_own_is_what_score_returns_as_in_a_search(classes, wrap):
    search = wrap(grid(OwnScore())).fit(*classes)
    assert search.score(*classes) == search.search_.score(*classes) == -7.0
    assert 0.5 < search.best_score_ <= 1.0  # the accuracy, which the certificate names
    assert "accuracy" in search.best_score_target_
    with pytest.raises(ValueError, match="is only supported if enable_metadata_routing=True"):
        search.score(*classes, colour=1)


@pytest.mark.parametrize("ask", ["winner", pytest.param("candidates", marks=pytest.mark.thorough)])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_score_that_refit_names_is_certified_of_one_function_of_several(ask, classes, wrap):
    search = wrap(grid(scoring=several, refit="f1"), ask=ask).fit(*classes)
    assert "several['f1']" in search.best_score_target_
    if ask == "winner":
        assert search.best_index_ == np.argmax(search.cv_results_["mean_test_f1"])
    assert pickle.loads(pickle.dumps(search)).score(*classes) == search.score(*classes)


@pytest.fixture
def scored_before(request, wrap):
    """Return a fitted search with its rows, which are other ones in each test: so is the warning of them."""
    rng = np.random.default_rng(zlib.crc32(request.node.name.encode()))
    X, y = pd.DataFrame(rng.normal(size=(600, 3)), columns=list("abc")), rng.integers(0, 2, 600)
    X = X.assign(visit=np.arange(600))
    return wrap(grid(LogisticRegression()), ids="visit").fit(X, y), X, y


def test_a_score_of_the_very_rows_of_fit_is_warned_of_once(scored_before):
    search, X, y = scored_before
    _, (text,) = warned("", search.score, X, y)
    assert "rows that were passed to fit" in text
    assert "what publish() returns" in text
    assert not warned("", search.score, X, y)[1]


def test_other_rows_and_pickled_searches_are_scored_in_silence(scored_before):
    search, X, y = scored_before
    for rows in ((X[:100], y[:100]), (X, 1 - y), (X.assign(a=0.0), y)):
        assert not warned("", search.score, *rows)[1]
    assert not warned("", pickle.loads(pickle.dumps(search)).score, X, y)[1]
    assert warned("", search.score, X, y)[1]


# refit=False


@pytest.mark.parametrize("scoring", [None, ["accuracy", "f1"]])
def test_without_refit_nothing_is_asked_and_nothing_certified_of_this_fit_or_an_earlier_one(
    scoring, classes, wrap
):
    search = wrap().fit(*classes)
    count = search.holdout_.report().asked
    search.set_params(search=grid(scoring=scoring, refit=False))
    with pytest.warns(UserWarning, match=r"keeps no model \(refit=False\).*nothing is certified"):
        search.fit(*classes)
    assert search.holdout_.report().asked == count
    assert search.answers_ == []
    for name in ("best_estimator_", "best_score_", "best_answer_", "best_score_interval_", "classes_"):
        assert not hasattr(search, name)
    assert hasattr(search, "best_index_") == hasattr(search, "best_params_") == (scoring is None)
    assert set(search.cv_results_) == set(search.search_.cv_results_)
    with pytest.raises(AttributeError, match="has no attribute 'predict'") as raised:
        search.predict(classes[0])
    assert "`refit=False`. predict is available only after refitting" in str(raised.value.__cause__)
    with config_context(display="diagram"):
        assert "DecisionTreeClassifier" in search._repr_html_()
    assert not hasattr(pickle.loads(pickle.dumps(search)), "best_score_")


def test_without_refit_candidates_are_certified_as_they_were_fitted(classes, wrap, asked):
    search = wrap(grid(values=[1, 2, 3], refit=False), ask="candidates").fit(*classes)
    assert asked(search.holdout_) == len(search.answers_) == 3
    assert search.best_answer_ is search.answers_[search.best_index_]
    assert search.best_score_ == search.cv_results_["mean_test_score"][search.best_index_]
    assert search.best_score_interval_[0] < search.best_score_ < search.best_score_interval_[1]
    assert not hasattr(search, "best_estimator_")


def test_without_refit_a_metric_named_for_the_certificate_is_certified(classes, wrap, asked):
    search = wrap(grid(scoring=["accuracy", "f1"], refit=False), scoring="accuracy")
    assert search.fit(*classes).predict(classes[0]).shape == classes[1].shape
    assert asked(search.holdout_) == 1


@pytest.mark.parametrize("params", [{"ask": 2}, {"ask": "candidates", "reveal": "winner"}])
def test_without_refit_no_refitted_models_can_be_compared(params, refused):
    refused("search", "refit=True", search=grid(refit=False), **params)


# other outputs, failing models, parameters of the search


def test_several_outputs_are_refused_and_what_is_advised_works(classes, refused):
    X, y = classes
    both = np.c_[y, 1 - y]
    refused("y", "MultiOutputClassifier", X=X, y=both)
    fitted = MultiOutputClassifier(ReusableHoldoutCV(grid())).fit(X, both)
    assert [one.best_answer_.answered for one in fitted.estimators_] == [True, True]


class ByColumn(LogisticRegression):
    def predict(self, X):
        return super().predict(X)[:, None]


@pytest.mark.parametrize("ask", ["winner", "candidates"])
def test_the_f1_of_predictions_in_a_column_is_that_of_their_labels(ask, wrap):
    X, y = make_classification(600, 5, n_informative=3, weights=[0.7], flip_y=0.1, random_state=0)
    mask = np.arange(600) >= 400
    how = {"scoring": "f1", "ask": ask, "holdout": mask, "answers": "exact"}
    search = wrap(grid(ByColumn(), [0.01, 1.0], scoring="f1"), **how).fit(X, y)
    expected = f1_score(y[mask], search.best_estimator_.predict(X[mask]).ravel())
    assert search.best_score_ == pytest.approx(expected, abs=0.06)
    exact = search.holdout_.certify(search.best_estimator_, scoring="f1", guess=float(expected))
    assert exact.value == pytest.approx(expected, abs=5e-3)  # rounded around the guess of the search
    assert search.best_score_interval_[0] <= expected <= search.best_score_interval_[1]


class FailsAtTwo(DecisionTreeClassifier):
    def fit(self, X, y, sample_weight=None, check_input=True):
        if self.max_depth == 2:
            raise ValueError("depth 2 is bad luck")
        return super().fit(X, y, sample_weight=sample_weight)


def test_candidates_that_fail_get_the_error_score_and_scikit_learns_warning(classes, wrap):
    search = wrap(grid(FailsAtTwo(), [1, 2, 3], error_score=0.25, cv=3))
    with pytest.warns(FitFailedWarning, match="3 fits failed out of a total of 9"):
        search.fit(*classes)
    assert search.cv_results_["mean_test_score"][1] == 0.25
    assert search.best_index_ != 1


BAD = {
    "error_score": {"error_score": "never"},
    "cv": {"cv": "five"},
    "train scores": {"return_train_score": "perhaps"},
    "a failing model": {"model": FailsAtTwo(), "error_score": "raise"},
    "refit": {"scoring": several, "refit": "recall"},
}


@pytest.mark.filterwarnings("ignore:.*median:UserWarning")
@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_what_the_search_refuses_gets_the_error_of_the_search_and_is_not_charged(bad, classes, wrap, asked):
    with pytest.raises(ValueError, match=r".") as expected:
        grid(**bad).fit(*classes)
    search = wrap(grid(**bad))
    with pytest.raises(type(expected.value)) as raised:
        search.fit(*classes)
    assert str(raised.value) == str(expected.value)
    assert asked(search.holdout_) == 0


class Stateless(ClassifierMixin, BaseEstimator):
    """Shows nothing of being fitted."""

    classes_ = np.array([0, 1])

    def __init__(self, label=0):
        self.label = label

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.full(len(X), self.label)


def test_a_model_that_shows_nothing_of_being_fitted_is_certified_as_it_was_fitted_here(classes, wrap):
    search = wrap(GridSearchCV(Stateless(), {"label": [0, 1]}, scoring="accuracy")).fit(*classes)
    assert search.best_answer_.answered


def test_a_fitted_search_is_shown_with_its_best_model(classes, wrap):
    steps = make_pipeline(StandardScaler(), PCA(2), LogisticRegression())
    search = wrap(RandomizedSearchCV(steps, {"pca": [None, "passthrough"]}, n_iter=2, random_state=0))
    with config_context(display="diagram"):
        before = search._repr_html_()
        search.fit(*classes)
        after = search._repr_html_()
    assert "<div>PCA</div>" in before
    assert "<div>PCA</div>" not in after
    assert "best_estimator_" in after
    assert search.best_answer_.certificate._repr_html_() in after
    assert search.search.estimator is steps  # looking at it changes nothing
    assert not hasattr(search.search, "best_estimator_")
