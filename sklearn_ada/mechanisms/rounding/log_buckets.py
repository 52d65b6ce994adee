"""Buckets of positive numbers that grow by a factor: a size or a variance is answered as one of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sklearn_ada._checks import check_real

__all__ = ["LogBuckets"]


@dataclass(frozen=True)
class LogBuckets:
    """Buckets in which neighbours differ by a factor.

    Parameters
    ----------
    growth : float
        The factor, above 1.

    Examples
    --------
    >>> buckets = LogBuckets(2.0)
    >>> buckets.index(5.0), buckets.index(0.3)
    (2, -2)
    >>> buckets.low(2) <= 5.0 <= buckets.high(2)
    True
    """

    growth: float

    def __post_init__(self) -> None:
        check_real(self.growth, "growth", "LogBuckets", low=1.0)

    def index(self, value: float) -> int:
        """Return the number of the bucket of a positive value."""
        value = check_real(value, "value", "LogBuckets.index", low=0.0)
        return math.floor(math.log(value) / math.log(self.growth) + 1e-9)

    def low(self, index: int) -> float:
        """Return a number that no value of the bucket is below."""
        return float(self.growth**index * (1.0 - 1e-8))

    def high(self, index: int) -> float:
        """Return a number that no value of the bucket is above."""
        return float(self.growth ** (index + 1) * (1.0 + 1e-8))
