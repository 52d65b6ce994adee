"""Whether a metric has an interval of its own on a holdout, and if not, why not.

What the validation rows of ``guess_from`` give a question: its guess, and what a metric lacks.

How the parameters of a check or certify become a `Question`, in which all but the answer is fixed.
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from sklearn_ada._notices import warn_user
from sklearn_ada._validation import bad_parameter, check_option
from sklearn_ada.guarantees.weights import PURPOSES
from sklearn_ada.holdout.changes import check_not_held_out
from sklearn_ada.holdout.session import Session
from sklearn_ada.metrics.base import UndefinedMetricError
from sklearn_ada.metrics.metric import DIFFERENCE, Metric, as_metric, undefined_metric
from sklearn_ada.metrics.registry import NO_INTERVAL, OF_ALL_ROWS
from sklearn_ada.questions.coded import FILL, CodedQuestion, FilledCheck
from sklearn_ada.questions.ladder_check import LadderQuestion, LadderSettings
from sklearn_ada.questions.noisy import GaussianQuestion, NoiseSettings, NoisyCheck
from sklearn_ada.questions.question import (
    Guess,
    Question,
    as_guess,
    guess_from_rows,
    median_guess_from_rows,
    metric_of_all_rows,
    metric_with_range,
)
from sklearn_ada.questions.stable_median import MedianSettings, StableQuestion
from sklearn_ada.terms.holdout_data import HoldoutData
from sklearn_ada.terms.models import (
    Pair,
    Predictions,
    check_model,
    check_predictions,
    discarded_copy,
    on_these_rows,
    public_predictions,
)
from sklearn_ada.terms.policy import Policy

HOW_A_MEDIAN = (
    "settings=MedianSettings(), or mechanism='stable_median' of a search, answers the median over "
    "subsamples instead."
)
"""What to write for a stable median."""
_ALIKE = "has an interval for records that count alike and are independent, not with weights or groups"
_KNOWN_COUNTS = "has an interval at known class counts only, not with class_mix='priced'"


def why_no_interval(session: Session, metric: Metric, purpose: str) -> str:
    """Return why a metric has no interval of its own on this holdout; empty if it has.

    Of a certify it is taken for granted that there are validation rows, to tune it or to suggest a range.

    Parameters
    ----------
    session : Session
    metric : Metric
    purpose : {"check", "certify"}

    Returns
    -------
    str
        Such as "compares clusterings by pairs of records, ...", to be put after the metric's name.
    """
    data, policy = session.data, session.policy
    if metric.has_interval_of_all_rows:
        if data.units is not None:
            return _ALIKE
        if not policy.is_described:
            return "has no answer with noise, and this holdout certifies by privacy alone"
        if OF_ALL_ROWS[metric.string or ""].at_class_mix and policy.class_mix == "priced":
            return _KNOWN_COUNTS
        return (
            ""
            if purpose == "certify"
            else "has an interval of all rows, which a certify tells and a check does not"
        )
    if metric.lacks_range:
        if purpose == "check":
            return f"has no finite range: declare one, Metric({metric.name!r}, range=(low, 0))"
        metric = metric.with_range((-1.0, 0.0))  # any: it only matters that validation rows will suggest one
    if not metric.has_interval:
        return NO_INTERVAL.get(metric.string or "", "is a function of which nothing is known but its values")
    if data.has_interval(metric):
        return ""
    return _ALIKE if data.units is not None else _KNOWN_COUNTS


def check_defined(data: HoldoutData, metric: Metric) -> None:
    """Raise ValueError, which says what to write, for a metric that has no meaning for these labels."""
    try:
        metric.check_target(data.some_labels)
        metric.check_classes(data.some_labels)
    except UndefinedMetricError as error:
        raise undefined_metric(metric, data.some_labels, error) from error


def check_median_is_wanted(metric: Metric, owner: str) -> None:
    """Raise unless the asker wrote that a stable median is wanted, or a function of their own."""
    if metric.string is None or metric.chosen_general:
        return
    name = metric.name
    if metric.lacks_range:
        fix = (
            f"It has no finite range: declare one, Metric({name!r}, range=(low, 0)), or give validation "
            "rows, guess_from=(X_val, y_val), which suggest one."
        )
    else:
        fix = f"It {NO_INTERVAL[metric.string]}."
    raise bad_parameter(
        "scoring", owner, "a metric with an interval of its own", name,
        f"{fix} {HOW_A_MEDIAN}",
    )  # fmt: skip


_TOO_GOOD = 0.25  # of the deviation of y: a model that explains more than 99 percent of it


def tuned_on_rows(
    session: Session, estimator: Any, metric: Metric, purpose: str, rows: tuple[Any, Any] | None, owner: str
) -> Metric:
    """Return a metric as it is certified by an interval of all rows; ValueError where it cannot be."""
    check_defined(session.data, metric)
    why = why_no_interval(session, metric, purpose)
    if purpose == "certify" and rows is None and OF_ALL_ROWS[metric.string or ""].needs_rows:
        why = why or "has an interval that validation rows must tune: give guess_from=(X_val, y_val)"
    if why:
        raise bad_parameter(
            "scoring", owner, "a metric with an interval of its own", metric.name, f"It {why}. {HOW_A_MEDIAN}"
        )
    if not (isinstance(rows, tuple | list) and len(rows) == 2):
        return metric.of_all_rows()
    check_not_held_out(session, rows[0])
    return _not_too_good(metric_of_all_rows(metric, discarded_copy(estimator, owner), *rows), rows[1])


def with_suggested_range(
    session: Session, estimator: Any, metric: Metric, rows: tuple[Any, Any], owner: str
) -> Metric:
    """Return the metric with the range that validation rows suggest, where they are usable at all."""
    if not (isinstance(rows, tuple | list) and len(rows) == 2):
        return metric  # which `guess_of` says
    check_not_held_out(session, rows[0])
    return _not_too_good(metric_with_range(metric, discarded_copy(estimator, owner), *rows), rows[1])


def compared_metric(session: Session, pair: Pair, scoring: Any, guess_from: Any) -> Metric:
    """Return the metric of a comparison: with the range that both models' scores of validation rows suggest.

    That is where it has none of its own and there are such rows.
    """
    metric, owner = as_metric(scoring), "Holdout.compare"
    if not (metric.lacks_range and metric.kind == "mean" and guess_from is not None):
        return metric
    found = [with_suggested_range(session, each, metric, guess_from, owner) for each in (pair.a, pair.b)]
    ranges = [each.range for each in found if each.range is not None]
    if not ranges:
        return metric  # the rows are no pair, which `guess_of` says
    made = metric.with_range((min(low for low, _ in ranges), max(high for _, high in ranges)))
    made.most_beyond = found[0].most_beyond
    return made


def guess_of(
    session: Session,
    estimator: Any,
    metric: Metric,
    median: MedianSettings | None,
    guess: object,
    rows: tuple[Any, Any],
    owner: str,
) -> Guess:
    """Return the metric of a copy of the model on validation rows; raise if they are the holdout's."""
    if guess is not None:
        raise bad_parameter("guess_from", owner, "None where a guess is given", "both", "Give one of them.")
    if not (isinstance(rows, tuple | list) and len(rows) == 2):
        got = f"{type(rows).__name__}"
        raise bad_parameter("guess_from", owner, "a pair of validation rows and labels, (X, y)", got)
    X, y = rows
    if isinstance(estimator, Predictions):
        return guess_from_rows(metric, *public_predictions(X, owner), y)
    check_not_held_out(session, X)
    model = discarded_copy(estimator, owner)
    if median is None:
        return guess_from_rows(metric, model, X, y)
    return median_guess_from_rows(metric, model, X, y, median.subsample_size(session.data))


def _not_too_good(metric: Metric, y: Any) -> Metric:
    """Warn, before anything is charged, of errors so small that the model may know these rows."""
    most = metric.most_error
    if most is not None and most < _TOO_GOOD * float(np.std(np.asarray(y, dtype=float))):
        warn_user(
            f"The errors of the model on the rows of guess_from are below {most:g}, little beside the spread "
            "of y. If many errors on the holdout are larger the question fails, and is paid for. Give rows "
            "that the model was not trained on, or a range of your own: Metric('neg_mean_absolute_error', "
            "range=(low, 0))."
        )
    return metric


Settings = float | str | MedianSettings | NoiseSettings | LadderSettings | None


def plan_question(
    session: Session,
    estimator: Any,
    scoring: Any,
    purpose: str,
    guess: float | Guess | None,
    settings: Settings,
    guess_from: tuple[Any, Any] | None = None,
    fitted: bool = False,
) -> Question:
    """Return the question, or raise before anything is looked at or charged (see `Holdout.check`).

    ``fitted`` says that whoever asks has fitted the model, which need not show it.
    """
    question = _question(session, estimator, scoring, purpose, guess, settings, guess_from, fitted)
    return _check_privacy(question, session.policy)


def _question(
    session: Session,
    estimator: Any,
    scoring: Any,
    purpose: str,
    guess: float | Guess | None,
    settings: Settings,
    guess_from: tuple[Any, Any] | None,
    fitted: bool,
) -> Question:
    data, policy = session.data, session.policy
    check_option(purpose, "purpose", "a question", PURPOSES)
    metric = as_metric(scoring)
    owner = "Holdout.compare" if metric.kind == DIFFERENCE else f"Holdout.{purpose}"
    _check_settings(settings, purpose, owner)
    check_model(estimator, data, owner, fitted)
    is_given_rows = isinstance(estimator, Predictions)
    if is_given_rows:
        if isinstance(settings, MedianSettings):
            expected = f"{owner} of predictions"
            raise bad_parameter("settings", expected, "None, or of a mechanism other than a median", settings)
        check_predictions(metric, owner)
    metric.check_estimator(estimator)
    if metric.lacks_range and settings is None and guess_from is not None:
        metric = with_suggested_range(session, estimator, metric, guess_from, owner)
    if settings is None and metric.has_interval_of_all_rows:
        metric = tuned_on_rows(session, estimator, metric, purpose, guess_from, owner)
    known = as_guess(guess, metric, owner)
    median = settings if isinstance(settings, MedianSettings) else None
    by_default_median = settings is None and not metric.has_interval
    if by_default_median:
        median = MedianSettings()
    try:
        metric.check_target(data.some_labels)
        if median is not None:
            metric.check_classes(data.some_labels)
    except UndefinedMetricError as error:
        raise undefined_metric(metric, data.some_labels, error) from error
    if by_default_median:
        check_median_is_wanted(metric, owner)
    if guess_from is not None:
        known = guess_of(session, estimator, metric, median, guess, guess_from, owner)
    if median is not None:
        return StableQuestion.plan(purpose, metric, known, data, policy, median, session.partition)
    if purpose == "check" and known is None:
        raise bad_parameter(
            "guess",
            "Holdout.check",
            "an estimate of the metric",
            None,
            "Take it from validation data, or give those: guess_from=(X_val, y_val).",
        )
    assert not isinstance(settings, MedianSettings)
    half_cell = settings.threshold if isinstance(settings, NoiseSettings) else settings
    class_mix = policy.class_mix == "conditional" and data.is_classification
    try:
        coded = CodedQuestion.plan(
            purpose, metric, known, data, policy, class_mix=class_mix,
            half_cell=None if isinstance(half_cell, LadderSettings | str) else half_cell,
        )  # fmt: skip
    except UndefinedMetricError as error:
        raise undefined_metric(metric, data.some_labels, error) from error
    if is_given_rows:
        coded = replace(coded, target=on_these_rows(metric), given_rows=True)
    if isinstance(settings, str):
        return FilledCheck.plan(coded, policy.tolerance)
    if isinstance(settings, NoiseSettings):
        return NoisyCheck.plan(coded, settings, data, policy)
    if isinstance(settings, LadderSettings):
        return LadderQuestion.plan(coded, settings)
    return by_default(coded, data, policy) if settings is None else coded


def _check_settings(settings: object, purpose: str, owner: str) -> None:
    """Raise ValueError unless these settings are of a mechanism for this purpose."""
    if settings is None or isinstance(settings, MedianSettings):
        return
    if purpose == "certify":
        expected = "None or MedianSettings: a certify is the exact value or a stable median"
        raise bad_parameter("settings", owner, expected, settings)
    if isinstance(settings, NoiseSettings | LadderSettings) or (
        isinstance(settings, str) and settings == FILL
    ):
        return
    if not isinstance(settings, Real) or isinstance(settings, bool):
        expected = "None, a number, 'fill', MedianSettings, NoiseSettings or LadderSettings"
        raise bad_parameter("settings", owner, expected, settings)


def _check_privacy(question: Question, policy: Policy) -> Question:
    if policy.is_described or question.private_release({}) is not None:
        return question
    raise bad_parameter(
        "settings", f"Holdout.{question.purpose}", "a mechanism with noise when route='differential_privacy'",
        question.describe()["name"],
        "Leave settings=None, use ThresholdoutScorer(noise='laplace') or StableHoldoutScorer, or open the "
        "holdout with route='both'.",
    )  # fmt: skip


def by_default(coded: CodedQuestion, data: HoldoutData, policy: Policy) -> CodedQuestion | GaussianQuestion:
    """Return the mechanism where the asker names none: cells, or a noisy value where privacy certifies.

    A ratio or a root has no noisy value, because one record can move it too far. With ``route="both"`` it is
    answered by cells without noise, which end the privacy route.
    """
    if not policy.is_private or (policy.is_described and not coded.rule.has_noise):
        return coded
    return GaussianQuestion.plan(coded, data, policy)
