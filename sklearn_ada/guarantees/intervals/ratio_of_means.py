r"""Intervals for metrics that are ratios of means at given class shares: kappa, F-beta, precision, Jaccard.

The rows are independent given their classes, and the target is the population at their class mix, with
shares :math:`t_c` of the classes. There each of these metrics is ``sum E a_i / sum E b_i``, for a row of
class y that is predicted as p:

============ =============================== ==========================================
metric       a                               b
============ =============================== ==========================================
kappa        ``1(y = p) - t_p``              ``1 - t_p``
F-beta of c  ``(1 + beta^2) 1(y = p = c)``   ``beta^2 t_c + 1(p = c)``
precision    ``1(y = p = c)``                ``1(p = c)``
Jaccard      ``1(y = p = c)``                ``t_c + 1(p = c) - 1(y = p = c)``
============ =============================== ==========================================

so an interval is one of a test in one dimension, by the fixed bets of
`sklearn_ada.guarantees.intervals.fixed_bets` on ``z = a - r b``, and no region of confusion matrices is
needed.

Centring. What classes differ in is no noise, since their shares are given, but it would be paid for: the
inequality of the means loses it. So a constant :math:`g_y` is taken from the numerators of each class, with
``sum_c n_c g_c = 0``: the ratio is the same, and the bets are on what varies within the classes. It is the
mean of z within the class, at the ratio foreseen, as foreseen without these rows; if it is wrong, the
interval is wider, and still valid.

All rows with the same class and prediction are alike, so that n only matters as a number of counts.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_ada._checks import bad_parameter, check_integer, check_option, check_real
from sklearn_ada.guarantees.intervals._sides import ln_side
from sklearn_ada.guarantees.intervals.fixed_bets import bet_sizes, lowest_ratio

__all__ = [
    "RATIO_METRICS",
    "centred_interval",
    "centred_low_end",
    "check_tables",
    "confusion_ratio_interval",
    "confusion_terms",
]

RATIO_METRICS = ("f_beta", "jaccard", "kappa", "precision")
"""What `confusion_ratio_interval` is for."""

_BOTTOM = {"kappa": -1.0}

Table = NDArray[np.float64]


def confusion_terms(
    metric: str, shares: NDArray[np.float64], label: int = 0, *, beta: float = 1.0
) -> tuple[Table, Table]:
    """Return numerator and denominator of a row, by its class (first axis) and its prediction (second).

    Parameters
    ----------
    metric : {"f_beta", "jaccard", "kappa", "precision"}
    shares : ndarray of shape (n_classes,)
        Shares of the classes.
    label : int, default=0
        The class that the metric is about; not used by kappa.
    beta : float, default=1.0
        Weight of the recall in F-beta.

    Examples
    --------
    >>> numerator, denominator = confusion_terms("f_beta", np.array([0.25, 0.75]))
    >>> numerator.tolist(), denominator.tolist()
    ([[2.0, 0.0], [0.0, 0.0]], [[1.25, 0.25], [1.25, 0.25]])
    """
    classes = len(shares)
    hit = np.eye(classes)
    if metric == "kappa":
        return hit - shares, np.tile(1.0 - shares, (classes, 1))
    both = np.zeros((classes, classes))
    both[label, label] = 1.0
    predicted = np.zeros((classes, classes))
    predicted[:, label] = 1.0
    if metric == "precision":
        return both, predicted
    if metric == "jaccard":
        return both, shares[label] + predicted - both
    return (1.0 + beta**2) * both, beta**2 * shares[label] + predicted


def confusion_ratio_interval(
    metric: str,
    confusion: ArrayLike,
    ln_delta: float,
    *,
    expected: ArrayLike,
    label: int = 0,
    beta: float = 1.0,
) -> tuple[float, float]:
    """Return an interval for kappa or a metric of one class that misses with probability at most delta.

    The target is the metric of the population at the class mix of these rows, which are independent given
    their classes. The value of scikit-learn's metric is the one at which neither side would gain anything
    to first order. Each side gets delta/2.

    Source: theorem of `sklearn_ada.guarantees.intervals.fixed_bets`, terms of
    `sklearn_ada.guarantees.intervals.ratio_of_means`.

    Parameters
    ----------
    metric : {"f_beta", "jaccard", "kappa", "precision"}
    confusion : array-like of shape (n_classes, n_classes)
        How many rows have each class (first axis) and prediction (second), as by scikit-learn.
    ln_delta : float
        Logarithm of the failure probability, at most 0; above 1/2 it is treated as 1/2.
    expected : array-like of shape (n_classes, n_classes)
        A confusion matrix of other rows, such as validation rows, by which centring and bets are chosen.
    label : int, default=0
        The class that the metric is about; not used by kappa.
    beta : float, default=1.0
        Weight of the recall in F-beta, positive.

    Returns
    -------
    low, high : float
        Within [-1, 1] for kappa and [0, 1] for the others.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> seen, expected = [[80, 20], [10, 890]], [[160, 40], [30, 1770]]
    >>> low, high = confusion_ratio_interval("f_beta", seen, math.log(0.05), expected=expected)
    >>> round(low, 4), round(high, 4)  # F1 is .8421
    (0.7459, 0.9108)
    """
    owner = "confusion_ratio_interval"
    metric = check_option(metric, "metric", owner, RATIO_METRICS)
    counts, foreseen = check_tables(confusion, expected, owner)
    label = check_integer(label, "label", owner, low=0, high=len(counts) - 1)
    beta = check_real(beta, "beta", owner, low=0.0)
    shares = counts.sum(axis=1) / counts.sum()
    numerator, denominator = confusion_terms(metric, shares, label, beta=beta)
    bracket = (_BOTTOM.get(metric, 0.0), 1.0)
    return centred_interval(numerator, denominator, counts, foreseen, ln_side(ln_delta, owner), bracket)


def centred_interval(
    numerator: Table,
    denominator: Table,
    counts: Table,
    expected: Table,
    ln_level: float,
    bracket: tuple[float, float],
) -> tuple[float, float]:
    """Return both ends of a ratio of means over a confusion matrix, each at the level given.

    Parameters
    ----------
    numerator, denominator : ndarray of shape (n_classes, n_classes)
        Of a row, by its class and prediction; no denominator is negative.
    counts, expected : ndarray of shape (n_classes, n_classes)
        Confusion matrices of the rows and of those by which centring and bets are chosen.
    ln_level : float
        Logarithm of the level of each side.
    bracket : tuple of float
        The ratio is known to be in it.

    Returns
    -------
    low, high : float
    """
    low = centred_low_end(numerator, denominator, counts, expected, ln_level, bracket)
    negated = (-bracket[1], -bracket[0])
    return low, -centred_low_end(-numerator, denominator, counts, expected, ln_level, negated)


def centred_low_end(
    numerator: Table,
    denominator: Table,
    counts: Table,
    expected: Table,
    ln_level: float,
    bracket: tuple[float, float],
    planned: Table | None = None,
) -> float:
    """Return the lower end of a ratio of means over a confusion matrix, at the level given.

    Parameters are those of `centred_interval`. Where the denominator depends on the rows, ``planned`` is one
    that does not: by it the bets are sized and centred.
    """
    sizes = counts.sum(axis=1)
    occupied = sizes > 0  # a class without rows has no outcomes
    sizes, n = sizes[occupied], float(sizes.sum())
    numerator, denominator = numerator[occupied], denominator[occupied]
    flat_denominator = denominator.ravel()
    if planned is not None:
        denominator = planned[occupied]
    laws = _laws(expected)[occupied]
    top, bottom = (float(sizes @ (laws * side).sum(axis=1)) for side in (numerator, denominator))
    ratio = min(max(top / bottom, bracket[0]), bracket[1]) if bottom > 0.0 else bracket[0]
    gains = numerator - ratio * denominator
    means = (laws * gains).sum(axis=1)
    centres = means - sizes @ means / n
    centred = numerator - centres[:, None]
    within = (laws * np.square(gains - means[:, None])).sum(axis=1)
    variance = float(sizes @ within) / n
    # Ratios that the test will have to tell apart are about so far from the one foreseen.
    reach = math.sqrt(-2.0 * variance * ln_level / n) * n / bottom if bottom > 0.0 else 0.0
    largest = min(ratio + reach, bracket[1])
    most_lost = max(float(np.max(largest * denominator - centred)), 1e-9)
    known = float(expected.sum())
    variance = (known * variance + most_lost**2) / (known + 1.0)  # as if one more row had been at its worst
    bets = bet_sizes(round(n), ln_level, variance, most_lost)
    flat = (centred.ravel(), flat_denominator)
    return lowest_ratio(
        flat[0], flat[1], ln_level, bets=bets, corners=flat, bracket=bracket, counts=counts[occupied].ravel()
    )


def check_tables(confusion: ArrayLike, expected: ArrayLike, owner: str) -> tuple[Table, Table]:
    """Return the two confusion matrices as floats, or raise ValueError."""
    tables = []
    for name, given in (("confusion", confusion), ("expected", expected)):
        table = np.asarray(given, dtype=np.float64)
        if table.ndim != 2 or table.shape[0] != table.shape[1] or len(table) < 2:
            raise bad_parameter(name, owner, "a square matrix of at least two classes", table.shape)
        if not (np.isfinite(table).all() and (table >= 0.0).all() and table.sum() >= 1.0):
            raise bad_parameter(name, owner, "a matrix of counts, of at least one row", "others")
        tables.append(table)
    if not np.array_equal(tables[0], np.round(tables[0])):
        raise bad_parameter("confusion", owner, "a matrix of whole counts", "others")
    if tables[0].shape != tables[1].shape:
        raise bad_parameter("expected", owner, f"of shape {tables[0].shape}", tables[1].shape)
    return tables[0], tables[1]


def _laws(expected: Table) -> Table:
    """Return the law of the prediction in each class, as foreseen; where nothing is known, all alike."""
    sizes = expected.sum(axis=1, keepdims=True)
    return np.where(sizes > 0.0, expected / np.where(sizes > 0.0, sizes, 1.0), 1.0 / len(expected))
