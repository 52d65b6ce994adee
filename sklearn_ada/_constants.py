"""Numbers that several floors share."""

import math

__all__ = ["LN_2", "OUTWARDS"]

LN_2 = math.log(2.0)
"""Half a failure probability is this much less in logarithms."""

OUTWARDS = 1e-12
"""By how much, as a share, the ends of intervals are moved outwards against rounding errors."""
