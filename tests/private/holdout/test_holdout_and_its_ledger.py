"""One holdout, one ledger: the same data go on paying, other data and other policies are refused."""

import copy
import itertools
import math
import pickle
import re
import shutil
from functools import partial
from unittest.mock import patch

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from sklearn_ada import Holdout, ReusableHoldoutCV, plan_holdout
from sklearn_ada.exceptions import LedgerDamagedError, LedgerMismatchError
from sklearn_ada.terms.policy import Policy


def test_the_same_data_share_one_temporary_ledger(rows, model):
    X, y = rows[2] + 0.125, rows[3]  # data of this test alone
    first = Holdout(X, y)
    first.certify(model, scoring="accuracy")
    again = Holdout(X.copy(), list(y))
    assert (again.fingerprint, again.report().asked["certify"]) == (first.fingerprint, 1)


def test_other_data_get_another_temporary_ledger(rows):
    first, second = Holdout(rows[2], rows[3]), Holdout(rows[2], rows[3][::-1])
    assert first.ledger.path != second.ledger.path


OTHER_POLICIES = [
    ("confidence_level", 0.9),
    ("tolerance", 0.1),
    ("expected_questions", 10),
    ("random_state", 7),
    ("split", {"holdout": "share 0.5"}),
]


@pytest.mark.parametrize(("name", "value"), OTHER_POLICIES)
def test_another_policy_on_the_same_ledger_is_refused(holdout, rows, name, value, uncharged):
    message = r"^The ledger 'ledger\.db' .* Use the same .*, or rows that nobody"
    with uncharged(holdout), pytest.raises(LedgerMismatchError, match=message):
        Holdout(rows[2], rows[3], ledger=holdout.ledger.path, **{name: value})


def test_a_ledger_of_another_policy_may_be_deleted_as_long_as_nothing_was_asked_of_it(holdout, rows, model):
    path = holdout.ledger.path
    with pytest.raises(LedgerMismatchError, match="as nothing was asked of this ledger yet, delete its file"):
        Holdout(rows[2], rows[3], ledger=path, tolerance=0.1)
    holdout.certify(model, scoring="accuracy", guess=0.5)
    with pytest.raises(LedgerMismatchError) as caught:
        Holdout(rows[2], rows[3], ledger=path, tolerance=0.1)
    assert "delete" not in str(caught.value)


def test_another_policy_is_refused_for_the_temporary_ledger_too(rows):
    Holdout(rows[2] + 0.5, rows[3])
    with pytest.raises(LedgerMismatchError, match="another policy"):
        Holdout(rows[2] + 0.5, rows[3], confidence_level=0.5)


def test_a_ledger_of_another_holdout_is_refused_naming_both_fingerprints_shortened(
    holdout, rows, model, tmp_path, uncharged
):
    other = Holdout(rows[0], rows[1], ledger=tmp_path / "other.db")
    holdout.certify(model, scoring="accuracy")
    message = r"^The ledger 'ledger\.db' belongs to another holdout"
    with uncharged(holdout), pytest.raises(LedgerMismatchError, match=message) as caught:
        Holdout(rows[0], rows[1], ledger=holdout.ledger.path)
    first, second = re.findall(r"\b[0-9a-f]{12,}\b", str(caught.value))
    assert (first, len(second)) == (holdout.fingerprint[:12], 12)
    assert second not in (first, other.fingerprint[:12])  # keyed by this ledger's secret


SAME_ROWS = {
    "list": lambda X: X.tolist(),
    "fortran": np.asfortranarray,
    "view": lambda X: np.repeat(X, 2, axis=0)[::2],
    "copy": np.copy,
}


@pytest.mark.parametrize("container", SAME_ROWS.values(), ids=SAME_ROWS)
def test_the_fingerprint_is_of_the_content_whatever_holds_it(holdout, rows, container):
    again = Holdout(container(rows[2]), list(rows[3]), ledger=holdout.ledger.path)
    assert again.fingerprint == holdout.fingerprint


def test_a_ledger_that_was_moved_is_the_same_ledger(holdout, rows, model, tmp_path):
    """The holdout is known by its content, not by where its ledger or its rows came from."""
    answer = holdout.certify(model, scoring="accuracy")
    shutil.copy(holdout.ledger.path, tmp_path / "moved.db")
    moved = Holdout(rows[2], rows[3], ledger=tmp_path / "moved.db")
    assert (moved.fingerprint, moved.certify(model, scoring="accuracy")) == (holdout.fingerprint, answer)


CHANGED = {
    "one label": lambda X, y: (X, np.where(np.arange(len(y)) == 7, 1 - y, y)),
    "one row less": lambda X, y: (X[:-1], y[:-1]),
    "rows in another order": lambda X, y: (X[::-1], y[::-1]),
    "labels in another order": lambda X, y: (X, y[::-1]),
}


@pytest.mark.parametrize("change", CHANGED.values(), ids=CHANGED)
def test_any_change_of_the_labels_is_another_holdout(holdout, rows, change):
    with pytest.raises(LedgerMismatchError, match="another holdout"):
        Holdout(*change(rows[2], rows[3]), ledger=holdout.ledger.path)


def test_another_split_of_the_same_data_is_refused_under_one_ledger(rows, tmp_path):
    X, y = np.r_[rows[0], rows[2]], np.r_[rows[1], rows[3]]
    inner = GridSearchCV(LogisticRegression(), {"C": [0.1]})
    options = {"ask": "winner", "ledger": tmp_path / "shared.db"}
    first = ReusableHoldoutCV(inner, **options).fit(X, y)
    for other in ({"random_state": 1}, {"holdout": 0.3}, {"holdout": np.arange(500) < 125}):
        with pytest.raises(LedgerMismatchError, match="another holdout"):
            ReusableHoldoutCV(inner, **options, **other).fit(X, y)
    assert ReusableHoldoutCV(inner, **options).fit(X, y).holdout_.fingerprint == first.holdout_.fingerprint


def test_a_file_that_is_no_ledger_is_refused_and_unchanged(rows, tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("not a ledger " * 100)
    with pytest.raises(LedgerDamagedError, match="not a readable ledger"):
        Holdout(rows[2], rows[3], ledger=path)
    assert path.read_text() == "not a ledger " * 100


def test_an_answer_outlives_the_holdout_object(holdout, rows, model):
    answer = holdout.certify(model, scoring="accuracy")
    assert Holdout(rows[2], rows[3], ledger=holdout.ledger.path).report().answers == (("accuracy", answer),)


@pytest.mark.parametrize(
    "duplicate",
    [copy.copy, copy.deepcopy, lambda h: clone(h, safe=False), lambda h: pickle.loads(pickle.dumps(h))],
    ids=["copy", "deepcopy", "clone", "pickle"],
)
def test_every_copy_charges_the_same_ledger(holdout, model, duplicate):
    duplicate(holdout).certify(model, scoring="accuracy")
    assert holdout.report().asked["certify"] == 1


def test_beyond_the_tolerance_a_question_is_refused_and_costs_nothing(rows, model, tmp_path):
    holdout = Holdout(rows[2], rows[3], tolerance=0.01, ledger=tmp_path / "ledger.db")
    answer = holdout.check(model, scoring="accuracy", guess=0.8)
    assert answer.verdict == "refused"
    assert np.isnan(answer.value)
    assert (answer.cost.nats, holdout.report().nats, holdout.report().refused) == (0.0, 0.0, 1)
    assert "tolerance of 0.01" in answer.reason


def test_numpy_number_as_guess_is_the_same_question(holdout, model):
    holdout.check(model, scoring="accuracy", guess=0.75)
    assert holdout.check(model, scoring="accuracy", guess=np.float32(0.75)).repeated


SHIFTS = itertools.count(10)


@pytest.fixture(params=[None, ":memory:"], ids=["temporary", "memory"])
def unnamed(request, rows):
    """Makes a holdout, or a search with one, of some rows on the ledger that goes with them."""
    X = rows[2] + next(SHIFTS)  # data of this test alone

    class Unnamed:
        @staticmethod
        def holdout(**params):
            return Holdout(X, rows[3], ledger=request.param, **params)

        @staticmethod
        def search(**params):
            inner = GridSearchCV(LogisticRegression(), {"C": [0.1]})
            return ReusableHoldoutCV(inner, ask="winner", ledger=request.param, **params).fit(X, rows[3])

    return Unnamed


def mismatch(action, **params):
    """Return what is said of the ledger, which nobody gave a name."""
    with pytest.raises(LedgerMismatchError) as caught:
        action(**params)
    message = str(caught.value)
    assert message.startswith("This session's ledger for these data ")
    assert message.endswith(
        "For rows that nobody has asked about give a ledger of their own: ledger='holdout.db'."
    )
    assert "ledger.db'" not in message.replace("holdout.db'", "")
    assert "ledger=None" not in message
    return message


def test_another_policy_on_an_unnamed_ledger_names_no_file(unnamed, rows, tmp_path):
    unnamed.holdout()
    message = mismatch(unnamed.holdout, tolerance=0.05)
    assert "with another policy (tolerance=None)" in message
    assert "Use the same parameters. " in message
    assert unnamed.holdout().report().asked["certify"] == 0
    assert Holdout(rows[2], rows[3], tolerance=0.05, ledger=tmp_path / "holdout.db")  # the fix that is named


def test_a_holdout_of_data_that_a_search_split_is_told_of_the_search(unnamed, model):
    found = unnamed.search()
    for action, params in [(unnamed.holdout, {}), (unnamed.search, {"random_state": 1})]:
        message = mismatch(action, **params)
        assert "begun by a ReusableHoldoutCV" in message
        assert (
            "(holdout: share 0.25, random_state=None). Ask its holdout_, or search with the same" in message
        )
    assert found.holdout_.certify(model, scoring="accuracy").answered
    assert unnamed.search().holdout_.fingerprint == found.holdout_.fingerprint
    assert "another policy (tolerance=None)" in mismatch(unnamed.search, tolerance=0.2)


def test_a_search_on_data_of_a_holdout_is_told_of_the_holdout(unnamed):
    unnamed.holdout()
    assert "was begun by a Holdout of all of them. Ask that Holdout" in mismatch(unnamed.search)


def test_a_ledger_that_another_check_share_began_keeps_it(rows, model, tmp_path):
    """It was once a parameter; now what the genesis says goes on, and nobody passes it."""
    with patch("sklearn_ada.holdout.holdout.Policy", partial(Policy, check_share=0.5)):
        begun = Holdout(rows[2], rows[3], ledger=tmp_path / "ledger.db")
    again = Holdout(rows[2], rows[3], ledger=tmp_path / "ledger.db")
    assert again.ledger.genesis["check_share"] == 0.5
    other = Holdout(rows[2], rows[3], ledger=tmp_path / "other.db")
    first, second, third = (
        each.check(model, scoring="accuracy", guess=0.8).certificate.ln_delta
        for each in (begun, again, other)
    )
    assert first == second == pytest.approx(third + math.log(5))
    with pytest.raises(TypeError, match="check_share"):
        Holdout(rows[2], rows[3], check_share=0.5)
    with pytest.raises(TypeError, match="check_share"):
        plan_holdout(n=1000, n_questions=10, check_share=0.5)


def test_answers_go_on_as_the_ledger_was_begun_and_a_new_one_is_exact(rows, tmp_path):
    inner = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]})
    search = ReusableHoldoutCV(inner, ledger=tmp_path / "cells.db").fit(rows[0], rows[1])
    data, split = search.holdout_._session.data, search.holdout_.ledger.genesis["split"]

    def opened(name, **params):
        split_of = {"split": split} if name == "cells.db" else {}
        return Holdout(data.X, data.y, ledger=tmp_path / name, **split_of, **params)

    assert opened("cells.db").ledger.genesis["answers"] == "cells"
    with pytest.raises(LedgerMismatchError, match="another policy"):
        opened("cells.db", answers="exact")
    assert "answers" not in opened("exact.db").ledger.genesis
    assert "answers" not in Holdout(data.X + 0.75, data.y).ledger.genesis
    for name in ("exact.db", "cells.db"):  # and a search on a ledger that is exact goes on so, too
        search = ReusableHoldoutCV(inner, holdout=opened(name)).fit(rows[0][::2], rows[1][::2])
        assert (search.best_answer_.verdict == "exact") == (name == "exact.db")
