"""Certificates by differential privacy: transfer theorems, for answers that are drawn with noise.

An analyst asks questions ``q_1, ..., q_k`` with values in [0, 1] of a holdout S of n independent draws from
D, each with the earlier answers ``a_1, a_2, ...`` in view. If the answers are differentially private they are
nearly the same for another S from D, so that what fits the holdout fits the population:

- the answers are *sample accurate* at ``(alpha, beta)`` if ``max_j |a_j - q_j(S)| <= alpha`` except with
  probability beta;
- the whole conversation is (epsilon, delta)-DP with respect to replacing one row;
- a *transfer theorem* returns a half-width and a failure probability with
  ``P[max_j |a_j - q_j(D)| > half_width] <= failure``.

The privacy parameters must be fixed before the conversation (or kept to by a filter). Published theorems are
`bassily_2016` (lecture 19) and `jung_2020` (lecture 23). What follows is proved here: a direct transfer that
is never worse than that of Jung et al., of which it has a quarter of the ``e^epsilon - 1``; one in odds for
pure differential privacy; and max-information, by which private and coded answers are certified together.

*Direct transfer.* S holds n independent draws from D, the whole conversation M(S) is private with respect to
replacing one row, and B is any event determined by the conversation and by coins that are independent of
S. For B with probability p the *gap* g(p) bounds ``E[q(S) - q(D) | B]`` for every question q with values in
[0, 1] that the conversation (or someone who reads it) may choose.

Lemma (swap). Write ``Q = q(S)``, ``P = q(D)``. If ``Pr[M(s) in E] <= G(Pr[M(s') in E])`` for all neighbours
s, s', randomised events E, and a concave increasing G, then::

    E[Q (1 - P) 1_B] <= G(E[P (1 - Q) 1_B])

Proof. Let x be row i of S and x' a further draw from D. Hold these and the other rows fixed; then
``h = q(x) (1 - q(x')) 1_B``, a value in [0, 1], is decided by the conversation, and its expectation with x in
the data is at most G of its expectation with x' in the data instead. In the latter x' is the row and x is
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

Answers need no clipping for this. Questions other than means: let ``Delta_i`` be how much replacing row i
can change q, with D's value the expectation on fresh data. Replace the rows one after another and use
Theorem 1 for each step, with q as a function of one row scaled to [0, 1]: the gap is g(p) times the sum of
the Delta_i. The sum is 1 for a mean, and 2 for the ROC AUC (neighbours of the same class).

Compared with Jung et al. (ITCS 2020): ``e^epsilon - 1`` becomes ``(e^epsilon - 1)/(e^epsilon + 3)``, about
epsilon/4; 2 d becomes at most d; and the failure of the sample accuracy costs nothing separate.

A *family* (`family_level`) are the questions whose answers one row moves in the same proportion: means,
AUCs, recalls of one class, medians over one partition. Each has one gap between holdout and population.

*Max-information.* A conversation y about S has beta-approximate max-information at most I if, except with
probability beta over (S, y), its probability given S is at most e^I times its marginal probability (Dwork,
Feldman, Hardt, Pitassi, Reingold, Roth, NIPS 2015). An event that has probability p for every fixed
conversation then has probability at most ``e^I p + beta`` for the one that happened.

Theorem. If y is epsilon-DP and S has n independent rows, then, given *any* conversation y and any beta
chosen by it, the log-ratio exceeds ``n (u - 1 - ln u) + epsilon sqrt(n ln(1/beta)/2)``, with
``u = epsilon/(1 - e^-epsilon)``, with probability at most beta. As ``u - 1 - ln u <= epsilon^2/8`` this is
never above the published ``n epsilon^2/2 + epsilon sqrt(n ln(2/beta)/2)``.
Proof. Given y the log-ratio is the sum over i of ``ln w_i(x_i)``, w_i the density of x_i given y and the
earlier rows with respect to D; w_i varies by at most a factor e^epsilon. So each term has a range of
length epsilon and, given the past, a mean (a Kullback-Leibler divergence) of at most ``u - 1 - ln u``, the
largest for densities of that range (two-point densities are the worst). Azuma and Hoeffding's inequality
gives the deviation.

Joined to description length. Questions answered by a code (L nats so far) and epsilon-DP answers alternate;
the total epsilon is fixed in advance. At each coded node allow the private part a failure of ``b * pi *
e^-L``. Summed over the tree that is at most b, and the coded union bound costs ``e^I`` more at each node. So
with probability at least ``1 - beta - b`` every fixed-question interval holds at ``beta * pi * exp(-(L +
I))``, where::

    I = n (u - 1 - ln u) + epsilon sqrt(n (L + ln(1/(b pi)))/2)

The sum ``L + I`` with ``ln(1/b)`` alone under the root would be valid only if all private answers came first.

*Pure differential privacy, in odds.*

Theorem (after Steinke, Ullman 2017, whose bound is ``r <= e^epsilon q(D)``). Let the whole conversation be
epsilon-DP with respect to replacing one of n rows, and let the released intervals ``[low_j, high_j]``
contain all ``q_j(S)`` except with probability beta. Let r(p) have e^epsilon times the odds of p. Then,
except with probability ``beta + eta``, for all questions at once::

    n kl(low_j, r(q_j(D))) <= ln(1/eta)   or   low_j <= r(q_j(D)),

and the same for ``1 - q_j`` with ``1 - high_j``. Neither the number of questions nor the two sides cost
anything.

The ends are part of the conversation: functions of what it released. With q(S) itself in their place the
side on which it misses would not be decided by the conversation, and the statement is false.

Proof. Fix a conversation y and rows x_1, ..., x_{i-1}. By Bayes' rule x_i has a density proportional to
``p(y | x_1, ..., x_i)`` with respect to D; averaged over the later rows it changes by at most a factor
e^epsilon as x_i varies. Hence for every event the odds of x_i's law are within a factor e^epsilon of those
of D, and so is the mean of q (randomise: a q with values in [0, 1] is the probability of an event). So given
y and the past, ``E q(x_i) <= r``, and ``E exp(l q(x_i)) <= 1 + r (e^l - 1)`` for l >= 0 by convexity.
Multiplying up, ``E[exp(l n q(S)) | y] <= (1 + r (e^l - 1))^n``: Chernoff's bound gives ``P[q(S) >= v | y] <=
exp(-n kl(v, r))`` for every ``v >= r``, for any q and v chosen by y. Now suppose y violates the statement
for some question and side; let y choose one such q (or 1 - q) and ``v = low_j``. Unless the sample intervals
fail, ``q(S) >= v``, which has probability at most eta given y.

The additive corollary, ``alpha + tanh(epsilon/4) + sqrt(ln(1/eta)/(2n))``, compares with
``alpha + (e^epsilon - 1) + sqrt(2 ln(1/eta)/n)`` of Jung et al. (ITCS 2020).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from scipy.special import log_ndtr, ndtri_exp

from sklearn_ada._solving import enclosed_root
from sklearn_ada._validation import LN_2, bad_parameter, check_integer, check_real, checked
from sklearn_ada.accounting.differential_privacy import exponential_mechanism_zcdp
from sklearn_ada.guarantees.intervals import Interval, chernoff_kl

__all__ = [
    "TransferBound", "approximate_dp_gap", "bassily_2016", "direct_transfer", "dwork_2015_max_information",
    "gaussian_dp_gap", "gaussian_tail_mean", "is_vacuous", "joined_nats", "jung_2020", "jung_2020_best",
    "jung_2020_low_sensitivity", "jung_2020_pure", "laplace_tail_mean", "max_information",
    "pure_dp_half_width", "pure_dp_interval", "zcdp_gap",
]  # fmt: skip


THEOREM = "direct transfer of differential privacy (after Jung et al., ITCS 2020)"

FAMILY_LEVELS = {
    "mean": 0.5, "auc": 0.1, "class mean": 0.1, "recall": 0.05,
    "usual subsamples": 0.1, "usual stratified subsamples": 0.05,
}  # fmt: skip
"""Levels of the families of questions with one gap of the privacy route (see `family_level`)."""

_OTHER_SUBSAMPLES = 0.025  # all partitions of other sizes; as much again for stratified ones


def ln_probability(value: object, name: str, owner: str) -> float:
    """Check the logarithm of a probability, which may be minus infinity."""
    return -math.inf if value == -math.inf else check_real(value, name, owner, high=0.0, closed="high")


class TransferBound(NamedTuple):
    """All answers are within ``half_width`` of the population, except with probability ``failure``.

    Attributes
    ----------
    half_width : float
        The accuracy alpha' of the theorem, for questions with values in [0, 1].
    failure : float
        The failure probability beta' of the theorem; it may exceed 1.
    """

    half_width: float
    failure: float

    @property
    def vacuous(self) -> bool:
        """Whether the bound says nothing: half-width 1/2 or more, or failure probability 1 or more."""
        return is_vacuous(self.half_width) or not self.failure < 1.0


def is_vacuous(half_width: float) -> bool:
    """Return whether a half-width for a mean in [0, 1] says nothing.

    From 1/2 on, the answer 1/2 is as good without data. NaN is vacuous, too.

    Parameters
    ----------
    half_width : float

    Examples
    --------
    >>> is_vacuous(0.1), is_vacuous(0.5), is_vacuous(float("nan"))
    (False, True, True)
    """
    return not half_width < 0.5


@lru_cache(maxsize=256)  # a ledger asks for the same gap at every answer
@checked(rho=">= 0", ln_beta="<= 0")
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
        The gap, rounded up; 1 is vacuous.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(zcdp_gap(0.005, math.log(0.05)), 5)
    0.07866
    """
    return _gap(zcdp_score, math.sqrt(rho), ln_beta)


@checked(mu=">= 0", ln_beta="<= 0")
def gaussian_dp_gap(mu: float, ln_beta: float) -> float:
    """Return the gap of Theorem 1 for mu-GDP.

    An example are k Gaussian answers, with ``mu = sqrt(k)/(n sigma)``.

    Parameters
    ----------
    mu : float
        Gaussian differential privacy of the whole conversation, at least 0.
    ln_beta : float
        Logarithm of the probability of the event, at most 0; a probability above 1/2 is treated as 1/2.

    Returns
    -------
    float
        The gap, rounded up; 1 is vacuous.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(gaussian_dp_gap(0.1, math.log(0.05)), 5)
    0.06821
    """
    return _gap(gaussian_score, mu, ln_beta)


@checked(epsilon=">= 0", delta="[0, 1]", beta="(0, 1)")
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
    shrink = math.exp(-epsilon)  # numerator and denominator divided by e^epsilon, which may overflow
    return min((-math.expm1(-epsilon) + 4.0 * shrink * (delta / min(beta, 0.5))) / (1.0 + 3.0 * shrink), 1.0)


@checked(alpha=">= 0", beta="[0, 1]", failure="(0, 1)")
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
    tail = alpha + beta / min(failure, 0.5)
    return TransferBound(tail + approximate_dp_gap(epsilon, delta, failure), failure)


@checked(n_questions="count", noise_scale=">= 0", ln_beta="<= 0")
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
    z = float(ndtri_exp(ln_beta - math.log(2.0 * n_questions)))
    return noise_scale * math.exp(-0.5 * z * z - 0.5 * math.log(2.0 * math.pi) - float(log_ndtr(z)))


@checked(n_questions="count", noise_scale=">= 0", ln_beta="<= 0")
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
    return noise_scale * (math.log(n_questions) - ln_beta + 1.0)


def family_level(family: str) -> float:
    """Return the level of a family of questions, fixed by its name alone.

    The level is its part of the failure probability of the privacy route. If levels went by the order in
    which families are asked, the conversation would choose them. The levels of all families that one ledger
    can have sum to at most 1: there are at most two classes whose recall can be asked, each a family of its
    own.

    Parameters
    ----------
    family : str
        One of `FAMILY_LEVELS`, or "m subsamples" or "m stratified subsamples" with a number m: a partition
        of another size than the usual one, with the level ``0.025/(m(m+1))``.

    Examples
    --------
    >>> family_level("mean"), round(family_level("4 stratified subsamples"), 6)
    (0.5, 0.00125)
    """
    if family in FAMILY_LEVELS:
        return FAMILY_LEVELS[family]
    number, _, kind = family.partition(" ")
    if not number.isdecimal() or kind not in ("subsamples", "stratified subsamples"):
        raise bad_parameter("family", "family_level", f"one of {', '.join(FAMILY_LEVELS)}", family)
    m = check_integer(int(number), "family", "family_level")
    return _OTHER_SUBSAMPLES * (1 / (m * (m + 1)))


@checked(epsilon=">= 0", n="count", ln_eta="<= 0")
def pure_dp_interval(low_value: float, high_value: float, epsilon: float, n: int, ln_eta: float) -> Interval:
    """Return the interval for ``q(D)`` that the theorem in odds gives.

    Parameters
    ----------
    low_value, high_value : float
        What the conversation says of ``q(S)``, inside [0, 1]: the released answer minus and plus its sample
        accuracy, clipped. Not ``q(S)`` itself, which is no part of a private conversation: whoever puts it in
        gets an interval that can miss twice as often as ``eta`` allows.
    epsilon : float
        Privacy of the whole conversation, fixed in advance, at least 0.
    n : int
        Number of rows.
    ln_eta : float
        Logarithm of the failure probability for all questions and both sides together, at most 0.

    Returns
    -------
    low, high : float
        ``(0, 1)`` is vacuous.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    An answer of 0.95 that is within 0.002 of the holdout's value, but for a failure that is added to eta:

    >>> low, high = pure_dp_interval(0.948, 0.952, epsilon=0.01, n=10_000, ln_eta=math.log(0.05))
    >>> round(low - 0.95, 4), round(high - 0.95, 4)
    (-0.0082, 0.0075)
    """
    # chernoff_kl halves its delta for two sides; here one eta covers both.
    low, high = chernoff_kl(low_value, high_value, n, min(ln_eta + LN_2, 0.0))
    return _shrink_odds(low, epsilon), 1.0 - _shrink_odds(1.0 - high, epsilon)


@checked(alpha=">= 0", epsilon=">= 0", n="count", ln_eta="<= 0")
def pure_dp_half_width(alpha: float, epsilon: float, n: int, ln_eta: float) -> float:
    """Return the additive corollary ``alpha + tanh(epsilon/4) + sqrt(ln(1/eta)/(2n))``.

    It follows from the theorem in odds by Pinsker's inequality and the largest difference between
    two probabilities whose odds differ by a factor e^epsilon.

    Parameters
    ----------
    alpha : float
        Sample accuracy of all answers together, at least 0; the failure of it is added to eta.
    epsilon : float
        Privacy of the whole conversation, fixed in advance, at least 0.
    n : int
        Number of rows.
    ln_eta : float
        Logarithm of the failure probability, at most 0.

    Returns
    -------
    float
        The half-width; from 1/2 on it is vacuous.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(pure_dp_half_width(0.0, epsilon=0.01, n=10_000, ln_eta=math.log(0.05)), 4)
    0.0147
    """
    return alpha + math.tanh(epsilon / 4.0) + math.sqrt(-ln_eta / (2.0 * n))


@checked(epsilon=">= 0", n="count", ln_beta="<= 0")
def max_information(epsilon: float, n: int, ln_beta: float) -> float:
    """Return the approximate max-information of an epsilon-DP conversation, in nats, as the module proves.

    Parameters
    ----------
    epsilon : float
        Total privacy of the conversation, fixed in advance, at least 0.
    n : int
        Number of rows.
    ln_beta : float
        Logarithm of the failure probability, at most 0.

    Returns
    -------
    float
        Nats.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(max_information(0.01, 10_000, math.log(0.05)), 3)
    1.349
    """
    mean = n * exponential_mechanism_zcdp(epsilon) if epsilon > 0.0 else 0.0
    return mean + epsilon * math.sqrt(-n * ln_beta / 2.0)


@checked(epsilon=">= 0", n="count", ln_beta="<= 0")
def dwork_2015_max_information(epsilon: float, n: int, ln_beta: float) -> float:
    """Return the published bound ``n epsilon^2/2 + epsilon sqrt(n ln(2/beta)/2)``, for comparison.

    Dwork, Feldman, Hardt, Pitassi, Reingold, Roth, *Generalization in adaptive data analysis and holdout
    reuse*, NIPS 2015, for independent rows.

    Parameters
    ----------
    epsilon : float
        Total privacy of the conversation, fixed in advance, at least 0.
    n : int
        Number of rows.
    ln_beta : float
        Logarithm of the failure probability, at most 0.

    Returns
    -------
    float
        Nats.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(dwork_2015_max_information(0.01, 10_000, math.log(0.05)), 3)
    1.858
    """
    return n * epsilon**2 / 2.0 + epsilon * math.sqrt(n * (LN_2 - ln_beta) / 2.0)


@checked(nats=">= 0", ln_slack="<= 0", weight="(0, 1]")
def joined_nats(nats: float, epsilon: float, n: int, ln_slack: float, weight: float) -> float:
    """Return the nats that take the place of L beside private answers.

    Parameters
    ----------
    nats : float
        L, everything the code revealed before this question or its round.
    epsilon : float
        Total privacy of all private answers of the ledger, fixed in advance, at least 0.
    n : int
        Number of rows.
    ln_slack : float
        Logarithm of b, the failure probability spent on the private answers, on top of beta.
    weight : float
        The question's stake pi, in (0, 1].

    Returns
    -------
    float
        ``L + I``, in nats.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(joined_nats(5.0, 0.01, 10_000, math.log(0.01), weight=0.5), 3)
    7.394
    """
    return nats + max_information(epsilon, n, ln_slack + math.log(weight) - nats)


@checked(alpha=">= 0", beta="[0, 1]", n_questions="count", n="count")
def bassily_2016(
    alpha: float, beta: float, n_questions: int, epsilon: float, delta: float, n: int
) -> TransferBound:
    """Return the half-width of Bassily et al. (STOC 2016); lecture 19, Theorems 1.1 and 1.2.

    If ``sqrt(12/n) <= epsilon <= 1/8`` and ``delta <= epsilon/16``, and each answer is within alpha of its
    sample value except with probability beta, then::

        P[max_j |a_j - q_j(D)| >= 6 epsilon + alpha] <= k beta + max(4 delta/epsilon, exp(-epsilon^2 n / 8))

    ``alpha = beta = 0`` gives Theorem 1.1, for one question that is itself the output.

    Parameters
    ----------
    alpha : float
        Sample accuracy of each answer, at least 0.
    beta : float
        Failure probability of that accuracy, per question, in [0, 1].
    n_questions : int
        k, at least 1.
    epsilon, delta : float
        Privacy of the whole conversation.
    n : int
        Number of rows; below 768 no epsilon qualifies.

    Returns
    -------
    TransferBound
        Half-width and failure probability.

    Raises
    ------
    ValueError
        If a parameter is out of range or a precondition of the theorem does not hold.

    Examples
    --------
    >>> bound = bassily_2016(0.01, 1e-5, 100, epsilon=0.02, delta=1e-5, n=100_000)
    >>> round(bound.half_width, 3), round(bound.failure, 4), bound.vacuous
    (0.13, 0.0077, False)
    """
    owner = "bassily_2016"
    needs = "The theorem needs sqrt(12/n) <= epsilon <= 1/8."
    least = math.sqrt(12.0 / n)
    epsilon = check_real(epsilon, "epsilon", owner, low=least, high=0.125, closed="both", fix=needs)
    needs = "The theorem needs delta <= epsilon/16."
    delta = check_real(delta, "delta", owner, low=0.0, high=epsilon / 16.0, closed="both", fix=needs)
    failure = n_questions * beta + max(4.0 * delta / epsilon, math.exp(-(epsilon**2) * n / 8.0))
    return TransferBound(6.0 * epsilon + alpha, failure)


@checked(alpha=">= 0", beta="[0, 1]", epsilon=">= 0", delta="[0, 1]", c="> 0", d="> 0")
def jung_2020(
    alpha: float, beta: float, epsilon: float, delta: float, *, c: float, d: float
) -> TransferBound:
    """Return the half-width of Jung et al. (ITCS 2020) for (epsilon, delta)-DP answers; lecture 23.

    For every ``c, d > 0`` answers that are sample accurate at (alpha, beta) are accurate for the population
    at::

        alpha' = alpha + (e^epsilon - 1) + c + 2 d,      beta' = beta/c + delta/d

    Parameters
    ----------
    alpha, beta : float
        Sample accuracy of all answers together; ``alpha >= 0``, beta in [0, 1].
    epsilon, delta : float
        Privacy of the whole conversation; ``epsilon >= 0``, delta in [0, 1].
    c, d : float
        Free constants, positive. `jung_2020_best` chooses them.

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
    >>> bound = jung_2020(0.05, 1e-5, 0.02, 1e-5, c=1e-3, d=1e-3)
    >>> round(bound.half_width, 4), round(bound.failure, 4)
    (0.0732, 0.02)
    """
    return TransferBound(alpha + _expm1(epsilon) + c + 2.0 * d, beta / c + delta / d)


@checked(alpha=">= 0", ln_beta=ln_probability, epsilon=">= 0", ln_delta=ln_probability, ln_failure="<= 0")
def jung_2020_best(alpha: float, ln_beta: float, epsilon: float, ln_delta: float, ln_failure: float) -> float:
    """Return the half-width of `jung_2020` with the best c and d, the smallest alpha'.

    At failure probability beta' the choice ``c = sqrt(beta) u``, ``d = sqrt(delta/2) u`` with
    ``u = (sqrt(beta) + sqrt(2 delta))/beta'`` minimises ``c + 2 d`` (Lagrange), so that::

        alpha' = alpha + (e^epsilon - 1) + (sqrt(beta) + sqrt(2 delta))^2 / beta'

    Parameters
    ----------
    alpha : float
        Sample accuracy of all answers together, at least 0.
    ln_beta : float
        Logarithm of the failure probability of the sample accuracy; ``-inf`` if it never fails.
    epsilon : float
        At least 0.
    ln_delta : float
        Logarithm of delta; ``-inf`` for pure differential privacy.
    ln_failure : float
        Logarithm of beta', at most 0.

    Returns
    -------
    float
        The half-width alpha'; from 1/2 on it is vacuous.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(jung_2020_best(0.05, math.log(1e-5), 0.02, math.log(1e-5), math.log(0.02)), 4)
    0.0731
    """
    ln_c, ln_d = ln_beta - ln_failure, ln_delta + LN_2 - ln_failure
    if max(ln_c, ln_d) > 700.0:  # would overflow; vacuous long before
        return math.inf
    return alpha + _expm1(epsilon) + (math.exp(ln_c / 2.0) + math.exp(ln_d / 2.0)) ** 2


@checked(alpha=">= 0", beta="[0, 1]", epsilon=">= 0", n="count", eta="(0, 1)")
def jung_2020_pure(alpha: float, beta: float, epsilon: float, n: int, eta: float) -> TransferBound:
    """Return the half-width of Jung et al. (ITCS 2020) for epsilon-DP answers; lecture 23.

    For every eta > 0::

        alpha' = alpha + (e^epsilon - 1) + sqrt(2 ln(1/eta) / n),      beta' = beta + eta

    Parameters
    ----------
    alpha, beta : float
        Sample accuracy of all answers together; ``alpha >= 0``, beta in [0, 1].
    epsilon : float
        Privacy of the whole conversation, at least 0.
    n : int
        Number of rows.
    eta : float
        Failure probability spent on sampling, in (0, 1).

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
    >>> bound = jung_2020_pure(0.01, 0.025, epsilon=0.01, n=10_000, eta=0.025)
    >>> round(bound.half_width, 4), round(bound.failure, 4)
    (0.0472, 0.05)
    """
    return TransferBound(alpha + _expm1(epsilon) + math.sqrt(-2.0 * math.log(eta) / n), beta + eta)


@checked(
    alpha=">= 0", beta="[0, 1]", epsilon=">= 0", delta="[0, 1]",
    n="count", sensitivity="> 0", c="> 0", d="> 0",
)  # fmt: skip
def jung_2020_low_sensitivity(
    alpha: float, beta: float, epsilon: float, delta: float, n: int, sensitivity: float, *, c: float, d: float
) -> TransferBound:
    """Return the half-width of Jung et al. (ITCS 2020) for questions of low sensitivity instead of means.

    A question may be any function of the holdout with range at most 1 that changes by at most Delta when a
    row is replaced; its population value is its expectation on a fresh holdout. For every ``c, d > 0``::

        alpha' = alpha + (e^epsilon - 1) n Delta + 4 c delta n Delta + d,      beta' = beta/d + 1/c

    It also follows from `sklearn_ada.guarantees.transfer`, where it is proved with better constants.

    Parameters
    ----------
    alpha, beta : float
        Sample accuracy of all answers together; ``alpha >= 0``, beta in [0, 1].
    epsilon, delta : float
        Privacy of the whole conversation; ``epsilon >= 0``, delta in [0, 1].
    n : int
        Number of rows.
    sensitivity : float
        Delta, positive.
    c, d : float
        Free constants, positive.

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
    >>> bound = jung_2020_low_sensitivity(0.05, 1e-6, 0.02, 1e-7, 1000, 0.002, c=100.0, d=1e-3)
    >>> round(bound.half_width, 4), round(bound.failure, 4)
    (0.0915, 0.011)
    """
    total = n * sensitivity
    half_width = alpha + _expm1(epsilon) * total + 4.0 * c * delta * total + d
    return TransferBound(half_width, beta / d + 1.0 / c)


def gaussian_score(ln_x: float) -> float:
    """Return the score in which Gaussian differential privacy is a shift by mu."""
    return float(ndtri_exp(ln_x))


def zcdp_score(ln_x: float) -> float:
    """Return the score in which zCDP is (at most) a shift by sqrt(rho)."""
    return -math.sqrt(max(-ln_x, 0.0))


def excess_over_shift(score: Callable[[float], float], shift: float, ln_high: float, ln_low: float) -> float:
    """Return by how much the difference of two scores exceeds the shift.

    A slack for rounding is taken off. Where the result is positive, ``high > G(low)``.
    """
    upper, lower = score(ln_high), score(ln_low)
    return (upper - lower) - (shift * (1.0 + 1e-9) + 1e-14 * abs(lower))


def _gap(score: Callable[[float], float], shift: float, ln_beta: float) -> float:
    """Return the smallest g with ``beta (1 + 3g)/4 > G(beta (1 - g)/4)``.

    It is found from above, and 1 if there is none.
    """
    if shift == 0.0:
        return 0.0
    ln_quarter = min(ln_beta, -LN_2) - 2.0 * LN_2

    def excess(g: float) -> float:
        return excess_over_shift(score, shift, ln_quarter + math.log1p(3.0 * g), ln_quarter + math.log1p(-g))

    return enclosed_root(excess, 0.0, 1.0)[1]


def _shrink_odds(p: float, epsilon: float) -> float:
    """Return the probability whose odds are e^-epsilon times those of p, rounded down."""
    if p <= 0.0:
        return 0.0
    kept = p * math.exp(-epsilon)
    return kept / (kept + (1.0 - p)) * (1.0 - 1e-15)


def _expm1(epsilon: float) -> float:
    """Return ``e^epsilon - 1``, infinite where it would overflow (vacuous long before)."""
    return math.expm1(epsilon) if epsilon < 700.0 else math.inf
