"""Prices in pure and approximate differential privacy: epsilon and delta of events, which add up."""

from __future__ import annotations

from sklearn_ada._checks import check_integer, check_real
from sklearn_ada.accounting._composed import total_price, unsupported
from sklearn_ada.accounting.composition import EpsilonDelta
from sklearn_ada.events import (
    AboveThresholdEvent,
    ApproximateDPEvent,
    CodedRelease,
    CountRelease,
    Event,
    ExponentialMechanismEvent,
    GaussianEvent,
    LaplaceEvent,
    PermuteAndFlipEvent,
    PureDPEvent,
    RandomizedResponseEvent,
    ThresholdoutEvent,
)

__all__ = ["approximate_dp_cost", "pure_dp_cost", "thresholdout_epsilon"]


def thresholdout_epsilon(scaled_epsilon: float, max_hits: int) -> float:
    """Return epsilon such that a whole Thresholdout is epsilon-DP: ``(2*max_hits + 1) * scaled_epsilon``.

    Each hit is an AboveThreshold and a Laplace release at ``scaled_epsilon``; the open run is one
    AboveThreshold more (Dwork et al., Science 2015, as a composition).

    Parameters
    ----------
    scaled_epsilon : float
        Sensitivity divided by the scale of the noise in the released value, finite and > 0.
    max_hits : int
        The number of hits allowed, at least 1.

    Returns
    -------
    float
        The price epsilon.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from sklearn_ada.accounting import thresholdout_epsilon
    >>> thresholdout_epsilon(0.5, max_hits=3)
    3.5
    """
    e = check_real(scaled_epsilon, "scaled_epsilon", "thresholdout_epsilon", low=0.0)
    return (2 * check_integer(max_hits, "max_hits", "thresholdout_epsilon") + 1) * e


def pure_dp_cost(event: Event) -> float:
    """Return epsilon such that what happened in ``event`` is epsilon-DP.

    Composed events cost the sum of their parts (Dwork, McSherry, Nissim, Smith 2006), which holds for
    adaptively chosen mechanisms and parameters.

    Parameters
    ----------
    event : Event
        What happened.

    Returns
    -------
    float
        The price epsilon, finite and at least 0.

    Raises
    ------
    UnsupportedEventError
        If no price is known: Gaussian noise, (epsilon, delta)-DP mechanisms and coded releases are not
        epsilon-DP for any epsilon. Also if the price overflows.
    ValueError
        If ``event`` is not an event.

    Examples
    --------
    >>> from sklearn_ada.accounting import pure_dp_cost
    >>> from sklearn_ada.events import LaplaceEvent, SelfComposedEvent
    >>> pure_dp_cost(SelfComposedEvent(LaplaceEvent(0.5), count=30))
    15.0
    """
    return total_price(event, lambda e: _epsilon(e, "pure_dp_cost"), "pure_dp_cost")


def approximate_dp_cost(event: Event) -> EpsilonDelta:
    """Return (epsilon, delta) such that what happened in ``event`` is (epsilon, delta)-DP.

    Basic composition: both parameters add up (Dwork, Kenthapadi, McSherry, Mironov, Naor 2006; lecture 11).

    Parameters
    ----------
    event : Event
        What happened.

    Returns
    -------
    EpsilonDelta
        The two sums; delta is at most 1.

    Raises
    ------
    UnsupportedEventError
        If no single price is known: Gaussian noise has a whole curve (see `gaussian_delta`), coded releases
        carry no noise. Also if the price overflows.
    ValueError
        If ``event`` is not an event.

    Examples
    --------
    >>> from sklearn_ada.accounting import approximate_dp_cost
    >>> from sklearn_ada.events import ApproximateDPEvent, ComposedEvent, LaplaceEvent
    >>> approximate_dp_cost(ComposedEvent((LaplaceEvent(0.25), ApproximateDPEvent(0.5, 1e-6))))
    EpsilonDelta(epsilon=0.75, delta=1e-06)
    """
    owner = "approximate_dp_cost"
    epsilon = total_price(event, lambda e: _epsilon_of_approximate(e, owner), owner)
    delta = total_price(event, lambda e: _delta_of_approximate(e, owner), owner)
    return EpsilonDelta(epsilon, min(1.0, delta))


def _epsilon(event: Event, owner: str) -> float:
    match event:
        case (
            PureDPEvent()
            | LaplaceEvent()
            | RandomizedResponseEvent()
            | ExponentialMechanismEvent()
            | PermuteAndFlipEvent()
            | AboveThresholdEvent()
        ):
            return check_real(event.epsilon, "epsilon", event.type_name, low=0.0)
        case ThresholdoutEvent():
            return thresholdout_epsilon(event.scaled_epsilon, event.max_hits)
        case GaussianEvent():
            raise unsupported(event, owner, "Gaussian noise has no largest privacy loss")
        case ApproximateDPEvent():
            raise unsupported(event, owner, "it may fail outright with probability delta")
        case CodedRelease() | CountRelease():
            raise unsupported(event, owner, "its symbols carry no noise")
        case _:
            raise unsupported(event, owner, "no theorem about it is known here")


def _epsilon_of_approximate(event: Event, owner: str) -> float:
    if isinstance(event, ApproximateDPEvent):
        return check_real(event.epsilon, "epsilon", event.type_name, low=0.0, closed="low")
    return _epsilon(event, owner)


def _delta_of_approximate(event: Event, owner: str) -> float:
    if isinstance(event, ApproximateDPEvent):
        return check_real(event.delta, "delta", event.type_name, low=0.0, high=1.0, closed="low")
    return 0.0
