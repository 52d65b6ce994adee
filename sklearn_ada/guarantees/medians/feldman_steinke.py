"""Theorems of Feldman, Steinke, *Generalization for adaptively-chosen estimators via stable median*, 2017.

The holdout is cut into m disjoint subsamples, which are the records of a conversation that is (epsilon,
delta)-DP with respect to replacing one subsample. phi is an estimator computed on one subsample, D the law
of a subsample, ``D[phi]`` the mean of phi, ``mad`` its mean absolute deviation. A value v is in the ``(r, 1
- r)`` quantile interval if ``P[phi <= v] >= r`` and ``P[phi >= v] >= r``.

`sklearn_ada.guarantees.medians.stable_median` has certificates that need far fewer subsamples.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from sklearn_ada._checks import check_integer, check_option, check_real

__all__ = [
    "OverfittingBound",
    "feldman_steinke_2017_corollary_3_3",
    "feldman_steinke_2017_theorem_3_1",
    "feldman_steinke_2017_theorem_4_1",
    "feldman_steinke_2017_theorem_4_2",
    "feldman_steinke_2017_theorem_4_3",
    "feldman_steinke_2017_theorem_4_6",
    "feldman_steinke_2017_theorem_4_7",
]


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
