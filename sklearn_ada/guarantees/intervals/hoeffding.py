"""Hoeffding's interval for a mean of independent bounded terms, and its half-width."""

from __future__ import annotations

import math

from sklearn_ada._checks import check_real
from sklearn_ada._constants import OUTWARDS
from sklearn_ada.guarantees.intervals._sides import check_range, ln_side, to_unit

__all__ = ["hoeffding", "hoeffding_half_width"]


def hoeffding_half_width(size: float, ln_delta: float, width: float = 1.0) -> float:
    """Return ``width * sqrt(ln(2/delta) / (2 size))``, which no Chernoff interval exceeds.

    Source: Hoeffding (1963), Theorem 2, for a mean of ``size`` independent terms of range ``width``.

    Parameters
    ----------
    size : float
        Number of independent terms.
    ln_delta : float
        Logarithm of delta, at most 0.
    width : float, default=1.0
        Of the range of one term.

    Examples
    --------
    >>> round(hoeffding_half_width(1000, math.log(0.05)), 5)
    0.04295
    """
    size = check_real(size, "size", "hoeffding_half_width", low=0.0)
    width = check_real(width, "width", "hoeffding_half_width", low=0.0)
    return width * math.sqrt(-ln_side(ln_delta, "hoeffding_half_width") / (2.0 * size))


def hoeffding(
    low_value: float,
    high_value: float,
    size: float,
    ln_delta: float,
    range: tuple[float, float] = (0.0, 1.0),
) -> tuple[float, float]:
    """Return an interval for the mean of independent terms that misses with probability at most delta.

    What ``size`` is for a mean that is not a plain mean over n records (`effective_size` has the proofs):

    - balanced accuracy and macro recall: ``class_mean_size(counts)``, which is ``C^2 / sum_c (1/n_c)``;
    - a mean at known weights: ``kish_size(weights)``, which is ``W^2 / sum w^2``;
    - the population's weighted mean ``E[wX] / E[w]``: ``bounded_weight_size(n, mean_weight, b)``, which makes
      the half-width ``(b / mean_weight) sqrt(ln(2/delta) / (2n))``.

    Parameters
    ----------
    low_value, high_value : float
        Ends of what is known of the empirical mean, inside ``range``.
    size : float
        Number of independent terms, positive.
    ln_delta : float
        Logarithm of the failure probability, at most 0.
    range : tuple of float, default=(0, 1)
        Finite bounds of the variable.

    Returns
    -------
    low, high : float

    Examples
    --------
    >>> low, high = hoeffding(0.85, 0.85, 1000, math.log(0.05))
    >>> round(low, 4), round(high, 4)
    (0.8071, 0.8929)
    """
    bottom, top = check_range(range, "hoeffding")
    p_low, p_high = to_unit(low_value, high_value, bottom, top, "hoeffding")
    half = hoeffding_half_width(size, ln_delta) * (1.0 + OUTWARDS)
    low, high = max(p_low - half, 0.0), min(p_high + half, 1.0)
    return bottom + low * (top - bottom), bottom + high * (top - bottom)
