"""How far a median between two quantiles can be from the mean: in standard and in mean deviations."""

from __future__ import annotations

import math
from typing import NamedTuple

from sklearn_ada._checks import check_real

__all__ = ["MeanDeviation", "mean_deviation"]


class MeanDeviation(NamedTuple):
    """How far an answer can be from the mean of phi, in two units.

    Attributes
    ----------
    standard_deviations : float
        In standard deviations of phi.
    mean_absolute_deviations : float
        In mean absolute deviations of phi.
    """

    standard_deviations: float
    mean_absolute_deviations: float


def mean_deviation(level: float) -> MeanDeviation:
    """Return how far an answer at ``level`` can be from the mean of phi.

    After Feldman, Steinke 2017, Corollary 4.4: ``sqrt((1 - level)/level)`` standard deviations by Cantelli's
    inequality, and ``1/(2 level)`` mean absolute deviations by Markov's, as each side has half of the
    deviation: 1.73 and 2 at the level 1/4. The paper uses Chebyshev's and Markov's for both sides at once: 2
    and 4. Both speak of the rounded phi; for phi itself add how far rounding to the grid can move a value.

    Parameters
    ----------
    level : float
        In [0, 1/2]; both multiples are infinite at 0.

    Returns
    -------
    MeanDeviation
        The two multiples.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> mean_deviation(0.25)
    MeanDeviation(standard_deviations=1.7320508075688772, mean_absolute_deviations=2.0)
    """
    level = check_real(level, "level", "mean_deviation", low=0.0, high=0.5, closed="both")
    if level == 0.0:
        return MeanDeviation(math.inf, math.inf)
    return MeanDeviation(math.sqrt((1.0 - level) / level), 0.5 / level)
