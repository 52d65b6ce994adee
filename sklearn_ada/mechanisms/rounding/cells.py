"""Cells of equal width around a guess: an answer says only in which of them the holdout's value lies.

The one way a noiseless answer leaves the holdout. With coarse cells it is a *check* (Thresholdout without
noise: the guess is confirmed unless it is off by more than the half cell); with cells as fine as the
lattice of possible values it is an exact *certify*.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from sklearn_ada._checks import check_real

__all__ = ["LEAST_CELL", "Cells"]

LEAST_CELL = 1e-12
"""No cell is a smaller share of a metric's range: values have hardly more digits."""


@dataclass(frozen=True)
class Cells:
    """Cells of width ``2 * half_cell``, number 0 centred at ``guess``.

    Parameters
    ----------
    guess : float
    half_cell : float
        Positive.

    Examples
    --------
    >>> cells = Cells(guess=0.8, half_cell=0.05)
    >>> cells.index(0.84), cells.index(0.86), cells.index(0.6)
    (0, 1, -2)
    """

    guess: float
    half_cell: float

    def __post_init__(self) -> None:
        check_real(self.guess, "guess", "Cells")
        check_real(self.half_cell, "half_cell", "Cells", low=0.0)

    def index(self, value: float) -> int:
        """Return the number of the cell that holds ``value``.

        Parameters
        ----------
        value : float
            In units of the metric.
        """
        value = check_real(value, "value", "Cells.index")
        return math.floor((value - self.guess) / (2.0 * self.half_cell) + 0.5)

    def centre(self, index: int) -> float:
        """Return the middle of a cell: the released value.

        Parameters
        ----------
        index : int
            Number of the cell; 0 is centred at the guess.
        """
        return self.guess + 2.0 * self.half_cell * index

    def ends(self, index: int) -> tuple[float, float]:
        """Return numbers between which every value of the cell lies, rounding errors included.

        Parameters
        ----------
        index : int
            Number of the cell.
        """
        slack = 1e-12 * (abs(self.guess) + 2.0 * self.half_cell * (abs(index) + 1))
        centre = self.centre(index)
        return centre - self.half_cell - slack, centre + self.half_cell + slack
