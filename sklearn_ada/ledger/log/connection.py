"""One ledger as seen by one process: its open storage, its transactions, and what was read so far."""

from __future__ import annotations

import itertools
import os
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

from sklearn_ada.exceptions import LedgerError, LedgerMismatchError
from sklearn_ada.ledger.log.chain import Row, continued, damage, next_row, vouched
from sklearn_ada.ledger.log.contract import Record
from sklearn_ada.ledger.log.interrupts import deliver_interrupt
from sklearn_ada.ledger.log.writing import parse_json, secret_digest

__all__ = ["CommitLostError", "Connection", "connection_to", "lock"]

# Held during every use of a connection, and across a fork, so that no child inherits an open transaction.
lock = threading.RLock()
_seen: dict[tuple[str, str], tuple[int, str]] = {}  # how far each ledger was read: it must not fall behind
_connections: dict[tuple[str, str], Connection] = {}
_uses = itertools.count()
_MOST_IDLE = 64  # more are closed, so that many holdouts in one process do not use up its files
_BREATH = 1000  # records after which a long replay may be interrupted
_abandoned: list[object] = []  # connections of a parent process: never used, never closed


def _after_fork_in_child() -> None:
    for connection in _connections.values():
        connection.abandon()
    _abandoned.append(dict(_connections))
    _connections.clear()
    lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=lock.acquire, after_in_parent=lock.release, after_in_child=_after_fork_in_child
    )


def connection_to(
    address: str, genesis_hash: str, connect: Callable[[], Connection], mode: str = ""
) -> Connection:
    """Return this process's connection to the very ledger that was opened first, or refuse."""
    slot = (address + mode, genesis_hash)
    connection = _connections.get(slot)
    if connection is not None and connection.is_left:
        connection.clear_up()
        connection = _connections.get(slot)
    if connection is None:
        connection = connect()
        connection.slot = slot
        _connections[slot] = connection
    connection.used = next(_uses)
    _close_idle()
    if connection.in_use:
        raise LedgerError("A ledger cannot be charged or read from inside a charge of the same ledger.")
    connection.check_place()
    return connection


def _close_idle() -> None:
    """Close the connections that were not used for longest; what was seen of their ledgers stays known."""
    if len(_connections) > _MOST_IDLE:
        idle = [each for each in _connections.values() if not each.in_use]
        for connection in sorted(idle, key=lambda each: each.used)[:-_MOST_IDLE]:
            connection.forget()


class CommitLostError(Exception):
    """An error at COMMIT left open whether a record stands; the argument is its row."""


class Connection(ABC):
    """An open ledger, with the state of all its records so far.

    A backend stores rows; what they mean, and that they hang together, is looked after here.

    Parameters
    ----------
    address : str
    name : str
        The address as messages show it.
    genesis_hash : str
        Hash of the genesis that the ledger must have.
    start : callable
        Takes the genesis and returns the state before any record.
    """

    def __init__(
        self, address: str, name: str, genesis_hash: str, start: Callable[[dict[str, Any]], Any]
    ) -> None:
        self.name = name
        self._key = self.slot = (address, genesis_hash)
        row = self.row(0)
        if row is None or row.hash != genesis_hash or not vouched(row, ""):
            raise LedgerMismatchError(
                f"The ledger {name!r} is not the one that was opened: its genesis differs."
            )
        self._genesis = parse_json(row.text)
        if row.subject != self._genesis.get("subject"):  # no hash vouches for it
            raise damage(name, "its first record is not what was recorded")
        try:
            self.state = start(self._genesis)
        except (KeyError, TypeError, ValueError) as error:
            raise LedgerMismatchError(
                f"The ledger {name!r} has a first record that this release cannot read ({error}). Use the "
                "release of sklearn_ada that wrote it, or a newer one."
            ) from error
        self._reached = (0, genesis_hash)
        self._appended: tuple[int, str] | None = None
        self._is_checked = False
        self._moving = False  # the state has taken in, or may have, what `_reached` does not tell
        self._secret: bytes | None = None
        self.used = 0
        self.in_use = False
        self.is_left = False

    @abstractmethod
    def begin(self, write: bool) -> None:
        """Start a transaction: a view that does not change, and with ``write`` the only writer."""

    @abstractmethod
    def commit(self) -> None:
        """End the transaction; what was added is durable when this returns."""

    @abstractmethod
    def roll_back(self) -> None:
        """End the transaction, if there is one, as if nothing had been added."""

    @abstractmethod
    def head(self) -> tuple[int, str] | None:
        """Return how many records there should be and the hash of the last, if that is known."""

    @abstractmethod
    def rows(self, first: int, last: int | None = None) -> Iterator[Row]:
        """Return the rows from ``first`` on, in order, up to ``last`` or to the end."""

    @abstractmethod
    def first_with(self, column: str, value: str) -> int | None:
        """Return the number of the first row whose "key" or "subject" is this."""

    @abstractmethod
    def add(self, row: Row) -> None:
        """Write a row, and the head that goes with it."""

    @abstractmethod
    def read_secret(self) -> bytes:
        """Return the ledger's secret."""

    def check_place(self) -> None:  # noqa: B027 - most backends have nothing to check
        """Refuse if the storage is no longer at its address."""

    def abandon(self) -> None:  # noqa: B027 - most backends have nothing to do
        """Make sure that a forked child, which inherited this, cannot disturb its parent."""

    def row(self, seq: int) -> Row | None:
        """Return one row."""
        return next(iter(self.rows(seq, seq)), None)

    @property
    def reached(self) -> tuple[int, str]:
        """Number and hash of the last record that is in the state."""
        return self._reached

    def secret(self) -> bytes:
        """Return the ledger's secret, read once; the genesis tells whether it is the one."""
        if self._secret is None:
            self._secret = self.verified_secret()
        return self._secret

    def verified_secret(self) -> bytes:
        """Return the secret as it is stored now, or refuse: the genesis tells whether it is the one."""
        secret = self.read_secret()
        if self._genesis.get("secret_digest", secret_digest(secret)) != secret_digest(secret):
            raise damage(self.name, "its secret is not the one it began with")
        return secret

    def check_whole(self) -> None:
        """Refuse a ledger that lacks what this process has already read of it, or hides some of it."""
        before = next(iter(self.rows(-sys.maxsize, -1)), None)
        if before is not None:
            raise damage(self.name, f"record {before.seq} is before the first")
        seq, digest = _seen.get(self._key, self._reached)
        row = self.row(seq)
        if row is None or row.hash != digest:
            raise damage(self.name, f"record {seq}, read before, is missing or differs")

    def catch_up(self) -> None:
        """Fold in what others recorded since, verifying the chain up to the head.

        Between two records an interrupt does no harm: what was taken in so far stays.
        """
        if not self._is_checked:
            self.check_whole()
            self._is_checked = True
        rows = iter(self.rows(self._reached[0]))
        known = next(rows, None)
        if known is None or (known.seq, known.hash) != self._reached:
            raise damage(self.name, f"record {self._reached[0]}, read before, is missing or differs")
        try:
            for row, body in continued(rows, *self._reached, self.name):
                self._moving = True
                try:
                    self.state.advance(body)
                except (KeyError, TypeError, ValueError) as error:
                    raise damage(self.name, f"record {row.seq} cannot be read") from error
                self._reached = (row.seq, row.hash)
                self._moving = False
                if row.seq % _BREATH == 0:
                    deliver_interrupt()
        finally:
            _seen[self._key] = self._reached
        if self.head() != (self._reached[0] + 1, self._reached[1]):
            raise damage(self.name, "its head does not match its last record")

    def verify_again(self) -> None:
        """Refuse unless all records are those that were folded, and all of them can be found."""
        reached = (-1, "")
        for row, _ in continued(self.rows(0), *reached, self.name):
            reached = (row.seq, row.hash)
            if row.seq % _BREATH == 0:
                deliver_interrupt()
        if reached != self._reached:
            raise damage(self.name, f"record {self._reached[0]}, read before, is missing or differs")
        self.check_whole()

    def find(self, column: str, value: str) -> Record | None:
        """Return the first record with this key or subject, checked against its neighbours' hashes."""
        seq = self.first_with(column, value)
        found = None if seq is None else self._checked(seq)
        if found is None:
            return None
        row, record = found
        if getattr(row, column) != value:
            raise damage(self.name, f"record {seq} is not what was recorded")
        return record

    def record(self, seq: int) -> Record | None:
        """Return the record of this number, if there is one, checked against its neighbours' hashes."""
        if not 0 <= seq <= self._reached[0]:
            return None
        found = self._checked(seq)
        if found is None:
            raise damage(self.name, f"record {seq} is missing")
        return found[1]

    def _checked(self, seq: int) -> tuple[Row, Record] | None:
        rows = list(self.rows(seq - 1, seq + 1))
        for before, row in itertools.pairwise(rows):
            if not vouched(row, before.hash):
                raise damage(self.name, f"record {row.seq} does not continue the chain")
        mine = next((row for row in rows if row.seq == seq), None)
        if mine is None:
            return None
        body = parse_json(mine.text)
        is_it = mine.subject == body.get("subject")
        if not is_it or (mine.seq == self._reached[0] and mine.hash != self._reached[1]):
            raise damage(self.name, f"record {mine.seq} is not what was recorded")
        return mine, Record(mine.seq, mine.key, body)

    def append(self, key: str | None, body: dict[str, Any]) -> Record:
        """Write a record and take it into the state; both are undone if the transaction fails."""
        row = next_row(*self._reached, key, body)
        self._moving = True
        self.add(row)
        record = Record(row.seq, key, parse_json(row.text), fresh=True)
        self.state.advance(record.body)
        self._appended = (row.seq, row.hash)
        return record

    def committed(self) -> None:
        """Keep what was appended."""
        if self._appended is not None:
            self._reached = _seen[self._key] = self._appended
            self._appended = None
            self._moving = False

    def clear_up(self) -> None:
        """End a transaction that failed, and forget a state that may have taken in what is not recorded."""
        cleared = False
        try:
            self.roll_back()
            cleared = not self._moving
        finally:
            if not cleared:
                self.forget()
        self.in_use = self.is_left = False

    def forget(self) -> None:
        """Drop and close this connection; whoever needs the ledger next replays it."""
        if _connections.get(self.slot) is self:
            del _connections[self.slot]
