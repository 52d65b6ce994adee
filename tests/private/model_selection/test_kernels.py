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
from sklearn_ada.holdout.holdout import session_of
from tests.support.searches import grid

X, Y = make_classification(240, 6, n_informative=4, n_redundant=0, flip_y=0.1, random_state=0)
KERNEL = X @ X.T
LAST = np.arange(240) >= 180


def svc(kernel="precomputed"):
    return grid(SVC(kernel=kernel), [0.01, 1.0])


@pytest.mark.parametrize("ask", ["winner", pytest.param(2, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("holdout", [0.25, LAST], ids=["share", "mask"])
def test_no_model_sees_a_row_or_a_column_of_the_holdout(ask, holdout, wrap):
    Watching.rows.clear()
    search = wrap(GridSearchCV(Watching(), {"label": [0, 1]}, cv=3), ask=ask, holdout=holdout).fit(
        numbers(), Y
    )
    fitted = [rows for rows, _ in Watching.rows]
    assert all(rows == columns for rows, columns in Watching.rows)
    trained = set.union(*fitted)
    assert len(trained) == 180
    if holdout is LAST:
        assert trained == set(range(180))
    kept = np.asarray(session_of(search.holdout_).data.X)
    assert set((kept // 1000).ravel().astype(int)) == set(range(240)) - trained
    assert set((kept % 1000).ravel().astype(int)) == trained
    np.testing.assert_array_equal(search.predict(numbers()), np.full(240, search.best_params_["label"]))
    assert search.n_features_in_ == 240


def test_a_kernel_is_certified_as_what_it_is_a_kernel_of(wrap, tmp_path):
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
    graph, inner = (
        sparse.csr_array(pairwise_distances(X)),
        grid(KNeighborsClassifier(metric="precomputed"), [3, 9]),
    )
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


def test_a_given_holdout_has_its_pairs_with_the_training_rows(wrap, tmp_path):
    train = KERNEL[~LAST][:, ~LAST], Y[~LAST]
    holdout = Holdout(KERNEL[LAST][:, ~LAST], Y[LAST], ledger=tmp_path / "ledger.db")
    assert wrap(svc(), holdout=holdout).fit(*train).best_answer_.answered
    other = Holdout(KERNEL[LAST], Y[LAST], ledger=tmp_path / "other.db")
    with pytest.raises(ValueError, match=r"of 240 columns, .* Got '180 columns'"):
        wrap(svc(), holdout=other).fit(*train)
    assert sum(other.report().asked.values()) == 0


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (KERNEL.tolist(), r"an array or a sparse matrix .* Got 'list'"),
        (KERNEL[:, :100], r"a square matrix .* Got 'an array of shape \(240, 100\)'"),
    ],
    ids=["list", "not square"],
)
def test_what_is_no_matrix_of_pairs_is_refused_first(kernel, message, wrap, tmp_path):
    with pytest.raises(ValueError, match=rf"The 'X' parameter of ReusableHoldoutCV.fit must be {message}"):
        wrap(svc()).fit(kernel, Y)
    assert not list(tmp_path.iterdir())


def numbers(n=240):
    """A matrix whose entry says of which two rows it is."""
    return np.arange(n)[:, None] * 1000.0 + np.arange(n)


class Watching(ClassifierMixin, BaseEstimator):
    """A model of pairs that remembers which rows and which columns it has seen."""

    rows: list = []  # noqa: RUF012 - one list for all clones

    def __init__(self, label=0):
        self.label = label

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        return tags

    def fit(self, K, y):
        assert K.shape[0] == K.shape[1] == len(y)
        self.rows.append((set((K // 1000).ravel().astype(int)), set((K % 1000).ravel().astype(int))))
        self.classes_, self.fitted_on_ = np.unique(y), (K[0] % 1000).astype(int)
        return self

    def predict(self, K):
        np.testing.assert_array_equal(K[0] % 1000, self.fitted_on_)  # of the rows fitted on, in their order
        return np.full(len(K), self.label)
