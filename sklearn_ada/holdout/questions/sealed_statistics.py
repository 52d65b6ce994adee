"""What a metric needs to be answered in cells: a statistic on a lattice, and its tail at any level.

A *sealed* answer tells in which cell a statistic lies, and keeps the statistic itself hidden, to be told
later at the failure probability of the asking. A statistic that can be sealed says

- which point of a lattice of integers it is (`SealedStatistic.point_of`), which is all that is sealed;
- how the points are put into cells, and how likely the code takes each cell, and each point of a cell, to be;
- what a cell, or a point, certifies at a level that was fixed beforehand (description length), and what a
  cell certifies by the transcript theorem.

All of it is fixed without the holdout, stands in the question's record and can be rebuilt from that
(`statistic_from`): nothing that comes after the asking tunes it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol, Self

from sklearn_ada.accounting import CountCode, largest_unsealing_nats
from sklearn_ada.events import CountSymbol
from sklearn_ada.guarantees import question_interval, transcript_cell_interval, transcript_interval
from sklearn_ada.holdout.questions.coded import CodedQuestion
from sklearn_ada.holdout.rows.data import HoldoutData
from sklearn_ada.mechanisms.rounding.count_cells import WINNER_WIDTH, CountCells, guess_error
from sklearn_ada.metrics import Measured

__all__ = ["LossCount", "SealedStatistic", "statistic_from", "statistic_of"]

Ends = tuple[float, float]
_FINE = 10_000.0  # points to a standard error, so that the width of a cell is whole


class SealedStatistic(Protocol):
    """A statistic whose point on a lattice is sealed, and of which only the cell is told."""

    @property
    def theorem(self) -> str:
        """Name of the bound for one question that was fixed beforehand."""

    @property
    def step(self) -> float:
        """How wide a cell is, in units of the metric."""

    @property
    def expected(self) -> int:
        """The point that the guess suggests."""

    def describe(self) -> dict[str, Any]:
        """Return all that is fixed, ready for JSON."""

    def point_of(self, measured: Measured) -> int:
        """Return the statistic of these rows: what is sealed."""

    def value(self, point: int) -> float:
        """Return the metric's value at a point."""

    def centre(self, cell: int) -> float:
        """Return the metric's value in the middle of a cell."""

    def cell_of(self, point: int) -> int:
        """Return the number of the cell that holds a point."""

    def ends(self, cell: int) -> tuple[int, int]:
        """Return the first and the last point of a cell that a statistic can be."""

    def symbol(self, stream: str, value: int | str) -> CountSymbol:
        """Return the symbol of a cell, or of a failure."""

    def symbol_within(self, point: int, known: tuple[int, int]) -> CountSymbol:
        """Return the symbol of a point that is known to be one of these."""

    def largest_unsealing_nats(self, known: tuple[int, int]) -> float:
        """Return the price of the dearest of the points that are known to be possible."""

    def fixed_interval(self, low: int, high: int, ln_delta: float) -> Ends:
        """Return what points certify at a level that was fixed before anything was said of them."""

    def transcript_interval(self, low: int, high: int, ln_beta: float, nats: float) -> Ends:
        """Return what a cell certifies by the transcript theorem; ``nats`` include its own price."""


@dataclass(frozen=True)
class LossCount:
    """How many of n rows have a 0/1 loss (or score) of 1, in cells of counts around the guess.

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
    def around(cls, question: CodedQuestion, n: int, *, identical_rows: bool, width: float) -> Self:
        """Fix cells and code from the guess; ``width`` is half a cell in standard errors."""
        guess = question.guess
        rows = max(round(guess.size or n), 1)
        cells = CountCells.around(n, guess=guess.value, guess_rows=rows, width=width)
        tau = guess_error(n, guess.value, rows)
        return cls(n, cells.base, cells.width, n * guess.value, tau, width, identical_rows)

    @property
    def _cells(self) -> CountCells:
        return CountCells(self.n, self.base, self.width)

    @property
    def code(self) -> CountCode:
        """How likely each count is taken to be."""
        return CountCode(self.expected_count, self.tau)

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

    def point_of(self, measured: Measured) -> int:
        """Return the count."""
        return round(measured.value * self.n)

    def value(self, point: int) -> float:
        """Return the count as a share of the rows."""
        return point / self.n

    def centre(self, cell: int) -> float:
        """Return the middle of a cell as a share of the rows."""
        return self._cells.centre(cell)

    def cell_of(self, point: int) -> int:
        """Return the number of the cell that holds a count."""
        return self._cells.index(point)

    def ends(self, cell: int) -> tuple[int, int]:
        """Return the first and the last count of a cell, within 0 to n."""
        return self._cells.counts(cell)

    def symbol(self, stream: str, value: int | str) -> CountSymbol:
        """Return the symbol of a cell, or of a failure.

        All candidates of a search have one code, that of cells so many standard errors wide: then what they
        cost together does not depend on the order in which they are recorded.
        """
        if stream == "candidate":
            half = round(_FINE * self.half)
            return CountSymbol(stream, value, -half, 2 * half, -0.5, _FINE)
        return CountSymbol(stream, value, self.base, self.width, self.expected_count, self.tau)

    def symbol_within(self, point: int, known: tuple[int, int]) -> CountSymbol:
        """Return the symbol of a count that is known to be one of these."""
        low, high = known
        return CountSymbol("unsealed", point, low, high - low + 1, self.expected_count, self.tau)

    def largest_unsealing_nats(self, known: tuple[int, int]) -> float:
        """Return the price of the dearest of the counts that are known to be possible."""
        return largest_unsealing_nats(*known, self.code)

    def fixed_interval(self, low: int, high: int, ln_delta: float) -> Ends:
        """Return Clopper and Pearson's interval; the whole range where nothing is left of the level."""
        if ln_delta == -math.inf:
            return 0.0, 1.0
        return question_interval(low, high, self.n, ln_beta=ln_delta, weight=1.0, nats=0.0)

    def transcript_interval(self, low: int, high: int, ln_beta: float, nats: float) -> Ends:
        """Return the binomial tails from the cell's edges or, of identical rows, the cell's probability."""
        if self.identical_rows:
            return transcript_cell_interval(low, high, self.n, ln_beta=ln_beta, nats=nats)
        return transcript_interval(low, high, self.n, ln_beta=ln_beta, nats=nats, identical_rows=False)


_KINDS = {"loss count": LossCount}


def statistic_of(
    question: CodedQuestion, data: HoldoutData, *, identical_rows: bool, width: float = WINNER_WIDTH
) -> SealedStatistic | None:
    """Return what can be sealed of a question, or None: then it is answered as if nothing were.

    A count of 0/1 losses of rows that all count the same, each by itself.
    """
    if question.rule.counts and data.units is None and question.metric.bounds == (0.0, 1.0):
        return LossCount.around(question, len(data), identical_rows=identical_rows, width=width)
    return None


def statistic_from(described: dict[str, Any]) -> SealedStatistic:
    """Return the statistic that `SealedStatistic.describe` told."""
    kind = _KINDS[described["statistic"]]
    names = kind.__dataclass_fields__
    return kind(**{name: described[name] for name in names})
