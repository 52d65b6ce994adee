"""Filters and an odometer for zCDP: privacy budgets for costs that are chosen on the way.

Composition theorems fix all parameters in advance. A *filter* lets the next mechanism and its price depend on
the earlier outputs, and stops before its budget is exceeded; an *odometer* bounds the privacy loss so far,
where no budget was fixed (Rogers, Roth, Ullman, Vadhan 2016; Whitehouse, Ramdas, Rogers, Wu 2023). Sums are
exact, so that a million small costs are not lost to rounding: a budget must not be passed by steps that are
too small to change a float.

A *privacy unit* is what is replaced between two neighbouring data sets. A certificate of a mean rests on what
replacing one row can change, one of a median on what replacing one subsample can: a ledger that answers
both must keep both promises, with a budget for each unit.

Some answers are private against fewer neighbours. An AUC, a class mean or a weighted mean has bounded
sensitivity only if a row is replaced by one of the same class (or weight): class counts and weights stay
as they are, and the noise is made for them. Group privacy carries such a cost over to a subsample only if
the subsample is replaced by another with the same class counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

from sklearn_ada._validation import bad_parameter, check_integer, checked
from sklearn_ada.exceptions import BudgetExhaustedError

__all__ = [
    "RECORDS", "SAME_CLASS", "SAME_WEIGHT", "Unit", "UnitZCDPFilter", "ZCDPFilter", "ZCDPOdometer", "admits",
    "subsamples_unit",
]  # fmt: skip


class ZCDPFilter:
    """A zCDP budget: whatever is charged to it is together ``budget``-zCDP.

    A `UnitZCDPFilter` with a single privacy unit, the row, that raises an error where it is exhausted.

    Each mechanism, its price and the decision to stop may depend on all earlier outputs. For zCDP the plain
    sum of the prices is a valid filter, with no loss in the constants (Whitehouse et al. 2023; for Renyi
    divergence Feldman, Zrnic 2021).

    Parameters
    ----------
    budget : float
        The largest total rho, finite and >= 0.

    Raises
    ------
    ValueError
        If ``budget`` is out of range.

    Notes
    -----
    For a fixed order a, ``exp((a-1)*loss - a*(a-1)*spent)`` is a supermartingale if each price is fixed
    before its mechanism runs; with ``spent <= budget`` throughout, the divergence of order a is at most
    ``a*budget`` at any stopping time.

    Examples
    --------
    >>> from sklearn_ada.accounting import ZCDPFilter, laplace_zcdp
    >>> zcdp_filter = ZCDPFilter(0.01)
    >>> zcdp_filter.charge(laplace_zcdp(0.1))
    >>> zcdp_filter.charge(laplace_zcdp(0.2))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    sklearn_ada.exceptions.BudgetExhaustedError: A cost of 0.0187308 exceeds what is left...
    """

    @checked(budget=">= 0")
    def __init__(self, budget: float) -> None:
        self._budget = budget
        self._units: UnitZCDPFilter = UnitZCDPFilter(1, lambda unit: self._budget)

    @property
    def budget(self) -> float:
        """The largest total rho."""
        return self._budget

    @property
    def spent(self) -> float:
        """The total rho charged so far, correctly rounded."""
        return self._units.spent(RECORDS)

    @property
    def remaining(self) -> float:
        """The rho that is left."""
        return self._budget - self.spent

    def admits(self, cost: float) -> bool:
        """Return whether ``cost``, a finite rho of at least 0, could be charged now.

        Parameters
        ----------
        cost : float
            A rho of zCDP.
        """
        return self._units.admits(RECORDS, cost)

    def charge(self, cost: float) -> None:
        """Charge ``cost``, before the mechanism runs.

        Parameters
        ----------
        cost : float
            The rho of the next mechanism, finite and >= 0.

        Raises
        ------
        BudgetExhaustedError
            If the budget does not suffice; nothing is charged then, and the mechanism must not run.
        ValueError
            If ``cost`` is out of range; nothing is charged then.
        """
        if not self.admits(cost):
            left = f"what is left of the budget: {self.remaining:g}"
            raise BudgetExhaustedError(f"A cost of {cost:g} exceeds {left}.")
        self._units.record(RECORDS, cost)


class ZCDPOdometer:
    """A running bound: with probability ``1 - delta`` the privacy loss is at most `epsilon` at every moment.

    Each mechanism, its price and the moment at which `epsilon` is read may depend on all earlier outputs;
    no budget is fixed. With total price rho, ``epsilon = rho + 2*sqrt((rho + s) * (ln(1/delta) +
    ln(1 + rho/s)/2))``, where s is ``scale`` (the mixture boundary of Whitehouse et al. 2023).

    Parameters
    ----------
    delta : float
        The failure probability, in (0, 1).
    scale : float
        The bound is tight where rho is some ``2*ln(1/delta)`` times this, finite and > 0. Any value is
        valid; it must be fixed in advance.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Notes
    -----
    ``M(l) = exp(l*(loss - rho) - l**2*rho)`` is a supermartingale for every ``l > 0`` (zCDP at order 1 + l).
    So is its mixture over a half-normal l of variance ``1/(2*s)``, which is at least
    ``sqrt(s/(rho + s)) * exp((loss - rho)**2 / (4*(rho + s)))`` where the loss exceeds rho. By Ville's
    inequality it ever reaches ``1/delta`` with probability at most delta.

    Examples
    --------
    >>> from sklearn_ada.accounting import ZCDPOdometer
    >>> odometer = ZCDPOdometer(1e-6, scale=0.01)
    >>> odometer.charge(0.1)
    >>> round(odometer.epsilon, 6)
    2.670284
    """

    @checked(delta="(0, 1)", scale="> 0")
    def __init__(self, delta: float, *, scale: float) -> None:
        self._delta = delta
        self._scale = scale
        self._spent = Fraction(0)

    @property
    def spent(self) -> float:
        """The total rho charged so far, correctly rounded."""
        return float(self._spent)

    @property
    def epsilon(self) -> float:
        """A bound on the privacy loss so far, valid at all times together w.p. 1 - delta."""
        rho, s = self.spent, self._scale
        return rho + 2.0 * math.sqrt((rho + s) * (-math.log(self._delta) + 0.5 * math.log1p(rho / s)))

    @checked("ZCDPOdometer", cost=">= 0")
    def charge(self, cost: float) -> None:
        """Record ``cost``, before the mechanism runs.

        Parameters
        ----------
        cost : float
            The rho of the next mechanism, finite and >= 0.

        Raises
        ------
        ValueError
            If ``cost`` is out of range; nothing is recorded then.
        """
        self._spent += exactly(cost)


@checked(spent=">= 0", cost=">= 0", budget=">= 0")
def admits(spent: float, cost: float, budget: float) -> bool:
    """Return whether ``spent + cost <= budget``: the condition to proceed.

    Parameters
    ----------
    spent, cost, budget : float
        In the same currency, finite and >= 0.

    Returns
    -------
    bool
        True if the cost may be incurred.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from sklearn_ada.accounting import admits
    >>> admits(spent=0.75, cost=0.25, budget=1.0), admits(spent=0.75, cost=0.5, budget=1.0)
    (True, False)
    """
    return within(exactly(spent) + exactly(cost), budget)


class Unit(NamedTuple):
    """What is replaced between neighbours: one row, or one subsample of a fixed partition.

    Attributes
    ----------
    name : str
        Units with different names are different partitions, or different neighbours.
    parts : int
        Number of subsamples of the partition; 0 for single rows.
    """

    name: str
    parts: int


RECORDS = Unit("records", 0)
"""A row is replaced by any other."""

SAME_CLASS = Unit("records of the same class", 0)
"""A row is replaced by another of its class."""

SAME_WEIGHT = Unit("records of the same class, weight and group size", 0)
"""A row (or group) is replaced by another that counts as much."""

_STRATIFIED = "stratified "


@checked(n_subsamples="count")
def subsamples_unit(n_subsamples: int, *, stratified: bool) -> Unit:
    """Return the privacy unit that is one subsample of a partition.

    Parameters
    ----------
    n_subsamples : int
        Number of subsamples of the partition.
    stratified : bool
        Whether a subsample is replaced by one of the same class counts only.

    Returns
    -------
    Unit
        What is replaced between neighbours.

    Examples
    --------
    >>> from sklearn_ada.accounting import subsamples_unit
    >>> subsamples_unit(100, stratified=False)
    Unit(name='100 subsamples', parts=100)
    """
    return Unit(f"{n_subsamples} {_STRATIFIED if stratified else ''}subsamples", n_subsamples)


class UnitZCDPFilter:
    """A zCDP budget for each privacy unit, none of which is ever exceeded.

    Together it is ``budget(u)``-zCDP with respect to replacing one unit u.

    Group privacy converts costs: a change of s units of one kind is s^2 times as dear as a change of one
    (Bun, Steinke, TCC 2016, Proposition 1.9). Replacing one row changes one subsample of any partition;
    replacing a subsample of t rows changes at most t subsamples of another partition. A cost that holds
    for neighbours of one class (`SAME_CLASS`, and stratified subsamples: a row of another class moves all
    later ones to other subsamples) has no price for a subsample that is not stratified, and one for
    neighbours of one weight (`SAME_WEIGHT`) none for any subsample: such mixtures are not admitted. Single
    rows of all kinds share one sum: beside costs that hold within classes, it is a promise within classes.
    For each unit the plain sum of the costs is a valid filter (see `ZCDPFilter`), counted from the first on.

    Parameters
    ----------
    n : int
        Number of rows.
    budget : callable
        Takes a unit and returns the largest total rho for it; fixed in advance.

    Examples
    --------
    >>> from sklearn_ada.accounting import RECORDS, SAME_CLASS, UnitZCDPFilter, subsamples_unit
    >>> units = UnitZCDPFilter(1000, lambda unit: 0.02)
    >>> units.record(RECORDS, 0.0001)
    >>> units.admits(RECORDS, 0.015)
    True
    >>> hundred = subsamples_unit(100, stratified=False)
    >>> units.admits(hundred, 0.015)  # ten rows a subsample: 0.0001 is 0.01 for them
    False
    >>> units.record(SAME_CLASS, 1e-9)
    >>> units.admits(hundred, 1e-9), units.admits(subsamples_unit(100, stratified=True), 1e-9)
    (False, True)
    """

    @checked(n="count")
    def __init__(self, n: int, budget: Callable[[Unit], float]) -> None:
        self._n = n
        self._budget = budget
        self._spent: dict[Unit, Fraction] = {}

    def spent(self, unit: Unit) -> float:
        """Return the total rho with respect to replacing one ``unit``, rounded.

        Infinite if mechanisms on other units ran that have no finite rho with respect to this one.

        Parameters
        ----------
        unit : Unit
        """
        return float(self._total(self._check(unit), self._spent))

    def left(self, unit: Unit) -> float:
        """Return about the largest rho that all budgets in use would still admit.

        It is the rho of one mechanism with respect to this unit, rounded down by more than the conversions
        round; 0 if nothing is left.

        Parameters
        ----------
        unit : Unit
        """
        unit = self._check(unit)
        spent = {unit: Fraction(0), **self._spent}
        left = math.inf
        for each in spent:
            total, times = self._total(each, spent), self._touched(each, unit)
            if times == math.inf or total == math.inf:
                return 0.0
            left = min(left, (self._budget(each) - float(total)) / times**2)
        return max(left * (1.0 - 1e-9), 0.0)

    def admits(self, unit: Unit, cost: float, count: int = 1) -> bool:
        """Return whether ``count`` mechanisms of this cost each would stay within every budget.

        Parameters
        ----------
        unit : Unit
            The unit that the cost speaks of.
        cost : float
            zCDP cost, finite and at least 0.
        count : int, default=1
            At least 1.
        """
        return self.exceeded(unit, cost, count) is None

    @checked("UnitZCDPFilter", cost=">= 0", count="count")
    def exceeded(self, unit: Unit, cost: float, count: int = 1) -> tuple[Unit, float] | None:
        """Return a unit whose budget would be exceeded, with its total rho; or None.

        The budgets are asked for ``count`` mechanisms of this cost each. Sums are exact: a full budget cannot
        be passed by steps that are too small to be seen in a float.

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
        spent = {**self._spent, unit: self._spent.get(unit, Fraction(0)) + count * exactly(cost)}
        for each in spent:
            total = self._total(each, spent)
            if not within(total, self._budget(each)):
                return each, float(total)
        return None

    def to_list(self) -> list[list[Any]]:
        """Return what was recorded of each unit, exactly, ready for JSON."""
        return [[*unit, str(cost)] for unit, cost in self._spent.items()]

    def restore(self, recorded: list[list[Any]]) -> None:
        """Go on from what `to_list` returned.

        Parameters
        ----------
        recorded : list
            What was recorded of each unit.
        """
        self._spent = {Unit(name, parts): Fraction(cost) for name, parts, cost in recorded}

    @checked("UnitZCDPFilter", cost=">= 0")
    def record(self, unit: Unit, cost: float) -> None:
        """Add the cost of a mechanism, admitted before it ran.

        Parameters
        ----------
        unit : Unit
        cost : float
            zCDP cost, finite and at least 0.
        """
        unit = self._check(unit)
        self._spent[unit] = self._spent.get(unit, Fraction(0)) + exactly(cost)

    def _check(self, unit: Unit) -> Unit:
        if not isinstance(unit, Unit):
            raise bad_parameter("unit", "UnitZCDPFilter", "a Unit", unit)
        check_integer(unit.parts, "unit", "UnitZCDPFilter", low=0)
        if unit.parts > self._n:
            raise bad_parameter("unit", "UnitZCDPFilter", f"of at most {self._n} rows", unit)
        return unit

    def _total(self, unit: Unit, spent: dict[Unit, Fraction]) -> Fraction | float:
        costs = (self._touched(unit, other) ** 2 * cost for other, cost in spent.items() if cost)
        return sum(costs, Fraction(0))

    def _touched(self, unit: Unit, other: Unit) -> float:
        """Return how many units change when one of another kind is replaced.

        Infinite where one of the other kind may be replaced by what is no neighbour of the first kind.
        """
        if unit == other or unit.parts == 0:
            return 1
        if other == SAME_WEIGHT:
            return math.inf
        within_classes = other == SAME_CLASS or _STRATIFIED in other.name
        if within_classes and _STRATIFIED not in unit.name:  # one row of another class moves all the later
            return math.inf
        records = self._n // unit.parts
        return records if other.parts == 0 else min(records, other.parts)


def exactly(value: float) -> Fraction:
    """Return the number that a finite float is written as: 0.1 is a tenth, and ten of them are 1.

    Examples
    --------
    >>> sum(exactly(0.1) for _ in range(10)) == 1
    True
    """
    return Fraction(repr(float(value)))


def within(total: Fraction | float, budget: float) -> bool:
    """Return whether an exact total is at most a budget, which may be infinite; NaN fails.

    Examples
    --------
    >>> within(3 * exactly(0.1), 0.3), within(1 + exactly(1e-20), 1.0)
    (True, False)
    """
    return total <= exactly(budget) if math.isfinite(budget) else budget == math.inf
