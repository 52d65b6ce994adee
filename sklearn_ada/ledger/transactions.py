"""Keep a ledger in some storage: transactions, what was read, and who may interrupt.

`ChainedLedger` is all of a backend but where the records are. It begins and opens ledgers, and does
everything in transactions of a `Connection`: one open ledger, as seen by one process, with the state of the
records read so far. State and storage change together or not at all.

Ctrl-C during a transaction waits until nothing is held and nothing is half done. An interrupt between two
steps of a charge could leave a lock with a traceback that a notebook keeps for hours, or a state that is
ahead of its records. The signal is remembered instead and delivered at the end of the transaction. Where
something long goes on, a wait for a lock or the replay of a long ledger, there are points at which nothing is
half done, and it is delivered there.

To add a backend is to write one module, a `ChainedLedger` with a ``scheme`` of its own and its `Connection`,
and to import it in `opening`. `sklearn_ada.testing.LedgerContract` checks what it must promise.
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
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import FrameType
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

from sklearn_ada.exceptions import LedgerError, LedgerMismatchError
from sklearn_ada.ledger.askers import Askers
from sklearn_ada.ledger.hash_chain import (
    UNREADABLE,
    Body,
    Head,
    Ledger,
    Part,
    Record,
    Start,
    State,
    StoredRecord,
    check_continues,
    check_format,
    compare_genesis,
    damage,
    next_stored,
    parse_head,
    parse_json,
    secret_digest,
    stored_genesis,
    vouched,
)

Address = str | os.PathLike[str]
T = TypeVar("T")

BACKENDS: list[type[ChainedLedger[Any]]] = []
"""Every backend that was imported."""

PAGE = 1000  # records that are held at a time
_BREATH = 1000  # records after which a long replay may be interrupted
_MOST_IDLE = 64  # more connections are closed, so that many holdouts in one process do not use up its files

# Held during every use of a connection, and across a fork, so that no child inherits an open transaction.
lock = threading.RLock()
_connections: dict[tuple[str, str], Connection] = {}
_seen: dict[tuple[str, str], tuple[int, str]] = {}  # how far each ledger was read: it must not fall behind
# Ledgers this process has used, with the hash of their genesis: one that vanishes is not begun again.
opened: dict[str, str] = {}
_uses = itertools.count()
_askers: dict[str, Askers] = {}  # by what all addresses of a ledger share
_abandoned: list[object] = []  # connections of a parent process: never used, never closed
_held: list[InterruptsHeld] = []  # of the main thread, the innermost last


def _after_fork_in_child() -> None:
    for connection in _connections.values():
        connection.abandon()
    for askers in _askers.values():
        askers.abandon()
    _abandoned.append((dict(_connections), dict(_askers)))
    _connections.clear()
    _askers.clear()
    lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=lock.acquire, after_in_parent=lock.release, after_in_child=_after_fork_in_child
    )


class Secret(bytes):
    """Hides octets from texts: a traceback with local variables, a debugger's list, a log."""

    def __repr__(self) -> str:
        return "Secret(...)"

    __str__ = __repr__


class Beginning(NamedTuple):
    """What a ledger began with: its genesis, its secret, and whether nothing was recorded since."""

    genesis: dict[str, Any]
    secret: Secret
    is_untouched: bool = False


class ChainedLedger(Ledger[State]):
    """A ledger of records behind a `Connection` (see `Ledger`).

    Parameters
    ----------
    address : str
        Where the records are.
    genesis : dict
        The genesis record that the ledger must have.
    start : callable
        Takes the genesis and returns the state before any record.
    """

    scheme: ClassVar[str]
    """A pattern that addresses of the backend begin with; the one whose pattern is empty takes all others."""
    shorthand: ClassVar[object] = NotImplemented
    """What a user gives for a ledger that goes with the data, if the backend has such."""

    _holds_interrupts: ClassVar[bool] = True
    _mode_of_looking: ClassVar[str] = ""  # of a connection that may not write
    _mode = ""  # tells connections apart that differ in what they may do

    def __init_subclass__(cls) -> None:
        if "scheme" in vars(cls):
            BACKENDS.append(cls)

    def __init__(self, address: str, genesis: Body, start: Start[State]) -> None:
        self._address = address
        self.genesis = genesis
        self._start = start
        self._genesis_hash = stored_genesis(genesis).hash

    @classmethod
    def create_or_open(
        cls,
        address: Address,
        genesis_from_secret: Callable[[bytes], Body],
        start: Start[State],
        secret: bytes | None = None,
        of_found: Callable[[bytes, Body], Body] | None = None,
    ) -> Self:
        """Open the ledger at an address, or begin it if there is none.

        Parameters
        ----------
        address : path-like or str
            A path, the URL of a database, or a name, whatever the backend takes.
        genesis_from_secret : callable
            Takes the ledger's secret and returns the genesis that the caller expects.
        start : callable
            Takes the genesis and returns the state before any record.
        secret : bytes or None
            The secret of a new ledger; by default 32 bytes from the operating system.
        of_found : callable or None
            Takes the secret and the genesis of a ledger that is there, and returns the genesis that the
            caller expects of such a one; by default what a new one would have.

        Raises
        ------
        ValueError
            If this cannot be an address.
        LedgerMismatchError
            If the genesis differs: another holdout, another split, another policy.
        LedgerUnavailableError
            If the ledger cannot be reached, read or written, where it lies cannot be relied upon, or what the
            backend needs is missing.
        LedgerDamagedError
            If it is not a ledger, or its records do not agree.
        """
        new_secret = Secret(os.urandom(32) if secret is None else secret)
        place = cls._place_of(address)

        def first() -> StoredRecord:
            cls._check_begun_here(address)
            return stored_genesis(genesis_from_secret(new_secret))

        stored, kept, is_untouched = cls._guarded(place, lambda: cls._begun(place, first, new_secret))
        check_format(stored, cls._shown(place))
        cls._check_met_before(place, stored_genesis(stored).hash)
        if of_found is not None:
            _started(start, stored, cls._shown(place))  # before what it says is taken over
        expected = genesis_from_secret(kept) if of_found is None else of_found(kept, stored)
        compare_genesis(stored, expected, cls._shown(place), cls._instead_of(place), is_untouched)
        ledger = cls(place, expected, start)
        ledger.read(lambda state: None)  # replay now: damage should not wait for the first question
        with lock:
            cls._check_met_before(place, ledger.digest)
            opened[cls._identity_of(place)] = ledger.digest
        return ledger

    @classmethod
    def open_existing(cls, address: Address, start: Start[State], replay: bool = True) -> Self:
        """Open a ledger under whatever genesis it has, to look at it; it must exist.

        Nothing is written, and a file may be one that can only be read. Without ``replay``, records are read
        when they are asked for, and what is wrong is found then.
        """
        place = cls._place_of(address)
        genesis = cls._guarded(place, lambda: cls._genesis_at(place))
        check_format(genesis, cls._shown(place))
        ledger = cls(place, genesis, start)
        ledger._mode = cls._mode_of_looking
        if replay:
            ledger.read(lambda state: None)
        return ledger

    @classmethod
    def address_for(cls, content: Callable[[], str], kind: str) -> str:
        """Return where the ledger is that goes with data of this digest: see `ledger_address`."""
        raise NotImplementedError

    @classmethod
    def addresses_of_kind(cls, kind: str) -> list[str]:
        """Return the addresses of this session's ledgers of a kind."""
        return []

    @classmethod
    def is_begun(cls, address: Address) -> bool:
        """Return whether there is a ledger at an address of this session's."""
        return False

    @classmethod
    def is_temporary(cls, address: Address) -> bool:
        """Return whether a ledger is gone with this session."""
        return False

    @classmethod
    def note(cls, address: Address, ledger: Address) -> None:
        """Note another ledger at an address of this session's."""
        raise NotImplementedError

    @classmethod
    def noted(cls, address: Address) -> list[str]:
        """Return the ledgers that were noted at an address, in order."""
        raise NotImplementedError

    @classmethod
    def _place_of(cls, address: Address) -> str:
        """Return an address in its canonical form, or refuse one that leads nowhere."""
        return os.fspath(address)

    @classmethod
    def _identity_of(cls, place: str) -> str:
        """Return what all addresses of one ledger share."""
        return place

    @classmethod
    @abstractmethod
    def _shown(cls, place: str) -> str:
        """Return an address as messages show it."""

    @classmethod
    def _where(cls, place: str) -> str:
        """Return an address in full, without a password."""
        return cls._shown(place)

    @classmethod
    def _check_met_before(cls, place: str, digest: str) -> None:
        """Raise LedgerMismatchError if this process has used another ledger at this place."""
        if opened.get(cls._identity_of(place), digest) != digest:
            raise LedgerMismatchError(
                f"The ledger {cls._shown(place)!r} is not the one that this process has used there: it was "
                "replaced, or begun again, which would be a fresh budget. Put back the one that was there."
            )

    @classmethod
    @abstractmethod
    def _instead_of(cls, place: str) -> str | None:
        """Return where another holdout could have a ledger, or None if nobody named this one."""

    @classmethod
    def _check_begun_here(cls, address: Address) -> None:
        """Refuse to begin a ledger in a process for which the address may be another place."""

    @classmethod
    @abstractmethod
    def _begun(cls, place: str, first: Callable[[], StoredRecord], secret: bytes) -> Beginning:
        """Begin the ledger unless it is there, and return what it began with."""

    @classmethod
    @abstractmethod
    def _genesis_at(cls, place: str) -> dict[str, Any]:
        """Return the genesis of a ledger, which must be there."""

    @abstractmethod
    def _connect(self) -> Connection:
        """Open the storage, which must be there."""

    @classmethod
    def _explain(cls, place: str, error: Exception) -> None:
        """Raise a ledger error that says what to do, for an error of the storage."""

    @property
    def name(self) -> str:
        """The address as messages show it."""
        return self._shown(self._address)

    @property
    def where(self) -> str:
        """The address in full, for whoever has to find it; without a password."""
        return self._where(self._address)

    @functools.cached_property
    def identity(self) -> str:
        """What all addresses of this very place share."""
        return self._identity_of(self._address)

    @property
    def digest(self) -> str:
        """The hash of its genesis, which no other ledger has; copies of this one do."""
        return self._genesis_hash

    def charge(self, key: str | None, decide: Callable[[State], dict[str, Any]]) -> Record:
        """Record ``decide(state)`` under ``key``, or return what is recorded there."""

        def recorded(connection: Connection) -> Record:
            found = None if key is None else connection.find("key", key)
            return found or connection.append(key, decide(connection.state))

        return self._transact(recorded, write=True)

    @property
    def askers(self) -> Askers:
        """Who has a question pending here; to be used inside a transaction."""
        if self.identity not in _askers:
            _askers[self.identity] = self._new_askers()
        return _askers[self.identity]

    def _new_askers(self) -> Askers:
        return Askers()

    def find_each(
        self,
        keys: Sequence[str],
        otherwise: Callable[[State], Any] | None = None,
        begin: Callable[[State, list[Record]], Body | None] | None = None,
    ) -> list[Record]:
        """Return the records under some keys; if there is none, call ``otherwise(state)``.

        With ``begin`` that happens in one transaction, in which also what ``begin(state, records)`` returns
        is recorded.
        """

        def found_or_begun(connection: Connection) -> list[Record]:
            each = [connection.find("key", key) for key in keys]
            records = [record for record in each if record is not None]
            if not records and otherwise is not None:
                otherwise(connection.state)
            assert begin is not None
            body = begin(connection.state, records)
            if body is not None:
                connection.append(None, body)
            return records

        if begin is not None:
            return self._transact(found_or_begun, write=True)
        with lock:
            state, found = self._transact(lambda c: (c.state, [c.find("key", key) for key in keys]))
            records = [record for record in found if record is not None]
            if not records and otherwise is not None:
                otherwise(state)
        return records

    def find_subject(self, subject: str) -> Record | None:
        """Return the first record whose body has this ``"subject"``, if any."""
        return self._transact(lambda connection: connection.find("subject", subject))

    def read(self, of_state: Callable[[State], Part]) -> Part:
        """Return ``of_state(state)`` for the state of all records so far."""
        with lock:
            return of_state(self._transact(lambda connection: connection.state))

    def records(self) -> Iterator[Record]:
        """Return all records from the genesis on, verified against the chain and the head."""

        def next_page(connection: Connection) -> tuple[tuple[int, str], list[StoredRecord]]:
            return connection.reached, connection.page(seq + 1, sys.maxsize)

        seq, digest = -1, ""
        end = (0, self._genesis_hash)
        while seq < end[0]:
            end, all_stored = self._transact(next_page)  # no transaction is held while the caller looks
            for stored, body in _continued(all_stored, seq, digest, self.name):
                yield Record(stored.seq, stored.key, body)
                seq, digest = stored.seq, stored.hash
            if not all_stored:
                break
        if (seq, digest) != end:
            raise damage(self.name, f"record {seq + 1} is missing or differs from what was read before")

    def verify(self) -> int:
        """Read all records anew, verify them and fold them, and return how many there are."""
        with lock:
            self._guarded(self._address, lambda: self._connection().forget())
            reached = self._transact(lambda connection: connection.reached)
            self._guarded(self._address, lambda: self._connection().verified_secret())
            return reached[0] + 1

    def record(self, seq: int) -> Record | None:
        """Return the record of this number, if there is one, without reading the others."""
        return self._transact(lambda connection: connection.record(seq))

    def tail(self, size: int) -> tuple[Head, list[Record]]:
        """Return the head, and so many of the last records, verified against it."""
        (count, digest), records = self._transact(lambda connection: connection.tail(size), catch_up=False)
        return Head.of(count - 1, digest, self._genesis_hash), records

    def head(self) -> str:
        """Return how far the ledger goes, as a line of text to keep: see `check_head`."""
        return str(Head.of(*self._transact(lambda connection: connection.reached), self._genesis_hash))

    def check_head(self, head: str) -> None:
        """Raise unless the ledger continues one that had this head (see `Ledger`)."""
        kept = parse_head(head)
        reached, stored = self._transact(lambda c: (c.reached, c.stored(kept.count - 1)))
        now = Head.of(*reached, self._genesis_hash)
        check_continues(self.name, now, kept, stored.hash if stored else None)

    def secret(self) -> bytes:
        """Return the ledger's secret."""
        return self._guarded(self._address, lambda: self._connection().secret())

    def _transact(self, task: Callable[[Connection], T], *, write: bool = False, catch_up: bool = True) -> T:
        """Return ``task(connection)``, done in a transaction, with all records in the state before it."""
        return self._guarded(self._address, lambda: self._connection().transact(task, write, catch_up))

    @classmethod
    def _guarded(cls, place: str, task: Callable[[], T]) -> T:
        """Return ``task()``, done alone in this process; errors of the storage say what to do."""
        with lock, InterruptsHeld() if cls._holds_interrupts else contextlib.nullcontext():
            try:
                return task()
            except Exception as error:
                cls._explain(place, error)
                raise

    def _connection(self) -> Connection:
        """Return this process's connection to the very ledger that was opened first, or refuse."""
        slot = (self._address + self._mode, self._genesis_hash)
        connection = _connections.get(slot)
        if connection is not None and connection.is_left:
            connection.clear_up()
            connection = _connections.get(slot)
        if connection is None:
            connection = self._connect()
            connection.slot = slot
            _connections[slot] = connection
        connection.used = next(_uses)
        _close_idle()
        if connection.in_use:
            raise LedgerError("A ledger cannot be charged or read from inside a charge of the same ledger.")
        connection.check_place()
        return connection

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, genesis {self._genesis_hash[:8]})"


def records_read(digest: str, ledger: ChainedLedger[Any] | None = None) -> int:
    """Return how many records this process has read of a ledger; at any place, or at one."""
    return max(
        (
            seq + 1
            for (address, own), (seq, _) in _seen.items()
            if own == digest and (ledger is None or address == ledger._address)
        ),
        default=0,
    )


def _close_idle() -> None:
    """Close the connections that were not used for longest; what was read of their ledgers is kept."""
    if len(_connections) > _MOST_IDLE:
        idle = [each for each in _connections.values() if not each.in_use]
        for connection in sorted(idle, key=lambda each: each.used)[:-_MOST_IDLE]:
            connection.forget()


class CommitLostError(Exception):
    """An error at COMMIT left open whether a record stands; the argument is that record."""


class Connection(ABC):
    """An open ledger, with the state of all its records so far.

    A backend stores records; what they mean, and that they hang together, is looked after here. Its `begin`
    sets `head`, and `changes` where it can.

    Parameters
    ----------
    ledger : ChainedLedger
        The first handle that led here.
    """

    head: tuple[int, str] | None = None
    """How many records there should be and the hash of the last, as the transaction found it, if it did."""
    changes = 0
    """How often the storage was changed before the transaction, modulo 2^32, where the backend can tell."""
    counts_records: ClassVar[bool] = False
    """Whether to add a record is one of the changes; any other change is looked into."""

    def __init__(self, ledger: ChainedLedger[Any]) -> None:
        self.name = name = ledger.name
        self._key = self.slot = (ledger._address, ledger._genesis_hash)
        stored = self.stored(0)
        if stored is None or stored.hash != ledger._genesis_hash or not vouched(stored, ""):
            raise LedgerMismatchError(
                f"The ledger {name!r} is not the one opened before: its genesis differs."
            )
        self._genesis = parse_json(stored.text)
        if stored.subject != self._genesis.get("subject"):  # no hash vouches for it
            raise damage(name, "its first record is not what was recorded")
        self.state = _started(ledger._start, self._genesis, name)
        self.reached = (0, stored.hash)  # number and hash of the last record that is in the state
        self._keys: set[str] = set()  # of these records: an index that misses one must not sell it again
        self._appended: tuple[int, str] | None = None
        self._is_checked = False
        self._edits: int | None = None  # when all was last found to be in order
        self._moving = False  # the state has taken in, or may have, what `reached` does not tell
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
    def page(self, first: int, last: int) -> list[StoredRecord]:
        """Return the records from ``first`` to ``last``, in order, or the first `PAGE` of them."""

    @abstractmethod
    def first_with(self, column: str, value: str) -> int | None:
        """Return the number of the first record whose "key" or "subject" is this."""

    @abstractmethod
    def add(self, stored: StoredRecord) -> None:
        """Write a record, and the head that goes with it."""

    @abstractmethod
    def read_secret(self) -> bytes:
        """Return the ledger's secret."""

    def check_place(self) -> None:  # noqa: B027 - most backends have nothing to check
        """Refuse if the storage is no longer at its address."""

    def abandon(self) -> None:  # noqa: B027 - most backends have nothing to do
        """Make sure that a forked child, which inherited this, cannot disturb its parent."""

    def forget(self) -> None:
        """Drop and close this connection; whoever needs the ledger next replays it."""
        if _connections.get(self.slot) is self:
            del _connections[self.slot]

    def transact(self, task: Callable[[Connection], T], write: bool, catch_up: bool) -> T:
        """Return ``task(self)``, done in a transaction, after catching up if wanted.

        Nothing is entered or left by a call, so that there is no moment at which an exception from outside,
        such as a signal's, finds a transaction that nobody ends. Should one come while another is dealt with,
        whoever uses the ledger next does the rest.
        """
        self.in_use = True
        try:
            self.begin(write)
            if catch_up:
                self.catch_up()
            result = task(self)
            self.commit()
            if self._appended is not None:
                self.reached = _seen[self._key] = self._appended
                self._appended = None
                self._moving = False
            self.in_use = False
            return result
        except BaseException:
            self.is_left = True  # until all is cleared away
            self.clear_up()
            raise

    def clear_up(self) -> None:
        """End a transaction that failed, and forget a state that may be ahead of it."""
        cleared = False
        try:
            self.roll_back()
            cleared = not self._moving
        finally:
            if not cleared:
                self.forget()
        self.in_use = self.is_left = False

    def catch_up(self) -> None:
        """Fold in what others recorded since, verifying the chain up to the head.

        Between two records an interrupt does no harm: what was taken in so far stays.
        """
        if not self._is_checked:
            self.check_whole()
            self._is_checked = True
        all_stored = self.all_stored(self.reached[0])
        last = next(all_stored, None)
        if last is None or (last.seq, last.hash) != self.reached:
            raise self._missing(self.reached[0])
        try:
            for stored, body in _continued(all_stored, *self.reached, self.name):
                self._moving = True
                self._note_key(stored)
                try:
                    self.state.advance(body)
                except UNREADABLE:
                    raise damage(self.name, f"record {stored.seq} cannot be read") from None
                self.reached = (stored.seq, stored.hash)
                self._moving = False
                if stored.seq % _BREATH == 0:
                    deliver_interrupt()
        finally:
            _seen[self._key] = self.reached
        if self.head != (self.reached[0] + 1, self.reached[1]):
            raise damage(self.name, "its head does not match its last record")
        edits = (self.changes - self.counts_records * self.reached[0]) % 2**32
        if self._edits not in (None, edits):
            self.verify_again()
        self._edits = edits

    def check_whole(self) -> None:
        """Refuse a ledger that lacks or hides what this process has read of it."""
        for before in self.page(-sys.maxsize, -1):
            raise damage(self.name, f"record {before.seq} is before the first")
        seq, digest = _seen.get(self._key, self.reached)
        stored = self.stored(seq)
        if stored is None or stored.hash != digest:
            raise self._missing(seq)

    def verify_again(self) -> None:
        """Refuse unless all records are those that were folded, and can be found."""
        reached = (-1, "")
        for stored, _ in _continued(self.all_stored(0), *reached, self.name):
            reached = (stored.seq, stored.hash)
            if stored.seq % _BREATH == 0:
                deliver_interrupt()
        if reached != self.reached:
            raise self._missing(self.reached[0])
        self.check_whole()

    def find(self, column: str, value: str) -> Record | None:
        """Return the first record with this key or subject, checked against its neighbours' hashes."""
        seq = self.first_with(column, value)
        found = None if seq is None else self._checked(seq)
        if found is None:
            return None
        stored, record = found
        if getattr(stored, column) != value:
            raise damage(self.name, f"record {seq} is not what was recorded")
        return record

    def record(self, seq: int) -> Record | None:
        """Return the record of this number, if there is one, checked against its neighbours' hashes."""
        if not 0 <= seq <= self.reached[0]:
            return None
        found = self._checked(seq)
        if found is None:
            raise damage(self.name, f"record {seq} is missing")
        return found[1]

    def tail(self, size: int) -> tuple[tuple[int, str], list[Record]]:
        """Return the head, and so many of the last records, verified against it."""
        if self.head is None or type(self.head[0]) is not int:
            raise damage(self.name, "its head is missing, or no number")
        count, digest = self.head
        first = max(count - max(size, 1), 0)
        all_stored = list(self.all_stored(max(first - 1, 0), count))
        before = all_stored.pop(0) if first and all_stored else None
        seq, previous = (-1, "") if before is None else (before.seq, before.hash)
        continued = _continued(all_stored, seq, previous, self.name)
        records = [Record(stored.seq, stored.key, body) for stored, body in continued]
        end = [(stored.seq + 1, stored.hash) for stored in all_stored[-1:]]
        if seq != first - 1 or end != [(count, digest)]:
            raise damage(self.name, "its head does not match its last record")
        return (count, digest), records

    def append(self, key: str | None, body: dict[str, Any]) -> Record:
        """Write a record and take it into the state; both are undone if the transaction fails."""
        stored = next_stored(*self.reached, key, body)
        self._moving = True
        self._note_key(stored)
        self.add(stored)
        record = Record(stored.seq, key, parse_json(stored.text), fresh=True)
        self.state.advance(record.body)
        self._appended = (stored.seq, stored.hash)
        return record

    def _note_key(self, stored: StoredRecord) -> None:
        """Refuse a record with the key of an earlier one, which whoever asks for the key would not find."""
        if stored.key in self._keys:
            raise damage(self.name, f"record {stored.seq} has the key of an earlier one, missed by an index")
        if stored.key is not None:
            self._keys.add(stored.key)

    def stored(self, seq: int) -> StoredRecord | None:
        """Return one record as it is stored."""
        return next(iter(self.page(seq, seq)), None)

    def all_stored(self, first: int, last: int = sys.maxsize) -> Iterator[StoredRecord]:
        """Yield the records from ``first`` to ``last``, in order."""
        while page := self.page(first, last):
            yield from page
            if len(page) < PAGE:
                return
            first = page[-1].seq + 1

    def secret(self) -> bytes:
        """Return the ledger's secret, read once; the genesis tells whether it is the one."""
        if self._secret is None:
            self._secret = self.verified_secret()
        return self._secret

    def verified_secret(self) -> bytes:
        """Return the secret as it is stored now, or refuse: the genesis tells whether it is the one."""
        secret = Secret(self.read_secret())
        if self._genesis.get("secret_digest", secret_digest(secret)) != secret_digest(secret):
            raise damage(self.name, "its secret is not the one it began with")
        return secret

    def _checked(self, seq: int) -> tuple[StoredRecord, Record] | None:
        all_stored = self.page(seq - 1, seq + 1)
        for before, stored in itertools.pairwise(all_stored):
            if not vouched(stored, before.hash):
                raise damage(self.name, f"record {stored.seq} does not continue the chain")
        mine = next((stored for stored in all_stored if stored.seq == seq), None)
        if mine is None:
            return None
        body = parse_json(mine.text)
        if mine.subject != body.get("subject") or (seq == self.reached[0] and mine.hash != self.reached[1]):
            raise damage(self.name, f"record {mine.seq} is not what was recorded")
        return mine, Record(mine.seq, mine.key, body)

    def _missing(self, seq: int) -> LedgerError:
        return damage(self.name, f"record {seq}, read before, is missing or differs")


def _started(start: Start[State], genesis: Body, name: str) -> State:
    """Return the state before any record, or refuse a genesis that cannot be read, without quoting it."""
    try:
        return start(genesis)
    except UNREADABLE as error:
        raise LedgerMismatchError(
            f"The ledger {name!r} has a first record that this release cannot read "
            f"({type(error).__name__}). Use the release of sklearn_ada that wrote it, or a newer one."
        ) from None


def _continued(
    all_stored: Iterable[StoredRecord], seq: int, digest: str, name: str
) -> Iterator[tuple[StoredRecord, dict[str, Any]]]:
    """Yield records with their bodies, raising at the first that breaks the chain.

    They follow record ``seq``, whose hash is ``digest``.
    """
    for stored in all_stored:
        body = parse_json(stored.text)
        if stored.seq != seq + 1 or not vouched(stored, digest) or stored.subject != body.get("subject"):
            raise damage(name, f"record {seq + 1} does not continue the chain")
        seq, digest = stored.seq, stored.hash
        yield stored, body


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
    """Return a handler; or the one before, if its block is over.

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
