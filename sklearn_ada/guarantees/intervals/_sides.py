"""What all intervals share: half of the failure probability for each side, and the range of a variable."""

from __future__ import annotations

import math

from sklearn_ada._checks import bad_parameter, check_real
from sklearn_ada._constants import LN_2

__all__ = ["check_range", "ln_side", "mirrored", "to_unit"]


def ln_side(ln_delta: float, owner: str) -> float:
    """Return the logarithm of the failure probability of one side; a delta above 1/2 is treated as 1/2."""
    ln_delta = check_real(ln_delta, "ln_delta", owner, high=0.0, closed="high")
    return min(ln_delta, -LN_2) - LN_2


def mirrored(low: float) -> float:
    """Return ``1 - low``, rounded up: the upper end of a share from the lower end of what is missing to 1."""
    return 1.0 if low == 0.0 else min(math.nextafter(1.0 - low, 2.0), 1.0)


def check_range(bounds: tuple[float, float], owner: str) -> tuple[float, float]:
    """Return the bounds of a variable as floats, or raise ValueError."""
    low, high = bounds
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise bad_parameter("range", owner, "a pair of finite numbers low < high", bounds)
    return float(low), float(high)


def to_unit(low: float, high: float, bottom: float, top: float, owner: str) -> tuple[float, float]:
    """Return what is known of a value, rescaled from ``[bottom, top]`` to [0, 1]."""
    low = check_real(low, "low_value", owner, low=bottom, high=top, closed="both")
    high = check_real(high, "high_value", owner, low=low, high=top, closed="both")
    width = top - bottom
    return min(max((low - bottom) / width, 0.0), 1.0), min(max((high - bottom) / width, 0.0), 1.0)
