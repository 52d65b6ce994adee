r"""Intervals for F-beta, kappa, Jaccard and precision, from the confusion matrix, at given class shares.

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

so an interval is one of a test in one dimension, by the bets of
`sklearn_ada.guarantees.intervals.of_metrics.centred_bets` on ``z = a - r b``, and no region of confusion
matrices is needed.

Where only two counts are told instead of the matrix, such as hits and predictions of a class, see
`sklearn_ada.guarantees.intervals.of_metrics.ratio_of_counts`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_ada._checks import check_integer, check_option, check_real
from sklearn_ada.guarantees.intervals._sides import ln_side
from sklearn_ada.guarantees.intervals.of_metrics.centred_bets import centred_interval, check_tables

__all__ = ["RATIO_METRICS", "confusion_ratio_interval", "confusion_terms"]

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
    `sklearn_ada.guarantees.intervals.of_metrics.f_beta_kappa_jaccard`.

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
    >>> import math
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
