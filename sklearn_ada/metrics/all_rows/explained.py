"""The share of a loss that a model explains: R^2, and D^2 of the absolute error."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada.guarantees.intervals.of_metrics.r_squared import (
    ExpectedLosses,
    d2_pinball_interval,
    r_squared_interval,
)
from sklearn_ada.metrics.all_rows.rule import AllRowsEnds, AllRowsRule
from sklearn_ada.metrics.rules.constructions import Foreseen, Range
from sklearn_ada.metrics.rules.defined import UndefinedMetricError
from sklearn_ada.metrics.rules.rule import Measured

__all__ = ["Explained"]

Array = NDArray[Any]

_ERROR_MARGIN, _TARGET_MARGIN = 1.25, 0.25  # beyond what the rows of the guess have


@dataclass(frozen=True)
class Explained(AllRowsRule):
    """The share of a loss that a model explains: R^2, or D^2 of the absolute loss.

    Parameters
    ----------
    quantile : float or None
        None for squared losses; 1/2 for absolute ones.
    target_range : tuple of float or None
        To which y and predictions are clipped; None as long as no rows have suggested it.
    most_error : float
        To which errors are clipped.
    """

    quantile: float | None = None
    target_range: Range | None = None
    most_error: float = math.inf
    theorem = "fixed bets on both losses (Waudby-Smith, Ramdas 2024)"
    at_class_mix = False
    needs_rows = True

    @property
    def bounds(self) -> Range:
        """The range of what is told."""
        return -1.0, 1.0

    @property
    def clause(self) -> str:  # type: ignore[override]
        """What the certificate says of the range."""
        if self.target_range is None:
            return ""
        low, high = self.target_range
        return (
            f" (-1 if below), y and predictions clipped to [{low:g}, {high:g}] and each error to "
            f"+-{self.most_error:g}"
        )

    def tuned_by(self, y: Array, outputs: Array) -> Explained:
        """Return the rule with the range of y on some rows, a quarter wider, and that of errors."""
        low, high = float(np.min(y)), float(np.max(y))
        more = _TARGET_MARGIN * (high - low) or 1.0
        step = float(f"{(high - low + 2.0 * more) / 1000.0:.0e}")  # of the width: y may be far from 0
        least = float(f"{math.floor((low - more) / step) * step:.12g}")
        most = float(f"{math.ceil((high + more) / step) * step:.12g}")
        errors = np.abs(np.asarray(y, dtype=float) - np.clip(outputs, least, most))
        largest = float(f"{_ERROR_MARGIN * float(errors.max()) or most - least:.2g}")
        return replace(self, target_range=(least, most), most_error=largest)

    def measure(self, y: Array, outputs: Array, classes: Array | None, bounds: Range) -> Measured:
        """Return the value with everything clipped, and what these rows foresee of other ones."""
        clip = self._clip
        seen = ExpectedLosses.of_rows(y, outputs, quantile=self.quantile, **clip)
        if seen.baseline <= 0.0:  # news about the holdout, so it fails and is paid for
            raise UndefinedMetricError("y is constant")
        unexplained = seen.loss / seen.baseline
        mixed = (
            seen.loss_variance + unexplained**2 * seen.baseline_variance - 2.0 * unexplained * seen.covariance
        )
        deviation = math.sqrt(max(mixed, 0.0)) / seen.baseline
        value = min(max(1.0 - unexplained, bounds[0]), bounds[1])
        return Measured(value, len(y), deviation, details=seen)

    def construction(self, known: Foreseen) -> AllRowsEnds:
        """Return fixed bets on both losses, tuned to the means and variances foreseen."""
        expected: ExpectedLosses = known.details
        clip, deviation = self._clip, known.deviation or 0.1

        def function(
            y: Array, outputs: Array, classes: Array | None, ln_delta: float, rng: np.random.Generator
        ) -> Range:
            if self.quantile is None:
                return r_squared_interval(y, outputs, ln_delta, expected=expected, **clip)
            return d2_pinball_interval(
                y, outputs, ln_delta, quantile=self.quantile, expected=expected, **clip
            )

        reach = 1.5 * deviation * math.sqrt(2.0 * (math.log(2.0) - known.ln_delta) / len(known.y))
        ends = known.value - reach, known.value + reach
        return AllRowsEnds.around("explained loss", self.theorem, function, known, known.value, ends)

    def beyond(self, y: Array, outputs: Array, classes: Array | None, bounds: Range) -> NDArray[np.bool_]:
        """Return of which records the error is larger than it may be."""
        said = np.clip(np.asarray(outputs, dtype=float), *self._clip["target_range"])
        away: Array = np.abs(np.asarray(y, dtype=float) - said)
        return np.asarray(away > self.most_error)

    @property
    def _clip(self) -> dict[str, Any]:
        if self.target_range is None:
            raise UndefinedMetricError("it needs the range of y, which the rows of a guess suggest")
        return {"target_range": self.target_range, "most_error": self.most_error}
