"""Make a question of what a user asks, with all but the answer fixed.

An `Ask` names subject, metric, purpose and guess. `plan_question` makes the `Question` of it: validation rows
tune the metric and give the guess, and the settings name the mechanism. Everything is checked before anything
is looked at or charged.

`in_form` chooses how this ledger answers that question. Where it says so (``answers="coarse"``), a certify
with a guess tells a cell or a window, and seals the rest: the count of 0/1 losses, or a value and its
interval; with ``"auto"`` the first certify of a ledger is exact. The interval may be a function of all rows.
Everything else is answered as on any other ledger, and takes its stake from the same purse.

`Framed` is the question in that form with the keys by which it is found again.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

import numpy as np

from sklearn_ada._notices import warn_user
from sklearn_ada._validation import bad_parameter, check_option
from sklearn_ada.guarantees.description_length import PURPOSES
from sklearn_ada.holdout.changes import check_not_held_out, check_not_trained_on
from sklearn_ada.holdout.records import Key, read_answer, read_value
from sklearn_ada.holdout.session import Session
from sklearn_ada.ledger.hash_chain import Record
from sklearn_ada.metrics.base import UndefinedMetricError
from sklearn_ada.metrics.metric import Metric, undefined_metric
from sklearn_ada.questions.all_rows import with_rows_interval
from sklearn_ada.questions.coded import FILL, CodedQuestion, RefinedQuestion
from sklearn_ada.questions.noisy import GaussianQuestion
from sklearn_ada.questions.question import (
    Guess,
    Question,
    as_guess,
    guess_from_rows,
    in_short,
    median_guess_from_rows,
    question_class,
    tuned_metric,
)
from sklearn_ada.questions.sealed import in_cells
from sklearn_ada.questions.stable_median import MedianSettings, StableQuestion
from sklearn_ada.questions.windows import in_windows
from sklearn_ada.terms.holdout_data import HoldoutData
from sklearn_ada.terms.models import (
    Pair,
    Subject,
    is_lasting,
    lasting_identity,
    lasting_key,
    metric_identity,
    question_key,
    subject_key,
    to_digits,
)
from sklearn_ada.terms.policy import Policy
from sklearn_ada.terms.predictions import check_predictions, on_these_rows, predictions_as_guess

Settings = Any
"""None, a number, "fill", or what a class of questions registers (`sklearn_ada.questions.question`)."""

HOW_A_MEDIAN = (
    "settings=MedianSettings(), or mechanism='stable_median' of a search, answers the median over "
    "subsamples instead."
)
"""What to write for a stable median."""
_BY_ROWS = "has an interval that validation rows must tune: give guess_from=(X_val, y_val)"
_OF_CERTIFY = "has an interval of all rows, which a certify releases and a check does not"
_ALIKE = "has an interval for rows that count alike and are independent, not with weights or groups"
_GIVEN_COUNTS = "has an interval at known class counts only, not with class_mix='priced'"
DRAWN = " drawn"
"""What the name of a mechanism ends with, where the secret decides on the ends."""
_TOO_GOOD = 0.25  # of the deviation of y: a model that explains more than 99 percent of it


@dataclass(frozen=True)
class Ask:
    """What a user asks: of which model, which metric, and what it is expected to be.

    Parameters
    ----------
    subject : Subject
    metric : Metric
    purpose : {"check", "certify"}
    guess : float, Guess or None, default=None
    guess_from : tuple (X, y) or None, default=None
        Validation rows, on which the guess is computed.
    settings : float, "fill", MedianSettings, NoiseSettings, LadderSettings or None, default=None
        Which mechanism answers, and how; see `Holdout.check`.
    round_name : str or None, default=None
        The round that the question belongs to, if it was fixed together with others.
    candidates : int or None, default=None
        Of how many candidates of one search it is a check, whether their round is open or not.
    publish : bool, default=False
        The tolerance does not refuse it, and an exact answer at once takes most of the purse.
    drawn : bool, default=True
        Whether the ends of its interval may be drawn from the ledger's secret.
    is_mirrored : bool, default=False
        Whether it is asked for a difference of the other sign, which is on record.
    """

    subject: Subject
    metric: Metric
    purpose: str
    guess: float | Guess | None = None
    guess_from: tuple[Any, Any] | None = None
    settings: Settings = None
    round_name: str | None = None
    candidates: int | None = None
    publish: bool = False
    drawn: bool = True
    is_mirrored: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.drawn, bool | np.bool_):
            raise bad_parameter("drawn", self.subject.owner, "True or False", self.drawn)

    def check_may_be(self, question: Question) -> None:
        """Raise ValueError if the question is drawn from the secret, which must not matter."""
        if question.is_drawn and not self.drawn:
            fix = (
                "Noise, a median of subsamples and ties that are broken at random take the ledger's secret. "
                "Ask for a metric without them, or with drawn=True."
            )
            name = self.metric.name
            raise bad_parameter("drawn", self.subject.owner, f"True for {name} as it is asked", False, fix)


@dataclass(frozen=True)
class Framed:
    """A question in the form that a ledger answers, with its keys.

    Parameters
    ----------
    asked : Ask
    question : Question
    subject_key : str
        Key of what it is about.
    keys : tuple of str
        Under which it may have been recorded before; a new one is recorded under the first.
    others : tuple of str
        Under which a question of the same may be on record whose answer tells at least as much.
    other_subjects : tuple of str
        Keys of what these are about.
    declared_key : str
        Its key among declared models; empty if it surely was not declared.
    entry : dict
        What its record says of it, ready for JSON: purpose, metric, mechanism, guess, asker, and the model's
        name.
    """

    asked: Ask
    question: Question
    subject_key: str
    keys: tuple[str, ...]
    others: tuple[str, ...]
    other_subjects: tuple[str, ...]
    declared_key: str
    entry: dict[str, Any]

    @classmethod
    def of(cls, session: Session, asked: Ask, question: Question, recorded_as: str | None = None) -> Framed:
        """Return a question with its keys; ``recorded_as`` is the one under which it was asked before."""
        data, subject, metric = session.data, asked.subject, question.metric
        mechanism, guess = question.describe(), question.guess
        guess_entry, lasting = {} if guess is None else guess.describe(), is_lasting(session.policy)
        identity = lasting_identity(metric, data) if lasting else metric_identity(metric)
        about = functools.partial(subject_key, subject.digest, identity, top_ups=data.first_like)
        name = mechanism["name"]
        if question.is_drawn and session.policy.format >= 3:  # no answer to whoever asks for none that is
            name += DRAWN
        chosen = question.chosen() if lasting else None
        if chosen is None:
            key, others, more = _key_of_guess(session, question, about(name), guess_entry), [], []
        else:
            key = lasting_key(about(name), question.purpose, chosen)
            more = [about(each) for each in _telling_more(question, drawn=asked.drawn) if each != name]
            narrower = [lasting_key(each, "certify", {}) for each in more]
            others = [*narrower, *map(Key.final, narrower)]
        final = Key.final(key)
        keys: tuple[str, ...] = (final,) if asked.publish and question.seal is None else (key, final)
        if recorded_as is not None:
            keys, others = (recorded_as,), []
        entry: dict[str, Any] = {"metric": metric.entry(), "mechanism": mechanism, "guess": guess_entry}
        entry |= {"purpose": question.purpose, "model": subject.name, **session.asker.stamp()}
        declared_key = _declared_key(session, subject, metric)
        return cls(asked, question, about(name), keys, tuple(others), tuple(more), declared_key, entry)

    def has_guess_of(self, record: Record) -> bool:
        """Return whether a record was asked with the guess of this question, to three digits."""
        before: dict[str, Any] = read_value(record).guess
        return bool(to_digits(before, 3) == to_digits(self.entry["guess"], 3))


def _key_of_guess(session: Session, question: Question, subject: str, guess_entry: dict[str, Any]) -> str:
    """Return the key of a question that its guess is part of."""
    guess, is_private = question.guess, session.policy.is_private
    rows = "" if guess is None else guess.outputs if is_private else guess.rows
    # Nothing may count that differs in its last bits from run to run. Where the holdout confirms, the
    # guess is fixed but for noise if its rows are.
    digits = 3 if rows and not is_private else 9
    return question_key(subject, question.purpose, guess_entry, rows, question.describe(), digits)


def _declared_key(session: Session, subject: Subject, metric: Metric) -> str:
    """Return the key among declared models; empty if nothing was declared or the share was given away.

    Ledgers of older formats gave it to intervals of all rows, which a guess tunes.
    """
    if not session.ledger.read(lambda state: state.has_declared):
        return ""
    if session.policy.format < 3:
        about = subject_key(subject.digest, metric_identity(metric), "certify", session.data.first_like)
        found = session.ledger.find_subject(about)
        before = None if found is None else read_answer(found)
        if before is not None and before.declared and "interval" in before.mechanism:
            return ""
    return subject.declared_key(metric)


def _telling_more(question: Question, *, drawn: bool) -> list[str]:
    """Return the mechanisms whose certify, if it is on record, tells what a question asks for."""
    if question.n_subsamples is not None:
        return []
    names = ["certify"] if question.purpose == "check" and question.chosen() else ["certify", "sealed"]
    return [*names, *[name + DRAWN for name in names if drawn]]


def frame(session: Session, asked: Ask, question: Question) -> Framed:
    """Return a planned question in the form in which this ledger answers it."""
    return Framed.of(session, asked, in_form(session, asked, question))


def plan_question(session: Session, asked: Ask) -> Question:
    """Return the question, or raise before a model looks at the holdout (see `Holdout.check`)."""
    question = _plan(session, asked)
    asked.check_may_be(question)
    if not session.policy.is_described and question.private_release({}) is None:
        raise bad_parameter(
            "settings", asked.subject.owner, "a mechanism with noise when route='differential_privacy'",
            question.describe()["name"],
            "Leave settings=None, use ThresholdoutScorer(noise='laplace') or StableHoldoutScorer, or open "
            "the holdout with route='both'.",
        )  # fmt: skip
    check_not_trained_on(session, asked.subject)
    return question


def _plan(session: Session, asked: Ask) -> Question:
    data, policy, subject, settings = session.data, session.policy, asked.subject, asked.settings
    owner = subject.owner
    check_option(asked.purpose, "purpose", "a question", PURPOSES)
    kind: type[Question] = _checked_class(settings, asked.purpose, owner) or CodedQuestion
    median = settings if kind is StableQuestion else None
    if median is not None:
        check_median_may_be(policy)
    if subject.is_given:
        if median is not None:
            expected = "None, or of a mechanism other than a median"
            raise bad_parameter("settings", f"{owner} of predictions", expected, settings)
        check_predictions(asked.metric, owner)
    asked.metric.check_estimator(subject.estimator)
    of_all_rows = asked.metric.has_interval_of_all_rows and median is None
    metric = _tuned_metric(session, asked) if settings is None or of_all_rows else asked.metric
    guess = as_guess(asked.guess, metric, owner)
    if settings is None and not metric.has_interval:
        median = MedianSettings()
    check_defined(data, metric)
    if settings is None and median is not None:
        _check_median_is_wanted(metric, owner, policy)
    if median is None:
        with explaining_undefined(metric, data):
            measure = data.measure_of(metric)
            measure.size(data.labels_for(metric, measure))
        if data.takes_rows(metric):
            why = why_no_interval(session, metric, asked.purpose)
            if why or (asked.guess_from is None and (guess is None or guess.size is None)):
                raise _without_interval(metric.name, why or _BY_ROWS, owner, policy)
    if asked.guess_from is not None:
        guess = _guess_from(session, asked, metric, median)
    if median is not None:
        return StableQuestion.plan(asked.purpose, metric, guess, data, policy, median, session.partition)
    if asked.purpose == "check" and guess is None:
        fix = "Take it from validation data, or give those: guess_from=(X_val, y_val)."
        raise bad_parameter("guess", "Holdout.check", "an estimate of the metric", None, fix)
    if guess is not None and policy.seals and is_lasting(policy):  # else the guess is part of the key
        guess = in_short(guess, metric)
    refined = kind if issubclass(kind, RefinedQuestion) else None
    half_cell: Any = settings if refined is None else getattr(settings, "threshold", None)
    with explaining_undefined(metric, data):
        coded = CodedQuestion.plan(asked.purpose, metric, guess, data, policy, half_cell)
    if subject.is_given:
        coded = replace(coded.untilted, target=on_these_rows(metric.name), given_rows=True)
    if refined is not None:
        return refined.refine(coded, settings, data, policy)
    return by_default(coded, data, policy) if settings is None else coded


def by_default(coded: CodedQuestion, data: HoldoutData, policy: Policy) -> Question:
    """Return the mechanism where the asker names none: cells, or a noisy value where privacy certifies.

    A ratio or a root has no noisy value, because one row can move it too far. With ``route="both"`` it is
    answered by cells without noise, which end the privacy route.
    """
    if not policy.is_private or (policy.is_described and not coded.measure.has_noise):
        return coded
    return GaussianQuestion.plan(coded, data, policy)


def in_form(session: Session, asked: Ask, question: Question) -> Question:
    """Return a question as this ledger answers it: with a cell, with an interval of all rows, or as it is.

    With ``answers="auto"`` the first certify of a ledger is answered at once, and so is the same again. What
    an older release has answered with the interval of its value alone is that question still. So is what is
    asked of a declared model, whose share is for one interval, and not for one of each guess.
    """
    policy = session.policy
    sealed: RefinedQuestion | None = None
    asks, is_declared = 0, False
    if policy.seals or question.untilted is not question:
        asks, has_declared = session.ledger.read(
            lambda state: (state.winners_before(asked.round_name), state.has_declared)
        )
        is_declared = has_declared and _is_declared(session, asked, question)
    if is_declared:
        question = question.untilted
    if policy.seals:
        sealed = in_cells(question, session.data, policy, asked.candidates, asks=asks)
    if sealed is None:
        rows = None
        if question.may_use_all_rows:
            rows = with_rows_interval(question, session.data, policy, drawn=asked.drawn)
        if rows is not None:
            asked.check_may_be(rows)
            framed, of_rows = (Framed.of(session, asked, each) for each in (question, rows))
            if is_by_value_alone(session, framed, of_rows):
                return question
            question = rows
        if policy.seals and not is_declared:
            nats = session.ledger.read(lambda state: state.account.nats)
            sealed = in_windows(question, session.data, policy, asks=asks, nats=nats)
        if sealed is None:
            return question
    if session.policy.answers == "auto" and question.purpose == "certify":
        is_first = session.ledger.read(lambda state: state.is_first(asked.round_name))
        if is_first or session.ledger.find_each(Framed.of(session, asked, question).keys):
            return question
    return sealed


def _is_declared(session: Session, asked: Ask, question: Question) -> bool:
    """Return whether the model was declared for this metric."""
    declared_key = _declared_key(session, asked.subject, question.metric)
    return session.ledger.read(lambda state: state.is_declared(declared_key))


def is_by_value_alone(session: Session, framed: Framed, of_rows: Framed) -> bool:
    """Return whether a question is answered with the interval of its value, and not with one of all rows."""
    if session.policy.format < 3 and session.ledger.find(framed.keys[0]) is not None:
        return True
    is_declared = session.ledger.read(lambda state: state.is_declared(framed.declared_key))
    return is_declared and session.ledger.find(of_rows.keys[0]) is None


def why_no_interval(session: Session | None, metric: Metric, purpose: str) -> str:
    """Return why a metric has no interval of its own on this holdout; empty if it has.

    Of a certify it is taken for granted that there are validation rows, to tune it or to suggest a range.

    Parameters
    ----------
    session : Session or None
        None: why it has none on any holdout.
    metric : Metric
    purpose : {"check", "certify"}

    Returns
    -------
    str
        Such as "compares clusterings by pairs of rows, ...", to be put after the metric's name.
    """
    if metric.has_interval_of_all_rows:
        if session is not None and (why := _why_not_of_all_rows(session, metric)):
            return why
        if metric.measure.bounds is None and not metric.measure.needs_rows:
            example = f"Metric({metric.name!r}, range={metric.measure.example_range})"
            return f"has no finite range: declare one, {example}"
        return "" if purpose == "certify" else _OF_CERTIFY
    if metric.lacks_range:
        if purpose == "check":
            return f"has no finite range: declare one, Metric({metric.name!r}, range=(low, 0))"
        metric = metric.with_range((-1.0, 0.0))  # any: it only matters that validation rows will suggest one
    if not metric.has_interval:
        return metric.measure.reason
    if session is None:
        return ""
    data = session.data
    if not data.has_interval(metric):
        return _GIVEN_COUNTS if data.units is None else f"{_ALIKE}, as it {metric.why_alike(data.units)}"
    return _OF_CERTIFY if purpose == "check" and data.takes_rows(metric) else ""


def _why_not_of_all_rows(session: Session, metric: Metric) -> str:
    data, policy = session.data, session.policy
    if data.units is not None and not data.has_interval(metric.of_all_rows()):
        return f"{_ALIKE}, as it {metric.why_alike(data.units)}"
    if not policy.is_described:
        return "has no answer with noise, and this holdout certifies by privacy alone"
    if policy.class_mix == "priced" and not data.holds_for_one_law(metric.measure):
        return _GIVEN_COUNTS
    return ""


@contextmanager
def explaining_undefined(metric: Metric, data: HoldoutData) -> Iterator[None]:
    """Raise ValueError if labels in the block do not allow a metric.

    The message says what to write.
    """
    try:
        yield
    except UndefinedMetricError as error:
        raise undefined_metric(metric, data.some_labels, error) from error


def check_median_may_be(policy: Policy) -> None:
    """Raise ValueError at declared shares of classes, where no median answers."""
    if policy.mix is not None:
        owner, fix = "a holdout that answers a median", "A median over subsamples is of their own class mix."
        raise bad_parameter("class_mix", owner, "'conditional' or 'priced'", policy.mix, fix)


def check_defined(data: HoldoutData, metric: Metric) -> None:
    """Raise ValueError for a metric that has no meaning for these labels.

    The message says what to write.
    """
    with explaining_undefined(metric, data):
        metric.check_target(data.some_labels)
        metric.check_classes(data.some_labels)


def _checked_class(settings: object, purpose: str, owner: str) -> type[Question] | None:
    """Return the mechanism that settings ask for; None for None. Raise if it is none for this purpose."""
    kind = question_class(settings)
    is_word = isinstance(settings, str) and settings != FILL
    if settings is None or (kind is not None and purpose in kind.purposes and not is_word):
        return kind
    expected = "None, a number, 'fill', MedianSettings, NoiseSettings or LadderSettings"
    if purpose == "certify":
        expected = "None or MedianSettings: a certify is the exact value or a stable median"
    raise bad_parameter("settings", owner, expected, settings)


def _check_median_is_wanted(metric: Metric, owner: str, policy: Policy) -> None:
    """Raise unless the asker chose a stable median, or wrote the metric."""
    if metric.string is None or metric.chosen_general:
        return
    name, why = metric.name, f"{metric.measure.reason}"
    if metric.lacks_range:
        why = (
            f"has no finite range: declare one, Metric({name!r}, range=(low, 0)), or give validation rows, "
            "guess_from=(X_val, y_val), which suggest one"
        )
    raise _without_interval(name, why, owner, policy)


def _without_interval(name: str, why: str, owner: str, policy: Policy) -> ValueError:
    expected = "a metric with an interval of its own"
    instead = "" if policy.mix is not None else f" {HOW_A_MEDIAN}"
    return bad_parameter("scoring", owner, expected, name, f"It {why}.{instead}")


def _tuned_metric(session: Session, asked: Ask) -> Metric:
    """Return the metric as it is certified: with a range, and tuned for an interval of all rows.

    Validation rows suggest and tune, where they are usable at all.
    """
    metric, rows, owner = asked.metric, asked.guess_from, asked.subject.owner
    if metric.has_interval_of_all_rows:
        check_defined(session.data, metric)
        with explaining_undefined(metric, session.data):
            metric.measure.size(session.data.y)
        why = why_no_interval(session, metric, asked.purpose)
        if not why and rows is None and metric.measure.needs_rows:
            why = _BY_ROWS
        if why:
            if metric.string is None:  # of a scorer of the asker's own the median answers
                return metric
            raise _without_interval(metric.name, why, owner, session.policy)
        if not is_pair(rows):
            return metric.of_all_rows()
    if metric.is_tuned and is_pair(rows):
        return tuned_by_rows(session, asked.subject.copy(), metric, rows, owner)
    return metric


def _guess_from(session: Session, asked: Ask, metric: Metric, median: MedianSettings | None) -> Guess:
    """Return the metric of a copy of the model on validation rows; raise if they are the holdout's."""
    owner, rows = asked.subject.owner, asked.guess_from
    if asked.guess is not None:
        raise bad_parameter("guess_from", owner, "None where a guess is given", "both", "Give one of them.")
    if not is_pair(rows):
        expected = "a pair of validation rows and labels, (X, y)"
        raise bad_parameter("guess_from", owner, expected, type(rows).__name__)
    X, y = rows
    session.data.check_paid_for(y, "guess_from", owner)
    if asked.subject.is_given:
        return guess_from_rows(metric, *_given_as_guess(asked.subject, X), y)
    check_not_held_out(session, X, guess_of=owner)
    model = asked.subject.copy()
    if median is None:
        return guess_from_rows(metric, model, X, y)
    return median_guess_from_rows(metric, model, X, y, median.subsample_size(session.data))


def _given_as_guess(subject: Subject, given: Any) -> tuple[Any, Any]:
    """Return predictions for public rows, of two where two are compared, as model and rows of a guess."""
    if not isinstance(subject.estimator, Pair):
        return given, predictions_as_guess(given, subject.owner)
    form = "((Predictions(of a), Predictions(of b)), y)"
    if not (isinstance(given, tuple | list) and len(given) == 2):
        raise bad_parameter("guess_from", subject.owner, form, type(given).__name__)
    labels = [predictions_as_guess(each, subject.owner, form) for each in given]
    if len(labels[0]) != len(labels[1]):
        got, expected = f"{len(labels[0])} and {len(labels[1])}", "two predictions for the same rows"
        raise bad_parameter("guess_from", subject.owner, expected, got)
    return Pair(*given), np.stack(labels, axis=1)


def tuned_by_rows(session: Session, model: Any, metric: Metric, rows: tuple[Any, Any], owner: str) -> Metric:
    """Return the metric with what validation rows suggest; the model may keep what it sees.

    A warning comes, before anything is charged, of errors so small that the model may know these rows.
    """
    check_not_held_out(session, rows[0], guess_of=owner)
    tuned = tuned_metric(metric, model, *rows)
    most = tuned.measure.error_bound()
    if most is not None and most < _TOO_GOOD * float(np.std(np.asarray(rows[1], dtype=float))):
        warn_user(
            f"The errors of the model on the rows of guess_from are below {most:g}, little beside the spread "
            "of y. If many errors on the holdout are larger the question fails, and is paid for. Give rows "
            "that the model was not trained on, or a range of your own: Metric('neg_mean_absolute_error', "
            "range=(low, 0))."
        )
    return tuned


def is_pair(rows: object) -> TypeGuard[tuple[Any, Any]]:
    """Return whether these are rows and their labels."""
    return isinstance(rows, tuple | list) and len(rows) == 2
