"""Telling what was sealed, each value at the failure probability of its asking; and closing a holdout.

Theorem and proof: `sklearn_ada.guarantees.description_length.sealed`. A value costs what the code makes of it
within its cell, about three nats, and whatever is asked later pays them; what is still sealed does not. So
everything may be told once the holdout is closed, or its final value published. Rows and models are not
needed: what is told is a function of the record and of the ledger's secret or, where values were sealed with
a public key, of the holder's private one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral
from typing import Any

from sklearn_ada._checks import bad_parameter
from sklearn_ada._notices import warn_user
from sklearn_ada._table import counted
from sklearn_ada.events import CountRelease
from sklearn_ada.exceptions import LedgerDamagedError
from sklearn_ada.guarantees.description_length.shares import intersection
from sklearn_ada.holdout.questions.sealed_statistics import SealedStatistic, statistic_from
from sklearn_ada.holdout.records.answer import AnswerRecord
from sklearn_ada.holdout.records.close import CloseRecord
from sklearn_ada.holdout.records.conversation import Conversation, read_record
from sklearn_ada.holdout.records.genesis import Genesis
from sklearn_ada.holdout.records.refusal import RefusalRecord
from sklearn_ada.holdout.records.sealed import SealedRecord, UnsealedRecord, sealed_context, shown
from sklearn_ada.holdout.session.bare_errors import with_bare_errors
from sklearn_ada.holdout.session.closing import as_closed
from sklearn_ada.holdout.terms.asker import Asker
from sklearn_ada.holdout.terms.failure_budget import FailureBudget
from sklearn_ada.holdout.terms.outcome import Outcome
from sklearn_ada.holdout.terms.seal_key import check_private_key, opened_with
from sklearn_ada.ledger import Ledger, Record
from sklearn_ada.results import Answer

__all__ = ["Unsealer", "close", "is_unsealed", "unseal"]

_OWNER = "Holdout.unseal"


class Unsealer:
    """One sealed value, and how it is told.

    Parameters
    ----------
    ledger : Ledger
    number : int
        Of the record that holds it.
    private : X25519PrivateKey or None, default=None
        Opens what was sealed with a public key.
    """

    def __init__(self, ledger: Ledger[Conversation], number: int, private: Any = None) -> None:
        record = ledger.record(number)
        read = None if record is None else read_record(record.body)
        if record is None or not isinstance(read, SealedRecord) or read.body["sealed"] is None:
            raise ValueError(f"Record {number} of the ledger holds nothing that is sealed.")
        self.ledger, self.number, self.sealed, self.key = ledger, number, read, str(record.key)
        self.private = private

    @property
    def statistic(self) -> SealedStatistic:
        """What was sealed, rebuilt from the record."""
        return statistic_from(self.sealed.body["mechanism"])

    @property
    def known(self) -> tuple[int, int]:
        """First and last point of the cell that was told."""
        return self.statistic.ends(self.sealed.event.symbols[0].value)  # type: ignore[attr-defined]

    @property
    def is_locked(self) -> bool:
        """Whether only a private key, which is not there, opens it: it was told nowhere before."""
        is_known = self.private is not None or is_unsealed(self.ledger, self.number)
        return not is_known and Genesis(self.ledger.genesis).policy.seal_key is not None

    def point(self, seen: int | None = None) -> int:
        """Return what is sealed; nobody may see it before it is charged.

        ``seen`` is what a look at the holdout gave, of a model that says what is recorded. It is taken where
        only a private key would open the seal, and the value was not told before.
        """
        fingerprint, text = Genesis(self.ledger.genesis).fingerprint, self.sealed.body["sealed"]
        if Genesis(self.ledger.genesis).policy.seal_key is None:
            point = shown(text, self.ledger.secret(), fingerprint, self.key)
        elif self.private is not None:
            point = opened_with(self.private, text, sealed_context(fingerprint, self.key))
        else:
            told = _told_before(self.ledger, self.number)
            if told is None and seen is None:
                raise ValueError(f"Only the holder of the private key can open record {self.number}.")
            point = seen if told is None else told  # type: ignore[assignment]
        low, high = self.known
        if not low <= point <= high:
            raise LedgerDamagedError(
                "What a record keeps sealed is not in the cell that was told: the ledger was edited."
            )
        return point

    def record(
        self,
        state: Conversation,
        point: int,
        stamp: dict[str, Any],
        share: FailureBudget | None,
        *,
        is_known: bool,
    ) -> UnsealedRecord:
        """Return the record of telling it now: at the level of the asking and, in a final, at its own."""
        statistic, body = self.statistic, self.sealed.body
        known = (point, point) if is_known else self.known
        event = CountRelease((statistic.symbol_within(point, known),))
        own = statistic.fixed_interval(point, point, _level(body["ln_delta"]))
        low, high = body["outcome"]["interval"]
        fixed = own if share is None else statistic.fixed_interval(point, point, share.ln_delta)
        interval = intersection(fixed, [own, (low, high)])
        outcome = Outcome(
            statistic.value(point),
            interval,
            "exact",
            body["outcome"]["theorem"],
            body["population"],
            interval[0] <= 0.0 and interval[1] >= 1.0,
        )
        return UnsealedRecord.of_sealed(state, self.sealed, self.number, event, outcome, stamp, share)


def unseal(
    ledger: Ledger[Conversation],
    asker: Asker,
    answers: Iterable[Any] | Answer | int | None,
    key: Any = None,
) -> list[Answer]:
    """Tell the exact values of sealed answers. See `Holdout.unseal`.

    Parameters
    ----------
    ledger : Ledger
    asker : Asker
    answers : iterable of Answer or int, Answer, int or None
        Answers, or the numbers of their records. None: all that are sealed.
    key : str, bytes, path-like, X25519PrivateKey or None, default=None
        The private key, where values were sealed with a public one.
    """
    private = _private_key(ledger, key)
    if answers is None:
        numbers = _all_sealed(ledger)
    else:
        several = isinstance(answers, Iterable) and not isinstance(answers, str | bytes)
        given: list[Any] = list(answers) if several else [answers]  # type: ignore[arg-type]
        numbers = [_number(ledger, answer) for answer in given]
    unsealers = [Unsealer(ledger, number, private) for number in numbers]
    if any(each.is_locked for each in unsealers):
        raise bad_parameter(
            "key", _OWNER, "the private key of the public one that values were sealed with (seal_key)", None,
            "Only its holder opens them. An exact value without it: certify(model, final=True), which "
            "computes it from the rows.",
        )  # fmt: skip
    fresh = [each for each in unsealers if not is_unsealed(ledger, each.number)]
    if fresh and not ledger.read(lambda state: state.closed):
        most = sum(each.statistic.largest_unsealing_nats(each.known) for each in fresh)
        warn_user(
            f"Unsealing {counted(len(fresh), 'answer')} costs up to {most:.3g} nats, which everything that "
            "is asked of this holdout later pays, by wider intervals; what is sealed still does not. Once "
            "the holdout is closed it costs nobody anything: Holdout.close()."
        )
    genesis = Genesis(ledger.genesis)
    told = []
    for each in unsealers:
        # Published, it has the interval of its asking as well: what lies in both was told.
        record = ledger.find(f"final {each.number}")
        if record is None:
            record = with_bare_errors(lambda each=each: _told(each, asker))  # type: ignore[misc]
        told.append(UnsealedRecord(record.body).answer(record, genesis))
    return told


def close(ledger: Ledger[Conversation], asker: Asker) -> None:
    """Record that nothing new is answered any more. See `Holdout.close`."""
    made = CloseRecord.of(asker.stamp())
    ledger.charge("close", lambda state: made.to_dict())


def is_unsealed(ledger: Ledger[Conversation], number: int) -> bool:
    """Return whether the value that a record sealed was told, by itself or as a final."""
    return any(ledger.find(f"{name} {number}") is not None for name in ("unsealed", "final"))


def _told(each: Unsealer, asker: Asker) -> Record:
    point, stamp, known = each.point(), asker.stamp(), is_unsealed(each.ledger, each.number)

    def decide(state: Conversation) -> dict[str, Any]:
        return each.record(state, point, stamp, None, is_known=known).to_dict()

    return each.ledger.charge(f"unsealed {each.number}", decide)


def _private_key(ledger: Ledger[Conversation], key: Any) -> Any:
    """Return the private key of this ledger's public one, or None if none is given; ValueError otherwise."""
    public = Genesis(ledger.genesis).policy.seal_key
    if key is None:
        return None
    if public is None:
        fix = "Its values are hidden by its own secret: nothing else opens them."
        raise bad_parameter("key", _OWNER, "None where the ledger has no seal_key", "a key", fix)
    return check_private_key(key, public, _OWNER)


def _told_before(ledger: Ledger[Conversation], number: int) -> int | None:
    """Return the point of a sealed record as it was told, by itself or as a final; None if it was not."""
    for name in ("unsealed", "final"):
        record = ledger.find(f"{name} {number}")
        if record is not None:
            symbol: Any = UnsealedRecord(record.body).event.symbols[0]  # type: ignore[attr-defined]
            return int(symbol.value)
    return None


def _all_sealed(ledger: Ledger[Conversation]) -> list[int]:
    """Return the numbers of all that is sealed, which may be told when nothing more will be asked."""
    if not ledger.read(lambda state: state.closed or state.finals):
        raise bad_parameter(
            "answers", _OWNER, "answers of this holdout, or the numbers of their records", None,
            "All of them are told after close(), or after certify(..., final=True): until then each costs "
            "what is asked later about three nats.",
        )  # fmt: skip
    numbers, told = [], set()
    for record in ledger.records():
        kind = record.body.get("kind")
        if kind == SealedRecord.kind and record.body["sealed"] is not None:
            numbers.append(record.seq)
        elif kind == UnsealedRecord.kind and not record.body["final"]:
            told.add(record.body["of"])
    return [number for number in numbers if number not in told]


def _number(ledger: Ledger[Conversation], answer: Any) -> int:
    """Return the number of the record that an answer is sealed in; ValueError if there is none."""
    expected = "sealed answers of this holdout, or the numbers of their records"
    if isinstance(answer, bool) or not isinstance(answer, Answer | Integral):
        raise bad_parameter("answers", _OWNER, expected, answer)
    number = int(answer.index if isinstance(answer, Answer) else answer)
    record = ledger.record(number) if number >= 0 else None
    read = None if record is None else read_record(record.body)
    genesis = Genesis(ledger.genesis)
    if record is None or not isinstance(read, AnswerRecord | RefusalRecord):
        fix = "This ledger has no answer of that number: ask the holdout that gave it."
        raise bad_parameter("answers", _OWNER, expected, f"number {number}", fix)
    recorded = read.answer(record, genesis)
    known = [recorded]
    if isinstance(read, SealedRecord):  # of a round, before and after it was closed
        known.append(as_closed(ledger, record).answer(record, genesis))
    if isinstance(answer, Answer) and (
        answer.answered != recorded.answered or (answer.answered and answer not in known)
    ):
        fix = "It is not what this ledger has under that number: ask the holdout that gave it."
        raise bad_parameter("answers", _OWNER, expected, f"an answer with number {number}", fix)
    if isinstance(read, UnsealedRecord):
        number = int(read.body["of"])
        of = ledger.record(number)
        read = None if of is None else read_record(of.body)
    if not recorded.answered:
        fix = f"It has no value ({recorded.reason}), so nothing was sealed."
        raise bad_parameter("answers", _OWNER, expected, f"one that was {recorded.verdict}", fix)
    if not isinstance(read, SealedRecord):
        fix = "Its value was told when it was asked."
        raise bad_parameter("answers", _OWNER, expected, f"one that is {recorded.verdict}", fix)
    return number


def _level(ln_delta: float | None) -> float:
    return -math.inf if ln_delta is None else ln_delta
