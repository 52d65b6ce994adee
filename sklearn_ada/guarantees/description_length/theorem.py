"""The theorem of description length: what was said about the holdout is all that an analyst can exploit.

Theorem (description length; the prefix-code form of Dwork, Feldman, Hardt, Pitassi, Reingold, Roth, NIPS
2015; Guess-and-Check of Rogers et al., AISTATS 2020, is the case of a two-part code). Let a code fix,
before each answer, a sub-probability p over everything that could be revealed, let L be the sum of
``-ln p`` over all answers revealed so far, and give each question, when asked, a weight pi such that along
every path the weights sum to at most 1. Then with probability at least ``1 - beta``, for all questions at
once, the fixed-question interval at ``delta = beta * pi * exp(-L)`` holds, with L as it was before the
question's own answer.

Proof. Fix all randomness other than the holdout. The conversation is a tree whose nodes are transcripts,
and each node fixes a question before the holdout is seen. Give node v the failure probability
``beta * pi(v) * prod p(answers on the path to v)``. As p is a sub-probability, the sum over all nodes is at
most beta. Union bound; the path that happened is among them.

Questions fixed together before any of their answers is seen (a round) share the L from before the round.
"""

from __future__ import annotations

import math

from sklearn_ada._checks import check_real

__all__ = ["ASSUMPTIONS", "ROW_BY_ROW", "THEOREM", "ln_delta"]

THEOREM = "description length, prefix code (Dwork et al., NIPS 2015)"

ROW_BY_ROW = "models predict row by row and do not adapt to the rows they predict"

ASSUMPTIONS = (
    "holdout records are independent draws, and independent of all training data",
    ROW_BY_ROW,
    "nobody looks at the holdout except through this one ledger, which is never forked or rolled back",
)


def ln_delta(ln_beta: float, weight: float, nats: float) -> float:
    """Return ``ln(beta * pi * exp(-L))``, the logarithm of one question's failure probability.

    Parameters
    ----------
    ln_beta : float
        Logarithm of the failure probability of the whole conversation (or of a purpose's share of it).
    weight : float
        The question's weight pi, in (0, 1].
    nats : float
        L, everything revealed before this question or its round.

    Examples
    --------
    >>> round(ln_delta(math.log(0.05), 0.5, 2.0), 4)
    -5.6889
    """
    ln_beta = check_real(ln_beta, "ln_beta", "ln_delta", high=0.0)
    weight = check_real(weight, "weight", "ln_delta", low=0.0, high=1.0, closed="high")
    nats = check_real(nats, "nats", "ln_delta", low=0.0, closed="low")
    return ln_beta + math.log(weight) - nats
