"""EffectiveRounds: the holdout is cut into slices, each used until a verification finds it overfitted.

A verification says whether a guess is a plausible value of an estimator: yes or no, until too many were no.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ada._validation import check_real, check_values, checked, checked_fields, generator
from sklearn_ada.accounting.events import Release, composed
from sklearn_ada.mechanisms.noise import StatefulMechanism, is_callable
from sklearn_ada.mechanisms.quantiles import exact_quantile
from sklearn_ada.mechanisms.rounding import Rounding, is_rounding
from sklearn_ada.mechanisms.thresholdout import SparseVector, sparse_vector_error

__all__ = ["EffectiveRounds", "EffectiveRoundsAnswer", "Verification", "verification_sample_size"]


@dataclass
@checked_fields(
    rho="(0, 0.5]",
    epsilon="> 0",
    max_failures="count",
    threshold_noise="finite or None",
    failures="integer >= 0",
)
class Verification(StatefulMechanism, count="failures", limit="max_failures"):
    """Answer whether a guess is well inside the sample's quantile interval.

    The answer is "Y" if it is, and "N" if it is outside. With at least `verification_sample_size` subsamples,
    and except with the probability beta given there, every answer is "Y" if both shares, of values at most
    and at least the guess, exceed ``rho - alpha/3``, and "N" if one of them is at most ``rho - 2 alpha/3``.
    After ``max_failures`` answers "N" every question is refused: the third answer of the theorem. A "Y" uses
    up nothing.

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
        self.alpha = check_real(self.alpha, "alpha", "Verification", low=0.0, high=self.rho)
        super().__post_init__()

    @checked("Verification", values=check_values, guess="finite", rng=generator)
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
        array = np.asarray(values, dtype=np.float64)
        self._refuse_if_exhausted()
        plausible = int(min((array <= guess).sum(), (array >= guess).sum()))
        shortfall = (self.rho - self.alpha / 2.0) * array.size - plausible
        vector = SparseVector(self.epsilon, 1.0, self.max_failures, True, self.threshold_noise, self.failures)
        release = vector.ask(shortfall, 0.0, rng)
        self.threshold_noise, self.failures = vector.threshold_noise, vector.hits
        return Release("N" if release.answer == "above" else "Y", release.event)


@checked(alpha="(0, 0.5)")
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
    error = sparse_vector_error(
        epsilon, n_questions=n_questions, beta=beta, max_hits=max_failures, redraw=True
    )
    return math.ceil(6.0 * error / alpha)


@dataclass(frozen=True)
class EffectiveRoundsAnswer:
    """An answer of EffectiveRounds.

    Parameters
    ----------
    verdict : {"verified", "renewed", "exhausted"}
        "verified": the slice's value passed. "renewed": it failed, and this is the next slice's value.
        "exhausted": it failed, and no slice is left.
    value : float or None
        The median on the slice; None if exhausted.
    slice_index : int or None
        Which slice answered; None if exhausted.
    """

    verdict: Literal["verified", "renewed", "exhausted"]
    value: float | None
    slice_index: int | None


@dataclass
@checked_fields(n_slices="count")
class EffectiveRounds(StatefulMechanism, count="failures", limit="n_slices"):
    """Answer with the median of a slice until a verification finds it overfitted.

    From then on the next slice answers. The number of questions is limited only by how often the analyst
    defeats a slice: a slice is replaced when the verification, on subsamples of its own, finds its answer
    implausible, and the mechanism is exhausted after the last.

    Parameters
    ----------
    n_slices : int
        How many disjoint slices there are.
    rho, alpha, epsilon
        As in `Verification`, which allows ``n_slices`` failures.
    threshold_noise : float or None
        Memory: the noise of the verification's open run.
    failures : int
        Memory: how many slices were defeated, which is also the number of the current one.

    References
    ----------
    Dwork, Feldman, Hardt, Pitassi, Reingold, Roth, "Preserving statistical validity in adaptive data
    analysis", STOC 2015 (EffectiveRounds); Feldman, Steinke 2017, section 5.1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ada.mechanisms import UniformGrid
    >>> rng = np.random.default_rng(0)
    >>> rounds = EffectiveRounds(n_slices=2, rho=0.25, alpha=0.2, epsilon=0.5)
    >>> slices = [[0.95] * 9, [0.8] * 9]  # the first slice has been overfitted
    >>> fresh = rng.normal(0.8, 0.05, size=1000)
    >>> rounding = Rounding(UniformGrid(0.0, 1.0, 101), guess=0.8)
    >>> rounds.ask(lambda i: slices[i], fresh, rounding, rng).answer
    EffectiveRoundsAnswer(verdict='renewed', value=0.8, slice_index=1)
    """

    n_slices: int
    rho: float
    alpha: float
    epsilon: float
    threshold_noise: float | None = field(default=None, repr=False)
    failures: int = 0

    def __post_init__(self) -> None:
        self._verification()  # which checks the rest

    @checked("EffectiveRounds", rounding=is_rounding, reference_values=check_values, rng=generator)
    def ask(
        self,
        slice_values: Callable[[int], ArrayLike],
        reference_values: ArrayLike,
        rounding: Rounding,
        rng: np.random.Generator,
    ) -> Release[EffectiveRoundsAnswer]:
        """Answer one question.

        Parameters
        ----------
        slice_values : callable
            ``slice_values(i)`` returns the estimator on each subsample of slice i. Called for the
            current slice and the next, before anything is drawn.
        reference_values : array of float, shape (m,)
            The estimator on each of the verification's own subsamples.
        rounding : Rounding
            The grid and the guess; the verification compares grid points.
        rng : numpy.random.Generator
            The source of randomness.

        Returns
        -------
        Release
            An `EffectiveRoundsAnswer`; what the verification did, and a `CodedRelease` of the slice
            that answered.

        Raises
        ------
        BudgetExhaustedError
            If every slice was defeated.
        ValueError
            For a parameter outside its range. Either way nothing has been drawn.
        """
        is_callable(slice_values, "slice_values", "EffectiveRounds")
        self._refuse_if_exhausted()
        usable = range(self.failures, min(self.failures + 2, self.n_slices))
        answers = {i: exact_quantile(slice_values(i), rounding) for i in usable}
        current = self.failures
        points = rounding.grid.index(reference_values)
        guess = float(rounding.grid.index(answers[current].answer))

        verification = self._verification()
        verified = verification.ask(points.astype(np.float64), guess, rng)
        self.threshold_noise, self.failures = verification.threshold_noise, verification.failures
        if self.exhausted:
            return Release(EffectiveRoundsAnswer("exhausted", None, None), verified.event)
        answer = answers[self.failures]
        verdict: Literal["verified", "renewed"] = "verified" if self.failures == current else "renewed"
        result = EffectiveRoundsAnswer(verdict, answer.answer, self.failures)
        return Release(result, composed(verified.event, answer.event))

    def _verification(self) -> Verification:
        noise, failures = self.threshold_noise, self.failures
        return Verification(self.rho, self.alpha, self.epsilon, self.n_slices, noise, failures)
