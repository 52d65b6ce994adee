"""Thresholdout with Laplace noise, by a transfer theorem: how close its answers are to the population."""

from __future__ import annotations

import math
from typing import NamedTuple

from sklearn_ada._checks import check_integer, check_real
from sklearn_ada._constants import LN_2
from sklearn_ada.accounting.zcdp import thresholdout_zcdp
from sklearn_ada.guarantees._minimising import best_scale
from sklearn_ada.guarantees.transfer.bound import is_vacuous
from sklearn_ada.guarantees.transfer.direct import laplace_tail_mean, zcdp_gap

__all__ = ["ThresholdoutBound", "thresholdout_direct"]


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

    Theorem 2 of `sklearn_ada.guarantees.transfer.direct`. The conversation costs `thresholdout_zcdp` at
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
