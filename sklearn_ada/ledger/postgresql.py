"""A ledger as a book in a PostgreSQL database, for workers on several machines.

SQLAlchemy is imported where a database is opened, not before.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from sklearn_ada.exceptions import LedgerUnavailableError
from sklearn_ada.ledger.addresses import URL
from sklearn_ada.ledger.hash_chain import Record, State, StoredRecord, parse_json
from sklearn_ada.ledger.transactions import (
    Address,
    Beginning,
    ChainedLedger,
    CommitLostError,
    Connection,
    opened,
)

if TYPE_CHECKING:
    from sklearn_ada.ledger.sql_connection import DatabasePlace


class SQLLedger(ChainedLedger[State]):
    """A ledger kept in a PostgreSQL database (see `Ledger`).

    Use `create_or_open`. Two tables are made in one schema and found nowhere else; ``?book=NAME`` in the URL
    lets several holdouts share them. The handle can be pickled, and carries the URL with its password, if
    there is one: better leave it to ``PGPASSWORD`` or a ``.pgpass`` file on every machine.

    Parameters
    ----------
    url : str
        ``postgresql://user@host/database``, with ``?book=NAME`` for another book than "default" and
        ``&schema=NAME`` for another schema than "public". The driver is psycopg 3 unless another one is
        named.
    genesis : dict
        The genesis record that the book must have.
    start : callable
        Takes the genesis and returns the state before any record.
    """

    scheme = URL
    _holds_interrupts = False  # a server may be slow, and its driver ends cleanly what is interrupted

    def charge(self, key: str | None, decide: Callable[[State], dict[str, Any]]) -> Record:
        """Record ``decide(state)`` under ``key``, or return what is recorded there.

        If the connection is lost while the record is being committed, a new one is asked whether it stands.
        """
        try:
            return super().charge(key, decide)
        except CommitLostError as lost:
            stored: StoredRecord = lost.args[0]
        try:
            # As the only writer, so that it waits for the end of the lost transaction.
            found = self._transact(lambda connection: connection.stored(stored.seq) == stored, write=True)
        except LedgerUnavailableError as error:
            raise LedgerUnavailableError(
                f"The connection to the ledger {self.name!r} was lost while a record was being committed, "
                "and it is not known whether it stands. Nothing was answered; ask again when the server is "
                "back: what was recorded is returned and not charged twice."
            ) from error
        if not found:
            raise LedgerUnavailableError(
                f"The connection to the ledger {self.name!r} was lost before the record was committed. "
                "Nothing was charged or answered; ask again."
            )
        return Record(stored.seq, stored.key, parse_json(stored.text), fresh=True)

    @classmethod
    def _place_of(cls, address: Address) -> str:
        url = os.fspath(address)
        _place_at(url)
        return url

    @classmethod
    def _shown(cls, place: str) -> str:
        """Return the URL without its password."""
        return _place_at(place).name

    @classmethod
    def _where(cls, place: str) -> str:
        """Return host, database, schema and book, those of the environment, too."""
        return ", ".join(f"{name} {value}" for name, value in _place_at(place).means.items())

    @classmethod
    def _identity_of(cls, place: str) -> str:
        return repr(sorted(_place_at(place).means.items()))

    @classmethod
    def _instead_of(cls, place: str) -> str:
        return "another book (...?book=NAME)"

    @classmethod
    def _begun(cls, place: str, first: Callable[[], StoredRecord], secret: bytes) -> Beginning:
        at = _place_at(place)
        if cls._identity_of(place) not in opened:
            at.create_book(first, secret)
        return Beginning(*at.read_book())

    @classmethod
    def _genesis_at(cls, place: str) -> dict[str, Any]:
        return _place_at(place).read_book()[0]

    def copies(self) -> list[str]:
        """Return the names of books in the same tables that begin with the same record."""
        return self._guarded(self._address, lambda: _place_at(self._address).copies(self._genesis_hash))

    def _connect(self) -> Connection:
        from sklearn_ada.ledger.sql_connection import SQLConnection

        return SQLConnection(self, _place_at(self._address))

    @classmethod
    def _explain(cls, place: str, error: Exception) -> None:
        _place_at(place).explain(error)


@cache
def _place_at(url: str) -> DatabasePlace:
    """Return the place that a URL leads to, or say what to install for it."""
    try:
        from sklearn_ada.ledger.sql_connection import DatabasePlace
    except ImportError as error:
        raise LedgerUnavailableError(
            f'A ledger in a database needs two packages: pip install sqlalchemy "psycopg[binary]" ({error}).'
        ) from error
    return DatabasePlace(url)
