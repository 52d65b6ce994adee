"""The price of class counts: what it costs that an answer speaks of the population's class mix."""

from __future__ import annotations

import math

from sklearn_ada._checks import check_integer

__all__ = ["class_count_nats"]


def class_count_nats(n: int, n_classes: int) -> float:
    """Return ``ln C(n + C - 1, C - 1)``: the price of the class counts of n records, all equally likely.

    Once it is in L, certificates speak of the population itself, not at the holdout's class mix.

    Parameters
    ----------
    n : int
        Number of records.
    n_classes : int
        The C.

    Examples
    --------
    >>> round(class_count_nats(1000, 2), 4)  # ln 1001
    6.9088
    """
    n = check_integer(n, "n", "class_count_nats")
    n_classes = check_integer(n_classes, "n_classes", "class_count_nats")
    return math.lgamma(n + n_classes) - math.lgamma(n + 1) - math.lgamma(n_classes)
