"""Sample splitting: every question gets records that no other question has seen (a baseline)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sklearn_ada._checks import bad_parameter, check_integer
from sklearn_ada.mechanisms.release import Release
from sklearn_ada.mechanisms.rounding.rounded import Rounding, rounded
from sklearn_ada.mechanisms.state import StatefulMechanism

__all__ = ["SampleSplitting"]


@dataclass
class SampleSplitting(StatefulMechanism):
    """Answer each question on a slice of its own; exhausted after the last.

    An answer is as good as on a holdout of one slice's size that was never used before.

    Parameters
    ----------
    n_slices : int
        How many disjoint slices there are: how many questions can be asked.
    used : int
        Memory: how many slices have answered.

    Examples
    --------
    >>> from sklearn_ada.mechanisms import UniformGrid
    >>> splitting = SampleSplitting(n_slices=2)
    >>> rounding = Rounding(UniformGrid(0.0, 1.0, 1001), guess=0.8)
    >>> [splitting.ask([0.81, 0.79].__getitem__, rounding).answer for _ in range(2)]
    [0.81, 0.79]
    >>> splitting.exhausted
    True
    """

    n_slices: int
    used: int = 0

    def __post_init__(self) -> None:
        self.n_slices = check_integer(self.n_slices, "n_slices", "SampleSplitting")
        self._check_memory("used", self.n_slices)

    @property
    def exhausted(self) -> bool:
        """Whether every slice has answered."""
        return self.used == self.n_slices

    def ask(self, slice_value: Callable[[int], float], rounding: Rounding) -> Release[float]:
        """Answer with ``slice_value(i)`` of the next slice i, rounded to a grid.

        Parameters
        ----------
        slice_value : callable
            Takes the number of a slice and returns the value on it.
        rounding : Rounding
            The grid to which it is rounded.

        Returns
        -------
        Release
            The rounded value; a `CodedRelease` of one "lattice" symbol.

        Raises
        ------
        BudgetExhaustedError
            If every slice has answered.
        """
        if not callable(slice_value):
            raise bad_parameter("slice_value", "SampleSplitting", "a callable", slice_value)
        self._refuse_if_exhausted()
        release = rounded(slice_value(self.used), rounding)
        self.used += 1
        return release
