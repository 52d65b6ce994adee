"""Candidates that are locked when their round opens: surprises in their own round cost them nothing.

Theorem. The candidates of a search, their recipes of refitting and the tuning of their tests are fixed when
the round opens; each then has one model, a function of the training rows. Reserve the weight pi at that
moment, and give the first refit of the candidate of rank i the failure probability ``delta_i = beta s1 pi
w_i exp(-L)``, with the L *before* the round and weights w that sum to at most 1, by a ranking that is public
(validation scores). Then the fixed-question interval of whichever is kept holds at its delta_i, by whatever
rule it is selected.

Proof. All refits are questions fixed at the node that opens the round, asked there with weights that sum to
at most pi: the theorem of `sklearn_ada.guarantees.description_length.sealed` for sealed answers, of which
some are never computed.

Covered: the first refit that is run for a candidate, whatever coins it throws, even if it fails. Not
covered: a second refit (the better of two is a question chosen by its answer), recipes that depend on the
round's answers, and candidates that are proposed adaptively.
"""

from __future__ import annotations

from sklearn_ada._checks import check_integer
from sklearn_ada.guarantees.description_length.theorem import ln_delta

__all__ = ["LOCKING", "locked_ln_delta", "rank_weight"]

LOCKING = 0.1
"""Part of what is left in the purse that is reserved when a round of candidates opens."""

_FIRST = 0.9


def rank_weight(rank: int) -> float:
    """Return the weight of the candidate of this public rank: .9 for the first, ``.1/(r (r - 1))`` after it.

    Parameters
    ----------
    rank : int
        From 1.

    Examples
    --------
    >>> rank_weight(1), round(rank_weight(2), 3), round(rank_weight(3), 4)
    (0.9, 0.05, 0.0167)
    """
    rank = check_integer(rank, "rank", "rank_weight")
    return _FIRST if rank == 1 else (1.0 - _FIRST) / (rank * (rank - 1))


def locked_ln_delta(ln_beta: float, weight: float, rank: int, nats: float) -> float:
    """Return ``ln(beta s1 pi w_rank exp(-L))``, a locked candidate's failure probability.

    Parameters
    ----------
    ln_beta : float
        Logarithm of the share of the failure probability that belongs to description length, ``beta s1``.
    weight : float
        pi, what the round reserved when it opened, in (0, 1].
    rank : int
        The candidate's rank, from 1, by what was public before the round.
    nats : float
        L before the round.

    Examples
    --------
    >>> import math
    >>> round(math.exp(locked_ln_delta(math.log(0.04), 0.09, 1, 0.0)), 6)
    0.00324
    """
    return ln_delta(ln_beta, weight * rank_weight(rank), nats)
