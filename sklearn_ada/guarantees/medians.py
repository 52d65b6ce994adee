"""Certificates of the median over subsamples, for metrics that are not means.

The holdout is cut once into m disjoint subsamples, independent draws from a law; phi is the metric on one of
them. The median is answered exactly, or drawn privately. A *level* l means: the answer v is in the ``(l, 1 -
l)`` quantile interval of phi's law, ``P[phi <= v] >= l`` and ``P[phi >= v] >= l``. Level 0 is vacuous.

*Exact medians* (`quantile_interval`), by description length. An answer v whose rank is off by at most an
error speaks of the population law of phi by the tail of a binomial at one fixed threshold, so no uniform
bound is needed, and the ends are Clopper-Pearson's.

*Stable medians* are drawn: phi is rounded to a finite grid T and truncated to its range, and v is drawn by
the exponential mechanism with weights ``exp(-epsilon max(#{phi < v}, #{phi > v})/2)`` (Feldman, Steinke,
*Generalization for adaptively-chosen estimators via stable median*, 2017, Theorem 3.1). The conversation is
private with respect to replacing one subsample, and the law is that of the rounded phi.

Theorem. Let the conversation be rho-zCDP, rho fixed in advance, and a the mean, over the worst beta-tail, of
the largest rank error (how far ``#{phi < v}/m`` or ``#{phi > v}/m`` is above 1/2). Then all answers are at
level l except with probability beta, for every ``l < s = 1/2 - a`` with::

    sqrt(ln 1/(beta l (1 - s))) - sqrt(ln 1/(beta (1 - l) s)) >= sqrt(rho)

Proof. Let B be the event that for some answer ``q = 1(phi <= v)`` or ``1(phi >= v)`` has ``P = q(D) < l``,
and let the conversation choose such a q. Suppose B has a probability p above beta. As ``Q = q(S)`` is at
least 1/2 minus the rank error, ``E[Q | B] = s' >= s``. By the swap lemma of
`sklearn_ada.guarantees.transfer`, with G of zCDP,
``p (1 - l) s' <= E[Q (1 - P) 1_B] <= G(E[P (1 - Q) 1_B]) <= G(p l (1 - s'))``: in its score both ends differ
by at most sqrt(rho). The difference increases in p and s', so the stated one would be smaller.

The rank error of one answer exceeds ``(2/(epsilon m)) (ln|T| + t)`` with probability at most e^-t, so that
by a union bound ``a = (2/(epsilon m)) (ln(k |T|/beta) + 1)``. The parameter of the mechanism is chosen
numerically: any gives a valid certificate, so an inexact search costs width and never validity.

The theorems of the paper need far more subsamples; they are here under their numbers. In them the subsamples
are the rows of a conversation that is (epsilon, delta)-DP with respect to replacing one subsample, D is
the law of a subsample, ``D[phi]`` the mean of phi and ``mad`` its mean absolute deviation.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.stats import binom

from sklearn_ada._solving import best_scale, enclosed_root, largest_integer, simplex_minimum, smallest_integer
from sklearn_ada._validation import LN_2, OUTWARDS, check_integer, check_real, checked, option
from sklearn_ada.accounting.differential_privacy import exponential_mechanism_zcdp, zcdp_delta
from sklearn_ada.guarantees.intervals import LOG_TAIL_FROM, Array, Interval, clopper_pearson, ln_side
from sklearn_ada.guarantees.transfer import excess_over_shift, jung_2020_best, ln_probability, zcdp_score

__all__ = [
    "MeanDeviation", "MedianLevel", "MedianPlan", "OverfittingBound", "feldman_steinke_2017_corollary_3_3",
    "feldman_steinke_2017_theorem_3_1", "feldman_steinke_2017_theorem_4_1",
    "feldman_steinke_2017_theorem_4_2", "feldman_steinke_2017_theorem_4_3",
    "feldman_steinke_2017_theorem_4_6", "feldman_steinke_2017_theorem_4_7", "mean_deviation",
    "median_is_covered", "median_level_direct", "median_level_jung", "median_rank_error", "outer_levels",
    "quantile_interval", "stable_median_level", "stable_median_plan", "uniform_code_level",
]  # fmt: skip


_TRANSFER = option(("direct", "jung"))

MEDIAN_DEVIATION = 1.2533
"""Standard deviation of the median of m normal values, times sqrt(m)/sigma: about sqrt(pi/2)."""

DRAWN_POINTS = 401
"""Points of the grid of a median that is drawn with noise: more would need more privacy budget."""


@checked(n_subsamples="count", rank_error=">= 0")
def quantile_interval(n_subsamples: int, rank_error: float, ln_delta: float) -> Interval:
    """Return levels (l, 1 - l): the answer is between the quantiles of phi at these levels.

    If at most ``(1/2 + rank_error) m`` of the m values are below v and as many above it, then, except with
    probability delta, ``P[phi <= v] >= l`` and ``P[phi >= v] >= l``. ``l = 0`` is vacuous.

    Proof of one side: let A be the union of ``{phi <= w}`` over all w with ``P[phi <= w] < l``; then
    ``P(A) <= l`` and A is fixed. If ``P[phi <= v] < l``, at least ``(1/2 - rank_error) m`` of the values are
    in A, which is a binomial tail. That tail is taken exactly, by Clopper-Pearson. Chernoff's bound of it has
    a closed form for the exact median, ``l = 1/2 - x`` with ``-(m/2) ln(1 - 4 x^2) = ln(2/delta)``, and is
    never sharper.

    Parameters
    ----------
    n_subsamples : int
    rank_error : float
        At least 0; from 1/2 on the interval is vacuous. 0 for the exact median.
    ln_delta : float
        Logarithm of the failure probability of the sampling; that of the rank error comes on top.

    Examples
    --------
    >>> low, high = quantile_interval(400, 0.0, math.log(0.05))
    >>> round(low, 3), round(high, 3)
    (0.45, 0.55)
    """
    count = math.ceil(n_subsamples * max(0.5 - rank_error, 0.0) - 1e-9)
    if count <= 0:
        return 0.0, 1.0
    low = _at_least(count, n_subsamples, ln_delta)
    return low, 1.0 - low


@checked(n="count", ln_delta="<= 0")
def median_ranks(n: int, ln_delta: float) -> tuple[int, int]:
    """Return which two sorted values enclose their law's median.

    The n values are independent; the ranks fail with probability delta. More than ``r - 1`` of them are at
    most the median, except with the probability that a binomial of n and 1/2 is below r. If the values have
    laws of their own, the median is that of their mixture, and the tail of the count is no heavier as r is at
    most n/2 (Hoeffding 1956, Theorem 4).

    Parameters
    ----------
    n : int
        At least 1.
    ln_delta : float
        Logarithm of the failure probability, at most 0.

    Returns
    -------
    low, high : int
        Counted from 1: ``low`` is 0 and ``high`` is n + 1 where n values are too few.

    Examples
    --------
    >>> median_ranks(100, math.log(0.05))
    (40, 61)
    >>> median_ranks(5, math.log(0.05))
    (0, 6)
    """
    side = ln_side(ln_delta) - OUTWARDS
    if side < -LOG_TAIL_FROM:  # smaller than any float: by Hoeffding's bound of the tail
        low = max(math.floor(n / 2.0 - math.sqrt(-n * side / 2.0)) + 1, 0)
        return low, n + 1 - low
    low = largest_integer(lambda r: bool(binom.logcdf(r - 1, n, 0.5) <= side), n // 2)
    return low, n + 1 - low


@checked(n_questions="count", grid_size="count", ln_beta="<= 0")
def uniform_code_level(n_subsamples: int, n_questions: int, grid_size: int, ln_beta: float) -> float:
    """Return the quantile level of the last of k exact medians on grids.

    Each answer is priced evenly over its grid. This is `quantile_interval` by description length: the k - 1
    answers before cost ``ln|T|`` nats each, and every question has the stake 1/k. With guesses that hold, a
    code that is centred at them needs far less.

    Parameters
    ----------
    n_subsamples : int
        m, at least 1.
    n_questions : int
        k, at least 1, fixed in advance.
    grid_size : int
        ``|T|``, at least the size of every grid.
    ln_beta : float
        Logarithm of the failure probability, at most 0.

    Returns
    -------
    float
        The answer is in the (level, 1 - level) quantile interval; 0 is vacuous.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(uniform_code_level(546, 10, 1000, math.log(0.05)), 3)
    0.269
    """
    ln_delta = ln_beta - math.log(n_questions) - (n_questions - 1) * math.log(grid_size)
    return quantile_interval(n_subsamples, 0.0, ln_delta)[0]


@checked(n_subsamples="count", rank_error=">= 0")
def outer_levels(n_subsamples: int, rank_error: float, ln_delta: float) -> Interval:
    """Return sample levels (l, 1 - l) whose quantiles enclose the population median of phi.

    The largest l for which `median_is_covered` holds, or 0 if there is none.

    Parameters
    ----------
    n_subsamples : int
        The m.
    rank_error : float
        As a share of m, in [0, 1].
    ln_delta : float
        Logarithm of delta, at most 0.

    Examples
    --------
    >>> low, high = outer_levels(400, 0.0, math.log(0.05))
    >>> round(low, 3), round(high, 3)
    (0.448, 0.552)
    """
    m = n_subsamples
    _, high = quantile_interval(m, 0.0, ln_delta)
    count = math.floor((1.0 - high) * m)  # a start close to the answer; then down to where it holds
    while count >= 0 and not median_is_covered(m, count / m, 0.0, ln_delta):
        count -= 1
    level = count / m - rank_error
    return (level, 1.0 - level) if level > 0.0 else (0.0, 1.0)


@checked(n_subsamples="count", level="[0, 0.5]", rank_error=">= 0")
def median_is_covered(n_subsamples: int, level: float, rank_error: float, ln_delta: float) -> bool:
    """Return whether sample quantiles at ``level`` and ``1 - level`` enclose the population median.

    True if, except with probability delta, a value with at most ``(level + rank_error) m`` of the m
    values below it is not above the population median of phi, and mirrored. Proof: were it above, at
    most that many of the values would be ``<= median``, each of which has probability at least 1/2.

    Parameters
    ----------
    n_subsamples : int
        The m.
    level : float
        In [0, 1/2].
    rank_error : float
        As a share of m, in [0, 1].
    ln_delta : float
        Logarithm of delta, at most 0.

    Examples
    --------
    >>> median_is_covered(400, 0.44, 0.0, math.log(0.05)), median_is_covered(400, 0.49, 0.0, math.log(0.05))
    (True, False)
    """
    if level == 0.0 or level + rank_error >= 0.5:
        return False
    count = math.floor(n_subsamples * (level + rank_error) + 1e-9)
    _, high = clopper_pearson(0, count, n_subsamples, ln_delta)
    return high <= 0.5


@lru_cache(maxsize=64)  # a question needs the same one three times: admitted, charged, read
def _at_least(count: int, m: int, ln_delta: float) -> float:
    """Return a lower bound of an event's probability, from at least ``count`` occurrences in m."""
    return clopper_pearson(count, m, m, ln_delta)[0]


class MedianLevel(NamedTuple):
    """What k stable medians certify.

    Attributes
    ----------
    level : float
        All answers are in the (level, 1 - level) quantile interval; 0 is vacuous.
    epsilon : float
        Parameter of the exponential mechanism of each answer.
    """

    level: float
    epsilon: float


@checked(n_subsamples="count", n_questions="count", grid_size="count", ln_beta="< 0", transfer=_TRANSFER)
def stable_median_level(
    n_subsamples: int, n_questions: int, grid_size: int, ln_beta: float, *, transfer: str = "direct"
) -> MedianLevel:
    """Return the best quantile level that k adaptive medians reach all at once.

    Parameters
    ----------
    n_subsamples : int
        m, at least 1.
    n_questions : int
        k, at least 1, fixed in advance.
    grid_size : int
        ``|T|``, at least the size of every grid.
    ln_beta : float
        Logarithm of the failure probability, below 0.
    transfer : {"direct", "jung"}, default="direct"
        The transfer theorem.

    Returns
    -------
    MedianLevel
        Level and parameter of the mechanism.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(stable_median_level(1712, 10, 1000, math.log(0.05)).level, 4)
    0.25
    """
    return MedianLevel(*_BEST[transfer](n_subsamples, n_questions, grid_size, ln_beta))


class MedianPlan(NamedTuple):
    """How to answer k questions by stable medians.

    Attributes
    ----------
    n_subsamples : int
        m, the number of disjoint subsamples.
    epsilon : float
        Parameter of the exponential mechanism of each answer.
    """

    n_subsamples: int
    epsilon: float


@checked(n_questions="count", grid_size="count", ln_beta="< 0", level="(0, 0.5)", transfer=_TRANSFER)
def stable_median_plan(
    n_questions: int, grid_size: int, ln_beta: float, *, level: float = 0.25, transfer: str = "direct"
) -> MedianPlan:
    """Return how many subsamples k adaptive medians need for a quantile level.

    With these all medians are in the (level, 1 - level) quantile interval. The parameter of the mechanism is
    chosen numerically, as is, for ``transfer="jung"``, the part of beta for the rank error; the plan returned
    was verified at what was found.

    Parameters
    ----------
    n_questions : int
        k, at least 1, fixed in advance.
    grid_size : int
        ``|T|``, at least the size of every grid.
    ln_beta : float
        Logarithm of the failure probability, below 0.
    level : float, default=0.25
        In (0, 1/2).
    transfer : {"direct", "jung"}, default="direct"
        The transfer theorem.

    Returns
    -------
    MedianPlan
        Number of subsamples and parameter of the mechanism.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> stable_median_plan(10, 1000, math.log(0.05)).n_subsamples  # Theorem 4.3 of the paper: 100,346
    1712
    """
    certify = _BEST[transfer]
    m = smallest_integer(lambda m: certify(m, n_questions, grid_size, ln_beta)[0] >= level)
    return MedianPlan(m, certify(m, n_questions, grid_size, ln_beta)[1])


@checked(n_subsamples="count", n_questions="count", grid_size="count", epsilon="> 0", ln_beta="<= 0")
def median_rank_error(
    n_subsamples: int, n_questions: int, grid_size: int, epsilon: float, ln_beta: float, *, mean: bool = False
) -> float:
    """Return ``(2/(epsilon m)) ln(k |T|/beta)``: no exponential mechanism has a larger rank error.

    Feldman, Steinke 2017, Theorem 3.1, and a union bound over k medians; holds for every data set except with
    probability beta.

    Parameters
    ----------
    n_subsamples : int
        m, at least 1.
    n_questions : int
        k, at least 1.
    grid_size : int
        ``|T|``, at least the size of every grid.
    epsilon : float
        Parameter of the exponential mechanism, positive.
    ln_beta : float
        Logarithm of the failure probability, at most 0.
    mean : bool, default=False
        Return the mean of the worst beta-tail instead of the quantile at beta: the logarithm plus 1.

    Returns
    -------
    float
        A share of the subsamples; from 1/2 on it is vacuous.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(median_rank_error(1000, 10, 1000, 0.2, math.log(0.05)), 4)
    0.1221
    """
    nats = math.log(n_questions) + math.log(grid_size) - ln_beta + (1.0 if mean else 0.0)
    return 2.0 * nats / (epsilon * n_subsamples)  # points this far have e^-nats of the best weight


@checked(mean_rank_error=">= 0", rho=">= 0", ln_beta="<= 0")
def median_level_direct(mean_rank_error: float, rho: float, ln_beta: float) -> float:
    """Return the largest quantile level of all medians, by this module's theorem.

    Parameters
    ----------
    mean_rank_error : float
        a, at least 0: `median_rank_error` with ``mean=True``.
    rho : float
        zCDP cost of the whole conversation, at least 0.
    ln_beta : float
        Logarithm of the failure probability, at most 0; a probability above 1/2 is treated as 1/2.

    Returns
    -------
    float
        The level, rounded down; 0 is vacuous.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(median_level_direct(0.05, 0.01, math.log(0.05)), 3)
    0.349
    """
    shift, ln_beta = math.sqrt(rho), min(ln_beta, -LN_2)
    s = 0.5 - mean_rank_error
    if s <= 0.0:
        return 0.0

    def excess(level: float) -> float:
        ln_high, ln_low = math.log((1.0 - level) * s), math.log(level * (1.0 - s))
        return excess_over_shift(zcdp_score, shift, ln_beta + ln_high, ln_beta + ln_low)

    return enclosed_root(excess, 0.0, s, rising=False)[0]


@checked(rank_error=">= 0", ln_rank_failure=ln_probability, rho="> 0", ln_beta="<= 0")
def median_level_jung(rank_error: float, ln_rank_failure: float, rho: float, ln_beta: float) -> float:
    """Return the level ``1/2 - a - x`` with x by Jung et al. (ITCS 2020), for comparison.

    The zCDP cost is converted to (epsilon, delta) by Canonne, Kamath, Steinke (2020), and
    ``x = e^epsilon - 1 + (sqrt(beta1) + sqrt(2 delta))^2/beta`` is minimised over epsilon.

    Parameters
    ----------
    rank_error : float
        a, at least 0, exceeded with probability at most beta1 for all answers together.
    ln_rank_failure : float
        Logarithm of beta1; ``-inf`` if a is never exceeded.
    rho : float
        zCDP cost of the whole conversation, positive.
    ln_beta : float
        Logarithm of the failure probability, at most 0.

    Returns
    -------
    float
        The level; 0 is vacuous.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(median_level_jung(0.05, -12.0, 0.0001, math.log(0.05)), 3)
    0.409
    """

    def deviation(epsilon: float) -> float:
        ln_delta = math.log(zcdp_delta(rho, epsilon))
        return jung_2020_best(rank_error, ln_rank_failure, epsilon, ln_delta, ln_beta)

    centre = math.log(max(math.sqrt(rho), 1e-12))
    return max(0.5 - deviation(best_scale(deviation, centre - 1.0, centre + 5.0)), 0.0)


def _best_direct(m: int, k: int, grid_size: int, ln_beta: float) -> Interval:
    """Return quantile level and epsilon of the best exponential mechanism, by this module."""

    def level(epsilon: float) -> float:
        a = median_rank_error(m, k, grid_size, epsilon, ln_beta, mean=True)
        return median_level_direct(a, k * exponential_mechanism_zcdp(epsilon), ln_beta)

    # Below this epsilon the rank error is 1/2; the best one is a few times as large.
    least = math.log(2.0 * median_rank_error(m, k, grid_size, 1.0, ln_beta, mean=True))
    best = best_scale(lambda epsilon: -level(epsilon), least, least + 5.0)
    return level(best), best


def _best_jung(m: int, k: int, grid_size: int, ln_beta: float) -> Interval:
    """Return quantile level and epsilon of the best exponential mechanism, by Jung et al."""

    def deviation(x: Array) -> float:
        if not (np.all(np.abs(x) < 50.0) and x[1] < 0.0):
            return math.inf
        mechanism, ln_sample, epsilon = math.exp(x[0]), ln_beta + float(x[1]), math.exp(x[2])
        a = median_rank_error(m, k, grid_size, mechanism, ln_sample)
        ln_delta = math.log(zcdp_delta(k * exponential_mechanism_zcdp(mechanism), epsilon))
        return jung_2020_best(a, ln_sample, epsilon, ln_delta, ln_beta)

    mechanism = 20.0 * median_rank_error(m, k, grid_size, 1.0, ln_beta - 10.0)  # a rank error of 1/20
    start = [math.log(mechanism), -10.0, math.log(mechanism * math.sqrt(5.0 * k))]
    best, at = simplex_minimum(deviation, start, xatol=1e-5, fatol=1e-8)
    return max(0.5 - best, 0.0), math.exp(at[0])


_BEST = {"direct": _best_direct, "jung": _best_jung}


class MeanDeviation(NamedTuple):
    """How far an answer can be from the mean of phi, in two units.

    Attributes
    ----------
    standard_deviations : float
        In standard deviations of phi.
    mean_absolute_deviations : float
        In mean absolute deviations of phi.
    """

    standard_deviations: float
    mean_absolute_deviations: float


@checked(level="[0, 0.5]")
def mean_deviation(level: float) -> MeanDeviation:
    """Return how far an answer at ``level`` can be from the mean of phi.

    After Feldman, Steinke 2017, Corollary 4.4: ``sqrt((1 - level)/level)`` standard deviations by Cantelli's
    inequality, and ``1/(2 level)`` mean absolute deviations by Markov's, as each side has half of the
    deviation: 1.73 and 2 at the level 1/4. The paper uses Chebyshev's and Markov's for both sides at once: 2
    and 4. Both speak of the rounded phi; for phi itself add how far rounding to the grid can move a value.

    Parameters
    ----------
    level : float
        In [0, 1/2]; both multiples are infinite at 0.

    Returns
    -------
    MeanDeviation
        The two multiples.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> mean_deviation(0.25)
    MeanDeviation(standard_deviations=1.7320508075688772, mean_absolute_deviations=2.0)
    """
    if level == 0.0:
        return MeanDeviation(math.inf, math.inf)
    return MeanDeviation(math.sqrt((1.0 - level) / level), 0.5 / level)


class OverfittingBound(NamedTuple):
    """A bound on how far a sample's mean can be above the population's.

    ``S[phi] - D[phi] <= constant + factor * mad(phi(D))`` for phi with values in [0, 1].

    Attributes
    ----------
    constant : float
        The additive term alpha.
    factor : float
        The multiplicative term gamma. The mad is at most 1/2, and at most ``2 D[phi]``.
    """

    constant: float
    factor: float

    @property
    def vacuous(self) -> bool:
        """Whether the bound is 1/2 or more even at the largest possible mad, 1/2."""
        return not self.constant + self.factor / 2.0 < 0.5


@checked(grid_size="count", epsilon="> 0", alpha="(0, 1)", beta="(0, 1)")
def feldman_steinke_2017_theorem_3_1(grid_size: int, epsilon: float, alpha: float, beta: float) -> int:
    """Return the smallest ``m >= 4 ln(|T|/beta)/(epsilon alpha)`` (Theorem 3.1, exponential mechanism).

    With so many subsamples the epsilon-DP median on a grid T is, except with probability beta, in the
    ``((1 - alpha)/2, (1 + alpha)/2)`` quantile interval of the subsamples' values.

    Parameters
    ----------
    grid_size : int
        ``|T|``, at least 1.
    epsilon : float
        Positive.
    alpha, beta : float
        In (0, 1).

    Returns
    -------
    int
        Number of subsamples.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> feldman_steinke_2017_theorem_3_1(1000, epsilon=0.1, alpha=0.25, beta=0.05)
    1585
    """
    return math.ceil(4.0 * (math.log(grid_size) - math.log(beta)) / (epsilon * alpha))


@checked(grid_size="integer >= 2", epsilon="(0, 0.5)", delta="(0, 0.5)", alpha="(0, 0.5)", beta="(0, 0.5)")
def feldman_steinke_2017_corollary_3_3(
    grid_size: int, epsilon: float, delta: float, alpha: float, beta: float
) -> int:
    """Return the smallest m of Corollary 3.3: the median by noisy binary search is as in Theorem 3.1.

    ``m >= 12 sqrt(2 c ln(1/delta) ln(2 c/beta))/(epsilon alpha)`` with ``c = ceil(log2 |T|)``, for
    (epsilon, delta)-DP by Gaussian noise in at most ``2 c`` counting questions.

    Parameters
    ----------
    grid_size : int
        ``|T|``, at least 2.
    epsilon, delta, alpha, beta : float
        In (0, 1/2).

    Returns
    -------
    int
        Number of subsamples.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> feldman_steinke_2017_corollary_3_3(1000, epsilon=0.1, delta=1e-6, alpha=0.25, beta=0.05)
    19531
    """
    steps = (grid_size - 1).bit_length()  # ceil(log2 |T|)
    root = math.sqrt(2.0 * steps * -math.log(delta) * math.log(2.0 * steps / beta))
    return math.ceil(12.0 * root / (epsilon * alpha))


@checked(n_subsamples="count", n_questions="count", epsilon="(0, 1)", delta="[0, 1)", beta="(0, 0.5]")
def feldman_steinke_2017_theorem_4_1(
    n_subsamples: int, n_questions: int, epsilon: float, delta: float, beta: float
) -> OverfittingBound:
    """Return the one-sided bound of Theorem 4.1, in the form of Theorem A.3.

    For k functions with values in [0, 1] chosen by the conversation, with probability at least ``1 - beta``
    all of them satisfy::

        S[phi] - D[phi] <= (4/(epsilon m)) ln(2k/beta) + 8 delta/beta + (e^(2 epsilon) - 1) mad(phi(D))

    For both sides put k twice as large and ask for ``1 - phi`` too.

    Parameters
    ----------
    n_subsamples : int
        m, at least 1.
    n_questions : int
        k, at least 1.
    epsilon : float
        In (0, 1).
    delta : float
        In [0, 1).
    beta : float
        In (0, 1/2]; above, the proof's ``ceil(1/beta) k + 1 <= 2k/beta`` can fail.

    Returns
    -------
    OverfittingBound
        The two terms.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> bound = feldman_steinke_2017_theorem_4_1(100_000, 10, epsilon=0.05, delta=1e-6, beta=0.05)
    >>> round(bound.constant, 5), round(bound.factor, 5)
    (0.00495, 0.10517)
    """
    constant = 4.0 / (epsilon * n_subsamples) * math.log(2.0 * n_questions / beta) + 8.0 * delta / beta
    return OverfittingBound(constant, math.expm1(2.0 * epsilon))


@checked(n_questions="count", epsilon="[0, 0.05]", beta="(0, 0.5)")
def feldman_steinke_2017_theorem_4_2(
    n_subsamples: int, n_questions: int, epsilon: float, delta: float, beta: float
) -> float:
    """Return the failure probability of Theorem 4.2, ``2 beta``, after checking its preconditions.

    If ``m >= 2560 ln(2k/beta)``, the conversation is (1/20, beta/256)-DP, and for every data set all answers
    are in the (3/8, 5/8) quantile interval of the subsamples' values except with probability beta, then all
    are in the (1/4, 3/4) quantile interval of phi(D) except with probability ``2 beta``.

    Parameters
    ----------
    n_subsamples : int
        m.
    n_questions : int
        k, at least 1.
    epsilon : float
        In [0, 1/20].
    delta : float
        In [0, beta/256].
    beta : float
        In (0, 1/2).

    Returns
    -------
    float
        ``2 beta``.

    Raises
    ------
    ValueError
        If a precondition does not hold.

    Examples
    --------
    >>> feldman_steinke_2017_theorem_4_2(20_000, 10, epsilon=0.05, delta=1e-4, beta=0.05)
    0.1
    """
    owner = "feldman_steinke_2017_theorem_4_2"
    least = math.ceil(2560.0 * (math.log(2.0 * n_questions) - math.log(beta)))
    check_integer(n_subsamples, "n_subsamples", owner, low=least)
    check_real(delta, "delta", owner, low=0.0, high=beta / 256.0, closed="both")
    return 2.0 * beta


@checked(n_questions="count", grid_size="integer >= 2", beta="(0, 0.5)", failure=option(("beta", "2beta")))
def feldman_steinke_2017_theorem_4_3(
    n_questions: int, grid_size: int, beta: float, *, failure: str = "beta"
) -> int:
    """Return how many subsamples Theorem 4.3 needs for k answers.

    With so many all answers are in the (1/4, 3/4) quantile interval:
    ``m = 640 sqrt(max(k, 16) ln(256/beta)) ln(k r/beta)`` for medians by the exponential mechanism with
    epsilon ``16 ln(k r/beta)/m`` each. The proof's constants give this except with probability ``2 beta``;
    for beta, as in the statement, beta/2 is put in its place.

    Parameters
    ----------
    n_questions : int
        k, at least 1.
    grid_size : int
        r, at least the size of every grid; at least 2.
    beta : float
        In (0, 1/2).
    failure : {"beta", "2beta"}, default="beta"
        Which failure probability is wanted.

    Returns
    -------
    int
        Number of subsamples.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> feldman_steinke_2017_theorem_4_3(10, 1000, 0.05)
    100346
    >>> feldman_steinke_2017_theorem_4_3(10, 1000, 0.05, failure="2beta")
    91321
    """
    if failure == "beta":
        beta /= 2.0
    ln_k_r = math.log(n_questions) + math.log(grid_size) - math.log(beta)
    return math.ceil(640.0 * math.sqrt(max(n_questions, 16) * math.log(256.0 / beta)) * ln_k_r)


@checked(level="[0, 0.5]", epsilon=">= 0", delta="[0, 1]")
def feldman_steinke_2017_theorem_4_6(level: float, epsilon: float, delta: float) -> float:
    """Return ``2 level e^epsilon + delta``, the failure probability of Theorem 4.6.

    For one phi chosen by the conversation and one subsample S_i, ``phi(S_i)`` is outside the
    ``(level, 1 - level)`` quantile interval of phi(D) with at most this probability.

    Parameters
    ----------
    level : float
        In [0, 1/2].
    epsilon : float
        At least 0.
    delta : float
        In [0, 1].

    Returns
    -------
    float
        At most 1.

    Examples
    --------
    >>> round(feldman_steinke_2017_theorem_4_6(0.01, 0.1, 1e-6), 6)
    0.022104
    """
    if level == 0.0:
        return delta
    return math.exp(min(math.log(2.0 * level) + epsilon, 0.0)) + delta if delta < 1.0 else 1.0


@checked(n_subsamples="count", n_questions="count", epsilon=">= 0", delta="[0, 1]", beta="(0, 1)")
def feldman_steinke_2017_theorem_4_7(
    n_subsamples: int, n_questions: int, epsilon: float, delta: float, beta: float
) -> float:
    """Return the level of Theorem 4.7: all k answers are in the ``(level, 1 - level)`` quantile interval.

    If each answer is between the smallest and the largest of the subsamples' values, except with probability
    beta/2 for all k together, Theorem 4.6 and a union bound over questions and subsamples give, except with
    probability beta, ``level = (beta/(2 k m) - delta)/(2 e^epsilon)``.

    Parameters
    ----------
    n_subsamples : int
        m, at least 1.
    n_questions : int
        k, at least 1.
    epsilon : float
        At least 0.
    delta : float
        In [0, 1].
    beta : float
        In (0, 1).

    Returns
    -------
    float
        The level; 0 is vacuous.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(feldman_steinke_2017_theorem_4_7(100, 10, epsilon=1.0, delta=1e-9, beta=0.05) * 1e6, 3)
    4.598
    """
    missed = max(beta / (2.0 * n_questions * n_subsamples) - delta, 0.0)
    return missed / 2.0 * math.exp(-epsilon)
