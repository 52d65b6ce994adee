r"""Tests of a mean, or of a ratio of two means, by bets whose sizes are fixed before the rows are looked at.

Most intervals of `sklearn_ada.guarantees.intervals.of_metrics` are made of them. The mean of a loss or
score has the published variant instead (`sklearn_ada.guarantees.intervals.betting`), whose bets weigh alike
and are capped for each mean that is tested.

Row i gives a numerator :math:`a_i` and a denominator :math:`b_i`; the ratio is ``sum E a_i / sum E b_i``, for
a mean all denominators are 1. Someone who bets that the ratio is above r gains or loses a share
:math:`l z_i(r)` of the wealth with each row, ``z_i(r) = a_i - r b_i``. A wealth of 1 is divided among five
sizes l of the bets, by weights w. After the last row it is

.. math:: M(r) = \sum_{j=1}^{5} w_j \prod_{i=1}^{n} (1 + l_j z_i(r)).

Theorem. If the rows are independent, of one law or not, ``1 + l_j z_i(r) >= 0`` for all outcomes that a row
can have, and the ratio is at most r, then ``E M(r) <= 1``, so that ``M(r) >= 1/delta`` with probability at
most delta.

Proof. By independence the expectation of a product is the product of ``1 + l E z_i(r)``, which by the
inequality of the means is at most the n-th power of their average, ``1 + l (sum E a_i - r sum E b_i)/n``, and
that is at most 1. Then Markov's inequality.

For rows of different laws the wealth may be looked at only after the last row: on the way the bet on the
classes that come first may be far above 1. Where all :math:`b_i \ge 0`, M falls in r, and the largest r
that is rejected is the lower end. A bet that could lose more than all at some r has no wealth from that r
on, so M still falls.

The sizes are multiples of the best one, ``sqrt(2 ln(1/delta) / (n V))``, which has most of the weight, for
a variance V of z foreseen without these rows: a variance foreseen wrongly by a factor of four costs some 15
% of the width, and no validity.

Source: Waudby-Smith, Ramdas, "Estimating means of bounded random variables by betting", JRSS B 86 (2024); the
inequality of the means for unequal rows as in Hoeffding (1963), section 2.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_ada._checks import bad_parameter, check_integer, check_real
from sklearn_ada._solving import enclosed_root
from sklearn_ada.guarantees.intervals._sides import ln_side

__all__ = ["bet_sizes", "fixed_bets_mean", "ln_products", "ln_wealth", "lowest_ratio"]

_MULTIPLES = np.array((0.4, 0.7, 1.0, 1.4, 2.0))
_WEIGHTS = np.array((0.1, 0.2, 0.4, 0.2, 0.1))
_MOST_LOST = 0.95  # of the wealth, by one row at the ratio foreseen
_ALL = 1.0 - 1e-12  # a bet that can lose more has no wealth
_BLOCK = 65_536  # rows at a time, so that memory does not grow with n
_FACTORS = 16  # multiplied before a logarithm is taken: within the range of floats from 1e-12 on
_MARGIN = 1e-9  # of logarithms, against rounding errors
_HALVINGS = 32


def bet_sizes(n: int, ln_level: float, variance: float, most_lost: float) -> NDArray[np.float64]:
    """Return the five sizes of the bets, fixed without the rows.

    Parameters
    ----------
    n : int
        Number of rows.
    ln_level : float
        Logarithm of the level of the test, negative.
    variance : float
        Foreseen variance of one row's z, at least 0.
    most_lost : float
        What ``-z`` can be at most at the ratios that matter, positive. No bet loses more than .95 of its
        wealth there with one row.

    Returns
    -------
    ndarray of shape (5,)

    Examples
    --------
    >>> bet_sizes(1000, math.log(0.025), 0.1, 1.0).round(3).tolist()
    [0.109, 0.19, 0.272, 0.38, 0.543]
    """
    owner = "bet_sizes"
    n = check_integer(n, "n", owner)
    level = check_real(ln_level, "ln_level", owner, high=0.0)
    variance = check_real(variance, "variance", owner, low=0.0, closed="low")
    most_lost = check_real(most_lost, "most_lost", owner, low=0.0)
    variance = max(variance, most_lost**2 * 1e-12)
    best = math.sqrt(-2.0 * level / (n * variance))
    return np.minimum(best * _MULTIPLES, _MOST_LOST / most_lost)


def ln_wealth(
    numerator: NDArray[np.float64],
    denominator: NDArray[np.float64] | float,
    ratio: float,
    bets: NDArray[np.float64],
    counts: NDArray[np.float64] | None = None,
) -> float:
    """Return the logarithm of the wealth after the last row, of bets that the ratio is above ``ratio``.

    Parameters
    ----------
    numerator : ndarray of shape (n_rows,)
    denominator : ndarray of shape (n_rows,) or float
    ratio : float
    bets : ndarray of shape (n_bets,)
        The first of `bet_sizes`' five, at which no factor is negative. The wealth of the others is unused.
    counts : ndarray of shape (n_rows,), optional
        How often each row occurs, by default once. Given, all rows are taken at a time.

    Examples
    --------
    >>> rows = np.array([1.0, 0.0, 1.0, 1.0])
    >>> round(math.exp(ln_wealth(rows, 1.0, 0.5, np.array([0.5] * 5))), 4)  # 1.25^3 * .75
    1.4648
    """
    if bets.size == 0:
        return -math.inf
    if counts is None:
        sums = ln_products(numerator, denominator, ratio, bets)
    else:
        sums = np.log1p(np.multiply.outer(bets, numerator - ratio * denominator)) @ counts
    top = float(sums.max())
    if top == -math.inf:
        return top
    return top + math.log(math.fsum(_WEIGHTS[: bets.size] * np.exp(sums - top)))


def ln_products(
    numerator: NDArray[np.float64],
    denominator: NDArray[np.float64] | float,
    ratio: float,
    bets: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the logarithm of what each bet alone makes of a wealth of 1; few logarithms are taken.

    Parameters are those of `ln_wealth`.

    Examples
    --------
    >>> np.exp(ln_products(np.array([1.0, 0.0, 1.0, 1.0]), 1.0, 0.5, np.array([0.5, 1.0]))).round(4).tolist()
    [1.4648, 1.6875]
    """
    sums = np.zeros(len(bets))
    for start in range(0, len(numerator), _BLOCK):
        rows = slice(start, start + _BLOCK)
        below = denominator[rows] if isinstance(denominator, np.ndarray) else denominator
        gains = numerator[rows] - ratio * below
        whole = len(gains) // _FACTORS * _FACTORS
        factors = np.empty_like(gains)
        for j, bet in enumerate(bets):
            np.multiply(gains, bet, out=factors)
            factors += 1.0
            products = factors[:whole].reshape(_FACTORS, -1).prod(axis=0)
            sums[j] += np.log(products).sum() + np.log(factors[whole:]).sum()
    return sums


def lowest_ratio(
    numerator: NDArray[np.float64],
    denominator: NDArray[np.float64] | float,
    ln_level: float,
    *,
    bets: NDArray[np.float64],
    corners: tuple[ArrayLike, ArrayLike],
    bracket: tuple[float, float],
    counts: NDArray[np.float64] | None = None,
) -> float:
    """Return the lower end for a ratio of means, which is above the ratio with probability at most the level.

    Theorem of `sklearn_ada.guarantees.intervals.fixed_bets`. The upper end is minus the lower one with the
    numerator negated.

    Parameters
    ----------
    numerator, denominator, counts
        As for `ln_wealth`; no denominator that a row can have is negative.
    ln_level : float
        Logarithm of the level.
    bets : ndarray of shape (5,)
        From `bet_sizes`.
    corners : tuple of array-like of shape (n_corners,)
        Numerators and denominators such that every outcome that a row can have, observed or not, is one of
        them or between them.
    bracket : tuple of float
        The ratio is known to be in it.

    Returns
    -------
    float
        The largest ratio that is rejected, to 2^-32 of the bracket, rounded down; the bracket's lower end if
        none is.

    Examples
    --------
    >>> rows = np.random.default_rng(0).random(1000)
    >>> bets = bet_sizes(1000, math.log(0.025), 1 / 12, 0.5)
    >>> low = lowest_ratio(rows, 1.0, math.log(0.025), bets=bets, corners=([0, 1], [1, 1]), bracket=(0, 1))
    >>> round(float(rows.mean()), 4), round(low, 4)
    (0.5169, 0.4911)
    """
    tops, bottoms = (np.asarray(side, dtype=np.float64) for side in corners)

    def rejected_by(ratio: float) -> float:
        """Return how far the wealth is above what rejects the ratio, in nats."""
        most_lost = float(np.max(ratio * bottoms - tops))
        usable = bets[bets * most_lost <= _ALL]
        wealth = ln_wealth(numerator, denominator, ratio, usable, counts)
        return max(wealth + ln_level - _MARGIN, -1e6)

    low, _ = enclosed_root(rejected_by, *bracket, rising=False, halvings=_HALVINGS)
    return low


def fixed_bets_mean(
    values: ArrayLike, ln_delta: float, *, expected_mean: float, expected_variance: float
) -> tuple[float, float]:
    """Return an interval for the mean of values in [0, 1] that misses with probability at most delta.

    Rows are independent and may be of different laws, as at a fixed class mix; the mean is that of their
    expectations. Each side gets delta/2.

    Parameters
    ----------
    values : array-like of shape (n_rows,)
        In [0, 1].
    ln_delta : float
        Logarithm of the failure probability, at most 0; above 1/2 it is treated as 1/2.
    expected_mean : float
        Mean foreseen without these rows, in [0, 1].
    expected_variance : float
        Variance of one row's value foreseen without these rows, at least 0.

    Returns
    -------
    low, high : float

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> rows = np.random.default_rng(0).random(1000)
    >>> low, high = fixed_bets_mean(rows, math.log(0.05), expected_mean=0.5, expected_variance=1 / 12)
    >>> round(low, 4), round(high, 4)  # Hoeffding's: .4740 to .5599
    (0.4911, 0.5425)
    """
    owner = "fixed_bets_mean"
    rows = np.asarray(values, dtype=np.float64)
    if rows.ndim != 1 or rows.size == 0 or not (rows.min() >= 0.0 and rows.max() <= 1.0):
        raise bad_parameter("values", owner, "a non-empty array of numbers in [0, 1]", "others")
    level = ln_side(ln_delta, owner)
    mean = check_real(expected_mean, "expected_mean", owner, low=0.0, high=1.0, closed="both")
    variance = check_real(expected_variance, "expected_variance", owner, low=0.0, closed="low")
    reach = math.sqrt(-2.0 * variance * level / rows.size) - 2.0 * level / rows.size

    def low_end(values: NDArray[np.float64], mean: float) -> float:
        bets = bet_sizes(rows.size, level, variance, min(mean + reach, 1.0))
        return lowest_ratio(
            values, 1.0, level, bets=bets, corners=([0.0, 1.0], [1.0, 1.0]), bracket=(0.0, 1.0)
        )

    return low_end(rows, mean), 1.0 - low_end(1.0 - rows, 1.0 - mean)
