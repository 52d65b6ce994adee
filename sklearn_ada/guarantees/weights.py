"""How one failure probability is shared out among the questions of a conversation.

Two purposes share beta: *checks* (coarse and cheap) and *certifies* (fine). Within a purpose, question j
gets a weight pi_j, and the weights of all questions that can ever be asked sum to at most 1.
"""

from __future__ import annotations

import math

from sklearn_ada._checks import bad_parameter, check_integer, check_option, check_real

__all__ = [
    "CHECK_SHARE",
    "EXPECTED_CHECKS",
    "FAMILY_WEIGHTS",
    "FIRST_CERTIFY",
    "PURPOSES",
    "family_weight",
    "ln_declared",
    "ln_share",
    "round_weight",
]

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


FAMILY_WEIGHTS = {
    "mean": 0.5,
    "auc": 0.1,
    "class mean": 0.1,
    "recall": 0.05,
    "usual subsamples": 0.1,
    "usual stratified subsamples": 0.05,
}
"""Weights of the families of questions that share one gap of the privacy route (see `family_weight`)."""

_OTHER_SUBSAMPLES = 0.025  # all partitions of other sizes; as much again for stratified ones


def family_weight(family: str) -> float:
    """Return the weight of a family of questions by the privacy route, fixed by its name alone.

    A weight in the order in which families are asked would be chosen by the conversation. The weights of all
    families that one ledger can have sum to at most 1: there are at most two classes whose recall can be
    asked, each a family of its own.

    Parameters
    ----------
    family : str
        One of `FAMILY_WEIGHTS`, or "m subsamples" or "m stratified subsamples" with a number m: a partition
        of another size than the usual one, with the weight ``0.025/(m(m+1))``.

    Examples
    --------
    >>> family_weight("mean"), round(family_weight("4 stratified subsamples"), 6)
    (0.5, 0.00125)
    """
    if family in FAMILY_WEIGHTS:
        return FAMILY_WEIGHTS[family]
    number, _, kind = family.partition(" ")
    if not number.isdecimal() or kind not in ("subsamples", "stratified subsamples"):
        raise bad_parameter("family", "family_weight", f"one of {', '.join(FAMILY_WEIGHTS)}", family)
    return _OTHER_SUBSAMPLES * _telescoped(check_integer(int(number), "family", "family_weight") - 1, 1)


def ln_share(purpose: str, check_share: float) -> float:
    """Return the logarithm of the part of beta that belongs to ``purpose``.

    Examples
    --------
    >>> round(math.exp(ln_share("certify", 0.1)), 6)
    0.9
    """
    check_option(purpose, "purpose", "ln_share", PURPOSES)
    share = check_real(check_share, "check_share", "ln_share", low=0.0, high=1.0)
    return math.log(share if purpose == "check" else 1.0 - share)


def ln_declared(ln_beta: float, n_models: int) -> float:
    """Return ``ln(beta / (4 G))``, a declared model's failure probability, whatever is revealed.

    Half of beta is for the G models that were declared before the first look, and each has two fixed
    questions (`sklearn_ada.holdout.session.declare`).

    Examples
    --------
    >>> round(math.exp(ln_declared(math.log(0.05), 10)), 6)
    0.00125
    """
    ln_beta = check_real(ln_beta, "ln_beta", "ln_declared", high=0.0, closed="high")
    return ln_beta - math.log(4.0 * check_integer(n_models, "n_models", "ln_declared"))
