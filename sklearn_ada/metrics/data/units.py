"""Which records count together, and how much each of them counts."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada._checks import bad_parameter, check_real
from sklearn_ada.guarantees.intervals.effective_size import bounded_weight_size, kish_size
from sklearn_ada.metrics.data.labels import is_missing

__all__ = ["Units"]

_GROWTH = 1.05  # mean weights are told apart to five percent


class Units:
    """The independent units of a holdout (its records, or groups of them) and the weights of its records.

    Parameters
    ----------
    n : int
        Number of records.
    sample_weight : array-like of shape (n,) or None
        Non-negative; None counts every record once.
    groups : array-like of shape (n,) or None
        Records of one group are one unit; None makes each record a unit.
    weight_bound : float or None
        Largest total weight that any unit of the population can have.

    Raises
    ------
    ValueError
        For bad weights, groups or bound; the message holds none of their values.
    """

    def __init__(self, n: int, sample_weight: Any, groups: Any, weight_bound: float | None = None) -> None:
        self.has_weight, self.has_groups = sample_weight is not None, groups is not None
        self.weight = np.ones(n) if sample_weight is None else _check_weight(sample_weight, n)
        self.unit: NDArray[np.int64] = np.arange(n) if groups is None else _check_groups(groups, n)
        self.n_units = int(self.unit.max()) + 1
        self.bound = weight_bound
        if weight_bound is not None:
            self.bound = check_real(weight_bound, "weight_bound", "Holdout", low=0.0)
            if self.totals(self.weight).max() > self.bound:
                raise bad_parameter(
                    "weight_bound", "Holdout", "at least the total weight of every record or group",
                    weight_bound, "It must be known without the holdout.",
                )  # fmt: skip

    def totals(self, per_record: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what each unit has in all."""
        return np.bincount(self.unit, weights=per_record, minlength=self.n_units).astype(np.float64)

    @cached_property
    def bucket(self) -> int:
        """The mean weight as a share of the bound, on a logarithmic scale: what `mean_share` tells of it."""
        assert self.bound is not None
        return math.ceil(-math.log(self.weight.sum() / self.n_units / self.bound) / math.log(_GROWTH) - 1e-9)

    @property
    def mean_share(self) -> float:
        """The mean weight of a unit as a share of the bound, rounded down."""
        return _GROWTH ** -float(self.bucket)

    def size(self, shares: NDArray[np.float64]) -> float:
        """Return how many equal records a sum with these shares of the records is worth, for Hoeffding."""
        if self.bound is not None:
            return bounded_weight_size(self.n_units, self.mean_share, 1.0)
        return kish_size(self.totals(shares))

    def target(self, of_records: str) -> str:
        """Return what is certified where, of equal and independent records, it would be ``of_records``."""
        if self.bound is not None:
            if not self.has_weight:
                return of_records
            return of_records.replace("population", "population's weighted", 1)
        known = [("weights", self.has_weight), ("group sizes", self.has_groups)]
        marks = " and ".join(name for name, is_known in known if is_known)
        return (
            f"{of_records} and {marks}"
            if " at the " in of_records
            else f"{of_records} at the holdout's {marks}"
        )


def _check_weight(sample_weight: Any, n: int) -> NDArray[np.float64]:
    wanted = f"{n} finite numbers of at least 0, not all 0"
    try:
        weight = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise bad_parameter("sample_weight", "Holdout", wanted, "something else") from None
    if weight.shape != (n,):
        raise bad_parameter("sample_weight", "Holdout", wanted, f"an array of shape {weight.shape}")
    if not (np.isfinite(weight).all() and (weight >= 0).all() and weight.any()):
        raise bad_parameter("sample_weight", "Holdout", wanted, "negative, missing or infinite values, or 0")
    return weight


def _check_groups(groups: Any, n: int) -> NDArray[np.int64]:
    labels = np.asarray(groups)
    if labels.shape != (n,):
        raise bad_parameter(
            "groups", "Holdout", f"{n} labels, one for each record", f"an array of shape {labels.shape}"
        )
    if any(map(is_missing, labels.tolist())):
        raise bad_parameter("groups", "Holdout", "known for every record", "missing values")
    if labels.dtype.kind == "O":  # labels of several types have no order
        labels = np.array([f"{type(label).__name__} {label}" for label in labels.tolist()])
    codes = np.unique(labels, return_inverse=True)[1].reshape(-1)
    if codes.max() == 0:
        raise bad_parameter(
            "groups", "Holdout", "of at least two kinds", "one group", "Nothing is learned from one."
        )
    return codes.astype(np.int64)
