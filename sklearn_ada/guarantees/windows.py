"""Windows: any interval, told coarsely and tested at the price of what was told.

A count of 0/1 losses lies in a cell, whose edges are tested by binomial tails
(`sklearn_ada.guarantees.transcript`). Other statistics have intervals that are a function of all rows, such
as the ends of bets. A *window* is to an interval what a cell is to a count: when a question is asked, a list
of windows is fixed, and all that is released is the first of them in which the interval lies.

Setting. The conversation is coded as in `sklearn_ada.guarantees.transcript`: L is what was released before a
question, in nats, and b the part of the failure probability that belongs to that theorem. For every level t
let ``l_t`` and ``u_t`` be one-sided ends of the question's functional q, functions of all rows whose
construction and tuning are fixed when the question is asked: ``P_D[l_t > q(D)] <= t`` and ``P_D[u_t < q(D)]
<= t``. Then, too, a list of windows ``[A_z, B_z]`` is fixed whose last is the whole range, with a price
``c_z`` for each, so that ``sum exp(-c_z) <= 1``, and levels ``t_z <= b exp(-(L + c_z))``. Released is the
first z with ``l_(t_z) >= A_z`` and ``u_(t_z) <= B_z``.

Theorem. With probability at least ``1 - b`` every q_j(D) lies in the window that was released for question j,
for all questions at once.

Proof. As in the transcript theorem, ``P_D(v) > b exp(-L(v))`` holds along the whole conversation, except with
probability b; L(v) includes the price of the window. Suppose that question j was told the window z, and that
``q_j(D) < A_z``. That the conversation begins as it did implies ``l_(t_z) >= A_z > q_j(D)``, so ``P_D(v_j) <=
t_z <= b exp(-L_j)``: a contradiction. The same above, on the same event; so both sides have all of b.

Nothing is vacuous: a surprise is tested at its own price. Levels below ``b exp(-(L + c_z))`` are as valid, so
a few levels serve all windows, each that of the dearest window of a group (`Windows.GROUPS`).

*Where windows are.* A guess foresees the ends that the interval will have. Number 0 is announced around
these: they move with the value, which is a few tau from the guess, its standard error; and they vary a little
by themselves, for which there is some slack. Number z is number 0 moved by z times its cell of the value.
Neither the value of the holdout nor its deviation may have a part in it: from the holdout's own deviation a
window that is announced misses nearly always. What the guess foresees decides only how often it is right.

*Sealed.* The interval at the level of the asking (`sklearn_ada.guarantees.question_interval`) is a function
of all rows, too, and is kept for later. The two theorems have parts of the failure probability of their own,
so what is released later may be intersected with the window.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from sklearn_ada._validation import LN_2, checked_fields, integer
from sklearn_ada.guarantees.intervals import Interval

__all__ = ["Windows"]

SLACK = 0.4
"""By how many tau the ends of an interval of all rows may vary by themselves."""
LEAST_SLACK = 0.1
"""The same of an interval that follows from the value alone."""
_FARTHEST = 4

_number = integer(-_FARTHEST, _FARTHEST + 1)


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
        Half a cell of the value, in units of tau.
    slack : float
        By how much a window is wider on each side, in units of tau.
    bottom, top : float
        Ends of the metric's range.

    Attributes
    ----------
    GROUPS : tuple of tuple of int
        The numbers of all windows, those that have one level in common together. The last is the whole range.

    Examples
    --------
    >>> windows = Windows(0.9, 0.87, 0.92, math.log(0.001), 0.01, half=2.5, slack=0.4, bottom=0.0, top=1.0)
    >>> [[round(end, 3) for end in windows.window(z, math.log(0.001))] for z in (0, -1, 5)]
    [[0.841, 0.949], [0.791, 0.899], [0.0, 1.0]]
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

    LAST: ClassVar[int] = _FARTHEST + 1
    GROUPS: ClassVar[tuple[tuple[int, ...], ...]] = (
        (0,), (1, -1), (*(sign * z for z in range(2, _FARTHEST + 1) for sign in (1, -1)), _FARTHEST + 1),
    )  # fmt: skip

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
        moved = 0 if number == self.LAST else _number(number, "number", "Windows.value")
        return min(max(self.guess + 2.0 * moved * self.half * self.tau, self.bottom), self.top)

    def window(self, number: int, ln_level: float) -> Interval:
        """Return a window, for ends at this level.

        Parameters
        ----------
        number : int
            0 is the announced one, from -4 to 4 it is moved by so many cells; 5 is the whole range.
        ln_level : float
            Logarithm of the level of one side, below 0.
        """
        if _number(number, "number", "Windows.window") == self.LAST:
            return self.bottom, self.top
        low, high = self._ends(ln_level, self.guess + 2.0 * number * self.half * self.tau)
        reach = (self.half + self.slack) * self.tau
        return min(max(low - reach, self.bottom), self.top), max(min(high + reach, self.top), self.bottom)

    def released(self, ends: Sequence[Interval], ln_levels: Sequence[float]) -> int:
        """Return the number of the first window in which the interval lies.

        Parameters
        ----------
        ends : sequence of tuple of float
            Of each group, the ends of the interval at its level.
        ln_levels : sequence of float
            Logarithm of the level of one side, of each group.

        Examples
        --------
        >>> ends, span = (0.9, 0.87, 0.92), {"bottom": 0.0, "top": 1.0}
        >>> windows = Windows(*ends, math.log(0.001), 0.01, half=2.5, slack=0.4, **span)
        >>> levels = [math.log(0.001)] * 3
        >>> [windows.released([ends] * 3, levels) for ends in ((0.85, 0.94), (0.8, 0.89), (0.1, 0.9))]
        [0, -1, 5]
        """
        for numbers, (low, high), ln_level in zip(self.GROUPS, ends, ln_levels, strict=True):
            for number in numbers:
                bottom, top = self.window(number, ln_level)
                if bottom <= low and high <= top:
                    return number
        return self.LAST  # ends beyond the range, which no construction should give

    def _ends(self, ln_level: float, value: float) -> Interval:
        """Return the ends foreseen at a value, which may be beyond the range."""
        grown = math.sqrt(max(-ln_level, LN_2) / -self.ln_level)
        return value - grown * (self.guess - self.low), value + grown * (self.high - self.guess)
