"""How many subsamples the stable median needs (Feldman, Steinke 2017)."""

from __future__ import annotations

import math

from sklearn_ada._checks import check_integer, check_real

__all__ = ["adaptive_median_sample_size", "binary_search_sample_size", "median_sample_size"]


def median_sample_size(grid_size: int, *, epsilon: float, alpha: float, beta: float) -> int:
    """Return m for an alpha-approximate median by the exponential mechanism, except with chance beta.

    Theorem 3.1: ``m >= 4 ln(|T| / beta) / (epsilon alpha)``.

    Parameters
    ----------
    grid_size : int
        |T|.
    epsilon : float
        The privacy parameter, positive.
    alpha : float
        The width of the quantile interval around 1/2, in (0, 1].
    beta : float
        The failure probability, in (0, 1).

    Examples
    --------
    >>> median_sample_size(1000, epsilon=0.1, alpha=0.25, beta=0.05)
    1585
    """
    owner = "median_sample_size"
    size = check_integer(grid_size, "grid_size", owner)
    epsilon = check_real(epsilon, "epsilon", owner, low=0.0)
    alpha = check_real(alpha, "alpha", owner, low=0.0, high=1.0, closed="high")
    beta = check_real(beta, "beta", owner, low=0.0, high=1.0)
    return math.ceil(4.0 * math.log(size / beta) / (epsilon * alpha))


def binary_search_sample_size(
    grid_size: int, *, epsilon: float, delta: float, alpha: float, beta: float
) -> int:
    r"""Return m for an alpha-approximate median by noisy binary search under (epsilon, delta)-DP.

    Corollary 3.3, with :math:`\ell = \lceil\log_2|T|\rceil`:

    .. math:: m \ge 12 \sqrt{2 \ell \ln(1/\delta) \ln(2 \ell/\beta)} / (\epsilon\alpha).

    The counts then have Gaussian noise of standard deviation :math:`3\sqrt{\ell\ln(1/\delta)}/\epsilon`.

    Parameters
    ----------
    grid_size : int
        |T|, at least 2.
    epsilon, delta, alpha, beta : float
        Each in (0, 1/2).

    Examples
    --------
    >>> binary_search_sample_size(1000, epsilon=0.1, delta=1e-6, alpha=0.25, beta=0.05)
    19531
    """
    owner = "binary_search_sample_size"
    steps = (check_integer(grid_size, "grid_size", owner, low=2) - 1).bit_length()
    epsilon = check_real(epsilon, "epsilon", owner, low=0.0, high=0.5)
    delta = check_real(delta, "delta", owner, low=0.0, high=0.5)
    alpha = check_real(alpha, "alpha", owner, low=0.0, high=0.5)
    beta = check_real(beta, "beta", owner, low=0.0, high=0.5)
    root = math.sqrt(2.0 * steps * math.log(1.0 / delta) * math.log(2.0 * steps / beta))
    return math.ceil(12.0 * root / (epsilon * alpha))


def adaptive_median_sample_size(n_questions: int, grid_size: int, beta: float) -> int:
    r"""Return m for which k adaptive medians all lie in the interquartile interval of their estimator.

    Theorem 4.3, for the algorithm of its Figure 2, except with probability beta:

    .. math:: m \ge 640 \sqrt{\max(k, 16) \ln(256/b)} \ln(k r/b), \qquad b = \beta/2.

    The proof loses b for the medians of the sample and b for passing to the population.

    Parameters
    ----------
    n_questions : int
        k.
    grid_size : int
        r, the size of the largest grid, at least 2.
    beta : float
        The failure probability of all answers together, in (0, 1).

    Examples
    --------
    >>> adaptive_median_sample_size(10, 100, 0.05)
    82434
    """
    owner = "adaptive_median_sample_size"
    k = check_integer(n_questions, "n_questions", owner)
    size = check_integer(grid_size, "grid_size", owner, low=2)
    half = check_real(beta, "beta", owner, low=0.0, high=1.0) / 2.0
    return math.ceil(640.0 * math.sqrt(max(k, 16) * math.log(256.0 / half)) * math.log(k * size / half))
