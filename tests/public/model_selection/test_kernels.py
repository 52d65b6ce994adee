"""Precomputed kernels and distances: the holdout is taken out of the columns too."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.utils import get_tags

from sklearn_ada import Holdout, ReusableHoldoutCV
from tests.support.searches import grid

X, Y = make_classification(240, 6, n_informative=4, n_redundant=0, flip_y=0.1, random_state=0)
KERNEL = X @ X.T
LAST = np.arange(240) >= 180


def svc(kernel="precomputed"):
    return grid(SVC(kernel=kernel), [0.01, 1.0])


class Watching(ClassifierMixin, BaseEstimator):
    """A model of pairs that remembers which rows and which columns it has seen."""

    fitted_on: list = []  # noqa: RUF012 - one list for all clones
    predicted_on: list = []  # noqa: RUF012

    def __init__(self, label=0):
        self.label = label

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        return tags

    def fit(self, K, y):
        assert K.shape[0] == K.shape[1] == len(y)
        rows, columns = (set(numbers.ravel().astype(int)) for numbers in (K // 1000, K % 1000))
        assert rows == columns
        self.fitted_on.append(rows)
        self.classes_, self.columns_ = np.unique(y), (K[0] % 1000).astype(int)
        return self

    def predict(self, K):
        np.testing.assert_array_equal(K % 1000, np.tile(self.columns_, (len(K), 1)))  # in their order
        self.predicted_on.append(set((K // 1000).ravel().astype(int)))
        return np.full(len(K), self.label)


@pytest.mark.parametrize("ask", ["winner", pytest.param(2, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("holdout", [0.25, LAST], ids=["share", "mask"])
def test_no_model_sees_a_row_or_a_column_of_the_holdout(ask, holdout, wrap):
    Watching.fitted_on.clear()
    Watching.predicted_on.clear()
    numbers = np.arange(240)[:, None] * 1000.0 + np.arange(240)  # an entry says of which two rows it is
    search = wrap(GridSearchCV(Watching(), {"label": [0, 1]}, cv=3), ask=ask, holdout=holdout)
    search.fit(numbers, Y)
    trained = set.union(*Watching.fitted_on)
    assert len(trained) == 180
    assert trained == set(search.train_indices_)
    if holdout is LAST:
        assert trained == set(range(180))
    assert set(range(240)) - trained in Watching.predicted_on
    np.testing.assert_array_equal(search.predict(numbers), np.full(240, search.best_params_["label"]))
    assert search.n_features_in_ == 240


def test_a_linear_kernel_is_searched_and_certified_like_its_features(wrap, tmp_path):
    plain = wrap(svc("linear"), holdout=LAST, ledger=tmp_path / "plain.db").fit(X, Y)
    search = wrap(svc(), holdout=LAST).fit(KERNEL, Y)
    assert search.best_params_ == plain.best_params_
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(search.predict(KERNEL), plain.predict(X))
    assert search.score(KERNEL, Y) == plain.score(X, Y)
    truth = np.mean(plain.predict(X[LAST]) == Y[LAST])
    low, high = search.best_score_interval_
    assert low < truth < high


def test_sparse_kernels_and_distances_are_split_too(wrap, tmp_path):
    graph, inner = sparse.csr_array(pairwise_distances(X)), grid(KNeighborsClassifier(metric="precomputed"))
    dense = wrap(inner, holdout=LAST, ledger=tmp_path / "dense.db").fit(graph.toarray(), Y)
    search = wrap(inner, holdout=LAST).fit(graph, Y)
    assert search.best_answer_.answered
    assert search.best_score_ == pytest.approx(dense.best_score_, abs=0.1)


def test_a_cross_validation_around_it_splits_rows_and_columns():
    wrapped = ReusableHoldoutCV(svc())
    assert get_tags(wrapped).input_tags.pairwise
    scores = cross_validate(wrapped, KERNEL, Y, cv=3, return_estimator=True, error_score="raise")
    assert all(one.best_answer_.answered for one in scores["estimator"])
    assert scores["test_score"].min() > 0.5


def test_a_given_holdout_of_a_kernel_has_the_columns_of_the_training_rows(wrap, tmp_path):
    train = KERNEL[~LAST][:, ~LAST], Y[~LAST]
    holdout = Holdout(KERNEL[LAST][:, ~LAST], Y[LAST], ledger=tmp_path / "ledger.db")
    assert wrap(svc(), holdout=holdout).fit(*train).best_answer_.answered
    other = Holdout(KERNEL[LAST], Y[LAST], ledger=tmp_path / "other.db")
    with pytest.raises(ValueError, match=r"of 240 columns, .* Got '180 columns'"):
        wrap(svc(), holdout=other).fit(*train)
    assert sum(other.report().asked.values()) == 0


NO_PAIRS = {
    "list": (KERNEL.tolist(), r"an array or a sparse matrix .* Got 'list'"),
    "not square": (KERNEL[:, :100], r"a square matrix .* Got 'an array of shape \(240, 100\)'"),
}


@pytest.mark.parametrize(("kernel", "message"), NO_PAIRS.values(), ids=NO_PAIRS)
def test_what_is_no_matrix_of_pairs_is_refused_first(kernel, message, wrap, tmp_path):
    with pytest.raises(ValueError, match=rf"The 'X' parameter of ReusableHoldoutCV.fit must be {message}"):
        wrap(svc()).fit(kernel, Y)
    assert not list(tmp_path.iterdir())
