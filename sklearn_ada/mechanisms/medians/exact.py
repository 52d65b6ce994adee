"""The exact median, or another quantile, of values on subsamples: no noise, and so a price in nats only."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ada._checks import bad_parameter, check_real
from sklearn_ada.events import CodedRelease
from sklearn_ada.mechanisms._inputs import check_indices, describe
from sklearn_ada.mechanisms.release import Release
from sklearn_ada.mechanisms.rounding.rounded import Rounding, check_rounding

__all__ = ["exact_quantile", "grid_quantile"]


def grid_quantile(indices: ArrayLike, level: float) -> int:
    """Return the exact lower sample quantile: the least value v with ``#{values <= v} >= level * m``.

    No noise at all, so this is not differentially private.

    Parameters
    ----------
    indices : array of int, shape (m,)
        The values, as indices of a grid.
    level : float
        In [0, 1]; .5 for the (lower) median, 0 for the minimum.

    Examples
    --------
    >>> grid_quantile([4, 1, 3, 2], 0.5)
    2
    """
    array = np.sort(check_indices(indices, 2**62, "grid_quantile"))
    level = check_real(level, "level", "grid_quantile", low=0.0, high=1.0, closed="both")
    # The product may exceed an integer by a rounding error: 0.1 * 30 has to count as 3.
    rank = math.ceil(round(level * array.size, 9))
    return int(array[max(rank, 1) - 1])


def exact_quantile(values: ArrayLike, rounding: Rounding, *, level: float = 0.5) -> Release[float]:
    """Release the exact lower quantile of the values rounded to the grid; not differentially private.

    Parameters
    ----------
    values : array of float, shape (m,)
        The estimator on each subsample; infinities are truncated to the grid.
    rounding : Rounding
        The grid and the guess.
    level : float, default=0.5
        In [0, 1].

    Returns
    -------
    Release
        A grid point; a `CodedRelease` of one "grid" symbol.

    Raises
    ------
    ValueError
        For a parameter outside its range.

    Examples
    --------
    >>> from sklearn_ada.mechanisms import UniformGrid
    >>> exact_quantile([0.1, 0.52, 0.9], Rounding(UniformGrid(0.0, 1.0, 11), guess=0.6)).answer
    0.5
    """
    owner = "exact_quantile"
    rounding = check_rounding(rounding, owner)
    if np.ndim(values) != 1 or np.size(values) == 0:
        raise bad_parameter("values", owner, "a non-empty one-dimensional array", describe(values))
    index = grid_quantile(rounding.grid.index(values), level)
    return Release(rounding.grid.value(index), CodedRelease((rounding.symbol(index, "grid"),)))
