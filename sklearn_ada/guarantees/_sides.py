"""The two sides of an interval: half of delta each, and ends rounded outwards."""

from __future__ import annotations

import math

from sklearn_ada._checks import check_real
from sklearn_ada._constants import LN_2

__all__ = ["ln_side", "mirrored"]


def ln_side(ln_delta: float, owner: str) -> float:
    """Return the logarithm of the failure probability of one side; a delta above 1/2 is treated as 1/2."""
    ln_delta = check_real(ln_delta, "ln_delta", owner, high=0.0, closed="high")
    return min(ln_delta, -LN_2) - LN_2


def mirrored(low: float) -> float:
    """Return ``1 - low``, rounded up: the upper end of a share from the lower end of what is missing to 1."""
    return 1.0 if low == 0.0 else min(math.nextafter(1.0 - low, 2.0), 1.0)
