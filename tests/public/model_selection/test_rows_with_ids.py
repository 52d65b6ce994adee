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
from sklearn.model_selection import ShuffleSplit, TimeSeriesSplit, cross_validate

from sklearn_ada import Holdout, ThresholdoutScorer
from sklearn_ada.exceptions import HoldoutLeakError, LedgerMismatchError
from tests.support.ledgers import bodies
from tests.support.searches import grid

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


@pytest.fixture
def search(wrap):
    def wrapped(model=None, **parameters):
        return wrap(grid(Remembers() if model is None else model, cv=3), **parameters)

    return wrapped


def held_out(fitted):
    """Return the first column of the holdout's rows, which tells the rows."""
    return set(np.asarray(fitted.holdout_._session.data.X)[:, 0].tolist())


def trained_on():
    """Return the first column of all rows on which models were fitted."""
    return {value for part in Remembers.seen for value in part[:, 0].tolist()}


@pytest.mark.parametrize("ask", ["winner", "candidates"])
def test_a_column_of_ids_is_seen_by_no_model(ask, table, wrap):
    X, y = table
    fitted = wrap(grid(Remembers()), ask=ask, ids="row").fit(X, y)
    assert {part.shape[1] for part in Remembers.seen} == {3}
    for rows in (X, X.drop(columns="row")):
        assert (fitted.predict(rows) == (X["a"] > 0)).all()
        assert fitted.predict_proba(rows).shape == (N, 2)
        assert fitted.score(rows, y) == pytest.approx(np.mean((X["a"] > 0) == y))
    assert "row" in X


def test_attributes_are_those_of_the_columns_that_models_see(table, search):
    fitted = search(LogisticRegression(), ids="row").fit(*table)
    assert (fitted.n_features_in_, fitted.feature_names_in_.tolist()) == (3, ["a", "b", "c"])


def given(kind, X):
    """Return parameter, X and keywords of fit by which the ids are given."""
    if kind == "column":
        return "row", X, {}
    plain = X.drop(columns="row")
    if kind == "index":
        return "index", plain.set_axis(X["row"].to_numpy()), {}
    return None, plain, {"ids": X["row"].tolist()}


def test_ids_of_a_column_the_index_or_by_themselves_choose_the_same_rows(table, search):
    X, y = table
    held = []
    for kind in ("column", "index", "array"):
        named, rows, params = given(kind, X)
        held.append(held_out(search(ids=named).fit(rows, y.set_axis(rows.index), **params)))
    assert held[0] == held[1] == held[2]
    assert len(held[0]) == pytest.approx(N / 4, abs=5 * np.sqrt(N * 3 / 16))


@pytest.mark.parametrize("groups", [False, True])
def test_no_row_of_the_holdout_is_ever_trained_on(groups, table, search):
    X, y = table
    params = {"groups": (X["row"] // 3).to_numpy()} if groups else {}
    held = held_out(search(ids="row").fit(X, y, **params))
    rng = np.random.default_rng(0)
    for _ in range(3):
        order = rng.permutation(N)
        moved = {k: v[order] for k, v in params.items()}
        assert held_out(search(ids="row").fit(X.iloc[order], y.iloc[order], **moved)) == held
    if not groups:
        more = pd.concat([X, X.assign(row=X["row"] + N, a=X["a"] + 0.5)])
        larger = held_out(search(ids="row").fit(more, np.r_[y, y]))
        assert held < larger
        held = larger
    assert not held & trained_on()


def test_another_random_state_is_another_split_and_gets_no_fresh_budget(table, search, tmp_path):
    X, y = table
    held = []
    for path in (tmp_path / "ledger.db", None, ":memory:"):
        held.append(held_out(search(ledger=path, ids="row").fit(X, y)))
        for other in ({"random_state": 1}, {"holdout": 0.3}):
            with pytest.raises(LedgerMismatchError, match="split"):
                search(ledger=path, ids="row", **other).fit(X, y)
    with pytest.raises(LedgerMismatchError):  # nor do all of the rows as a holdout
        Holdout(X[["a"]], y, ids=X["row"])
    assert held_out(search(ledger=tmp_path / "b.db", ids="row", random_state=1).fit(X, y)) != held[0]


def test_a_mask_says_itself_which_rows_and_these_are_recognised_by_ids(table, search):
    X, y = table
    mask = np.arange(N) % 4 == 0
    first = search(ids="row", holdout=mask).fit(X, y)
    order = np.random.default_rng(0).permutation(N)
    again = search(ids="row", holdout=mask[order]).fit(X.iloc[order], y.iloc[order])
    assert again.holdout_.fingerprint == first.holdout_.fingerprint
    with pytest.raises(LedgerMismatchError, match="are missing"):
        search(ids="row", holdout=~mask).fit(X, y)


@pytest.mark.parametrize("ledger", [{}, {"ledger": None}], ids=["path", "None"])
def test_rows_of_a_top_up_by_hand_stay_on_their_side(ledger, table, search):
    X, y = table
    fitted = search(ids="row", **ledger).fit(X[:200], y[:200])
    new = X[200:].drop(columns="row")
    fitted.holdout_.top_up(new, y[200:], ids=X["row"][200:])
    Remembers.seen.clear()
    again = search(ids="row", **ledger).fit(X, y)
    assert again.holdout_.n_rows == fitted.holdout_.n_rows + 100
    assert not set(new["a"]) & trained_on()


def test_a_mask_tells_nothing_of_the_labels_of_single_rows(table, search):
    X, y = table
    mask = np.arange(N) % 4 == 0
    search(holdout=mask, ids="row").fit(X, y)
    train = np.flatnonzero(~mask)
    rows, messages = np.append(train, 0), set()
    for label in (0, 1):
        with pytest.raises(LedgerMismatchError) as refused:
            search(holdout=rows == 0, ids="row").fit(X.iloc[rows], np.append(y[train], label))
        messages.add(str(refused.value))
    assert len(messages) == 1


@pytest.mark.parametrize(
    "index", [pd.Index(np.arange(N)), pd.RangeIndex(N, name="number")], ids=["stored", "named"]
)
def test_an_index_that_counts_the_rows_is_no_index_of_ids(index, table, search):
    X, y = table
    with pytest.raises(ValueError, match="positions, not identities"):
        search(ids="index").fit(X.set_index(index), np.asarray(y))


def test_two_masks_that_begin_a_ledger_at_once_do_not_train_on_each_others_holdout(
    table, search, monkeypatch
):
    X, y = table
    search(holdout=np.arange(N) % 4 == 0, ids="row").fit(X, y)
    Remembers.seen.clear()
    # The other process compared the rows before there was a ledger.
    compare = "sklearn_ada.model_selection.setting_aside.check_unchanged"
    monkeypatch.setattr(compare, lambda *args, **kwargs: None)
    with pytest.raises((HoldoutLeakError, LedgerMismatchError)):
        search(holdout=np.arange(N) % 4 == 1, ids="row", missing="ignore").fit(X, y)
    assert Remembers.seen == []


def test_missing_rows_are_refused_before_any_fit_and_may_be_ignored(table, search):
    X, y = table
    search(ids="row").fit(X, y)
    Remembers.seen.clear()
    with pytest.raises(LedgerMismatchError, match="missing='ignore'"):
        search(ids="row").fit(X[50:], y[50:])
    assert not Remembers.seen
    fitted = search(ids="row", missing="ignore").fit(X[50:], y[50:])
    assert any("were left out" in text for text in fitted.best_answer_.certificate.assumptions)


@pytest.mark.thorough
def test_outer_folds_have_ledgers_of_their_own_without_a_warning(table, search):
    X, y = table
    unkept = {"ledger": None, "ids": "row"}
    search(**unkept).fit(X, y)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*second budget")
        first = cross_validate(search(**unkept), X, y, cv=3, return_estimator=True, error_score="raise")
        ledgers = [each.holdout_.ledger.path for each in first["estimator"]]
        get_reusable_executor().shutdown(wait=True)  # workers of earlier tests belong to other sessions
        again = cross_validate(search(**unkept), X, y, cv=3, return_estimator=True, n_jobs=2)
    assert len(set(ledgers)) == 3
    prints = [[each.holdout_.fingerprint for each in found["estimator"]] for found in (first, again)]
    assert prints[0] == prints[1]
    assert search(**unkept).fit(X, y).holdout_.ledger.path not in ledgers


def test_outer_folds_on_a_path_are_refused_with_the_reason(table, search, tmp_path):
    for missing in ("raise", "ignore"):
        one = search(ledger=tmp_path / f"{missing}.db", ids="row", missing=missing)
        with pytest.raises(LedgerMismatchError, match="An outer fold is other rows: ledger=None gives each"):
            cross_validate(one, *table, cv=3, error_score="raise")


def test_ids_are_sliced_along_with_and_without_metadata_routing(table, search):
    X, y = table
    how = {"params": {"ids": X.pop("row").to_numpy()}, "cv": 3, "return_estimator": True}
    plain = cross_validate(search(ledger=None), X, y, **how)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = cross_validate(search(ledger=None).set_fit_request(ids=True), X, y, **how)
    for one, other in zip(plain["estimator"], routed["estimator"], strict=True):
        assert one.holdout_.fingerprint == other.holdout_.fingerprint
        assert one.holdout_._session.data.ids is not None


def test_bad_ids_are_refused_before_anything_is_made(table, search, tmp_path, sentence):
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
            search(**parameters).fit(rows, y, **params)
    for name, value in (("missing", "drop"), ("holdout", 1e-9)):
        with pytest.raises(ValueError, match=sentence(name)):
            search(ids="row", **{name: value}).fit(X, y)
    assert not list(tmp_path.iterdir())
    assert not Remembers.seen
    with pytest.raises(ValueError, match="positions, not identities"):
        search(ids="index").fit(X, y)
    with pytest.raises(ValueError, match="the name of the index of X: use ids='index'"):
        search(ids="row").fit(X.set_index("row"), y)


@pytest.fixture
def last(table, tmp_path):
    """A holdout of the last hundred rows with their ids, and the rows and ids of all."""
    X, y = table
    ids, plain = X["row"].to_numpy(), X.drop(columns="row")
    return Holdout(plain[200:], y[200:], ids=ids[200:], ledger=tmp_path / "l.db"), plain, y, ids


def test_a_holdout_that_is_given_still_loses_the_column(table, last, search):
    X, y = table
    fitted = search(ids="row", holdout=last[0]).fit(X[:200], y[:200])
    assert fitted.best_estimator_.columns_ == ["a", "b", "c"]


@pytest.mark.parametrize("of_scorer", [False, True], ids=["holdout", "scorer"])
def test_training_rows_are_compared_with_a_given_holdout_by_ids(of_scorer, last, search, tmp_path, sentence):
    holdout, plain, y, ids = last
    bare = Holdout(plain[200:], y[200:], ledger=tmp_path / "bare.db")

    def fit(given, rows, ids):
        # Computed anew: no features are exact copies of the holdout's.
        noisy = plain.iloc[rows] + 1e-9 * np.random.default_rng(0).normal(size=(len(rows), 3))
        how = {"mechanism": ThresholdoutScorer("accuracy", given)} if of_scorer else {"holdout": given}
        return search(**how).fit(noisy, y.iloc[rows], ids=ids)

    recorded = [len(bodies(each)) for each in (holdout, bare)]
    with pytest.raises(HoldoutLeakError, match=r"^100 of the ids of the training rows"):
        fit(holdout, np.arange(N), ids)
    with pytest.raises(HoldoutLeakError, match=r"^1 of the ids"):
        fit(holdout, np.arange(200), [*ids[:199], ids[250]])
    for rows, bad in ((np.arange(3), [1, 1, None]), (np.arange(200), ids[:199])):
        with pytest.raises(ValueError, match=sentence("ids")):
            fit(holdout, rows, bad)
    with pytest.raises(ValueError, match="None where the rows of the given holdout have no ids"):
        fit(bare, np.arange(200), ids[:200])
    assert not Remembers.seen
    assert [len(bodies(each)) for each in (holdout, bare)] == recorded
    fit(holdout, np.r_[:200, :50], np.r_[ids[:200], ids[:50]])  # an id may occur more than once


def test_rows_that_were_once_the_holdouts_are_not_trained_on_either(table, search, tmp_path):
    X, y = table
    ids, plain = X["row"].to_numpy(), X.drop(columns="row")
    small = Holdout(plain[200:250], y[200:250], ids=ids[200:250], ledger=tmp_path / "l.db")
    small.top_up(plain[250:], y[250:], ids=ids[250:])
    with pytest.raises(HoldoutLeakError, match=r"^50 of the ids"):
        search(holdout=small).fit(plain[250:], y[250:], ids=ids[250:])


def test_a_fit_without_ids_on_a_holdout_with_ids_is_warned_of(last, search):
    holdout, plain, y, _ = last
    with pytest.warns(UserWarning, match="told by their features alone"):
        search(holdout=holdout).fit(plain[:200], y[:200])


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
def test_what_a_mask_or_a_splitter_chose_does_not_change_by_itself(case, ledger, missing, table, search):
    X, y = table
    X = X.assign(row=X["row"] + 10_000 * next(NUMBERS))
    first, second, change = case
    y = pd.Series(np.random.default_rng(X["row"][0]).integers(0, 2, N))  # nobody has asked about these
    how = {"ids": "row", "missing": missing, **({} if ledger else {"ledger": None})}

    def fit(holdout, labels=y):
        return search(holdout=holdout, **how).fit(X, labels)

    before = fit(first)
    recorded = len(bodies(before.holdout_))
    Remembers.seen.clear()
    with pytest.raises(LedgerMismatchError, match=f"may not change here: {change}.*where a share"):
        fit(second)
    other = [y.where(np.arange(N) != before.holdout_._session.data.X["a"].index[0], 1 - y), 1 - y]
    for labels in other if ledger == "path" else ():
        with pytest.raises(LedgerMismatchError, match="may not change here: labels differ, and to tell that"):
            fit(first, labels)
        recorded += 1  # what that told is paid for
    assert not Remembers.seen
    assert len(bodies(before.holdout_)) == recorded
    assert fit(first).best_answer_.repeated


def test_within_cross_validation_a_path_is_refused_whatever_became_of_its_rows(table, search):
    X, y = table
    how = {"params": {"ids": X.pop("row").to_numpy()}, "cv": TimeSeriesSplit(3), "error_score": "raise"}
    with pytest.raises(LedgerMismatchError, match=r"rows are new\. An outer fold is other rows"):
        cross_validate(search(), X, y, **how)


def test_no_split_by_a_share_ever_trains_on_what_was_held_out_before(table, search):
    X, y = table
    held, rng = set(), np.random.default_rng(5)
    for size in (120, 180, 240, N):  # rows come, some go, and all are put in another order
        rows = rng.permutation(size)[: size - 5]
        held |= held_out(search(ids="row", missing="ignore").fit(X.iloc[rows], y.iloc[rows]))
        assert not held & trained_on()
    assert len(held) > 50
