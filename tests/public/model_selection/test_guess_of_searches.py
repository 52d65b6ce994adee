"""The guess is of the metric that is certified, whatever a search ranks its candidates by."""

import warnings

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.feature_selection import RFE
from sklearn.linear_model import GammaRegressor, LinearRegression, LogisticRegression, PoissonRegressor
from sklearn.metrics import accuracy_score, f1_score, make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ada import ReusableHoldoutCV

X, LABELS = make_classification(1200, 6, weights=[0.9], random_state=0)
COUNTS = np.random.default_rng(0).poisson(np.exp(0.7 * X[:, 0]))


class ByF1(LogisticRegression):
    def score(self, X, y, sample_weight=None):
        return f1_score(y, self.predict(X))


class ByBoth(LogisticRegression):
    def score(self, X, y, sample_weight=None):
        """Return the accuracy of most rows: nearly, and not, the usual metric."""
        return (
            accuracy_score(y[1:], self.predict(X[1:]))
            if len(y) % 2
            else accuracy_score(y, self.predict(X)) / 2
        )


def fitted(search, y, ledger, **params):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        wrapped = ReusableHoldoutCV(search, ledger=ledger).fit(X, y, **params)
    return wrapped, [str(each.message) for each in caught]


INNER = GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, scoring="roc_auc", cv=3)
OTHERWISE = {
    "deviance": (GridSearchCV(PoissonRegressor(), {"alpha": [0, 0.1]}), COUNTS, "r2"),
    "deviance in a pipeline": (
        GridSearchCV(make_pipeline(StandardScaler(), GammaRegressor()), {"gammaregressor__alpha": [0, 0.1]}),
        COUNTS + 1,
        "r2",
    ),
    "search inside": (GridSearchCV(INNER, {"estimator__tol": [1e-4, 1e-3]}, cv=3), LABELS, "accuracy"),
    "method": (GridSearchCV(ByF1(), {"C": [0.1, 1]}), LABELS, "accuracy"),
    "method, nearly": (GridSearchCV(ByBoth(), {"C": [0.1, 1]}), LABELS, "accuracy"),
}


@pytest.mark.parametrize("kind", OTHERWISE)
def test_other_score_is_no_guess(kind, tmp_path):
    search, y, usual = OTHERWISE[kind]
    wrapped, messages = fitted(search, y, tmp_path / "a.db")
    named, of_named = fitted(clone(search).set_params(scoring=usual), y, tmp_path / "b.db")
    assert any("ranks its candidates by" in each and usual in each for each in messages)
    assert not any("ranks its candidates by" in each for each in of_named)
    assert usual in wrapped.best_answer_.target
    assert wrapped.best_answer_.verdict == named.best_answer_.verdict
    assert wrapped.best_answer_.cost.nats < named.best_answer_.cost.nats + 1


@pytest.mark.parametrize(
    ("search", "y"),
    [
        (GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}), LABELS),
        (GridSearchCV(make_pipeline(LogisticRegression()), {"logisticregression__C": [0.1, 1]}), LABELS),
        (GridSearchCV(RFE(LogisticRegression()), {"n_features_to_select": [2, 3]}), LABELS),
        (GridSearchCV(LinearRegression(), {"fit_intercept": [True, False]}), COUNTS),
    ],
    ids=["model", "pipeline", "selection", "regression"],
)
def test_usual_score_is_taken_in_silence(search, y):
    assert not any("ranks its candidates by" in each for each in fitted(search, y, ":memory:")[1])


def test_weighted_score_is_no_guess(tmp_path):
    weights = np.where(LABELS == 1, 9.0, 0.1)
    with config_context(enable_metadata_routing=True):
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=True)
        model = LogisticRegression().set_fit_request(sample_weight=False)
        search = GridSearchCV(model, {"C": [0.1, 1]}, scoring=scorer)
        wrapped, messages = fitted(search, LABELS, tmp_path / "a.db", sample_weight=weights)
    assert any("weights or other metadata" in each for each in messages)
    assert abs(wrapped.best_answer_.value - accuracy_score(LABELS, wrapped.predict(X))) < 0.05


class NeedsMany(PoissonRegressor):
    def fit(self, X, y):
        if len(X) < 800:  # a quarter less than all training rows
            raise ValueError("too few rows")
        return super().fit(X, y)


def test_guess_that_cannot_be_had_is_said_before_the_question():
    every = np.arange(1200)
    search = GridSearchCV(NeedsMany(), {"alpha": [0, 0.1]}, cv=[(every, every)])
    asking = ReusableHoldoutCV(search, ledger=":memory:")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", "No guess of r2 could be computed")
        with pytest.raises(UserWarning, match="No guess of r2"):
            asking.fit(X, COUNTS)
    assert asking.holdout_.report().nats < 0.1
