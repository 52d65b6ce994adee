"""Verification questions: what "Y" and "N" say about the population, and how many subsamples they need.

A guess v of an estimator is well inside if both shares of the estimator's law, at most v and at least v, are
large. `sklearn_ada.mechanisms.Verification` compares the smaller share of m subsamples with the threshold
``rho - alpha/2``, with noise, and says "N" at most ``max_failures`` times (Feldman, Steinke 2017, Theorem
5.1).

Proof that its answers speak of the population. Let t bound the mean of the noise of an answer on any event of
probability beta, and g be the gap of Theorem 1 of `sklearn_ada.guarantees.transfer.direct` for the whole
conversation, whose "N" are one run of AboveThreshold each. Suppose that with probability more than beta there
is a question with the answer "Y" of which one share is at most ``rho - alpha/2 - t - g`` in the population.
On this event the share of the subsamples exceeds the population's by t + g less the noise, so by more than g
in the mean: against Theorem 1, for whoever reads the conversation can name that share. For "N" it is the
smaller share of the subsamples, likewise.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from sklearn_ada._checks import bad_parameter, check_integer, check_real
from sklearn_ada._constants import LN_2
from sklearn_ada._solving import smallest_integer
from sklearn_ada.accounting.zcdp import pure_dp_zcdp
from sklearn_ada.guarantees._minimising import best_scale
from sklearn_ada.guarantees.transfer.direct import approximate_dp_gap, laplace_tail_mean, zcdp_gap

__all__ = ["VerificationLevels", "VerificationPlan", "verification_levels", "verification_plan"]


class VerificationLevels(NamedTuple):
    """What all answers of a verification say about the population at once, except with probability beta.

    Attributes
    ----------
    inside : float
        After "Y" the guess lies in the (inside, 1 - inside) quantile interval of the estimator's law on
        fresh subsamples; 0 says nothing.
    outside : float
        After "N" it does not lie in the (outside, 1 - outside) quantile interval; 1 says nothing.
    """

    inside: float
    outside: float

    @property
    def vacuous(self) -> bool:
        """Whether a "Y" says nothing."""
        return self.inside <= 0.0


class VerificationPlan(NamedTuple):
    """How to verify k guesses.

    Attributes
    ----------
    m : int
        Number of subsamples.
    epsilon : float
        Privacy parameter of each run of the sparse vector.
    """

    m: int
    epsilon: float


def verification_levels(
    m: int,
    n_questions: int,
    *,
    rho: float,
    alpha: float,
    epsilon: float,
    max_failures: int,
    ln_beta: float,
) -> VerificationLevels:
    """Return what "Y" and "N" of `sklearn_ada.mechanisms.Verification` say about the population.

    Both hold for all k adaptively chosen guesses at once, except with probability beta, whatever the
    estimators are.

    Source: Feldman, Steinke (2017), Theorems 1.4 and 5.1, with the gap of this package's direct transfer in
    the place of their Theorem 4.1; the module's text proves it.

    Parameters
    ----------
    m : int
        Number of subsamples, at least 1.
    n_questions : int
        k, at least 1, fixed in advance.
    rho, alpha, epsilon, max_failures
        As in `sklearn_ada.mechanisms.Verification`.
    ln_beta : float
        Logarithm of the failure probability, at most that of 1/2.

    Returns
    -------
    VerificationLevels

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> levels = verification_levels(
    ...     60_000, 1000, rho=0.25, alpha=0.2, epsilon=0.02, max_failures=10, ln_beta=math.log(0.05)
    ... )
    >>> round(levels.inside, 3), round(levels.outside, 3), levels.vacuous
    (0.054, 0.246, False)
    """
    owner = "verification_levels"
    m = check_integer(m, "m", owner)
    k = check_integer(n_questions, "n_questions", owner)
    rho, alpha, failures = _checked(rho, alpha, max_failures, owner)
    epsilon = check_real(epsilon, "epsilon", owner, low=0.0)
    ln_beta = check_real(ln_beta, "ln_beta", owner, high=-LN_2, closed="high")
    error = _error(m, k, epsilon, failures, ln_beta)
    threshold = rho - alpha / 2.0
    return VerificationLevels(max(threshold - error, 0.0), min(threshold + error, 1.0))


def verification_plan(
    n_questions: int, *, rho: float, alpha: float, max_failures: int, beta: float
) -> VerificationPlan:
    """Return how many subsamples verify k guesses for the population, and with which noise.

    With so many, and except with probability beta, every guess in the (rho, 1 - rho) quantile interval of the
    estimator's law gets a "Y", and every guess outside of the (rho - alpha, 1 - rho + alpha) interval an "N",
    until ``max_failures`` were "N".

    Source: Feldman, Steinke (2017), Theorem 1.4, whose constants are not stated; those are of
    `verification_levels`.

    Parameters
    ----------
    n_questions : int
        k, at least 1, fixed in advance.
    rho, alpha, max_failures
        As in `sklearn_ada.mechanisms.Verification`.
    beta : float
        Failure probability, in (0, 1/2].

    Returns
    -------
    VerificationPlan

    Raises
    ------
    ValueError
        If a parameter is out of range, or no reasonable number of subsamples is enough.

    Examples
    --------
    >>> verification_plan(1000, rho=0.25, alpha=0.2, max_failures=10, beta=0.05).m
    54785
    """
    owner = "verification_plan"
    k = check_integer(n_questions, "n_questions", owner)
    rho, alpha, failures = _checked(rho, alpha, max_failures, owner)
    ln_beta = math.log(check_real(beta, "beta", owner, low=0.0, high=0.5, closed="high"))

    def best(m: int) -> float:
        return best_scale(
            lambda epsilon: _error(m, k, epsilon, failures, ln_beta), math.log(1e-3 / m), math.log(1e3)
        )

    try:
        m = smallest_integer(lambda m: _error(m, k, best(m), failures, ln_beta) <= alpha / 2.0)
    except OverflowError:
        enough = f"reached for k={k} and beta={beta:g} by fewer than 2^60 subsamples"
        raise bad_parameter("alpha", owner, enough, alpha) from None
    return VerificationPlan(m, best(m))


def _checked(rho: float, alpha: float, max_failures: int, owner: str) -> tuple[float, float, int]:
    rho = check_real(rho, "rho", owner, low=0.0, high=0.5, closed="high")
    alpha = check_real(alpha, "alpha", owner, low=0.0, high=rho)
    return rho, alpha, check_integer(max_failures, "max_failures", owner)


def _error(m: int, k: int, epsilon: float, failures: int, ln_beta: float) -> float:
    """Noise and gap: how far from the threshold a share of the population can be."""
    unit = 1.0 / (epsilon * m)
    noise = laplace_tail_mean(failures, 2.0 * unit, ln_beta) + laplace_tail_mean(k, 4.0 * unit, ln_beta)
    gap = zcdp_gap(failures * pure_dp_zcdp(epsilon), ln_beta)
    return noise + min(gap, approximate_dp_gap(failures * epsilon, 0.0, math.exp(ln_beta)))
