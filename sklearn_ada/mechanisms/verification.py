"""Verification: is a guess a plausible value of an estimator? Yes or no, until too many were no."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ada._checks import check_integer, check_real
from sklearn_ada.mechanisms._inputs import check_generator, check_values
from sklearn_ada.mechanisms.release import Release
from sklearn_ada.mechanisms.sparse_vector import SparseVector, sparse_vector_error
from sklearn_ada.mechanisms.state import StatefulMechanism

__all__ = ["Verification", "verification_sample_size"]


@dataclass
class Verification(StatefulMechanism):
    """Answer "Y" if the guess is well inside the sample's quantile interval, "N" if it is outside.

    With at least `verification_sample_size` subsamples, and except with the probability beta given
    there, every answer is "Y" if both shares, of values at most and at least the guess, exceed
    ``rho - alpha/3``, and "N" if one of them is at most ``rho - 2 alpha/3``. After ``max_failures``
    answers "N" every question is refused: the third answer of the theorem. A "Y" uses up nothing.

    Parameters
    ----------
    rho : float
        The guess should lie in the (rho, 1 - rho) quantile interval; at most 1/2.
    alpha : float
        The slack, in (0, rho).
    epsilon : float
        The privacy parameter of each run of the sparse vector, one run per "N", positive.
    max_failures : int
        How many "N" there may be.
    threshold_noise : float or None
        Memory: the noise of the open run.
    failures : int
        Memory: how many "N" there have been.

    Notes
    -----
    Theorem 5.1 asks two counting questions, ``1(phi <= v)`` and ``1(phi >= v)``. Their minimum also
    changes by at most 1 when a subsample is replaced, so one question to the sparse vector does, and an
    "N" uses one hit. Its threshold ``rho - alpha/2`` is the middle of the gap that the theorem leaves.

    References
    ----------
    Feldman, Steinke 2017, Theorem 5.1.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(0.8, 0.05, size=1000)
    >>> verification = Verification(rho=0.25, alpha=0.2, epsilon=0.5, max_failures=1)
    >>> [verification.ask(scores, guess, rng).answer for guess in (0.79, 0.8, 0.95)]
    ['Y', 'Y', 'N']
    >>> verification.exhausted
    True
    """

    rho: float
    alpha: float
    epsilon: float
    max_failures: int
    threshold_noise: float | None = field(default=None, repr=False)
    failures: int = 0

    def __post_init__(self) -> None:
        owner = type(self).__name__
        self.rho = check_real(self.rho, "rho", owner, low=0.0, high=0.5, closed="high")
        self.alpha = check_real(self.alpha, "alpha", owner, low=0.0, high=self.rho)
        self.epsilon = check_real(self.epsilon, "epsilon", owner, low=0.0)
        self.max_failures = check_integer(self.max_failures, "max_failures", owner)
        self._check_memory("failures", self.max_failures)

    @property
    def exhausted(self) -> bool:
        """Whether all "N" are used."""
        return self.failures == self.max_failures

    def ask(self, values: ArrayLike, guess: float, rng: np.random.Generator) -> Release[Literal["Y", "N"]]:
        """Verify a guess.

        Parameters
        ----------
        values : array of float, shape (m,)
            The estimator on each subsample.
        guess : float
            The value claimed.
        rng : numpy.random.Generator
            The source of randomness.

        Returns
        -------
        Release
            "Y" or "N"; an `AboveThresholdEvent` if a run of the sparse vector begins with it.

        Raises
        ------
        BudgetExhaustedError
            If all "N" are used.
        ValueError
            If ``values`` or ``guess`` is not finite. Either way nothing has been drawn.
        """
        owner = type(self).__name__
        array = check_values(values, "values", owner)
        guess = check_real(guess, "guess", owner)
        rng = check_generator(rng, owner)
        self._refuse_if_exhausted()
        plausible = int(min((array <= guess).sum(), (array >= guess).sum()))
        shortfall = (self.rho - self.alpha / 2.0) * array.size - plausible
        vector = SparseVector(
            self.epsilon,
            max_hits=self.max_failures,
            redraw=True,
            threshold_noise=self.threshold_noise,
            hits=self.failures,
        )
        release = vector.ask(shortfall, 0.0, rng)
        self.threshold_noise, self.failures = vector.threshold_noise, vector.hits
        return Release("N" if release.answer == "above" else "Y", release.event)


def verification_sample_size(
    n_questions: int, *, alpha: float, epsilon: float, max_failures: int, beta: float
) -> int:
    """Return how many subsamples make every answer of `Verification` right except with chance beta.

    The sparse vector's error in counts must be at most ``alpha m / 6``, half the gap between the two
    shares of the guarantee. It speaks of the sample; the population needs a transfer theorem.

    Parameters
    ----------
    n_questions : int
        k.
    alpha, epsilon, max_failures
        As in `Verification`.
    beta : float
        The failure probability, in (0, 1).

    Examples
    --------
    >>> verification_sample_size(1000, alpha=0.2, epsilon=0.5, max_failures=10, beta=0.05)
    3263
    """
    alpha = check_real(alpha, "alpha", "verification_sample_size", low=0.0, high=0.5)
    error = sparse_vector_error(
        epsilon, n_questions=n_questions, beta=beta, max_hits=max_failures, redraw=True
    )
    return math.ceil(6.0 * error / alpha)
