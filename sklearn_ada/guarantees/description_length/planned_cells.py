"""Expected half-widths of searches in a row that are answered in cells, for a plan before anything is asked.

Each search ends with one winner, whose guess is taken to be right but for sampling: then the count lies in
the guess's cell with probability .988, which costs some hundredths of a nat, and else costs about five. Some
share of guesses may be wrong beyond that. Only the plan rests on this, never a certificate.

What is planned is the last of k winners, the widest: told while searching (the cell, by description length
and by the transcript as a test), unsealed when the holdout is closed, and published.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from scipy.special import gammaln, ndtr

from sklearn_ada._checks import check_integer, check_real
from sklearn_ada._constants import LN_2
from sklearn_ada.accounting.codes import URN_WEIGHT
from sklearn_ada.accounting.count_code import CountCode
from sklearn_ada.guarantees.description_length.shares import SEALED_SHARE, TRANSCRIPT_SHARE
from sklearn_ada.guarantees.description_length.wealth import Purse
from sklearn_ada.mechanisms.rounding.count_cells import WINNER_WIDTH

__all__ = ["PlannedCells"]

HalfWidth = Callable[[float, float], float]
_FINE = 10_000.0  # points to a standard error


@dataclass(frozen=True)
class PlannedCells:
    """Expected half-widths of the last of k winners.

    Every method takes a function of ``ln delta`` and of half a cell, in standard errors of a guess (0 where
    the value itself is told), that returns the half-width of an interval at this level.

    Parameters
    ----------
    n_searches : int
        k, at least 1.
    ln_beta : float
        Logarithm of the failure probability of the whole conversation, below 0.
    surprise_rate : float, default=0.0
        Share of guesses that are off by more than sampling explains, by one cell, in [0, 1].

    Examples
    --------
    >>> plan = PlannedCells(9, math.log(0.05))
    >>> gaussian = lambda ln_delta, cells: math.sqrt(-2.0 * ln_delta) + 1.15 * cells
    >>> [round(each(gaussian), 1) for each in (plan.told, plan.unsealed, plan.published)]
    [5.9, 4.3, 2.8]
    """

    n_searches: int
    ln_beta: float
    surprise_rate: float = 0.0

    def __post_init__(self) -> None:
        owner = "PlannedCells"
        check_integer(self.n_searches, "n_searches", owner)
        check_real(self.ln_beta, "ln_beta", owner, high=0.0)
        check_real(self.surprise_rate, "surprise_rate", owner, low=0.0, high=1.0, closed="both")

    @property
    def surprise(self) -> float:
        """Chance that a winner is not in its guess's cell."""
        return min(2.0 * float(ndtr(-WINNER_WIDTH)) + self.surprise_rate, 1.0)

    def told(self, half_width: HalfWidth) -> float:
        """Return the half-width of what is said of the last winner while searching, if its guess holds."""
        ln_transcript = self.ln_beta + math.log(TRANSCRIPT_SHARE) + LN_2  # both its sides have that share

        def at(before: float, after: float) -> float:
            levels = self._ln_asked - before, ln_transcript - after
            return min(half_width(min(level, 0.0), WINNER_WIDTH) for level in levels)

        return self._expected(at)

    def unsealed(self, half_width: HalfWidth) -> float:
        """Return the half-width of its exact value at the level of its asking, told when all is asked."""
        return self._expected(lambda before, after: half_width(self._ln_asked - before, 0.0))

    def published(self, half_width: HalfWidth) -> float:
        """Return the half-width of its exact value, published at the end."""
        weight, _ = Purse().after(self.n_searches).final()
        ln_final = self._ln_sealed + math.log(weight)
        return self._expected(
            lambda before, after: half_width(max(ln_final - after, self._ln_asked - before), 0.0)
        )

    @property
    def _ln_sealed(self) -> float:
        return self.ln_beta + math.log(SEALED_SHARE)

    @property
    def _ln_asked(self) -> float:
        """Level of the last winner's asking, with nothing revealed before."""
        weight, _ = Purse().after(self.n_searches - 1).question()
        return self._ln_sealed + math.log(weight)

    def _expected(self, half_width: Callable[[float, float], float]) -> float:
        """Between the half-widths at the whole numbers of surprises next to the expected one.

        ``half_width`` takes the nats before the last winner and with it. All surprises come before it.
        """
        before = self.n_searches - 1
        expected = before * self.surprise
        few = min(math.floor(expected), max(before - 1, 0))
        low, high = (
            half_width(_nats(before, min(number, before)), _nats(before + 1, min(number, before)))
            for number in (few, few + 1)
        )
        return low + (expected - few) * (high - low)


def _nats(answers: int, surprises: int) -> float:
    """Return what so many winners cost in all, of which so many are in a cell next to their guess's."""
    code = CountCode(-0.5, _FINE)
    half = round(_FINE * WINNER_WIDTH)
    agrees, differs = code.ln_mass(-half, half - 1), code.ln_mass(half, 3 * half - 1)
    sides = (agrees, answers - surprises), (differs, surprises - surprises // 2), (differs, surprises // 2)
    said = sum(_rising(URN_WEIGHT * math.exp(ln_mass), count) for ln_mass, count in sides)
    return max(_rising(URN_WEIGHT, answers) - said, 0.0)


def _rising(start: float, count: int) -> float:
    """Return ``ln(start (start + 1) ... (start + count - 1))``."""
    return float(gammaln(start + count) - gammaln(start))
