"""How many subsamples k private medians need, or what they certify: the best exponential mechanism.

By the certificates of `stable_median`; the parameter of the mechanism is chosen numerically. Any parameter
gives a valid certificate, so an inexact search costs width and never validity.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sklearn_ada._checks import check_integer, check_option, check_real
from sklearn_ada._solving import smallest_integer
from sklearn_ada.accounting.zcdp import exponential_mechanism_zcdp
from sklearn_ada.accounting.zcdp_conversion import zcdp_delta
from sklearn_ada.guarantees._minimising import NONE, best_scale, simplex_minimum
from sklearn_ada.guarantees.medians.stable_median import median_level_direct, median_rank_error
from sklearn_ada.guarantees.transfer.jung import jung_2020_best

__all__ = ["MedianLevel", "MedianPlan", "stable_median_level", "stable_median_plan"]


class MedianLevel(NamedTuple):
    """What k stable medians certify.

    Attributes
    ----------
    level : float
        All answers are in the (level, 1 - level) quantile interval; 0 is vacuous.
    epsilon : float
        Parameter of the exponential mechanism of each answer.
    """

    level: float
    epsilon: float


def stable_median_level(
    n_subsamples: int, n_questions: int, grid_size: int, ln_beta: float, *, transfer: str = "direct"
) -> MedianLevel:
    """Return the largest level found that k adaptive medians reach all at once with so many subsamples.

    Parameters
    ----------
    n_subsamples : int
        m, at least 1.
    n_questions : int
        k, at least 1, fixed in advance.
    grid_size : int
        ``|T|``, at least the size of every grid.
    ln_beta : float
        Logarithm of the failure probability, below 0.
    transfer : {"direct", "jung"}, default="direct"
        The transfer theorem.

    Returns
    -------
    MedianLevel
        Level and parameter of the mechanism.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(stable_median_level(1712, 10, 1000, math.log(0.05)).level, 4)
    0.25
    """
    owner = "stable_median_level"
    m = check_integer(n_subsamples, "n_subsamples", owner)
    k = check_integer(n_questions, "n_questions", owner)
    grid_size = check_integer(grid_size, "grid_size", owner)
    ln_beta = check_real(ln_beta, "ln_beta", owner, high=0.0)
    return MedianLevel(*_best(transfer, owner)(m, k, grid_size, ln_beta))


class MedianPlan(NamedTuple):
    """How to answer k questions by stable medians.

    Attributes
    ----------
    n_subsamples : int
        m, the number of disjoint subsamples.
    epsilon : float
        Parameter of the exponential mechanism of each answer.
    """

    n_subsamples: int
    epsilon: float


def stable_median_plan(
    n_questions: int, grid_size: int, ln_beta: float, *, level: float = 0.25, transfer: str = "direct"
) -> MedianPlan:
    """Return the fewest subsamples with which k adaptive medians are all in the (level, 1 - level) interval.

    The parameter of the mechanism is chosen numerically, as is, for ``transfer="jung"``, the share of beta
    for the rank error; the plan returned has been verified at what was found.

    Parameters
    ----------
    n_questions : int
        k, at least 1, fixed in advance.
    grid_size : int
        ``|T|``, at least the size of every grid.
    ln_beta : float
        Logarithm of the failure probability, below 0.
    level : float, default=0.25
        In (0, 1/2).
    transfer : {"direct", "jung"}, default="direct"
        The transfer theorem.

    Returns
    -------
    MedianPlan
        Number of subsamples and parameter of the mechanism.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> stable_median_plan(10, 1000, math.log(0.05)).n_subsamples  # Theorem 4.3 of the paper: 100,346
    1712
    """
    owner = "stable_median_plan"
    k = check_integer(n_questions, "n_questions", owner)
    grid_size = check_integer(grid_size, "grid_size", owner)
    ln_beta = check_real(ln_beta, "ln_beta", owner, high=0.0)
    level = check_real(level, "level", owner, low=0.0, high=0.5)
    certify = _best(transfer, owner)
    m = smallest_integer(lambda m: certify(m, k, grid_size, ln_beta)[0] >= level)
    return MedianPlan(m, certify(m, k, grid_size, ln_beta)[1])


def _best(transfer: str, owner: str) -> Callable[[int, int, int, float], tuple[float, float]]:
    """Return the search by this transfer theorem: m, k, |T| and ln beta to level and epsilon."""
    check_option(transfer, "transfer", owner, ("direct", "jung"))
    return {"direct": _best_direct, "jung": _best_jung}[transfer]


def _best_direct(m: int, k: int, grid_size: int, ln_beta: float) -> tuple[float, float]:
    """Level and epsilon of the best exponential mechanism, by the theorem of this module."""

    def level(epsilon: float) -> float:
        a = median_rank_error(m, k, grid_size, epsilon, ln_beta, mean=True)
        return median_level_direct(a, k * exponential_mechanism_zcdp(epsilon), ln_beta)

    # Below this epsilon the rank error is 1/2; the best one is a few times as large.
    least = math.log(2.0 * median_rank_error(m, k, grid_size, 1.0, ln_beta, mean=True))
    best = best_scale(lambda epsilon: -level(epsilon), least, least + 5.0)
    return level(best), best


def _best_jung(m: int, k: int, grid_size: int, ln_beta: float) -> tuple[float, float]:
    """Level and epsilon of the best exponential mechanism, by Jung et al., over the shares of beta."""

    def deviation(x: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        if not (np.all(np.abs(x) < 50.0) and x[1] < 0.0):
            return NONE
        mechanism, share, epsilon = math.exp(x[0]), ln_beta + float(x[1]), math.exp(x[2])
        a = median_rank_error(m, k, grid_size, mechanism, share)
        ln_delta = math.log(zcdp_delta(k * exponential_mechanism_zcdp(mechanism), epsilon))
        return min(jung_2020_best(a, share, epsilon, ln_delta, ln_beta), NONE)

    mechanism = 20.0 * median_rank_error(m, k, grid_size, 1.0, ln_beta - 10.0)  # a rank error of 1/20
    start = [math.log(mechanism), -10.0, math.log(mechanism * math.sqrt(5.0 * k))]
    best, at = simplex_minimum(deviation, start, xatol=1e-5, fatol=1e-8)
    return max(0.5 - best, 0.0), math.exp(at[0])
