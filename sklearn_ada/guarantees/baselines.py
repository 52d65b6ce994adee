"""What route B has to beat: half-widths of methods that use neither noise nor a guess.

Each returns the half-width within which k answers, means of values in [0, 1] over n records, are close to
the population all at once except with probability beta. From 1/2 on it is vacuous (`is_vacuous`).
"""

from __future__ import annotations

import math

from scipy.optimize import minimize_scalar

from sklearn_ada._checks import check_integer, check_real

__all__ = ["nonadaptive_half_width", "rounding_half_width", "sample_splitting_half_width"]

_LN2 = math.log(2.0)


def nonadaptive_half_width(n: int, n_questions: int, ln_beta: float) -> float:
    """Return ``sqrt(ln(2k/beta)/(2n))``: Hoeffding and a union bound, for questions fixed in advance.

    The limit for every method: nothing adaptive can be narrower than this in general.

    Parameters
    ----------
    n : int
        Number of records.
    n_questions : int
        k, at least 1.
    ln_beta : float
        Logarithm of the failure probability, at most 0.

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
    return math.sqrt((_LN2 + math.log(k) - ln_beta) / (2.0 * n))


def sample_splitting_half_width(n: int, n_questions: int, ln_beta: float) -> float:
    """Return the half-width when each question gets ``n // k`` fresh records of its own.

    Hoeffding's inequality for each, and a union bound. Infinite if there are more questions than records.

    Parameters
    ----------
    n : int
        Number of records.
    n_questions : int
        k, at least 1.
    ln_beta : float
        Logarithm of the failure probability, at most 0.

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
    return nonadaptive_half_width(n // k, k, ln_beta) if k <= n else math.inf


def rounding_half_width(n: int, n_questions: int, ln_beta: float) -> float:
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
        return nonadaptive_half_width(n, k, ln_beta)

    def half_width(cells: float) -> float:
        # ln of the geometric sum; one cell means that every answer is 1/2
        ln_sum = math.log(k) if cells == 1.0 else _ln_geometric_sum(math.log(cells), k)
        return 0.5 / cells + math.sqrt((_LN2 + ln_sum - ln_beta) / (2.0 * n))

    best = minimize_scalar(
        lambda ln_cells: half_width(math.exp(ln_cells)), bounds=(1e-3, math.log(4.0 * n)), method="bounded"
    )
    near = math.floor(math.exp(float(best.x)))
    return min(half_width(float(cells)) for cells in {1, max(near, 1), near + 1})


def _ln_geometric_sum(ln_cells: float, k: int) -> float:
    """``ln((M^k - 1)/(M - 1))`` for ``M > 1``."""
    return (k - 1) * ln_cells + math.log1p(-math.exp(-k * ln_cells)) - math.log1p(-math.exp(-ln_cells))


def _check(n: int, n_questions: int, ln_beta: float, owner: str) -> tuple[int, int, float]:
    return (
        check_integer(n, "n", owner),
        check_integer(n_questions, "n_questions", owner),
        check_real(ln_beta, "ln_beta", owner, high=0.0, closed="high"),
    )
