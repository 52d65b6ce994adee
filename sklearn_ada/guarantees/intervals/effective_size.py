"""How many independent terms a weighted mean, or a mean over classes, counts as in Hoeffding's interval."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ada._checks import bad_parameter, check_integer, check_real

__all__ = ["bounded_weight_size", "class_mean_size", "kish_size"]


def class_mean_size(class_counts: tuple[int, ...]) -> float:
    """Return ``C^2 / sum_c (1/n_c)``: the size of a mean of C per-class means, for Hoeffding.

    Parameters
    ----------
    class_counts : tuple of int
        Records of each class.

    Examples
    --------
    >>> class_mean_size((50, 50))
    100.0
    """
    if not class_counts:
        raise bad_parameter("class_counts", "class_mean_size", "a non-empty tuple", class_counts)
    counts = [check_integer(c, "class_counts", "class_mean_size") for c in class_counts]
    return len(counts) ** 2 / math.fsum(1.0 / c for c in counts)


def kish_size(weights: ArrayLike) -> float:
    """Return ``W^2 / sum w^2``: the size, for Hoeffding, of a mean with known weights.

    For independent terms ``X_u`` of one range and *fixed* weights the interval holds for the mean of
    ``sum w_u X_u / W`` at these weights. It does not hold for the population's ``E[wX]/E[w]`` when the
    weights are random and go with the terms: use `bounded_weight_size` there.

    Source: Hoeffding (1963), Theorem 2, for terms of range ``w_u / W``; the size is Kish's (1965).

    Parameters
    ----------
    weights : array-like of shape (n,)
        At least 0, and not all 0.

    Examples
    --------
    >>> kish_size([1.0, 1.0, 1.0, 1.0]), kish_size([3.0, 1.0, 0.0])
    (4.0, 1.6)
    """
    array = np.asarray(weights, dtype=np.float64)
    if array.ndim != 1 or not (np.isfinite(array).all() and (array >= 0.0).all() and array.any()):
        raise bad_parameter("weights", "kish_size", "finite numbers of at least 0, not all 0", "others")
    return float(array.sum() ** 2 / np.square(array).sum())


def bounded_weight_size(n: int, mean_weight: float, weight_bound: float) -> float:
    """Return ``n (mean_weight / weight_bound)^2``: the size, for Hoeffding, of ``E[wX]/E[w]``.

    At the true ratio r the n independent terms ``w (X - r)`` have mean 0 and a range of ``weight_bound``, and
    the ratio observed differs from r by their sum over ``n * mean_weight``. The half-width is so
    ``(b / mean_weight) sqrt(ln(2/delta) / (2n))``; for X in [0, 1], others rescaled.

    Source: Hoeffding (1963), Theorem 2.

    Parameters
    ----------
    n : int
        Number of independent terms.
    mean_weight : float
        Observed mean of their weights (or less), in (0, weight_bound].
    weight_bound : float
        What no weight of the population exceeds, known without the sample.

    Examples
    --------
    >>> bounded_weight_size(1000, 0.5, 1.0)
    250.0
    """
    n = check_integer(n, "n", "bounded_weight_size")
    bound = check_real(weight_bound, "weight_bound", "bounded_weight_size", low=0.0)
    mean = check_real(mean_weight, "mean_weight", "bounded_weight_size", low=0.0, high=bound, closed="high")
    return n * (mean / bound) ** 2
