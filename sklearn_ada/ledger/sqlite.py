"""A ledger in one SQLite file, beside which nobody can take its lock away.

The file has a rollback journal, not WAL: in WAL mode a charge to an unlinked file succeeds, and a copy
without its ``-wal`` loses everything. The inode is compared before each use for the same reason; it cannot be
reused while the connection keeps the file open.

SQLite locks a file with POSIX record locks. These belong to the process, and all of them vanish when any of
its threads opens and closes the file: a backup, a checksum, an upload. The charge under way then goes on
without a lock. So every transaction holds ``flock`` on a file of its own as well: writers alone, readers
together, because a reader who finds the journal of a writer without a lock takes it for a dead one's and
undoes it. Such a lock belongs to one opened file; what others open and close leaves it alone. A charge looks
once more, before it commits, whether it still was the one writer.

Where there is no ``fcntl``, which is Windows, locks belong to handles: those of SQLite cannot be taken away
like this, and there is no second lock.
"""

from __future__ import annotations

import contextlib
import errno
import os
import random
import sqlite3
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from sklearn_ada._notices import warn_user
from sklearn_ada.exceptions import LedgerDamagedError, LedgerError, LedgerUnavailableError
from sklearn_ada.ledger.askers import FileAskers
from sklearn_ada.ledger.hash_chain import State, StoredRecord, damage, parse_json
from sklearn_ada.ledger.locations import (
    check_beside,
    check_local,
    check_no_mount,
    check_one_name,
    is_temporary,
    temporary_ledger_path,
    temporary_ledgers,
    works_for_another,
)
from sklearn_ada.ledger.transactions import (
    PAGE,
    Address,
    Beginning,
    ChainedLedger,
    Connection,
    Secret,
    deliver_interrupt,
    lock,
    opened,
)

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

APPLICATION_ID = 0x5ADA0001
_SCHEMA = """
CREATE TABLE head (id INTEGER PRIMARY KEY CHECK (id = 1), count INTEGER NOT NULL, hash TEXT NOT NULL);
CREATE TABLE secret (id INTEGER PRIMARY KEY CHECK (id = 1), value BLOB NOT NULL);
CREATE TABLE records (
    seq INTEGER PRIMARY KEY, key TEXT UNIQUE, subject TEXT, body TEXT NOT NULL, hash TEXT NOT NULL
);
CREATE INDEX by_subject ON records (subject) WHERE subject IS NOT NULL;
"""
_HEAD = "SELECT count, hash FROM head WHERE id = 1"
_ROWS = f"SELECT seq, key, subject, body, hash FROM records WHERE seq BETWEEN ? AND ? ORDER BY 1 LIMIT {PAGE}"
_INDEXES = {"key": "sqlite_autoindex_records_1", "subject": "by_subject"}
_MISSED = "SELECT seq FROM records AS r NOT INDEXED WHERE {} LIMIT 1".format(
    " OR ".join(
        f"({column} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM records AS s INDEXED BY {index} "
        f"WHERE s.{column} = r.{column} AND s.seq = r.seq))"
        for column, index in _INDEXES.items()
    )
)
_STATISTICS = "sqlite_stat"  # what another program's ANALYZE leaves changes no answer
_BUSY_SECONDS = 60.0
_MAGIC, _NUMBER = b"SQLite format 3\0", slice(68, 72)  # where the number of the application is in the header
_FIRST, _LENGTH = 18, 26  # from the version of the format to the number of the schema
_FLAGS_OF_LEDGER = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_FLAGS_OF_LOCK = os.O_RDONLY | sum(
    getattr(os, f"O_{each}", 0) for each in ("CLOEXEC", "NOFOLLOW", "NONBLOCK")
)
_ENDING = "-lock"
_OF_SQLITE = ("-journal", "-wal", "-shm")
_NO_TEXT = "Could not decode to UTF-8"
_FIRST_PAUSE, _LONGEST_PAUSE = 2e-4, 1e-2
_chance = random.SystemRandom()  # keeps waiters out of step, and the random numbers of users untouched


class SQLiteLedger(ChainedLedger[State]):
    """A ledger kept in a SQLite file (see `Ledger`).

    Use `create_or_open`. The handle is a path, the genesis and a function that starts a state; it can
    be copied and pickled, and all copies lead to the same file.

    Parameters
    ----------
    path : str
    genesis : dict
        The genesis record that the file must have.
    start : callable
        Takes the genesis and returns the state before any record.
    """

    scheme = ""
    shorthand = None
    _mode_of_looking = "?mode=ro"

    @property
    def path(self) -> str:
        """The path of the file."""
        return self._address

    @classmethod
    def address_for(cls, content: Callable[[], str], kind: str) -> str:
        """Return the path of this session's temporary ledger for data of this digest."""
        return temporary_ledger_path(content(), kind)

    @classmethod
    def addresses_of_kind(cls, kind: str) -> list[str]:
        """Return the paths of this session's temporary ledgers of a kind."""
        return temporary_ledgers(kind)

    @classmethod
    def is_begun(cls, address: Address) -> bool:
        """Return whether there is a file."""
        return os.path.exists(address)

    @classmethod
    def is_temporary(cls, address: Address) -> bool:
        """Return whether a file is a temporary one of this session."""
        return is_temporary(os.fspath(address))

    @classmethod
    def note(cls, address: Address, ledger: Address) -> None:
        """Note another ledger of the session in a file beside the one at an address."""
        if os.fspath(ledger) not in cls.noted(address):
            with open(f"{os.fspath(address)}-ids", "ab", buffering=0) as file:
                file.write(os.fsencode(f"{os.path.basename(ledger)}\n"))

    @classmethod
    def noted(cls, address: Address) -> list[str]:
        """Return the ledgers that were noted at an address, in order."""
        try:
            with open(f"{os.fspath(address)}-ids", "rb") as file:
                names = os.fsdecode(file.read()).splitlines()
        except FileNotFoundError:
            return []
        folder = os.path.dirname(os.fspath(address))
        return sorted({os.path.join(folder, name) for name in names})

    @classmethod
    def _place_of(cls, address: Address) -> str:
        try:
            return os.path.abspath(os.fspath(address))
        except FileNotFoundError as error:
            raise LedgerUnavailableError(
                f"There is no ledger file {os.path.basename(address)!r}: the working folder of this process "
                "was removed. Give an absolute path."
            ) from error

    @classmethod
    def _identity_of(cls, place: str) -> str:
        return os.path.realpath(place)

    @classmethod
    def _shown(cls, place: str) -> str:
        """Return the file's name; a path may tell more than a message should."""
        return os.path.basename(place)

    @classmethod
    def _where(cls, place: str) -> str:
        return f"{place}, a temporary file" if is_temporary(place) else place

    @classmethod
    def _instead_of(cls, place: str) -> str | None:
        return None if is_temporary(place) else "another path"

    @classmethod
    def _check_begun_here(cls, address: Address) -> None:
        if not os.path.isabs(address) and works_for_another():
            raise LedgerUnavailableError(
                f"There is no ledger file {os.path.basename(address)!r} in the working folder of this "
                "worker, which is where it was started, or another one. A worker begins none at a relative "
                "path, as that could be a second budget: give an absolute path, by os.path.abspath."
            )

    @classmethod
    def _begun(cls, place: str, first: Callable[[], StoredRecord], secret: bytes) -> Beginning:
        name = os.path.basename(place)
        _check_place(place)
        check_local(place)
        if not os.path.exists(place):
            if cls._identity_of(place) in opened:
                raise LedgerUnavailableError(
                    f"The ledger file {name!r} was used by this process and is gone; a new one would be a "
                    "fresh budget. Put the file back."
                )
            _check_left_behind(cls._identity_of(place), name)
            stored = first()
            # Written under another name and linked into place, so that nobody sees half of one.
            with contextlib.suppress(FileExistsError):  # somebody else was first: theirs is the ledger
                if not _link_nameless(place, stored, secret):
                    _link_draft(place, stored, secret)
        if not os.access(place, os.W_OK):
            raise LedgerUnavailableError(f"The ledger {name!r} cannot be written to.")
        with _locked_file(place) as db:
            untouched = db.execute("SELECT 1 FROM records WHERE seq > 0").fetchone() is None
            return Beginning(_genesis_in(db, name), _secret_in(db, name), untouched)

    @classmethod
    def _genesis_at(cls, place: str) -> dict[str, Any]:
        name = os.path.basename(place)
        _check_place(place)
        if not os.path.exists(place):
            raise LedgerUnavailableError(f"There is no ledger file {name!r} in {os.path.dirname(place)!r}.")
        with contextlib.closing(_open_file(place, "ro")) as db:  # which makes no lock file
            return _genesis_in(db, name)

    def copies(self) -> list[str]:
        """Return the names of files in the same folder that begin with the same record.

        These are looked at as they are: nothing is waited for, undone or made.
        """
        found = []
        with os.scandir(os.path.dirname(self._address)) as entries:
            files = [entry.path for entry in entries if entry.is_file()]
        for path in sorted(files):
            with contextlib.suppress(LedgerError, sqlite3.Error, OSError):
                if not os.path.samefile(path, self._address) and _is_ledger_at(path):
                    with contextlib.closing(_open_at_once(path, "ro&immutable=1")) as db:
                        if _genesis_in(db, path) == self.genesis:
                            found.append(os.path.basename(path))
        return found

    def _new_askers(self) -> FileAskers:
        return FileAskers(os.path.realpath(self.path) + _ENDING)

    def _connect(self) -> SQLiteFile:
        return SQLiteFile(self, "ro" if self._mode else "rw")

    @classmethod
    def _explain(cls, place: str, error: Exception) -> None:
        name, code = os.path.basename(place), getattr(error, "sqlite_errorcode", None)
        unavailable = isinstance(error, (sqlite3.OperationalError, sqlite3.IntegrityError))
        unreadable = not unavailable or code == sqlite3.SQLITE_ERROR
        is_text = isinstance(error, UnicodeDecodeError) or str(error).startswith(_NO_TEXT)
        if is_text:  # the error quotes it
            raise LedgerDamagedError(
                f"The file {name!r} is not a readable ledger: a text in it is no UTF-8."
            ) from None
        if unreadable and isinstance(error, sqlite3.DatabaseError):
            fix = " If it never was one, give another path." if "not a database" in str(error) else ""
            raise LedgerDamagedError(f"The file {name!r} is not a readable ledger: {error}.{fix}") from error
        if isinstance(error, (sqlite3.Error, OSError)) and not isinstance(error, LedgerError):
            cause = getattr(error, "strerror", None) or str(error)
            raise LedgerUnavailableError(
                f"The ledger {name!r} cannot be used: {cause}. Nothing was charged or answered; "
                f"{_fix(error)}."
            ) from error


def _fix(error: Exception) -> str:
    """Return what to do about an error of SQLite or of the system."""
    if isinstance(error, OSError):
        kind = next((kind for kind, numbers in _NUMBERS.items() if error.errno in numbers), "")
    else:
        kind = _KINDS.get((getattr(error, "sqlite_errorcode", None) or 0) & 0xFF, "")
    return _FIXES[kind].format(seconds=_BUSY_SECONDS)


_KINDS = {
    sqlite3.SQLITE_BUSY: "busy",
    sqlite3.SQLITE_LOCKED: "busy",
    sqlite3.SQLITE_FULL: "full",
    sqlite3.SQLITE_IOERR: "disk",
    sqlite3.SQLITE_READONLY: "rights",
    sqlite3.SQLITE_PERM: "rights",
    sqlite3.SQLITE_CANTOPEN: "closed",
}
_NUMBERS = {
    "full": (errno.ENOSPC, errno.EDQUOT, errno.EFBIG),
    "rights": (errno.EACCES, errno.EPERM, errno.EROFS),
    "open": (errno.EMFILE, errno.ENFILE),
    "locks": (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS),
    "disk": (errno.EIO,),
}
_FIXES = {
    "busy": "another program, such as a browser of SQLite files or a backup, has had it open in a "
    "transaction of its own for {seconds:g} seconds: end that, then ask again",
    "full": "make room on the disk, then ask again",
    "disk": "check that the disk is not full and in order, then ask again",
    "rights": "let this user write to its folder, to the file, and to the files beside it that end in -lock "
    "and -journal, then ask again",
    "closed": "check that its folder is there and may be written to, and that this process has not too many "
    "files open, then ask again",
    "open": "close files that this process has open, then ask again",
    "locks": "its file system has no locks (flock): give a path on another one",
    "": "give another path, or mend this one, then ask again",
}


def _check_place(path: str) -> None:
    """Raise unless there is a file at a path, or can be."""
    folder, name = os.path.split(path)
    if os.path.isdir(path):
        raise LedgerUnavailableError(f"The ledger {name!r} is a folder. Give the path of a file in it.")
    if os.path.lexists(path) and not os.path.isfile(path):
        what = (
            "no file but a pipe, a socket or a device"
            if os.path.exists(path)
            else "a link that leads nowhere"
        )
        raise LedgerUnavailableError(f"The ledger {name!r} is {what}. Give the path of a file.")
    if not os.path.isdir(folder):
        raise LedgerUnavailableError(
            f"There is no ledger file {name!r}, nor its folder {folder!r}. Make the folder, or give another "
            "path."
        )
    check_no_mount(path)
    check_one_name(path)
    leads_to = os.path.realpath(path)
    check_beside(leads_to, *_OF_SQLITE)
    others = [name + ending for ending in _OF_SQLITE if _is_ledger_at(leads_to + ending)]
    if not os.path.exists(path):
        others += [name for ending in (_ENDING, *_OF_SQLITE) if name.endswith(ending)]
    if others:
        raise LedgerUnavailableError(
            f"A ledger cannot be called {others[0]!r}: the lock or the journal of the ledger "
            f"{others[0].rpartition('-')[0]!r} has this name, and SQLite would write it over. Nothing was "
            "charged or answered; give the one that is called so another name, without this ending."
        )


def _check_left_behind(path: str, name: str) -> None:
    """Look for what a ledger that was removed has left beside it, and would not find in its place."""
    was_locked = os.path.lexists(path + _ENDING)
    for ending in ("-journal", "-wal"):
        with contextlib.suppress(FileNotFoundError), open(path + ending, "rb") as file:
            if file.read(8).strip(b"\0"):
                raise LedgerUnavailableError(
                    f"The ledger file {name!r} is gone, and {name + ending!r} beside it holds a part of it, "
                    "which would be written into a new one. Put the file back: a new one would be a fresh "
                    f"budget. For rows that nobody has asked about, remove {name + ending!r} or give another "
                    "path."
                )
    if was_locked and not os.path.exists(path):  # which is made before its lock
        gone = (
            f"The ledger file {name!r} is gone, and its lock file is there: whatever was asked of it would "
            "be forgotten. Put the file back: a new one is a fresh budget"
        )
        if is_temporary(path):
            raise LedgerUnavailableError(f"{gone}.")
        warn_user(f"{gone}. For rows that nobody has asked about, remove {name + _ENDING!r}, too.")


def _link_nameless(path: str, first: StoredRecord, secret: bytes) -> bool:
    """Write a new ledger to a file without a name, and then name it.

    A process that is killed leaves nothing of it. Returns False where there are no such files.
    """
    kind = getattr(os, "O_TMPFILE", None)
    if kind is None or not hasattr(sqlite3.Connection, "serialize"):
        return False
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        _write_first(db, first, secret)
        content = db.serialize()
    try:
        handle = os.open(os.path.dirname(path), kind | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    except OSError as error:
        if error.errno in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT):
            return False
        raise
    try:
        with open(handle, "wb", closefd=False) as file:
            file.write(content)
        os.fsync(handle)
        # With a descriptor, which the absolute path ignores, Python asks the system to follow the link.
        os.link(f"/proc/self/fd/{handle}", path, src_dir_fd=handle, follow_symlinks=True)
    except FileNotFoundError:  # no /proc
        return False
    finally:
        os.close(handle)
    return True


def _link_draft(path: str, first: StoredRecord, secret: bytes) -> None:
    handle, draft = tempfile.mkstemp(prefix=".ledger", dir=os.path.dirname(path))
    os.close(handle)
    try:
        with contextlib.closing(sqlite3.connect(draft, isolation_level=None)) as db:
            _write_first(db, first, secret)
        os.link(draft, path)
    finally:
        os.unlink(draft)


def _write_first(db: sqlite3.Connection, first: StoredRecord, secret: bytes) -> None:
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute("BEGIN IMMEDIATE")
    _create_tables(db)
    db.execute("INSERT INTO secret VALUES (1, ?)", (secret,))
    db.execute("INSERT INTO records VALUES (?, ?, ?, ?, ?)", first)
    db.execute("INSERT INTO head VALUES (1, 1, ?)", (first.hash,))
    db.execute("COMMIT")


def _create_tables(db: sqlite3.Connection) -> None:
    for statement in filter(str.strip, _SCHEMA.split(";")):
        db.execute(statement)


class SQLiteFile(Connection):
    """A ledger file that is open in this process (see `Connection`)."""

    counts_records = True

    def __init__(self, ledger: SQLiteLedger[Any], mode: str) -> None:
        path = self._path = ledger.path
        self._leads_to = os.path.realpath(path)
        if not os.path.exists(path):
            raise LedgerUnavailableError(
                f"The ledger file {ledger.name!r} cannot be seen from this process; refusing to score. "
                "Put it where every worker sees it, or, for workers on other machines, use a ledger in a "
                "database: ledger='postgresql://...' (pip install sqlalchemy \"psycopg[binary]\")."
            )
        _check_place(path)
        self._lock = LockFile(path) if mode == "rw" else NoLock()
        self._added: StoredRecord | None = None
        with contextlib.ExitStack() as undo:
            try:
                self._lock.acquire(exclusive=False, patience=_BUSY_SECONDS)
                self._db = undo.enter_context(contextlib.closing(_open_file(path, mode)))
                self._header = undo.enter_context(contextlib.closing(HeaderFile(path)))
                self._inode = _inode(path)
                super().__init__(ledger)
                undo.pop_all()
            finally:
                self._lock.release()

    def check_whole(self) -> None:
        """Refuse also a file whose indexes do not lead to every record: one that is missed is asked again."""
        super().check_whole()
        _check_schema_objects(self._db, self.name)
        missed = self._db.execute(_MISSED).fetchone()
        if missed is not None:
            raise damage(self.name, f"record {missed[0]} is not found by its key or its subject")

    def check_place(self) -> None:
        """Refuse unless the path still leads to the file that is open."""
        same = False
        with contextlib.suppress(OSError):
            same = _inode(self._path) == self._inode
        if not same:
            self.forget()
            raise LedgerUnavailableError(
                f"The ledger file {self.name!r} was removed or replaced while in use; "
                "refusing to answer. Put the file back and ask again."
            )
        if self._header.read().is_wal:  # another program did that
            self.forget()  # whoever opens it sets it back
            raise _wal_refused(self.name)

    def begin(self, write: bool) -> None:
        """Start a transaction; with ``write``, wait for the one lock of writers."""
        self._added = None
        self._lock.acquire(write, _BUSY_SECONDS)
        check_one_name(self._path)
        check_beside(self._leads_to, *_OF_SQLITE)
        self._db.execute("BEGIN IMMEDIATE" if write else "BEGIN")
        try:
            self.head = self._read_head()  # only now does a reader have a view that stands still
        except sqlite3.OperationalError as error:
            if write or not _is_hot(error):
                raise
            self._db.execute("ROLLBACK")
            _roll_back_journal(self._path)
            self._db.execute("BEGIN")
            self.head = self._read_head()
        self._before = self._header.read()
        self.changes = self._before.changes

    def commit(self) -> None:
        """Commit: the record is on the disk when this returns."""
        if self._added is not None:
            self._check_undisturbed(self._added)
        self._db.execute("COMMIT")
        self._lock.release()

    def roll_back(self) -> None:
        """Roll back, if there is anything to."""
        try:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
        finally:
            self._lock.release()

    def page(self, first: int, last: int) -> list[StoredRecord]:
        """Return records in order, read to their end: a query that is not would keep a lock."""
        return list(map(StoredRecord._make, self._db.execute(_ROWS, (first, last)).fetchall()))

    def first_with(self, column: str, value: str) -> int | None:
        """Return the first record's number; both columns have an index."""
        query = f"SELECT seq FROM records WHERE {column} = ? ORDER BY seq LIMIT 1"
        found = self._db.execute(query, (value,)).fetchone()
        return None if found is None else int(found[0])

    def add(self, stored: StoredRecord) -> None:
        """Write the record, and the head if it is still that of the record before."""
        self._db.execute("INSERT INTO records VALUES (?, ?, ?, ?, ?)", stored)
        moved = self._db.execute(
            "UPDATE head SET count = ?, hash = ? WHERE id = 1 AND count = ? AND hash = ?",
            (stored.seq + 1, stored.hash, stored.seq, self.reached[1]),
        )
        if moved.rowcount != 1:
            raise damage(self.name, "its head does not match its last record")
        self._added = stored

    def read_secret(self) -> bytes:
        """Return the secret, while nobody writes."""
        try:
            self._lock.acquire(exclusive=False, patience=_BUSY_SECONDS)
            return _secret_in(self._db, self.name)
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
        self._lock.close()

    def _check_undisturbed(self, added: StoredRecord) -> None:
        """Refuse to commit unless this is the only writer, and what it wrote is there."""
        if not self._lock.holds() or self._header.read() != self._before:
            raise LedgerUnavailableError(
                f"The ledger {self.name!r} was written to by somebody else in the middle of a charge, or its "
                "lock file was removed. Nothing was charged or answered; ask again."
            )
        if self.stored(added.seq) != added or self._read_head() != (added.seq + 1, added.hash):
            raise damage(self.name, f"record {added.seq} is not kept as it was written")

    def _read_head(self) -> tuple[int, str] | None:
        found: tuple[int, str] | None = self._db.execute(_HEAD).fetchone()
        return found


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


class _OpenFile:
    """A file that is kept open, until nobody needs it."""

    _descriptor: int | None = None

    def close(self, close: Callable[[int], None] = os.close) -> None:
        """Close the file, if it is open."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            close(descriptor)

    def __del__(self) -> None:
        self.close()


class HeaderFile(_OpenFile):
    """A ledger file, kept open to read its header: to close it would cancel SQLite's locks.

    Parameters
    ----------
    path : str
    """

    def __init__(self, path: str) -> None:
        self._descriptor = os.open(path, _FLAGS_OF_LEDGER)

    def read(self) -> Header:
        """Return the header as it is in the file now."""
        assert self._descriptor is not None
        if hasattr(os, "pread"):
            data = os.pread(self._descriptor, _LENGTH, _FIRST)
        else:  # Windows
            os.lseek(self._descriptor, _FIRST, os.SEEK_SET)
            data = os.read(self._descriptor, _LENGTH)
        data = data.ljust(_LENGTH, b"\0")  # where the file was cut off, SQLite says so
        changes, schema = int.from_bytes(data[6:10], "big"), int.from_bytes(data[22:26], "big")
        return Header(2 in data[:2], changes, schema)


class LockFile(_OpenFile):
    """The lock file of a ledger file, as one connection holds it.

    To close it in a forked child forgets the lock, which is the parent's, without letting go of it.

    Parameters
    ----------
    path : str
        Of the ledger. All symbolic links to one file share its lock; one with a hard link is refused.
    """

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
            If the file cannot be made or opened, or the file system has no such locks.
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

    def _open(self) -> int:
        """Open the file, or make it, for everybody who may use the ledger."""
        while True:
            with contextlib.suppress(FileNotFoundError):
                return self._opened()
            ledger = os.stat(self._ledger)
            mode = stat.S_IMODE(ledger.st_mode)
            try:
                descriptor = os.open(self._path, _FLAGS_OF_LOCK | os.O_CREAT | os.O_EXCL, mode)
            except FileExistsError:  # somebody else was first
                continue
            os.fchmod(descriptor, mode)  # whatever the umask
            owner = ledger.st_uid if os.geteuid() == 0 else -1  # only root gives files away
            with contextlib.suppress(PermissionError):  # of a group that this user is not in
                os.fchown(descriptor, owner, ledger.st_gid)
            return descriptor

    def _opened(self) -> int:
        """Open the file, which must be one, and of this ledger: others may have put anything there."""
        check_beside(self._ledger, _ENDING)
        try:
            return os.open(self._path, _FLAGS_OF_LOCK)
        except PermissionError as error:
            name = os.path.basename(self._path)
            raise LedgerUnavailableError(
                f"The ledger {self._name!r} cannot be used: this user may not open its lock file {name!r}. "
                "Nothing was charged or answered; give both the same owner, group and mode, then ask again."
            ) from error


class NoLock(LockFile):
    """What a connection has in its place that only looks: it may not even be able to make a file."""

    def __init__(self) -> None:
        pass

    def acquire(self, exclusive: bool, patience: float) -> None:
        """Wait for nothing."""


def _open_file(path: str, mode: str) -> sqlite3.Connection:
    """Open a ledger file, which must exist and be one; "rw" for reading and writing, "ro" to look at it."""
    try:
        return _open_at_once(path, mode)
    except sqlite3.OperationalError as error:
        if mode != "ro" or not _is_hot(error):
            raise
    _roll_back_journal(path)
    return _open_at_once(path, mode)


def _is_hot(error: sqlite3.OperationalError) -> bool:
    """Return whether a read-only file has a crashed writer's journal to undo first."""
    return (getattr(error, "sqlite_errorcode", 0) & 0xFF) == sqlite3.SQLITE_READONLY


def _roll_back_journal(path: str) -> None:
    """Undo what a writer that crashed has not committed, as the next charge would."""
    try:
        if not os.access(path, os.W_OK):
            raise PermissionError("the file may only be read")
        with _locked_file(path):
            pass
    except OSError as error:
        raise LedgerUnavailableError(
            f"The ledger {os.path.basename(path)!r} cannot be read yet: a process crashed while it charged. "
            f"What it had not committed must be undone first, by writing ({error.strerror or error}). "
            "Look at it as a user who may write to it and to its folder, or let its next question do it."
        ) from error


def _open_at_once(path: str, mode: str) -> sqlite3.Connection:
    uri, name = f"{Path(path).as_uri()}?mode={mode}", os.path.basename(path)
    how: dict[str, Any] = {"uri": True, "isolation_level": None, "check_same_thread": False}
    with contextlib.ExitStack() as undo:
        db: sqlite3.Connection = sqlite3.connect(uri, timeout=_BUSY_SECONDS, **how)
        undo.callback(db.close)
        if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
            raise LedgerDamagedError(f"The file {name!r} is not a ledger of sklearn_ada.")
        _check_schema_objects(db, name)  # before any query: one of a view may go on for ever
        if mode == "rw" and not _has_journal(db, path):
            raise _wal_refused(name)
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA cache_spill = OFF")  # nothing is in the file before the commit
        undo.pop_all()
        return db


def _is_ledger_at(path: str) -> bool:
    """Return whether the first bytes of a file, if there is one, are those of a ledger."""
    try:
        # To close a file takes SQLite's locks on it away, so nobody in this process may hold any.
        with lock, open(os.open(path, _FLAGS_OF_LEDGER | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            header = file.read(_NUMBER.stop)
    except FileNotFoundError:
        return False
    return header.startswith(_MAGIC) and header[_NUMBER] == APPLICATION_ID.to_bytes(4, "big")


def _has_journal(db: sqlite3.Connection, path: str) -> bool:
    """Return whether a file has a rollback journal, or got it back."""
    try:
        return bool(db.execute("PRAGMA journal_mode = PERSIST").fetchone()[0] == "persist")
    except sqlite3.OperationalError:
        with contextlib.closing(HeaderFile(path)) as header:
            if header.read().is_wal:  # others use it so
                return False
        raise


@contextlib.contextmanager
def _locked_file(path: str) -> Iterator[sqlite3.Connection]:
    """Open a ledger file to read and write, while others are kept from writing."""
    held = LockFile(path)
    try:
        held.acquire(exclusive=False, patience=_BUSY_SECONDS)
        with contextlib.closing(_open_file(path, "rw")) as db:
            yield db
    finally:
        held.release()


def _wal_refused(name: str) -> LedgerUnavailableError:
    """Return the error for a file whose write-ahead log another program turned on."""
    return LedgerUnavailableError(
        f"The ledger {name!r} was set to a write-ahead log by another program; a copy without that log would "
        "lack answers. Nothing was charged or answered. It is set back when it is next opened, unless others "
        "still use it so: close them, then ask again."
    )


def _secret_in(db: sqlite3.Connection, name: str) -> Secret:
    """Return the secret of an open file."""
    found = db.execute("SELECT value FROM secret WHERE id = 1").fetchone()
    if found is None or not isinstance(found[0], bytes):
        raise LedgerDamagedError(f"The ledger {name!r} has lost its secret.")
    return Secret(found[0])


def _genesis_in(db: sqlite3.Connection, name: str) -> dict[str, Any]:
    found = db.execute("SELECT body FROM records WHERE seq = 0").fetchone()
    if found is None:
        raise LedgerDamagedError(f"The ledger {name!r} has lost its genesis record.")
    return parse_json(found[0])


def _check_schema_objects(db: sqlite3.Connection, name: str) -> None:
    """Refuse a file that has other tables, indexes or triggers than a ledger has."""
    found, expected = _objects(db), _expected()
    for kind, called, _ in sorted(found.symmetric_difference(expected)):
        what = "lacks the" if (kind, called) not in {each[:2] for each in found} else "has a changed or added"
        raise damage(name, f"it {what} {kind} {called!r}")


@cache
def _expected() -> frozenset[tuple[str, str, str]]:
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        _create_tables(db)
        return _objects(db)


def _objects(db: sqlite3.Connection) -> frozenset[tuple[str, str, str]]:
    """Return kind, name and definition of everything in a database, without its spaces."""
    return frozenset(
        (kind, called, "".join((sql or "").split()).lower())
        for kind, called, sql in db.execute("SELECT type, name, sql FROM sqlite_schema").fetchall()
        if not called.startswith(_STATISTICS)
    )


def _inode(path: str) -> tuple[int, int]:
    status = os.stat(path)
    return status.st_dev, status.st_ino
