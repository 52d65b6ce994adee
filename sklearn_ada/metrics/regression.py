"""The share of a loss that a model explains: R^2, and D^2 of the absolute error.

The median absolute error: a quantile, which the counts of records below and above it enclose.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import median_absolute_error

from sklearn_ada.guarantees.medians import median_ranks
from sklearn_ada.guarantees.scores import ExpectedLosses, d2_pinball_interval, r_squared_interval
from sklearn_ada.metrics.base import AllRowsEnds, AllRowsRule, Foreseen, Measured, Range, UndefinedMetricError

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


_REACH = 4.0  # upper quartiles, to which errors are clipped: no median is as far


@dataclass(frozen=True)
class MedianError(AllRowsRule):
    """Minus the median absolute error, each error clipped.

    Parameters
    ----------
    most_error : float
        To which errors are clipped; infinite as long as no rows have suggested it.
    """

    most_error: float = math.inf
    theorem = "order statistics (Clopper-Pearson)"
    at_class_mix = False
    needs_rows = True

    @property
    def bounds(self) -> Range:
        """The range of what is told."""
        return -self.most_error, 0.0

    @property
    def clause(self) -> str:  # type: ignore[override]
        """What the certificate says of the range."""
        return "" if math.isinf(self.most_error) else f", each error clipped to +-{self.most_error:g}"

    def tuned_by(self, y: Array, outputs: Array) -> MedianError:
        """Return the rule with the range that errors on some rows suggest, those of a constant included."""
        most = max(_range(_errors(y, outputs)), _range(_errors(y, np.full(len(y), np.median(y)))))
        return replace(self, most_error=float(f"{most or 1.0:.2g}"))

    def measure(self, y: Array, outputs: Array, classes: Array | None, bounds: Range) -> Measured:
        """Return scikit-learn's value, clipped, and the errors of these rows."""
        if math.isinf(self.most_error):
            raise UndefinedMetricError("it needs the range of errors, which the rows of a guess suggest")
        errors = np.sort(np.minimum(_errors(y, outputs), self.most_error))
        value = -min(float(median_absolute_error(y, outputs)), self.most_error)
        low, high = _enclosing(errors, math.log(0.32))  # about one standard error on each side
        return Measured(value, len(y), (high - low) / 2.0 * math.sqrt(len(y)), details=errors)

    def construction(self, known: Foreseen) -> AllRowsEnds:
        """Return the order statistics that enclose the median; the errors foreseen say about where."""

        def function(
            y: Array, outputs: Array, classes: Array | None, ln_delta: float, rng: np.random.Generator
        ) -> Range:
            low, high = _enclosing(np.sort(_errors(y, outputs)), ln_delta)
            return -high, -low

        errors: Array = known.details
        at = np.linspace(0.5, len(errors) - 0.5, len(errors)) / len(errors)
        low, high = (rank / len(known.y) for rank in median_ranks(len(known.y), known.ln_delta))
        ends = -float(np.interp(high, at, errors)), -float(np.interp(low, at, errors))
        return AllRowsEnds.around("order statistics", self.theorem, function, known, known.value, ends)


def _errors(y: Array, outputs: Array) -> NDArray[np.float64]:
    return np.abs(np.asarray(y, dtype=float) - np.asarray(outputs, dtype=float))


def _range(errors: NDArray[np.float64]) -> float:
    """Return what the median of other errors of this law is below."""
    return min(_REACH * float(np.quantile(errors, 0.75)) or math.inf, 1.25 * float(errors.max()))


def _enclosing(errors: NDArray[np.float64], ln_delta: float) -> Range:
    """Return the two of these sorted errors that enclose the median; 0 and infinity if they are few."""
    low, high = median_ranks(len(errors), ln_delta)
    return (
        float(errors[low - 1]) if low >= 1 else 0.0,
        float(errors[high - 1]) if high <= len(errors) else math.inf,
    )
