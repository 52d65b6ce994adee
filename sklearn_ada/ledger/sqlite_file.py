"""A ledger in one SQLite file, its lock, and the temporary ledgers of a session.

The first bytes of a SQLite file, read past SQLite, whose own view stands still during a transaction.

A lock beside the ledger file, which nobody takes away by merely reading the ledger.

SQLite locks a file with POSIX record locks. These belong to the process, and all of them vanish when any of
its threads opens and closes the file: a backup, a checksum, an upload. The charge under way then goes on
without a lock. So every transaction holds ``flock`` on a file of its own as well: writers alone, readers
together, because a reader who finds the journal of a writer without a lock takes it for a dead one's and
undoes it. Such a lock belongs to one opened file; what others open and close leaves it alone.

Where there is no ``fcntl``, which is Windows, locks belong to handles: those of SQLite cannot be taken away
like this, and there is no second lock.

The tables of a ledger file, and nothing beside them: a trigger could swallow or change records.

One SQLite file as a connection.

A rollback journal, not WAL: in WAL mode a charge to an unlinked file succeeds, and a copy without its
``-wal`` loses everything. The inode is compared before each use for the same reason; it cannot be reused
while the connection keeps the file open. Every transaction holds a lock that SQLite does not know (see
`LockFile`), and looks once more before it commits.
"""

from __future__ import annotations

import contextlib
import os
import random
import sqlite3
import stat
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from sklearn_ada.exceptions import LedgerDamagedError, LedgerError, LedgerUnavailableError
from sklearn_ada.ledger.hash_chain import Row, damage
from sklearn_ada.ledger.transactions import Connection, deliver_interrupt

_FIRST, _LENGTH = 18, 26  # from the version of the format to the number of the schema
_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class Header(NamedTuple):
    """What the header says.

    Attributes
    ----------
    is_wal : bool
        Some program has turned the write-ahead log on.
    changes : int
        Counts the transactions that changed the file, whoever made them.
    schema : int
        Counts the changes of tables, indexes and triggers.
    """

    is_wal: bool
    changes: int
    schema: int


class HeaderFile:
    """A ledger file, kept open to read its header: to close it would cancel SQLite's locks.

    Parameters
    ----------
    path : str
    """

    _descriptor: int | None = None

    def __init__(self, path: str) -> None:
        self._descriptor = os.open(path, _FLAGS)

    def read(self) -> Header:
        """Return the header as it is in the file now."""
        assert self._descriptor is not None
        if hasattr(os, "pread"):
            data = os.pread(self._descriptor, _LENGTH, _FIRST)
        else:  # Windows
            os.lseek(self._descriptor, _FIRST, os.SEEK_SET)
            data = os.read(self._descriptor, _LENGTH)
        data = data.ljust(_LENGTH, b"\0")  # where the file was cut off, SQLite says so
        return Header(
            is_wal=2 in data[:2],
            changes=int.from_bytes(data[6:10], "big"),
            schema=int.from_bytes(data[22:26], "big"),
        )

    def close(self, close: Callable[[int], None] = os.close) -> None:
        """Close the file, when nothing is locked."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            close(descriptor)

    def __del__(self) -> None:
        self.close()


try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


_ENDING = "-lock"
_chance = random.SystemRandom()  # keeps waiters out of step, and the random numbers of users untouched
_FIRST_PAUSE, _LONGEST_PAUSE = 2e-4, 1e-2
_FLAGS_2 = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)


class LockFile:
    """The lock file of a ledger file, as one connection holds it.

    Parameters
    ----------
    path : str
        Of the ledger. All symbolic links to one file share its lock; hard links do not.
    """

    _descriptor: int | None = None

    def __init__(self, path: str) -> None:
        self._ledger = os.path.realpath(path)
        self._path = self._ledger + _ENDING
        self._name = os.path.basename(path)

    def acquire(self, exclusive: bool, patience: float) -> None:
        """Wait for the lock, for so many seconds; the file is made if there is none.

        Raises
        ------
        LedgerUnavailableError
            If others hold it for longer.
        OSError
            If the file cannot be made or opened, or the file system knows no such locks.
        """
        if fcntl is None:
            return
        self.release()
        kind = fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH
        until, pause = time.monotonic() + patience, _FIRST_PAUSE
        while True:
            if self._descriptor is None:
                self._descriptor = self._open()
            try:
                fcntl.flock(self._descriptor, kind | fcntl.LOCK_NB)
                if self.holds():
                    return
                self.release()  # deleted or replaced since it was opened: others lock the new one
            except BlockingIOError:
                pass
            if time.monotonic() > until:
                self.release()
                raise LedgerUnavailableError(
                    f"The ledger {self._name!r} is locked: another process has been using it for "
                    f"{patience:.3g} seconds. Nothing was charged or answered; wait for it, then ask again."
                )
            deliver_interrupt()
            time.sleep(pause * _chance.uniform(0.5, 1.0))
            pause = min(2 * pause, _LONGEST_PAUSE)

    def holds(self) -> bool:
        """Return whether the lock that is held is that of the file at this path."""
        if fcntl is None:
            return True
        if self._descriptor is None:
            return False
        try:
            return os.path.samestat(os.fstat(self._descriptor), os.lstat(self._path))
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Let go, if it is held."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_UN)  # a program that is just being started may have it too
            finally:
                os.close(descriptor)

    def abandon(self, close: Callable[[int], None] = os.close) -> None:
        """In a forked child: forget the lock, which is the parent's, without letting go of it."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            close(descriptor)

    def _open(self) -> int:
        """Open the file, or make it, for everybody who may use the ledger."""
        while True:
            try:
                return os.open(self._path, _FLAGS_2)
            except FileNotFoundError:
                pass
            ledger = os.stat(self._ledger)
            mode = stat.S_IMODE(ledger.st_mode)
            try:
                descriptor = os.open(self._path, _FLAGS_2 | os.O_CREAT | os.O_EXCL, mode)
            except FileExistsError:  # somebody else was first
                continue
            os.fchmod(descriptor, mode)  # whatever the umask
            owner = ledger.st_uid if os.geteuid() == 0 else -1  # only root gives files away
            with contextlib.suppress(PermissionError):  # of a group that this user is not in
                os.fchown(descriptor, owner, ledger.st_gid)
            return descriptor

    def __del__(self) -> None:
        self.abandon()


class NoLock(LockFile):
    """What a connection has in its place that only looks: it may not even be able to make a file."""

    def __init__(self) -> None:
        pass

    def acquire(self, exclusive: bool, patience: float) -> None:
        """Wait for nothing."""


_SCHEMA = """
CREATE TABLE head (id INTEGER PRIMARY KEY CHECK (id = 1), count INTEGER NOT NULL, hash TEXT NOT NULL);
CREATE TABLE secret (id INTEGER PRIMARY KEY CHECK (id = 1), value BLOB NOT NULL);
CREATE TABLE records (
    seq INTEGER PRIMARY KEY, key TEXT UNIQUE, subject TEXT, body TEXT NOT NULL, hash TEXT NOT NULL
);
CREATE INDEX by_subject ON records (subject) WHERE subject IS NOT NULL;
"""
_STATISTICS = "sqlite_stat"  # what another program's ANALYZE leaves changes no answer


def create_tables(db: sqlite3.Connection) -> None:
    """Make the tables of a ledger."""
    for statement in filter(str.strip, _SCHEMA.split(";")):
        db.execute(statement)


def check_schema_objects(db: sqlite3.Connection, name: str) -> None:
    """Refuse a file that lacks a table or an index of a ledger, or has a trigger or anything else beside."""
    found, expected = _objects(db), _expected()
    for kind, called, _ in sorted(found.symmetric_difference(expected)):
        what = "lacks the" if (kind, called) not in {each[:2] for each in found} else "has a changed or added"
        raise damage(name, f"it {what} {kind} {called!r}")


@cache
def _expected() -> frozenset[tuple[str, str, str]]:
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        create_tables(db)
        return _objects(db)


def _objects(db: sqlite3.Connection) -> frozenset[tuple[str, str, str]]:
    """Return kind, name and definition of everything in a database, without its spaces."""
    rows = db.execute("SELECT type, name, sql FROM sqlite_schema").fetchall()
    return frozenset(
        (kind, called, "".join((sql or "").split()).lower())
        for kind, called, sql in rows
        if not called.startswith(_STATISTICS)
    )


APPLICATION_ID = 0x5ADA0001
_BUSY_SECONDS = 60.0
_PAGE = 1000
_ROWS = (
    f"SELECT seq, key, subject, body, hash FROM records WHERE seq BETWEEN ? AND ? ORDER BY seq LIMIT {_PAGE}"
)
_INDEXES = {"key": "sqlite_autoindex_records_1", "subject": "by_subject"}
_MISSED = "SELECT seq FROM records AS r NOT INDEXED WHERE {} LIMIT 1".format(
    " OR ".join(
        f"({column} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM records AS s INDEXED BY {index} "
        f"WHERE s.{column} = r.{column} AND s.seq = r.seq))"
        for column, index in _INDEXES.items()
    )
)


class SQLiteFile(Connection):
    """A ledger file that is open in this process (see `Connection`)."""

    def __init__(
        self, path: str, genesis_hash: str, start: Callable[[dict[str, Any]], Any], mode: str = "rw"
    ) -> None:
        name = os.path.basename(path)
        if not os.path.exists(path):
            raise LedgerUnavailableError(
                f"The ledger file {name!r} cannot be seen from this process; refusing to score. Put it where "
                "every worker sees it, or, for workers on other machines, use a ledger in a database: "
                "ledger='postgresql://...' (pip install \"sklearn-ada[sql]\")."
            )
        self._path = path
        self._lock = LockFile(path) if mode == "rw" else NoLock()
        self._added: Row | None = None
        self._known: tuple[int, int] | None = None  # changes of the file, and the last record then
        try:
            self._lock.acquire(exclusive=False, patience=_BUSY_SECONDS)
            self._db = open_file(path, mode)
            self._header = HeaderFile(path)
            self._inode = _inode(path)
            super().__init__(path, name, genesis_hash, start)
        finally:
            self._lock.release()

    def check_whole(self) -> None:
        """Refuse also a file whose indexes do not lead to every record: one that is missed is asked again."""
        super().check_whole()
        missed = self._db.execute(_MISSED).fetchone()
        if missed is not None:
            raise damage(self.name, f"record {missed[0]} is not found by its key or its subject")
        check_schema_objects(self._db, self.name)

    def check_place(self) -> None:
        """Refuse unless the path still leads to the file that is open."""
        try:
            same = _inode(self._path) == self._inode
        except OSError:
            same = False
        if not same:
            self.forget()
            raise LedgerUnavailableError(
                f"The ledger file {self.name!r} was removed or replaced while in use; "
                "refusing to answer. Put the file back and ask again."
            )
        if self._header.read().is_wal:  # another program did that
            self.forget()  # whoever opens it sets it back
            raise wal_refused(self.name)

    def catch_up(self) -> None:
        """Fold in what others recorded: each record is one change of the file; any other is looked into."""
        changes = self._header.read().changes
        super().catch_up()
        seq = self.reached[0]
        if self._known is not None and (changes - self._known[0] - (seq - self._known[1])) % 2**32:
            self.verify_again()
        self._known = (changes, seq)

    def begin(self, write: bool) -> None:
        """Start a transaction; with ``write``, wait for the one lock of writers."""
        self._added = None
        self._lock.acquire(write, _BUSY_SECONDS)
        if write:
            self._db.execute("BEGIN IMMEDIATE")
            self._before = self._header.read()
        else:
            self._begin_to_read()

    def _begin_to_read(self) -> None:
        self._db.execute("BEGIN")
        try:
            self.head()  # only now is there a view that stands still
        except sqlite3.OperationalError as error:
            if not _is_hot(error):
                raise
            self._db.execute("ROLLBACK")
            _roll_back_journal(self._path)
            self._db.execute("BEGIN")

    def commit(self) -> None:
        """Commit: the record is on the disk when this returns."""
        if self._added is not None:
            self._check_undisturbed(self._added, self._before)
        self._db.execute("COMMIT")
        self._lock.release()

    def roll_back(self) -> None:
        """Roll back, if there is anything to."""
        try:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
        finally:
            self._lock.release()

    def _check_undisturbed(self, added: Row, before: Header) -> None:
        """Refuse to commit unless this is still the one writer, and what it wrote is there."""
        if not self._lock.holds() or self._header.read() != before:
            raise LedgerUnavailableError(
                f"The ledger {self.name!r} was written to by somebody else in the middle of a charge, or its "
                "lock file was removed. Nothing was charged or answered; ask again."
            )
        if self.row(added.seq) != added or self.head() != (added.seq + 1, added.hash):
            raise damage(self.name, f"record {added.seq} is not kept as it was written")

    def head(self) -> tuple[int, str] | None:
        """Return the head row."""
        found: tuple[int, str] | None = self._db.execute(
            "SELECT count, hash FROM head WHERE id = 1"
        ).fetchone()
        return found

    def rows(self, first: int, last: int | None = None) -> Iterator[Row]:
        """Return rows in order, page by page: a query that was not read to its end would keep a lock."""
        bound = sys.maxsize if last is None else last
        while page := self._db.execute(_ROWS, (first, bound)).fetchall():
            yield from map(Row._make, page)
            if len(page) < _PAGE:
                return
            first = page[-1][0] + 1

    def first_with(self, column: str, value: str) -> int | None:
        """Return the first row's number; both columns have an index."""
        found = self._db.execute(
            f"SELECT seq FROM records WHERE {column} = ? ORDER BY seq LIMIT 1", (value,)
        ).fetchone()
        return None if found is None else int(found[0])

    def add(self, row: Row) -> None:
        """Write the row, and the head if it is still that of the row before."""
        self._db.execute("INSERT INTO records VALUES (?, ?, ?, ?, ?)", row)
        moved = self._db.execute(
            "UPDATE head SET count = ?, hash = ? WHERE id = 1 AND count = ? AND hash = ?",
            (row.seq + 1, row.hash, row.seq, self.reached[1]),
        )
        if moved.rowcount != 1:
            raise damage(self.name, "its head does not match its last record")
        self._added = row

    def read_secret(self) -> bytes:
        """Return the secret, while nobody writes."""
        try:
            self._lock.acquire(exclusive=False, patience=_BUSY_SECONDS)
            return secret_in(self._db, self.name)
        finally:
            self._lock.release()

    def forget(self) -> None:
        """Drop this connection and close the file."""
        super().forget()
        self._db.close()
        self._header.close()
        self._lock.release()

    def abandon(self) -> None:
        """In a forked child: leave the parent's lock alone."""
        self._lock.abandon()


def open_file(path: str, mode: str) -> sqlite3.Connection:
    """Open a ledger file, which must exist and be one; "rw" for reading and writing, "ro" to look at it."""
    try:
        return _open_file(path, mode)
    except sqlite3.OperationalError as error:
        if mode != "ro" or not _is_hot(error):
            raise
    _roll_back_journal(path)
    return _open_file(path, mode)


def _is_hot(error: sqlite3.OperationalError) -> bool:
    """Return whether a file may only be read, but has the journal of a crashed writer to undo first."""
    return (error.sqlite_errorcode & 0xFF) == sqlite3.SQLITE_READONLY


def _roll_back_journal(path: str) -> None:
    """Undo what a writer that crashed has not committed, as the next charge would."""
    name = os.path.basename(path)
    try:
        if not os.access(path, os.W_OK):
            raise PermissionError("the file may only be read")
        with locked_file(path):
            pass
    except OSError as error:
        raise LedgerUnavailableError(
            f"The ledger {name!r} cannot be read yet: a process crashed while it charged, and what it had "
            f"not committed must be undone first, which means to write ({error.strerror or error}). Look at "
            "it as a user who may write to it and to its folder, or let its next question do it."
        ) from error


def _open_file(path: str, mode: str) -> sqlite3.Connection:
    uri = f"{Path(path).as_uri()}?mode={mode}"
    db = sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        db.close()
        raise LedgerDamagedError(f"The file {os.path.basename(path)!r} is not a ledger of sklearn_ada.")
    if mode == "rw" and db.execute("PRAGMA journal_mode = PERSIST").fetchone()[0] != "persist":
        db.close()
        raise wal_refused(os.path.basename(path))
    db.execute("PRAGMA synchronous = FULL")
    db.execute("PRAGMA cache_spill = OFF")  # nothing is in the file before the commit
    return db


class locked_file:  # noqa: N801 - reads as a clause
    """A ledger file, open for a moment for reading and writing, while nobody writes to it."""

    def __init__(self, path: str) -> None:
        self._path, self._lock = path, LockFile(path)

    def __enter__(self) -> sqlite3.Connection:
        try:
            self._lock.acquire(exclusive=False, patience=_BUSY_SECONDS)
            self._db = open_file(self._path, "rw")
        except BaseException:
            self._lock.release()
            raise
        return self._db

    def __exit__(self, *raised: object) -> None:
        try:
            self._db.close()
        finally:
            self._lock.release()


def wal_refused(name: str) -> LedgerUnavailableError:
    """Return the error for a file of which another program has turned the write-ahead log on."""
    return LedgerUnavailableError(
        f"The ledger {name!r} was set to a write-ahead log by another program; a copy without that log would "
        "lack answers. Nothing was charged or answered. It is set back when it is next opened, unless others "
        "still use it so: close them, then ask again."
    )


def secret_in(db: sqlite3.Connection, name: str) -> bytes:
    """Return the secret of an open file."""
    row = db.execute("SELECT value FROM secret WHERE id = 1").fetchone()
    if row is None or not isinstance(row[0], bytes):
        raise LedgerDamagedError(f"The ledger {name!r} has lost its secret.")
    return row[0]


class translated:  # noqa: N801 - reads as a clause
    """Turn errors of SQLite and of the file system into ledger errors that say what to do."""

    def __init__(self, path: str) -> None:
        self._name = os.path.basename(path)

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        code = getattr(error, "sqlite_errorcode", None)
        unavailable = isinstance(error, (sqlite3.OperationalError, sqlite3.IntegrityError))
        unreadable = isinstance(error, sqlite3.DatabaseError) and (
            not unavailable or code == sqlite3.SQLITE_ERROR
        )
        if unreadable or isinstance(error, UnicodeDecodeError):  # of a schema's text
            raise LedgerDamagedError(f"The file {self._name!r} is not a readable ledger: {error}.") from error
        if isinstance(error, (sqlite3.Error, OSError)) and not isinstance(error, LedgerError):
            raise LedgerUnavailableError(
                f"The ledger {self._name!r} cannot be used: {error}. Nothing was charged or answered; check "
                "that the folder exists and is writable, that the disk is not full and that not too many "
                "files are open, then ask again."
            ) from error


def _inode(path: str) -> tuple[int, int]:
    status = os.stat(path)
    return status.st_dev, status.st_ino
