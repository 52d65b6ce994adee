"""One SQLite file as seen by one process: the connection, its transactions, and what was read so far.

A rollback journal, not WAL: in WAL mode a charge to an unlinked file succeeds, and a copy without its
``-wal`` loses everything. The inode is compared before each use for the same reason; it cannot be reused
while the connection keeps the file open.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
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

_BUSY_SECONDS = 60.0

# Held during every use of a connection, and across a fork, so that no child inherits an open transaction.
lock = threading.RLock()
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
        self._seq, self._hash = 0, genesis_hash

    def check_inode(self) -> None:
        try:
            same = _inode(self.path) == self._inode
        except OSError:
            same = False
        if not same:
            for key in [key for key, value in _connections.items() if value is self]:
                del _connections[key]
            raise LedgerUnavailableError(
                f"The ledger file {os.path.basename(self.path)!r} was removed or replaced while in use; "
                "refusing to answer. Put the file back and ask again."
            )

    def find(self, column: str, value: str) -> Record | None:
        """Return the first record with this key or subject, checked against its neighbour's hash."""
        row = self.db.execute(
            "SELECT r.seq, r.key, r.body, r.hash, p.hash FROM records r JOIN records p ON p.seq = r.seq - 1 "
            f"WHERE r.{column} = ? ORDER BY r.seq LIMIT 1",
            (value,),
        ).fetchone()
        if row is None:
            return None
        if chain_hash(row[4], row[0], row[1], row[2]) != row[3]:
            raise LedgerDamagedError(_damage(self.path, f"record {row[0]} does not continue the chain"))
        return Record(row[0], row[1], parse_json(row[2]))

    def transaction(self, mode: str = "IMMEDIATE") -> Transaction:
        return Transaction(self.db, mode)

    def catch_up(self) -> None:
        """Fold in what others recorded since, verifying the chain up to the head."""
        for seq, _, body, digest in verified(self.db, self._seq, self._hash, self.path):
            self.state.advance(body)
            self._seq, self._hash = seq, digest

    def append(self, key: str | None, body: dict[str, Any]) -> Record:
        """Write a record; `accept` takes it into the state once it is committed."""
        text = canonical_json(body)
        seq = self._seq + 1
        digest = chain_hash(self._hash, seq, key, text)
        self.db.execute(
            "INSERT INTO records VALUES (?, ?, ?, ?, ?)", (seq, key, body.get("subject"), text, digest)
        )
        self.db.execute("UPDATE head SET count = ?, hash = ? WHERE id = 1", (seq + 1, digest))
        self._pending = digest
        return Record(seq, key, parse_json(text), fresh=True)

    def accept(self, record: Record) -> None:
        self.state.advance(record.body)
        self._seq, self._hash = record.seq, self._pending


class Transaction:
    """BEGIN, then COMMIT; ROLLBACK if anything is raised."""

    def __init__(self, db: sqlite3.Connection, mode: str) -> None:
        self._db, self._mode = db, mode

    def __enter__(self) -> sqlite3.Connection:
        self._db.execute(f"BEGIN {self._mode}")
        return self._db

    def __exit__(self, kind: object, *rest: object) -> None:
        if kind is None:
            try:
                self._db.execute("COMMIT")
                return
            except BaseException:
                self._roll_back()
                raise
        self._roll_back()

    def _roll_back(self) -> None:
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")


class translated:  # noqa: N801 - reads as a clause
    """Turn errors of SQLite and of the file system into ledger errors that say what to do."""

    def __init__(self, path: str) -> None:
        self._name = os.path.basename(path)

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, sqlite3.DatabaseError) and not isinstance(
            error, (sqlite3.OperationalError, sqlite3.IntegrityError)
        ):
            raise LedgerDamagedError(f"The file {self._name!r} is not a readable ledger: {error}.") from error
        if isinstance(error, (sqlite3.Error, OSError)) and not isinstance(error, LedgerError):
            raise LedgerUnavailableError(
                f"The ledger {self._name!r} cannot be used: {error}. Nothing was charged or answered; check "
                "that the folder exists and is writable and that the disk is not full, then ask again."
            ) from error


def connect(path: str, mode: str) -> sqlite3.Connection:
    uri = "file:" + path.replace("%", "%25").replace("?", "%3f").replace("#", "%23") + f"?mode={mode}"
    db = sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    db.execute("PRAGMA journal_mode = TRUNCATE")
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
