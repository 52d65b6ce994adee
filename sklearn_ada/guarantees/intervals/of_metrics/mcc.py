"""Intervals for Matthews' correlation coefficient (MCC) at given class shares, of two classes or more.

With two classes the coefficient is a function of two rates
(`sklearn_ada.guarantees.intervals.of_metrics.mcc_two_classes`); with more it takes a bound of its
denominator (`sklearn_ada.guarantees.intervals.of_metrics.mcc_several_classes`). An upper end is minus the
lower end of -MCC.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ada.guarantees.intervals._sides import ln_side
from sklearn_ada.guarantees.intervals.of_metrics.centred_bets import check_tables
from sklearn_ada.guarantees.intervals.of_metrics.mcc_several_classes import mcc_low_of_several_classes
from sklearn_ada.guarantees.intervals.of_metrics.mcc_two_classes import binary_mcc_low

__all__ = ["mcc_interval"]


def mcc_interval(confusion: ArrayLike, ln_delta: float, *, expected: ArrayLike) -> tuple[float, float]:
    """Return an interval for Matthews' correlation that misses with probability at most delta.

    The target is the coefficient of the population at the class mix of these rows, which are independent
    given their classes; where it is not defined (only one class, or one prediction) it counts as 0, as in
    scikit-learn. Each side gets delta/2.

    Source: theorems of `sklearn_ada.guarantees.intervals.of_metrics.mcc`.

    Parameters
    ----------
    confusion : array-like of shape (n_classes, n_classes)
        How many rows have each class (first axis) and prediction (second), as by scikit-learn.
    ln_delta : float
        Logarithm of the failure probability, at most 0; above 1/2 it is treated as 1/2.
    expected : array-like of shape (n_classes, n_classes)
        A confusion matrix of other rows, such as validation rows.

    Returns
    -------
    low, high : float
        Within [-1, 1]. For three classes or more the side further from 0 may be vacuous for few rows or one
        class that is predicted nearly always.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> import math
    >>> seen, expected = [[80, 20], [10, 890]], [[160, 40], [30, 1770]]
    >>> low, high = mcc_interval(seen, math.log(0.05), expected=expected)
    >>> round(low, 4), round(high, 4)  # the coefficient is .8270
    (0.7274, 0.9042)
    """
    owner = "mcc_interval"
    counts, foreseen = check_tables(confusion, expected, owner)
    sizes = counts.sum(axis=1)
    if np.count_nonzero(sizes) < 2:
        return 0.0, 0.0  # whatever is predicted
    level = ln_side(ln_delta, owner)
    if len(counts) == 2:  # with the predictions swapped the coefficient is minus itself
        swapped = binary_mcc_low(counts[:, ::-1], foreseen[:, ::-1], level)
        return binary_mcc_low(counts, foreseen, level), -swapped
    high = -mcc_low_of_several_classes(counts, foreseen, level, sign=-1.0)
    return mcc_low_of_several_classes(counts, foreseen, level), high
