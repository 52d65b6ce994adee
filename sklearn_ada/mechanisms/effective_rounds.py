"""EffectiveRounds: the holdout is cut into slices, each used until a verification finds it overfitted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ada._checks import bad_parameter, check_integer
from sklearn_ada.mechanisms._inputs import check_generator, check_values
from sklearn_ada.mechanisms.medians.exact import exact_quantile
from sklearn_ada.mechanisms.release import Release, composed
from sklearn_ada.mechanisms.rounding.rounded import Rounding, check_rounding
from sklearn_ada.mechanisms.state import StatefulMechanism
from sklearn_ada.mechanisms.verification import Verification

__all__ = ["EffectiveRounds", "EffectiveRoundsAnswer"]


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
class EffectiveRounds(StatefulMechanism):
    """Answer with the median of a slice until a verification finds it overfitted, then with the next slice's.

    The number of questions is limited only by how often the analyst defeats a slice: a slice is
    replaced when the verification, on subsamples of its own, finds its answer implausible, and the
    mechanism is exhausted after the last.

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
        self.n_slices = check_integer(self.n_slices, "n_slices", "EffectiveRounds")
        self._verification()

    @property
    def exhausted(self) -> bool:
        """Whether every slice was defeated."""
        return self.failures == self.n_slices

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
        owner = "EffectiveRounds"
        grid = check_rounding(rounding, owner).grid
        if not callable(slice_values):
            raise bad_parameter("slice_values", owner, "a callable", slice_values)
        rng = check_generator(rng, owner)
        self._refuse_if_exhausted()
        usable = range(self.failures, min(self.failures + 2, self.n_slices))
        answers = {i: exact_quantile(slice_values(i), rounding) for i in usable}
        current = self.failures
        points = grid.index(check_values(reference_values, "reference_values", owner))
        guess = float(grid.index(answers[current].answer))

        verification = self._verification()
        verified = verification.ask(points.astype(np.float64), guess, rng)
        self.threshold_noise, self.failures = verification.threshold_noise, verification.failures
        if self.exhausted:
            return Release(EffectiveRoundsAnswer("exhausted", None, None), verified.event)
        answer = answers[self.failures]
        verdict: Literal["verified", "renewed"] = "verified" if self.failures == current else "renewed"
        return Release(
            EffectiveRoundsAnswer(verdict, answer.answer, self.failures),
            composed(verified.event, answer.event),
        )

    def _verification(self) -> Verification:
        return Verification(
            self.rho, self.alpha, self.epsilon, self.n_slices, self.threshold_noise, self.failures
        )
