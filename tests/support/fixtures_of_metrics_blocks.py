"""The oracle: scikit-learn's own scorer, run block by block on stored outputs."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer


class StoredClassifier(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose outputs for row i are those stored for row i."""

    def __init__(self, outputs=None, classes=None):
        self.outputs = outputs
        self.classes = classes

    def __sklearn_is_fitted__(self):
        return True

    @property
    def classes_(self):
        return self.classes

    def predict(self, X):
        return self.outputs[X[:, 0]]


class StoredProbabilities(StoredClassifier):
    def predict_proba(self, X):
        return self.outputs[X[:, 0]]


class StoredDecisions(StoredClassifier):
    def decision_function(self, X):
        return self.outputs[X[:, 0]]


class StoredRegressor(RegressorMixin, BaseEstimator):
    def __init__(self, outputs=None):
        self.outputs = outputs

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        return self.outputs[X[:, 0]]


def scorer_scores(name, y_true, outputs, n_blocks, *, labels=None, sample_weight=None, method="predict"):
    """Return the scorer's value on each block, NaN where it raises ValueError or its value is NaN.

    A block without weight is NaN, too: newer versions raise, older ones give 0 for some metrics.
    """
    if labels is None:
        estimator = StoredRegressor(outputs)
    else:
        kinds = {
            "predict": StoredClassifier,
            "predict_proba": StoredProbabilities,
            "decision_function": StoredDecisions,
        }
        estimator = kinds[method](outputs, labels)
    scorer = get_scorer(name)
    scores = np.full(n_blocks, np.nan)
    for i, rows in enumerate(np.split(np.arange(len(y_true)), n_blocks)):
        weights = {} if sample_weight is None else {"sample_weight": sample_weight[rows]}
        if sample_weight is not None and not sample_weight[rows].any():
            continue
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                scores[i] = scorer(estimator, rows[:, None], y_true[rows], **weights)
            except ValueError:
                continue
    return scores


@pytest.fixture(scope="session")
def oracle():
    return scorer_scores
