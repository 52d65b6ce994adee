"""Answer one question: find its record, else admit it, look at the holdout and charge it.

1. *Find.* The ledger is asked whether the question is on record (`sklearn_ada.holdout.confirming`).
2. *Admit.* Earlier records alone decide whether a new question is admitted, and what it may spend
   (`allowance_or_refuse`): a refusal that depended on the answer would reveal something about it for nothing.
   A question is refused if its interval could be wider than the tolerance, if its mechanism or its holdout
   answers no more, or if nothing is left that could certify it.
3. *Look.* The model predicts the holdout.
4. *Charge.* What was seen becomes a record, or the confirmation of one, before anything of it is returned.

**The interval** of an answer is by description length, by privacy, or by both. With both routes each has half
of the failure probability, so the intersection of their intervals holds.

The interval of a sealed answer follows from two theorems, of which the transcript theorem needs an order of
the answers that the rows do not decide. A question on its own was fixed by what was recorded when it was
begun; if something else was recorded between that and its own record (by a thread, or by a colleague), who
came first may have been decided by the rows, so then description length speaks alone. In a round it does
until that is closed (`session.close_round`).
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sklearn_ada.accounting.events import FAILURES, Event, Symbol
from sklearn_ada.answer import Answer
from sklearn_ada.guarantees.description_length import Purse
from sklearn_ada.holdout.confirming import Proposal
from sklearn_ada.holdout.framing import Ask, Framed, frame
from sklearn_ada.holdout.records import AnswerRecord, RefusalRecord, SealedRecord
from sklearn_ada.holdout.session import Session, held_interrupts, look, with_bare_errors
from sklearn_ada.holdout.state import RefusedError, State
from sklearn_ada.ledger.hash_chain import Record, canonical_json
from sklearn_ada.questions.question import Draw, LossCount, Question, Transcript
from sklearn_ada.terms.outputs import Observation, OutputSummary
from sklearn_ada.terms.policy import Allowance


def put_question(session: Session, asked: Ask, question: Question) -> Answer:
    """Return the holdout's answer, which has been recorded and charged by then.

    The same question once more returns the recorded answer, for a thousandth of a nat if few differed before.
    A refused one returns an `Answer` without a value. ``question`` is what `plan_question` made of it.
    """
    return answer_to(session, frame(session, asked, question))


def put_once(session: Session, asked: Ask, question: Question) -> Answer | None:
    """Return `put_question`; None if model, metric and mechanism were asked before with another guess."""
    framed = frame(session, asked, question)
    if session.ledger.find_subject(framed.subject) is not None and not session.ledger.find_each(framed.keys):
        return None
    return answer_to(session, framed)


def answer_to(session: Session, framed: Framed, looked: list[Any] | None = None) -> Answer:
    """Return the answer to a question in its form, recorded and charged.

    ``looked`` gets what the look gave, once that is recorded or confirmed. Whoever passes it clears it, and
    shows nobody before it is charged.
    """
    try:
        return session.answer_of(Recording(session, framed).record(looked))
    except RefusedError as refused:
        # The mechanism's name only: its parameters, such as the noise of an AUC, can tell class counts.
        entry = {**framed.entry, "mechanism": {"name": framed.entry["mechanism"]["name"]}}
        return refuse(session, refused, **entry)


def refuse(session: Session, refused: RefusedError, **entry: Any) -> Answer:
    """Return an answer without a value, which is recorded; ``entry`` is what the record says besides."""
    refusal = RefusalRecord(reason=str(refused), **entry)
    return refusal.answer(session.charge(None, lambda state: refusal), session.genesis)


class _Fixed(NamedTuple):
    """What a new question may spend, and after which records that was decided."""

    state: State
    applied: int
    nats: float
    allowance: Allowance

    def is_after_same_records(self, state: State) -> bool:
        """Return whether no record was added since this was decided."""
        return state is self.state and state.applied == self.applied


@dataclass
class Recording:
    """The way of one question to its record: find it or fix what it may spend, then look and charge.

    Errors that leave it may show all that it holds, so it never holds what was seen of the holdout.

    Parameters
    ----------
    session : Session
    framed : Framed
    """

    session: Session
    framed: Framed
    _fixed: _Fixed | None = None

    def record(self, looked: list[Any] | None) -> Record:
        """Return the record of the answer: one that was there, confirmed, or a new one."""
        proposal = self._find()
        if proposal.is_answered:
            return proposal.versions[0]
        secret = self.session.ledger.secret()  # which cannot be read inside a charge
        model = self.framed.asked.subject.copy()
        return with_bare_errors(lambda: self._look_and_charge(proposal, model, secret, looked))

    def _find(self) -> Proposal:
        """Return what is on record; if there is nothing, fix what the question may spend."""
        models, outputs = [self.framed.asked.subject.estimator], _public_outputs(self.framed.question)
        return Proposal.find(self.session, self.framed.keys, self._fix, models, outputs)

    def _fix(self, state: State) -> None:
        allowance = allowance_or_refuse(self.session, self.framed, state)
        self._fixed = _Fixed(state, state.applied, state.account.nats, allowance)

    def _look_and_charge(
        self, proposal: Proposal, model: Any, secret: bytes, looked: list[Any] | None
    ) -> Record:
        """Return the record of what a copy of the model gives on the holdout."""
        question, data = self.framed.question, self.session.data
        with held_interrupts() as interrupts:
            observation = look(question.evaluate, model, data, interrupts, question.stream, question.scale)
            decide = functools.partial(self._decide, proposal.key, secret, observation.seen)
            outputs = self._comparable(observation)
            record = proposal.charge(outputs, decide, self.framed.entry, secret)
            if looked is not None:
                looked.append(observation.seen)
            interrupts.raised &= record.fresh  # what was recorded before is an answer
        return record

    def _comparable(self, observation: Observation) -> OutputSummary:
        """Return what a record keeps of a model's outputs, for comparisons.

        Values of the metric are among it, hidden by the ledger's secret. Where only the holder of a private
        key may read them, what was released stands in their place: 10,000 counts are searched in no time.
        """
        seen, outputs, statistic = observation.seen, observation.outputs, self.framed.question.statistic
        if self.session.policy.seal_key is None:
            return outputs
        if statistic is not None and isinstance(seen, int):
            return outputs.without_values(statistic.cells.index(seen))
        symbols = seen if isinstance(seen, tuple) and all(isinstance(each, Symbol) for each in seen) else ()
        return outputs.without_values([symbol.to_dict() for symbol in symbols])

    def _decide(
        self, first: str, secret: bytes, seen: Any, version: str, outputs: str, state: State
    ) -> AnswerRecord:
        """Return the record of a new answer.

        Parameters
        ----------
        first, version : str
            Keys of the first version of the question, and of this one.
        secret : bytes
        seen : object
            What the look gave.
        outputs : str
            What the record keeps of the model's outputs.
        state : State
        """
        framed, fixed, question = self.framed, self._fixed, self.framed.question
        if version != first:  # the digest is of two models, so none of them was declared
            framed, fixed = replace(framed, member=""), None
        if fixed is not None and fixed.is_after_same_records(state):
            allowance = fixed.allowance
        else:
            allowance = allowance_or_refuse(self.session, framed, state)
        draw = Draw(secret, version, state.memories.get(question.memory_name, {}))
        answer = functools.partial(self._answer, framed, state, allowance, draw, outputs)
        try:
            return answer(seen)
        except Exception:  # whether it is raised may depend on the holdout, so this is an answer, too
            return answer((Symbol(question.stream, FAILURES[6], question.scale),))

    def _answer(
        self, framed: Framed, state: State, allowance: Allowance, draw: Draw, outputs: str, seen: Any
    ) -> AnswerRecord:
        """Return the record of what was seen.

        It is checked before that it can be written as JSON.
        """
        question, statistic, subject = framed.question, framed.question.statistic, framed.asked.subject
        in_round = state.still_open(framed.asked.round_name)
        event, memory = question.release(seen, allowance, draw)
        transcript = transcript_of(state, event) if self._is_by_transcript(state, in_round) else None
        about: dict[str, Any] = {
            "subject": framed.subject, "round_name": in_round, "outputs": outputs,
            "outcome": question.outcome(event, allowance, memory, transcript),
            "memory_name": question.memory_name, "memory": memory, "given_rows": subject.is_given,
            "declared": question.may_be_declared and state.is_declared(framed.member),
            "unconfirmed": self.session.policy.is_private and not _public_outputs(question),
        }  # fmt: skip
        kind: type[AnswerRecord] = AnswerRecord
        if statistic is not None:
            kind, nats = SealedRecord, state.account.nats + state.account.price(event)
            sealed = self.session.sealed(seen, draw.key, draw.secret) if isinstance(seen, int) else None
            # Published next it would take nothing more, at the value that the guess suggests.
            half_width = final_half_width(state, statistic, allowance.purse or state.purse, nats)
            about |= {"sealed": sealed, "population": question.exact.target}
            about["half_width_if_published"] = half_width
        record = kind.of(state, event, allowance, question.private_release({}), **about, **framed.entry)
        canonical_json(record.to_dict())
        return record

    def _is_by_transcript(self, state: State, in_round: str | None) -> bool:
        """Return whether the transcript theorem holds of the answer: the rows did not decide its place."""
        is_next = self._fixed is not None and self._fixed.nats == state.account.nats
        return self.framed.question.statistic is not None and is_next and state.is_alone(in_round)


def _public_outputs(question: Question) -> str:
    """Return the digest of the model's outputs on the rows of the guess; empty if there are none."""
    return "" if question.guess is None else question.guess.outputs


# What a question may spend.


def allowance_or_refuse(session: Session, framed: Framed, state: State) -> Allowance:
    """Return what a question may spend of the failure probability; RefusedError if it is not admitted."""
    question, publish = framed.question, framed.asked.publish
    memory = state.memories.get(question.memory_name, {})
    exhausted = state.outgrown(session.fingerprint) or question.exhausted(memory)
    if exhausted is not None:
        raise RefusedError(exhausted)
    is_sealed, in_round = question.statistic is not None, state.still_open(framed.asked.round_name)
    final = publish and not is_sealed
    allowance = state.allowance(question.purpose, round_name=in_round, at_once=question.at_once, final=final)
    if question.may_be_declared:
        allowance = state.with_declared(framed.member, allowance)
    allowance = with_routes(state, question, allowance)
    admits_all = publish or (is_sealed and state.policy.tolerance is None)  # then no interval need be found
    if not admits_all and not state.is_tolerated(*foreseen_half_width(state, question, allowance)):
        kept = "certify the model that is kept, " if question.purpose == "check" else ""
        raise RefusedError(
            f"the next {question.purpose} could be less precise than the tolerance of "
            f"{state.policy.tolerance:g}; {kept}add fresh rows (top_up; plan_holdout says how many), or "
            "take rows that nobody has asked about"
        )
    return allowance


def with_routes(state: State, question: Question, allowance: Allowance, count: int = 1) -> Allowance:
    """Return the allowance with the routes that certify ``count`` such answers.

    Raises
    ------
    RefusedError
        If no route does, or nothing is left of the purse.
    """
    if allowance.ln_delta == -math.inf and question.statistic is None:
        raise RefusedError(
            "nothing is left of the weights of this holdout, which sum to 1, so an exact answer would "
            "certify nothing; cells of counts still certify, by what was released so far: use certify"
        )
    memory = state.memories.get(question.memory_name, {})
    return state.with_routes(question.private_release(memory), allowance, count)


def foreseen_half_width(state: State, question: Question, allowance: Allowance) -> tuple[float, float]:
    """Return the half-width that decides on admission, and the width of the metric's range.

    Of a sealed question that of the answer if its guess holds, as a surprise is wider and may not decide; of
    others the worst there can be.
    """
    return question.foreseen_half_width(allowance, lambda event: transcript_of(state, event, allowance.nats))


def transcript_of(state: State, event: Event, at_least: float = 0.0) -> Transcript:
    """Return what the transcript theorem takes if this is released after so many nats."""
    nats = max(at_least, state.account.nats) + state.account.price(event)
    return Transcript(state.policy.ln_transcript, nats)


def final_half_width(state: State, statistic: LossCount, purse: Purse | None, nats: float) -> float:
    """Return about the half-width of a final, at the value that the guess suggests.

    ``purse`` and ``nats`` are what is left then and what was revealed.
    """
    assert purse is not None
    ln_delta = state.ln_of_stake(purse.final()[0], nats)
    low, high = statistic.fixed_interval(statistic.expected, statistic.expected, ln_delta)
    return (high - low) / 2.0
