"""Medians and quantiles by the exponential mechanism: law and draw (Feldman, Steinke 2017, Theorem 3.1)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from sklearn_ada._checks import check_integer, check_real
from sklearn_ada.events import ExponentialMechanismEvent
from sklearn_ada.mechanisms._inputs import check_generator, check_indices
from sklearn_ada.mechanisms.release import Release
from sklearn_ada.mechanisms.rounding.rounded import Rounding, check_rounding

__all__ = [
    "exponential_quantile",
    "exponential_rank_error",
    "private_quantile",
    "quantile_log_law",
    "rank_error",
]


def exponential_quantile(
    indices: ArrayLike,
    grid_size: int,
    epsilon: float,
    rng: np.random.Generator,
    *,
    low: float = 0.5,
    high: float = 0.5,
) -> int:
    r"""Draw the index of an approximate quantile, epsilon-differentially private in one value replaced.

    With probability at least ``1 - beta`` the point lies in the sample's quantile interval
    ``((low + high)/2 - a, (low + high)/2 + a)``, where ``a = rank_error(epsilon, m, grid_size, beta)``;
    so it lies in ``(low, high)`` if ``m >= 4 ln(grid_size / beta) / (epsilon (high - low))``.

    The grid point v is drawn with a probability proportional to ``exp(-epsilon c(v) / 2)``, where::

        c(v) = max(#{i: phi_i < v} - high m, #{i: phi_i > v} - (1 - low) m)

    For ``low = 1 - high`` (the default, and every interval symmetric about the median) this is the law
    of ``max(#{< v}, #{> v})``. In general it depends on ``low + high`` only: a wider interval does not
    change the answer, it is just easier to hit. The time is O(m log m) whatever the size of the grid.

    Parameters
    ----------
    indices : array of int, shape (m,)
        The values, as indices of a grid (`Grid.index`).
    grid_size : int
        How many points the grid has; the size of the answer's range.
    epsilon : float
        The privacy parameter, positive.
    rng : numpy.random.Generator
        The source of randomness.
    low, high : float, default=0.5
        The quantile interval aimed at, ``0 <= low <= high <= 1``.

    Returns
    -------
    int
        An index in ``0 .. grid_size - 1``.

    Raises
    ------
    ValueError
        For a parameter outside its range; nothing has been drawn then.

    Notes
    -----
    c has sensitivity 1. Replacing one value changes each of the two counts by at most 1 and leaves m,
    low and high alone, so each argument of the maximum is 1-Lipschitz; a maximum of 1-Lipschitz
    functions is 1-Lipschitz. The exponential mechanism is then epsilon-DP and epsilon-bounded-range.

    The interval: a sample quantile of level ``(low + high)/2`` has ``c <= -(high - low) m / 2``, so the
    best c has too, and ``c(V) < best + (2/epsilon) ln(grid_size / beta)`` except with probability beta.

    References
    ----------
    Feldman, Steinke, "Generalization for Adaptively-chosen Estimators via Stable Median", COLT 2017,
    Theorem 3.1 and its proof.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ada.mechanisms import UniformGrid
    >>> grid = UniformGrid(0.0, 1.0, 10**12)
    >>> scores = np.random.default_rng(0).normal(0.8, 0.05, size=1000)
    >>> drawn = exponential_quantile(grid.index(scores), grid.size, 0.5, np.random.default_rng(1))
    >>> bool(abs(grid.value(drawn) - 0.8) < 0.01)
    True
    """
    owner = "exponential_quantile"
    starts, lengths, log_weights = _runs(indices, grid_size, epsilon, low, high, owner)
    rng = check_generator(rng, owner)
    weights = np.cumsum(np.exp(log_weights - log_weights.max()))
    run = int(np.searchsorted(weights, rng.random() * weights[-1], side="right"))
    return int(starts[run] + rng.integers(lengths[run]))


def quantile_log_law(
    indices: ArrayLike, grid_size: int, epsilon: float, *, low: float = 0.5, high: float = 0.5
) -> NDArray[np.float64]:
    """Return the exact log-probability that `exponential_quantile` draws each point of a small grid.

    Parameters
    ----------
    indices, grid_size, epsilon, low, high
        As in `exponential_quantile`.

    Returns
    -------
    ndarray of float, shape (grid_size,)
        Enumerates the grid, so use it for small ones.

    Examples
    --------
    >>> np.exp(quantile_log_law([1, 1, 2], 3, 2.0)).round(4)
    array([0.09  , 0.6652, 0.2447])
    """
    _, lengths, log_weights = _runs(indices, grid_size, epsilon, low, high, "quantile_log_law")
    law: NDArray[np.float64] = np.repeat(log_weights - np.log(lengths), lengths) - logsumexp(log_weights)
    return law


def rank_error(epsilon: float, n_subsamples: int, grid_size: int, beta: float) -> float:
    """Return how far from its level a private quantile's rank can be, except with probability ``beta``.

    ``(2 / (epsilon m)) ln(|T| / beta)``, as a share of the m values (Feldman, Steinke 2017, (1)).

    Parameters
    ----------
    epsilon : float
        The privacy parameter, positive.
    n_subsamples : int
        m, how many values the quantile is taken of.
    grid_size : int
        Size of the grid T.
    beta : float
        In (0, 1).

    Examples
    --------
    >>> round(rank_error(0.1, 1000, 1000, 0.05), 4)
    0.1981
    """
    epsilon = check_real(epsilon, "epsilon", "rank_error", low=0.0)
    m = check_integer(n_subsamples, "n_subsamples", "rank_error")
    size = check_integer(grid_size, "grid_size", "rank_error")
    beta = check_real(beta, "beta", "rank_error", low=0.0, high=1.0)
    return exponential_rank_error(epsilon, m, math.log(size / beta))


def exponential_rank_error(epsilon: float, n_subsamples: int, nats: float) -> float:
    """Return ``2 nats / (epsilon m)``: points this far from the level have ``e^-nats`` of the best weight."""
    return 2.0 * nats / (epsilon * n_subsamples)


def _runs(
    indices: ArrayLike, grid_size: int, epsilon: float, low: float, high: float, owner: str
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Cut the grid into its runs of equal weight: first index, length and log-weight of each run."""
    size = check_integer(grid_size, "grid_size", owner)
    array = check_indices(indices, size, owner)
    epsilon = check_real(epsilon, "epsilon", owner, low=0.0)
    low = check_real(low, "low", owner, low=0.0, high=1.0, closed="both")
    high = check_real(high, "high", owner, low=low, high=1.0, closed="both")
    m = array.size
    points, counts = np.unique(array, return_counts=True)
    at_most = np.cumsum(counts)

    # Each distinct value is a run of its own; the gaps before, between and after are the others.
    starts = np.empty(2 * points.size + 1, dtype=np.int64)
    starts[0], starts[1::2], starts[2::2] = 0, points, points + 1
    lengths = np.diff(starts, append=size)
    below = np.empty(starts.size, dtype=np.int64)
    below[0], below[1::2], below[2::2] = 0, at_most - counts, at_most
    above = m - below
    above[1::2] -= counts

    nonempty = lengths > 0
    starts, lengths = starts[nonempty], lengths[nonempty]
    cost = np.maximum(below - high * m, above - (1.0 - low) * m)[nonempty]
    return starts, lengths, np.log(lengths) - 0.5 * epsilon * cost


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
