"""Transfer theorems of Jung, Ligett, Neel, Roth, Sharifi-Malvajerdi, Shenfeld (ITCS 2020): lecture 23."""

from __future__ import annotations

import math

from sklearn_ada._checks import check_integer, check_real
from sklearn_ada._constants import LN_2
from sklearn_ada.guarantees.transfer.bound import TransferBound

__all__ = ["jung_2020", "jung_2020_best", "jung_2020_low_sensitivity", "jung_2020_pure"]


def jung_2020(
    alpha: float, beta: float, epsilon: float, delta: float, *, c: float, d: float
) -> TransferBound:
    """Return the half-width of Jung et al. (ITCS 2020) for (epsilon, delta)-DP answers; lecture 23.

    For every ``c, d > 0`` answers that are sample accurate at (alpha, beta) are accurate for the population
    at::

        alpha' = alpha + (e^epsilon - 1) + c + 2 d,      beta' = beta/c + delta/d

    Parameters
    ----------
    alpha, beta : float
        Sample accuracy of all answers together; ``alpha >= 0``, beta in [0, 1].
    epsilon, delta : float
        Privacy of the whole conversation; ``epsilon >= 0``, delta in [0, 1].
    c, d : float
        Free constants, positive. `jung_2020_best` chooses them.

    Returns
    -------
    TransferBound
        Half-width and failure probability.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> bound = jung_2020(0.05, 1e-5, 0.02, 1e-5, c=1e-3, d=1e-3)
    >>> round(bound.half_width, 4), round(bound.failure, 4)
    (0.0732, 0.02)
    """
    owner = "jung_2020"
    alpha, beta, epsilon = _check_accuracy_and_epsilon(alpha, beta, epsilon, owner)
    delta = check_real(delta, "delta", owner, low=0.0, high=1.0, closed="both")
    c = check_real(c, "c", owner, low=0.0)
    d = check_real(d, "d", owner, low=0.0)
    return TransferBound(alpha + _expm1(epsilon) + c + 2.0 * d, beta / c + delta / d)


def jung_2020_best(alpha: float, ln_beta: float, epsilon: float, ln_delta: float, ln_failure: float) -> float:
    """Return the half-width of `jung_2020` with the best c and d, the smallest alpha'.

    At failure probability beta' the choice ``c = sqrt(beta) u``, ``d = sqrt(delta/2) u`` with
    ``u = (sqrt(beta) + sqrt(2 delta))/beta'`` minimises ``c + 2 d`` (Lagrange), so that::

        alpha' = alpha + (e^epsilon - 1) + (sqrt(beta) + sqrt(2 delta))^2 / beta'

    Parameters
    ----------
    alpha : float
        Sample accuracy of all answers together, at least 0.
    ln_beta : float
        Logarithm of the failure probability of the sample accuracy; ``-inf`` if it never fails.
    epsilon : float
        At least 0.
    ln_delta : float
        Logarithm of delta; ``-inf`` for pure differential privacy.
    ln_failure : float
        Logarithm of beta', at most 0.

    Returns
    -------
    float
        The half-width alpha'; from 1/2 on it is vacuous.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(jung_2020_best(0.05, math.log(1e-5), 0.02, math.log(1e-5), math.log(0.02)), 4)
    0.0731
    """
    owner = "jung_2020_best"
    alpha = check_real(alpha, "alpha", owner, low=0.0, closed="low")
    epsilon = check_real(epsilon, "epsilon", owner, low=0.0, closed="low")
    ln_failure = check_real(ln_failure, "ln_failure", owner, high=0.0, closed="high")
    ln_c = _check_logarithm(ln_beta, "ln_beta", owner) - ln_failure
    ln_d = _check_logarithm(ln_delta, "ln_delta", owner) + LN_2 - ln_failure
    if max(ln_c, ln_d) > 700.0:  # would overflow; vacuous long before
        return math.inf
    return alpha + _expm1(epsilon) + (math.exp(ln_c / 2.0) + math.exp(ln_d / 2.0)) ** 2


def jung_2020_pure(alpha: float, beta: float, epsilon: float, n: int, eta: float) -> TransferBound:
    """Return the half-width of Jung et al. (ITCS 2020) for epsilon-DP answers; lecture 23.

    For every eta > 0::

        alpha' = alpha + (e^epsilon - 1) + sqrt(2 ln(1/eta) / n),      beta' = beta + eta

    Parameters
    ----------
    alpha, beta : float
        Sample accuracy of all answers together; ``alpha >= 0``, beta in [0, 1].
    epsilon : float
        Privacy of the whole conversation, at least 0.
    n : int
        Number of records.
    eta : float
        Failure probability spent on sampling, in (0, 1).

    Returns
    -------
    TransferBound
        Half-width and failure probability.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> bound = jung_2020_pure(0.01, 0.025, epsilon=0.01, n=10_000, eta=0.025)
    >>> round(bound.half_width, 4), round(bound.failure, 4)
    (0.0472, 0.05)
    """
    owner = "jung_2020_pure"
    alpha, beta, epsilon = _check_accuracy_and_epsilon(alpha, beta, epsilon, owner)
    n = check_integer(n, "n", owner)
    eta = check_real(eta, "eta", owner, low=0.0, high=1.0)
    return TransferBound(alpha + _expm1(epsilon) + math.sqrt(-2.0 * math.log(eta) / n), beta + eta)


def jung_2020_low_sensitivity(
    alpha: float,
    beta: float,
    epsilon: float,
    delta: float,
    n: int,
    sensitivity: float,
    *,
    c: float,
    d: float,
) -> TransferBound:
    """Return the half-width of Jung et al. (ITCS 2020) for questions of low sensitivity instead of means.

    A question may be any function of the holdout with range at most 1 that changes by at most Delta when a
    record is replaced; its population value is its expectation on a fresh holdout. For every ``c, d > 0``::

        alpha' = alpha + (e^epsilon - 1) n Delta + 4 c delta n Delta + d,      beta' = beta/d + 1/c

    It also follows from `sklearn_ada.guarantees.transfer.direct`, where it is proved with better constants.

    Parameters
    ----------
    alpha, beta : float
        Sample accuracy of all answers together; ``alpha >= 0``, beta in [0, 1].
    epsilon, delta : float
        Privacy of the whole conversation; ``epsilon >= 0``, delta in [0, 1].
    n : int
        Number of records.
    sensitivity : float
        Delta, positive.
    c, d : float
        Free constants, positive.

    Returns
    -------
    TransferBound
        Half-width and failure probability.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> bound = jung_2020_low_sensitivity(0.05, 1e-6, 0.02, 1e-7, 1000, 0.002, c=100.0, d=1e-3)
    >>> round(bound.half_width, 4), round(bound.failure, 4)
    (0.0915, 0.011)
    """
    owner = "jung_2020_low_sensitivity"
    alpha, beta, epsilon = _check_accuracy_and_epsilon(alpha, beta, epsilon, owner)
    delta = check_real(delta, "delta", owner, low=0.0, high=1.0, closed="both")
    n = check_integer(n, "n", owner)
    total = n * check_real(sensitivity, "sensitivity", owner, low=0.0)
    c = check_real(c, "c", owner, low=0.0)
    d = check_real(d, "d", owner, low=0.0)
    half_width = alpha + _expm1(epsilon) * total + 4.0 * c * delta * total + d
    return TransferBound(half_width, beta / d + 1.0 / c)


def _check_accuracy_and_epsilon(
    alpha: float, beta: float, epsilon: float, owner: str
) -> tuple[float, float, float]:
    return (
        check_real(alpha, "alpha", owner, low=0.0, closed="low"),
        check_real(beta, "beta", owner, low=0.0, high=1.0, closed="both"),
        check_real(epsilon, "epsilon", owner, low=0.0, closed="low"),
    )


def _check_logarithm(value: float, name: str, owner: str) -> float:
    """Logarithm of a probability; minus infinity is allowed."""
    return value if value == -math.inf else check_real(value, name, owner, high=0.0, closed="high")


def _expm1(epsilon: float) -> float:
    """``e^epsilon - 1``, infinite where it would overflow (vacuous long before)."""
    return math.expm1(epsilon) if epsilon < 700.0 else math.inf
