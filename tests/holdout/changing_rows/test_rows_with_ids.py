"""A holdout whose rows have ids is the same one in any order; what became of its rows is recorded."""

import datetime
import decimal
import itertools
import json
import math
import os
import pickle
import threading
import uuid
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    KFold,
    cross_val_predict,
    cross_validate,
)

from sklearn_ada import Holdout
from sklearn_ada.cli import main
from sklearn_ada.digest.rows import id_hashes, part_of_each
from sklearn_ada.exceptions import LedgerMismatchError
from sklearn_ada.holdout import changes as changed_rows
from sklearn_ada.holdout.finding import place_of_rows
from sklearn_ada.holdout.state import State
from sklearn_ada.terms.policy import Genesis
from sklearn_ada.terms.row_tables import CHANGES, Changes, keyed_table

N = 200
RNG = np.random.default_rng(0)
X = np.c_[np.arange(N + 60.0), RNG.normal(size=(N + 60, 2))]
Y = RNG.integers(0, 2, N + 60)
IDS = np.array([f"patient {number}" for number in range(N + 60)])
OLD, ALL = slice(0, N), slice(0, N + 60)
WHERE = ["path", "memory", "temporary"]
CORRECTED = "labels were corrected without looking at predictions, at times that depend on no record"


class Says(ClassifierMixin, BaseEstimator):
    """Says the same class of all rows."""

    classes_ = np.array([0, 1])

    def __init__(self, number=1, name=""):
        self.number, self.name = number, name

    def __sklearn_is_fitted__(self):
        return True

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.full(len(X), self.number)


@pytest.fixture(params=WHERE)
def begin(request, tmp_path):
    """Open a holdout of some rows, always on the same kind of ledger."""
    ledger = {"path": tmp_path / "ledger.db", "memory": ":memory:", "temporary": None}[request.param]

    def holdout(rows=OLD, y=Y, ids=IDS, **parameters):
        return Holdout(X[rows], y[rows], ids=ids[rows], ledger=ledger, **parameters)

    return holdout


def ask(holdout, name=""):
    return holdout.certify(Says(name=name), scoring="accuracy", guess=0.5)


def changes_of(holdout):
    bodies = [record.body for record in holdout.ledger.records()]
    return [(b["change"], b.get("count"), b["rows"]) for b in bodies if b.get("kind") == "rows"]


def _as_text(ids):
    return [f"row {one}" for one in ids]


def flipped(numbers):
    y = Y.copy()
    y[numbers] = 1 - y[numbers]
    return y


def test_any_order_is_the_same_holdout(begin):
    answer = ask(begin())
    order = np.random.default_rng(1).permutation(N)
    again = begin(order)
    assert ask(again) == answer
    assert ask(again).repeated
    assert changes_of(again) == [("begun", N, N)]
    assert (again._session.data.X == begin()._session.data.X).all()  # so subsamples are the same, too


def test_new_rows_are_a_top_up(begin):
    before = ask(begin())
    larger = begin(ALL)
    assert larger.n_rows == N + 60
    answer = ask(larger)
    assert not answer.repeated
    assert answer.value == pytest.approx(np.mean(Y))
    assert larger.report().nats > before.cost.nats
    assert changes_of(larger) == [("begun", N, N), ("added", 60, N + 60)]
    assert answer.certificate.assumptions == before.certificate.assumptions


def test_a_holdout_that_stayed_open_returns_what_is_recorded_and_nothing_new(begin):
    earlier = begin()
    before = ask(earlier)
    ask(begin(ALL))
    assert ask(earlier) == before
    refused = ask(earlier, "another")
    assert refused.verdict == "refused"
    assert "open a Holdout (or fit) again with the rows and labels that you mean" in refused.reason
    begin()  # back to its rows
    assert ask(earlier, "a third").verdict != "refused"


AWAY = {
    "wrong labels": {"y": 1 - Y},
    "another target": {"y": (X[:, 1] > 0).astype(int)},
    "labels as text": {"y": Y.astype(str)},
    "a bad join": {"rows": ALL},
    "a filter": {"rows": slice(50, N), "missing": "ignore"},
    "others and a filter": {"y": 1 - Y, "rows": slice(50, N + 30), "missing": "ignore"},
}


@pytest.mark.filterwarnings("ignore:Rows of the holdout")
@pytest.mark.parametrize("kind", AWAY)
def test_whoever_goes_back_to_the_rows_before_goes_on_with_what_was_spent(kind, begin):
    before = ask(begin())
    other = begin(**AWAY[kind])
    spent = other.report().nats
    for turn in range(2):
        back = begin()
        assert ask(back) == before  # the question is found again
        assert ask(back).repeated
        answer = ask(back, f"another {turn}")
        assert not answer.repeated
        assert answer.value == before.value
        assert answer.certificate.ln_delta < before.certificate.ln_delta
        assert back.report().nats > spent
        there = begin(**AWAY[kind])
        if kind != "labels as text":  # of which this model knows none
            assert ask(there, f"there {turn}").verdict != "refused"
        spent = there.report().nats
    assert back.report().n_rows == there.report().n_rows  # that of the ledger
    assert len(changes_of(back)) >= 4


@pytest.mark.filterwarnings("ignore:Rows of the holdout")
def test_other_labels_are_paid_for_once_and_the_way_back_is_free(begin):
    first = begin()
    assert first.report().nats == pytest.approx(-math.log(0.99))  # that labels are as they were
    spent = []
    for y in (Y, flipped([3]), Y, flipped([3]), flipped([4]), Y, Y):
        spent.append(begin(y=y).report().nats)
    paid = np.diff(spent, prepend=spent[0])
    ahead = -math.log(0.99)
    other = [-math.log(0.01) + ahead + math.log(labellings) for labellings in (2, 3)]
    assert paid == pytest.approx([0, other[0], 0, 0, other[1], 0, 0])
    assert [change for change, *_ in changes_of(first)] == [
        "begun", "relabelled", "back", "back", "relabelled", "back",
    ]  # fmt: skip


def test_trying_labels_until_they_are_the_right_ones_is_paid_for():
    """Kraft's sum over all ends of a conversation that tries the labels of four rows, one after the other.

    What the asker does not know is which labels the ledger was begun with.
    """
    hidden = list(itertools.product([0, 1], repeat=4))[1:-1]  # both classes occur
    tried = hidden[5:] + hidden[:5]
    ends = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for y in hidden:
            name, replies = f":memory:{uuid.uuid4()}", []
            ids, rows = np.arange(4), np.zeros((4, 1))
            first = Holdout(rows, np.array(y), ids=ids, ledger=name)
            for attempt in tried:
                before = len(changes_of(first))
                Holdout(rows, np.array(attempt), ids=ids, ledger=name)
                after = changes_of(first)
                replies.append(after[-1][0] if len(after) > before else "nothing new")
                if replies[-1] != "relabelled":
                    break
            ends[tuple(replies)] = math.exp(-first.report().nats)
    assert len(ends) == len(hidden)
    assert 0.99 <= sum(ends.values()) <= 1.0
    assert sum(one / 0.99 for one in ends.values()) > 1.0  # were the first part free


def test_a_script_that_tops_up_may_run_again_from_its_start_and_assumes_nothing(begin):
    def script():
        holdout = begin()
        larger = holdout.top_up(X[N:], Y[N:], ids=IDS[N:])
        return [ask(holdout.top_up(X[N:], Y[N:], ids=IDS[N:])), larger]

    first, larger = script()
    again, larger = script()
    assert again == first
    assert again.repeated
    assert ask(larger, "another").certificate.assumptions == first.certificate.assumptions
    assert [change for change, *_ in changes_of(larger)] == ["begun", "added", "back", "back"]


@pytest.mark.parametrize("ledger", [None, ":memory:"], ids=str)
def test_an_opening_that_failed_refuses_nobody(ledger):
    with pytest.raises(ValueError, match="random_state"):
        Holdout(X[OLD], Y[OLD], ids=IDS[OLD], ledger=ledger, random_state="no number")
    assert ask(Holdout(X[OLD], Y[OLD], ledger=ledger)).verdict != "refused"


@pytest.mark.parametrize("missing", ["raise", "ignore"])
def test_rows_of_which_none_is_known_are_refused_whatever_is_ignored(missing, tmp_path):
    ask(Holdout(X[OLD], Y[OLD], ids=IDS[OLD], ledger=tmp_path / "l.db"))
    with pytest.raises(LedgerMismatchError, match="None of the 200 rows") as refused:
        Holdout(X[OLD], Y[OLD], ids=_as_text(IDS[OLD]), ledger=tmp_path / "l.db", missing=missing)
    assert "ignore" not in str(refused.value)


def test_every_set_of_rows_pays_in_advance_for_labels_that_are_as_they_were(begin):
    first = begin()
    for rows in (slice(5, N), slice(10, N), slice(15, N)):
        begin(rows, missing="ignore")
    begin(slice(20, N + 60), missing="ignore")
    assert first.report().nats == pytest.approx(-6 * math.log(0.99))  # the last one is two changes


@pytest.mark.parametrize("ledger", [None, ":memory:"], ids=str)
def test_rows_of_two_holdouts_are_refused_together(ledger):
    """One ledger would forget what the other one tells, also if it is not asked before."""
    one, other = slice(0, 90), slice(90, N)
    first = Holdout(X[one], Y[one], ids=IDS[one], ledger=ledger)
    second = Holdout(X[other], Y[other], ids=IDS[other], ledger=ledger)
    ask(first)
    for rows in (OLD, ALL):
        with pytest.raises(LedgerMismatchError, match="rows of 2 holdouts"):
            Holdout(X[rows], Y[rows], ids=IDS[rows], ledger=ledger)
    with pytest.raises(LedgerMismatchError, match="rows of 2 holdouts"):
        first.top_up(X[other], Y[other], ids=IDS[other])
    larger = second.top_up(X[N:], Y[N:], ids=IDS[N:])
    assert ask(larger).verdict == "exact"
    assert ask(Holdout(X[one], Y[one], ids=IDS[one], ledger=ledger)).repeated


def test_rows_that_come_back_with_other_labels_are_relabelled(begin):
    first = begin()
    begin(slice(50, N), missing="ignore")
    before = first.report().nats
    with pytest.warns(UserWarning, match="other labels"):
        wrong = begin(y=flipped([3]))
    assert wrong.report().nats == pytest.approx(before - math.log(0.01 * 0.99 / 2))
    assert CORRECTED in ask(wrong).certificate.assumptions
    assert begin().report().n_rows == N  # and back


@pytest.mark.parametrize("ledger", [None, ":memory:"], ids=str)
def test_the_same_rows_shuffled_and_with_ids_of_another_kind_are_warned_of(ledger):
    ask(Holdout(X[OLD], Y[OLD], ids=IDS[OLD], ledger=ledger))
    order = np.random.default_rng(2).permutation(N)
    with pytest.warns(UserWarning, match="As many rows of each label"):
        Holdout(X[order], Y[order], ids=_as_text(IDS[order]), ledger=ledger)


@pytest.mark.filterwarnings("ignore:Rows of the holdout")
def test_a_choice_is_found_again_on_the_way_back(begin):
    models = [Says(0, "a"), Says(1, "b")]
    first = begin()
    chosen = first.select(models, scoring="accuracy")
    begin(y=1 - Y)
    back = begin()
    recorded = len(list(back.ledger.records()))
    assert back.select(models, scoring="accuracy") == chosen
    kinds = [record.body["kind"] for record in list(back.ledger.records())[recorded:]]
    assert "selection" not in kinds


@pytest.mark.filterwarnings("ignore:Rows of the holdout")
def test_two_tables_with_the_same_ids_take_turns():
    first = ask(Holdout(X[:150], Y[:150], ids=range(150)))
    ask(Holdout(X[20:200], 1 - Y[20:200], ids=range(180)), "the other")
    again = Holdout(X[:150], Y[:150], ids=range(150))
    assert ask(again) == first
    assert ask(again, "new").verdict != "refused"


@pytest.mark.parametrize("where", ["path", "memory"])
def test_missing_rows_are_refused_with_their_number(where, tmp_path):
    ledger = tmp_path / "ledger.db" if where == "path" else f":memory:{uuid.uuid4()}"
    first = Holdout(X[OLD], Y[OLD], ids=IDS[OLD], ledger=ledger)
    ask(first)
    recorded = len(list(first.ledger.records()))
    with pytest.raises(LedgerMismatchError, match=r"^7 of the 200 rows .* missing='ignore'.*second budget"):
        Holdout(X[7:N], Y[7:N], ids=IDS[7:N], ledger=ledger)
    assert len(list(first.ledger.records())) == recorded


def test_missing_rows_may_be_ignored_and_certificates_say_so(begin):
    before = ask(begin())
    smaller = begin(slice(7, N), missing="ignore")
    answer = ask(smaller)
    assert changes_of(smaller)[-1] == ("missing", 7, N - 7)
    assert answer.value == pytest.approx(np.mean(Y[7:N]))
    (more,) = set(answer.certificate.assumptions) - set(before.certificate.assumptions)
    assert more == (
        "rows that are missing were left out by a rule that did not look at their labels or at predictions"
    )
    assert ask(begin(slice(7, N), missing="ignore")) == answer
    assert smaller.report().answers[0][1].certificate.assumptions == before.certificate.assumptions


def test_changed_labels_are_recorded_and_certificates_say_so(begin):
    before = ask(begin())
    y = flipped([3, 5])
    with pytest.warns(UserWarning, match=r"^Rows of the holdout .* other labels"):
        corrected = begin(y=y)
    answer = ask(corrected)
    assert not answer.repeated
    assert changes_of(corrected)[-1] == ("relabelled", None, N)
    assert answer.value == pytest.approx(np.mean(y[OLD]))
    (more,) = set(answer.certificate.assumptions) - set(before.certificate.assumptions)
    assert more == CORRECTED
    assert ask(begin(y=y)).repeated


def test_three_changes_at_once_are_recorded_one_by_one(begin):
    ask(begin())
    with pytest.warns(UserWarning, match="other labels"):
        whole = begin(slice(5, N + 60), y=flipped([10, 11, 12]), missing="ignore")
    assert changes_of(whole) == [
        ("begun", N, N), ("missing", 5, N - 5), ("relabelled", None, N - 5), ("added", 60, N + 55),
    ]  # fmt: skip
    assert len(ask(whole).certificate.assumptions) == len(Genesis(whole.ledger.genesis).assumptions) + 2
    assert ask(begin(slice(5, N + 60), y=flipped([10, 11, 12]))).repeated


def test_a_crash_between_two_changes_goes_on_where_it_was(begin, monkeypatch):
    ask(begin())
    charge = changed_rows.Session.charge

    def fails(self, key, decide):
        if key == "rows 2":
            raise MemoryError
        return charge(self, key, decide)

    with monkeypatch.context() as patched:
        patched.setattr(changed_rows.Session, "charge", fails)
        with pytest.raises(MemoryError):
            begin(slice(5, N + 60), missing="ignore")
    assert changes_of(begin(slice(5, N + 60))) == [
        ("begun", N, N), ("missing", 5, N - 5), ("added", 60, N + 55),
    ]  # fmt: skip


def test_a_crash_before_the_rows_were_recorded_is_mended_by_the_same_rows_only(tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr("sklearn_ada.holdout.holdout.as_edition", lambda session, missing: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            Holdout(X[OLD], Y[OLD], ids=IDS[OLD], ledger=tmp_path / "ledger.db")
    with pytest.raises(LedgerMismatchError, match="before its rows were recorded"):
        Holdout(X[ALL], Y[ALL], ids=IDS[ALL], ledger=tmp_path / "ledger.db")
    assert changes_of(Holdout(X[OLD], Y[OLD], ids=IDS[OLD], ledger=tmp_path / "ledger.db"))


FIXED = {
    "groups": {"groups": np.arange(N + 60) // 2},
    "weights": {"sample_weight": np.linspace(1.0, 2.0, N + 60)},
    "a priced class mix": {"class_mix": "priced"},
    "privacy": {"route": "differential_privacy"},
}


def of(parameters, rows):
    return {k: v[rows] if isinstance(v, np.ndarray) else v for k, v in parameters.items()}


@pytest.mark.parametrize("kind", FIXED)
@pytest.mark.parametrize("rows", [ALL, slice(5, N)], ids=["added", "missing"])
def test_rows_do_not_change_where_the_guarantee_is_for_one_set_of_rows(kind, rows, tmp_path):
    path = tmp_path / "ledger.db"
    first = Holdout(X[OLD], Y[OLD], ids=IDS[OLD], ledger=path, **of(FIXED[kind], OLD))
    recorded = len(list(first.ledger.records()))
    with pytest.raises(LedgerMismatchError, match=r"may not change, for it has (groups|class_mix|route)"):
        Holdout(X[rows], Y[rows], ids=IDS[rows], ledger=path, missing="ignore", **of(FIXED[kind], rows))
    assert len(list(first.ledger.records())) == recorded
    order = np.random.default_rng(2).permutation(N)
    moved = Holdout(X[order], Y[order], ids=IDS[order], ledger=path, **of(FIXED[kind], order))
    assert moved.fingerprint == first.fingerprint


@pytest.mark.parametrize("kind", FIXED)
def test_labels_may_be_corrected_with_groups_and_weights_only(kind, tmp_path):
    path, y = tmp_path / "ledger.db", flipped([3])
    Holdout(X[OLD], Y[OLD], ids=IDS[OLD], ledger=path, **of(FIXED[kind], OLD))
    if kind in ("groups", "weights"):
        with pytest.warns(UserWarning, match="other labels"):
            again = Holdout(X[OLD], y[OLD], ids=IDS[OLD], ledger=path, **of(FIXED[kind], OLD))
        assert again.ledger.read(lambda state: state.units) == again._session.data.n_units
    else:
        with pytest.raises(LedgerMismatchError, match="may not change"):
            Holdout(X[OLD], y[OLD], ids=IDS[OLD], ledger=path, **of(FIXED[kind], OLD))


@pytest.mark.parametrize("kind", ["groups", "a priced class mix", "privacy"])
def test_a_refusal_does_not_tell_how_many_labels_are_right(kind, tmp_path):
    """Predictions that are passed as labels would else have their errors counted, for nothing."""
    Holdout(X[OLD], Y[OLD], ids=IDS[OLD], ledger=tmp_path / "ledger.db", **of(FIXED[kind], OLD))
    rows = slice(10, N)
    for again in (rows,) if kind == "groups" else (rows, OLD):
        told = set()
        for y in (flipped([50]), flipped(range(20, 120)), *([Y] if again == rows else [])):
            with pytest.raises(LedgerMismatchError, match="may not change") as refused:
                Holdout(
                    X[again], y[again], ids=IDS[again], ledger=tmp_path / "ledger.db", missing="ignore",
                    **of(FIXED[kind], again),
                )  # fmt: skip
            told.add(str(refused.value))
        assert len(told) == 1


def test_nothing_that_is_shown_tells_how_many_labels_differ(tmp_path, capsys):
    shown = []
    for count in (7, 93):
        path = tmp_path / str(count) / "ledger.db"
        path.parent.mkdir()
        Holdout(X[OLD], Y[OLD], ids=IDS[OLD], ledger=path)
        with pytest.warns(UserWarning, match="other labels") as warned:
            again = Holdout(X[OLD], flipped(range(count))[OLD], ids=IDS[OLD], ledger=path)
        body = list(again.ledger.records())[-1].body
        assert len(body["table"]) == N * 12 * 4 // 3  # of all rows
        main(["ledger", "show", str(path)])
        text = capsys.readouterr().out
        assert "labels differ, 200 rows from now on" in text
        shown.append((str(warned[0].message).replace(str(path), ""), sorted(body)))
        main(["ledger", "show", "--json", str(path)])
        told = [
            text,
            capsys.readouterr().out,
            repr(again.report()),
            *map(str, (body["rows"], warned[0].message)),
        ]
        assert not any(f"{count} rows" in one or f": {count}," in one for one in told)
    assert shown[0] == shown[1]


def test_other_weights_or_groups_of_the_same_rows_are_refused(tmp_path):
    path, groups = tmp_path / "ledger.db", np.arange(N) // 2
    Holdout(X[OLD], Y[OLD], ids=IDS[OLD], ledger=path, groups=groups)
    for other in ({"groups": np.arange(N) // 4}, {}, {"sample_weight": np.arange(1.0, N + 1)}):
        with pytest.raises(LedgerMismatchError, match="other weights or groups"):
            Holdout(X[OLD], Y[OLD], ids=IDS[OLD], ledger=path, **other)


@pytest.mark.parametrize("y", [Y, 1 - Y], ids=["labels as before", "other labels"])
def test_a_refusal_of_weights_records_nothing(y, tmp_path):
    path, weights = tmp_path / "ledger.db", np.ones(N)
    first = Holdout(X[OLD], Y[OLD], ids=IDS[OLD], ledger=path, sample_weight=weights)
    recorded = len(list(first.ledger.records()))
    with pytest.raises(LedgerMismatchError, match="other weights or groups"):
        Holdout(X[OLD], y[OLD], ids=IDS[OLD], ledger=path, sample_weight=weights + np.eye(N)[0])
    assert len(list(first.ledger.records())) == recorded


def test_a_repeated_id_is_a_group_and_stays_one(tmp_path):
    ids = np.arange(N) // 2
    holdout = Holdout(X[OLD], Y[OLD], ids=ids, ledger=tmp_path / "ledger.db")
    assert (holdout._session.data.has_groups, holdout._session.data.n_units) == (True, N // 2)
    with pytest.raises(LedgerMismatchError, match="ids that occur more than once"):
        Holdout(X[: N + 1], Y[: N + 1], ids=[*ids, 0], ledger=tmp_path / "ledger.db")
    with pytest.raises(ValueError, match="an id in several groups"):
        Holdout(X[OLD], Y[OLD], ids=ids, groups=np.arange(N))


def test_an_id_that_comes_to_be_repeated_is_refused(tmp_path):
    Holdout(X[OLD], Y[OLD], ids=IDS[OLD], ledger=tmp_path / "ledger.db")
    with pytest.raises(LedgerMismatchError, match="ids that occur more than once"):
        Holdout(X[: N + 1], Y[: N + 1], ids=[*IDS[OLD], IDS[0]], ledger=tmp_path / "ledger.db")


def test_rows_are_known_with_or_without_ids_not_both(tmp_path):
    Holdout(X[OLD], Y[OLD], ids=IDS[OLD], ledger=tmp_path / "with.db")
    Holdout(X[OLD], Y[OLD], ledger=tmp_path / "without.db")
    with pytest.raises(LedgerMismatchError, match=r"begun with ids, .*second budget"):
        Holdout(X[OLD], Y[OLD], ledger=tmp_path / "with.db")
    with pytest.raises(LedgerMismatchError, match=r"begun without ids, .*second budget"):
        Holdout(X[OLD], Y[OLD], ids=IDS[OLD], ledger=tmp_path / "without.db")


@pytest.mark.parametrize("ledger", [None, ":memory:"], ids=str)
def test_ids_that_come_go_or_change_are_no_fresh_budget(ledger):
    Holdout(X[OLD], Y[OLD], ids=IDS[OLD], ledger=ledger)
    with pytest.raises(LedgerMismatchError, match=r"with ids, and not without.*second budget"):
        Holdout(X[OLD], Y[OLD], ledger=ledger)
    with pytest.raises(LedgerMismatchError, match=r"with other ids.*second budget"):
        Holdout(X[OLD], Y[OLD], ids=np.arange(N), ledger=ledger)
    Holdout(X[OLD], 1 - Y[OLD], ledger=ledger)
    with pytest.raises(LedgerMismatchError, match=r"begun without ids"):
        Holdout(X[OLD], 1 - Y[OLD], ids=np.arange(N), ledger=ledger)


def test_dropped_rows_without_a_path_are_told_of_once_and_have_a_ledger_of_their_own(monkeypatch):
    monkeypatch.setattr("sklearn_ada._notices._given", set())
    first = Holdout(X[OLD], Y[OLD], ids=IDS[OLD])
    with pytest.warns(UserWarning, match=r"193 of the 200 rows .*second budget.*missing='ignore'"):
        other = Holdout(X[7:N], Y[7:N], ids=IDS[7:N])
    assert other.ledger.path != first.ledger.path
    assert Holdout(X[7:N], Y[7:N], ids=IDS[7:N]).ledger.path == other.ledger.path


def test_dropped_rows_are_told_of_once_for_each_ledger():
    for shift in (0, 1000):
        ids = np.arange(N) + shift
        Holdout(X[OLD], (Y + shift)[OLD] % 7, ids=ids)
        with pytest.warns(UserWarning, match=r"193 of the 200 rows .*second budget"):
            Holdout(X[7:N], (Y + shift)[7:N] % 7, ids=ids[7:])


@pytest.mark.parametrize("ledger", [None, ":memory:"], ids=str)
@pytest.mark.parametrize("rows", [RNG.permutation(N), np.arange(N + 60)], ids=["order", "more"])
def test_rows_that_were_opened_in_another_order_or_with_more_are_no_fresh_budget_without_ids(rows, ledger):
    Holdout(X[OLD], Y[OLD], ids=IDS[OLD], ledger=ledger)
    Holdout(X[rows], Y[rows], ids=IDS[rows], ledger=ledger)
    with pytest.raises(LedgerMismatchError, match=r"with ids, and not without.*second budget"):
        Holdout(X[rows], Y[rows], ledger=ledger)


@pytest.mark.parametrize("ledger", [None, ":memory:"], ids=str)
def test_who_opens_the_same_ids_before_there_is_a_ledger_is_not_refused(ledger):
    """As workers do at the same moment; others' ids are refused as soon as there is one."""
    hashed = id_hashes(IDS[OLD], "Holdout")
    address = place_of_rows(ledger, hashed, Y[OLD])
    assert place_of_rows(ledger, hashed[::-1], Y[OLD]) == address
    Holdout(X[OLD], Y[OLD], ids=IDS[OLD], ledger=ledger)
    with pytest.raises(LedgerMismatchError, match="with ids, and not without"):
        place_of_rows(ledger, None, Y[OLD])
    with pytest.raises(LedgerMismatchError, match="with other ids"):
        place_of_rows(ledger, id_hashes(np.arange(N), "Holdout"), Y[OLD])


class Opens(ClassifierMixin, BaseEstimator):
    """Opens a holdout of the rows that it is fitted on; the first column is their ids."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        holdout = Holdout(X, y, ids=X[:, 0].astype(int))
        self.ledger_, self.rows_ = os.path.basename(holdout.ledger.path), len(X)
        OPENED.append((self.ledger_, self.rows_))
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)

    def predict_proba(self, X):
        return np.tile([0.4, 0.6], (len(X), 1))


OPENED = []


@pytest.mark.parametrize("first", ["all rows", "wrapped"])
def test_a_wrapper_of_model_selection_and_a_refit_are_no_fold(first):
    plain = Opens().fit(X[OLD], Y[OLD]).ledger_ if first == "all rows" else None
    wrapped = FixedThresholdClassifier(Opens()).fit(X[OLD], Y[OLD]).estimator_.ledger_
    refitted = GridSearchCV(Opens(), {}, cv=2).fit(X[OLD], Y[OLD]).best_estimator_.ledger_
    assert wrapped == refitted == (plain or wrapped)
    assert wrapped.startswith("ids-")


@pytest.mark.parametrize("validate", [cross_validate, cross_val_predict], ids=lambda each: each.__name__)
def test_the_same_ids_have_one_ledger_in_a_fold_or_not(validate):
    OPENED.clear()
    validate(Opens(), X[OLD], Y[OLD], cv=KFold(2))
    assert [rows for _, rows in OPENED] == [N // 2, N // 2]
    assert len(set(OPENED)) == 2
    assert all(name.startswith("fold-") for name, _ in OPENED)
    assert Opens().fit(X[N // 2 : N], Y[N // 2 : N]).ledger_ == OPENED[0][0]
    whole = Opens().fit(X[OLD], Y[OLD]).ledger_
    assert whole.startswith("ids-")


def test_unrelated_rows_have_a_ledger_of_their_own_without_a_word(recwarn):
    first = Holdout(X[OLD], Y[OLD], ids=IDS[OLD])
    assert Holdout(X[N:], Y[N:], ids=IDS[N:]).ledger.path != first.ledger.path
    assert not recwarn.list


def test_top_up_takes_ids(begin):
    small = begin()
    ask(small)
    with pytest.raises(ValueError, match="'ids' parameter"):
        small.top_up(X[N:], Y[N:])
    with pytest.raises(ValueError, match="ids that occur before"):
        small.top_up(X[N:], Y[N:], ids=IDS[:60])
    larger = small.top_up(X[N:], Y[N:], ids=IDS[N:])
    answer = ask(larger)
    assert ask(begin(ALL)) == answer  # old and new rows together
    assert ask(small.top_up(X[N:], Y[N:], ids=IDS[N:])) == answer
    assert changes_of(larger) == [("begun", N, N), ("added", 60, N + 60)]


def test_top_up_of_other_rows_is_refused_before_anything_is_recorded(begin):
    small = begin()
    middle = small.top_up(X[N : N + 20], Y[N : N + 20], ids=IDS[N : N + 20])
    recorded = len(list(small.ledger.records()))
    other = slice(N + 20, N + 40)
    with pytest.raises(LedgerMismatchError, match="Other rows were added") as refused:
        small.top_up(X[other], Y[other], ids=IDS[other])
    assert "ignore" not in str(refused.value)
    assert len(list(small.ledger.records())) == recorded
    large = middle.top_up(X[other], Y[other], ids=IDS[other])
    recorded = len(list(small.ledger.records()))
    order = np.arange(N, N + 20)[::-1]
    again = small.top_up(X[order], Y[order], ids=IDS[order])  # of an edition in between
    assert again.fingerprint == middle.fingerprint
    assert ask(large, "new").verdict == "refused"
    assert again.top_up(X[other], Y[other], ids=IDS[other]).fingerprint == large.fingerprint
    assert ask(large, "new").verdict != "refused"
    assert [change for change, *_ in changes_of(small)] == ["begun", "added", "added", "back", "back"]


def test_a_holdout_without_ids_takes_none_later(tmp_path):
    small = Holdout(X[OLD], Y[OLD], ledger=tmp_path / "ledger.db")
    with pytest.raises(ValueError, match="'ids' parameter"):
        small.top_up(X[N:], Y[N:], ids=IDS[N:])


def test_without_ids_rows_that_were_added_are_added_again_as_the_message_says(tmp_path):
    small = Holdout(X[OLD], Y[OLD], ledger=tmp_path / "ledger.db")
    ask(small.top_up(X[N:], Y[N:]))
    with pytest.raises(LedgerMismatchError, match="top_up added are added to those again, which is free"):
        Holdout(X[ALL], Y[ALL], ledger=tmp_path / "ledger.db")
    again = Holdout(X[OLD], Y[OLD], ledger=tmp_path / "ledger.db").top_up(X[N:], Y[N:])
    assert ask(again).repeated


def test_a_certify_after_a_top_up_is_a_new_question_and_may_be_wider(tmp_path):
    small = Holdout(X[OLD], Y[OLD], ids=IDS[OLD], ledger=tmp_path / "ledger.db")
    before = ask(small)
    after = ask(small.top_up(X[N:], Y[N:], ids=IDS[N:]))
    assert after.certificate.ln_delta < before.certificate.ln_delta
    assert after.half_width > before.half_width  # with 30 % more rows


def test_the_table_of_rows_is_shown_nowhere(tmp_path, capsys):
    holdout = Holdout(X[OLD], Y[OLD], ids=IDS[OLD], ledger=tmp_path / "ledger.db")
    ask(holdout)
    (body,) = (r.body for r in holdout.ledger.records() if r.body.get("kind") == "rows")
    table = body["table"]
    assert len(table) == N * 12 * 4 // 3
    report = holdout.report()
    for arguments in (["show"], ["show", "--json"], ["show", "--csv"], ["report", "--json"]):
        main(["ledger", arguments[0], str(tmp_path / "ledger.db"), *arguments[1:]])
    shown = capsys.readouterr().out
    assert "200 rows begun" in shown
    kept = [shown, repr(report), report._repr_html_(), json.dumps(report.to_dict()), repr(holdout)]
    for text in kept:
        assert table[:20] not in text
    for kept in (report, holdout.ledger):
        assert table[:20].encode() not in pickle.dumps(kept)
    state = holdout.ledger.read(lambda state: json.dumps(state.to_dict()))
    assert table[:20] not in state


def test_the_table_is_keyed_with_the_secret():
    hashed = id_hashes(IDS[OLD], "Holdout")
    one, other = (keyed_table(hashed, Y[OLD], secret) for secret in (b"a" * 32, b"b" * 32))
    assert not np.isin(one["id"], other["id"]).any()


def test_changes_lead_from_one_table_to_the_other():
    hashed = id_hashes(IDS, "Holdout")
    for seed in range(20):
        rng = np.random.default_rng(seed)
        first, second = (rng.random(N + 60) < rng.random() for _ in range(2))
        y = np.where(rng.random(N + 60) < 0.1, 1 - Y, Y)
        old, new = keyed_table(hashed[first], Y[first], b"s"), keyed_table(hashed[second], y[second], b"s")
        changes = Changes.between(old, new)
        steps = changes.steps(old)
        assert (steps[-1][2] == new).all() if steps else (old == new).all()
        assert len(changes.missing) == (first & ~second).sum()
        assert len(changes.added) == (second & ~first).sum()
        assert len(changes.relabelled) == (first & second & (y != Y)).sum()


SAME = {
    "list": list,
    "NumPy's": np.array,
    "floats": lambda ids: np.array(ids, dtype=float),
    "objects": lambda ids: np.array(ids, dtype=object),
    "series": pd.Series,
    "32 bits": lambda ids: np.array(ids, dtype=np.int32),
    "with gaps": lambda ids: pd.array(ids, dtype="Int64"),
}


@pytest.mark.parametrize("made", SAME.values(), ids=SAME)
def test_whole_numbers_are_the_same_ids_whatever_holds_them(made):
    assert (id_hashes(made([1, 2, 30]), "Holdout") == id_hashes([1, 2, 30], "Holdout")).all()


def test_ids_of_other_kinds_are_other_ids():
    day = datetime.date(2020, 1, 1)
    hashed = id_hashes([1, "1", b"1", day, "2020-01-01"], "Holdout")
    assert len(set(hashed.tolist())) == 5
    dates = [
        [day],
        [datetime.datetime(2020, 1, 1)],
        [pd.Timestamp(day)],
        np.array([day], dtype="datetime64[D]"),
    ]
    assert len({id_hashes(ids, "Holdout")[0] for ids in dates}) == 1
    assert (
        id_hashes(pd.Series(["a", "b"], dtype="category"), "Holdout").tolist()
        == id_hashes(["a", "b"], "Holdout").tolist()
    )


INEXACT = {
    "floats": ([2.0**53], "several whole numbers"),
    "NumPy's floats": (np.array([2.0**53]), "several whole numbers"),
    "negative floats": (np.array([-1e17]), "several whole numbers"),
    "floats of 32 bits": (np.array([2**24], dtype="float32"), "several whole numbers"),
    "floats of 32 bits as objects": ([np.float32(2**24)], "several whole numbers"),
    "a series of 32 bits": (pd.Series([2**24], dtype="float32"), "several whole numbers"),
    "floats of 16 bits": (np.array([2**11], dtype="float16"), "several whole numbers"),
    "parts": ([0.5], "no whole numbers"),
    "infinity": ([np.inf], "no whole numbers"),
    "late dates of Python": ([datetime.datetime(3000, 1, 1)], "hold exactly"),
    "late dates of NumPy": (np.array(["3000-01-01"], dtype="M8[s]"), "hold exactly"),
    "early dates": ([datetime.date(1500, 1, 1)], "hold exactly"),
    "early days": (np.array(["1500-01-01"], dtype="M8[D]"), "hold exactly"),
    "fine dates": (np.array([1], dtype="M8[ps]"), "hold exactly"),
}


@pytest.mark.parametrize(("ids", "told"), INEXACT.values(), ids=INEXACT)
def test_ids_that_may_stand_for_several_are_refused(ids, told):
    with pytest.raises(ValueError, match=f"'ids' parameter of Holdout .*{told}"):
        id_hashes(ids, "Holdout")


def test_ids_below_those_are_the_same_whatever_holds_them():
    for size, dtype in ((2**53 - 1, "float64"), (2**24 - 1, "float32"), (2**11 - 1, "float16")):
        assert id_hashes(np.array([size], dtype=dtype), "Holdout") == id_hashes([size], "Holdout")
    last = np.array(["2262-04-11"], dtype="M8[D]")
    assert id_hashes(last, "Holdout") == id_hashes([datetime.date(2262, 4, 11)], "Holdout")
    assert id_hashes([2**70], "Holdout") != id_hashes([2**70 + 1], "Holdout")


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (True, "bool' .*texts"),
        (decimal.Decimal(1), "Decimal' .*texts"),
        (pd.MultiIndex.from_tuples([(1, 2)])[0], "tuple' .*Join several"),
    ],
    ids=["bool", "Decimal", "tuple"],
)
def test_the_message_says_what_to_do_with_values_of_another_kind(value, told):
    with pytest.raises(ValueError, match=f"values of type {told}"):
        id_hashes(pd.Series([value, value]), "Holdout")


@pytest.mark.parametrize("gap", [None, np.nan, pd.NA, pd.NaT], ids=str)
def test_missing_ids_are_refused_with_their_number(gap, tmp_path):
    with pytest.raises(ValueError, match=r"'ids' parameter of Holdout .*Got '2 missing ids'"):
        Holdout(X[:4], Y[:4], ids=["a", gap, "b", gap], ledger=tmp_path / "ledger.db")
    assert not list(tmp_path.iterdir())


BAD = {"bool": [True, False], "fraction": [0.5, 1.5], "pairs": [("a", 1), ("b", 2)], "long": [1, 2, 3]}


@pytest.mark.parametrize("kind", BAD)
def test_what_is_no_id_is_refused(kind, tmp_path):
    ids = np.empty(2, dtype=object)
    ids[:] = BAD[kind] if kind != "long" else [1, 2]
    given = BAD[kind] if kind == "long" else ids
    with pytest.raises(ValueError, match="'ids' parameter of Holdout"):
        Holdout(X[:2], Y[:2], ids=given, ledger=tmp_path / "ledger.db")
    with pytest.raises(ValueError, match="'missing' parameter of Holdout"):
        Holdout(X[:2], Y[:2], ids=[1, 2], missing="drop", ledger=tmp_path / "ledger.db")


def test_a_share_of_ids_is_met_on_average_and_depends_on_the_seed():
    hashed = id_hashes(np.arange(100_000), "Holdout")
    parts = {seed: part_of_each(hashed, seed) < 0.25 for seed in (None, 0, 1)}
    for held in parts.values():
        assert abs(held.sum() - 25_000) < 5 * np.sqrt(100_000 * 0.25 * 0.75)  # 6e-7
    both = (parts[0] & parts[1]).sum()
    assert abs(both - 6_250) < 5 * np.sqrt(100_000 * 0.0625 * 0.9375)


def test_workers_that_bring_the_same_new_rows_at_once_record_them_once(tmp_path):
    first = Holdout(X[OLD], Y[OLD], ids=IDS[OLD], ledger=tmp_path / "ledger.db")
    work = joblib.delayed(Holdout)(X[ALL], Y[ALL], ids=IDS[ALL], ledger=first.ledger.path)
    opened = joblib.Parallel(2)([work] * 4)
    assert {holdout.fingerprint for holdout in opened} == {
        first.top_up(X[N:], Y[N:], ids=IDS[N:]).fingerprint
    }
    assert changes_of(first) == [("begun", N, N), ("added", 60, N + 60)]


def test_threads_that_begin_the_same_rows_at_once_have_one_ledger():
    made, start = [], threading.Barrier(6)

    def work(seed):
        order = np.random.default_rng(seed).permutation(N)
        start.wait()
        made.append(Holdout(X[order], Y[order], ids=IDS[order]).ledger)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({ledger.path for ledger in made}) == 1
    assert sum(record.key == "rows 0" for record in made[0].records()) == 1


def test_a_state_that_is_restored_still_names_what_is_assumed(tmp_path):
    Holdout(X[OLD], Y[OLD], ids=IDS[OLD], ledger=tmp_path / "ledger.db")
    smaller = Holdout(X[7:N], Y[7:N], ids=IDS[7:N], ledger=tmp_path / "ledger.db", missing="ignore")
    state = smaller.ledger.read(lambda state: json.loads(json.dumps(state.to_dict())))
    fresh = State(smaller.ledger.genesis)
    assert "assumed" not in fresh.to_dict()  # as in checkpoints of older ledgers
    fresh.restore(state)
    assert fresh.assumed == [CHANGES["missing"].assumption]
    fresh.restore({name: value for name, value in state.items() if name != "assumed"})
    assert fresh.assumed == []
