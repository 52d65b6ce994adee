"""One question from asking to answer: admit, look, charge, then answer."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from sklearn_ada._muted import muted
from sklearn_ada.accounting.unit_filter import RECORDS
from sklearn_ada.events import FAILURES, Symbol
from sklearn_ada.holdout.asker import Asker
from sklearn_ada.holdout.coded import CodedQuestion
from sklearn_ada.holdout.conversation import Conversation, RefusedError
from sklearn_ada.holdout.data import HoldoutData
from sklearn_ada.holdout.draw import Draw
from sklearn_ada.holdout.identity import member_key, question_key, subject_key
from sklearn_ada.holdout.interrupts import Interrupts, held_interrupts
from sklearn_ada.holdout.outcome import Share, answer_from_record
from sklearn_ada.holdout.privacy import epsilon_or_none, rho_or_none
from sklearn_ada.holdout.question import Question
from sklearn_ada.holdout.routes import read_outcome, worst_half_width
from sklearn_ada.ledger import Ledger, canonical_json
from sklearn_ada.metrics import UndefinedMetricError, UnusableOutputsError
from sklearn_ada.results import Answer

__all__ = ["another_error", "discarded_copy", "look", "put_question"]

_FAILURE_OF = (
    (UnusableOutputsError, FAILURES[4]),  # it and the next are ValueErrors
    (UndefinedMetricError, FAILURES[5]),
    (ValueError, FAILURES[0]),
    (TypeError, FAILURES[1]),
    (MemoryError, FAILURES[2]),
)


def put_question(
    question: Question,
    estimator: Any,
    data: HoldoutData,
    ledger: Ledger[Conversation],
    *,
    asker: Asker,
    model: str,
    round_name: str | None,
    once: bool,
) -> Answer | None:
    """Return the holdout's answer; charged and durable before it is returned.

    Parameters
    ----------
    asker : Asker
    model : str
        Digest of the fitted model, taken before it predicted anything.
    round_name : str or None
        The round that the question belongs to, if it was fixed together with others.
    once : bool
        Return None if the same model, metric and mechanism were asked before with another guess.
    """
    plan = question.describe()
    guess = {} if question.guess is None else question.guess.describe()
    outputs = "" if question.guess is None else question.guess.outputs
    subject = subject_key(model, question.metric, plan["name"], data.top_ups)
    key = question_key(subject, question.purpose, guess, outputs, plan)
    member = member_key(model, question.metric)
    if once and ledger.find_subject(subject) is not None and ledger.find(key) is None:
        return None

    def admitted(state: Conversation) -> Share:
        """Decide from the log alone: nothing that the holdout said about this question is in it."""
        exhausted = state.outgrown(data.top_ups) or question.exhausted(
            state.memory.get(question.memory_name, {})
        )
        if exhausted is not None:
            raise RefusedError(exhausted)
        share = state.share(question.purpose, round_name=state.open_round(round_name))
        if isinstance(question, CodedQuestion):
            share = state.declared(member, share)
        share = state.certified(question, share)
        if not state.admits(*worst_half_width(question, share)):
            raise RefusedError(_too_wide(question, state))
        return share

    def decide(state: Conversation) -> dict[str, Any]:
        share = admitted(state)
        try:
            return told(state, share, sealed)
        except Exception:  # whether it is raised may depend on the holdout, so this is an answer, too
            return told(state, share, uncoded)

    def told(state: Conversation, share: Share, sealed: Any) -> dict[str, Any]:
        """Return the record of an answer, known to be writable."""
        draw = Draw(secret, key, state.memory.get(question.memory_name, {}))
        event, memory = question.release(sealed, share, draw)
        body = {
            "kind": "answer",
            "subject": subject,
            "purpose": question.purpose,
            "round": state.open_round(round_name),
            **circumstances,
            "memory_name": question.memory_name,
            "memory": memory,
            "event": event.to_dict(),
            "price": state.account.price(event),
            "epsilon": epsilon_or_none(event),
            "rho": rho_or_none(event),
            **unit,
            "ln_delta": share.ln_certified,
            "nats": share.nats,
            "outcome": read_outcome(question, event, share, memory).describe(),
        }
        canonical_json(body)
        return body

    unit = _unit(question)
    uncoded = (Symbol(question.stream, FAILURES[6], question.scale),)
    circumstances = {
        "metric": question.metric.describe(),
        "mechanism": plan,
        "guess": guess,
        **asker.stamp(),
    }
    try:
        found = ledger.find(key, otherwise=admitted)
        if found is not None:
            return answer_from_record(found, ledger.genesis)
        secret, discarded = ledger.secret(), discarded_copy(estimator)
        with held_interrupts() as interrupts:
            sealed = look(
                question.evaluate, discarded, data, interrupts, stream=question.stream, scale=question.scale
            )
            record = ledger.charge(key, decide)
    except RefusedError as refused:
        # Not how it would have been answered: the noise of an AUC tells the class counts.
        asked = {**circumstances, "mechanism": {"name": plan["name"]}}
        body = {"kind": "refusal", "purpose": question.purpose, "reason": str(refused), **asked}
        record = ledger.charge(None, lambda state: body)
    return answer_from_record(record, ledger.genesis)


def look(
    evaluate: Callable[[Any, HoldoutData], Any],
    discarded: Any,
    data: HoldoutData,
    interrupts: Interrupts,
    *,
    stream: str,
    scale: float,
) -> Any:
    """Evaluate a discarded copy of a model; a failure is a symbol like any other.

    A ``KeyboardInterrupt`` of the model's own is a failure, too; `interrupts` raises it again in the end.
    Warnings raised on the way may quote holdout values, so they are dropped; where a filter turns them into
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
        # Its own type, as an error may have a ``__class__`` that raises another one.
        reason = next((text for kind, text in _FAILURE_OF if issubclass(type(error), kind)), None)
        if reason is not None:
            return (Symbol(stream, reason, scale),)
        is_interrupt = issubclass(type(error), KeyboardInterrupt)
        interrupts.raised |= is_interrupt
        return another_error(stream, scale, is_interrupt=is_interrupt)


def another_error(stream: str, scale: float, *, is_interrupt: bool) -> tuple[Symbol, ...]:
    """Return the symbols of an error of no kind that has a symbol of its own.

    That it is raised again, which only an interrupt is, tells the asker one of two things. So a second symbol
    always follows the first, for ln 2 nats.
    """
    return (Symbol(stream, FAILURES[3], scale), Symbol("index", int(is_interrupt), 2.0))


def discarded_copy(estimator: Any) -> Any:
    """Return a copy of a model, which may change when it predicts; TypeError if it cannot be copied."""
    try:
        return copy.deepcopy(estimator)
    except Exception as error:  # whatever the model's parts raise
        raise TypeError(
            "The 'estimator' parameter of Holdout.ask must be a model that can be copied. Got "
            f"{type(estimator).__name__} instead ({error}). Leave out what cannot be copied, such as a lock, "
            "or define __deepcopy__."
        ) from error


def _too_wide(question: Question, state: Conversation) -> str:
    return (
        f"the next {question.purpose} could be less precise than the tolerance of "
        f"{state.policy.tolerance:g}; use a larger tolerance with a new holdout, fewer questions, or more "
        "holdout rows"
    )


def _unit(question: Question) -> dict[str, Any]:
    """Return whose replacement the privacy of a question speaks of."""
    release = question.private_release({})
    if release is None:
        return {"unit": RECORDS, "family": None}
    return {"unit": release.unit, "family": release.family}
