"""Prices of unsealing: what it costs to tell an exact value of which only a range (its cell) was told before.

A *sealed* value was computed when its question was asked, and only its cell was released. To *unseal* it is
to say one of the values of that cell (or that it cannot be recomputed): with the public weights w of
`sklearn_ada.accounting.count_code`, value k has the probability ``(1 - e0) w(k) / sum of w over the cell``,
so that the cell and the value in it cost together what the value alone would have cost, but for what the urn
has learnt in between.

What is released instead of a value may be the two ends of an interval that is any function of all rows; they
are two integers on a lattice. All prices are in nats, fixed by what is public; everything that is asked later
pays them. A question that is still sealed keeps the failure probability of its asking.
"""

from __future__ import annotations

import math

from sklearn_ada._checks import check_integer
from sklearn_ada.accounting.count_code import CountCode

__all__ = ["failed_unsealing_nats", "largest_unsealing_nats", "released_ends_nats", "unsealing_nats"]


def unsealing_nats(count: int, low_count: int, high_count: int, code: CountCode) -> float:
    """Return ``-ln[(1 - e0) w(count) / sum of w over the cell]``, the price of one value of a released cell.

    Parameters
    ----------
    count : int
        The value.
    low_count, high_count : int
        First and last value of its cell, which the transcript already tells: clipped to the values that
        there can be.
    code : CountCode
        The weights w and the mass e0 of failures, fixed when the question was asked.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the value is not one of the cell's.

    Examples
    --------
    >>> round(unsealing_nats(426, 403, 448, CountCode(425.6, 9.2)), 3)
    3.133
    """
    return -code.ln_within(count, low_count, high_count)


def largest_unsealing_nats(low_count: int, high_count: int, code: CountCode) -> float:
    """Return the price of the dearest value of a released cell: for admission, which must not tell the value.

    The weights fall to both sides of their centre, so the dearest value is at an end of the cell. A failure
    may cost more; admission by this price stays independent of the value, which is all that it needs.

    Parameters
    ----------
    low_count, high_count, code
        As for `unsealing_nats`.

    Examples
    --------
    >>> round(largest_unsealing_nats(403, 448, CountCode(425.6, 9.2)), 2)
    5.95
    """
    return max(unsealing_nats(end, low_count, high_count, code) for end in (low_count, high_count))


def failed_unsealing_nats(code: CountCode) -> float:
    """Return the price of saying that a sealed value cannot be had, and in which of the ways to fail.

    Parameters
    ----------
    code : CountCode
        The code that was fixed when the question was asked.

    Examples
    --------
    >>> round(failed_unsealing_nats(CountCode(425.6, 9.2)), 2)
    8.85
    """
    return -code.ln_failure()


def released_ends_nats(low: int, high: int, size: int, low_code: CountCode, high_code: CountCode) -> float:
    """Return the price of both ends of an interval on a lattice of ``size + 1`` points.

    The lower end is coded among 0 to ``size``, the upper one from the lower end on; only the first of the two
    codes keeps mass for failures, as there is one release.

    Parameters
    ----------
    low, high : int
        The ends, ``0 <= low <= high <= size``; they were rounded outwards to the lattice.
    size : int
        Number of the last lattice point.
    low_code, high_code : CountCode
        Centred at the ends that are foreseen without the holdout.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the ends are not in order on the lattice.

    Examples
    --------
    >>> foreseen = CountCode(800.0, 10.0), CountCode(880.0, 10.0)
    >>> round(released_ends_nats(795, 884, 1000, *foreseen), 2)
    6.68
    """
    owner = "released_ends_nats"
    size = check_integer(size, "size", owner)
    low = check_integer(low, "low", owner, low=0, high=size)
    high = check_integer(high, "high", owner, low=low, high=size)
    ln_no_failure = math.log1p(-high_code.failure_mass)
    return -low_code.ln_within(low, 0, size) - high_code.ln_within(high, low, size) + ln_no_failure
