"""How a quantile of the subsamples' values is drawn, what that costs, and how far its rank may be off.

A value that is drawn as the median of m values has the *rank error* e if at most ``(1/2 + e) m`` of them are
below it, and at most as many above it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sklearn_ada.accounting.zcdp_filter import Unit, subsamples_unit
from sklearn_ada.events import Event, ExponentialMechanismEvent, GaussianEvent, Symbol
from sklearn_ada.guarantees.description_length.cell_width import planned_questions
from sklearn_ada.guarantees.privacy_budget import exponential_epsilon
from sklearn_ada.holdout.questions.medians.median_settings import MedianSettings
from sklearn_ada.holdout.terms.policy import Policy
from sklearn_ada.mechanisms.medians.binary_search import (
    binary_search_error,
    n_counting_questions,
    noisy_search,
)
from sklearn_ada.mechanisms.medians.exact import grid_quantile
from sklearn_ada.mechanisms.medians.exponential import exponential_quantile, rank_error

__all__ = ["MedianDraw"]

_AUTO_RANK_ERROR = 0.1


@dataclass(frozen=True)
class MedianDraw:
    """A quantile on a grid: drawn by the exponential mechanism or by noisy binary search, or exact.

    Parameters
    ----------
    unit : Unit
        What is replaced between neighbouring data sets: one subsample.
    grid_size : int
    epsilon : float
        Privacy parameter of one draw (for "binary_search": mu of Gaussian DP); not used by "exact".
    method : {"exponential", "binary_search", "exact"}
    """

    unit: Unit
    grid_size: int
    epsilon: float
    method: str

    @classmethod
    def plan(
        cls,
        settings: MedianSettings,
        grid_size: int,
        n_subsamples: int,
        n_units: int,
        policy: Policy,
        draws: int,
    ) -> MedianDraw:
        """Fix the privacy parameter epsilon if the user leaves it open.

        Where privacy certifies, the budget is divided by the number of questions expected, or by the number
        of ``draws`` that this one makes if that is larger. Elsewhere epsilon is such that the rank error is
        about 0.1.
        """
        unit = subsamples_unit(n_subsamples, stratified=settings.stratify)
        if isinstance(settings.epsilon, str):
            planned = planned_questions(policy.expected_questions)
            if policy.is_private:
                rho = policy.privacy_budget(unit, n_units) / max(planned, draws)
                epsilon = _epsilon_of_budget(settings.method, rho)
            else:
                ln_beta = policy.ln_beta - math.log(2.0 * planned)
                epsilon = _epsilon_of_rank_error(settings.method, grid_size, n_subsamples, ln_beta)
        else:
            epsilon = settings.epsilon
        return cls(unit, grid_size, epsilon, settings.method)

    @property
    def is_exact(self) -> bool:
        """Whether there is no noise, and so no privacy."""
        return self.method == "exact"

    def quantile(self, indices: NDArray[np.int64], level: float, rng: np.random.Generator) -> int:
        """Return the grid index of a quantile of some grid indices."""
        if self.is_exact:
            return grid_quantile(indices, level)
        if self.method == "binary_search":
            return noisy_search(
                indices, self.grid_size, level=level,
                tolerance=self._count_tolerance, deviation=self._count_noise, rng=rng,
            )  # fmt: skip
        return exponential_quantile(indices, self.grid_size, self.epsilon, rng, low=level, high=level)

    def event(self, symbol: Symbol) -> Event:
        """Return the privacy event of drawing one quantile."""
        if self.method == "binary_search":
            return GaussianEvent(1.0 / self.epsilon, (symbol,))
        return ExponentialMechanismEvent(self.epsilon, (symbol,))

    def rank_error(self, ln_noise: float, draws: int) -> float:
        """Return a rank error that, with this failure probability, none of so many draws exceeds."""
        if self.is_exact:
            return 0.0
        m, beta = self.unit.parts, math.exp(ln_noise) / draws
        if self.method == "binary_search":  # its tolerance is fixed: it holds at this beta, or nothing does
            reached = binary_search_error(self._count_noise, m, self.grid_size, beta) / 4.0
            return 2.0 * self._count_tolerance if reached <= self._count_tolerance else 0.5
        return rank_error(self.epsilon, m, self.grid_size, beta)

    @property
    def mean_excess(self) -> float:
        """By how much a rank error exceeds `rank_error`, on average, once it does; never more than 1/2."""
        if self.method == "binary_search":  # a search that went astray may end anywhere
            return 0.5
        return min(2.0 / (self.epsilon * self.unit.parts), 0.5)  # an exponential tail

    @property
    def _count_noise(self) -> float:
        """Standard deviation of the noise of each count: so that one whole search is epsilon-GDP."""
        return math.sqrt(n_counting_questions(self.grid_size)) / self.epsilon

    @property
    def _count_tolerance(self) -> float:
        return _AUTO_RANK_ERROR / 2.0


def _epsilon_of_budget(method: str, rho: float) -> float:
    epsilon = math.sqrt(2.0 * rho) if method == "binary_search" else exponential_epsilon(rho)
    return float(f"{epsilon:.3g}") * 0.99  # rounded, yet never above what the budget leaves


def _epsilon_of_rank_error(method: str, grid_size: int, m: int, ln_beta: float) -> float:
    if method == "binary_search":
        questions = n_counting_questions(grid_size)
        noise = _AUTO_RANK_ERROR / 2.0 * m / math.sqrt(2.0 * (math.log(questions) - ln_beta))
        return float(f"{math.sqrt(questions) / noise:.3g}")
    return float(f"{2.0 * (math.log(grid_size) - ln_beta) / (_AUTO_RANK_ERROR * m):.3g}")
