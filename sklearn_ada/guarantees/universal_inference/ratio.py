r"""The transcript theorem for a ratio of two counts, such as precision, by Chernoff's bound.

Of n independent records H are hits and N of at least H count in the denominator; ``r = E[H] / E[N]``. Both
the share ``s = H/N`` and the denominator were released as cells, ``s >= s_low`` and ``N >= N_low``, and both
symbols are in L.

Theorem. r is excluded from below if ``r < s_low`` and ``N_low kl(s_low, r) >= ln(1/b) + L``; the other side
by symmetry. Rows need not be of one law.

Proof. ``E exp(l H - N ln(1 - r + r e^l)) <= 1`` for every l, by
`sklearn_ada.guarantees.intervals.of_metrics.ratio_of_counts`.
Take the l at which ``l s_low - ln(1 - r + r e^l)`` is largest, ``ln[s_low (1 - r) / (r (1 - s_low))] > 0``,
where it is ``kl(s_low, r)``. On the event that the released symbols tell, the exponent is ``N (l s - ln(1 -
r + r e^l)) >= N_low kl(s_low, r)``, so by Markov's inequality that event has at most the probability
``exp(-N_low kl(s_low, r))``, and the transcript theorem excludes r. (For ``s_low = 1`` let l grow without
bound.) The exponent needs no tuning in advance, as the event is fixed by the symbols.
"""

from __future__ import annotations

from sklearn_ada._constants import LN_2
from sklearn_ada.guarantees.intervals.chernoff import chernoff_kl
from sklearn_ada.guarantees.universal_inference.theorem import transcript_ln_side

__all__ = ["transcript_ratio_interval"]


def transcript_ratio_interval(
    low_share: float, high_share: float, size: float, *, ln_beta: float, nats: float
) -> tuple[float, float]:
    """Return an interval for ``E[H] / E[N]`` that holds, for all questions, with probability ``1 - b``.

    The same formula holds for the mean of ``size`` independent terms in [0, 1], known up to a cell, and with
    ``size = min(n_pos, n_neg)`` for the ROC AUC: for them Chernoff's bound is the tail that is inverted.

    Parameters
    ----------
    low_share, high_share : float
        The share H / N is known to be in ``[low_share, high_share]``, within [0, 1].
    size : float
        A denominator that N is known not to be below, positive.
    ln_beta : float
        Logarithm of b, below 0.
    nats : float
        L including the prices of this answer's symbols, at least 0.

    Returns
    -------
    low, high : float
        A level above 1/4 is treated as 1/4.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> import math
    >>> low, high = transcript_ratio_interval(0.8, 0.9, 400, ln_beta=math.log(0.01), nats=0.5)
    >>> round(low, 4), round(high, 4)
    (0.7313, 0.9411)
    """
    side = transcript_ln_side(ln_beta, nats)
    return chernoff_kl(low_share, high_share, size, min(side + LN_2, 0.0))
