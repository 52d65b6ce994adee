r"""Intervals by betting, for a mean or a ratio of two means: about as wide as the normal one, for every n.

*Bets on a ratio* (`lowest_ratio`). Row i gives a numerator :math:`a_i` and a denominator :math:`b_i`; the
ratio is ``sum E a_i / sum E b_i``, for a mean all denominators are 1. Someone who bets that the ratio is
above r gains or loses a share :math:`l z_i(r)` of the wealth with each row, ``z_i(r) = a_i - r b_i``. A
wealth of 1 is divided among five sizes l of the bets, fixed before the rows are looked at, by weights w.
After the last row it is

.. math:: M(r) = \sum_{j=1}^{5} w_j \prod_{i=1}^{n} (1 + l_j z_i(r)).

Theorem. If the rows are independent, of one law or not, ``1 + l_j z_i(r) >= 0`` for all outcomes that a row
can have, and the ratio is at most r, then ``E M(r) <= 1``, so that ``M(r) >= 1/delta`` with probability at
most delta.

Proof. By independence the expectation of a product is the product of ``1 + l E z_i(r)``, which by the
inequality of the means is at most the n-th power of their average, ``1 + l (sum E a_i - r sum E b_i)/n``, and
that is at most 1. Then Markov's inequality.

For rows of different laws the wealth may be looked at only after the last row: on the way the bet on the
classes that come first may be far above 1, and sorted rows make it pass any bound. Where all
:math:`b_i \ge 0`, M falls in r, and the largest r that is rejected is the lower end. A bet that could lose
more than all at some r has no wealth from that r on, so M still falls.

The sizes are multiples of the best one, ``sqrt(2 ln(1/delta) / (n V))``, which has most of the weight, for
a variance V of z foreseen without these rows: a variance foreseen wrongly by a factor of four costs some 15
% of the width, and no validity.

*Bets on a mean in [0, 1]* (`betting_fixed`, `betting_predictable`) are the published procedures. To test
whether the mean is m or less, start with a wealth of 1 and bet on each row that it is above m: the wealth is
multiplied by ``1 + l (x - m)``, with a bet l of at most ``.95 / m``, so that it stays positive. Were the
mean at most m, the wealth could not be expected to grow, and is above ``2 / delta`` with probability at most
``delta / 2`` (Markov; at any time, Ville). All m that are so rejected are below the interval; the upper end
is that of ``1 - x``. The bets may depend on anything but the rows to come, and need to know the variance of
a row to be good: a guess of it tunes them. A wrong guess costs width, never validity.

Fixed bets are the case of denominators 1, by the theorem above; the wealth is the plain mean over five
bets, which are capped for each mean that is tested. It falls in m: a bet that is capped at ``.95 / m``
makes the factor ``.05 + .95 x / m``. So the end is where it crosses ``2 / delta``.

*Predictable bets* are for independent rows of one law: the bet of each row is set after the rows before it
(Waudby-Smith, Ramdas 2024; the bets are those of Voracek, Orabona 2025). The rows must come in an order
that neither the rows nor the asker decide.

Few rows far from the others, as of a log loss, cost such bets dearly: the wealth jumps past the bound, or
ends just below it. Two things mend half of that. *Leaning bets*: more is bet on the side of the long
tail and less against it, by the skewness of the rows before. *A drawn bound*: if U is drawn uniformly from
[0, 1], beside the rows, then the last wealth W is above ``2 U / delta`` with probability ``E min(1, W delta
/ 2)``, at most ``delta / 2`` where W is not expected to grow (Ramdas, Manole 2023). So what is left at the
end counts in part instead of being lost. A U below .1 is taken for .1, which can only widen the interval: at
levels below a fifth no lucky draw alone rejects anything. The two ends take U and 1 - U, so that they are not
lucky at once.

*Tilted bets.* Where a guess divides delta among the sides (`sklearn_ada.guarantees.TiltedMean`), the bound of
a mean m that is tested is ``1 / (delta w(m))`` for the low end and ``1 / (delta (1 - w(m)))`` for the high
one. Each m has tests of its own, of levels that sum to delta at most, so this is valid whatever the guess is.
The bound rises in m for the low end, and bets that are fixed are sized by one bound for all m: so their
wealth falls in m still, and what is rejected is one segment. On a grid only what is rejected before the first
mean that is not counts.

Source: Waudby-Smith, Ramdas, "Estimating means of bounded random variables by betting", JRSS B 86 (2024); the
inequality of the means for unequal rows as in Hoeffding (1963), section 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri_exp

from sklearn_ada._solving import enclosed_root
from sklearn_ada._validation import LN_2, OUTWARDS, bad_parameter, checked
from sklearn_ada.guarantees.intervals import Array, Interval, ln_side, mirrored
from sklearn_ada.guarantees.tilted import LN_LIKELY_SIDE, TiltedMean

__all__ = ["betting_fixed", "betting_half_width", "betting_predictable", "fixed_bets_mean"]


MOST_ROWS_ONE_BY_ONE = 100_000
"""Predictable bets take some ten microseconds a row and side; with more rows fixed bets are as narrow."""

_MULTIPLES = np.array((0.4, 0.7, 1.0, 1.4, 2.0))  # of the best size of a bet
_PARTS = np.array((0.1, 0.2, 0.4, 0.2, 0.1))
_MOST_LOST = 0.95  # of the wealth, by one row at the ratio foreseen, or at the mean tested
_ALL = 1.0 - 1e-12  # a bet that can lose more has no wealth
_BLOCK = 65_536  # rows at a time, so that memory does not grow with n
_FACTORS = 16  # multiplied before a logarithm is taken: within the range of floats from 1e-12 on
_MARGIN = 1e-9  # of logarithms, against rounding errors
_HALVINGS = 32

_LEAST_MEAN = 1e-12
_PRIOR_ROWS = 2.0  # the guess of the variance counts as so many rows,
_PRIOR_SHARE = 0.02  # or, where bets lean, as this share of all rows if that is more
_LEAN = 1.2  # times skewness / sqrt(n) is added to the factor of a leaning bet, and to this:
_UPRIGHT, _LEAST_FACTOR, _MOST_FACTOR = 0.9, 0.6, 1.2  # all four by trial, on losses with long tails
_LEAST_UNIFORM = 0.1
_LEAST_VARIANCE = 1e-10


@checked(variance=">= 0", ln_delta="<= 0")
def betting_fixed(
    values: ArrayLike, variance: float, ln_delta: float, *, tilt: TiltedMean | None = None
) -> Interval:
    """Return an interval for the mean of values in [0, 1], by fixed bets.

    It misses with probability at most delta. Rows are independent, and their laws may differ: the interval is
    for the mean of their means.

    Source: Waudby-Smith, Ramdas (2024), for the wealth as evidence; the module's text proves it for rows of
    different laws.

    Parameters
    ----------
    values : array-like of shape (n,)
        In [0, 1]. Their order does not matter.
    variance : float
        What the variance of one row is guessed to be without these rows, at least 0. It tunes the bets.
    ln_delta : float
        Logarithm of the failure probability, at most 0.
    tilt : TiltedMean or None, default=None
        How a guess divides it among the sides; None: evenly.

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
    >>> tilt = TiltedMean(0.1, 3000, 1000, 0.005)
    >>> low, high = betting_fixed(values, 0.005, math.log(0.05), tilt=tilt)
    >>> round(low, 4), round(high, 4)
    (0.0939, 0.1057)
    """
    x, variance = _rows_and_variance(values, variance, "betting_fixed")
    if ln_delta == -math.inf:
        return 0.0, 1.0
    likely = -ln_side(ln_delta) if tilt is None else -(min(ln_delta, -LN_2) + LN_LIKELY_SIDE)
    below, above = bounds_of(ln_delta, tilt)
    high = mirrored(_low_of_fixed(1.0 - x, variance, likely, above))
    return _low_of_fixed(x, variance, likely, below), high


@checked(variance=">= 0", uniform="[0, 1] or None", ln_delta="<= 0")
def betting_predictable(
    values: ArrayLike, variance: float, ln_delta: float, grid: ArrayLike, *, uniform: float | None = None,
    tilt: TiltedMean | None = None,
) -> Interval:  # fmt: skip
    """Return an interval for the mean of values in [0, 1], by predictable bets.

    It misses with probability at most delta. Rows must be independent and of one law, in an order that does
    not depend on them.

    Source: Waudby-Smith, Ramdas (2024), Theorem 3; bets of Voracek, Orabona (2025). With ``uniform``:
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
        A number drawn uniformly from [0, 1], independently of the rows: the bound is drawn and bets lean
        (the module's text), up to a tenth narrower where few rows carry most of the mean. None is the
        published procedure, which draws nothing.
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
    x, variance = _rows_and_variance(values, variance, owner)
    points = np.asarray(grid, dtype=np.float64)
    if points.ndim != 1 or not len(points) or not (np.diff(points) > 0.0).all():
        raise bad_parameter("grid", owner, "rising numbers", "others")
    if not (points[0] > 0.0 and points[-1] < 1.0):
        raise bad_parameter("grid", owner, "numbers in (0, 1)", f"{points[0]:g} to {points[-1]:g}")
    return predictable_ends(x, variance, (ln_delta,), points[None, :], uniform, (tilt,))[0]


def predictable_ends(
    x: Array, variance: float, ln_deltas: Sequence[float], points: Array, uniform: float | None,
    tilts: Sequence[TiltedMean | None],
) -> list[Interval]:  # fmt: skip
    """Return the intervals of `betting_predictable` at several levels, in one pass over the rows.

    ``points`` has the grid of each level as a row, all of one length, and ``tilts`` how each is divided.
    Nothing is checked.
    """
    of_levels = [bounds_of(*each) for each in zip(ln_deltas, tilts, strict=True)]
    grids = np.stack((points, 1.0 - points[:, ::-1]))
    bounds = np.stack(
        [[of[side](m) for of, m in zip(of_levels, grids[side], strict=True)] for side in (0, 1)]
    )
    if uniform is None:
        variances, _ = _running_moments(x, variance, _PRIOR_ROWS)
        up = down = np.ones(len(x))
        spared_below = spared_above = 0.0
    else:
        variances, skewness = _running_moments(x, variance, max(_PRIOR_ROWS, _PRIOR_SHARE * len(x)))
        up, down = _leaning(skewness), _leaning(-skewness)
        spared_below, spared_above = (-math.log(max(u, _LEAST_UNIFORM)) for u in (uniform, 1.0 - uniform))
    gains = 2.0 / (np.arange(len(x), 0, -1) * variances)  # times what is left to win: the squared bet
    columns = np.column_stack((x, 1.0 - x)), np.column_stack((up**2 * gains, down**2 * gains))
    rejected = _rejected(*columns, bounds, (spared_below, spared_above), grids)
    found, last = [], points.shape[1]
    for ln_delta, grid, below, above in zip(ln_deltas, points, *rejected, strict=True):
        low, high = float(grid[below - 1]) if below else 0.0, float(grid[last - above]) if above else 1.0
        # They cross with probability at most delta.
        found.append((min(low, high), max(low, high)) if ln_delta > -math.inf else (0.0, 1.0))
    return found


@checked(variance=">= 0", ln_delta="<= 0")
def betting_half_width(n: int, variance: float, ln_delta: float, *, predictable: bool = False) -> float:
    """Return about half the width of an interval by betting: for plans, without a guarantee.

    That of the normal interval, or with fixed bets Chernoff's for a normal variable, both with a part that
    falls with n; at most 1/2.

    Parameters
    ----------
    n : int
        Number of rows.
    variance : float
        Expected variance of the values, at least 0.
    ln_delta : float
        Logarithm of the failure probability, at most 0.
    predictable : bool, default=False
        Whether bets are those of `betting_predictable`.

    Returns
    -------
    float
        Half-width.

    Examples
    --------
    >>> ln_delta = math.log(0.05)
    >>> round(betting_half_width(1000, 0.005, ln_delta), 4)
    0.007
    >>> round(betting_half_width(1000, 0.005, ln_delta, predictable=True), 4)
    0.0048
    """
    side = ln_side(ln_delta)
    normal, chernoff = (-float(ndtri_exp(side)), 0.12), (1.06 * math.sqrt(-2.0 * side), 0.15)
    deviations, rest = normal if predictable else chernoff
    half_width = deviations * math.sqrt(variance / n) - rest * side / n
    return min(half_width, 0.5) if math.isfinite(half_width) else 0.5


@checked(expected_mean="[0, 1]", expected_variance=">= 0", ln_delta="<= 0")
def fixed_bets_mean(
    values: ArrayLike, ln_delta: float, *, expected_mean: float, expected_variance: float
) -> Interval:
    """Return an interval for the mean, by bets that a foreseen mean sizes.

    It misses with probability at most delta. Rows are independent and may be of different laws, as at a fixed
    class mix; the mean is that of their expectations. Each side gets delta/2.

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
    rows, _ = _rows_and_variance(values, expected_variance, "fixed_bets_mean")
    ln_level = ln_side(ln_delta)
    reach = math.sqrt(-2.0 * expected_variance * ln_level / rows.size) - 2.0 * ln_level / rows.size

    def low_end(values: Array, mean: float) -> float:
        bets = bet_sizes(rows.size, ln_level, expected_variance, min(mean + reach, 1.0))
        return lowest_ratio(values, 1.0, ln_level, bets, corners=([0.0, 1.0], [1.0, 1.0]), bracket=(0.0, 1.0))

    return low_end(rows, expected_mean), 1.0 - low_end(1.0 - rows, 1.0 - expected_mean)


def lowest_ratio(
    numerator: Array,
    denominator: Array | float,
    ln_level: float | Callable[[float], float],
    bets: Array,
    corners: tuple[ArrayLike, ArrayLike],
    bracket: Interval,
    counts: Array | float | None = None,
) -> float:
    """Return a lower end for a ratio of means.

    By the module's theorem it is above the ratio with probability at most the level. The upper end is minus
    the lower one with the numerator negated.

    Parameters
    ----------
    numerator, denominator, counts
        As for `ln_wealth`; no denominator that a row can have is negative.
    ln_level : float or callable
        Logarithm of the level; or of that of the test of a ratio, which may only fall.
    bets : ndarray of shape (5,)
        From `bet_sizes`.
    corners : tuple of array-like of shape (n_corners,)
        Numerators and denominators such that every outcome that a row can have, observed or not, is one of
        them or between them.
    bracket : tuple of float
        The ratio is in it.

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
        level = ln_level(ratio) if callable(ln_level) else ln_level
        return max(ln_wealth(numerator, denominator, ratio, usable, counts) + level - _MARGIN, -1e6)

    low, _ = enclosed_root(rejected_by, *bracket, rising=False, halvings=_HALVINGS)
    return low


@checked(n="count", ln_level="< 0", variance=">= 0", most_lost="> 0")
def bet_sizes(n: int, ln_level: float, variance: float, most_lost: float) -> Array:
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
    variance = max(variance, most_lost**2 * 1e-12)
    best = math.sqrt(-2.0 * ln_level / (n * variance))
    return np.minimum(best * _MULTIPLES, _MOST_LOST / most_lost)


def ln_wealth(
    numerator: Array,
    denominator: Array | float,
    ratio: float,
    bets: Array,
    counts: Array | float | None = None,
) -> float:
    """Return the log wealth of bets that the ratio is above ``ratio``.

    It is the wealth after the last row.

    Parameters
    ----------
    numerator : ndarray of shape (n_rows,)
    denominator : ndarray of shape (n_rows,) or float
    ratio : float
    bets : ndarray of shape (n_bets,)
        The first of `bet_sizes`' five, at which no factor is negative. The wealth of the others is unused.
    counts : ndarray of shape (n_rows,) or float, optional
        How often each row occurs, by default once. Given for each, all rows are taken at a time.

    Examples
    --------
    >>> rows = np.array([1.0, 0.0, 1.0, 1.0])
    >>> round(math.exp(ln_wealth(rows, 1.0, 0.5, np.array([0.5] * 5))), 4)  # 1.25^3 * .75
    1.4648
    """
    if bets.size == 0:
        return -math.inf
    if counts is None or isinstance(counts, float):
        sums = ln_products(numerator, denominator, ratio, bets) * (1.0 if counts is None else counts)
    else:
        sums = np.log1p(np.multiply.outer(bets, numerator - ratio * denominator)) @ counts
    top = float(sums.max())
    return top if top == -math.inf else top + math.log(math.fsum(_PARTS[: bets.size] * np.exp(sums - top)))


def ln_products(numerator: Array, denominator: Array | float, ratio: float, bets: Array) -> Array:
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


def _rows_and_variance(values: ArrayLike, variance: float, owner: str) -> tuple[Array, float]:
    x = np.asarray(values, dtype=np.float64)
    if x.ndim != 1 or not len(x) or not (x.min() >= 0.0 and x.max() <= 1.0):  # NaN is neither
        raise bad_parameter("values", owner, "a column of numbers in [0, 1]", "others")
    return x, min(max(variance, _LEAST_VARIANCE), 0.25)


Bound = Callable[[Array], Array]
"""What the logarithm of the wealth must reach, so that a mean is rejected as too low."""


def bounds_of(ln_delta: float, tilt: TiltedMean | None) -> tuple[Bound, Bound]:
    """Return the bounds of the bets on the rows, and of those on 1 minus the rows."""
    if tilt is None or ln_delta == -math.inf:
        bound = -ln_side(ln_delta)
        return (lambda m: np.full(m.shape, bound),) * 2
    part_below, least = tilt.part_below(ln_delta), -min(ln_delta, -LN_2)
    return lambda m: least - np.log(part_below(m)), lambda m: least - np.log1p(-part_below(1.0 - m))


def _low_of_fixed(x: Array, variance: float, likely: float, bound: Bound) -> float:
    """Return the lower end: where the logarithm of the wealth falls to the bound, rounded down.

    ``likely`` is the bound that sizes the bets.
    """
    sizes = _MULTIPLES * math.sqrt(2.0 * likely / (len(x) * variance))
    mean = float(x.mean())

    def short(m: float) -> float:
        return float(bound(np.asarray(m))) - _ln_mean_wealth(x, m, np.minimum(sizes, _MOST_LOST / m))

    if mean <= _LEAST_MEAN or short(_LEAST_MEAN) > 0.0:
        return 0.0
    if mean >= 1.0:
        mean = 1.0 - OUTWARDS
    # At m = mean no bet wins: ln(1 + u) <= u. So the end is below.
    low, _ = enclosed_root(short, _LEAST_MEAN, mean)
    return max(low * (1.0 - OUTWARDS), 0.0)


def _ln_mean_wealth(x: Array, m: float, sizes: Array) -> float:
    """Return the logarithm of the mean over the bets of the products over all rows."""
    totals = ln_products(x, 1.0, m, sizes)
    top = totals.max()
    return float(top + math.log(np.exp(totals - top).mean()))


def _running_moments(x: Array, variance: float, prior: float) -> tuple[Array, Array]:
    """Return a row's variance and skewness, guessed from the rows before it.

    The variance starts from the guess that was made without these rows.
    """
    seen = np.arange(len(x), dtype=np.float64)
    some = np.maximum(seen, 1.0)
    centred = x - x[0]  # a shift, against cancellation
    sums, squares, cubes = (np.concatenate([[0.0], np.cumsum(centred**k)[:-1]]) for k in (1, 2, 3))
    deviations = np.maximum(squares - sums**2 / some, 0.0)
    pooled = (prior * variance + deviations) / (prior + np.maximum(seen - 1.0, 0.0))
    variances = np.maximum(pooled, _LEAST_VARIANCE)
    third = cubes - 3.0 * sums * squares / some + 2.0 * sums**3 / some**2
    return variances, third / ((some + prior) * variances**1.5)


def _leaning(skewness: Array) -> Array:
    """Return the factor of the bets on large values, before each row."""
    return np.clip(_UPRIGHT + _LEAN * skewness / math.sqrt(len(skewness)), _LEAST_FACTOR, _MOST_FACTOR)


def _rejected(x: Array, gains: Array, bounds: Array, spared: tuple[float, float], points: Array) -> Array:
    """Return how many of the rising numbers are rejected as too low, for either side at each level.

    Only those before the first that is not rejected count. ``x`` and ``gains`` have a column for each side,
    ``bounds`` and ``points`` the axes side, level and number. ``spared`` is what the logarithm of the wealth
    may lack of the bound in the end.
    """
    caps = _MOST_LOST / points
    # The bound, less the logarithm of the wealth.
    left = np.where(np.isfinite(bounds), bounds, 1.0)
    for value, gain in zip(x[:, :, None, None], gains[:, :, None, None], strict=True):
        left -= np.log1p(np.minimum(np.sqrt(left * gain), caps) * (value - points))
        np.maximum(left, 0.0, out=left)  # nothing is bet from there on
    open_ = left > np.array(spared)[:, None, None]
    return np.asarray(np.where(open_.any(axis=2), np.argmax(open_, axis=2), points.shape[2]))
