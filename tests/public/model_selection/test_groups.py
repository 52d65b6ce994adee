"""Searches over groups: no group on both sides of any split, and groups as units of the certificate."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    ShuffleSplit,
    StratifiedKFold,
)
from sklearn.neighbors import KNeighborsClassifier

from sklearn_ada import Holdout, ReusableHoldoutCV, ThresholdoutScorer
from sklearn_ada.exceptions import HoldoutLeakError, LedgerMismatchError
from tests.support.searches import grid

GROUPS = np.arange(400) // 8
asks = pytest.mark.parametrize("ask", ["candidates", "winner", 2])


@pytest.fixture
def grouped(searched):
    """Fit a wrapped search of grouped rows."""

    def fit(search=None, **params):
        return searched(search or grid(LogisticRegression()), passed={"groups": GROUPS}, **params)

    return fit


@asks
def test_no_group_is_on_both_sides_of_any_split_and_groups_are_the_units_of_the_certificate(
    ask, recorder, grouped
):
    kind = recorder["classifier"]
    search = grouped(grid(kind(), cv=None if ask == "candidates" else GroupKFold(3)), ask=ask)
    final = {int(row) // 8 for row in search.best_estimator_.rows_}
    assert search.holdout_.n_rows == 400 - 8 * len(final)
    for rows in kind.fitted_on:
        fitted = {int(row) // 8 for row in rows}
        assert len(rows) == 8 * len(fitted)
        assert fitted <= final
    assert search.best_score_target_.endswith("group sizes")
    units = search.holdout_.ledger.genesis["units"]
    assert units["groups"]
    assert units["number"] == search.holdout_.n_rows // 8


@asks
@pytest.mark.parametrize(  # Thresholdout has no interval of f1_macro without groups either
    ("mechanism", "scoring"), [("auto", "roc_auc_ovr"), ("auto", "f1_macro"), ("thresholdout", "roc_auc_ovr")]
)
def test_a_metric_without_an_interval_for_groups_is_refused(scoring, mechanism, ask, grouped, sentence):
    with pytest.raises(ValueError, match=sentence("scoring")) as caught:
        grouped(scoring=scoring, mechanism=mechanism, ask=ask)
    assert "weights or groups" in str(caught.value)
    assert "mechanism='stable_median' answers the median" in str(caught.value)


def test_the_median_answers_for_groups_where_it_is_written(grouped):
    search = grouped(scoring="roc_auc", mechanism="stable_median")
    assert "random subsamples" in search.best_answer_.certificate.target
    for shown in (
        repr(search),
        repr(search.best_answer_),
        repr(search.holdout_.report()),
        search._repr_html_(),
    ):
        assert re.search(r"holdout, median over subsamples of \d+ groups: ", shown)


@pytest.mark.parametrize(
    ("holdout", "rows"),
    [(GroupShuffleSplit(1, test_size=0.3, random_state=0), 120), (np.arange(400) >= 320, 80)],
)
def test_a_splitter_of_groups_or_a_mask_of_whole_groups_names_the_holdout(holdout, rows, grouped):
    assert grouped(holdout=holdout).holdout_.n_rows == rows


@pytest.mark.parametrize("holdout", [np.arange(400) >= 300 + 3, ShuffleSplit(1, random_state=0)])
def test_a_holdout_that_tears_groups_is_refused(holdout, refused):
    refused("holdout", holdout=holdout, passed={"groups": GROUPS})


def test_copies_of_patients_fool_a_split_by_rows_and_not_one_by_groups(wrap, tmp_path):
    """Random labels, five copies of each record: a nearest neighbour knows them if it has seen a copy."""
    rng = np.random.default_rng(0)
    X, y = np.repeat(rng.normal(size=(100, 4)), 5, axis=0), np.repeat(rng.integers(0, 2, 100), 5)
    X += 1e-3 * rng.normal(size=X.shape)
    search = GridSearchCV(KNeighborsClassifier(1), {"p": [1, 2]})
    torn = wrap(search, answers="exact").fit(X, y)
    whole = wrap(search, answers="exact", ledger=tmp_path / "groups.db")
    whole.fit(X, y, groups=np.repeat(np.arange(100), 5))
    assert torn.best_score_interval_[0] > 0.9
    assert whole.best_score_interval_[0] < 0.5 < whole.best_score_interval_[1]


@pytest.mark.parametrize(("first", "second"), [("with", "without"), ("without", "with")])
def test_groups_that_are_left_out_or_added_later_are_named(first, second, rows, tmp_path):
    X, y = np.r_[rows[0], rows[2]], np.r_[rows[1], rows[3]]
    passed = {"with": {"groups": np.arange(len(y)) // 4}, "without": {}}
    search = ReusableHoldoutCV(grid(LogisticRegression()), ledger=tmp_path / "ledger.db")
    search.fit(X, y, **passed[first])
    with pytest.raises(LedgerMismatchError, match=f"begun {first} groups, and is opened {second} them"):
        search.fit(X, y, **passed[second])


@pytest.mark.parametrize("ledger", [None, "ledger.db"])
def test_groups_that_are_left_out_are_named_where_rows_have_ids_too(ledger, rows, tmp_path):
    X, y = np.r_[rows[0], rows[2]], np.r_[rows[1], rows[3]]
    search = ReusableHoldoutCV(grid(LogisticRegression()), ledger=ledger and tmp_path / ledger)
    search.fit(X, y, ids=np.arange(len(y)), groups=np.arange(len(y)) // 4)
    with pytest.raises(LedgerMismatchError, match="was begun with groups, and is opened without them"):
        search.fit(X, y, ids=np.arange(len(y)))


@pytest.mark.parametrize("cv", [None, 3, KFold(3), StratifiedKFold(3)])
def test_folds_that_take_no_groups_are_passed_none(cv, rows, tmp_path, recwarn):
    X, y = np.r_[rows[0], rows[2]], np.r_[rows[1], rows[3]]
    search = ReusableHoldoutCV(grid(LogisticRegression(), cv=cv), ledger=tmp_path / "ledger.db")
    search.fit(X, y, groups=np.arange(len(y)) // 4)
    assert not [str(each.message) for each in recwarn if "ignored" in str(each.message)]


def test_a_scorers_cv_keeps_groups_whole(rows, tmp_path):
    X, y, X_hold, y_hold = rows[:4]
    holdout = Holdout(X_hold, y_hold, groups=np.arange(len(y_hold)) // 4, ledger=tmp_path / "ledger.db")
    scorer = ThresholdoutScorer("accuracy", holdout)
    groups = 10_000 + np.arange(len(y)) // 6  # others than those of the holdout
    fit, guess = next(scorer.cv.split(X, y, groups))
    assert not set(groups[fit]) & set(groups[guess])
    search = grid(LogisticRegression(), scoring=scorer, cv=scorer.cv, refit=scorer.select_best)
    search.fit(X, y, groups=groups)
    assert holdout.report().asked["check"] == 2


def by_a_scorer(holdout, rows, labels, groups):
    scorer = ThresholdoutScorer("accuracy", holdout)
    search = GridSearchCV(KNeighborsClassifier(1), {}, scoring=scorer, cv=scorer.cv, refit=scorer.select_best)
    return search.fit(rows, labels, groups=groups)


def around(holdout, rows, labels, groups):
    search = GridSearchCV(KNeighborsClassifier(1), {}, cv=GroupKFold(3))
    return ReusableHoldoutCV(search, holdout=holdout).fit(rows, labels, groups=groups)


@pytest.mark.parametrize("fit", [around, by_a_scorer])
@pytest.mark.parametrize("name", [int, str, lambda groups: list(groups), pd.Series])
def test_groups_of_a_given_holdout_are_not_trained_on(fit, name, tmp_path):
    """Random labels of patients, who come again and again a little changed, in a split by rows."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(50, 3))[GROUPS] + 0.01 * rng.normal(size=(400, 3))
    labels = rng.integers(0, 2, 50)[GROUPS]
    train, held = np.split(rng.permutation(400), [300])
    as_named = {int: lambda groups: groups, str: lambda groups: groups.astype(str)}.get(name, name)
    holdout = Holdout(rows[held], labels[held], groups=as_named(GROUPS[held]), ledger=tmp_path / "ledger.db")
    before = holdout.report().to_dict()
    with pytest.raises(HoldoutLeakError, match=r"of the groups of the training rows.*nothing recorded"):
        fit(holdout, rows[train], labels[train], as_named(GROUPS[train]))
    assert holdout.report().to_dict() == before
    others = ~np.isin(GROUPS[train], GROUPS[held])
    part = train[others] if others.any() else train
    fit(holdout, rows[part], labels[part], as_named(GROUPS[part] + 1000))  # other patients
