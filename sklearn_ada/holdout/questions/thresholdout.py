"""Thresholdout with noise: compare the guess with the holdout's value, and correct it if they differ.

Dwork, Feldman, Hardt, Pitassi, Reingold, Roth, "The reusable holdout", Science 2015. The difference is
compared, with noise, with a threshold; if it is larger (a *hit*), a noisy value is released instead of the
guess. That is rounded to cells, so that it has a price in nats. Where the noise is Laplace's, the threshold
has some too, the same for a *run* of questions up to the next hit; all other noise is drawn for each
question. Every draw is a function of the ledger's secret and of the order in which questions are recorded.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sklearn_ada._checks import check_integer, check_option, check_real
from sklearn_ada._constants import LN_2
from sklearn_ada.accounting.zcdp_filter import RECORDS
from sklearn_ada.events import (
    CodedRelease,
    CoveredRelease,
    Event,
    GaussianEvent,
    Symbol,
    ThresholdoutEvent,
)
from sklearn_ada.guarantees.description_length.cell_width import planned_questions
from sklearn_ada.guarantees.privacy_budget import thresholdout_scale
from sklearn_ada.holdout.models.keys import metric_identity
from sklearn_ada.holdout.questions.coded import CodedQuestion
from sklearn_ada.holdout.questions.draw import Draw
from sklearn_ada.holdout.questions.noisy import NoisyQuestion, bounded_sensitivity
from sklearn_ada.holdout.rows.data import HoldoutData
from sklearn_ada.holdout.terms.failure_budget import FailureBudget
from sklearn_ada.holdout.terms.policy import Policy
from sklearn_ada.holdout.terms.privacy import PrivateRelease
from sklearn_ada.mechanisms.thresholdout import gaussian_correction, laplace_correction, laplace_threshold

__all__ = ["NoiseSettings", "NoisyCheck"]

_DEFAULT_HITS = 20
_DEFAULT_SCALE = 0.02  # of the threshold
_LEAST_SCALE = 1e-12  # of the metric's range; and the largest is its inverse


@dataclass(frozen=True)
class NoiseSettings:
    """How Thresholdout is randomised.

    Parameters
    ----------
    noise : {"laplace", "gaussian"}
        "laplace": the algorithm of the article, with a budget of hits. "gaussian": as in the experiment of
        its figure, with a fixed threshold; every question costs privacy, also one whose guess holds.
    scale : float or "auto"
        Scale (standard deviation) of the noise of a corrected value, in units of the metric; "auto" is 2 % of
        the threshold (of the largest one there can be, where it is not fixed). Where privacy certifies,
        "auto" makes all ``max_hits`` hits cost half of the privacy budget ("laplace"), or each of the
        expected questions its part of the budget ("gaussian").
    max_hits : int or None
        How often the holdout may correct a guess; None is 20 for "laplace", no limit for "gaussian".
    threshold : float or None
        None takes what a check without noise would take.
    """

    noise: str
    scale: float | str = "auto"
    max_hits: int | None = None
    threshold: float | None = None

    def __post_init__(self) -> None:
        owner = "ThresholdoutScorer"
        check_option(self.noise, "noise", owner, ("laplace", "gaussian"))
        if self.scale != "auto":
            check_real(self.scale, "scale", owner, low=0.0)
        if self.max_hits is not None:
            check_integer(self.max_hits, "max_hits", owner)

    @property
    def hits(self) -> float:
        """The budget of hits; infinite where there is none."""
        if self.max_hits is not None:
            return self.max_hits
        return _DEFAULT_HITS if self.noise == "laplace" else math.inf


@dataclass(frozen=True)
class NoisyCheck(NoisyQuestion):
    """One check that Thresholdout answers with noise.

    A Thresholdout is all questions of one metric with the same settings: they share the budget of hits.
    """

    settings: NoiseSettings
    scale_of_noise: float
    sensitivity: float

    @classmethod
    def plan(
        cls, coded: CodedQuestion, settings: NoiseSettings, data: HoldoutData, policy: Policy
    ) -> NoisyCheck:
        """Fix threshold, scale and sensitivity; metrics without bounded sensitivity are refused.

        The scale is the same for all questions of one Thresholdout, as one privacy event, recorded with the
        first of them, covers them all.
        """
        sensitivity = bounded_sensitivity(coded, data, "ThresholdoutScorer", "use noise='none'.")
        low, high = coded.metric.bounds
        if not isinstance(settings.scale, str):
            scale = check_real(
                settings.scale, "noise_scale", "ThresholdoutScorer",
                low=_LEAST_SCALE * (high - low), high=(high - low) / _LEAST_SCALE, closed="both",
            )  # fmt: skip
            return cls(coded, settings, scale, sensitivity)
        if policy.is_private:
            return cls(
                coded, settings, _private_scale(settings, sensitivity, data.n_units, policy), sensitivity
            )
        threshold = settings.threshold
        if threshold is None:  # that of the least certain guess: the scale must not depend on the guess
            threshold = (high - low) * policy.half_cell(0.5 * math.sqrt(2.0 / coded.size), 0.5, coded.size)
        return cls(coded, settings, _DEFAULT_SCALE * threshold, sensitivity)

    @cached_property  # a metric whose code cannot be read gets a random key each time, and its own budget
    def state_name(self) -> str:
        """Name of the Thresholdout that this question belongs to: its metric and its settings."""
        settings = self.settings
        name = ["thresholdout", settings.noise, settings.scale, settings.max_hits, settings.threshold]
        return json.dumps([*name, metric_identity(self.metric)], sort_keys=True)

    def describe(self) -> dict[str, Any]:
        """Return a JSON-ready description of everything that is fixed."""
        return {
            **self.coded.describe(),
            "name": f"thresholdout {self.settings.noise}",
            "noise_scale": self.scale_of_noise,
            "max_hits": self.settings.max_hits,
        }

    def exhausted(self, state: dict[str, Any]) -> str | None:
        """Return why nothing more is answered, or None."""
        if state.get("hits", 0) >= self.settings.hits:
            return f"all {self.settings.hits} hits of this Thresholdout are used"
        return None

    def release(
        self, seen: float | tuple[Symbol, ...], share: FailureBudget, draw: Draw
    ) -> tuple[Event, dict[str, Any]]:
        """Compare with noise and return what is released, and what is remembered."""
        state = {
            "opened": draw.state.get("opened", False),
            "hits": draw.state.get("hits", 0),
        }
        if isinstance(seen, tuple):
            return CodedRelease(seen), state
        rng, scale, threshold = draw.question(), self.scale_of_noise, self.coded.cells.half_cell
        value, guess = seen, self.coded.cells.guess
        if self.settings.noise == "laplace":
            threshold = laplace_threshold(threshold, scale, draw.run(self.state_name, state["hits"]))
            corrected = laplace_correction(guess, value, threshold, scale, rng)
        else:
            corrected = gaussian_correction(guess, value, threshold, scale, rng)
        hit = corrected is not None
        symbols = (Symbol(self.stream, 0 if corrected is None else self._cell(corrected), self.scale),)
        event = self._event(symbols, hit=hit, opened=state["opened"])
        return event, {"opened": True, "hits": state["hits"] + int(hit)}

    def private_release(self, state: dict[str, Any]) -> PrivateRelease:
        """Return the privacy cost at most.

        With Laplace noise the first question pays for all later ones; with Gaussian noise a hit costs two
        Gaussian releases.
        """
        event = self._event(
            (Symbol(self.stream, 0, self.scale),), hit=True, opened=state.get("opened", False)
        )
        return PrivateRelease(event, self.unit, self.family)

    def known(self, symbol: int) -> tuple[float, float]:
        """Return the ends of a cell: number j > 0 is [2h(j-1), 2hj] above the guess; 0 means "agrees"."""
        half, guess = self.coded.cells.half_cell, self.coded.cells.guess
        centre = guess + half * (2 * symbol - (symbol > 0) + (symbol < 0))
        return centre - half, centre + half

    def verdict(self, symbol: int) -> str:
        """Return whether the guess held."""
        return "differs" if symbol else "agrees"

    @property
    def half_cell(self) -> float:
        """Half the width of a cell, and the threshold."""
        return self.coded.cells.half_cell

    def allowance(self, ln_noise: float) -> float:
        """Return how far noise can have moved any answer, at this failure probability.

        A question's own noise is independent of what was released before. The threshold's noise is not:
        earlier answers of its run depend on it, and how long the run lasts does too. So its bound is a union
        bound over all runs that there can be.
        """
        if self.settings.noise == "laplace":  # 2s for the run and 4s when it agrees, s when not
            tail, runs = LN_2 - ln_noise, math.log(self.settings.hits + 1.0)
            return self.scale_of_noise * (2.0 * (tail + runs) + 4.0 * tail)
        return self.scale_of_noise * math.sqrt(2.0 * (LN_2 - ln_noise))

    def _cell(self, corrected: float) -> int:
        """Return the number of the cell of a corrected value, never 0."""
        distance = corrected - self.coded.cells.guess
        number = 1 + math.floor(abs(distance) / (2.0 * self.coded.cells.half_cell))
        return number if distance > 0 else -number

    def _event(self, symbols: tuple[Symbol, ...], *, hit: bool, opened: bool) -> Event:
        if self.settings.noise == "gaussian":
            # A hit makes two Gaussian releases, which are exactly one of smaller noise.
            multiplier = self.scale_of_noise / self.sensitivity / math.sqrt(2.0 if hit else 1.0)
            return GaussianEvent(multiplier, symbols)
        if opened:
            return CoveredRelease(symbols)
        return ThresholdoutEvent(self.sensitivity / self.scale_of_noise, int(self.settings.hits), symbols)


def _private_scale(settings: NoiseSettings, sensitivity: float, n: int, policy: Policy) -> float:
    budget = policy.privacy_budget(RECORDS, n)
    if settings.noise == "laplace":
        scale = thresholdout_scale(budget / 2.0, sensitivity, int(settings.hits))
    else:  # each question may cost two releases
        scale = sensitivity * math.sqrt(planned_questions(policy.expected_questions) / budget)
    return float(f"{scale:.3g}") * 1.01  # rounded, yet never below what the budget allows
