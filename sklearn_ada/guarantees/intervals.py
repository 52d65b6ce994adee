"""Intervals for one fixed question: the building block of every certificate.

Each function takes ``ln_delta``, the natural logarithm of the failure probability, so that a certificate
can be asked for delta = e^-2000. Each side of an interval gets ``delta / 2``. An answer known only up to a
cell passes both ends of the cell; an exact answer passes the same value twice. Ends are rounded outwards,
so nothing returned is narrower than the truth.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from sklearn_ada._checks import bad_parameter, check_integer, check_real
from sklearn_ada._constants import LN_2, OUTWARDS
from sklearn_ada._solving import root
from sklearn_ada.guarantees._sides import ln_side, mirrored

__all__ = [
    "bernoulli_kl",
    "bounded_weight_size",
    "chernoff_kl",
    "class_mean_size",
    "clopper_pearson",
    "hoeffding",
    "hoeffding_half_width",
    "kish_size",
]

_RTOL = 4.0 * math.ulp(1.0)  # the least that Brent's method takes
LOG_TAIL_FROM = 300.0
"""Nats beyond which a tail that is an incomplete beta function is computed by its logarithm."""


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


def bernoulli_kl(p: float, q: float) -> float:
    """Return the divergence kl(p, q) of two Bernoulli laws in nats (``inf`` where q excludes p).

    Examples
    --------
    >>> round(bernoulli_kl(0.5, 0.25), 6)
    0.143841
    """
    p = check_real(p, "p", "bernoulli_kl", low=0.0, high=1.0, closed="both")
    q = check_real(q, "q", "bernoulli_kl", low=0.0, high=1.0, closed="both")
    if p == q:
        return 0.0
    if (q == 0.0 and p > 0.0) or (q == 1.0 and p < 1.0):
        return math.inf
    first = p * math.log(p / q) if p > 0.0 else 0.0
    second = (1.0 - p) * math.log((1.0 - p) / (1.0 - q)) if p < 1.0 else 0.0
    return max(first + second, 0.0)


def chernoff_kl(
    low_value: float,
    high_value: float,
    size: float,
    ln_delta: float,
    range: tuple[float, float] = (0.0, 1.0),
) -> tuple[float, float]:
    """Return an interval for the mean of a bounded variable that misses with probability at most delta.

    All p with ``size * kl(p_hat, p) <= ln(2/delta)`` after rescaling to [0, 1], for some p_hat in
    ``[low_value, high_value]``. Valid for any variable with values in ``range``; never wider than
    Hoeffding's interval. With ``size = min(n_pos, n_neg)`` it is valid for the ROC AUC, a two-sample
    U-statistic (Hoeffding 1963, section 5).

    Parameters
    ----------
    low_value, high_value : float
        Ends of what is known of the empirical mean, inside ``range``.
    size : float
        Number of independent terms, positive.
    ln_delta : float
        Logarithm of the failure probability, at most 0.
    range : tuple of float, default=(0, 1)
        Finite bounds of the variable.

    Returns
    -------
    low, high : float

    Examples
    --------
    >>> low, high = chernoff_kl(0.85, 0.85, 1000, math.log(0.05))
    >>> round(low, 4), round(high, 4)
    (0.8176, 0.8789)
    """
    size = check_real(size, "size", "chernoff_kl", low=0.0)
    bottom, top = _check_range(range, "chernoff_kl")
    p_low, p_high = _unit(low_value, high_value, bottom, top, "chernoff_kl")
    bound = -ln_side(ln_delta, "chernoff_kl") / size
    low, high = _kl_low(p_low, bound), mirrored(_kl_low(1.0 - p_high, bound))
    return bottom + low * (top - bottom), bottom + high * (top - bottom)


def _kl_low(p: float, bound: float) -> float:
    """Smallest q <= p with kl(p, q) <= bound, rounded down."""
    if p <= 0.0:
        return 0.0
    if p >= 1.0:
        return math.exp(-bound) * (1.0 - OUTWARDS)
    # kl(p, q) >= p ln(p/q) - ln 2, so the root cannot be below this.
    bottom = math.log(p) - (bound + LN_2) / p
    if bottom < -700.0:
        bottom = -700.0
        if bernoulli_kl(p, math.exp(bottom)) <= bound:
            return 0.0

    def gap(log_q: float) -> float:
        return bernoulli_kl(p, math.exp(log_q)) - bound

    top = math.log(p)
    if gap(top) >= 0.0:  # the bound is below rounding error
        return p
    return max(math.exp(root(gap, bottom, top, xtol=1e-14, rtol=1e-14)) - OUTWARDS, 0.0)


def hoeffding_half_width(size: float, ln_delta: float, width: float = 1.0) -> float:
    """Return ``width * sqrt(ln(2/delta) / (2 size))``, which no Chernoff interval exceeds.

    Source: Hoeffding (1963), Theorem 2, for a mean of ``size`` independent terms of range ``width``.

    Examples
    --------
    >>> round(hoeffding_half_width(1000, math.log(0.05)), 5)
    0.04295
    """
    size = check_real(size, "size", "hoeffding_half_width", low=0.0)
    width = check_real(width, "width", "hoeffding_half_width", low=0.0)
    return width * math.sqrt(-ln_side(ln_delta, "hoeffding_half_width") / (2.0 * size))


def hoeffding(
    low_value: float,
    high_value: float,
    size: float,
    ln_delta: float,
    range: tuple[float, float] = (0.0, 1.0),
) -> tuple[float, float]:
    """Return an interval for the mean of independent terms that misses with probability at most delta.

    With ``size = class_mean_size(counts)`` it is valid for balanced accuracy and macro recall.

    Parameters
    ----------
    low_value, high_value : float
        Ends of what is known of the empirical mean, inside ``range``.
    size : float
        Number of independent terms, positive.
    ln_delta : float
        Logarithm of the failure probability, at most 0.
    range : tuple of float, default=(0, 1)
        Finite bounds of the variable.

    Returns
    -------
    low, high : float

    Examples
    --------
    >>> low, high = hoeffding(0.85, 0.85, 1000, math.log(0.05))
    >>> round(low, 4), round(high, 4)
    (0.8071, 0.8929)
    """
    bottom, top = _check_range(range, "hoeffding")
    p_low, p_high = _unit(low_value, high_value, bottom, top, "hoeffding")
    half = hoeffding_half_width(size, ln_delta) * (1.0 + OUTWARDS)
    low, high = max(p_low - half, 0.0), min(p_high + half, 1.0)
    return bottom + low * (top - bottom), bottom + high * (top - bottom)


def class_mean_size(class_counts: tuple[int, ...]) -> float:
    """Return ``C^2 / sum_c (1/n_c)``: the size of a mean of C per-class means, for Hoeffding.

    Examples
    --------
    >>> class_mean_size((50, 50))
    100.0
    """
    if not class_counts:
        raise bad_parameter("class_counts", "class_mean_size", "a non-empty tuple", class_counts)
    counts = [check_integer(c, "class_counts", "class_mean_size") for c in class_counts]
    return len(counts) ** 2 / math.fsum(1.0 / c for c in counts)


def kish_size(weights: ArrayLike) -> float:
    """Return ``W^2 / sum w^2``: the size, for Hoeffding, of a mean with known weights.

    For independent terms ``X_u`` of one range and *fixed* weights the interval holds for the mean of
    ``sum w_u X_u / W`` at these weights. It does not hold for the population's ``E[wX]/E[w]`` when the
    weights are random and go with the terms: use `bounded_weight_size` there.

    Source: Hoeffding (1963), Theorem 2, for terms of range ``w_u / W``; the size is Kish's (1965).

    Examples
    --------
    >>> kish_size([1.0, 1.0, 1.0, 1.0]), kish_size([3.0, 1.0, 0.0])
    (4.0, 1.6)
    """
    array = np.asarray(weights, dtype=np.float64)
    if array.ndim != 1 or not (np.isfinite(array).all() and (array >= 0.0).all() and array.any()):
        raise bad_parameter("weights", "kish_size", "finite numbers of at least 0, not all 0", "others")
    return float(array.sum() ** 2 / np.square(array).sum())


def bounded_weight_size(n: int, mean_weight: float, weight_bound: float) -> float:
    """Return ``n (mean_weight / weight_bound)^2``: the size, for Hoeffding, of ``E[wX]/E[w]``.

    At the true ratio r the n independent terms ``w (X - r)`` have mean 0 and a range of ``weight_bound``, and
    the ratio observed differs from r by their sum over ``n * mean_weight``. The half-width is so
    ``(b / mean_weight) sqrt(ln(2/delta) / (2n))``; for X in [0, 1], others rescaled.

    Source: Hoeffding (1963), Theorem 2.

    Parameters
    ----------
    n : int
        Number of independent terms.
    mean_weight : float
        Observed mean of their weights (or less), in (0, weight_bound].
    weight_bound : float
        What no weight of the population exceeds, known without the sample.

    Examples
    --------
    >>> bounded_weight_size(1000, 0.5, 1.0)
    250.0
    """
    n = check_integer(n, "n", "bounded_weight_size")
    bound = check_real(weight_bound, "weight_bound", "bounded_weight_size", low=0.0)
    mean = check_real(mean_weight, "mean_weight", "bounded_weight_size", low=0.0, high=bound, closed="high")
    return n * (mean / bound) ** 2


def _check_range(bounds: tuple[float, float], owner: str) -> tuple[float, float]:
    low, high = bounds
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise bad_parameter("range", owner, "a pair of finite numbers low < high", bounds)
    return float(low), float(high)


def _unit(low: float, high: float, bottom: float, top: float, owner: str) -> tuple[float, float]:
    low = check_real(low, "low_value", owner, low=bottom, high=top, closed="both")
    high = check_real(high, "high_value", owner, low=low, high=top, closed="both")
    width = top - bottom
    return min(max((low - bottom) / width, 0.0), 1.0), min(max((high - bottom) / width, 0.0), 1.0)
