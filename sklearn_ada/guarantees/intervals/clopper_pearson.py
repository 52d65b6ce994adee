"""Clopper and Pearson's interval for a share: exact binomial tails, however small the probability.

Beyond some 740 nats a tail is smaller than any float, so it is computed by its logarithm there.
"""

from __future__ import annotations

import math

from scipy.special import betaincinv

from sklearn_ada._checks import bad_parameter, check_integer, check_real
from sklearn_ada._constants import LN_2, OUTWARDS
from sklearn_ada._solving import root
from sklearn_ada.guarantees.intervals._sides import ln_side, mirrored

__all__ = ["LN_MOST_SIDE", "LOG_TAIL_FROM", "binomial_tail_ends", "check_counts", "clopper_pearson"]

LN_MOST_SIDE = -2.0 * LN_2
"""A side gets at most 1/4: beyond, unequal rows may have heavier tails than equal ones."""

LOG_TAIL_FROM = 300.0
"""Nats beyond which a tail that is an incomplete beta function is computed by its logarithm."""

_RTOL = 4.0 * math.ulp(1.0)  # the least that Brent's method takes


def clopper_pearson(low_count: int, high_count: int, n: int, ln_delta: float) -> tuple[float, float]:
    """Return an interval for p that misses with probability at most delta.

    The count S of successes among n independent 0/1 losses is known to lie in
    ``[low_count, high_count]``; p is the mean of the success probabilities, which need not be equal.

    Source: Clopper, Pearson (1934); for unequal probabilities Hoeffding (1956, Theorem 4), whose domination
    of the tail fails for a single success, where the union bound ``P[S >= 1] <= n p`` is used instead.

    Parameters
    ----------
    low_count, high_count : int
        ``0 <= low_count <= high_count <= n``.
    n : int
        Number of records, at least 1.
    ln_delta : float
        Logarithm of the failure probability, at most 0. A delta above 1/2 is treated as 1/2.

    Returns
    -------
    low, high : float

    Examples
    --------
    >>> low, high = clopper_pearson(850, 850, 1000, math.log(0.05))
    >>> round(low, 4), round(high, 4)
    (0.8263, 0.8716)
    """
    low_count, high_count, n = check_counts(low_count, high_count, n, "clopper_pearson")
    side = ln_side(ln_delta, "clopper_pearson")
    return _binomial_low(low_count, n, side), mirrored(_binomial_low(n - high_count, n, side))


def binomial_tail_ends(
    low_count: int, high_count: int, n: int, ln_side: float, *, identical_rows: bool = False
) -> tuple[float, float]:
    """Return the ends beyond which p makes the tail from the cell's edge at most ``e^ln_side`` likely.

    At every p below the lower end ``P[S >= low_count]`` is at most ``e^ln_side``, at every p above the upper
    end ``P[S <= high_count]`` is. Clopper and Pearson's interval with the level of one side given.

    Parameters
    ----------
    low_count, high_count, n : int
        As for `clopper_pearson`.
    ln_side : float
        Logarithm of the level of each side, at most 0. A level above 1/4 is treated as 1/4.
    identical_rows : bool, default=False
        Whether all rows have the same success probability, as independent draws of one population have and
        rows at a fixed class mix do not. A single success then has the binomial tail ``1 - (1 - p)^n``
        instead of its bound ``n p``; all else is the same.

    Returns
    -------
    low, high : float

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> low, high = binomial_tail_ends(1, 5, 50, math.log(0.05), identical_rows=True)
    >>> round(low, 6), round(high, 4)  # for unequal rows the lower end is 0.001
    (0.001025, 0.1988)
    """
    owner = "binomial_tail_ends"
    low_count, high_count, n = check_counts(low_count, high_count, n, owner)
    side = min(check_real(ln_side, "ln_side", owner, high=0.0, closed="high"), LN_MOST_SIDE)
    low, miss = (_binomial_low(count, n, side, identical_rows) for count in (low_count, n - high_count))
    return low, mirrored(miss)


def check_counts(low_count: object, high_count: object, n: object, owner: str) -> tuple[int, int, int]:
    """Return the ends of a cell of counts and the number of records as integers, or raise ValueError.

    Examples
    --------
    >>> check_counts(3, 5, 10, "here")
    (3, 5, 10)
    """
    n = check_integer(n, "n", owner)
    low_count = check_integer(low_count, "low_count", owner, low=0)
    high_count = check_integer(high_count, "high_count", owner, low=0)
    if not low_count <= high_count <= n:
        raise bad_parameter("high_count", owner, f"between low_count and n = {n}", high_count)
    return low_count, high_count, n


def _binomial_low(count: int, n: int, ln_side: float, identical_rows: bool = False) -> float:
    """Largest p that is surely below the truth: P[Bin(n, p) >= count] = e^ln_side."""
    if count == 0:
        return 0.0
    if count == 1 and identical_rows:
        return -math.expm1(math.log1p(-math.exp(ln_side)) / n) * (1.0 - OUTWARDS)
    if count == 1:
        return math.exp(ln_side) / n * (1.0 - OUTWARDS)
    if count == n:
        return math.exp(ln_side / n) * (1.0 - OUTWARDS)
    p = math.nan
    if -ln_side < LOG_TAIL_FROM:
        p = float(betaincinv(count, n - count + 1, math.exp(ln_side)))
    if not 0.0 < p < 1.0:  # betaincinv gives NaN in the far tail of small samples
        p = _log_tail_root(count, n, ln_side)
    return p * (1.0 - OUTWARDS)


def _log_tail_root(count: int, n: int, ln_side: float) -> float:
    def gap(log_p: float) -> float:
        return _log_tail_bound(count, n, log_p) - ln_side

    top = math.log(count / n)
    bottom = 2.0 * ln_side  # p^count <= tail, so ln p cannot be as low as this
    return math.exp(root(gap, bottom, top, xtol=1e-13, rtol=_RTOL) - 1e-12)


def _log_tail_bound(count: int, n: int, log_p: float) -> float:
    """Upper bound of ln P[Bin(n, p) >= count], tight when p is well below count/n."""
    p = math.exp(log_p)
    log_choose = math.lgamma(n + 1) - math.lgamma(count + 1) - math.lgamma(n - count + 1)
    log_mass = log_choose + count * log_p + (n - count) * math.log1p(-p)
    odds = p / (1.0 - p)
    total = term = 1.0
    for j in range(1, n - count + 1):
        ratio = (n - count - j + 1) / (count + j) * odds
        term *= ratio
        total += term
        if term < 1e-17 * total:
            break
        if j >= 10_000:  # the rest is below a geometric series, whose ratio only falls
            return log_mass + math.log(total + term * ratio / (1.0 - ratio)) if ratio < 1.0 else 0.0
    return log_mass + math.log(total)
