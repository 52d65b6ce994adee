"""A ledger as a book in a PostgreSQL database, for workers on several machines.

A ledger as a book in a PostgreSQL database, for workers on several machines.

SQLAlchemy is imported where a database is opened, not before.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, TypeGuard

from sklearn_ada.exceptions import LedgerUnavailableError
from sklearn_ada.ledger.hash_chain import Record, Row, State, check_schema, compare_genesis, parse_json
from sklearn_ada.ledger.transactions import ChainedLedger, CommitLostError, Connection, lock

if TYPE_CHECKING:
    from sklearn_ada.ledger.sql_session import Place


_opened: set[str] = set()  # books this process has used: one that vanishes is not begun again


def is_url(address: object) -> TypeGuard[str]:
    """Return whether an address leads to a database that can keep a ledger."""
    return isinstance(address, str) and re.match(r"postgres(ql)?(\+\w+)?://", address) is not None


class SQLLedger(ChainedLedger[State]):
    """A ledger kept in a PostgreSQL database (see `Ledger` for what is promised).

    Use `create_or_open`. Two tables are made in the database's default schema; ``?book=NAME`` in the URL
    lets several holdouts share them. The handle can be pickled, and carries the URL with its password, if
    there is one: better leave it to ``PGPASSWORD`` or a ``.pgpass`` file on every machine.

    Parameters
    ----------
    url : str
        ``postgresql://user@host/database``, with ``?book=NAME`` for another book than "default". The
        driver is psycopg 3 unless another one is named.
    genesis : dict
        The genesis record that the book must have.
    start : callable
        Takes the genesis and returns the state before any record.
    """

    _holds_interrupts = False  # a server may be slow, and its driver ends cleanly what is interrupted

    @classmethod
    def create_or_open(
        cls,
        url: str,
        genesis_from_secret: Callable[[bytes], dict[str, Any]],
        start: Callable[[dict[str, Any]], State],
        secret: bytes | None = None,
        of_found: Callable[[bytes, dict[str, Any]], dict[str, Any]] | None = None,
    ) -> SQLLedger[State]:
        """Open the book at ``url``, or begin it if there is none; parameters as for `SQLiteLedger`.

        Raises
        ------
        ValueError
            If this is not the URL of a PostgreSQL database.
        LedgerMismatchError
            If the book's genesis differs: another holdout, another split, another policy.
        LedgerUnavailableError
            If the server cannot be reached or used, or SQLAlchemy or its driver is missing.
        LedgerDamagedError
            If the book's records do not agree.
        """
        new_secret = os.urandom(32) if secret is None else secret
        place = _place_at(url)
        with lock, place.translated():
            if url not in _opened:
                place.create_book(new_secret, genesis_from_secret)
            stored, kept_secret = place.read_book()
        expected = genesis_from_secret(kept_secret) if of_found is None else of_found(kept_secret, stored)
        compare_genesis(stored, expected, place.name, "another book (...?book=NAME)")
        ledger = cls(url, expected, start)
        ledger.read(lambda state: None)  # replay now: damage should not wait for the first question
        _opened.add(url)
        return ledger

    @classmethod
    def open_existing(
        cls, url: str, start: Callable[[dict[str, Any]], State], replay: bool = True
    ) -> SQLLedger[State]:
        """Open a book under whatever genesis it has, to look at it; it must exist."""
        place = _place_at(url)
        with lock, place.translated():
            genesis, _ = place.read_book()
        check_schema(genesis, place.name)
        ledger = cls(url, genesis, start)
        if replay:
            ledger.read(lambda state: None)
        return ledger

    def charge(self, key: str | None, decide: Callable[[State], dict[str, Any]]) -> Record:
        """Record ``decide(state)`` under ``key``, or return what is recorded there.

        If the connection is lost while the record is being committed, a new one is asked whether it stands.
        """
        try:
            return super().charge(key, decide)
        except CommitLostError as lost:
            row: Row = lost.args[0]

        def stands(connection: Connection) -> bool:
            connection.catch_up()
            return connection.row(row.seq) == row

        try:
            found = self._transact(stands, write=True)  # waits for the end of the lost transaction
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
        return Record(row.seq, row.key, parse_json(row.text), fresh=True)

    @property
    def name(self) -> str:
        """The URL without its password."""
        return self._place().name

    def _connect(self) -> Connection:
        return self._place().session(self._genesis_hash, self._start)

    def _translated(self) -> AbstractContextManager[object]:
        return self._place().translated()

    def _place(self) -> Place:
        return _place_at(self._address)


def _place_at(url: str) -> Place:
    """Return the place that a URL leads to, or say how to get what that needs."""
    try:
        from sklearn_ada.ledger.sql_session import place_at
    except ImportError as error:
        raise LedgerUnavailableError(
            f'A ledger in a database needs SQLAlchemy and psycopg: pip install "sklearn-ada[sql]" ({error}).'
        ) from error
    return place_at(url)
