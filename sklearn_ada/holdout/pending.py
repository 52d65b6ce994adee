"""Charge a record, and the order in which it comes while questions are pending.

A question is *pending* from its beginning, in which it is found or admitted, to its record. What it costs
that one of several comes next, and the proof, stand in `sklearn_ada.accounting.arrivals`; here is who writes
down what:

- A lone asker writes nothing but its records. That it is pending others see in `sklearn_ada.ledger.askers`.
- Whoever begins while others are pending writes a `BeginRecord` in the transaction that finds or admits the
  question. From then on the log says how many are pending, and all that is recorded costs accordingly.
- Whoever comes while others are pending waits a moment for them. So those who look for milliseconds hardly
  ever meet, and pay nothing. How long one waited is time, as how long a model took: no event.
- Whatever else is recorded meanwhile costs what a beginning costs.
- A question that was begun and is not recorded, as its process has ended, is given up: by a `GivenUpRecord`
  of its own process or, at the latest, of whoever begins next when nobody is pending.

A round that looks together is one pending question, from its first beginning to its last record. **Candidates
of one search** are fixed when their round is opened, each with its share, so that their own order says
nothing of which they are: they are not pending towards each other, and cost what they cost one by one. Their
order is not priced either; that nobody makes a question of it is an assumption about workers, as is the time
that a model takes.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from sklearn_ada.accounting.arrivals import UNRECORDED
from sklearn_ada.exceptions import LedgerError
from sklearn_ada.holdout.records import BeginRecord, ConfirmationRecord, GivenUpRecord
from sklearn_ada.holdout.state import ANEW, PRICED_ARRIVALS, LedgerRecord, State
from sklearn_ada.ledger.askers import Askers
from sklearn_ada.ledger.hash_chain import Ledger, Record
from sklearn_ada.terms.policy import Asker

Result = TypeVar("Result")

PATIENCE = 0.25
"""Seconds for which a question waits for others that are pending, before it is begun beside them."""

_PAUSE = 0.004  # seconds between two looks at the others
_own = threading.local()  # how many questions of this thread are pending: it would wait for itself


def charge(
    ledger: Ledger[State],
    key: str | None,
    decide: Callable[[State], LedgerRecord],
    asking: Asking | None = None,
) -> Record:
    """Return the record of this key; if there is none, record what ``decide`` returns for the state.

    While questions are pending, what it tells that this record is the next is charged with it, and counts in
    the state that ``decide`` gets. ``asking`` is the question that it is the record of, if it is of one.
    What is no question's waits for a moment.
    """
    until = _until()

    def made(state: State) -> dict[str, Any]:
        if state.policy.format < PRICED_ARRIVALS:
            return decide(state).to_dict(state.policy.format)
        arrivals, own = state.arrivals, None if asking is None else asking.name_in(state)
        beside = ledger.askers.others(own is not None and own != ANEW)
        if beside and own is None and time.monotonic() < until:
            raise OthersPendingError
        nats = arrivals.nats_anew() if own == ANEW else arrivals.nats(own, beside)
        before = state.account.nats
        try:
            state.account.nats += nats
            record = decide(state)
        finally:
            state.account.nats = before
        ends = asking is not None and asking.ends_with(record)
        if nats or own in arrivals.pending:
            record = replace(record, arrival=[own, ends, nats])
        if asking is not None and ends:
            asking.leave()  # nobody sees it before the record
        return record.to_dict(state.policy.format)

    return _patiently(lambda: ledger.charge(key, made))


def _until() -> float:
    """Return until when others are waited for: not at all if this thread would wait for itself."""
    return time.monotonic() + (0.0 if getattr(_own, "count", 0) else PATIENCE)


def _patiently(act: Callable[[], Result]) -> Result:
    """Return ``act()``, done once it does not raise `OthersPendingError` any more."""
    while True:
        try:
            return act()
        except OthersPendingError:
            time.sleep(_PAUSE)


@contextlib.contextmanager
def pending(
    ledger: Ledger[State], asker: Asker, questions: int = 1, candidate_of: str | None = None
) -> Iterator[Asking]:
    """Return the asking of so many questions that look together; they are pending at most in the block."""
    asking = Asking(ledger, asker, questions, candidate_of)
    try:
        yield asking
    finally:
        asking.give_up()


class OthersPendingError(Exception):
    """Others are pending, and may be waited for."""


class Asking:
    """A question, or several that look together, from its beginning to its last record.

    Parameters
    ----------
    ledger : Ledger
    asker : Asker
    left : int
        How many questions are still to be answered.
    candidate_of : str or None
        The round whose candidates look in turn, if it is one of them: it is not pending while that is open.
    """

    def __init__(self, ledger: Ledger[State], asker: Asker, left: int, candidate_of: str | None) -> None:
        self._ledger, self._asker, self._left, self._round = ledger, asker, left, candidate_of
        self._name = UNRECORDED
        self._askers: Askers | None = None  # while it is pending
        self._lives = 0
        self._begun: tuple[float, ...] = ()

    def find(
        self, keys: Sequence[str], admit: Callable[[State], Any], needs_look: Callable[[list[Record]], bool]
    ) -> list[Record]:
        """Return the records under these keys, and begin if a look is needed.

        If there are none, call ``admit(state)``, in the same transaction.
        """
        until = _until()

        def otherwise(state: State) -> None:
            self._check_free(state, until)
            admit(state)

        def begin(state: State, records: list[Record]) -> dict[str, Any] | None:
            if not needs_look(records) or not self._is_to_begin(state):
                return None
            self._check_free(state, until)
            return self._begin(state)

        return _patiently(lambda: self._ledger.find_each(keys, otherwise, begin))

    def _is_to_begin(self, state: State) -> bool:
        priced = state.policy.format >= PRICED_ARRIVALS
        return priced and self._askers is None and state.still_open(self._round) is None

    def _check_free(self, state: State, until: float) -> None:
        """Raise OthersPendingError if others are pending, and time is left to wait for them."""
        if self._is_to_begin(state) and time.monotonic() < until and self._ledger.askers.others(False):
            raise OthersPendingError

    def _begin(self, state: State) -> dict[str, Any] | None:
        """Begin, inside a transaction that writes; return what is to be recorded of that, if anything."""
        askers, arrivals = self._ledger.askers, state.arrivals
        beside, stamp = askers.others(False), self._asker.stamp()
        askers.enter()
        _own.count = getattr(_own, "count", 0) + 1
        self._askers, self._lives, self._begun = askers, askers.lives, _reached(state)
        if not beside:
            names = list(arrivals.pending)
            return GivenUpRecord(names=names, **stamp).to_dict(state.policy.format) if names else None
        self._name = str(arrivals.begun + 1)
        arrival = [None, False, arrivals.nats(None, True)]
        return BeginRecord(name=self._name, arrival=arrival, **stamp).to_dict(state.policy.format)

    def name_in(self, state: State) -> str | None:
        """Return its name as a pending question; None before its beginning.

        If others may not have seen it (a connection was lost, or this process was forked from the one in
        which it was begun) and something was recorded since, it is `ANEW`.
        """
        if self._askers is None:
            return None
        is_seen = self._askers is self._ledger.askers and self._lives == self._askers.lives
        return self._name if is_seen or self._begun == _reached(state) else ANEW

    def ends_with(self, record: LedgerRecord) -> bool:
        """Count a record, and return whether it is the last."""
        if isinstance(record, ConfirmationRecord) and record.same_as is None:
            return False  # an answer follows
        self._left -= 1
        return self._left <= 0

    def leave(self) -> None:
        """End it, for all to see; in a forked child, what is the parent's stays."""
        askers, self._askers = self._askers, None
        _own.count = getattr(_own, "count", 0) - (askers is not None)
        if askers is not None and askers is self._ledger.askers:
            askers.leave()

    def give_up(self) -> None:
        """End it if it is pending still; recorded where records name it."""
        if self._askers is None or self._askers is not self._ledger.askers:
            return
        try:
            if self._ledger.read(lambda state: self._name in state.arrivals.pending):
                self._left, made = 1, GivenUpRecord(names=[self._name], **self._asker.stamp())
                charge(self._ledger, None, lambda state: made, self)
        except LedgerError:  # whoever begins when nobody is pending gives it up
            pass
        finally:
            self.leave()


def _reached(state: State) -> tuple[float, ...]:
    """Return what changes with every record."""
    return state.account.nats, float(state.arrivals.alone), float(state.arrivals.others)
