"""Privacy loss: how much likelier an answer is with one data set than with its neighbour (lecture 11).

For output laws P = A(x) and Q = A(x') of two neighbours the privacy loss is ``ln(P(y)/Q(y))`` with y drawn
from P. Composition adds independent losses, so for finite laws convolution gives the exact privacy curve,
against which every composition theorem can be checked.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from sklearn_ada._checks import bad_parameter, check_integer, check_real
from sklearn_ada.accounting._conservative import smallest_epsilon

__all__ = [
    "PrivacyLossDistribution",
    "finite_privacy_loss",
    "leaky_randomized_response_loss",
    "randomized_response_loss",
]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
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
        infinite = check_real(self.infinite_mass, "infinite_mass", owner, low=0.0, high=1.0, closed="both")
        if losses.shape != probabilities.shape:
            raise bad_parameter("probabilities", owner, f"of length {losses.size}", probabilities)
        if np.any(probabilities < 0.0) or abs(probabilities.sum() + infinite - 1.0) > 1e-9:
            raise bad_parameter("probabilities", owner, "a law together with infinite_mass", probabilities)
        losses, probabilities = losses[probabilities > 0.0], probabilities[probabilities > 0.0]
        # Q gives each atom exp(-loss) times what P gives it, so that must not exceed 1 in total.
        if losses.size and logsumexp(np.log(probabilities) - losses) > 1e-9:
            raise bad_parameter("losses", owner, "the losses of P against some law Q", losses)
        for name, array in (("losses", losses), ("probabilities", probabilities)):
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        object.__setattr__(self, "infinite_mass", infinite)

    @property
    def mean(self) -> float:
        """The expected loss, which is the Kullback-Leibler divergence of P from Q."""
        return math.inf if self.infinite_mass > 0.0 else float(self.probabilities @ self.losses)

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
        epsilon = check_real(epsilon, "epsilon", "PrivacyLossDistribution.tail", low=0.0, closed="low")
        return min(1.0, self.infinite_mass + float(self.probabilities[self.losses > epsilon].sum()))

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
        epsilon = check_real(epsilon, "epsilon", "PrivacyLossDistribution.delta", low=0.0, closed="low")
        above = self.losses > epsilon
        share = -np.expm1(epsilon - self.losses[above])
        return min(1.0, self.infinite_mass + float(self.probabilities[above] @ share))

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
        owner = "PrivacyLossDistribution.epsilon"
        delta = check_real(delta, "delta", owner, low=0.0, high=1.0, closed="low")
        if delta < self.infinite_mass:
            raise bad_parameter("delta", owner, f"at least infinite_mass = {self.infinite_mass:g}", delta)
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
        k = check_integer(k, "k", "PrivacyLossDistribution.self_compose")
        if k == 1:
            return self
        half = self.self_compose(k // 2)
        return half.compose(half).compose(self) if k % 2 else half.compose(half)


def finite_privacy_loss(p: npt.ArrayLike, q: npt.ArrayLike) -> PrivacyLossDistribution:
    """Return the law of the privacy loss of a finite mechanism from its two output laws.

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
    epsilon = check_real(epsilon, "epsilon", "randomized_response_loss", low=0.0, closed="low")
    return leaky_randomized_response_loss(epsilon, 0.0)


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
    owner = "leaky_randomized_response_loss"
    epsilon = check_real(epsilon, "epsilon", owner, low=0.0, closed="low")
    delta = check_real(delta, "delta", owner, low=0.0, high=1.0, closed="low")
    truth = (1.0 - delta) / (1.0 + math.exp(-epsilon))
    lie = truth * math.exp(-epsilon)
    return PrivacyLossDistribution(np.array([-epsilon, epsilon]), np.array([lie, truth]), delta)


def _vector(values: npt.ArrayLike, name: str, owner: str) -> FloatArray:
    array = np.array(values, dtype=np.float64)
    if array.ndim != 1 or not np.all(np.isfinite(array)):
        raise bad_parameter(name, owner, "a one-dimensional array of finite numbers", values)
    return array
