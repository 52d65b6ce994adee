"""Answer with noise: a value with Gaussian noise, and Thresholdout.

Both intervals allow first for the noise, which gives where the holdout's value is, and then for the
difference between the holdout and the population: by the metric's own interval (description length), or by
the gap of the transfer theorem (privacy). What has noise is rounded to cells (`coded`), which costs no
privacy and gives it a price in nats.

`GaussianQuestion` is how a check or a certify is answered where privacy certifies, with so much noise that
the privacy budget lasts for the expected number of questions.

`NoisyCheck` is Thresholdout (Dwork, Feldman, Hardt, Pitassi, Reingold, Roth, "The reusable holdout", Science
2015). The difference between guess and value is compared, with noise, with a threshold; if it is larger (a
*hit*), a noisy value is released instead of the guess. Where the noise is Laplace's, the threshold has some
too, the same for a *run* of questions up to the next hit; all other noise is drawn for each question. Every
draw is a function of the ledger's secret and of the order in which questions are recorded.
"""

from __future__ import annotations

import json
import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from scipy.special import ndtri_exp

from sklearn_ada._validation import LN_2, bad_parameter, check_option, check_real, integer, or_none
from sklearn_ada.accounting import events
from sklearn_ada.accounting.codes import symbols_of
from sklearn_ada.accounting.differential_privacy import thresholdout_scale
from sklearn_ada.accounting.events import Event, Symbol
from sklearn_ada.accounting.filters import RECORDS
from sklearn_ada.guarantees.description_length import planned_questions
from sklearn_ada.mechanisms.noise import with_normal
from sklearn_ada.mechanisms.rounding import Cells
from sklearn_ada.mechanisms.thresholdout import gaussian_correction, laplace_correction, laplace_threshold
from sklearn_ada.questions.coded import CodedQuestion, RefinedQuestion
from sklearn_ada.questions.question import Draw, Failure, Outcome, Released
from sklearn_ada.terms.holdout_data import HoldoutData
from sklearn_ada.terms.models import metric_identity
from sklearn_ada.terms.policy import Allowance, Policy
from sklearn_ada.terms.privacy_account import PrivateRelease, TransferAllowance

_DEFAULT_HITS = 20
_DEFAULT_SCALE = 0.02  # of the threshold
_LEAST_SCALE = 1e-12  # of the metric's range; and the largest is its inverse


@dataclass(frozen=True)
class NoiseSettings:
    """Set how much noise an answer has.

    Parameters
    ----------
    noise : {"laplace", "gaussian"}
        "laplace": the algorithm of the article, which corrects ``max_hits`` guesses. "gaussian": as in the
        experiment of the article's figure, with a fixed threshold; every question costs privacy, also one
        whose guess holds.
    scale : float or "auto"
        Scale ("laplace") or standard deviation ("gaussian") of the noise of a corrected value, in units of
        the metric. "auto" is 2 % of the threshold, or of the largest threshold that there can be where it is
        not given. Where privacy certifies, "auto" makes all ``max_hits`` hits cost half of the privacy budget
        ("laplace"), or each of the expected questions its part of the budget ("gaussian").
    max_hits : int or None
        How often the holdout may correct a guess; None is 20 for "laplace", no limit for "gaussian".
    threshold : float or None
        How far the holdout's value may be from the guess before it is corrected, in units of the metric. None
        takes half the width of a cell of a check without noise.
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
        or_none(integer())(self.max_hits, "max_hits", owner)

    @property
    def hits(self) -> float:
        """How many hits there may be; infinite without a limit."""
        if self.max_hits is not None:
            return self.max_hits
        return _DEFAULT_HITS if self.noise == "laplace" else math.inf


@dataclass(frozen=True)
class NoisyQuestion(RefinedQuestion):
    """A question whose released cell holds the holdout's value plus noise.

    Parameters
    ----------
    coded : CodedQuestion
        The same question without noise: metric, guess, size, target.
    """

    is_drawn = True

    @property
    @abstractmethod
    def half_cell(self) -> float:
        """Half the width of the cell that a symbol names."""

    @abstractmethod
    def ends(self, symbol: int) -> tuple[float, float]:
        """Return the ends of the cell that a symbol names; the value plus noise is between them."""

    @abstractmethod
    def verdict(self, symbol: int) -> str:
        """Return the verdict of this symbol, one of `sklearn_ada.answer.VERDICTS`."""

    @abstractmethod
    def noise_bound(self, ln_noise: float) -> float:
        """Return how far noise may have moved the answer, except with this probability.

        The probability is given as its logarithm.
        """

    def half_width_bound(self, allowance: Allowance) -> tuple[float, float]:
        """Return the worst half-width of the answer and the width of the range."""
        reach, measure = self.half_cell + self.noise_bound(allowance.ln_noise), self.coded.measure
        return measure.half_width_bound(reach, self.coded.size, allowance.ln_delta - LN_2), self.metric.width

    def described_outcome(self, event: Event, allowance: Allowance, memory: dict[str, Any]) -> Outcome:
        """Return what description length certifies: half of delta is for sampling, half for noise."""
        ends = self._widened(event, allowance.ln_noise)
        if isinstance(ends, Outcome):
            return ends
        measure = self.coded.measure
        interval = measure.interval(ends, self.coded.size, allowance.ln_delta - LN_2)
        return self._outcome(event, interval, f"{measure.theorem}; tail of the noise")

    def private_half_width(self, transfer: TransferAllowance) -> float:
        """Return the worst half-width by the privacy route."""
        reach = self.noise_bound(self._ln_tail(transfer))
        return min(self.half_cell + reach + self._gap(transfer), self.metric.width / 2.0)

    def private_outcome(self, event: Event, allowance: Allowance) -> Outcome:
        """Return what the transfer theorem certifies: the noise and the gap, to both sides."""
        assert allowance.transfer is not None
        ends = self._widened(event, self._ln_tail(allowance.transfer))
        if isinstance(ends, Outcome):
            return ends
        (low, high), gap = self.metric.bounds, self._gap(allowance.transfer)
        interval = (max(ends[0] - gap, low), min(ends[1] + gap, high))
        return self._outcome(event, interval, "tail of the noise")

    def _priced(self, event: Event) -> PrivateRelease:
        """Return what the privacy route needs to price a release."""
        return PrivateRelease(event, self.coded.measure.unit, self.coded.measure.family)

    def _gap(self, transfer: TransferAllowance) -> float:
        return transfer.gap * self._unit_of_gap

    @property
    def _unit_of_gap(self) -> float:
        return self.coded.measure.influence * self.metric.width

    def _ln_tail(self, transfer: TransferAllowance) -> float:
        """Return the logarithm of the probability at which noise is allowed for.

        See `TransferAllowance.ln_tail`.
        On average, noise beyond its quantile exceeds it by at most the quantile's slope in ``ln(1/p)``, as
        the quantile is concave in it. The slope is taken at a larger p, where it is no smaller.
        """
        slope = (self.noise_bound(transfer.ln_noise) - self.noise_bound(transfer.ln_noise + 0.5)) / 0.5
        return transfer.ln_tail(slope / self._unit_of_gap)

    def _widened(self, event: Event, ln_noise: float) -> tuple[float, float] | Outcome:
        """Return ends around the holdout's value, or the outcome of a failure."""
        symbol = symbols_of(event)[0].value
        if isinstance(symbol, str):
            return Outcome.failed(symbol, self.metric.bounds, self.coded.target)
        (low, high), reach = self.ends(symbol), self.noise_bound(ln_noise)
        return low - reach, high + reach

    def _outcome(self, event: Event, interval: tuple[float, float], theorem: str) -> Outcome:
        (low, high), symbol = self.metric.bounds, symbols_of(event)[0].value
        vacuous = interval[0] <= low and interval[1] >= high
        # Noise may leave the range; what is left of the interval is then one end of the range.
        clipped = (min(max(interval[0], low), high), max(min(interval[1], high), low))
        value = min(max(sum(self.ends(symbol)) / 2.0, low), high)
        return Outcome(value, clipped, self.verdict(symbol), theorem, self.coded.target, vacuous)


def bounded_sensitivity(coded: CodedQuestion, data: HoldoutData, owner: str, fix: str) -> float:
    """Return how far one row can move the value; ValueError where nothing bounds that."""
    sensitivity = coded.measure.sensitivity(data.labels_for(coded.metric, coded.measure))
    if sensitivity is None:
        expected = "a mean, an AUC or a per-class mean when noise is added"
        why = f"One row can move a ratio (or a mean at declared shares or with weight_bound) too far: {fix}"
        raise bad_parameter("scoring", owner, expected, coded.metric.name, why)
    return sensitivity


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
    first_word = "gaussian"

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
        spread = math.hypot(0.5 * coded.metric.width / math.sqrt(coded.size), deviation)
        half_cell = deviation / 10.0
        scale = float(f"{max(spread / (2.0 * half_cell), 0.5):.3g}")
        return cls(coded, multiplier, deviation, Cells(guess, half_cell), scale)

    scale = property(lambda self: self.symbol_scale)
    stream = property(lambda self: "lattice" if self.symbol_scale else "cells")

    def describe(self) -> dict[str, Any]:
        """Return a JSON-ready description of everything that is fixed."""
        where = {"centre": self.cells.guess, "half_cell": self.cells.half_cell, "scale": self.scale}
        return {"name": f"{self.first_word} {self.purpose}", **where, "noise": self.deviation}

    def release(self, seen: float | Failure, allowance: Allowance, draw: Draw) -> Released:
        """Add the noise of this question and return the cell of the sum."""
        if isinstance(seen, tuple):
            return events.CodedRelease(seen), {}
        noisy = with_normal(seen, self.deviation, draw.own_generator())
        symbol = Symbol(self.stream, self.cells.index(noisy), self.scale)
        return events.GaussianEvent(self.multiplier, (symbol,)), {}

    def private_release(self, memory: dict[str, Any]) -> PrivateRelease:
        """Return the privacy cost, the same whatever the answer."""
        return self._priced(events.GaussianEvent(self.multiplier))

    half_cell = property(lambda self: self.cells.half_cell)

    def ends(self, symbol: int) -> tuple[float, float]:
        """Return the ends of a cell."""
        return self.cells.ends(symbol)

    def verdict(self, symbol: int) -> str:
        """Return whether the noisy value is near the guess: within a half cell and three deviations."""
        if self.purpose == "certify":
            return "drawn"
        near = abs(self.cells.centre(symbol) - self.cells.guess) <= self.half_cell + 3.0 * self.deviation
        return "agrees" if near else "differs"

    def noise_bound(self, ln_noise: float) -> float:
        """Return the two-sided normal quantile: noise is larger with this failure probability."""
        return -self.deviation * float(ndtri_exp(ln_noise - LN_2))


@dataclass(frozen=True)
class NoisyCheck(NoisyQuestion):
    """One check that Thresholdout answers with noise.

    A Thresholdout is all questions of one metric with the same settings: they share the budget of hits.
    """

    settings: NoiseSettings
    scale_of_noise: float
    sensitivity: float
    settings_type, first_word = NoiseSettings, "thresholdout"

    @classmethod
    def refine(cls, coded: CodedQuestion, settings: Any, data: HoldoutData, policy: Policy) -> Self:
        """Fix threshold, scale and sensitivity; metrics without bounded sensitivity are refused.

        The scale is the same for all questions of one Thresholdout, as one privacy event, recorded with the
        first of them, covers them all.
        """
        sensitivity = bounded_sensitivity(coded, data, "ThresholdoutScorer", "use noise='none'.")
        width, threshold = coded.metric.width, settings.threshold
        if not isinstance(settings.scale, str):
            least, most = _LEAST_SCALE * width, width / _LEAST_SCALE
            owner = "ThresholdoutScorer"
            scale = check_real(settings.scale, "noise_scale", owner, low=least, high=most, closed="both")
        elif policy.is_private:
            scale = _private_scale(settings, sensitivity, data.n_units, policy)
        else:
            if threshold is None:  # that of the least certain guess: the scale must not depend on the guess
                threshold = width * policy.half_cell(0.5 * math.sqrt(2.0 / coded.size), 0.5, coded.size)
            scale = _DEFAULT_SCALE * threshold
        return cls(coded, settings, scale, sensitivity)

    @cached_property  # a metric whose code cannot be read gets a random key each time, and its own budget
    def memory_name(self) -> str:  # type: ignore[override]
        """Name of the Thresholdout that this question belongs to: its metric and its settings."""
        settings = self.settings
        name = ["thresholdout", settings.noise, settings.scale, settings.max_hits, settings.threshold]
        return json.dumps([*name, metric_identity(self.metric)], sort_keys=True)

    def describe(self) -> dict[str, Any]:
        """Return a JSON-ready description of everything that is fixed."""
        of_noise = {"noise_scale": self.scale_of_noise, "max_hits": self.settings.max_hits}
        return {**self.coded.describe(), "name": f"{self.first_word} {self.settings.noise}", **of_noise}

    def why_exhausted(self, memory: dict[str, Any]) -> str | None:
        """Return why nothing more is answered, or None."""
        if memory.get("hits", 0) >= self.settings.hits:
            return f"all {self.settings.hits} hits of this Thresholdout are used"
        return None

    def release(self, seen: float | Failure, allowance: Allowance, draw: Draw) -> Released:
        """Compare with noise and return what is released, and what is remembered."""
        memory = {"opened": False, "hits": 0, **draw.memory}
        if isinstance(seen, tuple):
            return events.CodedRelease(seen), memory
        rng, scale, threshold = draw.own_generator(), self.scale_of_noise, self.half_cell
        is_laplace, guess = self.settings.noise == "laplace", self.coded.cells.guess
        if is_laplace:
            shared = draw.shared_generator(self.memory_name, memory["hits"])
            threshold = laplace_threshold(threshold, scale, shared)
        correction = laplace_correction if is_laplace else gaussian_correction
        corrected = correction(guess, seen, threshold, scale, rng)
        hit = corrected is not None
        symbols = (Symbol(self.stream, 0 if corrected is None else self._cell(corrected), self.scale),)
        event = self._event(symbols, hit=hit, opened=memory["opened"])
        return event, {"opened": True, "hits": memory["hits"] + int(hit)}

    def private_release(self, memory: dict[str, Any]) -> PrivateRelease:
        """Return the privacy cost at most.

        With Laplace noise the first question pays for all later ones; with Gaussian noise a hit costs two
        Gaussian releases.
        """
        symbols, opened = (Symbol(self.stream, 0, self.scale),), memory.get("opened", False)
        return self._priced(self._event(symbols, hit=True, opened=opened))

    def ends(self, symbol: int) -> tuple[float, float]:
        """Return the ends of a cell: number j > 0 is [2h(j-1), 2hj] above the guess; 0 means "agrees"."""
        half, guess = self.half_cell, self.coded.cells.guess
        centre = guess + half * (2 * symbol - (symbol > 0) + (symbol < 0))
        return centre - half, centre + half

    def verdict(self, symbol: int) -> str:
        """Return whether the guess held."""
        return "differs" if symbol else "agrees"

    half_cell = property(lambda self: self.coded.cells.half_cell)  # and the threshold

    def noise_bound(self, ln_noise: float) -> float:
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
        """Return the number of the cell that holds a corrected value.

        It is positive above the guess and negative below; 0 stands for "agrees".
        """
        distance = corrected - self.coded.cells.guess
        number: int = 1 + math.floor(abs(distance) / (2.0 * self.half_cell))
        return number if distance > 0 else -number

    def _event(self, symbols: tuple[Symbol, ...], *, hit: bool, opened: bool) -> Event:
        if self.settings.noise == "gaussian":
            # A hit makes two Gaussian releases, which are exactly one of smaller noise.
            multiplier = self.scale_of_noise / self.sensitivity / math.sqrt(2.0 if hit else 1.0)
            return events.GaussianEvent(multiplier, symbols)
        if opened:
            return events.CoveredRelease(symbols)
        scaled_epsilon = self.sensitivity / self.scale_of_noise
        return events.ThresholdoutEvent(scaled_epsilon, int(self.settings.hits), symbols)


def _private_scale(settings: NoiseSettings, sensitivity: float, n: int, policy: Policy) -> float:
    budget = policy.privacy_budget(RECORDS, n)
    if settings.noise == "laplace":
        scale = thresholdout_scale(budget / 2.0, sensitivity, int(settings.hits))
    else:  # each question may cost two releases
        scale = sensitivity * math.sqrt(planned_questions(policy.expected_questions) / budget)
    return float(f"{scale:.3g}") * 1.01  # rounded, yet never below what the budget allows
