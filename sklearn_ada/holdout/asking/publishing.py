"""The final certify: the exact value of a model that is kept, with most of what is left of the weights.

It is a question like any other, asked when all else is known, so it pays for everything that was said. But it
is about a model that was asked before, whose sealed value keeps the level of its asking; both intervals hold
together, and what lies in both is told (`sklearn_ada.guarantees.description_length.shares`). A model that was
never asked is asked first, which costs hundredths of a nat if its guess holds. What has no cells is asked
with the weight of a final; if its value was told before, nothing is told again, and that is nearly free.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from sklearn_ada._notices import warn_user
from sklearn_ada.events import CodedRelease, Symbol
from sklearn_ada.guarantees.description_length.shares import intersection
from sklearn_ada.guarantees.description_length.wealth import FINAL as FINAL_SHARE
from sklearn_ada.holdout.asking.as_answered import FINAL, answered_as, keys_of
from sklearn_ada.holdout.asking.ask import put_question
from sklearn_ada.holdout.asking.unsealing import Unsealer, is_unsealed
from sklearn_ada.holdout.questions.coded import CodedQuestion
from sklearn_ada.holdout.questions.guess import Guess
from sklearn_ada.holdout.questions.of_rows import told_value_alone
from sklearn_ada.holdout.questions.question import Question
from sklearn_ada.holdout.questions.sealed import SealedQuestion
from sklearn_ada.holdout.questions.sealed_statistics import statistic_from
from sklearn_ada.holdout.records.answer import AnswerRecord
from sklearn_ada.holdout.records.conversation import Conversation, read_record
from sklearn_ada.holdout.records.refusal import RefusalRecord
from sklearn_ada.holdout.records.sealed import SealedRecord, UnsealedRecord
from sklearn_ada.holdout.records.state import RefusedError
from sklearn_ada.holdout.session.bare_errors import with_bare_errors
from sklearn_ada.holdout.session.session import Session
from sklearn_ada.holdout.terms.failure_budget import FailureBudget
from sklearn_ada.holdout.terms.outcome import Outcome
from sklearn_ada.ledger import Record
from sklearn_ada.results import Answer

__all__ = ["publish"]

_SAID_BEFORE = Symbol("index", 0, 1.0)  # the only one there can be


def publish(
    session: Session, question: Question, estimator: Any, *, model: str, number: int | None = None
) -> Answer:
    """Return the final answer about a model, which has been recorded and charged by then.

    Parameters
    ----------
    session : Session
    question : Question
        A certify, made by `plan_question`.
    estimator : fitted estimator
    model : str
        Digest of the fitted model, taken before it predicted anything.
    number : int or None, default=None
        Of the record in which the model was asked before; None looks for it. That it is the same model the
        holdout confirms, at a price.
    """
    if not session.policy.seals:  # every certify is final
        return _answered(put_question(session, question, estimator, model=model))
    earlier = None if number is None else session.ledger.record(number)
    planned = answered_as(session, question, model) if earlier is None else question
    if earlier is None:
        earlier = _asked_before(session, planned, model) or _asked_before(session, question, model)
    if earlier is not None:
        planned = _as_it_was_asked(session, question, model, earlier)
    _warn_of_another_final(session, earlier)
    known_as = None if earlier is None else str(earlier.key).split(" version ")[0]
    final = earlier is None or isinstance(planned, SealedQuestion)
    was_final = earlier is None or str(earlier.key).startswith(FINAL)
    # What the look gave: what was sealed with a public key is computed from rows and model, not opened.
    looked: list[Any] = []
    try:
        answer = _answered(
            put_question(
                session, planned, estimator, model=model, final=final, known_as=known_as, looked=looked
            )
        )
        if not answer.answered or (was_final and not isinstance(planned, SealedQuestion)):
            return answer
        record = session.ledger.record(answer.index)
        assert record is not None
        try:
            told = with_bare_errors(lambda: _told(session, planned, record, looked))
        except RefusedError as refused:
            stamp = session.asker.stamp()
            named = ("metric", "mechanism", "guess", "model")
            asked = {name: record.body[name] for name in named if name in record.body}
            refusal = RefusalRecord.of("certify", str(refused), {**asked, **stamp})
            return refusal.answer(session.charge(None, lambda state: refusal), session.genesis)
        return UnsealedRecord(told.body).answer(told, session.genesis)
    finally:
        looked.clear()  # or the frames of an error would hold it


def _warn_of_another_final(session: Session, earlier: Record | None) -> None:
    """Warn, before it is charged, where another value was published, which took most of the weights."""
    known = earlier is not None and (  # told exactly, it keeps the interval that it has
        earlier.body["kind"] != SealedRecord.kind or session.ledger.find(f"{FINAL}{earlier.seq}") is not None
    )
    if known or not session.read(_has_published):
        return
    first = next((each.seq for each in session.ledger.records() if str(each.key).startswith(FINAL)), None)
    where = "" if first is None else f" (record {first})"
    warn_user(
        f"A final value was published before{where}, with most of the weights of this holdout. "
        "This one has a twentieth of what was left, and pays for what the first has revealed, so its "
        "interval is much wider. Both hold. Publish once, the model that is kept, after the last search."
    )


def _has_published(state: Conversation) -> bool:
    """Return whether a final took its part: all that may come before one leaves more of the purse."""
    assert state.purse is not None
    return state.finals > 0 or state.purse.left <= 1.0 - FINAL_SHARE


def _asked_before(session: Session, question: Question, model: str) -> Record | None:
    """Return the first record about a model; of a median only that of the very question."""
    subject, key = keys_of(session, question, model)
    if isinstance(question, CodedQuestion | SealedQuestion):
        return session.ledger.find_subject(subject)
    return session.find(key)


def _as_it_was_asked(session: Session, question: Question, model: str, earlier: Record) -> Question:
    """Return the question with the guess of its asking, which has fixed its cells."""
    if not isinstance(question, CodedQuestion):
        return question
    guess = Guess(**earlier.body["guess"])
    if earlier.body["kind"] == SealedRecord.kind:
        sealed = SealedQuestion(question, statistic_from(earlier.body["mechanism"]))
        return sealed.of(sealed.statistic, guess)
    data, policy = session.data, session.policy
    class_mix = policy.class_mix == "conditional" and data.is_classification
    coded = CodedQuestion.plan("certify", question.metric, guess, data, policy, class_mix=class_mix)
    return told_value_alone(coded, earlier.body["mechanism"])


def _told(session: Session, question: Question, record: Record, looked: list[Any]) -> Record:
    """Return the record of the final answer about what a record answered; ``looked`` is what a look gave."""
    number, stamp, read = record.seq, session.asker.stamp(), read_record(record.body)
    unsealer = Unsealer(session.ledger, number) if isinstance(read, SealedRecord) else None
    seen = next((each for each in looked if isinstance(each, int)), None)
    point = 0 if unsealer is None else unsealer.point(seen)
    is_known = unsealer is not None and is_unsealed(session.ledger, number)

    def decide(state: Conversation) -> UnsealedRecord:
        outgrown = state.outgrown(session.fingerprint)
        if outgrown is not None:
            raise RefusedError(outgrown)
        share = state.share("certify", final=True)
        if share.ln_delta == -math.inf:
            raise RefusedError(
                "nothing is left of the weights of this holdout, which sum to 1: other values were published "
                "before. What is left: cells, which certify by what was said so far (certify without "
                "final=True), and unsealing, at the level of the asking"
            )
        if unsealer is not None:
            return unsealer.record(state, point, stamp, share, is_known=is_known)
        assert isinstance(read, AnswerRecord)
        return _once_more(state, question, read, number, share, stamp)

    return session.charge(f"final {number}", decide)


def _once_more(
    state: Conversation,
    question: Question,
    answered: AnswerRecord,
    number: int,
    share: FailureBudget,
    stamp: dict[str, Any],
) -> UnsealedRecord:
    """Return what a value that was told before certifies with the share of a final, too."""
    before = Outcome.from_dict(answered.body["outcome"])
    now = question.read(answered.event, share, answered.body["memory"])
    levels = None if now.levels is None else now.levels
    outcome = replace(before, interval=intersection(now.interval, [before.interval]), levels=levels)
    event = CodedRelease((_SAID_BEFORE,))
    return UnsealedRecord.of_sealed(state, answered, number, event, outcome, stamp, share)


def _answered(answer: Answer | None) -> Answer:
    assert answer is not None  # None is for once=True only
    return answer
