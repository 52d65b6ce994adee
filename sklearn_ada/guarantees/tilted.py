"""Tilted tails: a guess divides the failure probability of a count or a mean between the two sides.

Clopper and Pearson's interval gives each side half of delta. Whoever expects the share of ones to be near a
guess can do better: a share far below the guess is excluded by a count that is hardly too large, as it was
unlikely beforehand, and a share far above it likewise. So below the guess nearly all of delta goes to the
upper tail, above it to the lower one. The interval is valid whatever the guess is; a good one makes it
narrower, a bad one wider.

Theorem (Pratt 1961; Puza, O'Neill 2006; Yu, Hoff 2018). Let ``w: (0, 1) -> [w0, 1 - w0]`` be non-increasing
and fixed when the level is. Of n independent rows S have a one; theta is the mean of their probabilities.
Accept theta if ``P_theta[S' >= S] > delta w(theta)`` and ``P_theta[S' <= S] > delta (1 - w(theta))``. What is
accepted is an interval that contains the true theta with probability at least ``1 - delta``.

Proof. Each theta is rejected from below by the counts of an upper tail of probability at most ``delta w``,
from above by those of a lower tail of probability at most ``delta (1 - w)``: together at most delta. The
upper tail rises in theta while ``delta w`` does not, so what is rejected from below stays rejected further
below; the other side likewise. Hence the accepted set is an interval and bisection finds its ends. The two
edges of a cell that contains S give an interval around that of S.

*Rows of different laws* (at a fixed class mix): the binomial tails bound those of the count by Hoeffding
(1956, Theorem 4) where the level of a side is at most 1/4, and with ``P[S >= 1] <= n theta`` for a single one
(`sklearn_ada.guarantees.clopper_pearson`). So each side's level is capped *after* the tilt.

*The tilt.* w is what a normal prior of theta around the guess would choose: with
``g = (guess N + 1) / (N + 2)``, of N rows, and ``tau = 1.25 sqrt(g (1 - g) / N)``, w solves
``Phi^-1(delta w) - Phi^-1(delta (1 - w)) = 2 f(t) / (sqrt(n) tau^2)``, ``f(t) = sqrt(t (1 - t)) (g - t)``,
and is clipped to [.03, .97]. f is greatest at some t below g and least at some t above it; beyond them theta
is replaced by these, or w would not be monotone.

*Bets on a mean* (`sklearn_ada.guarantees.bets`). A mean m is rejected from below by a wealth of more than
``1 / (delta w(m))``, from above by one of more than ``1 / (delta (1 - w(m)))``: by Markov's inequality with
the same probabilities as above. The prior is the same around the guess, of rows with a variance V that is
foreseen: with ``tau = 1.25 sqrt(V / N)``, w solves ``Phi^-1(delta w) - Phi^-1(delta (1 - w)) = 2 sqrt(V / n)
(guess - m) / tau^2``, which is monotone as it stands.

*What may tune w*: only what is fixed with the level, as the validation score with which a question was asked;
not even the answer's own cell.

*Worth.* For a guess that is 0, 1, 2 or 3 standard errors (of its difference from the holdout's share) off the
truth, from three times as many rows, the interval is in the mean .86, .89, .99 or 1.11 times as wide as
Clopper and Pearson's (2,000 rows, .85, at .05). So a good guess narrows it, and a bad one widens it. No guess
can do better than .85: any valid interval has, in the mean, at least the length that the most powerful tests
leave (Pratt 1961). A holdout that is used once may be tilted as well. Bets gain about as much: .86, .89, .99
and 1.12 for the absolute error of 2,000 rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri_exp

from sklearn_ada._solving import root
from sklearn_ada._validation import LN_2, OUTWARDS, checked_fields
from sklearn_ada.guarantees.intervals import (
    LN_MOST_SIDE,
    Array,
    Interval,
    binomial_low,
    check_order,
    mirrored,
)

__all__ = ["Tilt", "TiltedMean"]

TILTED = "tilted by a guess of"
"""What the theorem of every tilted interval says."""
_LEAST_PART = 0.03  # of delta, for either side
LN_LIKELY_SIDE = math.log(0.9)
"""What is left of the logarithm of delta, for either side, by a guess that is about right."""
LN_LEAST_SIDES = math.log(2.0 * _LEAST_PART)
"""What is left of the logarithm of delta where both sides have the least that a tilt gives."""
_WIDER = 1.25  # the prior's deviation, in standard errors of the guess
_XTOL, _RTOL = 1e-15, 1e-14  # of roots: less than ends are rounded outwards


@dataclass(frozen=True)
@checked_fields(guess="[0, 1]", guess_rows="> 0", n="count")
class Tilt:
    """How a guess divides the failure probability of a count of n rows.

    Parameters
    ----------
    guess : float
        The share expected, in [0, 1].
    guess_rows : float
        Of how many rows it is a mean, positive.
    n : int
        Number of rows of the holdout, at least 1.
    identical_rows : bool
        Whether rows are draws of one law; False at a fixed class mix.

    Examples
    --------
    >>> tilt = Tilt(0.85, 6000, 2000, identical_rows=True)
    >>> low, high = tilt.interval(1700, 1700, math.log(0.05))
    >>> round(low, 4), round(high, 4)  # Clopper and Pearson: 0.8336 to 0.8654
    (0.8361, 0.8631)
    """

    guess: float
    guess_rows: float
    n: int
    identical_rows: bool

    @property
    def theorem(self) -> str:
        """Name of the bound, with what tunes it."""
        return f"Clopper-Pearson, {tilted_by(self.guess, self.guess_rows)} (Pratt 1961; Puza, O'Neill 2006)"

    def interval(self, low_count: int, high_count: int, ln_delta: float) -> Interval:
        """Return an interval for the share that misses with probability at most delta.

        Parameters
        ----------
        low_count, high_count : int
            Ends of the cell in which the count lies, ``0 <= low_count <= high_count <= n``.
        ln_delta : float
            Logarithm of delta, at most 0. A delta above 1/2 is treated as 1/2.

        Returns
        -------
        low, high : float

        Raises
        ------
        ValueError
            If the counts are not in order.
        """
        check_order(low_count, high_count, self.n, "Tilt.interval")
        return self._low_end(low_count, ln_delta), mirrored(
            self.mirror._low_end(self.n - high_count, ln_delta)
        )

    @property
    def mirror(self) -> Tilt:
        """The tilt for the count of zeros."""
        return Tilt(1.0 - self.guess, self.guess_rows, self.n, self.identical_rows)

    def part_below(self, theta: float, ln_delta: float) -> float:
        """Return w(theta), the part of delta that excludes theta from below.

        Parameters
        ----------
        theta : float
            In [0, 1].
        ln_delta : float

        Examples
        --------
        >>> tilt = Tilt(0.5, 100, 100, identical_rows=True)
        >>> [round(tilt.part_below(theta, math.log(0.05)), 2) for theta in (0.3, 0.5, 0.7)]
        [0.97, 0.5, 0.03]
        """
        rows = self.guess_rows
        g = (self.guess * rows + 1.0) / (rows + 2.0)
        ends = [(3.0 + 2.0 * g + sign * math.sqrt((3.0 + 2.0 * g) ** 2 - 16.0 * g)) / 8.0 for sign in (-1, 1)]
        t = min(max(theta, ends[0]), ends[1])
        wanted = (
            2.0 * math.sqrt(t * (1.0 - t)) * (g - t) / (math.sqrt(self.n) * _WIDER**2 * g * (1.0 - g) / rows)
        )

        def excess(part: float) -> float:
            sides = ln_delta + math.log(part), ln_delta + math.log1p(-part)
            return float(ndtri_exp(sides[0]) - ndtri_exp(sides[1])) - wanted

        ln_delta = min(ln_delta, -LN_2)
        if excess(_LEAST_PART) >= 0.0:
            return _LEAST_PART
        if excess(1.0 - _LEAST_PART) <= 0.0:
            return 1.0 - _LEAST_PART
        return root(excess, _LEAST_PART, 1.0 - _LEAST_PART, xtol=_XTOL, rtol=_RTOL)

    def _low_end(self, count: int, ln_delta: float) -> float:
        """Return a share below which every one is excluded, by at least so many ones."""
        if count == 0:
            return 0.0

        def excluded_below(part: float) -> float:
            side = min(ln_delta, -LN_2) + math.log(part)
            side = side if self.identical_rows else min(side, LN_MOST_SIDE)
            return binomial_low(count, self.n, side, self.identical_rows)

        def beyond(theta: float) -> float:  # rises: at larger shares less is excluded from below
            return theta - excluded_below(self.part_below(theta, ln_delta))

        least, most = excluded_below(_LEAST_PART), excluded_below(1.0 - _LEAST_PART)
        if beyond(least) >= 0.0:
            return least
        if beyond(most) <= 0.0:
            return most
        return root(beyond, least, most, xtol=least * _RTOL, rtol=_RTOL) * (1.0 - OUTWARDS)


@dataclass(frozen=True)
@checked_fields(guess="[0, 1]", guess_rows="> 0", n="count", variance="> 0")
class TiltedMean:
    """How a guess divides the failure probability of a mean of n rows in [0, 1].

    Parameters
    ----------
    guess : float
        The mean expected, in [0, 1].
    guess_rows : float
        Of how many rows it is a mean, positive.
    n : int
        Number of rows of the holdout, at least 1.
    variance : float
        Variance of one row, foreseen without these rows, positive.

    Examples
    --------
    >>> part_below = TiltedMean(0.1, 3000, 1000, 0.005).part_below(math.log(0.05))
    >>> part_below(np.array([0.09, 0.1, 0.11])).round(2).tolist()
    [0.97, 0.5, 0.03]
    """

    guess: float
    guess_rows: float
    n: int
    variance: float

    def part_below(self, ln_delta: float) -> Callable[[Array], Array]:
        """Return w as a function of means, at a level: linear between the points of a table.

        Parameters
        ----------
        ln_delta : float
            Logarithm of delta, at most 0.
        """
        ln_delta = min(ln_delta, -LN_2)
        wanted = ndtri_exp(ln_delta + np.log(_PARTS)) - ndtri_exp(ln_delta + np.log1p(-_PARTS))
        steepness = 2.0 * self.guess_rows / (_WIDER**2 * math.sqrt(self.n * self.variance))
        return lambda means: np.interp(steepness * (self.guess - means), wanted, _PARTS)


_PARTS = np.linspace(_LEAST_PART, 1.0 - _LEAST_PART, 95)


def tilted_by(guess: float, guess_rows: float) -> str:
    """Return what the theorem of a tilted interval says of the guess."""
    return f"{TILTED} {guess:.6g} from {guess_rows:.6g} rows"
