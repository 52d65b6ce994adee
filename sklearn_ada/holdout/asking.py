"""One question from asking to answer: find it, or admit it, look at the holdout, charge it, answer.

`put_question` asks the ledger whether the question is on record (`Proposal`); earlier records alone
decide whether a new one is admitted, and with which allowance (`_admitted`): a
refusal that depended on the answer would reveal something about it, for nothing. So a question is refused if
its interval could be wider than the tolerance, its mechanism or its holdout answers no more, or nothing is
left that could certify it. Then the model predicts the holdout, and what was seen becomes a record, or the
confirmation of one, before anything of it is returned.

**The interval** of an answer is by description length, by privacy, or by both. With both routes each has half
of the failure probability, so the intersection of their intervals holds.

The interval of a sealed answer follows from two theorems, of which the transcript theorem needs an order of
the answers that the rows do not decide. A question on its own was fixed by what was recorded when it was
begun; if something else was recorded between that and its own record (by a thread, or by a colleague), who
came first may have been decided by the rows, so then description length speaks alone. In a round it does
until that is closed (`session.close_round`).

**A digest proposes, the holdout confirms, at a price.**

A question that is asked again has the key of the first time. That is only a proposal: a model's digest cannot
see weights in a file, names that ``eval`` looks up or a patched library, and another model with the same
digest must not get the first one's answer. So the model predicts the holdout once more, and what it says is
compared with what the record keeps of it (`OutputSummary`). The outcome is a symbol with a price, for it
would tell an asker who makes models that differ on one chosen row whether that row is in the holdout:

- "the same" is nearly free if few differed before, .001 nats the first time and less than .05 nats for a
  thousand times; after one that differed, .1 nats and then less. The answer is the recorded one.
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

**Where privacy certifies** a comparison without noise would end the route. There a key that is found is
answered as it stands: the outputs on the rows of the guess are part of it, so a match is confirmed on rows
that are public. If there are none (a bare number as the guess, or a choice among models) a model with code
that is no installed library's is a new question each time, with one warning.

**Where description length certifies** a model of the user's own class with a bare number as its guess is
proposed and confirmed like any other. A question that is new each time would make a notebook that is run
again pay for all of them, while the urn makes repeated mismatches cheap.

Records of older releases keep nothing to compare with. Their questions are asked again, as a new version.

**Warnings** are of answers that are worth less than they look. An answer is *vacuous* if its interval holds
everything the metric can be. And a stable median is another quantity than the metric on all rows, which an
asker should know who did not ask for it.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sklearn.base import is_regressor

from sklearn_ada._notices import warn_user
from sklearn_ada.accounting.events import FAILURES, Event, Symbol
from sklearn_ada.answer import Answer
from sklearn_ada.digest.code import has_own_code
from sklearn_ada.guarantees.description_length import Purse
from sklearn_ada.holdout.framing import Ask, Framed, frame
from sklearn_ada.holdout.records import (
    AnswerRecord,
    ConfirmationRecord,
    RefusalRecord,
    SealedRecord,
    kept_outputs,
)
from sklearn_ada.holdout.session import Session, held_interrupts, look, with_bare_errors
from sklearn_ada.holdout.state import LedgerRecord, RefusedError, State
from sklearn_ada.ledger.hash_chain import Record, canonical_json
from sklearn_ada.metrics.metric import Metric
from sklearn_ada.questions.loss_count import LossCount, Transcript
from sklearn_ada.questions.question import Draw, Question
from sklearn_ada.questions.stable_median import MedianSettings
from sklearn_ada.terms.holdout_data import HoldoutData
from sklearn_ada.terms.models import Observation, OutputSummary
from sklearn_ada.terms.policy import Allowance

Decide = Callable[[str, str, State], LedgerRecord]
"""From the key of a version, the summary that its record keeps, and the state, to that record."""
_ALL_QUANTILES = 0.5  # a half-width


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
        return session.answer_of(_recorded(session, framed, looked))
    except RefusedError as refused:
        # The mechanism's name only: its parameters, such as the noise of an AUC, can tell class counts.
        entry = {**framed.entry, "mechanism": {"name": framed.entry["mechanism"]["name"]}}
        return refuse(session, refused, **entry)


def refuse(session: Session, refused: RefusedError, **entry: Any) -> Answer:
    """Return an answer without a value, which is recorded; ``entry`` is what the record says besides."""
    refusal = RefusalRecord(reason=str(refused), **entry)
    return refusal.answer(session.charge(None, lambda state: refusal), session.genesis)


def _recorded(session: Session, framed: Framed, looked: list[Any] | None) -> Record:
    """Return the record of the answer: one that was there, confirmed, or a new one."""
    question, subject = framed.question, framed.asked.subject
    begun, admission = math.nan, None  # the nats when it was fixed, and what it may spend after which records

    def admit(state: State) -> None:
        nonlocal begun, admission
        admission = state, state.applied, _admitted(session, framed, state)
        begun = state.account.nats

    is_anew = is_asked_anew(session, [subject.estimator], _public_outputs(question))
    proposal = Proposal.find(session, framed.keys, admit, is_anew)
    if proposal.is_answered:
        return proposal.versions[0]
    secret, discarded = session.ledger.secret(), subject.copy()  # a secret cannot be read inside a charge

    def look_and_charge() -> Record:
        with held_interrupts() as interrupts:
            observation = look(
                question.evaluate, discarded, session.data, interrupts,
                stream=question.stream, scale=question.scale,
            )  # fmt: skip

            def decide(version: str, summary: str, state: State) -> AnswerRecord:
                # The second version under a key has no allowance of a declared model: the digest is of two.
                own = framed if version == proposal.key else replace(framed, member="")
                if own is framed and admission is not None and admission[:2] == (state, state.applied):
                    allowance = admission[2]  # earlier records alone decide, and there are no others
                else:
                    allowance = _admitted(session, own, state)
                draw = Draw(secret, version, state.memories.get(question.memory_name, {}))
                in_order = begun == state.account.nats  # nothing was recorded since the question was fixed
                answer = functools.partial(
                    _answer_record, session, own, state, allowance, draw, summary, in_order
                )
                try:
                    return answer(observation.seen)
                except Exception:  # whether it is raised may depend on the holdout, so this is an answer, too
                    return answer((Symbol(question.stream, FAILURES[6], question.scale),))

            outputs = _comparable(session, question, observation)
            record = proposal.charge(outputs, decide, framed.entry, secret)
            if looked is not None:
                looked.append(observation.seen)
            interrupts.raised &= record.fresh  # what was recorded before is an answer
        return record

    return with_bare_errors(look_and_charge)


def _answer_record(
    session: Session,
    framed: Framed,
    state: State,
    allowance: Allowance,
    draw: Draw,
    summary: str,
    in_order: bool,
    seen: Any,
) -> AnswerRecord:
    """Return the record of an answer, after checking that it can be written as JSON.

    ``summary`` is what it keeps of the model's outputs; ``in_order`` says whether nothing was recorded since
    the question was fixed.
    """
    question, in_round = framed.question, state.open_round(framed.asked.round_name)
    event, memory = question.release(seen, allowance, draw)
    by_transcript = question.statistic is not None and in_order and state.is_alone(in_round)
    outcome = question.outcome(
        event, allowance, memory, transcript_of(state, event) if by_transcript else None
    )
    about: dict[str, Any] = {"subject": framed.subject, "round_name": in_round, "outputs": summary}
    about |= {"outcome": outcome, "memory_name": question.memory_name, "memory": memory}
    about["given_rows"] = framed.asked.subject.is_given
    about["declared"] = question.may_be_declared and state.is_declared(framed.member)
    about["unconfirmed"] = session.policy.is_private and not _public_outputs(question)
    kind: type[AnswerRecord] = AnswerRecord
    if question.statistic is not None:
        kind, nats = SealedRecord, state.account.nats + state.account.price(event)
        sealed = session.sealed(seen, draw.key, draw.secret) if isinstance(seen, int) else None
        # Published next it would take nothing more, at the value that the guess suggests.
        published = final_half_width(state, question.statistic, allowance.purse or state.purse, nats)
        about |= {"sealed": sealed, "population": question.exact.target, "published": published}
    record = kind.of(state, event, allowance, question.private_release({}), **about, **framed.entry)
    canonical_json(record.to_dict())
    return record


def _public_outputs(question: Question) -> str:
    """Return the digest of the model's outputs on the rows of the guess; empty if there are none."""
    return "" if question.guess is None else question.guess.outputs


def _comparable(session: Session, question: Question, observation: Observation) -> OutputSummary:
    """Return what a record keeps of a model's outputs, for comparisons.

    Values of the metric are among it, hidden by the ledger's secret. Where only the holder of a private key
    may read them, what was released stands in their place: 10,000 counts are searched in no time.
    """
    if session.policy.seal_key is None:
        return observation.outputs
    seen = observation.seen
    if question.statistic is not None and isinstance(seen, int):
        return observation.outputs.without_values(question.statistic.cells.index(seen))
    symbols = seen if isinstance(seen, tuple) and all(isinstance(each, Symbol) for each in seen) else ()
    return observation.outputs.without_values([symbol.to_dict() for symbol in symbols])


# What is on record.


def version_key(key: str, number: int) -> str:
    """Return the key of the ``number``-th question, counted from 1, that has the same identity.

    Examples
    --------
    >>> version_key("a1", 1), version_key("a1", 2)
    ('a1', 'a1 version 2')
    """
    return key if number == 1 else f"{key} version {number}"


@dataclass(frozen=True)
class Proposal:
    """What is on record under the key that digests make of a question.

    Parameters
    ----------
    session : Session
    key : str
    versions : list of Record
        Of the question, that were found before the look.
    is_anew : bool
        Whether it is a new question each time, as privacy certifies and nothing public confirms it.
    """

    session: Session
    key: str
    versions: list[Record]
    is_anew: bool

    @classmethod
    def find(
        cls, session: Session, keys: Sequence[str], otherwise: Callable[[State], object], is_anew: bool
    ) -> Proposal:
        """Return all versions of the first of these keys that has any; if none has, call ``otherwise``.

        It takes the state. With a question that is new each time and was asked before comes a warning.
        """
        found = session.ledger.find_each([version_key(key, n) for key in keys for n in (1, 2)], otherwise)
        key = str(found[0].key) if found else keys[0]
        versions = [record for record in found if record.key in (key, version_key(key, 2))]
        proposal = cls(session, key, versions, is_anew)
        if len(versions) > 1:
            proposal._add_versions(versions)
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

    def charge(self, outputs: OutputSummary, decide: Decide, entry: dict[str, Any], secret: bytes) -> Record:
        """Return the record with these outputs; if there is none, record what ``decide`` returns.

        Where privacy certifies nothing is compared.

        Parameters
        ----------
        outputs : OutputSummary
            What the model says on the holdout.
        decide : callable
        entry : dict
            Purpose, metric and asker, for the record of a comparison.
        secret : bytes
            The ledger's.
        """
        session, compared, versions = self.session, 0, [*self.versions]
        while True:  # until nobody else has recorded a version since the comparison
            if session.policy.is_private:
                same = versions[0] if versions and not self.is_anew else None
            else:
                same = self._confirmed(outputs, versions[compared:], entry, secret)
            if same is not None:
                return same
            compared = len(versions)
            name = version_key(self.key, compared + 1)
            summary = outputs.sealed(session.sealing_key(name, secret))
            record = session.charge(name, functools.partial(decide, name, summary))
            if record.fresh:
                return record
            self._add_versions(versions)

    def _confirmed(
        self, outputs: OutputSummary, versions: list[Record], entry: dict[str, Any], secret: bytes
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
            if outputs.agrees_with(before, self.session.sealing_key(str(record.key), secret))
        )
        same, numbers = next(agree, None), [record.seq for record, _ in comparable]
        asked = {name: entry[name] for name in ("purpose", "metric", "who", "label", "time")}
        self.session.charge(None, lambda state: ConfirmationRecord.of(state, numbers, same, asked))
        return None if same is None else comparable[same][0]

    def _add_versions(self, versions: list[Record]) -> None:
        """Append versions that are recorded since; the others never change."""
        while record := self.session.ledger.find(version_key(self.key, len(versions) + 1)):
            versions.append(record)


def is_asked_anew(session: Session, models: Sequence[Any], outputs: str = "") -> bool:
    """Return whether a question is a new one each time.

    It is where privacy certifies, the model has code of its own and nothing public confirms it. ``outputs``
    is the digest of the models' outputs on the rows of the guess; empty if there are none.
    """
    return session.policy.is_private and not outputs and any(map(has_own_code, models))


# What a question may spend.


def _admitted(session: Session, framed: Framed, state: State) -> Allowance:
    """Return what a question may spend of the failure probability; RefusedError if it is not admitted."""
    question, publish = framed.question, framed.asked.publish
    memory = state.memories.get(question.memory_name, {})
    exhausted = state.outgrown(session.fingerprint) or question.exhausted(memory)
    if exhausted is not None:
        raise RefusedError(exhausted)
    is_sealed, in_round = question.statistic is not None, state.open_round(framed.asked.round_name)
    final = publish and not is_sealed
    allowance = state.allowance(question.purpose, round_name=in_round, at_once=question.at_once, final=final)
    if question.may_be_declared:
        allowance = state.declared(framed.member, allowance)
    allowance = certified(state, question, allowance)
    admits_all = publish or (is_sealed and state.policy.tolerance is None)  # then no interval need be found
    if not admits_all and not state.admits(*foreseen_half_width(state, question, allowance)):
        kept = "certify the model that is kept, " if question.purpose == "check" else ""
        raise RefusedError(
            f"the next {question.purpose} could be less precise than the tolerance of "
            f"{state.policy.tolerance:g}; {kept}add fresh rows (top_up; plan_holdout says how many), or "
            "take rows that nobody has asked about"
        )
    return allowance


def certified(state: State, question: Question, allowance: Allowance, count: int = 1) -> Allowance:
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
    return state.certified(question.private_release(memory), allowance, count)


def foreseen_half_width(state: State, question: Question, allowance: Allowance) -> tuple[float, float]:
    """Return the half-width that decides on admission, and the width of the metric's range.

    Of a sealed question that of the answer if its guess holds, as a surprise is wider and may not decide; of
    others the worst there can be.
    """
    return question.foreseen_half_width(allowance, lambda event: transcript_of(state, event, allowance.nats))


# What an answer is worth.


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


def warn_of_median(session: Session, question: Question, estimator: Any) -> None:
    """Warn if a stable median will answer that the asker has not chosen."""
    metric = question.metric
    if question.n_subsamples is None or is_chosen(metric):
        return
    notice = median_notice(metric, MedianSettings(), session.data, regression=is_regressor(estimator))
    warn_user(
        f"{too_few_rows(session, question)}{notice}; or accept the median: settings=MedianSettings().",
        once=("median", session.fingerprint, metric.name),
    )


def too_few_rows(session: Session, question: Question) -> str:
    """Return a sentence if the next stable median will be vacuous, whatever the rows are."""
    if question.n_subsamples is None:
        return ""

    def foreseen(state: State) -> float:
        allowance = state.allowance(question.purpose, at_once=question.at_once)
        return foreseen_half_width(state, question, allowance)[0]

    if session.ledger.read(foreseen) < _ALL_QUANTILES:
        return ""
    units = _units(session.data, question.n_subsamples)
    return f"{units} are too few: what will be paid for certifies nothing. "


def _units(data: HoldoutData, n_subsamples: int | None) -> str:
    """Say how many independent units there are, and in how many subsamples."""
    units = f"{data.n_units} {'groups' if data.has_groups else 'rows'}"
    return units if n_subsamples is None else f"{units} in {n_subsamples} subsamples"


def warn_if_vacuous(session: Session, answer: Answer, question: Question) -> None:
    """Warn, once a process, of an answer that certifies nothing and was not given before."""
    if not answer.repeated and certifies_nothing(answer):
        parts = question.n_subsamples
        warn_user(
            f"An answer of the holdout certifies nothing. {why_vacuous(session, parts)}",
            once=("vacuous", session.fingerprint, "metric" if parts is None else "median"),
        )


def certifies_nothing(answer: Answer) -> bool:
    """Return whether an answer has a value but a vacuous interval."""
    return answer.answered and answer.certificate is not None and answer.certificate.vacuous


def why_vacuous(session: Session, n_subsamples: int | None) -> str:
    """Return why answers are vacuous, by the holdout's size and the nats revealed.

    Parameters
    ----------
    session : Session
    n_subsamples : int or None
        Of a stable median; None for a metric with an interval of its own.
    """
    data, policy = session.data, session.policy
    nats = session.ledger.read(lambda state: state.account.nats)
    if policy.is_described:
        what = f"with {nats:.3g} nats revealed"
        fewer = "fewer surprises, as guesses that hold cost next to nothing"
    else:
        what, fewer = "for what privacy can certify", "fewer expected_questions, which means less noise"
    if n_subsamples is not None:
        fewer += "; or a metric with an interval of its own"
    more = "a larger holdout"
    if policy.route == "description_length" and data.units is None:
        more = f"top_up, or {more}"
    return (
        "The interval is everything that the metric can be, because independent records are too few: "
        f"{_units(data, n_subsamples)}, {what}. What helps: more rows ({more}; plan_holdout says how many), "
        f"or {fewer}."
    )


def is_chosen(metric: Metric) -> bool:
    """Return whether ``kind="general"`` was chosen for a metric with its own interval."""
    return metric.chosen_general and metric.is_scorer_with_interval


def median_notice(metric: Metric, settings: MedianSettings, data: HoldoutData, *, regression: bool) -> str:
    """Return a text: the median of a metric is another quantity, and these metrics have an interval.

    Parameters
    ----------
    metric : Metric
    settings : MedianSettings
    data : HoldoutData
    regression : bool
        Whether the model is a regressor, however few values y has.
    """
    name, units = metric.name, "groups" if data.has_groups else "records"
    size = data.subsample_size(settings.subsamples(data), stratify=settings.stratify)
    why = "has no interval of its own on this holdout"
    if metric.has_interval_of_all_rows:
        why = "has no interval of its own here (the winner's has, of rows that count alike: ask='winner')"
    return (
        f"{name} {why}. Its answers are the median of {name} over random subsamples of {size} {units}, which "
        f"is another quantity than {name} on all rows and can be far from it. Use "
        f"{_with_interval(metric, data, regression)}"
    )


def _with_interval(metric: Metric, data: HoldoutData, regression: bool) -> str:
    of_class = _OF_ONE_CLASS.search(metric.name) if metric.string is None else None
    if of_class is not None and not data.has_groups and data.weight is None:
        label = _POS_LABEL.search(metric.name)
        written = "" if label is None else f", pos_label={_quoted(label[1])}"
        return f"Metric({of_class[1]!r}{written}), which is a scorer, too, and has an interval"
    if metric.is_scorer_with_interval and metric.range is None:
        return f"a metric with an interval, here {_here(metric.string)}"
    if regression or data.classes is None:
        return f"a metric with an interval, such as {_here('neg_mean_absolute_error')}"
    names = ["roc_auc"] if len(data.classes) == 2 else []
    served = [repr(n) for n in (*names, "balanced_accuracy", "accuracy") if data.has_interval(Metric(n))]
    return f"a metric with an interval, such as {', '.join(served)}"


_OF_ONE_CLASS = re.compile(r"^make_scorer\((f1|jaccard|precision|recall)_score\b(?!.*average)")
_POS_LABEL = re.compile(r"pos_label=([^,)]+)")


def _quoted(label: str) -> str:
    """Return a label as it is written: a scorer's text does not quote words."""
    is_number = label.removeprefix("-").replace(".", "", 1).isdigit()
    return label if is_number or label in ("True", "False") else repr(label.strip("'\""))


def _here(name: str | None) -> str:
    """Return a metric with a range, and where it is written: a search of scikit-learn takes none."""
    return f"Metric({name!r}, range=(low, 0)), as the scoring of a Holdout or of ReusableHoldoutCV"
