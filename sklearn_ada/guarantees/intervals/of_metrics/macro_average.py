r"""Intervals for macro and weighted averages over the classes: of F-beta, precision and Jaccard.

For the macro average of the recall see
`sklearn_ada.guarantees.intervals.of_metrics.recall_and_balanced_accuracy`. With the terms of
`sklearn_ada.guarantees.intervals.of_metrics.f_beta_kappa_jaccard` class c has the ratio ``r_c = N_c / D_c``
of two means over rows, and the average is ``sum_c w_c r_c``. Its interval is hardly wider than that of one
ratio. Averaging the ends of C intervals at delta/C each is valid, but far too wide for many classes, whose
errors mostly cancel. For any constants :math:`q_c` and :math:`d_c > 0`, with ``x_c = N_c - q_c D_c``,

.. math:: \sum_c w_c r_c = \sum_c w_c \Big(q_c + \frac{x_c}{d_c}\Big)
          + \sum_c w_c x_c \Big(\frac{1}{D_c} - \frac{1}{d_c}\Big).

The first sum is one mean over rows, of ``sum_c w_c (q_c + (a_i - q_c b_i) / d_c)``, which fixed bets bound
at nine tenths of each side's level. In the second both factors are small where q and d are ratio and
denominator foreseen. Bets at the level's last tenth, over the four ends of each class, bound :math:`x_c`
and :math:`D_c`; a term is linear in the one and monotone in the other, so its extremes are at their ends.

Whichever of the two is foreseen to be narrower is used, which is decided without these rows.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_ada._checks import check_option, check_real
from sklearn_ada.guarantees.intervals._sides import ln_side
from sklearn_ada.guarantees.intervals.of_metrics.centred_bets import centred_interval, check_tables, laws_of
from sklearn_ada.guarantees.intervals.of_metrics.f_beta_kappa_jaccard import (
    RATIO_METRICS,
    confusion_terms,
)

__all__ = ["average_ratio_interval"]

_LN_LINEAR = math.log1p(-0.1)
_LN_BANDS = -math.log(10.0)

Table = NDArray[np.float64]
Ends = tuple[float, float]


def average_ratio_interval(
    metric: str,
    confusion: ArrayLike,
    ln_delta: float,
    *,
    expected: ArrayLike,
    average: str = "macro",
    beta: float = 1.0,
) -> tuple[float, float]:
    """Return an interval for a metric's average over the classes that misses with probability at most delta.

    The target is the average of the population's metric over the classes, at the class mix of these rows,
    which are independent given their classes. A class that the rows do not have counts, too, as
    scikit-learn's does for the ``labels`` that it is given. Each side gets delta/2.

    Source: theorem of `sklearn_ada.guarantees.intervals.of_metrics.macro_average`.

    Parameters
    ----------
    metric : {"f_beta", "jaccard", "precision"}
    confusion, ln_delta, expected, beta
        As for `sklearn_ada.guarantees.intervals.of_metrics.f_beta_kappa_jaccard.confusion_ratio_interval`.
    average : {"macro", "weighted"}, default="macro"
        Whether classes have equal weights or their shares among these rows.

    Returns
    -------
    low, high : float

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> seen, expected = [[80, 20], [10, 890]], [[160, 40], [30, 1770]]
    >>> low, high = average_ratio_interval("f_beta", seen, math.log(0.05), expected=expected)
    >>> round(low, 4), round(high, 4)  # F1-macro is .9128
    (0.8546, 0.9534)
    """
    owner = "average_ratio_interval"
    metric = check_option(metric, "metric", owner, [name for name in RATIO_METRICS if name != "kappa"])
    average = check_option(average, "average", owner, ("macro", "weighted"))
    counts, foreseen = check_tables(confusion, expected, owner)
    classes = len(counts)
    beta = check_real(beta, "beta", owner, low=0.0)
    level = ln_side(ln_delta, owner)
    shares = counts.sum(axis=1) / counts.sum()
    weights = shares if average == "weighted" else np.full(classes, 1.0 / classes)
    terms = [confusion_terms(metric, shares, label, beta=beta) for label in range(classes)]
    likely = _at_mix(foreseen, counts.sum(axis=1))
    likely_ends = [form(terms, weights, likely, foreseen, level) for form in (_by_class, _linear)]
    by_class = likely_ends[0][1] - likely_ends[0][0] <= likely_ends[1][1] - likely_ends[1][0]
    low, high = (_by_class if by_class else _linear)(terms, weights, counts, foreseen, level)
    return max(float(low), 0.0), min(float(high), 1.0)


def _by_class(
    terms: list[tuple[Table, Table]], weights: Table, counts: Table, expected: Table, level: float
) -> Ends:
    """Return the averages of the ends of each class, at an equal share of the level."""
    each = level - math.log(len(terms))
    ends = [centred_interval(a, b, counts, expected, each, (0.0, 1.0)) for a, b in terms]
    low, high = weights @ np.array(ends)
    return float(low), float(high)


def _linear(
    terms: list[tuple[Table, Table]], weights: Table, counts: Table, expected: Table, level: float
) -> Ends:
    """Return the ends of the linear part, moved by as much as the rest can be."""
    foreseen = _at_mix(expected, counts.sum(axis=1))
    n = float(counts.sum())
    each = level + _LN_BANDS - math.log(4.0 * len(terms))
    linear = np.zeros_like(counts)
    rest_low = rest_high = 0.0
    for (a, b), weight in zip(terms, weights, strict=True):
        size = max(float((foreseen * b).sum()) / n, 1.0 / n)
        ratio = min(max(float((foreseen * a).sum()) / n / size, 0.0), 1.0)
        gain = a - ratio * b
        linear += weight * (ratio + gain / size)
        gains = _mean(gain, counts, expected, each)
        least, most = _mean(b, counts, expected, each)
        if least <= 0.0:
            return 0.0, 1.0
        moved = [x * (1.0 / end - 1.0 / size) for x in gains for end in (least, most)]
        rest_low, rest_high = rest_low + weight * min(moved), rest_high + weight * max(moved)
    low, high = _mean(linear, counts, expected, level + _LN_LINEAR)
    return low + rest_low, high + rest_high


def _mean(values: Table, counts: Table, expected: Table, level: float) -> Ends:
    """Return both ends of the mean of a value over the rows."""
    bottom, top = float(values.min()), float(values.max())
    if bottom == top:
        return bottom, top
    return centred_interval(values, np.ones_like(values), counts, expected, level, (bottom, top))


def _at_mix(expected: Table, sizes: Table) -> Table:
    """Return the counts foreseen of so many rows of each class."""
    return laws_of(expected) * sizes[:, None]
