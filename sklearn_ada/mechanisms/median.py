"""The quantile of an estimator's values on subsamples, released on a grid."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ada._checks import bad_parameter
from sklearn_ada.events import CodedRelease, ExponentialMechanismEvent
from sklearn_ada.mechanisms._inputs import describe
from sklearn_ada.mechanisms.quantile import exponential_quantile, grid_quantile
from sklearn_ada.mechanisms.release import Release, Rounding, check_rounding

__all__ = ["exact_quantile", "private_quantile"]


def private_quantile(
    values: ArrayLike,
    rounding: Rounding,
    *,
    epsilon: float,
    rng: np.random.Generator,
    low: float = 0.5,
    high: float = 0.5,
) -> Release[float]:
    """Release an approximate quantile of the values, epsilon-DP in one value replaced.

    With the default it is the approximate median of Feldman and Steinke (2017, Theorem 3.1). The
    values are rounded to the grid first: the guarantee of `exponential_quantile` is about the rounded
    and truncated values.

    Parameters
    ----------
    values : array of float, shape (m,)
        The estimator on each subsample; infinities are truncated to the grid.
    rounding : Rounding
        The grid and the guess.
    epsilon, rng, low, high
        As in `exponential_quantile`.

    Returns
    -------
    Release
        A grid point; an `ExponentialMechanismEvent` with its "grid" symbol.

    Raises
    ------
    ValueError
        For a parameter outside its range; nothing has been drawn then.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ada.mechanisms import UniformGrid
    >>> scores = [0.8] * 1000
    >>> rounding = Rounding(UniformGrid(0.0, 1.0, 10**6 + 1), guess=0.8)
    >>> private_quantile(scores, rounding, epsilon=0.2, rng=np.random.default_rng(0)).answer
    0.8
    """
    owner = "private_quantile"
    grid = check_rounding(rounding, owner).grid
    indices = grid.index(values)
    index = exponential_quantile(indices, grid.size, epsilon, rng, low=low, high=high)
    event = ExponentialMechanismEvent(epsilon, (rounding.symbol(index, "grid"),))
    return Release(grid.value(index), event)


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
