"""Metrics of predicted numbers that are no mean over rows: R2, D2 of the absolute error, the median error.

R2 and D2 are the share of a loss that a model explains. The median absolute error is a quantile, which the
counts of rows below and above it enclose.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from sklearn.metrics import median_absolute_error

from sklearn_ada.accounting.events import BLOCKS
from sklearn_ada.data.labels import Units
from sklearn_ada.guarantees.medians import median_ranks
from sklearn_ada.guarantees.scores import ExpectedLosses, d2_pinball_interval, r_squared_interval
from sklearn_ada.metrics.base import (
    AllRows,
    Array,
    Foreseen,
    Measure,
    Measured,
    MedianOnly,
    Range,
    RowsInterval,
    UndefinedMetricError,
    alike,
    moved,
    register,
)
from sklearn_ada.metrics.outputs import NUMBERS
from sklearn_ada.metrics.units import BETS_ON_UNITS, check_enough

_tuned_by_rows = partial(register, response=NUMBERS, bounds=None, at_class_mix=False)
_ERROR_MARGIN, _TARGET_MARGIN = 1.25, 0.25  # beyond what the rows of the guess have


@_tuned_by_rows("r2")
@_tuned_by_rows("d2_absolute_error_score", quantile=0.5)
@dataclass(frozen=True)
class Explained(AllRows):
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
    needs_rows = True
    unsteadiness = 2.5  # large errors that lower the value also make its lower end lie farther below
    alike = "is compared with a quantile of y: use 'neg_mean_absolute_error' or 'r2'"
    widest = (-1.0, 1.0)

    @property
    def clause(self) -> str:
        """What the certificate says of the range."""
        if self.target_range is None:
            return ""
        low, high = self.target_range
        all_in = f"y and predictions clipped to [{low:g}, {high:g}]"
        return f" (-1 if below), {all_in} and each error to +-{self.most_error:g}"

    def tuned(self, y: Array, outputs: Array, classes: Array | None) -> Explained:
        """Return the measure with the ranges of y and of errors that rows suggest.

        That of y is a quarter wider than on these rows.
        """
        low, high = float(np.min(y)), float(np.max(y))
        more = _TARGET_MARGIN * (high - low) or 1.0
        step = float(f"{(high - low + 2.0 * more) / 1000.0:.0e}")  # of the width: y may be far from 0
        least = float(f"{math.floor((low - more) / step) * step:.12g}")
        most = float(f"{math.ceil((high + more) / step) * step:.12g}")
        errors = np.abs(np.asarray(y, dtype=float) - np.clip(outputs, least, most))
        largest = float(f"{_ERROR_MARGIN * float(errors.max()) or most - least:.2g}")
        return replace(self, target_range=(least, most), most_error=largest)

    def error_bound(self) -> float | None:
        """Return to what errors are clipped."""
        return super().error_bound() if self.target_range is None else self.most_error

    def value(self, y: Array, outputs: Array, classes: Array | None) -> Measured:
        """Return the value, with y, predictions and errors clipped, and the losses of these rows.

        From those, the interval of other rows is tuned.
        """
        losses = ExpectedLosses.of_rows(y, outputs, quantile=self.quantile, **self._clip)
        unexplained = self._unexplained(losses.loss, losses.baseline)
        mixed = losses.loss_variance + unexplained**2 * losses.baseline_variance
        mixed -= 2.0 * unexplained * losses.covariance
        deviation = math.sqrt(max(mixed, 0.0)) / losses.baseline
        return Measured(self._clipped(1.0 - unexplained), len(y), deviation, details=(losses, y, outputs))

    def weighted(self, units: Units) -> Measure | None:
        """Return R^2 of units; None for D^2, and with a bound of the weights."""
        if self.quantile is not None or units.bound is not None:
            return None
        kept = {each.name: getattr(self, each.name) for each in fields(self)}
        return ExplainedOfUnits(**{**kept, "since": BLOCKS}, units=units)

    def _mixed(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        return rows

    def _unexplained(self, loss: float, baseline: float) -> float:
        if baseline <= 0.0:  # news about the holdout, so it fails and is paid for
            raise UndefinedMetricError("y is constant")
        return loss / baseline

    def _clipped(self, value: float) -> float:
        return min(max(value, self.limits[0]), self.limits[1])

    def rows_interval(self, foreseen: Foreseen) -> RowsInterval:
        """Return fixed bets on both losses, tuned to the means and variances foreseen."""
        expected: ExpectedLosses
        expected, *rows = foreseen.details
        deviation = foreseen.deviation or 0.1
        interval_of = partial(self._interval, expected)
        reach = 1.5 * deviation * math.sqrt(2.0 * (math.log(2.0) - foreseen.ln_delta) / self.size(foreseen.y))
        ends = foreseen.value - reach, foreseen.value + reach
        made = self._around("explained loss", interval_of, foreseen, foreseen.value, ends)
        if not rows:  # as when it is read from its record
            return made

        def announced(ln_delta: float) -> Range:
            y, outputs = (np.asarray(column, dtype=float) for column in rows)
            n, rng, ends = len(foreseen.y), np.random.default_rng(0), []
            samples = [self._mixed(alike(np.arange(len(y)), n, np.abs(y - outputs)))]
            if n < _FEW_ROWS:  # whose ends vary much: those of some samples, the outermost
                samples += [rng.choice(len(y), n, replace=len(y) < n) for _ in range(_SAMPLES)]
            for sample in samples:
                by_rows = interval_of(y[sample], outputs[sample], ln_delta, rng)
                away = foreseen.value - self.value(y[sample], outputs[sample], None).value
                ends.append(moved(by_rows, away))
            return min(low for low, _ in ends), max(high for _, high in ends)

        return replace(made, announced=announced)

    def _interval(
        self, expected: ExpectedLosses, y: Array, outputs: Array, ln_delta: float, rng: Generator
    ) -> Range:
        if self.quantile is None:
            return r_squared_interval(y, outputs, ln_delta, expected=expected, **self._clip)
        about: dict[str, Any] = {"quantile": self.quantile, "expected": expected, **self._clip}
        return d2_pinball_interval(y, outputs, ln_delta, **about)

    def tuning(self, details: Any) -> dict[str, Any]:
        """Return to what y and errors are clipped, and the losses that are foreseen."""
        return {"losses": [*details[0]], "target_range": self.target_range, "most_error": self.most_error}

    def with_tuning(self, tuning: dict[str, Any]) -> tuple[Explained, Any]:
        """Return the measure that clips alike, and the losses that were foreseen."""
        clip = {"target_range": tuple(tuning["target_range"]), "most_error": tuning["most_error"]}
        return replace(self, **clip), (ExpectedLosses(*tuning["losses"]),)

    def beyond(self, y: Array, outputs: Array, classes: Array | None) -> NDArray[np.bool_]:
        """Return which rows have an error larger than it may be."""
        predicted = np.clip(np.asarray(outputs, dtype=float), *self._clip["target_range"])
        away: Array = np.abs(np.asarray(y, dtype=float) - predicted)
        return np.asarray(away > self.most_error)

    @property
    def _clip(self) -> dict[str, Any]:
        if self.target_range is None:
            raise UndefinedMetricError("it needs the range of y, which the rows of a guess suggest")
        return {"target_range": self.target_range, "most_error": self.most_error}


@dataclass(frozen=True, kw_only=True)
class ExplainedOfUnits(Explained):
    """R^2 over the units of one holdout.

    Parameters
    ----------
    units : Units
    """

    units: Units

    def size(self, y: Array) -> float:
        """Return how many equal rows the holdout is worth."""
        check_enough(self.units)
        return self.units.size(self.units.weight / self.units.weight.sum())

    def value(self, y: Array, outputs: Array, classes: Array | None) -> Measured:
        """Return the weighted value, with y, predictions and errors clipped."""
        weight = self.units.weight
        target, predicted = (np.clip(each, *self._clip["target_range"]) for each in (y, outputs))
        error = np.clip(target - predicted, -self.most_error, self.most_error)
        loss = float(weight @ error**2)
        baseline = float(weight @ (target - np.average(target, weights=weight)) ** 2)
        return Measured(self._clipped(1.0 - self._unexplained(loss, baseline)), self.size(y))

    def rows_interval(self, foreseen: Foreseen) -> RowsInterval:
        """Return fixed bets on both losses, summed over units."""
        return replace(super().rows_interval(foreseen), recorded={"by": BETS_ON_UNITS})

    def _mixed(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return rows in another order: those of one unit are foreseen to be no more alike than others."""
        return np.random.default_rng(0).permutation(rows)

    def _interval(
        self, expected: ExpectedLosses, y: Array, outputs: Array, ln_delta: float, rng: Generator
    ) -> Range:
        units: dict[str, Any] = {"unit": self.units.unit, "row_weights": self.units.weight}
        return r_squared_interval(y, outputs, ln_delta, expected=expected, **units, **self._clip)


@_tuned_by_rows("neg_median_absolute_error")
@dataclass(frozen=True)
class MedianError(AllRows):
    """Minus the median absolute error, each error clipped to the end of the range."""

    theorem = "order statistics (Clopper-Pearson)"
    needs_rows = True
    alike = "is no mean: use 'neg_mean_absolute_error'"
    widest = (-math.inf, 0.0)

    @property
    def clause(self) -> str:
        """What the certificate says of the range."""
        return "" if math.isinf(self.limits[0]) else f", each error clipped to +-{-self.limits[0]:g}"

    def tuned(self, y: Array, outputs: Array, classes: Array | None) -> MedianError:
        """Return the measure with the range that errors suggest, those of a constant included."""
        most = max(_range(_errors(y, outputs)), _range(_errors(y, np.full(len(y), np.median(y)))))
        return replace(self, bounds=(-float(f"{most or 1.0:.2g}"), 0.0))

    def value(self, y: Array, outputs: Array, classes: Array | None) -> Measured:
        """Return scikit-learn's value, clipped, and the errors of these rows."""
        most = -self.limits[0]
        if math.isinf(most):
            raise UndefinedMetricError("it needs the range of errors, which the rows of a guess suggest")
        errors = np.sort(np.minimum(_errors(y, outputs), most))
        value = -min(float(median_absolute_error(y, outputs)), most)
        low, high = _enclosing(errors, math.log(0.32))  # about one standard error on each side
        return Measured(value, len(y), (high - low) / 2.0 * math.sqrt(len(y)), details=errors)

    def rows_interval(self, foreseen: Foreseen) -> RowsInterval:
        """Return the construction by order statistics that enclose the median.

        The errors of other rows foresee about where these are.
        """

        def interval_of(y: Array, outputs: Array, ln_delta: float, rng: Generator) -> Range:
            low, high = _enclosing(np.sort(_errors(y, outputs)), ln_delta)
            return -high, -low

        errors: Array = foreseen.details
        at = np.linspace(0.5, len(errors) - 0.5, len(errors)) / len(errors)
        n = len(foreseen.y)

        def announced(ln_delta: float) -> Range:
            low, high = (rank / n for rank in median_ranks(n, ln_delta))
            ends = -float(np.interp(high, at, errors)), -float(np.interp(low, at, errors))
            return moved(ends, foreseen.value + float(np.median(errors)))

        ends = announced(foreseen.ln_delta)
        made = self._around("order statistics", interval_of, foreseen, foreseen.value, ends)
        return replace(made, announced=announced)

    def tuning(self, details: Any) -> dict[str, Any]:
        """Return quantiles of the errors that are foreseen."""
        return {"errors": np.quantile(details, (np.arange(_KEPT) + 0.5) / _KEPT).tolist()}

    def with_tuning(self, tuning: dict[str, Any]) -> tuple[MedianError, Any]:
        """Return this, and the errors that were foreseen."""
        return self, np.asarray(tuning["errors"])


register(
    "explained_variance", response=NUMBERS,
    reason="is a ratio of means, for which no interval is implemented",
)(MedianOnly)  # fmt: skip
register(
    "max_error", "neg_max_error", response=NUMBERS, reason="is decided by one row, which no sample bounds"
)(MedianOnly)

_FEW_ROWS, _SAMPLES = 1000, 4
_KEPT = 32  # quantiles of the errors of a guess
_REACH = 4.0  # upper quartiles, to which errors are clipped: no median is as far


def _errors(y: Array, outputs: Array) -> NDArray[np.float64]:
    return np.abs(np.asarray(y, dtype=float) - np.asarray(outputs, dtype=float))


def _range(errors: NDArray[np.float64]) -> float:
    """Return a bound that the median of other errors of this law will not reach."""
    return min(_REACH * float(np.quantile(errors, 0.75)) or math.inf, 1.25 * float(errors.max()))


def _enclosing(errors: NDArray[np.float64], ln_delta: float) -> Range:
    """Return the two sorted errors between which the median of their law lies.

    0 or infinity takes the place of one that too few errors do not have.
    """
    low, high = median_ranks(len(errors), ln_delta)
    below = float(errors[low - 1]) if low >= 1 else 0.0
    return below, float(errors[high - 1]) if high <= len(errors) else math.inf
