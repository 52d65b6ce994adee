"""Certificates of an exact median over disjoint subsamples, by description length.

The holdout is cut once into m disjoint subsamples; phi is the metric on one of them. An answer v whose rank
is known up to an error speaks of the population law of phi by the tail of a binomial at one fixed
threshold, so no uniform bound is needed, and the ends are Clopper-Pearson's.
"""

from __future__ import annotations

import math
from functools import lru_cache

from scipy.stats import binom

from sklearn_ada._checks import check_integer, check_real
from sklearn_ada._constants import OUTWARDS
from sklearn_ada._solving import largest_integer
from sklearn_ada.guarantees.intervals._sides import ln_side
from sklearn_ada.guarantees.intervals.clopper_pearson import LOG_TAIL_FROM, clopper_pearson

__all__ = [
    "DRAWN_POINTS",
    "MEDIAN_DEVIATION",
    "median_is_covered",
    "median_ranks",
    "outer_levels",
    "quantile_interval",
    "uniform_code_level",
]

MEDIAN_DEVIATION = 1.2533
"""Standard deviation of the median of m normal values, times sqrt(m)/sigma: about sqrt(pi/2)."""

DRAWN_POINTS = 401
"""Points of the grid of a median that is drawn with noise: more would need more privacy budget."""


def quantile_interval(n_subsamples: int, rank_error: float, ln_delta: float) -> tuple[float, float]:
    """Return levels (l, 1 - l): the answer is between the quantiles of phi at these levels.

    If at most ``(1/2 + rank_error) m`` of the m values are below v and as many above it, then, except with
    probability delta, ``P[phi <= v] >= l`` and ``P[phi >= v] >= l``. With ``l = 0`` nothing is said.

    Proof of one side: let A be the union of ``{phi <= w}`` over all w with ``P[phi <= w] < l``; then
    ``P(A) <= l`` and A is fixed. If ``P[phi <= v] < l``, at least ``(1/2 - rank_error) m`` of the values are
    in A, which is a binomial tail. That tail is taken exactly, by Clopper-Pearson. Chernoff's bound of it has
    a closed form for the exact median, ``l = 1/2 - x`` with ``-(m/2) ln(1 - 4 x^2) = ln(2/delta)``, and is
    never sharper.

    Parameters
    ----------
    n_subsamples : int
    rank_error : float
        At least 0; from 1/2 on the interval is vacuous. 0 for the exact median.
    ln_delta : float
        Logarithm of the failure probability of the sampling; that of the rank error comes on top.

    Examples
    --------
    >>> low, high = quantile_interval(400, 0.0, math.log(0.05))
    >>> round(low, 3), round(high, 3)
    (0.45, 0.55)
    """
    m = check_integer(n_subsamples, "n_subsamples", "quantile_interval")
    rank_error = check_real(rank_error, "rank_error", "quantile_interval", low=0.0, closed="low")
    count = math.ceil(m * (0.5 - rank_error) - 1e-9)
    if count <= 0:
        return 0.0, 1.0
    low = _at_least(count, m, ln_delta)
    return low, 1.0 - low


def median_ranks(n: int, ln_delta: float) -> tuple[int, int]:
    """Return which two of n sorted independent values enclose their law's median, but with probability delta.

    More than ``r - 1`` of them are at most the median, except with the probability that a binomial of n and
    1/2 is below r. If the values have laws of their own, the median is that of their mixture, and the tail of
    the count is no heavier as r is at most n/2 (Hoeffding 1956, Theorem 4).

    Parameters
    ----------
    n : int
        At least 1.
    ln_delta : float
        Logarithm of the failure probability, at most 0.

    Returns
    -------
    low, high : int
        Counted from 1: ``low`` is 0 and ``high`` is n + 1 where n values are too few.

    Examples
    --------
    >>> median_ranks(100, math.log(0.05))
    (40, 61)
    >>> median_ranks(5, math.log(0.05))
    (0, 6)
    """
    n = check_integer(n, "n", "median_ranks")
    side = ln_side(ln_delta, "median_ranks") - OUTWARDS
    if side < -LOG_TAIL_FROM:  # smaller than floats tell: by Hoeffding's bound of the tail
        low = max(math.floor(n / 2.0 - math.sqrt(-n * side / 2.0)) + 1, 0)
        return low, n + 1 - low
    low = largest_integer(lambda r: bool(binom.logcdf(r - 1, n, 0.5) <= side), n // 2)
    return low, n + 1 - low


def uniform_code_level(n_subsamples: int, n_questions: int, grid_size: int, ln_beta: float) -> float:
    """Return the level of the last of k exact grid medians, each priced evenly over its grid.

    `quantile_interval` by description length: the k - 1 answers before cost ``ln|T|`` nats each, and every
    question has the weight 1/k. With guesses that hold, a code that is centred at them needs far less.

    Parameters
    ----------
    n_subsamples : int
        m, at least 1.
    n_questions : int
        k, at least 1, fixed in advance.
    grid_size : int
        ``|T|``, at least the size of every grid.
    ln_beta : float
        Logarithm of the failure probability, at most 0.

    Returns
    -------
    float
        The answer is in the (level, 1 - level) quantile interval; 0 is vacuous.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(uniform_code_level(546, 10, 1000, math.log(0.05)), 3)
    0.269
    """
    k = check_integer(n_questions, "n_questions", "uniform_code_level")
    size = check_integer(grid_size, "grid_size", "uniform_code_level")
    ln_beta = check_real(ln_beta, "ln_beta", "uniform_code_level", high=0.0, closed="high")
    return quantile_interval(n_subsamples, 0.0, ln_beta - math.log(k) - (k - 1) * math.log(size))[0]


def outer_levels(n_subsamples: int, rank_error: float, ln_delta: float) -> tuple[float, float]:
    """Return sample levels (l, 1 - l) whose quantiles enclose the population median of phi.

    The largest l for which `median_is_covered` holds, or 0 if there is none.

    Parameters
    ----------
    n_subsamples : int
        The m.
    rank_error : float
        As a share of m, in [0, 1].
    ln_delta : float
        Logarithm of delta, at most 0.

    Examples
    --------
    >>> low, high = outer_levels(400, 0.0, math.log(0.05))
    >>> round(low, 3), round(high, 3)
    (0.448, 0.552)
    """
    m = check_integer(n_subsamples, "n_subsamples", "outer_levels")
    rank_error = check_real(rank_error, "rank_error", "outer_levels", low=0.0, closed="low")
    _, high = quantile_interval(m, 0.0, ln_delta)
    count = math.floor((1.0 - high) * m)  # a start close to the answer; then down to where it holds
    while count >= 0 and not median_is_covered(m, count / m, 0.0, ln_delta):
        count -= 1
    level = count / m - rank_error
    return (level, 1.0 - level) if level > 0.0 else (0.0, 1.0)


def median_is_covered(n_subsamples: int, level: float, rank_error: float, ln_delta: float) -> bool:
    """Return whether sample quantiles at ``level`` and ``1 - level`` enclose the population median.

    True if, except with probability delta, a value with at most ``(level + rank_error) m`` of the m
    values below it is not above the population median of phi, and mirrored. Proof: were it above, at
    most that many of the values would be ``<= median``, each of which has probability at least 1/2.

    Parameters
    ----------
    n_subsamples : int
        The m.
    level : float
        In [0, 1/2].
    rank_error : float
        As a share of m, in [0, 1].
    ln_delta : float
        Logarithm of delta, at most 0.

    Examples
    --------
    >>> median_is_covered(400, 0.44, 0.0, math.log(0.05)), median_is_covered(400, 0.49, 0.0, math.log(0.05))
    (True, False)
    """
    m = check_integer(n_subsamples, "n_subsamples", "median_is_covered")
    level = check_real(level, "level", "median_is_covered", low=0.0, high=0.5, closed="both")
    rank_error = check_real(rank_error, "rank_error", "median_is_covered", low=0.0, closed="low")
    if level == 0.0 or level + rank_error >= 0.5:
        return False
    count = math.floor(m * (level + rank_error) + 1e-9)
    _, high = clopper_pearson(0, count, m, ln_delta)
    return high <= 0.5


@lru_cache(maxsize=64)  # a question needs the same one three times: admitted, charged, read
def _at_least(count: int, m: int, ln_delta: float) -> float:
    """Return a bound from below for a probability whose event came ``count`` times or more among m."""
    return clopper_pearson(count, m, m, ln_delta)[0]
