"""Weights: how one failure probability is shared out among the questions of a conversation.

The theorem of description length asks of weights only that they sum to at most 1 along every path, and a
weight may depend on all that was said before.

*One purse*, without a horizon (`Purse`). A purse begins with 1, and whatever is asked takes a fraction, fixed
before its answer, of what is left: then no order of questions, rounds and finals can take more than 1. A
purse is never empty, but weights become too small to be of use; at a weight of 0 an interval is the whole
range (`sklearn_ada.guarantees.question_interval`).

The default of questions and rounds is made for an unknown number of them. Let ``u_j = 1/ln(e + j - 1) -
1/ln(e + j)``, j = 1, 2, ...; the sum of the first m is ``1 - 1/ln(e + m)``, telescoping, and it falls hardly
faster than 1/j. The j-th that takes from the purse takes ``.3 u_j``, a round of G questions as much as one
question, while nothing else has been taken. Seven tenths so stay for a *final*, the one exact answer that is
published, however many questions came before; a final takes .95 of what is left, and what follows it goes on
with the rest in the same proportions.

*Two purposes* (`round_weight`, `ln_share`). Where answers are exact, beta is shared by *checks* (coarse and
cheap) and *certifies* (fine). Within a purpose, question j gets a weight pi_j, and the weights of all
questions that can ever be asked sum to at most 1. A *round* is a set of G questions fixed before any of their
answers is seen: each has a G-th of the weight of its round.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

from sklearn_ada._validation import checked, checked_fields, option, plain

__all__ = ["Purse", "ln_share", "log_weight", "rank_weight", "round_weight"]


EXPLORING = 0.3
"""Part of the purse that all questions and rounds share, however many there will be."""

FINAL = 0.95
"""Part of what is left that a final takes: .05 nats less than all of it."""

AT_ONCE = 0.8
"""Part of the purse that a first exact answer at once takes: most searches end with one, and nothing else."""

LOCKING = 0.1
"""Part of what is left in the purse that is reserved when a round of candidates opens."""

PURPOSES = ("check", "certify")

CHECK_SHARE = 0.1
"""Part of the failure probability that belongs to checks, unless the user says another."""

FIRST_CERTIFY = 0.8
"""Weight of the first certify: most searches end with one."""

EXPECTED_CHECKS = 0.8
"""Weight of all checks that were expected; the rest is for those beyond."""

_FIRST = 0.9  # weight of the candidate of rank 1


@checked(
    purpose=option(PURPOSES),
    first="integer >= 0",
    size="integer >= 1",
    expected_questions="integer >= 1 or None",
)
def round_weight(purpose: str, first: int, size: int, expected_questions: int | None = None) -> float:
    """Return the weight pi of each of ``size`` questions asked as one round after ``first`` others.

    Summed over any sequence of rounds, ``size * pi`` is at most 1. Checks without a horizon have the
    cumulative weight ``1 - 1/(j+1)``; with ``expected_questions = K`` 0.8 of the weight lies evenly on the
    first K, which costs ln 1.25 more than knowing K. Certifies put 0.8 on the first.

    Parameters
    ----------
    purpose : {"check", "certify"}
    first : int
        How many questions of this purpose came before, at least 0.
    size : int
        How many questions are fixed together, at least 1.
    expected_questions : int or None

    Examples
    --------
    >>> round_weight("check", 0, 1), round_weight("check", 1, 1)
    (0.5, 0.16666666666666666)
    >>> round_weight("certify", 0, 1)
    0.8
    """
    if purpose == "certify":
        head = FIRST_CERTIFY if first == 0 else 0.0
        later = _telescoped(max(first - 1, 0), size if first else size - 1)
        return (head + (1.0 - FIRST_CERTIFY) * later) / size
    if expected_questions is None:
        return _telescoped(first, size) / size
    early = max(min(first + size, expected_questions) - first, 0)
    late = _telescoped(max(first - expected_questions, 0), size - early)
    return (EXPECTED_CHECKS * early / expected_questions + (1.0 - EXPECTED_CHECKS) * late) / size


@checked(purpose=option(PURPOSES), check_share="(0, 1)")
def ln_share(purpose: str, check_share: float) -> float:
    """Return the logarithm of the part of beta that belongs to ``purpose``.

    Parameters
    ----------
    purpose : {"check", "certify"}
    check_share : float
        Part of beta that belongs to checks, in (0, 1).

    Examples
    --------
    >>> round(math.exp(ln_share("certify", 0.1)), 6)
    0.9
    """
    return math.log(check_share if purpose == "check" else 1.0 - check_share)


@checked(rank="integer >= 1")
def rank_weight(rank: int) -> float:
    """Return the weight of the candidate of this public rank: .9 for the first, ``.1/(r (r - 1))`` after it.

    Parameters
    ----------
    rank : int
        From 1.

    Examples
    --------
    >>> rank_weight(1), round(rank_weight(2), 3), round(rank_weight(3), 4)
    (0.9, 0.05, 0.0167)
    """
    return _FIRST if rank == 1 else (1.0 - _FIRST) / (rank * (rank - 1))


@checked(j="integer >= 1")
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
    before = math.e + (j - 1)
    return math.log1p(1.0 / before) / (math.log(before) * math.log(before + 1.0))


@dataclass(frozen=True)
@checked_fields(left="[0, 1]", taken="integer >= 0")
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

    def question(self) -> tuple[float, Self]:
        """Take what one question gets by default: ``.3 u_j`` if no final came before it."""
        j = self.taken + 1
        return self.take(EXPLORING * plain(log_weight)(j) / _unspent(j))

    @checked(size="integer >= 1")
    def round(self, size: int) -> tuple[float, Self]:
        """Take what one question would, for ``size`` questions fixed together; return the weight of each.

        Parameters
        ----------
        size : int
            At least 1.
        """
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

    @checked(count="integer >= 0")
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

    @checked(share="[0, 1]")
    def take(self, share: float) -> tuple[float, Self]:
        """Take a fraction of what is left, in [0, 1], chosen by anything but the answer that it is for.

        Rounding errors are left out of the purse: weights taken and what is left sum to at most 1 exactly.

        Parameters
        ----------
        share : float
        """
        weight = min(self.left * share, self.left)
        left = 0.0 if weight == self.left else max(_below(self.left - weight), 0.0)
        return weight, type(self)(left, self.taken + 1)


def _unspent(j: int) -> float:
    """Return what the questions before number j have left, if nothing else was taken."""
    return 1.0 - EXPLORING + EXPLORING / math.log(math.e + (j - 1))


def _below(number: float) -> float:
    return math.nextafter(number, -math.inf) if number > 0.0 else 0.0


def _telescoped(first: int, size: int) -> float:
    """Return the sum of 1/(j(j+1)) over j = first + 1, ..., first + size."""
    return size / ((first + 1) * (first + size + 1))
