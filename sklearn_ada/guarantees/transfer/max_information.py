r"""Max-information: how private answers and coded answers of one conversation are certified together.

A conversation y about S has beta-approximate max-information at most I if, except with probability beta over
(S, y), its probability given S is at most e^I times its marginal probability (Dwork, Feldman, Hardt, Pitassi,
Reingold, Roth, NIPS 2015). An event that has probability p for every fixed conversation then has
probability at most ``e^I p + beta`` for the one that happened.

Theorem. If y is epsilon-DP and S has n independent records, then, given *any* conversation y and any beta
chosen by it, the log-ratio exceeds ``n (u - 1 - ln u) + epsilon sqrt(n ln(1/beta)/2)``, with
``u = epsilon/(1 - e^-epsilon)``, with probability at most beta. As ``u - 1 - ln u <= epsilon^2/8`` this is
never above the published ``n epsilon^2/2 + epsilon sqrt(n ln(2/beta)/2)``.
Proof. Given y the log-ratio is the sum over i of ``ln w_i(x_i)``, w_i the density of x_i given y and the
earlier records with respect to D; w_i varies by at most a factor e^epsilon. So each term has a range of
length epsilon and, given the past, a mean (a Kullback-Leibler divergence) of at most ``u - 1 - ln u``, the
largest for densities of that range (two-point densities are the worst). Azuma and Hoeffding's inequality
gives the deviation.

Joined to route A. Questions answered by a code (L nats so far) and epsilon-DP answers alternate; the total
epsilon is fixed in advance. At each coded node allow the private part a failure of ``b * pi * e^-L``. Summed
over the tree that is at most b, and the coded union bound costs ``e^I`` more at each node. So with
probability at least ``1 - beta - b`` every fixed-question interval holds at ``beta * pi * exp(-(L + I))``,
where::

    I = n (u - 1 - ln u) + epsilon sqrt(n (L + ln(1/(b pi)))/2)

The sum ``L + I`` with ``ln(1/b)`` alone under the root would be valid only if all private answers came first.
"""

from __future__ import annotations

import math

from sklearn_ada._checks import check_integer, check_real
from sklearn_ada._constants import LN_2
from sklearn_ada.accounting.zcdp import exponential_mechanism_zcdp

__all__ = ["dwork_2015_max_information", "joined_nats", "max_information"]


def max_information(epsilon: float, n: int, ln_beta: float) -> float:
    """Return the approximate max-information of an epsilon-DP conversation, in nats, as proved above.

    Parameters
    ----------
    epsilon : float
        Total privacy of the conversation, fixed in advance, at least 0.
    n : int
        Number of records.
    ln_beta : float
        Logarithm of the failure probability, at most 0.

    Returns
    -------
    float
        Nats.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(max_information(0.01, 10_000, math.log(0.05)), 3)
    1.349
    """
    epsilon, n, ln_beta = _check(epsilon, n, ln_beta, "max_information")
    mean = n * exponential_mechanism_zcdp(epsilon) if epsilon > 0.0 else 0.0
    return mean + epsilon * math.sqrt(-n * ln_beta / 2.0)


def dwork_2015_max_information(epsilon: float, n: int, ln_beta: float) -> float:
    """Return the published bound ``n epsilon^2/2 + epsilon sqrt(n ln(2/beta)/2)``, for comparison.

    Dwork, Feldman, Hardt, Pitassi, Reingold, Roth, *Generalization in adaptive data analysis and holdout
    reuse*, NIPS 2015, for independent records.

    Parameters
    ----------
    epsilon : float
        Total privacy of the conversation, fixed in advance, at least 0.
    n : int
        Number of records.
    ln_beta : float
        Logarithm of the failure probability, at most 0.

    Returns
    -------
    float
        Nats.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(dwork_2015_max_information(0.01, 10_000, math.log(0.05)), 3)
    1.858
    """
    epsilon, n, ln_beta = _check(epsilon, n, ln_beta, "dwork_2015_max_information")
    return n * epsilon**2 / 2.0 + epsilon * math.sqrt(n * (LN_2 - ln_beta) / 2.0)


def joined_nats(nats: float, epsilon: float, n: int, ln_slack: float, weight: float) -> float:
    """Return what to put in place of L when epsilon-DP answers are mixed with coded ones.

    Parameters
    ----------
    nats : float
        L, everything the code revealed before this question or its round.
    epsilon : float
        Total privacy of all private answers of the ledger, fixed in advance, at least 0.
    n : int
        Number of records.
    ln_slack : float
        Logarithm of b, the failure probability spent on the private answers, on top of beta.
    weight : float
        The question's weight pi, in (0, 1].

    Returns
    -------
    float
        ``L + I``, in nats.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(joined_nats(5.0, 0.01, 10_000, math.log(0.01), weight=0.5), 3)
    7.394
    """
    owner = "joined_nats"
    nats = check_real(nats, "nats", owner, low=0.0, closed="low")
    ln_slack = check_real(ln_slack, "ln_slack", owner, high=0.0, closed="high")
    weight = check_real(weight, "weight", owner, low=0.0, high=1.0, closed="high")
    return nats + max_information(epsilon, n, ln_slack + math.log(weight) - nats)


def _check(epsilon: float, n: int, ln_beta: float, owner: str) -> tuple[float, int, float]:
    return (
        check_real(epsilon, "epsilon", owner, low=0.0, closed="low"),
        check_integer(n, "n", owner),
        check_real(ln_beta, "ln_beta", owner, high=0.0, closed="high"),
    )
