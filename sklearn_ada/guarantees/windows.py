"""Windows: any interval, released coarsely.

A count of 0/1 losses lies in a cell, whose edges are tested by binomial tails
(`sklearn_ada.guarantees.transcript`). Other statistics have intervals that are a function of all rows, such
as the ends of bets. A *window* is to an interval what a cell is to a count: when a question is asked, a list
of windows is fixed, the last of which is the whole range, and all that is released is the first of them in
which the interval lies.

Setting. The conversation is coded as in `sklearn_ada.guarantees.transcript`: L is what was released before a
question, in nats, b the part of the failure probability of that theorem, and ``c_0`` the price of the window
that the question announces. For every level t let ``l_t`` and ``u_t`` be one-sided ends of the question's
functional q, functions of all rows whose construction and tuning are fixed when the question is asked:
``P_D[l_t > q(D)] <= t`` and ``P_D[u_t < q(D)] <= t``.

Theorem 1. Let the announced window ``[A, B]`` be released only if ``l_t >= A`` and ``u_t <= B`` at the level
``t = b exp(-(L + c_0))``. Then with probability at least ``1 - b`` every q_j(D) for which it was released
lies in it, for all questions at once.

Proof. As in the transcript theorem, ``P_D(v) > b exp(-L(v))`` along the whole conversation, except with
probability b; L(v) includes the price of the window. Suppose that question j was answered with its announced
window, and that ``q_j(D) < A``. That the conversation begins as it did implies ``l_t >= A > q_j(D)``, so
``P_D(v_j) <= t = b exp(-L_j)``: a contradiction. The same above, on the same event, so both sides have all of
b.

Theorem 2. Let any other window be released only if the interval at the level of the asking lies in it
(`sklearn_ada.guarantees.question_interval`). Then it contains q_j(D) wherever that interval does.

Nothing else is to be proved of the second. That interval is sealed, and released later; its level is fixed
before the answer, so a surprise does not pay for itself. An announced window nearly always holds, costs
nearly nothing, and needs no stake, however many questions there are.

*Where windows are.* A guess foresees the ends that the interval will have. Number 0 is announced around
these: they move with the value, which is a few tau from the guess, its standard error; and they vary a little
by themselves, for which there is some slack. On each side of it windows are moved, each three times as far
and as wide as the one before. An interval may also be wider than was foreseen, where few rows decide its
ends: for that two windows are wider on both sides. Neither the value of the holdout nor its deviation may
have a part in this: a window that is announced from the holdout's own deviation misses nearly always. What
the guess foresees decides only how often it is right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from sklearn_ada._validation import LN_2, checked_fields, integer
from sklearn_ada.guarantees.intervals import Interval

__all__ = ["Windows"]

SLACK = 0.4
"""By how many tau the ends of an interval of all rows may vary by themselves."""
LEAST_SLACK = 0.1
"""The same of an interval that follows from the value alone."""
_FARTHEST, _WIDER = 4, 2
_SPREAD = (
    0.375  # of an end's distance from the value, which varies by so much of tau's slack where it is large
)

_number = integer(-_FARTHEST, _FARTHEST + _WIDER + 1)


@dataclass(frozen=True)
@checked_fields(
    guess="finite", low="finite", high="finite", ln_level="< 0", tau="> 0", half="> 0", slack=">= 0",
    bottom="finite", top="finite",
)  # fmt: skip
class Windows:
    """The windows of one question, around the ends that its guess foresees.

    Parameters
    ----------
    guess : float
        The value expected.
    low, high : float
        The ends foreseen at ``ln_level``, if the value is the guess.
    ln_level : float
        Logarithm of the level of one side at which they were foreseen, below 0.
    tau : float
        Standard error of the value around the guess, positive.
    half : float
        By how many tau the value may be off the guess in the announced window.
    slack : float
        By how many tau a window is wider on each side; of ends that are far from the value by more.
    bottom, top : float
        Ends of the metric's range.

    Examples
    --------
    >>> ends, span = (0.9, 0.87, 0.92), {"bottom": 0.0, "top": 1.0}
    >>> windows = Windows(*ends, math.log(0.001), 0.01, half=2.5, slack=0.4, **span)
    >>> [[round(end, 3) for end in windows.window(z, math.log(0.001))] for z in (0, -1, -2, 5, 7)]
    [[0.841, 0.949], [0.79, 0.899], [0.64, 0.849], [0.76, 1.0], [0.0, 1.0]]
    """

    guess: float
    low: float
    high: float
    ln_level: float
    tau: float
    half: float
    slack: float
    bottom: float
    top: float

    LAST: ClassVar[int] = _FARTHEST + _WIDER + 1

    def foreseen(self, ln_level: float, value: float | None = None) -> Interval:
        """Return about where the ends will be; no guarantee rests on it.

        Parameters
        ----------
        ln_level : float
            Logarithm of the level of one side. Distances grow with the root of it.
        value : float or None, default=None
            The value; None is the guess.
        """
        low, high = self._ends(ln_level, self.guess if value is None else value)
        return max(low, self.bottom), min(high, self.top)

    def value(self, number: int) -> float:
        """Return the value that stands for a window: the guess, moved with the window.

        Parameters
        ----------
        number : int
        """
        moved, _ = self._moved(_number(number, "number", "Windows.value"))
        return min(max(self.guess + moved, self.bottom), self.top)

    def window(self, number: int, ln_level: float) -> Interval:
        """Return a window, for ends at this level.

        Parameters
        ----------
        number : int
            0 is the announced one, from -4 to 4 it is moved down or up, 5 and 6 are wider, 7 is the whole
            range.
        ln_level : float
            Logarithm of the level of one side, below 0.
        """
        if _number(number, "number", "Windows.window") == self.LAST:
            return self.bottom, self.top
        moved, cell = self._moved(number)
        wider = 2.0 ** max(number - _FARTHEST, 0)
        value, ends = self.guess + moved, self._ends(ln_level, self.guess + moved)
        low, high = (
            value
            + (wider * abs(end - value) + cell + self.slack * max(self.tau, _SPREAD * abs(end - value)))
            * sign
            for end, sign in zip(ends, (-1.0, 1.0), strict=True)
        )
        return min(max(low, self.bottom), self.top), max(min(high, self.top), self.bottom)

    def released(self, announced: Interval, ln_level: float, asked: Interval, ln_asked: float) -> int:
        """Return the number of the first window in which the interval lies.

        Parameters
        ----------
        announced : tuple of float
            The ends that must lie in the announced window.
        ln_level : float
            Logarithm of the level of each of these.
        asked : tuple of float
            The interval at the level of the asking, which must lie in another window.
        ln_asked : float
            Logarithm of half of that level.

        Examples
        --------
        >>> ends, span = (0.9, 0.87, 0.92), {"bottom": 0.0, "top": 1.0}
        >>> windows = Windows(*ends, math.log(0.001), 0.01, half=2.5, slack=0.4, **span)
        >>> levels = math.log(0.001), math.log(0.001)
        >>> tried = (0.85, 0.94), (0.8, 0.89), (0.1, 0.9)
        >>> [windows.released(ends, levels[0], ends, levels[1]) for ends in tried]
        [0, -1, 7]
        """
        moved: list[int] = [sign * z for z in range(1, _FARTHEST + 1) for sign in (1, -1)]
        for number in (0, *moved, *range(_FARTHEST + 1, Windows.LAST)):
            low, high = announced if number == 0 else asked
            bottom, top = self.window(number, ln_level if number == 0 else ln_asked)
            if bottom <= low and high <= top:
                return int(number)
        return Windows.LAST

    def _moved(self, number: int) -> tuple[float, float]:
        """Return by how much a window is moved, and half of the width of its values."""
        if number == 0 or number > _FARTHEST:
            return 0.0, self.half * self.tau * 3.0 ** max(number - _FARTHEST, 0)
        cell = 3.0 ** (abs(number) - 1) * self.half * self.tau
        return math.copysign(2.0 * cell, number), cell

    def _ends(self, ln_level: float, value: float) -> Interval:
        """Return the ends foreseen at a value, which may be beyond the range."""
        grown = math.sqrt(max(-ln_level, LN_2) / -self.ln_level)
        return value - grown * (self.guess - self.low), value + grown * (self.high - self.guess)
