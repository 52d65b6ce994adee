"""The contract of a ledger backend."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from sklearn_ada.ledger.log.head import Head, parse_head

__all__ = ["Fold", "Ledger", "Record", "Seen", "State"]


class Fold(Protocol):
    """A state that advances record by record."""

    def advance(self, body: dict[str, Any]) -> None:
        """Take one more record into account."""


State = TypeVar("State", bound=Fold)
Seen = TypeVar("Seen")


@dataclass(frozen=True)
class Record:
    """One record as it stands in the ledger.

    Attributes
    ----------
    seq : int
        Position; 0 is the genesis.
    key : str or None
        Identity of the question, unique in a ledger; None for records that can repeat.
    body : dict
        What happened.
    fresh : bool
        True if this call wrote it, False if it had been recorded before.
    """

    seq: int
    key: str | None
    body: dict[str, Any]
    fresh: bool = False


class Ledger(ABC, Generic[State]):
    """A durable, append-only, hash-chained log with one writer at a time.

    A backend must keep these promises; the conformance tests check each of them.

    1. `charge` serialises all askers, in all threads and processes: ``decide`` sees the state of every
       record before its own, and no other.
    2. The record is durable before `charge` returns. A crash may lose the answer, never the charge.
    3. One key has one record: charged again, it is returned as it was recorded and ``decide`` is not
       called.
    4. If anything goes wrong, a `LedgerError` is raised and nothing is charged. Where a connection broke
       during the commit and nobody can be asked, the error says that it is not known; charging the same key
       again then returns what was recorded.
    5. Every copy of a handle leads to the same ledger. It never creates one: only `create_or_open` does. A
       handle can be pickled, or refuses it because its ledger cannot leave the process.
    """

    genesis: dict[str, Any]

    @abstractmethod
    def charge(self, key: str | None, decide: Callable[[State], dict[str, Any]]) -> Record:
        """Record ``decide(state)`` under ``key``, or return what is recorded there.

        ``decide`` is a pure function of the state and of values fixed before; it runs inside the
        transaction. An exception that it raises leaves the ledger as it was.
        """

    def find(self, key: str, otherwise: Callable[[State], Any] | None = None) -> Record | None:
        """Return the record under ``key``; if there is none, call ``otherwise(state)`` and return None.

        The state is that of all records so far, as for `read`.
        """
        return next(iter(self.find_each([key], otherwise)), None)

    @abstractmethod
    def find_each(self, keys: Sequence[str], otherwise: Callable[[State], Any] | None = None) -> list[Record]:
        """Return the records that there are under some keys at one moment, in the order of the keys.

        If there is none of them, call ``otherwise(state)``, as `find` does.
        """

    @abstractmethod
    def find_subject(self, subject: str) -> Record | None:
        """Return the first record whose body has this ``"subject"``, if any."""

    @abstractmethod
    def read(self, look: Callable[[State], Seen]) -> Seen:
        """Return ``look(state)`` for the state of all records so far."""

    @abstractmethod
    def records(self) -> Iterator[Record]:
        """Return all records from the genesis on, verified."""

    def verify(self) -> int:
        """Read all records anew, verify them and fold them, and return how many there are."""
        return sum(1 for _ in self.records())

    def record(self, seq: int) -> Record | None:
        """Return the record of this number, if there is one; backends do not read the others for it."""
        return next((record for record in self.records() if record.seq == seq), None)

    def tail(self, size: int) -> tuple[Head, list[Record]]:
        """Return the head, and so many of the last records, verified against it.

        Backends do not read those before them, not even if this process reads the ledger for the first time.
        """
        records = list(self.records())
        return parse_head(self.head()), records[max(len(records) - size, 0) :]

    @abstractmethod
    def head(self) -> str:
        """Return how far the ledger goes, as a line of text to keep: see `check_head`."""

    @abstractmethod
    def check_head(self, head: str) -> None:
        """Raise unless the ledger continues one that had this head.

        Raises
        ------
        ValueError
            If it is not what `head` returns.
        LedgerMismatchError
            If it is the head of another ledger.
        LedgerDamagedError
            If this is an older copy, or if the two parted.
        """

    @abstractmethod
    def secret(self) -> bytes:
        """Return the ledger's secret, from which noise and partitions are derived."""
