"""Sealed answers: a value that was asked but not told keeps the failure probability of its asking.

Theorem. Let question v be asked with ``delta_v = beta s1 pi_v exp(-L_v)``, with L_v everything revealed
before its own answer and weights as in `sklearn_ada.guarantees.description_length.theorem`. Outside one
event of probability at most ``beta s1``, for every question asked, ``q_v(D)`` lies in the fixed-question
interval around ``q_v(S)`` at delta_v, *whether and whenever* ``q_v(S)`` *is released, and however finely*: a
cell of it now, all of it later, or never.

Proof. Fix all randomness but the records, so that transcripts form a tree; unsealing an earlier value is one
of its answers, with its price. The node that asks v fixes the functional, the interval's procedure and
delta_v, before any record is seen. Its bad event, that the interval around ``q_v(S)`` misses ``q_v(D)``, is
about all records and not about what is said at v, and it has probability at most delta_v. Summed over all
nodes this is at most ``beta s1`` times the sum of ``pi(v) prod p(answers on the path to v)``. That sum is at
most 1: by induction from the leaves, a node with weight ``w`` left has at most ``w`` times its path's
probability below it, as the code is a sub-probability and no path's weights exceed what is left. Union
bound; the questions that were asked are among the nodes.

What must be fixed when a question is asked: the functional, the procedure of its interval with all its tuning
(guess, exponent, grid, order of rows, lattice), n, and delta_v. Not even the question's own released cell may
tune it: an analyst who gives all of delta_v to the side that the cell points to doubles the failure
probability. What is released costs its price (`sklearn_ada.accounting.unsealing`), which later questions pay;
one that is still sealed, or was asked before, does not.
"""

from __future__ import annotations

from sklearn_ada._checks import check_real
from sklearn_ada.guarantees.description_length.theorem import ln_delta
from sklearn_ada.guarantees.intervals.clopper_pearson import check_counts, clopper_pearson

__all__ = ["question_interval"]


def question_interval(
    low_count: int, high_count: int, n: int, *, ln_beta: float, weight: float, nats: float
) -> tuple[float, float]:
    """Return Clopper and Pearson's interval at ``delta = beta pi exp(-L)``, L as it was at the asking.

    With the edges of the released cell it is what the theorem of description length says while the value is
    sealed; with the unsealed count twice it is what that value certifies.

    Parameters
    ----------
    low_count, high_count, n : int
        What is known of the count, and the number of records.
    ln_beta : float
        Logarithm of the share of the failure probability that belongs to this theorem, ``beta s1``.
    weight : float
        The question's weight pi, in [0, 1]; nothing is certified at 0, when the purse was exhausted.
    nats : float
        L before the question or its round, at least 0, which nothing said later changes.

    Returns
    -------
    low, high : float
        The whole range (0, 1) at a weight of 0.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> import math
    >>> asked = {"ln_beta": math.log(0.04), "weight": 0.0716, "nats": 0.0}
    >>> [round(end, 3) for end in question_interval(400, 446, 500, **asked)]
    [0.742, 0.929]
    >>> [round(end, 3) for end in question_interval(425, 425, 500, **asked)]
    [0.797, 0.894]
    """
    owner = "question_interval"
    weight = check_real(weight, "weight", owner, low=0.0, high=1.0, closed="both")
    low_count, high_count, n = check_counts(low_count, high_count, n, owner)
    if weight == 0.0:
        return 0.0, 1.0
    return clopper_pearson(low_count, high_count, n, ln_delta(ln_beta, weight, nats))
