"""A value with Gaussian noise: what a check or a certify is where privacy certifies.

The noise is what the privacy budget leaves for each of the questions expected. The noisy value is rounded to
cells, which costs no privacy and gives it a price in nats, so that both routes can read it.
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
    """One noisy value, fixed up to its noise.

    Parameters
    ----------
    coded : CodedQuestion
        What is measured, and what it rests on.
    multiplier : float
        Standard deviation of the noise over the sensitivity.
    deviation : float
        Standard deviation of the noise, in units of the metric.
    cells : Cells
        What the noisy value is rounded to.
    symbol_scale : float
        Expected size of the symbol.
    """

    multiplier: float
    deviation: float
    cells: Cells
    symbol_scale: float

    @classmethod
    def plan(cls, coded: CodedQuestion, data: HoldoutData, policy: Policy) -> GaussianQuestion:
        """Fix noise and cells: coarse ones for a check that has a price, else a tenth of the noise."""
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
        """The code of its symbol."""
        return "lattice" if self.symbol_scale else "cells"

    @property
    def scale(self) -> float:
        """The expected size of that symbol."""
        return self.symbol_scale

    @property
    def state_name(self) -> str:
        """Return nothing: every draw is a function of its question."""
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
        """Return None: there is no budget but those of the routes."""

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
        """Return the one Gaussian release."""
        return PrivateRelease(GaussianEvent(self.multiplier), self.unit, self.family)

    @property
    def half_cell(self) -> float:
        """Half the width of what a symbol leaves open, noise apart."""
        return self.cells.half_cell

    def known(self, symbol: int) -> tuple[float, float]:
        """Return the ends of a cell."""
        return self.cells.ends(symbol)

    def verdict(self, symbol: int) -> str:
        """Return whether the noisy value is as near the guess as cell and noise allow at three sigma."""
        if self.purpose == "certify":
            return "drawn"
        near = abs(self.cells.centre(symbol) - self.cells.guess) <= self.half_cell + 3.0 * self.deviation
        return "agrees" if near else "differs"

    def allowance(self, ln_noise: float) -> float:
        """Return the normal quantile of both sides."""
        return -self.deviation * float(ndtri_exp(ln_noise - math.log(2.0)))
