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
QUARTER = np.arange(N) % 4 == 0


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


@pytest.fixture(autouse=True)
def _forgotten():
    Remembers.seen.clear()


@pytest.fixture
def table():
    """A frame with a column of ids, and labels."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(N, 3)), columns=["a", "b", "c"])
    frame.insert(1, "row", np.arange(N) + 500)
    return frame, pd.Series((frame["a"] + rng.normal(size=N) > 0).astype(int))


@pytest.fixture
def plain(table):
    """The frame without its ids, the labels, and the ids."""
    X, y = table
    return X.drop(columns="row"), y, X["row"].to_numpy()


@pytest.fixture
def search(wrap):
    """Wrap a search, whose ids are by default in a column; it remembers on which rows models were fitted."""
    return lambda model=None, **params: wrap(grid(model or Remembers(), cv=3), **{"ids": "row", **params})


@pytest.fixture
def last(plain, tmp_path):
    """A holdout of the last hundred rows with their ids."""
    X, y, ids = plain
    return Holdout(X[200:], y[200:], ids=ids[200:], ledger=tmp_path / "l.db")


def held_out(fitted):
    """Return the first column of the holdout's rows, by which rows are known."""
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


def test_attributes_are_those_of_the_columns_that_models_see_also_beside_a_given_holdout(table, last, search):
    fitted = search(LogisticRegression()).fit(*table)
    assert (fitted.n_features_in_, fitted.feature_names_in_.tolist()) == (3, ["a", "b", "c"])
    fitted = search(holdout=last).fit(table[0][:200], table[1][:200])
    assert fitted.best_estimator_.columns_ == ["a", "b", "c"]


def test_ids_of_a_column_the_index_or_by_themselves_choose_the_same_rows(table, plain, search):
    X, y, ids = plain
    column = held_out(search().fit(*table))
    index = held_out(search(ids="index").fit(X.set_axis(ids), y.set_axis(ids)))
    array = held_out(search(ids=None).fit(X, y, ids=ids.tolist()))
    assert column == index == array
    assert len(column) == pytest.approx(N / 4, abs=5 * np.sqrt(N * 3 / 16))


@pytest.mark.parametrize("groups", [False, True])
def test_no_row_of_the_holdout_is_ever_trained_on(groups, table, search):
    X, y = table
    params = {"groups": (X["row"] // 3).to_numpy()} if groups else {}
    held = held_out(search().fit(X, y, **params))
    rng = np.random.default_rng(0)
    for order in (rng.permutation(N) for _ in range(3)):
        moved = {k: v[order] for k, v in params.items()}
        assert held_out(search().fit(X.iloc[order], y.iloc[order], **moved)) == held
    if not groups:
        more = pd.concat([X, X.assign(row=X["row"] + N, a=X["a"] + 0.5)])
        larger = held_out(search().fit(more, np.r_[y, y]))
        assert held < larger
        held = larger
    assert not held & trained_on()


def test_no_split_by_a_share_ever_trains_on_what_was_held_out_before(table, search):
    X, y = table
    held, rng = set(), np.random.default_rng(5)
    for size in (120, 180, 240, N):  # rows come, some go, and all are put in another order
        rows = rng.permutation(size)[: size - 5]
        held |= held_out(search(missing="ignore").fit(X.iloc[rows], y.iloc[rows]))
        assert not held & trained_on()
    assert len(held) > 50


@pytest.mark.parametrize("ledger", [{}, {"ledger": None}], ids=["path", "None"])
def test_rows_that_top_up_added_to_the_holdout_are_never_trained_on(ledger, table, plain, search):
    X, y, ids = plain
    fitted = search(**ledger).fit(table[0][:200], y[:200])
    fitted.holdout_.top_up(X[200:], y[200:], ids=ids[200:])
    Remembers.seen.clear()
    again = search(**ledger).fit(*table)
    assert again.holdout_.n_rows == fitted.holdout_.n_rows + 100
    assert not set(X["a"][200:]) & trained_on()


def test_another_random_state_is_another_split_and_gets_no_fresh_budget(table, search, tmp_path):
    X, y = table
    held = []
    for path in (tmp_path / "ledger.db", None, ":memory:"):
        held.append(held_out(search(ledger=path).fit(X, y)))
        for other in ({"random_state": 1}, {"holdout": 0.3}):
            with pytest.raises(LedgerMismatchError, match="split"):
                search(ledger=path, **other).fit(X, y)
    with pytest.raises(LedgerMismatchError):  # nor do all of the rows as a holdout
        Holdout(X[["a"]], y, ids=X["row"])
    Remembers.seen.clear()  # or the rows of this holdout were among them
    assert held_out(search(ledger=tmp_path / "b.db", random_state=1).fit(X, y)) != held[0]


def test_missing_rows_are_refused_before_any_fit_and_may_be_ignored(table, search):
    X, y = table
    search().fit(X, y)
    Remembers.seen.clear()
    with pytest.raises(LedgerMismatchError, match="missing='ignore'"):
        search().fit(X[50:], y[50:])
    assert not Remembers.seen
    fitted = search(missing="ignore").fit(X[50:], y[50:])
    assert any("were left out" in text for text in fitted.best_answer_.certificate.assumptions)


# masks and splitters


def test_a_mask_says_itself_which_rows_and_these_are_recognised_by_ids(table, search):
    X, y = table
    first = search(holdout=QUARTER).fit(X, y)
    order = np.random.default_rng(0).permutation(N)
    again = search(holdout=QUARTER[order]).fit(X.iloc[order], y.iloc[order])
    assert again.holdout_.fingerprint == first.holdout_.fingerprint
    with pytest.raises(LedgerMismatchError, match="are missing"):
        search(holdout=~QUARTER).fit(X, y)


def test_a_mask_tells_nothing_of_the_labels_of_single_rows(table, search):
    X, y = table
    search(holdout=QUARTER).fit(X, y)
    train = np.flatnonzero(~QUARTER)
    rows, messages = np.append(train, 0), set()
    for label in (0, 1):
        with pytest.raises(LedgerMismatchError) as refused:
            search(holdout=rows == 0).fit(X.iloc[rows], np.append(y[train], label))
        messages.add(str(refused.value))
    assert len(messages) == 1


def test_two_masks_that_begin_a_ledger_at_once_do_not_train_on_each_others_holdout(
    table, search, monkeypatch
):
    search(holdout=QUARTER).fit(*table)
    Remembers.seen.clear()
    # The other process compared the rows before there was a ledger.
    compare = "sklearn_ada.model_selection.setting_aside.check_unchanged"
    monkeypatch.setattr(compare, lambda *args, **kwargs: None)
    with pytest.raises((HoldoutLeakError, LedgerMismatchError)):
        search(holdout=np.arange(N) % 4 == 1, missing="ignore").fit(*table)
    assert Remembers.seen == []


FIRST, NUMBERS = np.arange(N) < 75, itertools.count(1)
CASES = {
    "another mask": (FIRST, FIRST[::-1], "75 of the 75 rows are missing, 75 rows are new"),
    "a larger mask": (FIRST, np.arange(N) < 90, "15 rows are new"),
    "a smaller mask": (FIRST, np.arange(N) < 60, "15 of the 75 rows are missing"),
    "another splitter": (
        *(ShuffleSplit(1, test_size=size, random_state=0) for size in (0.25, 0.5)),
        "75 rows are new",
    ),
}


@pytest.mark.parametrize(("first", "second", "change"), CASES.values(), ids=CASES)
@pytest.mark.parametrize("missing", ["raise", "ignore"])
@pytest.mark.parametrize("ledger", [{}, {"ledger": None}], ids=["path", "None"])
def test_what_a_mask_or_a_splitter_chose_does_not_change_by_itself(
    first, second, change, ledger, missing, table, search
):
    X = table[0].assign(row=table[0]["row"] + 10_000 * next(NUMBERS))
    y = pd.Series(np.random.default_rng(X["row"][0]).integers(0, 2, N))  # nobody has asked about these

    def fit(holdout, labels=y):
        return search(holdout=holdout, missing=missing, **ledger).fit(X, labels)

    before = fit(first)
    recorded = len(bodies(before.holdout_))
    Remembers.seen.clear()
    with pytest.raises(LedgerMismatchError, match=f"may not change here: {change}.*where a share"):
        fit(second)
    other = [y.where(np.arange(N) != before.holdout_._session.data.X["a"].index[0], 1 - y), 1 - y]
    for labels in () if ledger else other:
        with pytest.raises(LedgerMismatchError, match="may not change here: labels differ, and to tell that"):
            fit(first, labels)
        recorded += 1  # what that told is paid for
    assert not Remembers.seen
    assert len(bodies(before.holdout_)) == recorded
    assert fit(first).best_answer_.repeated


# within cross_validate


@pytest.mark.thorough
def test_outer_folds_have_ledgers_of_their_own_without_a_warning(table, search):
    X, y = table
    one, how = search(ledger=None), {"cv": 3, "return_estimator": True}
    one.fit(X, y)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*second budget")
        first = cross_validate(one, X, y, error_score="raise", **how)["estimator"]
        get_reusable_executor().shutdown(wait=True)  # workers of earlier tests belong to other sessions
        again = cross_validate(one, X, y, n_jobs=2, **how)["estimator"]
    ledgers = {each.holdout_.ledger.path for each in first}
    assert len(ledgers) == 3
    assert [each.holdout_.fingerprint for each in first] == [each.holdout_.fingerprint for each in again]
    assert search(ledger=None).fit(X, y).holdout_.ledger.path not in ledgers


@pytest.mark.parametrize("missing", ["raise", "ignore"])
def test_outer_folds_on_a_path_are_refused_with_the_reason(missing, table, plain, search, tmp_path):
    none = search(missing=missing)
    with pytest.raises(
        LedgerMismatchError, match=r"begins no ledger at a path\. An outer fold is other rows"
    ):
        cross_validate(none, *table, cv=3, error_score="raise")
    assert not list(tmp_path.iterdir())
    X, y, ids = plain
    search(ids=None, ledger=tmp_path / "time.db").fit(X, y, ids=ids)
    how = {"params": {"ids": ids}, "cv": TimeSeriesSplit(3), "error_score": "raise"}
    with pytest.raises(LedgerMismatchError, match=r"are (new|missing)\. An outer fold is other rows"):
        cross_validate(search(ids=None, ledger=tmp_path / "time.db"), X, y, **how)


def test_ids_are_sliced_along_with_and_without_metadata_routing(plain, search):
    X, y, ids = plain
    one, how = search(ids=None, ledger=None), {"params": {"ids": ids}, "cv": 3, "return_estimator": True}
    unrouted = cross_validate(one, X, y, **how)["estimator"]
    with sklearn.config_context(enable_metadata_routing=True):
        routed = cross_validate(one.set_fit_request(ids=True), X, y, **how)["estimator"]
    for first, second in zip(unrouted, routed, strict=True):
        assert first.holdout_.fingerprint == second.holdout_.fingerprint
        assert first.holdout_._session.data.ids is not None


# what is refused


COUNTS = {
    "an index of numbers": lambda X: X,
    "stored": lambda X: X.set_index(pd.Index(np.arange(N))),
    "named": lambda X: X.set_index(pd.RangeIndex(N, name="number")),
}


@pytest.mark.parametrize("counted", COUNTS.values(), ids=COUNTS)
def test_an_index_that_counts_the_rows_is_no_index_of_ids(counted, table, search):
    with pytest.raises(ValueError, match="positions, not identities"):
        search(ids="index").fit(counted(table[0]), np.asarray(table[1]))


IDS = np.arange(N) + 500
BAD = {  # parameters, what becomes of X, and keywords of fit
    "no column": ({"ids": "nobody"}, None, {}),
    "a number": ({"ids": 5}, None, {}),
    "no index": ({"ids": "index"}, pd.DataFrame.to_numpy, {}),
    "a column called index": ({"ids": "index"}, lambda X: X.rename(columns={"b": "index"}), {}),
    "a new index": ({"ids": "index"}, lambda X: X.sample(frac=1.0).reset_index(drop=True), {}),
    "a column in the index": ({"ids": "row"}, lambda X: X.set_index("row"), {}),
    "two ways": ({"ids": "row"}, None, {"ids": IDS}),
    "a set": ({}, None, {"ids": set(IDS.tolist())}),
    "a dict": ({}, None, {"ids": dict.fromkeys(IDS.tolist())}),
    "rounded": ({"ids": "b"}, lambda X: X.assign(b=np.float32(2**24) + X["row"].astype("float32")), {}),
    "too few": ({}, None, {"ids": IDS[:-1]}),
    "missing": ({}, None, {"ids": np.where(IDS == 510, np.nan, IDS)}),
    "of several rows": ({"holdout": np.arange(N) < 90}, None, {"ids": IDS // 7}),
}


@pytest.mark.parametrize(("params", "change", "passed"), BAD.values(), ids=BAD)
def test_bad_ids_are_refused_before_anything_is_made(
    params, change, passed, table, search, tmp_path, sentence
):
    X, y = table
    way = "the name of the index of X: use ids='index'" if params == {"ids": "row"} and change else ""
    with pytest.raises(ValueError, match=f"(?={sentence('ids')}).*{way}"):
        search(**{"ids": None, **params}).fit(change(X) if change else X, y, **passed)
    assert not list(tmp_path.iterdir())
    assert not Remembers.seen


@pytest.mark.parametrize(("name", "value"), [("missing", "drop"), ("holdout", 1e-9)])
def test_parameters_that_do_not_go_with_ids_are_refused(name, value, table, search, sentence):
    with pytest.raises(ValueError, match=sentence(name)):
        search(**{name: value}).fit(*table)


@pytest.mark.parametrize("of_scorer", [False, True], ids=["holdout", "scorer"])
def test_training_rows_are_compared_with_a_given_holdout_by_ids(
    of_scorer, plain, last, search, tmp_path, sentence
):
    X, y, all_ids = plain
    bare = Holdout(X[200:], y[200:], ledger=tmp_path / "bare.db")

    def fit(given, rows, ids):
        # Computed anew: no features are exact copies of the holdout's.
        noisy = X.iloc[rows] + 1e-9 * np.random.default_rng(0).normal(size=(len(rows), 3))
        how = {"mechanism": ThresholdoutScorer("accuracy", given)} if of_scorer else {"holdout": given}
        return search(ids=None, **how).fit(noisy, y.iloc[rows], ids=ids)

    recorded = [len(bodies(each)) for each in (last, bare)]
    with pytest.raises(HoldoutLeakError, match=r"^100 of the ids of the training rows"):
        fit(last, np.arange(N), all_ids)
    with pytest.raises(HoldoutLeakError, match=r"^1 of the ids"):
        fit(last, np.arange(200), [*all_ids[:199], all_ids[250]])
    for rows, bad in ((np.arange(3), [1, 1, None]), (np.arange(200), all_ids[:199])):
        with pytest.raises(ValueError, match=sentence("ids")):
            fit(last, rows, bad)
    with pytest.raises(ValueError, match="None where the rows of the given holdout have no ids"):
        fit(bare, np.arange(200), all_ids[:200])
    assert not Remembers.seen
    assert [len(bodies(each)) for each in (last, bare)] == recorded
    fit(last, np.r_[:200, :50], np.r_[all_ids[:200], all_ids[:50]])  # an id may occur more than once


def test_rows_that_were_once_the_holdouts_are_not_trained_on_either(plain, search, tmp_path):
    X, y, ids = plain
    small = Holdout(X[200:250], y[200:250], ids=ids[200:250], ledger=tmp_path / "l.db")
    small.top_up(X[250:], y[250:], ids=ids[250:])
    with pytest.raises(HoldoutLeakError, match=r"^50 of the ids"):
        search(ids=None, holdout=small).fit(X[250:], y[250:], ids=ids[250:])


def test_a_fit_without_ids_on_a_holdout_with_ids_is_warned_of(plain, last, search):
    with pytest.warns(UserWarning, match="seen by their features alone"):
        search(ids=None, holdout=last).fit(plain[0][:200], plain[1][:200])
