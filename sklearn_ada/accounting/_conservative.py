"""Rounding and root finding towards the side that promises less."""

from __future__ import annotations

import math
from collections.abc import Callable

__all__ = ["exp_upward", "smallest_epsilon"]


def exp_upward(log_delta: float) -> float:
    """Return ``exp(log_delta)`` rounded up and at most 1: underflow never yields a delta of 0."""
    return min(1.0, math.nextafter(math.exp(min(log_delta, 0.0)), math.inf))


def smallest_epsilon(holds: Callable[[float], bool], upper: float) -> float:
    """Return the smallest epsilon found at which ``holds`` is true, from above.

    ``holds`` must be monotone. ``upper`` is a guess of where it is true; it is doubled until it is. The
    answer is an epsilon at which ``holds`` was evaluated and true, within 1e-13 (relative) of the edge.
    """
    if holds(0.0):
        return 0.0
    low, high = 0.0, upper
    while not holds(high):
        low, high = high, 2.0 * high
        if not math.isfinite(high):
            raise OverflowError("No finite epsilon was found.")
    while high - low > 1e-13 * high:
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        if holds(middle):
            high = middle
        else:
            low = middle
    return high
