r"""Pure differential privacy: the multiplicative transfer theorem, in odds.

Theorem (after Steinke, Ullman 2017, whose bound is ``r <= e^epsilon q(D)``). Let the whole conversation be
epsilon-DP with respect to replacing one of n records, and let the released intervals ``[low_j, high_j]``
contain all ``q_j(S)`` except with probability beta. Let r(p) have e^epsilon times the odds of p. Then,
except with probability ``beta + eta``, for all questions at once::

    n kl(low_j, r(q_j(D))) <= ln(1/eta)   or   low_j <= r(q_j(D)),

and the same for ``1 - q_j`` with ``1 - high_j``. Neither the number of questions nor the two sides cost
anything.

The ends are part of the conversation: functions of what it released. With q(S) itself in their place the
side on which it misses would not be decided by the conversation, and the statement is false.

Proof. Fix a conversation y and records x_1, ..., x_{i-1}. By Bayes' rule x_i has a density proportional to
``p(y | x_1, ..., x_i)`` with respect to D; averaged over the later records it changes by at most a factor
e^epsilon as x_i varies. Hence for every event the odds of x_i's law are within a factor e^epsilon of those
of D, and so is the mean of q (randomise: a q with values in [0, 1] is the probability of an event). So given
y and the past, ``E q(x_i) <= r``, and ``E exp(l q(x_i)) <= 1 + r (e^l - 1)`` for l >= 0 by convexity.
Multiplying up, ``E[exp(l n q(S)) | y] <= (1 + r (e^l - 1))^n``: Chernoff's bound gives ``P[q(S) >= v | y] <=
exp(-n kl(v, r))`` for every ``v >= r``, for any q and v chosen by y. Now suppose y violates the statement
for some question and side; let y choose one such q (or 1 - q) and ``v = low_j``. Unless the sample intervals
fail, ``q(S) >= v``, which has probability at most eta given y.

The additive corollary, ``alpha + tanh(epsilon/4) + sqrt(ln(1/eta)/(2n))``, compares with
``alpha + (e^epsilon - 1) + sqrt(2 ln(1/eta)/n)`` of Jung et al. (ITCS 2020).
"""

from __future__ import annotations

import math

from sklearn_ada._checks import check_integer, check_real
from sklearn_ada._constants import LN_2
from sklearn_ada.guarantees.intervals.chernoff import chernoff_kl

__all__ = ["pure_dp_half_width", "pure_dp_interval"]


def pure_dp_interval(
    low_value: float, high_value: float, epsilon: float, n: int, ln_eta: float
) -> tuple[float, float]:
    """Return the interval for ``q(D)`` that the theorem of this module gives.

    Parameters
    ----------
    low_value, high_value : float
        What the conversation says of ``q(S)``, inside [0, 1]: the released answer minus and plus its sample
        accuracy, clipped. Not ``q(S)`` itself, which is no part of a private conversation: whoever puts it in
        gets an interval that can miss twice as often as ``eta`` allows.
    epsilon : float
        Privacy of the whole conversation, fixed in advance, at least 0.
    n : int
        Number of records.
    ln_eta : float
        Logarithm of the failure probability for all questions and both sides together, at most 0.

    Returns
    -------
    low, high : float
        ``(0, 1)`` is vacuous.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    An answer of 0.95 that is within 0.002 of the holdout's value, but for a failure that is added to eta:

    >>> low, high = pure_dp_interval(0.948, 0.952, epsilon=0.01, n=10_000, ln_eta=math.log(0.05))
    >>> round(low - 0.95, 4), round(high - 0.95, 4)
    (-0.0082, 0.0075)
    """
    owner = "pure_dp_interval"
    epsilon = check_real(epsilon, "epsilon", owner, low=0.0, closed="low")
    n = check_integer(n, "n", owner)
    ln_eta = check_real(ln_eta, "ln_eta", owner, high=0.0, closed="high")
    # chernoff_kl halves its delta for two sides; here one eta covers both.
    low, high = chernoff_kl(low_value, high_value, n, min(ln_eta + LN_2, 0.0))
    return _shrink_odds(low, epsilon), 1.0 - _shrink_odds(1.0 - high, epsilon)


def pure_dp_half_width(alpha: float, epsilon: float, n: int, ln_eta: float) -> float:
    """Return the additive corollary ``alpha + tanh(epsilon/4) + sqrt(ln(1/eta)/(2n))``.

    It follows from the theorem of this module by Pinsker's inequality and the largest difference between
    two probabilities whose odds differ by a factor e^epsilon.

    Parameters
    ----------
    alpha : float
        Sample accuracy of all answers together, at least 0; the failure of it is added to eta.
    epsilon : float
        Privacy of the whole conversation, fixed in advance, at least 0.
    n : int
        Number of records.
    ln_eta : float
        Logarithm of the failure probability, at most 0.

    Returns
    -------
    float
        The half-width; from 1/2 on it is vacuous.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(pure_dp_half_width(0.0, epsilon=0.01, n=10_000, ln_eta=math.log(0.05)), 4)
    0.0147
    """
    owner = "pure_dp_half_width"
    alpha = check_real(alpha, "alpha", owner, low=0.0, closed="low")
    epsilon = check_real(epsilon, "epsilon", owner, low=0.0, closed="low")
    n = check_integer(n, "n", owner)
    ln_eta = check_real(ln_eta, "ln_eta", owner, high=0.0, closed="high")
    return alpha + math.tanh(epsilon / 4.0) + math.sqrt(-ln_eta / (2.0 * n))


def _shrink_odds(p: float, epsilon: float) -> float:
    """Return the probability whose odds are e^-epsilon times those of p, rounded down."""
    if p <= 0.0:
        return 0.0
    kept = p * math.exp(-epsilon)
    return kept / (kept + (1.0 - p)) * (1.0 - 1e-15)
