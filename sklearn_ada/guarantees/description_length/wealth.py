"""Wealth: the weights of questions are paid from one purse, without a horizon.

The theorem of description length asks of weights only that they sum to at most 1 along every path, and a
weight may depend on all that was said before. So a purse begins with 1, and whatever is asked takes a
fraction, fixed before its answer, of what is left: then no order of questions, rounds and finals can take
more than 1. A purse is never empty, but weights become too small to be of use; at a weight of 0 an interval
is the whole range (`question_interval`).

The default of questions and rounds is made for an unknown number of them. Let ``u_j = 1/ln(e + j - 1) -
1/ln(e + j)``, j = 1, 2, ...; the sum of the first m is ``1 - 1/ln(e + m)``, telescoping, and it falls hardly
faster than 1/j. The j-th that takes from the purse takes ``.3 u_j``, a round of G questions as much as one
question, while nothing else has been taken. Seven tenths so stay for a *final*, the one exact answer that is
published, however many questions came before; a final takes .95 of what is left, and what follows it goes on
with the rest in the same proportions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

from sklearn_ada._checks import check_integer, check_real

__all__ = ["AT_ONCE", "EXPLORING", "FINAL", "Purse", "log_weight"]

EXPLORING = 0.3
"""Part of the purse that all questions and rounds share, however many there will be."""

FINAL = 0.95
"""Part of what is left that a final takes: .05 nats less than all of it."""


AT_ONCE = 0.8
"""Part of the purse that a first exact answer at once takes: most searches end with one, and nothing else."""


def log_weight(j: int) -> float:
    """Return ``u_j = 1/ln(e + j - 1) - 1/ln(e + j)``: weights that sum to 1 and need no horizon.

    More than ``1/(j (j + 1))`` from j = 5 on.

    Parameters
    ----------
    j : int
        From 1 on.

    Examples
    --------
    >>> round(log_weight(1), 6), round(log_weight(1000) * 1e5, 4)
    (0.238537, 2.0897)
    """
    before = math.e + (check_integer(j, "j", "log_weight") - 1)
    return math.log1p(1.0 / before) / (math.log(before) * math.log(before + 1.0))


@dataclass(frozen=True)
class Purse:
    """What is left of the weights of a conversation; every method returns a weight and the purse after it.

    Parameters
    ----------
    left : float, default=1.0
        The weight that nobody has taken, in [0, 1].
    taken : int, default=0
        How many questions, rounds and finals have taken from it.

    Examples
    --------
    >>> first, purse = Purse().question()
    >>> each, purse = purse.round(100)
    >>> final, purse = purse.final()
    >>> round(first, 4), round(each, 6), round(final, 4), round(purse.left, 4)
    (0.0716, 0.000351, 0.8487, 0.0447)
    """

    left: float = 1.0
    taken: int = 0

    def __post_init__(self) -> None:
        check_real(self.left, "left", "Purse", low=0.0, high=1.0, closed="both")
        check_integer(self.taken, "taken", "Purse", low=0)

    def question(self) -> tuple[float, Self]:
        """Take what one question gets by default: ``.3 u_j`` if no final came before it."""
        j = self.taken + 1
        return self.take(EXPLORING * log_weight(j) / _unspent(j))

    def round(self, size: int) -> tuple[float, Self]:
        """Take what one question would, for ``size`` questions fixed together; return the weight of each.

        Parameters
        ----------
        size : int
            At least 1.
        """
        size = check_integer(size, "size", "Purse.round")
        whole, purse = self.question()
        return (whole if size == 1 else _below(whole / size)), purse

    def at_once(self) -> tuple[float, Self]:
        """Take what the first exact answer gets that is given at once: most of what is left.

        Examples
        --------
        >>> first, purse = Purse().at_once()
        >>> second, purse = purse.question()
        >>> round(first, 4), round(second, 4)
        (0.8, 0.0076)
        """
        return self.take(AT_ONCE)

    def after(self, count: int) -> Self:
        """Return the purse as it will be after so many more questions, in closed form.

        Parameters
        ----------
        count : int
            How many more questions.

        Examples
        --------
        >>> round(Purse().after(2).left, 12) == round(Purse().question()[1].question()[1].left, 12)
        True
        """
        count = check_integer(count, "count", "Purse.after", low=0)
        part = _unspent(self.taken + 1 + count) / _unspent(self.taken + 1)
        return type(self)(min(self.left * part, self.left), self.taken + count)

    def final(self, share: float = FINAL) -> tuple[float, Self]:
        """Take most of what is left, for an exact answer that is to be published.

        Parameters
        ----------
        share : float, default=.95
            Of what is left, in [0, 1].
        """
        return self.take(share)

    def take(self, share: float) -> tuple[float, Self]:
        """Take a fraction of what is left, in [0, 1], chosen by anything but the answer that it is for.

        Rounding errors are left out of the purse: weights taken and what is left sum to at most 1 exactly.

        Parameters
        ----------
        share : float
        """
        share = check_real(share, "share", "Purse.take", low=0.0, high=1.0, closed="both")
        weight = min(self.left * share, self.left)
        left = 0.0 if weight == self.left else max(_below(self.left - weight), 0.0)
        return weight, type(self)(left, self.taken + 1)


def _unspent(j: int) -> float:
    """Return what the questions before number j have left, if nothing else was taken."""
    return 1.0 - EXPLORING + EXPLORING / math.log(math.e + (j - 1))


def _below(number: float) -> float:
    return math.nextafter(number, -math.inf) if number > 0.0 else 0.0
