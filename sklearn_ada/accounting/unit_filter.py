"""A zCDP filter for several privacy units at once: single records, and subsamples of fixed partitions.

A certificate of a mean rests on what replacing one record can change, one of a median on what replacing
one subsample can. A ledger that answers both must keep both promises.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

from sklearn_ada._checks import bad_parameter, check_integer, check_real

__all__ = ["RECORDS", "Unit", "UnitZCDPFilter"]


class Unit(NamedTuple):
    """What is replaced between neighbours: one record, or one subsample of a fixed partition.

    Attributes
    ----------
    name : str
        Units with different names are different partitions.
    parts : int
        Number of subsamples of the partition; 0 for single records.
    """

    name: str
    parts: int


RECORDS = Unit("records", 0)
"""The unit of single records."""


class UnitZCDPFilter:
    """Everything recorded together is ``budget(u)``-zCDP with respect to replacing one unit u in use.

    Group privacy converts costs: a change of s units of one kind is s^2 times as dear as a change of one
    (Bun, Steinke, TCC 2016, Proposition 1.9). Replacing one record changes one subsample of any partition;
    replacing a subsample of t records changes at most t subsamples of another partition. For each unit the
    plain sum of the costs is a valid filter (see `ZCDPFilter`), counted from the first cost on.

    Parameters
    ----------
    n : int
        Number of records.
    budget : callable
        Takes a unit and returns the largest total rho for it; fixed in advance.

    Examples
    --------
    >>> units = UnitZCDPFilter(1000, lambda unit: 0.02)
    >>> units.record(RECORDS, 0.0001)
    >>> units.admits(RECORDS, 0.015)
    True
    >>> units.admits(Unit("100 subsamples", 100), 0.015)  # ten records a subsample: 0.0001 is 0.01 for them
    False
    """

    def __init__(self, n: int, budget: Callable[[Unit], float]) -> None:
        self._n = check_integer(n, "n", "UnitZCDPFilter")
        self._budget = budget
        self._spent: dict[Unit, Fraction] = {}

    def spent(self, unit: Unit) -> float:
        """Return the total rho with respect to replacing one ``unit``, rounded."""
        return float(self._total(self._check(unit), self._spent))

    def admits(self, unit: Unit, cost: float, count: int = 1) -> bool:
        """Return whether ``count`` mechanisms of this cost each would stay within every budget."""
        return self.exceeded(unit, cost, count) is None

    def exceeded(self, unit: Unit, cost: float, count: int = 1) -> tuple[Unit, float] | None:
        """Return a unit whose budget ``count`` mechanisms would exceed and its total rho then, or None.

        Parameters
        ----------
        unit : Unit
            The unit that the cost speaks of.
        cost : float
            zCDP cost, finite and at least 0.
        count : int, default=1
            At least 1.
        """
        unit = self._check(unit)
        cost = check_real(cost, "cost", "UnitZCDPFilter", low=0.0, closed="low")
        count = check_integer(count, "count", "UnitZCDPFilter")
        spent = {**self._spent, unit: self._spent.get(unit, Fraction(0)) + count * Fraction(cost)}
        totals = ((each, float(self._total(each, spent))) for each in spent)
        return next(((each, total) for each, total in totals if not total <= self._budget(each)), None)

    def record(self, unit: Unit, cost: float) -> None:
        """Add the cost of a mechanism, admitted before it ran.

        Parameters
        ----------
        unit : Unit
        cost : float
            zCDP cost, finite and at least 0.
        """
        unit = self._check(unit)
        cost = check_real(cost, "cost", "UnitZCDPFilter", low=0.0, closed="low")
        self._spent[unit] = self._spent.get(unit, Fraction(0)) + Fraction(cost)

    def _check(self, unit: Unit) -> Unit:
        if not isinstance(unit, Unit):
            raise bad_parameter("unit", "UnitZCDPFilter", "a Unit", unit)
        check_integer(unit.parts, "unit", "UnitZCDPFilter", low=0)
        if unit.parts > self._n:
            raise bad_parameter("unit", "UnitZCDPFilter", f"of at most {self._n} records", unit)
        return unit

    def _total(self, unit: Unit, spent: dict[Unit, Fraction]) -> Fraction:
        return sum((self._touched(unit, other) ** 2 * cost for other, cost in spent.items()), Fraction(0))

    def _touched(self, unit: Unit, other: Unit) -> int:
        """Return how many units of one kind can change when one of the other kind is replaced."""
        if unit in (other, RECORDS):
            return 1
        records = self._n // unit.parts
        return records if other == RECORDS else min(records, other.parts)
