"""A value with Gaussian noise: how a check or a certify is answered where privacy certifies.

There is so much noise that the privacy budget lasts for the expected number of questions. The noisy value is
rounded to cells (`coded`), which costs no privacy and gives it a price in nats, so that description length
can certify it as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from scipy.special import ndtri_exp

from sklearn_ada.accounting.zcdp_filter import RECORDS
from sklearn_ada.events import CodedRelease, Event, GaussianEvent, Symbol
from sklearn_ada.guarantees.description_length.cell_width import planned_questions
from sklearn_ada.holdout.questions.coded import CodedQuestion
from sklearn_ada.holdout.questions.draw import Draw
from sklearn_ada.holdout.questions.noisy import NoisyQuestion, bounded_sensitivity
from sklearn_ada.holdout.rows.data import HoldoutData
from sklearn_ada.holdout.terms.failure_budget import FailureBudget
from sklearn_ada.holdout.terms.policy import Policy
from sklearn_ada.holdout.terms.privacy import PrivateRelease
from sklearn_ada.mechanisms.noise import with_normal
from sklearn_ada.mechanisms.rounding.cells import Cells

__all__ = ["GaussianQuestion"]


@dataclass(frozen=True)
class GaussianQuestion(NoisyQuestion):
    """One check or certify that is answered with Gaussian noise.

    Parameters
    ----------
    coded : CodedQuestion
        The question without noise: metric, guess, size, target.
    multiplier : float
        Standard deviation of the noise over the sensitivity.
    deviation : float
        Standard deviation of the noise, in units of the metric.
    cells : Cells
        What the noisy value is rounded to.
    symbol_scale : float
        How many cells the noisy value is expected to be off the guess; 0 where a check has wide cells.
    """

    multiplier: float
    deviation: float
    cells: Cells
    symbol_scale: float

    @classmethod
    def plan(cls, coded: CodedQuestion, data: HoldoutData, policy: Policy) -> GaussianQuestion:
        """Fix noise and cells.

        Cells are wide for a check that costs nats, so that most answers are number 0; else a tenth of the
        noise.
        """
        sensitivity = bounded_sensitivity(coded, data, f"Holdout.{coded.purpose}", "use StableHoldoutScorer.")
        planned = planned_questions(policy.expected_questions)
        budget = policy.privacy_budget(RECORDS, data.n_units)
        multiplier = float(f"{math.sqrt(planned / (2.0 * budget)):.3g}") * 1.01
        deviation = multiplier * sensitivity
        guess = coded.guess.value
        if coded.purpose == "check" and policy.is_described:
            half_cell = math.hypot(coded.cells.half_cell, 3.0 * deviation)
            return cls(coded, multiplier, deviation, Cells(guess, half_cell), 0.0)
        low, high = coded.metric.bounds
        spread = math.hypot(0.5 * (high - low) / math.sqrt(coded.size), deviation)
        half_cell = deviation / 10.0
        scale = float(f"{max(spread / (2.0 * half_cell), 0.5):.3g}")
        return cls(coded, multiplier, deviation, Cells(guess, half_cell), scale)

    @property
    def stream(self) -> str:
        """Which code prices the number of the cell (`sklearn_ada.accounting.codes`)."""
        return "lattice" if self.symbol_scale else "cells"

    @property
    def scale(self) -> float:
        """How large that number is expected to be; 0 in the code "cells"."""
        return self.symbol_scale

    @property
    def state_name(self) -> str:
        """Return nothing: no earlier question needs to be remembered."""
        return ""

    def describe(self) -> dict[str, Any]:
        """Return a JSON-ready description of everything that is fixed."""
        return {
            "name": f"gaussian {self.purpose}",
            "centre": self.cells.guess,
            "half_cell": self.cells.half_cell,
            "scale": self.scale,
            "noise": self.deviation,
        }

    def expected_symbols(self, share: FailureBudget) -> tuple[Symbol, ...]:
        """Return what would be released if the guess were exact and the noise zero."""
        return (Symbol(self.stream, 0, self.scale),)

    def exhausted(self, state: dict[str, Any]) -> None:
        """Return None: only the tolerance and the privacy budget limit these questions."""

    def release(
        self, seen: float | tuple[Symbol, ...], share: FailureBudget, draw: Draw
    ) -> tuple[Event, dict[str, Any]]:
        """Add the noise of this question and return the cell of the sum."""
        if isinstance(seen, tuple):
            return CodedRelease(seen), {}
        noisy = with_normal(seen, self.deviation, draw.question())
        symbol = Symbol(self.stream, self.cells.index(noisy), self.scale)
        return GaussianEvent(self.multiplier, (symbol,)), {}

    def private_release(self, state: dict[str, Any]) -> PrivateRelease:
        """Return the privacy cost, the same whatever the answer."""
        return PrivateRelease(GaussianEvent(self.multiplier), self.unit, self.family)

    @property
    def half_cell(self) -> float:
        """Half the width of a cell."""
        return self.cells.half_cell

    def known(self, symbol: int) -> tuple[float, float]:
        """Return the ends of a cell."""
        return self.cells.ends(symbol)

    def verdict(self, symbol: int) -> str:
        """Return "agrees" if the noisy value is within a half cell and three deviations of the guess."""
        if self.purpose == "certify":
            return "drawn"
        near = abs(self.cells.centre(symbol) - self.cells.guess) <= self.half_cell + 3.0 * self.deviation
        return "agrees" if near else "differs"

    def allowance(self, ln_noise: float) -> float:
        """Return the two-sided normal quantile: noise is larger with this failure probability."""
        return -self.deviation * float(ndtri_exp(ln_noise - math.log(2.0)))
