"""Half-widths of simple methods, for comparison: no noise and no guess, such as splitting the holdout.

Each returns the half-width within which k answers, means of values in [0, 1] over n records, are close to
the population all at once except with probability beta: at their worst, or for shares that are expected to
be at ``expected_value`` (`expected_half_width`). From 1/2 on it is vacuous (`is_vacuous`).
"""

from __future__ import annotations

import math

from sklearn_ada._checks import check_integer, check_real
from sklearn_ada._constants import LN_2
from sklearn_ada.guarantees._minimising import best_scale
from sklearn_ada.guarantees.intervals.expected_width import expected_half_width

__all__ = [
    "nonadaptive_half_width",
    "rounding_half_width",
    "sample_splitting_half_width",
    "verdict_half_width",
]


def nonadaptive_half_width(
    n: int, n_questions: int, ln_beta: float, *, expected_value: float | None = None
) -> float:
    """Return the half-width of k questions fixed in advance, by a union bound: ``sqrt(ln(2k/beta)/(2n))``.

    Hoeffding's inequality, or Clopper-Pearson's interval at the value expected. The limit for every method:
    nothing adaptive can be narrower than this in general.

    Parameters
    ----------
    n : int
        Number of records.
    n_questions : int
        k, at least 1.
    ln_beta : float
        Logarithm of the failure probability, at most 0.
    expected_value : float or None, default=None
        What the shares are expected to be, in (0, 1); None for any means of values in [0, 1].

    Returns
    -------
    float
        The half-width.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(nonadaptive_half_width(10_000, 100, math.log(0.05)), 4)
    0.0204
    """
    n, k, ln_beta = _check(n, n_questions, ln_beta, "nonadaptive_half_width")
    return expected_half_width(n, ln_beta - math.log(k), expected_value)


def sample_splitting_half_width(
    n: int, n_questions: int, ln_beta: float, *, expected_value: float | None = None
) -> float:
    """Return the half-width when each question gets ``n // k`` fresh records of its own.

    A fixed-question interval for each, and a union bound. Infinite if there are more questions than records.

    Parameters
    ----------
    n : int
        Number of records.
    n_questions : int
        k, at least 1.
    ln_beta : float
        Logarithm of the failure probability, at most 0.
    expected_value : float or None, default=None
        What the shares are expected to be, in (0, 1); None for any means of values in [0, 1].

    Returns
    -------
    float
        The half-width.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(sample_splitting_half_width(10_000, 100, math.log(0.05)), 4)
    0.2036
    >>> sample_splitting_half_width(10, 11, math.log(0.05))
    inf
    """
    n, k, ln_beta = _check(n, n_questions, ln_beta, "sample_splitting_half_width")
    if k > n:
        return math.inf
    return nonadaptive_half_width(n // k, k, ln_beta, expected_value=expected_value)


def rounding_half_width(
    n: int, n_questions: int, ln_beta: float, *, expected_value: float | None = None
) -> float:
    """Return the half-width when answers are rounded to the centres of M equal cells, at the best M.

    Before question j there are at most ``M^(j-1)`` transcripts, so that a union bound over
    ``1 + M + ... + M^(k-1)`` questions and Hoeffding's inequality give
    ``1/(2M) + sqrt(ln(2 (M^k - 1)/((M - 1) beta))/(2n))``: description length with a uniform code (Dwork,
    Feldman, Hardt, Pitassi, Reingold, Roth, NIPS 2015). A single question need not be rounded.

    Parameters
    ----------
    n : int
        Number of records.
    n_questions : int
        k, at least 1.
    ln_beta : float
        Logarithm of the failure probability, at most 0.
    expected_value : float or None, default=None
        What the shares are expected to be, in (0, 1); None for any means of values in [0, 1].

    Returns
    -------
    float
        The half-width, at the best number of cells found.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(rounding_half_width(10_000, 100, math.log(0.05)), 4)
    0.147
    """
    n, k, ln_beta = _check(n, n_questions, ln_beta, "rounding_half_width")
    if k == 1:
        return nonadaptive_half_width(n, k, ln_beta, expected_value=expected_value)

    def half_width(cells: float) -> float:
        # ln of the geometric sum; one cell means that every answer is 1/2
        ln_sum = math.log(k) if cells == 1.0 else _ln_geometric_sum(math.log(cells), k)
        return expected_half_width(n, ln_beta - ln_sum, expected_value, reach=0.5 / cells)

    near = math.floor(best_scale(half_width, 1e-3, math.log(4.0 * n)))
    return min(half_width(float(cells)) for cells in {1, max(near, 1), near + 1})


def verdict_half_width(
    n: int, n_questions: int, ln_beta: float, *, expected_value: float | None = None
) -> float:
    """Return the half-width when each answer is one bit, "pass" or "fail", and nothing else is revealed.

    Before question j there are ``2^(j-1)`` transcripts: a union bound over ``2^k - 1`` questions. The bit
    says on which side of a threshold, fixed beforehand, the holdout's value lies; the population's lies there
    too, up to the half-width. Dwork et al., NIPS 2015; the fully adaptive case of Renggli et al.,
    "Continuous integration of machine learning models with ease.ml/ci", MLSys 2019.

    Parameters
    ----------
    n : int
        Number of records.
    n_questions : int
        k, at least 1.
    ln_beta : float
        Logarithm of the failure probability, at most 0.
    expected_value : float or None, default=None
        What the shares are expected to be, in (0, 1); None for any means of values in [0, 1].

    Returns
    -------
    float
        The half-width.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(verdict_half_width(10_000, 32, math.log(0.05)), 4)
    0.036
    """
    n, k, ln_beta = _check(n, n_questions, ln_beta, "verdict_half_width")
    return expected_half_width(n, ln_beta - _ln_geometric_sum(LN_2, k), expected_value)


def _ln_geometric_sum(ln_cells: float, k: int) -> float:
    """``ln((M^k - 1)/(M - 1))`` for ``M > 1``."""
    return (k - 1) * ln_cells + math.log1p(-math.exp(-k * ln_cells)) - math.log1p(-math.exp(-ln_cells))


def _check(n: int, n_questions: int, ln_beta: float, owner: str) -> tuple[int, int, float]:
    return (
        check_integer(n, "n", owner),
        check_integer(n_questions, "n_questions", owner),
        check_real(ln_beta, "ln_beta", owner, high=0.0, closed="high"),
    )
