"""Optimal composition: exactly how private k equally (epsilon, delta)-private answers are together.

The guarantee is exact: k leaky randomised responses attain it, and every k-fold adaptive composition of
(epsilon, delta)-DP mechanisms is a post-processing of them (Kairouz, Oh, Viswanath 2015, Theorem 3.3).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln, logsumexp

from sklearn_ada._checks import bad_parameter, check_integer, check_real
from sklearn_ada.accounting._conservative import exp_upward, smallest_epsilon

__all__ = ["optimal_composition_delta", "optimal_composition_epsilon"]


def optimal_composition_delta(composed_epsilon: float, k: int, epsilon: float, delta: float = 0.0) -> float:
    """Return the smallest delta at which k (epsilon, delta)-DP mechanisms are (composed_epsilon, delta)-DP.

    Kairouz, Oh, Viswanath 2015, Theorem 3.3, for any real ``composed_epsilon``. A sum of k + 1 positive
    terms in log space, so nothing cancels for k in the thousands.

    Parameters
    ----------
    composed_epsilon : float
        The epsilon of all together, finite and >= 0.
    k : int
        The number of mechanisms, at least 1.
    epsilon : float
        The privacy parameter of each, finite and >= 0.
    delta : float, default=0.0
        The failure probability of each, in [0, 1).

    Returns
    -------
    float
        The delta of all together, rounded up.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from sklearn_ada.accounting import optimal_composition_delta
    >>> round(optimal_composition_delta(0.5, k=10, epsilon=0.1), 6)
    0.00993
    """
    owner = "optimal_composition_delta"
    composed_epsilon = check_real(composed_epsilon, "composed_epsilon", owner, low=0.0, closed="low")
    k = check_integer(k, "k", owner)
    epsilon = check_real(epsilon, "epsilon", owner, low=0.0, closed="low")
    delta = check_real(delta, "delta", owner, low=0.0, high=1.0, closed="low")
    return _composed_delta(composed_epsilon, k, epsilon, delta)


def optimal_composition_epsilon(composed_delta: float, k: int, epsilon: float, delta: float = 0.0) -> float:
    """Return the smallest epsilon at which k (epsilon, delta)-DP mechanisms are (epsilon, composed_delta)-DP.

    The inverse of `optimal_composition_delta`, at the end of the root search where the guarantee holds.

    Parameters
    ----------
    composed_delta : float
        The delta of all together, in (0, 1) and more than ``1 - (1 - delta)**k``: below, no epsilon will do.
    k : int
        The number of mechanisms, at least 1.
    epsilon : float
        The privacy parameter of each, finite and >= 0.
    delta : float, default=0.0
        The failure probability of each, in [0, 1).

    Returns
    -------
    float
        The epsilon of all together, at most ``k * epsilon``.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from sklearn_ada.accounting import optimal_composition_epsilon
    >>> round(optimal_composition_epsilon(1e-6, k=500, epsilon=0.001), 9)
    0.079788854
    """
    owner = "optimal_composition_epsilon"
    composed_delta = check_real(composed_delta, "composed_delta", owner, low=0.0, high=1.0)
    k = check_integer(k, "k", owner)
    epsilon = check_real(epsilon, "epsilon", owner, low=0.0, closed="low")
    delta = check_real(delta, "delta", owner, low=0.0, high=1.0, closed="low")
    leaked = -math.expm1(k * math.log1p(-delta))
    if composed_delta <= leaked:
        expected = f"more than 1 - (1 - delta)**k = {leaked:g}"
        raise bad_parameter("composed_delta", owner, expected, composed_delta)
    largest_loss = k * epsilon
    return min(
        largest_loss,
        smallest_epsilon(lambda e: _composed_delta(e, k, epsilon, delta) - composed_delta, largest_loss),
    )


def _composed_delta(composed_epsilon: float, k: int, epsilon: float, delta: float) -> float:
    if composed_epsilon >= k * epsilon:  # no loss of a randomised response is larger
        return -math.expm1(k * math.log1p(-delta))
    pure = exp_upward(_log_delta_of_randomized_responses(composed_epsilon, k, epsilon))
    if delta == 0.0 or pure == 1.0:
        return pure
    return -math.expm1(k * math.log1p(-delta) + math.log1p(-pure))


def _log_delta_of_randomized_responses(composed_epsilon: float, k: int, epsilon: float) -> float:
    """Return ``ln E[max(0, 1 - exp(composed_epsilon - loss))]``, loss the sum of k losses of +-epsilon."""
    # j truthful answers make the loss (2j - k) * epsilon; only losses above composed_epsilon count.
    j = np.arange(k // 2 + 1, k + 1, dtype=np.float64)
    loss = (2.0 * j - k) * epsilon
    j, loss = j[loss > composed_epsilon], loss[loss > composed_epsilon]
    log_truth = -math.log1p(math.exp(-epsilon))
    log_binomial = gammaln(k + 1.0) - gammaln(j + 1.0) - gammaln(k - j + 1.0)
    log_probability = log_binomial + k * log_truth - (k - j) * epsilon
    return float(logsumexp(log_probability + np.log(-np.expm1(composed_epsilon - loss))))
