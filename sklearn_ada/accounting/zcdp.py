"""Zero-concentrated differential privacy (zCDP): the price rho of an answer, where prices add up.

A mechanism is rho-zCDP if for all neighbours and all orders ``a > 1`` the Renyi divergence of order a
between its two output laws is at most ``a * rho`` (Bun, Steinke 2016, Definition 1.1). Prices add up, also
when each mechanism and its price are chosen with the earlier outputs in view (Lemma 1.7; see
`sklearn_ada.accounting.ZCDPFilter`).

The constants for epsilon-DP, Laplace, exponential mechanism and Gaussian are *exact*: the limit ``a -> 1``
makes the Kullback-Leibler divergence KL of the worst pair a lower bound, and it is also the upper bound. For
randomised response and Laplace noise, with ``a = s + 1/2``: the moment generating function of the loss at
``a - 1`` is, up to a constant factor, ``cosh(s*epsilon)`` and ``cosh(s*epsilon) + sinh(s*epsilon)/(2*s)``. As
functions of ``w = s**2`` both are entire of order 1/2 with real negative zeros only, so by Hadamard's product
their logarithm is concave in w and lies below its tangent at ``w = 1/4``: ``(w - 1/4)*KL = a*(a-1)*KL``.
"""

from __future__ import annotations

import math

from scipy.special import hyp1f1, hyp2f1

from sklearn_ada._checks import check_integer, check_real
from sklearn_ada.accounting._composed import total_price, unsupported
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

__all__ = [
    "exponential_mechanism_zcdp",
    "gaussian_zcdp",
    "laplace_zcdp",
    "pure_dp_zcdp",
    "thresholdout_zcdp",
    "zcdp_cost",
]


def pure_dp_zcdp(epsilon: float) -> float:
    """Return rho such that every epsilon-DP mechanism is rho-zCDP: ``epsilon * tanh(epsilon/2)``.

    No smaller rho holds for all of them: randomised response attains it. It is below the ``epsilon**2/2``
    of Bun, Steinke 2016, Proposition 1.4.

    Parameters
    ----------
    epsilon : float
        The privacy parameter, finite and > 0.

    Returns
    -------
    float
        The price rho.

    Raises
    ------
    ValueError
        If ``epsilon`` is NaN, infinite, zero or negative.

    Notes
    -----
    Every epsilon-DP pair of laws is a post-processing of randomised response (Kairouz, Oh, Viswanath 2015,
    Theorem 2.5), whose Kullback-Leibler divergence is this rho; the module docstring says why no order
    needs more.

    Examples
    --------
    >>> from sklearn_ada.accounting import pure_dp_zcdp
    >>> round(pure_dp_zcdp(1.0), 6)
    0.462117
    """
    epsilon = check_real(epsilon, "epsilon", "pure_dp_zcdp", low=0.0)
    return epsilon * math.tanh(epsilon / 2.0)


def laplace_zcdp(epsilon: float) -> float:
    """Return the exact zCDP price of Laplace noise of scale ``sensitivity / epsilon``.

    It is ``epsilon + exp(-epsilon) - 1`` (Harrison, Manurangsi, *Exact zCDP characterizations for
    fundamental differentially private mechanisms*), for one released number.

    Parameters
    ----------
    epsilon : float
        Sensitivity divided by the scale of the noise, finite and > 0.

    Returns
    -------
    float
        The price rho.

    Raises
    ------
    ValueError
        If ``epsilon`` is NaN, infinite, zero or negative.

    Examples
    --------
    >>> from sklearn_ada.accounting import laplace_zcdp
    >>> round(laplace_zcdp(1.0), 6)
    0.367879
    """
    return _laplace(check_real(epsilon, "epsilon", "laplace_zcdp", low=0.0))


def exponential_mechanism_zcdp(epsilon: float) -> float:
    """Return the exact zCDP price of the exponential mechanism, and of every epsilon-bounded-range mechanism.

    It is ``u - 1 - ln(u)`` with ``u = epsilon / (1 - exp(-epsilon))``, at most ``epsilon**2/8``: a quarter of
    the price of a mechanism of which only epsilon-DP is known.

    Parameters
    ----------
    epsilon : float
        The parameter of the weights ``exp(epsilon * score / (2 * sensitivity))``, finite and > 0.

    Returns
    -------
    float
        The price rho.

    Raises
    ------
    ValueError
        If ``epsilon`` is NaN, infinite, zero or negative.

    Notes
    -----
    Bounded range: the privacy loss takes values in an interval of length epsilon (Dong, Durfee, Rogers 2020).
    The divergence of a given order is largest for a two-point law with losses exactly epsilon apart, which
    the mechanism attains when the scores of one set of candidates rise by the sensitivity and all others
    fall by it. Over the position of the two points the largest Kullback-Leibler divergence is the stated rho
    (Cesar, Rogers 2021, Lemma 3.4), and orders above 1 need no more (Harrison, Manurangsi).

    Examples
    --------
    >>> from sklearn_ada.accounting import exponential_mechanism_zcdp
    >>> round(exponential_mechanism_zcdp(1.0), 6)
    0.123302
    """
    epsilon = check_real(epsilon, "epsilon", "exponential_mechanism_zcdp", low=0.0)
    v = _laplace(epsilon) / -math.expm1(-epsilon)  # u - 1, without cancellation
    if v > 0.5:
        return v - math.log1p(v)
    # The power series of v - log1p(v), which would cancel.
    return 0.5 * v * v * float(hyp2f1(1.0, 2.0, 3.0, -v))


def gaussian_zcdp(noise_multiplier: float) -> float:
    """Return the exact zCDP price of Gaussian noise: ``1 / (2 * noise_multiplier**2)``.

    Bun, Steinke 2016, Proposition 1.6.

    Parameters
    ----------
    noise_multiplier : float
        Standard deviation divided by the (Euclidean) sensitivity, finite and > 0.

    Returns
    -------
    float
        The price rho.

    Raises
    ------
    ValueError
        If ``noise_multiplier`` is NaN, infinite, zero or negative.

    Examples
    --------
    >>> from sklearn_ada.accounting import gaussian_zcdp
    >>> gaussian_zcdp(10.0)
    0.005
    """
    sigma = check_real(noise_multiplier, "noise_multiplier", "gaussian_zcdp", low=0.0)
    return 0.5 / sigma / sigma  # sigma**2 could underflow to a division by zero


def thresholdout_zcdp(scaled_epsilon: float, max_hits: int) -> float:
    """Return the zCDP price of a whole Thresholdout, its last and open run included.

    Each hit is one AboveThreshold at ``e = scaled_epsilon`` and one Laplace release at e; the open run is
    one more AboveThreshold, charged because its threshold noise has been drawn (Dwork et al., Science 2015,
    as a composition): ``max_hits * (e*tanh(e/2) + e + exp(-e) - 1) + e*tanh(e/2)``.

    Parameters
    ----------
    scaled_epsilon : float
        Sensitivity divided by the scale of the noise in the released value, finite and > 0.
    max_hits : int
        The number of hits allowed, at least 1.

    Returns
    -------
    float
        The price rho. It is an upper bound: AboveThreshold is priced as nothing more than e-DP.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from sklearn_ada.accounting import thresholdout_zcdp
    >>> round(thresholdout_zcdp(0.1, max_hits=5), 6)
    0.054162
    """
    e = check_real(scaled_epsilon, "scaled_epsilon", "thresholdout_zcdp", low=0.0)
    hits = check_integer(max_hits, "max_hits", "thresholdout_zcdp")
    return hits * (pure_dp_zcdp(e) + _laplace(e)) + pure_dp_zcdp(e)


def zcdp_cost(event: Event) -> float:
    """Return rho such that what happened in ``event`` is rho-zCDP.

    Composed events cost the sum of their parts, in whatever order and however adaptively they were chosen
    (Bun, Steinke 2016, Lemma 1.7). Released symbols are a post-processing and change nothing.

    Parameters
    ----------
    event : Event
        What happened.

    Returns
    -------
    float
        The price rho, finite and at least 0.

    Raises
    ------
    UnsupportedEventError
        If no price is known: coded releases have no noise, and an (epsilon, delta)-DP mechanism may fail
        with probability delta, which no finite rho allows. Also if the price overflows.
    ValueError
        If ``event`` is not an event.

    Examples
    --------
    >>> from sklearn_ada.accounting import zcdp_cost
    >>> from sklearn_ada.events import ComposedEvent, GaussianEvent, LaplaceEvent
    >>> round(zcdp_cost(ComposedEvent((GaussianEvent(10.0), LaplaceEvent(0.1)))), 6)
    0.009837
    """
    return total_price(event, _price, "zcdp_cost")


def _laplace(epsilon: float) -> float:
    """Return ``epsilon + exp(-epsilon) - 1``, by its power series where the sum would cancel."""
    if epsilon > 1.0:
        return epsilon + math.expm1(-epsilon)
    return 0.5 * epsilon * epsilon * float(hyp1f1(1.0, 3.0, -epsilon))


def _price(event: Event) -> float:
    match event:
        # Permute-and-flip is no bounded-range mechanism: on two candidates its loss is (epsilon,
        # -ln(2 - exp(-epsilon))), so for small epsilon it costs what randomised response costs.
        # AboveThreshold costs its epsilon once its noise is drawn, even if nothing was above.
        case PureDPEvent() | RandomizedResponseEvent() | PermuteAndFlipEvent() | AboveThresholdEvent():
            return pure_dp_zcdp(event.epsilon)
        case LaplaceEvent():
            return laplace_zcdp(event.epsilon)
        case ExponentialMechanismEvent():
            return exponential_mechanism_zcdp(event.epsilon)
        case GaussianEvent():
            return gaussian_zcdp(event.noise_multiplier)
        case ThresholdoutEvent():
            return thresholdout_zcdp(event.scaled_epsilon, event.max_hits)
        case ApproximateDPEvent():
            raise unsupported(event, "zcdp_cost", "it may fail outright with probability delta")
        case CodedRelease() | CountRelease():
            raise unsupported(event, "zcdp_cost", "its symbols carry no noise")
        case _:
            raise unsupported(event, "zcdp_cost", "no theorem about it is known here")
