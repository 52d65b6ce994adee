"""Conversations in which too many answers are near the truth, if their noise is less than was booked.

In each, one ledger is asked about several models of one quality. How likely it is that so many of the answers
are near (or right) is known in closed form from the noise that the recorded events are priced for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import stats

from benchmarks.validity.simulated import SimulatedHoldout
from sklearn_ada.mechanisms.rounding import UniformGrid
from sklearn_ada.questions.noisy import NoiseSettings
from sklearn_ada.questions.question import Guess
from sklearn_ada.questions.stable_median import MedianSettings

__all__ = ["BOOKED", "Booked"]

_ROWS = 400
_GUESS = Guess(0.5, float(_ROWS))
_FAR = 360  # rows that a model is right on, of which the guess knows nothing
_SCALE = 0.01


@dataclass(frozen=True)
class Booked:
    """One question, put about several models.

    Parameters
    ----------
    is_near : callable
        Takes a fresh holdout and returns whether one answer of it is near the truth.
    probability : float
        That it is, with the noise that is booked.
    answers : int
        In one conversation.
    route : str
        Of the holdout.
    """

    is_near: Callable[[SimulatedHoldout], bool]
    probability: float
    answers: int = 20
    route: str = "description_length"

    def __call__(self, rng: np.random.Generator) -> bool:
        """Return whether as many answers are near as hardly ever should be."""
        seed = int(rng.integers(2**32))
        holdout = SimulatedHoldout.of_counts(
            _ROWS, seed=seed, route=self.route, expected_questions=self.answers
        )
        return sum(self.is_near(holdout) for _ in range(self.answers)) >= self.many

    @property
    def many(self) -> int:
        """How many near answers a conversation has at most, but for a chance of one in twenty."""
        return int(stats.binom.isf(0.05, self.answers, self.probability)) + 1

    @property
    def beta(self) -> float:
        """The probability of that many or more."""
        return float(stats.binom.sf(self.many - 1, self.answers, self.probability))


def _gaussian(holdout: SimulatedHoldout) -> bool:
    """Cells are a tenth of the noise that the answer was booked with: seven half cells on either side."""
    answer = holdout.ask_count(_ROWS // 2, "certify", _GUESS)
    assert answer.cost.rho is not None
    return abs(answer.value - 0.5) < 0.7 / (_ROWS * math.sqrt(2.0 * answer.cost.rho))


def _corrected(noise: str, holdout: SimulatedHoldout) -> bool:
    """Two cells on either side, each of 0.4 scales: the truth is where the middle ones meet."""
    settings = NoiseSettings(noise, _SCALE, max_hits=1000, threshold=0.2 * _SCALE)
    answer = holdout.ask_count(_FAR, "check", _GUESS, settings=settings)
    return abs(answer.value - _FAR / _ROWS) < 0.8 * _SCALE


def _median(method: str, epsilon: float, right: int, holdout: SimulatedHoldout) -> bool:
    """Subsamples are rows, so the median of 0s and 1s is drawn; most are 1."""
    grid = UniformGrid(0.0, 1.0, 2)
    settings = MedianSettings(n_subsamples=_ROWS, grid=grid, epsilon=epsilon, method=method)
    return holdout.ask_count(right, "check", _GUESS, settings=settings).value == 1.0


def _selection(holdout: SimulatedHoldout) -> bool:
    """Whether the better of two models is chosen, which is right on ten rows more."""
    return holdout.select_counts((200, 210), epsilon=0.2) == 1


# The noise of the count is 20 rows, 12 less than what tells 168 rows that are wrong from 180.
_SEARCH = partial(_median, "binary_search", math.sqrt(2.0) / 20.0, _ROWS - 168)
_TEN_ROWS = 1.0 / (1.0 + math.exp(-1.0))

BOOKED = {
    "Gaussian": Booked(_gaussian, 2.0 * float(stats.norm.cdf(0.7)) - 1.0, route="differential_privacy"),
    "Thresholdout, Laplace": Booked(partial(_corrected, "laplace"), 1.0 - math.exp(-0.8)),
    "Thresholdout, Gaussian": Booked(partial(_corrected, "gaussian"), 2.0 * float(stats.norm.cdf(0.8)) - 1.0),
    "median, exponential": Booked(partial(_median, "exponential", 0.1, 210), _TEN_ROWS, 40),
    "median, binary search": Booked(_SEARCH, float(stats.norm.cdf(0.6)), 40),
    "selection": Booked(_selection, _TEN_ROWS, 40),
}
