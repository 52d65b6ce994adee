"""Metrics that are the mean of one bounded score per record, such as accuracy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada.metrics.data.columns import Column, as_column, over_blocks
from sklearn_ada.metrics.rules.constructions import BettingEnds, Construction, Foreseen, Range
from sklearn_ada.metrics.rules.defined import UndefinedMetricError, check_positive
from sklearn_ada.metrics.rules.rule import IntervalRule, Measured, clipped, count_interval

__all__ = ["Mean"]


@dataclass(frozen=True)
class Mean(IntervalRule):
    """The mean of one bounded score per record.

    Parameters
    ----------
    scores : callable
        Takes ``(y, outputs, classes)`` and returns an array (n,); clipped to the metric's range.
    zero_one : bool
        Whether every score is 0 or 1, so that the exact binomial tail applies.
    two_classes : bool
        Whether the score is defined for two classes only.
    positive : object or None
        The class that is meant, if one was named; the score is the same for either of two.
    at_class_mix : bool
        Whether a score depends on the class counts.
    """

    scores: Callable[[NDArray[Any], NDArray[Any], NDArray[Any] | None], NDArray[Any]]
    zero_one: bool = False
    two_classes: bool = False
    positive: Any = None
    at_class_mix: bool = False
    family = "mean"

    @property
    def counts(self) -> bool:  # type: ignore[override]
        """Whether the value is a count over the size."""
        return self.zero_one

    @property
    def has_variance(self) -> bool:  # type: ignore[override]
        """Whether the scores are other than 0 and 1, whose mean tells their variance."""
        return not self.zero_one

    @property
    def theorem(self) -> str:  # type: ignore[override]
        """Name of the fixed-question bound."""
        return "Clopper-Pearson" if self.zero_one else "Chernoff-KL (Hoeffding 1963)"

    def known_size(self, y: NDArray[Any]) -> float:
        """Return the number of records."""
        if self.two_classes:
            check_positive(y, self.positive)
        return len(y)

    def measure(
        self, y: NDArray[Any], outputs: NDArray[Any], classes: NDArray[Any] | None, bounds: Range
    ) -> Measured:
        """Return the mean of the clipped scores; of columns, block by block."""
        if isinstance(outputs, Column) or isinstance(y, Column):
            return self._measure_blocks(as_column(y), as_column(outputs), classes, bounds)
        scores = self.terms(y, outputs, classes, bounds)
        if self.zero_one:  # a count, so that the value is exactly count / n
            value = int(np.count_nonzero(scores)) / len(y)
            return Measured(value, len(y))
        return Measured(float(scores.mean()), len(y), float(scores.std()))

    def _measure_blocks(
        self, y: Column, outputs: Column, classes: NDArray[Any] | None, bounds: Range
    ) -> Measured:
        assert self.zero_one
        count = partial(_hits, self, classes=classes, bounds=bounds)
        return Measured(sum(over_blocks(count, y, outputs)) / len(y), len(y))

    def terms(
        self, y: NDArray[Any], outputs: NDArray[Any], classes: NDArray[Any] | None, bounds: Range
    ) -> NDArray[np.float64]:
        """Return the clipped score of every record."""
        said = self.scores(y, outputs, classes)
        scores = np.asarray(said)
        if np.ma.is_masked(said) or scores.shape != (len(y),) or scores.dtype.kind not in "biuf":
            raise UndefinedMetricError("a score per record is missing")
        if np.isnan(scores).any():
            raise UndefinedMetricError("a score per record is missing")
        return np.clip(scores.astype(np.float64), *bounds)

    def shares(self, y: NDArray[Any], weight: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what part of the mean each record is when records have these weights."""
        return weight / weight.sum()

    def beyond(
        self, y: NDArray[Any], outputs: NDArray[Any], classes: NDArray[Any] | None, bounds: Range
    ) -> NDArray[np.bool_]:
        """Return of which records the score is below the bounds."""
        return self.terms(y, outputs, classes, (-np.inf, np.inf)) < bounds[0]

    def construction(self, known: Foreseen) -> Construction | None:
        """Return bets, if the guess knows the deviation of one score."""
        if self.zero_one or known.deviation is None:
            return None
        return BettingEnds.of(
            self.terms, known, bounds=known.bounds, mean=known.value, deviation=known.deviation
        )

    def interval(self, known: Range, size: float, ln_delta: float, bounds: Range) -> Range:
        """Return Clopper-Pearson for counts, Chernoff-KL for other bounded scores."""
        if self.zero_one:
            return count_interval(clipped(known, bounds), int(size), ln_delta)
        return super().interval(known, size, ln_delta, bounds)


def _hits(
    rule: Mean, y: NDArray[Any], outputs: NDArray[Any], classes: NDArray[Any] | None, bounds: Range
) -> int:
    return int(np.count_nonzero(rule.terms(y, outputs, classes, bounds)))
