"""How wide an interval will be: for plans, before there is an answer.

A certificate needs the answer; a plan has to do with what the answer is expected to be, or with the worst.
"""

from __future__ import annotations

import math

from scipy.special import betaincinv

from sklearn_ada._checks import check_integer, check_real
from sklearn_ada.guarantees.intervals._sides import ln_side
from sklearn_ada.guarantees.intervals.chernoff import chernoff_kl
from sklearn_ada.guarantees.intervals.clopper_pearson import LOG_TAIL_FROM
from sklearn_ada.guarantees.intervals.hoeffding import hoeffding_half_width

__all__ = ["expected_half_width"]


def expected_half_width(
    n: int, ln_delta: float, expected_value: float | None = None, *, reach: float = 0.0
) -> float:
    """Return half the width of the interval for one fixed question, at the answer that is expected.

    With an ``expected_value`` p the question is a share, a mean of 0/1 values: the interval is Clopper and
    Pearson's (1934) at the real-valued count ``n p``, from 300 nats on Chernoff-KL's, within [0, 1]. Without,
    it is a mean of any values in [0, 1] at its worst: Hoeffding's half-width, which is not cut at 0 and 1.

    Parameters
    ----------
    n : int
        Number of records.
    ln_delta : float
        Logarithm of the question's failure probability, at most 0; above 1/2 it is treated as 1/2.
    expected_value : float or None, default=None
        p, in (0, 1).
    reach : float, default=0.0
        The answer is known up to this much on either side (half a cell), at least 0.

    Returns
    -------
    float
        The half-width; from 1/2 on it is vacuous.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> ln_delta = math.log(0.05)
    >>> round(expected_half_width(10_000, ln_delta, 0.85), 4), round(expected_half_width(10_000, ln_delta), 4)
    (0.007, 0.0136)
    """
    owner = "expected_half_width"
    n = check_integer(n, "n", owner)
    ln_delta = check_real(ln_delta, "ln_delta", owner, high=0.0, closed="high")
    reach = check_real(reach, "reach", owner, low=0.0, closed="low")
    if expected_value is None:
        return reach + hoeffding_half_width(n, ln_delta)
    p = check_real(expected_value, "expected_value", owner, low=0.0, high=1.0)
    low = _low(max(p - reach, 0.0), n, ln_delta)
    high = 1.0 - _low(max(1.0 - p - reach, 0.0), n, ln_delta)
    return (high - low) / 2.0


def _low(value: float, n: int, ln_delta: float) -> float:
    """Lower end around a share, which need not be a whole count."""
    side = ln_side(ln_delta, "expected_half_width")
    if value == 0.0:
        return 0.0
    low = math.nan
    if -side < LOG_TAIL_FROM:  # beyond, both intervals differ by less than one percent
        low = float(betaincinv(value * n, n - value * n + 1.0, math.exp(side)))
    return low if 0.0 <= low <= value else chernoff_kl(value, value, n, ln_delta)[0]
