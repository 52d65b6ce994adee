"""Publish the exact value of the one model that is kept; close a holdout.

A published value, the final one, is certified with most of what is left of the purse. It is a question like
any other, asked after all others, so it pays for everything that was revealed. But it is about a model that
was asked before, whose sealed value keeps the level of its asking; both intervals hold together, and what
lies in both is released (`sklearn_ada.guarantees.intersection`). A model that was never asked is asked first,
which costs hundredths of a nat if its guess holds. What is answered exactly is asked with the stake of a
final; if its value was released before, nothing more is revealed, and that is nearly free.
"""

from __future__ import annotations

import math
from dataclasses import replace

from sklearn_ada._notices import warn_user
from sklearn_ada.accounting.events import CodedRelease, Symbol
from sklearn_ada.answer import Answer
from sklearn_ada.guarantees.description_length import AT_ONCE, intersection
from sklearn_ada.holdout.asking import SeenPoint, answer_to, first_version, put_question, refuse
from sklearn_ada.holdout.framing import DRAWN, Ask, Framed, in_form, plan_question
from sklearn_ada.holdout.looking import apart, with_bare_errors
from sklearn_ada.holdout.pending import charge
from sklearn_ada.holdout.records import (
    ASKED,
    CloseRecord,
    Key,
    SealedRecord,
    UnsealedRecord,
    read_answer,
    read_record,
)
from sklearn_ada.holdout.session import Session
from sklearn_ada.holdout.state import RefusedError, State
from sklearn_ada.holdout.unsealing import Sealed
from sklearn_ada.ledger.hash_chain import Ledger, Record
from sklearn_ada.metrics.metric import metric_of_record
from sklearn_ada.questions.question import Draw, Guess, Question
from sklearn_ada.questions.sealed import as_recorded
from sklearn_ada.questions.seals import SealedInterval
from sklearn_ada.terms.models import lasting_identity, subject_key
from sklearn_ada.terms.policy import Asker


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
    with (
        SeenPoint() as looked
    ):  # what was sealed with a public key is computed from rows and model, not opened
        answer = answer_to(session, framed, looked)
        is_other = earlier is not None and answer.repeated and answer.index != earlier.seq
        if is_other and framed.question.seal is not None:
            return publish(session, asked, question, answer.index)  # a version that its own asking has tuned
        is_final = framed.question.seal is None and (earlier is None or Key.is_final(earlier))
        if is_final or not answer.answered:
            return answer
        return _release_final(session, framed.question, answer.index, looked)


def with_recorded_guess(session: Session, asked: Ask) -> tuple[Ask, int | None]:
    """Return what is asked with the metric and guess of its record, and the number of that.

    Only where validation rows must tune the metric, and none are given: a sealed answer on record was tuned.

    Parameters
    ----------
    session : Session
    asked : Ask
        To be published.
    """
    metric = asked.metric
    given = (asked.guess, asked.guess_from, asked.settings)
    takes_rows = metric.is_tuned or session.data.takes_rows(metric)
    if not (session.policy.seals and takes_rows) or any(each is not None for each in given):
        return asked, None
    certified = metric.of_all_rows() if metric.has_interval_of_all_rows else metric
    identity, data = lasting_identity(certified, session.data), session.data
    for mechanism in ("sealed", f"sealed{DRAWN}") if asked.drawn else ("sealed",):
        about = subject_key(asked.subject.digest, identity, mechanism, data.first_like)
        record = session.ledger.find_subject(about)
        before = None if record is None else read_answer(record)
        if record is not None and before is not None and before.outcome.reason is None and before.guess:
            metric = metric_of_record(certified, before.metric)
            return replace(asked, metric=metric, guess=Guess(**before.guess)), record.seq
    return asked, None


def _as_asked_before(
    session: Session, asked: Ask, question: Question, number: int | None
) -> tuple[Framed, Record | None]:
    """Return a question in the form to ask it in, and its earlier record."""
    unpublished, in_this_form = replace(asked, publish=False), question
    earlier = None if number is None else session.ledger.record(number)
    released = None if earlier is None else read_record(earlier.body)
    if isinstance(released, UnsealedRecord):  # by an earlier publication
        earlier = session.ledger.record(released.number)
    if earlier is not None and not asked.drawn and needs_secret(session, earlier):
        earlier = None
    if earlier is None:
        in_this_form = in_form(session, unpublished, question)
        earlier = _asked_before(session, unpublished, in_this_form)
        earlier = earlier or _asked_before(session, unpublished, question)
    if earlier is None:
        return Framed.of(session, asked, in_this_form), None
    before = read_answer(earlier)
    metric, data, policy = metric_of_record(question.metric, before.metric), session.data, session.policy
    guess = Guess(**before.guess) if before.guess else None
    recorded = as_recorded(question, metric, guess, before.mechanism, data, policy)
    if recorded is question:  # a median, whose symbols are steps from the guess of its asking
        recorded = plan_question(session, replace(unpublished, metric=metric, guess=guess, guess_from=None))
    asked = unpublished if recorded.seal is None else asked
    return Framed.of(session, asked, recorded, first_version(str(earlier.key))), earlier


def _asked_before(session: Session, asked: Ask, question: Question) -> Record | None:
    """Return the first record about this model and metric, whatever its guess was.

    A stable median is found only under the same question.
    """
    framed = Framed.of(session, asked, question)
    if not question.is_found_by_subject:
        return session.ledger.find(framed.keys[0])
    each = (session.ledger.find_subject(key) for key in (framed.subject_key, *framed.other_subjects))
    found = next((record for record in each if record is not None), None)
    return None if found is not None and not asked.drawn and needs_secret(session, found) else found


def needs_secret(session: Session, record: Record) -> bool:
    """Return whether a recorded interval may be drawn from the secret; older formats do not say which is."""
    read = read_answer(record)
    return read.drawn or (session.policy.format < 3 and "interval" in read.mechanism)


def _warn_of_another_final(session: Session, earlier: Record | None) -> None:
    """Warn, before the charge, if another value was published and took most of the purse."""
    keeps_interval = earlier is not None and (  # an exact one keeps the interval that it has
        not isinstance(read_record(earlier.body), SealedRecord)
        or session.ledger.find(Key.final(earlier.seq)) is not None
    )
    if keeps_interval or not session.ledger.read(_has_published):
        return
    first = next((record.seq for record in session.ledger.records() if Key.is_final(record)), None)
    before = "released before, without publish()" if first is None else f"published before (record {first})"
    warn_user(
        f"A score was {before}. It took most of the failure probability that this holdout has "
        "for published scores, and this one pays for what the first revealed, so its interval is about "
        "twice as wide. Both hold. Publish once, the model that is kept, after the last search."
    )


def _has_published(state: State) -> bool:
    """Return whether a value was published, or released at once: only that leaves so little of the purse."""
    assert state.purse is not None
    return state.finals > 0 or state.purse.left < 1.0 - AT_ONCE + 1e-9


def _release_final(session: Session, question: Question, number: int, looked: SeenPoint) -> Answer:
    """Publish the value of a recorded question and return the answer, or the recorded refusal."""
    record = session.ledger.record(number)
    assert record is not None
    try:
        final = with_bare_errors(lambda: _record_final(session, question, record, looked))
    except RefusedError as refused:
        before, stamp = read_answer(record), session.asker.stamp()
        entry = {name: getattr(before, name) for name in ASKED} | {"purpose": "certify"}
        return refuse(session, str(refused), **entry, **stamp)
    return UnsealedRecord.from_dict(final.body).answer(final, session.genesis)


def _record_final(session: Session, question: Question, record: Record, looked: SeenPoint) -> Record:
    """Return the record of the final answer, for a question that ``record`` has answered before.

    ``looked`` holds what a look at the holdout gave for it.
    """
    number, stamp, before = record.seq, session.asker.stamp(), read_answer(record)
    sealed = Sealed(session.ledger, number) if isinstance(before, SealedRecord) else None
    # Of a window it is computed from rows and model, by a look that has just been confirmed.
    anew = sealed is not None and isinstance(sealed.seal, SealedInterval)
    point = 0 if sealed is None or anew else sealed.point(seen=looked.seen)
    draw, seen = None if sealed is None else Draw(session.secret, sealed.key), looked.seen
    is_released = sealed is not None and sealed.released is not None

    def decide(state: State) -> UnsealedRecord:
        outgrown = state.why_outgrown(session.fingerprint)
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
            assert draw is not None
            ends = (before.ln_delta, draw, allowance.ln_delta)
            of_final = apart(question.point, question.metric)(seen, *ends) if anew else point
            return sealed.record(state, of_final, stamp, allowance, is_released=is_released)
        # A released value certifies the stake of a final, too; the symbol is the only one there can be.
        now = question.described_outcome(before.event, allowance, before.memory or {})
        interval = intersection(now.interval, [before.outcome.interval])
        outcome = replace(before.outcome, interval=interval, levels=now.levels)
        event = CodedRelease((Symbol("index", 0, 1.0),))
        return UnsealedRecord.of(state, before, event, allowance, number=number, outcome=outcome, **stamp)

    return session.charge(Key.final(number), decide)


def close(ledger: Ledger[State], asker: Asker) -> None:
    """Record that nothing new is answered any more. See `Holdout.close`."""
    charge(ledger, Key.CLOSE, lambda state: CloseRecord(**asker.stamp()))
