"""What X holds is the model's business: NaN, text, sparse matrices and frames all reach it."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from sklearn_ada import Holdout, Metric


def with_nan(X):
    X = X.copy()
    X[::7, 1] = np.nan
    return X


def words(X):
    return [f"word{int(row[0] > 0)} word{int(row[1] > 0)}" for row in X]


def frame(X):
    return pd.DataFrame({"a": X[:, 0], "kind": np.where(X[:, 1] > 0, "up", None)})


boosting = HistGradientBoostingClassifier(max_iter=5)
of_words = make_pipeline(CountVectorizer(), LogisticRegression())
of_kinds = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
CONTAINERS = {
    "NaN": (with_nan, boosting),
    "csr matrix": (sparse.csr_matrix, LogisticRegression()),
    "csr array": (sparse.csr_array, LogisticRegression()),
    "csc matrix": (sparse.csc_matrix, LogisticRegression()),
    "coo matrix": (sparse.coo_matrix, LogisticRegression()),
    "list": (np.ndarray.tolist, LogisticRegression()),
    "frame": (pd.DataFrame, LogisticRegression()),
    "frame with text and None": (frame, of_kinds),
    "strings": (lambda X: np.where(X > 0, "up", "down"), of_kinds),
    "list of texts": (words, of_words),
    "series of texts": (lambda X: pd.Series(words(X)), of_words),
    "read-only": (lambda X: (X.setflags(write=False), X)[1], LogisticRegression()),
}


def own_score(estimator, X, y):
    return estimator.score(X, y)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("container", CONTAINERS)
def test_certified_accuracy_is_the_models_own_and_medians_take_subsamples(container, rows, tmp_path):
    wrap, estimator = CONTAINERS[container]
    model = estimator.fit(wrap(rows[0].copy()), rows[1])
    X_hold = wrap(rows[2].copy())
    holdout = Holdout(X_hold, rows[3], ledger=tmp_path / "ledger.db")
    assert holdout.certify(model, scoring="accuracy").value == pytest.approx(model.score(X_hold, rows[3]))
    assert holdout.certify(model, scoring=Metric(own_score, range=(0, 1))).answered


LABELS = {
    "texts": np.array(["no", "yes"]),
    "bools": np.array([False, True]),
    "signs": np.array([-1, 1]),
    "categories": np.array(["no", "yes"]),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_any_kind_are_allowed(kind, rows, model, tmp_path):
    fitted = LogisticRegression().fit(rows[0], LABELS[kind][rows[1]])
    labels = pd.Series(LABELS[kind][rows[3]], dtype="category" if kind == "categories" else None)
    holdout = Holdout(rows[2], labels, ledger=tmp_path / "ledger.db")
    plain = Holdout(*rows[2:], ledger=tmp_path / "plain.db").certify(model, scoring="roc_auc")
    assert holdout.certify(fitted, scoring="roc_auc").value == plain.value
