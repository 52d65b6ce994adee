"""A holdout whose rows have ids is the same one in any order; what became of its rows is recorded."""

import base64
import datetime
import decimal
import itertools
import json
import math
import os
import pickle
import uuid
from functools import partial
from unittest import mock

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    KFold,
    cross_val_predict,
    cross_validate,
)

from sklearn_ada import Holdout, ReusableHoldoutCV
from sklearn_ada.cli import main
from sklearn_ada.exceptions import LedgerMismatchError
from tests.support.ledgers import begun_as, bodies, changes_of
from tests.support.models import Always
from tests.support.processes import together

N = 200
RNG = np.random.default_rng(0)
X = np.c_[np.arange(N + 60.0), RNG.normal(size=(N + 60, 2))]
Y = RNG.integers(0, 2, N + 60)
IDS = np.array([f"patient {number}" for number in range(N + 60)])
OLD, ALL = slice(0, N), slice(0, N + 60)
FEWER = slice(5, N)
CHANGED = [("begun", N, N), ("added", 60, N + 60)]
LEFT_OUT = "rows that are missing were left out by a rule that did not look at their labels or at predictions"
CORRECTED = "labels were corrected without looking at predictions, at times that depend on no record"

UNNAMED = pytest.mark.parametrize("ledger", [None, ":memory:"], ids=str)


def opened(ledger=None, rows=OLD, y=Y, ids=IDS, **parameters):
    """Open a holdout of some rows; parameters that are arrays go with all rows."""
    parameters = {k: v[rows] if isinstance(v, np.ndarray) else v for k, v in parameters.items()}
    ids = None if ids is None else np.asarray(ids)[rows]
    return Holdout(X[rows], y[rows], ids=ids, ledger=ledger, **parameters)


def added(holdout, rows=slice(N, None)):
    return holdout.top_up(X[rows], Y[rows], ids=IDS[rows])


def count(holdout):
    return len(list(holdout.ledger.records()))


@pytest.fixture(params=["path", "memory", "temporary"])
def begin(request, tmp_path):
    """Open a holdout of some rows, always on the same kind of ledger."""
    ledger = {"path": tmp_path / "ledger.db", "memory": ":memory:", "temporary": None}[request.param]
    return partial(opened, ledger)


def ask(holdout, name=""):
    return holdout.certify(Always(name=name), scoring="accuracy", guess=0.5)


def flipped(numbers):
    y = Y.copy()
    y[numbers] = 1 - y[numbers]
    return y


def test_any_order_is_the_same_holdout(begin):
    answer = ask(begin())
    again = begin(np.random.default_rng(1).permutation(N))
    assert (ask(again), ask(again).repeated) == (answer, True)
    assert changes_of(again) == [("begun", N, N)]
    assert (again._session.data.X == begin()._session.data.X).all()  # so subsamples are the same, too


@pytest.mark.parametrize("way", ["opened", "topped up"])
def test_new_rows_are_a_top_up_and_a_script_may_run_again_from_its_start(way, begin):
    small = begin()
    before, larger = ask(small), begin(ALL) if way == "opened" else added(small)
    answer = ask(larger)
    assert (larger.n_rows, answer.repeated, answer.value) == (N + 60, False, pytest.approx(np.mean(Y)))
    assert larger.report().nats > before.cost.nats
    assert answer.half_width > before.half_width  # with 30 % more rows
    assert changes_of(larger) == CHANGED
    assert answer.certificate.assumptions == before.certificate.assumptions
    for again in (begin(ALL), added(begin()), added(small)):
        assert (ask(again), ask(again).repeated) == (answer, True)
    assert ask(again, "another").certificate.assumptions == answer.certificate.assumptions
    assert {change for change, *_ in changes_of(larger)[2:]} == {"back"}
    for ids, message in ((None, "'ids' parameter"), (IDS[:60], "ids that occur before")):
        with pytest.raises(ValueError, match=message):
            begin().top_up(X[N:], Y[N:], ids=ids)


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


SOME = np.arange(60, 90)  # as many rows as may have been labelled anew
AWAY = {
    "wrong labels": {"y": flipped(SOME)},
    "a bad join": {"rows": ALL},
    "a filter": {"rows": slice(50, N), "missing": "ignore"},
    "another table": {"y": flipped(SOME), "rows": ALL},
    "others and a filter": {"y": flipped(SOME), "rows": slice(50, N + 30), "missing": "ignore"},
}


JOINED = {  # ids that were given to other rows, or labels that are no corrections
    "moved by one": {"ids": np.roll(IDS[OLD], 1)}, "moved back by one": {"ids": np.roll(IDS[OLD], -1)},
    "reversed": {"ids": IDS[OLD][::-1]}, "sorted by themselves": {"ids": np.sort(IDS[OLD])},
    "labels sorted by themselves": {"y": np.sort(Y[OLD])}, "another target": {"y": (X[:, 1] > 0).astype(int)},
    "opposite labels": {"y": 1 - Y}, "labels as text": {"y": Y.astype(str)},
    "three classes": {"y": Y + (X[:, 1] > 0), "before": Y * 2 % 3},
    "numbers": {"y": np.roll(X[OLD, 1], 1), "before": X[:, 1]},
}  # fmt: skip


@pytest.mark.parametrize("change", JOINED.values(), ids=JOINED)
def test_ids_of_other_rows_are_another_join_and_no_corrections(change, begin):
    change = {"y": Y} | change
    owner = begin(y=change.pop("before", Y))
    before, price = owner.report().nats, pytest.approx(-math.log(0.01 * 0.1))
    for _ in range(2):  # the second time it is on record
        with pytest.raises(LedgerMismatchError, match=r"joined to other rows .* cost 6\.9 nats; no change"):
            begin(**change)
    assert owner.report().nats - before == price
    assert changes_of(owner) == [("begun", N, N)]


@pytest.mark.parametrize("share", [0.005, 0.1, 0.2])
@pytest.mark.parametrize("y", [Y, X[:, 1]], ids=["classes", "numbers"])
def test_few_enough_labels_are_corrections(y, share, begin):
    begin(y=y)
    corrected = np.where(np.arange(N + 60) < share * N, y.max() - y, y)
    with pytest.warns(UserWarning, match="have other labels than before"):
        assert changes_of(begin(y=corrected))[-1][0] == "relabelled"


def test_a_search_trains_on_no_row_of_the_holdout_whose_ids_were_moved(tmp_path):
    def fit(ids):
        search = GridSearchCV(DummyClassifier(), {"strategy": ["prior"]}, cv=3)
        return ReusableHoldoutCV(search, ledger=tmp_path / "ledger.db").fit(X, Y, ids=ids)

    held = set(np.arange(N + 60)) - set(fit(IDS).train_indices_)
    for ids in (np.roll(IDS, 1), IDS[::-1]):
        with pytest.raises(LedgerMismatchError, match="joined to other rows"):
            fit(ids)
    assert held == set(np.arange(N + 60)) - set(fit(IDS).train_indices_)


def test_an_older_ledger_takes_all_labels_for_corrections(begin):
    with begun_as(1):
        owner = begin()
    with pytest.warns(UserWarning, match="have other labels than before"):
        begin(y=1 - Y)
    assert bodies(owner)[-1]["price"] == pytest.approx(-math.log(0.01 * 0.99 / 2))


@pytest.mark.filterwarnings("ignore:Rows of the holdout")
@pytest.mark.parametrize("kind", AWAY)
def test_whoever_goes_back_to_the_rows_before_goes_on_with_what_was_spent(kind, begin):
    before, select = ask(begin()), {"models": [Always(0, "a"), Always(1, "b")], "scoring": "accuracy"}
    chosen, spent = begin().select(**select), begin(**AWAY[kind]).report().nats
    for turn in range(2):
        back = begin()
        assert (ask(back), ask(back).repeated, back.select(**select)) == (before, True, chosen)  # found again
        answer = ask(back, f"another {turn}")
        assert (answer.repeated, answer.value) == (False, before.value)
        assert answer.certificate.ln_delta < before.certificate.ln_delta
        assert back.report().nats > spent
        there = begin(**AWAY[kind])
        assert ask(there, f"there {turn}").verdict != "refused"
        spent = there.report().nats
    assert back.report().n_rows == there.report().n_rows  # that of the ledger
    assert len(changes_of(back)) >= 4
    assert [body["kind"] for body in bodies(back)[1:]].count("selection") == 1


@pytest.mark.filterwarnings("ignore:Rows of the holdout")
def test_other_labels_are_paid_for_once_and_the_way_back_is_free(begin):
    first, ahead = begin(), -math.log(0.99)
    assert first.report().nats == pytest.approx(ahead)  # that labels are as they were
    labellings = (Y, flipped([3]), Y, flipped([3]), flipped([4]), Y, Y)
    spent = [begin(y=y).report().nats for y in labellings]
    other = [-math.log(0.01 * 0.9) + ahead + math.log(labellings) for labellings in (2, 3)]
    assert np.diff(spent, prepend=spent[0]) == pytest.approx([0, other[0], 0, 0, other[1], 0, 0])
    kinds = ["begun", "relabelled", "back", "back", "relabelled", "back"]
    assert [change for change, *_ in changes_of(first)] == kinds


@UNNAMED
def test_an_opening_that_failed_refuses_nobody(ledger):
    with pytest.raises(ValueError, match="random_state"):
        opened(ledger, random_state="no number")
    assert ask(opened(ledger, ids=None)).verdict != "refused"


@pytest.mark.parametrize("missing", ["raise", "ignore"])
def test_rows_of_which_none_is_known_are_refused_whatever_is_ignored(missing, tmp_path):
    opened(tmp_path / "l.db")
    with pytest.raises(LedgerMismatchError, match="None of the 200 rows") as refused:
        opened(tmp_path / "l.db", ids=np.char.add("row ", IDS), missing=missing)
    assert "ignore" not in str(refused.value)


def test_every_set_of_rows_pays_in_advance_for_labels_that_are_as_they_were(begin):
    first = begin()
    for rows in (slice(5, N), slice(10, N), slice(15, N)):
        begin(rows, missing="ignore")
    begin(slice(20, N + 60), missing="ignore")
    assert first.report().nats == pytest.approx(-6 * math.log(0.99))  # the last one is two changes


@UNNAMED
def test_rows_of_two_holdouts_are_refused_together(ledger):
    """One ledger would forget what the other one answered, also if it is not asked before."""
    one, other = slice(0, 90), slice(90, N)
    first, second = opened(ledger, one), opened(ledger, other)
    ask(first)
    refused = (lambda: opened(ledger), lambda: opened(ledger, ALL), lambda: added(first, other))
    for call in refused:
        with pytest.raises(LedgerMismatchError, match="rows of 2 holdouts"):
            call()
    assert (ask(added(second)).verdict, ask(opened(ledger, one)).repeated) == ("exact", True)


def test_rows_that_come_back_with_other_labels_are_relabelled(begin):
    first = begin()
    begin(slice(50, N), missing="ignore")
    before = first.report().nats
    with pytest.warns(UserWarning, match="other labels"):
        wrong = begin(y=flipped([3]))
    assert wrong.report().nats == pytest.approx(before - math.log(0.01 * 0.99 / 2))
    assert CORRECTED in ask(wrong).certificate.assumptions
    assert begin().report().n_rows == N  # and back


REFUSED = {
    "ids": {"ids": IDS}, "other ids": {"ids": np.arange(N + 60)},
    "ids and groups": {"ids": IDS, "groups": IDS},
    "ids in another order": {"ids": IDS[::-1]}, "ids and tolerance": {"ids": IDS, "tolerance": 0.1},
}  # fmt: skip


@UNNAMED
@pytest.mark.parametrize("attempt", REFUSED.values(), ids=REFUSED)
def test_a_refused_attempt_with_ids_changes_nothing_for_whoever_has_none(attempt, ledger, uncharged):
    owner = opened(ledger, ids=None)
    answer = ask(owner)
    with uncharged(owner), pytest.raises(LedgerMismatchError, match="begun without ids, and is opened with"):
        opened(ledger, **attempt)
    again = opened(ledger, ids=None)
    assert (ask(again), ask(again).repeated, again.n_rows) == (answer, True, N)
    with pytest.raises(LedgerMismatchError, match="begun without ids"):  # the same the second time
        opened(ledger, **attempt)


@UNNAMED
def test_the_same_rows_shuffled_and_with_ids_of_another_kind_are_warned_of(ledger):
    ask(opened(ledger))
    with pytest.warns(UserWarning, match="As many rows of each label"):
        opened(ledger, np.random.default_rng(2).permutation(N), ids=np.char.add("row ", IDS))


@pytest.mark.parametrize("named", [True, False])
def test_missing_rows_are_refused_with_their_number(named, tmp_path):
    ledger = tmp_path / "ledger.db" if named else f":memory:{uuid.uuid4()}"
    first = opened(ledger)
    recorded = count(first)
    with pytest.raises(
        LedgerMismatchError, match=r"7 of the 200 rows are missing\. .* missing='ignore'.*second budget"
    ):
        opened(ledger, slice(7, N))
    assert count(first) == recorded


OTHERS = {
    "missing": ({"rows": slice(7, N), "missing": "ignore"}, ("missing", 7, N - 7), Y[7:N], LEFT_OUT),
    "relabelled": ({"y": flipped([3, 5])}, ("relabelled", None, N), flipped([3, 5])[OLD], CORRECTED),
}


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.filterwarnings("ignore:Rows of the holdout")
def test_missing_rows_and_other_labels_are_recorded_and_certificates_say_so(kind, begin):
    how, change, labels, assumed = OTHERS[kind]
    before, changed = ask(begin()), begin(**how)
    answer = ask(changed)
    assert changes_of(changed)[-1] == change
    assert (answer.repeated, answer.value) == (False, pytest.approx(np.mean(labels)))
    assert set(answer.certificate.assumptions) - set(before.certificate.assumptions) == {assumed}
    assert (ask(begin(**how)), ask(begin(**how)).repeated) == (answer, True)
    assert changed.report().answers[0][1].certificate.assumptions == before.certificate.assumptions


def test_three_changes_at_once_are_recorded_one_by_one(begin):
    before = ask(begin())
    with pytest.warns(UserWarning, match=r"^Rows of the holdout .* other labels"):
        whole = begin(slice(5, N + 60), y=flipped([10, 11, 12]), missing="ignore")
    assert changes_of(whole) == [
        ("begun", N, N), ("missing", 5, N - 5), ("relabelled", None, N - 5), ("added", 60, N + 55),
    ]  # fmt: skip
    assert len(ask(whole).certificate.assumptions) == len(before.certificate.assumptions) + 2
    assert ask(begin(slice(5, N + 60), y=flipped([10, 11, 12]))).repeated


def test_a_crash_between_two_changes_goes_on_where_it_was(begin):
    session = type(begin()._session)
    ask(begin())
    charge = session.charge

    def fails(self, key, decide):
        if key == "rows 2":
            raise MemoryError
        return charge(self, key, decide)

    with mock.patch.object(session, "charge", fails), pytest.raises(MemoryError):
        begin(slice(5, N + 60), missing="ignore")
    changes = [("begun", N, N), ("missing", 5, N - 5), ("added", 60, N + 55)]
    assert changes_of(begin(slice(5, N + 60))) == changes


def test_a_crash_before_the_rows_were_recorded_is_mended_by_the_same_rows_only(tmp_path):
    path = tmp_path / "ledger.db"
    ended = mock.patch("sklearn_ada.holdout.holdout.record_edition", side_effect=SystemExit)
    with ended, pytest.raises(SystemExit):
        opened(path)
    with pytest.raises(LedgerMismatchError, match="before its rows were recorded"):
        opened(path, ALL)
    assert changes_of(opened(path))


FIXED = {
    "groups": {"groups": np.arange(N + 60) // 2},
    "weights": {"sample_weight": np.linspace(1.0, 2.0, N + 60)},
    "a priced class mix": {"class_mix": "priced"},
    "privacy": {"route": "differential_privacy"},
}
OTHER_ROWS = {"added": {"rows": ALL}, "missing": {"rows": FEWER}, "relabelled": {"y": flipped([3])}}


@pytest.mark.parametrize("kind", FIXED)
@pytest.mark.parametrize("change", OTHER_ROWS)
@pytest.mark.filterwarnings("ignore:Rows of the holdout")
def test_where_the_guarantee_is_for_one_set_of_rows_only_labels_that_were_not_paid_for_may_change(
    kind, change, tmp_path
):
    begin = partial(opened, tmp_path / "ledger.db", **FIXED[kind])
    first = begin()
    recorded = count(first)
    if change == "relabelled" and kind in ("groups", "weights"):
        again = begin(**OTHER_ROWS[change])
        assert again.ledger.read(lambda state: state.units) == again._session.data.n_units
        assert changes_of(again)[-1][0] == "relabelled"
    else:
        reason = "" if change == "relabelled" else ", for it has (groups|class_mix|route)"
        with pytest.raises(LedgerMismatchError, match=f"may not change{reason}"):
            begin(**OTHER_ROWS[change], missing="ignore")
        assert count(first) == recorded or change == "relabelled"
        assert begin(np.random.default_rng(2).permutation(N)).fingerprint == first.fingerprint


@pytest.mark.parametrize("kind", ["groups", "a priced class mix", "privacy"])
def test_a_refusal_does_not_show_how_many_labels_are_right(kind, tmp_path):
    """Predictions that are passed as labels would else have their errors counted, for nothing."""
    begin, rows = partial(opened, tmp_path / "ledger.db", **FIXED[kind]), slice(10, N)
    begin()
    for again in (rows,) if kind == "groups" else (rows, OLD):
        messages = set()
        for y in (flipped([50]), flipped(range(20, 120)), *([Y] if again == rows else [])):
            with pytest.raises(LedgerMismatchError, match="may not change") as refused:
                begin(again, y, missing="ignore")
            messages.add(str(refused.value))
        assert len(messages) == 1


def test_nothing_that_is_shown_has_the_number_of_labels_that_differ(tmp_path, capsys):
    shown = []
    for differing in (7, 37):
        path = tmp_path / str(differing) / "ledger.db"
        path.parent.mkdir()
        opened(path)
        with pytest.warns(UserWarning, match="other labels") as warned:
            again = opened(path, y=flipped(range(differing)))
        body, message = bodies(again)[-1], str(warned[0].message)
        assert len(body["table"]) == N * 12 * 4 // 3  # of all rows
        main(["ledger", "show", str(path)])
        text = capsys.readouterr().out
        assert "labels differ, 200 rows from now on" in text
        shown.append((message.replace(str(path), ""), sorted(body)))
        main(["ledger", "show", "--json", str(path)])
        texts = [text, capsys.readouterr().out, repr(again.report()), str(body["rows"]), message]
        assert not any(f"{differing} rows" in one or f": {differing}," in one for one in texts)
    assert shown[0] == shown[1]


WEIGHTS = np.ones(N + 60)


@pytest.mark.parametrize("y", [Y, 1 - Y], ids=["labels as before", "other labels"])
def test_other_weights_or_groups_of_the_same_rows_are_refused_and_nothing_is_recorded(y, tmp_path):
    grouped = opened(tmp_path / "groups.db", groups=np.arange(N + 60) // 2)
    weighted = opened(tmp_path / "weights.db", sample_weight=WEIGHTS)
    refused = [
        (grouped, {"groups": np.arange(N + 60) // 4}),
        (grouped, {}),
        (grouped, {"sample_weight": np.arange(1.0, N + 61)}),
        (weighted, {"sample_weight": WEIGHTS + np.eye(N + 60)[0]}),
    ]
    for holdout, other in refused:
        recorded = count(holdout)
        with pytest.raises(LedgerMismatchError, match="other weights or groups"):
            opened(holdout.ledger.path, y=y, **other)
        assert count(holdout) == recorded


def test_a_repeated_id_is_a_group_and_stays_one_and_none_comes_to_be_repeated(tmp_path):
    ids = np.arange(N) // 2
    holdout = opened(tmp_path / "repeated.db", ids=ids)
    assert (holdout._session.data.has_groups, holdout._session.data.n_units) == (True, N // 2)
    opened(tmp_path / "single.db")
    for path, more in (("repeated.db", [*ids, 0]), ("single.db", [*IDS[OLD], IDS[0]])):
        with pytest.raises(LedgerMismatchError, match="ids that occur more than once"):
            opened(tmp_path / path, slice(N + 1), ids=more)
    with pytest.raises(ValueError, match="an id in several groups"):
        opened(ids=ids, groups=np.arange(N))


OTHER_IDS = {
    "others": (IDS, OLD, np.arange(N + 60), "with other ids.*second budget|None of the 200 rows"),
    "none before": (None, OLD, IDS, "begun without ids"),
    **{
        f"none now, {kind}": (IDS, rows, None, "(begun with ids|with ids, and not without).*second budget")
        for kind, rows in (("the same", OLD), ("in another order", RNG.permutation(N)), ("more", ALL))
    },
}


@pytest.mark.parametrize(("ids", "rows", "others", "message"), OTHER_IDS.values(), ids=OTHER_IDS)
def test_ids_that_come_go_or_change_are_no_fresh_budget(ids, rows, others, message, begin):
    begin(ids=ids)
    if ids is not None:
        begin(rows, ids=ids)
    with pytest.raises(LedgerMismatchError, match=message):
        begin(rows, ids=others)


def test_dropped_rows_without_a_path_are_warned_of_once_and_have_a_ledger_of_their_own(monkeypatch):
    monkeypatch.setattr("sklearn_ada._notices._given", set())
    for shift in (0, 1000):  # once for each ledger
        begin = partial(opened, y=(Y + shift) % 7, ids=np.arange(N) + shift)
        first = begin()
        with pytest.warns(UserWarning, match=r"193 of the 200 rows .*second budget.*missing='ignore'"):
            other = begin(rows=slice(7, N))
        assert other.ledger.path != first.ledger.path
        assert begin(rows=slice(7, N)).ledger.path == other.ledger.path


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
    assert Opens().fit(X[OLD], Y[OLD]).ledger_.startswith("ids-")


def test_unrelated_rows_have_a_ledger_of_their_own_without_a_warning(recwarn):
    assert opened(rows=slice(N, None)).ledger.path != opened().ledger.path
    assert not recwarn.list


def test_top_up_of_other_rows_is_refused_before_anything_is_recorded(begin):
    small, other = begin(), slice(N + 20, N + 40)
    middle = added(small, slice(N, N + 20))
    recorded = count(small)
    with pytest.raises(LedgerMismatchError, match="Other rows were added") as refused:
        added(small, other)
    assert "ignore" not in str(refused.value)
    assert count(small) == recorded
    large = added(middle, other)
    again = added(small, np.arange(N, N + 20)[::-1])  # of an edition in between
    assert again.fingerprint == middle.fingerprint
    assert ask(large, "new").verdict == "refused"
    assert added(again, other).fingerprint == large.fingerprint
    assert ask(large, "new").verdict != "refused"
    assert [change for change, *_ in changes_of(small)] == ["begun", "added", "added", "back", "back"]


def test_without_ids_a_topped_up_holdout_is_opened_again_by_the_same_top_up(tmp_path):
    begin = partial(opened, tmp_path / "ledger.db", ids=None)
    small = begin()
    with pytest.raises(ValueError, match="'ids' parameter"):
        added(small)
    ask(small.top_up(X[N:], Y[N:]))
    with pytest.raises(LedgerMismatchError, match="add again what top_up added, which is free"):
        begin(ALL)
    assert ask(begin().top_up(X[N:], Y[N:])).repeated


def test_the_table_of_rows_is_shown_nowhere(tmp_path, capsys):
    path = tmp_path / "ledger.db"
    holdout = opened(path)
    ask(holdout)
    (table,) = (body["table"] for body in bodies(holdout) if body.get("kind") == "rows")
    assert len(table) == N * 12 * 4 // 3
    report = holdout.report()
    for command, *options in (["show"], ["show", "--json"], ["show", "--csv"], ["report", "--json"]):
        main(["ledger", command, str(path), *options])
    printed = capsys.readouterr().out
    assert "200 rows begun" in printed
    shown = [printed, repr(report), report._repr_html_(), json.dumps(report.to_dict()), repr(holdout)]
    shown += [pickle.dumps(each).decode("latin-1") for each in (report, holdout.ledger)]
    shown.append(holdout.ledger.read(lambda state: json.dumps(state.to_dict())))
    assert not any(table[:20] in text for text in shown)


def test_the_table_is_keyed_with_the_secret(tmp_path):
    kind = np.dtype([("id", "<u8"), ("label", "<u4")])
    texts = [bodies(opened(tmp_path / f"{number}.db"))[1]["table"] for number in range(2)]
    one, other = (np.frombuffer(base64.b64decode(text), dtype=kind) for text in texts)
    assert len(one) == len(other) == N
    assert not np.isin(one["id"], other["id"]).any()


@pytest.mark.filterwarnings("ignore")
def test_changes_lead_from_any_rows_to_any_others():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        first, second = (rng.random(N + 60) < rng.uniform(0.1, 1.0) for _ in range(2))
        y = np.where(rng.random(N + 60) < 0.1, 1 - Y, Y)
        begin = partial(opened, f":memory:{uuid.uuid4()}")
        begin(first)
        holdout = begin(second, y, missing="ignore")
        steps = {change: changed for change, changed, _ in changes_of(holdout)[1:]}
        numbers = {"missing": (first & ~second).sum(), "added": (second & ~first).sum()}
        expected = {change: number for change, number in numbers.items() if number}
        if (first & second & (y != Y)).any():
            expected["relabelled"] = None
        assert steps == expected
        recorded = count(holdout)
        assert count(begin(second, y)) == recorded  # these are its rows now


def are_same(one, other):
    """Whether ids are those that a ledger was begun with: rows with others are refused."""
    ledger, rows = f":memory:{uuid.uuid4()}", slice(0, len(one))
    Holdout(X[rows], np.arange(len(one)), ids=one, ledger=ledger)
    try:
        Holdout(X[rows], np.arange(len(one)), ids=other, ledger=ledger)
    except LedgerMismatchError:
        return False
    return True


DAY = datetime.date(2020, 1, 1)
SAME = {
    "NumPy's": ([1, 2, 30], np.array([1, 2, 30])),
    "floats": ([1, 2, 30], np.array([1.0, 2.0, 30.0])),
    "objects": ([1, 2, 30], np.array([1, 2, 30], dtype=object)),
    "series": ([1, 2, 30], pd.Series([1, 2, 30])),
    "32 bits": ([1, 2, 30], np.array([1, 2, 30], dtype=np.int32)),
    "with gaps": ([1, 2, 30], pd.array([1, 2, 30], dtype="Int64")),
    "times": ([DAY], [datetime.datetime(2020, 1, 1)]),
    "pandas' times": ([DAY], [pd.Timestamp(DAY)]),
    "days": ([DAY], np.array([DAY], dtype="datetime64[D]")),
    "categories": (["a", "b"], pd.Series(["a", "b"], dtype="category")),
    **{
        f"the largest {dtype}": ([2**bits - 1], np.array([2**bits - 1], dtype=dtype))
        for bits, dtype in ((53, "float64"), (24, "float32"), (11, "float16"))
    },
    "the last day": (np.array(["2262-04-11"], dtype="M8[D]"), [datetime.date(2262, 4, 11)]),
}


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
def test_ids_are_the_same_whatever_holds_them(one, other):
    assert are_same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [*itertools.combinations([1, "1", b"1", DAY, "2020-01-01"], 2), (2**70, 2**70 + 1)],
    ids=str,
)
def test_ids_of_other_kinds_are_other_ids(one, other):
    assert not are_same([one], [other])


BAD_IDS = {
    **{str(gap): (["a", gap, "b", gap], r".*Got '2 missing ids'") for gap in (None, np.nan, pd.NA, pd.NaT)},
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
    "bools": (pd.Series([True, True]), "values of type bool' .*texts"),
    "decimals": (pd.Series([decimal.Decimal(1)] * 2), "values of type Decimal' .*texts"),
    "pairs": (pd.Series([(1, 2)] * 2), "values of type tuple' .*Join several"),
    "bools as objects": (np.array([True, False], dtype=object), ""),
    "fractions as objects": (np.array([0.5, 1.5], dtype=object), ""),
}


@pytest.mark.parametrize(("ids", "message"), BAD_IDS.values(), ids=BAD_IDS)
def test_what_is_no_id_or_may_stand_for_several_is_refused_before_there_is_a_ledger(ids, message, tmp_path):
    with pytest.raises(ValueError, match=f"'ids' parameter of Holdout .*{message}"):
        Holdout(X[: len(ids)], np.arange(len(ids)), ids=ids, ledger=tmp_path / "ledger.db")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("how", "name"), [({"missing": "drop"}, "missing"), ({"ids": ["a", "b"]}, "ids")])
def test_too_few_ids_and_another_word_for_missing_ones_are_refused(how, name, tmp_path):
    with pytest.raises(ValueError, match=f"'{name}' parameter of Holdout"):
        Holdout(X[:4], Y[:4], **{"ids": range(4), **how}, ledger=tmp_path / "ledger.db")
    assert not list(tmp_path.iterdir())


def test_a_share_of_ids_is_met_on_average_and_depends_on_the_seed(tmp_path):
    size, parts = 20_000, {}
    for seed in (None, 0, 1):
        inner, ledger = GridSearchCV(DummyClassifier(), {}), tmp_path / f"{seed}.db"
        search = ReusableHoldoutCV(inner, random_state=seed, ledger=ledger)
        holdout = search.fit(np.zeros((size, 1)), np.arange(size) % 2, ids=np.arange(size)).holdout_
        parts[seed] = set(holdout._session.data.ids.tolist())
    for held in parts.values():
        assert abs(len(held) - size / 4) < 5 * np.sqrt(size * 0.25 * 0.75)  # 6e-7
    assert abs(len(parts[0] & parts[1]) - size / 16) < 5 * np.sqrt(size * 0.0625 * 0.9375)


def test_workers_that_bring_the_same_new_rows_at_once_record_them_once(tmp_path):
    first = opened(tmp_path / "ledger.db")
    work = joblib.delayed(Holdout)(X[ALL], Y[ALL], ids=IDS[ALL], ledger=first.ledger.path)
    assert {holdout.fingerprint for holdout in joblib.Parallel(2)([work] * 4)} == {added(first).fingerprint}
    assert changes_of(first) == CHANGED


@UNNAMED
def test_threads_that_begin_the_same_rows_at_once_have_one_ledger(ledger):
    """None of them is refused as one who has other ids; others are as soon as there is a ledger."""
    orders = [np.random.default_rng(seed).permutation(N) for seed in range(6)]
    ledgers = together(*[lambda order=order: opened(ledger, order).ledger for order in orders])
    assert len({ledger.secret() for ledger in ledgers}) == 1
    assert sum(record.key == "rows 0" for record in ledgers[0].records()) == 1


def test_a_state_that_is_restored_still_names_what_is_assumed(tmp_path):
    opened(tmp_path / "ledger.db")
    ledger = opened(tmp_path / "ledger.db", slice(7, N), missing="ignore").ledger
    state = ledger.read(lambda state: json.loads(json.dumps(state.to_dict())))
    fresh = ledger.read(lambda state: type(state)(ledger.genesis))
    assert "assumed" not in fresh.to_dict()  # as in checkpoints of older ledgers
    fresh.restore(state)
    assert fresh.assumed == [LEFT_OUT]
    fresh.restore({name: value for name, value in state.items() if name != "assumed"})
    assert fresh.assumed == []
