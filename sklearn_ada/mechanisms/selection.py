"""Choose one of finitely many candidates by its score on the holdout, privately.

A private learner does so: one of finitely many models is chosen by its error, and no row matters much.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from sklearn_ada._validation import bad_parameter, check_values, checked, describe, generator, option, real
from sklearn_ada.accounting.events import ExponentialMechanismEvent, PermuteAndFlipEvent, Release, Symbol

__all__ = [
    "exponential_mechanism", "permute_and_flip", "private_learner", "private_minimum", "report_noisy_max",
    "selection_error",
]  # fmt: skip

_SAMPLER = option(("inverse", "rejection"))


@checked(scores=check_values, epsilon="> 0", sensitivity="> 0", sampler=_SAMPLER, rng=generator)
def exponential_mechanism(
    scores: ArrayLike, *, sensitivity: float, epsilon: float, rng: Generator, sampler: str = "inverse"
) -> Release[int]:
    """Draw a candidate with weight ``exp(epsilon * score / (2 * sensitivity))``: epsilon-DP.

    Its score is within `selection_error` of the best, except with the probability stated there. It is
    also epsilon-bounded-range, which composes better than epsilon-DP alone.

    Parameters
    ----------
    scores : array of float, shape (n_candidates,)
        Larger is better.
    sensitivity : float
        How much any one score can change when one row is replaced, positive.
    epsilon : float
        The privacy parameter, positive.
    rng : numpy.random.Generator
        The source of randomness.
    sampler : {"inverse", "rejection"}, default="inverse"
        "inverse" draws one uniform number and inverts the cumulative law. "rejection" is Algorithm 2 of
        the lecture: propose uniformly, accept with the candidate's own probability; the law is the same
        and n_candidates proposals are expected, each with two draws.

    Returns
    -------
    Release
        The candidate's index; an `ExponentialMechanismEvent` with its "index" symbol.

    Raises
    ------
    ValueError
        For a parameter outside its range; nothing has been drawn then.

    References
    ----------
    McSherry, Talwar, "Mechanism design via differential privacy", FOCS 2007. Sorrell, Theory of
    Replicable ML, lecture 16, Algorithms 1 and 2.

    Examples
    --------
    >>> import numpy as np
    >>> exponential_mechanism(
    ...     [0.71, 0.86, 0.74], sensitivity=0.001, epsilon=0.5, rng=np.random.default_rng(0)
    ... ).answer
    1
    """
    weights = np.exp(_exponents(scores, sensitivity, epsilon, "exponential_mechanism"))
    if sampler == "inverse":
        cumulative = np.cumsum(weights)
        index = int(np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right"))
    else:
        law = weights / weights.sum()
        index = int(rng.integers(law.size))
        while law[index] < rng.random():
            index = int(rng.integers(law.size))
    return Release(index, ExponentialMechanismEvent(epsilon, _symbols(index, weights)))


@checked(scores=check_values, epsilon="> 0", sensitivity="> 0", rng=generator)
def report_noisy_max(
    scores: ArrayLike, *, sensitivity: float, epsilon: float, rng: Generator
) -> Release[int]:
    """Return the index of the largest score after Gumbel noise: the exponential mechanism's exact law.

    The noise has scale ``2 * sensitivity / epsilon``.

    Parameters
    ----------
    scores, sensitivity, epsilon, rng
        As in `exponential_mechanism`.

    Returns
    -------
    Release
        The index; an `ExponentialMechanismEvent`, because the law is the same.

    Raises
    ------
    ValueError
        For a parameter outside its range; nothing has been drawn then.

    References
    ----------
    Durfee, Rogers, "Practical differentially private top-k selection with pay-what-you-get composition",
    NeurIPS 2019.

    Examples
    --------
    >>> import numpy as np
    >>> report_noisy_max(
    ...     [0.71, 0.86, 0.74], sensitivity=0.001, epsilon=0.5, rng=np.random.default_rng(0)
    ... ).answer
    1
    """
    exponents = _exponents(scores, sensitivity, epsilon, "report_noisy_max")
    index = int(np.argmax(exponents + rng.gumbel(size=exponents.size)))
    return Release(index, ExponentialMechanismEvent(epsilon, _symbols(index, exponents)))


@checked(scores=check_values, epsilon="> 0", sensitivity="> 0", rng=generator)
def permute_and_flip(
    scores: ArrayLike, *, sensitivity: float, epsilon: float, rng: Generator
) -> Release[int]:
    """Choose a candidate by permute-and-flip: epsilon-DP.

    Goes through the candidates in random order and stops at each with probability
    ``exp(epsilon (score - best) / (2 sensitivity))``. At the same epsilon, the expected score is at least
    that of `exponential_mechanism`. But it is not epsilon-bounded-range: a composition of many costs more.

    Parameters
    ----------
    scores, sensitivity, epsilon, rng
        As in `exponential_mechanism`.

    Returns
    -------
    Release
        The index; a `PermuteAndFlipEvent` with its "index" symbol.

    Raises
    ------
    ValueError
        For a parameter outside its range; nothing has been drawn then.

    References
    ----------
    McKenna, Sheldon, "Permute-and-flip: a new mechanism for differentially private selection",
    NeurIPS 2020.

    Examples
    --------
    >>> import numpy as np
    >>> permute_and_flip(
    ...     [0.71, 0.86, 0.74], sensitivity=0.001, epsilon=0.5, rng=np.random.default_rng(0)
    ... ).answer
    1
    """
    chances = np.exp(_exponents(scores, sensitivity, epsilon, "permute_and_flip"))
    order = rng.permutation(chances.size)
    # The best candidate's chance is 1, so some candidate stops the walk.
    index = int(order[np.argmax(rng.random(chances.size) < chances[order])])
    return Release(index, PermuteAndFlipEvent(epsilon, _symbols(index, chances)))


@checked(losses=check_values)
def private_minimum(losses: ArrayLike, *, sensitivity: float, epsilon: float, rng: Generator) -> Release[int]:
    """Answer a minimisation question over finitely many parameters: epsilon-DP.

    The loss of the answer exceeds the least loss by less than `selection_error`, except with the
    probability stated there.

    Parameters
    ----------
    losses : array of float, shape (n_parameters,)
        Smaller is better.
    sensitivity : float
        How much any one loss can change when one row is replaced, positive.
    epsilon, rng
        As in `exponential_mechanism`.

    Returns
    -------
    Release
        The index of a parameter; an `ExponentialMechanismEvent`.

    Raises
    ------
    ValueError
        For a parameter outside its range; nothing has been drawn then.

    References
    ----------
    Bassily et al., "Algorithmic stability for adaptive data analysis", STOC 2016 (minimisation queries).

    Examples
    --------
    >>> import numpy as np
    >>> private_minimum(
    ...     [0.29, 0.14, 0.26], sensitivity=0.001, epsilon=0.5, rng=np.random.default_rng(0)
    ... ).answer
    1
    """
    return exponential_mechanism(-np.asarray(losses), sensitivity=sensitivity, epsilon=epsilon, rng=rng)


@checked(n_candidates="count", n_optimal="count", sensitivity="> 0", epsilon="> 0", t=">= 0")
def selection_error(
    n_candidates: int, *, sensitivity: float, epsilon: float, t: float, n_optimal: int = 1
) -> float:
    """Return how far the exponential mechanism's score can be below the best.

    ``P[score <= best - (2 sensitivity / epsilon)(ln(n_candidates / n_optimal) + t)] <= e^-t``.
    Permute-and-flip satisfies the same bound.

    Parameters
    ----------
    n_candidates, n_optimal : int
        How many candidates there are, and how many of them attain the best score.
    sensitivity, epsilon : float
        As in `exponential_mechanism`.
    t : float
        Minus the logarithm of the failure probability, at least 0.

    References
    ----------
    Sorrell, Theory of Replicable ML, lecture 16, Theorem 0.2.

    Examples
    --------
    >>> round(selection_error(100, sensitivity=0.001, epsilon=0.5, t=3.0), 4)
    0.0304
    """
    if n_optimal > n_candidates:
        raise bad_parameter("n_optimal", "selection_error", "at most n_candidates", n_optimal)
    return 2.0 * sensitivity / epsilon * (math.log(n_candidates / n_optimal) + t)


def private_learner(
    errors: ArrayLike, *, epsilon: float, rng: Generator, sampler: str = "inverse"
) -> Release[int]:
    """Learn a finite class privately: the exponential mechanism on minus the empirical error.

    Epsilon-DP; with `guarantees.private_learner_sample_size` rows the hypothesis returned has a population
    error within alpha of the best in the class, except with probability beta.

    Parameters
    ----------
    errors : array of 0 and 1, shape (n_hypotheses, n_records)
        Whether each hypothesis errs on each row.
    epsilon, rng, sampler
        As in `exponential_mechanism`.

    Returns
    -------
    Release
        The index of a hypothesis; an `ExponentialMechanismEvent`.

    Raises
    ------
    ValueError
        For a parameter outside its range; nothing has been drawn then.

    References
    ----------
    Kasiviswanathan et al., "What can we learn privately?", SIAM J. Comput. 2011. Sorrell, Theory of
    Replicable ML, lecture 16, Algorithm 3.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(1000) / 1000
    >>> thresholds = np.arange(11) / 10
    >>> errors = (x >= thresholds[:, None]) != (x >= 0.3)
    >>> private_learner(errors, epsilon=0.5, rng=np.random.default_rng(0)).answer
    3
    """
    array = np.asarray(errors)
    if array.ndim != 2 or array.size == 0 or not np.isin(array, (0, 1)).all():
        expected = "a non-empty array of 0 and 1 of shape (n_hypotheses, n_records)"
        raise bad_parameter("errors", "private_learner", expected, describe(array))
    scores, unit = -array.mean(axis=1, dtype=np.float64), 1.0 / array.shape[1]
    return exponential_mechanism(scores, sensitivity=unit, epsilon=epsilon, rng=rng, sampler=sampler)


def _exponents(scores: ArrayLike, sensitivity: float, epsilon: float, owner: str) -> NDArray[np.float64]:
    """Return ``epsilon (score - best) / (2 sensitivity)``, at most 0."""
    array = np.asarray(scores, dtype=np.float64)
    factor = real(0.0)(epsilon / (2.0 * sensitivity), "epsilon / (2 sensitivity)", owner)
    with np.errstate(over="ignore"):
        exponents: NDArray[np.float64] = (array - array.max()) * factor
    return exponents


def _symbols(index: int, candidates: NDArray[np.float64]) -> tuple[Symbol]:
    return (Symbol("index", index, float(candidates.size)),)
