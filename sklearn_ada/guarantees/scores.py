r"""Confidence intervals that are made for one metric, or for a family of them.

They are built from the intervals for one mean in `sklearn_ada.guarantees.intervals`, whose conventions they
share, and from bets (`sklearn_ada.guarantees.bets`). Accuracy, AUC and the mean of a loss need no more than
those; metrics of a confusion matrix are in `sklearn_ada.guarantees.class_tables`.

*Average precision* at a given share of positives, from bands of two rates. Rows are ranked by score, ties
broken at random. With the share pi of positives and the false positive rate F(u) at which a share u of the
positives is found, the population's average precision is

.. math:: \int_0^1 \frac{\pi u}{\pi u + (1 - \pi) F(u)} du.

It falls in F. J thresholds are fixed without the rows; above the j-th, counted from the highest, are a
share :math:`T_j` of the positives and :math:`F_j` of the negatives, each a binomial share with a lower and
an upper bound by Clopper and Pearson. A side of the interval uses 2 J of the bounds, each at delta / (4 J).
As the shares rise with j, bounds can be made to rise, too.

- Lower end. A recall of at most ``T_j`` is reached at the j-th threshold, so F is at most the upper bound
  of ``F_j`` on recalls up to the lower bound of ``T_j``; beyond the last it is at most 1.
- Upper end. A recall above ``T_j`` is only reached below the j-th threshold, so F is at least the lower
  bound of ``F_j`` on recalls above the upper bound of ``T_j``; before the first it is at least 0.

Between thresholds the integral is elementary. That all bounds hold at a time, and are all used at their
worst, costs a factor of 3 to 5 against a normal interval. How many thresholds there are is decided by the
widths foreseen.

*How much better one model is than another*, from the differences of their losses row by row; how wide that
will be is planned by `sklearn_ada.guarantees.difference_half_width`. The target is ``E[loss_a - loss_b]``:
positive where b is better. Two models that agree on most rows have small differences, however large their
losses are, so this is much narrower than the difference of two intervals.

For 0/1 losses only rows count on which one model is right and the other is not. Let rho be the probability
of such a row and theta that of b being right there, so that the target is ``rho (2 theta - 1)``. If rows
are of one law, then given how many such rows there are, those on which b is right are binomial with theta,
and their number is binomial with rho: both have Clopper and Pearson's interval, at nine tenths and one
tenth of each side's level. For the lower end take the lower bound of theta; rho is at its lower bound if
the target is then positive and at its upper bound otherwise. It misses only if theta's bound misses, or
rho's: which of the two is used where theta is covered and the end is above the target is decided by the
sign of the target, so one of them is to be counted. The sign is exact: the end is above 0 if and only if
theta's is above 1/2, a sign test at nine tenths of the level.

For rows of different laws, as at a fixed class mix, and for losses with more values, bets on the differences
are used.

If X is given, as for labels that were predicted by whatever means, it is no secret on which M rows two
predictions differ; labels alone are drawn, independently, each by a law of its own. Let x be the number of
these rows on which b is right, y that on which a is, and a fair coin give each row on which neither is right
to one of them: the target, ``(E x - E y)/n``, stays. Then ``x + y = M``, so it is ``(2 E x - M)/n``, and x is
a sum of M independent and unequal Bernoulli variables, for which Clopper and Pearson's interval holds with
the rule for unequal rows (Hoeffding 1956). Of two labels one is right wherever predictions differ, and there
is no coin.

*The share of a loss that a model explains*: R^2, and D^2 of the pinball and absolute losses. The metric is
``1 - E L / min_m E B(m)`` where L is the model's loss of a row and ``B(m)`` that of the constant m; :math:`L
= e^2, B(m) = (y - m)^2` for R^2, where the best constant is the mean. With a constant c that is fixed without
these rows, such as the mean of validation rows:

- Upper end. ``E B(c)`` is at least the minimum, so where the metric is at least ``1 - q``, the terms ``L -
  q B(c)`` have a mean of at most 0. Fixed bets reject the small q.
- Lower end. If the minimum is at least ``E B(c) - s``, then where the metric is at most ``1 - 1/u``, the
  terms ``B(c) - s - u L`` have a mean of at most 0. Bets have nine tenths of the side's level; s is found
  at the other tenth. A larger s lowers the wealth while the bets are the same, so it may come from the same
  rows; the bets are sized by one that is foreseen.

For the squared loss ``E B(c) - min = (mu - c)^2``, and mu is bounded by fixed bets, too. The pinball loss
of level a is convex: for any m its mean is at least ``E B(c) + (c - m) E g`` for slopes g at c, which are a
for y > c, ``a - 1`` for y < c, and anything between for y = c. Let m be the a-quantile. If it is above c, s
is ``(m - c)(a - P[y <= c])``; if it is below, ``(c - m)(P[y < c] - a)``. An order statistic bounds m,
Clopper and Pearson's interval the probability, at a twentieth of the level each; only one of the two cases
is true, and the larger s is taken. For a = 1/2 the pinball loss is half of the absolute loss, and D^2 is
the same.

Where rows come in units, such as patients, or have given weights, R^2 is the same for sums over a unit at
these weights and sizes: units are independent, and the minimum over constants of ``sum E B(m)`` is ``S (mu -
c)^2`` below ``sum E B(c)``, with S the sum of all weights and mu the weighted mean of y.

Targets and predictions are clipped to a range, and errors to a bound, in the population, too. A deviance
(Tweedie, log loss) has no bound at all, or a best constant that these steps do not bound, so its D^2 has no
interval here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binom

from sklearn_ada._validation import OUTWARDS, bad_parameter, check_integer, check_real, checked, plain, real
from sklearn_ada.guarantees import intervals
from sklearn_ada.guarantees.bets import bet_sizes, fixed_bets_mean, lowest_ratio
from sklearn_ada.guarantees.intervals import LN_NINE_TENTHS, LN_TENTH, Array, Interval, check_range, ln_side
from sklearn_ada.guarantees.units import foreseen_squares, unit_mean_interval

__all__ = [
    "ExpectedLosses", "average_precision_interval", "d2_pinball_interval", "paired_given_interval",
    "paired_loss_interval", "paired_zero_one_interval", "r_squared_interval",
]  # fmt: skip

_THRESHOLDS = (5, 8, 12, 20, 30, 60, 120, 240)  # of average precision, of which the best foreseen is taken

_LN_TWENTIETH = -math.log(20.0)  # of a side's level, for each of the two cases of a quantile
_SHOWN = 3.0  # times what the level leaves unknown of the mean of a loss that is rarely the largest
_FURTHEST = 100.0  # times the ratio foreseen: a lower end is not looked for beyond

_tail_ends = plain(intervals.binomial_tail_ends)


@checked(seed="integer >= 0", ln_delta="<= 0")
def average_precision_interval(
    scores: ArrayLike,
    is_positive: ArrayLike,
    ln_delta: float,
    *,
    expected_scores: ArrayLike,
    expected_positive: ArrayLike,
    seed: int,
) -> Interval:
    """Return an interval for average precision that misses with probability at most delta.

    The target is the average precision of the population at these rows' share of positives, ties in the
    score broken at random. Positives are independent and of one law, and so are negatives. Each side gets
    delta/2.

    Source: theorem of `sklearn_ada.guarantees.scores`.

    Parameters
    ----------
    scores : array-like of shape (n_rows,)
        Larger for rows that are rather positive.
    is_positive : array-like of shape (n_rows,)
        Booleans, at least one of each.
    ln_delta : float
        Logarithm of the failure probability, at most 0; above 1/2 it is treated as 1/2.
    expected_scores, expected_positive : array-like of shape (m_rows,)
        The same of other rows, by which the thresholds are chosen.
    seed : int
        Of the random numbers that break ties, at least 0; independent of the rows.

    Returns
    -------
    low, high : float
        In [0, 1].

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> positive = np.arange(2000) % 5 == 0
    >>> scores = rng.standard_normal(2000) + 2.5 * positive
    >>> foreseen = {"expected_scores": scores[1000:], "expected_positive": positive[1000:]}
    >>> seen = scores[:1000], positive[:1000]
    >>> low, high = average_precision_interval(*seen, math.log(0.05), seed=0, **foreseen)
    >>> round(low, 2), round(high, 2)  # it is .91
    (0.64, 0.97)
    """
    owner = "average_precision_interval"
    rng = np.random.default_rng(seed)
    positives, negatives = _sides(scores, is_positive, "is_positive", owner)
    foreseen = _sides(expected_scores, expected_positive, "expected_positive", owner)
    ln_level = ln_side(ln_delta)
    sizes = len(positives), len(negatives)
    best, thresholds = math.inf, foreseen[0][:1]
    for count in _THRESHOLDS:
        tried = _thresholds(foreseen[0], count, rng)
        shares = (_above(side, tried, rng) / len(side) for side in foreseen)
        counts = [np.round(share * size).astype(int) for share, size in zip(shares, sizes, strict=True)]
        low, high = _ends(counts[0], counts[1], sizes, ln_level)
        if high - low < best:
            best, thresholds = high - low, tried
        if count > len(foreseen[0]):
            break
    return _ends(_above(positives, thresholds, rng), _above(negatives, thresholds, rng), sizes, ln_level)


@checked(n="count", expected="each [0, 1] or None", ln_delta="<= 0")
def paired_zero_one_interval(
    better: int,
    worse: int,
    n: int,
    ln_delta: float,
    *,
    identical_rows: bool = False,
    expected: Interval | None = None,
) -> Interval:
    """Return an interval for the difference of two error rates.

    It misses with probability at most delta. Rows are independent. Each side gets delta/2.

    Source: theorems of `sklearn_ada.guarantees.scores`; given the disagreements the test is McNemar's (1947)
    in its exact form.

    Parameters
    ----------
    better, worse : int
        On how many rows only b is right, and only a; at least 0.
    n : int
        Number of rows, at least 1, agreements included.
    ln_delta : float
        Logarithm of the failure probability, at most 0; above 1/2 it is treated as 1/2.
    identical_rows : bool, default=False
        Whether all rows are of one law, as independent draws from one population are and rows at a fixed
        class mix are not.
    expected : tuple of float or None, default=None
        The shares of the two kinds of rows foreseen without these rows, by which bets are chosen, by default
        a quarter each. If they are given for rows of one law, they decide whether bets or the disagreements
        are used: bets are often narrower where one model is clearly better.

    Returns
    -------
    low, high : float
        Of the error rate of a minus that of b, in [-1, 1].

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> low, high = paired_zero_one_interval(40, 15, 1000, math.log(0.05), identical_rows=True)
    >>> round(low, 4), round(high, 4)  # two intervals for error rates of 10 % would give -.016 to .066
    (0.0064, 0.0534)
    """
    owner = "paired_zero_one_interval"
    better = check_integer(better, "better", owner, low=0, high=n)
    worse = check_integer(worse, "worse", owner, low=0, high=n - better)
    ln_level = ln_side(ln_delta)
    shares = (0.25, 0.25) if expected is None else expected
    gain, loss = shares
    if gain + loss > 1.0:
        raise bad_parameter("expected", owner, "two shares of at most 1 in all", shares)
    if identical_rows and expected is not None:
        foreseen = round(n * gain), min(round(n * loss), n - round(n * gain))
        exact = _by_disagreements(*foreseen, n, ln_level)
        bets = _by_bets(*foreseen, n, ln_level, gain, loss)
        identical_rows = exact[1] - exact[0] <= bets[1] - bets[0]
    if identical_rows:
        return _by_disagreements(better, worse, n, ln_level)
    return _by_bets(better, worse, n, ln_level, gain, loss)


@checked(n="count", ln_delta="<= 0")
def paired_given_interval(better: int, worse: int, n: int, ln_delta: float) -> Interval:
    """Return an interval for the difference of two error rates, where it is no secret where they differ.

    It misses with probability at most delta, over labels that are drawn given X. Each side gets delta/2.

    Source: theorem of `sklearn_ada.guarantees.scores`; Hoeffding (1956), Theorem 4.

    Parameters
    ----------
    better, worse : int
        On how many rows only b is right, and only a; at least 0. Each row on which predictions differ, and
        both are wrong, was given to one of them by a fair coin.
    n : int
        Number of rows, at least 1.
    ln_delta : float
        Logarithm of the failure probability, at most 0; above 1/2 it is treated as 1/2.

    Returns
    -------
    low, high : float
        Of the error rate of a minus that of b, in [-1, 1].

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> low, high = paired_given_interval(40, 15, 1000, math.log(0.05))
    >>> round(low, 4), round(high, 4)
    (0.0099, 0.0372)
    """
    better = check_integer(better, "better", "paired_given_interval", low=0, high=n)
    worse = check_integer(worse, "worse", "paired_given_interval", low=0, high=n - better)
    differ = better + worse
    if not differ:
        return 0.0, 0.0
    ends = (_tail_ends(count, count, differ, ln_side(ln_delta))[0] for count in (better, worse))
    low, less = ((2.0 * theta - 1.0) * differ / n for theta in ends)
    return low, -less


@checked(expected_variance=">= 0")
def paired_loss_interval(
    losses_a: ArrayLike,
    losses_b: ArrayLike,
    ln_delta: float,
    *,
    bounds: Interval,
    expected_difference: float,
    expected_variance: float,
) -> Interval:
    """Return an interval for the difference of two mean losses.

    It misses with probability at most delta. Rows are independent, and may be of different laws. Each side
    gets delta/2.

    Source: theorem of `sklearn_ada.guarantees.bets`.

    Parameters
    ----------
    losses_a, losses_b : array-like of shape (n_rows,)
        Losses of the two models on the same rows, within the bounds.
    ln_delta : float
        Logarithm of the failure probability, at most 0; above 1/2 it is treated as 1/2.
    bounds : tuple of float
        Range of a loss.
    expected_difference, expected_variance : float
        Mean and variance of ``loss_a - loss_b`` foreseen without these rows.

    Returns
    -------
    low, high : float
        Of the mean loss of a minus that of b, in units of the loss; positive where b is better.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a = rng.random(1000)
    >>> b = np.clip(a - 0.02 + 0.05 * rng.standard_normal(1000), 0.0, 1.0)
    >>> foreseen = {"expected_difference": 0.02, "expected_variance": 0.0025}
    >>> low, high = paired_loss_interval(a, b, math.log(0.05), bounds=(0.0, 1.0), **foreseen)
    >>> round(low, 4), round(high, 4)
    (0.0147, 0.0251)
    """
    owner = "paired_loss_interval"
    bottom, top = check_range(bounds, owner)
    width = top - bottom
    a = _losses(losses_a, "losses_a", bottom, top, owner)
    b = _losses(losses_b, "losses_b", bottom, top, owner)
    if a.shape != b.shape:
        raise bad_parameter("losses_b", owner, f"of length {a.size}", b.size)
    mean = real(-width, width, closed="both")(expected_difference, "expected_difference", owner)
    middle, variance = (1.0 + mean / width) / 2.0, expected_variance / (4.0 * width**2)
    values = (1.0 + (a - b) / width) / 2.0
    low, high = fixed_bets_mean(values, ln_delta, expected_mean=middle, expected_variance=variance)
    return (2.0 * low - 1.0) * width, (2.0 * high - 1.0) * width


@checked(ln_delta="<= 0")
def r_squared_interval(
    target: ArrayLike,
    prediction: ArrayLike,
    ln_delta: float,
    *,
    target_range: Interval,
    most_error: float,
    expected: ExpectedLosses,
    unit: ArrayLike | None = None,
    row_weights: ArrayLike | None = None,
) -> Interval:
    """Return an interval for R^2 that misses with probability at most delta.

    The target is ``1 - E e^2 / Var y`` of the population, where y and the prediction are clipped to
    ``target_range`` and ``|e|`` to ``most_error``; units of rows are independent. Each side gets delta/2.

    Source: theorems of `sklearn_ada.guarantees.scores`.

    Parameters
    ----------
    target, prediction : array-like of shape (n_rows,)
    ln_delta : float
        Logarithm of the failure probability, at most 0; above 1/2 it is treated as 1/2.
    target_range : tuple of float
        Ends of the range that y and predictions are clipped to, in the units of y. A range of a few standard
        deviations is right; one that is ten times too large costs a multiple of the width.
    most_error : float
        Bound that ``|e|`` is clipped to, positive, in the units of y.
    expected : ExpectedLosses
        Of other rows, with the same range and bound.
    unit : array-like of shape (n_rows,) or None, default=None
        Numbers from 0 on of the unit of each row, such as its patient; None: each row is one.
    row_weights : array-like of shape (n_rows,) or None, default=None
        Given weights of the rows, at which the target is; None: all count alike.

    Returns
    -------
    low, high : float
        At most 1; ``low`` may be minus infinity.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.standard_normal(2000)
    >>> prediction = y + 0.7 * rng.standard_normal(2000)
    >>> clip = {"target_range": (-4.0, 4.0), "most_error": 3.0}
    >>> expected = ExpectedLosses.of_rows(y[:1000], prediction[:1000], **clip)
    >>> low, high = r_squared_interval(y[1000:], prediction[1000:], math.log(0.05), expected=expected, **clip)
    >>> round(low, 3), round(high, 3)  # R^2 is .51
    (0.419, 0.599)
    """
    y, error = _clipped(target, prediction, target_range, most_error, "r_squared_interval")
    ln_level = ln_side(ln_delta)
    bottom, top = target_range
    width = top - bottom
    center = min(max((expected.constant - bottom) / width, 0.0), 1.0)
    most = most_error**2, max(top - expected.constant, expected.constant - bottom) ** 2
    losses = _both_losses(y, error, expected.constant, None)
    about: dict[str, Any] = {"expected_mean": center}
    y, variance, shares = (y - bottom) / width, expected.baseline / width**2, None
    if unit is None and row_weights is None:
        found = fixed_bets_mean(y, ln_level + LN_TENTH, **about, expected_variance=variance)
    else:
        sums_of, shares, apart = _units_of(len(y), unit, row_weights)
        largest = float(shares.max())
        losses, expected = (sums_of(losses[0]), sums_of(losses[1])), expected.times(apart)
        found = unit_mean_interval(
            sums_of(y), shares, ln_level + LN_TENTH, most=largest * (1.0 + OUTWARDS), **about,
            expected_variance=variance * apart,
        )  # fmt: skip
    low_mean, high_mean = (bottom + end * width for end in found)
    slack = max(high_mean - expected.constant, expected.constant - low_mean) ** 2 * (1.0 + OUTWARDS)
    return _explained(*losses, slack, most, ln_level, expected, shares)


@checked(quantile="(0, 1)", ln_delta="<= 0")
def d2_pinball_interval(
    target: ArrayLike,
    prediction: ArrayLike,
    ln_delta: float,
    *,
    target_range: Interval,
    most_error: float,
    expected: ExpectedLosses,
    quantile: float = 0.5,
) -> Interval:
    """Return an interval for D^2 of the pinball loss.

    It misses with probability at most delta. At ``quantile=0.5`` it is D^2 of the absolute error. The target
    is ``1 - E L / min_m E B(m)`` of the population, clipped as for `r_squared_interval`; rows are independent
    and of one law. Each side gets delta/2.

    Source: theorems of `sklearn_ada.guarantees.scores`.

    Parameters
    ----------
    target, prediction, ln_delta, target_range, most_error
        As for `r_squared_interval`.
    expected : ExpectedLosses
        Of other rows, with the same range, bound and quantile.
    quantile : float, default=0.5
        Level of the pinball loss, in (0, 1).

    Returns
    -------
    low, high : float
        At most 1; ``low`` may be minus infinity.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.standard_normal(2000)
    >>> prediction = y + 0.7 * rng.standard_normal(2000)
    >>> clip = {"target_range": (-4.0, 4.0), "most_error": 3.0}
    >>> expected = ExpectedLosses.of_rows(y[:1000], prediction[:1000], quantile=0.5, **clip)
    >>> seen = y[1000:], prediction[1000:]
    >>> low, high = d2_pinball_interval(*seen, math.log(0.05), expected=expected, **clip)
    >>> round(low, 3), round(high, 3)  # D^2 is .30
    (0.208, 0.378)
    """
    y, error = _clipped(target, prediction, target_range, most_error, "d2_pinball_interval")
    ln_level = ln_side(ln_delta)
    bottom, top = target_range
    slack = _quantile_slack(y, expected.constant, quantile, ln_level + _LN_TWENTIETH, (bottom, top))
    steepest = max(quantile, 1.0 - quantile)
    most = steepest * most_error, steepest * max(top - expected.constant, expected.constant - bottom)
    return _explained(*_both_losses(y, error, expected.constant, quantile), slack, most, ln_level, expected)


class ExpectedLosses(NamedTuple):
    """What other rows foresee of a model's losses and of a constant's.

    Parameters
    ----------
    constant : float
        The constant c.
    loss, baseline : float
        Means of the losses of the model and of the constant.
    loss_variance, baseline_variance, covariance : float
        Of the two losses of a row.
    """

    constant: float
    loss: float
    baseline: float
    loss_variance: float
    baseline_variance: float
    covariance: float

    @classmethod
    def of_rows(
        cls,
        target: ArrayLike,
        prediction: ArrayLike,
        *,
        target_range: Interval,
        most_error: float,
        quantile: float | None = None,
    ) -> ExpectedLosses:
        """Return what these rows foresee: of squared losses, or of pinball losses at a quantile.

        Parameters
        ----------
        target, prediction : array-like
            Of rows other than those of the interval.
        target_range : tuple of float
            Targets and predictions are clipped to it.
        most_error : float
            Errors are clipped to it.
        quantile : float or None, default=None
            Of pinball losses, as in `d2_pinball_interval`; None for squared losses.

        Returns
        -------
        ExpectedLosses
            Means, variances and the covariance of the losses.

        Examples
        --------
        >>> rows = [0.0, 1.0, 2.0, 3.0]
        >>> found = ExpectedLosses.of_rows(rows, [0.0, 1.0, 2.0, 2.0], target_range=(0, 4), most_error=4)
        >>> found.constant, found.loss, found.baseline
        (1.5, 0.25, 1.25)
        """
        y, error = _clipped(target, prediction, target_range, most_error, "ExpectedLosses")
        constant = float(np.mean(y)) if quantile is None else float(np.quantile(y, quantile))
        loss, baseline = _both_losses(y, error, constant, quantile)
        table = np.cov(loss, baseline, bias=True) if len(y) > 1 else np.zeros((2, 2))
        means = float(loss.mean()), float(baseline.mean())
        return cls(constant, *means, float(table[0, 0]), float(table[1, 1]), float(table[0, 1]))

    def times(self, apart: float) -> ExpectedLosses:
        """Return this for units of rows, whose sums vary so many times as much.

        Parameters
        ----------
        apart : float

        Returns
        -------
        ExpectedLosses

        Examples
        --------
        >>> ExpectedLosses(0.0, 1.0, 2.0, 3.0, 4.0, 5.0).times(2.0).loss_variance
        6.0
        """
        return ExpectedLosses(*self[:3], *(each * apart for each in self[3:]))


def _ends(
    found: NDArray[np.int64], false: NDArray[np.int64], sizes: tuple[int, int], ln_level: float
) -> Interval:
    """Return both ends from how many positives and negatives are above each threshold."""
    each = ln_level - math.log(2.0 * len(found))
    recalls, rates = _band(found, sizes[0], each), _band(false, sizes[1], each)
    odds = sizes[1] / sizes[0]
    low = _area(np.r_[0.0, recalls[0], 1.0], np.r_[rates[1], 1.0] * odds)
    high = _area(np.r_[0.0, recalls[1], 1.0], np.r_[0.0, rates[0]] * odds)
    return min(max(low, 0.0), 1.0), min(max(high, 0.0), 1.0)


def _band(counts: NDArray[np.int64], size: int, ln_each: float) -> tuple[Array, Array]:
    """Return lower and upper bounds of shares that rise, at this level each."""
    low, high = np.array([_tail_ends(int(k), int(k), size, ln_each, identical_rows=True) for k in counts]).T
    return np.maximum.accumulate(low), np.minimum.accumulate(high[::-1])[::-1]


def _area(recalls: Array, false: Array) -> float:
    """Return the integral of ``u / (u + f)``, f constant between two recalls."""
    start, stop = recalls[:-1], recalls[1:]
    inside = (false > 0.0) & (stop > start)
    lost = false[inside] * np.log((stop[inside] + false[inside]) / (start[inside] + false[inside]))
    return float(np.sum(stop - start) - lost.sum())


def _thresholds(positives: Array, count: int, rng: np.random.Generator) -> Array:
    """Return scores at even shares of positives, with a number for ties.

    They come from the highest down.
    """
    at = np.unique(np.round(np.arange(1, count + 1) / (count + 1) * len(positives)).astype(int))
    scores = positives[::-1][np.clip(at, 1, len(positives)) - 1]
    pairs = np.column_stack((scores, rng.random(len(scores))))
    return np.asarray(pairs[np.lexsort((-pairs[:, 1], -pairs[:, 0]))])


def _sides(scores: ArrayLike, is_positive: ArrayLike, name: str, owner: str) -> tuple[Array, Array]:
    """Return the scores of positives and of negatives, the lowest first."""
    values, positive = np.asarray(scores, dtype=np.float64), np.asarray(is_positive, dtype=bool)
    if values.ndim != 1 or np.isnan(values).any():
        raise bad_parameter("scores", owner, "an array of numbers", "others")
    if positive.shape != values.shape or not positive.any() or positive.all():
        raise bad_parameter(name, owner, f"{values.size} booleans, some true and some false", "others")
    return np.sort(values[positive]), np.sort(values[~positive])


def _above(ordered: Array, thresholds: Array, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return how many rows are above each threshold, ties broken at random.

    Rows of one score are alike, so their numbers are drawn together, where a threshold has their score.
    """
    scores, ties = thresholds.T
    first, last = (np.searchsorted(ordered, scores, side=side) for side in ("left", "right"))
    above = len(ordered) - last
    for start in np.unique(first[last > first]):
        here = (first == start) & (last > first)
        numbers = rng.random(int(last[here][0] - start))
        above[here] += [int(np.count_nonzero(numbers > tie)) for tie in ties[here]]
    return np.asarray(above, dtype=np.int64)


def _by_bets(better: int, worse: int, n: int, ln_level: float, gain: float, loss: float) -> Interval:
    """Return both ends for rows of any laws, each at the level given."""
    low = _low_by_bets(better, worse, n, ln_level, gain, loss)
    return low, -_low_by_bets(worse, better, n, ln_level, loss, gain)


def _by_disagreements(better: int, worse: int, n: int, ln_level: float) -> Interval:
    """Return both ends for rows of one law, each at the level given."""
    count = better + worse
    if count == 0:
        disagree = _tail_ends(0, 0, n, ln_level + LN_TENTH, identical_rows=True)[1]
        return -disagree, disagree
    least, most = _tail_ends(count, count, n, ln_level + LN_TENTH, identical_rows=True)
    thetas = _tail_ends(better, better, count, ln_level + LN_NINE_TENTHS, identical_rows=True)
    low, high = (2.0 * theta - 1.0 for theta in thetas)
    low *= least if low > 0.0 else most
    high *= most if high > 0.0 else least
    return max(low, -1.0), min(high, 1.0)


def _low_by_bets(better: int, worse: int, n: int, ln_level: float, gain: float, loss: float) -> float:
    """Return the lower end from bets on differences of 1, 0 and -1."""
    values = np.array([1.0, 0.0, -1.0])
    mean = gain - loss
    variance = max(gain + loss - mean * mean, 1.0 / n)
    most_lost = min(1.0 + max(mean, 0.0) + math.sqrt(-2.0 * variance * ln_level / n), 2.0)
    bets = bet_sizes(n, ln_level, variance, most_lost)
    counts = np.array([better, n - better - worse, worse], dtype=np.float64)
    return lowest_ratio(values, 1.0, ln_level, bets, (values, np.ones(3)), bracket=(-1.0, 1.0), counts=counts)


def _losses(values: ArrayLike, name: str, bottom: float, top: float, owner: str) -> NDArray[np.float64]:
    losses = np.asarray(values, dtype=np.float64)
    low, high = bottom - OUTWARDS * (top - bottom), top + OUTWARDS * (top - bottom)
    if losses.ndim != 1 or losses.size == 0 or not (losses.min() >= low and losses.max() <= high):
        raise bad_parameter(name, owner, f"a non-empty array of numbers in [{bottom:g}, {top:g}]", "others")
    return np.clip(losses, bottom, top)


def _explained(
    loss: Array,
    baseline: Array,
    slack: float,
    most: Interval,
    ln_level: float,
    expected: ExpectedLosses,
    shares: Array | None = None,
) -> Interval:
    """Return both ends of ``1 - E loss / (E baseline - s)``, of rows or of units with these shares."""
    n, largest = len(loss), 1.0 if shares is None else float(shares.max()) * (1.0 + OUTWARDS)
    most_loss, most_baseline = (each * largest for each in most)
    corners = np.array([0.0, most_loss, 0.0, most_loss]), np.array([0.0, 0.0, most_baseline, most_baseline])
    # Where a mean is foreseen to be 0 the bets have to be of some size.
    mean_loss = max(expected.loss, most_loss / n)
    mean_baseline = max(expected.baseline, most_baseline / n)
    ratio = mean_loss / mean_baseline

    def variance(of_loss: float, of_baseline: float) -> float:
        squares = of_loss**2 * expected.loss_variance + of_baseline**2 * expected.baseline_variance
        mixed = squares - 2.0 * of_loss * of_baseline * expected.covariance
        return max(mixed, (of_loss * most_loss + of_baseline * most_baseline) ** 2 / n**2)

    bets = bet_sizes(n, ln_level, variance(1.0, ratio), ratio * most_baseline)
    unexplained = lowest_ratio(loss, baseline, ln_level, bets, corners, bracket=(0.0, _FURTHEST * ratio))
    # However rare the largest loss is in these rows, its mean may be so large: bets on less are too small.
    inverse = mean_baseline / max(mean_loss, _SHOWN * -ln_level * most_loss / n)
    # Of some standard errors of the best constant. Not the slack itself: these rows decide it, and may not
    # decide the bets, too.
    foreseen = 2.0 * expected.baseline * -(ln_level + _LN_TWENTIETH) / n
    ln_level += LN_NINE_TENTHS
    bets = bet_sizes(n, ln_level, variance(inverse, 1.0), inverse * most_loss + foreseen)
    corners, bracket = (corners[1] - slack * largest, corners[0]), (0.0, _FURTHEST * inverse)
    lost = slack if shares is None else slack * shares
    inverse = lowest_ratio(baseline - lost, loss, ln_level, bets, corners, bracket)
    return (1.0 - 1.0 / inverse if inverse > 0.0 else -math.inf), 1.0 - unexplained


def _units_of(
    n: int, unit: ArrayLike | None, weight: ArrayLike | None
) -> tuple[Callable[[Array], Array], Array, float]:
    """Return what sums over units, their shares, and how much more such a sum varies than a row's value.

    A share is 1 on average.
    """
    units = np.arange(n) if unit is None else np.asarray(unit)
    rows = np.ones(n) if weight is None else np.asarray(weight, dtype=np.float64)
    if units.shape != (n,) or units.dtype.kind not in "iu" or units.min() < 0:
        raise bad_parameter("unit", "r_squared_interval", f"{n} numbers from 0 on", "others")
    if rows.shape != (n,) or not (np.isfinite(rows).all() and rows.min() >= 0.0 and rows.any()):
        raise bad_parameter(
            "row_weights", "r_squared_interval", f"{n} numbers of at least 0, some above", "others"
        )
    count = int(units.max()) + 1
    scale = rows * (count / rows.sum())

    def sums_of(values: Array) -> Array:
        return np.bincount(units, scale * values, minlength=count).astype(np.float64)

    shares = sums_of(np.ones(n))
    return sums_of, shares, foreseen_squares(scale, shares) / count


def _quantile_slack(y: Array, constant: float, quantile: float, ln_level: float, bounds: Interval) -> float:
    """Return a bound on what the constant loses to the best one.

    Each of its two cases fails with twice the probability of the level.
    """
    n = len(y)
    ordered = np.sort(y)
    rank = int(binom.isf(math.exp(ln_level), n, quantile)) + 1  # P[Bin >= rank] <= level
    mirrored = int(binom.isf(math.exp(ln_level), n, 1.0 - quantile)) + 1
    top = float(ordered[rank - 1]) if rank <= n else bounds[1]
    bottom = float(ordered[n - mirrored]) if mirrored <= n else bounds[0]
    until, before = int(np.count_nonzero(y <= constant)), int(np.count_nonzero(y < constant))
    least = _tail_ends(until, until, n, ln_level, identical_rows=True)[0]
    most = _tail_ends(before, before, n, ln_level, identical_rows=True)[1]
    above = max(top - constant, 0.0) * max(quantile - least, 0.0)
    below = max(constant - bottom, 0.0) * max(most - quantile, 0.0)
    return max(above, below) * (1.0 + OUTWARDS)


def _both_losses(y: Array, error: Array, constant: float, quantile: float | None) -> tuple[Array, Array]:
    """Return the losses of the model and of the constant."""
    away = y - constant
    if quantile is None:
        return error * error, away * away
    loss, baseline = (np.maximum(quantile * side, (quantile - 1.0) * side) for side in (error, away))
    return loss, baseline


def _clipped(
    target: ArrayLike, prediction: ArrayLike, target_range: Interval, most_error: float, owner: str
) -> tuple[Array, Array]:
    """Return the target and the errors, clipped, or raise ValueError."""
    bottom, top = check_range(target_range, owner)
    most_error = check_real(most_error, "most_error", owner, low=0.0)
    y, p = np.asarray(target, dtype=np.float64), np.asarray(prediction, dtype=np.float64)
    if y.ndim != 1 or y.size == 0 or not np.isfinite(y).all():
        raise bad_parameter("target", owner, "a non-empty array of finite numbers", "others")
    if p.shape != y.shape or not np.isfinite(p).all():
        raise bad_parameter("prediction", owner, f"an array of {y.size} finite numbers", "others")
    y = np.clip(y, bottom, top)
    return y, np.clip(y - np.clip(p, bottom, top), -most_error, most_error)
