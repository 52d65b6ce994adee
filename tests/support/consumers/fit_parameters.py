"""What happens to rows that reach a model otherwise than as X.

``python -m tests.support.consumers.fit_parameters`` writes the table of the documentation.
"""

import array
import csv
import tempfile
import warnings
from collections import deque
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import Bunch

from sklearn_ada import Holdout, ReusableHoldoutCV
from sklearn_ada.exceptions import HoldoutLeakError

TABLE = Path(__file__).parents[3] / "docs" / "fit_parameters.csv"
N, TRAIN = 300, 200
HOLDOUTS = ("taken out of X", "made before")
WORDS = {
    "passes", "cut along with X", "refused", "refused for nothing", "refused for 13.8 nats",
    "is not recognised", "passes with a warning",
}  # fmt: skip
UNSEEN = {
    "some rows, mixed by PCA, with y", "some rows, scaled", "one row of the holdout, as a vector",
    "numbers of rows", "a path to a file", "rows as bytes", "rows as formatted text",
    ("all labels but one", "made before"), ("a dict of labels, by number", "made before"),
    ("a frozen model, fitted on all rows", "made before"),
    ("a frozen model as a value of the grid", "made before"), ("all rows, scaled", "made before"),
    ("a method of a model fitted on all rows", "made before"),
    ("one row of the holdout", "made before"), ("all rows, mixed by PCA, with y", "made before"),
}  # fmt: skip
"""What has rows of the holdout and passes all the same."""


class Watcher(ClassifierMixin, BaseEstimator):
    """A model that is handed rows by many names, and counts how often it is fitted and what it gets."""

    got: list = []  # noqa: RUF012 - one list for all clones

    def __init__(self, depth=1, eval_set=None):
        self.depth, self.eval_set = depth, eval_set

    def fit(self, X, y, **beside):
        self.classes_, self.n_features_in_ = np.unique(y), np.shape(X)[1]
        type(self).got.append((len(X), beside))
        return self

    def predict(self, X):
        return np.resize(self.classes_, len(X))


@dataclass(slots=True)
class Rows:
    """Rows and labels in a class of somebody's own, and who looks at them."""

    data: object
    label: object = None


class DMatrix:
    """A data set that keeps its rows where Python does not see them, as XGBoost's does."""

    outside: dict = {}  # noqa: RUF012

    def __init__(self, rows):
        self.outside[id(self)] = sparse.csr_matrix(rows)

    def get_data(self):
        return self.outside[id(self)]


def data():
    """Return 300 rows of which the last 100 are the holdout's, their labels, and rows from elsewhere."""
    rng = np.random.default_rng(3)
    return rng.normal(size=(N, 4)), rng.integers(0, 2, N), rng.normal(size=(80, 4))


def few_kinds():
    """Return the same of few discrete values, where rows are equal by chance."""
    rng = np.random.default_rng(3)
    return rng.integers(0, 3, (N, 4)).astype(float), rng.integers(0, 2, N), rng.integers(0, 3, (80, 4)) * 1.0


NAMES = ["a", "b", "c", "d"]


def _frame(X):
    return pd.DataFrame(X, columns=NAMES)


def _closure(X):
    return lambda: X


def _scorer_with(X, y):
    return lambda model, *_: float((model.predict(X) == y).mean())


def _class_with(**attributes):
    return type("Settings", (), attributes)


def _fitted_on(X, y):
    return DecisionTreeClassifier().fit(X, y)


def _rows_and(X, y):
    return [np.append(row, label) for row, label in zip(X, y, strict=True)]


FORMS = {
    "weights, one for each row": lambda X, y, new: {"sample_weight": np.ones(len(X))},
    "X itself": lambda X, y, new: {"X_val": X.copy()},
    "X itself, in another order": lambda X, y, new: {"X_val": X[::-1].copy()},
    "a pair (X, y)": lambda X, y, new: {"validation_data": (X.copy(), y)},
    "a list of pairs, [(X, y)]": lambda X, y, new: {"eval_set": [(X.copy(), y)]},
    "[(rows for training), (all rows)]": lambda X, y, new: {
        "eval_set": [(X[:TRAIN].copy(), y[:TRAIN]), (X.copy(), y)]
    },
    "a dict of tables": lambda X, y, new: {"watched": {"late": {"X": X[100:].copy()}}},
    "a dict of columns": lambda X, y, new: {"watched": dict(zip(NAMES, X[100:].T.copy(), strict=True))},
    "a list of rows": lambda X, y, new: {"watched": X[100:].tolist()},
    "an array of objects": lambda X, y, new: {"watched": X[100:].astype(object)},
    "a series of lists": lambda X, y, new: {"watched": pd.Series(X[100:].tolist())},
    "a list of dicts": lambda X, y, new: {"watched": _frame(X[100:]).to_dict("records")},
    "a frame": lambda X, y, new: {"watched": _frame(X[100:])},
    "a sparse matrix": lambda X, y, new: {"watched": sparse.csr_matrix(X[100:])},
    "batches of 32 rows": lambda X, y, new: {"watched": [X[i : i + 32].copy() for i in range(100, N, 32)]},
    "batches of one row": lambda X, y, new: {"watched": [X[i : i + 1].copy() for i in range(100, N)]},
    "a list of a pair for each row": lambda X, y, new: {
        "watched": list(zip(X[100:].copy(), y[100:], strict=True))
    },
    "a list of a dict for each row": lambda X, y, new: {
        "watched": [{"x": row.copy(), "y": 1} for row in X[100:]]
    },
    "a list of an object for each row": lambda X, y, new: {
        "watched": [Rows(row.copy(), 1) for row in X[100:]]
    },
    "a dict of rows, by number": lambda X, y, new: {"watched": dict(enumerate(X[100:].copy()))},
    "a dict of rows with labels, by name": lambda X, y, new: {
        "watched": {f"row {i}": row for i, row in enumerate(_rows_and(X[100:], y[100:]))}
    },
    "a dict of labels, by row": lambda X, y, new: {
        "watched": dict(zip(map(tuple, X[100:].tolist()), y[100:].tolist(), strict=True))
    },
    "a deque of rows with labels": lambda X, y, new: {"watched": deque(_rows_and(X[100:], y[100:]))},
    "a set of rows": lambda X, y, new: {"watched": set(map(tuple, X[100:].tolist()))},
    "rows below many lists of words": lambda X, y, new: {
        "watched": [[["a"] * (1 + i % 3) for i in range(20_000)], X[100:].copy()]
    },
    "all labels but one": lambda X, y, new: {"watched": y[:-1].copy()},
    "a dict of labels, by number": lambda X, y, new: {"watched": dict(enumerate(y.tolist()))},
    "rows laid out flat": lambda X, y, new: {"watched": X[100:].ravel()},
    "columns laid out flat": lambda X, y, new: {"watched": X[100:].ravel(order="F")},
    "rows and columns exchanged": lambda X, y, new: {"watched": X[100:].T.copy()},
    "an array of the standard library": lambda X, y, new: {
        "watched": array.array("d", X[100:].ravel().tolist())
    },
    "a memoryview": lambda X, y, new: {"watched": memoryview(X[100:].copy())},
    "one column": lambda X, y, new: {"watched": X[120:, 1].copy()},
    "an object whose class holds rows": lambda X, y, new: {"watched": _class_with(a=(X[100:].copy(), 1))()},
    "a class that holds rows": lambda X, y, new: {"watched": _class_with(data=X[100:].copy())},
    "an attribute of the model's class": lambda X, y, new: {
        "model": type("Model", (Watcher,), {"held": (X[100:].copy(), y[100:])})()
    },
    "a scorer that closes over rows": lambda X, y, new: {
        "search": {"scoring": _scorer_with(X[100:].copy(), y[100:])}
    },
    "one of several scorers": lambda X, y, new: {
        "search": {"scoring": {"a": "accuracy", "b": _scorer_with(X[100:].copy(), 1)}, "refit": "a"}
    },
    "a function that chooses the winner": lambda X, y, new: {
        "search": {"refit": partial(_scorer_with, X[100:].copy())}
    },
    "a frozen model, fitted on all rows": lambda X, y, new: {
        "model": Watcher(eval_set=FrozenEstimator(_fitted_on(X, y)))
    },
    "a frozen model as a value of the grid": lambda X, y, new: {
        "grid": {"eval_set": [None, FrozenEstimator(_fitted_on(X, y))]}
    },
    "a method of a model fitted on all rows": lambda X, y, new: {
        "model": make_pipeline(FunctionTransformer(_fitted_on(X, y).predict_proba), Watcher())
    },
    "a fitted model, fitted anew": lambda X, y, new: {"grid": {"eval_set": [_fitted_on(X, y)]}},
    "a Bunch": lambda X, y, new: {"watched": Bunch(data=X[100:].copy(), target=y[100:])},
    "an object that holds rows": lambda X, y, new: {"watched": [Rows(X[100:].copy(), y[100:])]},
    "a data set of a booster": lambda X, y, new: {"watched": [(DMatrix(X[100:]), "late")]},
    "a callback that holds rows": lambda X, y, new: {"callbacks": [partial(max, Rows(X[100:].copy()))]},
    "a function that closes over rows": lambda X, y, new: {"callbacks": [_closure(X[100:].copy())]},
    "a generator": lambda X, y, new: {"watched": (row for row in X)},
    "a parameter of the model": lambda X, y, new: {"model": Watcher(eval_set=[(X[100:].copy(), y[100:])])},
    "a parameter of a step of a pipeline": lambda X, y, new: {
        "model": make_pipeline(FunctionTransformer(kw_args={"like": X[100:].copy()}), Watcher())
    },
    "a value of the grid": lambda X, y, new: {"grid": {"eval_set": [None, (X[100:].copy(), y[100:])]}},
    "in single precision": lambda X, y, new: {"watched": X[100:].astype(np.float32)},
    "rounded to two decimals": lambda X, y, new: {"watched": X[100:].round(2)},
    "with columns in another order": lambda X, y, new: {"watched": X[100:, ::-1].copy()},
    "with some of the columns": lambda X, y, new: {"watched": X[100:, 1:3].copy()},
    "with more columns": lambda X, y, new: {"watched": np.c_[X[100:, 0] ** 2, X[100:]]},
    "a frame with some columns, and others": lambda X, y, new: {
        "watched": _frame(X[100:])[["d", "a"]].assign(e=1)
    },
    "all rows, scaled": lambda X, y, new: {"eval_set": [(StandardScaler().fit_transform(X), y)]},
    "all rows, mixed by PCA, with y": lambda X, y, new: {"eval_set": [(PCA(3).fit_transform(X), y)]},
    "some rows, mixed by PCA, with y": lambda X, y, new: {
        "eval_set": [(PCA(3).fit_transform(X)[100:], y[100:])]
    },
    "some rows, scaled": lambda X, y, new: {"watched": StandardScaler().fit_transform(X)[100:]},
    "one row of the holdout": lambda X, y, new: {"watched": [X[-1].tolist()]},
    "one row of the holdout, as a vector": lambda X, y, new: {"watched": X[-1].copy()},
    "rows as bytes": lambda X, y, new: {"watched": X[100:].tobytes()},
    "rows as formatted text": lambda X, y, new: {"watched": [[*map(str, row)] for row in X[100:].tolist()]},
    "numbers of rows": lambda X, y, new: {"watched": pd.Series(np.arange(TRAIN, N))},
    "a path to a file": lambda X, y, new: {"watched": "rows.csv"},
    "rows for training": lambda X, y, new: {"eval_set": [(X[150:TRAIN].copy(), y[150:TRAIN])]},
    "rows from elsewhere": lambda X, y, new: {"eval_set": [(new, np.arange(len(new)) % 2)]},
    "rows from elsewhere, equal by chance": lambda X, y, new: {
        "data": few_kinds, "eval_set": [(few_kinds()[2], None)]
    },
    "names of columns, numbers, nothing": lambda X, y, new: {"names": NAMES, "rate": 0.1, "nothing": None},
}  # fmt: skip


def fitted(form, holdout, ledger):
    """Fit a search with this parameter, and return it; its model has a list of what it got."""
    X, y, new = data()
    made = FORMS[form](X, y, new)
    X, y, new = made.pop("data", data)()
    model, grid = made.pop("model", Watcher()), made.pop("grid", {})
    Watcher.got.clear()
    search = GridSearchCV(model, grid, cv=2, **made.pop("search", {}))
    if holdout == "taken out of X":
        return ReusableHoldoutCV(search, holdout=np.arange(N) >= TRAIN, ledger=ledger).fit(X, y, **made)
    given = Holdout(X[TRAIN:], y[TRAIN:], ledger=ledger)
    if "sample_weight" in made:
        made["sample_weight"] = made["sample_weight"][:TRAIN]
    try:
        return ReusableHoldoutCV(search, holdout=given).fit(X[:TRAIN], y[:TRAIN], **made)
    except HoldoutLeakError as error:
        error.nats = given.report().nats
        raise


def outcome(form, holdout, folder):
    """Return in one of the words what happens, after checking that nothing was fitted where it is refused."""
    error = None
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fitted(form, holdout, f"{folder}/ledger.db")
    except (HoldoutLeakError, ValueError) as raised:
        error = raised
    if error is None:
        rows, beside = Watcher.got[-1]
        is_cut = any(isinstance(value, np.ndarray) and len(value) == rows for value in beside.values())
        if any("was fitted before" in str(each.message) for each in caught):
            return "passes with a warning"
        passes = "is not recognised" if form in UNSEEN or (form, holdout) in UNSEEN else "passes"
        return "cut along with X" if is_cut else passes
    assert not Watcher.got
    if not isinstance(error, HoldoutLeakError):
        assert "pass a list" in str(error)
        return "refused"
    is_paid = getattr(error, "nats", 0.0) > 1.0
    assert ("13.8 nats" in str(error)) == is_paid == ("Nothing was charged" not in str(error))
    return "refused for 13.8 nats" if is_paid else "refused for nothing"


if __name__ == "__main__":
    with TABLE.open("w") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["what is passed", *(f"a holdout {each}" for each in HOLDOUTS)])
        for form in FORMS:
            row = [form]
            for holdout in HOLDOUTS:
                with tempfile.TemporaryDirectory() as folder:
                    row.append(outcome(form, holdout, folder))
            writer.writerow(row)
