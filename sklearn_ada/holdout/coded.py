"""Checks and certifies: the cell around the guess in which the holdout's value lies.

A check asks with coarse cells whether the guess holds; a certify with cells as fine as the lattice of
possible values. Both fix everything but the symbol before the holdout is touched.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from sklearn_ada.accounting.description_length import symbols_of
from sklearn_ada.events import FAILURES, CodedRelease, Event, Symbol
from sklearn_ada.guarantees.planned_checks import wilson_deviation
from sklearn_ada.holdout.data import HoldoutData
from sklearn_ada.holdout.draw import Draw
from sklearn_ada.holdout.guess import Guess
from sklearn_ada.holdout.outcome import Outcome, Share
from sklearn_ada.holdout.policy import Policy
from sklearn_ada.holdout.privacy import NoPrivacy
from sklearn_ada.mechanisms.cells import Cells
from sklearn_ada.metrics import Measured, Metric, UndefinedMetricError, outputs_are_usable
from sklearn_ada.metrics.kinds import Kind

__all__ = ["CodedQuestion"]

_COUNT_SCALE = 3.0  # expected offset of a ratio's denominator, in buckets
_CHECKED = {True: "agrees", False: "differs"}


@dataclass(frozen=True)
class CodedQuestion(NoPrivacy):
    """One check or certify of a metric that has an interval, fixed up to its symbol.

    Parameters
    ----------
    purpose : {"check", "certify"}
    metric : Metric
    rule : Kind
        How the metric becomes an interval on these rows.
    guess : Guess
    cells : Cells
    stream : str
        The code that prices the symbol.
    scale : float
        Expected size of the symbol.
    size : float
        Independent terms behind the value; for ratios, as foreseen from the guess.
    target : str
        The population quantity that is certified.
    """

    purpose: str
    metric: Metric
    rule: Kind
    guess: Guess
    cells: Cells
    stream: str
    scale: float
    size: float
    target: str

    @classmethod
    def plan(
        cls,
        purpose: str,
        metric: Metric,
        guess: Guess | None,
        data: HoldoutData,
        policy: Policy,
        *,
        class_mix: bool,
        half_cell: float | None = None,
    ) -> CodedQuestion:
        """Fix cells and code from the guess, the policy and the class counts; `UndefinedMetricError` if
        the labels do not allow the metric.
        """  # noqa: D205
        low, high = metric.bounds
        width = high - low
        rule = data.rule(metric)
        known = rule.known_size(data.y)
        if guess is None:
            guess = Guess((low + high) / 2.0)
        size = known if known is not None else max(1.0, len(data) * (guess.share or 0.5))
        target = f"population {metric.name}"
        if class_mix:  # class counts may be known to the asker, so they are conditioned on
            target += " at the holdout's class mix"
        if data.units is not None:
            target = data.units.target(target)
        unit = (guess.value - low) / width
        behind = guess.size or size
        spread = wilson_deviation(min(max(unit, 0.0), 1.0), behind)
        deviation = spread if guess.deviation is None else max(guess.deviation / width, 1e-3 * spread)
        error = deviation * math.sqrt(1.0 / size + 1.0 / behind)
        if purpose == "certify":
            if rule.counts:  # each cell holds exactly one count
                scale, cells = (
                    error * size,
                    Cells(low + width * round(unit * size) / size, width * 0.5 / size),
                )
            else:  # a tenth of a standard error: finer would cost more and say no more
                scale, cells = 10.0, Cells(guess.value, width * error / 20.0)
            scale = float(f"{max(scale, 0.5):.3g}")
            return cls(purpose, metric, rule, guess, cells, "lattice", scale, size, target)
        if half_cell is not None:
            return cls(
                purpose, metric, rule, guess, Cells(guess.value, half_cell), "cells", 0.0, size, target
            )
        half_cell = policy.half_cell(error, spread, size)
        return cls(
            purpose, metric, rule, guess, Cells(guess.value, width * half_cell), "cells", 0.0, size, target
        )

    def describe(self) -> dict[str, Any]:
        """Return a JSON-ready description of everything that is fixed."""
        return {
            "name": self.purpose,
            "centre": self.cells.guess,
            "half_cell": self.cells.half_cell,
            "scale": self.scale,
        }

    @property
    def memory_name(self) -> str:
        """Return nothing: only the urn remembers, and it belongs to the whole ledger."""
        return ""

    def exhausted(self, memory: dict[str, Any]) -> None:
        """Return None: there is no budget but the tolerance."""

    def measure(self, estimator: Any, data: HoldoutData) -> Measured | tuple[Symbol, ...]:
        """Look at the holdout: return what is measured, or the symbol of a failure."""
        outputs = self.metric.outputs(estimator, data.X)
        if not outputs_are_usable(outputs, len(data)):
            return (Symbol(self.stream, FAILURES[4], self.scale),)
        try:
            return self.metric.measure(estimator, data.y, outputs, self.rule)
        except UndefinedMetricError:
            return (Symbol(self.stream, FAILURES[5], self.scale),)

    def evaluate(self, estimator: Any, data: HoldoutData) -> tuple[Symbol, ...]:
        """Look at the holdout: return the symbols to be released, not yet admitted or priced."""
        measured = self.measure(estimator, data)
        if not isinstance(measured, Measured):
            return measured
        symbol = Symbol(self.stream, self.cells.index(measured.value), self.scale)
        if not self.rule.size_is_released:
            return (symbol,)
        offset = self._bucket(measured.size) - self._bucket(self.size)
        return (symbol, Symbol("count", offset, _COUNT_SCALE))

    def held(self, share: Share) -> tuple[Symbol, ...]:
        """Return what would be released if the guess were exact."""
        symbol = Symbol(self.stream, 0, self.scale)
        return (symbol, Symbol("count", 0, _COUNT_SCALE)) if self.rule.size_is_released else (symbol,)

    def release(
        self, sealed: tuple[Symbol, ...], share: Share, draw: Draw
    ) -> tuple[CodedRelease, dict[str, Any]]:
        """Return the event of releasing these symbols; nothing is drawn and nothing remembered."""
        return CodedRelease(sealed), {}

    def half_width_bound(self, share: Share) -> tuple[float, float]:
        """Return the worst half-width of the answer (for a ratio: at the foreseen denominator) and the
        width of the range.
        """  # noqa: D205
        low, high = self.metric.bounds
        width = high - low
        return self.rule.half_width_bound(self.cells.half_cell, self.size, share.ln_delta, width), width

    def read(self, event: Event, share: Share, memory: dict[str, Any]) -> Outcome:
        """Return what the symbols certify at this failure probability."""
        low, high = self.metric.bounds
        symbols = symbols_of(event)
        index = symbols[0].value
        if isinstance(index, str):
            return Outcome.failed(index, self.metric.bounds, self.target)
        size = self.size
        if self.rule.size_is_released:
            size = self._least_size(self._bucket(self.size) + int(symbols[1].value))
        interval = self.rule.interval(self.cells.ends(index), size, share.ln_delta, self.metric.bounds)
        value = min(max(self.cells.centre(index), low), high)
        verdict = "exact" if self.purpose == "certify" else _CHECKED[index == 0]
        vacuous = interval[0] <= low and interval[1] >= high
        return Outcome(value, interval, verdict, self.rule.theorem, self.target, vacuous)

    def _bucket(self, size: float) -> int:
        return math.floor(math.log(max(size, 1.0)) / math.log(self._growth) + 1e-9)

    def _least_size(self, bucket: int) -> float:
        return max(1.0, math.floor(self._growth**bucket * (1.0 - 1e-8)))

    @property
    def _growth(self) -> float:
        """Ratio of neighbouring denominators that are told apart: finer for a certify."""
        return 1.1 if self.purpose == "check" else 1.01
