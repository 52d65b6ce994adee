"""Means over records that do not count alike, or that come in groups.

Given the weights, the groups and the labels, a mean of scores is ``sum_i a_i X_i`` with known shares ``a_i``
that sum to one, and so is a mean of class means. The units (records, or groups of them) are independent, and
unit u moves the sum by at most ``a_u``, the sum of its shares: Hoeffding's bound with ``1 / sum_u a_u^2``
terms (Kish's size) holds for the sum's expectation *at the holdout's weights and group sizes*. Where all
``a_u`` are equal, so does Chernoff's.

It does not hold for the population's ``E[w X] / E[w]``, from which the former strays when weights go with
scores. For that target the terms ``w (X - r)`` have mean 0 at the true r and a range of the bound b of the
weights, so that ``n (mean weight / b)^2`` terms are left, and the class mix may still be conditioned on. But
the weights may not, so their mean, which the width shows, must be released and priced.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from sklearn_ada._checks import bad_parameter
from sklearn_ada.accounting.zcdp_filter import SAME_WEIGHT
from sklearn_ada.guarantees.intervals.chernoff import chernoff_kl
from sklearn_ada.guarantees.intervals.hoeffding import hoeffding
from sklearn_ada.metrics.data.units import Units
from sklearn_ada.metrics.rules.class_mean import ClassMean
from sklearn_ada.metrics.rules.constructions import Range
from sklearn_ada.metrics.rules.mean import Mean
from sklearn_ada.metrics.rules.rule import IntervalRule, Measured, clipped

__all__ = ["UnequalMean", "unequal"]


def unequal(rule: IntervalRule, units: Units, name: str) -> IntervalRule:
    """Return the rule of a metric for a holdout with weights or groups.

    Raises
    ------
    ValueError
        If only the stable median is sound.
    """
    if (isinstance(rule, Mean) and not rule.at_class_mix) or (
        isinstance(rule, ClassMean) and units.bound is None
    ):
        return UnequalMean(rule, units)
    what = "a mean" if units.bound is not None else "a mean, or a mean of class means,"
    raise bad_parameter(
        "scoring", "a holdout with sample_weight or groups", f"{what} to have an interval of its own", name,
        f"Use the stable median: StableHoldoutScorer, or Metric({name!r}, kind='general').",
    )  # fmt: skip


@dataclass(frozen=True)
class UnequalMean(IntervalRule):
    """A mean, or a mean of class means, over the units of one holdout."""

    base: Mean | ClassMean
    units: Units
    unit = SAME_WEIGHT

    @property
    def joins_labels_and_units(self) -> bool:  # type: ignore[override]
        """Whether the shares of the records depend on their classes."""
        return isinstance(self.base, ClassMean)

    @property
    def theorem(self) -> str:  # type: ignore[override]
        """Name of the fixed-question bound."""
        if self.units.bound is not None:
            return "Hoeffding for weights below a bound (Hoeffding 1963)"
        return "Hoeffding for independent terms of unequal weight (Hoeffding 1963)"

    @property
    def family(self) -> str:  # type: ignore[override]
        """That of the base: on these rows it is asked of no other."""
        return self.base.family

    def known_size(self, y: NDArray[Any]) -> float:
        """Return how many equal records the holdout is worth."""
        self.base.known_size(y)  # raises where the labels do not allow the metric
        return self.units.size(self.base.shares(y, self.units.weight))

    def sensitivity(self, y: NDArray[Any], width: float) -> float | None:
        """Return how far one unit replaced by another of its weight moves the value; None with a bound."""
        if self.units.bound is not None:
            return None
        return width * float(self.units.totals(self.base.shares(y, self.units.weight)).max())

    def measure(
        self, y: NDArray[Any], outputs: NDArray[Any], classes: NDArray[Any] | None, bounds: Range
    ) -> Measured:
        """Return the weighted value."""
        shares = self.base.shares(y, self.units.weight)
        return Measured(float(shares @ self.base.terms(y, outputs, classes, bounds)), self.units.size(shares))

    def interval(self, known: Range, size: float, ln_delta: float, bounds: Range) -> Range:
        """Return Chernoff's interval where all units count alike, else Hoeffding's."""
        low, high = clipped(known, bounds)
        is_equal = self.units.bound is None and size >= self.units.n_units * (1.0 - 1e-9)
        return (chernoff_kl if is_equal else hoeffding)(low, high, size, ln_delta, bounds)
