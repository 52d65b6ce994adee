"""One question from asking to answer: admit it, look at the holdout, record and charge it, then answer.

A question that was asked before is looked at once more, and compared (`asking.confirm`).
"""

from __future__ import annotations

import functools
import math
from typing import Any

from sklearn_ada.events import FAILURES, Symbol
from sklearn_ada.holdout.asking.admission import admitted, may_be_declared
from sklearn_ada.holdout.asking.as_answered import FINAL, answered_as, keys_of, told_as
from sklearn_ada.holdout.asking.confirm import (
    charge_or_confirm,
    find_versions,
    is_asked_anew,
    warn_of_asking_anew,
)
from sklearn_ada.holdout.asking.look import comparable, look
from sklearn_ada.holdout.asking.sealing import (
    published_half_width,
    told_of,
)
from sklearn_ada.holdout.models.checks import discarded_copy, name_of_model
from sklearn_ada.holdout.models.keys import member_key
from sklearn_ada.holdout.models.predictions import Predictions
from sklearn_ada.holdout.questions.draw import Draw
from sklearn_ada.holdout.questions.question import Question
from sklearn_ada.holdout.questions.routes import read_outcome
from sklearn_ada.holdout.questions.sealed import SealedQuestion
from sklearn_ada.holdout.records.answer import AnswerRecord
from sklearn_ada.holdout.records.conversation import Conversation
from sklearn_ada.holdout.records.refusal import RefusalRecord
from sklearn_ada.holdout.records.sealed import SealedRecord
from sklearn_ada.holdout.records.state import RefusedError
from sklearn_ada.holdout.session.bare_errors import with_bare_errors
from sklearn_ada.holdout.session.closing import as_closed
from sklearn_ada.holdout.session.interrupts import held_interrupts
from sklearn_ada.holdout.session.session import Session
from sklearn_ada.holdout.terms.failure_budget import FailureBudget
from sklearn_ada.ledger import Record, canonical_json
from sklearn_ada.results import Answer

__all__ = ["put_question"]


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
    subject, key = keys_of(session, question, model)
    if final and not isinstance(question, SealedQuestion):
        key = f"{FINAL}{key}"
    keys = [known_as] if known_as is not None else told_as(key)
    if once and session.ledger.find_subject(subject) is not None and not session.find_each(keys):
        return None
    return _Inquiry(session, question, estimator, model, subject, keys, round_name, final).answer(looked)


class _Inquiry:
    """One question to a holdout, from the search for what is recorded of it to its answer.

    Parameters
    ----------
    session, question, estimator, model, round_name, final
        As `put_question` takes them; the question as this ledger answers it.
    subject : str
        Key of what it is about.
    keys : list of str
        Under which it may have been recorded before; a new one is recorded under the first.
    """

    def __init__(
        self,
        session: Session,
        question: Question,
        estimator: Any,
        model: str,
        subject: str,
        keys: list[str],
        round_name: str | None,
        final: bool,
    ) -> None:
        self._session, self._question, self._estimator = session, question, estimator
        self._round_name, self._final = round_name, final
        self._subject, self._keys, self._key = subject, keys, keys[0]
        self._member = member_key(model, question.metric)
        self._outputs = "" if question.guess is None else question.guess.outputs
        self._stamp = session.asker.stamp()
        self._asked: dict[str, Any] = {
            "metric": question.metric.describe(),
            "mechanism": question.describe(),
            "guess": {} if question.guess is None else question.guess.describe(),
            **self._stamp,
            "model": name_of_model(estimator),
        }
        self._release = question.private_release({})
        self._begun = math.nan  # the nats when it was fixed

    def answer(self, looked: list[Any] | None) -> Answer:
        """Return the answer, recorded and charged; ``looked`` gets what the look gave."""
        session = self._session
        try:
            record = self._recorded(looked)
        except RefusedError as refused:
            # The mechanism's name only: its parameters, such as the noise of an AUC, can tell class counts.
            asked = {**self._asked, "mechanism": {"name": self._asked["mechanism"]["name"]}}
            refusal = RefusalRecord.of(self._question.purpose, str(refused), asked)
            return refusal.answer(session.charge(None, lambda state: refusal), session.genesis)
        return as_closed(session.ledger, record).answer(record, session.genesis)

    def _recorded(self, looked: list[Any] | None) -> Record:
        """Return the record of the answer: one that was there, confirmed, or a new one."""
        session, purpose = self._session, self._question.purpose
        found = find_versions(session, self._keys, self._fix)
        if found:
            self._key = str(found[0].key)
        anew = is_asked_anew(session, [self._estimator], self._outputs)
        if found and anew:
            warn_of_asking_anew(session, "Give validation rows: guess_from=(X_val, y_val).")
        if found and session.policy.is_private and not anew:
            return found[0]
        secret = session.secret  # which cannot be read inside a charge
        discarded = discarded_copy(self._estimator, f"Holdout.{purpose}")

        def look_and_charge() -> Record:
            with held_interrupts() as interrupts:
                observation = look(
                    self._question.evaluate, discarded, session.data, interrupts,
                    stream=self._question.stream, scale=self._question.scale,
                )  # fmt: skip
                record = charge_or_confirm(
                    session, self._key, comparable(session, self._question, observation),
                    functools.partial(self._decide, observation.seen, secret),
                    {"purpose": purpose, "metric": self._asked["metric"], **self._stamp},
                    found=found, anew=anew,
                )  # fmt: skip
                if looked is not None:
                    looked.append(observation.seen)
                interrupts.raised &= record.fresh  # what was recorded before is an answer
            return record

        return with_bare_errors(look_and_charge)

    def _fix(self, state: Conversation) -> None:
        """Note the nats at which a new question is fixed, after it is admitted."""
        self._admitted(state, self._key)
        self._begun = state.account.nats

    def _decide(self, seen: Any, secret: bytes, version: str, said: str, state: Conversation) -> AnswerRecord:
        """Return the record of the answer, from what was seen; decided inside the charge."""
        share = self._admitted(state, version)
        try:
            return self._answered(seen, secret, version, said, state, share)
        except Exception:  # whether it is raised may depend on the holdout, so this is an answer, too
            failure = (Symbol(self._question.stream, FAILURES[6], self._question.scale),)
            return self._answered(failure, secret, version, said, state, share)

    def _answered(
        self, seen: Any, secret: bytes, version: str, said: str, state: Conversation, share: FailureBudget
    ) -> AnswerRecord:
        """Return the record of an answer, after checking that it can be written as JSON."""
        session, question = self._session, self._question
        draw = Draw(secret, version, state.mechanism_states.get(question.state_name, {}))
        event, mechanism_state = question.release(seen, share, draw)
        sealed = question if isinstance(question, SealedQuestion) else None
        in_round = state.open_round(self._round_name)
        if sealed is None:
            outcome = read_outcome(question, event, share, mechanism_state)
        else:
            in_order = self._begun == state.account.nats and state.is_alone(in_round)
            outcome = sealed.outcome(event, share, told_of(state, sealed, event) if in_order else None)
        record = (AnswerRecord if sealed is None else SealedRecord).of(
            state,
            {**self._asked, "subject": self._subject, "purpose": question.purpose, "round": in_round},
            event,
            share,
            outcome,
            release=self._release,
            state_name=question.state_name,
            mechanism_state=mechanism_state,
            said=said,
            is_unconfirmed=session.policy.is_private and not self._outputs,
            given_rows=isinstance(self._estimator, Predictions),
            declared=may_be_declared(question) and state.is_declared(self._member_of(version)),
        )
        if sealed is not None:
            assert isinstance(record, SealedRecord)
            kept = session.sealed(seen, version, secret) if isinstance(seen, int) else None
            published = published_half_width(state, sealed.statistic, event, share)
            record = record.sealing(kept, sealed.coded.target, published)
        canonical_json(record.to_dict())
        return record

    def _member_of(self, version: str) -> str:
        """Return the key of the declared model; none where the digest has turned out to be of two models."""
        return self._member if version == self._key else ""

    def _admitted(self, state: Conversation, version: str) -> FailureBudget:
        """Return what the question may spend; RefusedError if it is not admitted."""
        member = self._member_of(version)
        return admitted(self._session, self._question, state, self._round_name, member, final=self._final)
