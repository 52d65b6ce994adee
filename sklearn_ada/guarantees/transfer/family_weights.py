"""Weights of families of questions: how the failure probability of private answers is shared out.

A *family* are the questions whose answers one record moves in the same proportion: means, AUCs, recalls of
one class, medians over one partition. Each has one gap between holdout and population.
"""

from __future__ import annotations

from sklearn_ada._checks import bad_parameter, check_integer

__all__ = ["FAMILY_WEIGHTS", "family_weight"]

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
    m = check_integer(int(number), "family", "family_weight")
    return _OTHER_SUBSAMPLES * (1 / (m * (m + 1)))
