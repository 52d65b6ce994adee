r"""Intervals for how much better one model is than another, from the differences of their losses row by row.

How wide they will be is planned by `sklearn_ada.guarantees.intervals.expected_width_of_difference`.

The target is ``E[loss_a - loss_b]``: positive where b is better. Two models that agree on most rows have
small differences, however large their losses are, so this is much narrower than the difference of two
intervals.

For 0/1 losses only rows count on which one model is right and the other is not. Let rho be the probability
of such a row and theta that of b being right there, so that the target is ``rho (2 theta - 1)``. If rows
are of one law, then given how many such rows there are, those on which b is right are binomial with theta,
and their number is binomial with rho: both have Clopper and Pearson's interval, at nine tenths and one
tenth of each side's level. For the lower end take the lower bound of theta; rho is at its lower bound if
the target is then positive and at its upper bound otherwise. It misses only if theta's bound misses, or
rho's: which of the two is used where theta is covered and the end is above the target is decided by the
sign of the target, so one of them is to be counted. The sign is exact: the end is above 0 if and only if
theta's is above 1/2, a sign test at nine tenths of the level.

For rows of different laws, as at a fixed class mix, and for losses with more values, bets on the
differences are used (`sklearn_ada.guarantees.intervals.fixed_bets`).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_ada._checks import bad_parameter, check_integer, check_real
from sklearn_ada._constants import OUTWARDS
from sklearn_ada.guarantees.intervals._sides import check_range, ln_side
from sklearn_ada.guarantees.intervals.clopper_pearson import binomial_tail_ends
from sklearn_ada.guarantees.intervals.fixed_bets import bet_sizes, fixed_bets_mean, lowest_ratio

__all__ = ["paired_loss_interval", "paired_zero_one_interval"]

_LN_DISAGREE = -math.log(10.0)
_LN_BETTER = math.log1p(-0.1)


def paired_zero_one_interval(
    better: int,
    worse: int,
    n: int,
    ln_delta: float,
    *,
    identical_rows: bool = False,
    expected: tuple[float, float] | None = None,
) -> tuple[float, float]:
    """Return an interval for the difference of two error rates that misses with probability at most delta.

    Rows are independent. Each side gets delta/2.

    Source: theorems of `sklearn_ada.guarantees.intervals.of_metrics.paired_difference`; given the
    disagreements the test is McNemar's (1947) in its exact form.

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
    n = check_integer(n, "n", owner)
    better = check_integer(better, "better", owner, low=0, high=n)
    worse = check_integer(worse, "worse", owner, low=0, high=n - better)
    level = ln_side(ln_delta, owner)
    shares = (0.25, 0.25) if expected is None else expected
    gain, loss = (check_real(x, "expected", owner, low=0.0, high=1.0, closed="both") for x in shares)
    if gain + loss > 1.0:
        raise bad_parameter("expected", owner, "two shares of at most 1 in all", shares)
    if identical_rows and expected is not None:
        foreseen = round(n * gain), min(round(n * loss), n - round(n * gain))
        exact = _by_disagreements(*foreseen, n, level)
        bets = _by_bets(*foreseen, n, level, gain, loss)
        identical_rows = exact[1] - exact[0] <= bets[1] - bets[0]
    if identical_rows:
        return _by_disagreements(better, worse, n, level)
    return _by_bets(better, worse, n, level, gain, loss)


def paired_loss_interval(
    losses_a: ArrayLike,
    losses_b: ArrayLike,
    ln_delta: float,
    *,
    bounds: tuple[float, float],
    expected_difference: float,
    expected_variance: float,
) -> tuple[float, float]:
    """Return an interval for the difference of two mean losses that misses with probability at most delta.

    Rows are independent, and may be of different laws. Each side gets delta/2.

    Source: theorem of `sklearn_ada.guarantees.intervals.fixed_bets`.

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
    a, b = (
        _losses(x, name, bottom, top, owner) for x, name in ((losses_a, "losses_a"), (losses_b, "losses_b"))
    )
    if a.shape != b.shape:
        raise bad_parameter("losses_b", owner, f"of length {a.size}", b.size)
    mean = check_real(
        expected_difference, "expected_difference", owner, low=-width, high=width, closed="both"
    )
    variance = check_real(expected_variance, "expected_variance", owner, low=0.0, closed="low")
    low, high = fixed_bets_mean(
        (1.0 + (a - b) / width) / 2.0,
        ln_delta,
        expected_mean=(1.0 + mean / width) / 2.0,
        expected_variance=variance / (4.0 * width**2),
    )
    return (2.0 * low - 1.0) * width, (2.0 * high - 1.0) * width


def _by_bets(better: int, worse: int, n: int, level: float, gain: float, loss: float) -> tuple[float, float]:
    """Return both ends for rows of any laws, each at the level given."""
    low = _low_by_bets(better, worse, n, level, gain, loss)
    return low, -_low_by_bets(worse, better, n, level, loss, gain)


def _by_disagreements(better: int, worse: int, n: int, level: float) -> tuple[float, float]:
    """Return both ends for rows of one law, each at the level given."""
    count = better + worse
    if count == 0:
        disagree = binomial_tail_ends(0, 0, n, level + _LN_DISAGREE, identical_rows=True)[1]
        return -disagree, disagree
    least, most = binomial_tail_ends(count, count, n, level + _LN_DISAGREE, identical_rows=True)
    ends = [
        2.0 * theta - 1.0
        for theta in binomial_tail_ends(better, better, count, level + _LN_BETTER, identical_rows=True)
    ]
    low = ends[0] * (least if ends[0] > 0.0 else most)
    high = ends[1] * (most if ends[1] > 0.0 else least)
    return max(low, -1.0), min(high, 1.0)


def _low_by_bets(better: int, worse: int, n: int, level: float, gain: float, loss: float) -> float:
    """Return the lower end from bets on differences of 1, 0 and -1."""
    values = np.array([1.0, 0.0, -1.0])
    mean = gain - loss
    variance = max(gain + loss - mean * mean, 1.0 / n)
    most_lost = min(1.0 + max(mean, 0.0) + math.sqrt(-2.0 * variance * level / n), 2.0)
    return lowest_ratio(
        values,
        1.0,
        level,
        bets=bet_sizes(n, level, variance, most_lost),
        corners=(values, np.ones(3)),
        bracket=(-1.0, 1.0),
        counts=np.array([better, n - better - worse, worse], dtype=np.float64),
    )


def _losses(values: ArrayLike, name: str, bottom: float, top: float, owner: str) -> NDArray[np.float64]:
    losses = np.asarray(values, dtype=np.float64)
    slack = OUTWARDS * (top - bottom)
    if (
        losses.ndim != 1
        or losses.size == 0
        or not (losses.min() >= bottom - slack and losses.max() <= top + slack)
    ):
        raise bad_parameter(name, owner, f"a non-empty array of numbers in [{bottom:g}, {top:g}]", "others")
    return np.clip(losses, bottom, top)
