"""`ReusableHoldoutCV(ids=)`: no model sees the ids, and no row of the holdout is ever trained on."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from joblib.externals.loky import get_reusable_executor
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, ShuffleSplit, TimeSeriesSplit, cross_validate

from sklearn_ada import Holdout, ReusableHoldoutCV, ThresholdoutScorer
from sklearn_ada.exceptions import HoldoutLeakError, LedgerMismatchError
from sklearn_ada.model_selection import setting_aside

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


@pytest.mark.parametrize("ledger", ["path", None], ids=str)
def test_rows_of_a_top_up_by_hand_stay_on_their_side(ledger, table, tmp_path):
    X, y = table
    ledger = tmp_path / "l.db" if ledger == "path" else None
    fitted = search(ledger, ids="row").fit(X[:200], y[:200])
    new = X[200:].drop(columns="row")
    fitted.holdout_.top_up(new, y[200:], ids=X["row"][200:])
    Remembers.seen.clear()
    again = search(ledger, ids="row").fit(X, y)
    assert again.holdout_.n_rows == fitted.holdout_.n_rows + 100
    trained = np.concatenate([part[:, 0] for part in Remembers.seen])
    assert not np.isin(new["a"], trained).any()


def test_a_mask_tells_nothing_of_the_labels_of_single_rows(table, tmp_path):
    X, y = table
    mask = np.arange(N) % 4 == 0
    search(tmp_path / "l.db", holdout=mask, ids="row").fit(X, y)
    train = np.flatnonzero(~mask)
    told = set()
    for label in (0, 1):
        rows = np.append(train, 0)
        guessed = np.append(y[train], label)
        with pytest.raises(LedgerMismatchError) as refused:
            search(tmp_path / "l.db", holdout=rows == 0, ids="row").fit(X.iloc[rows], guessed)
        told.add(str(refused.value))
    assert len(told) == 1


@pytest.mark.parametrize("kind", ["stored", "named"])
def test_an_index_that_counts_the_rows_is_no_index_of_ids(kind, table, tmp_path):
    X, y = table
    index = pd.Index(np.arange(N)) if kind == "stored" else pd.RangeIndex(N, name="number")
    with pytest.raises(ValueError, match="positions, not identities"):
        search(tmp_path / "l.db", ids="index").fit(X.set_index(index), np.asarray(y))


def test_two_masks_that_begin_a_ledger_at_once_do_not_train_on_each_others_holdout(
    table, tmp_path, monkeypatch
):
    X, y = table
    mask = np.arange(N) % 4 == 0
    search(tmp_path / "l.db", holdout=mask, ids="row").fit(X, y)
    Remembers.seen.clear()
    # The other process compared the rows before there was a ledger.
    monkeypatch.setattr(setting_aside, "check_unchanged", lambda *args, **kwargs: None)
    other = np.arange(N) % 4 == 1
    with pytest.raises((HoldoutLeakError, LedgerMismatchError)):
        search(tmp_path / "l.db", holdout=other, ids="row", missing="ignore").fit(X, y)
    assert Remembers.seen == []


def test_missing_rows_are_refused_before_any_fit_and_may_be_ignored(table, tmp_path):
    X, y = table
    search(tmp_path / "l.db", ids="row").fit(X, y)
    Remembers.seen.clear()
    with pytest.raises(LedgerMismatchError, match="missing='ignore'"):
        search(tmp_path / "l.db", ids="row").fit(X[50:], y[50:])
    assert not Remembers.seen
    fitted = search(tmp_path / "l.db", ids="row", missing="ignore").fit(X[50:], y[50:])
    assert any("were left out" in text for text in fitted.best_answer_.certificate.assumptions)


@pytest.mark.thorough
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
        ({"ids": "index"}, X, {}),
        ({"ids": "index"}, X.sample(frac=1.0).reset_index(drop=True), {}),
        ({"ids": "row"}, X.set_index("row"), {}),
        ({"ids": "row"}, X, {"ids": ids}),
        ({}, X, {"ids": set(ids.tolist())}),
        ({}, X, {"ids": dict.fromkeys(ids.tolist())}),
        ({"ids": "b"}, X.assign(b=np.float32(2**24) + X["row"].astype("float32")), {}),
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


def test_the_message_tells_of_positions_and_of_the_index_that_has_the_name(table):
    X, y = table
    with pytest.raises(ValueError, match="positions, not identities"):
        search(None, ids="index").fit(X, y)
    with pytest.raises(ValueError, match="the name of the index of X: use ids='index'"):
        search(None, ids="row").fit(X.set_index("row"), y)


def test_a_holdout_that_is_given_still_loses_the_column(table, tmp_path):
    X, y = table
    plain = X.drop(columns="row")
    holdout = Holdout(plain[200:], y[200:], ids=X["row"][200:], ledger=tmp_path / "l.db")
    fitted = search(None, ids="row", holdout=holdout).fit(X[:200], y[:200])
    assert fitted.best_estimator_.columns_ == ["a", "b", "c"]


@pytest.mark.parametrize("of_scorer", [False, True], ids=["holdout", "scorer"])
def test_training_rows_are_compared_with_a_given_holdout_by_ids(of_scorer, table, tmp_path, sentence):
    X, y = table
    ids, plain = X["row"].to_numpy(), X.drop(columns="row")
    holdout = Holdout(plain[200:], y[200:], ids=ids[200:], ledger=tmp_path / "l.db")
    bare = Holdout(plain[200:], y[200:], ledger=tmp_path / "bare.db")

    def fit(given, rows, ids):
        # Computed anew: no features are exact copies of the holdout's.
        noisy = plain.iloc[rows] + 1e-9 * np.random.default_rng(0).normal(size=(len(rows), 3))
        how = {"mechanism": ThresholdoutScorer("accuracy", given)} if of_scorer else {"holdout": given}
        return search(None, **how).fit(noisy, y.iloc[rows], ids=ids)

    recorded = [len(list(each.ledger.records())) for each in (holdout, bare)]
    with pytest.raises(HoldoutLeakError, match=r"^100 of the ids of the training rows"):
        fit(holdout, np.arange(N), ids)
    with pytest.raises(HoldoutLeakError, match=r"^1 of the ids"):
        fit(holdout, np.arange(200), [*ids[:199], ids[250]])
    with pytest.raises(ValueError, match=sentence("ids")):
        fit(holdout, np.arange(3), [1, 1, None])
    with pytest.raises(ValueError, match=sentence("ids")):
        fit(holdout, np.arange(200), ids[:199])
    with pytest.raises(ValueError, match="None where the rows of the given holdout have no ids"):
        fit(bare, np.arange(200), ids[:200])
    assert not Remembers.seen
    assert [len(list(each.ledger.records())) for each in (holdout, bare)] == recorded
    fit(holdout, np.r_[:200, :50], np.r_[ids[:200], ids[:50]])  # an id may occur more than once


def test_rows_that_were_once_the_holdouts_are_not_trained_on_either(table, tmp_path):
    X, y = table
    ids, plain = X["row"].to_numpy(), X.drop(columns="row")
    small = Holdout(plain[200:250], y[200:250], ids=ids[200:250], ledger=tmp_path / "l.db")
    small.top_up(plain[250:], y[250:], ids=ids[250:])
    with pytest.raises(HoldoutLeakError, match=r"^50 of the ids"):
        search(None, holdout=small).fit(plain[250:], y[250:], ids=ids[250:])


def test_a_fit_without_ids_on_a_holdout_with_ids_is_warned_of(table):
    X, y = table
    plain = X.drop(columns="row")
    holdout = Holdout(plain[200:], y[200:], ids=X["row"][200:])
    with pytest.warns(UserWarning, match="told by their features alone"):
        search(None, holdout=holdout).fit(plain[:200], y[:200])


HALVES = [ShuffleSplit(1, test_size=size, random_state=0) for size in (0.25, 0.5)]
FIRST = np.arange(N) < 75


NUMBERS = itertools.count(1)
CASES = {
    "another mask": (FIRST, FIRST[::-1], "75 of the 75 rows are missing, 75 rows are new"),
    "a larger mask": (FIRST, np.arange(N) < 90, "15 rows are new"),
    "a smaller mask": (FIRST, np.arange(N) < 60, "15 of the 75 rows are missing"),
    "another splitter": (*HALVES, "75 rows are new"),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("missing", ["raise", "ignore"])
@pytest.mark.parametrize("ledger", ["path", None], ids=str)
def test_what_a_mask_or_a_splitter_chose_does_not_change_by_itself(case, ledger, missing, table, tmp_path):
    X, y = table

    X = X.assign(row=X["row"] + 10_000 * next(NUMBERS))
    first, second, told = case
    y = pd.Series(np.random.default_rng(X["row"][0]).integers(0, 2, N))  # nobody has asked about these

    def fit(holdout, labels=y):
        path = tmp_path / "l.db" if ledger == "path" else ledger
        return search(path, ids="row", holdout=holdout, missing=missing).fit(X, labels)

    before = fit(first)
    recorded = len(list(before.holdout_.ledger.records()))
    Remembers.seen.clear()
    with pytest.raises(LedgerMismatchError, match=f"may not change here: {told}.*where a share"):
        fit(second)
    other = [y.where(np.arange(N) != before.holdout_._session.data.X["a"].index[0], 1 - y), 1 - y]
    for labels in other if ledger == "path" else ():
        with pytest.raises(LedgerMismatchError, match="may not change here: labels differ, and to tell that"):
            fit(first, labels)
        recorded += 1  # what that told is paid for
    assert not Remembers.seen
    assert len(list(before.holdout_.ledger.records())) == recorded
    assert fit(first).best_answer_.repeated


def test_within_cross_validation_a_path_is_refused_whatever_became_of_its_rows(table, tmp_path):
    X, y = table
    ids = X.pop("row").to_numpy()
    one = search(tmp_path / "l.db")
    with pytest.raises(LedgerMismatchError, match=r"rows are new\. An outer fold is other rows"):
        cross_validate(one, X, y, params={"ids": ids}, cv=TimeSeriesSplit(3), error_score="raise")


def test_no_split_by_a_share_ever_trains_on_what_was_held_out_before(table, tmp_path):
    X, y = table
    held, rng = set(), np.random.default_rng(5)
    for size in (120, 180, 240, N):  # rows come, some go, and all are put in another order
        rows = rng.permutation(size)[: size - 5]
        fitted = search(tmp_path / "l.db", ids="row", missing="ignore").fit(X.iloc[rows], y.iloc[rows])
        held |= held_out(fitted)
        assert not any(held & set(part[:, 0].tolist()) for part in Remembers.seen)
    assert len(held) > 50
