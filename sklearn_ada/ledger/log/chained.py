"""What all backends have in common: everything but where the rows are."""

from __future__ import annotations

import contextlib
import functools
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from sklearn_ada.ledger.log.chain import Row, continued, damage, genesis_row
from sklearn_ada.ledger.log.connection import Connection, connection_to, lock
from sklearn_ada.ledger.log.contract import Ledger, Record, Seen, State
from sklearn_ada.ledger.log.head import Head, head_contradiction, parse_head
from sklearn_ada.ledger.log.interrupts import InterruptsHeld
from sklearn_ada.ledger.log.transaction import transact

__all__ = ["ChainedLedger"]

T = TypeVar("T")

_PAGE = 1000  # rows that `ChainedLedger.records` holds at a time


class ChainedLedger(Ledger[State]):
    """A ledger of rows behind a `Connection` (see `Ledger` for what is promised).

    Parameters
    ----------
    address : str
        Where the rows are.
    genesis : dict
        The genesis record that the ledger must have.
    start : callable
        Takes the genesis and returns the state before any record.
    """

    _holds_interrupts = True
    _mode = ""  # tells connections apart that differ in what they may do

    def __init__(
        self, address: str, genesis: dict[str, Any], start: Callable[[dict[str, Any]], State]
    ) -> None:
        self._address = address
        self.genesis = genesis
        self._start = start
        self._genesis_hash = genesis_row(genesis).hash

    @property
    @abstractmethod
    def name(self) -> str:
        """The address as messages show it."""

    @abstractmethod
    def _connect(self) -> Connection:
        """Open the storage, which must be there."""

    @abstractmethod
    def _translated(self) -> AbstractContextManager[object]:
        """Return a context that turns errors of the storage into ledger errors that say what to do."""

    def charge(self, key: str | None, decide: Callable[[State], dict[str, Any]]) -> Record:
        """Record ``decide(state)`` under ``key``, or return what is recorded there."""

        def recorded(connection: Connection) -> Record:
            connection.catch_up()
            found = None if key is None else connection.find("key", key)
            return connection.append(key, decide(connection.state)) if found is None else found

        return self._transact(recorded, write=True)

    def find_each(self, keys: Sequence[str], otherwise: Callable[[State], Any] | None = None) -> list[Record]:
        """Return the records under some keys; if there is none, call ``otherwise(state)``."""

        def looked_up(connection: Connection) -> tuple[list[Record], Any]:
            connection.catch_up()
            found = [connection.find("key", key) for key in keys]
            return [record for record in found if record is not None], connection.state

        with lock:
            records, state = self._transact(looked_up)
            if not records and otherwise is not None:
                otherwise(state)
        return records

    def find_subject(self, subject: str) -> Record | None:
        """Return the first record whose body has this ``"subject"``, if any."""

        def looked_up(connection: Connection) -> Record | None:
            connection.catch_up()
            return connection.find("subject", subject)

        return self._transact(looked_up)

    def read(self, look: Callable[[State], Seen]) -> Seen:
        """Return ``look(state)`` for the state of all records so far."""
        with lock:
            return look(self._transact(_caught_up).state)

    def records(self) -> Iterator[Record]:
        """Return all records from the genesis on, verified against the chain and the head."""
        seq, digest = -1, ""
        end = (0, self._genesis_hash)
        while seq < end[0]:
            # No transaction is held while the caller looks.
            end, rows = self._transact(functools.partial(_page, first=seq + 1))
            for row, body in continued(rows, seq, digest, self.name):
                yield Record(row.seq, row.key, body)
                seq, digest = row.seq, row.hash
            if not rows:
                break
        if (seq, digest) != end:
            raise damage(self.name, f"record {seq + 1} is missing or differs from what was read before")

    def verify(self) -> int:
        """Read all records anew, verify them and fold them, and return how many there are."""
        with lock:
            with self._held(), self._translated():
                self._connection().forget()
                self._connection().verified_secret()
            return self._transact(_caught_up).reached[0] + 1

    def record(self, seq: int) -> Record | None:
        """Return the record of this number, if there is one, without reading the others."""
        return self._transact(functools.partial(_numbered, seq=seq))

    def tail(self, size: int) -> tuple[Head, list[Record]]:
        """Return the head, and so many of the last records, verified against it."""
        (count, digest), records = self._transact(functools.partial(_tail, size=size, name=self.name))
        return Head.of(count - 1, digest, self._genesis_hash), records

    def head(self) -> str:
        """Return how far the ledger goes, as a line of text to keep: see `check_head`."""
        return str(Head.of(*self._transact(_caught_up).reached, self._genesis_hash))

    def check_head(self, head: str) -> None:
        """Raise unless the ledger continues one that had this head (see `Ledger`)."""
        kept = parse_head(head)

        def looked_up(connection: Connection) -> tuple[tuple[int, str], Row | None]:
            connection.catch_up()
            return connection.reached, connection.row(kept.count - 1)

        reached, row = self._transact(looked_up)
        now = Head.of(*reached, self._genesis_hash)
        contradiction = head_contradiction(self.name, now, kept, row.hash if row else None)
        if contradiction is not None:
            raise contradiction

    def secret(self) -> bytes:
        """Return the ledger's secret."""
        with lock, self._held(), self._translated():
            return self._connection().secret()

    def _transact(self, task: Callable[[Connection], T], write: bool = False) -> T:
        """Return ``task(connection)``, done in a transaction."""
        with lock, self._held(), self._translated():
            return transact(self._connection(), write, task)

    def _held(self) -> AbstractContextManager[None]:
        return InterruptsHeld() if self._holds_interrupts else contextlib.nullcontext()

    def _connection(self) -> Connection:
        return connection_to(self._address, self._genesis_hash, self._connect, self._mode)

    def __copy__(self) -> ChainedLedger[State]:
        return self

    def __deepcopy__(self, memo: object) -> ChainedLedger[State]:
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, genesis {self._genesis_hash[:8]})"


def _caught_up(connection: Connection) -> Connection:
    connection.catch_up()
    return connection


def _page(connection: Connection, first: int) -> tuple[tuple[int, str], list[Row]]:
    """Return how far the ledger goes, and a page of rows."""
    connection.catch_up()
    return connection.reached, list(connection.rows(first, first + _PAGE - 1))


def _numbered(connection: Connection, seq: int) -> Record | None:
    connection.catch_up()
    return connection.record(seq)


def _tail(connection: Connection, size: int, name: str) -> tuple[tuple[int, str], list[Record]]:
    head = connection.head()
    if head is None or type(head[0]) is not int:
        raise damage(name, "its head is missing, or no number")
    first = max(head[0] - max(size, 1), 0)
    rows = list(connection.rows(max(first - 1, 0), head[0]))
    before = rows.pop(0) if first and rows else None
    seq, digest = (-1, "") if before is None else (before.seq, before.hash)
    records = [Record(row.seq, row.key, body) for row, body in continued(rows, seq, digest, name)]
    if not rows or seq != first - 1 or (rows[-1].seq + 1, rows[-1].hash) != tuple(head):
        raise damage(name, "its head does not match its last record")
    return (head[0], head[1]), records
