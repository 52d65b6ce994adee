"""A privacy odometer for zCDP: the privacy loss so far, where no budget was fixed in advance.

Both it and a filter (`sklearn_ada.accounting.zcdp_filter`) let the next mechanism and its price depend on the
earlier outputs, where composition theorems fix all parameters in advance (Rogers, Roth, Ullman, Vadhan 2016).
"""

from __future__ import annotations

import math
from fractions import Fraction

from sklearn_ada._checks import check_real
from sklearn_ada.accounting._exact import exactly

__all__ = ["ZCDPOdometer"]


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
