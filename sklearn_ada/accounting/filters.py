"""Budgets for costs that are chosen on the way: a privacy filter and a privacy odometer for zCDP.

Composition theorems fix all parameters in advance. A *filter* lets the next mechanism and its price depend
on the earlier outputs and stops before a budget is exceeded; an *odometer* has no budget and bounds the
privacy loss at every moment at once (Rogers, Roth, Ullman, Vadhan 2016; Whitehouse, Ramdas, Rogers, Wu 2023).
Both keep exact sums, so that a million small costs are not lost to rounding.
"""

from __future__ import annotations

import math
from fractions import Fraction

from sklearn_ada._checks import check_real
from sklearn_ada.accounting._exact import exactly, within
from sklearn_ada.accounting.unit_filter import RECORDS, UnitZCDPFilter
from sklearn_ada.exceptions import BudgetExhaustedError

__all__ = ["ZCDPFilter", "ZCDPOdometer", "admits"]


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
    spent = check_real(spent, "spent", "admits", low=0.0, closed="low")
    cost = check_real(cost, "cost", "admits", low=0.0, closed="low")
    budget = check_real(budget, "budget", "admits", low=0.0, closed="low")
    return within(exactly(spent) + exactly(cost), budget)


class ZCDPFilter:
    """Everything charged to one filter is together ``budget``-zCDP, whatever was charged and why.

    A `UnitZCDPFilter` with a single privacy unit, the record, that raises an error where it is exhausted.

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
    For a fixed order a, ``exp((a-1)*loss - a*(a-1)*spent)`` is a supermartingale if each price is known
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

    def __init__(self, budget: float) -> None:
        self._budget = check_real(budget, "budget", "ZCDPFilter", low=0.0, closed="low")
        self._units = UnitZCDPFilter(1, lambda unit: self._budget)

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
        """Return whether ``cost``, a finite rho of at least 0, could be charged now."""
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
            raise BudgetExhaustedError(
                f"A cost of {cost:g} exceeds what is left of the budget: {self.remaining:g}."
            )
        self._units.record(RECORDS, cost)


class ZCDPOdometer:
    """With probability ``1 - delta`` the privacy loss is at most `epsilon` at every moment at once.

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

    def __init__(self, delta: float, *, scale: float) -> None:
        self._delta = check_real(delta, "delta", "ZCDPOdometer", low=0.0, high=1.0)
        self._scale = check_real(scale, "scale", "ZCDPOdometer", low=0.0)
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
        self._spent += exactly(check_real(cost, "cost", "ZCDPOdometer", low=0.0, closed="low"))
