r"""The transcript theorem where one exact count was released: most of its price comes back.

An exact count costs some ``ln sqrt(n)`` nats, which every later answer of the transcript theorem would pay.
But an exact count is also unlikely, whatever the population is, and the theorem asks how likely the released
symbols are.

Theorem. Rows are of one law, W is an exact count among the released symbols, with its price in L, and another
question's cell says ``S >= A``. Then p, the mean of that question, is excluded from below if ``p < A/n`` and

.. math:: n\,kl(A/n, p) \ge \ln(1/b) + L + \ln f(W), \qquad f(W) = \max_{p'} P[Bin(n, p') = W],

which is the binomial mass of W at ``p' = W/n``; the same from above.

Proof. By the transcript theorem's proof, with both questions, ``b e^-L < P(v) <= P_D(count 1 is W, S >=
A)``, as the transcript fixes both functionals, even where one was chosen by the answer to the other. Tilt
the law of a row by its loss in the other question, so that this has the mean A/n: with ``l = ln[(A/n)(1 -
p)/(p (1 - A/n))] > 0`` the records have, with respect to the tilted law, the density ``exp(-l S + n ln(1 - p
+ p e^l))``, at most ``exp(-n kl(A/n, p))`` where ``S >= A``. So the probability is at most ``exp(-n kl(A/n,
p))`` times that of "count 1 is W" under the tilted law, in which rows are again independent and of one law:
a binomial mass at W, at most f(W).

Rows at a fixed class mix are not of one law, and there "count 1 is W" may be certain: no gain. Of several
exact counts any one may be used, not all.
"""

from __future__ import annotations

import math

from scipy.special import gammaln, xlogy

from sklearn_ada._checks import check_integer
from sklearn_ada._constants import LN_2
from sklearn_ada.guarantees.intervals.chernoff import chernoff_kl
from sklearn_ada.guarantees.intervals.clopper_pearson import check_counts
from sklearn_ada.guarantees.universal_inference.theorem import transcript_ln_side

__all__ = ["largest_ln_mass", "transcript_interval_beside_exact_count"]


def largest_ln_mass(count: int, n: int) -> float:
    """Return ``ln P[Bin(n, count/n) = count]``, which no binomial law of n rows exceeds at this count.

    Parameters
    ----------
    count : int
        From 0 to n.
    n : int
        The number of rows.

    Examples
    --------
    >>> round(largest_ln_mass(1700, 2000), 4), largest_ln_mass(0, 50)
    (-3.6899, 0.0)
    """
    count, _, n = check_counts(count, count, n, "largest_ln_mass")
    misses = n - count
    ln_ways = gammaln(n + 1.0) - gammaln(count + 1.0) - gammaln(misses + 1.0)
    rounding = 1e-14 * n * math.log(n + 1.0)  # upwards
    return min(float(ln_ways + xlogy(count, count / n) + xlogy(misses, misses / n)) + rounding, 0.0)


def transcript_interval_beside_exact_count(
    low_count: int, high_count: int, n: int, *, exact_count: int, ln_beta: float, nats: float
) -> tuple[float, float]:
    """Return an interval for a question's p where another question's exact count is part of the transcript.

    Rows must be of one law. It follows from the same event as `transcript_interval` at the same b and L, so
    the two may be intersected for nothing; the tails win while nothing exact was said at a high price.

    Parameters
    ----------
    low_count, high_count, n : int
        The question's released cell, and the number of records.
    exact_count : int
        An exact count that was released earlier, of the same n records; its price is in ``nats``.
    ln_beta : float
        Logarithm of b, below 0.
    nats : float
        L including the price of this answer, at least 0.

    Returns
    -------
    low, high : float

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> told = {"ln_beta": math.log(0.01), "nats": 4.2}
    >>> beside = transcript_interval_beside_exact_count(1649, 1741, 2000, exact_count=1700, **told)
    >>> [round(end, 4) for end in beside]  # the tails alone give 0.7921 to 0.8962
    [0.7962, 0.8932]
    """
    owner = "transcript_interval_beside_exact_count"
    low_count, high_count, n = check_counts(low_count, high_count, n, owner)
    exact_count = check_integer(exact_count, "exact_count", owner, low=0, high=n)
    side = min(transcript_ln_side(ln_beta, nats) - largest_ln_mass(exact_count, n), -LN_2)
    return chernoff_kl(low_count / n, high_count / n, n, side + LN_2)
