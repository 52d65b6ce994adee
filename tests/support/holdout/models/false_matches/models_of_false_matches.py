"""Models whose accuracy depends on something that a digest may not see, and the table of such cases.

Every model says what the sign of the first feature is, times a sign that comes from somewhere. A case is a
generator of (model, its sign): what makes the second model another one happens between the two.
"""

import ast
import contextlib
import importlib
import sys

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

__all__ = [
    "BOTH", "CASES", "Signed", "X", "Y", "after", "by", "case", "changed", "having", "imported_from",
    "model_of", "saying",
]  # fmt: skip

SIGNS = np.random.default_rng(1).choice([-1, 1], (200, 2))
X = np.random.default_rng(0).integers(1, 4, size=(200, 2)) * SIGNS
Y = (X[:, 0] > 0).astype(int)
Y[::10] = 1 - Y[::10]  # accuracies of .9 and .1
CASES = {}
BOTH = (1, -1)
MODULES = {"metadata": "importlib.metadata", "np": "numpy", "pd": "pandas", "special": "scipy.special"}
MODULES |= {name: name for name in ("ctypes", "decimal", "gc", "importlib", "joblib", "locale", "logging")}
MODULES |= {name: name for name in ("os", "pickle", "sklearn", "sqlite3", "subprocess", "sys", "time")}


class Signed(ClassifierMixin, BaseEstimator):
    """Labels by the first feature times ``sign()``."""

    def fit(self, X=None, y=None):
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return (np.asarray(X)[:, 0] * self.sign() > 0).astype(int)


def case(function):
    """Put a case into the table under the name of its function."""
    CASES[function.__name__.replace("_", " ")] = function
    return function


def model_of(body, **names):
    """Return a fitted model of a class that is written in a notebook with these names."""
    notebook = {"__name__": "__main__", "Signed": Signed, **names}
    exec("class Model(Signed):\n" + "".join(f"    {line}\n" for line in body.split("\n")), notebook)
    return notebook["Model"]().fit()


def saying(expression, **names):
    """Return a fitted model whose sign is an expression of a notebook's names."""
    return model_of(f"def sign(self): return {expression}", **names)


def after(expression, change):
    """Return a case of two models, made alike, whose sign is an expression, after ``change(sign, ...)``.

    The notebook has imported the modules that the expression names.

    A change gets the folder of the test, which "FOLDER" stands for in the expression, and its monkeypatch.
    """

    used = {node.id for node in ast.walk(ast.parse(expression)) if isinstance(node, ast.Name)}
    imported = {name: importlib.import_module(MODULES[name]) for name in used & set(MODULES)}

    def models(folder, monkeypatch):
        for sign in BOTH:
            change(sign, folder, monkeypatch)
            yield saying(expression.replace("FOLDER", str(folder)), **imported), sign

    return models


def by(make):
    """Return a case of the models that a function makes of each sign."""
    return lambda folder, monkeypatch: ((make(sign), sign) for sign in BOTH)


def having(expression, **attributes):
    """Return a case of models with attributes, each made of the sign, which the sign is an expression of."""

    def make(sign):
        model = saying(expression)
        for name, made in attributes.items():
            setattr(model, name, made(sign))
        return model

    return by(make)


def changed(make, change):
    """Return a case of one model, which is changed in place."""

    def models(folder, monkeypatch):
        model = make()
        for sign in BOTH:
            change(model, sign)
            yield model, sign

    return models


@contextlib.contextmanager
def imported_from(folder, name, text):
    """A module of the text, imported anew from a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.py").write_text(text)
    importlib.invalidate_caches()
    sys.path.insert(0, str(folder))
    try:
        sys.modules.pop(name, None)
        sys.dont_write_bytecode, before = True, sys.dont_write_bytecode  # two writes within one second
        yield importlib.import_module(name)
    finally:
        sys.dont_write_bytecode = before
        sys.path.remove(str(folder))
        sys.modules.pop(name, None)
