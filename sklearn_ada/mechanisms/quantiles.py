"""The median, or another quantile, of a metric's values on subsamples: exact, or drawn privately.

Exact quantiles have no noise, and so a price in nats only. Private ones are drawn by the exponential
mechanism (Feldman, Steinke 2017, Theorem 3.1) or found by noisy binary search (Lemma 3.2, Corollary 3.3).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from sklearn_ada._validation import bad_parameter, check_indices, checked, describe, generator, real
from sklearn_ada.accounting.events import CodedRelease, ExponentialMechanismEvent, GaussianEvent, Release
from sklearn_ada.mechanisms.noise import with_normal
from sklearn_ada.mechanisms.rounding import Rounding, is_rounding

__all__ = [
    "binary_search_error", "binary_search_quantile", "exact_quantile", "exponential_quantile",
    "grid_quantile", "n_counting_questions", "private_quantile", "quantile_log_law", "rank_error",
    "search_quantile",
]  # fmt: skip


@checked(rounding=is_rounding, noise_multiplier="> 0", alpha="(0, 1]", level="(0, 1)", rng=generator)
def binary_search_quantile(
    values: ArrayLike,
    rounding: Rounding,
    *,
    noise_multiplier: float,
    alpha: float,
    rng: Generator,
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
    Only the grid point leaves, never a count. Gaussian answers to K adaptive questions at noise multiplier s
    are exactly as revealing as one at ``s / sqrt(K)`` (Dong, Roth, Su, "Gaussian differential privacy", JRSS
    B 2022, composition), so that one event is emitted. It counts all K questions wherever the search stopped,
    so the price reveals nothing.

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
    grid, owner = rounding.grid, "binary_search_quantile"
    if grid.size < 2:
        raise bad_parameter("rounding", owner, "a Rounding to at least two grid points", rounding)
    indices = check_indices(grid.index(values), grid.size, owner)
    multiplier = noise_multiplier / math.sqrt(n_counting_questions(grid.size))
    real(0.0)(multiplier, "noise_multiplier", owner)
    index = noisy_search(
        indices, grid.size, level=level, tolerance=alpha / 4.0, deviation=noise_multiplier, rng=rng
    )
    return Release(grid.value(index), GaussianEvent(multiplier, (rounding.symbol(index, "grid"),)))


@checked(grid_size="count", level="(0, 1)", tolerance="> 0")
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
    low, high = 0, grid_size - 1
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


@checked(grid_size="count")
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
    return 2 * (grid_size - 1).bit_length()


@checked(noise_multiplier="> 0", n_subsamples="count", grid_size="integer >= 2", beta="(0, 1)")
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
    questions = n_counting_questions(grid_size)
    return 4.0 * noise_multiplier * math.sqrt(2.0 * math.log(questions / beta)) / n_subsamples


@checked(level="[0, 1]")
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
    # The product may exceed an integer by a rounding error: 0.1 * 30 has to count as 3.
    return int(array[max(math.ceil(round(level * array.size, 9)), 1) - 1])


@checked(rounding=is_rounding)
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
    if np.ndim(values) != 1 or np.size(values) == 0:
        raise bad_parameter("values", "exact_quantile", "a non-empty one-dimensional array", describe(values))
    index = grid_quantile(rounding.grid.index(values), level)
    return Release(rounding.grid.value(index), CodedRelease((rounding.symbol(index, "grid"),)))


@checked(grid_size="count", epsilon="> 0", low="[0, 1]", rng=generator)
def exponential_quantile(
    indices: ArrayLike, grid_size: int, epsilon: float, rng: Generator, *, low: float = 0.5, high: float = 0.5
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
    starts, lengths, log_weights = _runs(indices, grid_size, epsilon, low, high, "exponential_quantile")
    weights = np.cumsum(np.exp(log_weights - log_weights.max()))
    run = int(np.searchsorted(weights, rng.random() * weights[-1], side="right"))
    return int(starts[run] + rng.integers(lengths[run]))


@checked(grid_size="count", epsilon="> 0", low="[0, 1]")
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


@checked(epsilon="> 0", n_subsamples="count", grid_size="count", beta="(0, 1)")
def rank_error(epsilon: float, n_subsamples: int, grid_size: int, beta: float) -> float:
    """Return how far from its level a private quantile's rank can be.

    Except with probability ``beta`` it is at most ``(2 / (epsilon m)) ln(|T| / beta)``, as a share of the m
    values (Feldman, Steinke 2017, (1)).

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
    return 2.0 * math.log(grid_size / beta) / (epsilon * n_subsamples)


@checked(rounding=is_rounding)
def private_quantile(
    values: ArrayLike,
    rounding: Rounding,
    *,
    epsilon: float,
    rng: Generator,
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
    grid = rounding.grid
    index = exponential_quantile(grid.index(values), grid.size, epsilon, rng, low=low, high=high)
    return Release(grid.value(index), ExponentialMechanismEvent(epsilon, (rounding.symbol(index, "grid"),)))


def noisy_search(
    indices: NDArray[np.int64],
    grid_size: int,
    *,
    level: float,
    tolerance: float,
    deviation: float,
    rng: Generator,
) -> int:
    """Return a grid index near a quantile, by `search_quantile` on noisy counts.

    The noise in a count is normal. This is a kernel: nothing is recorded, and only the point found may leave,
    never a count.

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


def _runs(
    indices: ArrayLike, grid_size: int, epsilon: float, low: float, high: float, owner: str
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Cut the grid into its runs of equal weight: first index, length and log-weight of each run."""
    array = check_indices(indices, grid_size, owner)
    high = real(low, 1.0, closed="both")(high, "high", owner)
    m = array.size
    points, counts = np.unique(array, return_counts=True)
    at_most = np.cumsum(counts)

    # Each distinct value is a run of its own; the gaps before, between and after are the others.
    starts = np.empty(2 * points.size + 1, dtype=np.int64)
    starts[0], starts[1::2], starts[2::2] = 0, points, points + 1
    lengths = np.diff(starts, append=grid_size)
    below = np.empty(starts.size, dtype=np.int64)
    below[0], below[1::2], below[2::2] = 0, at_most - counts, at_most
    above = m - below
    above[1::2] -= counts

    nonempty = lengths > 0
    starts, lengths = starts[nonempty], lengths[nonempty]
    cost = np.maximum(below - high * m, above - (1.0 - low) * m)[nonempty]
    return starts, lengths, np.log(lengths) - 0.5 * epsilon * cost
