"""What answers are rounded to: cells around a guess, grids, buckets, and the lattice of noisy answers.

*Cells* of equal width around a guess: an answer says only in which of them the holdout's value lies. That is
the one way a noiseless answer leaves the holdout. With coarse cells it is a *check* (Thresholdout without
noise: the guess is confirmed unless it is off by more than the half cell); with cells as fine as the lattice
of possible values it is an exact *certify*.

*Cells of whole counts* around a guess are multiples of the standard error that the guess lets expect. They
are fixed without the holdout's answer (by n, the guess and the rows behind it), so that the number of a cell
is a symbol of a code. Wide cells rarely surprise and cost next to nothing; the width is in standard errors,
for a chance of a surprise that suits the number of questions.

*Grids* are finite ordered sets of numbers, of any size. A number rounded to the nearest of their points is
one of finitely many answers, each of which has a price. *Buckets* of positive numbers grow by a factor: a
size or a variance is answered as one of them.

*The lattice* to which noisy answers are moved are the multiples of a power of two, so that no last digit
leaks. Floating point numbers are no real numbers. Which doubles ``value + noise`` can be depends on the
value, down to the last bit: of the answers within 0.1 of 0 that Laplace noise of scale 1 gave to the value 0,
only 5 % were possible for a neighbour's value 1, so nearly all revealed which of the two it was, whatever
epsilon is (Mironov 2012). The multiples of one step are the same set for every value. To move an answer to
the nearest of them is post-processing, so no guarantee is lost, and a step of a thousandth of the noise costs
nothing. What this does not promise: the *probabilities* are still made of doubles, so a ratio of two of them
may exceed ``e^epsilon`` by rounding errors; far from the value (for Laplace noise 28 scales, probability
1e-12) the sampler has gaps wider than a step; comparisons, and how long a draw takes, are as they were. Where
that matters, use a discrete mechanism on integers.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from sklearn_ada import _validation
from sklearn_ada._validation import bad_parameter, check_integer, check_real, checked, checked_fields
from sklearn_ada.accounting.events import CodedRelease, Release, Symbol

__all__ = [
    "Cells", "CountCells", "ExplicitGrid", "Grid", "LogGrid", "Rounding", "UniformGrid", "candidate_width",
    "guess_error", "rounded", "winner_width",
]  # fmt: skip

LEAST_CELL = 1e-12
"""No cell is a smaller share of a metric's range: values have hardly more digits."""

WINNER_WIDTH = 2.5
"""Half a cell in standard errors, where searches ask about their winners and cells do not widen."""

_LEAST_ERROR = 0.5
_STEPS_A_SCALE = 10  # binary digits: 1,024 steps or a little more
_LEAST_STEP = math.ulp(0.0)  # every double is a multiple of it


@dataclass(frozen=True)
@checked_fields(guess="finite", half_cell="> 0")
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

    @checked("Cells.index", value="finite")
    def index(self, value: float) -> int:
        """Return the number of the cell that holds ``value``.

        Parameters
        ----------
        value : float
            In units of the metric.
        """
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


@checked(number="count")
def winner_width(number: int) -> float:
    """Return half a cell, in standard errors, for the question of this number about a winner.

    It widens with the questions. Of a constant one, 80 answers have a surprise in the mean, which widens all
    that comes later; with this, 300 answers have half a one, if guesses are right but for sampling.

    Parameters
    ----------
    number : int
        Of the ledger's questions about winners, at least 1.

    Returns
    -------
    float
        ``Phi^-1(1 - 1/(20 (number + 3)))``.

    Examples
    --------
    >>> [round(winner_width(j), 2) for j in (1, 9, 20, 300)]
    [2.24, 2.64, 2.85, 3.59]
    """
    return -float(ndtri(1.0 / (20.0 * (number + 3))))


@checked(n_candidates="count")
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
    return -float(ndtri(1.0 / (30.0 * n_candidates)))


@checked(n="count", guess="[0, 1]", guess_rows="count")
def guess_error(n: int, guess: float, guess_rows: int) -> float:
    """Return the standard error of the holdout's count around ``n * guess``.

    This tau is at least half a count, and else ``n sqrt(g (1 - g) (1/n + 1/N))`` with
    ``g = (guess N + 1)/(N + 2)``, so that a guess of 0 or 1 is not taken for certain.

    Parameters
    ----------
    n : int
        Number of holdout rows.
    guess : float
        The share expected, in [0, 1], fixed without the holdout.
    guess_rows : int
        N, the rows that the guess is a mean over, at least 1.

    Examples
    --------
    >>> round(guess_error(500, 0.8512, 1500), 3)
    9.201
    """
    smoothed = (guess * guess_rows + 1.0) / (guess_rows + 2.0)
    return max(_LEAST_ERROR, n * math.sqrt(smoothed * (1.0 - smoothed) * (1.0 / n + 1.0 / guess_rows)))


@dataclass(frozen=True)
@checked_fields(n="count", width="count")
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
        check_integer(self.base, "base", "CountCells", low=-self.n, high=self.n)

    @classmethod
    @checked("CountCells", width="> 0")
    def around(cls, n: int, *, guess: float, guess_rows: int, width: float = WINNER_WIDTH) -> Self:
        """Return the cells of ``2 * width`` standard errors, cell 0 centred at the guess.

        Parameters
        ----------
        n, guess, guess_rows
            As for `guess_error`.
        width : float, default=WINNER_WIDTH
            c, half a cell in standard errors, positive.
        """
        counts = max(1, min(round(2.0 * width * guess_error(n, guess, guess_rows)), 2 * n + 1))
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
        """Return the first and the last integer of a cell.

        They may be below 0 or above n.

        Parameters
        ----------
        index : int
            Number of the cell.
        """
        index = check_integer(index, "index", "CountCells.ends", low=-2 * self.n, high=2 * self.n)
        first = self.base + index * self.width
        return first, first + self.width - 1

    def counts(self, index: int) -> tuple[int, int]:
        """Return the first and the last count of a cell, within 0 to n.

        Raise ValueError if no count is in it.

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


class Grid(ABC):
    """A finite ordered set T of numbers, addressed by the indices in ``range(size)``.

    Examples
    --------
    >>> grid: Grid = UniformGrid(0.0, 1.0, 11)
    >>> grid.size, grid.value(3)
    (11, 0.3)
    """

    size: int

    def value(self, index: int) -> float:
        """Return the grid point number ``index``; ValueError unless it is in ``range(size)``.

        Parameters
        ----------
        index : int
            In ``range(size)``.
        """
        owner = type(self).__name__
        number = check_integer(index, "index", owner, low=0)
        if number >= self.size:
            raise bad_parameter("index", owner, f"an integer in 0 .. {self.size - 1}", index)
        return self._value(number)

    def index(self, values: ArrayLike) -> NDArray[np.int64]:
        """Return the index of the grid point nearest to each of ``values``.

        Values outside the range of T (infinities too) are truncated to it; NaN raises ValueError.

        Parameters
        ----------
        values : array-like of float
            Of any shape.
        """
        array = _validation.as_floats(values, "values", type(self).__name__)
        if np.isnan(array).any():
            raise bad_parameter("values", type(self).__name__, "free of NaN", _validation.describe(array))
        return self._index(array)

    def border(self, index: int) -> float:
        """Return where the values nearest to point ``index`` end and those of the next begin.

        Parameters
        ----------
        index : int
            In ``range(size - 1)``.

        Examples
        --------
        >>> UniformGrid(0.0, 1.0, 3).border(0), round(LogGrid(1.0, 100.0, 3).border(0), 3)
        (0.25, 3.162)
        """
        return self._middle(self.value(index), self.value(index + 1))

    @abstractmethod
    def _value(self, index: int) -> float: ...

    def _middle(self, low: float, high: float) -> float:
        return (low + high) / 2.0

    @abstractmethod
    def _index(self, values: NDArray[np.float64]) -> NDArray[np.int64]: ...


@dataclass(frozen=True)
@checked_fields(low="finite", size="integer >= 2")
class UniformGrid(Grid):
    """``size`` equally spaced numbers from ``low`` to ``high``, in constant memory.

    Parameters
    ----------
    low, high : float
        The ends, both members; ``low < high``.
    size : int
        At least 2; neighbours must be several rounding errors apart (10^12 points in [0, 1] are).

    Examples
    --------
    >>> grid = UniformGrid(0.0, 1.0, 10**12 + 1)
    >>> grid.index([0.25, 7.0])
    array([ 250000000000, 1000000000000])
    >>> grid.value(250000000000)
    0.25
    """

    low: float
    high: float
    size: int

    def __post_init__(self) -> None:
        high = check_real(self.high, "high", "UniformGrid", low=self.low)
        object.__setattr__(self, "high", high)
        width = check_real(high - self.low, "high - low", "UniformGrid", low=0.0)
        _check_resolution(width / (self.size - 1), max(abs(self.low), abs(high)), self.size, "UniformGrid")

    def _value(self, index: int) -> float:
        if index == self.size - 1:
            return self.high
        return self.low + (self.high - self.low) * (index / (self.size - 1))

    def _index(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        part = (np.clip(values, self.low, self.high) - self.low) / (self.high - self.low)
        return np.rint(part * (self.size - 1)).astype(np.int64)


@dataclass(frozen=True)
@checked_fields(low="> 0", size="integer >= 2")
class LogGrid(Grid):
    """``size`` numbers from ``low`` to ``high`` with equal ratios, in constant memory.

    The nearest point is the one with the nearest logarithm.

    Parameters
    ----------
    low, high : float
        The ends, both members; ``0 < low < high``.
    size : int
        At least 2; neighbours must be several rounding errors apart.

    Examples
    --------
    >>> grid = LogGrid(0.001, 1000.0, 7)
    >>> grid.index([0.0, 0.011, 5.0, 900.0])
    array([0, 1, 4, 6])
    >>> grid.value(3)
    1.0
    """

    low: float
    high: float
    size: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "high", check_real(self.high, "high", "LogGrid", low=self.low))
        low, high = math.log(self.low), math.log(self.high)
        _check_resolution((high - low) / (self.size - 1), max(1.0, -low, high), self.size, "LogGrid")

    def _value(self, index: int) -> float:
        if index in (0, self.size - 1):
            return self.high if index else self.low
        low, high = math.log(self.low), math.log(self.high)
        return math.exp(low + (high - low) * (index / (self.size - 1)))

    def _index(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        low, high = math.log(self.low), math.log(self.high)
        part = (np.log(np.clip(values, self.low, self.high)) - low) / (high - low)
        return np.rint(np.clip(part, 0.0, 1.0) * (self.size - 1)).astype(np.int64)

    def _middle(self, low: float, high: float) -> float:
        return math.sqrt(low) * math.sqrt(high)


@dataclass(frozen=True)
class ExplicitGrid(Grid):
    """The numbers given.

    Parameters
    ----------
    values : tuple of float
        Finite and strictly increasing.

    Examples
    --------
    >>> grid = ExplicitGrid((0.0, 0.5, 0.75, 1.0))
    >>> grid.index([0.6, 0.7, -3.0])
    array([1, 2, 0])
    """

    values: tuple[float, ...]
    size: int = field(init=False)

    def __post_init__(self) -> None:
        array = _validation.as_floats(self.values, "values", "ExplicitGrid")
        if array.ndim != 1 or array.size == 0 or not np.isfinite(array).all() or (np.diff(array) <= 0).any():
            expected = "a non-empty, strictly increasing tuple of finite numbers"
            raise bad_parameter("values", "ExplicitGrid", expected, self.values)
        object.__setattr__(self, "values", tuple(array.tolist()))
        object.__setattr__(self, "size", len(self.values))

    def _value(self, index: int) -> float:
        return self.values[index]

    def _index(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        points = np.asarray(self.values)
        inside = np.clip(values, points[0], points[-1])
        upper = np.minimum(np.searchsorted(points, inside), self.size - 1)
        lower = np.maximum(upper - 1, 0)
        return np.where(inside - points[lower] <= points[upper] - inside, lower, upper).astype(np.int64)


def _check_resolution(step: float, magnitude: float, size: int, owner: str) -> None:
    # Closer neighbours would be rounded onto each other, and T would have fewer points than it says.
    if not step > 8.0 * math.ulp(magnitude):
        raise bad_parameter("size", owner, "small enough for neighbours to differ in double precision", size)


def lattice_step(scale: float) -> float:
    """Return the largest power of two that is at most ``scale / 1024``.

    Parameters
    ----------
    scale : float
        Of the noise, positive.

    Examples
    --------
    >>> lattice_step(1.0) == lattice_step(1.9) == 1 / 1024
    True
    """
    _, exponent = math.frexp(scale)  # the scale is at least 2^(exponent - 1)
    return max(math.ldexp(1.0, exponent - 1 - _STEPS_A_SCALE), _LEAST_STEP)


def on_lattice(number: float, scale: float) -> float:
    """Return the multiple of `lattice_step` nearest to a noisy number.

    Parameters
    ----------
    number : float
        What would be released.
    scale : float
        Of its noise, positive.

    References
    ----------
    Mironov, "On significance of the least significant bits for differential privacy", CCS 2012.

    Examples
    --------
    >>> on_lattice(0.7391, scale=1.0) * 1024
    757.0
    """
    if math.isinf(number):  # noise beyond all doubles
        return number
    return number - math.remainder(number, lattice_step(scale))  # both exact


@dataclass(frozen=True)
@checked_fields(growth="> 1")
class LogBuckets:
    """Buckets in which neighbours differ by a factor.

    Parameters
    ----------
    growth : float
        The factor, above 1.

    Examples
    --------
    >>> buckets = LogBuckets(2.0)
    >>> buckets.index(5.0), buckets.index(0.3)
    (2, -2)
    >>> buckets.low(2) <= 5.0 <= buckets.high(2)
    True
    """

    growth: float

    @checked("LogBuckets.index", value="> 0")
    def index(self, value: float) -> int:
        """Return the number of the bucket of a positive value."""
        return math.floor(math.log(value) / math.log(self.growth) + 1e-9)

    def low(self, index: int) -> float:
        """Return a number that no value of the bucket is below."""
        return float(self.growth**index * (1.0 - 1e-8))

    def high(self, index: int) -> float:
        """Return a number that no value of the bucket is above."""
        return float(self.growth ** (index + 1) * (1.0 + 1e-8))


@dataclass(frozen=True)
@checked_fields(grid=_validation.instance(Grid, "a Grid"), guess="finite or None", scale=">= 0")
class Rounding:
    """A grid for an answer, and the grid point that is expected.

    Parameters
    ----------
    grid : Grid
        The answer is moved to its nearest point; values outside its range are truncated.
    guess : float or None, default=None
        The expected answer, fixed without the holdout: symbol 0. None takes the middle of the grid.
    scale : float, default=0.0
        The expected distance from the guess in grid points, fixed without the holdout; 0 if nobody says.

    Examples
    --------
    >>> from sklearn_ada.mechanisms import UniformGrid
    >>> rounding = Rounding(UniformGrid(0.0, 1.0, 101), guess=0.85)
    >>> rounding.symbol(83, "lattice").value
    -2
    """

    grid: Grid
    guess: float | None = None
    scale: float = 0.0

    def symbol(self, index: int, stream: str) -> Symbol:
        """Return the symbol of the grid point ``index``: its offset from the guess.

        Parameters
        ----------
        index : int
            Of the grid point.
        stream : str
            The code that prices the symbol.
        """
        centre = (self.grid.size - 1) // 2 if self.guess is None else int(self.grid.index(self.guess))
        return Symbol(stream, index - centre, self.scale)


is_rounding = _validation.instance(Rounding, "a Rounding")


@checked(value="finite", rounding=is_rounding)
def rounded(value: float, rounding: Rounding) -> Release[float]:
    """Release a value rounded to a grid, without noise (a baseline).

    Not differentially private; the answer is one of ``rounding.grid.size`` symbols, so description
    length can price it (Dwork et al., "Generalization in Adaptive Data Analysis and Holdout Reuse",
    NIPS 2015).

    Parameters
    ----------
    value : float
        The value on the holdout.
    rounding : Rounding
        The grid and the guess.

    Returns
    -------
    Release
        The grid point; a `CodedRelease` of one "lattice" symbol.

    Raises
    ------
    ValueError
        If ``value`` is not finite or ``rounding`` is not a Rounding.

    Examples
    --------
    >>> from sklearn_ada.mechanisms import UniformGrid
    >>> rounded(0.8349, Rounding(UniformGrid(0.0, 1.0, 101), guess=0.85)).answer
    0.83
    """
    index = int(rounding.grid.index(value))
    return Release(rounding.grid.value(index), CodedRelease((rounding.symbol(index, "lattice"),)))
