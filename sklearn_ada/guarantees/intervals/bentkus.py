"""Bentkus's interval for a bounded mean or an AUC, narrower than Chernoff's.

Chernoff's bound compares the sum with a binomial variable by exponentials. Bentkus (2004) does by functions
``(x - t)+``, of which every exponential is a mixture, so the bound is never larger: about the binomial tail
itself, times e.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from sklearn_ada._checks import check_integer, check_real
from sklearn_ada._constants import OUTWARDS
from sklearn_ada._solving import enclosed_root
from sklearn_ada.guarantees.intervals._sides import check_range, ln_side, mirrored, to_unit
from sklearn_ada.guarantees.intervals.chernoff import chernoff_kl

__all__ = ["bentkus"]

_DEVIATIONS = 60.0  # of a window of counts, in sqrt(n): no float holds the mass beyond it
_MOST = 60.0  # a term e^60 times that at the value decides the sign of any sum
_VACUOUS = 700.0  # nats from which Chernoff's bound is as good


def bentkus(
    low_value: float,
    high_value: float,
    size: int,
    ln_delta: float,
    range: tuple[float, float] = (0.0, 1.0),
) -> tuple[float, float]:
    """Return an interval for the mean of a bounded variable that misses with probability at most delta.

    All p are excluded for which ``inf_t E(Bin(n, p) - t)+ / (s - t)`` is at most delta/2, with s the observed
    sum, and mirrored. Valid for independent variables with values in ``range``, and with
    ``size = min(n_pos, n_neg)`` for the ROC AUC; never wider than Chernoff's interval, which bounds the same
    tail.

    Proof: ``(x - t)+ / (s - t)`` is at least ``1(x >= s)`` and convex. Of all independent sums in [0, n] with
    mean ``n p`` the binomial has the largest mean of a convex function (Hoeffding 1963, section 5, for equal
    means; Hoeffding 1956 for others). A two-sample U-statistic is an average of such sums, one for each
    matching of the smaller class, and the mean of a convex function of an average is at most the average of
    the means. The best t is an integer, since the numerator is linear in between.

    Source: Bentkus (2004), *On Hoeffding's inequalities*, Annals of Probability 32.

    Parameters
    ----------
    low_value, high_value : float
        Ends of what is known of the empirical mean, inside ``range``.
    size : int
        Number n of independent terms.
    ln_delta : float
        Logarithm of the failure probability, at most 0.
    range : tuple of float, default=(0, 1)
        Finite bounds of the variable.

    Returns
    -------
    low, high : float

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> low, high = bentkus(0.9, 0.9, 100, math.log(0.05))
    >>> round(low, 4), round(high, 4)  # Chernoff: .7997 and .9621
    (0.8147, 0.9544)
    """
    n = check_integer(size, "size", "bentkus")
    bottom, top = check_range(range, "bentkus")
    p_low, p_high = to_unit(low_value, high_value, bottom, top, "bentkus")
    side = check_real(ln_side(ln_delta, "bentkus"), "ln_delta", "bentkus", high=0.0, closed="high")
    low, high = _low(p_low, n, side), mirrored(_low(1.0 - p_high, n, side))
    return bottom + low * (top - bottom), bottom + high * (top - bottom)


def _low(value: float, n: int, side: float) -> float:
    """Largest p that is surely excluded, as too low for this mean; 0 if none is."""
    chernoff = chernoff_kl(value, value, n, side + math.log(2.0))[0]
    total = value * n
    if value <= 0.0 or -side > _VACUOUS:
        return chernoff
    if value >= 1.0:
        return math.exp(side / n) * (1.0 - OUTWARDS)  # the tail is p^n, and t may be as near n as one likes
    tail = _Tail(n, total)
    if chernoff >= value * (1.0 - 1e-9):
        return chernoff
    low, _ = enclosed_root(lambda p: tail.ln_bound(p) - side, max(chernoff, 1e-300), value)
    return max(low * (1.0 - OUTWARDS), chernoff)


class _Tail:
    """Bentkus's bound of ``P[sum >= total]`` as a function of p."""

    def __init__(self, n: int, total: float) -> None:
        reach = math.ceil(_DEVIATIONS * math.sqrt(n)) + 100
        first, last = max(0, math.floor(total) - reach), min(n, math.ceil(total) + reach)
        self.counts: NDArray[np.float64] = np.arange(first, last + 1, dtype=np.float64)
        self.above = self.counts - total
        self.total, self.n = total, n
        self.at = math.ceil(total) - first  # the count that the others are compared with
        choose = -gammaln(self.counts + 1.0) - gammaln(n - self.counts + 1.0)
        self.choose = choose - choose[self.at]
        self.ln_choose_at = float(gammaln(n + 1.0) + choose[self.at])

    def ln_bound(self, p: float) -> float:
        """Logarithm of the least of ``E(Bin - t)+ / (total - t)`` over integers t, at most 0."""
        logit = math.log(p) - math.log1p(-p)
        masses = np.exp(np.minimum(self.choose + (self.counts - self.counts[self.at]) * logit, _MOST))
        # E[(Bin - total) 1(Bin > t)] rises in t; the bound is least at the first t where it is not negative.
        tails = np.cumsum((masses * self.above)[::-1])[::-1]
        k = int(np.argmax(tails >= 0.0))  # the first count that belongs to the sum: t = that count - 1
        t = max(self.counts[k] - 1.0, 0.0)
        if t >= self.total:
            t = self.counts[k] - 2.0  # total is a whole number and no count below it belongs
        where = slice(max(int(t - self.counts[0]), 0), None)
        numerator = float(((self.counts[where] - t) * masses[where]).sum())
        ln_at = self.ln_choose_at + self.counts[self.at] * math.log(p)
        ln_at += (self.n - self.counts[self.at]) * math.log1p(-p)
        return float(min(ln_at + math.log(numerator) - math.log(self.total - t), 0.0))
