"""Ctrl-C during a transaction waits until nothing is held and nothing is half done.

An interrupt between two steps of a charge could leave a lock with a traceback that a notebook keeps for
hours, or a state that is ahead of its records. The signal is remembered instead and delivered at the end of
the transaction. Where something long goes on, a wait for a lock or the replay of a long ledger, there
are points at which nothing is half done, and it is delivered there.

One ledger as seen by one process: its open storage, its transactions, and what was read so far.

Begin, do, commit; or roll back. The state in memory and the storage change together or not at all.

What all backends have in common: everything but where the rows are.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import signal
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from types import FrameType
from typing import Any, TypeVar

from sklearn_ada.exceptions import LedgerError, LedgerMismatchError
from sklearn_ada.ledger.hash_chain import (
    Head,
    Ledger,
    Record,
    Row,
    Seen,
    State,
    continued,
    damage,
    genesis_row,
    head_contradiction,
    next_row,
    parse_head,
    parse_json,
    secret_digest,
    vouched,
)

_held: list[InterruptsHeld] = []  # of the main thread, the innermost last


class InterruptsHeld:
    """A block in which SIGINT is remembered, and after which it is delivered.

    Signals reach the main thread only; elsewhere there is nothing to hold. What was to become of the signal
    decides whoever set the handler that is found at the beginning of the block.
    """

    def __init__(self) -> None:
        self._before: Any = None
        self._signalled = False
        self._frame: FrameType | None = None

    def __enter__(self) -> None:
        before = _live(signal.getsignal(signal.SIGINT))
        in_main = threading.current_thread() is threading.main_thread()
        if in_main and before is not None and before is not signal.SIG_IGN:
            self._before = before
            self._frame = sys._getframe(1)
            signal.signal(signal.SIGINT, self._remember)
            _held.append(self)

    def __exit__(self, *raised: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._frame = None
            _held.remove(self)
            self.deliver()

    def _remember(self, number: int, frame: FrameType | None) -> None:
        self._signalled = True

    def deliver(self) -> None:
        """Do what the signal was to do, if one has come."""
        if self._signalled:
            self._signalled = False
            if callable(self._before):
                self._before(signal.SIGINT, None)
            else:  # the system's own
                signal.signal(signal.SIGINT, self._before)
                signal.raise_signal(signal.SIGINT)


def _live(handler: Any) -> Any:
    """Return a handler, or the one before it if it belongs to a block that is over.

    What the handler of another signal raises may come just before a block puts things back.
    """
    while isinstance(owner := getattr(handler, "__self__", None), InterruptsHeld):
        frame: FrameType | None = sys._getframe()
        while frame is not None and frame is not owner._frame:
            frame = frame.f_back
        if frame is not None:
            return handler
        if owner in _held:
            _held.remove(owner)
        handler = owner._before
    return handler


def deliver_interrupt() -> None:
    """Deliver an interrupt that is held: nothing is half done here."""
    if _held and threading.current_thread() is threading.main_thread():
        _held[-1].deliver()


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


T = TypeVar("T")


def transact(connection: Connection, write: bool, task: Callable[[Connection], T]) -> T:
    """Return ``task(connection)``, done in a transaction.

    Nothing is entered or left by a call, so that there is no moment at which an exception from outside, such
    as a signal's, finds a transaction that nobody ends. Should one come while another is dealt with,
    whoever uses the ledger next does the rest.

    Parameters
    ----------
    connection : Connection
    write : bool
        Whether to be the only writer.
    task : callable
    """
    connection.in_use = True
    try:
        connection.begin(write)
        result = task(connection)
        connection.commit()
        connection.committed()
        connection.in_use = False
        return result
    except BaseException:
        connection.is_left = True  # until all is cleared away
        connection.clear_up()
        raise


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
