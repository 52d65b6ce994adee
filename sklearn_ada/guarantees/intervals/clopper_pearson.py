"""Clopper and Pearson's interval for a share: exact binomial tails, however small the probability.

Beyond some 740 nats a tail is smaller than any float, so it is computed by its logarithm there.
"""

from __future__ import annotations

import math

from scipy.special import betaincinv

from sklearn_ada._checks import bad_parameter, check_integer
from sklearn_ada._constants import OUTWARDS
from sklearn_ada._solving import root
from sklearn_ada.guarantees.intervals._sides import ln_side, mirrored

__all__ = ["LOG_TAIL_FROM", "clopper_pearson"]

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
    n = check_integer(n, "n", "clopper_pearson")
    low_count = check_integer(low_count, "low_count", "clopper_pearson", low=0)
    high_count = check_integer(high_count, "high_count", "clopper_pearson", low=0)
    if not low_count <= high_count <= n:
        raise bad_parameter("high_count", "clopper_pearson", f"between low_count and n = {n}", high_count)
    side = ln_side(ln_delta, "clopper_pearson")
    return _binomial_low(low_count, n, side), mirrored(_binomial_low(n - high_count, n, side))


def _binomial_low(count: int, n: int, ln_side: float) -> float:
    """Largest p that is surely below the truth: P[Bin(n, p) >= count] = e^ln_side."""
    if count == 0:
        return 0.0
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
