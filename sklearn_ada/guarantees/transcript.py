r"""The transcript as a test: released answers, and their prices, exclude populations.

Universal inference compares a probability fixed in advance with the likelihood of what was seen. Here what
was seen is the whole conversation with a holdout, and the probability that of its code, so the price of an
answer itself takes the place of stakes, of a horizon and of the size of a round: no answer is much less
likely, under the truth, than its code took it to be.

Setting. Records are drawn from a law D. Before every answer a code fixes a sub-probability p over everything
that could be revealed next; question j (its functional, its cells, its code) is a function of the transcript
v_(j-1) of what was revealed before. ``L_j`` is the sum of ``-ln p`` over all that was revealed up to *and
including* answer j, with every symbol that its test uses (denominator, class counts if they are priced).

Theorem (universal inference; Wasserman, Ramdas, Balakrishnan, "Universal inference", PNAS 2020, with the
conversation as the statistic). Let b be in (0, 1). With probability at least ``1 - b``, for all j at once,

    P_D(the symbols released for question j) > b exp(-L_j),

where the left side is the probability, under the law D of the rows, that the functional of question j,
taken as fixed in advance, leads to these symbols. So *every* upper bound of that probability as a function of
the parameter may be inverted at the level ``b exp(-L_j)``: the tail from the lower edge of the released cell
and that from its upper edge, *each* at this level, and the probability of the cell itself; all of them
together, as they follow from one event.

Proof. Fix all randomness but the rows (the analyst's and the mechanism's), so that transcripts form a
tree. Let ``P(v)`` be the probability under D that the conversation begins with v, and ``p(v) = exp(-L)`` the
product of the code's probabilities along it. On the conversation, ``X_j = p(v_j) / P(v_j)`` is well defined
(what happened has positive probability) and ``X_0 = 1``. Given v_j, the next answer is a with probability
``P(v_j a) / P(v_j)``, so the mean of ``X_(j+1)`` is the sum of ``p(v_j a) / P(v_j)`` over the answers that
are possible under D, at most ``p(v_j) / P(v_j) = X_j``: a nonnegative supermartingale. By Ville's inequality
some ``X_j`` reaches 1/b with probability at most b; otherwise ``P(v_j) > b p(v_j)`` for all j. Last, the
conversation can only begin with v_j if the functional that v_(j-1) fixes for question j has, on the rows,
a value that leads to the symbols released: ``P(v_j) <= P_D(these symbols)``. Averaging over the randomness
that was fixed keeps b.

No stake, no horizon, no size of a round and no ln 2 for two sides enter. Assumptions, beside those of
`sklearn_ada.guarantees.description_length`:

- Answers are coded in an order that does not depend on the rows, never in that of their arrival if the
  rows could decide it: in a round, in the order of the question's keys, priced when the round closes. All
  of a round may use the L at its close, which is at least each of its L_j.
- The test is a function of the released symbols and of what was public before. A test whose own level is
  fixed before its answer, such as the ends of a betting interval, is none.
- Rows at a fixed class mix are independent, but not of one law: tails of unequal rows are used there, and
  what needs identical rows (the probability of a cell, an exact count) is not.
- Noise may be conditioned on like the analyst's coins only if the symbol then fixes a cell that surely
  contains the functional's value.

Both theorems hold for one conversation at parts s1 and s2 of the failure probability, ``s1 + s2 <= 1``, and
their intervals may then be intersected (`sklearn_ada.guarantees.intersection`).

*Counts of 0/1 losses, of which a cell was released.* Of n rows S have the loss, and the released cell says
``A <= S <= B``. `transcript_interval` inverts both tails: p is excluded from below if ``P[S >= A] <= b e^-L``
and from above if ``P[S <= B] <= b e^-L``. For rows of one law these are binomial tails. For independent rows
of different laws with mean p (rows at a fixed class mix) they are bounded by them: by Hoeffding (1956,
Theorem 4) ``P[S >= A] <= P[Bin(n, p) >= A]`` wherever ``A >= n p + 1``, which the end found satisfies for A
of at least 2 and a level of at most 1/4; for A = 1 the union bound ``P[S >= 1] <= n p`` is used, and both are
mirrored for the upper end.

`transcript_cell_interval` inverts ``P[A <= S <= B]`` itself, rows of one law only: at a class mix it is no
function of the mean, and can be 1 at any mean where the rows are not random at all. It rises in p up to A/n
and falls from B/n on: its derivative is n times ``b(A - 1; n - 1, p) - b(B; n - 1, p)``, b the binomial
mass, and at ``p = A/n`` the modes of that law are A - 1 and A, so the difference is not negative up to
there. The probability of a cell is at most that of its tails, so its interval is inside theirs: by little
for the cell of a check, and by about a nat of level for an exact count, a cell of one.

*One exact count was released*: most of its price comes back. An exact count costs some ``ln sqrt(n)`` nats,
which every later answer of the transcript theorem would pay. But an exact count is also unlikely, whatever
the population is, and the theorem asks how likely the released symbols are.

Theorem. Rows are of one law, W is an exact count among the released symbols, with its price in L, and another
question's cell says ``S >= A``. Then p, the mean of that question, is excluded from below if ``p < A/n`` and

.. math:: n\,kl(A/n, p) \ge \ln(1/b) + L + \ln f(W), \qquad f(W) = \max_{p'} P[Bin(n, p') = W],

which is the binomial mass of W at ``p' = W/n``; the same from above.

Proof. By the transcript theorem's proof, with both questions, ``b e^-L < P(v) <= P_D(count 1 is W, S >=
A)``, as the transcript fixes both functionals, even where one was chosen by the answer to the other. Tilt
the law of a row by its loss in the other question, so that this has the mean A/n: with ``l = ln[(A/n)(1 -
p)/(p (1 - A/n))] > 0`` the rows have, with respect to the tilted law, the density ``exp(-l S + n ln(1 - p
+ p e^l))``, at most ``exp(-n kl(A/n, p))`` where ``S >= A``. So the probability is at most ``exp(-n kl(A/n,
p))`` times that of "count 1 is W" under the tilted law, in which rows are again independent and of one law:
a binomial mass at W, at most f(W).

Rows at a fixed class mix are not of one law, and there "count 1 is W" may be certain: no gain. Of several
exact counts any one may be used, not all.

*A ratio of two counts*, such as precision, by Chernoff's bound. Of n independent rows H are hits and N of
at least H count in the denominator; ``r = E[H] / E[N]``. Both the share ``s = H/N`` and the denominator were
released as cells, ``s >= s_low`` and ``N >= N_low``, and both symbols are in L.

Theorem. r is excluded from below if ``r < s_low`` and ``N_low kl(s_low, r) >= ln(1/b) + L``; the other side
by symmetry. Rows need not be of one law.

Proof. ``E exp(l H - N ln(1 - r + r e^l)) <= 1`` for every l, by `sklearn_ada.guarantees.class_tables`. Take
the l at which ``l s_low - ln(1 - r + r e^l)`` is largest, ``ln[s_low (1 - r) / (r (1 - s_low))] > 0``, where
it is ``kl(s_low, r)``. On the event that the released symbols describe, the exponent is
``N (l s - ln(1 - r + r e^l)) >= N_low kl(s_low, r)``, so by Markov's inequality that event has at most the
probability ``exp(-N_low kl(s_low, r))``, and the transcript theorem excludes r. (For ``s_low = 1`` let l grow
without bound.) The exponent needs no tuning in advance, as the event is fixed by the symbols.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import gammaln, logsumexp, xlogy

from sklearn_ada._solving import root
from sklearn_ada._validation import LN_2, OUTWARDS, check_integer, checked
from sklearn_ada.guarantees.intervals import Interval, binomial_tail_ends, check_order, chernoff_kl, mirrored

__all__ = [
    "largest_ln_mass", "transcript_cell_interval", "transcript_interval",
    "transcript_interval_beside_exact_count", "transcript_ln_side", "transcript_ratio_interval",
]  # fmt: skip


THEOREM = "universal inference on the transcript (Wasserman, Ramdas, Balakrishnan 2020)"


@checked(ln_beta="< 0", nats=">= 0")
def transcript_ln_side(ln_beta: float, nats: float) -> float:
    """Return ``ln(b exp(-L_j))``, the level of each side of question j's test.

    An interval of `sklearn_ada.guarantees.intervals` that is two tails from the edges of a cell holds at
    ``ln_delta = transcript_ln_side(...) + ln 2``, as it gives half of delta to each side.

    Parameters
    ----------
    ln_beta : float
        Logarithm of b, the part of the failure probability that belongs to this theorem, below 0.
    nats : float
        L_j, *including* the price of the question's own answer, at least 0.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(transcript_ln_side(math.log(0.01), 2.0), 4)
    -6.6052
    """
    return ln_beta - nats


def transcript_interval(
    low_count: int, high_count: int, n: int, *, ln_beta: float, nats: float, identical_rows: bool
) -> Interval:
    """Return an interval for p, from the tails at a released cell's edges.

    It holds for all questions at once, with probability at least ``1 - b``.

    Theorem of `sklearn_ada.guarantees.transcript`, by the tails from the cell's edges.

    Parameters
    ----------
    low_count, high_count : int
        First and last count of the released cell, ``0 <= low_count <= high_count <= n``.
    n : int
        Number of rows, at least 1.
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
    >>> released = {"ln_beta": math.log(0.01), "nats": 0.024}
    >>> low, high = transcript_interval(400, 446, 500, identical_rows=True, **released)
    >>> round(low, 4), round(high, 4)
    (0.7549, 0.9222)
    """
    side = transcript_ln_side(ln_beta, nats)
    return binomial_tail_ends(low_count, high_count, n, side, identical_rows=identical_rows)


@checked(low_count="integer >= 0", high_count="integer >= 0", n="count")
def transcript_cell_interval(
    low_count: int, high_count: int, n: int, *, ln_beta: float, nats: float
) -> Interval:
    """Return an interval for p from the released cell's own probability.

    It is for rows of one law, and never wider than `transcript_interval` for them. Where the cell is so small
    that some share in it already makes it less likely than the level, the tails' interval is returned: it is
    valid as well.

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
    check_order(low_count, high_count, n, "transcript_cell_interval")
    side = transcript_ln_side(ln_beta, nats)
    low = _cell_low(low_count, high_count, n, side)
    miss = _cell_low(n - high_count, n - low_count, n, side)
    if low is None or miss is None:
        return binomial_tail_ends(low_count, high_count, n, side, identical_rows=True)
    return low, mirrored(miss)


@checked(low_count="integer >= 0", high_count="integer >= 0", n="count")
def transcript_interval_beside_exact_count(
    low_count: int, high_count: int, n: int, *, exact_count: int, ln_beta: float, nats: float
) -> Interval:
    """Return an interval for p where another question's exact count was released.

    Rows must be of one law. It follows from the same event as `transcript_interval` at the same b and L, so
    the two may be intersected for nothing; the tails are narrower while no exact value was released at a high
    price.

    Parameters
    ----------
    low_count, high_count, n : int
        The question's released cell, and the number of rows.
    exact_count : int
        An exact count that was released earlier, of the same n rows; its price is in ``nats``.
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
    >>> released = {"ln_beta": math.log(0.01), "nats": 4.2}
    >>> beside = transcript_interval_beside_exact_count(1649, 1741, 2000, exact_count=1700, **released)
    >>> [round(end, 4) for end in beside]  # the tails alone give 0.7921 to 0.8962
    [0.7962, 0.8932]
    """
    owner = "transcript_interval_beside_exact_count"
    check_order(low_count, high_count, n, owner)
    exact_count = check_integer(exact_count, "exact_count", owner, low=0, high=n)
    side = min(transcript_ln_side(ln_beta, nats) - largest_ln_mass(exact_count, n), -LN_2)
    return chernoff_kl(low_count / n, high_count / n, n, side + LN_2)


def transcript_ratio_interval(
    low_share: float, high_share: float, size: float, *, ln_beta: float, nats: float
) -> Interval:
    """Return an interval for ``E[H] / E[N]``, from two released cells.

    It holds for all questions at once, with probability at least ``1 - b``. The same formula holds for the
    mean of ``size`` independent terms in [0, 1], of which the cell was released, and with
    ``size = min(n_pos, n_neg)`` for the ROC AUC: for them Chernoff's bound is the tail that is inverted.

    Parameters
    ----------
    low_share, high_share : float
        The share H / N lies in ``[low_share, high_share]``, within [0, 1].
    size : float
        A lower bound of the denominator N, positive.
    ln_beta : float
        Logarithm of b, below 0.
    nats : float
        L including the prices of this answer's symbols, at least 0.

    Returns
    -------
    low, high : float
        A level above 1/4 is treated as 1/4.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> low, high = transcript_ratio_interval(0.8, 0.9, 400, ln_beta=math.log(0.01), nats=0.5)
    >>> round(low, 4), round(high, 4)
    (0.7313, 0.9411)
    """
    return chernoff_kl(low_share, high_share, size, min(transcript_ln_side(ln_beta, nats) + LN_2, 0.0))


@checked(count="integer >= 0", n="count")
def largest_ln_mass(count: int, n: int) -> float:
    """Return the largest log mass that any binomial law has at this count.

    It is ``ln P[Bin(n, count/n) = count]``.

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
    check_order(count, count, n, "largest_ln_mass")
    misses = n - count
    ln_ways = gammaln(n + 1.0) - gammaln(count + 1.0) - gammaln(misses + 1.0)
    rounding = 1e-14 * n * math.log(n + 1.0)  # upwards
    return min(float(ln_ways + xlogy(count, count / n) + xlogy(misses, misses / n)) + rounding, 0.0)


def _cell_low(low_count: int, high_count: int, n: int, ln_level: float) -> float | None:
    """Return the least share that makes the cell more likely than the level.

    Return None if not even A/n does.
    """
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
