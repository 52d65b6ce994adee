"""The Ladder, a leaderboard that only shows improvements: how close its best score is to the population.

Few different conversations are possible with it, whatever is asked: a union bound over all of them is enough.

Source: Blum and Hardt (2015).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from scipy.special import gammaln

from sklearn_ada._checks import check_integer, check_real
from sklearn_ada._constants import LN_2
from sklearn_ada.guarantees._minimising import best_scale
from sklearn_ada.guarantees.intervals.expected_width import expected_half_width

__all__ = ["LadderBound", "blum_hardt_2015", "ladder_transcripts"]


class LadderBound(NamedTuple):
    """How close a Ladder's best loss is to the best loss on the population, and with which step.

    Attributes
    ----------
    half_width : float
        From 1/2 on it is vacuous.
    step : float
        The least improvement that is revealed.
    """

    half_width: float
    step: float


def ladder_transcripts(n_questions: int, step: float) -> float:
    """Return the logarithm of the number of questions that any conversation with a Ladder can contain.

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
    k = check_integer(n_questions, "n_questions", "ladder_transcripts")
    step = check_real(step, "step", "ladder_transcripts", low=0.0, high=1.0, closed="high")
    return _ln_conversations(k, math.floor(1.0 / step) + 1)


def blum_hardt_2015(
    n: int,
    n_questions: int,
    ln_beta: float,
    *,
    step: float | None = None,
    expected_value: float | None = None,
) -> LadderBound:
    """Return how close the best loss so far is, at every time, to that of the best question so far.

    Blum, Hardt (ICML 2015) with the exact count of conversations: the Ladder's answer is within
    a step of the smallest empirical loss, and every loss that may be asked for is near its population value,
    by a union bound over `ladder_transcripts`. Nothing is said of questions that did not improve.

    Parameters
    ----------
    n : int
        Number of records.
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
    owner = "blum_hardt_2015"
    n = check_integer(n, "n", owner)
    k = check_integer(n_questions, "n_questions", owner)
    ln_beta = check_real(ln_beta, "ln_beta", owner, high=0.0, closed="high")

    def half_width(rungs: float, step: float) -> float:
        return expected_half_width(n, ln_beta - _ln_conversations(k, rungs), expected_value, reach=step)

    if step is not None:
        rungs = math.floor(1.0 / check_real(step, "step", owner, low=0.0, high=1.0, closed="high")) + 1
        return LadderBound(half_width(rungs, step), step)
    near = math.floor(best_scale(lambda rungs: half_width(rungs, 1.0 / rungs), LN_2, math.log(4.0 * n)))
    # The smallest step with so many rungs is just above 1/rungs.
    steps = [(rungs, (1.0 + 1e-9) / rungs) for rungs in (near, near + 1) if rungs >= 2]
    return min(LadderBound(half_width(rungs, step), step) for rungs, step in steps)


def _ln_conversations(k: int, rungs: float) -> float:
    return float(gammaln(k + rungs + 1.0) - gammaln(rungs + 2.0) - gammaln(k))
