"""Rows reach a search in a random order where its folds would be blocks: guesses of ordered rows hold."""

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import (
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
from tests.support.ledgers import bodies
from tests.support.searches import grid, warned

N = 2000
GROUPED = np.arange(N) // 200
BLOCKS = "lie together"  # a part of the warning


class OwnFolds(KFold):
    """A splitter of the user's, which may mean the order of rows."""


class Keeps(DecisionTreeClassifier):
    """A tree that keeps the first column of its rows, and what came with them, in their order."""

    def fit(self, X, y, sample_weight=None, check_input=True):
        self.rows_ = np.asarray(X)[:, 0].astype(int)
        self.weights_, self.labels_ = sample_weight, np.asarray(y)
        return super().fit(X, y, check_input=check_input)


@pytest.fixture(scope="module")
def drifting():
    """Rows in the order of a feature on which the label depends: no block tells what another is like."""
    rng = np.random.default_rng(0)
    t = np.sort(rng.random(N))
    x = rng.normal(size=N)
    return np.c_[t, x], (x * np.sign(np.sin(30 * t)) + 0.3 * rng.normal(size=N) > 0).astype(int)


def errors_off(search):
    """Return how many standard errors the guess of the winner is from its score on the holdout."""
    p, guess = search.best_score_, bodies(search.holdout_)[-1]["guess"]
    by_sampling = p * (1 - p) * (1 / search.holdout_.n_rows + 1 / len(search.train_indices_))
    return abs(guess["value"] - p) / math.sqrt(by_sampling)


def searched(ledger, cv=None, **params):
    inner = grid(values=[10, None], cv=cv)
    return ReusableHoldoutCV(inner, **{"answers": "exact", "ledger": ledger, **params})


def numbered_rows(n=200):
    X, y = make_classification(n, 4, random_state=0)
    return np.c_[np.arange(n), X], y


def kept(path, cv=None, data=None, passed=None, **params):
    """Return the model that a search of numbered rows refits, with the order of its rows."""
    search = ReusableHoldoutCV(grid(Keeps(), [2], cv=cv), ledger=path, **params)
    search, _ = warned("", search.fit, *(data or numbered_rows()), **(passed or {}))
    return search.best_estimator_


@pytest.mark.parametrize("cv", [None, 4, KFold(5), StratifiedKFold(5)], ids=repr)
def test_a_guess_from_ordered_rows_is_within_three_standard_errors(cv, tmp_path, monkeypatch, drifting):
    X, y = drifting
    assert errors_off(searched(tmp_path / "shuffled.db", cv).fit(X, y)) < 3.0
    monkeypatch.setattr("sklearn_ada.model_selection.setting_aside.is_shuffled_for", lambda cv: False)
    assert errors_off(searched(tmp_path / "ordered.db", cv).fit(X, y)) > 4.5


def test_a_rerun_finds_its_record_and_with_ids_from_any_order_of_the_file(tmp_path, drifting):
    X, y = drifting
    first, again = (searched(tmp_path / "labels.db").fit(X, y).best_answer_ for _ in range(2))
    assert again.repeated
    assert again == first
    ids = np.arange(N) + 10_000
    searched(tmp_path / "ids.db").fit(X, y, ids=ids)
    turned = searched(tmp_path / "ids.db").fit(X[::-1], y[::-1], ids=ids[::-1])
    assert turned.best_answer_.repeated
    assert turned.holdout_.report().asked == {"check": 0, "certify": 1}


def test_the_order_depends_on_random_state_and_on_nothing_that_passes(tmp_path):
    X, y = numbered_rows()
    how = {"holdout": np.arange(200) >= 150}
    usual = kept(tmp_path / "a.db", data=(X, y), **how).rows_.tolist()
    other = kept(tmp_path / "a.db", cv=4, data=(X[:, :3], y), **how).rows_.tolist()
    seeded = kept(tmp_path / "b.db", data=(X, y), random_state=7, **how).rows_.tolist()
    assert usual == other  # another search of other columns
    assert sorted(usual) == sorted(seeded) == list(range(150))
    assert usual != seeded
    assert usual != list(range(150))


def test_labels_weights_and_frames_move_with_their_rows(tmp_path):
    X, y = numbered_rows()
    model = kept(tmp_path / "array.db", passed={"sample_weight": np.arange(200) + 0.5})
    assert (np.diff(model.rows_) < 0).any()
    assert (model.weights_ == model.rows_ + 0.5).all()
    assert (model.labels_ == y[model.rows_]).all()
    framed = kept(tmp_path / "frame.db", data=(pd.DataFrame(X, columns=list("nabcd")), pd.Series(y)))
    assert (framed.rows_ == model.rows_).all()
    assert (framed.labels_ == model.labels_).all()


def test_time_keeps_its_order_and_is_not_warned_of(tmp_path, drifting):
    X, y = drifting
    cv, how = TimeSeriesSplit(4), {"holdout": np.arange(N) >= 1500}
    assert not warned(BLOCKS, searched(tmp_path / "ledger.db", cv, **how).fit, X, y)[1]
    rows = kept(tmp_path / "other.db", cv, (np.c_[np.arange(N), X], y), **how).rows_
    assert rows.tolist() == list(range(1500))


def test_candidates_are_guessed_from_random_rows_anyhow_and_keep_their_order(tmp_path):
    assert (np.diff(kept(tmp_path / "ledger.db", ask="candidates").rows_) > 0).all()


LISTED = list(KFold(4).split(np.zeros(N)))
IN_BLOCKS = {
    "splitter": (OwnFolds(4), "OwnFolds(..., shuffle=True, random_state=0)"),
    "list": (LISTED, "cv=KFold(5, shuffle=True, random_state=0)"),
}


@pytest.mark.parametrize(("cv", "fix"), IN_BLOCKS.values(), ids=IN_BLOCKS)
def test_other_folds_that_are_blocks_are_warned_of_with_the_fix(cv, fix, tmp_path, drifting):
    _, (text,) = warned(BLOCKS, searched(tmp_path / "ledger.db", cv).fit, *drifting)
    assert "Certificates hold all the same" in text
    assert text.endswith(f"{fix}.")


RANDOM = [
    OwnFolds(4, shuffle=True, random_state=0), ShuffleSplit(3, random_state=0), LeaveOneGroupOut(),
    RepeatedKFold(n_splits=3, n_repeats=2, random_state=0), GroupKFold(4),
    StratifiedGroupKFold(4, shuffle=True, random_state=0), PredefinedSplit(np.arange(N) % 5),
]  # fmt: skip


@pytest.mark.parametrize("cv", RANDOM, ids=lambda cv: type(cv).__name__)
def test_folds_from_everywhere_are_not_warned_of(cv, tmp_path, drifting):
    search = searched(tmp_path / "ledger.db", cv)
    assert not warned(BLOCKS, search.fit, *drifting, groups=GROUPED)[1]


def test_rows_beside_a_given_holdout_keep_their_order_and_are_warned_of_where_folds_differ(
    tmp_path, drifting
):
    X, y = drifting
    held = np.random.default_rng(1).random(N) < 0.25
    holdout = Holdout(X[held], y[held], ledger=tmp_path / "ledger.db")
    X, y = X[~held], y[~held]
    order = np.random.default_rng(2).permutation(len(y))
    search = searched(None, holdout=holdout, answers="auto")
    assert not warned(BLOCKS, search.fit, X[order], y[order])[1]
    _, (text,) = warned(BLOCKS, search.fit, X, y)
    assert "StratifiedKFold(..., shuffle=True, random_state=0)" in text
    scores = grid(values=[10, None]).fit(X, y).cv_results_["mean_test_score"]
    assert (search.cv_results_["mean_test_score"] == scores).all()


def test_rows_of_a_group_stay_next_to_each_other(tmp_path):
    groups = np.arange(200) % 40  # far from each other in the file
    for ids in (None, np.arange(200) + 1000):
        passed = {"groups": groups, "ids": ids}
        of_row = groups[kept(tmp_path / f"{ids is None}.db", passed=passed).rows_]
        assert (np.diff(of_row) != 0).sum() == len(set(of_row)) - 1
        assert (np.diff(of_row[::5]) < 0).any()


SPLITS = [
    GroupKFold(3), ShuffleSplit(2, random_state=0), KFold(3, shuffle=True, random_state=0),
    PredefinedSplit(np.arange(200) % 3), list(KFold(3).split(np.zeros(200))),
]  # fmt: skip


@pytest.mark.parametrize("cv", SPLITS, ids=lambda cv: type(cv).__name__)
def test_of_splitters_that_may_mean_it_the_order_is_kept(cv, tmp_path):
    rows = kept(tmp_path / "ledger.db", cv, passed={"groups": np.arange(200) // 2}).rows_
    assert (np.diff(rows) > 0).all()
