"""Searches of nine families of models, and eleven more, as somebody would run them one after the other."""

from __future__ import annotations

from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

__all__ = ["FAMILIES", "TWENTY"]

_FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)


def _scaled(model, **grid):
    """Return a search of a model behind a scaler; ``grid`` names the model's own parameters."""
    name = type(model).__name__.lower()
    pipe = make_pipeline(StandardScaler(), model)
    return GridSearchCV(pipe, {f"{name}__{key}": values for key, values in grid.items()}, cv=_FOLDS)


FAMILIES = (
    _scaled(GaussianNB(), var_smoothing=[1e-9, 1e-4, 1e-2]),
    GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [4, 8, 12]}, cv=_FOLDS),
    _scaled(KNeighborsClassifier(), n_neighbors=[1, 5, 15]),
    _scaled(LinearDiscriminantAnalysis(solver="lsqr"), shrinkage=[0.001, 0.1, 0.5]),
    _scaled(LogisticRegression(max_iter=2000), C=[0.01, 0.1, 1.0]),
    _scaled(SVC(), C=[0.3, 1.0, 10.0]),
    _scaled(SVC(kernel="poly"), C=[0.3, 1.0, 10.0]),
    GridSearchCV(RandomForestClassifier(60, random_state=0), {"max_features": [2, 4]}, cv=_FOLDS),
    GridSearchCV(ExtraTreesClassifier(60, random_state=0), {"max_features": [2, 4]}, cv=_FOLDS),
)
"""In the order in which they are searched."""

TWENTY = (
    *FAMILIES,
    _scaled(KNeighborsClassifier(weights="distance"), n_neighbors=[3, 9, 25]),
    GridSearchCV(DecisionTreeClassifier(random_state=1), {"min_samples_leaf": [1, 5, 20]}, cv=_FOLDS),
    _scaled(LogisticRegression(max_iter=2000, class_weight="balanced"), C=[0.03, 0.3, 3.0]),
    _scaled(SVC(gamma=0.02), C=[0.3, 1.0, 10.0]),
    GridSearchCV(RandomForestClassifier(60, random_state=1), {"min_samples_leaf": [1, 3]}, cv=_FOLDS),
    _scaled(LinearDiscriminantAnalysis(solver="lsqr"), shrinkage=[0.01, 0.2, 0.9]),
    _scaled(KNeighborsClassifier(p=1), n_neighbors=[1, 5, 15]),
    GridSearchCV(ExtraTreesClassifier(60, random_state=1), {"min_samples_leaf": [1, 3]}, cv=_FOLDS),
    _scaled(SVC(kernel="linear"), C=[0.01, 0.1]),
    _scaled(GaussianNB(), var_smoothing=[1e-6, 1e-3, 1e-1]),
    GridSearchCV(DecisionTreeClassifier(random_state=2), {"max_features": [0.3, 0.6, 1.0]}, cv=_FOLDS),
)
"""The same, and what comes to mind then."""
