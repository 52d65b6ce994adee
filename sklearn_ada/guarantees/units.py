r"""Intervals for means of rows that come in groups, or that do not count alike, by bets on sums over a unit.

A unit is what is independent of the others: a row, or a group of rows such as a patient. Unit u gives a
numerator :math:`a_u`, the sum of its rows' values times their weights, and a denominator :math:`b_u`, the sum
of these weights; values are in [0, 1], so that ``0 <= a_u <= b_u``. The target is ``sum E a_u / sum E b_u``:

- at given weights and group sizes the denominators are constants, and it is the mean at these;
- where weights (or group sizes) are drawn with the rows, and no unit can have more than a bound in all, it is
  the population's weighted mean ``E[w x] / E[w]``.

Theorem. Fixed bets on ``z_u(r) = a_u - r b_u`` (`sklearn_ada.guarantees.bets.lowest_ratio`) reject what is at
least the ratio with probability at most delta, if no bet can lose more than all at the largest denominator
that a unit can have: the largest one given, or the bound. So does a wealth of ``U/delta`` where U is drawn
uniformly from [0, 1], beside the rows. The bets may depend on the denominators where these are given, and
on nothing of the rows where they are drawn.

Proof. Units are independent, and ``sum E z_u(r) <= 0``; the rest is that module's theorem, whose wealth is
looked at after the last unit only, and Markov's inequality with a drawn bound (Ramdas, Manole 2023).

Where a guess divides delta among the sides, the test of each ratio has a level of its own, as in that module.

The mean of the means of whole groups is another quantity: it counts a row of a small group for more.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from sklearn_ada._validation import LN_2, bad_parameter, checked
from sklearn_ada.guarantees.bets import Bound, bet_sizes, bounds_of, lowest_ratio
from sklearn_ada.guarantees.intervals import Array, Interval, ln_side, mirrored
from sklearn_ada.guarantees.tilted import LN_LIKELY_SIDE, TiltedMean

__all__ = ["unit_mean_interval"]

_LEAST_UNIFORM = 0.1
_ALIKE = 0.1  # of the variance of a value, foreseen to be common to the rows of a unit
_POINTS = 256  # at which a foreseen law is looked at


@checked(
    most="> 0", expected_mean="[0, 1]", expected_variance=">= 0", ln_delta="<= 0", uniform="[0, 1] or None"
)
def unit_mean_interval(
    numerators: ArrayLike,
    denominators: ArrayLike,
    ln_delta: float,
    *,
    most: float,
    expected_mean: float,
    expected_variance: float,
    uniform: float | None = None,
    tilt: TiltedMean | None = None,
) -> Interval:
    """Return an interval for a mean over units of rows, by bets on their sums.

    It misses with probability at most delta. Units are independent, and may be of different laws. Each side
    gets delta/2.

    Source: theorem of `sklearn_ada.guarantees.units`.

    Parameters
    ----------
    numerators, denominators : array-like of shape (n_units,)
        Sums over a unit of weight times value, and of weights, with ``0 <= numerators <= denominators``.
        Weights are scaled such that a denominator is about 1 on average.
    ln_delta : float
        Logarithm of the failure probability, at most 0; above 1/2 it is treated as 1/2.
    most : float
        The largest denominator that a unit can have.
    expected_mean : float
        Foreseen without the values.
    expected_variance : float
        Foreseen variance of the numerator less the mean times the denominator, of one unit.
    uniform : float or None, default=None
        A number drawn uniformly from [0, 1], independently of the rows: the bound is drawn.
    tilt : TiltedMean or None, default=None
        How a guess divides delta among the sides; None: evenly.

    Returns
    -------
    low, high : float

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> sizes = rng.integers(1, 5, 300) / 2.5
    >>> sums = sizes * rng.uniform(0.0, 0.4, 300)
    >>> foreseen = {"most": 1.6, "expected_mean": 0.2, "expected_variance": 0.017}
    >>> low, high = unit_mean_interval(sums, sizes, math.log(0.05), **foreseen)
    >>> round(low, 3), round(high, 3)
    (0.189, 0.232)
    """
    owner = "unit_mean_interval"
    above, below = (np.asarray(each, dtype=np.float64) for each in (numerators, denominators))
    if above.ndim != 1 or above.shape != below.shape or not len(above):
        raise bad_parameter("denominators", owner, "as many as numerators, at least one", "others")
    if not (above.min() >= 0.0 and (above <= below * (1.0 + 1e-12)).all() and below.max() <= most):
        raise bad_parameter("denominators", owner, "between numerators and 'most'", "others")
    foreseen = {"most": most, "expected_mean": expected_mean, "expected_variance": expected_variance}
    above = np.minimum(above, below)
    return unit_ratio_ends(above, below, ln_delta, **foreseen, uniform=uniform, tilt=tilt)


def foreseen_squares(weights: Array, totals: Array) -> float:
    """Return the variance that is foreseen of all sums over units, if that of a value is 1.

    How rows of one unit go together is unknown. Errors do less than rows, so a tenth of their variance is
    taken to be common to them: that tunes bets and windows, and no guarantee rests on it.

    Parameters
    ----------
    weights : ndarray of shape (n_rows,)
    totals : ndarray of shape (n_units,)
        Sums of the weights over each unit.

    Examples
    --------
    >>> round(foreseen_squares(np.ones(100), np.full(25, 4.0)), 2)  # of 100 rows 130, of 25 sums 5.2 each
    130.0
    """
    return float((1.0 - _ALIKE) * np.square(weights).sum() + _ALIKE * np.square(totals).sum())


def unit_ratio_ends(
    above: Array,
    below: Array,
    ln_delta: float,
    *,
    most: float,
    expected_mean: float,
    expected_variance: float,
    uniform: float | None,
    terms: float | None = None,
    tilt: TiltedMean | None = None,
) -> Interval:
    """Return the interval of `unit_mean_interval`; nothing is checked.

    With ``terms`` the wealth is the geometric mean of the products over so many of them.
    """
    if ln_delta == -math.inf:
        return 0.0, 1.0
    likely = ln_side(ln_delta) if tilt is None else min(ln_delta, -LN_2) + LN_LIKELY_SIDE
    aimed = -max(-likely - (0.0 if uniform is None else LN_2), 0.1)
    n = len(above) if terms is None else terms
    counts = None if terms is None else terms / len(above)
    low_uniform, high_uniform = (1.0, 1.0) if uniform is None else (uniform, 1.0 - uniform)
    reach = math.sqrt(-2.0 * expected_variance * aimed / n) - 2.0 * aimed * most / n

    def low_end(values: Array, mean: float, drawn: float, bound: Bound) -> float:
        # No bet may lose more than all where the end is likely to be: that is below the mean.
        highest = max(mean - 0.5 * reach, 0.5 * mean, 1e-3)
        bets = bet_sizes(max(round(n), 1), aimed, expected_variance, highest * most)
        spared, corners = math.log(max(drawn, _LEAST_UNIFORM)), ([0.0, most, 0.0], [most, most, 0.0])

        def ln_level(ratio: float) -> float:
            return -float(bound(np.asarray(ratio))) - spared

        return lowest_ratio(values, below, ln_level, bets, corners, (0.0, 1.0), counts)

    of_low, of_high = bounds_of(ln_delta, tilt)
    low = low_end(above, expected_mean, low_uniform, of_low)
    return low, mirrored(low_end(below - above, 1.0 - expected_mean, high_uniform, of_high))


def unit_mean_foreseen(
    mean: float,
    n: float,
    ln_delta: float,
    *,
    most: float,
    expected_mean: float,
    expected_variance: float,
    drawn: bool,
    tilt: TiltedMean | None = None,
) -> Interval:
    """Return about where the ends of `unit_mean_interval` will be for n units; no guarantee rests on it.

    They are those of units with a beta law of this mean and of the variance that is foreseen. Where no such
    law varies so much, fewer units have all of the weight.
    """
    near = min(max(mean, 1e-4), 1.0 - 1e-4)
    largest = near * (1.0 - near) / (1.0 + 1e-2)
    weight = max(expected_variance / largest, 1.0)
    total = near * (1.0 - near) / max(expected_variance / weight, 1e-9) - 1.0
    at = (np.arange(_POINTS) + 0.5) / _POINTS
    values = betaincinv(near * total, (1.0 - near) * total, at)
    values = np.clip(values + (near - values.mean()), 0.0, 1.0)
    low, high = unit_ratio_ends(
        weight * values, np.full(_POINTS, weight), ln_delta, most=max(most, weight),
        expected_mean=expected_mean, expected_variance=expected_variance, uniform=0.5 if drawn else None,
        terms=n / weight, tilt=tilt,
    )  # fmt: skip
    return min(low, mean), max(high, mean)
