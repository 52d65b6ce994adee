"""What mechanisms with a memory reach: Thresholdout, private multiplicative weights, verification; a learner.

*Multiplicative weights.* `sklearn_ada.mechanisms.PrivateMultiplicativeWeights` answers each of k mean
questions within alpha of the n rows, except with some probability b that falls with n. Its conversation
costs, for each correction that there may be, one run of AboveThreshold and one answer with Laplace noise.
Answers and questions are in [0, 1], so the mean of the largest error on any event of probability beta is at
most ``alpha + b/beta``, and Theorem 2 of `sklearn_ada.guarantees.transfer` adds the gap of that cost
(Feldman, Steinke 2017, Theorem 5.3).

A median of an estimator is found by a binary search over such questions (Theorem 5.4). With answers within x
of the population and a search of tolerance alpha, of the point that is returned the share "at most" is more
than ``1/2 - alpha - x`` and the share "below" less than ``1/2 + alpha + x``: either its own two answers say
so, or it is the last point left, and the answers about its neighbours do.

*Verification.* A guess v of an estimator is well inside if both shares of the estimator's law, at most v and
at least v, are large. `sklearn_ada.mechanisms.Verification` compares the smaller share of m subsamples with
the threshold ``rho - alpha/2``, with noise, and says "N" at most ``max_failures`` times (Feldman, Steinke
2017, Theorem 5.1).

Proof that its answers speak of the population. Let t bound the mean of the noise of an answer on any event of
probability beta, and g be the gap of Theorem 1 of `sklearn_ada.guarantees.transfer` for the whole
conversation, whose "N" are one run of AboveThreshold each. Suppose that with probability more than beta there
is a question with the answer "Y" of which one share is at most ``rho - alpha/2 - t - g`` in the population.
On this event the share of the subsamples exceeds the population's by t + g less the noise, so by more than g
in the mean: against Theorem 1, for whoever reads the conversation can name that share. For "N" it is the
smaller share of the subsamples, likewise.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

from sklearn_ada._solving import best_scale, smallest_integer
from sklearn_ada._validation import LN_2, bad_parameter, check_real, checked, real
from sklearn_ada.accounting.differential_privacy import laplace_zcdp, pure_dp_zcdp, thresholdout_zcdp
from sklearn_ada.guarantees.transfer import approximate_dp_gap, is_vacuous, laplace_tail_mean, zcdp_gap
from sklearn_ada.mechanisms.multiplicative_weights import most_updates

__all__ = [
    "MultiplicativeWeightsBound", "ThresholdoutBound", "VerificationLevels", "VerificationPlan",
    "multiplicative_weights_direct", "multiplicative_weights_median_level", "multiplicative_weights_records",
    "private_learner_sample_size", "thresholdout_direct", "verification_levels", "verification_plan",
]  # fmt: skip

_BETA = real(high=-LN_2, closed="high")
_STEP = 1.01  # between the numbers of rows tried for multiplicative weights


class ThresholdoutBound(NamedTuple):
    """How close the answers of a Thresholdout are to the population, and with which noise.

    Attributes
    ----------
    half_width : float
        All answers are this close at once, except with probability beta.
    noise_scale : float
        Scale s of the noise in a corrected value; 2 s in the threshold, 4 s in a comparison.
    """

    half_width: float
    noise_scale: float

    @property
    def vacuous(self) -> bool:
        """Whether the half-width is 1/2 or more, which the answer 1/2 reaches without data."""
        return is_vacuous(self.half_width)


@checked(
    n="count",
    n_questions="count",
    max_hits="count",
    ln_beta=_BETA,
    threshold=">= 0",
    noise_scale="> 0 or None",
)
def thresholdout_direct(
    n: int,
    n_questions: int,
    max_hits: int,
    ln_beta: float,
    *,
    threshold: float,
    noise_scale: float | None = None,
) -> ThresholdoutBound:
    """Return how close a Thresholdout's k answers are to the population, all at once.

    Theorem 2 of `sklearn_ada.guarantees.transfer`. The conversation costs `thresholdout_zcdp` at
    ``1/(s n)``, whatever its number of questions. An answer that agrees is within the threshold, the noise of
    its run (2 s; ``max_hits + 1`` runs) and that of its comparison (4 s) of the holdout's value, on one side
    only; the noise of a corrected one, of scale s, fits into what the other side would be allowed. The mean
    of the worst beta-tail of a sum is at most the sum of those of its terms.

    Parameters
    ----------
    n : int
        Number of rows; questions are means of values in [0, 1].
    n_questions : int
        k, at least 1, fixed in advance.
    max_hits : int
        B, how many corrections there may be, at least 1.
    ln_beta : float
        Logarithm of the failure probability, at most that of 1/2.
    threshold : float
        The difference that is tolerated, at least 0.
    noise_scale : float, optional
        s, positive; by default about the best.

    Returns
    -------
    ThresholdoutBound
        Half-width and noise.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> bound = thresholdout_direct(100_000, 10_000, 5, math.log(0.05), threshold=0.01)
    >>> round(bound.half_width, 4), bound.vacuous
    (0.0908, False)
    """

    def half_width(scale: float) -> float:
        # Of a beta up to 1/2: beyond its (k/beta)-quantile, half of the comparison's two-sided tail covers
        # the tail of a correction.
        of_runs = laplace_tail_mean(max_hits + 1, 2.0 * scale, ln_beta)
        noise = of_runs + laplace_tail_mean(n_questions, 4.0 * scale, ln_beta)
        return threshold + noise + zcdp_gap(thresholdout_zcdp(1.0 / (scale * n), max_hits), ln_beta)

    if noise_scale is None:
        # For small 1/(s n) the gap falls as 1/s and the noise grows as s: they meet at the optimum.
        noise = half_width(1.0) - threshold
        gap = zcdp_gap(thresholdout_zcdp(1e-4, max_hits), ln_beta) * 1e4 / n
        centre = 0.5 * math.log(gap / noise)
        best = best_scale(half_width, centre - 2.0, centre + 2.0, xatol=1e-3)
        # On few rows hardly any noise is best: the gap is 1 then, and nothing else is lost.
        noise_scale = min(best, 1e-9 / noise, key=half_width)
    return ThresholdoutBound(half_width(noise_scale), noise_scale)


class MultiplicativeWeightsBound(NamedTuple):
    """How close private multiplicative weights come to the population, with which settings.

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


@checked(
    n="count",
    n_questions="count",
    ln_beta=_BETA,
    universe_size="integer >= 2",
    alpha="(0, 1) or None",
    epsilon="> 0 or None",
)
def multiplicative_weights_direct(
    n: int,
    n_questions: int,
    ln_beta: float,
    *,
    universe_size: int,
    alpha: float | None = None,
    epsilon: float | None = None,
) -> MultiplicativeWeightsBound:
    """Return how close private multiplicative weights come to the population, k answers at once.

    For adaptively chosen means of values in [0, 1] on independent rows of one law over a finite universe.

    Source: Feldman, Steinke (2017), Theorem 5.3 (Bassily et al. 2016, Corollary 6.3), with constants, and the
    gap of this package's direct transfer; the module's text proves it.

    Parameters
    ----------
    n : int
        Number of rows.
    n_questions : int
        k, at least 1, fixed in advance.
    ln_beta : float
        Logarithm of the failure probability, at most that of 1/2.
    universe_size : int
        How many different rows are possible, at least 2.
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
    if (alpha is None) != (epsilon is None):
        expected = "given where alpha is, and only there"
        raise bad_parameter("epsilon", "multiplicative_weights_direct", expected, epsilon)
    if alpha is None or epsilon is None:
        alpha, epsilon = _best_settings(n, n_questions, ln_beta, universe_size)
    half_width = _half_width(n, n_questions, ln_beta, universe_size, alpha, epsilon)
    return MultiplicativeWeightsBound(half_width, alpha, epsilon)


@checked(n_questions="count", half_width="(0, 1)", beta="(0, 0.5]")
def multiplicative_weights_records(
    n_questions: int, half_width: float, *, universe_size: int, beta: float
) -> int:
    """Return how many rows private multiplicative weights needs for k answers within a half-width.

    Source: Feldman, Steinke (2017), Theorem 5.3. The theorem states no constants, so those of
    `multiplicative_weights_direct` are used.

    Parameters
    ----------
    n_questions : int
        k, at least 1, fixed in advance.
    half_width : float
        Wanted for all answers at once, in (0, 1).
    universe_size : int
        How many different rows are possible, at least 2.
    beta : float
        Failure probability, in (0, 1/2].

    Returns
    -------
    int
        A number of rows that is enough, at most one in a hundred above the least.

    Raises
    ------
    ValueError
        If a parameter is out of range, or no reasonable number of rows is enough.

    Examples
    --------
    >>> n = multiplicative_weights_records(10**6, 0.1, universe_size=1024, beta=0.05)
    >>> round(n / 10**6, 1)
    15.4
    """

    def is_enough(steps: int) -> bool:
        n = math.ceil(_STEP**steps)
        bound = multiplicative_weights_direct(n, n_questions, math.log(beta), universe_size=universe_size)
        return bound.half_width <= half_width

    try:
        return math.ceil(_STEP ** smallest_integer(is_enough))
    except OverflowError:
        enough = f"reached for k={n_questions} and beta={beta:g} by fewer than 2^60 rows"
        raise bad_parameter("half_width", "multiplicative_weights_records", enough, half_width) from None


def multiplicative_weights_median_level(bound: MultiplicativeWeightsBound) -> float:
    """Return how far from 1/2 the quantile level of such medians can be.

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


class VerificationLevels(NamedTuple):
    """What a verification's answers say about the population, except with probability beta.

    Both levels hold for all answers at once.

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


@checked(m="count", n_questions="count", rho="(0, 0.5]", epsilon="> 0", max_failures="count", ln_beta=_BETA)
def verification_levels(
    m: int, n_questions: int, *, rho: float, alpha: float, epsilon: float, max_failures: int, ln_beta: float
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
    alpha = check_real(alpha, "alpha", "verification_levels", low=0.0, high=rho)
    error = _error(m, n_questions, epsilon, max_failures, ln_beta)
    threshold = rho - alpha / 2.0
    return VerificationLevels(max(threshold - error, 0.0), min(threshold + error, 1.0))


@checked(n_questions="count", rho="(0, 0.5]", max_failures="count", beta="(0, 0.5]")
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
    alpha = check_real(alpha, "alpha", owner, low=0.0, high=rho)

    def error(m: int, epsilon: float) -> float:
        return _error(m, n_questions, epsilon, max_failures, math.log(beta))

    def best(m: int) -> float:
        return best_scale(lambda epsilon: error(m, epsilon), math.log(1e-3 / m), math.log(1e3))

    try:
        m = smallest_integer(lambda m: error(m, best(m)) <= alpha / 2.0)
    except OverflowError:
        enough = f"reached for k={n_questions} and beta={beta:g} by fewer than 2^60 subsamples"
        raise bad_parameter("alpha", owner, enough, alpha) from None
    return VerificationPlan(m, best(m))


@checked(n_hypotheses="count", alpha="(0, 1)", epsilon="> 0", beta="(0, 1)")
def private_learner_sample_size(n_hypotheses: int, alpha: float, epsilon: float, beta: float) -> int:
    """Return how many rows an epsilon-DP learner of a finite class needs.

    The exponential mechanism over the empirical errors returns a hypothesis whose error on D is within alpha
    of the smallest in the class, except with probability beta, if n is at least both of::

        4 (ln|H| + ln(2/beta)) / (alpha epsilon)        selection: alpha/2 above the best empirical error
        8 ln(2 (|H| + 1)/beta) / alpha^2                sampling: alpha/4 for every hypothesis from above,
                                                        and alpha/4 for the best one from below

    (Kasiviswanathan, Lee, Nissim, Raskhodnikova, Smith 2011; each with probability beta/2, by Theorem 0.2
    and by Hoeffding's inequality.) The class need not contain a perfect hypothesis.

    Parameters
    ----------
    n_hypotheses : int
        ``|H|``, at least 1.
    alpha : float
        Excess error, in (0, 1).
    epsilon : float
        Privacy parameter, positive.
    beta : float
        Failure probability, in (0, 1).

    Returns
    -------
    int
        Number of rows.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> private_learner_sample_size(1000, alpha=0.1, epsilon=1.0, beta=0.05)
    8479
    """
    ln_two_over_beta = LN_2 - math.log(beta)
    selection = 4.0 * (math.log(n_hypotheses) + ln_two_over_beta) / (alpha * epsilon)
    sampling = 8.0 * (math.log(n_hypotheses + 1.0) + ln_two_over_beta) / alpha**2
    return math.ceil(max(selection, sampling))


def _best_settings(n: int, k: int, ln_beta: float, size: int) -> tuple[float, float]:
    """Return about the best alpha, and epsilon for it."""
    width = partial(_half_width, n, k, ln_beta, size)

    def best_epsilon(alpha: float) -> float:
        # No less noise than makes the sample accurate, no more than the gap can bear.
        least = _noise(k, size, alpha, ln_beta) * 4.0 / (alpha * n)
        return best_scale(partial(width, alpha), math.log(least), math.log(8.0 * least))

    ends = math.log(1e-4), math.log(0.999)
    alpha = best_scale(lambda alpha: width(alpha, best_epsilon(alpha)), *ends, xatol=1e-3)
    return alpha, best_epsilon(alpha)


def _noise(k: int, size: int, alpha: float, ln_failure: float) -> float:
    """Return the least ``n alpha epsilon / 4`` for accurate answers.

    With it, all answers are within alpha of the holdout's, except with the probability given; as in
    `multiplicative_weights_sample_size`.
    """
    thresholds = most_updates(size, alpha) + 1
    return 2.0 * math.log(3.0 * thresholds) + 4.0 * math.log(3.0 * k) - 6.0 * ln_failure


def _half_width(n: int, k: int, ln_beta: float, size: int, alpha: float, epsilon: float) -> float:
    """Return the sum of accuracy on the rows, its failure, and the gap."""
    # `multiplicative_weights_sample_size`, solved for the failure probability.
    ln_failure = (_noise(k, size, alpha, 0.0) - n * alpha * epsilon / 4.0) / 6.0
    corrections = most_updates(size, alpha) + 1
    gap = zcdp_gap(corrections * (pure_dp_zcdp(epsilon) + laplace_zcdp(epsilon)), ln_beta)
    return min(alpha + math.exp(min(ln_failure - ln_beta, 0.0)) + gap, 1.0)


def _error(m: int, k: int, epsilon: float, failures: int, ln_beta: float) -> float:
    """Return how far from the threshold a share of the population can be: noise plus gap."""
    unit = 1.0 / (epsilon * m)
    noise = laplace_tail_mean(failures, 2.0 * unit, ln_beta) + laplace_tail_mean(k, 4.0 * unit, ln_beta)
    gap = zcdp_gap(failures * pure_dp_zcdp(epsilon), ln_beta)
    return noise + min(gap, approximate_dp_gap(failures * epsilon, 0.0, math.exp(ln_beta)))
