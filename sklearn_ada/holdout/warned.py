"""A holdout that warns of answers which may not be what they are taken for."""

from __future__ import annotations

from typing import Any

from sklearn.base import is_regressor

from sklearn_ada._notices import warn_user
from sklearn_ada.holdout.opened import OpenedHoldout
from sklearn_ada.holdout.questions.median_settings import MedianSettings
from sklearn_ada.holdout.questions.question import Question
from sklearn_ada.holdout.questions.stable_median import StableQuestion
from sklearn_ada.holdout.report.median_notice import is_chosen, median_notice
from sklearn_ada.holdout.report.vacuous import certifies_nothing, why_vacuous
from sklearn_ada.metrics import Metric
from sklearn_ada.results import Answer

__all__ = ["WarningHoldout"]


class WarningHoldout(OpenedHoldout):
    """Says what an answer is worth less than it looks; see `Holdout`."""

    def why_vacuous(self, n_subsamples: int | None = None) -> str:
        """Return why an answer certifies nothing, and what would help; of a median with its subsamples."""
        nats = self._ledger.read(lambda state: state.account.nats)
        return why_vacuous(self._data, self._policy, nats, n_subsamples)

    def median_notice(self, metric: Metric, median: MedianSettings, *, regression: bool) -> str:
        """Return that the stable median of a metric is another quantity, and what has an interval."""
        return median_notice(metric, median, self._data, regression=regression)

    def _warn_of_median(self, question: Question, estimator: Any) -> None:
        """Warn where a stable median will answer and the asker has not said that it should."""
        if not isinstance(question, StableQuestion) or is_chosen(question.metric):
            return
        told = self.median_notice(question.metric, MedianSettings(), regression=is_regressor(estimator))
        warn_user(
            f"{told}; or accept the median: ask(..., settings=MedianSettings()), from sklearn_ada.holdout.",
            once=("median", self._fingerprint, question.metric.name),
        )

    def _warn_if_vacuous(self, answer: Answer, question: Question) -> None:
        if certifies_nothing(answer):
            parts = len(question.rows) if isinstance(question, StableQuestion) else None
            warn_user(
                f"An answer of the holdout certifies nothing. {self.why_vacuous(parts)}",
                once=("vacuous", self._fingerprint, "metric" if parts is None else "median"),
            )
