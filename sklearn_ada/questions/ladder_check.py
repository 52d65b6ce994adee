"""The Ladder: only improvements on the best score so far are revealed (Blum, Hardt, ICML 2015).

A score is revealed, rounded to a step, if it beats the best so far by more than a step. "No improvement"
costs next to nothing in nats, and certifies that the model is not better than the best so far by more than a
step.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from sklearn_ada._validation import bad_parameter, check_real
from sklearn_ada.accounting.codes import symbols_of
from sklearn_ada.accounting.events import CodedRelease, Event, Symbol
from sklearn_ada.mechanisms.ladder import Ladder
from sklearn_ada.mechanisms.rounding import LEAST_CELL
from sklearn_ada.questions.coded import CodedQuestion, RefinedQuestion
from sklearn_ada.questions.question import Draw, Failure, Outcome, Released
from sklearn_ada.terms.holdout_data import HoldoutData
from sklearn_ada.terms.models import metric_identity
from sklearn_ada.terms.policy import Allowance, Policy


@dataclass(frozen=True)
class LadderSettings:
    """Set how large an improvement must be to be revealed.

    Parameters
    ----------
    step : float or "auto"
        The least improvement that is revealed, in units of the metric. "auto": two standard errors of an
        accuracy of one half.
    """

    step: float | str = "auto"

    def __post_init__(self) -> None:
        if self.step != "auto":
            check_real(self.step, "step", "LadderScorer", low=0.0)


@dataclass(frozen=True)
class LadderQuestion(RefinedQuestion):
    """One check that a Ladder answers: a Ladder is all questions of one metric and step.

    Parameters
    ----------
    coded : CodedQuestion
        The same question without a Ladder: metric, guess, size, target.
    step : float
        As a part of the metric's range.
    """

    step: float
    settings_type, first_word = LadderSettings, "ladder"
    improvements_only = True

    @classmethod
    def refine(cls, coded: CodedQuestion, settings: Any, data: HoldoutData, policy: Policy) -> Self:
        """Fix the step; ratios, whose denominator is part of the answer, are refused."""
        if coded.measure.size_is_released:
            expected = "a mean, an AUC or a per-class mean"
            raise bad_parameter("scoring", "LadderScorer", expected, coded.metric.name)
        if isinstance(settings.step, str):
            return cls(coded, float(f"{min(1.0 / math.sqrt(coded.size), 1.0):.3g}"))
        width = coded.metric.width
        least = width * LEAST_CELL
        step = check_real(settings.step, "step", "LadderScorer", low=least, high=width, closed="low")
        return cls(coded, step / width)

    @cached_property  # a metric whose code cannot be read gets a random key each time, and so its own Ladder
    def memory_name(self) -> str:  # type: ignore[override]
        """Name of the Ladder that this question belongs to; its best loss is kept under it."""
        return json.dumps(["ladder", self.step, metric_identity(self.metric)], sort_keys=True)

    def describe(self) -> dict[str, Any]:
        """Return a JSON-ready description of everything that is fixed."""
        return {**self.coded.describe(), "name": self.first_word, "step": self.step}

    def release(self, seen: float | Failure, allowance: Allowance, draw: Draw) -> Released:
        """Return by how many steps the best loss fell, and the new best."""
        best = draw.memory.get("best")
        stream, scale = (self.stream, self.scale) if best is not None else ("lattice", self._spread)
        if isinstance(seen, tuple):  # a failure; in the code of a value, whose probabilities allow for it
            first, *more = seen
            return CodedRelease((Symbol(stream, first.value, scale), *more)), {"best": best}
        ladder = Ladder(self.step, best)
        ladder.ask(self._loss(seen))
        assert ladder.best is not None
        expected = round(self._loss(self.coded.cells.guess) / self.step)
        # The first answer is a value, coded around the guess.
        offset = ladder.best - expected if best is None else best - ladder.best
        return CodedRelease((Symbol(stream, offset, scale),)), {"best": ladder.best}

    def half_width_bound(self, allowance: Allowance) -> tuple[float, float]:
        """Return the worst half-width of an improvement (of anything else only one side is certified)."""
        half, width = self.step * self.metric.width, self.metric.width
        return self.coded.measure.half_width_bound(half, self.coded.size, allowance.ln_delta), width

    def described_outcome(self, event: Event, allowance: Allowance, memory: dict[str, Any]) -> Outcome:
        """Return an interval if the model improves, else only an upper end."""
        (low, high), target = self.metric.bounds, self.coded.target
        symbol = symbols_of(event)[0]
        if isinstance(symbol.value, str):
            return Outcome.failed(symbol.value, (low, high), target)
        best = high - memory["best"] * self.step * self.metric.width
        reach = self.step * self.metric.width
        improved = symbol.stream == "lattice" or symbol.value > 0
        ends = (best - reach if improved else low, best + reach)
        interval = self.coded.measure.interval(ends, self.coded.size, allowance.ln_delta)
        interval = interval if improved else (low, interval[1])
        value, verdict = min(max(best, low), high), "improves" if improved else "no improvement"
        vacuous = interval[1] >= high and interval[0] <= low
        return Outcome(value, interval, verdict, self.coded.measure.theorem, target, vacuous)

    @property
    def _spread(self) -> float:
        """Return how many steps the first answer is expected to be from the guess."""
        return float(f"{max(self.coded.cells.half_cell / self.metric.width / self.step, 0.5):.3g}")

    def _loss(self, value: float) -> float:
        return min(max((self.metric.bounds[1] - value) / self.metric.width, 0.0), 1.0)
