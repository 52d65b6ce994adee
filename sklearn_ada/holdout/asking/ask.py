"""One question from asking to answer: admit it, look at the holdout, record and charge it, then answer.

A question that was asked before is looked at once more, and compared (`asking.confirm`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from sklearn_ada._muted import muted
from sklearn_ada.events import FAILURES, Symbol
from sklearn_ada.holdout.asking.admission import certified
from sklearn_ada.holdout.asking.confirm import (
    charge_or_confirm,
    find_versions,
    is_asked_anew,
    warn_of_asking_anew,
)
from sklearn_ada.holdout.asking.sealing import (
    foreseen_half_width,
    is_at_once,
    published_half_width,
    sealed_form,
    told_of,
)
from sklearn_ada.holdout.models.checks import discarded_copy, name_of_model
from sklearn_ada.holdout.models.keys import member_key, question_key, rounded, subject_key
from sklearn_ada.holdout.models.predictions import Predictions
from sklearn_ada.holdout.models.said import Observation, Said
from sklearn_ada.holdout.questions.coded import CodedQuestion
from sklearn_ada.holdout.questions.draw import Draw
from sklearn_ada.holdout.questions.filled import FilledCheck
from sklearn_ada.holdout.questions.of_rows import RowsQuestion, of_rows
from sklearn_ada.holdout.questions.question import Question
from sklearn_ada.holdout.questions.routes import read_outcome
from sklearn_ada.holdout.questions.sealed import SealedQuestion
from sklearn_ada.holdout.records.answer import AnswerRecord
from sklearn_ada.holdout.records.conversation import Conversation
from sklearn_ada.holdout.records.refusal import RefusalRecord
from sklearn_ada.holdout.records.sealed import SealedRecord
from sklearn_ada.holdout.records.state import RefusedError
from sklearn_ada.holdout.rows.data import HoldoutData
from sklearn_ada.holdout.session.bare_errors import with_bare_errors
from sklearn_ada.holdout.session.closing import as_closed
from sklearn_ada.holdout.session.interrupts import Interrupts, held_interrupts
from sklearn_ada.holdout.session.session import Session
from sklearn_ada.holdout.terms.failure_budget import FailureBudget
from sklearn_ada.ledger import Record, canonical_json
from sklearn_ada.metrics import UndefinedMetricError, UnusableOutputsError
from sklearn_ada.results import Answer

__all__ = ["FINAL", "another_error", "look", "put_question"]

FINAL = "final "
"""How the key begins of a question that was published when it was asked first."""

_FAILURE_OF = (
    (UnusableOutputsError, FAILURES[4]),  # it and the next are ValueErrors
    (UndefinedMetricError, FAILURES[5]),
    (ValueError, FAILURES[0]),
    (TypeError, FAILURES[1]),
    (MemoryError, FAILURES[2]),
)


def put_question(
    session: Session,
    question: Question,
    estimator: Any,
    *,
    model: str,
    round_name: str | None = None,
    once: bool = False,
    final: bool = False,
    known_as: str | None = None,
    candidates: int | None = None,
    looked: list[Any] | None = None,
) -> Answer | None:
    """Return the holdout's answer, which has been recorded and charged by then.

    The same question once more returns the recorded answer, for a thousandth of a nat if few differed before:
    see `asking.confirm`. A refused one returns an `Answer` without a value.

    Parameters
    ----------
    session : Session
    question : Question
        Made by `plan_question`.
    estimator : fitted estimator
    model : str
        Digest of the fitted model, taken before it predicted anything.
    round_name : str or None, default=None
        The round that the question belongs to, if it was fixed together with others.
    once : bool, default=False
        Return None if the same model, metric and mechanism were asked before with another guess.
    final : bool, default=False
        The tolerance does not refuse it, and an exact answer at once takes most of the purse.
    known_as : str or None, default=None
        The key under which it was asked before, where that is known.
    candidates : int or None, default=None
        Of how many candidates of one search it is a check, whether their round is open or not.
    looked : list or None, default=None
        Gets what the look gave, once that is recorded or confirmed. Whoever passes it clears it, and tells
        nobody before it is charged.
    """
    if known_as is None:
        question = answered_as(session, question, model, candidates, round_name)
    data, mechanism = session.data, question.describe()
    guess = {} if question.guess is None else question.guess.describe()
    outputs = "" if question.guess is None else question.guess.outputs
    subject, key = keys_of(session, question, model)
    if final and not isinstance(question, SealedQuestion):
        key = f"{FINAL}{key}"
    keys = [known_as] if known_as is not None else told_as(key)
    if once and session.ledger.find_subject(subject) is not None and not session.find_each(keys):
        return None
    key = keys[0]
    member, release = member_key(model, question.metric), question.private_release({})
    stamp = session.asker.stamp()
    begun: list[float] = []  # the nats when it was fixed
    asked = {"metric": question.metric.describe(), "mechanism": mechanism, "guess": guess, **stamp}
    asked["model"] = name_of_model(estimator)

    def member_of(version: str) -> str:
        """Return the key of the declared model; none where the digest has turned out to be of two models."""
        return member if version == key else ""

    def admitted(state: Conversation, version: str = key) -> FailureBudget:
        begun.append(state.account.nats)
        return _admitted(session, question, state, round_name, member_of(version), final=final)

    def answered(
        version: str, said: str, state: Conversation, share: FailureBudget, seen: Any
    ) -> AnswerRecord:
        """Return the record of an answer, after checking that it can be written as JSON."""
        draw = Draw(secret, version, state.mechanism_states.get(question.state_name, {}))
        event, mechanism_state = question.release(seen, share, draw)
        sealed = question if isinstance(question, SealedQuestion) else None
        in_round = state.open_round(round_name)
        if sealed is None:
            outcome = read_outcome(question, event, share, mechanism_state)
        else:
            in_order = begun[0] == state.account.nats and state.is_alone(in_round)
            outcome = sealed.outcome(event, share, told_of(state, sealed, event) if in_order else None)
        record = (AnswerRecord if sealed is None else SealedRecord).of(
            state,
            {
                **asked,
                "subject": subject,
                "purpose": question.purpose,
                "round": in_round,
            },
            event,
            share,
            outcome,
            release=release,
            state_name=question.state_name,
            mechanism_state=mechanism_state,
            said=said,
            is_unconfirmed=session.policy.is_private and not outputs,
            given_rows=isinstance(estimator, Predictions),
            declared=isinstance(question, CodedQuestion | FilledCheck | SealedQuestion | RowsQuestion)
            and state.is_declared(member_of(version)),
        )
        if sealed is not None:
            assert isinstance(record, SealedRecord)
            kept = session.sealed(seen, version, secret) if isinstance(seen, int) else None
            published = published_half_width(state, sealed.statistic, event, share)
            record = record.sealing(kept, sealed.coded.target, published)
        canonical_json(record.to_dict())
        return record

    def look_and_charge() -> Record:
        """Look at the holdout and return the record of the answer (`charge_or_confirm`)."""
        with held_interrupts() as interrupts:
            observation = look(
                question.evaluate, discarded, data, interrupts, stream=question.stream, scale=question.scale
            )

            def decide(version: str, said: str, state: Conversation) -> AnswerRecord:
                share = admitted(state, version)
                try:
                    return answered(version, said, state, share, observation.seen)
                except Exception:  # whether it is raised may depend on the holdout, so this is an answer, too
                    failure = (Symbol(question.stream, FAILURES[6], question.scale),)
                    return answered(version, said, state, share, failure)

            compared = {"purpose": question.purpose, "metric": asked["metric"], **stamp}
            record = charge_or_confirm(
                session, key, _comparable(session, question, observation), decide, compared,
                found=found, anew=anew,
            )  # fmt: skip
            if looked is not None:
                looked.append(observation.seen)
            interrupts.raised &= record.fresh  # what was recorded before is an answer
        return record

    try:
        found = find_versions(session, keys, admitted)
        if found:
            key = str(found[0].key)
            begun.append(math.nan)  # should it be another model, nothing is known of the order
        anew = is_asked_anew(session, [estimator], outputs)
        if found and anew:
            warn_of_asking_anew(session, "Give validation rows: guess_from=(X_val, y_val).")
        if anew or not (found and session.policy.is_private):
            secret = session.secret
            discarded = discarded_copy(estimator, f"Holdout.{question.purpose}")
            told = with_bare_errors(look_and_charge)
        else:
            told = found[0]
    except RefusedError as refused:
        # The mechanism's name only: its parameters, such as the noise of an AUC, can tell the class counts.
        refusal = RefusalRecord.of(
            question.purpose, str(refused), {**asked, "mechanism": {"name": mechanism["name"]}}
        )
        return refusal.answer(session.charge(None, lambda state: refusal), session.genesis)
    return as_closed(session.ledger, told).answer(told, session.genesis)


def _comparable(session: Session, question: Question, observation: Observation) -> Said:
    """Return what a record keeps of what a model said, for comparisons.

    Values of the metric are among it, hidden by the ledger's secret. Where only the holder of a private key
    may read them, what was released stands in their place: 10,000 counts are searched in no time.
    """
    if session.policy.seal_key is None:
        return observation.said
    seen = observation.seen
    if isinstance(question, SealedQuestion) and isinstance(seen, int):
        return observation.said.without_values(question.statistic.cell_of(seen))
    symbols = seen if isinstance(seen, tuple) and all(isinstance(each, Symbol) for each in seen) else ()
    return observation.said.without_values([symbol.to_dict() for symbol in symbols])


def keys_of(session: Session, question: Question, model: str) -> tuple[str, str]:
    """Return the keys of what a question is about, and of the question."""
    mechanism, known = question.describe(), question.guess
    guess = {} if known is None else known.describe()
    subject = subject_key(model, question.metric, mechanism["name"], session.data.first_like)
    # Nothing may count that differs in its last bits from run to run.
    if session.policy.is_private:
        named, digits = "" if known is None else known.outputs, 9
    else:  # the holdout confirms; of rows that are known, the guess is known but for noise
        named = "" if known is None else known.rows
        digits = 3 if named else 9
    key = question_key(subject, question.purpose, rounded(guess, digits), named, rounded(mechanism, digits))
    return subject, key


def told_as(key: str) -> list[str]:
    """Return the keys under which a question may have been told: its own, and that of a final answer."""
    return [key] if key.startswith(FINAL) else [key, f"{FINAL}{key}"]


def answered_as(
    session: Session,
    question: Question,
    model: str,
    candidates: int | None = None,
    round_name: str | None = None,
) -> Question:
    """Return the question as this ledger answers it: a certify with a cell, or at once.

    With ``answers="auto"`` the first certify of a ledger is answered at once, and so is the same again. What
    an older release has answered with the interval of its value alone is that question still.
    """
    sealed = sealed_form(question, session.data, session.policy, candidates)
    if sealed is None:
        rows = (
            of_rows(question, session.data, session.policy) if isinstance(question, CodedQuestion) else None
        )
        if rows is None or session.find(keys_of(session, question, model)[1]) is not None:
            return question
        return rows
    if session.policy.answers == "auto" and question.purpose == "certify":
        _, key = keys_of(session, question, model)
        if session.read(lambda state: state.is_first(round_name)) or session.find_each(told_as(key)):
            return question
    return sealed


def _admitted(
    session: Session,
    question: Question,
    state: Conversation,
    round_name: str | None,
    member: str,
    *,
    final: bool,
) -> FailureBudget:
    """Return what the question may spend; earlier records decide, never what the holdout would answer.

    A refusal that depended on the answer would reveal something about it, for nothing.

    Raises
    ------
    RefusedError
        If it is not admitted.
    """
    mechanism_state = state.mechanism_states.get(question.state_name, {})
    exhausted = state.outgrown(session.fingerprint) or question.exhausted(mechanism_state)
    if exhausted is not None:
        raise RefusedError(exhausted)
    is_sealed = isinstance(question, SealedQuestion)
    share = state.share(
        question.purpose,
        round_name=state.open_round(round_name),
        at_once=is_at_once(question),
        final=final and not is_sealed,
    )
    if is_sealed or isinstance(question, CodedQuestion | FilledCheck | RowsQuestion):
        share = state.declared(member, share)
    share = certified(state, question, share)
    admits_all = final or (is_sealed and state.policy.tolerance is None)  # then no interval need be found
    if not admits_all and not state.admits(*foreseen_half_width(state, question, share)):
        kept = "certify the model that is kept, " if question.purpose == "check" else ""
        raise RefusedError(
            f"the next {question.purpose} could be less precise than the tolerance of "
            f"{state.policy.tolerance:g}; {kept}add fresh rows (top_up; plan_holdout says how many), or "
            "take rows that nobody has asked about"
        )
    return share


def look(
    evaluate: Callable[[Any, HoldoutData], Observation],
    discarded: Any,
    data: HoldoutData,
    interrupts: Interrupts,
    *,
    stream: str,
    scale: float,
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
        return Observation(symbols, Said.of(symbols))


def another_error(stream: str, scale: float, *, is_interrupt: bool) -> tuple[Symbol, ...]:
    """Return the symbols of an error of a type that has no symbol of its own.

    The asker can tell whether it was an interrupt, which is raised again. That is one of two outcomes, so a
    second symbol always follows the first, for ln 2 nats.
    """
    return (Symbol(stream, FAILURES[3], scale), Symbol("index", int(is_interrupt), 2.0))
