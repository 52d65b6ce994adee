"""What a user of searches finds in a wrapped one: methods, attributes, scores, refit=False, diagrams."""

import pickle

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
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
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import ReusableHoldoutCV
from tests.support.searches import TREE, grid


def several(model, X, y):
    predicted = model.predict(X)
    return {"acc": accuracy_score(y, predicted), "f1": f1_score(y, predicted)}


@pytest.fixture
def data(numbered):
    return numbered[0][:, 1:], numbered[1]["classifier"]


def spent(search):
    return sum(search.holdout_.report().asked.values())


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


def test_transforms_there_and_back_with_the_best_model_whatever_its_fit_returns(data, wrap):
    search = wrap(GridSearchCV(Scaled(), {"depth": [1, 2]})).fit(*data)
    there = search.transform(data[0])
    np.testing.assert_allclose(there, search.best_estimator_.scaler_.transform(data[0]))
    np.testing.assert_allclose(search.inverse_transform(there), data[0])


def test_scores_samples_where_the_model_does(data, wrap):
    inner = grid(LocalOutlierFactor(novelty=True), [5, 10], scoring="accuracy")
    search = wrap(inner).fit(data[0], np.where(data[1] == 0, 1, -1))
    np.testing.assert_allclose(search.score_samples(data[0]), search.best_estimator_.score_samples(data[0]))
    with pytest.raises(AttributeError, match="'ReusableHoldoutCV' has no attribute 'inverse_transform'"):
        _ = search.inverse_transform


@pytest.mark.parametrize("ask", ["winner", "candidates"])
def test_a_wrapped_search_has_the_attributes_of_its_search(ask, data, wrap):
    search = wrap(grid(cv=4 if ask == "winner" else None), ask=ask).fit(*data)
    assert search.multimetric_ is False
    assert search.n_splits_ == (4 if ask == "winner" else 1)
    if ask == "winner":
        assert search.refit_time_ >= 0.0
        search.set_params(search__scoring=["accuracy", "f1"], search__refit="f1").fit(*data)
        assert search.multimetric_ is True
        assert sorted(search.scorer_) == ["accuracy", "f1"]


SCORES = [
    *(("f1", True, "f1"), (["accuracy", "f1"], "f1", "f1"), ({"a": "accuracy", "b": "f1"}, "a", "acc")),
    *((several, "f1", "f1"), (None, True, "acc")),
]


@pytest.mark.parametrize(("scoring", "refit", "expected"), SCORES)
def test_score_is_the_searchs_score_on_the_rows_given(scoring, refit, expected, data, wrap):
    search = wrap(grid(scoring=scoring, refit=refit)).fit(*data)
    before = spent(search)
    assert search.score(*data) == pytest.approx(several(search.best_estimator_, *data)[expected])
    assert spent(search) == before


class OwnScore(DecisionTreeClassifier):
    def score(self, X, y):
        return -7.0


def test_a_score_of_the_models_own_is_what_score_returns_as_in_a_search(data, wrap):
    search = wrap(grid(OwnScore())).fit(*data)
    assert search.score(*data) == search.search_.score(*data) == -7.0
    assert 0.5 < search.best_score_ <= 1.0  # the accuracy, which the certificate names
    assert "accuracy" in search.best_score_target_
    with pytest.raises(ValueError, match="is only supported if enable_metadata_routing=True"):
        search.score(*data, colour=1)


# one function of several scores


@pytest.mark.parametrize("ask", ["winner", pytest.param("candidates", marks=pytest.mark.thorough)])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_score_that_refit_names_is_certified_of_one_function_of_several(ask, data, wrap):
    search = wrap(grid(scoring=several, refit="f1"), ask=ask).fit(*data)
    assert "several['f1']" in search.best_score_target_
    if ask == "winner":
        assert search.best_index_ == np.argmax(search.cv_results_["mean_test_f1"])
    assert pickle.loads(pickle.dumps(search)).score(*data) == search.score(*data)


@pytest.mark.filterwarnings("ignore:.*median:UserWarning")
def test_a_name_that_the_function_does_not_return_gets_scikit_learns_own_error(data, wrap):
    search = wrap(grid(scoring=several, refit="recall"))
    with pytest.raises(ValueError, match="must be set to a scorer key"):
        search.fit(*data)
    assert spent(search) == 0


def test_says_of_a_halving_search_what_that_says(data, wrap):
    search = wrap(HalvingGridSearchCV(TREE, {"max_depth": [1, 2, 3]}, min_resources=60, random_state=0)).fit(
        *data
    )
    for name in ("n_resources_", "n_candidates_", "n_iterations_", "min_resources_", "max_resources_"):
        assert getattr(search, name) == getattr(search.search_, name)
    search.set_params(search=grid()).fit(*data)
    assert not hasattr(search, "n_resources_")  # of the earlier search


# one function of several scores


# refit=False


@pytest.mark.parametrize("scoring", [None, ["accuracy", "f1"]])
def test_without_refit_nothing_is_asked_and_nothing_certified(scoring, data, wrap):
    search = wrap(grid(scoring=scoring, refit=False))
    with pytest.warns(UserWarning, match=r"keeps no model \(refit=False\).*nothing is certified"):
        search.fit(*data)
    assert spent(search) == 0
    assert search.answers_ == []
    for name in ("best_estimator_", "best_score_", "best_answer_", "best_score_interval_", "classes_"):
        assert not hasattr(search, name)
    assert hasattr(search, "best_index_") == hasattr(search, "best_params_") == (scoring is None)
    assert set(search.cv_results_) == set(search.search_.cv_results_)
    with pytest.raises(AttributeError, match="has no attribute 'predict'") as raised:
        search.predict(data[0])
    assert "`refit=False`. predict is available only after refitting" in str(raised.value.__cause__)
    with config_context(display="diagram"):
        assert "DecisionTreeClassifier" in search._repr_html_()
    assert not hasattr(pickle.loads(pickle.dumps(search)), "best_score_")


@pytest.mark.filterwarnings("ignore:The search keeps no model")
def test_without_refit_the_certificate_of_an_earlier_fit_is_gone(data, wrap):
    search = wrap().fit(*data)
    assert search.best_answer_.answered
    search.set_params(search__refit=False).fit(*data)
    assert not hasattr(search, "best_answer_")
    assert not hasattr(search, "best_score_interval_")


def test_without_refit_candidates_are_certified_as_they_were_fitted(data, wrap):
    search = wrap(grid(values=[1, 2, 3], refit=False), ask="candidates").fit(*data)
    assert spent(search) == len(search.answers_) == 3
    assert search.best_answer_ is search.answers_[search.best_index_]
    assert search.best_score_ == search.cv_results_["mean_test_score"][search.best_index_]
    assert search.best_score_interval_[0] < search.best_score_ < search.best_score_interval_[1]
    assert not hasattr(search, "best_estimator_")


def test_without_refit_a_metric_named_for_the_certificate_is_certified(data, wrap):
    search = wrap(grid(scoring=["accuracy", "f1"], refit=False), scoring="accuracy")
    assert search.fit(*data).predict(data[0]).shape == data[1].shape
    assert spent(search) == 1


@pytest.mark.parametrize("params", [{"ask": 2}, {"ask": "candidates", "reveal": "winner"}])
def test_without_refit_no_refitted_models_can_be_compared(params, refused):
    refused("search", "refit=True", search=grid(refit=False), **params)


# other targets, failing models, parameters of the search


def test_several_outputs_are_refused_and_what_is_advised_works(data, refused):
    X, y = data
    both = np.c_[y, 1 - y]
    refused("y", "MultiOutputClassifier", X=X, y=both)
    fitted = MultiOutputClassifier(ReusableHoldoutCV(grid())).fit(X, both)
    assert [one.best_answer_.answered for one in fitted.estimators_] == [True, True]


class FailsAtTwo(DecisionTreeClassifier):
    def fit(self, X, y, sample_weight=None, check_input=True):
        if self.max_depth == 2:
            raise ValueError("depth 2 is bad luck")
        return super().fit(X, y, sample_weight=sample_weight)


def test_candidates_that_fail_get_the_error_score_and_scikit_learns_warning(data, wrap):
    search = wrap(grid(FailsAtTwo(), [1, 2, 3], error_score=0.25, cv=3))
    with pytest.warns(FitFailedWarning, match="3 fits failed out of a total of 9"):
        search.fit(*data)
    assert search.cv_results_["mean_test_score"][1] == 0.25
    assert search.best_index_ != 1
    with pytest.raises(ValueError, match="depth 2 is bad luck"):
        wrap(grid(FailsAtTwo(), error_score="raise")).fit(*data)


@pytest.mark.parametrize("bad", [{"error_score": "never"}, {"cv": "five"}, {"return_train_score": "perhaps"}])
def test_a_bad_parameter_of_the_search_gets_the_error_of_the_search(bad, data, wrap):
    with pytest.raises(ValueError, match=r".") as expected:
        grid(**bad).fit(*data)
    search = wrap(grid(**bad))
    with pytest.raises(type(expected.value)) as raised:
        search.fit(*data)
    assert str(raised.value) == str(expected.value)
    assert spent(search) == 0


def test_a_model_that_shows_nothing_of_being_fitted_is_certified_as_it_was_fitted_here(data, wrap):
    class Always(ClassifierMixin, BaseEstimator):
        classes_ = np.array([0, 1])

        def __init__(self, label=0):
            self.label = label

        def fit(self, X, y):
            return self

        def predict(self, X):
            return np.full(len(X), self.label)

    search = wrap(GridSearchCV(Always(), {"label": [0, 1]}, scoring="accuracy")).fit(*data)
    assert search.best_answer_.answered


# other targets, failing models, parameters of the search


def test_a_fitted_search_is_shown_with_its_best_model(data, wrap):
    steps = make_pipeline(StandardScaler(), PCA(2), LogisticRegression())
    search = wrap(RandomizedSearchCV(steps, {"pca": [None, "passthrough"]}, n_iter=2, random_state=0))
    with config_context(display="diagram"):
        before = search._repr_html_()
        search.fit(*data)
        after = search._repr_html_()
    assert "<div>PCA</div>" in before
    assert "<div>PCA</div>" not in after
    assert "best_estimator_" in after
    assert search.best_answer_._repr_html_() in after
    assert search.search.estimator is steps  # looking at it changes nothing
    assert not hasattr(search.search, "best_estimator_")
