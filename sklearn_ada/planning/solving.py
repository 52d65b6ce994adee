"""Where a monotone half-width crosses the one that is wanted."""

from __future__ import annotations

import math
from collections.abc import Callable

__all__ = ["MOST_QUESTIONS", "MOST_ROWS", "fewest_rows", "most_questions"]

MOST_ROWS = 10**12
"""No plan for more records than this."""
MOST_QUESTIONS = 10**9
"""No plan for more questions than this."""

_STRIDE = 8  # ratio of the numbers tried until the crossing is behind


def fewest_rows(half_width: Callable[[int], float], width: float, most: int = MOST_ROWS) -> int | None:
    """Return the smallest n with ``half_width(n) <= width``, for a half-width that falls; None if none.

    Examples
    --------
    >>> fewest_rows(lambda n: n**-0.5, 0.01), fewest_rows(lambda n: 0.25, 0.01)
    (10000, None)
    """
    n = _last(lambda value: not value <= width, half_width, width, most) + 1
    return n if n <= most else None


def most_questions(half_width: Callable[[int], float], width: float) -> int:
    """Return the largest k with ``half_width(k) <= width``, for a half-width that rises; 0 if none.

    It may fall at first, as that of a certify after checks does, whose cells are chosen for their number.
    Then k is beyond the dip, and 0 if neither the powers of 8 along the fall nor what is tried between them
    are narrow enough.

    Examples
    --------
    >>> most_questions(lambda k: 0.001 * k**0.5, 0.01), most_questions(lambda k: k / 10, 0.01)
    (100, 0)
    """
    start, value = 1, half_width(1)
    while value > width and start < MOST_QUESTIONS and (later := half_width(_STRIDE * start)) < value:
        start, value = _STRIDE * start, later
    return _last(lambda value: value <= width, half_width, width, MOST_QUESTIONS, start)


def _last(
    holds: Callable[[float], bool],
    half_width: Callable[[int], float],
    width: float,
    most: int,
    start: int = 1,
) -> int:
    """Return the last x in [1, most] at which ``half_width(x)`` holds, 0 if that fails at ``start``.

    ``holds`` was true at the x returned and false at x + 1, both as computed. Between the two ends false
    position in logarithms (the Illinois rule) needs a few steps, as half-widths are nearly powers; bisection
    takes over where it stalls, or where a half-width is infinite.
    """
    low, low_gap = 0, math.nan
    high = start
    while True:
        value = half_width(high)
        gap = _ln_ratio(value, width)
        if not holds(value):
            break
        low, low_gap = high, gap
        if high == most:
            return most
        high = min(_STRIDE * high, most)
    high_gap, stalled, held_before = gap, 0, None
    while high - low > 1:
        guess = _false_position(low, low_gap, high, high_gap) if stalled < 3 else _middle(low, high)
        middle = min(max(guess, low + 1), high - 1)
        value, before = half_width(middle), high - low
        held = holds(value)
        if held:
            low, low_gap = middle, _ln_ratio(value, width)
            high_gap *= 0.5 if held_before is True else 1.0
        else:
            high, high_gap = middle, _ln_ratio(value, width)
            low_gap *= 0.5 if held_before is False else 1.0
        held_before = held
        stalled = stalled + 1 if high - low > before // 2 else 0
    return low


def _false_position(low: int, low_gap: float, high: int, high_gap: float) -> int:
    """Return where the line through both ends, in logarithms, crosses; their middle if there is none."""
    share = low_gap / (low_gap - high_gap) if low_gap != high_gap else math.nan
    if low == 0 or not 0.0 < share < 1.0:
        return _middle(low, high)
    return round(math.exp(math.log(low) + share * (math.log(high) - math.log(low))))


def _middle(low: int, high: int) -> int:
    return math.isqrt(max(low, 1) * high)


def _ln_ratio(value: float, width: float) -> float:
    return math.log(value / width) if 0.0 < value < math.inf else math.nan
