"""Count losses in cells: what a sealed answer is about, and what its cells certify.

A `LossCount` says

- which count it is, which is all that is sealed;
- how counts are put into cells, and how likely the code takes each cell, and each count of a cell, to be;
- what a cell, or a count, certifies at a level that was fixed beforehand (description length), and what a
  cell certifies by the transcript theorem.

All of it is fixed without the holdout, stands in the question's record and can be rebuilt from that: nothing
that comes after the asking tunes it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

from sklearn_ada._validation import plain
from sklearn_ada.accounting.codes import CountCode, largest_unsealing_nats
from sklearn_ada.accounting.events import CountSymbol
from sklearn_ada.guarantees.description_length import question_interval
from sklearn_ada.guarantees.transcript import transcript_cell_interval, transcript_interval
from sklearn_ada.mechanisms.rounding import CountCells, guess_error

Ends = tuple[float, float]
# Counts of cells are checked where the cells are made.
_guess_error, _question_interval = plain(guess_error), plain(question_interval)
_FINE = 10_000.0  # points to a standard error, so that the width of a cell is whole


@dataclass(frozen=True)
class Transcript:
    """What the transcript theorem takes: its level, and the nats with the own price.

    Attributes
    ----------
    ln_beta : float
    nats : float
    """

    ln_beta: float
    nats: float


@dataclass(frozen=True)
class LossCount:
    """How many of n rows have a loss of 1, in cells of counts around the guess.

    Losses (or scores) are 0 or 1.

    Parameters
    ----------
    n : int
        Number of rows.
    base, width : int
        First count of cell 0, and counts in a cell.
    expected_count, tau : float
        The count that the guess suggests, and its standard error.
    half : float
        Half a cell in standard errors.
    identical_rows : bool
        Whether rows are draws of one law; not where intervals are at the holdout's class mix.
    """

    n: int
    base: int
    width: int
    expected_count: float
    tau: float
    half: float
    identical_rows: bool
    theorem = "Clopper-Pearson"

    @classmethod
    def around(cls, guess: float, size: float, n: int, *, identical_rows: bool, width: float) -> Self:
        """Fix cells and code from a guess made on ``size`` rows; ``width`` is half a cell in its errors."""
        rows = max(round(size), 1)
        cells = CountCells.around(n, guess=guess, guess_rows=rows, width=width)
        return cls(n, cells.base, cells.width, n * guess, _guess_error(n, guess, rows), width, identical_rows)

    @classmethod
    def described(cls, mechanism: dict[str, Any]) -> Self:
        """Return the statistic that `describe` wrote into a record."""
        return cls(**{name: mechanism[name] for name in cls.__dataclass_fields__})

    @property
    def cells(self) -> CountCells:
        """The cells of the counts."""
        return CountCells(self.n, self.base, self.width)

    @property
    def step(self) -> float:
        """How wide a cell is, as a share of the rows."""
        return self.width / self.n

    @property
    def expected(self) -> int:
        """The count that the guess suggests."""
        return min(max(round(self.expected_count), 0), self.n)

    def describe(self) -> dict[str, Any]:
        """Return all that is fixed, ready for JSON."""
        return {"statistic": "loss count", **vars(self)}  # all plain numbers: asdict would copy each

    def symbol(self, stream: str, value: int | str) -> CountSymbol:
        """Return the symbol of a cell, or of a failure.

        All candidates of a search have one code, that of cells so many standard errors wide: then what they
        cost together does not depend on the order in which they are recorded.
        """
        if stream == "candidate":
            half = round(_FINE * self.half)
            return CountSymbol(stream, value, -half, 2 * half, -0.5, _FINE)
        return CountSymbol(stream, value, self.base, self.width, self.expected_count, self.tau)

    def symbol_within(self, point: int, possible: tuple[int, int]) -> CountSymbol:
        """Return the symbol of a count that is one of these."""
        low, high = possible
        return CountSymbol("unsealed", point, low, high - low + 1, self.expected_count, self.tau)

    def largest_unsealing_nats(self, possible: tuple[int, int]) -> float:
        """Return the price of the dearest of the counts that are possible."""
        return largest_unsealing_nats(*possible, CountCode(self.expected_count, self.tau))

    def fixed_interval(self, low: int, high: int, ln_delta: float) -> Ends:
        """Return Clopper and Pearson's interval; the whole range where nothing is left of the level."""
        if ln_delta == -math.inf:
            return 0.0, 1.0
        return _question_interval(low, high, self.n, ln_beta=ln_delta, weight=1.0, nats=0.0)

    def transcript_interval(self, low: int, high: int, ln_beta: float, nats: float) -> Ends:
        """Return the binomial tails from the cell's edges or, of identical rows, the cell's probability."""
        if self.identical_rows:
            return transcript_cell_interval(low, high, self.n, ln_beta=ln_beta, nats=nats)
        return transcript_interval(low, high, self.n, ln_beta=ln_beta, nats=nats, identical_rows=False)
