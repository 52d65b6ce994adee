"""The range that rows which are not the holdout's suggest for a metric that has none.

It reaches a quarter beyond the worst score there, and scores of the holdout are clipped to it. Of rows that
the model knows, as those it was trained on, it is much too narrow: if errors on the holdout were clipped to
those, no model could look bad. So a question whose scores are often beyond it fails instead of being
answered, which is one of the events that have a price anyway.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada.metrics.rules.defined import UndefinedMetricError

__all__ = ["TOO_NARROW", "check_within", "most_beyond", "suggested_range"]

TOO_NARROW = (
    "or more than a twentieth of the scores are beyond the range that guess_from= suggests: it takes rows "
    "that the model was not trained on"
)
"""What the reason of a failure adds, for a metric with such a range."""

_BEYOND, _BEYOND_ROWS = 0.05, 3.0


def suggested_range(scores: NDArray[Any], margin: float) -> tuple[float, float]:
    """Return a range with all these scores and 0, a margin wider, rounded outwards to two digits.

    Parameters
    ----------
    scores : ndarray of shape (n,)
    margin : float
        By how much it reaches beyond the farthest score.

    Examples
    --------
    >>> suggested_range(np.array([-0.1, -0.2]), 1.25)
    (-0.25, 0.0)
    """
    low, high = (_outwards(margin * float(end)) for end in (min(scores.min(), 0.0), max(scores.max(), 0.0)))
    return (low, high) if low < high else (-1.0, high)  # all scores are 0


def most_beyond(n_rows: int) -> float:
    """Return what share of the holdout's scores may be beyond a range that so many rows suggested.

    A twentieth, and what three rows are of them: beyond the farthest score of few rows lie more of others.

    Examples
    --------
    >>> most_beyond(100), most_beyond(2)
    (0.08, 1.0)
    """
    return min(_BEYOND + _BEYOND_ROWS / n_rows, 1.0)


def check_within(beyond: NDArray[np.bool_], most: float) -> None:
    """Raise UndefinedMetricError if too many scores are beyond a suggested range."""
    if float(np.mean(beyond)) > most:
        raise UndefinedMetricError("the scores are beyond the range that the rows of the guess suggest")


def _outwards(end: float) -> float:
    """Return a number rounded away from 0 to two digits, so that last bits do not matter.

    Examples
    --------
    >>> _outwards(-12.34), _outwards(0.0)
    (-13.0, 0.0)
    """
    if end == 0.0 or not math.isfinite(end):
        return end
    unit = 10.0 ** (math.floor(math.log10(abs(end))) - 1)
    return float(f"{math.copysign(math.ceil(abs(end) / unit - 1e-6) * unit, end):.2g}")
