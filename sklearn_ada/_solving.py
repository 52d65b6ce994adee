"""Solve for a number: where a function crosses 0, the last integer that will do, the least half-width.

Half-widths are minimised over free parameters at which all bounds are valid, so an inexact search costs only
width.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import brentq, minimize, minimize_scalar

from sklearn_ada._validation import checked

NONE = 1e9
"""A half-width where there is none: the simplex search subtracts values, so it cannot be infinite."""

_NEAR = 1e-8  # part of a bracket around Brent's root within which every middle is looked at


def root(function: Callable[[float], float], low: float, high: float, *, xtol: float, rtol: float) -> float:
    """Return where a function is 0, by Brent's method.

    The function must have opposite signs at ``low`` and ``high``. The result may be below or above the true
    root, by at most ``xtol + rtol * |root|``. If only one side is safe, move the result by more than that, or
    call `enclosed_root`.

    Examples
    --------
    >>> round(root(lambda x: x * x - 2.0, 0.0, 2.0, xtol=1e-12, rtol=1e-14), 9)
    1.414213562
    """
    return float(brentq(function, low, high, xtol=xtol, rtol=rtol))


def enclosed_root(
    function: Callable[[float], float], low: float, high: float, *, rising: bool = True, halvings: int = 50
) -> tuple[float, float]:
    """Return two ends between which a monotone function changes its sign.

    It becomes positive there or, falling, stops being positive.

    The ends are those that halving the bracket so many times leads to, whatever root-finder is installed:
    Brent's method only decides on which side the middles are that are further from its root than 1e-8 of the
    bracket, where rounding errors must not decide the sign. The end that errs to the safe side is the
    one to use. The function was positive at one of them and not at the other, as computed, unless the end
    is one of the bracket's, at which it is never called.

    Parameters
    ----------
    function : callable
    low, high : float
        The bracket, finite.
    rising : bool, default=True
        Whether the function rises.
    halvings : int, default=50
        Fewer are done where floating point ends first.

    Examples
    --------
    >>> low, high = enclosed_root(lambda x: x * x - 2.0, 0.0, 2.0)
    >>> low * low <= 2.0 < high * high
    True
    """
    near = _near(function, low, high, halvings)
    band = _NEAR * (high - low)
    for _ in range(halvings):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        above = middle > near if abs(middle - near) > band else (function(middle) > 0.0) == rising
        low, high = (low, middle) if above else (middle, high)
    return low, high


def last_negative(
    function: Callable[[float], float],
    low: float,
    high: float,
    start: float,
    slope: float,
    *,
    near: float = 1e-3,
) -> float:
    """Return a number at which a rising function is between ``-near`` and 0, or about the last negative one.

    Secants find it in a few evaluations where the function is nearly linear. The function was at most 0
    there, as computed, unless the number is ``low``, at which it is not called.

    Parameters
    ----------
    function : callable
    low, high : float
        The bracket, finite.
    start, slope : float
        What is tried first, and about how steep the function is there.
    near : float, default=1e-3

    Examples
    --------
    >>> round(last_negative(lambda x: x**3 - 2.0, 0.0, 2.0, 1.0, 3.0), 3)
    1.26
    """
    at, before, ends = start, None, (low, high)
    for _ in range(60):
        if not low < at < high:
            end = low if at <= low else high
            at = end + (1e-9 if end in ends else 0.5) * (low + high - 2.0 * end)
            if not low < at < high:
                break
        value = function(at)
        low, high = (at, high) if value <= 0.0 else (low, at)
        if -near <= value <= 0.0:
            break
        if before is not None and value != before[1]:
            slope = (value - before[1]) / (at - before[0])
        before = at, value
        at -= (value + 0.5 * near) / slope
    return low


def largest_integer(
    holds: Callable[[int], bool],
    most: int,
    *,
    start: int = 1,
    stride: int = 2,
    guess: Callable[[int, int], int] | None = None,
) -> int:
    """Return the largest integer up to ``most`` at which a condition holds; 0 if none.

    It must hold at all smaller integers and fail at all larger ones. It was computed, and true, at the
    integer returned, unless that is 0.

    Parameters
    ----------
    holds : callable
        Takes an integer from 1 on; once false it must stay false.
    most : int
        At least 0.
    start : int, default=1
        The first integer tried; where it fails there, the answer is 0 or below it.
    stride : int, default=2
        Ratio of the integers tried until one fails.
    guess : callable, optional
        Takes an integer at which the condition holds (or 0) and one at which it fails, and returns what to
        try between them; by default their middle.

    Examples
    --------
    >>> largest_integer(lambda n: n * n <= 1000, 10**9), largest_integer(lambda n: False, 10)
    (31, 0)
    """
    low, high = 0, start
    while high <= most and holds(high):
        if high == most:
            return most
        low, high = high, min(stride * high, most)
    high = min(high, most + 1)
    while high - low > 1:
        between = (low + high) // 2 if guess is None else guess(low, high)
        middle = min(max(between, low + 1), high - 1)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


@checked(start="integer >= 0")
def smallest_integer(holds: Callable[[int], bool], *, start: int = 1) -> int:
    """Return the smallest integer from ``start`` on at which a monotone condition holds.

    The integer returned is one at which ``holds`` was called and true.

    Parameters
    ----------
    holds : callable
        Takes an integer; once true it must stay true.
    start : int, default=1
        Where to begin.

    Returns
    -------
    int
        The integer.

    Raises
    ------
    OverflowError
        If the condition does not hold up to 2^60.

    Examples
    --------
    >>> smallest_integer(lambda n: n * n >= 1000)
    32
    """
    most = 2**60
    failures = largest_integer(lambda count: not holds(start + count - 1), most)
    if failures == most:
        raise OverflowError("The condition does not hold for any reasonable number.")
    return start + failures


def best_scale(
    half_width: Callable[[float], float], ln_low: float, ln_high: float, *, xatol: float = 1e-5
) -> float:
    """Return about the best positive parameter between two, given by their logarithms."""
    best = minimize_scalar(
        lambda x: half_width(math.exp(x)), bounds=(ln_low, ln_high), options={"xatol": xatol}
    )
    return math.exp(float(best.x))


def simplex_minimum(
    half_width: Callable[[np.ndarray[tuple[int], np.dtype[np.float64]]], float],
    start: Sequence[float],
    *,
    xatol: float = 1e-6,
    fatol: float = 1e-9,
    runs: int = 2,
) -> tuple[float, list[float]]:
    """Return the least half-width that Nelder and Mead's search finds, and where.

    A second run starts at the end of the first, in case the simplex of the first became flat.
    """

    def bounded(x: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        return min(half_width(x), NONE)

    least, at = NONE, list(start)
    for _ in range(runs):
        found = minimize(
            bounded, at, method="Nelder-Mead", options={"xatol": xatol, "fatol": fatol, "maxiter": 1000}
        )
        least, at = float(found.fun), [float(x) for x in found.x]
    return least, at


def _near(function: Callable[[float], float], low: float, high: float, halvings: int) -> float:
    """Return about where the function crosses 0, or NaN where nothing shows it."""
    step = (high - low) * 0.5**halvings
    first, last = low + step, high - step
    signs = [function(end) > 0.0 for end in (first, last)]
    if signs[0] == signs[1]:
        return math.nan
    return float(brentq(function, first, last, xtol=0.1 * _NEAR * (high - low), disp=False))
