"""Learn a finite class of hypotheses privately."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ada._checks import bad_parameter, check_integer, check_real
from sklearn_ada.mechanisms._inputs import describe
from sklearn_ada.mechanisms.release import Release
from sklearn_ada.mechanisms.selection import exponential_mechanism

__all__ = ["private_learner", "private_learner_sample_size"]


def private_learner(
    errors: ArrayLike, *, epsilon: float, rng: np.random.Generator, sampler: str = "inverse"
) -> Release[int]:
    """Learn a finite class privately: the exponential mechanism on minus the empirical error.

    Epsilon-DP; with `private_learner_sample_size` records the hypothesis returned has a population
    error within alpha of the best in the class, except with probability beta.

    Parameters
    ----------
    errors : array of 0 and 1, shape (n_hypotheses, n_records)
        Whether each hypothesis errs on each record.
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
    n_records = array.shape[1]
    scores = -array.mean(axis=1, dtype=np.float64)
    return exponential_mechanism(
        scores, sensitivity=1.0 / n_records, epsilon=epsilon, rng=rng, sampler=sampler
    )


def private_learner_sample_size(n_hypotheses: int, *, alpha: float, epsilon: float, beta: float) -> int:
    r"""Return how many records `private_learner` needs for excess error alpha, except with chance beta.

    .. math:: m \ge \max\Big(\frac{4 (\ln|H| + \ln(2/\beta))}{\alpha\epsilon},\
              \frac{8 \ln(2 (|H| + 1)/\beta)}{\alpha^2}\Big).

    Parameters
    ----------
    n_hypotheses : int
        The size of the class.
    alpha : float
        The population error allowed above the best in the class, in (0, 1).
    epsilon : float
        The privacy parameter, positive.
    beta : float
        The failure probability, in (0, 1).

    Notes
    -----
    Theorem 0.3 of the lecture, with its sampling term spelled out. The first term makes the empirical
    error of the answer at most the least one plus alpha/2, except with probability beta/2. The second
    (Hoeffding, a union bound over the class from above and the best hypothesis from below) makes the
    population error of the answer at most its empirical error plus alpha/4, and the empirical error of
    the best hypothesis at most its population error plus alpha/4, except with probability beta/2.

    Examples
    --------
    >>> private_learner_sample_size(1000, alpha=0.1, epsilon=0.1, beta=0.05)
    8479
    """
    owner = "private_learner_sample_size"
    size = check_integer(n_hypotheses, "n_hypotheses", owner)
    alpha = check_real(alpha, "alpha", owner, low=0.0, high=1.0)
    epsilon = check_real(epsilon, "epsilon", owner, low=0.0)
    beta = check_real(beta, "beta", owner, low=0.0, high=1.0)
    selection = 4.0 * (math.log(size) + math.log(2.0 / beta)) / (alpha * epsilon)
    sampling = 8.0 * math.log(2.0 * (size + 1) / beta) / alpha**2
    return math.ceil(max(selection, sampling))
