"""What a function of the search reads of its module is looked at: it may be rows of the holdout."""

import time
import types
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import Holdout, ReusableHoldoutCV
from sklearn_ada.exceptions import HoldoutLeakError

N, TRAIN = 300, 200
RNG = np.random.default_rng(0)
X_ALL = RNG.normal(size=(N, 4))
Y = RNG.integers(0, 2, N)
X_HELD, X_TRAIN, X_NEW = X_ALL[TRAIN:].copy(), X_ALL[:TRAIN].copy(), RNG.normal(size=(90, 4))
X_RAW = 3.0 * X_ALL + 1.0
FRAME = pd.DataFrame(X_ALL, columns=list("abcd"))
DATA = {"held": X_HELD, "all": X_ALL}
OTHERS = types.ModuleType("others_of_ours")
OTHERS.X_HELD = X_HELD
SPARSE = sparse.csr_matrix(X_HELD)
CODES = pd.DataFrame({"a": RNG.normal(size=90), "b": 1.0})


def by_held(X):
    return X - X_HELD.mean(axis=0)


def nested(X):
    return [(lambda row: row - X_HELD[0])(row) for row in X]


def by_another(X):
    return by_held(X)


def by_dict(X):
    return X - DATA["held"].mean()


def by_module(X):
    return X - OTHERS.X_HELD.mean()


def by_sparse(X):
    return X - SPARSE.mean(axis=0).A1


class Elsewhere:
    """Stands for a table in a file, which is read when it is made an array."""

    shape, ndim, dtype = X_HELD.shape, 2, X_HELD.dtype

    def __array__(self, *args, **kwargs):
        raise AssertionError("it was read")


FILE = Elsewhere()


def by_file(X):
    return X[: len(FILE.shape) * len(X)] + 0 * (FILE is None)


def by_all(X):
    return X - X_ALL.mean(axis=0)


def by_raw(X):
    return X - X_RAW.mean(axis=0)


def by_frame(X):
    return X - FRAME.to_numpy().mean(axis=0)


def by_training_rows(X):
    return X - X_TRAIN.mean(axis=0)


def by_new_rows(X):
    return X - X_NEW.mean(axis=0)


def by_names(X):
    return X[:, : len(FRAME.columns)] + 0 * (X_ALL.shape[1] + len(X_ALL) + FRAME.shape[0])


def by_codes(X):
    return X + CODES["b"].iloc[0]


class Reader(TransformerMixin, BaseEstimator):
    """Reads the rows in a method."""

    def fit(self, X, y=None):
        self.centre_ = X_HELD.mean(axis=0)
        return self

    def transform(self, X):
        return X - self.centre_


class OfProperty(TransformerMixin, BaseEstimator):
    """Reads the table of all rows in a property."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X - self.centre_

    @property
    def centre_(self):
        return X_ALL.mean(axis=0)


def fitted(step, X=X_ALL):
    """Fit a search with a function or a transformer as its first step; return its warnings of tables."""
    first = FunctionTransformer(step) if callable(step) and not isinstance(step, type) else step()
    search = GridSearchCV(make_pipeline(first, DecisionTreeClassifier(max_depth=2)), {}, cv=2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ReusableHoldoutCV(search, holdout=np.arange(N) >= TRAIN, ledger=":memory:").fit(X, Y)
    return [str(each.message) for each in caught if "reads a table" in str(each.message)]


@pytest.mark.parametrize("step", [by_held, nested, by_another, by_dict, by_module, by_sparse, Reader])
def test_rows_of_the_holdout_alone_are_refused(step):
    with pytest.raises(HoldoutLeakError, match=r"__globals__\.(X_HELD|OTHERS.X_HELD|DATA\['held'\]|SPARSE)"):
        fitted(step)


def test_rows_of_a_holdout_that_was_made_before_are_refused_at_a_price():
    holdout = Holdout(X_HELD.copy(), Y[TRAIN:], ledger=":memory:")
    search = GridSearchCV(make_pipeline(FunctionTransformer(by_held), DecisionTreeClassifier()), {}, cv=2)
    with pytest.raises(HoldoutLeakError, match=r"__globals__\.X_HELD"):
        ReusableHoldoutCV(search, holdout=holdout).fit(X_TRAIN, Y[:TRAIN])
    assert holdout.report().nats == pytest.approx(13.8, abs=0.1)


@pytest.mark.parametrize("step", [by_all, by_raw, by_frame, OfProperty])
def test_a_table_of_all_rows_is_warned_of(step):
    (text,) = fitted(step)
    assert any(name in text for name in ("X_ALL", "X_RAW", "FRAME"))
    assert not any(value in text for value in map(str, X_ALL.ravel()[:50]))


def test_a_frame_with_the_columns_of_x_among_others_is_warned_of(monkeypatch):
    monkeypatch.setitem(globals(), "FRAME", FRAME.assign(target=Y))
    assert len(fitted(lambda X: X - FRAME["a"].mean(), FRAME.drop(columns="target"))) == 1


@pytest.mark.parametrize("step", [by_training_rows, by_new_rows, by_names, by_codes, by_file, np.abs])
def test_other_rows_names_and_sizes_pass(step):
    assert fitted(step) == []


def test_a_notebook_full_of_frames_is_walked_through_in_no_time(monkeypatch):
    frames = {f"frame_{k}": pd.DataFrame(RNG.normal(size=(5000, 4))) for k in range(200)}
    for name, frame in frames.items():
        monkeypatch.setitem(globals(), name, frame)
    fitted(by_codes)
    from sklearn_ada.model_selection.fit_parameters import OWNER, tables_in, tables_read_by

    models = make_pipeline(FunctionTransformer(by_codes), Reader(), DecisionTreeClassifier())
    begun = time.perf_counter()
    found = list(tables_in(models, "search", OWNER, (), tables_read_by))
    assert time.perf_counter() - begun < 0.05
    assert any(table is X_HELD for _, table in found)
