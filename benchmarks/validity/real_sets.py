"""Sets of data with all predictions of many candidates: populations whose truth is known exactly.

A set of N rows is itself the population: a holdout is n of its rows, drawn with replacement, so that every
share of the N rows is a population value, known to the last digit. That is sampling from the empirical law
of the set, not from whatever the set was drawn from. Every candidate is one fixed function of the row: on
real sets a row is predicted by the one of three models that was not fitted to it, on simulated sets by a
model that was fitted to other draws.

A search looks at one family of models behind one preparation of the columns, and at eight settings: four
of the model's own parameter, and half or all of the columns. *Permuted labels* are permuted before anything
is fitted, and again in every conversation, so that no candidate knows anything.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, make_classification
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import SelectPercentile, f_regression
from sklearn.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

__all__ = ["FAMILIES", "PREPARATIONS", "SETS", "Candidates", "Rows", "fitted", "rows_of"]

FAMILIES, PREPARATIONS, SETTINGS, FOLDS, SEED = 8, 3, 8, 3, 21
SHARES = (50, 100)  # percent of the columns
LEVELS = 1000  # of scores, so that an AUC is a matter of counting
WORST_ERROR = 150.0  # to which absolute errors are clipped

Numbers = NDArray[Any]


class Rows(NamedTuple):
    """A population, and other draws (X, y) to fit to, if there are any."""

    X: Numbers
    y: Numbers
    other: tuple[Numbers, Numbers] | None = None


@dataclass(frozen=True)
class Set:
    """A set of data, and how it is used.

    Parameters
    ----------
    load : callable
        Returns its `Rows`; raises ImportError where a package is missing.
    n : int
        Rows of the holdout; guesses come from three times as many.
    metric : {"accuracy", "roc_auc", "neg_mean_absolute_error"}
    """

    load: Callable[[], Rows]
    n: int
    metric: str = "accuracy"


@dataclass(frozen=True)
class Candidates:
    """What all candidates say of all rows, and their scores.

    Parameters
    ----------
    said : ndarray of shape (candidates, N)
        Labels, numbers, or scores in `LEVELS` levels.
    metric : str
    """

    said: Numbers
    metric: str

    def scores(self, which: Any, rows: Any, y: Numbers) -> NDArray[np.float64]:
        """Return the scores of some candidates on some rows, of which y are the labels."""
        said = self.said[np.ix_(which, rows)] if isinstance(rows, np.ndarray) else self.said[which]
        if self.metric == "accuracy":
            return np.mean(said == y, axis=1)
        if self.metric == "neg_mean_absolute_error":
            return -np.mean(np.minimum(np.abs(said - y), WORST_ERROR), axis=1)
        return np.array([_auc(row, y) for row in said])

    def at_class_mix(self, which: int, y: Numbers, held: Numbers) -> float:
        """Return the population accuracy of a candidate at the class mix of the labels ``held``."""
        right = self.said[which] == y
        mix = zip(*np.unique(held, return_counts=True), strict=True)
        return float(sum(count / len(held) * right[y == label].mean() for label, count in mix))


def _auc(levels: Numbers, y: Numbers) -> float:
    """Return the AUC of scores in levels, ties counting one half."""
    positive = np.bincount(levels[y == 1], minlength=LEVELS)
    negative = np.bincount(levels[y == 0], minlength=LEVELS)
    below = np.cumsum(negative) - negative
    return float(positive @ (below + negative / 2.0) / (positive.sum() * negative.sum()))


def _simulated(rows: int, fitted_to: int, positives: float) -> Rows:
    """Return a population, and other draws of the same law."""
    X, y = make_classification(
        rows + fitted_to, 20, n_informative=8, n_redundant=4, weights=[1.0 - positives],
        flip_y=0.2 if positives == 0.5 else 0.002, class_sep=0.8, random_state=SEED,
    )  # fmt: skip
    return Rows(X[fitted_to:], y[fitted_to:], (X[:fitted_to], y[:fitted_to]))


def _fair() -> Rows:
    """Return who had an affair (Fair, 1978), as statsmodels ships it."""
    from statsmodels.datasets import fair

    data = fair.load_pandas().data
    return Rows(data.drop(columns="affairs").to_numpy(), (data["affairs"] > 0).to_numpy(np.int64))


SETS: dict[str, Set] = {
    "digits": Set(lambda: Rows(*load_digits(return_X_y=True)), 449),
    "breast cancer": Set(lambda: Rows(*load_breast_cancer(return_X_y=True)), 142),
    "diabetes": Set(lambda: Rows(*load_diabetes(return_X_y=True)), 110, "neg_mean_absolute_error"),
    "fair": Set(_fair, 1592),
    "100,000 rows": Set(partial(_simulated, 100_000, 3_000, 0.5), 25_000),
    "1 % positives": Set(partial(_simulated, 40_000, 10_000, 0.01), 10_000, "roc_auc"),
}
"""A quarter of the rows of each is the size of its holdout."""


def rows_of(name: str) -> Rows:
    """Return the rows of a set, with 64-bit columns."""
    return SETS[name].load()


def _classifiers(large: bool) -> list[tuple[Any, str, list[Any]]]:
    """Return the families with four values of one parameter each; large sets have no slow ones."""
    slow = [(KNeighborsClassifier(), "n_neighbors", [1, 5, 15, 40]), (SVC(), "C", [0.1, 1.0, 10.0, 100.0])]
    fast = [
        (RidgeClassifier(), "alpha", [0.1, 10.0, 1e3, 1e5]),
        (SGDClassifier(loss="log_loss", random_state=0), "alpha", [1e-5, 1e-4, 1e-3, 1e-2]),
    ]
    return [
        (GaussianNB(), "var_smoothing", [1e-9, 1e-4, 1e-2, 0.1]),
        (DecisionTreeClassifier(random_state=0), "max_depth", [3, 5, 8, 12]),
        (LinearDiscriminantAnalysis(solver="lsqr"), "shrinkage", [0.001, 0.1, 0.5, 0.9]),
        (LogisticRegression(max_iter=200, tol=1e-3), "C", [0.01, 0.1, 1.0, 10.0]),
        (RandomForestClassifier(15, random_state=0), "max_depth", [4, 6, 10, None]),
        (ExtraTreesClassifier(15, random_state=0), "max_depth", [4, 6, 10, None]),
        *(fast if large else slow),
    ]


def _regressors() -> list[tuple[Any, str, list[Any]]]:
    return [
        (DecisionTreeRegressor(random_state=0), "max_depth", [2, 3, 5, 8]),
        (KNeighborsRegressor(), "n_neighbors", [3, 10, 20, 40]),
        (Ridge(), "alpha", [0.1, 10.0, 100.0, 1000.0]),
        (Lasso(), "alpha", [0.1, 1.0, 5.0, 20.0]),
        (ElasticNet(), "alpha", [0.01, 0.1, 1.0, 5.0]),
        (HuberRegressor(max_iter=300), "alpha", [1e-4, 1.0, 10.0, 100.0]),
        (SVR(), "C", [1.0, 10.0, 100.0, 1000.0]),
        (RandomForestRegressor(15, random_state=0), "max_depth", [2, 4, 8, None]),
    ]


def _models(metric: str, large: bool) -> list[Any]:
    """Return all candidates: by family, then preparation, then setting."""
    if metric == "neg_mean_absolute_error":
        families, chooser = _regressors(), partial(SelectPercentile, f_regression)
    else:
        families, chooser = _classifiers(large), SelectPercentile
    quantiles = QuantileTransformer(n_quantiles=50, random_state=0)
    preparations = ("passthrough", quantiles, PCA(0.95, whiten=True))
    assert (len(families), len(preparations)) == (FAMILIES, PREPARATIONS)
    return [
        clone(
            make_pipeline(
                StandardScaler(),
                prepared,
                chooser(percentile=share),
                clone(model).set_params(**{parameter: value}),
            )
        )
        for model, parameter, values in families
        for prepared in preparations
        for value in values
        for share in SHARES
    ]


def fitted(name: str, permuted: bool) -> tuple[Rows, Candidates]:
    """Return the rows of a set, and what all candidates say of them."""
    rows, metric = rows_of(name), SETS[name].metric
    if permuted:
        rng = np.random.default_rng([SEED, 1])
        other = None if rows.other is None else (rows.other[0], rng.permutation(rows.other[1]))
        rows = rows._replace(y=rng.permutation(rows.y), other=other)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of features without variance, and of steps that were not enough
        said = [_said(model, rows, metric) for model in _models(metric, large=rows.other is not None)]
    return rows, Candidates(np.array(said), metric)


def _said(model: Any, rows: Rows, metric: str) -> Numbers:
    """Return what a candidate says of every row, which it was not fitted to."""
    assert is_regressor(model) or is_classifier(model)
    if rows.other is not None:
        told = _outputs(model.fit(*rows.other), rows.X, metric)
    else:
        folds = KFold if is_regressor(model) else StratifiedKFold
        told = np.empty(len(rows.y))
        for train, test in folds(FOLDS, shuffle=True, random_state=SEED).split(rows.X, rows.y):
            told[test] = _outputs(model.fit(rows.X[train], rows.y[train]), rows.X[test], metric)
    if metric == "accuracy":
        return told.astype(np.int8)
    if metric == "neg_mean_absolute_error":
        return told.astype(np.float32)
    ranks = np.unique(told, return_inverse=True)[1]
    return (ranks * LEVELS // (ranks.max() + 1)).astype(np.int16)


def _outputs(model: Any, X: Numbers, metric: str) -> Numbers:
    if metric != "roc_auc":
        return model.predict(X)
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return model.predict_proba(X)[:, 1]
