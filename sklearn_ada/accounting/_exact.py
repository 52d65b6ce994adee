"""Exact sums of costs: a budget must not be passed by steps that are too small to change a float."""

from __future__ import annotations

import math
from fractions import Fraction

__all__ = ["exactly", "within"]


def exactly(value: float) -> Fraction:
    """Return the number that a finite float is written as: 0.1 is a tenth, and ten of them are 1.

    Examples
    --------
    >>> sum(exactly(0.1) for _ in range(10)) == 1
    True
    """
    return Fraction(repr(float(value)))


def within(total: Fraction | float, budget: float) -> bool:
    """Return whether an exact total is at most a budget, which may be infinite; NaN fails.

    Examples
    --------
    >>> within(3 * exactly(0.1), 0.3), within(1 + exactly(1e-20), 1.0)
    (True, False)
    """
    if not math.isfinite(budget):
        return budget == math.inf
    return total <= exactly(budget)
