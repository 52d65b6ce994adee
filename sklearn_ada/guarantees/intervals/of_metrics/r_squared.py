r"""Intervals for the share of a loss that a model explains: R^2, and D^2 of the pinball and absolute losses.

The metric is ``1 - E L / min_m E B(m)`` where L is the model's loss of a row and ``B(m)`` that of the
constant m; :math:`L = e^2, B(m) = (y - m)^2` for R^2, where the best constant is the mean. With a constant
c that is fixed without these rows, such as the mean of validation rows:

- Upper end. ``E B(c)`` is at least the minimum, so where the metric is at least ``1 - q``, the terms ``L -
  q B(c)`` have a mean of at most 0. Fixed bets reject the small q
  (`sklearn_ada.guarantees.intervals.fixed_bets`).
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

Targets and predictions are clipped to a range, and errors to a bound, in the population, too. A deviance
(Tweedie, log loss) has no bound at all, or a best constant that these steps do not bound, so its D^2 has no
interval here.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binom

from sklearn_ada._checks import bad_parameter, check_real
from sklearn_ada._constants import OUTWARDS
from sklearn_ada.guarantees.intervals._sides import check_range, ln_side
from sklearn_ada.guarantees.intervals.clopper_pearson import binomial_tail_ends
from sklearn_ada.guarantees.intervals.fixed_bets import bet_sizes, fixed_bets_mean, lowest_ratio

__all__ = ["ExpectedLosses", "d2_pinball_interval", "r_squared_interval"]

_LN_SLACK = -math.log(10.0)  # share of a side's level for how far the constant is from the best
_LN_BETS = math.log1p(-0.1)
_LN_EACH = -math.log(20.0)
_SHOWN = 3.0  # times what the level leaves unknown of the mean of a loss that is rarely the largest
_FURTHEST = 100.0  # times the ratio foreseen: a lower end is not looked for beyond

Array = NDArray[np.float64]


class ExpectedLosses(NamedTuple):
    """What is foreseen of a model's losses and a constant's, from rows other than those of the interval.

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
        target_range: tuple[float, float],
        most_error: float,
        quantile: float | None = None,
    ) -> ExpectedLosses:
        """Return what these rows foresee: of squared losses, or of pinball losses at a quantile.

        Parameters are those of `r_squared_interval` and `d2_pinball_interval`.

        Examples
        --------
        >>> rows = [0.0, 1.0, 2.0, 3.0]
        >>> found = ExpectedLosses.of_rows(rows, [0.0, 1.0, 2.0, 2.0], target_range=(0, 4), most_error=4)
        >>> found.constant, found.loss, found.baseline
        (1.5, 0.25, 1.25)
        """
        y, error = _clipped(target, prediction, target_range, most_error, "ExpectedLosses")
        constant = float(np.mean(y)) if quantile is None else float(np.quantile(y, quantile))
        loss, baseline = _losses(y, error, constant, quantile)
        table = np.cov(loss, baseline, bias=True) if len(y) > 1 else np.zeros((2, 2))
        means = float(loss.mean()), float(baseline.mean())
        return cls(constant, *means, float(table[0, 0]), float(table[1, 1]), float(table[0, 1]))


def r_squared_interval(
    target: ArrayLike,
    prediction: ArrayLike,
    ln_delta: float,
    *,
    target_range: tuple[float, float],
    most_error: float,
    expected: ExpectedLosses,
) -> tuple[float, float]:
    """Return an interval for R^2 that misses with probability at most delta.

    The target is ``1 - E e^2 / Var y`` of the population, where y and the prediction are clipped to
    ``target_range`` and ``|e|`` to ``most_error``; rows are independent. Each side gets delta/2.

    Source: theorems of `sklearn_ada.guarantees.intervals.of_metrics.r_squared`.

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
    owner = "r_squared_interval"
    y, error = _clipped(target, prediction, target_range, most_error, owner)
    level = ln_side(ln_delta, owner)
    bottom, top = target_range
    width = top - bottom
    center = min(max((expected.constant - bottom) / width, 0.0), 1.0)
    known_variance = expected.baseline / width**2
    low_mean, high_mean = fixed_bets_mean(
        (y - bottom) / width, level + _LN_SLACK, expected_mean=center, expected_variance=known_variance
    )
    low_mean, high_mean = bottom + low_mean * width, bottom + high_mean * width
    slack = max(high_mean - expected.constant, expected.constant - low_mean) ** 2 * (1.0 + OUTWARDS)
    most = most_error**2, max(top - expected.constant, expected.constant - bottom) ** 2
    return _explained(*_losses(y, error, expected.constant, None), slack, most, level, expected)


def d2_pinball_interval(
    target: ArrayLike,
    prediction: ArrayLike,
    ln_delta: float,
    *,
    target_range: tuple[float, float],
    most_error: float,
    expected: ExpectedLosses,
    quantile: float = 0.5,
) -> tuple[float, float]:
    """Return an interval for D^2 of the pinball loss that misses with probability at most delta.

    At ``quantile=0.5`` it is D^2 of the absolute error. The target is ``1 - E L / min_m E B(m)`` of the
    population, clipped as for `r_squared_interval`; rows are independent and of one law. Each side gets
    delta/2.

    Source: theorems of `sklearn_ada.guarantees.intervals.of_metrics.r_squared`.

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
    owner = "d2_pinball_interval"
    quantile = check_real(quantile, "quantile", owner, low=0.0, high=1.0)
    y, error = _clipped(target, prediction, target_range, most_error, owner)
    level = ln_side(ln_delta, owner)
    bottom, top = target_range
    slack = _quantile_slack(y, expected.constant, quantile, level + _LN_EACH, (bottom, top))
    steepest = max(quantile, 1.0 - quantile)
    most = steepest * most_error, steepest * max(top - expected.constant, expected.constant - bottom)
    return _explained(*_losses(y, error, expected.constant, quantile), slack, most, level, expected)


def _explained(
    loss: Array,
    baseline: Array,
    slack: float,
    most: tuple[float, float],
    level: float,
    expected: ExpectedLosses,
) -> tuple[float, float]:
    """Return both ends of ``1 - E loss / (E baseline - s)``, where s is at most the slack."""
    n = len(loss)
    most_loss, most_baseline = most
    corners = np.array([0.0, most_loss, 0.0, most_loss]), np.array([0.0, 0.0, most_baseline, most_baseline])
    # Where a mean is foreseen to be 0 the bets have to be of some size.
    mean_loss = max(expected.loss, most_loss / n)
    mean_baseline = max(expected.baseline, most_baseline / n)
    ratio = mean_loss / mean_baseline

    def variance(of_loss: float, of_baseline: float) -> float:
        squares = of_loss**2 * expected.loss_variance + of_baseline**2 * expected.baseline_variance
        mixed = squares - 2.0 * of_loss * of_baseline * expected.covariance
        return max(mixed, (of_loss * most_loss + of_baseline * most_baseline) ** 2 / n**2)

    bets = bet_sizes(n, level, variance(1.0, ratio), ratio * most_baseline)
    unexplained = lowest_ratio(
        loss, baseline, level, bets=bets, corners=corners, bracket=(0.0, _FURTHEST * ratio)
    )
    # However rare the largest loss is in these rows, its mean may be so large: bets on less are too small.
    shown = _SHOWN * -level * most_loss / n
    inverse = mean_baseline / max(mean_loss, shown)
    # Of some standard errors of the best constant. Not the slack itself: these rows decide it, and may not
    # decide the bets, too.
    foreseen = 2.0 * expected.baseline * -(level + _LN_EACH) / n
    bets = bet_sizes(n, level + _LN_BETS, variance(inverse, 1.0), inverse * most_loss + foreseen)
    reduced = corners[1] - slack, corners[0]
    inverse = lowest_ratio(
        baseline - slack,
        loss,
        level + _LN_BETS,
        bets=bets,
        corners=reduced,
        bracket=(0.0, _FURTHEST * inverse),
    )
    return (1.0 - 1.0 / inverse if inverse > 0.0 else -math.inf), 1.0 - unexplained


def _quantile_slack(
    y: Array, constant: float, quantile: float, level: float, target_range: tuple[float, float]
) -> float:
    """Return a bound, each of two cases at twice the level, on what the constant loses to the best one."""
    n = len(y)
    ordered = np.sort(y)
    rank = int(binom.isf(math.exp(level), n, quantile)) + 1  # P[Bin >= rank] <= level
    mirrored = int(binom.isf(math.exp(level), n, 1.0 - quantile)) + 1
    top = float(ordered[rank - 1]) if rank <= n else target_range[1]
    bottom = float(ordered[n - mirrored]) if mirrored <= n else target_range[0]
    until, before = int(np.count_nonzero(y <= constant)), int(np.count_nonzero(y < constant))
    least = binomial_tail_ends(until, until, n, level, identical_rows=True)[0]
    most = binomial_tail_ends(before, before, n, level, identical_rows=True)[1]
    above = max(top - constant, 0.0) * max(quantile - least, 0.0)
    below = max(constant - bottom, 0.0) * max(most - quantile, 0.0)
    return max(above, below) * (1.0 + OUTWARDS)


def _losses(y: Array, error: Array, constant: float, quantile: float | None) -> tuple[Array, Array]:
    """Return the losses of the model, whose errors are ``y - prediction``, and of the constant."""
    away = y - constant
    if quantile is None:
        return error * error, away * away
    loss, baseline = (np.maximum(quantile * side, (quantile - 1.0) * side) for side in (error, away))
    return loss, baseline


def _clipped(
    target: ArrayLike, prediction: ArrayLike, target_range: tuple[float, float], most_error: float, owner: str
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
