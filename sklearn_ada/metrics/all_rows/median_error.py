"""The median absolute error: a quantile, which the counts of records below and above it enclose."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import median_absolute_error

from sklearn_ada.guarantees.medians.exact_median import median_ranks
from sklearn_ada.metrics.all_rows.rule import AllRowsEnds, AllRowsRule
from sklearn_ada.metrics.rules.constructions import Foreseen, Range
from sklearn_ada.metrics.rules.defined import UndefinedMetricError
from sklearn_ada.metrics.rules.rule import Measured

__all__ = ["MedianError"]

Array = NDArray[Any]

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
