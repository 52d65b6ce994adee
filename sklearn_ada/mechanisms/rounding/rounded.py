"""A number rounded to a grid: one of finitely many answers, each of which has a price."""

from __future__ import annotations

from dataclasses import dataclass

from sklearn_ada._checks import bad_parameter, check_real
from sklearn_ada.events import CodedRelease, Symbol
from sklearn_ada.mechanisms.release import Release
from sklearn_ada.mechanisms.rounding.grid import Grid

__all__ = ["Rounding", "check_rounding", "rounded"]


@dataclass(frozen=True)
class Rounding:
    """A grid for an answer, and the grid point that is expected.

    Parameters
    ----------
    grid : Grid
        The answer is moved to its nearest point; values outside its range are truncated.
    guess : float or None, default=None
        The expected answer, known without the holdout: symbol 0. None takes the middle of the grid.
    scale : float, default=0.0
        The expected distance from the guess in grid points, known without the holdout; 0 if unknown.

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

    def __post_init__(self) -> None:
        if not isinstance(self.grid, Grid):
            raise bad_parameter("grid", "Rounding", "a Grid", self.grid)
        if self.guess is not None:
            object.__setattr__(self, "guess", check_real(self.guess, "guess", "Rounding"))
        object.__setattr__(self, "scale", check_real(self.scale, "scale", "Rounding", low=0.0, closed="low"))

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
    rounding = check_rounding(rounding, "rounded")
    index = int(rounding.grid.index(check_real(value, "value", "rounded")))
    return Release(rounding.grid.value(index), CodedRelease((rounding.symbol(index, "lattice"),)))


def check_rounding(rounding: object, owner: str) -> Rounding:
    """Return ``rounding`` if it is a Rounding, or raise ValueError."""
    if isinstance(rounding, Rounding):
        return rounding
    raise bad_parameter("rounding", owner, "a Rounding", rounding)
