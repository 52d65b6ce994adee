"""The Ladder, a leaderboard that only shows improvements: how close its best score is to the population.

Few different conversations are possible with it, whatever is asked: a union bound over all of them is enough.

Source: Blum and Hardt (2015).

How many records a private learner of a finite class of hypotheses needs.

Gaussian noise: half-widths of k adaptive answers by three transfer theorems, with the best noise.

Each answer is a mean of n values in [0, 1] plus noise of standard deviation sigma, so that k answers are
exactly mu-GDP with ``mu = sqrt(k)/(n sigma)`` (Dong, Roth, Su 2022) and cost ``mu^2/2`` in zCDP. Without
``noise_scale`` the noise that gives the smallest half-width is found numerically; any noise gives a valid
bound, so an inexact search costs width and never validity. Everything returned holds for all k answers at
once except with probability beta, however adaptively the questions were chosen.

Laplace noise: half-widths of k adaptive answers, and how many records they need (lecture 19).

Private multiplicative weights: how close its answers, and medians found by it, are to the population.

`sklearn_ada.mechanisms.PrivateMultiplicativeWeights` answers each of k mean questions within alpha of the n
records, except with some probability b that falls with n. Its conversation costs, for each correction that
there may be, one run of AboveThreshold and one answer with Laplace noise. Answers and questions are in
[0, 1], so the mean of the largest error on any event of probability beta is at most ``alpha + b/beta``, and
Theorem 2 of `sklearn_ada.guarantees.transfer` adds the gap of that cost (Feldman, Steinke 2017,
Theorem 5.3).

A median of an estimator is found by a binary search over such questions (Theorem 5.4). With answers within x
of the population and a search of tolerance alpha, of the point that is returned the share "at most" is more
than ``1/2 - alpha - x`` and the share "below" less than ``1/2 + alpha + x``: either its own two answers say
so, or it is the last point left, and the answers about its neighbours do.

Gaussian noise by mutual information: what noisy answers tell about the holdout bounds how they overfit.

Thresholdout with Laplace noise, by a transfer theorem: how close its answers are to the population.

Verification questions: what "Y" and "N" say about the population, and how many subsamples they need.

A guess v of an estimator is well inside if both shares of the estimator's law, at most v and at least v, are
large. `sklearn_ada.mechanisms.Verification` compares the smaller share of m subsamples with the threshold
``rho - alpha/2``, with noise, and says "N" at most ``max_failures`` times (Feldman, Steinke 2017, Theorem
5.1).

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
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import gammaln, ndtri_exp

from sklearn_ada._validation import (
    LN_2,
    bad_parameter,
    check_integer,
    check_real,
    enclosed_root,
    smallest_integer,
)
from sklearn_ada.accounting.differential_privacy import (
    gaussian_log_delta,
    laplace_zcdp,
    pure_dp_zcdp,
    thresholdout_zcdp,
    zcdp_epsilon,
)
from sklearn_ada.guarantees.intervals import NONE, best_scale, expected_half_width, simplex_minimum
from sklearn_ada.guarantees.transfer import (
    approximate_dp_gap,
    gaussian_dp_gap,
    gaussian_tail_mean,
    is_vacuous,
    jung_2020_best,
    laplace_tail_mean,
    zcdp_gap,
)
from sklearn_ada.mechanisms.multiplicative_weights import most_updates


class LadderBound(NamedTuple):
    """How close a Ladder's best loss is to the best loss on the population, and with which step.

    Attributes
    ----------
    half_width : float
        From 1/2 on it is vacuous.
    step : float
        The least improvement that is revealed.
    """

    half_width: float
    step: float


def ladder_transcripts(n_questions: int, step: float) -> float:
    """Return the logarithm of the number of questions that any conversation with a Ladder can contain.

    j answers never rise and lie on at most ``M + 1`` rungs, ``M = floor(1/step) + 1``, so that there are at
    most ``C(j + M, M)`` of them; the sum over the conversations before each of the k questions,
    j = 0, ..., k - 1, is ``C(k + M, M + 1)``.

    Parameters
    ----------
    n_questions : int
        k, at least 1.
    step : float
        In (0, 1].

    Returns
    -------
    float
        In nats.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(ladder_transcripts(100, 0.1), 1)
    35.9
    """
    k = check_integer(n_questions, "n_questions", "ladder_transcripts")
    step = check_real(step, "step", "ladder_transcripts", low=0.0, high=1.0, closed="high")
    return _ln_conversations(k, math.floor(1.0 / step) + 1)


def blum_hardt_2015(
    n: int,
    n_questions: int,
    ln_beta: float,
    *,
    step: float | None = None,
    expected_value: float | None = None,
) -> LadderBound:
    """Return how close the best loss so far is, at every time, to that of the best question so far.

    Blum, Hardt (ICML 2015) with the exact count of conversations: the Ladder's answer is within
    a step of the smallest empirical loss, and every loss that may be asked for is near its population value,
    by a union bound over `ladder_transcripts`. Nothing is said of questions that did not improve.

    Parameters
    ----------
    n : int
        Number of records.
    n_questions : int
        k, at least 1.
    ln_beta : float
        Logarithm of the failure probability, at most 0.
    step : float, optional
        In (0, 1]; by default the best.
    expected_value : float or None, default=None
        What the best loss is expected to be, or None for the worst; see `expected_half_width`.

    Returns
    -------
    LadderBound
        Half-width and step.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> bound = blum_hardt_2015(10_000, 1000, math.log(0.05))
    >>> round(bound.half_width, 3), round(bound.step, 3)
    (0.117, 0.032)
    """
    owner = "blum_hardt_2015"
    n = check_integer(n, "n", owner)
    k = check_integer(n_questions, "n_questions", owner)
    ln_beta = check_real(ln_beta, "ln_beta", owner, high=0.0, closed="high")

    def half_width(rungs: float, step: float) -> float:
        return expected_half_width(n, ln_beta - _ln_conversations(k, rungs), expected_value, reach=step)

    if step is not None:
        rungs = math.floor(1.0 / check_real(step, "step", owner, low=0.0, high=1.0, closed="high")) + 1
        return LadderBound(half_width(rungs, step), step)
    near = math.floor(best_scale(lambda rungs: half_width(rungs, 1.0 / rungs), LN_2, math.log(4.0 * n)))
    # The smallest step with so many rungs is just above 1/rungs.
    steps = [(rungs, (1.0 + 1e-9) / rungs) for rungs in (near, near + 1) if rungs >= 2]
    return min(LadderBound(half_width(rungs, step), step) for rungs, step in steps)


def _ln_conversations(k: int, rungs: float) -> float:
    return float(gammaln(k + rungs + 1.0) - gammaln(rungs + 2.0) - gammaln(k))


def private_learner_sample_size(n_hypotheses: int, alpha: float, epsilon: float, beta: float) -> int:
    """Return how many records an epsilon-DP learner of a finite class needs (lecture 16, Theorem 0.3).

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
        Number of records.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> private_learner_sample_size(1000, alpha=0.1, epsilon=1.0, beta=0.05)
    8479
    """
    owner = "private_learner_sample_size"
    size = check_integer(n_hypotheses, "n_hypotheses", owner)
    alpha = check_real(alpha, "alpha", owner, low=0.0, high=1.0)
    epsilon = check_real(epsilon, "epsilon", owner, low=0.0)
    beta = check_real(beta, "beta", owner, low=0.0, high=1.0)
    ln_two_over_beta = LN_2 - math.log(beta)
    selection = 4.0 * (math.log(size) + ln_two_over_beta) / (alpha * epsilon)
    sampling = 8.0 * (math.log(size + 1.0) + ln_two_over_beta) / alpha**2
    return math.ceil(max(selection, sampling))


@dataclass(frozen=True)
class GaussianBound:
    """How close k noisy answers are to the population, and with which noise.

    Attributes
    ----------
    half_width : float
        All answers are this close at once, except with probability beta.
    noise_scale : float
        Standard deviation of the noise in each answer.
    """

    half_width: float
    noise_scale: float

    @property
    def vacuous(self) -> bool:
        """Whether the half-width is 1/2 or more, which the answer 1/2 reaches without data."""
        return is_vacuous(self.half_width)


def gaussian_direct(
    n: int, n_questions: int, ln_beta: float, *, noise_scale: float | None = None
) -> GaussianBound:
    """Return the sharpest bound known here: Theorem 2 of `sklearn_ada.guarantees.transfer`.

    The mean of the worst beta-tail of the noise plus the gap of mu-GDP at beta. Answers need no clipping.

    Parameters
    ----------
    n : int
        Number of records.
    n_questions : int
        k, at least 1, fixed in advance.
    ln_beta : float
        Logarithm of the failure probability, at most 0.
    noise_scale : float, optional
        Standard deviation of the noise, positive; by default the best.

    Returns
    -------
    GaussianBound
        Half-width and noise.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> bound = gaussian_direct(10_000, 100, math.log(0.05))
    >>> round(bound.half_width, 4), round(bound.noise_scale, 4), bound.vacuous
    (0.1003, 0.0137, False)
    """
    n, k, ln_beta, noise_scale = check_answers(n, n_questions, ln_beta, noise_scale, "gaussian_direct")

    def half_width(sigma: float) -> float:
        return gaussian_tail_mean(k, sigma, ln_beta) + gaussian_dp_gap(math.sqrt(k) / (n * sigma), ln_beta)

    if noise_scale is None:
        # The gap is about slope * mu, which makes the two terms equal at the optimum.
        tail, slope = gaussian_tail_mean(k, 1.0, ln_beta), gaussian_dp_gap(1e-3, ln_beta) / 1e-3
        noise_scale = best_noise(half_width, math.sqrt(slope * math.sqrt(k) / (n * tail)))
    return GaussianBound(half_width(noise_scale), noise_scale)


def gaussian_jung(
    n: int, n_questions: int, ln_beta: float, *, noise_scale: float | None = None
) -> GaussianBound:
    """Return the bound of Jung et al. (ITCS 2020) with the exact privacy curve of Gaussian noise.

    ``delta(epsilon) = Phi(-epsilon/mu + mu/2) - e^epsilon Phi(-epsilon/mu - mu/2)`` in `jung_2020_best`,
    minimised over epsilon, over the failure probability of the sample accuracy, and over the noise. Answers
    must be clipped to [0, 1].

    Parameters
    ----------
    n : int
        Number of records.
    n_questions : int
        k, at least 1, fixed in advance.
    ln_beta : float
        Logarithm of the failure probability, at most 0.
    noise_scale : float, optional
        Standard deviation of the noise, positive; by default the best.

    Returns
    -------
    GaussianBound
        Half-width and noise.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(gaussian_jung(10_000, 100, math.log(0.05)).half_width, 4)
    0.2306
    """
    n, k, ln_beta, noise_scale = check_answers(n, n_questions, ln_beta, noise_scale, "gaussian_jung")

    def half_width(sigma: float, epsilon: float, ln_sample: float) -> float:
        alpha = -sigma * float(ndtri_exp(ln_sample - math.log(2.0 * k)))
        ln_delta = gaussian_log_delta(math.sqrt(k) / (n * sigma), epsilon)
        return jung_2020_best(alpha, ln_sample, epsilon, ln_delta, ln_beta)

    def objective(x: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        ln_epsilon, ln_sample = float(x[0]), float(x[1])
        ln_sigma = float(x[2]) if noise_scale is None else math.log(noise_scale)
        if not (-60.0 < ln_epsilon < 6.0 and ln_sample < 0.0 and -60.0 < ln_sigma < 60.0):
            return NONE
        return min(half_width(math.exp(ln_sigma), math.exp(ln_epsilon), ln_sample), NONE)

    # The start balances the two terms; c and d of about a tenth of the half-width set the small
    # probabilities.
    ln_sample = 2.0 * ln_beta - math.log(n) / 2.0
    z = -float(ndtri_exp(ln_sample - math.log(2.0 * k)))
    sigma = noise_scale or math.sqrt(math.sqrt(k) / n)
    epsilon = min(z * math.sqrt(k) / (n * sigma), 1.0)
    start = [math.log(epsilon), ln_sample] + ([math.log(sigma)] if noise_scale is None else [])
    best, at = simplex_minimum(objective, start)
    return GaussianBound(best, noise_scale or math.exp(at[2]))


def gaussian_bassily(n: int, n_questions: int, ln_beta: float) -> GaussianBound:
    """Return the bound of `bassily_2016` with the exact privacy curve of Gaussian noise, noise chosen best.

    ``6 epsilon + alpha`` at ``k beta0 + max(4 delta/epsilon, e^(-epsilon^2 n/8)) = beta``, where the noise
    exceeds alpha with probability beta0. Infinite where no ``sqrt(12/n) <= epsilon <= 1/8`` will do.

    Parameters
    ----------
    n : int
        Number of records.
    n_questions : int
        k, at least 1, fixed in advance.
    ln_beta : float
        Logarithm of the failure probability, at most that of 1/4: then ``delta <= epsilon/16`` need not be
        checked.

    Returns
    -------
    GaussianBound
        Half-width and noise.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(gaussian_bassily(1_000_000, 1000, math.log(0.05)).half_width, 4)
    0.076
    """
    n, k, ln_beta, _ = check_answers(n, n_questions, ln_beta, None, "gaussian_bassily")
    check_real(ln_beta, "ln_beta", "gaussian_bassily", high=-math.log(4.0), closed="high")
    least = math.sqrt(max(12.0, -8.0 * ln_beta) / n)
    if not least < 0.125 or ln_beta < -700.0:
        return GaussianBound(math.inf, math.nan)
    beta = math.exp(ln_beta)

    def half_width(x: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        epsilon, sigma = math.exp(x[0]), math.exp(x[1])
        if not (least <= epsilon <= 0.125 and abs(x[1]) < 60.0):
            return NONE
        delta = math.exp(gaussian_log_delta(math.sqrt(k) / (n * sigma), epsilon))
        left = beta - max(4.0 * delta / epsilon, math.exp(-(epsilon**2) * n / 8.0))
        return 6.0 * epsilon - sigma * float(ndtri_exp(math.log(left / (2.0 * k)))) if left > 0.0 else NONE

    best = (NONE, math.nan)
    for epsilon in (1.05 * least, min(2.0 * least, 0.12)):
        start = [math.log(epsilon), math.log(5.0 * math.sqrt(k) / (n * epsilon))]
        found, at = simplex_minimum(half_width, start)
        best = min(best, (found, math.exp(at[1])))
    return GaussianBound(*best) if best[0] < NONE else GaussianBound(math.inf, math.nan)


def best_noise(half_width: Callable[[float], float], guess: float) -> float:
    """Return the noise in a wide range around ``guess`` with about the smallest half-width."""
    grid = math.log(guess) + np.linspace(-5.0, 5.0, 41)
    centre = int(np.argmin([half_width(math.exp(x)) for x in grid]))
    low, high = grid[max(centre - 1, 0)], grid[min(centre + 1, 40)]
    return best_scale(half_width, low, high, xatol=1e-7)


def check_answers(
    n: int, n_questions: int, ln_beta: float, noise_scale: float | None, owner: str
) -> tuple[int, int, float, float | None]:
    """Return the parameters that all bounds of Gaussian noise share, or raise ValueError."""
    return (
        check_integer(n, "n", owner),
        check_integer(n_questions, "n_questions", owner),
        check_real(ln_beta, "ln_beta", owner, high=0.0, closed="high"),
        None if noise_scale is None else check_real(noise_scale, "noise_scale", owner, low=0.0),
    )


class LaplaceBound(NamedTuple):
    """How close k answers with Laplace noise are to the population, and with which noise.

    Attributes
    ----------
    half_width : float
        All answers are this close at once, except with probability beta; infinite where no noise will do.
    epsilon : float
        Privacy parameter of each answer: the noise has the scale ``1/(n epsilon)``.
    """

    half_width: float
    epsilon: float


class LaplacePlan(NamedTuple):
    """How to answer k questions with Laplace noise.

    Attributes
    ----------
    n : int
        Number of records.
    epsilon : float
        Privacy parameter of each answer: the noise has the scale ``1/(n epsilon)``.
    """

    n: int
    epsilon: float


def laplace_plan(n_questions: int, alpha: float, beta: float) -> LaplacePlan:
    """Return how many records lecture 19 needs for k adaptive answers within alpha, with Laplace noise.

    The smallest n found with an epsilon per answer such that `bassily_2016` (Theorem 1.2) gives half-width
    alpha and failure probability beta: the noise exceeds ``ln(1/b)/(n epsilon)`` with probability b (Claim
    1.3), and the answers compose to (epsilon', delta)-DP by the exact zCDP of Laplace noise, or by basic
    composition where that is better. The lecture composes by a looser theorem and leaves the constants open.
    The split of beta, delta and epsilon' are chosen numerically.

    Parameters
    ----------
    n_questions : int
        k, at least 1, fixed in advance.
    alpha : float
        Accuracy wanted for all answers together, in (0, 1).
    beta : float
        Failure probability, in (1e-300, 1/4]; beyond, ``delta <= epsilon/16`` would have to be checked too.

    Returns
    -------
    LaplacePlan
        Number of records and privacy parameter of each answer.

    Raises
    ------
    ValueError
        If a parameter is out of range, or no reasonable number of records is enough.

    Examples
    --------
    >>> laplace_plan(1, alpha=0.1, beta=0.05).n
    95069
    """
    owner = "laplace_plan"
    k = check_integer(n_questions, "n_questions", owner)
    alpha = check_real(alpha, "alpha", owner, low=0.0, high=1.0)
    beta = check_real(beta, "beta", owner, low=1e-300, high=0.25, closed="high")
    try:
        start = math.floor(432.0 / alpha / alpha)  # below this, 6 epsilon alone is above alpha
        n = smallest_integer(lambda n: laplace_bassily(n, k, beta).half_width <= alpha, start=start)
    except OverflowError:
        raise bad_parameter(
            "alpha", owner, f"reached for k={k} and beta={beta:g} by fewer than 2^60 records", alpha
        ) from None
    return LaplacePlan(n, laplace_bassily(n, k, beta).epsilon)


def laplace_bassily(n: int, n_questions: int, beta: float) -> LaplaceBound:
    """Return the half-width of k answers with Laplace noise by Theorem 1.2 of lecture 19 (`bassily_2016`).

    What `laplace_plan` solves for the number of records. A method of the planner and of comparisons: below
    some ten thousand records the theorem allows no noise at all.

    Parameters
    ----------
    n : int
        Number of records.
    n_questions : int
        k, at least 1, fixed in advance.
    beta : float
        Failure probability, in (1e-300, 1/4].

    Returns
    -------
    LaplaceBound
        Half-width and privacy parameter of each answer.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> bound = laplace_bassily(1_000_000, 100, beta=0.05)
    >>> round(bound.half_width, 4)
    0.0661
    """
    owner = "laplace_bassily"
    n = check_integer(n, "n", owner)
    k = check_integer(n_questions, "n_questions", owner)
    beta = check_real(beta, "beta", owner, low=1e-300, high=0.25, closed="high")

    def half_width(total_epsilon: float, delta: float, epsilon: float) -> float:
        """Of k answers at ``epsilon`` that are together (total_epsilon, delta)-DP."""
        if not math.sqrt(12.0 / n) <= total_epsilon <= 0.125:
            return NONE
        overfitting = max(4.0 * delta / total_epsilon, math.exp(-(total_epsilon**2) * n / 8.0))
        if not overfitting < beta:
            return NONE
        return 6.0 * total_epsilon + math.log(k / (beta - overfitting)) / (n * epsilon)

    def by_zcdp(x: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        if not np.all(np.abs(x) < 100.0):
            return NONE
        rho, delta = math.exp(x[0]), min(math.exp(x[1]), 0.5)
        return half_width(zcdp_epsilon(rho, delta), delta, _laplace_epsilon(rho / k))

    # No smaller epsilon in total is allowed by the theorem, or by beta.
    least = math.sqrt(max(12.0, -8.0 * math.log(beta)) / n)
    if least >= 0.125:
        return LaplaceBound(math.inf, math.nan)
    basic = minimize_scalar(lambda e: half_width(e, 0.0, e / k), bounds=(least, 0.125), method="bounded")
    best = float(basic.fun), float(basic.x) / k
    for epsilon in (1.1 * least, min(3.0 * least, 0.12)):
        delta = epsilon * beta / 12.0
        start = [math.log(epsilon**2 / (4.0 * -math.log(delta))), math.log(delta)]
        found, at = simplex_minimum(by_zcdp, start, xatol=1e-4, fatol=1e-8, runs=1)
        if found < best[0]:
            best = found, _laplace_epsilon(math.exp(at[0]) / k)
    return LaplaceBound(*best) if best[0] < NONE else LaplaceBound(math.inf, math.nan)


def _laplace_epsilon(rho: float) -> float:
    """Return the epsilon at which Laplace noise costs rho (rounded down)."""
    # laplace_zcdp(e) >= e - 1 and, for e <= 1, >= e^2/3
    high = max(math.sqrt(3.0 * rho), rho + 1.0) if rho > 1.0 / 3.0 else math.sqrt(3.0 * rho)
    return enclosed_root(lambda e: laplace_zcdp(e) - rho, high * 1e-3, high)[0]


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


def gaussian_rogers(
    n: int, n_questions: int, ln_beta: float, *, noise_scale: float | None = None
) -> GaussianBound:
    """Return the mutual information bound of Rogers et al. (AISTATS 2020), after Russo, Zou (2016).

    With ``rho = 1/(2 n^2 sigma^2)`` per answer the conversation tells at most ``rho k n`` nats about the
    holdout, and except with probability beta all answers are within::

        sqrt(min over l in (0, 1) of (2 rho k n - ln(1 - l))/l / (2 n beta)) + (1/n) sqrt(ln(4k/beta)/rho)

    (half of beta for the mean square of the overfitting, by Markov, and half for the noise). The published
    program has 1/(2n) in the last term; the proof gives 1/n.

    Parameters
    ----------
    n : int
        Number of records.
    n_questions : int
        k, at least 1, fixed in advance.
    ln_beta : float
        Logarithm of the failure probability, at most 0.
    noise_scale : float, optional
        Standard deviation of the noise, positive; by default the best.

    Returns
    -------
    GaussianBound
        Half-width and noise.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Notes
    -----
    The minimum over l is where ``l/(1 - l) + ln(1 - l) = 2 rho k n``, and its value is ``1/(1 - l)``.

    Examples
    --------
    >>> round(gaussian_rogers(10_000, 100, math.log(0.05)).half_width, 4)
    0.247
    """
    n, k, ln_beta, noise_scale = check_answers(n, n_questions, ln_beta, noise_scale, "gaussian_rogers")
    if ln_beta < -700.0:  # Markov's inequality would overflow; vacuous long before
        return GaussianBound(math.inf, noise_scale or 1.0)
    root_of_beta = math.exp(ln_beta / 2.0)

    def half_width(sigma: float) -> float:
        noise = sigma * math.sqrt(2.0 * (math.log(4.0 * k) - ln_beta))
        return math.sqrt(_rogers_minimum(k / (n * sigma) / sigma) / (2.0 * n)) / root_of_beta + noise

    if noise_scale is None:
        noise_scale = best_noise(half_width, math.sqrt(math.sqrt(k) / n))
    return GaussianBound(half_width(noise_scale), noise_scale)


def _rogers_minimum(twice_nats: float) -> float:
    """``min over l of (twice_nats - ln(1 - l))/l``, by the root in ``t = l/(1 - l)`` of ``t - ln(1+t)``."""
    t = 1e15
    if twice_nats < t:
        t, _ = enclosed_root(lambda t: t - math.log1p(t) - twice_nats, 0.0, 2.0 * twice_nats + 4.0)
    l = max(t, 1e-300) / (1.0 + t)  # noqa: E741 - the paper's letter; any is valid
    return (twice_nats - math.log1p(-l)) / l


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


def thresholdout_direct(
    n: int,
    n_questions: int,
    max_hits: int,
    ln_beta: float,
    *,
    threshold: float,
    noise_scale: float | None = None,
) -> ThresholdoutBound:
    """Return how close k answers of a Thresholdout with Laplace noise are to the population, all at once.

    Theorem 2 of `sklearn_ada.guarantees.transfer`. The conversation costs `thresholdout_zcdp` at
    ``1/(s n)``, whatever its number of questions. An answer that agrees is within the threshold, the noise of
    its run (2 s; ``max_hits + 1`` runs) and that of its comparison (4 s) of the holdout's value, on one side
    only; the noise of a corrected one, of scale s, fits into what the other side would be allowed. The mean
    of the worst beta-tail of a sum is at most the sum of those of its terms.

    Parameters
    ----------
    n : int
        Number of records; questions are means of values in [0, 1].
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
    owner = "thresholdout_direct"
    n = check_integer(n, "n", owner)
    k = check_integer(n_questions, "n_questions", owner)
    hits = check_integer(max_hits, "max_hits", owner)
    # Beyond its (k/beta)-quantile, half of the comparison's two-sided tail covers the tail of a correction.
    ln_beta = check_real(ln_beta, "ln_beta", owner, high=-LN_2, closed="high")
    threshold = check_real(threshold, "threshold", owner, low=0.0, closed="low")

    def half_width(scale: float) -> float:
        noise = laplace_tail_mean(hits + 1, 2.0 * scale, ln_beta) + laplace_tail_mean(k, 4.0 * scale, ln_beta)
        return threshold + noise + zcdp_gap(thresholdout_zcdp(1.0 / (scale * n), hits), ln_beta)

    if noise_scale is None:
        # For small 1/(s n) the gap falls as 1/s and the noise grows as s: they meet at the optimum.
        noise = half_width(1.0) - threshold
        gap = zcdp_gap(thresholdout_zcdp(1e-4, hits), ln_beta) * 1e4 / n
        centre = 0.5 * math.log(gap / noise)
        best = best_scale(half_width, centre - 2.0, centre + 2.0, xatol=1e-3)
        # On few records hardly any noise is best: the gap is 1 then, and nothing else is lost.
        noise_scale = min(best, 1e-9 / noise, key=half_width)
    return ThresholdoutBound(half_width(check_real(noise_scale, "noise_scale", owner, low=0.0)), noise_scale)


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
