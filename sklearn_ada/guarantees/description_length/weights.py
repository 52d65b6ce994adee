"""Weights of questions and of rounds: how one failure probability is shared out in a conversation.

Two purposes share beta: *checks* (coarse and cheap) and *certifies* (fine). Within a purpose, question j
gets a weight pi_j, and the weights of all questions that can ever be asked sum to at most 1. A *round* is a
set of G questions fixed before any of their answers is seen: each has a G-th of the weight of its round.
"""

from __future__ import annotations

import math

from sklearn_ada._checks import check_integer, check_option, check_real

__all__ = ["CHECK_SHARE", "EXPECTED_CHECKS", "FIRST_CERTIFY", "PURPOSES", "ln_share", "round_weight"]

PURPOSES = ("check", "certify")

CHECK_SHARE = 0.1
"""Part of the failure probability that belongs to checks, unless the user says another."""

FIRST_CERTIFY = 0.8
"""Weight of the first certify: most searches end with one."""

EXPECTED_CHECKS = 0.8
"""Weight of all checks that were expected; the rest is for those beyond."""


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
    check_option(purpose, "purpose", "round_weight", PURPOSES)
    first = check_integer(first, "first", "round_weight", low=0)
    size = check_integer(size, "size", "round_weight")
    if purpose == "certify":
        head = FIRST_CERTIFY if first == 0 else 0.0
        later = _telescoped(max(first - 1, 0), size if first else size - 1)
        return (head + (1.0 - FIRST_CERTIFY) * later) / size
    if expected_questions is None:
        return _telescoped(first, size) / size
    horizon = check_integer(expected_questions, "expected_questions", "round_weight")
    early = max(min(first + size, horizon) - first, 0)
    late = _telescoped(max(first - horizon, 0), size - early)
    return (EXPECTED_CHECKS * early / horizon + (1.0 - EXPECTED_CHECKS) * late) / size


def _telescoped(first: int, size: int) -> float:
    """Sum of 1/(j(j+1)) over j = first + 1, ..., first + size."""
    return size / ((first + 1) * (first + size + 1))


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
    check_option(purpose, "purpose", "ln_share", PURPOSES)
    share = check_real(check_share, "check_share", "ln_share", low=0.0, high=1.0)
    return math.log(share if purpose == "check" else 1.0 - share)
