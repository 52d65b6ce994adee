"""The transcript theorem for counts of 0/1 losses, of which a cell was released.

Of n rows S have the loss, and the released cell says ``A <= S <= B``. `transcript_interval` inverts both
tails: p is excluded from below if ``P[S >= A] <= b e^-L`` and from above if ``P[S <= B] <= b e^-L``. For rows
of one law these are binomial tails. For independent rows of different laws with mean p (rows at a fixed class
mix) they are bounded by them: by Hoeffding (1956, Theorem 4) ``P[S >= A] <= P[Bin(n, p) >= A]`` wherever
``A >= n p + 1``, which the end found satisfies for A of at least 2 and a level of at most 1/4; for A = 1 the
union bound ``P[S >= 1] <= n p`` is used, and both are mirrored for the upper end.

`transcript_cell_interval` inverts ``P[A <= S <= B]`` itself, rows of one law only: at a class mix it is no
function of the mean, and can be 1 at any mean where the rows are not random at all. It rises in p up to A/n
and falls from B/n on: its derivative is n times ``b(A - 1; n - 1, p) - b(B; n - 1, p)``, b the binomial
mass, and at ``p = A/n`` the modes of that law are A - 1 and A, so the difference is not negative up to
there. The probability of a cell is at most that of its tails, so its interval is inside theirs: by little
for the cell of a check, and by about a nat of level for an exact count, a cell of one.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import gammaln, logsumexp

from sklearn_ada._constants import OUTWARDS
from sklearn_ada._solving import root
from sklearn_ada.guarantees.intervals._sides import mirrored
from sklearn_ada.guarantees.intervals.clopper_pearson import binomial_tail_ends, check_counts
from sklearn_ada.guarantees.universal_inference.theorem import transcript_ln_side

__all__ = ["transcript_cell_interval", "transcript_interval"]


def transcript_interval(
    low_count: int, high_count: int, n: int, *, ln_beta: float, nats: float, identical_rows: bool
) -> tuple[float, float]:
    """Return an interval for p that holds, for all questions at once, with probability at least ``1 - b``.

    Theorem of `sklearn_ada.guarantees.universal_inference.theorem`, by the tails from the cell's edges.

    Parameters
    ----------
    low_count, high_count : int
        First and last count of the released cell, ``0 <= low_count <= high_count <= n``.
    n : int
        Number of records, at least 1.
    ln_beta : float
        Logarithm of b, below 0.
    nats : float
        L including the price of this answer, at least 0.
    identical_rows : bool
        Whether rows are draws of one law; False at a fixed class mix.

    Returns
    -------
    low, high : float
        They enclose the cell. A level above 1/4 is treated as 1/4.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> told = {"ln_beta": math.log(0.01), "nats": 0.024}
    >>> low, high = transcript_interval(400, 446, 500, identical_rows=True, **told)
    >>> round(low, 4), round(high, 4)
    (0.7549, 0.9222)
    """
    side = transcript_ln_side(ln_beta, nats)
    return binomial_tail_ends(low_count, high_count, n, side, identical_rows=identical_rows)


def transcript_cell_interval(
    low_count: int, high_count: int, n: int, *, ln_beta: float, nats: float
) -> tuple[float, float]:
    """Return an interval for p from the probability of the released cell itself, for rows of one law only.

    Never wider than `transcript_interval` for identical rows. Where the cell is so small that some share in
    it already makes it less likely than the level, the tails' interval is returned: it is valid as well.

    Parameters
    ----------
    low_count, high_count, n, ln_beta, nats
        As for `transcript_interval`.

    Returns
    -------
    low, high : float

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> exact = {"ln_beta": math.log(0.05), "nats": 4.0}
    >>> low, high = transcript_cell_interval(1700, 1700, 2000, **exact)
    >>> round(low, 4), round(high, 4)  # the tails give 0.8237 to 0.8739
    (0.8287, 0.8698)
    """
    low_count, high_count, n = check_counts(low_count, high_count, n, "transcript_cell_interval")
    side = transcript_ln_side(ln_beta, nats)
    low = _cell_low(low_count, high_count, n, side)
    miss = _cell_low(n - high_count, n - low_count, n, side)
    if low is None or miss is None:
        return binomial_tail_ends(low_count, high_count, n, side, identical_rows=True)
    return low, mirrored(miss)


def _cell_low(low_count: int, high_count: int, n: int, ln_level: float) -> float | None:
    """Return the lower end of the shares that make the cell more likely than the level; None if not A/n."""
    tail_low, _ = binomial_tail_ends(low_count, high_count, n, ln_level, identical_rows=True)
    if tail_low == 0.0:  # no count, or a share below all floats
        return tail_low
    ln_mass = _ln_binomial(low_count, high_count, n)
    ln_level -= 1e-14 * n * math.log(n + 1.0)  # rounding of factorials, outwards

    def excess(ln_p: float) -> float:
        return ln_mass(ln_p) - ln_level

    bottom, top = math.log(tail_low), math.log(low_count / n)
    if excess(top) <= 0.0:
        return None
    if excess(bottom) >= 0.0:  # the cell is its tail, but for rounding
        return tail_low
    return max(math.exp(root(excess, bottom, top, xtol=1e-13, rtol=1e-15)) * (1.0 - OUTWARDS), tail_low)


def _ln_binomial(low_count: int, high_count: int, n: int) -> Callable[[float], float]:
    """Return ``ln P[low_count <= Bin(n, p) <= high_count]`` as a function of ln p."""
    counts = np.arange(low_count, high_count + 1, dtype=np.float64)
    ln_ways = gammaln(n + 1.0) - gammaln(counts + 1.0) - gammaln(n - counts + 1.0)

    def ln_mass(ln_p: float) -> float:
        ln_miss = math.log(-math.expm1(ln_p)) if ln_p < 0.0 else -math.inf
        misses = np.where(counts < n, (n - counts) * ln_miss if ln_p < 0.0 else -math.inf, 0.0)
        return float(logsumexp(ln_ways + counts * ln_p + misses))

    return ln_mass
