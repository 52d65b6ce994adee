"""Threads, forks and spawned processes on one ledger: no charge is lost, doubled or decided on old news."""

import os
import threading

import numpy as np
import pytest

from sklearn_ada import Holdout
from sklearn_ada.ledger import transactions
from tests.support.ledger.damages import opened
from tests.support.ledger.ledger_backends import backend_of, count, counted, nothing
from tests.support.models import Always
from tests.support.processes import in_a_fork, in_processes, interpreter, killed, together

EACH = 30
KEYS = [f"shared {number}" for number in range(EACH)]


@pytest.fixture(params=["sqlite", "postgresql"])
def ledger(request):
    backend = backend_of(request)
    return backend.open(backend.address())


def charge_all(ledger, who):
    """Charge the shared keys and as many of one's own; return how many shared ones were fresh."""
    fresh = 0
    for number, shared in enumerate(KEYS):
        for key in (shared, f"{who} {number}"):
            record = ledger.charge(key, lambda state, key=key: {**counted(state), "key": key})
            fresh += record.fresh and key is shared
    return fresh


def assert_whole(ledger, workers):
    """Every key once, each decided in full view of what came before, the chain intact."""
    records = list(ledger.records())[1:]
    assert len(records) == EACH * (1 + workers)
    assert sorted(r.key for r in records if r.key.startswith("shared")) == sorted(KEYS)
    assert len({record.key for record in records}) == len(records)
    assert all(record.body == {"before": record.seq - 1, "key": record.key} for record in records)
    assert ledger.read(count) == len(records)


def test_threads_share_one_ledger(ledger):
    start = threading.Barrier(4)
    fresh = together(*(lambda who=who: (start.wait(), charge_all(ledger, who))[1] for who in range(4)))
    assert sum(fresh) == EACH
    assert_whole(ledger, workers=4)


THOROUGH_AND_SLOW = [
    pytest.param("spawn", marks=pytest.mark.thorough),
    pytest.param("forkserver", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("method", ["fork", *THOROUGH_AND_SLOW])
def test_processes_share_one_ledger(ledger, method):
    ledger.read(count)  # the connection that a fork would inherit is open
    fresh = in_processes(method, 2, charge_all, ledger, here=lambda: charge_all(ledger, "parent"))
    assert sum(fresh) == EACH
    assert_whole(ledger, workers=3)


def test_a_fork_while_another_thread_is_charging_waits_for_the_end_of_its_transaction(ledger):
    inside, forking = threading.Event(), threading.Event()

    def decide(state):
        inside.set()
        assert forking.wait(30)
        return {"number": 1}

    charging = threading.Thread(target=ledger.charge, args=("slow", decide))
    charging.start()
    assert inside.wait(30)
    threading.Timer(0.1, forking.set).start()

    def child():
        assert ledger.find("slow").body == {"number": 1}
        assert ledger.charge("child", counted).seq == 2

    assert in_a_fork(child) == "None"
    charging.join()
    assert ledger.find("child").body == {"before": 1}
    assert ledger.charge("parent", counted).seq == 3


def test_a_fork_does_not_use_the_connections_of_its_parent(ledger):
    ledger.read(count)
    inherited = list(transactions._connections.values())

    def child():
        ledger.charge("child", nothing)
        assert inherited
        assert not set(inherited) & set(transactions._connections.values())

    assert in_a_fork(child) == "None"


def test_a_fork_from_a_thread_can_charge(ledger):
    assert together(lambda: in_a_fork(lambda: ledger.charge("child", nothing).seq)) == ["1"]
    assert ledger.find("child").seq == 1


def test_a_fork_of_a_fork_can_charge(ledger):
    def child():
        ledger.charge("child", nothing)
        assert in_a_fork(lambda: ledger.charge("grandchild", nothing).seq) == "2"

    assert in_a_fork(child) == "None"
    assert [record.key for record in ledger.records()] == [None, "child", "grandchild"]


TRY_TO_WRITE = """
    import sqlite3, sys
    try:
        sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None).execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError:
        print("locked")
"""


def test_a_child_that_ends_does_not_give_its_parents_lock_away(path, empty):
    found = []

    def decide(state):
        found.extend((in_a_fork(lambda: None), interpreter(TRY_TO_WRITE, path).stdout.strip()))
        return {}

    empty.charge("k", decide)
    assert found == ["None", "locked"]


CHARGES_ONCE = """
    import sys, threading
    from sklearn_ada.ledger import sqlite
    from tests.support.ledger.damages import opened
    def wait(*_):
        print("here", flush=True)
        threading.Event().wait()
    ledger = opened(sys.argv[1])
    ledger.charge("before", lambda state: {"text": "x" * 50_000})
"""
WAITS_INSIDE = """
    ledger.charge("never", wait)
"""
WAITS_AFTER_WRITING = """
    ledger._connection()._db.execute("PRAGMA cache_spill = ON")
    add = sqlite.SQLiteFile.add
    def spilled(self, row):
        self._db.execute("PRAGMA cache_size = 1")
        add(self, row)
        wait()
    sqlite.SQLiteFile.add = spilled
    ledger.charge("never", lambda state: {"text": "y" * 1_000_000})
"""


@pytest.mark.parametrize("waits", [WAITS_INSIDE, WAITS_AFTER_WRITING], ids=["inside", "after writing"])
def test_a_process_killed_inside_a_transaction_charges_nothing(path, waits):
    assert killed(CHARGES_ONCE + waits, path) == ["here\n"]
    if waits is WAITS_AFTER_WRITING:
        assert os.path.getsize(f"{path}-journal") > 0  # hot: part of the charge is in the file
    ledger = opened(path)
    assert [record.key for record in ledger.records()] == [None, "before"]
    assert ledger.charge("never", counted).body == {"before": 1}


ROWS = np.arange(1200.0).reshape(600, 2)
LABELS = np.arange(600) % 2
GUESSES = np.linspace(0.49, 0.51, 80).tolist()  # all hold, so that their order makes no difference


def ask_until_refused(holdout, who, step=4):
    """Return how many questions of one's own are answered."""
    model, about = (
        Always(0),
        {"scoring": "accuracy"},
    )  # each with cells of its own, or it would be one question
    asked = [
        holdout.check(model, guess=each, settings=0.1 + each / 100, **about) for each in GUESSES[who::step]
    ]
    return sum(answer.answered for answer in asked)


@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
def test_four_processes_are_admitted_no_more_than_one(tmp_path, method):
    alone, shared = (
        Holdout(ROWS, LABELS, ledger=tmp_path / name, tolerance=0.21, random_state=0)
        for name in ("alone.db", "shared.db")
    )
    admitted = ask_until_refused(alone, 0, step=1)
    assert 4 < admitted < len(GUESSES)
    together = sum(in_processes(method, 4, ask_until_refused, shared))
    assert 0 < together <= admitted  # fewer, where a slow machine leaves questions pending, which has a price
    report = shared.report()
    assert report.asked["check"] == together
    assert report.refused == len(GUESSES) - together
    if together == admitted:
        assert report.nats == pytest.approx(alone.report().nats, rel=1e-9)
