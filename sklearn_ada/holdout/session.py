"""The session of a holdout: its rows, policy, open ledger and asker.

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
import itertools
import os
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any, TypeVar, overload

import numpy as np

from sklearn_ada._validation import bad_parameter, counted
from sklearn_ada.accounting.events import BLOCKS
from sklearn_ada.answer import Answer
from sklearn_ada.data.labels import Subsamples
from sklearn_ada.exceptions import (
    BudgetExhaustedError,
    LedgerDamagedError,
    LedgerError,
    LedgerMismatchError,
    LedgerUnavailableError,
)
from sklearn_ada.guarantees.description_length import intersection
from sklearn_ada.guarantees.transcript import THEOREM
from sklearn_ada.holdout.pending import Asking, charge, pending
from sklearn_ada.holdout.records import (
    EVERY,
    CheckpointRecord,
    Key,
    LabelsRecord,
    RefusalRecord,
    RoundCloseRecord,
    RoundRecord,
    SealedRecord,
    ValueRecord,
    read_record,
)
from sklearn_ada.holdout.state import LedgerRecord, Listed, State
from sklearn_ada.ledger.elsewhere import announce, remember, watched
from sklearn_ada.ledger.hash_chain import OTHER_ORDER, UNREADABLE, WOULD_VOID, Ledger, Record
from sklearn_ada.ledger.opening import is_temporary, open_existing_ledger, open_ledger, where
from sklearn_ada.metrics.metric import Metric, as_metric
from sklearn_ada.questions.question import Guess
from sklearn_ada.questions.seals import LossCount, hidden, seal_of, sealed_context
from sklearn_ada.terms.holdout_data import HoldoutData
from sklearn_ada.terms.policy import Asker, Genesis, Policy
from sklearn_ada.terms.recognised_rows import rows_of, within_cross_validation
from sklearn_ada.terms.row_tables import key_of_rows
from sklearn_ada.terms.seal_key import check_library, sealed_for

T = TypeVar("T")
Shown = ValueRecord | RefusalRecord
_FEW = 250  # records that are read one by one, where a ledger is longer


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
    notice : str, default=""
        The line that says where a ledger was begun by this very session.
    asking : Asking or None, default=None
        The question, or the questions that look together, which are being asked.
    """

    data: HoldoutData
    policy: Policy
    ledger: Ledger[State]
    asker: Asker
    fingerprint: str
    notice: str = ""
    asking: Asking | None = None

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
        create: bool = True,
    ) -> Session:
        """Open or begin the ledger of some rows; see `Holdout` for the parameters.

        Rows with ids are compared with those of the ledger by `changes.record_edition`, and a ledger without
        a path is found by `finding.place_of_rows`. Without ids, another number of rows, or of those of a
        class, is refused for nothing; then labels are compared, at the price of those of rows with ids.

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
        seed, durable = _secret_of(random_state), not is_temporary(address)
        drafts: list[dict[str, Any]] = []

        def genesis(secret: bytes, found: dict[str, Any] | None = None) -> dict[str, Any]:
            decided = policy.of_found(found, durable=durable)
            return Genesis.of(data, decided, split or {}, secret, seed, found).body

        def first(secret: bytes) -> dict[str, Any]:
            if not create:
                raise LedgerUnavailableError(
                    f"There is no ledger at {where(address)}, and none may be begun here (create=False). "
                    "Look for the one that should be there: another one would be a fresh budget."
                )
            opening.begin()
            drafts.append(genesis(secret))
            return drafts[-1]

        rows = None if within_cross_validation() else rows_of(data)  # its folds are other rows
        with watched(rows, where(address)) as opening:
            opened = open_ledger(address, first, State, secret=seed, of_found=genesis)
            is_new = opened.genesis in drafts
            begun = Genesis(opened.genesis)  # which was compared
            stored = _joined(data, begun)
            if stored.seal_key is not None:
                check_library()
            found = ("answers", "check_share", "seal_key", "shares", "used_before", "format")
            policy = replace(policy, **{name: getattr(stored, name) for name in found})
            notice = announce(where(address), len(data)) if is_new and durable else ""
            session = cls(data, policy, opened, asker, begun.fingerprint, notice)
            if begun.compares_labels and not is_new:  # somebody else began it, or did before
                session._compare_labels()
            opening.succeed(opened, partial(_asked, opened))
        return session

    @classmethod
    def that_reads(cls, data: HoldoutData, asker: Asker, address: str | os.PathLike[str]) -> Session:
        """Return a session on a ledger that is there, which writes nothing and compares no labels.

        LedgerMismatchError if the ledger has another number of rows.
        """
        ledger = open_existing_ledger(address, State)
        begun = Genesis(ledger.genesis)
        rows, fingerprint = ledger.read(lambda state: (state.rows, state.fingerprint))
        if rows != len(data):
            raise LedgerMismatchError(
                f"The ledger is of {rows} rows, and there are {len(data)}. {WOULD_VOID}"
            )
        return cls(data, _joined(data, begun), ledger, asker, fingerprint)

    @property
    def genesis(self) -> Genesis:
        """What was fixed when the ledger was begun."""
        return Genesis(self.ledger.genesis)

    @property
    def secret(self) -> bytes:
        """The ledger's secret, from which noise and subsamples are drawn."""
        return self.ledger.secret()

    @property
    def rows_key(self) -> bytes:
        """The key of fingerprints of rows."""
        return key_of_rows(self.secret, self.ledger.genesis)

    def metric(self, scoring: str | Callable[..., Any] | Metric) -> Metric:
        """Return what is asked by, as a metric of the ledger's format."""
        return as_metric(scoring).of_format(self.policy.format).at_mix(self.policy.mix)

    def outputs_key(self, key: str, secret: bytes) -> bytes:
        """Return the key that hides what one record keeps of a model's outputs (`outputs.OutputSummary`).

        It depends on the rows, as ledgers of other rows may have the same ``random_state``, and so the same
        ``secret``.
        """
        label = f"said {self.genesis.fingerprint} {key}"
        return hmac.new(secret, label.encode(), hashlib.sha256).digest()

    def sealed(self, content: bytes, key: str, secret: bytes) -> str:
        """Return what the record of this key keeps of a message: hidden, or encrypted for the holder.

        ``secret`` is the ledger's, which cannot be read inside a charge.
        """
        context, public = sealed_context(self.genesis.fingerprint, key), self.policy.seal_key
        return hidden(content, secret, context) if public is None else sealed_for(public, content, context)

    def partition(self, n_subsamples: int, *, stratify: bool) -> Subsamples:
        """Return the rows of disjoint subsamples, drawn from the secret."""
        return self.data.partition(self.secret, n_subsamples, stratify=stratify)

    @contextlib.contextmanager
    def asked(self, questions: int = 1, candidate_of: str | None = None) -> Iterator[Session]:
        """Return the session in which so many questions look together, pending at most in the block."""
        with pending(self.ledger, self.asker, questions, candidate_of) as asking:
            yield replace(self, asking=asking)

    def charge(self, key: str | None, decide: Callable[[State], LedgerRecord]) -> Record:
        """Return the record of this key; if there is none, record what ``decide`` returns for the state."""
        record = charge(self.ledger, key, decide, self.asking)
        if record.fresh and record.seq % EVERY == 0:
            # The answer is recorded: where there is no room for a checkpoint, there is one less.
            with contextlib.suppress(LedgerUnavailableError):
                key = Key.checkpoint(record.seq)
                self.ledger.charge(key, lambda state: CheckpointRecord.of(state).to_dict(state.policy.format))
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
        outgrown = state.why_outgrown(self.fingerprint)
        if outgrown is not None:
            raise BudgetExhaustedError(f"The holdout refused: {outgrown}.")

    def with_data(self, data: HoldoutData) -> Session:
        """Return the session of other rows on the same ledger."""
        fingerprint = data.fingerprint(self.rows_key, self.genesis.identity)
        return replace(self, data=data, fingerprint=fingerprint, notice="")

    def _compare_labels(self) -> None:
        """Raise LedgerMismatchError, at a price, if as many labels of each kind are not those of the ledger.

        That they are is paid for in advance, the first time that anybody opens the ledger again.
        """
        mine, theirs = self.data.fingerprint(self.rows_key), self.fingerprint
        is_paid, stamp = not self.policy.is_private, self.asker.stamp()
        if is_paid:
            self.charge(Key.labels(theirs), lambda state: LabelsRecord.of(state, stamp, hold=True))
        if mine == theirs:
            return
        if is_paid:
            self.charge(Key.labels(mine), lambda state: LabelsRecord.of(state, stamp))
        price = " (to tell that cost 4.6 nats)" if is_paid else ""
        raise LedgerMismatchError(
            f"The ledger {getattr(self.ledger, 'name', self.ledger)!r} belongs to another holdout: "
            f"{OTHER_ORDER}{price}. For other data give another ledger. {WOULD_VOID}"
        )


def _joined(data: HoldoutData, begun: Genesis) -> Policy:
    """Let rows follow the terms of their ledger, and return these."""
    policy = begun.policy
    if policy.class_mix == "priced" and policy.format >= 3:
        data.paid_classes = data.classes if begun.classes is None else np.array(begun.classes)
    data.format = policy.format
    data.by_tables = policy.format >= BLOCKS and policy.tolerance is None
    return policy


def note_whereabouts(session: Session) -> None:
    """Let this process remember on which ledger these rows are asked about."""
    if not within_cross_validation():
        remember(rows_of(session.data), session.ledger, partial(_asked, session.ledger))


def _asked(ledger: Ledger[State]) -> int:
    """Return how many questions were asked of a ledger."""
    return ledger.read(lambda state: sum(state.asked.values()))


def _secret_of(random_state: object) -> bytes | None:
    if random_state is None:
        return None
    if not isinstance(random_state, Integral) or isinstance(random_state, bool):
        raise bad_parameter("random_state", "Holdout", "an integer or None", random_state)
    return hashlib.sha256(f"sklearn_ada random_state {int(random_state)}".encode()).digest()


def close_round(ledger: Ledger[State], asker: Asker, round_name: str) -> None:
    """Close a round, once; nothing where answers are exact, or if there is none of several questions."""
    found = ledger.find(Key.round(round_name))
    begun = None if found is None else RoundRecord.from_dict(found.body)
    if begun is None or begun.purse is None or begun.size == 1:
        return
    key, stamp = Key.round_close(round_name), {"name": round_name, **asker.stamp()}
    charge(ledger, key, lambda state: RoundCloseRecord(nats=state.account.nats, **stamp))


def as_closed(
    ledger: Ledger[State],
    read: LedgerRecord | None,
    nats_of_ended: Callable[[str], float | None] | None = None,
) -> ValueRecord | RefusalRecord:
    """Return what a record answers, with its interval once its round is closed.

    Parameters
    ----------
    ledger : Ledger
    read : ValueRecord or RefusalRecord
    nats_of_ended : callable or None, default=None
        Takes the name of a round and returns the nats with which it was closed, or None if it was not; by
        default this is looked for in the ledger.
    """
    assert isinstance(read, ValueRecord | RefusalRecord)
    if not isinstance(read, SealedRecord) or read.round_name is None or read.sealed is None:
        return read
    name = read.round_name
    nats = _found_nats(ledger, name) if nats_of_ended is None else nats_of_ended(name)
    if nats is None:
        return read
    outcome, count = read.outcome, seal_of(read.mechanism)
    if not isinstance(count, LossCount):  # a window keeps the level of its asking
        return read
    ends = count.span(read.event.symbols[0].value)  # type: ignore[attr-defined]
    ln_beta = Genesis(ledger.genesis).policy.ln_transcript
    interval = intersection(outcome.interval, [count.transcript_interval(*ends, ln_beta, nats)])
    theorem, vacuous = f"{outcome.theorem}; {THEOREM}", interval[0] <= 0.0 and interval[1] >= 1.0
    return replace(read, outcome=replace(outcome, interval=interval, theorem=theorem, vacuous=vacuous))


class RecordedAnswers(Sequence[T]):
    """Answers and refusals of a ledger, read from it when they are looked at.

    Pickled they are a tuple. A slice is one, too.

    Parameters
    ----------
    ledger : Ledger
    listed : Listed
        Where they stand.
    count : int
        How many records there were: later ones are not looked at.
    show : callable
        Takes a record, what it says, and what that says once its round is closed.
    """

    def __init__(
        self, ledger: Ledger[State], listed: Listed, count: int, show: Callable[[Record, Shown, Shown], T]
    ) -> None:
        self._ledger, self._listed, self._count, self._show = ledger, listed, count, show
        self._numbers: array[int] = listed.answers[: bisect_left(listed.answers, count)]

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if not isinstance(index, slice):
            return self._shown(self._ledger.record(self._numbers[index]))
        numbers = self._numbers[index]
        if len(numbers) <= _FEW < self._count:
            return tuple(self._shown(self._ledger.record(number)) for number in numbers)
        return tuple(self)[index]

    def __iter__(self) -> Iterator[T]:
        records = itertools.islice(self._ledger.records(), self._count)
        numbers = iter(self._numbers)
        number = next(numbers, None)
        for record in records:
            if record.seq == number:
                yield self._shown(record)
                number = next(numbers, None)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or len(self) != len(other):
            return False
        return all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # as lists, whose items may change

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (tuple(self),)

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'answer')} of a ledger>"

    def _shown(self, record: Record | None) -> T:
        assert record is not None
        try:
            read = read_record(record.body)
            assert isinstance(read, Shown)
            now = as_closed(self._ledger, read, lambda name: self._listed.nats_of_ended(name, self._count))
            return self._show(record, read, now)
        except UNREADABLE:
            raise LedgerDamagedError(
                f"Record {record.seq} of the ledger lacks a part: it was edited."
            ) from None


def _found_nats(ledger: Ledger[State], round_name: str) -> float | None:
    found = ledger.find(Key.round_close(round_name))
    return None if found is None else RoundCloseRecord.from_dict(found.body).nats
