r"""A sharper transfer theorem, proved here: a quarter of the ``e^epsilon - 1`` of Jung et al. (ITCS 2020).

Notation. S holds n independent draws from D, the whole conversation M(S) is private with respect to replacing
one record, and B is any event determined by the conversation and by coins that are independent of S. For B
with probability p the *gap* g(p) bounds ``E[q(S) - q(D) | B]`` for every question q with values in [0, 1]
that the conversation (or someone who reads it) may choose.

Lemma (swap). Write ``Q = q(S)``, ``P = q(D)``. If ``Pr[M(s) in E] <= G(Pr[M(s') in E])`` for all neighbours
s, s', randomised events E, and a concave increasing G, then::

    E[Q (1 - P) 1_B] <= G(E[P (1 - Q) 1_B])

Proof. Let x be record i of S and x' a further draw from D. Hold these and the other records fixed; then
``h = q(x) (1 - q(x')) 1_B``, a value in [0, 1], is decided by the conversation, and its expectation with x in
the data is at most G of its expectation with x' in the data instead. In the latter x' is the record and x is
fresh: exchange their names, and h becomes ``q(x') (1 - q(x)) 1_B`` with x in the data. Average over the draws
and over i; Jensen's inequality for the concave G keeps the direction.

Theorem 1. For ``p <= 1/2`` let g solve ``p (1 + 3 g)/4 = G(p (1 - g)/4)``. Then ``E[Q - P | B] <= g`` for
every B with ``Pr[B] >= p``, provided that ``G(x) - x`` increases up to ``p (1 - g)/4``.
Proof. By thinning B with independent coins let ``Pr[B] = p``. Given the conversation, drop q (put q = 0)
wherever the conditional mean of ``Q - P`` is negative; this only raises the gap, call it g' >= 0. With a and
b the two sides of the lemma (before G), ``a - b = g' p``. Given the conversation, let m be P and m + u the
mean of Q: then ``Q (1 - P) + P (1 - Q)`` has the mean ``2 m (1 - m) + u (1 - 2 m)``, at most ``(1 + u^2)/2``
and, as ``0 <= u <= 1``, at most ``(1 + u)/2``. So ``a + b <= p (1 + g')/2``, ``b <= p (1 - g')/4`` and
``g' p <= G(b) - b``, which increases in b. At ``g' > g`` that is a contradiction.

For (epsilon, delta)-DP, ``G(x) = e^epsilon x + delta`` and the equation is linear. For mu-GDP,
``G(x) = Phi(Phi^-1(x) + mu)``. For rho-zCDP, Hoelder's inequality at every Renyi order gives
``G(x) = exp(-(sqrt(ln 1/x) - sqrt(rho))^2)``, with 1 for ``x >= e^-rho``. For the last two, with the score
``z = Phi^-1(x)`` or ``-sqrt(ln 1/x)``, the equation says that the scores of ``p (1 + 3 g)/4`` and of
``p (1 - g)/4`` differ by mu or by sqrt(rho); the difference increases in g and in p, and ``G(x) - x``
increases where needed, because ``p (1 + 3 g)/4 <= 1/2``.

Theorem 2 (answers). Let t(p) be a bound on the mean of ``max_j |a_j - q_j(S)|`` given any event of
probability p (the mean of its worst p-tail). Then ``P[max_j |a_j - q_j(D)| > t(beta) + g(beta)] <= beta``.
Proof. Otherwise some B has probability ``p > beta``, and in it a question, or its complement 1 - q, chosen by
the conversation has ``a - P > t + g``. Then ``E[Q - P | B] > t + g - E[a - Q | B] >= g``, against Theorem 1.

Answers need no clipping for this. Questions other than means: let ``Delta_i`` be how much replacing record i
can change q, with D's value the expectation on fresh data. Replace the records one after another and use
Theorem 1 for each step, with q as a function of one record scaled to [0, 1]: the gap is g(p) times the sum of
the Delta_i. The sum is 1 for a mean, and 2 for the ROC AUC (neighbours of the same class).

Compared with Jung et al. (ITCS 2020): ``e^epsilon - 1`` becomes ``(e^epsilon - 1)/(e^epsilon + 3)``, about
epsilon/4; 2 d becomes at most d; and the failure of the sample accuracy costs nothing separate.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from scipy.special import log_ndtr, ndtri_exp

from sklearn_ada._checks import check_integer, check_real
from sklearn_ada._constants import LN_2
from sklearn_ada._solving import enclosed_root
from sklearn_ada.guarantees.transfer.bound import TransferBound

__all__ = [
    "THEOREM",
    "approximate_dp_gap",
    "direct_transfer",
    "gaussian_dp_gap",
    "gaussian_tail_mean",
    "laplace_tail_mean",
    "zcdp_gap",
]

THEOREM = "direct transfer of differential privacy (after Jung et al., ITCS 2020)"


def approximate_dp_gap(epsilon: float, delta: float, beta: float) -> float:
    """Return the gap of Theorem 1 for (epsilon, delta)-DP: ``(e^eps - 1 + 4 delta/beta)/(e^eps + 3)``.

    Parameters
    ----------
    epsilon, delta : float
        Privacy of the whole conversation; ``epsilon >= 0``, delta in [0, 1].
    beta : float
        Probability of the event, in (0, 1); above 1/2 it is treated as 1/2.

    Returns
    -------
    float
        At most 1.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(approximate_dp_gap(0.1, 0.0, 0.05), 5), round(math.expm1(0.1), 5)
    (0.02562, 0.10517)
    """
    owner = "approximate_dp_gap"
    epsilon = check_real(epsilon, "epsilon", owner, low=0.0, closed="low")
    delta = check_real(delta, "delta", owner, low=0.0, high=1.0, closed="both")
    beta = min(check_real(beta, "beta", owner, low=0.0, high=1.0), 0.5)
    shrink = math.exp(-epsilon)  # numerator and denominator divided by e^epsilon, which may overflow
    return min((-math.expm1(-epsilon) + 4.0 * shrink * (delta / beta)) / (1.0 + 3.0 * shrink), 1.0)


def direct_transfer(alpha: float, beta: float, epsilon: float, delta: float, failure: float) -> TransferBound:
    """Return the half-width of Theorem 2 for (epsilon, delta)-DP answers that are sample accurate.

    With probability at least ``1 - failure``, for all questions at once, ``|a_j - q_j(D)|`` is at most::

        alpha + beta/failure + (e^epsilon - 1 + 4 delta/failure)/(e^epsilon + 3)

    because answers and questions are in [0, 1], so that a tail of size ``failure`` contains the misses of
    the sample accuracy with weight at most ``beta/failure``.

    Parameters
    ----------
    alpha, beta : float
        ``max_j |a_j - q_j(S)| <= alpha`` except with probability beta; ``alpha >= 0``, beta in [0, 1].
    epsilon, delta : float
        Privacy of the whole conversation; ``epsilon >= 0``, delta in [0, 1].
    failure : float
        In (0, 1); above 1/2 it is treated as 1/2.

    Returns
    -------
    TransferBound
        Half-width and failure probability.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(direct_transfer(0.05, 1e-5, 0.02, 1e-5, failure=0.02).half_width, 4)  # jung_2020_best: 0.0731
    0.056
    """
    owner = "direct_transfer"
    alpha = check_real(alpha, "alpha", owner, low=0.0, closed="low")
    beta = check_real(beta, "beta", owner, low=0.0, high=1.0, closed="both")
    failure = check_real(failure, "failure", owner, low=0.0, high=1.0)
    tail = alpha + beta / min(failure, 0.5)
    return TransferBound(tail + approximate_dp_gap(epsilon, delta, failure), failure)


def gaussian_dp_gap(mu: float, ln_beta: float) -> float:
    """Return the gap of Theorem 1 for mu-GDP, such as k Gaussian answers with ``mu = sqrt(k)/(n sigma)``.

    Parameters
    ----------
    mu : float
        Gaussian differential privacy of the whole conversation, at least 0.
    ln_beta : float
        Logarithm of the probability of the event, at most 0; a probability above 1/2 is treated as 1/2.

    Returns
    -------
    float
        The gap, rounded up; 1 where nothing is said.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(gaussian_dp_gap(0.1, math.log(0.05)), 5)
    0.06821
    """
    mu = check_real(mu, "mu", "gaussian_dp_gap", low=0.0, closed="low")
    ln_beta = check_real(ln_beta, "ln_beta", "gaussian_dp_gap", high=0.0, closed="high")
    return _gap(gaussian_score, mu, ln_beta)


@lru_cache(maxsize=256)  # a ledger asks for the same gap at every answer
def zcdp_gap(rho: float, ln_beta: float) -> float:
    """Return the gap of Theorem 1 for rho-zCDP: any mixture of mechanisms, priced by their zCDP cost.

    Parameters
    ----------
    rho : float
        zCDP cost of the whole conversation, at least 0.
    ln_beta : float
        Logarithm of the probability of the event, at most 0; a probability above 1/2 is treated as 1/2.

    Returns
    -------
    float
        The gap, rounded up; 1 where nothing is said.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(zcdp_gap(0.005, math.log(0.05)), 5)
    0.07866
    """
    rho = check_real(rho, "rho", "zcdp_gap", low=0.0, closed="low")
    ln_beta = check_real(ln_beta, "ln_beta", "zcdp_gap", high=0.0, closed="high")
    return _gap(zcdp_score, math.sqrt(rho), ln_beta)


def gaussian_tail_mean(n_questions: int, noise_scale: float, ln_beta: float) -> float:
    """Return t of Theorem 2 for Gaussian noise: the mean of the largest of k noises in its worst beta-tail.

    ``noise_scale * phi(z)/Phi(-z)`` with ``2 k Phi(-z) = beta``, by a union bound over the k noises and their
    signs; nothing is assumed about how the noises depend on each other.

    Parameters
    ----------
    n_questions : int
        k, at least 1.
    noise_scale : float
        Standard deviation of each noise, at least 0.
    ln_beta : float
        Logarithm of the tail's probability, at most 0.

    Returns
    -------
    float
        The mean of the tail.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(gaussian_tail_mean(1, 1.0, math.log(0.05)), 4)  # the 5 % quantile is 1.96
    2.3378
    """
    owner = "gaussian_tail_mean"
    k = check_integer(n_questions, "n_questions", owner)
    noise_scale = check_real(noise_scale, "noise_scale", owner, low=0.0, closed="low")
    ln_tail = check_real(ln_beta, "ln_beta", owner, high=0.0, closed="high") - math.log(2.0 * k)
    z = float(ndtri_exp(ln_tail))
    return noise_scale * math.exp(-0.5 * z * z - 0.5 * math.log(2.0 * math.pi) - float(log_ndtr(z)))


def laplace_tail_mean(n_questions: int, noise_scale: float, ln_beta: float) -> float:
    """Return t of Theorem 2 for Laplace noise: ``noise_scale * (ln(k/beta) + 1)``.

    Parameters
    ----------
    n_questions : int
        k, at least 1.
    noise_scale : float
        Scale of each noise, at least 0.
    ln_beta : float
        Logarithm of the tail's probability, at most 0.

    Returns
    -------
    float
        The mean of the tail.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(laplace_tail_mean(1, 1.0, math.log(0.05)), 4)
    3.9957
    """
    owner = "laplace_tail_mean"
    k = check_integer(n_questions, "n_questions", owner)
    noise_scale = check_real(noise_scale, "noise_scale", owner, low=0.0, closed="low")
    ln_beta = check_real(ln_beta, "ln_beta", owner, high=0.0, closed="high")
    return noise_scale * (math.log(k) - ln_beta + 1.0)


def gaussian_score(ln_x: float) -> float:
    """Return the score in which Gaussian differential privacy is a shift by mu."""
    return float(ndtri_exp(ln_x))


def zcdp_score(ln_x: float) -> float:
    """Return the score in which zCDP is (at most) a shift by sqrt(rho)."""
    return -math.sqrt(max(-ln_x, 0.0))


def excess_over_shift(score: Callable[[float], float], shift: float, ln_high: float, ln_low: float) -> float:
    """Return by how much more than the shift two scores differ, less a slack for rounding.

    Where it is positive, ``high > G(low)``.
    """
    upper, lower = score(ln_high), score(ln_low)
    return (upper - lower) - (shift * (1.0 + 1e-9) + 1e-14 * abs(lower))


def _gap(score: Callable[[float], float], shift: float, ln_beta: float) -> float:
    """Smallest g with ``beta (1 + 3g)/4 > G(beta (1 - g)/4)``, from above; 1 if there is none."""
    if shift == 0.0:
        return 0.0
    ln_quarter = min(ln_beta, -LN_2) - 2.0 * LN_2

    def excess(g: float) -> float:
        return excess_over_shift(score, shift, ln_quarter + math.log1p(3.0 * g), ln_quarter + math.log1p(-g))

    return enclosed_root(excess, 0.0, 1.0)[1]
