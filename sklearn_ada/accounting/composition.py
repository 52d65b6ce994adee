"""Composition: how private several (epsilon, delta)-DP answers are together, by formulas and exactly.

*Composition* is the privacy of several mechanisms together: here k of them, each (epsilon, delta)-DP whatever
came before, each chosen with the earlier outputs in view. Basic and advanced composition are formulas;
optimal composition is exact: k leaky randomised responses attain it, and every k-fold adaptive composition of
(epsilon, delta)-DP mechanisms is a post-processing of them (Kairouz, Oh, Viswanath 2015, Theorem 3.3).

The *privacy loss* says how much likelier an answer is with one data set than with its neighbour (lecture 11):
for output laws P = A(x) and Q = A(x') it is ``ln(P(y)/Q(y))`` with y drawn from P. Composition adds
independent losses, so for finite laws convolution gives the exact privacy curve, against which every
composition theorem can be checked.

Deltas are rounded up and the smallest epsilon is found from above: errors of computation never promise too
much.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln, logsumexp

from sklearn_ada._solving import enclosed_root
from sklearn_ada._validation import bad_parameter, checked, checked_fields, plain

__all__ = [
    "EpsilonDelta", "PrivacyLossDistribution", "advanced_composition", "advanced_composition_simple",
    "basic_composition", "finite_privacy_loss", "heterogeneous_composition", "leaky_randomized_response_loss",
    "optimal_composition_delta", "optimal_composition_epsilon", "randomized_response_loss",
]  # fmt: skip


FloatArray = npt.NDArray[np.float64]


class EpsilonDelta(NamedTuple):
    """The guarantee of (epsilon, delta)-differential privacy.

    ``P[A(x) in E] <= exp(epsilon) * P[A(x') in E] + delta`` for all neighbours x, x' and all events E.

    Parameters
    ----------
    epsilon : float
        At least 0.
    delta : float
        In [0, 1].
    """

    epsilon: float
    delta: float


@checked(k="count", epsilon=">= 0", delta="[0, 1)")
def basic_composition(k: int, epsilon: float, delta: float = 0.0) -> EpsilonDelta:
    """Compose k mechanisms into ``(k*epsilon, k*delta)``-DP.

    Lecture 11; Dwork, Kenthapadi, McSherry, Mironov, Naor 2006, Theorem 1.

    Parameters
    ----------
    k : int
        The number of mechanisms, at least 1.
    epsilon : float
        The privacy parameter of each, finite and >= 0.
    delta : float, default=0.0
        The failure probability of each, in [0, 1).

    Returns
    -------
    EpsilonDelta
        The guarantee of all together; delta is at most 1.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from sklearn_ada.accounting import basic_composition
    >>> basic_composition(500, 0.001)
    EpsilonDelta(epsilon=0.5, delta=0.0)
    """
    return EpsilonDelta(k * epsilon, min(1.0, k * delta))


@checked(k="count", epsilon=">= 0", delta="[0, 1)", slack="(0, 1)")
def advanced_composition(k: int, epsilon: float, delta: float = 0.0, *, slack: float) -> EpsilonDelta:
    """Compose k mechanisms at about sqrt(k) times the price, by lecture 11.

    Together they are ``(epsilon*sqrt(2*k*ln(1/slack)) + k*epsilon*tanh(epsilon/2), k*delta + slack)``-DP.
    In the lecture ``tanh(epsilon/2)`` is written ``(e^epsilon - 1)/(e^epsilon + 1)``: the privacy loss of
    the worst case, leaky randomised response, has that mean times epsilon, and Hoeffding's inequality bounds
    its deviation. Not capped by basic composition, which is better for few or weak mechanisms.

    Parameters
    ----------
    k : int
        The number of mechanisms, at least 1.
    epsilon : float
        The privacy parameter of each, finite and >= 0.
    delta : float, default=0.0
        The failure probability of each, in [0, 1).
    slack : float
        The probability, in (0, 1), that the privacy loss is larger than promised.

    Returns
    -------
    EpsilonDelta
        The guarantee of all together; delta is at most 1.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    The lecture's own example (it prints 0.1):

    >>> from sklearn_ada.accounting import advanced_composition
    >>> round(advanced_composition(500, 0.001, slack=1e-6).epsilon, 7)
    0.1177894
    """
    drift = k * epsilon * math.tanh(epsilon / 2.0)
    return EpsilonDelta(_deviation(k, epsilon, slack) + drift, min(1.0, k * delta + slack))


@checked(k="count", epsilon=">= 0", delta="[0, 1)", slack="(0, 1)")
def advanced_composition_simple(k: int, epsilon: float, delta: float = 0.0, *, slack: float) -> EpsilonDelta:
    """Compose k mechanisms at about sqrt(k) times the price, by lecture 19.

    Together they are ``(epsilon*sqrt(2*k*ln(1/slack)) + k*epsilon*(e^epsilon - 1), k*delta + slack)``-DP
    (Dwork, Rothblum, Vadhan 2010, Theorem III.3). `advanced_composition` is never worse; this one is for
    comparison with published figures.

    Parameters
    ----------
    k : int
        The number of mechanisms, at least 1.
    epsilon : float
        The privacy parameter of each, finite and >= 0.
    delta : float, default=0.0
        The failure probability of each, in [0, 1).
    slack : float
        The probability, in (0, 1), that the privacy loss is larger than promised.

    Returns
    -------
    EpsilonDelta
        The guarantee of all together; epsilon is infinite where ``e^epsilon`` overflows, delta is at most 1.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from sklearn_ada.accounting import advanced_composition_simple
    >>> round(advanced_composition_simple(500, 0.001, slack=1e-6).epsilon, 8)
    0.11803965
    """
    drift = k * epsilon * math.expm1(epsilon) if epsilon < 700.0 else math.inf
    return EpsilonDelta(_deviation(k, epsilon, slack) + drift, min(1.0, k * delta + slack))


@checked(epsilons="each >= 0", deltas="each [0, 1)", slack="(0, 1)")
def heterogeneous_composition(
    epsilons: Sequence[float], deltas: Sequence[float] = (), *, slack: float
) -> EpsilonDelta:
    """Compose mechanisms whose parameters differ, by the sum of their squares.

    Together they are ``(S/2 + sqrt(2*ln(1/slack)*S), sum(deltas) + slack)``-DP with S the sum of epsilon**2:
    Feldman, Steinke 2017, Theorem 2.4 (their Theorem 2.5 is the case of equal parameters; after Bun, Steinke
    2016). The parameters must be fixed in advance; for parameters chosen on the way use
    `sklearn_ada.accounting.ZCDPFilter`.

    Parameters
    ----------
    epsilons : sequence of float
        The privacy parameter of each mechanism, finite and >= 0; at least one.
    deltas : sequence of float, default=()
        The failure probability of each, in [0, 1), as many as ``epsilons``; empty means all 0.
    slack : float
        The probability, in (0, 1), that the privacy loss is larger than promised.

    Returns
    -------
    EpsilonDelta
        The guarantee of all together; delta is at most 1.

    Raises
    ------
    ValueError
        If a parameter is out of range or the lengths differ.

    Examples
    --------
    >>> from sklearn_ada.accounting import heterogeneous_composition
    >>> round(heterogeneous_composition([0.1] * 100, slack=1e-6).epsilon, 7)
    5.7565218
    """
    owner = "heterogeneous_composition"
    if len(epsilons) == 0:
        raise bad_parameter("epsilons", owner, "a non-empty sequence of numbers", epsilons)
    if len(deltas) not in (0, len(epsilons)):
        raise bad_parameter("deltas", owner, f"empty or of length {len(epsilons)}", deltas)
    total = math.fsum(epsilon**2 for epsilon in epsilons)
    epsilon = total / 2.0 + math.sqrt(2.0 * -math.log(slack) * total)
    return EpsilonDelta(epsilon, min(1.0, math.fsum(deltas) + slack))


def _deviation(k: int, epsilon: float, slack: float) -> float:
    """Return by how much a sum of k losses within +-epsilon exceeds its mean w.p. slack (Hoeffding)."""
    return epsilon * math.sqrt(2.0 * k * -math.log(slack))


@checked(composed_epsilon=">= 0", k="count", epsilon=">= 0", delta="[0, 1)")
def optimal_composition_delta(composed_epsilon: float, k: int, epsilon: float, delta: float = 0.0) -> float:
    """Return the smallest delta of k (epsilon, delta)-DP mechanisms at a total epsilon.

    Kairouz, Oh, Viswanath 2015, Theorem 3.3, for any real ``composed_epsilon``. A sum of k + 1 positive
    terms in log space, so nothing cancels for k in the thousands.

    Parameters
    ----------
    composed_epsilon : float
        The epsilon of all together, finite and >= 0.
    k : int
        The number of mechanisms, at least 1.
    epsilon : float
        The privacy parameter of each, finite and >= 0.
    delta : float, default=0.0
        The failure probability of each, in [0, 1).

    Returns
    -------
    float
        The delta of all together, rounded up.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from sklearn_ada.accounting import optimal_composition_delta
    >>> round(optimal_composition_delta(0.5, k=10, epsilon=0.1), 6)
    0.00993
    """
    if composed_epsilon >= k * epsilon:  # no loss of a randomised response is larger
        return -math.expm1(k * math.log1p(-delta))
    pure = exp_upward(_log_delta_of_randomized_responses(composed_epsilon, k, epsilon))
    return pure if delta == 0.0 or pure == 1.0 else -math.expm1(k * math.log1p(-delta) + math.log1p(-pure))


_composed_delta = plain(optimal_composition_delta)


@checked(composed_delta="(0, 1)", k="count", epsilon=">= 0", delta="[0, 1)")
def optimal_composition_epsilon(composed_delta: float, k: int, epsilon: float, delta: float = 0.0) -> float:
    """Return the smallest epsilon of k (epsilon, delta)-DP mechanisms at a total delta.

    The inverse of `optimal_composition_delta`, at the end of the root search where the guarantee holds.

    Parameters
    ----------
    composed_delta : float
        The delta of all together, in (0, 1) and more than ``1 - (1 - delta)**k``: below, no epsilon will do.
    k : int
        The number of mechanisms, at least 1.
    epsilon : float
        The privacy parameter of each, finite and >= 0.
    delta : float, default=0.0
        The failure probability of each, in [0, 1).

    Returns
    -------
    float
        The epsilon of all together, at most ``k * epsilon``.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from sklearn_ada.accounting import optimal_composition_epsilon
    >>> round(optimal_composition_epsilon(1e-6, k=500, epsilon=0.001), 9)
    0.079788854
    """
    leaked = -math.expm1(k * math.log1p(-delta))
    if composed_delta <= leaked:
        expected = f"more than 1 - (1 - delta)**k = {leaked:g}"
        raise bad_parameter("composed_delta", "optimal_composition_epsilon", expected, composed_delta)
    most = k * epsilon
    return min(most, smallest_epsilon(lambda e: _composed_delta(e, k, epsilon, delta) - composed_delta, most))


def _log_delta_of_randomized_responses(composed_epsilon: float, k: int, epsilon: float) -> float:
    """Return the log delta of k randomised responses.

    ``ln E[max(0, 1 - exp(composed_epsilon - loss))]``, loss the sum of k losses of +-epsilon.
    """
    # j truthful answers make the loss (2j - k) * epsilon; only losses above composed_epsilon count.
    j = np.arange(k // 2 + 1, k + 1, dtype=np.float64)
    loss = (2.0 * j - k) * epsilon
    j, loss = j[loss > composed_epsilon], loss[loss > composed_epsilon]
    log_truth = -math.log1p(math.exp(-epsilon))
    log_binomial = gammaln(k + 1.0) - gammaln(j + 1.0) - gammaln(k - j + 1.0)
    log_probability = log_binomial + k * log_truth - (k - j) * epsilon
    return float(logsumexp(log_probability + np.log(-np.expm1(composed_epsilon - loss))))


@dataclass(frozen=True, eq=False)
@checked_fields(infinite_mass="[0, 1]")
class PrivacyLossDistribution:
    """The exact law of a privacy loss that takes finitely many values.

    It speaks of one ordered pair of neighbours. For a mechanism whose two directions differ, take the worse
    of both; (leaky) randomised response is symmetric.

    Parameters
    ----------
    losses : array of shape (n_atoms,)
        The finite values of the loss.
    probabilities : array of shape (n_atoms,)
        Their probabilities under P.
    infinite_mass : float, default=0.0
        The probability of an output that is impossible under Q, in [0, 1].

    Raises
    ------
    ValueError
        If the probabilities are not a law, or no law Q has these losses.

    Examples
    --------
    Fifty adaptive answers by randomised response are exactly:

    >>> from sklearn_ada.accounting import randomized_response_loss
    >>> loss = randomized_response_loss(0.1).self_compose(50)
    >>> round(loss.delta(epsilon=1.0), 6), round(loss.epsilon(delta=1e-6), 6)
    (0.038253, 3.172903)
    """

    losses: FloatArray
    probabilities: FloatArray
    infinite_mass: float = 0.0

    def __post_init__(self) -> None:
        owner = "PrivacyLossDistribution"
        losses = _vector(self.losses, "losses", owner)
        probabilities = _vector(self.probabilities, "probabilities", owner)
        if losses.shape != probabilities.shape:
            raise bad_parameter("probabilities", owner, f"of length {losses.size}", probabilities)
        if np.any(probabilities < 0.0) or abs(probabilities.sum() + self.infinite_mass - 1.0) > 1e-9:
            raise bad_parameter("probabilities", owner, "a law together with infinite_mass", probabilities)
        losses, probabilities = losses[probabilities > 0.0], probabilities[probabilities > 0.0]
        # Q gives each atom exp(-loss) times what P gives it, so that must not exceed 1 in total.
        if losses.size and logsumexp(np.log(probabilities) - losses) > 1e-9:
            raise bad_parameter("losses", owner, "the losses of P against some law Q", losses)
        for name, array in (("losses", losses), ("probabilities", probabilities)):
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @property
    def mean(self) -> float:
        """The expected loss, which is the Kullback-Leibler divergence of P from Q."""
        return math.inf if self.infinite_mass > 0.0 else float(self.probabilities @ self.losses)

    @checked(epsilon=">= 0")
    def tail(self, epsilon: float) -> float:
        """Return the probability that the loss exceeds ``epsilon``.

        The lecture's sufficient condition: the pair is (epsilon, tail)-indistinguishable. `delta` is exact
        and never larger.

        Parameters
        ----------
        epsilon : float
            Finite and >= 0.

        Returns
        -------
        float
            The probability.

        Raises
        ------
        ValueError
            If ``epsilon`` is out of range.
        """
        return min(1.0, self.infinite_mass + float(self.probabilities[self.losses > epsilon].sum()))

    @checked(epsilon=">= 0")
    def delta(self, epsilon: float) -> float:
        """Return the smallest delta with ``P(E) <= exp(epsilon)*Q(E) + delta`` for all events E.

        It is the expectation of ``max(0, 1 - exp(epsilon - loss))``.

        Parameters
        ----------
        epsilon : float
            Finite and >= 0.

        Returns
        -------
        float
            The delta.

        Raises
        ------
        ValueError
            If ``epsilon`` is out of range.
        """
        above = self.losses > epsilon
        beyond = -np.expm1(epsilon - self.losses[above])
        return min(1.0, self.infinite_mass + float(self.probabilities[above] @ beyond))

    @checked(delta="[0, 1)")
    def epsilon(self, delta: float) -> float:
        """Return the smallest epsilon >= 0 at which `delta` is at most ``delta``, from above.

        Parameters
        ----------
        delta : float
            In [0, 1) and at least ``infinite_mass``: below, no epsilon will do.

        Returns
        -------
        float
            The epsilon.

        Raises
        ------
        ValueError
            If ``delta`` is out of range.
        """
        if delta < self.infinite_mass:
            expected = f"at least infinite_mass = {self.infinite_mass:g}"
            raise bad_parameter("delta", "PrivacyLossDistribution.epsilon", expected, delta)
        largest = max(0.0, float(self.losses.max(initial=0.0)))
        return smallest_epsilon(lambda e: self.delta(e) - delta, largest)

    def compose(self, other: PrivacyLossDistribution) -> PrivacyLossDistribution:
        """Return the law of the sum of two independent losses.

        Losses that agree up to rounding become one atom at the largest of them. The number of atoms
        multiplies unless sums coincide, as they do for copies of one mechanism.

        Parameters
        ----------
        other : PrivacyLossDistribution
            The loss of the other mechanism.

        Returns
        -------
        PrivacyLossDistribution
            The loss of both together.
        """
        losses = np.add.outer(self.losses, other.losses).ravel()
        probabilities = np.multiply.outer(self.probabilities, other.probabilities).ravel()
        infinite = self.infinite_mass + other.infinite_mass - self.infinite_mass * other.infinite_mass
        if losses.size:
            order = np.argsort(losses)
            losses, probabilities = losses[order], probabilities[order]
            last = np.append(np.diff(losses) > 1e-13 * np.abs(losses).max(), True)
            first = np.append(0, np.flatnonzero(last)[:-1] + 1)
            losses, probabilities = losses[last], np.add.reduceat(probabilities, first)
        return PrivacyLossDistribution(losses, probabilities, infinite)

    @checked(k="count")
    def self_compose(self, k: int) -> PrivacyLossDistribution:
        """Return the law of the sum of k independent copies of the loss.

        Parameters
        ----------
        k : int
            The number of copies, at least 1.

        Returns
        -------
        PrivacyLossDistribution
            The loss of all together.

        Raises
        ------
        ValueError
            If ``k`` is out of range.
        """
        if k == 1:
            return self
        half = self.self_compose(k // 2)
        return half.compose(half).compose(self) if k % 2 else half.compose(half)


def finite_privacy_loss(p: npt.ArrayLike, q: npt.ArrayLike) -> PrivacyLossDistribution:
    """Return the law of a finite mechanism's privacy loss from its two output laws.

    Parameters
    ----------
    p, q : array-like of shape (n_outputs,)
        The probability of each output for the one and for the other neighbour.

    Returns
    -------
    PrivacyLossDistribution
        The law of ``ln(p/q)`` under p; outputs impossible under q have infinite loss.

    Raises
    ------
    ValueError
        If ``p`` or ``q`` is not a law, or their lengths differ.

    Examples
    --------
    "Name and shame" is harmless but for the infinite loss, which it has with probability delta:

    >>> from sklearn_ada.accounting import finite_privacy_loss
    >>> loss = finite_privacy_loss([0.001, 0.0, 0.999], [0.0, 0.001, 0.999])
    >>> loss.delta(epsilon=0.0), loss.mean
    (0.001, inf)
    """
    laws = [_vector(law, name, "finite_privacy_loss") for name, law in (("p", p), ("q", q))]
    for name, law in zip("pq", laws, strict=True):
        if np.any(law < 0.0) or abs(law.sum() - 1.0) > 1e-9 or law.shape != laws[0].shape:
            raise bad_parameter(name, "finite_privacy_loss", "a law on the same outputs as p", law)
    possible = (laws[0] > 0.0) & (laws[1] > 0.0)
    p_possible, q_possible = laws[0][possible], laws[1][possible]
    infinite = min(1.0, float(laws[0][laws[1] == 0.0].sum()))
    return PrivacyLossDistribution(np.log(p_possible) - np.log(q_possible), p_possible, infinite)


@checked(epsilon=">= 0")
def randomized_response_loss(epsilon: float) -> PrivacyLossDistribution:
    """Return the privacy loss of randomised response: epsilon if the answer is true, else -epsilon.

    Lecture 11. Its mean is ``epsilon * tanh(epsilon/2)``, and it dominates every epsilon-DP mechanism.

    Parameters
    ----------
    epsilon : float
        The privacy parameter, finite and >= 0.

    Returns
    -------
    PrivacyLossDistribution
        The law of the loss.

    Raises
    ------
    ValueError
        If ``epsilon`` is out of range.

    Examples
    --------
    >>> from sklearn_ada.accounting import randomized_response_loss
    >>> round(randomized_response_loss(1.0).mean, 6)
    0.462117
    """
    return leaky_randomized_response_loss(epsilon, 0.0)


@checked(epsilon=">= 0", delta="[0, 1)")
def leaky_randomized_response_loss(epsilon: float, delta: float) -> PrivacyLossDistribution:
    """Return the privacy loss of randomised response that names its input with probability ``delta``.

    Lecture 11: it dominates every (epsilon, delta)-DP mechanism (simulation lemma; Kairouz, Oh, Viswanath
    2015), so what composition makes of it bounds what composition makes of any other.

    Parameters
    ----------
    epsilon : float
        The privacy parameter, finite and >= 0.
    delta : float
        The probability of an infinite loss, in [0, 1).

    Returns
    -------
    PrivacyLossDistribution
        The law of the loss.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from sklearn_ada.accounting import leaky_randomized_response_loss
    >>> leaky_randomized_response_loss(1.0, 0.001).infinite_mass
    0.001
    """
    truth = (1.0 - delta) / (1.0 + math.exp(-epsilon))
    lie = truth * math.exp(-epsilon)
    return PrivacyLossDistribution(np.array([-epsilon, epsilon]), np.array([lie, truth]), delta)


def _vector(values: npt.ArrayLike, name: str, owner: str) -> FloatArray:
    array = np.array(values, dtype=np.float64)
    if array.ndim != 1 or not np.all(np.isfinite(array)):
        raise bad_parameter(name, owner, "a one-dimensional array of finite numbers", values)
    return array


def exp_upward(log_delta: float) -> float:
    """Return ``exp(log_delta)`` rounded up and at most 1: underflow never yields a delta of 0."""
    return min(1.0, math.nextafter(math.exp(min(log_delta, 0.0)), math.inf))


def smallest_epsilon(excess: Callable[[float], float], upper: float) -> float:
    """Return the smallest epsilon at which a falling ``excess`` is not positive, from above.

    ``upper`` is a guess of where it is not; it is doubled until it is. The answer is an epsilon at which
    ``excess`` was evaluated and not positive.
    """
    if excess(0.0) <= 0.0:
        return 0.0
    low, high = 0.0, upper
    while not excess(high) <= 0.0:
        low, high = high, 2.0 * high
        if not math.isfinite(high):
            raise OverflowError("No finite epsilon was found.")
    return enclosed_root(excess, low, high, rising=False, halvings=60)[1]
