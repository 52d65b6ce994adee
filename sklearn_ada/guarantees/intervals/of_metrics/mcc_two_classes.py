r"""The lower end for Matthews' correlation of two classes at given shares, by their two rates.

With the shares t and 1 - t of the classes, the recall x of the first and the rate y at which the other is
taken for it, ``q = t x + (1 - t) y`` is the share predicted, and

.. math:: \mathrm{MCC} = (x - y) \sqrt{t (1 - t) / (q (1 - q))}.

It rises in x: the sign of its derivative is that of ``2 q (1 - q) - t (x - y)(1 - 2 q)``. If ``x >= y`` and
``q <= 1/2`` then ``t (x - y) <= q``, so this is at least q; if ``x < y`` and ``q > 1/2`` then
``t (y - x) <= 1 - q``, so it is at least 1 - q; else both terms have one sign. By symmetry it falls in y.

Of m rows of the first class a are predicted as it, of m' of the other b are. For fixed positive l and l',

.. math:: W(x, y) = e^{l a - m \ln(1 - x + x e^l)} \, e^{-l' b - m' \ln(1 - y + y e^{-l'})}

has a mean of at most 1 for independent rows, within a class of one law or not (inequality of the means). So
but for .9 of the level delta a weighted mean of three of them, of sizes fixed without the rows, is below
1/(.9 delta) at the rates of the population. But for the last tenth these are in a box, of two intervals of
Clopper and Pearson. So r is rejected if the mean is not below at any pair of rates in the box with MCC <=
r. W falls in x and rises in y, so its least value is on the curve MCC = r, along which y rises with x;
between two points of the curve it is at least ``W(x_2, y_1)``, by which pieces of the curve are rejected,
the others being halved.

In one dimension this is Chernoff's bound. Two intervals of Clopper and Pearson at delta/2, whose opposite
corners are an interval as well, are a tenth to a sixth wider.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sklearn_ada._solving import largest_integer
from sklearn_ada.guarantees.intervals.clopper_pearson import clopper_pearson

__all__ = ["binary_mcc", "binary_mcc_low"]

_MULTIPLES = np.array((0.6, 1.0, 1.6))
_WEIGHTS = np.array((0.2, 0.6, 0.2))
_STEEPEST = 30.0  # any exponent is valid, and this one can be computed
_LN_BOX = -math.log(20.0)  # share of the level for each of the two sides of the box
_LN_BETS = math.log1p(-0.1)
_MARGIN = 1e-9  # of logarithms, against rounding errors
_PIECES = 64
_ROUNDS = 12
_MOST_PIECES = 256
_STEP = 2.0**-19  # of the coefficients that are tried

Array = NDArray[np.float64]


def binary_mcc(share: float, recall: float, false_rate: float) -> float:
    """Return Matthews' correlation of two classes; 0 where it is not defined.

    Examples
    --------
    >>> round(binary_mcc(0.1, 0.8, 10 / 900), 4)
    0.827
    """
    predicted = share * recall + (1.0 - share) * false_rate
    if not 0.0 < predicted < 1.0:
        return 0.0
    return (recall - false_rate) * math.sqrt(share * (1.0 - share) / (predicted * (1.0 - predicted)))


def binary_mcc_low(counts: Array, expected: Array, ln_level: float) -> float:
    """Return the lower end for Matthews' correlation of two classes at their shares, at the level given.

    Parameters
    ----------
    counts : ndarray of shape (2, 2)
        How many rows have each class (first axis) and prediction (second); both classes have rows.
    expected : ndarray of shape (2, 2)
        Of other rows, by which the exponents are chosen.
    ln_level : float
        Logarithm of the level, negative.

    Returns
    -------
    float
        In [-1, 1], to 2e-6, rounded down.

    Examples
    --------
    >>> seen, expected = np.array([[80.0, 20.0], [10.0, 890.0]]), np.array([[160.0, 40.0], [30.0, 1770.0]])
    >>> round(binary_mcc_low(seen, expected, math.log(0.025)), 4)  # the coefficient is .8270
    0.7274
    """
    sizes = counts.sum(axis=1)
    share = float(sizes[0] / sizes.sum())
    rising, falling = _exponents(sizes, share, expected, ln_level)
    spent = rising * counts[0, 0] - falling * counts[1, 0]

    def ln_wealth(x: Array, y: Array) -> Array:
        up = np.log1p(np.multiply.outer(x, np.expm1(rising)))
        down = np.log1p(np.multiply.outer(y, np.expm1(-falling)))
        each = spent - sizes[0] * up - sizes[1] * down
        top = each.max(axis=-1)
        return np.asarray(top + np.log(np.exp(each - top[..., None]) @ _WEIGHTS))

    box = tuple(
        clopper_pearson(int(row[0]), int(row[0]), int(size), ln_level + _LN_BOX)
        for row, size in zip(counts, sizes, strict=True)
    )

    least = _MARGIN - ln_level - _LN_BETS

    def rejects(steps: int) -> bool:
        return _is_rejected(steps * _STEP - 1.0, share, box, ln_wealth, least)

    most = round(2.0 / _STEP) - 1
    return largest_integer(rejects, most, start=(most + 1) // 2) * _STEP - 1.0


def _is_rejected(
    ratio: float,
    share: float,
    box: tuple[tuple[float, float], ...],
    ln_wealth: Callable[[Array, Array], Array],
    least: float,
) -> bool:
    """Return whether wealth is enough at all rates of the box with a coefficient up to ``ratio``."""
    x = np.linspace(*box[0], _PIECES + 1)
    low, high = x[:-1], x[1:]
    for _ in range(_ROUNDS):
        y, y_high = (np.maximum(_false_rates(ratio, share, ends), box[1][0]) for ends in (low, high))
        possible = (
            y <= box[1][1]
        )  # from the first x on at which it is not, the coefficient is larger in the box
        low, high, y, y_high = low[possible], high[possible], y[possible], y_high[possible]
        reached = y_high <= box[1][1]
        if np.any(ln_wealth(high[reached], y_high[reached]) < least):
            return False
        left = ln_wealth(high, y) < least
        if not left.any():
            return True
        low, high = low[left], high[left]
        middle = 0.5 * (low + high)
        low, high = np.concatenate((low, middle)), np.concatenate((middle, high))
        if len(low) > _MOST_PIECES:
            break
    return False


def _false_rates(ratio: float, share: float, x: Array) -> Array:
    """Return the y at which the coefficient is ``ratio``, negative or above 1 where there is none."""
    rest, square = 1.0 - share, ratio * ratio
    both = share * rest
    second = both + square * rest * rest
    first = -2.0 * both * x - square * rest * (1.0 - 2.0 * share * x)
    last = both * x * x - square * share * x * (1.0 - share * x)
    root = np.sqrt(np.maximum(first * first - 4.0 * second * last, 0.0))
    y = (-first - math.copysign(1.0, ratio) * root) / (2.0 * second)
    return np.asarray(y - 1e-14)


def _exponents(sizes: Array, share: float, expected: Array, ln_level: float) -> tuple[Array, Array]:
    """Return the exponents that weigh the two rates as the coefficient does where foreseen."""
    known = expected.sum(axis=1)
    x, y = (expected[:, 0] + 0.5) / (known + 1.0)
    step = 1e-6
    slopes = (
        (binary_mcc(share, x + step, y) - binary_mcc(share, x - step, y)) / (2.0 * step),
        (binary_mcc(share, x, y - step) - binary_mcc(share, x, y + step)) / (2.0 * step),
    )
    variance = sum(
        slope**2 * rate * (1.0 - rate) / size for slope, rate, size in zip(slopes, (x, y), sizes, strict=True)
    )
    best = math.sqrt(-2.0 * ln_level / variance)
    rising, falling = (
        np.minimum(best * slope / size * _MULTIPLES, _STEEPEST)
        for slope, size in zip(slopes, sizes, strict=True)
    )
    return rising, falling
