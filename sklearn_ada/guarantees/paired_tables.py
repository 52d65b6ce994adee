r"""Intervals for the difference of two models' shares of right answers, from how often either alone is right.

A row on which only b is right counts 1, one on which only a is right counts -1, all others 0. Let x rows
count 1 and y count -1, of n; D = x - y and M = x + y. The target is Delta, the mean over the rows of the
probabilities p that a row counts 1 less the probabilities q that it counts -1. How often models disagree,
the mean of p + q, is a nuisance that is called s below. Each test here is of one side; the other end is that
of the mirrored table (y, x), with its sign changed.

*Rows of one law* (`paired_table_interval`). (x, y) is trinomial with p and q, Delta = p - q and s = p + q.

Order. G(x, y; Delta) is the largest log-likelihood of a table less the largest one under ``p - q <= Delta``.
The more Delta, the more laws are allowed, so G falls in Delta. Tables are ordered by the last Delta at which
G is at least ``z^2 / 2``, with z the normal quantile of the side's level: the lower limit of the likelihood
ratio, in which no parameter is left. What ranks at or beyond a table whose limit is L are the tables with
``G(.; L) >= z^2 / 2``: the region R.

R is an up-set: with (x, y) it contains all tables with a larger x or a smaller y. Proof, with counts as real
numbers, w = n - x - y, and x/n - y/n > Delta, without which G = 0. By the envelope theorem the derivative of
G in x is ``ln(p1/r1) - ln(p0/r0)``, where (p1, q1, r1) = (x, y, w)/n maximises freely and (p0, q0, r0) under
the constraint. The constraint is met with equality, so for some multiplier l >= 0 and ``m = n - l Delta``
there are ``p0 = x/(m + l)``, ``q0 = y/(m - l)``, ``r0 = w/m``. So ``p0/r0 = (x/w) m/(m + l) <= p1/r1``: the
derivative is not negative. That in y is ``ln(q1/r1) - ln(q0/r0)`` with ``q0/r0 = (y/w) m/(m - l)``: not
positive. At counts of 0 by continuity. (In floating point all tables are taken into R whose G is hardly less:
a superset, which is always allowed.)

Test. Delta is rejected from below if the probability of R is at most the side's level at all s in a range.
Then any smaller one is rejected rightly: the region stays, and from a law with a smaller Delta, its s in the
range, one comes to one with this Delta by raising p and lowering q, s staying or becoming Delta. So the value
of rows rises from -1 to 0 or from 0 to 1, hence x rises or y falls, and R gets more likely.

Between two s, at one Delta, a supremum is certified by convexity. Draw a row in two steps: with probability
|Delta| it counts as the sign of Delta says; else a coin of chance k decides whether it counts, 1 or -1 with
1/2 each. So ``s = |Delta| + (1 - |Delta|) k``, and if every row throws its coin, ``P(R) = sum_j h_j C(n, j)
k^j (1 - k)^(n - j)``, with h_j its probability if j coins say yes. By v, the log-odds of k, ``ln P(R) + n
ln(1 + e^v)`` is the logarithm of a sum of exponential functions with factors of at least 0: convex. The
second derivative of ``ln(1 + e^v)`` is ``k (1 - k)``, at most m. So between v' and v'' P(R) is at most the
larger one of the two there, times ``exp(n m (v'' - v')^2 / 8)``: if they are w standard deviations of the
number of coins apart, ``exp(w^2 / 8)``. Near k = 0 another bound is less: by the odds, ``P(R) / (1 - k)^n``
is a polynomial with factors of at least 0, convex, too. With ``c = n ln((1 - k') / (1 - k''))``, and t the
part of the way by the odds, P(R) is at most ``e^(-c t) ((1 - t) P' + t e^c P'')``, hence by Hoeffding's lemma
at most the larger one of P' and P'' times ``exp(c^2 / 8)``. Near k = 1 likewise, with ``c = n ln(k'' / k')``.

Nuisance (Berger, Boos 1994). s need only be in the interval of Clopper and Pearson around M/n whose ends miss
with probability g each; as |Delta| <= s, Delta is within it, too. Let both sides be tested at
``delta/2 - g``. Of all tables at which the true Delta and s are rejected by one side, the least in rank has
a region that contains the others, of probability at most its level; so all that can go wrong has at most
``2 g + 2 (delta/2 - g) = delta``.

*Rows of different laws* (`paired_mix_interval`), as at a fixed class mix. There the former is false: with
two rows on which the models always differ and eight on which they never do it covers .50 where .64 is
claimed. In what follows row i has p_i, q_i, ``Delta_i = p_i - q_i`` and ``s_i = p_i + q_i <= 1/2``; Delta is
the mean of the Delta_i.

1. With ``r = sqrt(1 + Delta_i^2 - 2 s_i)``, which is between ``sqrt(1 - 2 s_i)`` and ``1 - |Delta_i|``, let
   ``alpha = (1 - r + Delta_i)/2`` and ``beta = (1 - r - Delta_i)/2``, both in [0, 1]. Of independent
   Bernoulli variables with these means the difference is 1 with probability ``alpha (1 - beta) = p_i`` and -1
   with ``beta (1 - alpha) = q_i``. So it has the law of the row.
2. So D has the law of A - B, sums of 2n independent variables. Theorem: for an integer ``k >= n Delta + 2``,
   ``P[D >= k] <= P[Bin(n, a) - Bin(n, b) >= k]``, where a and b are the means of the alphas and betas; a - b
   = Delta. Proof: replace two alphas by their mean. With R the sum of all else and T its upper tail,
   ``P[D >= k]`` is linear in their product, with the factor ``T(k) - 2 T(k-1) + T(k-2)``, that is
   ``P[R = k-2] - P[R = k-1]``; and the product grows. R is a sum of independent Bernoulli variables,
   shifted: its probabilities have one mode (or two that are neighbours), within less than 1 of its mean
   (Darroch 1964), which is at most ``n Delta``. So its mode is below ``n Delta + 1 <= k - 1``, hence at most
   k - 2, and the factor is not negative. For two betas it is ``P[R = k] - P[R = k+1]``, the mean is at most
   ``n Delta + 2``, the mode below k + 1. If the two furthest apart are replaced again and again, all become
   equal in the limit. (From ``n Delta + 1.5`` on it is false.)
3. The bound rises in Delta, and in ``sigma = a + b <= 1``: its derivative is
   ``(n/2)(1 - sigma)(r(k-1) - r(k))`` with r the probabilities of ``Bin(n-1, a) - Bin(n-1, b)``, whose mode
   is below ``n Delta + 2 <= k``. So there is one end, found by bisection, at the largest sigma that may be.
4. ``sigma`` is the mean of ``1 - sqrt(1 + Delta_i^2 - 2 s_i)``, hence at most that of f(s_i) with ``f(s) = 1
   - sqrt(1 - 2 s)``. f is convex and 0 at 0, so up to u it is below its chord: ``f(s) <= s f(u)/u``. Rows of
   a class c are of one law, with s_c. Let w_c be its share of all rows, and u_c <= 1/2 its upper end of
   Clopper and Pearson at ``g_2 / C``. Then ``sigma <= sum x_c f(u_c)/u_c``, where ``x_c = w_c s_c`` is at
   most ``w_c u_c``. The x_c sum to s, which is at most the upper end for M at g_1, that of rows of different
   laws, with the union bound for a single agreement. As f(u)/u rises, the bound is largest if classes with
   larger u_c have all they may before others have any, until s is reached: a fractional knapsack.

Where a u_c is above 1/2, or n is too small for ``n Delta + 2``, nothing is rejected so. Bets on the
differences, which hold for rows of any laws, have a part g_3 of their own: they never fail, and what both
leave is the interval. Each side's level is ``(delta - g_1 - g_2 - g_3)/2``, with g_1 = .1 delta, g_2 = .01
delta and g_3 = .005 delta.

Sums are taken over the counts that matter; the probability of all others is added. Levels below e^-500, where
floats end, are left to the constructions of `sklearn_ada.guarantees.scores`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, ndtri_exp, xlogy
from scipy.stats import binom

from sklearn_ada._solving import enclosed_root, last_negative
from sklearn_ada._validation import LN_2, OUTWARDS, bad_parameter, check_integer, checked, plain
from sklearn_ada.guarantees import intervals, scores
from sklearn_ada.guarantees.intervals import Array, Interval, ln_side

__all__ = ["paired_mix_interval", "paired_table_interval"]

Counts = NDArray[np.int64]

_LN_LEAST = -500.0  # of a level: smaller tails are left to other constructions
_PART_OF_S = 0.0125  # of delta, for each of the two ends of the nuisance of rows of one law
_PART_OF_MEAN, _PART_OF_MOST, _PART_OF_BETS = 0.1, 0.01, 0.005  # of delta, at a class mix
_MARGIN = 1e-8  # of probabilities, and of log-likelihoods, against rounding errors
_WINDOW = 1e-4  # of the level: what the counts left out may have, about
_STEP, _CELLS = 0.1, 32  # from coin to coin, in deviations of the number that say yes, and at least how many
_BLOCK = 256  # counts y for which a region is found at once, when they are needed

_tail_ends = plain(intervals.binomial_tail_ends)
_bets = plain(scores.paired_zero_one_interval)


@checked(n="count", ln_delta="<= 0")
def paired_table_interval(better: int, worse: int, n: int, ln_delta: float) -> Interval:
    """Return an interval for the difference of two error rates, of rows of one law.

    It misses with probability at most delta. Each side gets delta/2. It is false for rows at a fixed class
    mix, for which there is `paired_mix_interval`.

    Source: theorem of `sklearn_ada.guarantees.paired_tables`; Berger, Boos (1994).

    Parameters
    ----------
    better, worse : int
        On how many rows only b is right, and only a; at least 0.
    n : int
        Number of rows, at least 1, agreements included.
    ln_delta : float
        Logarithm of the failure probability, at most 0; above 1/2 it is treated as 1/2.

    Returns
    -------
    low, high : float
        Of the error rate of a minus that of b, in [-1, 1].

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> low, high = paired_table_interval(40, 15, 1000, math.log(0.05))
    >>> round(low, 4), round(high, 4)  # by bets on the disagreements .0064 to .0534
    (0.0106, 0.0405)
    """
    better, worse = _checked_counts(better, worse, n, "paired_table_interval")
    side = ln_side(ln_delta)
    if side < _LN_LEAST:
        return _bets(better, worse, n, ln_delta, identical_rows=True)
    of_s = side + math.log(2.0 * _PART_OF_S)
    count = better + worse
    box = _tail_ends(count, count, n, of_s, identical_rows=True)
    level = math.exp(side) * (1.0 - 2.0 * _PART_OF_S)
    # A little less than the side's quantile, by trial: where rows are few, more tables are then apart.
    least = (float(ndtri_exp(side)) * n / (n + 1.3)) ** 2 / 2.0
    low, miss = (_lowest(x, y, n, least, level, box) for x, y in ((better, worse), (worse, better)))
    return low, -miss


@checked(ln_delta="<= 0", expected="each [0, 1]")
def paired_mix_interval(
    better: int,
    worse: int,
    disagreements: Sequence[int],
    rows: Sequence[int],
    ln_delta: float,
    *,
    expected: Interval = (0.25, 0.25),
) -> Interval:
    """Return an interval for the difference of two error rates, at a fixed class mix.

    It misses with probability at most delta. Rows are independent, and of one law within a class.

    Source: theorem of `sklearn_ada.guarantees.paired_tables`; Darroch (1964) for the mode.

    Parameters
    ----------
    better, worse : int
        On how many rows only b is right, and only a; at least 0.
    disagreements, rows : sequence of int
        Of each class, rows of the former kinds, or more than there are; and all rows, at least 1.
    ln_delta : float
        Logarithm of the failure probability, at most 0; above 1/2 it is treated as 1/2.
    expected : tuple of float, default=(.25, .25)
        The shares of the two kinds of rows foreseen without these rows; they size the bets.

    Returns
    -------
    low, high : float
        Of the error rate of a minus that of b, in [-1, 1].

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> low, high = paired_mix_interval(40, 15, [25, 30], [500, 500], math.log(0.05))
    >>> round(low, 4), round(high, 4)
    (0.0068, 0.0429)
    """
    owner = "paired_mix_interval"
    if not len(rows) or len(disagreements) != len(rows) or min(rows) < 1:
        raise bad_parameter("disagreements", owner, "one count for each class, all with rows", disagreements)
    n = int(sum(rows))
    better, worse = _checked_counts(better, worse, n, owner)
    if any(not 0 <= differ <= size for differ, size in zip(disagreements, rows, strict=True)):
        raise bad_parameter("disagreements", owner, "counts of at most the rows of a class", disagreements)
    if sum(disagreements) < better + worse:
        raise bad_parameter("disagreements", owner, f"at least {better + worse} in all", sum(disagreements))
    if sum(expected) > 1.0:
        raise bad_parameter("expected", owner, "two shares of at most 1 in all", expected)
    ln_delta = ln_side(ln_delta) + LN_2
    if ln_delta < _LN_LEAST:
        return _bets(better, worse, n, ln_delta, expected=expected)
    low, high = _bets(better, worse, n, ln_delta + math.log(_PART_OF_BETS), expected=expected)
    sigma = largest_sigma(better + worse, disagreements, rows, ln_delta)
    if sigma > 1.0:
        return low, high
    level = math.exp(ln_delta) * (1.0 - _PART_OF_MEAN - _PART_OF_MOST - _PART_OF_BETS) / 2.0
    away = better - worse
    own, miss = (_lowest_of_binomials(k, n, sigma, level) for k in (away, -away))
    return max(low, own), min(high, -miss)


def largest_sigma(count: int, disagreements: Sequence[int], rows: Sequence[int], ln_delta: float) -> float:
    """Return an upper end of sigma; infinity if a class may disagree on more than half of its rows.

    The theorem of two binomials is not for these.

    Parameters
    ----------
    count : int
        Disagreements of all classes.
    disagreements, rows : sequence of int
        Of each class, as for `paired_mix_interval`.
    ln_delta : float
        Of `paired_mix_interval`, two parts of which are theirs.

    Examples
    --------
    >>> round(largest_sigma(55, [25, 30], [500, 500], math.log(0.05)), 4)
    0.0806
    >>> largest_sigma(55, [52, 3], [100, 900], math.log(0.05))
    inf
    """
    n = int(sum(rows))
    left = n * _tail_ends(count, count, n, ln_delta + math.log(_PART_OF_MEAN))[1]
    side = ln_delta + math.log(_PART_OF_MOST / len(rows))
    ends = (
        _tail_ends(int(differ), int(differ), int(size), side, identical_rows=True)[1]
        for differ, size in zip(disagreements, rows, strict=True)
    )
    classes = sorted(zip(ends, rows, strict=True), reverse=True)
    if classes[0][0] > 0.5:
        return math.inf
    total = 0.0
    for end, size in classes:
        part = min(end * size, left)
        left -= part
        total += part * 2.0 / (1.0 + math.sqrt(1.0 - 2.0 * end))  # f(u)/u
    return min(total / n * (1.0 + OUTWARDS), 1.0)


def _lowest(x: int, y: int, n: int, least: float, level: float, box: Interval) -> float:
    """Return a Delta that is rejected from below, nearly the largest; minus the top of the box if none is."""
    bottom, top = box
    if y == n:  # all tables are in its region
        return -top
    margin = _MARGIN * (1.0 + least) + OUTWARDS * n

    def lacking(at: float) -> float:
        return least + margin - float(_excess(x, y, n, at))

    limit, _ = enclosed_root(lacking, -1.0, (x - y) / n)

    @cache
    def block(number: int) -> Counts:
        return _region(n, np.arange(number * _BLOCK, (number + 1) * _BLOCK), limit, least - margin)

    def tail(y: Counts, p: Array, q: Array) -> Array:
        first = np.concatenate([block(i) for i in range(y[0] // _BLOCK, y[-1] // _BLOCK + 1)])
        share = np.minimum(p / np.maximum(1.0 - q, 1e-300), 1.0)[:, None]
        return _upper_tail(first[y - y[0] // _BLOCK * _BLOCK], n - y, share)

    def deviates(delta: float) -> float:
        """Return by how much, about in deviations of x - y, less than Delta would be rejected."""
        k = _coins(n, max(bottom, abs(delta)), top, abs(delta), least)
        p, q = ((1.0 - abs(delta)) * k / 2.0 + max(each, 0.0) for each in (delta, -delta))
        ln_each = np.log(np.maximum(_mixed(n, q, level, n, lambda y: tail(y, p, q)), 1e-300))
        ln_most = float(_most_between(n, k, ln_each).max())
        return math.sqrt(-2.0 * math.log(level)) - math.sqrt(-2.0 * min(ln_most, 0.0))

    return last_negative(deviates, -top, (x - y) / n, limit, n / math.sqrt(x + y + 1.0))


def _coins(n: int, bottom: float, top: float, sure: float, nats: float) -> Array:
    """Return chances of a coin from one s to another, a step or less apart, if |Delta| is ``sure``.

    A step costs a part of the width that does not depend on the level.
    """
    shares = (np.clip((s - sure) / max(1.0 - sure, 1e-300), 0.0, 1.0) for s in (bottom, top))
    low, high = (math.asin(math.sqrt(share)) for share in shares)
    cells = 2.0 * math.sqrt(n) * (high - low) / (_STEP * math.sqrt(1.0 + 2.0 * nats))
    return np.asarray(np.sin(np.linspace(low, high, max(math.ceil(cells), _CELLS) + 1)) ** 2)


def _most_between(n: int, k: Array, ln_each: Array) -> Array:
    """Return the most that ln P(R) is from each chance of a coin to the next, by its values there."""
    low, high = k[:-1], k[1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        by_low, by_high = np.log(high / low), np.log1p(-low) - np.log1p(-high)
    spread = n * np.where(high <= 0.5, high * (1.0 - high), np.where(low >= 0.5, low * (1.0 - low), 0.25))
    apart = np.fmin(np.sqrt(spread) * (by_low + by_high), n * np.fmin(by_low, by_high))
    return np.asarray(np.maximum(ln_each[:-1], ln_each[1:]) + apart**2 / 8.0)


def _excess(x: ArrayLike, y: ArrayLike, n: int, delta: float) -> Array:
    """Return G, by how much the log-likelihood of tables is larger freely than at a difference this small."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    linear = (2.0 * n - (x - y)) * delta - (x + y)
    root = np.sqrt(np.maximum(linear**2 + 8.0 * n * y * delta * (1.0 - delta), 0.0))
    q = np.maximum((root - linear) / (4.0 * n), max(0.0, -delta))
    free = xlogy(x, x / n) + xlogy(y, y / n) + xlogy(n - x - y, (n - x - y) / n)
    p, rest = np.maximum(q + delta, 0.0), np.maximum(1.0 - 2.0 * q - delta, 0.0)
    excess = free - (xlogy(x, p) + xlogy(y, q) + xlogy(n - x - y, rest))
    return np.where((x - y) / n > delta, excess, 0.0)


def _region(n: int, y: Counts, limit: float, least: float) -> Counts:
    """Return, for each y, the least x of a table in the region; n + 1 if none is."""
    low, high = np.full(len(y), -1), np.maximum(n - y + 1, 0)  # not in it, and in it, or no table
    while (high - low > 1).any():
        middle = (low + high) // 2
        inside = _excess(np.maximum(middle, 0), np.minimum(y, n), n, limit) >= least
        low, high = np.where(inside, low, middle), np.where(inside, middle, high)
    return np.where(high > n - y, n + 1, high)


def _mixed(n: int, q: Array, level: float, most: int, tail: Callable[[Counts], Array]) -> Array:
    """Return the mean of a tail over Bin(n, q), rounded up; counts that hardly occur are taken to have 1."""
    least, last = (
        _reach(n * float(q.min()), level * _WINDOW)[0],
        _reach(n * float(q.max()), level * _WINDOW)[1],
    )
    last = min(last, most, n)
    y = np.arange(min(least, last), last + 1)
    column = q[:, None]
    others = binom.cdf(y[0] - 1, n, q) + binom.sf(y[-1], n, q)
    total = (binom.pmf(y, n, column) * tail(y)).sum(axis=1) + others
    return np.asarray(np.minimum(total * (1.0 + _MARGIN), 1.0))


def _reach(mean: float, level: float) -> tuple[int, int]:
    """Return counts beyond which a binomial count of this mean hardly is, by a normal bound and a reserve."""
    nats = -math.log(max(level, 1e-300))
    reach = math.sqrt(2.0 * nats * mean) + nats
    return max(math.floor(mean - reach), 0), math.ceil(mean + reach) + 1


def _upper_tail(least: Counts, size: Counts, share: Array) -> Array:
    """Return ``P[Bin(size, share) >= least]``."""
    inner = (least > 0) & (least <= size)
    a, b = np.where(inner, least, 1), np.where(inner, size - least + 1, 1)
    return np.where(least <= 0, 1.0, np.where(inner, betainc(a, b, share), 0.0))


def _lowest_of_binomials(k: int, n: int, sigma: float, level: float) -> float:
    """Return the largest Delta that two binomials reject from below; -sigma if none is."""
    last = (k - 2) / n
    if last <= -sigma:
        return -sigma

    def beyond(delta: float) -> float:
        a, b = np.array([max(sigma + delta, 0.0) / 2.0]), np.array([max(sigma - delta, 0.0) / 2.0])
        sized = np.array([n])
        return float(_mixed(n, b, level, n, lambda y: _upper_tail(y + k, sized, a[:, None]))[0]) - level

    last = min(last, sigma)
    if beyond(last) <= 0.0:
        return max(last - OUTWARDS, -sigma)
    return max(enclosed_root(beyond, -sigma, last, halvings=40)[0] - OUTWARDS, -sigma)


def _checked_counts(better: int, worse: int, n: int, owner: str) -> tuple[int, int]:
    """Return both counts, or raise ValueError."""
    better = check_integer(better, "better", owner, low=0, high=n)
    return better, check_integer(worse, "worse", owner, low=0, high=n - better)
