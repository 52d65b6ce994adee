"""From a price rho in zCDP to (epsilon, delta)-differential privacy and back: optimal and simple."""

from __future__ import annotations

import math
from collections.abc import Callable

from sklearn_ada._checks import check_real
from sklearn_ada._solving import enclosed_root
from sklearn_ada.accounting._conservative import exp_upward

__all__ = ["zcdp_delta", "zcdp_delta_simple", "zcdp_epsilon", "zcdp_epsilon_simple"]


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
    rho = check_real(rho, "rho", "zcdp_delta", low=0.0, closed="low")
    epsilon = check_real(epsilon, "epsilon", "zcdp_delta", low=0.0, closed="low")
    if rho == 0.0:
        return 0.0
    t = _solve_order(lambda t, log_t: (2.0 * t + 1.0) * rho - epsilon - _log1p_inverse(log_t))
    log_delta = t * ((t + 1.0) * rho - epsilon - _log1p_inverse(math.log(t))) - math.log1p(t)
    return exp_upward(log_delta)


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
    rho = check_real(rho, "rho", "zcdp_epsilon", low=0.0, closed="low")
    delta = check_real(delta, "delta", "zcdp_epsilon", low=0.0, high=1.0)
    if rho == 0.0:
        return 0.0
    nats = -math.log(delta)
    t = _solve_order(lambda t, _: t * (t * rho) + math.log1p(t) - nats)
    return max(0.0, (t + 1.0) * rho + (nats - math.log1p(t)) / t - _log1p_inverse(math.log(t)))


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
    rho = check_real(rho, "rho", "zcdp_delta_simple", low=0.0, closed="low")
    epsilon = check_real(epsilon, "epsilon", "zcdp_delta_simple", low=0.0, closed="low")
    if rho == 0.0:
        return 0.0
    excess = max(0.0, epsilon - rho)
    return exp_upward(-excess * (excess / (4.0 * rho)))


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
    rho = check_real(rho, "rho", "zcdp_epsilon_simple", low=0.0, closed="low")
    delta = check_real(delta, "delta", "zcdp_epsilon_simple", low=0.0, high=1.0)
    return rho + 2.0 * math.sqrt(rho) * math.sqrt(-math.log(delta))


def _solve_order(increasing: Callable[[float, float], float]) -> float:
    """Return t > 0 where ``increasing(t, ln t)`` changes sign, or the nearer end of the range tried."""
    return math.exp(enclosed_root(lambda log_t: increasing(math.exp(log_t), log_t), -700.0, 700.0)[0])


def _log1p_inverse(log_t: float) -> float:
    """Return ``ln(1 + 1/t)``."""
    return math.log1p(math.exp(-log_t)) if log_t > 0.0 else math.log1p(math.exp(log_t)) - log_t
