"""Choose among fitted models so that only the winner's number is revealed.

Which of N models is best on the holdout is one of N outcomes that are taken for equally likely: it costs
``ln N`` nats, however the choice is made, and the values compared are not shown.

Drawn by the exponential mechanism (McSherry, Talwar 2007; lecture 16, Algorithm 1) it is epsilon-DP as well;
the winner's value is then within ``(2 s / epsilon)(ln N + t)`` of the best of N, except with probability
``e^-t``, for values that one row can move by s.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sklearn_ada._validation import bad_parameter, check_option, check_real
from sklearn_ada.accounting.differential_privacy import exponential_epsilon
from sklearn_ada.accounting.events import FAILURES, CodedRelease, Event, ExponentialMechanismEvent, Symbol
from sklearn_ada.accounting.filters import Unit
from sklearn_ada.data.labels import guarded
from sklearn_ada.exceptions import BudgetExhaustedError
from sklearn_ada.guarantees.description_length import planned_questions
from sklearn_ada.holdout.asking import Proposal
from sklearn_ada.holdout.changes import check_not_trained_on
from sklearn_ada.holdout.framing import explaining_undefined
from sklearn_ada.holdout.looking import another_error, apart, held_signals, look, with_bare_errors
from sklearn_ada.holdout.records import SelectionRecord
from sklearn_ada.holdout.session import Session
from sklearn_ada.holdout.state import State
from sklearn_ada.ledger.hash_chain import Record
from sklearn_ada.mechanisms.selection import exponential_mechanism
from sklearn_ada.metrics.metric import Metric
from sklearn_ada.questions.question import Draw
from sklearn_ada.terms.holdout_data import HoldoutData
from sklearn_ada.terms.models import Subject, is_lasting, lasting_identity, metric_identity, selection_key
from sklearn_ada.terms.outputs import Observation, OutputSummary, observed, value_scale_of
from sklearn_ada.terms.privacy_account import PrivateRelease


def select_model(session: Session, models: Sequence[Any], metric: Metric, epsilon: float | str | None) -> int:
    """Return the number of the winner; recorded, so that the same models give the same winner.

    In ledgers begun since format 3 the record numbers the models in an order of their own.

    A model that fails on the holdout counts as the worst. See `Holdout.select`.

    Raises
    ------
    BudgetExhaustedError
        If rows were added to the holdout since.
    ValueError
        If a model cannot be asked, or (with an epsilon) one row can move the metric without bound.
    """
    data, count = session.data, 0 if hasattr(models, "fit") else len(models)
    if not count:
        raise bad_parameter("models", "Holdout.select", "a non-empty sequence of fitted models", models)
    subjects = [Subject.of(model, data, session.policy, "Holdout.select") for model in models]
    _check_metric(subjects, metric, data)
    for subject in subjects:
        check_not_trained_on(session, subject)
    choice = None if epsilon is None else PrivateChoice.plan(metric, data, count, epsilon)
    # With a privacy budget, the epsilon of "auto" depends on what is left of it: the key holds the word.
    named: float | str | None = None if choice is None else choice.epsilon
    if epsilon == "auto" and session.ledger.read(lambda state: state.privacy is not None):
        named = "auto"
    lasting = is_lasting(session.policy)
    identity = lasting_identity(metric, data) if lasting else metric_identity(metric)
    # In the order of their digests: the same models in another order are the same choice.
    order = sorted(range(count), key=lambda number: subjects[number].digest) if lasting else range(count)
    subjects = [subjects[number] for number in order]
    digests = [subject.digest for subject in subjects]
    key = selection_key(identity, digests, named, data.first_like, lasting=lasting)
    admit = functools.partial(_choice_or_refuse, session, choice, count)
    with session.asked() as asking:
        proposal = Proposal.find(asking, [key], admit, [subject.estimator for subject in subjects])
        if proposal.is_answered:
            record = proposal.versions[0]
        else:
            for subject in subjects:
                # Raises for models that cannot be copied, before any has seen the holdout and it costs
                # something.
                subject.copy()
            record = with_bare_errors(lambda: _look_and_charge(proposal, subjects, metric, choice))
    winner = SelectionRecord.from_dict(record.body).chosen
    if isinstance(winner, str) or winner >= count:
        why = winner if isinstance(winner, str) else "all of them failed"
        raise ValueError(f"The holdout could not choose among {count} models: {why}. It was charged.")
    return int(order[int(winner)])


def _check_metric(subjects: Sequence[Subject], metric: Metric, data: HoldoutData) -> None:
    """Raise unless every model can be asked for this metric."""
    for subject in subjects:
        metric.check_estimator(subject.estimator)
    with explaining_undefined(metric, data):
        metric.check_target(data.some_labels)
        if data.has_interval(metric):
            measure = data.measure_of(metric)
            measure.size(data.labels_for(metric, measure))
        else:
            metric.check_classes(data.some_labels)
            data.check_weights(metric)


def _look_and_charge(
    proposal: Proposal[Any], subjects: Sequence[Subject], metric: Metric, choice: PrivateChoice | None
) -> Record:
    """Look at the holdout with every model and return the record of the choice."""
    session, count = proposal.session, len(subjects)
    secret, stamp, value = session.secret, session.asker.stamp(), functools.partial(_value_of, metric)
    with held_signals() as interrupts:
        looks = [
            look(apart(value, metric), subject, session.data, interrupts, stream="index", scale=1.0)
            for subject in subjects
        ]
        seen = [each.seen for each in looks]
        values = [value if isinstance(value, float) and not math.isnan(value) else None for value in seen]
        named = {"interrupted": interrupts.raised}
        if session.policy.seal_key is None:  # the winner depends on nothing but the values
            comparable = [math.nan if value is None else value for value in values]
            summary = OutputSummary.of(named, comparable, value_scale_of(metric))
        else:  # which only the holder of the private key may read
            summary = OutputSummary.joined([OutputSummary.of(named), *(each.outputs for each in looks)])

        def decide(version: str, kept: str, state: State) -> SelectionRecord:
            admitted = _choice_or_refuse(session, choice, count, state)
            event = _event_of(values, metric, admitted, Draw(secret, version), interrupted=interrupts.raised)
            release = None if choice is None else choice.release(event)
            given = any(subject.is_given for subject in subjects)
            about = {"metric": metric.entry(), "models": count, "outputs": kept, "given_rows": given}
            return SelectionRecord.of(state, event, release, **about, **stamp)

        entry = {"purpose": "select", "metric": metric.entry(), **stamp}
        record = proposal.confirm_or_charge(lambda record: summary, decide, entry, secret)
        interrupts.raised &= record.fresh
    return record


def _value_of(metric: Metric, subject: Subject, data: HoldoutData) -> Observation:
    """Return the value of one model, and its outputs."""
    model = subject.copy()
    if not data.has_interval(metric):
        value = metric.whole(model, guarded(data.X), data.y, sample_weight=data.weight)
        return observed(metric, value, None, value, by_value=data.by_value)
    measure = data.measure_of(metric)
    labels = data.labels_for(metric, measure)
    outputs = metric.outputs(model, data.X, labels)
    value = metric.measured(model, labels, outputs, measure).value
    return observed(metric, value, outputs, value, by_value=data.by_value)


def _event_of(
    values: list[float | None], metric: Metric, choice: PrivateChoice | None, draw: Draw, *, interrupted: bool
) -> Event:
    """Return the event of the choice; a model that failed (None) counts as the worst.

    If one failed, a symbol says so before the winner's number, which is N if all failed.
    """
    count, scale = len(values), float(len(values))
    worst = metric.bounds[0] if metric.has_interval else -math.inf
    seen = np.array([worst if value is None else value for value in values])
    try:
        if choice is None:
            index = int(np.argmax(seen))
        else:
            drawn = exponential_mechanism(
                seen, sensitivity=choice.sensitivity, epsilon=choice.epsilon, rng=draw.own_generator()
            )
            index = min(int(drawn.answer), count - 1)
    except Exception:  # whether it is raised may depend on the holdout
        return CodedRelease((Symbol("index", FAILURES[6], scale),))
    if None in values:  # one row can move a failure by the whole range, so there is no privacy in it
        failed = another_error("index", scale, is_interrupt=interrupted)
        index = count if all(value is None for value in values) else index
        return CodedRelease((*failed, Symbol("index", index, scale + 1.0)))
    symbols = (Symbol("index", index, scale),)
    return CodedRelease(symbols) if choice is None else ExponentialMechanismEvent(choice.epsilon, symbols)


@dataclass(frozen=True)
class PrivateChoice:
    """How a choice is randomised by the exponential mechanism.

    Parameters
    ----------
    epsilon : float
        Privacy parameter; "auto" takes the one that costs about half a standard error of the metric.
    sensitivity, width : float
        How far one row can move the metric, and how wide its range is.
    unit : Unit
        What is replaced between neighbouring data sets.
    family : str
        Of the metric, see `family_level`.
    is_auto : bool
        Whether epsilon was "auto": then `within` may make it smaller.
    """

    epsilon: float
    sensitivity: float
    width: float
    unit: Unit
    family: str
    is_auto: bool

    @classmethod
    def plan(cls, metric: Metric, data: HoldoutData, count: int, epsilon: float | str) -> PrivateChoice:
        """Fix the sensitivity, and epsilon where it is left open."""
        (low, high), measure = metric.bounds, data.measure_of(metric)
        labels = data.labels_for(metric, measure)
        size, sensitivity = measure.size(labels), measure.sensitivity(labels)
        if sensitivity is None:
            fix = (
                "One row can move a ratio (or a mean at declared shares or with weight_bound) too far: use "
                "epsilon=None."
            )
            raise bad_parameter(
                "scoring", "a selection", "a mean, an AUC or a per-class mean", metric.name, fix
            )
        is_auto = isinstance(epsilon, str)
        if is_auto:
            check_option(epsilon, "epsilon", "a selection", ("auto",))
            standard_error = 0.5 * (high - low) / math.sqrt(size)
            epsilon = float(f"{4.0 * sensitivity * (math.log(count) + 3.0) / standard_error:.3g}")
        epsilon = check_real(epsilon, "epsilon", "a selection", low=0.0)
        return cls(epsilon, sensitivity, high - low, measure.unit, measure.family, is_auto)

    def release(self, event: Event) -> PrivateRelease:
        """Return what the choice costs of the privacy budget."""
        return PrivateRelease(event, self.unit, self.family)

    def within(self, state: State, n: int, count: int) -> PrivateChoice:
        """Return the choice with an epsilon that takes at most half of the privacy budget.

        It leaves at least as much as one answer takes, so that the winner can be certified.

        Raises
        ------
        BudgetExhaustedError
            If the chosen model could then be worse than the best by half of the metric's range.
        """
        if not self.is_auto or state.privacy is None or state.privacy.ended is not None:
            return self
        left = state.privacy.left(self.unit)
        planned = planned_questions(state.policy.expected_questions)
        rho = min(left / 2.0, left - state.policy.privacy_budget(self.unit, n) / planned)
        epsilon = min(self.epsilon, float(f"{exponential_epsilon(rho):.3g}") * 0.99) if rho > 0.0 else 0.0
        if epsilon <= 0.0 or epsilon * self.width < 4.0 * self.sensitivity * math.log(count):
            raise BudgetExhaustedError(
                f"The holdout cannot choose among {count} models: what is left of the privacy budget pays "
                "for a guess and one certify at most. Choose before other questions are asked, and count "
                "choices in expected_questions, two for each."
            )
        return replace(self, epsilon=epsilon)


def _choice_or_refuse(
    session: Session, choice: PrivateChoice | None, count: int, state: State
) -> PrivateChoice | None:
    """Return how the choice is made, decided by earlier records alone; BudgetExhaustedError if it is not."""
    session.check_not_outgrown(state)
    if state.privacy is None or (state.policy.is_described and (choice is None or state.privacy.ended)):
        return choice
    release = None
    if choice is not None:
        choice = choice.within(state, session.data.n_units, count)
        event = ExponentialMechanismEvent(choice.epsilon, (Symbol("index", 0, float(count)),))
        release = choice.release(event)
    refusal = state.privacy.refusal(release)
    if refusal is not None:
        raise BudgetExhaustedError(
            f"The holdout cannot choose among {count} models: {refusal}. Nothing was asked. Use a smaller "
            "epsilon, or take rows that nobody has asked about."
        )
    return choice
