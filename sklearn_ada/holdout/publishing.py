"""Release what was sealed, each value at the level of its asking; publish; close a holdout.

**Unsealing.** Theorem and proof: `sklearn_ada.guarantees.question_interval`. A value costs what the code
makes of it within its cell, about three nats, and whatever is asked later pays them; what is still sealed
does not. So everything may be released once the holdout is closed, or its final value published. Rows and
models are not needed: what is released is a function of the record and of the ledger's secret or, where
values were sealed with a public key, of the holder's private one.

**The final certify** tells the exact value of a model that is kept, with most of what is left of the purse.
It is a question like any other, asked after all others, so it pays for everything that was revealed. But it
is about a model that was asked before, whose sealed value keeps the level of its asking; both intervals hold
together, and what lies in both is released (`sklearn_ada.guarantees.intersection`). A model that was never
asked is asked first, which costs hundredths of a nat if its guess holds. What has no cells is asked with the
stake of a final; if its value was released before, nothing more is revealed, and that is nearly free.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from dataclasses import replace
from numbers import Integral
from typing import Any

from sklearn_ada._notices import warn_user
from sklearn_ada._validation import bad_parameter, counted
from sklearn_ada.accounting.codes import symbols_of
from sklearn_ada.accounting.events import CodedRelease, CountRelease, Symbol
from sklearn_ada.answer import Answer
from sklearn_ada.exceptions import LedgerDamagedError
from sklearn_ada.guarantees.description_length import FINAL, intersection
from sklearn_ada.holdout.asking import Looked, answer_to, first_version, put_question, refuse
from sklearn_ada.holdout.framing import Ask, Framed, in_form
from sklearn_ada.holdout.looking import with_bare_errors
from sklearn_ada.holdout.records import (
    CloseRecord,
    Key,
    RefusalRecord,
    SealedRecord,
    UnsealedRecord,
    ValueRecord,
    read_answer,
    read_record,
)
from sklearn_ada.holdout.session import Session, as_closed
from sklearn_ada.holdout.state import RefusedError, State
from sklearn_ada.ledger.hash_chain import Ledger, Record
from sklearn_ada.questions.question import Guess, LossCount, Outcome, Question
from sklearn_ada.questions.sealed import as_recorded, sealed_context, shown
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


def close(ledger: Ledger[State], asker: Asker) -> None:
    """Record that nothing new is answered any more. See `Holdout.close`."""
    ledger.charge(Key.CLOSE, lambda state: CloseRecord(**asker.stamp()).to_dict())


def publish(session: Session, asked: Ask, question: Question, number: int | None = None) -> Answer:
    """Return the final answer about a model, which has been recorded and charged by then.

    Parameters
    ----------
    session : Session
    asked : Ask
        To be published.
    question : Question
        A certify, made by `plan_question`.
    number : int or None, default=None
        Of the record in which the model was asked before; None looks for it. That it is the same model the
        holdout confirms, at a price.
    """
    if not session.policy.seals:  # every certify is final
        return put_question(session, replace(asked, publish=False), question)
    framed, earlier = _as_asked_before(session, asked, question, number)
    _warn_of_another_final(session, earlier)
    with Looked() as looked:  # what was sealed with a public key is computed from rows and model, not opened
        answer = answer_to(session, framed, looked)
        is_final = framed.question.sealed_count is None and (earlier is None or Key.is_final(earlier))
        if is_final or not answer.answered:
            return answer
        return _release_final(session, framed.question, answer.index, looked)


def _as_asked_before(
    session: Session, asked: Ask, question: Question, number: int | None
) -> tuple[Framed, Record | None]:
    """Return a question in the form to ask it in, and its earlier record."""
    unpublished, in_this_form = replace(asked, publish=False), question
    earlier = None if number is None else session.ledger.record(number)
    if earlier is None:
        in_this_form = in_form(session, unpublished, question)
        earlier = _asked_before(session, unpublished, in_this_form)
        earlier = earlier or _asked_before(session, unpublished, question)
    if earlier is None:
        return Framed.of(session, asked, in_this_form), None
    before = read_answer(earlier)
    recorded = as_recorded(question, Guess(**before.guess), before.mechanism, session.data, session.policy)
    asked = unpublished if recorded.sealed_count is None else asked
    return Framed.of(session, asked, recorded, first_version(str(earlier.key))), earlier


def _asked_before(session: Session, asked: Ask, question: Question) -> Record | None:
    """Return the first record about this model and metric, whatever its guess was.

    A stable median is found only under the same question.
    """
    framed = Framed.of(session, asked, question)
    if question.is_found_by_subject:
        return session.ledger.find_subject(framed.subject_key)
    return session.ledger.find(framed.keys[0])


def _warn_of_another_final(session: Session, earlier: Record | None) -> None:
    """Warn, before the charge, if another value was published and took most of the purse."""
    keeps_interval = earlier is not None and (  # an exact one keeps the interval that it has
        not isinstance(read_record(earlier.body), SealedRecord)
        or session.ledger.find(Key.final(earlier.seq)) is not None
    )
    if keeps_interval or not session.ledger.read(_has_published):
        return
    first = next((record.seq for record in session.ledger.records() if Key.is_final(record)), None)
    where = "" if first is None else f" (record {first})"
    warn_user(
        f"A final value was published before{where}, with most of the weights of this holdout. "
        "This one has a twentieth of what was left, and pays for what the first has revealed, so its "
        "interval is much wider. Both hold. Publish once, the model that is kept, after the last search."
    )


def _has_published(state: State) -> bool:
    """Return whether a value was published: only that leaves so little of the purse."""
    assert state.purse is not None
    return state.finals > 0 or state.purse.left <= 1.0 - FINAL


def _release_final(session: Session, question: Question, number: int, looked: Looked) -> Answer:
    """Publish the value of a recorded question and return the answer, or the recorded refusal."""
    record = session.ledger.record(number)
    assert record is not None
    try:
        final = with_bare_errors(lambda: _record_final(session, question, record, looked))
    except RefusedError as refused:
        before, stamp = read_answer(record), session.asker.stamp()
        entry = {name: getattr(before, name) for name in ("metric", "mechanism", "guess", "model")}
        return refuse(session, refused, purpose="certify", **entry, **stamp)
    return UnsealedRecord.from_dict(final.body).answer(final, session.genesis)


def _record_final(session: Session, question: Question, record: Record, looked: Looked) -> Record:
    """Return the record of the final answer, for a question that ``record`` has answered before.

    ``looked`` holds what a look at the holdout gave for it.
    """
    number, stamp, before = record.seq, session.asker.stamp(), read_answer(record)
    sealed = Sealed(session.ledger, number) if isinstance(before, SealedRecord) else None
    point = 0 if sealed is None else sealed.point(seen=looked.point)
    is_released = sealed is not None and sealed.released is not None

    def decide(state: State) -> UnsealedRecord:
        outgrown = state.outgrown(session.fingerprint)
        if outgrown is not None:
            raise RefusedError(outgrown)
        allowance = state.allowance("certify", final=True)
        if allowance.ln_delta == -math.inf:
            raise RefusedError(
                "nothing is left of the weights of this holdout, which sum to 1: other values were published "
                "before. What is left: cells, which certify by what was released so far (certify), and "
                "unsealing, at the level of the asking"
            )
        if sealed is not None:
            return sealed.record(state, point, stamp, allowance, is_released=is_released)
        # A released value certifies the stake of a final, too; the symbol is the only one there can be.
        now = question.described_outcome(before.event, allowance, before.memory)
        interval = intersection(now.interval, [before.outcome.interval])
        outcome = replace(before.outcome, interval=interval, levels=now.levels)
        event = CodedRelease((Symbol("index", 0, 1.0),))
        return UnsealedRecord.of(state, before, event, allowance, number=number, outcome=outcome, **stamp)

    return session.charge(Key.final(number), decide)


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
        self.sealed_count = LossCount.described(read.mechanism)
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
        statistic, before = self.sealed_count, self.read.outcome
        event = CountRelease((statistic.symbol_within(point, (point, point) if is_released else self.cell),))
        own = statistic.fixed_interval(point, point, self.read.ln_delta)
        fixed = own if final is None else statistic.fixed_interval(point, point, final.ln_delta)
        interval = intersection(fixed, [own, before.interval])
        vacuous, target = interval[0] <= 0.0 and interval[1] >= 1.0, self.read.population
        outcome = Outcome(point / statistic.n, interval, "exact", before.theorem, target, vacuous)
        made = {"number": self.number, "outcome": outcome, **stamp}
        return UnsealedRecord.of(state, self.read, event, final, **made)


def _release(sealed: Sealed, asker: Asker, private: Any) -> Record:
    """Return the record that releases a sealed value, by itself or as a final."""

    def open_and_charge() -> Record:
        point, stamp, is_released = sealed.point(private), asker.stamp(), sealed.released is not None
        return sealed.ledger.charge(
            Key.unsealed(sealed.number),
            lambda state: sealed.record(state, point, stamp, None, is_released=is_released).to_dict(),
        )

    # Published, it has the interval of its asking as well: what lies in both was released.
    return sealed.ledger.find(Key.final(sealed.number)) or with_bare_errors(open_and_charge)


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
