"""How large a ledger's privacy budget (the zCDP parameter rho) should be, decided before anything is asked.

A certificate by transfer is as wide as the noise of its answer plus the gap that the budget allows. Much
noise spends little; the best budget balances the two for the number of questions expected.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from scipy.special import ndtri_exp

from sklearn_ada._checks import check_integer, check_real
from sklearn_ada._constants import LN_2
from sklearn_ada._solving import enclosed_root
from sklearn_ada.accounting.zcdp import exponential_mechanism_zcdp, thresholdout_zcdp
from sklearn_ada.guarantees._minimising import best_scale
from sklearn_ada.guarantees.medians.stable_median import median_rank_error
from sklearn_ada.guarantees.transfer.direct import zcdp_gap

__all__ = ["exponential_epsilon", "records_budget", "subsamples_budget", "thresholdout_scale"]


@lru_cache(maxsize=256)
def records_budget(n: int, n_questions: int, ln_gap: float, ln_noise: float) -> float:
    """Return the rho with which k Gaussian answers about means have the smallest half-width.

    Minimises ``sigma z + zcdp_gap(rho)`` with ``rho = k/(2 n^2 sigma^2)`` and z the normal quantile at
    ``ln_noise``. Rounded to three digits, so that it is the same on every machine; every value is valid.

    Parameters
    ----------
    n, n_questions : int
        Records, and questions expected.
    ln_gap, ln_noise : float
        Logarithms of the failure probabilities of the gap and of the noise of one answer, below 0.

    Examples
    --------
    >>> records_budget(10_000, 100, math.log(0.025), math.log(0.025 / 100))
    0.00211
    """
    n = check_integer(n, "n", "records_budget")
    k = check_integer(n_questions, "n_questions", "records_budget")
    z = -float(ndtri_exp(check_real(ln_noise, "ln_noise", "records_budget", high=0.0) - LN_2))
    return _best_rho(lambda rho: z * math.sqrt(k / (2.0 * rho)) / n + zcdp_gap(rho, ln_gap))


@lru_cache(maxsize=256)
def subsamples_budget(
    n_subsamples: int, n_questions: int, grid_size: int, ln_gap: float, ln_noise: float
) -> float:
    """Return the rho with which k medians are in the narrowest quantile interval.

    The medians are drawn by the exponential mechanism; minimises ``median_rank_error + zcdp_gap(rho)``.
    Rounded to three digits; every value is valid.

    Parameters
    ----------
    n_subsamples, n_questions, grid_size : int
        Subsamples, questions expected, and points of a grid.
    ln_gap, ln_noise : float
        Logarithms of the failure probabilities of the gap and of the draw of one answer, below 0.

    Examples
    --------
    >>> subsamples_budget(10_000, 100, 1001, math.log(0.025), math.log(0.025 / 100))
    0.00818
    """
    m = check_integer(n_subsamples, "n_subsamples", "subsamples_budget")
    k = check_integer(n_questions, "n_questions", "subsamples_budget")

    def width(rho: float) -> float:
        epsilon = exponential_epsilon(rho / k)
        return median_rank_error(m, 1, grid_size, epsilon, ln_noise) + zcdp_gap(rho, ln_gap)

    return _best_rho(width)


def exponential_epsilon(rho: float) -> float:
    """Return the parameter with which the exponential mechanism is exactly rho-zCDP.

    Examples
    --------
    >>> round(exponential_mechanism_zcdp(exponential_epsilon(0.01)), 12)
    0.01
    """
    rho = check_real(rho, "rho", "exponential_epsilon", low=0.0)
    # Between sqrt(8 rho), where eps^2/8 is exact, and a value that is certainly too large.
    high = math.sqrt(8.0 * rho) + rho + 2.0
    while exponential_mechanism_zcdp(high) < rho:
        high *= 2.0
    low = 0.5 * math.sqrt(8.0 * rho)
    return enclosed_root(lambda epsilon: exponential_mechanism_zcdp(epsilon) / rho - 1.0, low, high)[0]


def thresholdout_scale(rho: float, sensitivity: float, max_hits: int) -> float:
    """Return the scale s of Laplace noise with which a Thresholdout costs at most rho.

    Parameters
    ----------
    rho : float
        zCDP cost allowed, positive.
    sensitivity : float
        How far one record can move a value, positive.
    max_hits : int
        At least 1.

    Examples
    --------
    >>> scale = thresholdout_scale(0.01, 1e-4, 20)
    >>> thresholdout_zcdp(1e-4 / scale, 20) <= 0.01
    True
    """
    rho = check_real(rho, "rho", "thresholdout_scale", low=0.0)
    sensitivity = check_real(sensitivity, "sensitivity", "thresholdout_scale", low=0.0)
    hits = check_integer(max_hits, "max_hits", "thresholdout_scale")
    ln_cost = enclosed_root(lambda x: math.log(thresholdout_zcdp(math.exp(x), hits) / rho), -60.0, 5.0)[0]
    return sensitivity / math.exp(ln_cost) * (1.0 + 1e-9)


def _best_rho(width: Callable[[float], float]) -> float:
    return float(f"{best_scale(width, -40.0, 1.0):.3g}")
