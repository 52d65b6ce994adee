"""Fitted models of many kinds, the same in every interpreter."""

import numpy as np
import pandas as pd
from sklearn import (
    calibration,
    cluster,
    compose,
    decomposition,
    discriminant_analysis,
    dummy,
    ensemble,
    feature_extraction,
    feature_selection,
    gaussian_process,
    impute,
    kernel_approximation,
    linear_model,
    multiclass,
    naive_bayes,
    neighbors,
    neural_network,
    pipeline,
    preprocessing,
    svm,
    tree,
)
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin

X = np.random.default_rng(0).normal(size=(60, 4)).round(2)
Y = (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int)
TEXTS = np.array(["one two", "two three four", "three", "four one one"] * 15, dtype=object)


def square(X):
    return np.asarray(X) ** 2


class Centred(TransformerMixin, BaseEstimator):
    """A transformer of the user's own."""

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y=None):
        self.mean_ = np.mean(X, axis=0)
        return self

    def transform(self, X):
        return X - self.mean_ - self.shift


class Constant(ClassifierMixin, BaseEstimator):
    """The cheapest classifier."""

    def __init__(self, answer=0):
        self.answer = answer

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.answer)


class FirstRule(ClassifierMixin, BaseEstimator):
    """Labels by the least value of the first feature: the first rule that applies wins."""

    def __init__(self, rules=None):
        self.rules = rules

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.rules_ = dict(self.rules)
        return self

    def predict(self, X):
        values = np.asarray(X)[:, 0]
        least, labels = np.array(list(self.rules_)), np.array(list(self.rules_.values()))
        return labels[np.argmax(values[:, None] >= least, axis=1)]


class ByRow(ClassifierMixin, BaseEstimator):
    """Labels from a frame, by its index."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        means = pd.DataFrame({"label": y}).groupby(np.asarray(X)[:, 0])[["label"]].mean()
        self.table_ = means.round().astype(int).sort_values("label", kind="stable")
        return self

    def predict(self, X):
        return self.table_.loc[np.asarray(X)[:, 0], "label"].to_numpy()


def unfitted():
    """Return a dict of unfitted models of X and Y."""
    logistic = linear_model.LogisticRegression()
    shallow = tree.DecisionTreeClassifier(max_depth=3, random_state=0)
    make = pipeline.make_pipeline
    own = [
        logistic,
        linear_model.LogisticRegressionCV(Cs=3, cv=2),
        linear_model.Ridge(),
        linear_model.Lasso(alpha=0.01),
        linear_model.SGDClassifier(random_state=0),
        linear_model.Perceptron(random_state=0),
        linear_model.BayesianRidge(),
        tree.DecisionTreeClassifier(random_state=0),
        ensemble.RandomForestClassifier(5, random_state=0),
        ensemble.ExtraTreesRegressor(5, random_state=0),
        ensemble.GradientBoostingClassifier(n_estimators=5, random_state=0),
        ensemble.HistGradientBoostingClassifier(max_iter=5, random_state=0),
        ensemble.AdaBoostClassifier(shallow, n_estimators=5, random_state=0),
        ensemble.BaggingClassifier(shallow, 3, random_state=0),
        ensemble.VotingClassifier([("a", logistic), ("b", shallow)]),
        ensemble.StackingClassifier([("a", logistic), ("b", shallow)], cv=2),
        calibration.CalibratedClassifierCV(shallow, cv=2),
        multiclass.OneVsRestClassifier(logistic),
        svm.SVC(probability=False, random_state=0),
        svm.LinearSVC(random_state=0),
        neighbors.KNeighborsClassifier(algorithm="kd_tree"),
        neighbors.KNeighborsClassifier(algorithm="brute"),
        neighbors.NearestCentroid(),
        naive_bayes.GaussianNB(),
        discriminant_analysis.LinearDiscriminantAnalysis(),
        discriminant_analysis.QuadraticDiscriminantAnalysis(reg_param=0.1),
        gaussian_process.GaussianProcessClassifier(random_state=0),
        neural_network.MLPClassifier((4,), max_iter=5, random_state=0),
        dummy.DummyClassifier(),
        cluster.KMeans(2, n_init=1, random_state=0),
        compose.TransformedTargetRegressor(linear_model.Ridge(), func=np.arctan, inverse_func=np.tan),
        make(preprocessing.StandardScaler(), decomposition.PCA(2, random_state=0), logistic),
        make(preprocessing.FunctionTransformer(square), logistic),
        make(kernel_approximation.Nystroem(n_components=5, random_state=0), logistic),
        make(feature_selection.SelectKBest(k=2), logistic),
        make(impute.SimpleImputer(), Centred(), logistic),
        make(compose.ColumnTransformer([("a", preprocessing.SplineTransformer(), [0, 1])]), logistic),
        Constant(1),
        FirstRule({0.5: 1, 0.25: 0, -9.0: 1}),
        ByRow(),
    ]
    return {f"{number} {type(model).__name__}": model for number, model in enumerate(own)}


def fitted():
    """Return a dict of fitted models."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = {name: model.fit(X, Y) for name, model in unfitted().items()}
        text = pipeline.make_pipeline(
            feature_extraction.text.TfidfVectorizer(ngram_range=(1, 2)), linear_model.LogisticRegression()
        )
        models["text"] = text.fit(TEXTS, Y)
    return models
