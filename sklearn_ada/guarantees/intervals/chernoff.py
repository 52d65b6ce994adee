"""Chernoff's interval for a bounded mean, by the Kullback-Leibler divergence; also for the ROC AUC.

Source: Chernoff (1952); Hoeffding (1963), Theorem 1 and section 5a.
"""

from __future__ import annotations

import math

from sklearn_ada._checks import check_real
from sklearn_ada._constants import LN_2, OUTWARDS
from sklearn_ada._solving import root
from sklearn_ada.guarantees.intervals._sides import check_range, ln_side, mirrored, to_unit

__all__ = ["bernoulli_kl", "chernoff_kl"]


def bernoulli_kl(p: float, q: float) -> float:
    """Return the divergence kl(p, q) of two Bernoulli laws in nats (``inf`` where q excludes p).

    Parameters
    ----------
    p, q : float
        Probabilities, in [0, 1].

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
    bottom, top = check_range(range, "chernoff_kl")
    p_low, p_high = to_unit(low_value, high_value, bottom, top, "chernoff_kl")
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
