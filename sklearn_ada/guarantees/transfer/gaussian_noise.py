"""Gaussian noise: half-widths of k adaptive answers by three transfer theorems, with the best noise.

Each answer is a mean of n values in [0, 1] plus noise of standard deviation sigma, so that k answers are
exactly mu-GDP with ``mu = sqrt(k)/(n sigma)`` (Dong, Roth, Su 2022) and cost ``mu^2/2`` in zCDP. Without
``noise_scale`` the noise that gives the smallest half-width is found numerically; any noise gives a valid
bound, so an inexact search costs width and never validity. Everything returned holds for all k answers at
once except with probability beta, however adaptively the questions were chosen.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri_exp

from sklearn_ada._checks import check_integer, check_real
from sklearn_ada.accounting.gaussian_dp import gaussian_log_delta
from sklearn_ada.guarantees._minimising import NONE, best_scale, simplex_minimum
from sklearn_ada.guarantees.transfer.bound import is_vacuous
from sklearn_ada.guarantees.transfer.direct import gaussian_dp_gap, gaussian_tail_mean
from sklearn_ada.guarantees.transfer.jung import jung_2020_best

__all__ = ["GaussianBound", "gaussian_bassily", "gaussian_direct", "gaussian_jung"]


@dataclass(frozen=True)
class GaussianBound:
    """How close k noisy answers are to the population, and with which noise.

    Attributes
    ----------
    half_width : float
        All answers are this close at once, except with probability beta.
    noise_scale : float
        Standard deviation of the noise in each answer.
    """

    half_width: float
    noise_scale: float

    @property
    def vacuous(self) -> bool:
        """Whether the half-width is 1/2 or more, which the answer 1/2 reaches without data."""
        return is_vacuous(self.half_width)


def gaussian_direct(
    n: int, n_questions: int, ln_beta: float, *, noise_scale: float | None = None
) -> GaussianBound:
    """Return the sharpest bound known here: Theorem 2 of `sklearn_ada.guarantees.transfer.direct`.

    The mean of the worst beta-tail of the noise plus the gap of mu-GDP at beta. Answers need no clipping.

    Parameters
    ----------
    n : int
        Number of records.
    n_questions : int
        k, at least 1, fixed in advance.
    ln_beta : float
        Logarithm of the failure probability, at most 0.
    noise_scale : float, optional
        Standard deviation of the noise, positive; by default the best.

    Returns
    -------
    GaussianBound
        Half-width and noise.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> bound = gaussian_direct(10_000, 100, math.log(0.05))
    >>> round(bound.half_width, 4), round(bound.noise_scale, 4), bound.vacuous
    (0.1003, 0.0137, False)
    """
    n, k, ln_beta, noise_scale = check_answers(n, n_questions, ln_beta, noise_scale, "gaussian_direct")

    def half_width(sigma: float) -> float:
        return gaussian_tail_mean(k, sigma, ln_beta) + gaussian_dp_gap(math.sqrt(k) / (n * sigma), ln_beta)

    if noise_scale is None:
        # The gap is about slope * mu, which makes the two terms equal at the optimum.
        tail, slope = gaussian_tail_mean(k, 1.0, ln_beta), gaussian_dp_gap(1e-3, ln_beta) / 1e-3
        noise_scale = best_noise(half_width, math.sqrt(slope * math.sqrt(k) / (n * tail)))
    return GaussianBound(half_width(noise_scale), noise_scale)


def gaussian_jung(
    n: int, n_questions: int, ln_beta: float, *, noise_scale: float | None = None
) -> GaussianBound:
    """Return the bound of Jung et al. (ITCS 2020) with the exact privacy curve of Gaussian noise.

    ``delta(epsilon) = Phi(-epsilon/mu + mu/2) - e^epsilon Phi(-epsilon/mu - mu/2)`` in `jung_2020_best`,
    minimised over epsilon, over the failure probability of the sample accuracy, and over the noise. Answers
    must be clipped to [0, 1].

    Parameters
    ----------
    n : int
        Number of records.
    n_questions : int
        k, at least 1, fixed in advance.
    ln_beta : float
        Logarithm of the failure probability, at most 0.
    noise_scale : float, optional
        Standard deviation of the noise, positive; by default the best.

    Returns
    -------
    GaussianBound
        Half-width and noise.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(gaussian_jung(10_000, 100, math.log(0.05)).half_width, 4)
    0.2306
    """
    n, k, ln_beta, noise_scale = check_answers(n, n_questions, ln_beta, noise_scale, "gaussian_jung")

    def half_width(sigma: float, epsilon: float, ln_sample: float) -> float:
        alpha = -sigma * float(ndtri_exp(ln_sample - math.log(2.0 * k)))
        ln_delta = gaussian_log_delta(math.sqrt(k) / (n * sigma), epsilon)
        return jung_2020_best(alpha, ln_sample, epsilon, ln_delta, ln_beta)

    def objective(x: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        ln_epsilon, ln_sample = float(x[0]), float(x[1])
        ln_sigma = float(x[2]) if noise_scale is None else math.log(noise_scale)
        if not (-60.0 < ln_epsilon < 6.0 and ln_sample < 0.0 and -60.0 < ln_sigma < 60.0):
            return NONE
        return min(half_width(math.exp(ln_sigma), math.exp(ln_epsilon), ln_sample), NONE)

    # The start balances the two terms; c and d of about a tenth of the half-width set the small
    # probabilities.
    ln_sample = 2.0 * ln_beta - math.log(n) / 2.0
    z = -float(ndtri_exp(ln_sample - math.log(2.0 * k)))
    sigma = noise_scale or math.sqrt(math.sqrt(k) / n)
    epsilon = min(z * math.sqrt(k) / (n * sigma), 1.0)
    start = [math.log(epsilon), ln_sample] + ([math.log(sigma)] if noise_scale is None else [])
    best, at = simplex_minimum(objective, start)
    return GaussianBound(best, noise_scale or math.exp(at[2]))


def gaussian_bassily(n: int, n_questions: int, ln_beta: float) -> GaussianBound:
    """Return the bound of `bassily_2016` with the exact privacy curve of Gaussian noise, noise chosen best.

    ``6 epsilon + alpha`` at ``k beta0 + max(4 delta/epsilon, e^(-epsilon^2 n/8)) = beta``, where the noise
    exceeds alpha with probability beta0. Infinite where no ``sqrt(12/n) <= epsilon <= 1/8`` will do.

    Parameters
    ----------
    n : int
        Number of records.
    n_questions : int
        k, at least 1, fixed in advance.
    ln_beta : float
        Logarithm of the failure probability, at most that of 1/4: then ``delta <= epsilon/16`` need not be
        checked.

    Returns
    -------
    GaussianBound
        Half-width and noise.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(gaussian_bassily(1_000_000, 1000, math.log(0.05)).half_width, 4)
    0.076
    """
    n, k, ln_beta, _ = check_answers(n, n_questions, ln_beta, None, "gaussian_bassily")
    check_real(ln_beta, "ln_beta", "gaussian_bassily", high=-math.log(4.0), closed="high")
    least = math.sqrt(max(12.0, -8.0 * ln_beta) / n)
    if not least < 0.125 or ln_beta < -700.0:
        return GaussianBound(math.inf, math.nan)
    beta = math.exp(ln_beta)

    def half_width(x: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        epsilon, sigma = math.exp(x[0]), math.exp(x[1])
        if not (least <= epsilon <= 0.125 and abs(x[1]) < 60.0):
            return NONE
        delta = math.exp(gaussian_log_delta(math.sqrt(k) / (n * sigma), epsilon))
        left = beta - max(4.0 * delta / epsilon, math.exp(-(epsilon**2) * n / 8.0))
        return 6.0 * epsilon - sigma * float(ndtri_exp(math.log(left / (2.0 * k)))) if left > 0.0 else NONE

    best = (NONE, math.nan)
    for epsilon in (1.05 * least, min(2.0 * least, 0.12)):
        start = [math.log(epsilon), math.log(5.0 * math.sqrt(k) / (n * epsilon))]
        found, at = simplex_minimum(half_width, start)
        best = min(best, (found, math.exp(at[1])))
    return GaussianBound(*best) if best[0] < NONE else GaussianBound(math.inf, math.nan)


def best_noise(half_width: Callable[[float], float], guess: float) -> float:
    """Return the noise in a wide range around ``guess`` with about the smallest half-width."""
    grid = math.log(guess) + np.linspace(-5.0, 5.0, 41)
    centre = int(np.argmin([half_width(math.exp(x)) for x in grid]))
    low, high = grid[max(centre - 1, 0)], grid[min(centre + 1, 40)]
    return best_scale(half_width, low, high, xatol=1e-7)


def check_answers(
    n: int, n_questions: int, ln_beta: float, noise_scale: float | None, owner: str
) -> tuple[int, int, float, float | None]:
    """Return the parameters that all bounds of Gaussian noise share, or raise ValueError."""
    return (
        check_integer(n, "n", owner),
        check_integer(n_questions, "n_questions", owner),
        check_real(ln_beta, "ln_beta", owner, high=0.0, closed="high"),
        None if noise_scale is None else check_real(noise_scale, "noise_scale", owner, low=0.0),
    )
