r"""An interval for average precision at a given share of positives, from bands of two rates.

Rows are ranked by score, ties broken at random. With the share pi of positives and the false positive rate
F(u) at which a share u of the positives is found, the population's average precision is

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
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_ada._checks import bad_parameter, check_integer
from sklearn_ada.guarantees.intervals._sides import ln_side
from sklearn_ada.guarantees.intervals.clopper_pearson import binomial_tail_ends

__all__ = ["average_precision_interval"]

_THRESHOLDS = (5, 8, 12, 20, 30, 60, 120, 240)

Array = NDArray[np.float64]


def average_precision_interval(
    scores: ArrayLike,
    is_positive: ArrayLike,
    ln_delta: float,
    *,
    expected_scores: ArrayLike,
    expected_positive: ArrayLike,
    seed: int,
) -> tuple[float, float]:
    """Return an interval for average precision that misses with probability at most delta.

    The target is the average precision of the population at these rows' share of positives, ties in the
    score broken at random. Positives are independent and of one law, and so are negatives. Each side gets
    delta/2.

    Source: theorem of `sklearn_ada.guarantees.intervals.of_metrics.average_precision`.

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
    rng = np.random.default_rng(check_integer(seed, "seed", owner, low=0))
    positives, negatives = _sides(scores, is_positive, "is_positive", owner)
    known, others = _sides(expected_scores, expected_positive, "expected_positive", owner)
    level = ln_side(ln_delta, owner)
    sizes = len(positives), len(negatives)
    best, thresholds = math.inf, known[:1]
    for count in _THRESHOLDS:
        tried = _thresholds(known, count, rng)
        shares = (_above(side, tried, rng) / len(side) for side in (known, others))
        counts = [np.round(share * size).astype(int) for share, size in zip(shares, sizes, strict=True)]
        low, high = _ends(counts[0], counts[1], sizes, level)
        if high - low < best:
            best, thresholds = high - low, tried
        if count > len(known):
            break
    return _ends(_above(positives, thresholds, rng), _above(negatives, thresholds, rng), sizes, level)


def _ends(
    found: NDArray[np.int64], false: NDArray[np.int64], sizes: tuple[int, int], level: float
) -> tuple[float, float]:
    """Return both ends from how many positives and negatives are above each threshold."""
    each = level - math.log(2.0 * len(found))
    recalls, rates = _band(found, sizes[0], each), _band(false, sizes[1], each)
    odds = sizes[1] / sizes[0]
    low = _area(np.r_[0.0, recalls[0], 1.0], np.r_[rates[1], 1.0] * odds)
    high = _area(np.r_[0.0, recalls[1], 1.0], np.r_[0.0, rates[0]] * odds)
    return min(max(low, 0.0), 1.0), min(max(high, 0.0), 1.0)


def _band(counts: NDArray[np.int64], size: int, ln_each: float) -> tuple[Array, Array]:
    """Return lower and upper bounds of shares that rise, at this level each."""
    ends = [binomial_tail_ends(int(k), int(k), size, ln_each, identical_rows=True) for k in counts]
    low, high = np.array(ends).T
    return np.maximum.accumulate(low), np.minimum.accumulate(high[::-1])[::-1]


def _area(recalls: Array, false: Array) -> float:
    """Return the integral of ``u / (u + f)`` with one f between each two recalls."""
    start, stop = recalls[:-1], recalls[1:]
    inside = (false > 0.0) & (stop > start)
    lost = false[inside] * np.log((stop[inside] + false[inside]) / (start[inside] + false[inside]))
    return float(np.sum(stop - start) - lost.sum())


def _thresholds(known: Array, count: int, rng: np.random.Generator) -> Array:
    """Return so many scores, the highest first, at even shares of positives, and a number for ties."""
    at = np.unique(np.round(np.arange(1, count + 1) / (count + 1) * len(known)).astype(int))
    scores = known[::-1][np.clip(at, 1, len(known)) - 1]
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
    """Return how many rows are above each threshold, where rows with its score are at a random number.

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
