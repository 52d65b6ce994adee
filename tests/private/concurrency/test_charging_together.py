"""Threads, forks and spawned processes on one ledger: no charge is lost, doubled or decided on old news."""

import multiprocessing
import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

from sklearn_ada import Holdout
from sklearn_ada.ledger import SQLiteLedger, transactions
from tests.support.ledger.fitted_models import Constant
from tests.support.ledger.ledger_backends import Genesis, Tally, backend_of, count
from tests.support.processes import ROOT, in_a_fork, together

EACH = 30
KEYS = [f"shared {number}" for number in range(EACH)]


of_a_file = pytest.mark.parametrize("ledger", ["sqlite"], indirect=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def ledger(request):
    backend = backend_of(request)
    return backend.open(backend.address())


def charge_all(ledger, who, start=None):
    """Charge the shared keys and as many of one's own; return how many shared ones were fresh."""
    if start is not None:
        start.wait()
    fresh = 0
    for number, key in enumerate(KEYS):
        fresh += ledger.charge(key, lambda state: {"before": count(state), "key": key}).fresh  # noqa: B023
        own = f"{who} {number}"
        ledger.charge(own, lambda state: {"before": count(state), "key": own})  # noqa: B023
    return fresh


def report(ledger, who, start, results):
    results.put(charge_all(ledger, who, start))


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
    fresh = together(*(lambda who=who: charge_all(ledger, who, start) for who in range(4)))
    assert sum(fresh) == EACH
    assert_whole(ledger, workers=4)


@pytest.mark.parametrize(
    "method",
    [
        "fork",
        pytest.param("spawn", marks=pytest.mark.thorough),
        pytest.param("forkserver", marks=pytest.mark.slow),
    ],
)
def test_processes_share_one_ledger(ledger, method):
    context = multiprocessing.get_context(method)
    start, results = context.Barrier(3), context.Queue()
    ledger.read(count)  # the connection that a fork would inherit is open
    workers = [context.Process(target=report, args=(ledger, who, start, results)) for who in range(2)]
    for worker in workers:
        worker.start()
    fresh = charge_all(ledger, "parent", start)
    fresh += sum(results.get(timeout=60) for _ in workers)
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    assert fresh == EACH
    assert_whole(ledger, workers=3)


def test_a_fork_while_another_thread_is_charging_waits_for_the_end_of_its_transaction(ledger):
    inside, go_on, forking = threading.Event(), threading.Event(), threading.Event()

    def decide(state):
        inside.set()
        assert go_on.wait(30)
        return {"number": 1}

    charging = threading.Thread(target=ledger.charge, args=("slow", decide))
    charging.start()
    assert inside.wait(30)

    def let_go():
        assert forking.wait(30)
        go_on.set()

    letting_go = threading.Thread(target=let_go)
    letting_go.start()
    forking.set()

    def child():
        assert ledger.find("slow").body == {"number": 1}
        assert ledger.charge("child", lambda state: {"before": count(state)}).seq == 2

    code = in_a_fork(child)
    charging.join()
    letting_go.join()
    assert code == "None"
    assert ledger.find("child").body == {"before": 1}
    assert ledger.charge("parent", lambda state: {"before": count(state)}).seq == 3


def test_a_fork_does_not_use_the_connections_of_its_parent(ledger):
    ledger.read(count)
    inherited = list(transactions._connections.values())

    def child():
        ledger.charge("child", lambda state: {})
        assert inherited
        assert not set(inherited) & set(transactions._connections.values())

    assert in_a_fork(child) == "None"


def test_a_fork_from_a_thread_can_charge(ledger):
    assert together(lambda: in_a_fork(lambda: ledger.charge("child", lambda state: {}).seq)) == ["1"]
    assert ledger.find("child").seq == 1


def test_a_fork_of_a_fork_can_charge(ledger):
    def child():
        ledger.charge("child", lambda state: {})
        assert in_a_fork(lambda: ledger.charge("grandchild", lambda state: {}).seq) == "2"

    assert in_a_fork(child) == "None"
    assert [record.key for record in ledger.records()] == [None, "child", "grandchild"]


@of_a_file
def test_a_child_that_ends_does_not_give_its_parents_lock_away(ledger):
    codes = []

    def decide(state):
        codes.append(in_a_fork(lambda: None))
        codes.append(subprocess.run([sys.executable, "-c", TRY_TO_WRITE, ledger.path]).returncode)
        return {}

    ledger.charge("k", decide)
    assert codes == ["None", LOCKED]


LOCKED = 7
TRY_TO_WRITE = textwrap.dedent(
    """
    import sqlite3, sys
    try:
        sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None).execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError:
        raise SystemExit(7)
    """
)


KILLED_INSIDE = textwrap.dedent(
    """
    import sys, threading
    from sklearn_ada.ledger import SQLiteLedger
    from tests.support.ledger.ledger_backends import Genesis, Tally
    ledger = SQLiteLedger.create_or_open(sys.argv[1], Genesis(), Tally)
    ledger.charge("before", lambda state: {})
    def decide(state):
        print("inside", flush=True)
        threading.Event().wait()
    ledger.charge("never", decide)
    """
)


def test_a_process_killed_inside_a_transaction_charges_nothing(tmp_path):
    path = tmp_path / "ledger.db"
    with subprocess.Popen(
        [sys.executable, "-c", KILLED_INSIDE, path], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "inside\n"
        process.kill()
    ledger = SQLiteLedger.create_or_open(path, Genesis(), Tally)
    assert [record.key for record in ledger.records()] == [None, "before"]
    assert ledger.charge("never", lambda state: {"before": count(state)}).body == {"before": 1}


KILLED_AFTER_WRITING = textwrap.dedent(
    """
    import sys, threading
    from sklearn_ada.ledger import SQLiteLedger
    from sklearn_ada.ledger import sqlite
    from tests.support.ledger.ledger_backends import Genesis, Tally
    ledger = SQLiteLedger.create_or_open(sys.argv[1], Genesis(), Tally)
    ledger.charge("before", lambda state: {"text": "x" * 50_000})
    ledger._connection()._db.execute("PRAGMA cache_spill = ON")
    add = sqlite.SQLiteFile.add
    def spilled(self, row):
        self._db.execute("PRAGMA cache_size = 1")
        add(self, row)
        print("written", flush=True)
        threading.Event().wait()
    sqlite.SQLiteFile.add = spilled
    ledger.charge("never", lambda state: {"text": "y" * 1_000_000})
    """
)


def test_a_process_killed_between_writing_and_commit_charges_nothing(tmp_path):
    path = tmp_path / "ledger.db"
    with subprocess.Popen(
        [sys.executable, "-c", KILLED_AFTER_WRITING, path], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "written\n"
        process.kill()
    assert os.path.getsize(f"{path}-journal") > 0  # hot: part of the charge is in the file
    ledger = SQLiteLedger.create_or_open(path, Genesis(), Tally)
    assert [record.key for record in ledger.records()] == [None, "before"]


ROWS = np.arange(1200.0).reshape(600, 2)
LABELS = np.arange(600) % 2
TOLERANCE = 0.21


def ask_until_refused(holdout, guesses, start=None):
    """Ask questions whose guesses all hold, so that their order makes no difference; count the answers."""
    if start is not None:
        start.wait()
    model = Constant(0).fit(ROWS, LABELS)
    answered = 0
    for guess in guesses:
        answered += holdout.check(model, scoring="accuracy", guess=guess).answered
    return answered


def ask_and_report(holdout, guesses, start, results):
    results.put(ask_until_refused(holdout, guesses, start))


@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
def test_four_processes_are_admitted_no_more_than_one(tmp_path, method):
    guesses = np.linspace(0.49, 0.51, 80).tolist()

    def holdout(name):
        return Holdout(ROWS, LABELS, ledger=tmp_path / name, tolerance=TOLERANCE, random_state=0)

    alone = ask_until_refused(holdout("alone.db"), guesses)
    assert 4 < alone < len(guesses)

    shared, context = holdout("shared.db"), multiprocessing.get_context(method)
    start, results = context.Barrier(4), context.Queue()
    workers = [
        context.Process(target=ask_and_report, args=(shared, guesses[who::4], start, results))
        for who in range(4)
    ]
    for worker in workers:
        worker.start()
    together = sum(results.get(timeout=60) for _ in workers)
    for worker in workers:
        worker.join()
    report = shared.report()
    assert together == alone
    assert report.asked["check"] == alone
    assert report.refused == len(guesses) - alone
    assert report.nats == pytest.approx(holdout("alone.db").report().nats, rel=1e-9)
