"""Intervals for a bounded mean by betting: about as wide as the normal interval, and valid for every n.

These are the published procedures, which serve the mean of a loss or score;
`sklearn_ada.guarantees.intervals.fixed_bets` is for ratios too, weighs its bets and fixes their sizes once
for all ratios, where fixed bets here weigh alike and are capped for each mean that is tested.

To test whether the mean of variables in [0, 1] is m or less, start with a wealth of 1 and bet on each row
that it is above m: the wealth is multiplied by ``1 + l (x - m)``, with a stake l of at most ``.95 / m``, so
that it stays positive. Were the mean at most m, the wealth could not be expected to grow, and is above
``2 / delta`` with probability at most ``delta / 2`` (Markov; at any time, Ville). All m that are so rejected
are below the interval; the upper end is that of ``1 - x``. The stakes may depend on anything but the rows to
come, and need to know the variance of a row to be good: a guess of it tunes them. A wrong guess costs width,
never validity.

*Predictable bets* are for independent rows of one law: the stake of each row is set after the rows before it
(Waudby-Smith, Ramdas 2024; the stakes are those of Voracek, Orabona 2025). The rows must come in an order
that neither the rows nor the asker decide.

Few rows far from the others, as of a log loss, cost such bets dearly: the wealth jumps past the bound, or
ends just below it. Two things mend half of that. *Leaning stakes*: more is staked on the side of the long
tail and less against it, by the skewness of the rows before. *A drawn bound*: if U is drawn uniformly from
[0, 1], beside the rows, then the last wealth W is above ``2 U / delta`` with probability ``E min(1, W delta
/ 2)``, at most ``delta / 2`` where W is not expected to grow (Ramdas, Manole 2023). So what is left at the
end counts in part instead of being lost. A U below .1 is taken for .1, which can only widen the interval: at
levels below a fifth no lucky draw alone rejects anything. The two ends take U and 1 - U, so that they are not
lucky at once.

*Fixed bets* hold for independent rows of different laws too, as rows at a fixed class mix are: with means
``mu_i`` of average mu and one stake l, ``E prod (1 + l (x_i - m)) = prod (1 + l (mu_i - m))``, which is at
most ``(1 + l (mu - m))^n``, the geometric mean being at most the arithmetic one; so at most 1 at m = mu.
That is true after the last row only: while the wealth is looked at in between, sorted rows make it pass any
bound. The wealth is the mean over five stakes, and falls in m: a stake that is capped at ``.95 / m`` makes
the factor ``.05 + .95 x / m``. So the end is where it crosses ``2 / delta``.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri_exp

from sklearn_ada._checks import bad_parameter, check_real
from sklearn_ada._constants import OUTWARDS
from sklearn_ada._solving import enclosed_root
from sklearn_ada.guarantees.intervals._sides import ln_side, mirrored
from sklearn_ada.guarantees.intervals.fixed_bets import ln_products

__all__ = ["MOST_ROWS_ONE_BY_ONE", "betting_fixed", "betting_half_width", "betting_predictable"]

MOST_ROWS_ONE_BY_ONE = 100_000
"""Predictable bets take some ten microseconds a row and side; with more rows fixed bets are as narrow."""

_Column = NDArray[np.float64]

_STAKES = np.array([0.4, 0.7, 1.0, 1.4, 2.0])
_CAP = 0.95
_LEAST_MEAN = 1e-12
_PRIOR_ROWS = 2.0  # the guess of the variance counts as so many rows,
_PRIOR_SHARE = 0.02  # or, where stakes lean, as this share of all rows if that is more
_LEAN = 1.2  # times skewness / sqrt(n) is added to the factor of a leaning stake, and to this:
_UPRIGHT, _LEAST_FACTOR, _MOST_FACTOR = 0.9, 0.6, 1.2  # all four by trial, on losses with long tails
_LEAST_UNIFORM = 0.1
_LEAST_VARIANCE = 1e-10


def betting_fixed(values: ArrayLike, variance: float, ln_delta: float) -> tuple[float, float]:
    """Return an interval for the mean that misses with probability at most delta, by fixed bets.

    For independent rows in [0, 1], whose laws may differ: the interval is for the mean of their means.

    Source: Waudby-Smith, Ramdas (2024), for the wealth as evidence; the module's text proves it for rows of
    different laws.

    Parameters
    ----------
    values : array-like of shape (n,)
        In [0, 1]. Their order does not matter.
    variance : float
        What the variance of one row is guessed to be without these rows, at least 0. It tunes the stakes.
    ln_delta : float
        Logarithm of the failure probability, at most 0.

    Returns
    -------
    low, high : float

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> values = np.tile([0.0, 0.1, 0.1, 0.2], 250)
    >>> low, high = betting_fixed(values, 0.005, math.log(0.05))
    >>> round(low, 4), round(high, 4)
    (0.0934, 0.1063)
    """
    x, variance = _checked(values, variance, "betting_fixed")
    bound = -ln_side(ln_delta, "betting_fixed")
    if not math.isfinite(bound):
        return 0.0, 1.0
    return _low_of_fixed(x, variance, bound), mirrored(_low_of_fixed(1.0 - x, variance, bound))


def betting_predictable(
    values: ArrayLike, variance: float, ln_delta: float, grid: ArrayLike, *, uniform: float | None = None
) -> tuple[float, float]:
    """Return an interval for the mean that misses with probability at most delta, by predictable bets.

    For independent rows of one law, in an order that does not depend on them.

    Source: Waudby-Smith, Ramdas (2024), Theorem 3; stakes of Voracek, Orabona (2025). With ``uniform``:
    Ramdas, Manole (2023), Theorem 1.2, a form of Markov's inequality with a drawn bound.

    Parameters
    ----------
    values : array-like of shape (n,)
        In [0, 1], in the order of the bets. Never one that the rows, or whoever asks, decided: draw it.
    variance : float
        What the variance of one row is guessed to be without these rows, at least 0.
    ln_delta : float
        Logarithm of the failure probability, at most 0.
    grid : array-like of shape (k,)
        Rising numbers in (0, 1), fixed without these rows. Both ends are on it, or are 0 and 1 where not even
        its outermost number is rejected.
    uniform : float or None, default=None
        A number drawn uniformly from [0, 1], independently of the rows: the bound is drawn and stakes lean
        (the module's text), up to a tenth narrower where few rows carry most of the mean. None is the
        published procedure, which draws nothing.

    Returns
    -------
    low, high : float

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> values = np.tile([0.0, 0.1, 0.1, 0.2], 250)
    >>> grid = np.arange(1, 1000) / 1000
    >>> low, high = betting_predictable(values, 0.005, math.log(0.05), grid)
    >>> round(low, 4), round(high, 4)
    (0.095, 0.107)
    >>> low, high = betting_predictable(values, 0.005, math.log(0.05), grid, uniform=0.5)
    >>> round(low, 4), round(high, 4)
    (0.095, 0.106)
    """
    owner = "betting_predictable"
    x, variance = _checked(values, variance, owner)
    points = np.asarray(grid, dtype=np.float64)
    if points.ndim != 1 or not len(points) or not (np.diff(points) > 0.0).all():
        raise bad_parameter("grid", owner, "rising numbers", "others")
    if not (points[0] > 0.0 and points[-1] < 1.0):
        raise bad_parameter("grid", owner, "numbers in (0, 1)", f"{points[0]:g} to {points[-1]:g}")
    bound = -ln_side(ln_delta, owner)
    if not math.isfinite(bound):
        return 0.0, 1.0
    if uniform is None:
        variances, _ = _running_moments(x, variance, _PRIOR_ROWS)
        up = down = np.ones(len(x))
        spared_below = spared_above = 0.0
    else:
        uniform = check_real(uniform, "uniform", owner, low=0.0, high=1.0, closed="both")
        variances, skewness = _running_moments(x, variance, max(_PRIOR_ROWS, _PRIOR_SHARE * len(x)))
        up, down = _leaning(skewness), _leaning(-skewness)
        spared_below, spared_above = (-math.log(max(u, _LEAST_UNIFORM)) for u in (uniform, 1.0 - uniform))
    gains = 2.0 / (np.arange(len(x), 0, -1) * variances)  # times what is left to win: the squared stake
    below = _rejected(x, up**2 * gains, bound, spared_below, points)
    above = _rejected(1.0 - x, down**2 * gains, bound, spared_above, 1.0 - points[::-1])
    low = float(points[below - 1]) if below else 0.0
    high = float(points[len(points) - above]) if above else 1.0
    return min(low, high), max(low, high)  # they cross with probability at most delta


def betting_half_width(n: int, variance: float, ln_delta: float, *, predictable: bool = False) -> float:
    """Return about half the width of an interval by betting: for plans, without a guarantee.

    That of the normal interval, or with fixed bets Chernoff's for a normal variable, both with a part that
    falls with n; at most 1/2.

    Examples
    --------
    >>> ln_delta = math.log(0.05)
    >>> round(betting_half_width(1000, 0.005, ln_delta), 4)
    0.007
    >>> round(betting_half_width(1000, 0.005, ln_delta, predictable=True), 4)
    0.0048
    """
    side = ln_side(ln_delta, "betting_half_width")
    variance = check_real(variance, "variance", "betting_half_width", low=0.0, closed="low")
    if predictable:
        deviations, rest = -float(ndtri_exp(side)), 0.12
    else:
        deviations, rest = 1.06 * math.sqrt(-2.0 * side), 0.15
    half_width = deviations * math.sqrt(variance / n) - rest * side / n
    return min(half_width, 0.5) if math.isfinite(half_width) else 0.5


def _checked(values: ArrayLike, variance: float, owner: str) -> tuple[_Column, float]:
    x = np.asarray(values, dtype=np.float64)
    if x.ndim != 1 or not len(x) or not (x.min() >= 0.0 and x.max() <= 1.0):  # NaN is neither
        raise bad_parameter("values", owner, "a column of numbers in [0, 1]", "others")
    variance = check_real(variance, "variance", owner, low=0.0, closed="low")
    return x, min(max(variance, _LEAST_VARIANCE), 0.25)


def _low_of_fixed(x: _Column, variance: float, bound: float) -> float:
    """Lower end: where the logarithm of the wealth falls to the bound, rounded down."""
    stakes = _STAKES * math.sqrt(2.0 * bound / (len(x) * variance))
    mean = float(x.mean())

    def short(m: float) -> float:
        return bound - _ln_wealth(x, m, np.minimum(stakes, _CAP / m))

    if mean <= _LEAST_MEAN or short(_LEAST_MEAN) > 0.0:
        return 0.0
    if mean >= 1.0:
        mean = 1.0 - OUTWARDS
    # At m = mean no stake wins: ln(1 + u) <= u. So the end is below.
    low, _ = enclosed_root(short, _LEAST_MEAN, mean)
    return max(low * (1.0 - OUTWARDS), 0.0)


def _ln_wealth(x: _Column, m: float, stakes: _Column) -> float:
    """Logarithm of the mean over the stakes of the products over all rows."""
    totals = ln_products(x, 1.0, m, stakes)
    top = totals.max()
    return float(top + math.log(np.exp(totals - top).mean()))


def _running_moments(x: _Column, variance: float, prior: float) -> tuple[_Column, _Column]:
    """Variance and skewness of one row as guessed before each row, from the guess and the rows before it."""
    seen = np.arange(len(x), dtype=np.float64)
    some = np.maximum(seen, 1.0)
    centred = x - x[0]  # a shift, against cancellation
    sums, squares, cubes = (np.concatenate([[0.0], np.cumsum(centred**k)[:-1]]) for k in (1, 2, 3))
    deviations = np.maximum(squares - sums**2 / some, 0.0)
    variances = np.maximum(
        (prior * variance + deviations) / (prior + np.maximum(seen - 1.0, 0.0)), _LEAST_VARIANCE
    )
    third = cubes - 3.0 * sums * squares / some + 2.0 * sums**3 / some**2
    return variances, third / ((some + prior) * variances**1.5)


def _leaning(skewness: _Column) -> _Column:
    """Factor of the stakes on large values, before each row."""
    return np.clip(_UPRIGHT + _LEAN * skewness / math.sqrt(len(skewness)), _LEAST_FACTOR, _MOST_FACTOR)


def _rejected(x: _Column, gains: _Column, bound: float, spared: float, points: _Column) -> int:
    """Return how many of the rising numbers are rejected as too low, up to the first that is not.

    ``spared`` is what the logarithm of the wealth may lack of the bound in the end.
    """
    caps = _CAP / points
    left = np.full(len(points), bound)  # the bound, less the logarithm of the wealth
    for value, gain in zip(x.tolist(), gains.tolist(), strict=True):
        stakes = np.minimum(np.sqrt(left * gain), caps)
        left -= np.log1p(stakes * (value - points))
        np.maximum(left, 0.0, out=left)  # nothing is staked from there on
    open_ = left > spared
    return int(np.argmax(open_)) if open_.any() else len(points)
