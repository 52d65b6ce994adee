"""Files that cannot be a ledger: the right error, nothing charged, nothing of anybody's changed."""

import contextlib
import os
import resource
import signal
import sqlite3

import pytest

from sklearn_ada.exceptions import LedgerDamagedError, LedgerError, LedgerUnavailableError
from sklearn_ada.ledger import sqlite, transactions
from sklearn_ada.ledger.sqlite import LockFile
from sklearn_ada.ledger.written_files import check_written
from tests.support.ledger.damages import opened, read
from tests.support.ledger.ledger_backends import charge, count, fill
from tests.support.processes import in_a_fork

MESSAGES = {"no/ledger.db": "nor its folder '.*/no'", "": "is a folder"}


@pytest.mark.parametrize("name", MESSAGES)
def test_where_no_file_can_be_nothing_is_made(tmp_path, name):
    with pytest.raises(LedgerUnavailableError, match=MESSAGES[name]):
        opened(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_working_folder_that_was_removed_is_named(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(LedgerUnavailableError, match="the working folder of this process was removed"):
        opened("ledger.db")
    with pytest.raises(ValueError, match="cannot be seen what is there"):
        check_written("page.html", "path", "Holdout.export")
    assert opened(tmp_path / "ledger.db").verify() == 1


def foreign_database(journal):
    def write(path):
        with contextlib.closing(sqlite3.connect(path)) as db:
            db.execute(f"PRAGMA journal_mode = {journal}")
            db.execute("CREATE TABLE theirs (x)")
            db.commit()

    return write


def notes(path):
    with open(path, "wb") as file:
        file.write(b"notes of somebody\n" * 100)


def empty_database(path):
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA application_id = 99")


OF_OTHERS = {
    "a text": (notes, "not a readable ledger"),
    "a database": (foreign_database("DELETE"), "not a ledger"),
    "a database with a log": (foreign_database("WAL"), "not a ledger"),
    "an empty database": (empty_database, ""),
}


@pytest.mark.parametrize(("write", "message"), OF_OTHERS.values(), ids=OF_OTHERS)
def test_a_file_of_somebody_else_is_refused_and_left_alone(path, write, message):
    write(path)
    content = read(path)
    with pytest.raises(LedgerDamagedError, match=message):
        opened(path)
    assert read(path) == content


def of_two(path):
    return fill(opened(path), 2)


def big(state):
    return {"text": "x" * 200_000}


@contextlib.contextmanager
def held(path, *statements):
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as holder:
        for statement in statements:
            holder.execute(statement).fetchall()
        yield


@contextlib.contextmanager
def lock_file_held(path):
    other = LockFile(path)
    other.acquire(exclusive=True, patience=1)
    yield
    other.release()


@contextlib.contextmanager
def no_file_may_grow_beyond(size):
    """As on a full disk: writes beyond this size fail."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@contextlib.contextmanager
def no_page_may_be_added(path):
    """Of the connection that is open: the next one is without the limit."""
    (db,) = [each._db for (place, _), each in transactions._connections.items() if place == path]
    db.execute(f"PRAGMA max_page_count = {db.execute('PRAGMA page_count').fetchone()[0]}")
    yield


WRITERS = {"a writer": lambda path: held(path, "BEGIN EXCLUSIVE"), "the lock file": lock_file_held}
SITUATIONS = {
    **{name: (situation, "locked") for name, situation in WRITERS.items()},
    "a reader that stays": (lambda path: held(path, "BEGIN", "SELECT * FROM head"), "locked"),
    "a full disk": (lambda path: no_file_may_grow_beyond(100_000), "disk"),
    "a full database": (no_page_may_be_added, "full"),
}


@pytest.mark.parametrize(("situation", "message"), SITUATIONS.values(), ids=SITUATIONS)
def test_where_a_record_cannot_be_written_nothing_is_charged(path, monkeypatch, situation, message):
    assert signal.getsignal(signal.SIGXFSZ) == signal.SIG_IGN
    monkeypatch.setattr(sqlite, "_BUSY_SECONDS", 0.05)
    ledger = of_two(path)
    with situation(path), pytest.raises(LedgerUnavailableError, match=message):
        ledger.charge("big", big)
    assert ledger.find("big") is None
    assert ledger.read(count) == 2
    assert ledger.charge("big", big).seq == 3


@pytest.mark.parametrize("situation", WRITERS.values(), ids=WRITERS)
def test_while_somebody_writes_nothing_is_read(path, monkeypatch, situation):
    monkeypatch.setattr(sqlite, "_BUSY_SECONDS", 0.05)
    ledger = of_two(path)
    for use in (lambda: ledger.read(count), lambda: opened(path)):
        with situation(path), pytest.raises(LedgerUnavailableError, match="locked"):
            use()


def test_a_ledger_that_cannot_be_made_for_want_of_space_is_made_later(path):
    with no_file_may_grow_beyond(100), pytest.raises(LedgerUnavailableError):
        opened(path)
    assert charge(opened(path)).seq == 1


def as_nobody(task):
    """Return what ``task`` returns in a child that may not write where others own."""

    def child():
        if os.getuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        return task()

    return in_a_fork(child)


@pytest.fixture
def public_folder(tmp_path_factory):
    """A folder that everybody may enter and read."""
    folder = tmp_path_factory.mktemp("public")
    for part in (folder, *folder.parents):
        if part.stat().st_uid != os.getuid() or part == part.parent:
            break
        if part.stat().st_mode & 0o055 != 0o055:
            part.chmod(0o755)
    return folder


def error_of(task):
    try:
        task()
    except LedgerError as error:
        return type(error).__name__
    except Exception as error:
        return repr(error)
    return "no error"


def test_a_read_only_folder_is_unavailable(public_folder):
    public_folder.chmod(0o555)
    result = as_nobody(lambda: error_of(lambda: opened(public_folder / "ledger.db")))
    assert result == "LedgerUnavailableError"
    assert list(public_folder.iterdir()) == []


@pytest.mark.parametrize("use", ["charge", "open"])
def test_a_read_only_file_is_unavailable_and_nothing_is_charged(public_folder, use):
    path = public_folder / "ledger.db"
    ledger = of_two(path)
    path.chmod(0o444)
    public_folder.chmod(0o755)
    task = {"charge": lambda: charge(ledger), "open": lambda: opened(path)}[use]
    assert as_nobody(lambda: error_of(task)) == "LedgerUnavailableError"
    assert len(list(ledger.records())) == 3


@pytest.mark.parametrize("name", ["a b.db", "100%.db", "what?.db", "#1.db", "naïve.db", "file:x", ":memory:"])
def test_a_ledger_file_may_have_any_name(tmp_path, name):
    fill(opened(tmp_path / name), 1)
    assert (tmp_path / name).stat().st_size > 0
    assert opened(tmp_path / name).read(count) == 1


def test_a_relative_path_leads_to_the_same_file_after_a_change_of_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ledger = opened("ledger.db")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert charge(ledger).seq == 1
    assert not (tmp_path / "elsewhere" / "ledger.db").exists()


class InterruptedAfterBegin:
    """A connection whose user pressed Ctrl-C while it waited for the lock, which it then got."""

    def __init__(self, db):
        self._db = db

    def execute(self, statement, *rest):
        result = self._db.execute(statement, *rest)
        if statement.startswith("BEGIN"):
            raise KeyboardInterrupt
        return result

    def __getattr__(self, name):
        return getattr(self._db, name)


def test_an_interrupt_while_waiting_for_the_lock_leaves_no_lock_behind(path):
    ledger = opened(path)
    connection = transactions._connections[path, ledger._genesis_hash]
    real = connection._db
    connection._db = InterruptedAfterBegin(real)
    try:
        with pytest.raises(KeyboardInterrupt):
            charge(ledger)
    finally:
        connection._db = real
    with contextlib.closing(sqlite3.connect(path, timeout=0.05, isolation_level=None)) as other:
        try:
            other.execute("BEGIN IMMEDIATE")
        finally:
            if real.in_transaction:
                real.execute("ROLLBACK")


def test_an_error_of_decide_that_concerns_a_file_keeps_its_kind(path):
    def decide(state):
        raise FileNotFoundError("the decider's own")

    with pytest.raises((FileNotFoundError, LedgerError), match="the decider's own"):
        opened(path).charge("k", decide)
