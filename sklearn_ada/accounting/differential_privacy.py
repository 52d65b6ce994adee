"""Prices of events in differential privacy: pure and approximate, zero-concentrated (zCDP), Gaussian (GDP).

Pure and approximate differential privacy: epsilon and delta of events add up.

*Zero-concentrated differential privacy.* A mechanism is rho-zCDP if for all neighbours and all orders
``a > 1`` the Renyi divergence of order a between its two output laws is at most ``a * rho`` (Bun, Steinke
2016, Definition 1.1). Prices add up, also when each mechanism and its price are chosen with the earlier
outputs in view (Lemma 1.7; see `sklearn_ada.accounting.ZCDPFilter`).

The constants for epsilon-DP, Laplace, exponential mechanism and Gaussian are *exact*: the limit ``a -> 1``
makes the Kullback-Leibler divergence KL of the worst pair a lower bound, and it is also the upper bound. For
randomised response and Laplace noise, with ``a = s + 1/2``: the moment generating function of the loss at
``a - 1`` is, up to a constant factor, ``cosh(s*epsilon)`` and ``cosh(s*epsilon) + sinh(s*epsilon)/(2*s)``. As
functions of ``w = s**2`` both are entire of order 1/2 with real negative zeros only, so by Hadamard's product
their logarithm is concave in w and lies below its tangent at ``w = 1/4``: ``(w - 1/4)*KL = a*(a-1)*KL``.

A price rho is turned into (epsilon, delta) and back by an optimal and by a simple conversion.

*Gaussian differential privacy.* A mechanism is mu-GDP if two neighbours are no easier to distinguish by its
output than N(0, 1) and N(mu, 1) (Dong, Roth, Su 2022). Gaussian noise of ``noise_multiplier`` s is exactly
(1/s)-GDP, and k such answers, each question chosen with the earlier answers in view, are exactly
``sqrt(sum of mu**2)``-GDP.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import erfcx, hyp1f1, hyp2f1, log_ndtr

from sklearn_ada._solving import enclosed_root
from sklearn_ada._validation import bad_parameter, check_real, checked, checked_fields, plain
from sklearn_ada.accounting import events
from sklearn_ada.accounting.composition import EpsilonDelta, exp_upward, smallest_epsilon
from sklearn_ada.accounting.events import Event
from sklearn_ada.exceptions import UnsupportedEventError

__all__ = [
    "GaussianPrivacyLoss", "approximate_dp_cost", "exponential_epsilon", "exponential_mechanism_zcdp",
    "gaussian_composition", "gaussian_delta", "gaussian_epsilon", "gaussian_log_delta", "gaussian_mu",
    "gaussian_zcdp", "laplace_zcdp", "pure_dp_cost", "pure_dp_zcdp", "thresholdout_epsilon",
    "thresholdout_scale", "thresholdout_zcdp", "zcdp_cost", "zcdp_delta", "zcdp_delta_simple", "zcdp_epsilon",
    "zcdp_epsilon_simple",
]  # fmt: skip


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
        If it has no price: Gaussian noise, (epsilon, delta)-DP mechanisms and coded releases are not
        epsilon-DP for any epsilon. Also if the price overflows.
    ValueError
        If ``event`` is not an event.

    Examples
    --------
    >>> from sklearn_ada.accounting import pure_dp_cost
    >>> from sklearn_ada.accounting.events import LaplaceEvent, SelfComposedEvent
    >>> pure_dp_cost(SelfComposedEvent(LaplaceEvent(0.5), count=30))
    15.0
    """
    return _total_price(event, lambda e: _epsilon(e, "pure_dp_cost"), "pure_dp_cost")


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
        If it has no single price: Gaussian noise has a whole curve (see `gaussian_delta`), coded releases
        carry no noise. Also if the price overflows.
    ValueError
        If ``event`` is not an event.

    Examples
    --------
    >>> from sklearn_ada.accounting import approximate_dp_cost
    >>> from sklearn_ada.accounting.events import ApproximateDPEvent, ComposedEvent, LaplaceEvent
    >>> approximate_dp_cost(ComposedEvent((LaplaceEvent(0.25), ApproximateDPEvent(0.5, 1e-6))))
    EpsilonDelta(epsilon=0.75, delta=1e-06)
    """
    owner = "approximate_dp_cost"

    def epsilon_of(part: Event) -> float:
        if isinstance(part, events.ApproximateDPEvent):
            return check_real(part.epsilon, "epsilon", part.type_name, low=0.0, closed="low")
        return _epsilon(part, owner)

    def delta_of(part: Event) -> float:
        if isinstance(part, events.ApproximateDPEvent):
            return check_real(part.delta, "delta", part.type_name, low=0.0, high=1.0, closed="low")
        return 0.0

    epsilon, delta = _total_price(event, epsilon_of, owner), _total_price(event, delta_of, owner)
    return EpsilonDelta(epsilon, min(1.0, delta))


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
        If it has no price: coded releases have no noise, and an (epsilon, delta)-DP mechanism may fail with
        probability delta, which no finite rho allows. Also if the price overflows.
    ValueError
        If ``event`` is not an event.

    Examples
    --------
    >>> from sklearn_ada.accounting import zcdp_cost
    >>> from sklearn_ada.accounting.events import ComposedEvent, GaussianEvent, LaplaceEvent
    >>> round(zcdp_cost(ComposedEvent((GaussianEvent(10.0), LaplaceEvent(0.1)))), 6)
    0.009837
    """
    return _total_price(event, _rho, "zcdp_cost")


def gaussian_mu(event: Event) -> float:
    """Return mu such that what happened in ``event`` is exactly mu-GDP.

    Dong, Roth, Su 2022, Theorem 2.7 (one Gaussian answer: ``1 / noise_multiplier``) and Corollary 3.3
    (composition: the root of the sum of squares).

    Parameters
    ----------
    event : Event
        Gaussian events and compositions of them.

    Returns
    -------
    float
        The parameter mu, finite and at least 0.

    Raises
    ------
    UnsupportedEventError
        If anything but Gaussian noise happened, or mu overflows.
    ValueError
        If ``event`` is not an event.

    Examples
    --------
    >>> from sklearn_ada.accounting import gaussian_mu
    >>> from sklearn_ada.accounting.events import GaussianEvent, SelfComposedEvent
    >>> gaussian_mu(SelfComposedEvent(GaussianEvent(20.0), count=100))
    0.5
    """
    return math.sqrt(_total_price(event, _mu_squared, "gaussian_mu"))


def _epsilon(event: Event, owner: str) -> float:
    match event:
        case events.WithEpsilon():
            return check_real(event.epsilon, "epsilon", event.type_name, low=0.0)
        case events.ThresholdoutEvent():
            return thresholdout_epsilon(event.scaled_epsilon, event.max_hits)
        case events.GaussianEvent():
            raise _unsupported(event, owner, "Gaussian noise has no largest privacy loss")
        case _:
            raise _unsupported(event, owner)


def _rho(event: Event) -> float:
    match event:
        case events.LaplaceEvent():
            return laplace_zcdp(event.epsilon)
        case events.ExponentialMechanismEvent():
            return exponential_mechanism_zcdp(event.epsilon)
        # Permute-and-flip is no bounded-range mechanism: on two candidates its loss is (epsilon,
        # -ln(2 - exp(-epsilon))), so for small epsilon it costs what randomised response costs.
        # AboveThreshold costs its epsilon once its noise is drawn, even if nothing was above.
        case events.WithEpsilon():
            return pure_dp_zcdp(event.epsilon)
        case events.GaussianEvent():
            return gaussian_zcdp(event.noise_multiplier)
        case events.ThresholdoutEvent():
            return thresholdout_zcdp(event.scaled_epsilon, event.max_hits)
        case _:
            raise _unsupported(event, "zcdp_cost")


def _mu_squared(event: Event) -> float:
    if isinstance(event, events.GaussianEvent):
        sigma = check_real(event.noise_multiplier, "noise_multiplier", event.type_name, low=0.0)
        return 1.0 / sigma / sigma
    raise _unsupported(event, "gaussian_mu", "only Gaussian noise has an exact mu")


def _total_price(event: Event, price: Callable[[Event], float], owner: str) -> float:
    """Return the sum of ``price`` over the events that ``event`` is composed of.

    ``fsum`` and the product are both correctly rounded, so n copies of an event cost exactly what the
    event composed with itself n times costs. A price that is not finite is no price.
    """
    if not isinstance(event, Event):
        raise bad_parameter("event", owner, "an event", event)
    try:
        match event:
            case events.ComposedEvent(events=parts):
                cost = math.fsum(_total_price(part, price, owner) for part in parts)
            case events.SelfComposedEvent(event=repeated, count=count):
                cost = count * _total_price(repeated, price, owner)
            case events.CoveredRelease():
                cost = 0.0  # an event recorded earlier has paid for it
            case _:
                cost = price(event)
    except OverflowError:
        cost = math.inf
    if not math.isfinite(cost):
        raise UnsupportedEventError(f"{owner}: the price of this {event.type_name} is too large.")
    return cost


def _unsupported(event: Event, owner: str, why: str = "") -> UnsupportedEventError:
    """Return the error that says that an event has no price in this currency."""
    if not why and isinstance(event, events.ApproximateDPEvent):
        why = "it may fail outright with probability delta"
    elif not why and isinstance(event, events.CodedRelease | events.CountRelease):
        why = "its symbols carry no noise"
    reason = why or "no theorem about it is known here"
    return UnsupportedEventError(f"{owner} has no price for {event.type_name}: {reason}.")


@checked(scaled_epsilon="> 0", max_hits="count")
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
    return (2 * max_hits + 1) * scaled_epsilon


@checked(epsilon="> 0")
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
    return epsilon * math.tanh(epsilon / 2.0)


@checked(epsilon="> 0")
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
    if epsilon > 1.0:
        return epsilon + math.expm1(-epsilon)
    return 0.5 * epsilon * epsilon * float(hyp1f1(1.0, 3.0, -epsilon))  # the sum's power series


_laplace = plain(laplace_zcdp)


@checked(epsilon="> 0")
def exponential_mechanism_zcdp(epsilon: float) -> float:
    """Return the exact zCDP price of the exponential mechanism, and of every epsilon-bounded-range mechanism.

    It is ``u - 1 - ln(u)`` with ``u = epsilon / (1 - exp(-epsilon))``, at most ``epsilon**2/8``: a quarter of
    what a mechanism costs of which only epsilon-DP is assumed.

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
    v = _laplace(epsilon) / -math.expm1(-epsilon)  # u - 1, without cancellation
    if v > 0.5:
        return v - math.log1p(v)
    # The power series of v - log1p(v), which would cancel.
    return 0.5 * v * v * float(hyp2f1(1.0, 2.0, 3.0, -v))


@checked(noise_multiplier="> 0")
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
    return 0.5 / noise_multiplier / noise_multiplier  # its square could underflow to a division by zero


@checked(scaled_epsilon="> 0", max_hits="count")
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
    run = pure_dp_zcdp(scaled_epsilon)
    return max_hits * (run + _laplace(scaled_epsilon)) + run


@checked(rho="> 0")
def exponential_epsilon(rho: float) -> float:
    """Return the parameter with which the exponential mechanism is exactly rho-zCDP.

    Parameters
    ----------
    rho : float
        zCDP cost, positive.

    Returns
    -------
    float
        Its epsilon.

    Examples
    --------
    >>> round(exponential_mechanism_zcdp(exponential_epsilon(0.01)), 12)
    0.01
    """
    # Between sqrt(8 rho), where eps^2/8 is exact, and a value that is certainly too large.
    high = math.sqrt(8.0 * rho) + rho + 2.0
    while exponential_mechanism_zcdp(high) < rho:
        high *= 2.0
    low = 0.5 * math.sqrt(8.0 * rho)
    return enclosed_root(lambda epsilon: exponential_mechanism_zcdp(epsilon) / rho - 1.0, low, high)[0]


def laplace_epsilon(rho: float) -> float:
    """Return the epsilon at which Laplace noise costs rho (rounded down)."""
    # laplace_zcdp(e) >= e - 1 and, for e <= 1, >= e^2/3
    high = max(math.sqrt(3.0 * rho), rho + 1.0) if rho > 1.0 / 3.0 else math.sqrt(3.0 * rho)
    return enclosed_root(lambda e: laplace_zcdp(e) - rho, high * 1e-3, high)[0]


@checked(rho="> 0", sensitivity="> 0", max_hits="count")
def thresholdout_scale(rho: float, sensitivity: float, max_hits: int) -> float:
    """Return the scale s of Laplace noise with which a Thresholdout costs at most rho.

    Parameters
    ----------
    rho : float
        zCDP cost allowed, positive.
    sensitivity : float
        How far one row can move a value, positive.
    max_hits : int
        At least 1.

    Returns
    -------
    float
        Scale of the noise in a released value.

    Examples
    --------
    >>> scale = thresholdout_scale(0.01, 1e-4, 20)
    >>> thresholdout_zcdp(1e-4 / scale, 20) <= 0.01
    True
    """
    ln_cost = enclosed_root(lambda x: math.log(thresholdout_zcdp(math.exp(x), max_hits) / rho), -60.0, 5.0)[0]
    return sensitivity / math.exp(ln_cost) * (1.0 + 1e-9)


@checked(rho=">= 0", epsilon=">= 0")
def zcdp_delta(rho: float, epsilon: float) -> float:
    """Return delta such that every rho-zCDP mechanism is (epsilon, delta)-DP, by the optimal conversion.

    Canonne, Kamath, Steinke 2020, Corollary 13:
    ``ln delta = min over a > 1 of (a-1)*(a*rho - epsilon) + a*ln(1 - 1/a) - ln(a-1)``.
    The bound holds for every order a, so an inexact minimum is still a guarantee.

    Parameters
    ----------
    rho : float
        The zCDP parameter, finite and >= 0.
    epsilon : float
        The privacy parameter wanted, finite and >= 0.

    Returns
    -------
    float
        The delta, rounded up; 0 only for ``rho = 0``.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from sklearn_ada.accounting import zcdp_delta
    >>> round(zcdp_delta(0.1, 1.0), 6)
    0.008933
    """
    if rho == 0.0:
        return 0.0
    t = _solve_order(lambda t, log_t: (2.0 * t + 1.0) * rho - epsilon - _log1p_inverse(log_t))
    return exp_upward(t * ((t + 1.0) * rho - epsilon - _log1p_inverse(math.log(t))) - math.log1p(t))


@checked(rho=">= 0", delta="(0, 1)")
def zcdp_epsilon(rho: float, delta: float) -> float:
    """Return epsilon such that every rho-zCDP mechanism is (epsilon, delta)-DP, by the optimal conversion.

    The inverse of `zcdp_delta` (Canonne, Kamath, Steinke 2020, Corollary 13).

    Parameters
    ----------
    rho : float
        The zCDP parameter, finite and >= 0.
    delta : float
        The failure probability allowed, in (0, 1).

    Returns
    -------
    float
        The epsilon, at least 0.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Notes
    -----
    With ``t = a - 1``, setting the derivative of the exponent to zero gives
    ``epsilon = (2t + 1)*rho - ln(1 + 1/t)``, and the minimum there is ``ln delta = -(t**2*rho + ln(1 + t))``:
    the second equation is solved for t, then epsilon is the value that the bound of order ``1 + t`` gives,
    which is valid for any t.

    Examples
    --------
    >>> from sklearn_ada.accounting import zcdp_epsilon
    >>> round(zcdp_epsilon(0.1, 1e-6), 6)
    2.141939
    """
    if rho == 0.0:
        return 0.0
    nats = -math.log(delta)
    t = _solve_order(lambda t, _: t * (t * rho) + math.log1p(t) - nats)
    return max(0.0, (t + 1.0) * rho + (nats - math.log1p(t)) / t - _log1p_inverse(math.log(t)))


@checked(rho=">= 0", epsilon=">= 0")
def zcdp_delta_simple(rho: float, epsilon: float) -> float:
    """Return delta such that every rho-zCDP mechanism is (epsilon, delta)-DP, by the simple conversion.

    Bun, Steinke 2016, Proposition 1.3: ``exp(-(epsilon - rho)**2 / (4*rho))`` for epsilon above rho, else 1.
    `zcdp_delta` is never worse; this one is for comparison with published figures.

    Parameters
    ----------
    rho : float
        The zCDP parameter, finite and >= 0.
    epsilon : float
        The privacy parameter wanted, finite and >= 0.

    Returns
    -------
    float
        The delta, rounded up; 0 only for ``rho = 0``.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from sklearn_ada.accounting import zcdp_delta_simple
    >>> round(zcdp_delta_simple(0.1, 1.0), 6)
    0.131994
    """
    if rho == 0.0:
        return 0.0
    excess = max(0.0, epsilon - rho)
    return exp_upward(-excess * (excess / (4.0 * rho)))


@checked(rho=">= 0", delta="(0, 1)")
def zcdp_epsilon_simple(rho: float, delta: float) -> float:
    """Return epsilon such that every rho-zCDP mechanism is (epsilon, delta)-DP, by the simple conversion.

    Bun, Steinke 2016, Proposition 1.3: ``rho + 2*sqrt(rho*ln(1/delta))``. `zcdp_epsilon` is never worse;
    this one is for comparison with published figures.

    Parameters
    ----------
    rho : float
        The zCDP parameter, finite and >= 0.
    delta : float
        The failure probability allowed, in (0, 1).

    Returns
    -------
    float
        The epsilon.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from sklearn_ada.accounting import zcdp_epsilon_simple
    >>> round(zcdp_epsilon_simple(0.1, 1e-6), 6)
    2.450788
    """
    return rho + 2.0 * math.sqrt(rho) * math.sqrt(-math.log(delta))


def _solve_order(increasing: Callable[[float, float], float]) -> float:
    """Return t > 0 where ``increasing(t, ln t)`` changes sign.

    Without a change of sign, return the nearer end of the range tried.
    """
    return math.exp(enclosed_root(lambda log_t: increasing(math.exp(log_t), log_t), -700.0, 700.0)[0])


def _log1p_inverse(log_t: float) -> float:
    """Return ``ln(1 + 1/t)``."""
    return math.log1p(math.exp(-log_t)) if log_t > 0.0 else math.log1p(math.exp(log_t)) - log_t


@checked(mus="each >= 0")
def gaussian_composition(mus: Sequence[float]) -> float:
    """Return ``sqrt(sum of mu**2)``: mechanisms that are mu_i-GDP are together GDP with this parameter.

    Dong, Roth, Su 2022, Corollary 3.3. Parameters chosen on the way are allowed as long as the sum of their
    squares stays below a bound fixed in advance, which then takes its place (Smith, Thakurta 2022).

    Parameters
    ----------
    mus : sequence of float
        The parameters, finite and >= 0; an empty composition has mu = 0.

    Returns
    -------
    float
        The parameter of all together.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from sklearn_ada.accounting import gaussian_composition
    >>> gaussian_composition([3.0, 4.0])
    5.0
    """
    return math.hypot(*mus)


@checked(mu=">= 0", epsilon=">= 0")
def gaussian_delta(mu: float, epsilon: float) -> float:
    """Return the smallest delta at which Gaussian noise of parameter mu is (epsilon, delta)-DP.

    ``Phi(-epsilon/mu + mu/2) - exp(epsilon) * Phi(-epsilon/mu - mu/2)``: Balle, Wang 2018, Theorem 8; Dong,
    Roth, Su 2022, Corollary 2.13. It bounds delta for every mu-GDP mechanism.

    Parameters
    ----------
    mu : float
        The GDP parameter, finite and >= 0.
    epsilon : float
        The privacy parameter wanted, finite and >= 0.

    Returns
    -------
    float
        The delta, rounded up; 0 only for ``mu = 0``. Where it would underflow see `gaussian_log_delta`.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from sklearn_ada.accounting import gaussian_delta
    >>> round(gaussian_delta(1.0, 1.0), 6)
    0.126937
    """
    return exp_upward(_log_delta(mu, epsilon)) if mu > 0.0 else 0.0


@checked(mu=">= 0", epsilon=">= 0")
def gaussian_log_delta(mu: float, epsilon: float) -> float:
    """Return the logarithm of `gaussian_delta`, accurate where delta itself underflows or cancels.

    Parameters
    ----------
    mu : float
        The GDP parameter, finite and >= 0.
    epsilon : float
        The privacy parameter wanted, finite and >= 0.

    Returns
    -------
    float
        ``ln delta``, at most 0; minus infinity only for ``mu = 0``.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from sklearn_ada.accounting import gaussian_log_delta
    >>> round(gaussian_log_delta(0.01, 1.0), 3)
    -5014.235
    """
    # ln phi(x) + ln(R(x) - R(x + mu)), R the Mills ratio: both terms of delta have the factor phi(x)
    if mu == 0.0:
        return -math.inf
    x = epsilon / mu - mu / 2.0
    if x < -1.0:  # then mu > 2, and the two terms of delta are far apart
        log_first = float(log_ndtr(-x))
        log_second = epsilon + float(log_ndtr(-x - mu))
        return min(0.0, log_first + math.log(-math.expm1(log_second - log_first)))
    if x > 1e150:  # x**2 would overflow
        return -sys.float_info.max
    return -0.5 * x * x - 0.5 * math.log(2.0 * math.pi) + _log_mills_decrease(x, mu)


_log_delta = plain(gaussian_log_delta)


@checked(mu=">= 0", delta="(0, 1)")
def gaussian_epsilon(mu: float, delta: float) -> float:
    """Return the smallest epsilon at which Gaussian noise of parameter mu is (epsilon, delta)-DP.

    The inverse of `gaussian_delta`, at the end of the root search where the guarantee holds.

    Parameters
    ----------
    mu : float
        The GDP parameter, finite and >= 0.
    delta : float
        The failure probability allowed, in (0, 1).

    Returns
    -------
    float
        The epsilon, at least 0.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from sklearn_ada.accounting import gaussian_epsilon
    >>> round(gaussian_epsilon(1.0, 1e-6), 6)
    4.886554
    """
    log_delta = math.log(delta)
    # Mean and tail of the privacy loss N(mu**2/2, mu**2) give an epsilon that is too large.
    upper = mu * (mu / 2.0 + math.sqrt(-2.0 * log_delta))
    return smallest_epsilon(lambda e: _log_delta(mu, e) - log_delta, upper)


@dataclass(frozen=True)
@checked_fields(mu="> 0")
class GaussianPrivacyLoss:
    """The privacy loss of Gaussian noise: normal with mean ``mu**2/2`` and standard deviation ``mu``.

    Lecture 11, with ``mu = sensitivity / sigma``. Its privacy curve is `gaussian_delta`.

    Parameters
    ----------
    mu : float
        The parameter of Gaussian differential privacy, finite and > 0.

    Raises
    ------
    ValueError
        If ``mu`` is out of range.

    Examples
    --------
    >>> from sklearn_ada.accounting import GaussianPrivacyLoss
    >>> loss = GaussianPrivacyLoss(0.5)
    >>> loss.mean, loss.standard_deviation
    (0.125, 0.5)
    """

    mu: float

    @property
    def mean(self) -> float:
        """The expected loss."""
        return 0.5 * self.mu * self.mu

    @property
    def standard_deviation(self) -> float:
        """The standard deviation of the loss."""
        return self.mu

    @checked(epsilon=">= 0")
    def tail(self, epsilon: float) -> float:
        """Return the probability that the loss exceeds ``epsilon``, rounded up.

        Parameters
        ----------
        epsilon : float
            Finite and >= 0.

        Returns
        -------
        float
            The probability.

        Raises
        ------
        ValueError
            If ``epsilon`` is out of range.
        """
        return exp_upward(float(log_ndtr(0.5 * self.mu - epsilon / self.mu)))


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)


def _log_mills_decrease(x: float, mu: float) -> float:
    """Return ``ln(R(x) - R(x + mu))`` for x >= -1.

    Where the difference cancels, it is an integral of -R'.
    """
    if mu >= max(1.0, x):
        return math.log(_mills(x) - _mills(x + mu))
    t = x + 0.5 * mu * (1.0 + _NODES)
    # -R'(t) = 1 - t*R(t), and its asymptotic series where that cancels.
    s = np.maximum(t, 100.0) ** -2.0
    series = s * (1.0 - 3.0 * s + 15.0 * s**2 - 105.0 * s**3)
    slope = np.where(t > 100.0, series, 1.0 - t * math.sqrt(math.pi / 2.0) * erfcx(t / math.sqrt(2.0)))
    return math.log(mu) + math.log(0.5 * float(_WEIGHTS @ slope))


def _mills(x: float) -> float:
    """Return ``(1 - Phi(x)) / phi(x)``."""
    return math.sqrt(math.pi / 2.0) * float(erfcx(x / math.sqrt(2.0)))
