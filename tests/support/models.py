"""Models whose outputs are known beforehand."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

__all__ = ["Always", "Centroids", "Column", "FromFile", "RightBelow", "RightOfLabels", "coin", "stored"]


class Always(ClassifierMixin, BaseEstimator):
    """Predicts one label of all rows; its name makes it another model."""

    classes_ = np.array([0, 1])

    def __init__(self, label=1, name=""):
        self.label, self.name = label, name

    def __sklearn_is_fitted__(self):
        return True

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.full(len(X), self.label)


class Centroids(ClassifierMixin, BaseEstimator):
    """Nearest class mean on all features or on a random subset; small differences may be left out."""

    def __init__(self, subset=None, shrink=0.0):
        self.subset, self.shrink = subset, shrink

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.n_features_in_ = X.shape[1]
        self.columns_ = np.arange(X.shape[1])
        if self.subset is not None:
            self.columns_ = np.random.default_rng(self.subset).choice(X.shape[1], 8, replace=False)
        means = [X[y == c][:, self.columns_].mean(axis=0) for c in self.classes_]
        step = means[1] - means[0]
        self.direction_ = np.where(np.abs(step) > self.shrink, step, 0.0)
        self.offset_ = self.direction_ @ (means[0] + means[1]) / 2
        return self

    def predict(self, X):
        return self.classes_[(X[:, self.columns_] @ self.direction_ > self.offset_).astype(int)]


class Column(ClassifierMixin, BaseEstimator):
    """Predicts the labels in one column of X."""

    classes_ = np.array([0, 1])

    def __init__(self, column=0):
        self.column = column

    def __sklearn_is_fitted__(self):
        return True

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return X[:, self.column].astype(int)


class RightBelow:
    """Is right on the rows whose first column is below a number, where labels are 1."""

    classes_ = np.array([0, 1])

    def __init__(self, right, tag=0):
        self.right, self.tag = right, tag

    def predict(self, X):
        return (X[:, 0] < self.right).astype(int)


class RightOfLabels(ClassifierMixin, BaseEstimator):
    """Is right on the rows whose first column is below a number; labels stand in the second column."""

    classes_ = np.array([0, 1])

    def __init__(self, right, tag=0, fails=False):
        self.right, self.tag, self.fails = right, tag, fails

    def __sklearn_is_fitted__(self):
        return True

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        right = np.where(X[:, 0] < self.right, 0.9, 0.2)
        second = np.where(X[:, 1] == 1, right, 1 - right)
        return np.c_[1 - second, second]

    def predict(self, X):
        if self.fails:
            raise ValueError("no")
        return self.predict_proba(X).argmax(axis=1)


def coin(share, tag=0, fails=False, size=20_000):
    """Return a model that is right on a share of numbered rows; its tag makes it another model."""
    return RightOfLabels(share * size, tag, fails)


class FromFile(ClassifierMixin, BaseEstimator):
    """A linear classifier whose weights stand in a file, which no digest of the model reads.

    Weights of NaN are an interrupt, some of them an error.
    """

    classes_ = np.array([0, 1])

    def __init__(self, path):
        self.path = {"file": path}  # or what is in the file would count, as what it predicts for made-up rows

    def train(self, weights):
        """Write other weights into the file."""
        np.save(self.path["file"], weights)

    def predict(self, X):
        weights = np.load(self.path["file"])
        if np.isnan(weights).any():
            raise (KeyboardInterrupt if np.isnan(weights).all() else TypeError)("the file is empty")
        return (np.asarray(X) @ weights > 0).astype(int)

    def predict_proba(self, X):
        odds = np.exp(np.asarray(X) @ np.load(self.path["file"]))
        return np.column_stack([1 / (1 + odds), odds / (1 + odds)])


class StoredNumbers(RegressorMixin, BaseEstimator):
    """A fitted model that answers, about rows that are row numbers, what is stored for these rows."""

    def __init__(self, outputs=None):
        self.outputs = outputs

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        return self.outputs[X[:, 0]]


class StoredLabels(ClassifierMixin, BaseEstimator):
    """The same of a classifier, by one method."""

    def __init__(self, outputs=None, classes_=None):
        self.outputs, self.classes_ = outputs, classes_

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        return self.outputs[X[:, 0]]


class StoredProbabilities(StoredLabels):
    def predict_proba(self, X):
        return self.predict(X)


class StoredDecisions(StoredLabels):
    def decision_function(self, X):
        return self.predict(X)


def stored(outputs, classes=None, method="predict"):
    """Return a model that answers by a method what is stored, a regressor if there are no classes."""
    kinds = {"predict_proba": StoredProbabilities, "decision_function": StoredDecisions}
    return StoredNumbers(outputs) if classes is None else kinds.get(method, StoredLabels)(outputs, classes)
