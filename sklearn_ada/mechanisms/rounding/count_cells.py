"""Cells of whole counts around a guess, in multiples of the standard error that the guess lets expect.

The count of 0/1 losses is told only up to a cell. Cells are fixed by what is known without the holdout's
answer (n, the guess, the rows behind it), so that the number of a cell is a symbol of a code. Wide cells
rarely surprise and cost next to nothing; the width is in standard errors, for a chance of a surprise that
suits the number of questions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

from scipy.special import ndtri

from sklearn_ada._checks import check_integer, check_real

__all__ = ["WINNER_WIDTH", "CountCells", "candidate_width", "guess_error"]

WINNER_WIDTH = 2.5
"""Half a cell in standard errors, where every search asks about its winner only."""

_LEAST_ERROR = 0.5


def candidate_width(n_candidates: int) -> float:
    """Return half a cell in standard errors for G candidates of one search: ``Phi^-1(1 - 1/(30 G))``.

    With guesses that are right but for sampling, one search in fifteen then has a surprise.

    Parameters
    ----------
    n_candidates : int
        The G.

    Examples
    --------
    >>> [round(candidate_width(g), 2) for g in (10, 100, 1000, 10_000)]
    [2.71, 3.4, 3.99, 4.5]
    """
    count = check_integer(n_candidates, "n_candidates", "candidate_width")
    return -float(ndtri(1.0 / (30.0 * count)))


def guess_error(n: int, guess: float, guess_rows: int) -> float:
    """Return tau, the standard error of the holdout's count around ``n * guess``, at least half a count.

    ``n sqrt(g (1 - g) (1/n + 1/N))`` with ``g = (guess N + 1)/(N + 2)``, so that a guess of 0 or 1 is not
    taken for certain.

    Parameters
    ----------
    n : int
        Number of holdout rows.
    guess : float
        The share expected, in [0, 1], known without the holdout.
    guess_rows : int
        N, the rows that the guess is a mean over, at least 1.

    Examples
    --------
    >>> round(guess_error(500, 0.8512, 1500), 3)
    9.201
    """
    owner = "guess_error"
    n = check_integer(n, "n", owner)
    rows = check_integer(guess_rows, "guess_rows", owner)
    guess = check_real(guess, "guess", owner, low=0.0, high=1.0, closed="both")
    smoothed = (guess * rows + 1.0) / (rows + 2.0)
    return max(_LEAST_ERROR, n * math.sqrt(smoothed * (1.0 - smoothed) * (1.0 / n + 1.0 / rows)))


@dataclass(frozen=True)
class CountCells:
    """Cells of ``width`` counts each; cell 0 begins at ``base``.

    Parameters
    ----------
    n : int
        Number of holdout rows: counts are from 0 to n.
    base : int
        First count of cell 0.
    width : int
        Counts in a cell, at least 1.

    Examples
    --------
    >>> cells = CountCells.around(500, guess=0.8512, guess_rows=1500)
    >>> cells.index(436), cells.ends(0), cells.index(402), cells.counts(1)
    (0, (403, 448), -1, (449, 494))
    """

    n: int
    base: int
    width: int

    def __post_init__(self) -> None:
        check_integer(self.n, "n", "CountCells")
        check_integer(self.base, "base", "CountCells", low=-self.n, high=self.n)
        check_integer(self.width, "width", "CountCells")

    @classmethod
    def around(cls, n: int, *, guess: float, guess_rows: int, width: float = WINNER_WIDTH) -> Self:
        """Return the cells of ``2 * width`` standard errors, cell 0 centred at the guess.

        Parameters
        ----------
        n, guess, guess_rows
            As for `guess_error`.
        width : float, default=WINNER_WIDTH
            c, half a cell in standard errors, positive.
        """
        tau = guess_error(n, guess, guess_rows)
        half = check_real(width, "width", "CountCells", low=0.0)
        counts = max(1, min(round(2.0 * half * tau), 2 * n + 1))
        return cls(n, round(n * guess - (counts - 1) / 2), counts)

    def index(self, count: int) -> int:
        """Return the number of the cell that holds a count.

        Parameters
        ----------
        count : int
            How many rows are right.
        """
        count = check_integer(count, "count", "CountCells.index", low=0, high=self.n)
        return (count - self.base) // self.width

    def ends(self, index: int) -> tuple[int, int]:
        """Return the first and the last integer of a cell, which may be below 0 or above n.

        Parameters
        ----------
        index : int
            Number of the cell.
        """
        index = check_integer(index, "index", "CountCells.ends", low=-2 * self.n, high=2 * self.n)
        first = self.base + index * self.width
        return first, first + self.width - 1

    def counts(self, index: int) -> tuple[int, int]:
        """Return the first and the last count of a cell, within 0 to n; ValueError if no count is in it.

        Parameters
        ----------
        index : int
            Number of the cell.

        Examples
        --------
        >>> CountCells(450, base=449, width=3).counts(0)
        (449, 450)
        """
        lowest, highest = self.index(0), self.index(self.n)
        index = check_integer(index, "index", "CountCells.counts", low=lowest, high=highest)
        first, last = self.ends(index)
        return max(first, 0), min(last, self.n)

    def centre(self, index: int) -> float:
        """Return the middle of a cell as a share of n, within 0 to 1: the value that is released.

        Parameters
        ----------
        index : int
            Number of the cell.

        Examples
        --------
        >>> CountCells(500, base=403, width=46).centre(0)
        0.851
        """
        first, last = self.ends(index)
        return min(max((first + last) / (2.0 * self.n), 0.0), 1.0)
