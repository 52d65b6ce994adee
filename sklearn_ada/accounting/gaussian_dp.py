"""Gaussian differential privacy (GDP): how private many answers with Gaussian noise are together, exactly.

A mechanism is mu-GDP if telling two neighbours apart from its output is no easier than telling N(0, 1) from
N(mu, 1) (Dong, Roth, Su 2022). Gaussian noise of ``noise_multiplier`` s is exactly (1/s)-GDP, and k such
answers, each question chosen with the earlier answers in view, are exactly ``sqrt(sum of mu**2)``-GDP.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import erfcx, log_ndtr

from sklearn_ada._checks import check_real
from sklearn_ada.accounting._composed import total_price, unsupported
from sklearn_ada.accounting._conservative import exp_upward, smallest_epsilon
from sklearn_ada.events import Event, GaussianEvent

__all__ = [
    "GaussianPrivacyLoss",
    "gaussian_composition",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_log_delta",
    "gaussian_mu",
]


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
    >>> from sklearn_ada.events import GaussianEvent, SelfComposedEvent
    >>> gaussian_mu(SelfComposedEvent(GaussianEvent(20.0), count=100))
    0.5
    """
    return math.sqrt(total_price(event, _mu_squared, "gaussian_mu"))


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
    return math.hypot(*(check_real(m, "mus", "gaussian_composition", low=0.0, closed="low") for m in mus))


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
    mu = check_real(mu, "mu", "gaussian_delta", low=0.0, closed="low")
    epsilon = check_real(epsilon, "epsilon", "gaussian_delta", low=0.0, closed="low")
    return exp_upward(_log_delta(mu, epsilon)) if mu > 0.0 else 0.0


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
    mu = check_real(mu, "mu", "gaussian_log_delta", low=0.0, closed="low")
    epsilon = check_real(epsilon, "epsilon", "gaussian_log_delta", low=0.0, closed="low")
    return _log_delta(mu, epsilon)


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
    mu = check_real(mu, "mu", "gaussian_epsilon", low=0.0, closed="low")
    log_delta = math.log(check_real(delta, "delta", "gaussian_epsilon", low=0.0, high=1.0))
    # Mean and tail of the privacy loss N(mu**2/2, mu**2) give an epsilon that is too large.
    upper = mu * (mu / 2.0 + math.sqrt(-2.0 * log_delta))
    return smallest_epsilon(lambda e: _log_delta(mu, e) - log_delta, upper)


@dataclass(frozen=True)
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", check_real(self.mu, "mu", "GaussianPrivacyLoss", low=0.0))

    @property
    def mean(self) -> float:
        """The expected loss."""
        return 0.5 * self.mu * self.mu

    @property
    def standard_deviation(self) -> float:
        """The standard deviation of the loss."""
        return self.mu

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
        epsilon = check_real(epsilon, "epsilon", "GaussianPrivacyLoss.tail", low=0.0, closed="low")
        return exp_upward(float(log_ndtr(0.5 * self.mu - epsilon / self.mu)))


def _mu_squared(event: Event) -> float:
    if isinstance(event, GaussianEvent):
        sigma = check_real(event.noise_multiplier, "noise_multiplier", event.type_name, low=0.0)
        return 1.0 / sigma / sigma
    raise unsupported(event, "gaussian_mu", "only Gaussian noise has an exact mu")


def _log_delta(mu: float, epsilon: float) -> float:
    """Return ``ln phi(x) + ln(R(x) - R(x + mu))``, R the Mills ratio: both terms of delta share phi(x)."""
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


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)


def _log_mills_decrease(x: float, mu: float) -> float:
    """Return ``ln(R(x) - R(x + mu))`` for x >= -1, as an integral of -R' where the difference cancels."""
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
