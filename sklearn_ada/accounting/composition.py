"""Composition by basic and advanced formulas: how private several (epsilon, delta)-DP answers are together.

*Composition* is the privacy of several mechanisms together: here k of them, each (epsilon, delta)-DP whatever
came before, each chosen with the earlier outputs in view.
`sklearn_ada.accounting.optimal_composition_epsilon` is never worse than anything here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from sklearn_ada._checks import bad_parameter, check_integer, check_real

__all__ = [
    "EpsilonDelta",
    "advanced_composition",
    "advanced_composition_simple",
    "basic_composition",
    "heterogeneous_composition",
]


class EpsilonDelta(NamedTuple):
    """The guarantee ``P[A(x) in E] <= exp(epsilon) * P[A(x') in E] + delta`` for all neighbours and all E.

    Parameters
    ----------
    epsilon : float
        At least 0.
    delta : float
        In [0, 1].
    """

    epsilon: float
    delta: float


def basic_composition(k: int, epsilon: float, delta: float = 0.0) -> EpsilonDelta:
    """Compose k mechanisms into ``(k*epsilon, k*delta)``-DP.

    Lecture 11; Dwork, Kenthapadi, McSherry, Mironov, Naor 2006, Theorem 1.

    Parameters
    ----------
    k : int
        The number of mechanisms, at least 1.
    epsilon : float
        The privacy parameter of each, finite and >= 0.
    delta : float, default=0.0
        The failure probability of each, in [0, 1).

    Returns
    -------
    EpsilonDelta
        The guarantee of all together; delta is at most 1.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from sklearn_ada.accounting import basic_composition
    >>> basic_composition(500, 0.001)
    EpsilonDelta(epsilon=0.5, delta=0.0)
    """
    k, epsilon, delta = _check_homogeneous(k, epsilon, delta, "basic_composition")
    return EpsilonDelta(k * epsilon, min(1.0, k * delta))


def advanced_composition(k: int, epsilon: float, delta: float = 0.0, *, slack: float) -> EpsilonDelta:
    """Compose k mechanisms at the price of about sqrt(k), with the sharp drift of lecture 11.

    Together they are ``(epsilon*sqrt(2*k*ln(1/slack)) + k*epsilon*tanh(epsilon/2), k*delta + slack)``-DP.
    In the lecture ``tanh(epsilon/2)`` is written ``(e^epsilon - 1)/(e^epsilon + 1)``: the privacy loss of
    the worst case, leaky randomised response, has that mean times epsilon, and Hoeffding's inequality bounds
    its deviation. Not capped by basic composition, which is better for few or weak mechanisms.

    Parameters
    ----------
    k : int
        The number of mechanisms, at least 1.
    epsilon : float
        The privacy parameter of each, finite and >= 0.
    delta : float, default=0.0
        The failure probability of each, in [0, 1).
    slack : float
        The probability, in (0, 1), that the privacy loss is larger than promised.

    Returns
    -------
    EpsilonDelta
        The guarantee of all together; delta is at most 1.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    The lecture's own example (it prints 0.1):

    >>> from sklearn_ada.accounting import advanced_composition
    >>> round(advanced_composition(500, 0.001, slack=1e-6).epsilon, 7)
    0.1177894
    """
    k, epsilon, delta = _check_homogeneous(k, epsilon, delta, "advanced_composition")
    slack = check_real(slack, "slack", "advanced_composition", low=0.0, high=1.0)
    drift = k * epsilon * math.tanh(epsilon / 2.0)
    return EpsilonDelta(_deviation(k, epsilon, slack) + drift, min(1.0, k * delta + slack))


def advanced_composition_simple(k: int, epsilon: float, delta: float = 0.0, *, slack: float) -> EpsilonDelta:
    """Compose k mechanisms at the price of about sqrt(k), with the looser drift of lecture 19.

    Together they are ``(epsilon*sqrt(2*k*ln(1/slack)) + k*epsilon*(e^epsilon - 1), k*delta + slack)``-DP
    (Dwork, Rothblum, Vadhan 2010, Theorem III.3). `advanced_composition` is never worse; this one is for
    comparison with published figures.

    Parameters
    ----------
    k : int
        The number of mechanisms, at least 1.
    epsilon : float
        The privacy parameter of each, finite and >= 0.
    delta : float, default=0.0
        The failure probability of each, in [0, 1).
    slack : float
        The probability, in (0, 1), that the privacy loss is larger than promised.

    Returns
    -------
    EpsilonDelta
        The guarantee of all together; epsilon is infinite where ``e^epsilon`` overflows, delta is at most 1.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from sklearn_ada.accounting import advanced_composition_simple
    >>> round(advanced_composition_simple(500, 0.001, slack=1e-6).epsilon, 8)
    0.11803965
    """
    k, epsilon, delta = _check_homogeneous(k, epsilon, delta, "advanced_composition_simple")
    slack = check_real(slack, "slack", "advanced_composition_simple", low=0.0, high=1.0)
    drift = k * epsilon * math.expm1(epsilon) if epsilon < 700.0 else math.inf
    return EpsilonDelta(_deviation(k, epsilon, slack) + drift, min(1.0, k * delta + slack))


def heterogeneous_composition(
    epsilons: Sequence[float], deltas: Sequence[float] = (), *, slack: float
) -> EpsilonDelta:
    """Compose mechanisms with different parameters at the price of the root of the sum of squares.

    Together they are ``(S/2 + sqrt(2*ln(1/slack)*S), sum(deltas) + slack)``-DP with S the sum of epsilon**2:
    Feldman, Steinke 2017, Theorem 2.4 (their Theorem 2.5 is the case of equal parameters; after Bun, Steinke
    2016). The parameters must be fixed in advance; for parameters chosen on the way use
    `sklearn_ada.accounting.ZCDPFilter`.

    Parameters
    ----------
    epsilons : sequence of float
        The privacy parameter of each mechanism, finite and >= 0; at least one.
    deltas : sequence of float, default=()
        The failure probability of each, in [0, 1), as many as ``epsilons``; empty means all 0.
    slack : float
        The probability, in (0, 1), that the privacy loss is larger than promised.

    Returns
    -------
    EpsilonDelta
        The guarantee of all together; delta is at most 1.

    Raises
    ------
    ValueError
        If a parameter is out of range or the lengths differ.

    Examples
    --------
    >>> from sklearn_ada.accounting import heterogeneous_composition
    >>> round(heterogeneous_composition([0.1] * 100, slack=1e-6).epsilon, 7)
    5.7565218
    """
    owner = "heterogeneous_composition"
    slack = check_real(slack, "slack", owner, low=0.0, high=1.0)
    if len(epsilons) == 0:
        raise bad_parameter("epsilons", owner, "a non-empty sequence of numbers", epsilons)
    if len(deltas) not in (0, len(epsilons)):
        raise bad_parameter("deltas", owner, f"empty or of length {len(epsilons)}", deltas)
    squares = [check_real(e, "epsilons", owner, low=0.0, closed="low") ** 2 for e in epsilons]
    failures = [check_real(d, "deltas", owner, low=0.0, high=1.0, closed="low") for d in deltas]
    total = math.fsum(squares)
    epsilon = total / 2.0 + math.sqrt(2.0 * -math.log(slack) * total)
    return EpsilonDelta(epsilon, min(1.0, math.fsum(failures) + slack))


def _check_homogeneous(k: int, epsilon: float, delta: float, owner: str) -> tuple[int, float, float]:
    return (
        check_integer(k, "k", owner),
        check_real(epsilon, "epsilon", owner, low=0.0, closed="low"),
        check_real(delta, "delta", owner, low=0.0, high=1.0, closed="low"),
    )


def _deviation(k: int, epsilon: float, slack: float) -> float:
    """Hoeffding: a sum of k independent losses in [-epsilon, epsilon] exceeds its mean by this w.p. slack."""
    return epsilon * math.sqrt(2.0 * k * -math.log(slack))
