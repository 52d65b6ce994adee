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
from sklearn_ada.exceptions import LedgerMismatchError
from sklearn_ada.terms.policy import Policy


def test_the_same_data_share_one_temporary_ledger_and_other_data_have_another(rows, model):
    X, y = rows[2] + 0.125, rows[3]  # data of this test alone
    first, again, other = Holdout(X, y), Holdout(X.copy(), list(y)), Holdout(X, y[::-1])
    first.certify(model, scoring="accuracy")
    assert (again.fingerprint, again.report().asked["certify"]) == (first.fingerprint, 1)
    assert first.ledger.path != other.ledger.path


OTHER_POLICIES = [
    ("confidence_level", 0.9),
    ("tolerance", 0.1),
    ("expected_questions", 10),
    ("random_state", 7),
    ("split", {"holdout": "share 0.5"}),
]


@pytest.mark.parametrize(("name", "value"), OTHER_POLICIES)
def test_another_policy_on_the_same_ledger_is_refused(holdout, rows, name, value, uncharged):
    message = r"^The ledger 'ledger\.db' .* [Uu]se the same .* rows that nobody"
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


def test_a_ledger_of_another_holdout_is_refused_naming_both_fingerprints_shortened(
    holdout, rows, model, tmp_path, uncharged
):
    other = Holdout(rows[0], rows[1], ledger=tmp_path / "other.db")
    holdout.certify(model, scoring="accuracy")
    message = r"^The ledger 'ledger\.db' belongs to another holdout"
    with uncharged(holdout), pytest.raises(LedgerMismatchError, match=message) as caught:
        Holdout(rows[0][1:], rows[1][1:], ledger=holdout.ledger.path)
    first, second = re.findall(r"\b[0-9a-f]{12,}\b", str(caught.value))
    assert (first, len(second)) == (holdout.fingerprint[:12], 12)
    assert second not in (first, other.fingerprint[:12])  # keyed by this ledger's secret


def test_a_ledger_that_was_moved_is_the_same_ledger_and_has_its_answers(holdout, rows, model, tmp_path):
    answer = holdout.certify(model, scoring="accuracy")
    shutil.copy(holdout.ledger.path, tmp_path / "moved.db")
    moved = Holdout(rows[2], rows[3], ledger=tmp_path / "moved.db")
    assert moved.report().answers == (("accuracy", answer),)
    assert (moved.fingerprint, moved.certify(model, scoring="accuracy")) == (holdout.fingerprint, answer)


def test_every_copy_charges_the_same_ledger(holdout, model):
    pickled = pickle.loads(pickle.dumps(holdout))
    copies = (copy.copy(holdout), copy.deepcopy(holdout), clone(holdout, safe=False), pickled)
    for number, each in enumerate(copies):
        each.certify(model, scoring=("accuracy", "balanced_accuracy", "roc_auc", "f1")[number], guess=0.5)
        assert holdout.report().asked["certify"] == number + 1


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
    advice = "For rows that nobody has asked about give a ledger of their own: ledger='holdout.db'."
    assert message.endswith(advice)
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
        assert "(holdout: share 0.25, random_state=None). Ask its holdout_, or search with the" in message
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
    checks = (each.check(model, scoring="accuracy", guess=0.8) for each in (begun, again, other))
    first, second, third = (check.certificate.ln_delta for check in checks)
    paid = 0.01005  # for opening it again
    assert first == second == pytest.approx(third + math.log(5) - paid, abs=1e-6)
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
