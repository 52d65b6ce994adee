"""A ledger in the memory of one process."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NoReturn

from sklearn_ada.exceptions import LedgerUnavailableError
from sklearn_ada.ledger.hash_chain import State, StoredRecord, parse_json
from sklearn_ada.ledger.locations import works_for_another
from sklearn_ada.ledger.transactions import PAGE, Address, Beginning, ChainedLedger, Connection, Secret

_ELSEWHERE = (
    "A ledger in memory cannot leave its process, and no worker begins one: each would be a second budget. "
    "Use threads instead of processes; or, for rows that nobody has asked about, a file from the start "
    "(ledger='holdout.db', or ledger=None for a temporary one)."
)
_SCHEME = ":memory:"


class MemoryLedger(ChainedLedger[State]):
    """A ledger kept in memory, for one process and its threads (see `Ledger`).

    Nothing outlives the process. The handle refuses to be pickled and to be used in a forked child. The
    same name leads to the same ledger for as long as the process lives.

    Parameters
    ----------
    name : str
    genesis : dict
    start : callable
        Takes the genesis and returns the state before any record.
    """

    scheme = _SCHEME
    shorthand = _SCHEME

    @classmethod
    def address_for(cls, content: Callable[[], str], kind: str) -> str:
        """Return the name of this process's ledger for data of this digest."""
        return f"{_SCHEME}{kind}-{content()}" if kind else _SCHEME + content()

    @classmethod
    def addresses_of_kind(cls, kind: str) -> list[str]:
        """Return the names of this process's ledgers of a kind."""
        return sorted(name for name in _books if name.startswith(f"{_SCHEME}{kind}-") and _is_own(name))

    @classmethod
    def is_begun(cls, address: Address) -> bool:
        """Return whether this process has a ledger of this name."""
        return _is_own(os.fspath(address))

    @classmethod
    def is_temporary(cls, address: Address) -> bool:
        """Return True: a ledger is gone with this process."""
        return True

    @classmethod
    def note(cls, address: Address, ledger: Address) -> None:
        """Note another ledger of this process under a name."""
        _noted.add((os.getpid(), address, ledger))

    @classmethod
    def noted(cls, address: Address) -> list[str]:
        """Return the ledgers that were noted under a name, in order."""
        return sorted(os.fspath(own) for pid, of, own in _noted if (pid, of) == (os.getpid(), address))

    @classmethod
    def _shown(cls, place: str) -> str:
        return _SCHEME

    @classmethod
    def _where(cls, place: str) -> str:
        return "in the memory of this process"

    @classmethod
    def _instead_of(cls, place: str) -> None:
        return None

    @classmethod
    def _check_begun_here(cls, address: Address) -> None:
        if works_for_another():
            raise LedgerUnavailableError(_ELSEWHERE)

    @classmethod
    def _begun(cls, place: str, first: Callable[[], StoredRecord], secret: bytes) -> Beginning:
        if place not in _books:
            _books[place] = _Book(secret, first())
        return Beginning(cls._genesis_at(place), Secret(_own(place).secret))

    @classmethod
    def _genesis_at(cls, place: str) -> dict[str, Any]:
        return parse_json(_own(place).all_stored[0].text)

    def _connect(self) -> Connection:
        return _Memory(self)

    def __reduce__(self) -> NoReturn:
        raise LedgerUnavailableError(_ELSEWHERE)


class _Book:
    """The records of one ledger and the process that they belong to."""

    def __init__(self, secret: bytes, first: StoredRecord) -> None:
        self.secret = secret
        self.all_stored = [first]
        self.first: dict[tuple[str, str | None], int] = {}  # by key and by subject
        self.owner = os.getpid()


_books: dict[str, _Book] = {}
_noted: set[tuple[int, Address, Address]] = set()


def _is_own(name: str) -> bool:
    return name in _books and _books[name].owner == os.getpid()


def _own(name: str) -> _Book:
    """Return a book of this very process."""
    if not _is_own(name):
        raise LedgerUnavailableError(_ELSEWHERE)
    return _books[name]


class _Memory(Connection):
    """A book that is open (see `Connection`); the lock that all connections share keeps others out."""

    def __init__(self, ledger: MemoryLedger[Any]) -> None:
        self._book = _own(ledger._address)
        self._kept = len(self._book.all_stored)
        super().__init__(ledger)

    def begin(self, write: bool) -> None:
        """Remember what to go back to."""
        self._kept = len(self._book.all_stored)
        self.head = self._kept, self._book.all_stored[-1].hash

    def commit(self) -> None:
        """Keep all records."""
        self._kept = len(self._book.all_stored)

    def roll_back(self) -> None:
        """Drop the records that were added."""
        for stored in self._book.all_stored[self._kept :]:
            for column in (("key", stored.key), ("subject", stored.subject)):
                if self._book.first.get(column) == stored.seq:
                    del self._book.first[column]
        del self._book.all_stored[self._kept :]

    def page(self, first: int, last: int) -> list[StoredRecord]:
        """Return records in order."""
        first = max(first, 0)
        return self._book.all_stored[first : min(last + 1, first + PAGE)]

    def first_with(self, column: str, value: str) -> int | None:
        """Return the first record's number."""
        return self._book.first.get((column, value))

    def add(self, stored: StoredRecord) -> None:
        """Append the record."""
        self._book.all_stored.append(stored)
        for column in (("key", stored.key), ("subject", stored.subject)):
            self._book.first.setdefault(column, stored.seq)

    def read_secret(self) -> bytes:
        """Return the secret."""
        return self._book.secret
