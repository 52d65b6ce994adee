"""Two theorems about one conversation: shares of the failure probability, and what holds by both.

Description length (with sealed answers) has the share s1 of beta, the transcript theorem of
`sklearn_ada.guarantees.universal_inference` the share s2, fixed before the first answer, ``s1 + s2 <= 1``.
By the union bound both hold with probability at least ``1 - beta``, so both intervals of a question do, and
their intersection. The same is true of several intervals by one theorem, such as that of an asking and that
of a later final: each has its own delta, which are never added.
"""

from __future__ import annotations

from collections.abc import Iterable

from sklearn_ada._checks import bad_parameter

__all__ = ["SEALED_SHARE", "TRANSCRIPT_SHARE", "intersection"]

SEALED_SHARE = 0.8
"""s1, of what is certified or unsealed: description length."""

TRANSCRIPT_SHARE = 0.2
"""s2, of what is said meanwhile: the transcript as a test."""


def intersection(fixed: tuple[float, float], others: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """Return what lies in all intervals; where that is nothing, the fixed one.

    Valid where all hold together: if they have no point in common, one of them has failed already, and what
    is returned then changes nothing about how often that happens. Which one it is must be fixed in advance.

    Parameters
    ----------
    fixed : tuple of float
        The interval to fall back to.
    others : iterable of tuple of float

    Returns
    -------
    low, high : float

    Raises
    ------
    ValueError
        If an interval is not a pair low <= high.

    Examples
    --------
    >>> intersection((0.7, 0.9), [(0.75, 0.95)]), intersection((0.7, 0.8), [(0.85, 0.95)])
    ((0.75, 0.9), (0.7, 0.8))
    """
    intervals = [fixed, *others]
    for interval in intervals:
        if not (len(interval) == 2 and interval[0] <= interval[1]):
            raise bad_parameter("intervals", "intersection", "pairs of numbers low <= high", interval)
    low, high = max(low for low, _ in intervals), min(high for _, high in intervals)
    return (low, high) if low <= high else fixed
