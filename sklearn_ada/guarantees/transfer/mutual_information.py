"""Gaussian noise by mutual information: what noisy answers tell about the holdout bounds how they overfit."""

from __future__ import annotations

import math

from sklearn_ada._solving import enclosed_root
from sklearn_ada.guarantees.transfer.gaussian_noise import GaussianBound, best_noise, check_answers

__all__ = ["gaussian_rogers"]


def gaussian_rogers(
    n: int, n_questions: int, ln_beta: float, *, noise_scale: float | None = None
) -> GaussianBound:
    """Return the mutual information bound of Rogers et al. (AISTATS 2020), after Russo, Zou (2016).

    With ``rho = 1/(2 n^2 sigma^2)`` per answer the conversation tells at most ``rho k n`` nats about the
    holdout, and except with probability beta all answers are within::

        sqrt(min over l in (0, 1) of (2 rho k n - ln(1 - l))/l / (2 n beta)) + (1/n) sqrt(ln(4k/beta)/rho)

    (half of beta for the mean square of the overfitting, by Markov, and half for the noise). The published
    program has 1/(2n) in the last term; the proof gives 1/n.

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

    Notes
    -----
    The minimum over l is where ``l/(1 - l) + ln(1 - l) = 2 rho k n``, and its value is ``1/(1 - l)``.

    Examples
    --------
    >>> round(gaussian_rogers(10_000, 100, math.log(0.05)).half_width, 4)
    0.247
    """
    n, k, ln_beta, noise_scale = check_answers(n, n_questions, ln_beta, noise_scale, "gaussian_rogers")
    if ln_beta < -700.0:  # Markov's inequality would overflow; vacuous long before
        return GaussianBound(math.inf, noise_scale or 1.0)
    root_of_beta = math.exp(ln_beta / 2.0)

    def half_width(sigma: float) -> float:
        noise = sigma * math.sqrt(2.0 * (math.log(4.0 * k) - ln_beta))
        return math.sqrt(_rogers_minimum(k / (n * sigma) / sigma) / (2.0 * n)) / root_of_beta + noise

    if noise_scale is None:
        noise_scale = best_noise(half_width, math.sqrt(math.sqrt(k) / n))
    return GaussianBound(half_width(noise_scale), noise_scale)


def _rogers_minimum(twice_nats: float) -> float:
    """``min over l of (twice_nats - ln(1 - l))/l``, by the root in ``t = l/(1 - l)`` of ``t - ln(1+t)``."""
    t = 1e15
    if twice_nats < t:
        t, _ = enclosed_root(lambda t: t - math.log1p(t) - twice_nats, 0.0, 2.0 * twice_nats + 4.0)
    l = max(t, 1e-300) / (1.0 + t)  # noqa: E741 - the paper's letter; any is valid
    return (twice_nats - math.log1p(-l)) / l
