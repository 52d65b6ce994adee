"""How many independent terms a weighted mean, or a mean over classes, counts as in Hoeffding's interval."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ada._checks import bad_parameter, check_integer, check_real

__all__ = ["averaged_auc_size", "bounded_weight_size", "class_mean_size", "kish_size"]


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


def averaged_auc_size(class_counts: tuple[int, ...], *, pairs: bool, weighted: bool = False) -> float:
    """Return the size, for Hoeffding's formula, of an AUC that is averaged over classes or pairs of them.

    The larger of two, given the labels. Another score of one record of class k moves the average by at most
    ``c_k``, so by McDiarmid's inequality it is off its expectation by t with probability at most
    ``exp(-2 t^2 / sum_k n_k c_k^2)`` on each side: the size is ``1 / sum_k n_k c_k^2``. (The AUC of k against
    the rest is moved by ``1 / n_k``, that of j against the rest by ``1 / (n - n_j)``, that of j and k by
    ``1 / n_k``.) And every AUC has, by Hoeffding, the size m of its smaller sample, and so is sub-Gaussian
    with ``1 / (4 m)``; deviations of an average with weights w add up to no more than ``sum w / (2 sqrt m)``,
    whatever the dependence: the size is ``1 / (sum w / sqrt m)^2``. Of two classes this is m.

    Source: McDiarmid (1989); Hoeffding (1963), section 5b.

    Parameters
    ----------
    class_counts : tuple of int
        Records of each class, two classes or more.
    pairs : bool
        Whether pairs of classes are averaged ("ovo"), not each class against the rest ("ovr").
    weighted : bool, default=False
        Whether by how many records they have, as scikit-learn's "_weighted"; else they count alike.

    Raises
    ------
    ValueError
        If there are fewer than two classes, or one without records.

    Examples
    --------
    >>> round(averaged_auc_size((50, 80), pairs=True), 6)
    50.0
    >>> round(averaged_auc_size((50,) * 10, pairs=False), 6)
    125.0
    """
    if len(class_counts) < 2:
        raise bad_parameter(
            "class_counts", "averaged_auc_size", "the sizes of two classes at least", class_counts
        )
    n = np.array([check_integer(c, "class_counts", "averaged_auc_size") for c in class_counts], dtype=float)
    if pairs:
        weights = n[:, None] + n if weighted else np.ones((len(n), len(n)))
        np.fill_diagonal(weights, 0.0)
        weights /= weights.sum() / 2.0  # each pair is in it twice
        moved = weights.sum(axis=1) / n
        deviation = (weights / np.sqrt(np.minimum(n[:, None], n))).sum() / 2.0
    else:
        rest, weights = n.sum() - n, n / n.sum() if weighted else np.full(len(n), 1.0 / len(n))
        moved = weights / n + (weights / rest).sum() - weights / rest
        deviation = (weights / np.sqrt(np.minimum(n, rest))).sum()
    return float(max(1.0 / (n @ moved**2), 1.0 / deviation**2))


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
