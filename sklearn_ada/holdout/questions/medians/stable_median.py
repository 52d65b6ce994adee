"""Stable medians: any metric, certified through the median of its values on disjoint subsamples.

Feldman, Steinke, "Generalization for Adaptively-chosen Estimators via Stable Median", COLT 2017. The values
are rounded to a finite grid, and the median is drawn from it with noise, or taken exactly. Either way one of
finitely many grid points is released, which is a symbol with a price in nats. Below, phi is the metric's
value on one random subsample.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada._constants import LN_2
from sklearn_ada.accounting.polya_urn import symbols_of
from sklearn_ada.events import (
    FAILURES,
    CodedRelease,
    ComposedEvent,
    Event,
    Symbol,
)
from sklearn_ada.guarantees.medians.exact_median import median_is_covered, outer_levels, quantile_interval
from sklearn_ada.holdout.models.said import Observation, observed
from sklearn_ada.holdout.questions.draw import Draw
from sklearn_ada.holdout.questions.guess import Guess
from sklearn_ada.holdout.questions.medians.median_draw import MedianDraw
from sklearn_ada.holdout.questions.medians.median_grid import lay_grid, open_levels, rounding, spread_of
from sklearn_ada.holdout.questions.medians.median_settings import MedianSettings
from sklearn_ada.holdout.rows.data import HoldoutData
from sklearn_ada.holdout.terms.failure_budget import FailureBudget
from sklearn_ada.holdout.terms.outcome import Outcome
from sklearn_ada.holdout.terms.policy import Policy
from sklearn_ada.holdout.terms.privacy import PrivateRelease, TransferShare
from sklearn_ada.mechanisms.rounding.grid import Grid
from sklearn_ada.metrics import Metric
from sklearn_ada.metrics.data.rows import Subsamples

__all__ = ["StableQuestion"]


@dataclass(frozen=True)
class StableQuestion:
    """One stable median.

    Parameters
    ----------
    purpose : {"check", "certify"}
        A check releases the median, a certify also two other quantiles of the subsamples' values, the outer
        quantiles, which enclose the population median.
    metric : Metric
    guess : Guess or None
    rows : ndarray of int, shape (m, t), or sequence of ndarray of int
        The subsamples.
    units_each : int
        How many independent units, records or groups, each subsample has.
    stratified : bool
        Whether they all have the same class counts.
    grid : Grid
    centre : int
        The grid index of the guess; symbols are offsets from it.
    stream : {"cells", "grid"}
        Which code prices the median (`sklearn_ada.accounting.codes`).
    scale : float
        How many steps from ``centre`` that code expects it; 0 for "cells".
    centred : bool
        Whether the grid is laid around the guess, with a step made of its error.
    drawing : MedianDraw
        How a quantile of the subsamples is drawn.
    target : str
        The population quantity that is certified.
    family : str
        Name of the medians that have a gap of the privacy route in common.
    """

    purpose: str
    metric: Metric
    guess: Guess | None
    rows: Subsamples
    units_each: int
    stratified: bool
    grid: Grid
    centre: int
    stream: str
    scale: float
    centred: bool
    drawing: MedianDraw
    target: str
    family: str

    @classmethod
    def plan(
        cls,
        purpose: str,
        metric: Metric,
        guess: Guess | None,
        data: HoldoutData,
        policy: Policy,
        settings: MedianSettings,
        partition: Callable[..., Subsamples],
    ) -> StableQuestion:
        """Fix subsamples, grid and code from the guess, the policy and the settings."""
        data.check_weights(metric)
        m = settings.subsamples(data)
        rows = partition(m, stratify=settings.stratify)
        units_each = data.subsample_size(m, stratify=settings.stratify)
        grid, scale, centred = lay_grid(purpose, metric, guess, m, units_each, policy, settings)
        centre = grid.size // 2 if guess is None else int(grid.index([guess.value])[0])
        draws = 3 if purpose == "certify" else 1
        drawing = MedianDraw.plan(settings, grid.size, m, data.n_units, policy, draws)
        unit = "groups" if data.has_groups else "records"
        weighted = "" if data.weight is None else "weighted "
        target = f"median of {weighted}{metric.name} over random subsamples of {units_each} {unit}"
        target += _caveat(data, policy, stratified=settings.stratify)
        if purpose == "check":  # a certify's interval allows for the rounding
            target += f", {rounding(grid)}"
        return cls(
            purpose=purpose, metric=metric, guess=guess, rows=rows,
            units_each=units_each, stratified=settings.stratify,
            grid=grid, centre=centre,
            stream="cells" if centred and purpose == "check" else "grid",
            scale=scale, centred=centred, drawing=drawing, target=target, family=settings.family(data),
        )  # fmt: skip

    def describe(self) -> dict[str, Any]:
        """Return a JSON-ready description of everything that is fixed."""
        m = len(self.rows)
        return {
            "name": f"median {self.purpose}",
            "n_subsamples": m,
            "subsample_size": self.units_each,
            "stratified": self.stratified,
            "grid": repr(self.grid),
            "centre": self.centre,
            "scale": self.scale,
            "epsilon": self.drawing.epsilon,
            "method": self.drawing.method,
        }

    def evaluate(self, estimator: Any, data: HoldoutData) -> Observation:
        """Look at the holdout: return the metric of every subsample, as grid indices, or a failure."""
        outputs = self.metric.block_outputs(estimator, data.X, data.y)
        values = self.metric.blocks_of(outputs, estimator, data.X, data.y, self.rows, data.weight)
        return observed(self.metric, self._indices(values), outputs, values)

    def _indices(self, values: NDArray[np.float64]) -> NDArray[np.int64] | tuple[Symbol, ...]:
        if 2 * np.count_nonzero(np.isnan(values)) >= len(values):
            return (Symbol(self.stream, FAILURES[5], self.scale),)
        # A subsample without a value (one class only, say) counts as the worst.
        return self.grid.index(np.where(np.isnan(values), -np.inf, values))

    @property
    def state_name(self) -> str:
        """Return nothing: no earlier question needs to be remembered."""
        return ""

    def exhausted(self, state: dict[str, Any]) -> None:
        """Return None: only the tolerance and the privacy budget limit these questions."""

    def expected_symbols(self, share: FailureBudget) -> tuple[Symbol, ...]:
        """Return what would be released if the guess were exact and the spread as expected."""
        symbol = Symbol(self.stream, 0, self.scale)
        level = self._outer_level(share)
        if level == 0.0:
            return (symbol,)
        scale = self._spread_scale(level)
        return (symbol, *[Symbol("spread", round(scale), scale)] * 2)

    def release(
        self, seen: NDArray[np.int64] | tuple[Symbol, ...], share: FailureBudget, draw: Draw
    ) -> tuple[Event, dict[str, Any]]:
        """Draw the median (and, for a certify, the outer quantiles) and return what was released."""
        if isinstance(seen, tuple):
            return CodedRelease(seen), {}
        rng = draw.question()
        median = self.drawing.quantile(seen, 0.5, rng)
        symbols = [Symbol(self.stream, median - self.centre, self.scale)]
        level = self._outer_level(share)
        if level > 0.0:
            scale = self._spread_scale(level)
            low = min(self.drawing.quantile(seen, level, rng), median)
            high = max(self.drawing.quantile(seen, 1.0 - level, rng), median)
            symbols += [Symbol("spread", median - low, scale), Symbol("spread", high - median, scale)]
        if self.drawing.is_exact:
            return CodedRelease(tuple(symbols)), {}
        draws = tuple(self.drawing.event(symbol) for symbol in symbols)
        return draws[0] if len(draws) == 1 else ComposedEvent(draws), {}

    def half_width_bound(self, share: FailureBudget) -> tuple[float, float]:
        """Return the worst half-width in quantile levels, and 1, the width of their range."""
        level = self._level(share) if self.purpose == "check" else self._outer_level(share)
        return 0.5 - level, 1.0

    def read(self, event: Event, share: FailureBudget, state: dict[str, Any]) -> Outcome:
        """Return what the released symbols certify by description length."""
        covered = median_is_covered(
            len(self.rows),
            self._outer_level(share),
            self._rank_error(share.ln_noise),
            self._ln_sampling(share),
        )
        theorem = "binomial tail of a quantile (after Feldman, Steinke 2017)"
        return self._outcome(event, self._level(share), covered, theorem)

    def private_release(self, state: dict[str, Any]) -> PrivateRelease | None:
        """Return the cost of one draw, or of three for a certify; the exact median has no privacy."""
        if self.drawing.is_exact:
            return None
        draw = self.drawing.event(Symbol(self.stream, 0, self.scale))
        event = ComposedEvent((draw,) * 3) if self.purpose == "certify" else draw
        return PrivateRelease(event, self.drawing.unit, self.family)

    def private_half_width(self, transfer: TransferShare) -> float:
        """Return the worst half-width in quantile levels by the privacy route."""
        return 0.5 - self._private_level(transfer)

    def read_private(self, event: Event, share: FailureBudget) -> Outcome:
        """Return what the transfer theorem certifies: one gap bounds the share of phi below every value."""
        assert share.transfer is not None
        covered = 0.0 < self._outer_level(share) <= self._private_outer_level(share.transfer)
        return self._outcome(event, self._private_level(share.transfer), covered, "rank error of the draw")

    def _outcome(self, event: Event, level: float, covered: bool, theorem: str) -> Outcome:
        """Make one claim only: for a check the levels of its value, for a certify an interval of the median.

        Each may be wrong with probability delta, and not at the same time, so both would take twice as much.
        """
        symbols = symbols_of(event)
        target = self.target
        bounds = self.metric.range or (-math.inf, math.inf)
        first = symbols[0].value
        if isinstance(first, str):
            return Outcome.failed(first, bounds, target)
        median = self.centre + first
        interval = bounds
        if self.purpose == "certify" and covered and len(symbols) == 3:
            below, above = (int(symbol.value) for symbol in symbols[1:])
            interval = self._interval(median - below, median + above, bounds)
        levels = None
        if self.purpose == "check":
            levels = open_levels(level, median, self.grid, bounds)
        return Outcome(
            min(max(self.grid.value(median), bounds[0]), bounds[1]),
            interval,
            self._verdict(first),
            theorem,
            target,
            vacuous=interval == bounds if levels is None else levels == (0.0, 1.0),
            levels=levels,
        )

    def _verdict(self, offset: int) -> str:
        if self.purpose == "certify":
            return "exact" if self.drawing.is_exact else "drawn"
        return "agrees" if offset == 0 else "differs"

    def _ln_sampling(self, share: FailureBudget) -> float:
        """Return ln delta of the sampling: half of delta is for the mechanism's noise, if there is any."""
        return share.ln_delta if self.drawing.is_exact else share.ln_delta - LN_2

    def _rank_error(self, ln_noise: float) -> float:
        """Return the largest rank error of up to three draws."""
        return self.drawing.rank_error(ln_noise, draws=3 if self.purpose == "certify" else 1)

    def _level(self, share: FailureBudget) -> float:
        """Return l: the value of a check is between the l and the 1 - l quantile; 0 says nothing."""
        m, rank_error = len(self.rows), self._rank_error(share.ln_noise)
        return quantile_interval(m, rank_error, self._ln_sampling(share))[0]

    def _outer_level(self, share: FailureBudget) -> float:
        """Return the level of a certify's outer quantiles: of two routes, the one that is nearer the median.

        The other route then certifies nothing about them. 0 if no level encloses the median, and for a check,
        which has no outer quantiles.
        """
        if self.purpose == "check":
            return 0.0
        levels = []
        if share.described:
            rank_error = self._rank_error(share.ln_noise)
            levels.append(outer_levels(len(self.rows), rank_error, self._ln_sampling(share))[0])
        if share.transfer is not None:
            levels.append(self._private_outer_level(share.transfer))
        return max(levels, default=0.0)

    def _private_level(self, transfer: TransferShare) -> float:
        """Return l of `_level` by the privacy route.

        For every threshold v, ``P[phi <= v]`` is within the gap of the part of the subsamples at or below v.
        """
        return max(0.5 - self._private_rank_error(transfer) - transfer.gap, 0.0)

    def _private_outer_level(self, transfer: TransferShare) -> float:
        """Return the level whose quantiles of the subsamples' values enclose the population median, or 0.

        Were the lower one above the population median v, at most ``level + rank error`` of the subsamples
        would be at or below v, while ``P[phi <= v] >= 1/2``: they would differ by more than the gap.
        """
        level = 0.5 - transfer.gap - self._private_rank_error(transfer) - 1e-9
        return max(level, 0.0)

    def _private_rank_error(self, transfer: TransferShare) -> float:
        """Return the rank error that the privacy route allows for; 1/2 certifies nothing."""
        ln_tail = transfer.ln_tail(self.drawing.mean_excess)
        return 0.5 if ln_tail == -math.inf else self._rank_error(ln_tail)

    def _spread_scale(self, level: float) -> float:
        """Return the expected distance of an outer quantile from the median, in grid points."""
        if not self.centred or self.guess is None or self.guess.deviation is None:
            return self.scale
        step = self.grid.value(1) - self.grid.value(0)
        spread = spread_of(self.guess, self.metric, self.units_each)
        return float(f"{max(2.5 * spread * (0.5 - level) / step, 0.5):.3g}")

    def _interval(self, low: int, high: int, bounds: tuple[float, float]) -> tuple[float, float]:
        """Return ends in units of the metric, from two grid indices.

        They are half a step further out, for the rounding; an end of the grid becomes one of ``bounds``, as
        values beyond it were moved to it.
        """
        last = self.grid.size - 1
        left = bounds[0] if low == 0 else self.grid.border(low - 1)
        right = bounds[1] if high == last else self.grid.border(high)
        return min(max(left, bounds[0]), bounds[1]), max(min(right, bounds[1]), bounds[0])


def _caveat(data: HoldoutData, policy: Policy, *, stratified: bool) -> str:
    """Return the end of a target: at what class proportions it is, and what no asker may know.

    Whoever knows class counts, weights or group sizes can favour the records of which there are too many.
    """
    secret = []
    if data.is_classification and policy.class_mix == "conditional" and not stratified:
        secret.append("class counts (AUCs and recalls tell them)")
    if data.weight is not None:
        secret.append("weights")
    if data.has_groups:
        secret.append("group sizes")
    mix = " at the holdout's class mix" if stratified else ""
    return f"{mix}, if nobody who asks knows the holdout's {' or '.join(secret)}" if secret else mix
