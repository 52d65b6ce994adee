"""`ReusableHoldoutCV(ids=)`: no model sees the ids, and no row of the holdout is ever trained on."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from joblib.externals.loky import get_reusable_executor
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate

from sklearn_ada import Holdout, LedgerMismatchError, ReusableHoldoutCV
from sklearn_ada._callers import is_called_by

N = 300


class Remembers(ClassifierMixin, BaseEstimator):
    """Keeps what it was fitted on."""

    seen = []  # noqa: RUF012

    def __init__(self, C=1.0):
        self.C = C

    def fit(self, X, y):
        self.columns_ = list(X.columns) if hasattr(X, "columns") else None
        self.classes_ = np.unique(y)
        self.seen.append(np.asarray(X, dtype=float))
        return self

    def predict(self, X):
        assert self.columns_ is None or list(X.columns) == self.columns_
        return (np.asarray(X)[:, 0] > 0).astype(int)

    def predict_proba(self, X):
        return np.eye(2)[self.predict(X)]


@pytest.fixture
def table():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(N, 3)), columns=["a", "b", "c"])
    frame.insert(1, "row", np.arange(N) + 500)
    return frame, pd.Series((frame["a"] + rng.normal(size=N) > 0).astype(int))


@pytest.fixture(autouse=True)
def _forgotten():
    Remembers.seen.clear()


def search(path, model=None, **parameters):
    inner = GridSearchCV(Remembers() if model is None else model, {"C": [0.1, 1.0]}, cv=3)
    return ReusableHoldoutCV(inner, **{"ask": "winner", "ledger": path, **parameters})


def held_out(fitted):
    """Return the first column of the holdout's rows, which tells the rows."""
    return set(np.asarray(fitted.holdout_._session.data.X)[:, 0].tolist())


@pytest.mark.parametrize("ask", ["winner", "candidates"])
def test_a_column_of_ids_is_seen_by_no_model(ask, table, tmp_path):
    X, y = table
    parameters = {"ask": ask}
    inner = GridSearchCV(Remembers(), {"C": [0.1, 1.0]})
    fitted = ReusableHoldoutCV(inner, ids="row", ledger=tmp_path / "l.db", **parameters).fit(X, y)
    assert {part.shape[1] for part in Remembers.seen} == {3}
    plain = X.drop(columns="row")
    for rows in (X, plain):
        assert (fitted.predict(rows) == (X["a"] > 0)).all()
        assert fitted.predict_proba(rows).shape == (N, 2)
        assert fitted.score(rows, y) == pytest.approx(np.mean((X["a"] > 0) == y))
    assert "row" in X


def test_attributes_are_those_of_the_columns_that_models_see(table, tmp_path):
    X, y = table
    fitted = search(tmp_path / "l.db", LogisticRegression(), ids="row").fit(X, y)
    assert (fitted.n_features_in_, fitted.feature_names_in_.tolist()) == (3, ["a", "b", "c"])


def given(kind, X):
    """Return parameter, X and keywords of fit by which the ids are given."""
    if kind == "column":
        return "row", X, {}
    plain = X.drop(columns="row")
    if kind == "index":
        return "index", plain.set_axis(X["row"].to_numpy()), {}
    return None, plain, {"ids": X["row"].tolist()}


def test_ids_of_a_column_the_index_or_by_themselves_choose_the_same_rows(table, tmp_path):
    X, y = table
    held = []
    for kind in ("column", "index", "array"):
        named, rows, params = given(kind, X)
        fitted = search(tmp_path / "l.db", ids=named).fit(rows, y.set_axis(rows.index), **params)
        held.append(held_out(fitted))
    assert held[0] == held[1] == held[2]
    assert len(held[0]) == pytest.approx(N / 4, abs=5 * np.sqrt(N * 3 / 16))


@pytest.mark.parametrize("groups", [False, True])
def test_no_row_of_the_holdout_is_ever_trained_on(groups, table, tmp_path):
    X, y = table
    params = {"groups": (X["row"] // 3).to_numpy()} if groups else {}
    first = search(tmp_path / "l.db", ids="row").fit(X, y, **params)
    held = held_out(first)
    rng = np.random.default_rng(0)
    for _ in range(3):
        order = rng.permutation(N)
        moved = {k: v[order] for k, v in params.items()}
        again = search(tmp_path / "l.db", ids="row").fit(X.iloc[order], y.iloc[order], **moved)
        assert held_out(again) == held
    if not groups:
        more = pd.concat([X, X.assign(row=X["row"] + N, a=X["a"] + 0.5)])
        larger = search(tmp_path / "l.db", ids="row").fit(more, np.r_[y, y])
        assert held < held_out(larger)
        held = held_out(larger)
    assert not any(held & set(part[:, 0].tolist()) for part in Remembers.seen)


def test_another_random_state_is_another_split_and_gets_no_fresh_budget(table, tmp_path):
    X, y = table
    for path in (tmp_path / "l.db", None, ":memory:"):
        search(path, ids="row").fit(X, y)
        for other in ({"random_state": 1}, {"holdout": 0.3}):
            with pytest.raises(LedgerMismatchError, match="split"):
                search(path, ids="row", **other).fit(X, y)
    with pytest.raises(LedgerMismatchError):  # nor do all of the rows as a holdout
        Holdout(X[["a"]], y, ids=X["row"])


def test_random_state_moves_the_split(table, tmp_path):
    X, y = table
    held = [held_out(search(tmp_path / f"{s}.db", ids="row", random_state=s).fit(X, y)) for s in (0, 1)]
    assert held[0] != held[1]


def test_a_mask_says_itself_which_rows_and_these_are_known_by_ids(table, tmp_path):
    X, y = table
    mask = np.arange(N) % 4 == 0
    first = search(tmp_path / "l.db", ids="row", holdout=mask).fit(X, y)
    order = np.random.default_rng(0).permutation(N)
    again = search(tmp_path / "l.db", ids="row", holdout=mask[order]).fit(X.iloc[order], y.iloc[order])
    assert again.holdout_.fingerprint == first.holdout_.fingerprint
    with pytest.raises(LedgerMismatchError, match="are missing"):
        search(tmp_path / "l.db", ids="row", holdout=~mask).fit(X, y)


def test_missing_rows_are_refused_before_any_fit_and_may_be_ignored(table, tmp_path):
    X, y = table
    search(tmp_path / "l.db", ids="row").fit(X, y)
    Remembers.seen.clear()
    with pytest.raises(LedgerMismatchError, match="missing='ignore'"):
        search(tmp_path / "l.db", ids="row").fit(X[50:], y[50:])
    assert not Remembers.seen
    fitted = search(tmp_path / "l.db", ids="row", missing="ignore").fit(X[50:], y[50:])
    assert any("were left out" in text for text in fitted.best_answer_.certificate.assumptions)


def test_outer_folds_have_ledgers_of_their_own_without_a_warning(table):
    X, y = table
    search(None, ids="row").fit(X, y)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*second budget")
        told = cross_validate(search(None, ids="row"), X, y, cv=3, return_estimator=True, error_score="raise")
        ledgers = [each.holdout_.ledger.path for each in told["estimator"]]
        get_reusable_executor().shutdown(wait=True)  # workers of earlier tests belong to other sessions
        again = cross_validate(search(None, ids="row"), X, y, cv=3, return_estimator=True, n_jobs=2)
    assert len(set(ledgers)) == 3
    assert [each.holdout_.fingerprint for each in again["estimator"]] == [
        each.holdout_.fingerprint for each in told["estimator"]
    ]
    assert search(None, ids="row").fit(X, y).holdout_.ledger.path not in ledgers


def test_outer_folds_on_a_path_are_refused_with_the_reason(table, tmp_path):
    X, y = table
    for missing in ("raise", "ignore"):
        one = search(tmp_path / f"{missing}.db", ids="row", missing=missing)
        with pytest.raises(LedgerMismatchError, match="An outer fold is other rows: ledger=None gives each"):
            cross_validate(one, X, y, cv=3, error_score="raise")


def test_ids_are_sliced_along_with_and_without_metadata_routing(table):
    X, y = table
    ids = X.pop("row").to_numpy()
    plain = cross_validate(search(None), X, y, cv=3, params={"ids": ids}, return_estimator=True)
    with sklearn.config_context(enable_metadata_routing=True):
        wrapped = search(None).set_fit_request(ids=True)
        routed = cross_validate(wrapped, X, y, cv=3, params={"ids": ids}, return_estimator=True)
    for one, other in zip(plain["estimator"], routed["estimator"], strict=True):
        assert one.holdout_.fingerprint == other.holdout_.fingerprint
        assert one.holdout_._session.data.ids is not None


def test_bad_ids_are_refused_before_anything_is_made(table, tmp_path, sentence):
    X, y = table
    ids = X["row"].to_numpy()
    bad = [
        ({"ids": "nobody"}, X, {}),
        ({"ids": 5}, X, {}),
        ({"ids": "index"}, X.to_numpy(), {}),
        ({"ids": "index"}, X.rename(columns={"b": "index"}), {}),
        ({"ids": "row"}, X, {"ids": ids}),
        ({}, X, {"ids": ids[:-1]}),
        ({}, X, {"ids": np.where(ids == 510, np.nan, ids)}),
        ({"holdout": np.arange(N) < 90}, X, {"ids": ids // 7}),
    ]
    for parameters, rows, params in bad:
        with pytest.raises(ValueError, match=sentence("ids")):
            search(tmp_path / "l.db", **parameters).fit(rows, y, **params)
    with pytest.raises(ValueError, match=sentence("missing")):
        search(tmp_path / "l.db", ids="row", missing="drop").fit(X, y)
    with pytest.raises(ValueError, match=sentence("holdout")):
        search(tmp_path / "l.db", ids="row", holdout=1e-9).fit(X, y)
    assert not list(tmp_path.iterdir())
    assert not Remembers.seen


def test_a_holdout_that_is_given_still_loses_the_column(table, tmp_path):
    X, y = table
    plain = X.drop(columns="row")
    holdout = Holdout(plain[200:], y[200:], ids=X["row"][200:], ledger=tmp_path / "l.db")
    fitted = search(None, ids="row", holdout=holdout).fit(X[:200], y[:200])
    assert fitted.best_estimator_.columns_ == ["a", "b", "c"]


def test_callers_are_known_by_the_name_of_their_module():
    assert is_called_by("pytest") or is_called_by("_pytest")
    assert not is_called_by("sklearn.model_selection")
