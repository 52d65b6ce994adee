"""Ctrl-C at any instant: nothing is counted twice, nothing stays locked, no edit is reported."""

import contextlib
import gc
import os
import random
import signal
import sqlite3
import threading
import time

import pytest

from sklearn_ada.ledger import MemoryLedger, SQLiteLedger, transactions
from sklearn_ada.ledger.sqlite import LockFile
from sklearn_ada.ledger.transactions import InterruptsHeld
from tests.support.ledger.damages import forget_connections
from tests.support.ledger.ledger_backends import Genesis, MemoryBackend, Tally, charge, count, fill
from tests.support.processes import started, together

# An exception of a signal's handler may come while an object is deleted, and is printed there.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


STORM = """
import os, random, sys, time
chance, parent = random.Random(int(sys.argv[2])), int(sys.argv[1])
while os.getppid() == parent:
    time.sleep(chance.uniform(0.0, 0.004))
    os.kill(parent, int(sys.argv[3]))
"""


@contextlib.contextmanager
def storm(number, seed):
    """Send this process a signal every other millisecond; it interrupts what `interrupted` does."""
    before = signal.signal(number, interrupt_if_armed)
    with started(STORM, os.getpid(), seed, number) as process:
        try:
            yield
        finally:
            process.kill()
            signal.signal(number, before)


armed = False


def interrupt_if_armed(number, frame):
    global armed
    if armed:
        armed = False
        raise KeyboardInterrupt


def interrupted(task):
    """Return whether the task was interrupted, and what it returned if not; the traceback is kept."""
    global armed
    try:
        armed = True
        result = task()
        armed = False
        return None, result
    except KeyboardInterrupt as error:
        return error, None


def is_locked(path):
    """Whether a writer is kept out, by SQLite's lock or by the one beside the file."""
    lock = LockFile(path)
    try:
        lock.acquire(exclusive=True, patience=0)
        with contextlib.closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as db:
            db.execute("BEGIN EXCLUSIVE")
            db.execute("ROLLBACK")
    except Exception:
        return True
    finally:
        lock.release()
    return False


class Once(Tally):
    """A state that refuses a record which it has taken in before."""

    def advance(self, body):
        if body["number"] != count(self):
            raise ValueError("taken in twice, or left out")
        super().advance(body)


def ask_in_a_storm(open_ledger, asks, seed, number=signal.SIGINT, is_free=lambda: True):
    """Ask, look and open until so many asks were answered; return how often each was interrupted."""
    chance, ledger = random.Random(seed), open_ledger()
    interrupts = {"open": 0, "ask": 0, "look": 0}
    answered = set()

    def ask():
        return ledger.charge(f"key {len(answered)}", lambda state: {"number": count(state)})

    def reopen():
        if isinstance(ledger, SQLiteLedger):
            forget_connections()
        return open_ledger()

    tasks = {"ask": ask, "look": lambda: ledger.read(count), "open": reopen}
    deadline = time.monotonic() + 600
    with storm(number, seed):
        while len(answered) < asks:
            assert time.monotonic() < deadline
            name = chance.choices(["ask", "look", "open"], [30, 10, 1])[0]
            error, result = interrupted(tasks[name])
            if error is not None:
                interrupts[name] += 1
                assert is_free(), "a lock stays held while the traceback lives"
            elif name == "ask":
                assert result.seq == len(answered) + 1
                answered.add(result.seq)
    records = list(ledger.records())
    assert [record.body["number"] for record in records[1:]] == list(range(len(records) - 1))
    assert answered <= {record.seq for record in records}
    return interrupts


def once_at(path):
    return lambda: SQLiteLedger.create_or_open(path, Genesis(), Once)


@pytest.mark.parametrize(("asks", "seed"), [(500, 1), pytest.param(10_000, 2, marks=pytest.mark.slow)])
def test_asks_and_openings_are_interrupted_at_any_instant(path, asks, seed):
    gc.disable()  # what a traceback holds must not be freed by chance
    try:
        interrupts = ask_in_a_storm(once_at(path), asks, seed, is_free=lambda: not is_locked(path))
    finally:
        gc.enable()
    assert interrupts["ask"] > 20
    assert asks == 500 or min(interrupts.values()) > 20


def test_a_ledger_in_memory_is_interrupted_at_any_instant():
    address = MemoryBackend().address()
    ask_in_a_storm(lambda: MemoryLedger.create_or_open(address, Genesis(), Once), 5000, seed=3)


def test_an_exception_of_another_signal_at_any_instant_leaves_no_edit_behind(path):
    """Nothing holds these: what a timer's handler raises may come between any two steps."""
    handler = signal.getsignal(signal.SIGINT)
    interrupts = ask_in_a_storm(once_at(path), 200, seed=4, number=signal.SIGUSR1)
    assert interrupts["ask"] > 20
    once_at(path)()
    assert signal.getsignal(signal.SIGINT) == handler


def test_a_block_that_was_left_in_disorder_does_not_keep_ctrl_c(empty, python_handler):
    (lambda: InterruptsHeld().__enter__())()  # and what comes next is an exception from outside
    charge(empty)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.fixture
def python_handler():
    """A job in the background of a shell ignores SIGINT."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press():
    signal.raise_signal(signal.SIGINT)


def test_an_interrupt_while_a_question_is_decided_comes_after_the_record(python_handler, empty):
    def decide(state):
        press()
        return {"number": 1}

    with pytest.raises(KeyboardInterrupt):
        empty.charge("k", decide)
    assert empty.find("k").body == {"number": 1}
    assert empty.read(count) == 1


def test_an_interrupt_ends_the_wait_for_a_lock(python_handler, path, empty):
    other = LockFile(path)
    other.acquire(exclusive=True, patience=1)
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        charge(empty)
    assert time.monotonic() < began + 10
    other.release()
    assert charge(empty).seq == 1


def test_an_interrupt_ends_a_long_replay_and_what_was_read_is_kept(python_handler, path, empty, monkeypatch):
    monkeypatch.setattr(transactions, "_BREATH", 3)
    fill(empty, 10)
    forget_connections()
    taken = []

    class Pressed(Tally):
        def advance(self, body):
            super().advance(body)
            taken.append(body)
            if len(taken) == 4:
                press()

    ledger = SQLiteLedger(path, empty.genesis, Pressed)
    with pytest.raises(KeyboardInterrupt):
        ledger.read(count)
    assert len(taken) == 6
    assert ledger.read(count) == len(taken) == 10


@pytest.mark.parametrize("ignored", [False, True])
def test_a_handler_of_the_users_own_is_called_and_put_back_or_ignored(empty, ignored):
    calls = []
    mine = signal.SIG_IGN if ignored else lambda number, frame: calls.append(number)
    before = signal.signal(signal.SIGINT, mine)
    try:
        assert empty.charge("k", lambda state: press() or {}).seq == 1
        assert calls == ([] if ignored else [signal.SIGINT])
        assert signal.getsignal(signal.SIGINT) is mine
    finally:
        signal.signal(signal.SIGINT, before)


def test_threads_charge_without_touching_handlers(empty):
    handler = signal.getsignal(signal.SIGINT)
    same = lambda state: {"same": signal.getsignal(signal.SIGINT) is handler}  # noqa: E731
    assert together(lambda: empty.charge("k", same))[0].body == {"same": True}
