"""A ledger in the memory of one process."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, NoReturn

from sklearn_ada.exceptions import LedgerUnavailableError
from sklearn_ada.ledger.hash_chain import Row, State, check_schema, compare_genesis, genesis_row, parse_json
from sklearn_ada.ledger.transactions import ChainedLedger, Connection, lock

_ELSEWHERE = (
    "A ledger in memory cannot leave its process: a copy would be a second budget. Use threads instead of "
    "processes; or, for rows that nobody has asked about, a file from the start (ledger='holdout.db', or "
    "ledger=None for a temporary one)."
)


class _Book:
    """The rows of one ledger and the process that they belong to."""

    def __init__(self, secret: bytes, first: Row) -> None:
        self.secret = secret
        self.rows = [first]
        self.first: dict[tuple[str, str | None], int] = {}  # by key and by subject
        self.owner = os.getpid()


_books: dict[str, _Book] = {}


class MemoryLedger(ChainedLedger[State]):
    """A ledger kept in memory, for one process and its threads (see `Ledger` for what is promised).

    Nothing outlives the process. The handle refuses to be pickled and to be used in a forked child. The
    same name leads to the same ledger for as long as the process lives.

    Parameters
    ----------
    name : str
    genesis : dict
    start : callable
        Takes the genesis and returns the state before any record.
    """

    @classmethod
    def create_or_open(
        cls,
        name: str,
        genesis_from_secret: Callable[[bytes], dict[str, Any]],
        start: Callable[[dict[str, Any]], State],
        secret: bytes | None = None,
        of_found: Callable[[bytes, dict[str, Any]], dict[str, Any]] | None = None,
    ) -> MemoryLedger[State]:
        """Open this process's ledger of that name, or begin it; parameters as for `SQLiteLedger`.

        Raises
        ------
        LedgerMismatchError
            If its genesis differs: another holdout, another split, another policy.
        LedgerUnavailableError
            If it belongs to the process that this one was forked from.
        """
        with lock:
            if name not in _books:
                secret = os.urandom(32) if secret is None else secret
                _books[name] = _Book(secret, genesis_row(genesis_from_secret(secret)))
            book = _own(name)
            stored, kept = parse_json(book.rows[0].text), book.secret
        expected = genesis_from_secret(kept) if of_found is None else of_found(kept, stored)
        compare_genesis(stored, expected, ":memory:", None)
        return cls(name, expected, start)

    @classmethod
    def open_existing(
        cls, name: str, start: Callable[[dict[str, Any]], State], replay: bool = True
    ) -> MemoryLedger[State]:
        """Open this process's ledger of that name under whatever genesis it has; it must be there."""
        with lock:
            stored = parse_json(_own(name).rows[0].text)
        check_schema(stored, ":memory:")
        return cls(name, stored, start)

    @staticmethod
    def names(beginning: str) -> list[str]:
        """Return the names of this process's ledgers that begin so."""
        return sorted(
            n for n, book in _books.items() if n.startswith(beginning) and book.owner == os.getpid()
        )

    @property
    def name(self) -> str:
        """What it was asked for by."""
        return ":memory:"

    def _connect(self) -> Connection:
        return _Memory(self._address, self._genesis_hash, self._start)

    def _translated(self) -> AbstractContextManager[object]:
        return contextlib.nullcontext()

    def __reduce__(self) -> NoReturn:
        raise LedgerUnavailableError(_ELSEWHERE)


class _Memory(Connection):
    """A book that is open (see `Connection`); the lock that all connections share keeps others out."""

    def __init__(self, name: str, genesis_hash: str, start: Callable[[dict[str, Any]], Any]) -> None:
        self._book = _own(name)
        self._kept = len(self._book.rows)
        super().__init__(name, ":memory:", genesis_hash, start)

    def begin(self, write: bool) -> None:
        """Remember what to go back to."""
        self._kept = len(self._book.rows)

    def commit(self) -> None:
        """Keep all rows."""
        self._kept = len(self._book.rows)

    def roll_back(self) -> None:
        """Drop the rows that were added."""
        for row in self._book.rows[self._kept :]:
            for known in (("key", row.key), ("subject", row.subject)):
                if self._book.first.get(known) == row.seq:
                    del self._book.first[known]
        del self._book.rows[self._kept :]

    def head(self) -> tuple[int, str]:
        """Return how many rows there are and the last one's hash."""
        return len(self._book.rows), self._book.rows[-1].hash

    def rows(self, first: int, last: int | None = None) -> Iterator[Row]:
        """Return rows in order."""
        return iter(self._book.rows[max(first, 0) : None if last is None else last + 1])

    def first_with(self, column: str, value: str) -> int | None:
        """Return the first row's number."""
        return self._book.first.get((column, value))

    def add(self, row: Row) -> None:
        """Append the row."""
        self._book.rows.append(row)
        for known in (("key", row.key), ("subject", row.subject)):
            self._book.first.setdefault(known, row.seq)

    def read_secret(self) -> bytes:
        """Return the secret."""
        return self._book.secret


def _own(name: str) -> _Book:
    """Return a book of this very process."""
    book = _books.get(name)
    if book is None or book.owner != os.getpid():
        raise LedgerUnavailableError(_ELSEWHERE)
    return book
