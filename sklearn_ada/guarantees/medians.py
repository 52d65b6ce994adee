"""Certificates of the median over subsamples, for metrics that are not means.

The holdout is cut once into disjoint subsamples, the metric is computed on each, and the median is answered:
exactly (`exact_median`, by description length) or drawn privately (`stable_median`, by a transfer theorem).

How far a median between two quantiles can be from the mean: in standard and in mean deviations.

Certificates of an exact median over disjoint subsamples, by description length.

The holdout is cut once into m disjoint subsamples; phi is the metric on one of them. An answer v whose rank
is known up to an error speaks of the population law of phi by the tail of a binomial at one fixed
threshold, so no uniform bound is needed, and the ends are Clopper-Pearson's.

Theorems of Feldman, Steinke, *Generalization for adaptively-chosen estimators via stable median*, 2017.

The holdout is cut into m disjoint subsamples, which are the records of a conversation that is (epsilon,
delta)-DP with respect to replacing one subsample. phi is an estimator computed on one subsample, D the law
of a subsample, ``D[phi]`` the mean of phi, ``mad`` its mean absolute deviation. A value v is in the ``(r, 1
- r)`` quantile interval if ``P[phi <= v] >= r`` and ``P[phi >= v] >= r``.

`sklearn_ada.guarantees.medians` has certificates that need far fewer subsamples.

Certificates of privately drawn medians over disjoint subsamples: rank error, privacy, and what follows.

The holdout is cut once into m disjoint subsamples, independent draws from a law; phi, the metric on one of
them, is rounded to a finite grid T and truncated to its range, and an answer v is drawn by the exponential
mechanism with weights ``exp(-epsilon max(#{phi < v}, #{phi > v})/2)`` (Feldman, Steinke 2017, Theorem 3.1).
The conversation is private with respect to replacing one subsample. A *level* l means: each answer is in the
``(l, 1 - l)`` quantile interval of phi's (rounded) law, ``P[phi <= v] >= l`` and ``P[phi >= v] >= l``. Level
0 is vacuous.

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
by a union bound ``a = (2/(epsilon m)) (ln(k |T|/beta) + 1)``.

How many subsamples k private medians need, or what they certify: the best exponential mechanism.

By the certificates of `stable_median`; the parameter of the mechanism is chosen numerically. Any parameter
gives a valid certificate, so an inexact search costs width and never validity.

How large a ledger's privacy budget (the zCDP parameter rho) should be, decided before anything is asked.

A certificate by transfer is as wide as the noise of its answer plus the gap that the budget allows. Much
noise spends little; the best budget balances the two for the number of questions expected.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri_exp
from scipy.stats import binom

from sklearn_ada._validation import (
    LN_2,
    OUTWARDS,
    check_integer,
    check_option,
    check_real,
    enclosed_root,
    largest_integer,
    smallest_integer,
)
from sklearn_ada.accounting.differential_privacy import (
    exponential_mechanism_zcdp,
    thresholdout_zcdp,
    zcdp_delta,
)
from sklearn_ada.guarantees.intervals import (
    LOG_TAIL_FROM,
    NONE,
    best_scale,
    clopper_pearson,
    ln_side,
    simplex_minimum,
)
from sklearn_ada.guarantees.transfer import excess_over_shift, jung_2020_best, zcdp_gap, zcdp_score
from sklearn_ada.mechanisms.quantiles import exponential_rank_error


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
    level = check_real(level, "level", "mean_deviation", low=0.0, high=0.5, closed="both")
    if level == 0.0:
        return MeanDeviation(math.inf, math.inf)
    return MeanDeviation(math.sqrt((1.0 - level) / level), 0.5 / level)


MEDIAN_DEVIATION = 1.2533
"""Standard deviation of the median of m normal values, times sqrt(m)/sigma: about sqrt(pi/2)."""

DRAWN_POINTS = 401
"""Points of the grid of a median that is drawn with noise: more would need more privacy budget."""


def quantile_interval(n_subsamples: int, rank_error: float, ln_delta: float) -> tuple[float, float]:
    """Return levels (l, 1 - l): the answer is between the quantiles of phi at these levels.

    If at most ``(1/2 + rank_error) m`` of the m values are below v and as many above it, then, except with
    probability delta, ``P[phi <= v] >= l`` and ``P[phi >= v] >= l``. With ``l = 0`` nothing is said.

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
    m = check_integer(n_subsamples, "n_subsamples", "quantile_interval")
    rank_error = check_real(rank_error, "rank_error", "quantile_interval", low=0.0, closed="low")
    count = math.ceil(m * (0.5 - rank_error) - 1e-9)
    if count <= 0:
        return 0.0, 1.0
    low = _at_least(count, m, ln_delta)
    return low, 1.0 - low


def median_ranks(n: int, ln_delta: float) -> tuple[int, int]:
    """Return which two of n sorted independent values enclose their law's median, but with probability delta.

    More than ``r - 1`` of them are at most the median, except with the probability that a binomial of n and
    1/2 is below r. If the values have laws of their own, the median is that of their mixture, and the tail of
    the count is no heavier as r is at most n/2 (Hoeffding 1956, Theorem 4).

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
    n = check_integer(n, "n", "median_ranks")
    side = ln_side(ln_delta, "median_ranks") - OUTWARDS
    if side < -LOG_TAIL_FROM:  # smaller than floats tell: by Hoeffding's bound of the tail
        low = max(math.floor(n / 2.0 - math.sqrt(-n * side / 2.0)) + 1, 0)
        return low, n + 1 - low
    low = largest_integer(lambda r: bool(binom.logcdf(r - 1, n, 0.5) <= side), n // 2)
    return low, n + 1 - low


def uniform_code_level(n_subsamples: int, n_questions: int, grid_size: int, ln_beta: float) -> float:
    """Return the level of the last of k exact grid medians, each priced evenly over its grid.

    `quantile_interval` by description length: the k - 1 answers before cost ``ln|T|`` nats each, and every
    question has the weight 1/k. With guesses that hold, a code that is centred at them needs far less.

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
    k = check_integer(n_questions, "n_questions", "uniform_code_level")
    size = check_integer(grid_size, "grid_size", "uniform_code_level")
    ln_beta = check_real(ln_beta, "ln_beta", "uniform_code_level", high=0.0, closed="high")
    return quantile_interval(n_subsamples, 0.0, ln_beta - math.log(k) - (k - 1) * math.log(size))[0]


def outer_levels(n_subsamples: int, rank_error: float, ln_delta: float) -> tuple[float, float]:
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
    m = check_integer(n_subsamples, "n_subsamples", "outer_levels")
    rank_error = check_real(rank_error, "rank_error", "outer_levels", low=0.0, closed="low")
    _, high = quantile_interval(m, 0.0, ln_delta)
    count = math.floor((1.0 - high) * m)  # a start close to the answer; then down to where it holds
    while count >= 0 and not median_is_covered(m, count / m, 0.0, ln_delta):
        count -= 1
    level = count / m - rank_error
    return (level, 1.0 - level) if level > 0.0 else (0.0, 1.0)


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
    m = check_integer(n_subsamples, "n_subsamples", "median_is_covered")
    level = check_real(level, "level", "median_is_covered", low=0.0, high=0.5, closed="both")
    rank_error = check_real(rank_error, "rank_error", "median_is_covered", low=0.0, closed="low")
    if level == 0.0 or level + rank_error >= 0.5:
        return False
    count = math.floor(m * (level + rank_error) + 1e-9)
    _, high = clopper_pearson(0, count, m, ln_delta)
    return high <= 0.5


@lru_cache(maxsize=64)  # a question needs the same one three times: admitted, charged, read
def _at_least(count: int, m: int, ln_delta: float) -> float:
    """Return a bound from below for a probability whose event came ``count`` times or more among m."""
    return clopper_pearson(count, m, m, ln_delta)[0]


class OverfittingBound(NamedTuple):
    """``S[phi] - D[phi] <= constant + factor * mad(phi(D))`` for phi with values in [0, 1].

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
    owner = "feldman_steinke_2017_theorem_3_1"
    grid_size = check_integer(grid_size, "grid_size", owner)
    epsilon = check_real(epsilon, "epsilon", owner, low=0.0)
    alpha = check_real(alpha, "alpha", owner, low=0.0, high=1.0)
    beta = check_real(beta, "beta", owner, low=0.0, high=1.0)
    return math.ceil(4.0 * (math.log(grid_size) - math.log(beta)) / (epsilon * alpha))


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
    owner = "feldman_steinke_2017_corollary_3_3"
    steps = (check_integer(grid_size, "grid_size", owner, low=2) - 1).bit_length()  # ceil(log2 |T|)
    epsilon = check_real(epsilon, "epsilon", owner, low=0.0, high=0.5)
    delta = check_real(delta, "delta", owner, low=0.0, high=0.5)
    alpha = check_real(alpha, "alpha", owner, low=0.0, high=0.5)
    beta = check_real(beta, "beta", owner, low=0.0, high=0.5)
    root = math.sqrt(2.0 * steps * -math.log(delta) * math.log(2.0 * steps / beta))
    return math.ceil(12.0 * root / (epsilon * alpha))


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
    owner = "feldman_steinke_2017_theorem_4_1"
    m = check_integer(n_subsamples, "n_subsamples", owner)
    k = check_integer(n_questions, "n_questions", owner)
    epsilon = check_real(epsilon, "epsilon", owner, low=0.0, high=1.0)
    delta = check_real(delta, "delta", owner, low=0.0, high=1.0, closed="low")
    beta = check_real(beta, "beta", owner, low=0.0, high=0.5, closed="high")
    constant = 4.0 / (epsilon * m) * math.log(2.0 * k / beta) + 8.0 * delta / beta
    return OverfittingBound(constant, math.expm1(2.0 * epsilon))


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
    k = check_integer(n_questions, "n_questions", owner)
    beta = check_real(beta, "beta", owner, low=0.0, high=0.5)
    check_integer(
        n_subsamples, "n_subsamples", owner, low=math.ceil(2560.0 * (math.log(2.0 * k) - math.log(beta)))
    )
    check_real(epsilon, "epsilon", owner, low=0.0, high=0.05, closed="both")
    check_real(delta, "delta", owner, low=0.0, high=beta / 256.0, closed="both")
    return 2.0 * beta


def feldman_steinke_2017_theorem_4_3(
    n_questions: int, grid_size: int, beta: float, *, failure: str = "beta"
) -> int:
    """Return how many subsamples Theorem 4.3 needs for k answers all in the (1/4, 3/4) quantile interval.

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
    owner = "feldman_steinke_2017_theorem_4_3"
    k = check_integer(n_questions, "n_questions", owner)
    r = check_integer(grid_size, "grid_size", owner, low=2)
    beta = check_real(beta, "beta", owner, low=0.0, high=0.5)
    if check_option(failure, "failure", owner, ("beta", "2beta")) == "beta":
        beta /= 2.0
    ln_k_r = math.log(k) + math.log(r) - math.log(beta)
    return math.ceil(640.0 * math.sqrt(max(k, 16) * math.log(256.0 / beta)) * ln_k_r)


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
    owner = "feldman_steinke_2017_theorem_4_6"
    level = check_real(level, "level", owner, low=0.0, high=0.5, closed="both")
    epsilon = check_real(epsilon, "epsilon", owner, low=0.0, closed="low")
    delta = check_real(delta, "delta", owner, low=0.0, high=1.0, closed="both")
    if level == 0.0:
        return delta
    return math.exp(min(math.log(2.0 * level) + epsilon, 0.0)) + delta if delta < 1.0 else 1.0


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
    owner = "feldman_steinke_2017_theorem_4_7"
    m = check_integer(n_subsamples, "n_subsamples", owner)
    k = check_integer(n_questions, "n_questions", owner)
    epsilon = check_real(epsilon, "epsilon", owner, low=0.0, closed="low")
    delta = check_real(delta, "delta", owner, low=0.0, high=1.0, closed="both")
    beta = check_real(beta, "beta", owner, low=0.0, high=1.0)
    return max(beta / (2.0 * k * m) - delta, 0.0) / 2.0 * math.exp(-epsilon)


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
    owner = "median_rank_error"
    m = check_integer(n_subsamples, "n_subsamples", owner)
    k = check_integer(n_questions, "n_questions", owner)
    grid_size = check_integer(grid_size, "grid_size", owner)
    epsilon = check_real(epsilon, "epsilon", owner, low=0.0)
    ln_beta = check_real(ln_beta, "ln_beta", owner, high=0.0, closed="high")
    nats = math.log(k) + math.log(grid_size) - ln_beta + (1.0 if mean else 0.0)
    return exponential_rank_error(epsilon, m, nats)


def median_level_direct(mean_rank_error: float, rho: float, ln_beta: float) -> float:
    """Return the largest level that the theorem of this module certifies for all answers at once.

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
    owner = "median_level_direct"
    a = check_real(mean_rank_error, "mean_rank_error", owner, low=0.0, closed="low")
    shift = math.sqrt(check_real(rho, "rho", owner, low=0.0, closed="low"))
    ln_beta = min(check_real(ln_beta, "ln_beta", owner, high=0.0, closed="high"), -LN_2)
    s = 0.5 - a
    if s <= 0.0:
        return 0.0

    def excess(level: float) -> float:
        ln_high, ln_low = math.log((1.0 - level) * s), math.log(level * (1.0 - s))
        return excess_over_shift(zcdp_score, shift, ln_beta + ln_high, ln_beta + ln_low)

    return enclosed_root(excess, 0.0, s, rising=False)[0]


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
    owner = "median_level_jung"
    rank_error = check_real(rank_error, "rank_error", owner, low=0.0, closed="low")
    if ln_rank_failure != -math.inf:
        ln_rank_failure = check_real(ln_rank_failure, "ln_rank_failure", owner, high=0.0, closed="high")
    rho = check_real(rho, "rho", owner, low=0.0)
    ln_beta = check_real(ln_beta, "ln_beta", owner, high=0.0, closed="high")

    def deviation(epsilon: float) -> float:
        ln_delta = math.log(zcdp_delta(rho, epsilon))
        return jung_2020_best(rank_error, ln_rank_failure, epsilon, ln_delta, ln_beta)

    centre = math.log(max(math.sqrt(rho), 1e-12))
    return max(0.5 - deviation(best_scale(deviation, centre - 1.0, centre + 5.0)), 0.0)


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


def stable_median_level(
    n_subsamples: int, n_questions: int, grid_size: int, ln_beta: float, *, transfer: str = "direct"
) -> MedianLevel:
    """Return the largest level found that k adaptive medians reach all at once with so many subsamples.

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
    owner = "stable_median_level"
    m = check_integer(n_subsamples, "n_subsamples", owner)
    k = check_integer(n_questions, "n_questions", owner)
    grid_size = check_integer(grid_size, "grid_size", owner)
    ln_beta = check_real(ln_beta, "ln_beta", owner, high=0.0)
    return MedianLevel(*_best(transfer, owner)(m, k, grid_size, ln_beta))


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


def stable_median_plan(
    n_questions: int, grid_size: int, ln_beta: float, *, level: float = 0.25, transfer: str = "direct"
) -> MedianPlan:
    """Return the fewest subsamples with which k adaptive medians are all in the (level, 1 - level) interval.

    The parameter of the mechanism is chosen numerically, as is, for ``transfer="jung"``, the share of beta
    for the rank error; the plan returned has been verified at what was found.

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
    owner = "stable_median_plan"
    k = check_integer(n_questions, "n_questions", owner)
    grid_size = check_integer(grid_size, "grid_size", owner)
    ln_beta = check_real(ln_beta, "ln_beta", owner, high=0.0)
    level = check_real(level, "level", owner, low=0.0, high=0.5)
    certify = _best(transfer, owner)
    m = smallest_integer(lambda m: certify(m, k, grid_size, ln_beta)[0] >= level)
    return MedianPlan(m, certify(m, k, grid_size, ln_beta)[1])


def _best(transfer: str, owner: str) -> Callable[[int, int, int, float], tuple[float, float]]:
    """Return the search by this transfer theorem: m, k, |T| and ln beta to level and epsilon."""
    check_option(transfer, "transfer", owner, ("direct", "jung"))
    return {"direct": _best_direct, "jung": _best_jung}[transfer]


def _best_direct(m: int, k: int, grid_size: int, ln_beta: float) -> tuple[float, float]:
    """Level and epsilon of the best exponential mechanism, by the theorem of this module."""

    def level(epsilon: float) -> float:
        a = median_rank_error(m, k, grid_size, epsilon, ln_beta, mean=True)
        return median_level_direct(a, k * exponential_mechanism_zcdp(epsilon), ln_beta)

    # Below this epsilon the rank error is 1/2; the best one is a few times as large.
    least = math.log(2.0 * median_rank_error(m, k, grid_size, 1.0, ln_beta, mean=True))
    best = best_scale(lambda epsilon: -level(epsilon), least, least + 5.0)
    return level(best), best


def _best_jung(m: int, k: int, grid_size: int, ln_beta: float) -> tuple[float, float]:
    """Level and epsilon of the best exponential mechanism, by Jung et al., over the shares of beta."""

    def deviation(x: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        if not (np.all(np.abs(x) < 50.0) and x[1] < 0.0):
            return NONE
        mechanism, share, epsilon = math.exp(x[0]), ln_beta + float(x[1]), math.exp(x[2])
        a = median_rank_error(m, k, grid_size, mechanism, share)
        ln_delta = math.log(zcdp_delta(k * exponential_mechanism_zcdp(mechanism), epsilon))
        return min(jung_2020_best(a, share, epsilon, ln_delta, ln_beta), NONE)

    mechanism = 20.0 * median_rank_error(m, k, grid_size, 1.0, ln_beta - 10.0)  # a rank error of 1/20
    start = [math.log(mechanism), -10.0, math.log(mechanism * math.sqrt(5.0 * k))]
    best, at = simplex_minimum(deviation, start, xatol=1e-5, fatol=1e-8)
    return max(0.5 - best, 0.0), math.exp(at[0])


@lru_cache(maxsize=256)
def records_budget(n: int, n_questions: int, ln_gap: float, ln_noise: float) -> float:
    """Return the rho with which k Gaussian answers about means have the smallest half-width.

    Minimises ``sigma z + zcdp_gap(rho)`` with ``rho = k/(2 n^2 sigma^2)`` and z the normal quantile at
    ``ln_noise``. Rounded to three digits, so that it is the same on every machine; every value is valid.

    Parameters
    ----------
    n, n_questions : int
        Records, and questions expected.
    ln_gap, ln_noise : float
        Logarithms of the failure probabilities of the gap and of the noise of one answer, below 0.

    Examples
    --------
    >>> records_budget(10_000, 100, math.log(0.025), math.log(0.025 / 100))
    0.00211
    """
    n = check_integer(n, "n", "records_budget")
    k = check_integer(n_questions, "n_questions", "records_budget")
    z = -float(ndtri_exp(check_real(ln_noise, "ln_noise", "records_budget", high=0.0) - LN_2))
    return _best_rho(lambda rho: z * math.sqrt(k / (2.0 * rho)) / n + zcdp_gap(rho, ln_gap))


@lru_cache(maxsize=256)
def subsamples_budget(
    n_subsamples: int, n_questions: int, grid_size: int, ln_gap: float, ln_noise: float
) -> float:
    """Return the rho with which k medians are in the narrowest quantile interval.

    The medians are drawn by the exponential mechanism; minimises ``median_rank_error + zcdp_gap(rho)``.
    Rounded to three digits; every value is valid.

    Parameters
    ----------
    n_subsamples, n_questions, grid_size : int
        Subsamples, questions expected, and points of a grid.
    ln_gap, ln_noise : float
        Logarithms of the failure probabilities of the gap and of the draw of one answer, below 0.

    Examples
    --------
    >>> subsamples_budget(10_000, 100, 1001, math.log(0.025), math.log(0.025 / 100))
    0.00818
    """
    m = check_integer(n_subsamples, "n_subsamples", "subsamples_budget")
    k = check_integer(n_questions, "n_questions", "subsamples_budget")

    def width(rho: float) -> float:
        epsilon = exponential_epsilon(rho / k)
        return median_rank_error(m, 1, grid_size, epsilon, ln_noise) + zcdp_gap(rho, ln_gap)

    return _best_rho(width)


def exponential_epsilon(rho: float) -> float:
    """Return the parameter with which the exponential mechanism is exactly rho-zCDP.

    Examples
    --------
    >>> round(exponential_mechanism_zcdp(exponential_epsilon(0.01)), 12)
    0.01
    """
    rho = check_real(rho, "rho", "exponential_epsilon", low=0.0)
    # Between sqrt(8 rho), where eps^2/8 is exact, and a value that is certainly too large.
    high = math.sqrt(8.0 * rho) + rho + 2.0
    while exponential_mechanism_zcdp(high) < rho:
        high *= 2.0
    low = 0.5 * math.sqrt(8.0 * rho)
    return enclosed_root(lambda epsilon: exponential_mechanism_zcdp(epsilon) / rho - 1.0, low, high)[0]


def thresholdout_scale(rho: float, sensitivity: float, max_hits: int) -> float:
    """Return the scale s of Laplace noise with which a Thresholdout costs at most rho.

    Parameters
    ----------
    rho : float
        zCDP cost allowed, positive.
    sensitivity : float
        How far one record can move a value, positive.
    max_hits : int
        At least 1.

    Examples
    --------
    >>> scale = thresholdout_scale(0.01, 1e-4, 20)
    >>> thresholdout_zcdp(1e-4 / scale, 20) <= 0.01
    True
    """
    rho = check_real(rho, "rho", "thresholdout_scale", low=0.0)
    sensitivity = check_real(sensitivity, "sensitivity", "thresholdout_scale", low=0.0)
    hits = check_integer(max_hits, "max_hits", "thresholdout_scale")
    ln_cost = enclosed_root(lambda x: math.log(thresholdout_zcdp(math.exp(x), hits) / rho), -60.0, 5.0)[0]
    return sensitivity / math.exp(ln_cost) * (1.0 + 1e-9)


def _best_rho(width: Callable[[float], float]) -> float:
    return float(f"{best_scale(width, -40.0, 1.0):.3g}")
