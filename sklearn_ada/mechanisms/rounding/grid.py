"""Grids: finite ordered sets of numbers, of any size, to whose points answers are rounded."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_ada._checks import bad_parameter, check_integer, check_real
from sklearn_ada.mechanisms._inputs import as_floats, describe

__all__ = ["ExplicitGrid", "Grid", "LogGrid", "UniformGrid"]


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
        array = as_floats(values, "values", type(self).__name__)
        if np.isnan(array).any():
            raise bad_parameter("values", type(self).__name__, "free of NaN", describe(array))
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
        low = check_real(self.low, "low", "UniformGrid")
        high = check_real(self.high, "high", "UniformGrid", low=low)
        size = check_integer(self.size, "size", "UniformGrid", low=2)
        check_real(high - low, "high - low", "UniformGrid", low=0.0)
        _check_resolution((high - low) / (size - 1), max(abs(low), abs(high)), size, "UniformGrid")
        for name, value in (("low", low), ("high", high), ("size", size)):
            object.__setattr__(self, name, value)

    def _value(self, index: int) -> float:
        if index == self.size - 1:
            return self.high
        return self.low + (self.high - self.low) * (index / (self.size - 1))

    def _index(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        share = (np.clip(values, self.low, self.high) - self.low) / (self.high - self.low)
        return np.rint(share * (self.size - 1)).astype(np.int64)


@dataclass(frozen=True)
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
        low = check_real(self.low, "low", "LogGrid", low=0.0)
        high = check_real(self.high, "high", "LogGrid", low=low)
        size = check_integer(self.size, "size", "LogGrid", low=2)
        ends = math.log(low), math.log(high)
        _check_resolution((ends[1] - ends[0]) / (size - 1), max(1.0, -ends[0], ends[1]), size, "LogGrid")
        for name, value in (("low", low), ("high", high), ("size", size)):
            object.__setattr__(self, name, value)

    def _value(self, index: int) -> float:
        if index in (0, self.size - 1):
            return self.high if index else self.low
        low, high = math.log(self.low), math.log(self.high)
        return math.exp(low + (high - low) * (index / (self.size - 1)))

    def _index(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        low, high = math.log(self.low), math.log(self.high)
        share = (np.log(np.clip(values, self.low, self.high)) - low) / (high - low)
        return np.rint(np.clip(share, 0.0, 1.0) * (self.size - 1)).astype(np.int64)

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
        array = as_floats(self.values, "values", "ExplicitGrid")
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
        below = inside - points[lower] <= points[upper] - inside
        return np.where(below, lower, upper).astype(np.int64)


def _check_resolution(step: float, magnitude: float, size: int, owner: str) -> None:
    # Closer neighbours would be rounded onto each other, and T would have fewer points than it says.
    if not step > 8.0 * math.ulp(magnitude):
        raise bad_parameter("size", owner, "small enough for neighbours to differ in double precision", size)
