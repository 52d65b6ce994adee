"""Private multiplicative weights: how close its answers, and medians found by it, are to the population.

`sklearn_ada.mechanisms.PrivateMultiplicativeWeights` answers each of k mean questions within alpha of the n
records, except with some probability b that falls with n. Its conversation costs, for each correction that
there may be, one run of AboveThreshold and one answer with Laplace noise. Answers and questions are in
[0, 1], so the mean of the largest error on any event of probability beta is at most ``alpha + b/beta``, and
Theorem 2 of `sklearn_ada.guarantees.transfer.direct` adds the gap of that cost (Feldman, Steinke 2017,
Theorem 5.3).

A median of an estimator is found by a binary search over such questions (Theorem 5.4). With answers within x
of the population and a search of tolerance alpha, of the point that is returned the share "at most" is more
than ``1/2 - alpha - x`` and the share "below" less than ``1/2 + alpha + x``: either its own two answers say
so, or it is the last point left, and the answers about its neighbours do.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from sklearn_ada._checks import bad_parameter, check_integer, check_real
from sklearn_ada._constants import LN_2
from sklearn_ada._solving import smallest_integer
from sklearn_ada.accounting.zcdp import laplace_zcdp, pure_dp_zcdp
from sklearn_ada.guarantees._minimising import best_scale
from sklearn_ada.guarantees.transfer.bound import is_vacuous
from sklearn_ada.guarantees.transfer.direct import zcdp_gap
from sklearn_ada.mechanisms.multiplicative_weights import most_updates

__all__ = [
    "MultiplicativeWeightsBound",
    "multiplicative_weights_direct",
    "multiplicative_weights_median_level",
    "multiplicative_weights_records",
]

_STEP = 1.01


class MultiplicativeWeightsBound(NamedTuple):
    """How close k answers of private multiplicative weights are to the population, and with which settings.

    Attributes
    ----------
    half_width : float
        All answers are this close at once, except with probability beta; at most 1.
    alpha, epsilon : float
        Settings of the mechanism.
    """

    half_width: float
    alpha: float
    epsilon: float

    @property
    def vacuous(self) -> bool:
        """Whether the half-width is 1/2 or more, which the answer 1/2 reaches without data."""
        return is_vacuous(self.half_width)


def multiplicative_weights_direct(
    n: int,
    n_questions: int,
    ln_beta: float,
    *,
    universe_size: int,
    alpha: float | None = None,
    epsilon: float | None = None,
) -> MultiplicativeWeightsBound:
    """Return how close k answers of private multiplicative weights are to the population, all at once.

    For adaptively chosen means of values in [0, 1] on independent records of one law over a finite universe.

    Source: Feldman, Steinke (2017), Theorem 5.3 (Bassily et al. 2016, Corollary 6.3), with constants, and the
    gap of this package's direct transfer; the module's text proves it.

    Parameters
    ----------
    n : int
        Number of records.
    n_questions : int
        k, at least 1, fixed in advance.
    ln_beta : float
        Logarithm of the failure probability, at most that of 1/2.
    universe_size : int
        How many different records are possible, at least 2.
    alpha, epsilon : float, optional
        Settings of the mechanism, both or none; by default about the best.

    Returns
    -------
    MultiplicativeWeightsBound

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> bound = multiplicative_weights_direct(10**7, 10**6, math.log(0.05), universe_size=1024)
    >>> round(bound.half_width, 4), bound.vacuous
    (0.1149, False)
    """
    owner = "multiplicative_weights_direct"
    n = check_integer(n, "n", owner)
    k = check_integer(n_questions, "n_questions", owner)
    ln_beta = check_real(ln_beta, "ln_beta", owner, high=-LN_2, closed="high")
    size = check_integer(universe_size, "universe_size", owner, low=2)
    if (alpha is None) != (epsilon is None):
        raise bad_parameter("epsilon", owner, "given where alpha is, and only there", epsilon)
    if alpha is not None and epsilon is not None:
        alpha = check_real(alpha, "alpha", owner, low=0.0, high=1.0)
        epsilon = check_real(epsilon, "epsilon", owner, low=0.0)
    else:
        alpha, epsilon = _best_settings(n, k, ln_beta, size)
    return MultiplicativeWeightsBound(_half_width(n, k, ln_beta, size, alpha, epsilon), alpha, epsilon)


def multiplicative_weights_records(
    n_questions: int, half_width: float, *, universe_size: int, beta: float
) -> int:
    """Return how many records private multiplicative weights needs for k answers within a half-width.

    Source: Feldman, Steinke (2017), Theorem 5.3, whose constants are not stated; those are of
    `multiplicative_weights_direct`.

    Parameters
    ----------
    n_questions : int
        k, at least 1, fixed in advance.
    half_width : float
        Wanted for all answers at once, in (0, 1).
    universe_size : int
        How many different records are possible, at least 2.
    beta : float
        Failure probability, in (0, 1/2].

    Returns
    -------
    int
        A number of records that is enough, at most one in a hundred above the least.

    Raises
    ------
    ValueError
        If a parameter is out of range, or no reasonable number of records is enough.

    Examples
    --------
    >>> n = multiplicative_weights_records(10**6, 0.1, universe_size=1024, beta=0.05)
    >>> round(n / 10**6, 1)
    15.4
    """
    owner = "multiplicative_weights_records"
    k = check_integer(n_questions, "n_questions", owner)
    wanted = check_real(half_width, "half_width", owner, low=0.0, high=1.0)
    ln_beta = math.log(check_real(beta, "beta", owner, low=0.0, high=0.5, closed="high"))

    def is_enough(steps: int) -> bool:
        n = math.ceil(_STEP**steps)
        return multiplicative_weights_direct(n, k, ln_beta, universe_size=universe_size).half_width <= wanted

    try:
        return math.ceil(_STEP ** smallest_integer(is_enough))
    except OverflowError:
        enough = f"reached for k={k} and beta={beta:g} by fewer than 2^60 records"
        raise bad_parameter("half_width", owner, enough, half_width) from None


def multiplicative_weights_median_level(bound: MultiplicativeWeightsBound) -> float:
    """Return x such that medians lie in the (1/2 - x, 1/2 + x) quantile interval of the population.

    For all medians at once that `sklearn_ada.mechanisms.multiplicative_weights_median` finds. A median on a
    grid T needs ``n_counting_questions(|T|)`` mean questions, all of which count in the bound.

    Source: Feldman, Steinke (2017), Theorem 5.4 (there 1/4).

    Parameters
    ----------
    bound : MultiplicativeWeightsBound
        Of all mean questions together.

    Returns
    -------
    float
        1/2 or more says nothing.

    Examples
    --------
    >>> bound = multiplicative_weights_direct(10**7, 20 * 10**5, math.log(0.05), universe_size=1024)
    >>> round(multiplicative_weights_median_level(bound), 2)
    0.19
    """
    return bound.alpha + bound.half_width


def _best_settings(n: int, k: int, ln_beta: float, size: int) -> tuple[float, float]:
    """About the best alpha, and epsilon for it."""

    def best_epsilon(alpha: float) -> float:
        # No less noise than makes the sample accurate, no more than the gap can bear.
        least = _noise(k, size, alpha, ln_beta) * 4.0 / (alpha * n)
        return best_scale(
            lambda epsilon: _half_width(n, k, ln_beta, size, alpha, epsilon),
            math.log(least),
            math.log(8.0 * least),
        )

    alpha = best_scale(
        lambda alpha: _half_width(n, k, ln_beta, size, alpha, best_epsilon(alpha)),
        math.log(1e-4),
        math.log(0.999),
        xatol=1e-3,
    )
    return alpha, best_epsilon(alpha)


def _noise(k: int, size: int, alpha: float, ln_failure: float) -> float:
    """Nats of noise that must be small, for answers within alpha of the records but with some probability."""
    thresholds = most_updates(size, alpha) + 1
    return 2.0 * math.log(3.0 * thresholds) + 4.0 * math.log(3.0 * k) - 6.0 * ln_failure


def _half_width(n: int, k: int, ln_beta: float, size: int, alpha: float, epsilon: float) -> float:
    """Accuracy on the records, its failure, and the gap."""
    # `multiplicative_weights_sample_size`, solved for the failure probability.
    ln_failure = (_noise(k, size, alpha, 0.0) - n * alpha * epsilon / 4.0) / 6.0
    corrections = most_updates(size, alpha) + 1
    gap = zcdp_gap(corrections * (pure_dp_zcdp(epsilon) + laplace_zcdp(epsilon)), ln_beta)
    return min(alpha + math.exp(min(ln_failure - ln_beta, 0.0)) + gap, 1.0)
