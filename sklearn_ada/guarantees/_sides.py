"""The two sides of an interval: half of delta each, and ends rounded outwards."""

from __future__ import annotations

import math

from sklearn_ada._checks import check_real

__all__ = ["ln_side", "mirrored"]

_LN2 = math.log(2.0)


def ln_side(ln_delta: float, owner: str) -> float:
    """Return the logarithm of the failure probability of one side; a delta above 1/2 is treated as 1/2."""
    ln_delta = check_real(ln_delta, "ln_delta", owner, high=0.0, closed="high")
    return min(ln_delta, -_LN2) - _LN2


def mirrored(low: float) -> float:
    """Return ``1 - low``, rounded up: the upper end of a share from the lower end of what is missing to 1."""
    return 1.0 if low == 0.0 else min(math.nextafter(1.0 - low, 2.0), 1.0)
