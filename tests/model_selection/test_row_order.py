"""Rows reach a search in a random order where its folds would be blocks: guesses of ordered rows hold."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import Holdout, ReusableHoldoutCV
from sklearn_ada.holdout.holdout import session_of
from sklearn_ada.model_selection import setting_aside

N = 2000


def drifting():
    """Rows in the order of a feature on which the label depends: no block tells what another is like."""
    rng = np.random.default_rng(0)
    t = np.sort(rng.random(N))
    x = rng.normal(size=N)
    return np.c_[t, x], (x * np.sign(np.sin(30 * t)) + 0.3 * rng.normal(size=N) > 0).astype(int)


def errors_off(search):
    """How many standard errors the guess of the winner is from its score on the holdout."""
    answer = search.best_answer_
    guess = session_of(search.holdout_).guess_behind(answer)
    p = answer.value
    return abs(guess.value - p) / math.sqrt(p * (1 - p) * (1 / search.holdout_.n_rows + 1 / guess.size))


def searched(ledger, cv=None, **params):
    inner = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [10, None]}, cv=cv)
    return ReusableHoldoutCV(inner, **{"answers": "exact", "ledger": ledger, **params})


class Keeps(DecisionTreeClassifier):
    """A tree that keeps the first column of its rows, and what came with them, in their order."""

    def fit(self, X, y, sample_weight=None, check_input=True):
        self.rows_ = np.asarray(X)[:, 0].astype(int)
        self.weights_, self.labels_ = sample_weight, np.asarray(y)
        return super().fit(X, y, check_input=check_input)


def kept(path, cv=None, n=200, **passed):
    """Return the model that a search of numbered rows refits, with the order of its rows."""
    X, y = make_classification(n, 4, random_state=0)
    X = np.c_[np.arange(n), X]
    search = ReusableHoldoutCV(GridSearchCV(Keeps(), {"max_depth": [2]}, cv=cv), ledger=path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return search.fit(X, y, **passed).best_estimator_


@pytest.mark.parametrize("cv", [None, 4, KFold(5), StratifiedKFold(5)], ids=repr)
def test_the_guess_of_ordered_rows_is_within_a_few_standard_errors(cv, tmp_path, monkeypatch):
    X, y = drifting()
    assert errors_off(searched(tmp_path / "shuffled.db", cv).fit(X, y)) < 3.0
    monkeypatch.setattr(setting_aside, "is_shuffled_for", lambda cv: False)
    assert errors_off(searched(tmp_path / "ordered.db", cv).fit(X, y)) > 4.5


def test_a_rerun_finds_its_record_and_with_ids_from_any_order_of_the_file(tmp_path):
    X, y = drifting()
    first = searched(tmp_path / "labels.db").fit(X, y)
    again = searched(tmp_path / "labels.db").fit(X, y)
    assert again.best_answer_.repeated
    assert again.best_answer_ == first.best_answer_
    ids = np.arange(N) + 10_000
    searched(tmp_path / "ids.db").fit(X, y, ids=ids)
    turned = searched(tmp_path / "ids.db").fit(X[::-1], y[::-1], ids=ids[::-1])
    assert turned.best_answer_.repeated
    assert turned.holdout_.report().asked == {"check": 0, "certify": 1}


def test_the_order_depends_on_random_state_and_on_nothing_that_passes(tmp_path):
    X, y = make_classification(200, 4, random_state=0)
    X = np.c_[np.arange(200), X]
    mask = np.arange(200) >= 150
    orders = [
        ReusableHoldoutCV(
            GridSearchCV(Keeps(), {"max_depth": [depth]}),
            holdout=mask,
            random_state=state,
            ledger=tmp_path / f"{state}.db",
        )
        .fit(X[:, :columns], y)
        .best_estimator_.rows_.tolist()
        for state, depth, columns in ((None, 2, 5), (None, 1, 3), (7, 2, 5))
    ]
    assert orders[0] == orders[1]  # another search of other columns
    assert sorted(orders[0]) == sorted(orders[2]) == list(range(150))
    assert orders[0] != orders[2]
    assert orders[0] != list(range(150))


def test_labels_weights_and_frames_move_with_their_rows(tmp_path):
    X, y = make_classification(200, 4, random_state=0)
    X = np.c_[np.arange(200), X]
    model = kept(tmp_path / "array.db", sample_weight=np.arange(200) + 0.5)
    assert (np.diff(model.rows_) < 0).any()
    assert (model.weights_ == model.rows_ + 0.5).all()
    assert (model.labels_ == y[model.rows_]).all()
    search = ReusableHoldoutCV(GridSearchCV(Keeps(), {"max_depth": [2]}), ledger=tmp_path / "frame.db")
    framed = search.fit(pd.DataFrame(X, columns=list("nabcd")), pd.Series(y)).best_estimator_
    assert (framed.rows_ == model.rows_).all()
    assert (framed.labels_ == model.labels_).all()


def test_rows_of_a_group_stay_next_to_each_other(tmp_path):
    groups = np.arange(200) % 40  # far from each other in the file
    for ids in (None, np.arange(200) + 1000):
        of_row = groups[kept(tmp_path / f"{ids is None}.db", groups=groups, ids=ids).rows_]
        assert (np.diff(of_row) != 0).sum() == len(set(of_row)) - 1
        assert (np.diff(of_row[::5]) < 0).any()


SPLITS = [
    GroupKFold(3), ShuffleSplit(2, random_state=0), KFold(3, shuffle=True, random_state=0),
    PredefinedSplit(np.arange(200) % 3), list(KFold(3).split(np.zeros(200))),
]  # fmt: skip


@pytest.mark.parametrize("cv", SPLITS, ids=lambda cv: type(cv).__name__)
def test_of_splitters_that_may_mean_it_the_order_is_kept(cv, tmp_path):
    rows = kept(tmp_path / "ledger.db", cv, groups=np.arange(200) // 2).rows_
    assert (np.diff(rows) > 0).all()


def test_time_keeps_its_order_and_is_not_warned_of(tmp_path):
    X, y = drifting()
    search = searched(tmp_path / "ledger.db", TimeSeriesSplit(4), holdout=np.arange(N) >= 1500)
    assert not said(search, X, y)
    model = GridSearchCV(Keeps(), {"max_depth": [2]}, cv=TimeSeriesSplit(4))
    mask = np.arange(N) >= 1500
    search = ReusableHoldoutCV(model, holdout=mask, ledger=tmp_path / "other.db")
    rows = search.fit(np.c_[np.arange(N), X], y).best_estimator_.rows_
    assert rows.tolist() == list(range(1500))


def test_candidates_are_guessed_from_random_rows_anyhow_and_keep_their_order(tmp_path):
    X, y = make_classification(200, 4, random_state=0)
    search = ReusableHoldoutCV(
        GridSearchCV(Keeps(), {"max_depth": [1, 2]}), ask="candidates", ledger=tmp_path / "ledger.db"
    )
    assert (np.diff(search.fit(np.c_[np.arange(200), X], y).best_estimator_.rows_) > 0).all()


class OwnFolds(KFold):
    """A splitter of the user's, which may mean the order of rows."""


def said(search, X, y, **passed):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.fit(X, y, **passed)
    return [str(each.message) for each in caught if "lie together" in str(each.message)]


@pytest.mark.parametrize(
    ("cv", "fix"),
    [
        (OwnFolds(4), r"OwnFolds(..., shuffle=True, random_state=0)"),
        (list(KFold(4).split(np.zeros(N))), "cv=KFold(5, shuffle=True, random_state=0)"),
    ],
    ids=["splitter", "list"],
)
def test_other_folds_that_are_blocks_are_warned_of_with_the_fix(cv, fix, tmp_path):
    (told,) = said(searched(tmp_path / "ledger.db", cv), *drifting())
    assert "Certificates hold all the same" in told
    assert told.endswith(f"{fix}.")


GROUPED = np.arange(N) // 200
RANDOM = [
    OwnFolds(4, shuffle=True, random_state=0), ShuffleSplit(3, random_state=0), LeaveOneGroupOut(),
    RepeatedKFold(n_splits=3, n_repeats=2, random_state=0), GroupKFold(4),
    StratifiedGroupKFold(4, shuffle=True, random_state=0), PredefinedSplit(np.arange(N) % 5),
]  # fmt: skip


@pytest.mark.parametrize("cv", RANDOM, ids=lambda cv: type(cv).__name__)
def test_folds_from_everywhere_are_not_warned_of(cv, tmp_path):
    assert not said(searched(tmp_path / "ledger.db", cv), *drifting(), groups=GROUPED)


def test_rows_beside_a_given_holdout_keep_their_order_and_are_warned_of_where_folds_differ(tmp_path):
    X, y = drifting()
    held = np.random.default_rng(1).random(N) < 0.25
    holdout = Holdout(X[held], y[held], ledger=tmp_path / "ledger.db")
    order = np.random.default_rng(2).permutation(int((~held).sum()))
    assert not said(searched(None, holdout=holdout, answers="auto"), X[~held][order], y[~held][order])
    (told,) = said(searched(None, holdout=holdout, answers="auto"), X[~held], y[~held])
    assert "StratifiedKFold(..., shuffle=True, random_state=0)" in told
    plain = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [10, None]})
    search = searched(None, holdout=holdout, answers="auto").fit(X[~held], y[~held])
    scores = plain.fit(X[~held], y[~held]).cv_results_["mean_test_score"]
    assert (search.cv_results_["mean_test_score"] == scores).all()
