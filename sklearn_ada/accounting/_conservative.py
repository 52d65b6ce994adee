"""Deltas rounded up and the smallest epsilon from above: errors of computation never promise too much."""

from __future__ import annotations

import math
from collections.abc import Callable

from sklearn_ada._solving import enclosed_root

__all__ = ["exp_upward", "smallest_epsilon"]


def exp_upward(log_delta: float) -> float:
    """Return ``exp(log_delta)`` rounded up and at most 1: underflow never yields a delta of 0."""
    return min(1.0, math.nextafter(math.exp(min(log_delta, 0.0)), math.inf))


def smallest_epsilon(excess: Callable[[float], float], upper: float) -> float:
    """Return the smallest epsilon at which a falling ``excess`` is not positive, from above.

    ``upper`` is a guess of where it is not; it is doubled until it is. The answer is an epsilon at which
    ``excess`` was evaluated and not positive.
    """
    if excess(0.0) <= 0.0:
        return 0.0
    low, high = 0.0, upper
    while not excess(high) <= 0.0:
        low, high = high, 2.0 * high
        if not math.isfinite(high):
            raise OverflowError("No finite epsilon was found.")
    return enclosed_root(excess, low, high, rising=False, halvings=60)[1]
