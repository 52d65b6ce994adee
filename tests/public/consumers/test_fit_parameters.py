"""What happens to rows that reach a model otherwise than as X is what the documentation's table says."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV

from sklearn_ada import Holdout, ReusableHoldoutCV
from sklearn_ada.exceptions import HoldoutLeakError
from tests.support.consumers.fit_parameters import (
    FORMS,
    HOLDOUTS,
    TABLE,
    TRAIN,
    WORDS,
    N,
    Watcher,
    data,
    outcome,
)
from tests.support.consumers.table import read
from tests.support.ledgers import bodies


def committed():
    """Return the word by form and holdout."""
    rows = read(TABLE)
    return {(row["what is passed"], kind): row[f"a holdout {kind}"] for row in rows for kind in HOLDOUTS}


def over(values=None, model=None, **params):
    """Return a wrapped search over a model that is handed rows."""
    cv = None if params.get("ask") == "candidates" else 2
    return ReusableHoldoutCV(GridSearchCV(model or Watcher(), values or {}, cv=cv), **params)


@pytest.mark.parametrize("holdout", HOLDOUTS)
@pytest.mark.parametrize("form", FORMS)
def test_every_cell_of_the_documented_table_is_what_happens(form, holdout, tmp_path):
    assert outcome(form, holdout, str(tmp_path)) == committed()[form, holdout]


def test_the_table_has_all_cells_in_its_words():
    assert set(committed()) == {(form, holdout) for form in FORMS for holdout in HOLDOUTS}
    assert set(committed().values()) == WORDS


@pytest.mark.parametrize("ask", ["winner", "candidates", 2])
@pytest.mark.parametrize("share", [0.25, np.arange(N) >= TRAIN])
def test_rows_of_the_own_holdout_are_refused_before_the_first_fit_whatever_is_asked(ask, share, tmp_path):
    X, y, _ = data()
    Watcher.got.clear()
    search = over({"depth": [1, 2]}, ask=ask, holdout=share, ledger=tmp_path / "a.db")
    with pytest.raises(
        HoldoutLeakError, match=r"^The 'eval_set' .* Got some in eval_set\[0\]\[0\] instead\."
    ):
        search.fit(X, y, eval_set=[(X, y)])
    assert not Watcher.got
    assert search.holdout_.report().nats == 0.0


@pytest.mark.parametrize("part", [slice(TRAIN, N), slice(0, N), slice(TRAIN + 50, N, 3)])
@pytest.mark.parametrize("of", [np.asarray, np.asfortranarray])
def test_rows_in_the_memory_of_a_given_holdout_are_refused_for_nothing(part, of, tmp_path, uncharged):
    X, y, _ = data()
    X = of(X)
    holdout = Holdout(X[TRAIN:], y[TRAIN:], ledger=tmp_path / "a.db")
    search = over(holdout=holdout)
    with uncharged(holdout):
        with pytest.raises(HoldoutLeakError, match="nothing was charged"):
            search.fit(X[part], y[part])
        with pytest.raises(HoldoutLeakError, match="nothing was charged"):
            search.fit(X[:TRAIN], y[:TRAIN], X_val=X[part])
        with pytest.raises(HoldoutLeakError, match="nothing was charged"):
            holdout.check_overlap(X[part])
    search.fit(X[:TRAIN], y[:TRAIN])  # a part of the same array that has no row of it


def test_what_a_leak_cost_is_said_and_is_paid_once(tmp_path, uncharged):
    X, y, _ = data()
    holdout = Holdout(X[TRAIN:], y[TRAIN:], ledger=tmp_path / "a.db")
    search = over(holdout=holdout)
    with pytest.raises(HoldoutLeakError, match=r"cost 13\.8 nats, once"):
        search.fit(X.copy(), y)
    with uncharged(holdout), pytest.raises(HoldoutLeakError, match=r"cost 13\.8 nats, once"):
        search.fit(X.copy(), y)


def test_rows_for_training_leave_no_record_and_others_one_that_is_nearly_free(tmp_path):
    X, y, new = data()
    holdout = Holdout(X[TRAIN:], y[TRAIN:], ledger=tmp_path / "a.db")
    search = over(holdout=holdout)
    counts = []
    for watched in (None, (X[:50].copy(), X[20:90].copy()), (new, new[:50]), (new, new[:50])):
        Watcher.got.clear()
        search.fit(X[:TRAIN], y[:TRAIN], watched=watched)
        counts.append(sum("overlap" in str(body) for body in bodies(holdout)))
    assert counts == [1, 1, 2, 2]
    assert sum(body["price"] for body in bodies(holdout) if "overlap" in str(body)) < 1e-5


def test_more_objects_than_can_be_compared_are_refused(tmp_path, monkeypatch):
    X, y, _ = data()
    monkeypatch.setattr("sklearn_ada.data.tables._MOST", 1_000)
    search = over(holdout=np.arange(N) >= TRAIN, ledger=tmp_path / "a.db")
    with pytest.raises(ValueError, match="must be of at most 1,000 objects"):
        search.fit(X, y, watched=[[[None], [{}]] for _ in range(1_001)])
    search.fit(X, y, watched=[["a"] * (1 + i % 3) for i in range(1_001)])  # which have no parts


@pytest.mark.parametrize("labels", [np.arange(N) % 2, np.arange(N) >= 150])
def test_labels_of_training_rows_and_sorted_ones_are_taken_for_no_leak(labels, tmp_path):
    X, *_ = data()
    held = np.arange(N) % 3 == 0
    for repeat, watched in enumerate([labels[~held], labels[:150], np.sort(labels)[:-1]]):
        search = over(holdout=held, ledger=tmp_path / f"{repeat}.db")
        search.fit(X, np.sort(labels) if repeat == 2 else labels, watched=watched)


@pytest.mark.parametrize("kinds", [2, 4, 9])
def test_discrete_rows_from_elsewhere_are_taken_for_no_leak(kinds, tmp_path):
    rng, held = np.random.default_rng(kinds), np.arange(N) >= TRAIN
    for repeat in range(8):
        X, new = rng.integers(kinds, size=(N, 4)), rng.integers(kinds, size=(90, 4))
        search = over(holdout=held, ledger=tmp_path / f"{repeat}.db")
        search.fit(X, rng.integers(2, size=N), eval_set=[(new, rng.integers(2, size=90))])


@pytest.mark.parametrize("X", ["texts", "images", "one column", "frame with texts"])
def test_rows_of_every_kind_are_recognised(X, tmp_path):
    rng = np.random.default_rng(0)
    rows = {
        "texts": [f"a text {number}" for number in rng.integers(10**9, size=N)],
        "images": rng.normal(size=(N, 3, 3)),
        "one column": rng.normal(size=(N, 1)),
        "frame with texts": pd.DataFrame({"a": rng.normal(size=N), "b": rng.choice(["x", "y"], N)}),
    }[X]

    class AnyRows(Watcher):
        def fit(self, X, y, **beside):
            self.classes_ = np.unique(y)
            return self

    search = over(model=AnyRows(), holdout=np.arange(N) >= TRAIN, ledger=tmp_path / "a.db")
    y = rng.integers(2, size=N)
    with pytest.raises(HoldoutLeakError, match="'validation_data'"):
        search.fit(rows, y, validation_data=(rows[150:], y[150:]))
    search.fit(rows, y, validation_data=(rows[100:TRAIN], y[100:TRAIN]))


@pytest.mark.parametrize("name", ["coef_init", "init_model", "xgb_model"])
@pytest.mark.parametrize("value", [np.zeros((1, 3)), "model.json", None])
def test_what_a_fit_goes_on_from_is_warned_of(name, value, recwarn):
    """Coefficients, boosters and their files are no rows, and may be fitted on those of the holdout."""
    X, y = np.random.default_rng(0).normal(size=(80, 3)), np.arange(80) % 2
    over(ledger=":memory:").fit(X, y, **{name: value})
    warned = [str(each.message) for each in recwarn if "was fitted before" in str(each.message)]
    assert [f"fitted before: {name}, a " in message for message in warned] == [True] * (value is not None)
