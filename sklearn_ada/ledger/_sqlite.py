"""A ledger in one SQLite file."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

from sklearn_ada.exceptions import LedgerDamagedError, LedgerMismatchError, LedgerUnavailableError
from sklearn_ada.ledger._connection import (
    APPLICATION_ID,
    Connection,
    Transaction,
    connect,
    connection_to,
    lock,
    translated,
    verified,
)
from sklearn_ada.ledger._contract import Ledger, Record, State
from sklearn_ada.ledger._records import canonical_json, chain_hash, parse_json

__all__ = ["SQLiteLedger"]

_opened: set[str] = set()  # files this process has used: one that vanishes is not made again
_SCHEMA = """
CREATE TABLE head (id INTEGER PRIMARY KEY CHECK (id = 1), count INTEGER NOT NULL, hash TEXT NOT NULL);
CREATE TABLE secret (id INTEGER PRIMARY KEY CHECK (id = 1), value BLOB NOT NULL);
CREATE TABLE records (
    seq INTEGER PRIMARY KEY, key TEXT UNIQUE, subject TEXT, body TEXT NOT NULL, hash TEXT NOT NULL
);
CREATE INDEX by_subject ON records (subject) WHERE subject IS NOT NULL;
"""


class SQLiteLedger(Ledger[State]):
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
        self.path = path
        self.genesis = genesis
        self._start = start
        self._genesis_hash = chain_hash("", 0, None, canonical_json(genesis))

    @classmethod
    def create_or_open(
        cls,
        path: str | os.PathLike[str],
        genesis_from_secret: Callable[[bytes], dict[str, Any]],
        start: Callable[[dict[str, Any]], State],
        secret: bytes | None = None,
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

        Raises
        ------
        LedgerMismatchError
            If the file's genesis differs: another holdout, another split, another policy.
        LedgerUnavailableError
            If the file cannot be read or written.
        LedgerDamagedError
            If it is not a ledger, or its records do not agree.
        """
        path = os.path.abspath(os.fspath(path))
        with lock, translated(path):
            if not os.path.exists(path):
                _create(path, genesis_from_secret, os.urandom(32) if secret is None else secret)
            if not os.access(path, os.W_OK):
                raise LedgerUnavailableError(f"The ledger {os.path.basename(path)!r} cannot be written to.")
            db = connect(path, "rw")
            try:
                stored = _read_genesis(db, path)
                expected = genesis_from_secret(_read_secret(db, path))
            finally:
                db.close()
        _compare(stored, expected, path)
        ledger = cls(path, expected, start)
        ledger.read(lambda state: None)  # replay now: damage should not wait for the first question
        _opened.add(path)
        return ledger

    @classmethod
    def open_existing(
        cls, path: str | os.PathLike[str], start: Callable[[dict[str, Any]], State]
    ) -> SQLiteLedger[State]:
        """Open a ledger under whatever genesis it has, to look at it; it must exist."""
        path = os.path.abspath(os.fspath(path))
        with lock, translated(path):
            db = connect(path, "ro")
            try:
                genesis = _read_genesis(db, path)
            finally:
                db.close()
        ledger = cls(path, genesis, start)
        ledger.read(lambda state: None)
        return ledger

    def charge(self, key: str | None, decide: Callable[[State], dict[str, Any]]) -> Record:
        """Record ``decide(state)`` under ``key``, or return what is recorded there."""
        with lock, translated(self.path):
            connection = self._connection()
            with connection.transaction():
                connection.catch_up()
                found = None if key is None else connection.find("key", key)
                if found is not None:
                    return found
                body = decide(connection.state)
                return connection.append(key, body)

    def find(self, key: str) -> Record | None:
        """Return the record under ``key``, if any."""
        with lock, translated(self.path):
            return self._find("key", key)

    def find_subject(self, subject: str) -> Record | None:
        """Return the first record whose body has this ``"subject"``, if any."""
        with lock, translated(self.path):
            return self._find("subject", subject)

    def _find(self, column: str, value: str) -> Record | None:
        connection = self._connection()
        with connection.transaction("DEFERRED"):
            connection.catch_up()
            return connection.find(column, value)

    def read(self, look: Callable[[State], Any]) -> Any:
        """Return ``look(state)`` for the state of all records so far."""
        with lock, translated(self.path):
            connection = self._connection()
            with connection.transaction("DEFERRED"):
                connection.catch_up()
            return look(connection.state)

    def records(self) -> Iterator[Record]:
        """Return all records from the genesis on, verified against the chain and the head."""
        with lock, translated(self.path):
            connection = self._connection()
            with connection.transaction("DEFERRED") as db:
                connection.catch_up()
                connection.check_not_older(0, self._genesis_hash)
                checked = list(verified(db, 0, self._genesis_hash, self.path))
        later = [Record(seq, key, body) for seq, key, body, _ in checked]
        return iter([Record(0, None, self.genesis), *later])

    def secret(self) -> bytes:
        """Return the ledger's secret."""
        with lock, translated(self.path):
            connection = self._connection()
            if connection.secret is None:
                connection.secret = _read_secret(connection.db, self.path)
            return connection.secret

    def __copy__(self) -> SQLiteLedger[State]:
        return self

    def __deepcopy__(self, memo: object) -> SQLiteLedger[State]:
        return self

    def __repr__(self) -> str:
        return f"SQLiteLedger({os.path.basename(self.path)!r}, genesis {self._genesis_hash[:8]})"

    def _connection(self) -> Connection:
        return connection_to(self.path, self._genesis_hash, self._start)


def _create(path: str, genesis_from_secret: Callable[[bytes], dict[str, Any]], secret: bytes) -> None:
    """Write a new ledger under another name and link it into place, so that nobody sees half of one."""
    if path in _opened:
        raise LedgerUnavailableError(
            f"The ledger file {os.path.basename(path)!r} was used by this process and is gone; a new one "
            "would be a fresh budget. Put the file back."
        )
    folder = os.path.dirname(path)
    handle, draft = tempfile.mkstemp(prefix=".ledger", dir=folder)
    os.close(handle)
    try:
        text = canonical_json(genesis_from_secret(secret))
        digest = chain_hash("", 0, None, text)
        db = sqlite3.connect(draft, isolation_level=None)
        try:
            db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            with Transaction(db, "IMMEDIATE"):
                for statement in filter(str.strip, _SCHEMA.split(";")):
                    db.execute(statement)
                db.execute("INSERT INTO secret VALUES (1, ?)", (secret,))
                db.execute("INSERT INTO records VALUES (0, NULL, NULL, ?, ?)", (text, digest))
                db.execute("INSERT INTO head VALUES (1, 1, ?)", (digest,))
        finally:
            db.close()
        with contextlib.suppress(FileExistsError):  # somebody else was first: theirs is the ledger
            os.link(draft, path)
    finally:
        os.unlink(draft)


def _read_genesis(db: sqlite3.Connection, path: str) -> dict[str, Any]:
    row = db.execute("SELECT body FROM records WHERE seq = 0").fetchone()
    if row is None:
        raise LedgerDamagedError(f"The ledger {os.path.basename(path)!r} has lost its genesis record.")
    return parse_json(row[0])


def _read_secret(db: sqlite3.Connection, path: str) -> bytes:
    row = db.execute("SELECT value FROM secret WHERE id = 1").fetchone()
    if row is None:
        raise LedgerDamagedError(f"The ledger {os.path.basename(path)!r} has lost its secret.")
    return bytes(row[0])


def _compare(stored: dict[str, Any], expected: dict[str, Any], path: str) -> None:
    """Raise unless the file's genesis is the expected one, naming what differs."""
    name = os.path.basename(path)
    if stored.get("fingerprint") != expected.get("fingerprint"):
        short = [str(g.get("fingerprint"))[:12] for g in (stored, expected)]
        raise LedgerMismatchError(
            f"The ledger {name!r} belongs to another holdout (fingerprint {short[0]}, not {short[1]}). Use "
            "ledger=None, another path, or the Holdout that it belongs to."
        )
    different = sorted(k for k in stored.keys() | expected.keys() if stored.get(k) != expected.get(k))
    if different:
        shown = [k for k in different if k not in ("secret_digest", "seeded")]
        was = ", ".join(f"{k}={stored.get(k)!r}" for k in shown) or "another random_state"
        raise LedgerMismatchError(
            f"The ledger {name!r} was opened for this holdout with another policy ({was}), and a policy is "
            "fixed before the first question. Use the same parameters, or a new holdout."
        )
