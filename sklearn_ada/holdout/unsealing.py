"""Release what was sealed, each value at the level of its asking.

Theorem and proof: `sklearn_ada.guarantees.question_interval`. A value costs what the code makes of it within
its cell, about three nats, and whatever is asked later pays them; what is still sealed does not. So
everything may be released once the holdout is closed, or its final value published. Rows and models are not
needed: what is released is a function of the record and of the ledger's secret or, where values were sealed
with a public key, of the holder's private one.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from numbers import Integral
from typing import Any

from sklearn_ada._notices import warn_user
from sklearn_ada._validation import bad_parameter, counted
from sklearn_ada.accounting.codes import symbols_of
from sklearn_ada.accounting.events import CountRelease
from sklearn_ada.answer import Answer
from sklearn_ada.exceptions import LedgerDamagedError
from sklearn_ada.guarantees.description_length import intersection
from sklearn_ada.holdout.looking import with_bare_errors
from sklearn_ada.holdout.pending import charge
from sklearn_ada.holdout.records import (
    Key,
    RefusalRecord,
    SealedRecord,
    UnsealedRecord,
    ValueRecord,
    read_record,
)
from sklearn_ada.holdout.session import as_closed
from sklearn_ada.holdout.state import State
from sklearn_ada.ledger.hash_chain import Ledger, Record
from sklearn_ada.questions.question import LossCount, Outcome
from sklearn_ada.questions.sealed import sealed_context, shown
from sklearn_ada.terms.policy import Allowance, Asker, Genesis
from sklearn_ada.terms.seal_key import check_private_key, opened_with

_OWNER = "Holdout.unseal"
_EXPECTED = "sealed answers of this holdout, or the numbers of their records"


def unseal(
    ledger: Ledger[State], asker: Asker, answers: Iterable[Any] | Answer | int | None, key: Any = None
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
    genesis = Genesis(ledger.genesis)
    public, private = genesis.policy.seal_key, None
    if key is not None:
        if public is None:
            fix = "Its values are hidden by its own secret: nothing else opens them."
            raise bad_parameter("key", _OWNER, "None where the ledger has no seal_key", "a key", fix)
        private = check_private_key(key, public, _OWNER)
    if answers is None:
        numbers = _all_sealed(ledger)
    else:
        several = isinstance(answers, Iterable) and not isinstance(answers, str | bytes)
        given: list[Any] = list(answers) if several else [answers]  # type: ignore[arg-type]
        numbers = [_number_of(ledger, answer) for answer in given]
    sealed = [Sealed(ledger, number) for number in numbers]
    fresh = [each for each in sealed if each.released is None]
    if fresh and public is not None and private is None:
        raise bad_parameter(
            "key", _OWNER, "the private key of the public one that values were sealed with (seal_key)", None,
            "Only its holder opens them. An exact value without it: publish(model), which "
            "computes it from the rows.",
        )  # fmt: skip
    if fresh and not ledger.read(lambda state: state.closed):
        most = sum(each.sealed_count.largest_unsealing_nats(each.cell) for each in fresh)
        warn_user(
            f"Unsealing {counted(len(fresh), 'answer')} costs up to {most:.3g} nats, which everything that "
            "is asked of this holdout later pays, by wider intervals; what is sealed still does not. Once "
            "the holdout is closed it costs nobody anything: Holdout.close()."
        )
    records = [_release(each, asker, private) for each in sealed]
    return [UnsealedRecord.from_dict(record.body).answer(record, genesis) for record in records]


def _release(sealed: Sealed, asker: Asker, private: Any) -> Record:
    """Return the record that releases a sealed value, by itself or as a final."""

    def open_and_charge() -> Record:
        point, stamp, is_released = sealed.point(private), asker.stamp(), sealed.released is not None
        return charge(
            sealed.ledger,
            Key.unsealed(sealed.number),
            lambda state: sealed.record(state, point, stamp, None, is_released=is_released),
        )

    # Published, it has the interval of its asking as well: what lies in both was released.
    return sealed.ledger.find(Key.final(sealed.number)) or with_bare_errors(open_and_charge)


class Sealed:
    """One sealed value, as its record has it.

    Parameters
    ----------
    ledger : Ledger
    number : int
        Of the record that holds it.

    Attributes
    ----------
    sealed_count : LossCount
        What was sealed, rebuilt from the record.
    cell : tuple of int
        First and last point of the cell that was released.
    """

    def __init__(self, ledger: Ledger[State], number: int) -> None:
        record = ledger.record(number)
        read = None if record is None else read_record(record.body)
        if record is None or not isinstance(read, SealedRecord) or read.sealed is None:
            raise ValueError(f"Record {number} of the ledger holds nothing that is sealed.")
        self.ledger, self.number, self.read, self.key = ledger, number, read, str(record.key)
        self.sealed_count = LossCount.from_description(read.mechanism)
        self.cell = self.sealed_count.cells.counts(symbols_of(read.event)[0].value)

    @property
    def released(self) -> int | None:
        """The point as it was released, by itself or as a final; None if it was not."""
        for key in (Key.unsealed(self.number), Key.final(self.number)):
            record = self.ledger.find(key)
            if record is not None:
                return int(symbols_of(UnsealedRecord.from_dict(record.body).event)[0].value)
        return None

    def point(self, private: Any = None, seen: int | None = None) -> int:
        """Return what is sealed; nobody may see it before it is charged.

        Parameters
        ----------
        private : X25519PrivateKey or None, default=None
            Opens what was sealed with a public key.
        seen : int or None, default=None
            What a look at the holdout gave for the same model. It is used if only a private key would open
            the seal, and the value was not released before.
        """
        genesis, text = Genesis(self.ledger.genesis), str(self.read.sealed)
        context = sealed_context(genesis.fingerprint, self.key)
        if genesis.policy.seal_key is None:
            point: int | None = shown(text, self.ledger.secret(), context)
        elif private is not None:
            point = opened_with(private, text, context)
        else:
            released = self.released
            point = seen if released is None else released
        if point is None:
            raise ValueError(f"Only the holder of the private key can open record {self.number}.")
        low, high = self.cell
        if not low <= point <= high:
            raise LedgerDamagedError("What a record keeps sealed is not in its cell: the ledger was edited.")
        return point

    def record(
        self, state: State, point: int, stamp: dict[str, Any], final: Allowance | None, *, is_released: bool
    ) -> UnsealedRecord:
        """Return the record that releases the value now.

        Its interval is at the level of the asking and, if it is published, at the level of ``final`` as well.
        """
        count, before = self.sealed_count, self.read.outcome
        event = CountRelease((count.symbol_within(point, (point, point) if is_released else self.cell),))
        own = count.fixed_interval(point, point, self.read.ln_delta)
        fixed = own if final is None else count.final_interval(point, final.ln_delta)
        interval = intersection(fixed, [own, before.interval])
        vacuous, target = interval[0] <= 0.0 and interval[1] >= 1.0, self.read.population
        outcome = Outcome(point / count.n, interval, "exact", before.theorem, target, vacuous)
        made = {"number": self.number, "outcome": outcome, **stamp}
        return UnsealedRecord.of(state, self.read, event, final, **made)


def _all_sealed(ledger: Ledger[State]) -> list[int]:
    """Return the numbers of all sealed records, once no question can follow."""
    if not ledger.read(lambda state: state.closed or state.finals):
        raise bad_parameter(
            "answers", _OWNER, _EXPECTED, None,
            "All of them are told after close(), or after publish(model): until then each costs "
            "what is asked later about three nats.",
        )  # fmt: skip
    numbers, unsealed = [], set()
    for record in ledger.records():
        read = read_record(record.body)
        if isinstance(read, SealedRecord) and read.sealed is not None:
            numbers.append(record.seq)
        elif isinstance(read, UnsealedRecord) and not read.is_final:
            unsealed.add(read.number)
    return [number for number in numbers if number not in unsealed]


def _number_of(ledger: Ledger[State], answer: Any) -> int:
    """Return the number of the record that an answer is sealed in; ValueError if there is none."""
    wrong = functools.partial(bad_parameter, "answers", _OWNER, _EXPECTED)
    if isinstance(answer, bool) or not isinstance(answer, Answer | Integral):
        raise wrong(answer)
    number = int(answer.index if isinstance(answer, Answer) else answer)
    record = ledger.record(number) if number >= 0 else None
    read = None if record is None else read_record(record.body)
    genesis = Genesis(ledger.genesis)
    if record is None or not isinstance(read, ValueRecord | RefusalRecord):
        fix = "This ledger has no answer of that number: ask the holdout that gave it."
        raise wrong(f"number {number}", fix)
    recorded = read.answer(record, genesis)
    same = [recorded]
    if isinstance(read, SealedRecord):  # of a round, before and after it was closed
        same.append(as_closed(ledger, read).answer(record, genesis))
    if isinstance(answer, Answer) and answer not in same and (answer.answered or recorded.answered):
        fix = "It is not what this ledger has under that number: ask the holdout that gave it."
        raise wrong(f"an answer with number {number}", fix)
    if isinstance(read, UnsealedRecord):
        number = read.number
        of = ledger.record(number)
        read = None if of is None else read_record(of.body)
    if not recorded.answered:
        fix = f"It has no value ({recorded.reason}), so nothing was sealed."
        raise wrong(f"one that was {recorded.verdict}", fix)
    if not isinstance(read, SealedRecord):
        raise wrong(f"one that is {recorded.verdict}", "Its value was told when it was asked.")
    return number
