"""Rounds and declared models, and how many more questions a holdout admits.

**A round** is questions that are fixed before any of their answers is seen, admitted together or not at all;
such as checks of many models, whose guesses are fixed as well. All models look before one is recorded
(`asking`); where workers look in turn, what was recorded meanwhile counts against an answer, and may make it
wider than the tolerance at which the round was admitted.

**What is left**: a holdout admits questions whose answers cannot be wider than the tolerance. How many those
are is computed from the ledger's records and from a *probe*, a question that stands for those to come and
whose guess makes the widest intervals, and never from what the holdout would answer.

**Models declared** before the first question: what is revealed later cannot change which they are.

**Theorem.** Fix G models when L nats have been revealed about the holdout. With probability at least
``1 - beta_f`` the fixed-question interval at ``delta = e^-L beta_f / G`` holds for each of them, whatever is
revealed later and whenever it is asked for.

**Proof.** Union bound over the models and over everything that may have been revealed by then: ``e^-L``, the
probability that the code gives to it, sums to at most 1.

Before the first question L is 0, unless the class counts (``class_mix="priced"``) or the mean weight
(``weight_bound``) were paid for. Half of the failure probability beta goes to the declared models, the other
half to all other questions. A declared model may use the larger of the two delta that it has, as one of a
family and as a question like any other, because both halves have been set aside.

This is for checks and certifies without noise, about the rows as they were when the models were declared.
What it rests on: a declared model is found again by its digest alone, and a digest cannot see everything
that predictions depend on (weights in a file, say). Here the holdout cannot confirm it, as it does when a
question is asked again (`asking.Proposal`): nothing was asked yet when the model was declared, so
there is nothing to compare with, and what a model says on the holdout may decide neither whether its question
is admitted nor how wide the interval is. So every answer with the allowance of a declared model names this
assumption in its certificate; and if one question under the digest turns out to be of two models, the second
has no such allowance. Refusing it to models with code of the user's own would not make the assumption
needless, as code of a library can be patched, and would take it from models that keep to it.

Each model has two fixed questions, which share its delta: the mean, and (where the variance is released too)
the mean given the variance. Both intervals follow from the value and the variance, whatever the guess: that
chooses cells, which only widen them. An interval that a guess tunes, or that is drawn, would be another
question for every guess, and the share of the model was set aside for one. So no interval of all rows
(`questions.all_rows`) has this share: a declared model is answered as if there were none. A ratio's interval
depends on its guess, too, so ratios cannot be declared.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from sklearn_ada._solving import largest_integer
from sklearn_ada._validation import bad_parameter, check_integer, check_option, counted
from sklearn_ada.answer import Answer
from sklearn_ada.digest.canonical import canonical_digest
from sklearn_ada.exceptions import BudgetExhaustedError
from sklearn_ada.guarantees.description_length import PURPOSES
from sklearn_ada.holdout.asking import foreseen_half_width, put_together, with_routes
from sklearn_ada.holdout.changes import check_not_trained_on
from sklearn_ada.holdout.framing import (
    Ask,
    Framed,
    Settings,
    by_default,
    explaining_undefined,
    plan_question,
    why_no_interval,
)
from sklearn_ada.holdout.records import DeclarationRecord, Key, RoundRecord
from sklearn_ada.holdout.session import Session, close_round
from sklearn_ada.holdout.state import RefusedError, State
from sklearn_ada.metrics.metric import Metric
from sklearn_ada.questions.coded import CodedQuestion, FilledCheck
from sklearn_ada.questions.question import Guess, Question
from sklearn_ada.questions.sealed import in_cells
from sklearn_ada.questions.stable_median import MedianSettings, StableQuestion
from sklearn_ada.questions.windows import in_windows
from sklearn_ada.terms.models import Subject
from sklearn_ada.terms.policy import Allowance

MANY = 10**9
"""Questions are counted no further."""
_FRESH = (
    "add fresh rows (Holdout.top_up; plan_holdout says how many), or take rows that nobody has asked about, "
    "for which the tolerance may be larger."
)
_MENDS = {
    True: f"To go on, {_FRESH}",
    False: f"Search fewer candidates, use ask='winner', which asks one question a search, or {_FRESH}",
}
"""How to get an answer all the same, by whether one question was too many."""


def open_round(
    session: Session,
    size: int,
    *,
    purpose: str,
    scoring: str | Callable[..., Any] | Metric,
    name: str,
    guess_rows: int | None = None,
    alternatives: int = 1,
    settings: Settings = None,
    record: bool = True,
) -> str | None:
    """Declare that ``size`` questions, guesses included, are fixed before any of their answers is seen.

    Each has the same part of the round's failure probability, and what is revealed after the last look does
    not widen its interval. All are admitted here or none; those with windows whose width only their guesses
    foresee, each when it is asked.

    Parameters
    ----------
    session : Session
    size : int
    purpose : {"check", "certify"}
    scoring : str, callable or Metric
    name : str
        Identity of the round. If it was declared before, None is returned: questions already answered are
        nearly free, and new ones are on their own, as if there were no round.
    guess_rows : int or None, default=None
        How many rows the guesses come from; None takes as many as the holdout has.
    alternatives : int, default=1
        Among how many models, fixed now as well, the holdout chooses before each question is asked.
    settings : float, "fill" or None, default=None
        The cells of checks, as for `Holdout.check`.
    record : bool, default=True
        False: only raise if they would not be admitted now.

    Raises
    ------
    BudgetExhaustedError
        If the tolerance does not admit them all; the message says how many it admits. If no theory certifies
        them, as where nothing is left of the purse; the message says what is left.
    """
    owner = "a round of questions"
    check_option(purpose, "purpose", owner, PURPOSES)
    size = check_integer(size, "size", owner)
    alternatives = check_integer(alternatives, "alternatives", owner)
    metric = session.metric(scoring)
    exact = worst_question(session, metric, purpose, guess_rows, settings)
    sealed = coarsely(session, exact, size if alternatives == 1 else None)
    is_coarse = sealed is not None or (purpose == "certify" and is_answered_coarsely(session, metric))
    stamp, changed = session.asker.stamp(), session.data.first_like
    name = f"{name} {changed}" if changed else name
    may_be_first = session.policy.answers == "auto" and purpose == "certify" and size == 1

    def decide(state: State) -> RoundRecord:
        session.check_not_outgrown(state)
        at_once = not is_coarse or (may_be_first and not state.has_certified)
        probe: Question = exact if sealed is None or at_once else sealed
        allowance = state.allowance(purpose, size, at_once=at_once and purpose == "certify").among(
            alternatives
        )
        if sealed is not None or not is_coarse:
            _check_admitted(state, probe, allowance, size, alternatives)
        return RoundRecord.of(allowance, at_once=at_once, name=name, purpose=purpose, size=size, **stamp)

    if not record:
        session.ledger.find(Key.round(name), otherwise=decide)
        return None
    return name if session.charge(Key.round(name), decide).fresh else None


def _check_admitted(
    state: State, probe: Question, allowance: Allowance, size: int, alternatives: int
) -> None:
    """Raise BudgetExhaustedError unless all questions of a round are admitted."""
    planned = f"{counted(size, probe.purpose)} planned"
    if allowance.ln_delta == -math.inf:  # no tolerance is to blame
        try:
            with_routes(state, probe, allowance)
        except RefusedError as refused:
            raise BudgetExhaustedError(f"{planned}, but {refused}.") from None
    most = admitted_at_once(state, probe, size, alternatives)
    if most < size:
        raise BudgetExhaustedError(
            f"{planned}, and within {state.policy.limits} the holdout can answer {most} of them: "
            f"{size - most} too many. Nothing was asked. "
            f"{_how_wide(state, probe, allowance, size)}{_MENDS[size == 1]}{_begun_for_nothing(state)}"
        )


def _how_wide(state: State, probe: Question, allowance: Allowance, size: int) -> str:
    """Say how wide an answer could be: the tolerance that would admit it."""
    try:
        width, _ = foreseen_half_width(state, probe, with_routes(state, probe, allowance, size))
    except RefusedError:
        return ""
    return f"An answer could be as wide as +-{width:.3g}. " if math.isfinite(width) else ""


def _begun_for_nothing(state: State) -> str:
    """Say that a ledger that has answered nothing may be begun again, with another policy."""
    revealed = state.account.nats - state.policy.nats_before  # by a choice, or labels that differ
    was_asked = any(state.asked.values()) or revealed > 0.1
    if was_asked or state.policy.tolerance is None:
        return ""
    exact = ", or with answers='exact', which is narrower while few were asked," if state.purse else ""
    return (
        " This ledger has answered nothing yet: another one, at another path and with a larger "
        f"tolerance{exact or ','} voids nothing."
    )


def check_together(
    session: Session,
    estimators: Sequence[Any],
    metric: Metric,
    guesses: Sequence[float | Guess] | None,
    guess_from: tuple[Any, Any] | None,
    settings: Settings,
) -> list[tuple[Answer, Question]]:
    """Return answers and questions of all models, in their order; see `Holdout.check_many`."""
    owner, count = "Holdout.check_many", len(estimators)
    if not count:
        raise bad_parameter("estimators", owner, "fitted models, at least one", "none")
    if guesses is not None and len(guesses) != count:
        raise bad_parameter("guesses", owner, f"one for each of {count} models", len(guesses))
    if not (settings is None or isinstance(settings, int | float | str)):
        expected = "None, a number or 'fill'"
        raise bad_parameter("settings", owner, expected, settings, "Ask with these settings by check.")
    # All digests are taken before any of the models predicts anything.
    subjects = [Subject.of(each, session.data, session.policy, owner) for each in estimators]
    asked = [
        Ask(subject, metric, "check", guess, guess_from, settings, candidates=count)
        for subject, guess in zip(subjects, [None] * count if guesses is None else guesses, strict=True)
    ]
    questions = [plan_question(session, each) for each in asked]
    if questions[0].n_subsamples is not None:
        raise bad_parameter("scoring", owner, "a metric with an interval of its own", metric.name)
    pairs = list(zip(asked, questions, strict=True))
    name = f"many {canonical_digest([Framed.of(session, *pair).keys[0] for pair in pairs])}"
    sizes = [each.guess.size for each in questions if each.guess is not None and each.guess.size is not None]
    rows = max(round(min(sizes)), 1) if sizes else None
    about: dict[str, Any] = {"purpose": "check", "scoring": metric, "settings": settings, "guess_rows": rows}
    round_name = open_round(session, count, name=name, **about)
    answers = put_together(session, [(replace(each, round_name=round_name), of) for each, of in pairs])
    close_round(session.ledger, session.asker, name)
    if session.policy.seals:  # once the round is closed its intervals are narrower
        answers = [session.recorded_answer(answer.index) or answer for answer in answers]
    return list(zip(answers, questions, strict=True))


def declare_models(session: Session, models: Sequence[Any], metric: Metric) -> int:
    """Record that these models are declared, and return their number. See `Holdout.declare`."""
    data, owner = session.data, "Holdout.declare"
    served = data.has_interval(metric)
    if not served or data.measure_of(metric).size_is_released:
        why = "A ratio's is tuned by its guess, which is not fixed" if served else "Others rest on a median"
        expected = "a mean, an AUC or a per-class mean, which have one fixed interval"
        raise bad_parameter("scoring", owner, expected, metric.name, f"{why}.")
    members = []
    for model in models:
        subject = Subject.of(model, data, session.policy, owner)
        metric.check_estimator(subject.estimator)
        check_not_trained_on(session, subject)
        members.append(subject.declared_key(metric))
    if not members:
        raise bad_parameter("models", owner, "a non-empty sequence of fitted models", models)
    if len(set(members)) < len(members):
        raise bad_parameter("models", owner, "all different", "two models with the same state")
    members.sort()
    made = DeclarationRecord(members=members, **session.asker.stamp())

    def decide(state: State) -> DeclarationRecord:
        session.check_not_outgrown(state)
        if not state.is_untouched:
            fix = "Declare them first thing, on rows that nobody has asked about."
            expected = "declared before the first question"
            raise bad_parameter("models", owner, expected, "a holdout that was asked", fix)
        return made

    digest = hashlib.sha256(" ".join(members).encode()).hexdigest()
    recorded = session.charge(Key.declaration(digest), decide)
    return len(DeclarationRecord.from_dict(recorded.body).members)


def admitted_at_once(state: State, probe: Question, most: int, alternatives: int = 1) -> int:
    """Return how many questions like ``probe``, up to ``most``, are admitted as one round.

    ``alternatives`` is among how many questions the holdout chooses before each of them is asked.
    """

    def are_admitted(size: int) -> bool:
        allowance = state.allowance(probe.purpose, size, at_once=probe.at_once).among(alternatives)
        return _is_admitted(state, probe, allowance, size)

    return most if are_admitted(most) else largest_integer(are_admitted, most - 1)


def admitted_one_by_one(state: State, probe: Question) -> int:
    """Return how many questions like ``probe`` are admitted in turn if guesses hold."""

    def are_admitted(count: int) -> bool:
        return _is_admitted(state, probe, allowance_ahead(state, probe, count - 1), count)

    # Stakes fall within the expected questions and again beyond them, and rise in between.
    expected = (state.policy.expected_questions or 0) if probe.purpose == "check" else 0
    within = max(expected - state.asked[probe.purpose], 0)
    count = largest_integer(are_admitted, within)
    return count if count < within else largest_integer(are_admitted, MANY)


def allowance_ahead(state: State, probe: Question, count: int, purpose: str | None = None) -> Allowance:
    """Return the allowance of the question that comes after ``count`` more like ``probe``.

    Their guesses hold. Such a guess is cheap, not free, so the allowance counts their nats. ``purpose`` is
    that of the question, by default the probe's; a question of the other purpose has no smaller one for them.
    """
    own = purpose in (None, probe.purpose)
    ahead = count if own or state.purse is not None else 0
    allowance = state.allowance(purpose or probe.purpose, ahead=ahead, at_once=own and probe.at_once)
    symbols = probe.expected_symbols(allowance)
    return allowance.after(sum(state.account.price_of_repeats(symbol, count) for symbol in symbols))


def _is_admitted(state: State, probe: Question, allowance: Allowance, count: int) -> bool:
    try:
        allowance = with_routes(state, probe, allowance, count)
        return state.is_tolerated(*foreseen_half_width(state, probe, allowance))
    except RefusedError:
        return False


def is_answered_coarsely(session: Session, metric: Metric) -> bool:
    """Return whether a certify of this metric with a guess is answered with a cell or a window here."""
    if not session.policy.seals or why_no_interval(session, metric, "certify") or metric.chosen_general:
        return False
    if session.policy.format >= 3:
        return True
    if metric.has_interval_of_all_rows or metric.lacks_range:
        return False
    question = worst_question(session, metric, "certify", None)
    return in_cells(question, session.data, session.policy) is not None


def coarsely(session: Session, exact: Question, candidates: int | None = None) -> Question | None:
    """Return a question as it is answered with a cell or a window; None if it is with neither."""
    in_cell = in_cells(exact, session.data, session.policy, candidates)
    return in_cell or in_windows(exact, session.data, session.policy, asks=0, nats=0.0)


def worst_question(
    session: Session, metric: Metric, purpose: str, guess_rows: int | None, settings: Settings = None
) -> Question:
    """Return the question about this metric whose guess makes the widest intervals.

    ``guess_rows`` is how many rows guesses will come from; None takes as many as the holdout has.
    ``settings`` may be a half-width of cells or "fill", as for `Holdout.check`. ValueError if the labels do
    not allow the metric.
    """
    data, policy = session.data, session.policy
    with explaining_undefined(metric, data):
        if not data.has_interval(metric):
            metric.check_classes(data.some_labels)
            unbounded, median = None if metric.range else Guess(0.0, deviation=1.0), MedianSettings()
            return StableQuestion.plan(purpose, metric, unbounded, data, policy, median, session.partition)
        low, high = metric.bounds
        measure = data.measure_of(metric)
        size = measure.size(data.labels_for(metric, measure))
        if measure.size_is_released:
            size = len(data) / 2.0
        # A tenth less than its share, as classes need not be split evenly.
        behind = size if guess_rows is None else max(0.9 * size * guess_rows / len(data), 1.0)
        guess = Guess((low + high) / 2.0, behind)
        half_cell = settings if isinstance(settings, float) else None
        coded = CodedQuestion.plan(purpose, metric, guess, data, policy, half_cell)
        if isinstance(settings, str):
            return FilledCheck.refine(coded, settings, data, policy)
        return coded if half_cell is not None else by_default(coded, data, policy)
