r"""Intervals for a ratio of two counts, such as precision, whose denominator is random, too.

Nothing but the two counts is needed. From a whole confusion matrix, at given class shares, see
`sklearn_ada.guarantees.intervals.of_metrics.f_beta_kappa_jaccard`.

Of n independent records H are hits and N >= H count in the denominator; ``r = E[H] / E[N]`` is the population
value. *Given* N the hits are binomial only if all records follow one law, which they do not at a fixed class
mix, so what is used here does not condition on N.

Theorem. For independent records, not necessarily of one law, and any fixed l, of either sign,

.. math:: E \exp(l H - N \ln(1 - r + r e^l)) \le 1.

Proof. Let record i be in the denominator with probability ``d_i`` and a hit with probability ``h_i``, and
``z = 1 - r + r e^l``. Its factor of the expectation is ``1 + h_i (e^l - 1)/z + d_i (1/z - 1)``. By the
inequality of the means the product is at most the n-th power of the mean factor, in which the sums
``r sum d_i`` and ``sum d_i`` stand for those of h_i and d_i: ``r (e^l - 1)/z + 1/z - 1 = 0``, so it is 1.

By Markov's inequality, except with probability delta/2 each, with s = H/N and ``x = ln(2/delta)``,

.. math:: r \ge \frac{e^{l s - x/N} - 1}{e^l - 1}, \qquad
          1 - r \ge \frac{e^{m (1 - s) - x/N} - 1}{e^m - 1}

for positive l and m fixed in advance. Nine tenths of delta are for the l and m at which the interval is
Chernoff's where size and share are as expected; where N is twice or half as large, it is some 6 % wider.
A tenth is for ``l = m = sqrt(8 x/N)``, at the N expected, so that a share that was not expected is not much
worse than Hoeffding's.
"""

from __future__ import annotations

import math

from sklearn_ada._checks import check_real
from sklearn_ada._constants import OUTWARDS
from sklearn_ada.guarantees.intervals._sides import ln_side, mirrored
from sklearn_ada.guarantees.intervals.chernoff import chernoff_kl

__all__ = ["ratio_half_width", "ratio_interval"]

_LN_LEVEL = -math.log(10.0)
_LN_TUNED = math.log1p(-0.1)
_STEEPEST = 700.0  # any exponent is valid, and this one can be computed


def ratio_interval(
    low_share: float,
    high_share: float,
    size: float,
    ln_delta: float,
    *,
    expected_share: float,
    expected_size: float,
) -> tuple[float, float]:
    """Return an interval for ``E[H] / E[N]`` that misses with probability at most delta.

    Theorem of `sklearn_ada.guarantees.intervals.of_metrics.ratio_of_counts`.

    Parameters
    ----------
    low_share, high_share : float
        The share H / N is known to be in ``[low_share, high_share]``, within [0, 1].
    size : float
        A denominator that N is known not to be below, positive.
    ln_delta : float
        Logarithm of the failure probability, at most 0; above 1/2 it is treated as 1/2.
    expected_share, expected_size : float
        What share, in [0, 1], and denominator, at least 1, are expected to be; fixed without the holdout.

    Returns
    -------
    low, high : float

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> low, high = ratio_interval(0.85, 0.85, 1000, math.log(0.05), expected_share=0.85, expected_size=1000)
    >>> round(low, 4), round(high, 4)
    (0.8172, 0.8793)
    """
    owner = "ratio_interval"
    low_share = check_real(low_share, "low_share", owner, low=0.0, high=1.0, closed="both")
    high_share = check_real(high_share, "high_share", owner, low=low_share, high=1.0, closed="both")
    size = check_real(size, "size", owner, low=0.0)
    expected_size = check_real(expected_size, "expected_size", owner, low=1.0, closed="low")
    nats = -ln_side(ln_delta, owner)
    tuned, level = nats - _LN_TUNED, nats - _LN_LEVEL
    below, above = _exponents(ln_delta, expected_share, expected_size, owner)
    flat = _flat(level, expected_size)
    low = max(_low(low_share, below, tuned / size), _low(low_share, flat, level / size))
    miss = max(_low(1.0 - high_share, above, tuned / size), _low(1.0 - high_share, flat, level / size))
    return low, mirrored(miss)


def ratio_half_width(size: float, ln_delta: float, *, expected_size: float) -> float:
    """Return half the width that no interval exceeds at this denominator, whatever the share and its guess.

    Parameters
    ----------
    size, ln_delta, expected_size : float
        As for `ratio_interval`.

    Returns
    -------
    float
        From 1/2 on it is vacuous.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(ratio_half_width(1000, math.log(0.05), expected_size=1000), 4)
    0.0547
    """
    owner = "ratio_half_width"
    size = check_real(size, "size", owner, low=0.0)
    expected_size = check_real(expected_size, "expected_size", owner, low=1.0, closed="low")
    level = -ln_side(ln_delta, owner) - _LN_LEVEL
    exponent, rate = _flat(level, expected_size), level / size
    # The end is convex in the share, or 0: this is where it is furthest from it.
    furthest = min((rate + math.log(math.expm1(exponent) / exponent)) / exponent, 1.0)
    return furthest - _low(furthest, exponent, rate)


def _exponents(ln_delta: float, share: float, size: float, owner: str) -> tuple[float, float]:
    """Return l and m, at which both ends are Chernoff's if all is as expected."""
    share = check_real(share, "expected_share", owner, low=0.0, high=1.0, closed="both")
    inside = min(max(share, 1.0 / (size + 2.0)), 1.0 - 1.0 / (size + 2.0))
    low, high = chernoff_kl(inside, inside, size, ln_delta + _LN_TUNED)
    return _log_odds_between(low, inside), _log_odds_between(1.0 - high, 1.0 - inside)


def _log_odds_between(low: float, share: float) -> float:
    if low <= 0.0:
        return _STEEPEST
    difference = math.log(share) - math.log(low) + math.log1p(-low) - math.log1p(-share)
    return min(max(difference, OUTWARDS), _STEEPEST)


def _low(share: float, exponent: float, rate: float) -> float:
    power = exponent * share - rate
    return 0.0 if power <= 0.0 else math.expm1(power) / math.expm1(exponent) * (1.0 - OUTWARDS)


def _flat(level: float, expected_size: float) -> float:
    """Return the exponent that is best for the largest variance there can be."""
    return min(math.sqrt(8.0 * level / expected_size), _STEEPEST)
