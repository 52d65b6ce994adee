"""Answer one question: find its record, else admit it, look at the holdout and charge it.

1. *Find.* The ledger is asked whether the question is on record (`Proposal`).
2. *Admit.* Earlier records alone decide whether a new question is admitted, and what it may spend
   (`allowance_or_refuse`): a refusal that depended on the answer would reveal something about it for nothing.
   A question is refused if its interval could be wider than the tolerance, if its mechanism or its holdout
   answers no more, or if nothing is left that could certify it.
3. *Look.* The model predicts the holdout.
4. *Charge.* What was seen becomes a record, or the confirmation of one, before anything of it is returned.

**A round looks first.** "Fixed before any answer of the round is seen" must hold of what the models predict,
and a model may read the log while it predicts. So all models of a round look before one of them is recorded,
and none finds what others were seen to give (`looking.Hidden`). Each then has the L of the moment after the
last look: that of the round's opening, unless somebody has recorded something in between. Where workers of a
search look in turn a question takes the L of its own record, which is that moment for a round of one look.

*Proof.* Take the log as it was at the last look for the node at which all G questions are fixed, whatever
their models have read of it. Each has a G-th of the round's stake and that node's L, and the union bound goes
on as without rounds (`sklearn_ada.guarantees.description_length`). Questions that look in turn are fixed at
nodes of their own, with a G-th of the stake each, so that no path takes more than the stake of the round.

**The interval** of an answer is by description length, by privacy, or by both. With both routes each has half
of the failure probability, so the intersection of their intervals holds.

The interval of a sealed answer follows from two theorems, of which the transcript theorem needs an order of
the answers that the rows do not decide. While several are pending, the rows may decide who is recorded first:
that has a price (`sklearn_ada.accounting.arrivals`), which is part of the L, so the theorem holds of answers
that threads or colleagues are given at once. In ledgers begun before it had one, description length speaks
alone if something was recorded between the beginning of a question and its record. In a round of several
questions it does until that is closed (`session.close_round`).

**A digest proposes, the holdout confirms, at a price.**

A question is a model, a score by what it computes, and rows: asked again it has the key of the first time,
whatever its guess. That is only a proposal: a model's digest cannot see weights in a file, names that
``eval`` looks up or a patched library, and another model with the same digest must not get the first one's
answer. So the model predicts the holdout once more, and what it says is compared with what the record keeps
of it (`OutputSummary`). The outcome is a symbol with a price, for it would tell an asker who makes models
that differ on one chosen row whether that row is in the holdout:

- "the same" is nearly free if few differed before, .001 nats the first time and less than .05 nats for a
  thousand times; after one that differed, .1 nats and then less. The answer is the recorded one, or what was
  published of it since, with the verdict on the guess that it is asked with now.
- "different" costs 7 nats the first time, and more if there were many that were the same. It is a new
  question then, recorded as another version of the key and admitted as any other. If that is refused,
  "different" is paid for nevertheless.

Whoever asks a third time is compared with all versions that there were before the look at once (with those
that somebody else has recorded since, in a further comparison), and learns which of them it is, if any: "the
same or different" is one symbol, and which of k versions it is, another: of ``ln k`` nats the first time,
less for a version that comes again and again. "The same or different" is learnt apart from that of proposals
with one version: a model which predicts at random, a new version each time, counts there as one that was
different, however often it is asked. The comparison is never refused: earlier records alone decide that it is
made, and its price is the same whatever the tolerance.

The proof is that of every symbol: which records there are to compare with, and so what may come of it, is
fixed by the transcript before the look, and the code gives all outcomes together a mass of at most 1.

**What a confirmation shows** is that the model says on the holdout's rows what is recorded. A model that
says the same on all of them and something else elsewhere in the population gets the first one's certificate,
which is about the first one.

**Where privacy certifies** a comparison without noise would end the route. There the guess and the versions
of libraries are part of the key, and one that is found is answered as it stands: the outputs on the rows of
the guess are part of it, so a match is confirmed on rows that are public. If there are none (a bare number as
the guess, or a choice among models) a model with code that is no installed library's is a new question each
time, with one warning.

**Where description length certifies** every model with a digest is proposed and confirmed, one of the user's
own class with a bare number as its guess, too. A question that is new each time would make a notebook that is
run again pay for all of them, while the urn makes repeated mismatches cheap. A question with noise or a
Ladder has its guess in its key, as that decides what is drawn; so has every question of a ledger before
format 3.

The first releases' records keep nothing to compare with. Their questions are asked again, as a new version.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

from sklearn_ada._notices import warn_user
from sklearn_ada.accounting.events import FAILURES, CodedRelease, CountRelease, Event, Symbol
from sklearn_ada.answer import Answer
from sklearn_ada.digest.code import has_own_code
from sklearn_ada.guarantees.description_length import Purse
from sklearn_ada.holdout.framing import Ask, Framed, frame, plan_question
from sklearn_ada.holdout.looking import HeldSignals, Hidden, apart, held_signals, look, with_bare_errors
from sklearn_ada.holdout.records import (
    AnswerRecord,
    ConfirmationRecord,
    Key,
    RefusalRecord,
    SealedRecord,
    kept_outputs,
    read_answer,
    read_value,
)
from sklearn_ada.holdout.session import Session
from sklearn_ada.holdout.state import PRICED_ARRIVALS, LedgerRecord, RefusedError, State
from sklearn_ada.ledger.hash_chain import Record, canonical_json
from sklearn_ada.metrics.metric import metric_of_record
from sklearn_ada.questions.coded import RefinedQuestion
from sklearn_ada.questions.question import Draw, Guess, Question, Transcript, rounded
from sklearn_ada.questions.sealed import as_recorded, verdict_on_record
from sklearn_ada.questions.seals import Seal
from sklearn_ada.terms.outputs import Observation, OutputSummary, has_values_of
from sklearn_ada.terms.policy import Allowance


def put_question(session: Session, asked: Ask, question: Question) -> Answer:
    """Return the holdout's answer, which has been recorded and charged by then.

    The same question once more returns the recorded answer, for a thousandth of a nat if few differed before.
    If its exact value was published or unsealed since, the answer is that. A refused one returns an `Answer`
    without a value. ``question`` is what `plan_question` made of it.
    """
    return put_together(session, [(asked, question)])[0]


def put_together(session: Session, questions: Sequence[tuple[Ask, Question]]) -> list[Answer]:
    """Return the answers to several questions, of which none is recorded before all models have looked."""
    framed = [frame(session, asked, question) for asked, question in questions]
    answers = _answers_to(session, framed)
    return [_with_published(session, *each) for each in zip(framed, answers, strict=False)]


def put_once(session: Session, asked: Ask, question: Question) -> Answer | None:
    """Return `put_question`; None if model, metric and mechanism were asked before with another guess."""
    framed, ledger = frame(session, asked, question), session.ledger
    found = ledger.find_subject(framed.subject_key)
    if found is not None and not any(map(framed.has_guess_of, ledger.find_each(framed.keys))):
        return None
    return put_question(session, asked, question)


def answer_to(session: Session, framed: Framed, looked: SeenPoint | None = None) -> Answer:
    """Return the answer to a question in its form, recorded and charged.

    ``looked`` gets what the look gave, once that is recorded or confirmed.
    """
    return _answers_to(session, [framed], looked)[0]


def _answers_to(
    session: Session, questions: Sequence[Framed], looked: SeenPoint | None = None
) -> list[Answer]:
    together = Together()
    first = questions[0].asked
    in_turn = len(questions) == 1 and (first.candidates or 1) > 1
    with session.asked(len(questions), first.round_name if in_turn else None) as asking:
        recordings = [Recording.prepare(asking, framed, together) for framed in questions]
        return with_bare_errors(lambda: _look_and_charge(recordings, looked))


def _look_and_charge(recordings: Sequence[Recording], looked: SeenPoint | None) -> list[Answer]:
    """Return the answers: first all models look, then what they gave is recorded, in the order of asking.

    After an interrupt no further model looks: what was seen is recorded, and then the interrupt is raised.
    """
    with held_signals() as interrupts:
        hidden = []
        for recording in recordings:
            hidden.append(Hidden(recording.look(interrupts), keeps=len(recordings) == 1))
            if interrupts.came:
                break
        return [
            recording.answer(each.shown(), interrupts, looked)
            for recording, each in zip(recordings, hidden, strict=False)
        ]


def _with_published(session: Session, framed: Framed, answer: Answer) -> Answer:
    """Return an answer; if its exact value was published or unsealed since, that."""
    if not answer.repeated:
        return answer
    released = session.ledger.find_each([Key.final(answer.index), Key.unsealed(answer.index)])
    return _answer_on_record(session, framed, released[0]) if released else answer


def _answer_on_record(session: Session, framed: Framed, record: Record) -> Answer:
    """Return what a record answers to a question, with the verdict on the question's own guess."""
    answer = session.answer_of(record)
    if record.fresh or framed.has_guess_of(record):
        return answer
    read = read_value(record)
    return replace(answer, verdict=verdict_on_record(framed.question, read.outcome, read.mechanism))


def refuse(session: Session, reason: str, **entry: Any) -> Answer:
    """Return an answer without a value, which is recorded; ``entry`` is what the record says besides."""
    refusal = RefusalRecord(reason=reason, **entry)
    return refusal.answer(session.charge(None, lambda state: refusal), session.genesis)


@dataclass
class SeenPoint:
    """What a look gave, for whoever releases it next: shown to nobody before it is charged.

    It is forgotten when its block ends, or the frames of an error would hold it.
    """

    seen: Any = field(default=None, repr=False)

    def __enter__(self) -> SeenPoint:
        return self

    def __exit__(self, *error: object) -> None:
        self.seen = None


class Admission(NamedTuple):
    """What a new question may spend, and after which records that was decided."""

    state: State
    applied: int
    nats: float
    allowance: Allowance

    def is_after_same_records(self, state: State) -> bool:
        """Return whether no record was added since this was decided."""
        return state is self.state and state.applied == self.applied and self.is_in_order(state)

    def is_in_order(self, state: State) -> bool:
        """Return whether nothing was revealed since this was decided."""
        return self.nats == state.account.nats


@dataclass
class Together:
    """Questions whose models look before any of them is recorded.

    Attributes
    ----------
    nats : float or None
        The nats L that had been revealed when all of them had looked; None until the first is recorded.
    """

    nats: float | None = None


@dataclass
class Recording:
    """The way of one question to its record: find it or admit it, then look and charge.

    Errors that leave it may show all that it holds, so it never holds what was seen of the holdout.

    Parameters
    ----------
    session : Session
    framed : Framed
    together : Together
        The questions that look with it.
    proposal : Proposal or None
        What is on record of it, or what it may spend; None if it is not admitted.
    refused : str
        Why it is not admitted.
    secret : bytes
        The ledger's, which cannot be read inside a charge.
    forms : list of Question
        The question as it is asked, and as records of it have it if they were asked in another form.
    form_of : dict
        Which of the forms is compared with which record, by its number; the first with all others.
    models : list
        A copy of the model for each form, until they have looked; empty if they need not.
    """

    session: Session
    framed: Framed
    together: Together
    proposal: Proposal[Admission] | None = None
    refused: str = ""
    secret: bytes = b""
    forms: list[Question] = field(default_factory=list)
    form_of: dict[int, int] = field(default_factory=dict)
    models: list[Any] = field(default_factory=list)

    @classmethod
    def prepare(cls, session: Session, framed: Framed, together: Together) -> Recording:
        """Return a question that was found or admitted, with copies of its model."""
        recording = cls(session, framed, together)
        models, outputs = [framed.asked.subject.estimator], _public_outputs(framed.question)
        try:
            keys, admit = framed.keys, recording._admitted
            proposal = Proposal.find(session, keys, admit, models, outputs, framed.others)
        except RefusedError as refused:
            recording.refused = str(refused)
            return recording
        recording.proposal = proposal
        if not proposal.is_answered:
            recording.secret = session.ledger.secret()
            recording._add_forms(proposal.versions)
        return recording

    def _add_forms(self, versions: Sequence[Record]) -> None:
        """Add the question as it is asked, and as each version on record has it, with a model for each."""
        copied, question = self.framed.asked.subject.copy, self.framed.question
        self.forms, self.models = [question], [copied()]
        for record in versions:
            asked = self._as_recorded(record)
            if asked is not question:
                self.form_of[record.seq] = len(self.forms)
                self.forms.append(asked)
                self.models.append(copied())

    def _as_recorded(self, record: Record) -> Question:
        """Return the question as a record has it, with which the record can be compared."""
        question, before = self.framed.question, read_answer(record)
        metric = metric_of_record(question.metric, before.metric)
        by_cells = self.session.policy.seal_key is not None and not self.framed.has_guess_of(record)
        now = question.metric.describe()
        is_same = metric.describe() == now and before.metric.get("clause") == now.get("clause")
        if is_same and not by_cells:
            return question
        bare = question.coded if isinstance(question, RefinedQuestion) else question
        guess = Guess(**before.guess) if before.guess else None
        data, policy = self.session.data, self.session.policy
        return as_recorded(bare, metric, guess, before.mechanism, data, policy)

    def _admitted(self, state: State) -> Admission:
        """Return what a new question may spend; RefusedError if it is not admitted."""
        allowance = allowance_or_refuse(self.session, self.framed, state, self.together)
        return Admission(state, state.applied, state.account.nats, allowance)

    def look(self, interrupts: HeldSignals) -> list[Observation] | None:
        """Return what the model gives on the holdout in each form; None if the question needs no look."""
        models, self.models, data = self.models, [], self.session.data
        if not models:
            return None
        return [
            look(apart(form.evaluate, form.metric), model, data, interrupts, form.stream, form.scale)
            for form, model in zip(self.forms, models, strict=True)
        ]

    def answer(
        self, observations: list[Observation] | None, interrupts: HeldSignals, looked: SeenPoint | None
    ) -> Answer:
        """Return the answer, recorded; ``looked`` gets what the look gave."""
        session, proposal, framed = self.session, self.proposal, self.framed
        if proposal is None:
            return self._refuse()
        if observations is None:
            return session.answer_of(proposal.versions[0])
        own = observations[0]

        def outputs(record: Record | None) -> OutputSummary:
            number = 0 if record is None else self.form_of.get(record.seq, 0)
            question, observation = self.forms[number], observations[number]
            is_own_name = question.metric.name == framed.question.metric.name
            if not is_own_name and not has_values_of(observation, own):
                return OutputSummary.of_nothing()  # on these rows the two names are of two scores
            return self._comparable(question, observation)

        decide = partial(self._record_of_new_answer, proposal, self.secret, own.seen)
        try:
            record = proposal.confirm_or_charge(outputs, decide, framed.entry, self.secret)
        except RefusedError as refused:
            self.refused = str(refused)
            interrupts.raised = False  # or the asker could tell for nothing what the model did
            return self._refuse()
        if looked is not None and not isinstance(own.seen, tuple):  # else it failed
            looked.seen = own.seen
        interrupts.raised &= record.fresh  # what was recorded before is an answer
        return _answer_on_record(session, framed, record)

    def _refuse(self) -> Answer:
        # The mechanism's name only: its parameters, such as the noise of an AUC, can tell class counts.
        entry = {**self.framed.entry, "mechanism": {"name": self.framed.entry["mechanism"]["name"]}}
        return refuse(self.session, self.refused, **entry)

    def _comparable(self, question: Question, observation: Observation) -> OutputSummary:
        """Return what a record keeps of a model's outputs, for comparisons.

        Values of the metric are among it, hidden by the ledger's secret. Where only the holder of a private
        key may read them, what was released stands in their place: 10,000 counts are searched in no time.
        """
        if self.session.policy.seal_key is None:
            return observation.outputs
        return observation.outputs.without_values(question.coarse(observation.seen))

    def _record_of_new_answer(
        self, found: Proposal[Admission], secret: bytes, seen: Any, version: str, outputs: str, state: State
    ) -> AnswerRecord:
        """Return the record of a new answer.

        Parameters
        ----------
        found : Proposal
        secret : bytes
        seen : object
            What the look gave.
        version : str
            Key of this version of the question.
        outputs : str
            What the record keeps of the model's outputs.
        state : State
        """
        framed, admission, question = self.framed, found.admitted, self.framed.question
        if self.together.nats is None:
            self.together.nats = state.account.nats
        priced = state.policy.format >= PRICED_ARRIVALS
        in_order = admission is not None and (priced or admission.is_in_order(state))
        if version != found.key:  # the digest is of two models, so none of them was declared
            framed, admission = replace(framed, declared_key=""), None
        if admission is not None and admission.is_after_same_records(state):
            allowance = admission.allowance
        else:
            allowance = allowance_or_refuse(self.session, framed, state, self.together)
        draw = Draw(secret, version, state.memories.get(question.memory_name, {}))
        record_of = partial(self._record_of_seen, framed, state, allowance, draw, outputs, in_order)
        try:
            return record_of(seen)
        except Exception:  # whether it is raised may depend on the holdout, so this is an answer, too
            return record_of((Symbol(question.stream, FAILURES[6], question.scale),))

    def _record_of_seen(
        self,
        framed: Framed,
        state: State,
        allowance: Allowance,
        draw: Draw,
        outputs: str,
        in_order: bool,
        seen: Any,
    ) -> AnswerRecord:
        """Return the record of what was seen.

        It is checked before that it can be written as JSON.
        """
        seal, subject = framed.question.seal, framed.asked.subject
        in_round = state.still_open(framed.asked.round_name)
        # The transcript theorem holds of answers in whose order the rows have no part.
        by_transcript = seal is not None and in_order and state.is_alone(in_round)
        after = partial(transcript_of, state)
        question = framed.question.after(after if by_transcript else None)
        sealing = apart(question.sealing, question.metric)  # it may compute scores once more
        (event, memory), point = sealing(seen, allowance, draw)
        transcript = after(event) if by_transcript else None
        about: dict[str, Any] = {
            "subject": framed.subject_key, "round_name": in_round, "outputs": outputs,
            "outcome": question.outcome(event, allowance, memory, transcript),
            "memory_name": question.memory_name, "memory": memory or None, "given_rows": subject.is_given,
            "declared": question.may_be_declared and state.is_declared(framed.declared_key),
            "unconfirmed": self.session.policy.is_private and not _public_outputs(question),
            "drawn": question.is_drawn,
        }  # fmt: skip
        kind: type[AnswerRecord] = AnswerRecord
        if seal is not None:
            kind, nats, sealed = SealedRecord, state.account.nats + state.account.price(event), None
            if not isinstance(seen, tuple):  # else it failed
                sealed = self.session.sealed(seal.content(point), draw.key, draw.secret)
            # Published next it would take nothing more, at the value that the guess suggests.
            half_width = final_half_width(state, seal, allowance.purse or state.purse, nats)
            about |= {"sealed": sealed, "population": question.exact.target}
            about["half_width_if_published"] = rounded(half_width, 4)
        record = kind.of(state, event, allowance, question.private_release({}), **about, **framed.entry)
        canonical_json(record.to_dict(state.policy.format))
        return record


def _public_outputs(question: Question) -> str:
    """Return the digest of the model's outputs on the rows of the guess; empty if there are none."""
    return "" if question.guess is None else question.guess.outputs


@dataclass(frozen=True)
class ForeseenAnswer:
    """What a question would cost and certify if its guess held.

    Attributes
    ----------
    nats, half_width : float
        Of a question that is on record, of which the first may be 0.
    is_recorded : bool
    guess : float or None
        What it is expected to be.
    interval : tuple of float
        If that holds, or the one that is on record.
    """

    nats: float
    half_width: float
    is_recorded: bool
    guess: float | None
    interval: tuple[float, float]


def foresee(session: Session, asked: Ask) -> ForeseenAnswer:
    """Return what a question would cost and certify if its guess held; nothing is looked at or recorded.

    RefusedError if it would be refused.
    """
    framed = frame(session, asked, plan_question(session, asked))
    guess, sign = framed.question.guess, -1.0 if asked.is_mirrored else 1.0

    def foreseen(
        nats: float, half_width: float, is_found: bool, interval: tuple[float, float]
    ) -> ForeseenAnswer:
        low, high = sorted(sign * end for end in interval)
        value = None if guess is None else sign * guess.value
        return ForeseenAnswer(nats, half_width, is_found, value, (low, high))

    found = session.ledger.find_each([*framed.keys, *framed.others])
    if found:
        answer = session.answer_of(found[0])
        return foreseen(0.0, answer.half_width, True, answer.interval)

    def of_next(state: State) -> ForeseenAnswer:
        allowance = allowance_or_refuse(session, framed, state, Together())
        after = partial(transcript_of, state)
        question = framed.question.after(after if framed.question.seal is not None else None)
        symbols = question.expected_symbols(allowance)
        nats = sum(state.account.price_of_repeats(symbol, 1) for symbol in symbols)
        half_width, _ = question.foreseen_half_width(allowance, after)
        event = CountRelease(symbols) if question.seal is not None else CodedRelease(symbols)
        outcome = question.outcome(event, allowance, {}, after(event) if question.seal is not None else None)
        return foreseen(nats, half_width, False, outcome.interval)

    return session.ledger.read(of_next)


# What is on record of a question.

Decide = Callable[[str, str, State], LedgerRecord]
"""From the key of a version, the summary that its record keeps, and the state, to that record."""
Outputs = Callable[[Record | None], OutputSummary]
"""From a version on record, None for a new one, to what a model says on the holdout in the form of it."""


Admitted = TypeVar("Admitted")


@dataclass(frozen=True)
class Proposal(Generic[Admitted]):
    """What is on record under the key that digests make of a question.

    Parameters
    ----------
    session : Session
    key : str
        Under which something new is recorded, as the next version of it.
    versions : list of Record
        Of the question, that were found before the look.
    is_other : bool
        Whether they are those of another question that tells as much, and no versions of the key.
    is_anew : bool
        Whether it is a new question each time it is asked. It is where privacy certifies and no public rows
        can show that the model is the same.
    admitted : object or None
        What a new question may spend; None where one was found.
    """

    session: Session
    key: str
    versions: list[Record]
    is_other: bool
    is_anew: bool
    admitted: Admitted | None

    @classmethod
    def find(
        cls,
        session: Session,
        keys: Sequence[str],
        admit: Callable[[State], Admitted],
        models: Sequence[Any],
        outputs: str = "",
        others: Sequence[str] = (),
    ) -> Proposal[Admitted]:
        """Return all versions of the first of these keys that has any.

        Warns if the question was asked before and yet has to be asked, and paid for, anew.

        Parameters
        ----------
        session : Session
        keys : sequence of str
        admit : callable
            Takes the state, if none has any, and returns what a new question may spend.
        models : sequence of fitted estimators
            That are asked about.
        outputs : str, default=""
            Digest of their outputs on the rows of the guess; empty if there are none.
        others : sequence of str, default=()
            Keys of other questions whose answers tell as much.
        """
        is_private, asking = session.policy.is_private, session.asking
        is_anew = is_private and not outputs and any(map(has_own_code, models))
        admitted: list[Admitted] = []

        assert asking is not None
        found = asking.find(
            [version_key(key, n) for key in (*keys, *others) for n in (1, 2)],
            lambda state: admitted.append(admit(state)),
            lambda records: not (records and is_private) or is_anew,
        )
        key = str(found[0].key) if found else keys[0]
        versions = [record for record in found if record.key in (key, version_key(key, 2))]
        if len(versions) > 1:
            _add_versions(session, key, versions)
        is_other = first_version(key) in others
        own = keys[0] if is_other else key
        proposal = cls(session, own, versions, is_other, is_anew, admitted[0] if admitted else None)
        if found and is_anew:
            warn_user(
                "A question is asked, and paid for, again: its model has code of its own, so only public "
                "rows can show whether it is the same. Give validation rows: guess_from=(X_val, y_val).",
                once=("asked anew", session.fingerprint),
            )
        return proposal

    @property
    def is_answered(self) -> bool:
        """Whether the answer on record is returned without a look."""
        return bool(self.versions) and self.session.policy.is_private and not self.is_anew

    def confirm_or_charge(
        self, outputs: Outputs, decide: Decide, entry: dict[str, Any], secret: bytes
    ) -> Record:
        """Return the record with these outputs; if there is none, record what ``decide`` returns.

        Where privacy certifies, the outputs are not compared.

        Parameters
        ----------
        outputs : callable
            From a version on record, None for a new one, to what the model says on the holdout.
        decide : callable
        entry : dict
            Purpose, metric and asker, for the record of a comparison.
        secret : bytes
            The ledger's.
        """
        session, compared, versions, is_other = self.session, 0, [*self.versions], self.is_other
        while True:  # until nobody else has recorded a version since the comparison
            if session.policy.is_private:
                same = versions[0] if versions and not self.is_anew else None
            else:
                same = self._confirmed(outputs, versions[compared:], entry, secret)
            if same is not None:
                return same
            if is_other:
                versions, is_other = [], False
            compared = len(versions)
            name = version_key(self.key, compared + 1)
            summary = outputs(None).sealed(session.outputs_key(name, secret))
            record = session.charge(name, partial(decide, name, summary))
            if record.fresh:
                return record
            _add_versions(session, self.key, versions)

    def _confirmed(
        self, outputs: Outputs, versions: list[Record], entry: dict[str, Any], secret: bytes
    ) -> Record | None:
        """Return the version with these outputs, or None; recorded and paid for either way.

        Where no version keeps outputs, nothing is compared, and nothing revealed.
        """
        kept = [(record, kept_outputs(record.body)) for record in versions]
        comparable = [(record, before) for record, before in kept if before is not None]
        if not comparable:
            return None
        agree = (
            number
            for number, (record, before) in enumerate(comparable)
            if outputs(record).agrees_with(before, self.session.outputs_key(str(record.key), secret))
        )
        same, numbers = next(agree, None), [record.seq for record, _ in comparable]
        asked = {name: entry[name] for name in ("purpose", "metric", "who", "label", "time")}
        self.session.charge(None, lambda state: ConfirmationRecord.of(state, numbers, same, asked))
        return None if same is None else comparable[same][0]


def _add_versions(session: Session, key: str, versions: list[Record]) -> None:
    """Append versions that are recorded since; the others never change."""
    while record := session.ledger.find(version_key(key, len(versions) + 1)):
        versions.append(record)


def version_key(key: str, number: int) -> str:
    """Return the key of the ``number``-th question, counted from 1, that has the same identity.

    Examples
    --------
    >>> version_key("a1", 1), version_key("a1", 2), first_version("a1 version 2")
    ('a1', 'a1 version 2', 'a1')
    """
    return key if number == 1 else f"{key} version {number}"


def first_version(key: str) -> str:
    """Return the key of the first question that has the identity of this one."""
    return key.split(" version ")[0]


# What a question may spend.


def allowance_or_refuse(session: Session, framed: Framed, state: State, together: Together) -> Allowance:
    """Return what a question may spend of the failure probability; RefusedError if it is not admitted.

    All questions of a round were admitted when it was opened. What was recorded between that and the last
    look of those that look ``together``, the models may have read: it counts against them.
    """
    question, publish = framed.question, framed.asked.publish
    memory = state.memories.get(question.memory_name, {})
    exhausted = state.why_outgrown(session.fingerprint) or question.why_exhausted(memory)
    if exhausted is not None:
        raise RefusedError(exhausted)
    is_sealed, in_round = question.seal is not None, state.still_open(framed.asked.round_name)
    final = publish and not is_sealed
    own = state.allowance(question.purpose, round_name=in_round, at_once=question.at_once, final=final)

    def routed(own: Allowance) -> Allowance:
        declared = question.may_be_declared
        own = state.with_declared(framed.declared_key, own) if declared else own
        return with_routes(state, question, own)

    allowance = routed(own)
    admits_all = publish or (is_sealed and state.policy.tolerance is None)  # then no interval need be found
    if not admits_all and not state.is_tolerated(*foreseen_half_width(state, question, allowance)):
        kept = "certify the model that is kept, " if question.purpose == "check" else ""
        raise RefusedError(
            f"the next {question.purpose} could be less precise than the tolerance of "
            f"{state.policy.tolerance:g}; {kept}add fresh rows (top_up; plan_holdout says how many), or "
            "take rows that nobody has asked about"
        )
    since = (state.account.nats if together.nats is None else together.nats) - own.nats
    return routed(own.after(since)) if state.policy.format >= PRICED_ARRIVALS and since > 0.0 else allowance


def with_routes(state: State, question: Question, allowance: Allowance, count: int = 1) -> Allowance:
    """Return the allowance with the routes that certify ``count`` such answers.

    Raises
    ------
    RefusedError
        If no route does, or nothing is left of the purse.
    """
    if allowance.ln_delta == -math.inf and question.seal is None:
        raise RefusedError(
            "nothing is left of the weights of this holdout, which sum to 1, so an exact answer would "
            "certify nothing; cells and windows still certify, by what was released so far: use certify, "
            "with a guess"
        )
    memory = state.memories.get(question.memory_name, {})
    return state.with_routes(question.private_release(memory), allowance, count)


def foreseen_half_width(state: State, question: Question, allowance: Allowance) -> tuple[float, float]:
    """Return the half-width that decides on admission, and the width of the metric's range.

    It is the worst that an answer can have. A sealed question is judged by the answer that agrees with its
    guess: whether an answer surprises may not decide on admission.
    """
    return question.foreseen_half_width(allowance, lambda event: transcript_of(state, event, allowance.nats))


def transcript_of(state: State, event: Event, at_least: float = 0.0) -> Transcript:
    """Return level and nats for the transcript theorem if this event comes next.

    The nats before it are those of the state, or ``at_least`` if these are more.
    """
    nats = max(at_least, state.account.nats) + state.account.price(event)
    return Transcript(state.policy.ln_transcript, nats)


def final_half_width(state: State, seal: Seal, purse: Purse | None, nats: float) -> float:
    """Return about the half-width of a final, at the value that the guess suggests.

    ``purse`` and ``nats`` are what is left then and what was revealed.
    """
    assert purse is not None
    return seal.half_width(state.ln_of_stake(purse.final()[0], nats))
