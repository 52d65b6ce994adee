"""A private learner: one of finitely many models is chosen by its error, and no record matters much."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ada._checks import bad_parameter
from sklearn_ada.mechanisms._inputs import describe
from sklearn_ada.mechanisms.release import Release
from sklearn_ada.mechanisms.selection import exponential_mechanism

__all__ = ["private_learner"]


def private_learner(
    errors: ArrayLike, *, epsilon: float, rng: np.random.Generator, sampler: str = "inverse"
) -> Release[int]:
    """Learn a finite class privately: the exponential mechanism on minus the empirical error.

    Epsilon-DP; with `guarantees.private_learner_sample_size` records the hypothesis returned has a population
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
