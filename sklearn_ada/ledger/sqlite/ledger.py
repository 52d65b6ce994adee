"""A ledger in one SQLite file."""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from sklearn_ada.exceptions import LedgerDamagedError, LedgerUnavailableError
from sklearn_ada.ledger.log.chain import Row, check_schema, compare_genesis, genesis_row
from sklearn_ada.ledger.log.chained import ChainedLedger
from sklearn_ada.ledger.log.connection import lock
from sklearn_ada.ledger.log.contract import State
from sklearn_ada.ledger.log.interrupts import InterruptsHeld
from sklearn_ada.ledger.log.writing import parse_json
from sklearn_ada.ledger.sqlite.file import (
    APPLICATION_ID,
    SQLiteFile,
    locked_file,
    open_file,
    secret_in,
    translated,
)
from sklearn_ada.ledger.sqlite.network import check_local
from sklearn_ada.ledger.sqlite.schema import create_tables
from sklearn_ada.ledger.sqlite.temporary import is_temporary

__all__ = ["SQLiteLedger"]

_opened: set[str] = set()  # files this process has used: one that vanishes is not made again
_READ_ONLY = "?mode=ro"


class SQLiteLedger(ChainedLedger[State]):
    """A ledger kept in a SQLite file (see `Ledger` for what is promised).

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

    def __init__(self, path: str, genesis: dict[str, Any], start: Callable[[dict[str, Any]], State]) -> None:
        super().__init__(path, genesis, start)
        self.path = path

    @classmethod
    def create_or_open(
        cls,
        path: str | os.PathLike[str],
        genesis_from_secret: Callable[[bytes], dict[str, Any]],
        start: Callable[[dict[str, Any]], State],
        secret: bytes | None = None,
        of_found: Callable[[bytes, dict[str, Any]], dict[str, Any]] | None = None,
    ) -> SQLiteLedger[State]:
        """Open the ledger at ``path``, or create it if there is no file.

        Parameters
        ----------
        path : path-like
        genesis_from_secret : callable
            Takes the ledger's secret and returns the genesis that the caller expects.
        start : callable
            Takes the genesis and returns the state before any record.
        secret : bytes or None
            The secret of a new ledger; by default 32 bytes from the operating system.
        of_found : callable or None
            Takes the secret and the genesis of a ledger that is there, and returns the genesis that the
            caller expects of such a one; by default what a new one would have.

        Raises
        ------
        LedgerMismatchError
            If the file's genesis differs: another holdout, another split, another policy.
        LedgerUnavailableError
            If the file cannot be read or written, or lies on a network file system.
        LedgerDamagedError
            If it is not a ledger, or its records do not agree.
        """
        path = os.path.abspath(os.fspath(path))
        _check_place(path)
        check_local(path)
        with lock, InterruptsHeld(), translated(path):
            if not os.path.exists(path):
                _create(path, genesis_from_secret, os.urandom(32) if secret is None else secret)
            if not os.access(path, os.W_OK):
                raise LedgerUnavailableError(f"The ledger {os.path.basename(path)!r} cannot be written to.")
            with locked_file(path) as db:
                stored = _read_genesis(db, path)
                untouched = db.execute("SELECT 1 FROM records WHERE seq > 0").fetchone() is None
                kept = secret_in(db, os.path.basename(path))
        expected = genesis_from_secret(kept) if of_found is None else of_found(kept, stored)
        instead = None if is_temporary(path) else "another path"
        compare_genesis(stored, expected, os.path.basename(path), instead, untouched=untouched)
        ledger = cls(path, expected, start)
        ledger.read(lambda state: None)  # replay now: damage should not wait for the first question
        _opened.add(os.path.realpath(path))
        return ledger

    @classmethod
    def open_existing(
        cls, path: str | os.PathLike[str], start: Callable[[dict[str, Any]], State], replay: bool = True
    ) -> SQLiteLedger[State]:
        """Open a ledger under whatever genesis it has, to look at it; it must exist.

        Nothing is written, no lock file is made, and the file may be one that can only be read. Without
        ``replay``, records are read when they are asked for, and what is wrong is found then.
        """
        path = os.path.abspath(os.fspath(path))
        if not os.path.exists(path):
            raise LedgerUnavailableError(f"There is no ledger file {os.path.basename(path)!r}.")
        with lock, InterruptsHeld(), translated(path), contextlib.closing(open_file(path, "ro")) as db:
            genesis = _read_genesis(db, path)
        check_schema(genesis, os.path.basename(path))
        ledger = cls(path, genesis, start)
        ledger._mode = _READ_ONLY
        if replay:
            ledger.read(lambda state: None)
        return ledger

    @property
    def name(self) -> str:
        """The file's name; a path may tell more than a message should."""
        return os.path.basename(self.path)

    def _connect(self) -> SQLiteFile:
        return SQLiteFile(self.path, self._genesis_hash, self._start, "ro" if self._mode else "rw")

    def _translated(self) -> AbstractContextManager[object]:
        return translated(self.path)


def _check_place(path: str) -> None:
    """Raise unless there can be a file at a path."""
    folder, name = os.path.split(path)
    if os.path.isdir(path):
        raise LedgerUnavailableError(f"The ledger {name!r} is a folder. Give the path of a file in it.")
    if not os.path.isdir(folder):
        raise LedgerUnavailableError(
            f"The ledger {name!r} cannot be made: its folder {os.path.basename(folder)!r} does not exist. "
            "Make the folder, or give another path."
        )


def _create(path: str, genesis_from_secret: Callable[[bytes], dict[str, Any]], secret: bytes) -> None:
    """Write a new ledger under another name and link it into place, so that nobody sees half of one."""
    if os.path.realpath(path) in _opened:
        raise LedgerUnavailableError(
            f"The ledger file {os.path.basename(path)!r} was used by this process and is gone; a new one "
            "would be a fresh budget. Put the file back."
        )
    first = genesis_row(genesis_from_secret(secret))
    with contextlib.suppress(FileExistsError):  # somebody else was first: theirs is the ledger
        if not _link_nameless(path, first, secret):
            _link_draft(path, first, secret)


def _link_nameless(path: str, first: Row, secret: bytes) -> bool:
    """Write a new ledger to a file without a name, of which a kill leaves nothing, and give it one.

    Returns False where there are no such files.
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


def _link_draft(path: str, first: Row, secret: bytes) -> None:
    handle, draft = tempfile.mkstemp(prefix=".ledger", dir=os.path.dirname(path))
    os.close(handle)
    try:
        with contextlib.closing(sqlite3.connect(draft, isolation_level=None)) as db:
            _write_first(db, first, secret)
        os.link(draft, path)
    finally:
        os.unlink(draft)


def _write_first(db: sqlite3.Connection, first: Row, secret: bytes) -> None:
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute("BEGIN IMMEDIATE")
    create_tables(db)
    db.execute("INSERT INTO secret VALUES (1, ?)", (secret,))
    db.execute("INSERT INTO records VALUES (?, ?, ?, ?, ?)", first)
    db.execute("INSERT INTO head VALUES (1, 1, ?)", (first.hash,))
    db.execute("COMMIT")


def _read_genesis(db: sqlite3.Connection, path: str) -> dict[str, Any]:
    row = db.execute("SELECT body FROM records WHERE seq = 0").fetchone()
    if row is None:
        raise LedgerDamagedError(f"The ledger {os.path.basename(path)!r} has lost its genesis record.")
    return parse_json(row[0])
