"""Answers of differentially private mechanisms, whose noise hides what any one record contributes.

Two holdouts are *neighbours* if they differ in one record (or one subsample) that was replaced. A mechanism
is *differentially private* if the laws of its answers on neighbours are close.

An event whose output was also rounded to a grid carries the released ``symbols``, so that it has a price
under description length too; ``symbols=None`` says that the output was continuous.
"""

from __future__ import annotations

from dataclasses import dataclass

from sklearn_ada._checks import check_integer, check_real
from sklearn_ada.events._base import Event
from sklearn_ada.events._coded import Symbol, check_symbols

__all__ = [
    "AboveThresholdEvent",
    "ApproximateDPEvent",
    "ExponentialMechanismEvent",
    "GaussianEvent",
    "LaplaceEvent",
    "LeakyRandomizedResponseEvent",
    "PermuteAndFlipEvent",
    "PureDPEvent",
    "RandomizedResponseEvent",
    "ThresholdoutEvent",
]


@dataclass(frozen=True)
class _EpsilonEvent(Event):
    """A release with one privacy parameter ``epsilon`` > 0."""

    epsilon: float
    symbols: tuple[Symbol, ...] | None = None

    def __post_init__(self) -> None:
        owner = type(self).__name__
        object.__setattr__(self, "epsilon", check_real(self.epsilon, "epsilon", owner, low=0.0))
        check_symbols(self.symbols, owner, optional=True)


class PureDPEvent(_EpsilonEvent):
    """Some epsilon-DP mechanism, of which nothing else is known."""


class LaplaceEvent(_EpsilonEvent):
    """Laplace noise of scale ``sensitivity / epsilon`` was added to one number."""


class RandomizedResponseEvent(_EpsilonEvent):
    """One bit was released truthfully with probability ``e^epsilon / (1 + e^epsilon)``."""


class ExponentialMechanismEvent(_EpsilonEvent):
    """One element was drawn with weight ``exp(epsilon * score / (2 * sensitivity))``.

    Report-noisy-max with Gumbel noise draws from the same law and emits this event too.
    """


class PermuteAndFlipEvent(_EpsilonEvent):
    """One element was chosen by permute-and-flip at ``epsilon``."""


class AboveThresholdEvent(_EpsilonEvent):
    """The noise of a threshold was drawn for a run that ends at its first "above".

    The event happens when the noise is drawn: a run in which nothing was above has happened too.
    """


@dataclass(frozen=True)
class ThresholdoutEvent(Event):
    """A Thresholdout with Laplace noise was opened for at most ``max_hits`` hits.

    Parameters
    ----------
    scaled_epsilon : float
        ``sensitivity / s`` for noise of scale s in the released value, 2s in the threshold and 4s in the
        comparison (Dwork et al., Science 2015).
    max_hits : int
        How many hits are allowed in total; the last, open run is part of the event.
    symbols : tuple of Symbol or None
        The answer with which it was opened, where answers are rounded; later ones are `CoveredRelease`.
    """

    scaled_epsilon: float
    max_hits: int
    symbols: tuple[Symbol, ...] | None = None

    def __post_init__(self) -> None:
        owner = type(self).__name__
        scaled = check_real(self.scaled_epsilon, "scaled_epsilon", owner, low=0.0)
        object.__setattr__(self, "scaled_epsilon", scaled)
        object.__setattr__(self, "max_hits", check_integer(self.max_hits, "max_hits", owner))
        check_symbols(self.symbols, owner, optional=True)


@dataclass(frozen=True)
class GaussianEvent(Event):
    """Gaussian noise of standard deviation ``noise_multiplier * sensitivity`` was added to one number."""

    noise_multiplier: float
    symbols: tuple[Symbol, ...] | None = None

    def __post_init__(self) -> None:
        owner = type(self).__name__
        sigma = check_real(self.noise_multiplier, "noise_multiplier", owner, low=0.0)
        object.__setattr__(self, "noise_multiplier", sigma)
        check_symbols(self.symbols, owner, optional=True)


@dataclass(frozen=True)
class ApproximateDPEvent(Event):
    """Some (epsilon, delta)-DP mechanism, of which nothing else is known."""

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        owner = type(self).__name__
        epsilon = check_real(self.epsilon, "epsilon", owner, low=0.0, closed="low")
        delta = check_real(self.delta, "delta", owner, low=0.0, high=1.0, closed="low")
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "delta", delta)


class LeakyRandomizedResponseEvent(ApproximateDPEvent):
    """Randomised response that with probability ``delta`` names its input (lecture 11).

    It dominates every (epsilon, delta)-DP mechanism, so exact small cases can be computed from it.
    """
