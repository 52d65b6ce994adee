"""Models that are none of scikit-learn's: what says that they are fitted."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from sklearn_ada import Holdout


class Majority:
    """A model with fit and predict, and nothing else of an estimator."""

    learnt_as = "label_"

    def fit(self, X, y):
        setattr(self, self.learnt_as, np.bincount(y).argmax())
        return self

    def predict(self, X):
        return np.full(len(X), getattr(self, self.learnt_as))


class Private(Majority):
    """What it has learnt is nobody's business."""

    learnt_as = "_label"


class Fitted(Private):
    def __sklearn_is_fitted__(self):
        return hasattr(self, "_label")


X, Y = np.zeros((10, 3)), np.ones(10, dtype=int)


@pytest.mark.parametrize("kind", [Majority, Fitted])
def test_a_model_of_no_kind_is_certified_once_it_has_learnt_something(kind, holdout):
    with pytest.raises(NotFittedError, match=f"This {kind.__name__} instance is not fitted yet"):
        holdout.certify(kind(), scoring="accuracy")
    with pytest.raises(NotFittedError, match="end in '_', or it must have __sklearn_is_fitted__"):
        holdout.certify(Private().fit(X, Y), scoring="accuracy")
    assert sum(holdout.report().asked.values()) == 0
    answer = holdout.certify(kind().fit(X, Y), scoring="accuracy")
    assert answer.answered
    assert answer.value > 0.5


@pytest.fixture
def holdout(tmp_path):
    X = np.random.default_rng(0).normal(size=(200, 3))
    return Holdout(X, (X[:, 0] > -0.5).astype(int), ledger=tmp_path / "ledger.db")
