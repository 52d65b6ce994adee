"""How the parameters of a check or certify become a `Question`, in which all but the answer is fixed."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any

from sklearn_ada._checks import bad_parameter, check_option
from sklearn_ada.guarantees.description_length.weights import PURPOSES
from sklearn_ada.holdout.asking.own_interval import check_median_is_wanted
from sklearn_ada.holdout.asking.validation_rows import guess_of, tuned_on_rows, with_suggested_range
from sklearn_ada.holdout.models.checks import check_model
from sklearn_ada.holdout.models.predictions import (
    Predictions,
    check_predictions,
    on_these_rows,
)
from sklearn_ada.holdout.questions.coded import CodedQuestion
from sklearn_ada.holdout.questions.filled import FILL, FilledCheck
from sklearn_ada.holdout.questions.gaussian import GaussianQuestion
from sklearn_ada.holdout.questions.guess import (
    Guess,
    as_guess,
)
from sklearn_ada.holdout.questions.ladder import LadderQuestion, LadderSettings
from sklearn_ada.holdout.questions.medians.median_settings import MedianSettings
from sklearn_ada.holdout.questions.medians.stable_median import StableQuestion
from sklearn_ada.holdout.questions.question import Question
from sklearn_ada.holdout.questions.thresholdout import NoiseSettings, NoisyCheck
from sklearn_ada.holdout.rows.data import HoldoutData
from sklearn_ada.holdout.session.session import Session
from sklearn_ada.holdout.terms.policy import Policy
from sklearn_ada.metrics import UndefinedMetricError, as_metric, undefined_metric
from sklearn_ada.metrics.difference import DIFFERENCE

__all__ = ["Settings", "by_default", "plan_question"]

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
