"""How many records a private learner of a finite class of hypotheses needs."""

from __future__ import annotations

import math

from sklearn_ada._checks import check_integer, check_real
from sklearn_ada._constants import LN_2

__all__ = ["private_learner_sample_size"]


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
