"""The session of a holdout: its rows, policy, open ledger and asker, and what guards a look at the rows.

**One look.** A model predicts the holdout's rows; whatever it raises there is an outcome with a price.

**Signals wait** until what was seen of the holdout is recorded. An interrupt between the look at the holdout
and the commit would leave an answer that was computed and is recorded nowhere; an alarm or a request to
terminate would be recorded as a failure of the model. So such signals are held back for that long and then
delivered; they cost no nats. A ``KeyboardInterrupt`` that a model or a metric raises itself may depend on the
holdout's rows: it is recorded and paid for as a failure, and then raised again without its message.

Not covered: a model that sends a signal to its own process, or ends it, can reveal something without paying,
as it can by the time that it takes. Its signal looks like the user's.

**Errors are bare**: those that are raised after a look carry no frame that holds what was seen. A traceback
keeps the local variables of all functions that an error came through. If the charge fails after the look (the
ledger is gone, the question is refused after all, Ctrl-C), they would hold values that nobody has paid for,
in reach of debuggers, of notebooks (``%debug``) and of tools that report errors with variables.

**Closing a round**: its sealed answers get the intervals of the transcript theorem. The theorem wants answers
to be coded in an order that the rows do not decide, and workers record theirs as they come: with 300 coins,
recorded in the order of their scores, every conversation had a miss. So

- all answers of a round have one code and one urn, whose total is the same in whatever order they come
  (`sklearn_ada.questions.sealed`): a round is one answer of many symbols;
- no answer of it is certified by the transcript until it is closed, and then all are at the L of that moment,
  which is at least what each of them would have in any order.

Until then description length speaks alone, with the L from before the round and a G-th of its stake.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import inspect
import os
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from numbers import Integral
from types import FrameType
from typing import Any, TypeVar

from sklearn_ada._notices import muted
from sklearn_ada._validation import bad_parameter
from sklearn_ada.accounting.events import FAILURES, Symbol
from sklearn_ada.answer import Answer
from sklearn_ada.data.labels import Subsamples
from sklearn_ada.exceptions import BudgetExhaustedError, LedgerError, LedgerUnavailableError
from sklearn_ada.guarantees.description_length import intersection
from sklearn_ada.guarantees.transcript import THEOREM
from sklearn_ada.holdout.records import (
    EVERY,
    CheckpointRecord,
    Key,
    RefusalRecord,
    RoundCloseRecord,
    RoundRecord,
    SealedRecord,
    ValueRecord,
    read_record,
)
from sklearn_ada.holdout.state import LedgerRecord, State
from sklearn_ada.ledger.hash_chain import Ledger, Record
from sklearn_ada.ledger.opening import is_of_session, open_ledger
from sklearn_ada.metrics.base import UndefinedMetricError
from sklearn_ada.metrics.outputs import UnusableOutputsError
from sklearn_ada.questions.question import Guess, LossCount
from sklearn_ada.questions.sealed import hidden, sealed_context
from sklearn_ada.terms.holdout_data import HoldoutData
from sklearn_ada.terms.outputs import Observation, OutputSummary
from sklearn_ada.terms.policy import Asker, Genesis, Policy
from sklearn_ada.terms.seal_key import check_library, sealed_for

Result = TypeVar("Result")

_NOT_HELD = {"SIGCHLD", "SIGCLD", "SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT", "SIGPROF", "SIGPIPE"}
_HELD = tuple(number for number in signal.valid_signals() if getattr(number, "name", "") not in _NOT_HELD)
_ENOUGH = 3  # Ctrl-C so many times gives the model up
_INTERRUPTED = b"""
Interrupted: the answer under way is recorded first. Interrupt twice more to give the model up, which then
has failed on the holdout.
"""
_FAILURE_OF = (
    (UnusableOutputsError, FAILURES[4]),  # it and the next are ValueErrors
    (UndefinedMetricError, FAILURES[5]),
    (ValueError, FAILURES[0]),
    (TypeError, FAILURES[1]),
    (MemoryError, FAILURES[2]),
)


@dataclass(frozen=True)
class Session:
    """The rows of a holdout under a policy, on an open ledger.

    Parameters
    ----------
    data : HoldoutData
    policy : Policy
    ledger : Ledger
    asker : Asker
    fingerprint : str
        Digest of the rows, keyed with the ledger's secret: nobody else can test it for a row.
    """

    data: HoldoutData
    policy: Policy
    ledger: Ledger[State]
    asker: Asker
    fingerprint: str

    @classmethod
    def open(
        cls,
        data: HoldoutData,
        policy: Policy,
        asker: Asker,
        *,
        address: str | os.PathLike[str],
        split: dict[str, Any] | None,
        random_state: int | None,
    ) -> Session:
        """Open or begin the ledger of some rows; see `Holdout` for the parameters.

        Rows with ids are compared with those of the ledger by `changes.as_edition`, and a ledger without a
        path is found by `finding.place_of_rows`.

        Raises
        ------
        ValueError
            If the policy cannot be kept on these rows, or random_state is no integer.
        LedgerError
            If the ledger cannot be used, or belongs to other rows or another policy.
        ImportError
            If it seals with a key, and the library for that is missing.
        """
        policy.check_rows(data)
        seed, durable = _secret_of(random_state), not is_of_session(address)

        def genesis(secret: bytes, found: dict[str, Any] | None = None) -> dict[str, Any]:
            decided = policy.of_found(found, durable=durable)
            return Genesis.of(data, decided, split or {}, secret, seed, found).body

        opened = open_ledger(address, genesis, State, secret=seed, of_found=genesis)
        begun = Genesis(opened.genesis)  # which was compared
        stored = begun.policy
        if stored.seal_key is not None:
            check_library()
        policy = replace(
            policy, answers=stored.answers, check_share=stored.check_share, seal_key=stored.seal_key
        )
        return cls(data, policy, opened, asker, begun.fingerprint)

    @property
    def genesis(self) -> Genesis:
        """What was fixed when the ledger was begun."""
        return Genesis(self.ledger.genesis)

    @property
    def secret(self) -> bytes:
        """The ledger's secret, from which noise and subsamples are drawn."""
        return self.ledger.secret()

    def sealing_key(self, key: str, secret: bytes) -> bytes:
        """Return the key that hides what one record keeps of a model's outputs (`outputs.OutputSummary`).

        It depends on the rows, as ledgers of other rows may have the same ``random_state``, and so the same
        ``secret``.
        """
        label = f"said {self.genesis.fingerprint} {key}"
        return hmac.new(secret, label.encode(), hashlib.sha256).digest()

    def sealed(self, point: int, key: str, secret: bytes) -> str:
        """Return what the record of this key keeps of a point: hidden, or encrypted for the holder.

        ``secret`` is the ledger's, which cannot be read inside a charge.
        """
        context, public = sealed_context(self.genesis.fingerprint, key), self.policy.seal_key
        return hidden(point, secret, context) if public is None else sealed_for(public, point, context)

    def partition(self, n_subsamples: int, *, stratify: bool) -> Subsamples:
        """Return the rows of disjoint subsamples, drawn from the secret."""
        return self.data.partition(self.secret, n_subsamples, stratify=stratify)

    def charge(self, key: str | None, decide: Callable[[State], LedgerRecord]) -> Record:
        """Return the record of this key; if there is none, record what ``decide`` returns for the state."""
        record = self.ledger.charge(key, lambda state: decide(state).to_dict())
        if record.fresh and record.seq % EVERY == 0:
            # The answer is recorded: where there is no room for a checkpoint, there is one less.
            with contextlib.suppress(LedgerUnavailableError):
                key = Key.checkpoint(record.seq)
                self.ledger.charge(key, lambda state: CheckpointRecord.of(state).to_dict())
        return record

    def recorded_answer(self, number: int) -> Answer | None:
        """Return the answer or refusal in this record; None if it holds none."""
        record = self.ledger.record(number)
        if record is None or not isinstance(read_record(record.body), ValueRecord | RefusalRecord):
            return None
        return self.answer_of(record)

    def answer_of(self, record: Record) -> Answer:
        """Return what a record of an answer or a refusal says now: narrower once its round is closed."""
        return as_closed(self.ledger, read_record(record.body)).answer(record, self.genesis)

    def guess_behind(self, answer: Answer) -> Guess:
        """Return the guess that an answer of this holdout was asked with."""
        record = self.ledger.record(answer.index)
        if record is None:
            raise LedgerError(f"The ledger has no record {answer.index}; ask the holdout that answered.")
        read = read_record(record.body)
        assert isinstance(read, ValueRecord)
        return Guess(**read.guess)

    def check_not_outgrown(self, state: State) -> None:
        """Raise BudgetExhaustedError if rows were added to the holdout since."""
        outgrown = state.outgrown(self.fingerprint)
        if outgrown is not None:
            raise BudgetExhaustedError(f"The holdout refused: {outgrown}.")

    def with_data(self, data: HoldoutData) -> Session:
        """Return the session of other rows on the same ledger."""
        return replace(self, data=data, fingerprint=data.fingerprint(self.secret, self.genesis.identity))


def _secret_of(random_state: object) -> bytes | None:
    if random_state is None:
        return None
    if not isinstance(random_state, Integral) or isinstance(random_state, bool):
        raise bad_parameter("random_state", "Holdout", "an integer or None", random_state)
    return hashlib.sha256(f"sklearn_ada random_state {int(random_state)}".encode()).digest()


Evaluate = Callable[[Any, HoldoutData], Observation]


def look(
    evaluate: Evaluate, discarded: Any, data: HoldoutData, interrupts: Interrupts, stream: str, scale: float
) -> Observation:
    """Return ``evaluate(discarded, data)`` or, if that raises, the symbols of the failure.

    A failure may depend on the holdout's rows, so it is recorded and paid for like any other outcome. So is a
    ``KeyboardInterrupt`` that the model raises itself, which `held_interrupts` raises again in the end.
    Warnings raised on the way may quote holdout values and are dropped; where a filter turns them into
    errors, the model has failed.
    """
    try:
        with muted():
            try:
                interrupts.looking = True
                return evaluate(discarded, data)
            finally:
                interrupts.looking = False
    except BaseException as error:  # whatever a model raises on the holdout has a price, SystemExit too
        interrupts.looking = False
        # type(error) and not isinstance: an error may have a ``__class__`` that raises another error.
        reason = next((text for kind, text in _FAILURE_OF if issubclass(type(error), kind)), None)
        if reason is not None:
            symbols: tuple[Symbol, ...] = (Symbol(stream, reason, scale),)
        else:
            is_interrupt = issubclass(type(error), KeyboardInterrupt)
            interrupts.raised |= is_interrupt
            symbols = another_error(stream, scale, is_interrupt=is_interrupt)
        return Observation(symbols, OutputSummary.of(symbols))


def another_error(stream: str, scale: float, *, is_interrupt: bool) -> tuple[Symbol, ...]:
    """Return the symbols of an error whose type has no symbol.

    The asker can tell whether it was an interrupt, which is raised again. That is one of two outcomes, so a
    second symbol always follows the first, for ln 2 nats.
    """
    return (Symbol(stream, FAILURES[3], scale), Symbol("index", int(is_interrupt), 2.0))


@contextlib.contextmanager
def held_interrupts() -> Iterator[Interrupts]:
    """Hold signals back during the block, then deliver them.

    A signal that no Python function handles is not held back: it is ignored, or ends the process.
    """
    interrupts = Interrupts()
    try:
        interrupts.begin()
        yield interrupts
    finally:
        interrupts.end()
    if interrupts.raised:
        raise KeyboardInterrupt


class Interrupts:
    """The signals that came while they were held back.

    Attributes
    ----------
    raised : bool
        Whether the model or the metric raised a ``KeyboardInterrupt`` itself.
    looking : bool
        Whether a model is predicting, which may be given up.
    """

    def __init__(self) -> None:
        self.raised = self.looking = False
        self._signals: list[int] = []
        self._before: dict[int, Callable[[int, FrameType | None], Any]] = {}
        self._times = 0  # that Ctrl-C was pressed
        self._process, self._is_over = os.getpid(), False

    def begin(self) -> None:
        """Hold back every signal that a Python function handles. Only the main thread gets signals."""
        if threading.current_thread() is not threading.main_thread():
            return
        for number in _HELD:
            handler = signal.getsignal(number)
            if callable(handler):
                self._before[int(number)] = handler
                signal.signal(number, self._hold)

    def end(self) -> None:
        """Put all handlers back, then call each whose signal came, even if one raises."""
        self._is_over = True
        with contextlib.ExitStack() as last_first:
            for number in reversed(self._signals):
                last_first.callback(self._before[number], number, inspect.currentframe())
            for number, handler in self._before.items():
                last_first.callback(signal.signal, number, handler)

    def _hold(self, number: int, frame: FrameType | None) -> None:
        """Remember a signal. If signals are no longer held back, or in a forked child, handle it at once."""
        if self._is_over or os.getpid() != self._process:
            self._before[number](number, frame)
            return
        if number not in self._signals:
            self._signals.append(number)
        if number == signal.SIGINT:
            self._times += 1
            if self._times == 1:
                with contextlib.suppress(OSError):
                    os.write(2, _INTERRUPTED)
            elif self._times >= _ENOUGH and self.looking:
                raise KeyboardInterrupt


def with_bare_errors(look_and_charge: Callable[[], Result]) -> Result:
    """Return ``look_and_charge()``; what it raises is raised without its traceback, cause and context.

    What is seen of the holdout must be local to that function, not to one around it.
    """
    bare: BaseException
    try:
        return look_and_charge()
    except BaseException as error:
        bare = error.with_traceback(None)
        bare.__cause__ = bare.__context__ = None
    try:
        raise bare  # out of the handler, so that it gets no context
    finally:
        del bare  # or this frame and the error would refer to each other


def close_round(ledger: Ledger[State], asker: Asker, round_name: str) -> None:
    """Close a round, once; nothing where answers are exact, or if there is none of several questions."""
    found = ledger.find(Key.round(round_name))
    begun = None if found is None else RoundRecord.from_dict(found.body)
    if begun is None or begun.purse is None or begun.size == 1:
        return
    key, stamp = Key.round_close(round_name), {"name": round_name, **asker.stamp()}
    ledger.charge(key, lambda state: RoundCloseRecord(nats=state.account.nats, **stamp).to_dict())


def as_closed(
    ledger: Ledger[State], read: LedgerRecord | None, closed: dict[str, float] | None = None
) -> ValueRecord | RefusalRecord:
    """Return what a record answers, with its interval once its round is closed.

    Parameters
    ----------
    ledger : Ledger
    read : ValueRecord or RefusalRecord
    closed : dict or None, default=None
        The nats at which each round was closed, where they were read; None looks for them.
    """
    assert isinstance(read, ValueRecord | RefusalRecord)
    if not isinstance(read, SealedRecord) or read.round_name is None or read.sealed is None:
        return read
    name = read.round_name
    if closed is None:
        found = ledger.find(Key.round_close(name))
        closed = {} if found is None else {name: RoundCloseRecord.from_dict(found.body).nats}
    if name not in closed:
        return read
    outcome, statistic = read.outcome, LossCount.described(read.mechanism)
    ends = statistic.cells.counts(read.event.symbols[0].value)  # type: ignore[attr-defined]
    ln_beta = Genesis(ledger.genesis).policy.ln_transcript
    interval = intersection(outcome.interval, [statistic.transcript_interval(*ends, ln_beta, closed[name])])
    theorem, vacuous = f"{outcome.theorem}; {THEOREM}", interval[0] <= 0.0 and interval[1] >= 1.0
    return replace(read, outcome=replace(outcome, interval=interval, theorem=theorem, vacuous=vacuous))
