"""What all backends have in common: everything but where the rows are."""

from __future__ import annotations

import contextlib
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from sklearn_ada.ledger._chain import continued, damage, genesis_row
from sklearn_ada.ledger._connection import Connection, Transaction, connection_to, lock
from sklearn_ada.ledger._contract import Ledger, Record, State

__all__ = ["ChainedLedger"]


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
        with self._transaction(write=True) as connection:
            connection.catch_up()
            found = None if key is None else connection.find("key", key)
            return connection.append(key, decide(connection.state)) if found is None else found

    def find(self, key: str, otherwise: Callable[[State], Any] | None = None) -> Record | None:
        """Return the record under ``key``; if there is none, call ``otherwise(state)`` and return None."""
        with lock:
            with self._transaction(write=False) as connection:
                connection.catch_up()
                found = connection.find("key", key)
            if found is None and otherwise is not None:
                otherwise(connection.state)
        return found

    def find_subject(self, subject: str) -> Record | None:
        """Return the first record whose body has this ``"subject"``, if any."""
        with self._transaction(write=False) as connection:
            connection.catch_up()
            return connection.find("subject", subject)

    def read(self, look: Callable[[State], Any]) -> Any:
        """Return ``look(state)`` for the state of all records so far."""
        with lock:
            with self._transaction(write=False) as connection:
                connection.catch_up()
            return look(connection.state)

    def records(self) -> Iterator[Record]:
        """Return all records from the genesis on, verified against the chain and the head."""
        seq, digest = -1, ""
        end = (0, self._genesis_hash)
        while seq < end[0]:
            with self._transaction(write=False) as connection:  # not held while the caller looks
                connection.catch_up()
                end = connection.reached
                rows = list(connection.rows(seq + 1, seq + _PAGE))
            for row, body in continued(rows, seq, digest, self.name):
                yield Record(row.seq, row.key, body)
                seq, digest = row.seq, row.hash
            if not rows:
                break
        if (seq, digest) != end:
            raise damage(self.name, f"record {seq + 1} is missing or differs from what was read before")

    def secret(self) -> bytes:
        """Return the ledger's secret."""
        with lock, self._translated():
            return self._connection().secret()

    @contextlib.contextmanager
    def _transaction(self, write: bool) -> Iterator[Connection]:
        with lock, self._translated(), Transaction(self._connection(), write) as connection:
            yield connection

    def _connection(self) -> Connection:
        return connection_to(self._address, self._genesis_hash, self._connect)

    def __copy__(self) -> ChainedLedger[State]:
        return self

    def __deepcopy__(self, memo: object) -> ChainedLedger[State]:
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, genesis {self._genesis_hash[:8]})"
