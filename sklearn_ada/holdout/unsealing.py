"""Release what was sealed, each value at the level of its asking.

Theorem and proof: `sklearn_ada.guarantees.question_interval`. A value costs what the code makes of it within
its cell or window, three to eight nats, and whatever is asked later pays them; what is still sealed does
not. So everything may be released once the holdout is closed, or its final value published. Rows and models
are not needed: what is released is a function of the record and of the ledger's secret or, where values were
sealed with a public key, of the holder's private one.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Iterable
from dataclasses import replace
from numbers import Integral
from typing import Any

from sklearn_ada._notices import warn_user
from sklearn_ada._validation import bad_parameter, counted
from sklearn_ada.accounting.codes import symbols_of
from sklearn_ada.accounting.events import CountRelease
from sklearn_ada.answer import ROUNDED, Answer
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
from sklearn_ada.questions.question import Outcome
from sklearn_ada.questions.seals import (
    CLOSED,
    PUBLISHED,
    UNSEALED,
    LossCount,
    Seal,
    SealedInterval,
    seal_of,
    sealed_context,
    shown,
)
from sklearn_ada.terms.policy import Allowance, Asker, Genesis
from sklearn_ada.terms.seal_key import check_private_key, opened_with

_OWNER = "Holdout.unseal"
_EXPECTED = "sealed answers of this holdout, or the numbers of their records"
_NOT_IN_ITS_CELL = "What a record keeps sealed is not in its cell: the ledger was edited."


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
        asked = [(number, False) for number in _all_sealed(ledger)]
    else:
        several = isinstance(answers, Iterable) and not isinstance(answers, str | bytes)
        given: list[Any] = list(answers) if several else [answers]  # type: ignore[arg-type]
        asked = [_number_of(ledger, answer) for answer in given]
    sealed = [Sealed(ledger, number) for number, _ in asked]
    fresh = [each for each in sealed if each.released is None]
    if fresh and public is not None and private is None:
        raise bad_parameter(
            "key", _OWNER, "the private key of the public one that values were sealed with (seal_key)", None,
            "Only its holder opens them. An exact value without it: publish(model), which "
            "computes it from the rows.",
        )  # fmt: skip
    if fresh and not ledger.read(lambda state: state.closed):
        most = sum(each.seal.largest_unsealing_nats(each.cell) for each in fresh)
        warn_user(
            f"Unsealing {counted(len(fresh), 'answer')} costs up to {most:.3g} nats, which everything that "
            "is asked of this holdout later pays, by wider intervals; what is sealed still does not. Once "
            "the holdout is closed it costs nobody anything: Holdout.close()."
        )
    records = [_release(each, asker, private) for each in sealed]
    released = [UnsealedRecord.from_dict(record.body).answer(record, genesis) for record in records]
    return [
        each.negated() if is_mirrored else each
        for each, (_, is_mirrored) in zip(released, asked, strict=True)
    ]


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
    seal : LossCount or SealedInterval
        What was sealed, rebuilt from the record.
    cell : tuple
        First and last count of the cell that was released, or the window.
    """

    def __init__(self, ledger: Ledger[State], number: int) -> None:
        record = ledger.record(number)
        read = None if record is None else read_record(record.body)
        if record is None or not isinstance(read, SealedRecord) or read.sealed is None:
            raise ValueError(f"Record {number} of the ledger holds nothing that is sealed.")
        self.ledger, self.number, self.read, self.key = ledger, number, read, str(record.key)
        self.seal: Seal = seal_of(read.mechanism)
        self.cell: Any = read.outcome.interval
        if isinstance(self.seal, LossCount):
            self.cell = self.seal.span(symbols_of(read.event)[0].value)

    @property
    def released(self) -> int | None:
        """What was released of it, by itself or as a final, as a number; None if nothing was."""
        for key in (Key.unsealed(self.number), Key.final(self.number)):
            record = self.ledger.find(key)
            if record is not None:
                return int(symbols_of(UnsealedRecord.from_dict(record.body).event)[0].value)
        return None

    def point(self, private: Any = None, seen: int | None = None) -> Any:
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
        content = None
        if genesis.policy.seal_key is None:
            content = shown(text, self.ledger.secret(), context)
        elif private is not None:
            content = opened_with(private, text, context)
        if content is None and self.released is not None:
            return self.released  # its record is found again
        try:
            point: Any = seen if content is None else self.seal.point(content)
        except struct.error as error:
            raise LedgerDamagedError(_NOT_IN_ITS_CELL) from error
        if point is None:
            raise ValueError(f"Only the holder of the private key can open record {self.number}.")
        if not self.seal.is_within(point, self.cell):
            raise LedgerDamagedError(_NOT_IN_ITS_CELL)
        return point

    def record(
        self, state: State, point: Any, stamp: dict[str, Any], final: Allowance | None, *, is_released: bool
    ) -> UnsealedRecord:
        """Return the record that releases the value now.

        Its interval is at the level of the asking and, if it is published, at the level of ``final`` as well.
        """
        seal, before, target = self.seal, self.read.outcome, self.read.population
        ln_final = None if final is None else final.ln_delta
        if isinstance(seal, LossCount):
            event = CountRelease((seal.symbol_within(point, (point, point) if is_released else self.cell),))
        else:
            parts = CLOSED if state.closed else UNSEALED if final is None else PUBLISHED
            ln_delta = self.read.ln_delta if final is None else final.ln_delta
            event = seal.release(point, self.cell, ln_delta, parts, is_released=is_released)
        value, interval, step = released_by(seal, event, self.read.ln_delta, ln_final, before.interval)
        if step and not state.closed:
            target = f"{target}{ROUNDED}{step:.3g}"
        bottom, top = (0.0, 1.0) if isinstance(seal, LossCount) else (seal.windows.bottom, seal.windows.top)
        vacuous = interval[0] <= bottom and interval[1] >= top
        outcome = Outcome(value, interval, "exact", before.theorem, target, vacuous)
        made = {"number": self.number, "outcome": outcome, **stamp}
        return UnsealedRecord.of(state, self.read, event, final, **made)


def released_by(
    seal: Seal, event: Any, ln_delta: float, ln_final: float | None, coarse: tuple[float, float]
) -> tuple[float, tuple[float, float], float]:
    """Return a sealed value that is released, its interval, and the steps of rounding; 0 for none.

    Parameters
    ----------
    seal : LossCount or SealedInterval
    event : CountRelease
    ln_delta : float
        The level of the asking.
    ln_final : float or None
        That of a final; None if it is released by itself.
    coarse : tuple of float
        The interval that was released before.
    """
    if isinstance(seal, SealedInterval):
        value, ends, step = seal.read(event, ln_delta, ln_final)
        low, high = intersection(ends, [coarse])
        return value, (min(low, value), max(high, value)), step
    point = int(symbols_of(event)[0].value)
    own = seal.fixed_interval(point, point, ln_delta)
    fixed = own if ln_final is None else seal.final_interval(point, ln_final)
    return point / seal.n, intersection(fixed, [own, coarse]), 0.0


def _all_sealed(ledger: Ledger[State]) -> list[int]:
    """Return the numbers of all sealed records, once no question can follow."""
    if not ledger.read(lambda state: state.closed or state.finals):
        raise bad_parameter(
            "answers", _OWNER, _EXPECTED, None,
            "All of them are released after close(), or after publish(model): until then each costs "
            "what is asked later three to eight nats.",
        )  # fmt: skip
    numbers, unsealed = [], set()
    for record in ledger.records():
        read = read_record(record.body)
        if isinstance(read, SealedRecord) and read.sealed is not None:
            numbers.append(record.seq)
        elif isinstance(read, UnsealedRecord) and not read.is_final:
            unsealed.add(read.number)
    return [number for number in numbers if number not in unsealed]


def _number_of(ledger: Ledger[State], answer: Any) -> tuple[int, bool]:
    """Return the number of the record that an answer is sealed in; ValueError if there is none.

    The second part says whether that is of the comparison the other way round.
    """
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
    if isinstance(answer, Answer) and answer.answered and recorded.answered:
        answer = replace(answer, verdict=recorded.verdict)  # it is that of the guess with which it was asked
    is_mirrored = isinstance(answer, Answer) and answer.is_negated
    if is_mirrored:
        answer = answer.negated()
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
        raise wrong(f"one that is {recorded.verdict}", "Its value was released when it was asked.")
    return number, is_mirrored
