"""Whether a model has code of the user's own: of any part that pickle would name or could not store."""

import fnmatch
import functools
import threading

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from sklearn_ada.digest.code import has_own_code

X = np.random.default_rng(0).normal(size=(60, 2))
Y = (X[:, 0] > 0).astype(int)


class Own(LogisticRegression):
    """A subclass of the user's."""


def double(X):
    return 2 * X


@functools.lru_cache(None)
def cached(x):
    return 2 * x


LIBRARY = {
    "linear": LogisticRegression(),
    "forest": RandomForestClassifier(3),
    "pipeline": make_pipeline(StandardScaler(), FunctionTransformer(np.log1p), LogisticRegression()),
    "columns": ColumnTransformer([("scaled", StandardScaler(), [0])]),
    "search": GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2, scoring="accuracy"),
    "a partial": FunctionTransformer(functools.partial(np.clip, a_min=0.0, a_max=1.0)),
    "a library's cached function": FunctionTransformer(fnmatch._compile_pattern),
}
OWN = {
    "a subclass": Own(),
    "a function": FunctionTransformer(double),
    "a lambda": FunctionTransformer(lambda X: X),
    "within a partial": FunctionTransformer(functools.partial(double)),
    "a cached function": FunctionTransformer(cached),
    "a vectorised cached function": FunctionTransformer(np.vectorize(cached)),
    "deep in a pipeline": make_pipeline(StandardScaler(), make_pipeline(FunctionTransformer(double))),
    "what pickle cannot store": FunctionTransformer(np.log1p, kw_args={"lock": threading.Lock()}),
}


@pytest.mark.parametrize("name", LIBRARY)
def test_models_of_libraries_have_none_fitted_or_not(name):
    model = LIBRARY[name]
    assert not has_own_code(model)
    if name not in ("pipeline", "a partial"):
        assert not has_own_code(model.fit(X, Y))


@pytest.mark.parametrize("model", OWN.values(), ids=OWN)
def test_any_part_of_ones_own_is_found(model):
    assert has_own_code(model)
