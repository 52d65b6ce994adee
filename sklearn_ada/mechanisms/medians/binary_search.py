"""Approximate quantiles by noisy binary search (Feldman, Steinke 2017, Lemma 3.2 and Corollary 3.3)."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_ada._checks import bad_parameter, check_integer, check_real
from sklearn_ada.events import GaussianEvent
from sklearn_ada.mechanisms._inputs import check_generator, check_indices
from sklearn_ada.mechanisms.noise import with_normal
from sklearn_ada.mechanisms.release import Release
from sklearn_ada.mechanisms.rounding.rounded import Rounding, check_rounding

__all__ = [
    "binary_search_error",
    "binary_search_quantile",
    "n_counting_questions",
    "noisy_search",
    "search_quantile",
]


def binary_search_quantile(
    values: ArrayLike,
    rounding: Rounding,
    *,
    noise_multiplier: float,
    alpha: float,
    rng: np.random.Generator,
    level: float = 0.5,
) -> Release[float]:
    """Release an approximate quantile found by noisy counting: ``K/(2 noise_multiplier^2)``-zCDP.

    With K = ``n_counting_questions(|T|)`` and ``alpha >= binary_search_error(...)`` the answer lies in
    the sample's quantile interval ``(level - alpha/2, level + alpha/2)``, except with probability beta.

    Parameters
    ----------
    values : array of float, shape (m,)
        The estimator on each subsample; infinities are truncated to the grid.
    rounding : Rounding
        The grid, of at least two points, and the guess.
    noise_multiplier : float
        Standard deviation of the noise in each count, positive.
    alpha : float
        The accuracy aimed at, in (0, 1]. The search stops at a point whose noisy counts are within
        ``alpha/4`` of right.
    rng : numpy.random.Generator
        The source of randomness.
    level : float, default=0.5
        In (0, 1).

    Returns
    -------
    Release
        A grid point; one `GaussianEvent` with its "grid" symbol.

    Raises
    ------
    ValueError
        For a parameter outside its range; nothing has been drawn then.

    Notes
    -----
    Only the grid point leaves, never a count. Gaussian answers to K adaptive questions at noise
    multiplier s are exactly as revealing as one at ``s / sqrt(K)`` (Dong, Roth, Su, "Gaussian
    differential privacy", JRSS B 2022, composition), so that one event is emitted. It counts all K
    questions wherever the search stopped, so the price tells nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ada.mechanisms import UniformGrid
    >>> scores = np.random.default_rng(0).normal(0.8, 0.05, size=1000)
    >>> release = binary_search_quantile(
    ...     scores, Rounding(UniformGrid(0.0, 1.0, 1025)),
    ...     noise_multiplier=10.0, alpha=0.2, rng=np.random.default_rng(1),
    ... )
    >>> abs(release.answer - 0.8) < 0.02
    True
    """
    owner = "binary_search_quantile"
    grid = check_rounding(rounding, owner).grid
    if grid.size < 2:
        raise bad_parameter("rounding", owner, "a Rounding to at least two grid points", rounding)
    multiplier = check_real(noise_multiplier, "noise_multiplier", owner, low=0.0)
    alpha = check_real(alpha, "alpha", owner, low=0.0, high=1.0, closed="high")
    level = check_real(level, "level", owner, low=0.0, high=1.0)
    indices = check_indices(grid.index(values), grid.size, owner)
    event_multiplier = multiplier / math.sqrt(n_counting_questions(grid.size))
    check_real(event_multiplier, "noise_multiplier", owner, low=0.0)
    rng = check_generator(rng, owner)
    index = noisy_search(
        indices, grid.size, level=level, tolerance=alpha / 4.0, deviation=multiplier, rng=rng
    )
    event = GaussianEvent(event_multiplier, (rounding.symbol(index, "grid"),))
    return Release(grid.value(index), event)


def noisy_search(
    indices: NDArray[np.int64],
    grid_size: int,
    *,
    level: float,
    tolerance: float,
    deviation: float,
    rng: np.random.Generator,
) -> int:
    """Return a grid index near a quantile, found by `search_quantile` with normal noise in each count.

    A kernel: nothing is recorded, and only the point found may leave, never a count.

    Parameters
    ----------
    indices : ndarray of int, shape (m,)
        The values, as indices of a grid; in any order.
    grid_size, level, tolerance
        As in `search_quantile`.
    deviation : float
        Standard deviation of the noise in each count.
    rng : numpy.random.Generator

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> noisy_search(np.full(100, 3), 8, level=0.5, tolerance=0.1, deviation=2.0, rng=rng)
    3
    """
    ordered = np.sort(indices)

    def share(point: int, side: str) -> float:
        count = np.searchsorted(ordered, point, side="right" if side == "at most" else "left")
        return with_normal(float(count), deviation, rng) / ordered.size

    return search_quantile(share, grid_size, level=level, tolerance=tolerance)


def search_quantile(
    share: Callable[[int, str], float], grid_size: int, *, level: float, tolerance: float
) -> int:
    """Find a quantile of a distribution on a grid from approximate answers to counting questions.

    If every answer is within ``tolerance`` of the truth, the point returned lies in the distribution's
    quantile interval ``(level - 2 tolerance, level + 2 tolerance)``. Asks at most
    ``n_counting_questions(grid_size)`` questions.

    Parameters
    ----------
    share : callable
        ``share(v, "at most")`` and ``share(v, "below")`` answer which share of the distribution is at
        most, or below, the grid point v.
    grid_size : int
        Size of the grid T.
    level : float
        In (0, 1).
    tolerance : float
        Positive.

    References
    ----------
    Feldman, Steinke 2017, Lemma 3.2 (with level 1/2 and tolerance alpha/4).

    Examples
    --------
    >>> def uniform(point, side):
    ...     return (point + (side == "at most")) / 1000
    >>> 400 <= search_quantile(uniform, 1000, level=0.5, tolerance=0.05) <= 600
    True
    """
    owner = "search_quantile"
    low, high = 0, check_integer(grid_size, "grid_size", owner) - 1
    level = check_real(level, "level", owner, low=0.0, high=1.0)
    tolerance = check_real(tolerance, "tolerance", owner, low=0.0)
    # The true quantile passes both tests, so the last point left need not be asked about.
    while low < high:
        point = (low + high) // 2
        if share(point, "at most") <= level - tolerance:
            low = point + 1
        elif share(point, "below") >= level + tolerance:
            high = point - 1
        else:
            return point
    return low


def n_counting_questions(grid_size: int) -> int:
    """Return ``2 ceil(log2 |T|)``: how many counting questions a binary search asks at most.

    Parameters
    ----------
    grid_size : int
        The number of points of the grid T.

    Examples
    --------
    >>> n_counting_questions(1000)
    20
    """
    return 2 * (check_integer(grid_size, "grid_size", "n_counting_questions") - 1).bit_length()


def binary_search_error(noise_multiplier: float, n_subsamples: int, grid_size: int, beta: float) -> float:
    """Return the least alpha that `binary_search_quantile` guarantees except with probability beta.

    ``alpha = 4 noise_multiplier sqrt(2 ln(K / beta)) / m`` with K = ``n_counting_questions(grid_size)``:
    a standard normal exceeds t in absolute value with probability at most ``exp(-t^2 / 2)``.

    Parameters
    ----------
    noise_multiplier : float
        Standard deviation of the noise in each count, positive.
    n_subsamples : int
        m.
    grid_size : int
        Size of the grid T, at least 2.
    beta : float
        In (0, 1).

    Examples
    --------
    >>> round(binary_search_error(10.0, 1000, 1025, 0.05), 4)
    0.1396
    """
    owner = "binary_search_error"
    multiplier = check_real(noise_multiplier, "noise_multiplier", owner, low=0.0)
    m = check_integer(n_subsamples, "n_subsamples", owner)
    questions = n_counting_questions(check_integer(grid_size, "grid_size", owner, low=2))
    beta = check_real(beta, "beta", owner, low=0.0, high=1.0)
    return 4.0 * multiplier * math.sqrt(2.0 * math.log(questions / beta)) / m
