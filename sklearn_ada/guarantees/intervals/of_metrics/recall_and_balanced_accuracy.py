"""Recall and balanced accuracy: the hits of each class are a binomial count of that class's rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sklearn_ada._checks import bad_parameter
from sklearn_ada.guarantees.intervals._sides import ln_side
from sklearn_ada.guarantees.intervals.clopper_pearson import binomial_tail_ends
from sklearn_ada.guarantees.intervals.effective_size import class_mean_size
from sklearn_ada.guarantees.intervals.hoeffding import hoeffding_half_width

__all__ = ["class_mean_interval", "counts_are_narrower"]


def class_mean_interval(hits: Sequence[int], rows: Sequence[int], ln_delta: float) -> tuple[float, float]:
    """Return an interval for the mean over classes of each class's recall, by the count of each class.

    It misses with probability at most delta: Clopper and Pearson's interval of every class misses with
    probability at most ``delta / C``, and where none does, the mean of the recalls is between the means of
    the ends. Given the labels, the rows of a class are independent draws of one law, so this holds at the
    class counts of these rows. Of a single class it is the interval of its recall.

    Source: Clopper, Pearson (1934); Bonferroni.

    Parameters
    ----------
    hits : sequence of int
        Rows of each class that are predicted right.
    rows : sequence of int
        Rows of each class, at least 1.
    ln_delta : float
        Logarithm of the failure probability, at most 0.

    Returns
    -------
    low, high : float

    Raises
    ------
    ValueError
        If there are no classes, or a count is out of range.

    Examples
    --------
    >>> low, high = class_mean_interval([255], [300], math.log(0.05))
    >>> round(low, 4), round(high, 4)  # Hoeffding: .7716 and .9284
    (0.8045, 0.8884)
    """
    if not len(rows) or len(hits) != len(rows):
        raise bad_parameter("hits", "class_mean_interval", "one count for each class of rows", hits)
    side = ln_side(ln_delta, "class_mean_interval") - math.log(len(rows))
    ends = [
        binomial_tail_ends(hit, hit, n, side, identical_rows=True) for hit, n in zip(hits, rows, strict=True)
    ]
    return math.fsum(low for low, _ in ends) / len(ends), math.fsum(high for _, high in ends) / len(ends)


def counts_are_narrower(recalls: Sequence[float], rows: Sequence[int], ln_delta: float) -> bool:
    """Return whether `class_mean_interval` is narrower than Hoeffding's if these are the recalls.

    For recalls that are guessed without the rows: which interval is used may not depend on them. With many
    small classes, each of which has a small part of delta, Hoeffding's is the narrower one.

    Examples
    --------
    >>> counts_are_narrower([0.9, 0.9], [300, 700], math.log(0.05))
    True
    >>> counts_are_narrower([0.7] * 100, [20] * 100, math.log(0.05))
    False
    """
    hits = [round(min(max(recall, 0.0), 1.0) * n) for recall, n in zip(recalls, rows, strict=True)]
    low, high = class_mean_interval(hits, rows, ln_delta)
    return high - low < 2.0 * hoeffding_half_width(class_mean_size(tuple(rows)), ln_delta)
