"""The question about a metric whose guess makes the widest intervals: it decides what is admitted."""

from __future__ import annotations

from sklearn_ada.holdout.asking.plan import Settings, by_default
from sklearn_ada.holdout.asking.sealing import sealed_form
from sklearn_ada.holdout.questions.coded import CodedQuestion
from sklearn_ada.holdout.questions.filled import FilledCheck
from sklearn_ada.holdout.questions.gaussian import GaussianQuestion
from sklearn_ada.holdout.questions.guess import (
    Guess,
)
from sklearn_ada.holdout.questions.medians.median_settings import MedianSettings
from sklearn_ada.holdout.questions.medians.stable_median import StableQuestion
from sklearn_ada.holdout.session.session import Session
from sklearn_ada.metrics import Metric, UndefinedMetricError, undefined_metric

__all__ = ["is_told_in_cells", "worst_question"]


def is_told_in_cells(session: Session, metric: Metric) -> bool:
    """Return whether the certify of a metric tells its cell on this holdout, and seals the value."""
    if metric.has_interval_of_all_rows or metric.lacks_range or not session.data.has_interval(metric):
        return False
    question = worst_question(session, metric, "certify", None)
    return sealed_form(question, session.data, session.policy) is not None


def worst_question(
    session: Session, metric: Metric, purpose: str, guess_rows: int | None, settings: Settings = None
) -> CodedQuestion | FilledCheck | GaussianQuestion | StableQuestion:
    """Return a question about this metric whose guess makes the widest intervals, to decide on admission.

    ``guess_rows`` is how many rows guesses will come from; None takes as many as the holdout has.
    ``settings`` may be a half-width of cells or "fill", as for `Holdout.check`. ValueError if the labels do
    not allow the metric.
    """
    try:
        return _worst(session, metric, purpose, guess_rows, settings)
    except UndefinedMetricError as error:
        raise undefined_metric(metric, session.data.some_labels, error) from error


def _worst(
    session: Session, metric: Metric, purpose: str, guess_rows: int | None, settings: Settings
) -> CodedQuestion | FilledCheck | GaussianQuestion | StableQuestion:
    data, policy = session.data, session.policy
    if data.has_interval(metric):
        low, high = metric.bounds
        rule = data.rule(metric)
        size = rule.known_size(data.labels_for(metric, rule)) or len(data) / 2.0
        # A tenth less than its share, as classes need not be split evenly.
        behind = size if guess_rows is None else max(0.9 * size * guess_rows / len(data), 1.0)
        guess = Guess((low + high) / 2.0, behind)
        half_cell = settings if isinstance(settings, float) else None
        coded = CodedQuestion.plan(purpose, metric, guess, data, policy, class_mix=False, half_cell=half_cell)
        if isinstance(settings, str):
            return FilledCheck.plan(coded, policy.tolerance)
        if half_cell is not None:
            return coded
        return by_default(coded, data, policy)
    metric.check_classes(data.some_labels)
    unbounded = None if metric.range else Guess(0.0, deviation=1.0)
    return StableQuestion.plan(purpose, metric, unbounded, data, policy, MedianSettings(), session.partition)
