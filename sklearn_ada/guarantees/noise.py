"""Gaussian and Laplace noise: half-widths of k adaptive answers, the best noise, and the budget it needs.

Each answer is a mean of n values in [0, 1] plus noise. With Gaussian noise of standard deviation sigma, k
answers are exactly mu-GDP with ``mu = sqrt(k)/(n sigma)`` (Dong, Roth, Su 2022) and cost ``mu^2/2`` in zCDP.
Without ``noise_scale`` the noise that gives the smallest half-width is found numerically; any noise gives a
valid bound, so an inexact search costs width and never validity. Everything returned holds for all k answers
at once except with probability beta, however adaptively the questions were chosen.

A ledger's privacy budget, the zCDP parameter rho, is decided before anything is asked: a certificate by
transfer is as wide as the noise of its answer plus the gap that the budget allows. Much noise spends little;
the best budget balances the two for the number of questions expected.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import ndtri_exp

from sklearn_ada._solving import NONE, best_scale, enclosed_root, simplex_minimum, smallest_integer
from sklearn_ada._validation import LN_2, bad_parameter, checked, real
from sklearn_ada.accounting import differential_privacy as privacy
from sklearn_ada.guarantees import transfer
from sklearn_ada.guarantees.intervals import Array
from sklearn_ada.guarantees.medians import median_rank_error
from sklearn_ada.guarantees.transfer import gaussian_dp_gap, gaussian_tail_mean, jung_2020_best, zcdp_gap

__all__ = [
    "GaussianBound", "LaplaceBound", "LaplacePlan", "gaussian_bassily", "gaussian_direct", "gaussian_jung",
    "gaussian_rogers", "laplace_bassily", "laplace_plan",
]  # fmt: skip


_BETA = real(1e-300, 0.25, closed="high")  # for Theorem 1.2 of lecture 19


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
        return transfer.is_vacuous(self.half_width)


@checked(n="count", n_questions="count", ln_beta="<= 0", noise_scale="> 0 or None")
def gaussian_direct(
    n: int, n_questions: int, ln_beta: float, *, noise_scale: float | None = None
) -> GaussianBound:
    """Return the sharpest of these bounds: Theorem 2 of `sklearn_ada.guarantees.transfer`.

    The mean of the worst beta-tail of the noise plus the gap of mu-GDP at beta. Answers need no clipping.

    Parameters
    ----------
    n : int
        Number of rows.
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
    k = n_questions

    def half_width(sigma: float) -> float:
        return gaussian_tail_mean(k, sigma, ln_beta) + gaussian_dp_gap(math.sqrt(k) / (n * sigma), ln_beta)

    if noise_scale is None:
        # The gap is about slope * mu, which makes the two terms equal at the optimum.
        tail, slope = gaussian_tail_mean(k, 1.0, ln_beta), gaussian_dp_gap(1e-3, ln_beta) / 1e-3
        noise_scale = _best_noise(half_width, math.sqrt(slope * math.sqrt(k) / (n * tail)))
    return GaussianBound(half_width(noise_scale), noise_scale)


@checked(n="count", n_questions="count", ln_beta="<= 0", noise_scale="> 0 or None")
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
        Number of rows.
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
    k = n_questions

    def half_width(sigma: float, epsilon: float, ln_sample: float) -> float:
        alpha = -sigma * float(ndtri_exp(ln_sample - math.log(2.0 * k)))
        ln_delta = privacy.gaussian_log_delta(math.sqrt(k) / (n * sigma), epsilon)
        return jung_2020_best(alpha, ln_sample, epsilon, ln_delta, ln_beta)

    def objective(x: Array) -> float:
        ln_epsilon, ln_sample = float(x[0]), float(x[1])
        ln_sigma = float(x[2]) if noise_scale is None else math.log(noise_scale)
        if not (-60.0 < ln_epsilon < 6.0 and ln_sample < 0.0 and -60.0 < ln_sigma < 60.0):
            return NONE
        return half_width(math.exp(ln_sigma), math.exp(ln_epsilon), ln_sample)

    # The start balances the two terms; c and d of about a tenth of the half-width set the small
    # probabilities.
    ln_sample = 2.0 * ln_beta - math.log(n) / 2.0
    z = -float(ndtri_exp(ln_sample - math.log(2.0 * k)))
    sigma = noise_scale or math.sqrt(math.sqrt(k) / n)
    epsilon = min(z * math.sqrt(k) / (n * sigma), 1.0)
    start = [math.log(epsilon), ln_sample] + ([math.log(sigma)] if noise_scale is None else [])
    best, at = simplex_minimum(objective, start)
    return GaussianBound(best, noise_scale or math.exp(at[2]))


@checked(n="count", n_questions="count", ln_beta=real(high=-math.log(4.0), closed="high"))
def gaussian_bassily(n: int, n_questions: int, ln_beta: float) -> GaussianBound:
    """Return the bound of `bassily_2016` for Gaussian noise, chosen best.

    With the exact privacy curve of Gaussian noise it is ``6 epsilon + alpha`` at
    ``k beta0 + max(4 delta/epsilon, e^(-epsilon^2 n/8)) = beta``, where the noise exceeds alpha with
    probability beta0. Infinite where no ``sqrt(12/n) <= epsilon <= 1/8`` will do.

    Parameters
    ----------
    n : int
        Number of rows.
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
    k = n_questions
    least = math.sqrt(max(12.0, -8.0 * ln_beta) / n)
    if not least < 0.125 or ln_beta < -700.0:
        return GaussianBound(math.inf, math.nan)
    beta = math.exp(ln_beta)

    def half_width(x: Array) -> float:
        epsilon, sigma = math.exp(x[0]), math.exp(x[1])
        if not (least <= epsilon <= 0.125 and abs(x[1]) < 60.0):
            return NONE
        delta = math.exp(privacy.gaussian_log_delta(math.sqrt(k) / (n * sigma), epsilon))
        left = beta - max(4.0 * delta / epsilon, math.exp(-(epsilon**2) * n / 8.0))
        return 6.0 * epsilon - sigma * float(ndtri_exp(math.log(left / (2.0 * k)))) if left > 0.0 else NONE

    best = (NONE, math.nan)
    for epsilon in (1.05 * least, min(2.0 * least, 0.12)):
        start = [math.log(epsilon), math.log(5.0 * math.sqrt(k) / (n * epsilon))]
        found, at = simplex_minimum(half_width, start)
        best = min(best, (found, math.exp(at[1])))
    return GaussianBound(*best) if best[0] < NONE else GaussianBound(math.inf, math.nan)


@checked(n="count", n_questions="count", ln_beta="<= 0", noise_scale="> 0 or None")
def gaussian_rogers(
    n: int, n_questions: int, ln_beta: float, *, noise_scale: float | None = None
) -> GaussianBound:
    """Return the mutual information bound of Rogers et al. (AISTATS 2020), after Russo, Zou (2016).

    With ``rho = 1/(2 n^2 sigma^2)`` per answer the conversation reveals at most ``rho k n`` nats about the
    holdout, and except with probability beta all answers are within::

        sqrt(min over l in (0, 1) of (2 rho k n - ln(1 - l))/l / (2 n beta)) + (1/n) sqrt(ln(4k/beta)/rho)

    (half of beta for the mean square of the overfitting, by Markov, and half for the noise). The published
    program has 1/(2n) in the last term; the proof gives 1/n.

    Parameters
    ----------
    n : int
        Number of rows.
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

    Notes
    -----
    The minimum over l is where ``l/(1 - l) + ln(1 - l) = 2 rho k n``, and its value is ``1/(1 - l)``.

    Examples
    --------
    >>> round(gaussian_rogers(10_000, 100, math.log(0.05)).half_width, 4)
    0.247
    """
    k = n_questions
    if ln_beta < -700.0:  # Markov's inequality would overflow; vacuous long before
        return GaussianBound(math.inf, noise_scale or 1.0)
    root_of_beta = math.exp(ln_beta / 2.0)

    def half_width(sigma: float) -> float:
        noise = sigma * math.sqrt(2.0 * (math.log(4.0 * k) - ln_beta))
        return math.sqrt(_rogers_minimum(k / (n * sigma) / sigma) / (2.0 * n)) / root_of_beta + noise

    if noise_scale is None:
        noise_scale = _best_noise(half_width, math.sqrt(math.sqrt(k) / n))
    return GaussianBound(half_width(noise_scale), noise_scale)


def _best_noise(half_width: Callable[[float], float], guess: float) -> float:
    """Return the noise in a wide range around ``guess`` with about the smallest half-width."""
    grid = math.log(guess) + np.linspace(-5.0, 5.0, 41)
    centre = int(np.argmin([half_width(math.exp(x)) for x in grid]))
    low, high = grid[max(centre - 1, 0)], grid[min(centre + 1, 40)]
    return best_scale(half_width, low, high, xatol=1e-7)


def _rogers_minimum(twice_nats: float) -> float:
    """Return ``min over l of (twice_nats - ln(1 - l))/l``.

    It is found as a root in ``t = l/(1 - l)``.
    """
    t = 1e15
    if twice_nats < t:
        t, _ = enclosed_root(lambda t: t - math.log1p(t) - twice_nats, 0.0, 2.0 * twice_nats + 4.0)
    l = max(t, 1e-300) / (1.0 + t)  # noqa: E741 - the paper's letter; any is valid
    return (twice_nats - math.log1p(-l)) / l


class LaplaceBound(NamedTuple):
    """How close k answers with Laplace noise are to the population, and with which noise.

    Attributes
    ----------
    half_width : float
        All answers are this close at once, except with probability beta; infinite where no noise will do.
    epsilon : float
        Privacy parameter of each answer: the noise has the scale ``1/(n epsilon)``.
    """

    half_width: float
    epsilon: float


class LaplacePlan(NamedTuple):
    """How to answer k questions with Laplace noise.

    Attributes
    ----------
    n : int
        Number of rows.
    epsilon : float
        Privacy parameter of each answer: the noise has the scale ``1/(n epsilon)``.
    """

    n: int
    epsilon: float


@checked(n_questions="count", alpha="(0, 1)", beta=_BETA)
def laplace_plan(n_questions: int, alpha: float, beta: float) -> LaplacePlan:
    """Return how many rows lecture 19 needs for k answers with Laplace noise.

    The smallest n found with an epsilon per answer such that `bassily_2016` (Theorem 1.2) gives half-width
    alpha and failure probability beta: the noise exceeds ``ln(1/b)/(n epsilon)`` with probability b (Claim
    1.3), and the answers compose to (epsilon', delta)-DP by the exact zCDP of Laplace noise, or by basic
    composition where that is better. The lecture composes by a looser theorem and leaves the constants open.
    The split of beta, delta and epsilon' are chosen numerically.

    Parameters
    ----------
    n_questions : int
        k, at least 1, fixed in advance.
    alpha : float
        Accuracy wanted for all answers together, in (0, 1).
    beta : float
        Failure probability, in (1e-300, 1/4]; beyond, ``delta <= epsilon/16`` would have to be checked too.

    Returns
    -------
    LaplacePlan
        Number of rows and privacy parameter of each answer.

    Raises
    ------
    ValueError
        If a parameter is out of range, or no reasonable number of rows is enough.

    Examples
    --------
    >>> laplace_plan(1, alpha=0.1, beta=0.05).n
    95069
    """
    try:
        start = math.floor(432.0 / alpha / alpha)  # below this, 6 epsilon alone is above alpha
        n = smallest_integer(lambda n: laplace_bassily(n, n_questions, beta).half_width <= alpha, start=start)
    except OverflowError:
        enough = f"reached for k={n_questions} and beta={beta:g} by fewer than 2^60 rows"
        raise bad_parameter("alpha", "laplace_plan", enough, alpha) from None
    return LaplacePlan(n, laplace_bassily(n, n_questions, beta).epsilon)


@checked(n="count", n_questions="count", beta=_BETA)
def laplace_bassily(n: int, n_questions: int, beta: float) -> LaplaceBound:
    """Return the half-width of k answers with Laplace noise, by lecture 19.

    It is the bound of `bassily_2016` (Theorem 1.2), which `laplace_plan` solves for the number of rows. Below
    some ten thousand rows the theorem allows no noise at all.

    Parameters
    ----------
    n : int
        Number of rows.
    n_questions : int
        k, at least 1, fixed in advance.
    beta : float
        Failure probability, in (1e-300, 1/4].

    Returns
    -------
    LaplaceBound
        Half-width and privacy parameter of each answer.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> bound = laplace_bassily(1_000_000, 100, beta=0.05)
    >>> round(bound.half_width, 4)
    0.0661
    """
    k = n_questions

    def half_width(total_epsilon: float, delta: float, epsilon: float) -> float:
        """Return that of k answers at ``epsilon`` that are together (total_epsilon, delta)-DP."""
        if not math.sqrt(12.0 / n) <= total_epsilon <= 0.125:
            return NONE
        overfitting = max(4.0 * delta / total_epsilon, math.exp(-(total_epsilon**2) * n / 8.0))
        if not overfitting < beta:
            return NONE
        return 6.0 * total_epsilon + math.log(k / (beta - overfitting)) / (n * epsilon)

    def by_zcdp(x: Array) -> float:
        if not np.all(np.abs(x) < 100.0):
            return NONE
        rho, delta = math.exp(x[0]), min(math.exp(x[1]), 0.5)
        return half_width(privacy.zcdp_epsilon(rho, delta), delta, privacy.laplace_epsilon(rho / k))

    # No smaller epsilon in total is allowed by the theorem, or by beta.
    least = math.sqrt(max(12.0, -8.0 * math.log(beta)) / n)
    if least >= 0.125:
        return LaplaceBound(math.inf, math.nan)
    basic = minimize_scalar(lambda e: half_width(e, 0.0, e / k), bounds=(least, 0.125), method="bounded")
    best = float(basic.fun), float(basic.x) / k
    for epsilon in (1.1 * least, min(3.0 * least, 0.12)):
        delta = epsilon * beta / 12.0
        start = [math.log(epsilon**2 / (4.0 * -math.log(delta))), math.log(delta)]
        found, at = simplex_minimum(by_zcdp, start, xatol=1e-4, fatol=1e-8, runs=1)
        if found < best[0]:
            best = found, privacy.laplace_epsilon(math.exp(at[0]) / k)
    return LaplaceBound(*best) if best[0] < NONE else LaplaceBound(math.inf, math.nan)


@lru_cache(maxsize=256)
@checked(n="count", n_questions="count", ln_noise="< 0")
def rows_budget(n: int, n_questions: int, ln_gap: float, ln_noise: float) -> float:
    """Return the rho with which k Gaussian answers about means have the smallest half-width.

    Minimises ``sigma z + zcdp_gap(rho)`` with ``rho = k/(2 n^2 sigma^2)`` and z the normal quantile at
    ``ln_noise``. Rounded to three digits, so that it is the same on every machine; every value is valid.

    Parameters
    ----------
    n, n_questions : int
        Records, and questions expected.
    ln_gap, ln_noise : float
        Logarithms of the failure probabilities of the gap and of the noise of one answer, below 0.

    Examples
    --------
    >>> rows_budget(10_000, 100, math.log(0.025), math.log(0.025 / 100))
    0.00211
    """
    z = -float(ndtri_exp(ln_noise - LN_2))
    return _best_rho(lambda rho: z * math.sqrt(n_questions / (2.0 * rho)) / n + zcdp_gap(rho, ln_gap))


@lru_cache(maxsize=256)
@checked(n_subsamples="count", n_questions="count")
def subsamples_budget(
    n_subsamples: int, n_questions: int, grid_size: int, ln_gap: float, ln_noise: float
) -> float:
    """Return the rho with which k medians are in the narrowest quantile interval.

    The medians are drawn by the exponential mechanism; minimises ``median_rank_error + zcdp_gap(rho)``.
    Rounded to three digits; every value is valid.

    Parameters
    ----------
    n_subsamples, n_questions, grid_size : int
        Subsamples, questions expected, and points of a grid.
    ln_gap, ln_noise : float
        Logarithms of the failure probabilities of the gap and of the draw of one answer, below 0.

    Examples
    --------
    >>> subsamples_budget(10_000, 100, 1001, math.log(0.025), math.log(0.025 / 100))
    0.00818
    """

    def width(rho: float) -> float:
        epsilon = privacy.exponential_epsilon(rho / n_questions)
        return median_rank_error(n_subsamples, 1, grid_size, epsilon, ln_noise) + zcdp_gap(rho, ln_gap)

    return _best_rho(width)


def _best_rho(width: Callable[[float], float]) -> float:
    return float(f"{best_scale(width, -40.0, 1.0):.3g}")
