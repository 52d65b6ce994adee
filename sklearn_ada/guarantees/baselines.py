"""Half-widths of simple methods, for comparison: no noise and no guess, such as splitting the holdout.

Each returns the half-width within which k answers, means of values in [0, 1] over n rows, are close to
the population all at once except with probability beta: at their worst, or for shares that are expected to
be at ``expected_value`` (`expected_half_width`). From 1/2 on it is vacuous (`is_vacuous`).

Where few different conversations are possible, whatever is asked, a union bound over all of them is enough:
so it is with rounded answers, with verdicts, and with the Ladder, a leaderboard that only shows improvements
(Blum and Hardt 2015).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from scipy.special import betaln, gammaln

from sklearn_ada._solving import best_scale
from sklearn_ada._validation import LN_2, checked
from sklearn_ada.guarantees.intervals import difference_half_width, expected_half_width

__all__ = [
    "LadderBound", "blum_hardt_2015", "ladder_transcripts", "nonadaptive_half_width", "rounding_half_width",
    "sample_splitting_half_width", "verdict_half_width",
]  # fmt: skip


@checked(n="count", n_questions="count", ln_beta="<= 0")
def nonadaptive_half_width(
    n: int, n_questions: int, ln_beta: float, *, expected_value: float | None = None
) -> float:
    """Return the half-width of k questions fixed in advance, by a union bound: ``sqrt(ln(2k/beta)/(2n))``.

    Hoeffding's inequality, or Clopper-Pearson's interval at the value expected. The limit for every method:
    nothing adaptive can be narrower than this in general.

    Parameters
    ----------
    n : int
        Number of rows.
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
    return expected_half_width(n, ln_beta - math.log(n_questions), expected_value)


@checked(n="count", n_questions="count", ln_beta="<= 0")
def sample_splitting_half_width(
    n: int, n_questions: int, ln_beta: float, *, expected_value: float | None = None
) -> float:
    """Return the half-width when each question gets ``n // k`` fresh rows of its own.

    A fixed-question interval for each, and a union bound. Infinite if there are more questions than rows.

    Parameters
    ----------
    n : int
        Number of rows.
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
    if n_questions > n:
        return math.inf
    return nonadaptive_half_width(n // n_questions, n_questions, ln_beta, expected_value=expected_value)


@checked(n="count", n_questions="count", ln_beta="<= 0")
def rounding_half_width(
    n: int, n_questions: int, ln_beta: float, *, expected_value: float | None = None
) -> float:
    """Return the half-width of answers rounded to M equal cells, at the best M.

    Before question j there are at most ``M^(j-1)`` transcripts, so that a union bound over
    ``1 + M + ... + M^(k-1)`` questions and Hoeffding's inequality give
    ``1/(2M) + sqrt(ln(2 (M^k - 1)/((M - 1) beta))/(2n))``: description length with a uniform code (Dwork,
    Feldman, Hardt, Pitassi, Reingold, Roth, NIPS 2015). A single question need not be rounded.

    Parameters
    ----------
    n : int
        Number of rows.
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
    if n_questions == 1:
        return nonadaptive_half_width(n, 1, ln_beta, expected_value=expected_value)

    def half_width(cells: float) -> float:
        # ln of the geometric sum; one cell means that every answer is 1/2
        ln_sum = math.log(n_questions) if cells == 1.0 else _ln_geometric_sum(math.log(cells), n_questions)
        return expected_half_width(n, ln_beta - ln_sum, expected_value, reach=0.5 / cells)

    near = math.floor(best_scale(half_width, 1e-3, math.log(4.0 * n)))
    return min(half_width(float(cells)) for cells in {1, max(near, 1), near + 1})


@checked(n="count", n_questions="count", ln_beta="<= 0", passes="count or None")
def verdict_half_width(
    n: int,
    n_questions: int,
    ln_beta: float,
    *,
    expected_value: float | None = None,
    passes: int | None = None,
    disagreement: float | None = None,
) -> float:
    """Return the half-width when each answer is one bit, "pass" or "fail".

    Before question j there are ``2^(j-1)`` transcripts: a union bound over ``2^k - 1`` questions. The bit
    says on which side of a threshold, fixed beforehand, the holdout's value lies; the population's lies there
    too, up to the half-width. Dwork et al., NIPS 2015; the fully adaptive case of Renggli et al., "Continuous
    integration of machine learning models with ease.ml/ci", MLSys 2019. A process that stops at its r-th pass
    has had fewer than r passes before any question: ``sum_(i < r) C(j - 1, i)`` transcripts before question
    j, which make ``C(k, 1) + ... + C(k, r)`` questions.

    Parameters
    ----------
    n : int
        Number of rows.
    n_questions : int
        k, at least 1.
    ln_beta : float
        Logarithm of the failure probability, at most 0.
    expected_value : float or None, default=None
        What the shares are expected to be, in (0, 1); None for any means of values in [0, 1].
    passes : int or None, default=None
        r, at least 1: the process stops at the r-th pass. None: it goes on whatever the verdicts.
    disagreement : float or None, default=None
        Verdicts are about the difference of two models' scores, which say different things of at most this
        share of the population, in (0, 1] (`difference_half_width`; ``expected_value`` is not used then).
        None: about the score of one model.

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
    >>> ln_beta = math.log(0.05)
    >>> round(verdict_half_width(10_000, 32, ln_beta), 4)
    0.036
    >>> round(verdict_half_width(10_000, 32, ln_beta, passes=1), 4)
    0.0189
    >>> round(verdict_half_width(10_000, 32, ln_beta, disagreement=0.1), 4)
    0.0236
    """
    stop = n_questions if passes is None else min(passes, n_questions)
    all_pass = stop == n_questions
    ln_questions = _ln_geometric_sum(LN_2, n_questions) if all_pass else _ln_choices(n_questions, stop)
    if disagreement is not None:
        return difference_half_width(n, ln_beta - ln_questions, disagreement)
    return expected_half_width(n, ln_beta - ln_questions, expected_value)


class LadderBound(NamedTuple):
    """How close a Ladder's best loss is to the population's best, with which step.

    Attributes
    ----------
    half_width : float
        From 1/2 on it is vacuous.
    step : float
        The least improvement that is revealed.
    """

    half_width: float
    step: float


@checked(n="count", n_questions="count", ln_beta="<= 0", step="(0, 1] or None")
def blum_hardt_2015(
    n: int,
    n_questions: int,
    ln_beta: float,
    *,
    step: float | None = None,
    expected_value: float | None = None,
) -> LadderBound:
    """Return how close a Ladder's answer is to the best population loss so far.

    The bound holds for all answers at once: Blum, Hardt (ICML 2015) with the exact count of conversations.
    The Ladder's answer is within a step of the smallest empirical loss, and every loss that may be asked for
    is near its population value, by a union bound over `ladder_transcripts`. There is no bound for questions
    that did not improve.

    Parameters
    ----------
    n : int
        Number of rows.
    n_questions : int
        k, at least 1.
    ln_beta : float
        Logarithm of the failure probability, at most 0.
    step : float, optional
        In (0, 1]; by default the best.
    expected_value : float or None, default=None
        What the best loss is expected to be, or None for the worst; see `expected_half_width`.

    Returns
    -------
    LadderBound
        Half-width and step.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> bound = blum_hardt_2015(10_000, 1000, math.log(0.05))
    >>> round(bound.half_width, 3), round(bound.step, 3)
    (0.117, 0.032)
    """

    def half_width(rungs: float, step: float) -> float:
        ln_delta = ln_beta - _ln_conversations(n_questions, rungs)
        return expected_half_width(n, ln_delta, expected_value, reach=step)

    if step is not None:
        return LadderBound(half_width(math.floor(1.0 / step) + 1, step), step)
    near = math.floor(best_scale(lambda rungs: half_width(rungs, 1.0 / rungs), LN_2, math.log(4.0 * n)))
    # The smallest step with so many rungs is just above 1/rungs.
    steps = [(rungs, (1.0 + 1e-9) / rungs) for rungs in (near, near + 1) if rungs >= 2]
    return min(LadderBound(half_width(rungs, step), step) for rungs, step in steps)


@checked(n_questions="count", step="(0, 1]")
def ladder_transcripts(n_questions: int, step: float) -> float:
    """Return the log of how many questions a conversation with a Ladder can contain.

    j answers never rise and lie on at most ``M + 1`` rungs, ``M = floor(1/step) + 1``, so that there are at
    most ``C(j + M, M)`` of them; the sum over the conversations before each of the k questions,
    j = 0, ..., k - 1, is ``C(k + M, M + 1)``.

    Parameters
    ----------
    n_questions : int
        k, at least 1.
    step : float
        In (0, 1].

    Returns
    -------
    float
        In nats.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(ladder_transcripts(100, 0.1), 1)
    35.9
    """
    return _ln_conversations(n_questions, math.floor(1.0 / step) + 1)


def _ln_conversations(k: int, rungs: float) -> float:
    return float(gammaln(k + rungs + 1.0) - gammaln(rungs + 2.0) - gammaln(k))


def _ln_choices(k: int, most: int) -> float:
    """Return ``ln(C(k, 1) + ... + C(k, most))``, at most ``ln(2^k - 1)``."""
    if 2 * most > k:  # as many as are missing from 2^k are fewer, but need not be counted: an upper bound
        return _ln_geometric_sum(LN_2, k)
    # C(k, j - 1) = C(k, j) j / (k - j + 1): from the largest term down, a sum of falling factors.
    ratio, total = 1.0, 1.0
    for j in range(most, 1, -1):
        ratio *= j / (k - j + 1)
        total += ratio
        if ratio < 1e-18 * total:
            break
    largest = -float(betaln(most + 1, k - most + 1)) - math.log(k + 1)
    return min(largest + math.log(total), _ln_geometric_sum(LN_2, k))


def _ln_geometric_sum(ln_cells: float, k: int) -> float:
    """Return ``ln((M^k - 1)/(M - 1))`` for ``M > 1``."""
    return (k - 1) * ln_cells + math.log1p(-math.exp(-k * ln_cells)) - math.log1p(-math.exp(-ln_cells))
