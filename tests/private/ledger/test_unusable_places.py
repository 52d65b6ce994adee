"""What others put where a ledger or its lock file is, or do to it: the cause is named soon, nothing kept."""

import contextlib
import gc
import os
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import time

import pytest

from sklearn_ada.exceptions import LedgerUnavailableError
from sklearn_ada.ledger import open_existing_ledger, sqlite, transactions
from tests.support.ledger.damages import FEW, content, forget_connections, opened
from tests.support.ledger.ledger_backends import Tally, charge, fill, nothing

SOON = 5.0  # seconds, on a busy machine


@pytest.fixture(autouse=True)
def _never_for_ever():
    """A test that hangs would hold up all others."""
    before = signal.signal(signal.SIGALRM, lambda *_: pytest.fail("it hangs"))
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def refused(task, match):
    """Check that something is refused soon, and that it leaves nothing open."""
    forget_connections()
    gc.collect()
    before, began = set(os.listdir("/proc/self/fd")), time.monotonic()
    with pytest.raises(LedgerUnavailableError, match=match) as caught:
        task()
    assert time.monotonic() - began < SOON
    for connection in list(transactions._connections.values()):  # that was opened in good order
        connection.forget()
    assert set(os.listdir("/proc/self/fd")) == before  # while the error, and so its frames, are still there
    return str(caught.value)


@contextlib.contextmanager
def bound(path):
    with socket.socket(socket.AF_UNIX) as holder:
        holder.bind(str(path))
        yield


def put(what, path):
    """Put something at a path that is not what belongs there."""
    {
        "a pipe": lambda: os.mkfifo(path),
        "a folder": lambda: os.mkdir(path),
        "a link to a file": lambda: os.symlink("/etc/hostname", path),
        "a link to a pipe": lambda: (os.mkfifo(f"{path}.pipe"), os.symlink(f"{path}.pipe", path)),
        "a link to nowhere": lambda: os.symlink("nowhere", path),
        "a link to itself": lambda: os.symlink(path, path),
        "a device": lambda: os.symlink("/dev/zero", path),
    }[what]()


LOOK = {"open": opened, "look": lambda path: open_existing_ledger(path, Tally)}


@pytest.mark.parametrize("how", LOOK)
@pytest.mark.parametrize(
    "what", ["a pipe", "a link to a pipe", "a link to nowhere", "a link to itself", "a device"]
)
def test_what_is_no_file_is_named(path, what, how):
    put(what, path)
    refused(lambda: LOOK[how](path), "pipe, a socket or a device|a link that leads nowhere")


def test_a_socket_is_named(path):
    with bound(path):
        refused(lambda: opened(path), "a socket")


@pytest.mark.parametrize(
    "what", ["a pipe", "a folder", "a link to a file", "a link to a pipe", "a link to nowhere"]
)
@pytest.mark.parametrize("ending", ["-lock", "-journal", "-wal", "-shm"])
@pytest.mark.parametrize("use", ["open", "charge", "go on"])
def test_what_others_put_in_place_of_the_lock_or_the_journal_is_named_and_left_alone(
    ledger, path, what, use, ending
):
    beside, message = path + ending, f"'ledger.db{ending}' beside it is no file"
    if use != "go on":
        forget_connections()
    with contextlib.suppress(FileNotFoundError):
        os.unlink(beside)
    put(what, beside)
    before = os.lstat(beside)
    if use == "go on":  # with the file that is open
        with pytest.raises(LedgerUnavailableError, match=message):
            charge(ledger)
    else:
        refused({"open": lambda: opened(path), "charge": lambda: charge(ledger)}[use], message)
    assert os.lstat(beside) == before
    os.rmdir(beside) if what == "a folder" else os.unlink(beside)
    assert charge(ledger).seq == FEW + 1


@pytest.mark.parametrize("ending", ["-journal", "-wal"])
def test_a_pipe_in_place_of_the_journal_of_a_ledger_that_is_begun_is_named(path, ending):
    os.mkfifo(path + ending)
    refused(lambda: opened(path), "beside it is no file")


@pytest.mark.parametrize("ending", ["-lock", "-journal", "-wal", "-shm"])
def test_no_ledger_has_the_name_of_what_lies_beside_another(ledger, path, ending):
    """To charge the one would write the other over."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path + ending)
    refused(lambda: opened(path + ending), f"cannot be called 'ledger.db{ending}'")
    assert not os.path.exists(path + ending)
    if ending != "-lock":  # which is never written to
        shutil.copy(path, path + ending)  # as a release before this one has begun it
        refused(lambda: opened(path), f"cannot be called 'ledger.db{ending}'")
        assert open_existing_ledger(path + ending, Tally).verify() == FEW + 1


@contextlib.contextmanager
def other_program(path, *statements):
    """A program that has the file open with SQLite and has done this."""
    code = f"""
        import sqlite3, sys
        db = sqlite3.connect({str(path)!r}, isolation_level=None)
        for statement in {statements!r}:
            db.execute(statement).fetchall()
        print("done", flush=True)
        sys.stdin.read()
    """
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], **pipes) as program:
        assert program.stdout.readline()
        yield
        program.stdin.close()


LOG = "PRAGMA journal_mode = WAL"
READ = "SELECT * FROM head"
PROGRAMS = {
    "a log that is used": ([LOG, READ], "write-ahead log"),
    "a log that is read": ([LOG, "BEGIN", READ], "write-ahead log"),
    "a log that is written": ([LOG, "BEGIN IMMEDIATE"], "write-ahead log"),
    "a reader that stays": (["BEGIN", READ], "another program"),
    "a writer": (["BEGIN IMMEDIATE"], "another program"),
    "a browser that holds it": (["BEGIN EXCLUSIVE"], "another program"),
}


@pytest.mark.parametrize(("statements", "message"), PROGRAMS.values(), ids=PROGRAMS)
def test_what_another_program_does_is_named_and_over_when_it_ends(
    path, ledger, monkeypatch, statements, message
):
    monkeypatch.setattr(sqlite, "_BUSY_SECONDS", 0.2)
    tasks = [lambda: charge(ledger), lambda: ledger.charge(None, nothing)]
    if statements[-1] == "BEGIN EXCLUSIVE" or message == "write-ahead log":
        tasks.append(lambda: opened(path))
    errors = []
    with other_program(path, *statements):
        for task in tasks * 3:
            errors.append(refused(task, message))
    assert all("Nothing was charged" in error and "files are open" not in error for error in errors)
    assert charge(ledger).seq == FEW + 1
    assert ledger.verify() == FEW + 2


def test_who_fails_to_open_keeps_nobody_out(path, ledger, monkeypatch):
    """Openings that failed, whose errors a notebook keeps, once held the file until it ended."""
    kept = []
    with other_program(path, LOG, READ):
        for _ in range(8):
            forget_connections()
            with pytest.raises(LedgerUnavailableError) as caught:
                opened(path)
            kept.append(caught.value)
    with other_program(path, "PRAGMA busy_timeout = 100", "BEGIN EXCLUSIVE"):
        pass
    assert charge(opened(path)).seq == FEW + 1


CAUSES = {
    "a full disk": (OSError(28, "No space left on device"), "make room"),
    "too many files": (OSError(24, "Too many open files"), "close files"),
    "no right": (OSError(13, "Permission denied"), "let this user write"),
    "a disk that fails": (OSError(5, "Input/output error"), "check that the disk"),
    "no locks": (OSError(95, "Operation not supported"), "has no locks"),
    "a name that is too long": (OSError(36, "File name too long"), "another path"),
}


@pytest.mark.parametrize(("error", "fix"), CAUSES.values(), ids=CAUSES)
def test_each_cause_has_its_own_advice(path, monkeypatch, error, fix):
    ledger = fill(opened(path), 1)
    forget_connections()

    def fails(*_):
        raise error

    monkeypatch.setattr(sqlite.fcntl, "flock", fails)
    text = refused(lambda: charge(ledger), fix)
    assert error.strerror in text
    assert sum(other in text for _, other in CAUSES.values()) == 1


def test_the_file_of_a_ledger_may_be_copied_in(path):
    """What is refused is what is no file; a file that somebody put there is a ledger as before."""
    with open(path, "wb") as file:
        file.write(content(FEW))
    assert charge(opened(path)).seq == FEW + 1
