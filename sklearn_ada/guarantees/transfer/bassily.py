"""The transfer theorem of Bassily, Nissim, Smith, Steinke, Stemmer, Ullman (STOC 2016), as in lecture 19."""

from __future__ import annotations

import math

from sklearn_ada._checks import check_integer, check_real
from sklearn_ada.guarantees.transfer.bound import TransferBound

__all__ = ["bassily_2016"]


def bassily_2016(
    alpha: float, beta: float, n_questions: int, epsilon: float, delta: float, n: int
) -> TransferBound:
    """Return the half-width of Bassily et al. (STOC 2016); lecture 19, Theorems 1.1 and 1.2.

    If ``sqrt(12/n) <= epsilon <= 1/8`` and ``delta <= epsilon/16``, and each answer is within alpha of its
    sample value except with probability beta, then::

        P[max_j |a_j - q_j(D)| >= 6 epsilon + alpha] <= k beta + max(4 delta/epsilon, exp(-epsilon^2 n / 8))

    ``alpha = beta = 0`` gives Theorem 1.1, for one question that is itself the output.

    Parameters
    ----------
    alpha : float
        Sample accuracy of each answer, at least 0.
    beta : float
        Failure probability of that accuracy, per question, in [0, 1].
    n_questions : int
        k, at least 1.
    epsilon, delta : float
        Privacy of the whole conversation.
    n : int
        Number of records; below 768 no epsilon qualifies.

    Returns
    -------
    TransferBound
        Half-width and failure probability.

    Raises
    ------
    ValueError
        If a parameter is out of range or a precondition of the theorem does not hold.

    Examples
    --------
    >>> bound = bassily_2016(0.01, 1e-5, 100, epsilon=0.02, delta=1e-5, n=100_000)
    >>> round(bound.half_width, 3), round(bound.failure, 4), bound.vacuous
    (0.13, 0.0077, False)
    """
    owner = "bassily_2016"
    alpha = check_real(alpha, "alpha", owner, low=0.0, closed="low")
    beta = check_real(beta, "beta", owner, low=0.0, high=1.0, closed="both")
    k = check_integer(n_questions, "n_questions", owner)
    n = check_integer(n, "n", owner)
    epsilon = check_real(
        epsilon,
        "epsilon",
        owner,
        low=math.sqrt(12.0 / n),
        high=0.125,
        closed="both",
        fix="The theorem needs sqrt(12/n) <= epsilon <= 1/8.",
    )
    delta = check_real(
        delta,
        "delta",
        owner,
        low=0.0,
        high=epsilon / 16.0,
        closed="both",
        fix="The theorem needs delta <= epsilon/16.",
    )
    failure = k * beta + max(4.0 * delta / epsilon, math.exp(-(epsilon**2) * n / 8.0))
    return TransferBound(6.0 * epsilon + alpha, failure)
