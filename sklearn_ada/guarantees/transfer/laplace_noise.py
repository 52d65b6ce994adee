"""Laplace noise: half-widths of k adaptive answers, and how many records they need (lecture 19)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from sklearn_ada._checks import bad_parameter, check_integer, check_real
from sklearn_ada._solving import enclosed_root, smallest_integer
from sklearn_ada.accounting.zcdp import laplace_zcdp
from sklearn_ada.accounting.zcdp_conversion import zcdp_epsilon
from sklearn_ada.guarantees._minimising import NONE, simplex_minimum

__all__ = ["LaplaceBound", "LaplacePlan", "laplace_bassily", "laplace_plan"]


class LaplaceBound(NamedTuple):
    """How close k answers with Laplace noise are to the population, and with which noise.

    Attributes
    ----------
    half_width : float
        All answers are this close at once, except with probability beta; infinite where no noise will do.
    epsilon : float
        Privacy parameter of each answer: the noise has the scale ``1/(n epsilon)``.
    """

    half_width: float
    epsilon: float


class LaplacePlan(NamedTuple):
    """How to answer k questions with Laplace noise.

    Attributes
    ----------
    n : int
        Number of records.
    epsilon : float
        Privacy parameter of each answer: the noise has the scale ``1/(n epsilon)``.
    """

    n: int
    epsilon: float


def laplace_plan(n_questions: int, alpha: float, beta: float) -> LaplacePlan:
    """Return how many records lecture 19 needs for k adaptive answers within alpha, with Laplace noise.

    The smallest n found with an epsilon per answer such that `bassily_2016` (Theorem 1.2) gives half-width
    alpha and failure probability beta: the noise exceeds ``ln(1/b)/(n epsilon)`` with probability b (Claim
    1.3), and the answers compose to (epsilon', delta)-DP by the exact zCDP of Laplace noise, or by basic
    composition where that is better. The lecture composes by a looser theorem and leaves the constants open.
    The split of beta, delta and epsilon' are chosen numerically.

    Parameters
    ----------
    n_questions : int
        k, at least 1, fixed in advance.
    alpha : float
        Accuracy wanted for all answers together, in (0, 1).
    beta : float
        Failure probability, in (1e-300, 1/4]; beyond, ``delta <= epsilon/16`` would have to be checked too.

    Returns
    -------
    LaplacePlan
        Number of records and privacy parameter of each answer.

    Raises
    ------
    ValueError
        If a parameter is out of range, or no reasonable number of records is enough.

    Examples
    --------
    >>> laplace_plan(1, alpha=0.1, beta=0.05).n
    95069
    """
    owner = "laplace_plan"
    k = check_integer(n_questions, "n_questions", owner)
    alpha = check_real(alpha, "alpha", owner, low=0.0, high=1.0)
    beta = check_real(beta, "beta", owner, low=1e-300, high=0.25, closed="high")
    try:
        start = math.floor(432.0 / alpha / alpha)  # below this, 6 epsilon alone is above alpha
        n = smallest_integer(lambda n: laplace_bassily(n, k, beta).half_width <= alpha, start=start)
    except OverflowError:
        raise bad_parameter(
            "alpha", owner, f"reached for k={k} and beta={beta:g} by fewer than 2^60 records", alpha
        ) from None
    return LaplacePlan(n, laplace_bassily(n, k, beta).epsilon)


def laplace_bassily(n: int, n_questions: int, beta: float) -> LaplaceBound:
    """Return the half-width of k answers with Laplace noise by Theorem 1.2 of lecture 19 (`bassily_2016`).

    What `laplace_plan` solves for the number of records. A method of the planner and of comparisons: below
    some ten thousand records the theorem allows no noise at all.

    Parameters
    ----------
    n : int
        Number of records.
    n_questions : int
        k, at least 1, fixed in advance.
    beta : float
        Failure probability, in (1e-300, 1/4].

    Returns
    -------
    LaplaceBound
        Half-width and privacy parameter of each answer.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> bound = laplace_bassily(1_000_000, 100, beta=0.05)
    >>> round(bound.half_width, 4)
    0.0661
    """
    owner = "laplace_bassily"
    n = check_integer(n, "n", owner)
    k = check_integer(n_questions, "n_questions", owner)
    beta = check_real(beta, "beta", owner, low=1e-300, high=0.25, closed="high")

    def half_width(total_epsilon: float, delta: float, epsilon: float) -> float:
        """Of k answers at ``epsilon`` that are together (total_epsilon, delta)-DP."""
        if not math.sqrt(12.0 / n) <= total_epsilon <= 0.125:
            return NONE
        overfitting = max(4.0 * delta / total_epsilon, math.exp(-(total_epsilon**2) * n / 8.0))
        if not overfitting < beta:
            return NONE
        return 6.0 * total_epsilon + math.log(k / (beta - overfitting)) / (n * epsilon)

    def by_zcdp(x: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        if not np.all(np.abs(x) < 100.0):
            return NONE
        rho, delta = math.exp(x[0]), min(math.exp(x[1]), 0.5)
        return half_width(zcdp_epsilon(rho, delta), delta, _laplace_epsilon(rho / k))

    # No smaller epsilon in total is allowed by the theorem, or by beta.
    least = math.sqrt(max(12.0, -8.0 * math.log(beta)) / n)
    if least >= 0.125:
        return LaplaceBound(math.inf, math.nan)
    basic = minimize_scalar(lambda e: half_width(e, 0.0, e / k), bounds=(least, 0.125), method="bounded")
    best = float(basic.fun), float(basic.x) / k
    for epsilon in (1.1 * least, min(3.0 * least, 0.12)):
        delta = epsilon * beta / 12.0
        start = [math.log(epsilon**2 / (4.0 * -math.log(delta))), math.log(delta)]
        found, at = simplex_minimum(by_zcdp, start, xatol=1e-4, fatol=1e-8, runs=1)
        if found < best[0]:
            best = found, _laplace_epsilon(math.exp(at[0]) / k)
    return LaplaceBound(*best) if best[0] < NONE else LaplaceBound(math.inf, math.nan)


def _laplace_epsilon(rho: float) -> float:
    """Return the epsilon at which Laplace noise costs rho (rounded down)."""
    # laplace_zcdp(e) >= e - 1 and, for e <= 1, >= e^2/3
    high = max(math.sqrt(3.0 * rho), rho + 1.0) if rho > 1.0 / 3.0 else math.sqrt(3.0 * rho)
    return enclosed_root(lambda e: laplace_zcdp(e) - rho, high * 1e-3, high)[0]
