"""Bernstein's interval for a mean whose variance was released: narrow where scores vary little.

The variance must have left the holdout as an answer that was priced; an interval from a variance that nobody
paid for would leak.
"""

from __future__ import annotations

import math

from sklearn_ada._checks import bad_parameter, check_integer, check_real
from sklearn_ada._constants import LN_2, OUTWARDS

__all__ = ["empirical_bernstein"]


def empirical_bernstein(
    low: float,
    high: float,
    variance: float,
    n: int,
    ln_delta: float,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> tuple[float, float]:
    """Return an interval for the mean of bounded scores that misses with probability at most delta.

    For scores in [0, 1] each side reaches ``sqrt(2 V ln(4/delta)/n) + 7 ln(4/delta)/(3 (n - 1))``, with V the
    unbiased sample variance. Scores need not have the same law.

    Source: Maurer, Pontil, "Empirical Bernstein bounds and sample variance penalization", COLT 2009,
    Theorem 11.

    Parameters
    ----------
    low, high : float
        The mean of the scores is known to lie in ``[low, high]``, within ``bounds``.
    variance : float
        Upper bound on their unbiased sample variance, in squared units of the scores, at least 0.
    n : int
        Number of scores, at least 2.
    ln_delta : float
        Logarithm of the failure probability, at most 0.
    bounds : tuple of float, default=(0, 1)
        Range of a score.

    Returns
    -------
    low, high : float

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> low, high = empirical_bernstein(0.1, 0.1, 0.01, 10_000, math.log(0.05))
    >>> round(low, 4), round(high, 4)  # Chernoff's is 0.0920 to 0.1084
    (0.096, 0.104)
    """
    owner = "empirical_bernstein"
    bottom, top = bounds
    bottom, top = check_real(bottom, "bounds", owner), check_real(top, "bounds", owner)
    if not bottom < top:
        raise bad_parameter("bounds", owner, "a pair (low, high) with low < high", bounds)
    low = check_real(low, "low", owner, low=bottom, high=top, closed="both")
    high = check_real(high, "high", owner, low=low, high=top, closed="both")
    variance = check_real(variance, "variance", owner, low=0.0, closed="low")
    n = check_integer(n, "n", owner, low=2)
    nats = 2.0 * LN_2 - check_real(ln_delta, "ln_delta", owner, high=0.0, closed="high")
    reach = math.sqrt(2.0 * variance * nats / n) + (top - bottom) * 7.0 * nats / (3.0 * (n - 1))
    reach *= 1.0 + OUTWARDS
    return max(low - reach, bottom), min(high + reach, top)
