"""Asking a holdout, one module for each way: one question, many, a choice, a round, the final answer.

The interval of an answer by description length, by privacy, or by both.

With both routes each has half of the failure probability, so the intersection of their intervals holds.

Which questions are answered in cells, and the record of such an answer.

Where the ledger says so (``answers="cells"``), a certify of a count of 0/1 losses tells its cell and seals
the count; with ``"auto"`` the first certify of a ledger is exact. Everything else is answered
as on any other ledger, and takes its weight from the same purse.

The interval that is told follows from two theorems, of which the transcript theorem needs an order of the
answers that the rows do not decide. A question on its own was fixed with what was known when it was begun; if
something else was recorded between that and its own record (by a thread, or by a colleague), who came first
may have been decided by the rows, so then description length speaks alone. In a round it does until that is
closed (`session.closing`).

Whether a question is admitted: earlier records decide, never what the holdout would answer.

A refusal that depended on the answer would reveal something about it, for nothing. So a question is refused
if its interval could be wider than the tolerance, its mechanism or its holdout answers no more, or nothing is
left that could certify it.

How a ledger answers a question, with a cell or at once, and under which keys it was recorded before.

A digest proposes, the holdout confirms, at a price.

A question that is asked again has the key of the first time. That is only a proposal: a model's digest cannot
see weights in a file, names that ``eval`` looks up or a patched library, and another model with the same
digest must not get the first one's answer. So the model predicts the holdout once more, and what it says is
compared with what the record keeps of it (`models.said`). The outcome is a symbol with a price, for it
would tell an asker who makes models that differ on one chosen row whether that row is in the holdout:

- "the same" is nearly free if few differed before, .001 nats the first time and less than .05 nats for a
  thousand times; after one that differed, .1 nats and then less. The answer is the recorded one.
- "different" costs 7 nats the first time, and more if there were many that were the same. It is a new
  question then, recorded as another version of the key and admitted as any other. If that is refused,
  "different" is paid for nevertheless.

Whoever asks a third time is compared with all versions that there were before the look at once (with those
that somebody else has recorded since, in a further comparison), and told which of them, if any: "the same
or different" is one symbol, and which of k versions it is, another: of ``ln k`` nats the first time, less for
a version that comes again and again. "The same or different" is learnt apart from that of proposals with one
version: a model which predicts at random, a new version each time, counts there as one that was different,
however often it is asked. The comparison is never refused: earlier records alone decide that it is made, and
its price is the same whatever the tolerance.

The proof is that of every symbol: which records there are to compare with, and so what may be said, is fixed
by the transcript before the look, and the code gives all outcomes together a mass of at most 1.

**What a confirmation shows** is that the model says on the holdout's rows what is recorded. A model that
says the same on all of them and something else elsewhere in the population gets the first one's certificate,
which is about the first one.

**Where privacy certifies** a comparison without noise would end the route. There a key that is found is
answered as it stands: the outputs on the rows of the guess are part of it, so a match is confirmed on rows
that are public. If there are none (a bare number as the guess, or a choice among models) a model with code
that is no installed library's is a new question each time, with one warning.

**Where description length certifies** a model of the user's own class with a bare number as its guess is
proposed and confirmed like any other. A question that is new each time would make a notebook that is run
again pay for all of them, while the urn makes repeated mismatches cheap.

Records of older releases keep nothing to compare with. Their questions are asked again, as a new version.

One question from asking to answer: admit it, look at the holdout, record and charge it, then answer.

A question that was asked before is looked at once more, and compared (`asking.confirm`).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from sklearn_ada._notices import warn_user
from sklearn_ada.accounting.events import FAILURES, CountRelease, Event, Symbol
from sklearn_ada.answer import Answer
from sklearn_ada.digest.code import has_own_code
from sklearn_ada.guarantees.weights import Purse, ln_delta
from sklearn_ada.holdout.records import (
    AnswerRecord,
    ConfirmationRecord,
    Conversation,
    RefusalRecord,
    SealedRecord,
)
from sklearn_ada.holdout.session import (
    Session,
    as_closed,
    comparable,
    held_interrupts,
    look,
    with_bare_errors,
)
from sklearn_ada.holdout.state import ConversationState, LedgerRecord, RefusedError
from sklearn_ada.ledger.hash_chain import Record, canonical_json
from sklearn_ada.mechanisms.rounding import WINNER_WIDTH, candidate_width
from sklearn_ada.questions.coded import CodedQuestion, FilledCheck
from sklearn_ada.questions.of_rows import RowsQuestion, of_rows
from sklearn_ada.questions.question import Draw, Outcome, Question
from sklearn_ada.questions.sealed import SealedQuestion, SealedStatistic, Told, statistic_of
from sklearn_ada.terms.holdout_data import HoldoutData
from sklearn_ada.terms.models import (
    Predictions,
    Said,
    discarded_copy,
    member_key,
    name_of_model,
    question_key,
    rounded,
    subject_key,
    version_key,
)
from sklearn_ada.terms.policy import FailureBudget, Policy


def worst_half_width(question: Question, share: FailureBudget) -> tuple[float, float]:
    """Return the worst half-width of the answer by its better route, and the width of the metric's range."""
    half, width = question.half_width_bound(share)
    bounds = [half] if share.described else []
    if share.transfer is not None:
        bounds.append(question.private_half_width(share.transfer))
    return min(bounds, default=math.inf), width


def read_outcome(question: Question, event: Event, share: FailureBudget, state: dict[str, Any]) -> Outcome:
    """Return value and interval of what was released, by every route that certifies it."""
    described = question.read(event, share, state) if share.described else None
    if share.transfer is None:
        assert described is not None  # a question without any route was refused
        return described
    private = replace(question.read_private(event, share), route="differential_privacy")
    if described is None or described.verdict == "failed":
        return private
    return _both(described, private)


def _both(first: Outcome, second: Outcome) -> Outcome:
    low, high = max(first.interval[0], second.interval[0]), min(first.interval[1], second.interval[1])
    if low > high:  # one of them misses, which is the failure that was allowed for
        low, high = first.interval
    levels = first.levels
    if first.levels is not None and second.levels is not None:
        levels = (max(first.levels[0], second.levels[0]), min(first.levels[1], second.levels[1]))
    return replace(
        first,
        interval=(low, high),
        levels=levels,
        theorem=f"{first.theorem}; {second.theorem}",
        vacuous=first.vacuous and second.vacuous,
        route="both",
    )


def sealed_form(
    question: Question, data: HoldoutData, policy: Policy, candidates: int | None = None
) -> SealedQuestion | None:
    """Return the question as it is answered with a cell; None where it is answered as on any ledger.

    ``candidates`` is of how many candidates of one search it is a check, whose cells are the wider.
    """
    if not (policy.seals and isinstance(question, CodedQuestion)):
        return None
    is_check = question.purpose == "check"
    if is_check and (candidates is None or question.is_chosen):
        return None
    same_mix = policy.class_mix == "priced" or not data.is_classification
    identical = same_mix and not question.given_rows
    width = candidate_width(candidates) if is_check and candidates is not None else WINNER_WIDTH
    statistic = statistic_of(question, data, identical_rows=identical, width=width)
    urn = "candidate" if is_check else "winner"
    return None if statistic is None else SealedQuestion(question, statistic, urn)


def is_at_once(question: Question) -> bool:
    """Return whether a question tells an exact value when it is asked, which takes more of the purse."""
    return question.purpose == "certify" and not isinstance(question, SealedQuestion)


def told_of(state: ConversationState, question: SealedQuestion, event: Event) -> Told:
    """Return what the transcript theorem takes, if this is told now."""
    return Told(state.policy.ln_transcript, state.account.nats + state.account.price(event))


def foreseen_half_width(
    state: ConversationState, question: Question, share: FailureBudget
) -> tuple[float, float]:
    """Return the half-width that decides on admission, and the width of the metric's range.

    Of a sealed question that of the answer if its guess holds, as a surprise is wider and may not decide; of
    others the worst there can be.
    """
    if not isinstance(question, SealedQuestion):
        return worst_half_width(question, share)
    price = state.account.price(CountRelease(question.expected_symbols(share)))
    nats = max(share.nats, state.account.nats) + price
    return question.agreeing(share, Told(state.policy.ln_transcript, nats)), 1.0


def published_half_width(
    state: ConversationState, statistic: SealedStatistic, event: Event, share: FailureBudget
) -> float:
    """Return about the half-width of the exact value if it were published next, which takes nothing.

    At the value that the guess suggests, and with what is left of the purse after this question.
    """
    purse = state.purse if share.purse is None else share.purse
    return final_half_width(state, statistic, purse, state.account.nats + state.account.price(event))


def final_half_width(
    state: ConversationState,
    statistic: SealedStatistic,
    purse: Purse | None = None,
    nats: float | None = None,
) -> float:
    """Return about the half-width of a final, at the value that the guess suggests.

    ``purse`` and ``nats`` are what is left then and what was revealed; None: as they are now.
    """
    purse, nats = purse or state.purse, state.account.nats if nats is None else nats
    assert purse is not None
    weight, _ = purse.final()
    level = ln_delta(state.policy.ln_sealed, weight, nats) if weight > 0.0 else -math.inf
    low, high = statistic.fixed_interval(statistic.expected, statistic.expected, level)
    return (high - low) / 2.0


def admitted(
    session: Session,
    question: Question,
    state: Conversation,
    round_name: str | None,
    member: str,
    *,
    final: bool,
) -> FailureBudget:
    """Return what a question may spend of the failure probability, after these records.

    Parameters
    ----------
    session : Session
    question : Question
    state : Conversation
    round_name : str or None
        The round that it belongs to.
    member : str
        Its key among declared models; empty if there is none.
    final : bool
        Whether it publishes: the tolerance does not refuse it.

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
    if may_be_declared(question):
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


def certified(state: Conversation, question: Question, share: FailureBudget, count: int = 1) -> FailureBudget:
    """Return the share with the routes (description length, privacy) that certify ``count`` such answers.

    Raises
    ------
    RefusedError
        If no route does, or nothing is left of the weights.
    """
    if share.ln_delta == -math.inf and not isinstance(question, SealedQuestion):
        raise RefusedError(
            "nothing is left of the weights of this holdout, which sum to 1, so an exact answer would "
            "certify nothing; cells of counts still certify, by what was said so far: certify without "
            "final=True"
        )
    mechanism_state = state.mechanism_states.get(question.state_name, {})
    return state.certified(question.private_release(mechanism_state), share, count)


def may_be_declared(question: Question) -> bool:
    """Return whether a question about a declared model gets the share of that."""
    return isinstance(question, CodedQuestion | FilledCheck | SealedQuestion | RowsQuestion)


FINAL = "final "
"""How the key begins of a question that was published when it was asked first."""


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
        coded = question if isinstance(question, CodedQuestion) else None
        rows = None if coded is None else of_rows(coded, session.data, session.policy)
        if rows is None or session.find(keys_of(session, question, model)[1]) is not None:
            return question
        return rows
    if session.policy.answers == "auto" and question.purpose == "certify":
        _, key = keys_of(session, question, model)
        if session.read(lambda state: state.is_first(round_name)) or session.find_each(told_as(key)):
            return question
    return sealed


def charge_or_confirm(
    session: Session,
    key: str,
    said: Said,
    decide: Callable[[str, str, Conversation], LedgerRecord],
    asked: dict[str, Any],
    *,
    found: Sequence[Record],
    anew: bool = False,
) -> Record:
    """Return the record whose model said this; if there is none, record what ``decide`` returns.

    Where privacy certifies nothing is compared.

    Parameters
    ----------
    session : Session
    key : str
        What the digests make of the question.
    said : Said
        What the model says on the holdout.
    decide : callable
        Takes the key of the version that is recorded, the summary to be kept in it, and the state.
    asked : dict
        Purpose, metric and asker, for the record of a comparison.
    found : sequence of Record
        The versions that were found before the look (`find_versions`).
    anew : bool, default=False
        Whether it is a new question in any case (see `is_asked_anew`).
    """
    compared, versions = 0, list(found)
    while True:  # until nobody else has recorded a version since the comparison
        if session.policy.is_private:
            same = versions[0] if versions and not anew else None
        else:
            same = _confirmed(session, said, versions[compared:], asked)
        if same is not None:
            return same
        compared = len(versions)
        name = version_key(key, compared + 1)
        sealed = said.sealed(session.sealing_key(name))
        record = session.charge(name, functools.partial(decide, name, sealed))
        if record.fresh:
            return record
        _add_versions(versions, session, key)


def find_versions(
    session: Session, keys: Sequence[str], otherwise: Callable[[Conversation], object] | None = None
) -> list[Record]:
    """Return all versions of the first of these keys that has any; if none has, call ``otherwise(state)``."""
    names = [version_key(key, number) for key in keys for number in (1, 2)]
    found = session.find_each(names, otherwise)
    if not found:
        return []
    key = str(found[0].key)
    versions = [record for record in found if record.key in (key, version_key(key, 2))]
    if len(versions) > 1:
        _add_versions(versions, session, key)
    return versions


def is_asked_anew(session: Session, models: Sequence[Any], outputs: str = "") -> bool:
    """Return whether a question is a new one each time, as privacy certifies and nothing public confirms it.

    Parameters
    ----------
    session : Session
    models : sequence of estimators
    outputs : str, default=""
        Digest of their outputs on the rows of the guess; empty if there are no such rows.
    """
    return session.policy.is_private and not outputs and any(map(has_own_code, models))


def warn_of_asking_anew(session: Session, what: str) -> None:
    """Warn that a question which was asked before is paid for again."""
    warn_user(
        "A question is asked, and paid for, again: its model has code that is no installed library's, so its "
        "digest does not tell whether it is the same, and where privacy certifies only public rows can. "
        f"{what}",
        once=("asked anew", session.fingerprint),
    )


def _add_versions(versions: list[Record], session: Session, key: str) -> None:
    """Append what else is recorded under a proposal to the versions that are known, which never change."""
    while (record := session.find(version_key(key, len(versions) + 1))) is not None:
        versions.append(record)


def _confirmed(session: Session, said: Said, versions: list[Record], asked: dict[str, Any]) -> Record | None:
    """Return the version whose model said this, or None; recorded and paid for either way.

    Where no version keeps what was said, nothing is compared, and nothing told.
    """
    comparable = [record for record in versions if "said" in record.body]
    if not comparable:
        return None
    agree = (
        number
        for number, record in enumerate(comparable)
        if said.agrees_with(record.body["said"], session.sealing_key(str(record.key)))
    )
    same = next(agree, None)
    numbers = [record.seq for record in comparable]
    session.charge(None, lambda state: ConfirmationRecord.of(state, numbers, same, asked))
    return None if same is None else comparable[same]


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
