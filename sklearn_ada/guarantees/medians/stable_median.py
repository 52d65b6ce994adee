r"""Certificates of privately drawn medians over disjoint subsamples: rank error, privacy, and what follows.

The holdout is cut once into m disjoint subsamples, independent draws from a law; phi, the metric on one of
them, is rounded to a finite grid T and truncated to its range, and an answer v is drawn by the exponential
mechanism with weights ``exp(-epsilon max(#{phi < v}, #{phi > v})/2)`` (Feldman, Steinke 2017, Theorem 3.1).
The conversation is private with respect to replacing one subsample. A *level* l means: each answer is in the
``(l, 1 - l)`` quantile interval of phi's (rounded) law, ``P[phi <= v] >= l`` and ``P[phi >= v] >= l``. Level
0 is vacuous.

Theorem. Let the conversation be rho-zCDP, rho fixed in advance, and a the mean, over the worst beta-tail, of
the largest rank error (how far ``#{phi < v}/m`` or ``#{phi > v}/m`` is above 1/2). Then all answers are at
level l except with probability beta, for every ``l < s = 1/2 - a`` with::

    sqrt(ln 1/(beta l (1 - s))) - sqrt(ln 1/(beta (1 - l) s)) >= sqrt(rho)

Proof. Let B be the event that for some answer ``q = 1(phi <= v)`` or ``1(phi >= v)`` has ``P = q(D) < l``,
and let the conversation choose such a q. Suppose B has a probability p above beta. As ``Q = q(S)`` is at
least 1/2 minus the rank error, ``E[Q | B] = s' >= s``. By the swap lemma of
`sklearn_ada.guarantees.transfer.direct`, with G of zCDP,
``p (1 - l) s' <= E[Q (1 - P) 1_B] <= G(E[P (1 - Q) 1_B]) <= G(p l (1 - s'))``: in its score both ends differ
by at most sqrt(rho). The difference increases in p and s', so the stated one would be smaller.

The rank error of one answer exceeds ``(2/(epsilon m)) (ln|T| + t)`` with probability at most e^-t, so that
by a union bound ``a = (2/(epsilon m)) (ln(k |T|/beta) + 1)``.
"""

from __future__ import annotations

import math

from sklearn_ada._checks import check_integer, check_real
from sklearn_ada._constants import LN_2
from sklearn_ada._solving import enclosed_root
from sklearn_ada.accounting.zcdp_conversion import zcdp_delta
from sklearn_ada.guarantees._minimising import best_scale
from sklearn_ada.guarantees.transfer.direct import excess_over_shift, zcdp_score
from sklearn_ada.guarantees.transfer.jung import jung_2020_best
from sklearn_ada.mechanisms.medians.exponential import exponential_rank_error

__all__ = [
    "median_level_direct",
    "median_level_jung",
    "median_rank_error",
]


def median_rank_error(
    n_subsamples: int, n_questions: int, grid_size: int, epsilon: float, ln_beta: float, *, mean: bool = False
) -> float:
    """Return ``(2/(epsilon m)) ln(k |T|/beta)``: no exponential mechanism has a larger rank error.

    Feldman, Steinke 2017, Theorem 3.1, and a union bound over k medians; holds for every data set except with
    probability beta.

    Parameters
    ----------
    n_subsamples : int
        m, at least 1.
    n_questions : int
        k, at least 1.
    grid_size : int
        ``|T|``, at least the size of every grid.
    epsilon : float
        Parameter of the exponential mechanism, positive.
    ln_beta : float
        Logarithm of the failure probability, at most 0.
    mean : bool, default=False
        Return the mean of the worst beta-tail instead of the quantile at beta: the logarithm plus 1.

    Returns
    -------
    float
        A share of the subsamples; from 1/2 on it is vacuous.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(median_rank_error(1000, 10, 1000, 0.2, math.log(0.05)), 4)
    0.1221
    """
    owner = "median_rank_error"
    m = check_integer(n_subsamples, "n_subsamples", owner)
    k = check_integer(n_questions, "n_questions", owner)
    grid_size = check_integer(grid_size, "grid_size", owner)
    epsilon = check_real(epsilon, "epsilon", owner, low=0.0)
    ln_beta = check_real(ln_beta, "ln_beta", owner, high=0.0, closed="high")
    nats = math.log(k) + math.log(grid_size) - ln_beta + (1.0 if mean else 0.0)
    return exponential_rank_error(epsilon, m, nats)


def median_level_direct(mean_rank_error: float, rho: float, ln_beta: float) -> float:
    """Return the largest level that the theorem of this module certifies for all answers at once.

    Parameters
    ----------
    mean_rank_error : float
        a, at least 0: `median_rank_error` with ``mean=True``.
    rho : float
        zCDP cost of the whole conversation, at least 0.
    ln_beta : float
        Logarithm of the failure probability, at most 0; a probability above 1/2 is treated as 1/2.

    Returns
    -------
    float
        The level, rounded down; 0 is vacuous.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(median_level_direct(0.05, 0.01, math.log(0.05)), 3)
    0.349
    """
    owner = "median_level_direct"
    a = check_real(mean_rank_error, "mean_rank_error", owner, low=0.0, closed="low")
    shift = math.sqrt(check_real(rho, "rho", owner, low=0.0, closed="low"))
    ln_beta = min(check_real(ln_beta, "ln_beta", owner, high=0.0, closed="high"), -LN_2)
    s = 0.5 - a
    if s <= 0.0:
        return 0.0

    def excess(level: float) -> float:
        ln_high, ln_low = math.log((1.0 - level) * s), math.log(level * (1.0 - s))
        return excess_over_shift(zcdp_score, shift, ln_beta + ln_high, ln_beta + ln_low)

    return enclosed_root(excess, 0.0, s, rising=False)[0]


def median_level_jung(rank_error: float, ln_rank_failure: float, rho: float, ln_beta: float) -> float:
    """Return the level ``1/2 - a - x`` with x by Jung et al. (ITCS 2020), for comparison.

    The zCDP cost is converted to (epsilon, delta) by Canonne, Kamath, Steinke (2020), and
    ``x = e^epsilon - 1 + (sqrt(beta1) + sqrt(2 delta))^2/beta`` is minimised over epsilon.

    Parameters
    ----------
    rank_error : float
        a, at least 0, exceeded with probability at most beta1 for all answers together.
    ln_rank_failure : float
        Logarithm of beta1; ``-inf`` if a is never exceeded.
    rho : float
        zCDP cost of the whole conversation, positive.
    ln_beta : float
        Logarithm of the failure probability, at most 0.

    Returns
    -------
    float
        The level; 0 is vacuous.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(median_level_jung(0.05, -12.0, 0.0001, math.log(0.05)), 3)
    0.409
    """
    owner = "median_level_jung"
    rank_error = check_real(rank_error, "rank_error", owner, low=0.0, closed="low")
    if ln_rank_failure != -math.inf:
        ln_rank_failure = check_real(ln_rank_failure, "ln_rank_failure", owner, high=0.0, closed="high")
    rho = check_real(rho, "rho", owner, low=0.0)
    ln_beta = check_real(ln_beta, "ln_beta", owner, high=0.0, closed="high")

    def deviation(epsilon: float) -> float:
        ln_delta = math.log(zcdp_delta(rho, epsilon))
        return jung_2020_best(rank_error, ln_rank_failure, epsilon, ln_delta, ln_beta)

    centre = math.log(max(math.sqrt(rho), 1e-12))
    return max(0.5 - deviation(best_scale(deviation, centre - 1.0, centre + 5.0)), 0.0)
