"""The result of a transfer theorem: a half-width and a failure probability, and whether they say anything."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["TransferBound", "is_vacuous"]


def is_vacuous(half_width: float) -> bool:
    """Return whether a half-width for a mean in [0, 1] says nothing: the answer 1/2 is as good without data.

    NaN is vacuous.

    Parameters
    ----------
    half_width : float

    Examples
    --------
    >>> is_vacuous(0.1), is_vacuous(0.5), is_vacuous(float("nan"))
    (False, True, True)
    """
    return not half_width < 0.5


class TransferBound(NamedTuple):
    """All answers are within ``half_width`` of the population, except with probability ``failure``.

    Attributes
    ----------
    half_width : float
        The accuracy alpha' of the theorem, for questions with values in [0, 1].
    failure : float
        The failure probability beta' of the theorem; it may exceed 1.
    """

    half_width: float
    failure: float

    @property
    def vacuous(self) -> bool:
        """Whether the bound says nothing: half-width 1/2 or more, or failure probability 1 or more."""
        return is_vacuous(self.half_width) or not self.failure < 1.0
