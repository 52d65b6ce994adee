"""One SQLite file as seen by one process: the connection, its transactions, and what was read so far.

A rollback journal, not WAL: in WAL mode a charge to an unlinked file succeeds, and a copy without its
``-wal`` loses everything. The inode is compared before each use for the same reason; it cannot be reused
while the connection keeps the file open.
"""

from __future__ import annotations

import itertools
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sklearn_ada.exceptions import (
    LedgerDamagedError,
    LedgerError,
    LedgerMismatchError,
    LedgerUnavailableError,
)
from sklearn_ada.ledger._contract import Record
from sklearn_ada.ledger._records import canonical_json, chain_hash, parse_json

__all__ = ["Connection", "Transaction", "connect", "connection_to", "lock", "translated", "verified"]

APPLICATION_ID = 0x5ADA0001
_BUSY_SECONDS = 60.0

# Held during every use of a connection, and across a fork, so that no child inherits an open transaction.
lock = threading.RLock()
_seen: dict[tuple[str, str], tuple[int, str]] = {}  # how far each ledger was read: it must not fall behind
_connections: dict[tuple[str, str], Connection] = {}
_abandoned: list[object] = []  # connections of a parent process: never used, never closed


def _after_fork_in_child() -> None:
    _abandoned.append(dict(_connections))
    _connections.clear()
    lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=lock.acquire, after_in_parent=lock.release, after_in_child=_after_fork_in_child
    )


def connection_to(path: str, genesis_hash: str, start: Callable[[dict[str, Any]], Any]) -> Connection:
    """Return this process's connection to the very file that was opened first, or refuse."""
    connection = _connections.get((path, genesis_hash))
    if connection is None:
        if not os.path.exists(path):
            raise LedgerUnavailableError(
                f"The ledger file {os.path.basename(path)!r} cannot be seen from this process; refusing to "
                "score. Workers must share a file system with the ledger."
            )
        connection = Connection(path, genesis_hash, start)
        connection.check_not_older(*_seen.get((path, genesis_hash), (0, genesis_hash)))
        _connections[path, genesis_hash] = connection
    connection.check_inode()
    return connection


class Connection:
    """One open file, with the state of all its records so far."""

    def __init__(self, path: str, genesis_hash: str, start: Callable[[dict[str, Any]], Any]) -> None:
        self.path = path
        self.db = connect(path, "rw")
        self._inode = _inode(path)
        row = self.db.execute("SELECT body, hash FROM records WHERE seq = 0").fetchone()
        if row is None or row[1] != genesis_hash or chain_hash("", 0, None, row[0]) != genesis_hash:
            raise LedgerMismatchError(
                f"The ledger {os.path.basename(path)!r} is not the one that was opened: its genesis differs."
            )
        self.state = start(parse_json(row[0]))
        self._genesis_hash = genesis_hash
        self._seq, self._hash = 0, genesis_hash
        self._half_written = False
        self.busy = False
        self.secret: bytes | None = None

    def check_inode(self) -> None:
        """Refuse unless the path still leads to the file that is open."""
        if self.busy:
            raise LedgerError("A ledger cannot be charged or read from inside a charge of the same ledger.")
        if self.db.in_transaction:  # an interrupt left it so
            self.db.execute("ROLLBACK")
        try:
            same = _inode(self.path) == self._inode
        except OSError:
            same = False
        if not same:
            self._forget()
            raise LedgerUnavailableError(
                f"The ledger file {os.path.basename(self.path)!r} was removed or replaced while in use; "
                "refusing to answer. Put the file back and ask again."
            )

    def check_not_older(self, seq: int, digest: str) -> None:
        """Refuse a file that lacks what this process has already read of its ledger."""
        row = self.db.execute("SELECT hash FROM records WHERE seq = ?", (seq,)).fetchone()
        if row is None or row[0] != digest:
            raise LedgerDamagedError(_damage(self.path, f"record {seq}, read before, is missing or differs"))

    def _forget(self) -> None:
        """Drop this connection from the cache; whoever needs the ledger next replays it."""
        for key in [key for key, value in _connections.items() if value is self]:
            del _connections[key]

    def _reached(self, seq: int, digest: str) -> None:
        self._seq, self._hash = seq, digest
        _seen[self.path, self._genesis_hash] = (seq, digest)

    def find(self, column: str, value: str) -> Record | None:
        """Return the first record with this key or subject, checked against its neighbour's hash."""
        found = self.db.execute(
            f"SELECT seq FROM records WHERE {column} = ? ORDER BY seq LIMIT 1", (value,)
        ).fetchone()
        if found is None:
            return None
        rows = self.db.execute(
            "SELECT seq, key, subject, body, hash FROM records WHERE seq BETWEEN ? AND ? ORDER BY seq",
            (found[0] - 1, found[0] + 1),
        ).fetchall()
        for before, row in itertools.pairwise(rows):
            if chain_hash(before[4], row[0], row[1], row[3]) != row[4]:
                raise LedgerDamagedError(_damage(self.path, f"record {row[0]} does not continue the chain"))
        seq, key, subject, text, digest = rows[1] if rows[0][0] < found[0] else rows[0]
        body = parse_json(text)
        if subject != body.get("subject") or (seq == self._seq and digest != self._hash):
            raise LedgerDamagedError(_damage(self.path, f"record {seq} is not what was recorded"))
        return Record(seq, key, body)

    def transaction(self, mode: str = "IMMEDIATE") -> Transaction:
        """Return a transaction in which the state and the file change together or not at all."""
        return Transaction(self.db, mode, self)

    def catch_up(self) -> None:
        """Fold in what others recorded since, verifying the chain up to the head."""
        self.check_not_older(self._seq, self._hash)
        for seq, _, body, digest in verified(self.db, self._seq, self._hash, self.path):
            try:
                self.state.advance(body)
            except (KeyError, TypeError, ValueError) as error:
                raise LedgerDamagedError(_damage(self.path, f"record {seq} cannot be read")) from error
            self._reached(seq, digest)

    def append(self, key: str | None, body: dict[str, Any]) -> Record:
        """Write a record and take it into the state; both are undone if the transaction fails."""
        subject = body.get("subject")
        if not isinstance(key, (str, type(None))) or not isinstance(subject, (str, type(None))):
            raise TypeError("The key and the subject of a record must be text or None.")
        text = canonical_json(body)
        seq = self._seq + 1
        digest = chain_hash(self._hash, seq, key, text)
        self.db.execute("INSERT INTO records VALUES (?, ?, ?, ?, ?)", (seq, key, subject, text, digest))
        self.db.execute("UPDATE head SET count = ?, hash = ? WHERE id = 1", (seq + 1, digest))
        self._half_written = True
        record = Record(seq, key, parse_json(text), fresh=True)
        self.state.advance(record.body)
        self._pending = (seq, digest)
        return record

    def committed(self) -> None:
        """Keep what was appended."""
        if self._half_written:
            self._half_written = False
            self._reached(*self._pending)

    def rolled_back(self) -> None:
        """Forget a state that has taken in what was not recorded."""
        if self._half_written:
            self._forget()


class Transaction:
    """BEGIN, then COMMIT; ROLLBACK if anything is raised."""

    def __init__(self, db: sqlite3.Connection, mode: str, owner: Connection | None = None) -> None:
        self._db, self._mode, self._owner = db, mode, owner

    def __enter__(self) -> sqlite3.Connection:
        try:
            self._db.execute(f"BEGIN {self._mode}")
        except BaseException:  # an interrupt may come just after the lock was granted
            self._roll_back()
            raise
        if self._owner is not None:
            self._owner.busy = True
        return self._db

    def __exit__(self, kind: object, *rest: object) -> None:
        if self._owner is not None:
            self._owner.busy = False
        if kind is None:
            try:
                self._db.execute("COMMIT")
                if self._owner is not None:
                    self._owner.committed()
                return
            except BaseException:
                self._roll_back()
                raise
        self._roll_back()

    def _roll_back(self) -> None:
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")
        if self._owner is not None:
            self._owner.rolled_back()


class translated:  # noqa: N801 - reads as a clause
    """Turn errors of SQLite and of the file system into ledger errors that say what to do."""

    def __init__(self, path: str) -> None:
        self._name = os.path.basename(path)

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        code = getattr(error, "sqlite_errorcode", None)
        unavailable = isinstance(error, (sqlite3.OperationalError, sqlite3.IntegrityError))
        if isinstance(error, sqlite3.DatabaseError) and (not unavailable or code == sqlite3.SQLITE_ERROR):
            raise LedgerDamagedError(f"The file {self._name!r} is not a readable ledger: {error}.") from error
        if isinstance(error, (sqlite3.Error, OSError)) and not isinstance(error, LedgerError):
            raise LedgerUnavailableError(
                f"The ledger {self._name!r} cannot be used: {error}. Nothing was charged or answered; check "
                "that the folder exists and is writable and that the disk is not full, then ask again."
            ) from error


def connect(path: str, mode: str) -> sqlite3.Connection:
    """Open a ledger file, which must exist and be one."""
    uri = f"{Path(path).as_uri()}?mode={mode}"
    db = sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        db.close()
        raise LedgerDamagedError(f"The file {os.path.basename(path)!r} is not a ledger of sklearn_ada.")
    if mode == "rw":
        db.execute("PRAGMA journal_mode = PERSIST")
    db.execute("PRAGMA synchronous = FULL")
    return db


def _inode(path: str) -> tuple[int, int]:
    status = os.stat(path)
    return status.st_dev, status.st_ino


def verified(
    db: sqlite3.Connection, seq: int, digest: str, path: str
) -> Iterator[tuple[int, str | None, dict[str, Any], str]]:
    """Yield records after ``seq``, raising at the first that does not continue the chain to the head."""
    head = db.execute("SELECT count, hash FROM head WHERE id = 1").fetchone()
    for row in db.execute(
        "SELECT seq, key, subject, body, hash FROM records WHERE seq > ? ORDER BY seq", (seq,)
    ):
        body = parse_json(row[3])
        digest = chain_hash(digest, row[0], row[1], row[3])
        if row[0] != seq + 1 or row[4] != digest or row[2] != body.get("subject"):
            raise LedgerDamagedError(_damage(path, f"record {seq + 1} does not continue the chain"))
        seq = row[0]
        yield seq, row[1], body, digest
    if head is None or head[0] != seq + 1 or head[1] != digest:
        raise LedgerDamagedError(_damage(path, "its head does not match its last record"))


def _damage(path: str, what: str) -> str:
    return (
        f"The ledger {os.path.basename(path)!r} was damaged or edited: {what}. It answers no more questions; "
        "restore the file itself, not an older copy of it, or start with a new holdout."
    )
