"""What can be known before the first fit is refused before it, so that no finished search is lost."""

import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import DBSCAN, KMeans
from sklearn.covariance import EllipticEnvelope
from sklearn.ensemble import IsolationForest, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier, SGDClassifier
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, OneClassSVM

from sklearn_ada import ReusableHoldoutCV

RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 3))
Y = (X[:, 0] + RNG.normal(size=240) > 0).astype(int)
NUMBERS, WORDS = X[:, 0] + RNG.normal(size=240), np.array(["ill", "well"])[Y]


class NeverFittedError(BaseException):
    """A search was fitted; nothing turns this into a score."""


class NeverFitted(GridSearchCV):
    """A search whose fit is the end."""

    def fit(self, X, y=None, **params):
        raise NeverFittedError


class NeverFittedAtRandom(RandomizedSearchCV):
    """The same of random candidates."""

    fit = NeverFitted.fit


def scaled(model):
    return make_pipeline(StandardScaler(), model)


TWO = Pipeline([("model", LogisticRegression())])
LACKING = {  # the model, the metric, y, what is set of the search and what of the wrapper
    "outliers": (IsolationForest(), "roc_auc", np.where(Y, 1, -1), {}),
    "outliers of a boundary": (OneClassSVM(), "average_precision", np.where(Y, 1, -1), {}),
    "new neighbours": (LocalOutlierFactor(novelty=True), "roc_auc", Y, {}),
    "outliers in a pipeline": (scaled(EllipticEnvelope()), "roc_auc", Y, {}),
    "neighbours that predict nothing new": (LocalOutlierFactor(), "accuracy", Y, {}),
    "clusters": (DBSCAN(), "accuracy", Y, {}),
    "clusters without scores": (KMeans(2), "roc_auc", Y, {}),
    "a mixture": (GaussianMixture(2), "roc_auc_ovr", Y, {}),
    "no probabilities": (LinearSVC(), "neg_log_loss", Y, {}),
    "none in a pipeline": (scaled(LinearSVC()), "neg_brier_score", Y, {}),
    "none unless it is set": (SVC(), "neg_brier_score", Y, {}),
    "none by its loss": (SGDClassifier(loss="hinge"), "neg_log_loss", Y, {}),
    "none in a search": (GridSearchCV(LinearSVC(), {"C": [1.0]}), "neg_log_loss", Y, {}),
    "none of one against the rest": (OneVsRestClassifier(LinearSVC()), "neg_log_loss", Y, {}),
    "a regressor": (Ridge(), "roc_auc", Y, {}),
    "several classes": (RidgeClassifier(), "roc_auc_ovr", np.arange(240) % 3, {}),
    "no candidate": (TWO, "neg_log_loss", Y, {"model": [LinearSVC(), RidgeClassifier()]}),
}


@pytest.fixture
def refused(tmp_path):
    """Assert that a wrapped search is refused before it begins, and before a ledger does."""

    def check(match, model, values, y, kind=NeverFitted, own=None, **params):
        search = kind(model, values, scoring=own)
        with pytest.raises(ValueError, match=match):
            ReusableHoldoutCV(search, ledger=tmp_path / "ledger.db", **params).fit(X, y)
        assert not list(tmp_path.iterdir())

    return check


MUST = r"^The '(search|scoring)' parameter of ReusableHoldoutCV must be .+\. Got .+ instead\."


@pytest.mark.parametrize("named", ["search", "wrapper", "candidates"])
@pytest.mark.parametrize(("model", "metric", "y", "values"), LACKING.values(), ids=LACKING)
def test_a_model_that_cannot_be_asked_is_refused_before_the_first_fit(
    model, metric, y, values, named, refused
):
    if named == "wrapper":
        refused(MUST, model, values, y, scoring=metric, own="accuracy")
    else:
        refused(MUST, model, values, y, own=metric, ask="winner" if named == "search" else named)


def test_one_candidate_that_cannot_be_asked_is_refused_if_it_may_win(refused, tmp_path):
    values = {"model": [LogisticRegression(), LinearSVC()], "model__C": [0.1, 1.0]}
    refused("It may win", TWO, values, Y, scoring="neg_brier_score", own="accuracy")
    search = GridSearchCV(TWO, values, scoring="neg_brier_score", error_score=np.nan)
    with pytest.warns(UserWarning, match="predict_proba"):  # of scikit-learn: such a candidate has no score
        wrapped = ReusableHoldoutCV(search, ledger=tmp_path / "a.db").fit(X, Y)
    assert wrapped.best_answer_.answered


@pytest.mark.parametrize("ask", ["winner", "candidates"])
@pytest.mark.parametrize(
    ("model", "values", "kind"),
    [
        (LogisticRegression(), [{"C": [1.0]}, {"depth": [1]}], NeverFitted),
        (scaled(LogisticRegression()), {"C": [1.0]}, NeverFitted),
        (TWO, [{"model__C": [1.0]}, {"model__depth": [1]}], NeverFitted),
        (LogisticRegression(), {"depth": uniform()}, NeverFittedAtRandom),
    ],
)
def test_a_parameter_that_the_model_lacks_is_refused_whichever_candidate_has_it(
    model, values, kind, ask, refused
):
    refused("Invalid parameter", model, values, Y, ask=ask, kind=kind)


OTHER_LABELS = {
    "accuracy": (Ridge(), NUMBERS),
    "f1": (Ridge(), NUMBERS),
    "neg_mean_squared_error": (LogisticRegression(), WORDS),
}


@pytest.mark.parametrize("ask", ["winner", "candidates"])
@pytest.mark.parametrize("metric", OTHER_LABELS)
def test_a_metric_of_other_labels_is_refused_before_the_first_fit(metric, ask, refused):
    model, y = OTHER_LABELS[metric]
    match = "The 'y' parameter of ReusableHoldoutCV.fit must be such that"
    refused(match, model, {}, y, own=metric, ask=ask)


class OnlyFitted(ClassifierMixin, BaseEstimator):
    """A model that has its methods only once it is fitted."""

    def fit(self, X, y):
        self.model_ = LogisticRegression().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def __getattr__(self, name):
        if name == "predict_proba" and "model_" in vars(self):
            return self.model_.predict_proba
        raise AttributeError(name)

    def predict(self, X):
        return self.model_.predict(X)


MAY = {
    "stacked": (StackingClassifier([("a", LinearSVC())], cv=2), "neg_brier_score", Y),
    "calibrated": (CalibratedClassifierCV(LinearSVC(), cv=2), "neg_brier_score", Y),
    "soft votes": (VotingClassifier([("a", LogisticRegression())], voting="soft"), "neg_brier_score", Y),
    "only when it is fitted": (OnlyFitted(), "neg_brier_score", Y),
    "decisions": (LinearSVC(), "roc_auc", Y),
    "labels of outliers": (IsolationForest(n_estimators=5), "accuracy", np.where(Y, 1, -1)),
}


@pytest.mark.parametrize(("model", "metric", "y"), MAY.values(), ids=MAY)
def test_whatever_may_turn_out_to_be_able_is_not_refused(model, metric, y, tmp_path):
    search = GridSearchCV(model, {}, scoring=metric, cv=2)
    assert ReusableHoldoutCV(search, ledger=tmp_path / "a.db").fit(X, y).best_answer_.answered
