"""The fewest rows, or the most questions, with which a half-width is as small as wanted."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from sklearn_ada._solving import largest_integer

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
    return _last(lambda value: value <= width, half_width, width, MOST_QUESTIONS, min(start, MOST_QUESTIONS))


def _last(
    holds: Callable[[float], bool],
    half_width: Callable[[int], float],
    width: float,
    most: int,
    start: int = 1,
) -> int:
    """Return the last x in [1, most] at which ``half_width(x)`` holds; 0 if there is none."""
    crossing = _FalsePosition()

    def noted(x: int) -> bool:
        value = half_width(x)
        crossing.gaps[x] = math.log(value / width) if 0.0 < value < math.inf else math.nan
        return holds(value)

    return largest_integer(noted, most, start=start, stride=_STRIDE, guess=crossing)


@dataclass
class _FalsePosition:
    """Guesses by false position in logarithms (the Illinois rule): half-widths are nearly powers.

    Where it stalls, or where a half-width is infinite, the geometric middle is guessed.
    """

    gaps: defaultdict[int, float] = field(default_factory=lambda: defaultdict(lambda: math.nan))
    # ln(half-width/width) wherever it was computed
    ends: tuple[int, int] | None = None
    held: bool | None = None  # at the last guess
    stalled: int = 0

    def __call__(self, low: int, high: int) -> int:
        if self.ends is not None:
            held = low != self.ends[0]
            self.stalled = self.stalled + 1 if high - low > (self.ends[1] - self.ends[0]) // 2 else 0
            if held is self.held:  # the other end was kept twice: it counts half from now on
                self.gaps[high if held else low] *= 0.5
            self.held = held
        self.ends = low, high
        low_gap, high_gap = self.gaps[low], self.gaps[high]
        share = low_gap / (low_gap - high_gap) if low_gap != high_gap else math.nan
        if self.stalled >= 3 or not 0.0 < share < 1.0:
            return math.isqrt(max(low, 1) * high)
        return round(math.exp(math.log(low) + share * (math.log(high) - math.log(low))))
