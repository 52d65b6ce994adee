"""How wide the interval for a difference of two models will be, for plans: by how often they disagree.

Where both say the same, the difference has no variance. The interval itself, from the rows, is in
`sklearn_ada.guarantees.intervals.of_metrics.paired_difference`.

Theorem (Bennett, JASA 1962, with the second moment in place of the variance). Let D_1, ..., D_n be
independent and at most 1, with mean mu and ``E D^2 <= d``. Then for ``t > 0``, with
``h(u) = (1 + u) ln(1 + u) - u``::

    P(mean D - mu >= t) <= exp(-n d h(t / d))

Proof. ``(e^x - 1 - x)/x^2`` rises in x, so ``e^(s D) <= 1 + s D + D^2 (e^s - 1 - s)`` for ``s > 0`` and
``D <= 1``. Hence ``E e^(s (D - mu)) <= exp(-s mu) (1 + s mu + d (e^s - 1 - s)) <= exp(d (e^s - 1 - s))``.
Markov's inequality at ``s = ln(1 + t/d)`` is the claim. QED

The difference of two models' 0/1 scores of a record is -1, 0 or 1, and 0 wherever both say the same: its
second moment is at most the share of records of which they say different things.
"""

from __future__ import annotations

import math

from sklearn_ada._checks import check_integer, check_real
from sklearn_ada.guarantees.intervals._sides import ln_side

__all__ = ["difference_half_width"]

_STEPS = 60  # of Newton's method, which converges from above; a handful are needed


def difference_half_width(n: int, ln_delta: float, disagreement: float) -> float:
    """Return half the width of the interval for the difference of two models' scores, one fixed question.

    Parameters
    ----------
    n : int
        Number of records.
    ln_delta : float
        Logarithm of the question's failure probability, at most 0; half of it is each side's.
    disagreement : float
        Largest share of the population of which the models say different things, in (0, 1]. Rows without
        labels tell about how large it is.

    Returns
    -------
    float
        The half-width, at most 2, in units of the score.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(difference_half_width(10_000, math.log(0.05), 0.1), 4)
    0.0087
    """
    owner = "difference_half_width"
    n = check_integer(n, "n", owner)
    d = check_real(disagreement, "disagreement", owner, low=0.0, high=1.0, closed="high")
    target = -ln_side(ln_delta, owner) / (n * d)
    u = math.sqrt(2.0 * target) + target / 3.0  # Bernstein's: h(u) is at least the target there
    for _ in range(_STEPS):  # h is convex, so that each step stays above the solution
        step = ((1.0 + u) * math.log1p(u) - u - target) / math.log1p(u)
        if not step > 1e-15 * u:
            break
        u -= step
    return min(d * u, 2.0)
