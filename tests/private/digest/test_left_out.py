"""What predictions do not depend on is no part of a digest, and nothing else is left out."""

import functools
import pickle
import weakref

import numpy as np
import pytest
from scipy.spatial import KDTree as ScipyKDTree
from sklearn.base import BaseEstimator
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.ensemble import BaggingClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.neighbors import BallTree, KDTree
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC

from sklearn_ada.digest import canonical
from sklearn_ada.digest.canonical import canonical_digest
from tests.support.ledger.fitted_models import X, Y


class Estimator(BaseEstimator):
    """Takes any attributes."""

    def __init__(self, **given):
        vars(self).update(given)

    @functools.cached_property
    def answer(self):
        return 42


UNSEEDED = {
    "boosting": GradientBoostingClassifier(n_estimators=2),
    "a network": MLPClassifier(hidden_layer_sizes=2, max_iter=2),
    "a process": GaussianProcessClassifier(),
    "topics": make_pipeline(FunctionTransformer(np.abs), LatentDirichletAllocation(2, max_iter=1), SVC()),
    "bagging": BaggingClassifier(n_estimators=2, random_state=np.random.RandomState(0)),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", UNSEEDED)
def test_a_fitted_model_stays_the_same_while_others_draw_from_numpys_generator(name):
    model = UNSEEDED[name].fit(X, Y)
    before, stored = canonical_digest(model), pickle.dumps(model)
    np.random.normal()  # noqa: NPY002
    assert canonical_digest(model) == before
    assert canonical_digest(pickle.loads(stored)) == before


def test_the_generator_of_a_model_that_is_not_fitted_counts():
    """Two searches with other generators try other candidates, and are not one round."""
    one, other = (BaggingClassifier(random_state=np.random.RandomState(seed)) for seed in (0, 1))
    assert canonical_digest(one) != canonical_digest(other)


class Plain:
    def __init__(self, **given):
        vars(self).update(given)


ONES = np.ones(2)
LEFT_OUT = [
    {"n_jobs": 2}, {"verbose": 3}, {"verbosity": 1}, {"memory": "folder"}, {"pre_dispatch": 4},
    {"answer": 41}, {"refit_time_": 1.5}, {"kwargs": {"n_jobs": 2}}, {"params": {"verbose": 2}},
    {"cv_results_": {"mean_fit_time": ONES, "std_score_time": ONES}},
]  # fmt: skip
COUNTED = [
    {"max_depth": 2}, {"kwargs": {"max_depth": 2}}, {"cv_results_": {"mean_test_score": ONES}},
    {"held": {"n_jobs": 2}}, {"n_jobs_": 2}, {"thread_count": 2},  # that of CatBoost only is left out
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "given", "counts"),
    [
        *((Estimator, given, False) for given in LEFT_OUT),
        *((Estimator, given, True) for given in COUNTED),
        (Plain, {"n_jobs": 2}, True),  # which is no estimator
    ],
    ids=repr,
)
def test_settings_of_estimators_that_alter_no_prediction_are_left_out(kind, given, counts):
    bare = {"cv_results_": {}} if "cv_results_" in given else {}
    assert (canonical_digest(kind(**given)) != canonical_digest(kind(**bare))) is counts


@pytest.mark.parametrize("kind", [KDTree, BallTree, ScipyKDTree])
def test_a_tree_of_neighbours_is_the_same_after_queries(kind):
    tree = kind(X)
    before = canonical_digest(tree)
    tree.query(X[:5], k=2)
    if kind is ScipyKDTree:
        assert tree.tree is not None
    assert canonical_digest(tree) == before
    other = X.copy()
    other[0, 0] += 1.0
    assert canonical_digest(kind(other)) != before


def test_a_forest_is_looked_up_once_for_each_class(monkeypatch):
    """The digest of thousands of trees must not read the tables thousands of times."""
    calls = []

    class Found(weakref.WeakKeyDictionary):
        def __setitem__(self, kind, found):
            calls.append(kind)
            super().__setitem__(kind, found)

    monkeypatch.setattr(canonical, "_of_class", Found())
    canonical_digest(RandomForestClassifier(50, max_depth=2, random_state=0).fit(X, Y))
    assert 1 < len(calls) == len(set(calls)) < 10
