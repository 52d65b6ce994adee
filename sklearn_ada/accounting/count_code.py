"""The code of counts around a guess: how likely each cell, or each single count, is taken to be.

The holdout's count is expected at n times the guess, with the standard error tau that sampling the holdout
and the guess's own rows explains. Of the mass that failures leave, 99 % lie as a Student law of 30 degrees of
freedom, whose tails are those of a normal law but for models a little worse than their guesses, and 1 % as a
Cauchy law of three times the width, so that a guess that is far off costs two nats for every factor e of
distance. A cell has the mass between its borders, half a count outside its first and its last count, so cells
that do not overlap never have more than 1 in all, whatever their widths.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import stdtr

from sklearn_ada._checks import bad_parameter, check_integer, check_real
from sklearn_ada.accounting.codes import FAILURE_MASS, arctan_difference
from sklearn_ada.events import FAILURES, MOST_OFFSET, CountSymbol

__all__ = ["CountCode", "ln_count_prior"]

_FREEDOM = 30.0
_CAUCHY_SHARE = 0.01
_CAUCHY_SCALE = 3.0


@dataclass(frozen=True)
class CountCode:
    """A mixture of a Student and a Cauchy law on the integers, and a little mass for failures.

    Parameters
    ----------
    centre : float
        The count expected, n times the guess; it need not be whole.
    tau : float
        The standard error of the count around it, positive.
    failure_mass : float, default=FAILURE_MASS
        Mass of all `sklearn_ada.events.FAILURES` together, in (0, 1).

    Examples
    --------
    >>> code = CountCode(centre=425.6, tau=9.2)
    >>> round(-code.ln_mass(403, 448), 4), round(-code.ln_mass(357, 402), 2)
    (0.0248, 4.58)
    """

    centre: float
    tau: float
    failure_mass: float = FAILURE_MASS

    def __post_init__(self) -> None:
        check_real(self.centre, "centre", "CountCode", low=-MOST_OFFSET, high=MOST_OFFSET)
        check_real(self.tau, "tau", "CountCode", low=0.0)
        check_real(self.failure_mass, "failure_mass", "CountCode", low=0.0, high=1.0)

    def ln_mass(self, low_count: int, high_count: int) -> float:
        """Return the logarithm of the mass of all integers from ``low_count`` to ``high_count``.

        Integers that no count can be (below 0, above n) have mass as well.

        Parameters
        ----------
        low_count, high_count : int
            Both ends belong to the range.
        """
        return math.log1p(-self.failure_mass) + self._ln_between(low_count, high_count, "CountCode.ln_mass")

    def ln_failure(self) -> float:
        """Return the logarithm of the mass of one way to fail.

        Examples
        --------
        >>> round(-CountCode(425.6, 9.2).ln_failure(), 2)
        8.85
        """
        return math.log(self.failure_mass / len(FAILURES))

    def ln_within(self, count: int, low_count: int, high_count: int) -> float:
        """Return the log mass of one count where it is known to be from ``low_count`` to ``high_count``.

        ``ln[(1 - e0) w(count) / sum of w]``, w the mass of a single count and e0 that of failures: the masses
        of the counts of the range and of all failures sum to 1.

        Parameters
        ----------
        count : int
            In the range.
        low_count, high_count : int
            Both ends belong to the range.

        Examples
        --------
        >>> code = CountCode(centre=425.6, tau=9.2)
        >>> round(-code.ln_within(426, 403, 448), 2), code.ln_within(426, 426, 426) > -0.0011
        (3.13, True)
        """
        owner = "CountCode.ln_within"
        count = check_integer(count, "count", owner, low=-MOST_OFFSET)
        if not low_count <= count <= high_count:
            raise bad_parameter("count", owner, f"an integer from {low_count} to {high_count}", count)
        share = self._ln_between(count, count, owner) - self._ln_between(low_count, high_count, owner)
        return math.log1p(-self.failure_mass) + min(share, 0.0)

    def _ln_between(self, low_count: int, high_count: int, owner: str) -> float:
        low_count = check_integer(low_count, "low_count", owner, low=-MOST_OFFSET, high=MOST_OFFSET)
        high_count = check_integer(high_count, "high_count", owner, low=low_count, high=MOST_OFFSET)
        low, high = (low_count - 0.5 - self.centre) / self.tau, (high_count + 0.5 - self.centre) / self.tau
        student = float(stdtr(_FREEDOM, high) - stdtr(_FREEDOM, low))  # far out all mass is the other law's
        wide = _CAUCHY_SCALE * self.tau
        angle = arctan_difference(
            low / _CAUCHY_SCALE, high / _CAUCHY_SCALE, (high_count - low_count + 1) / wide
        )
        return math.log((1.0 - _CAUCHY_SHARE) * max(student, 0.0) + _CAUCHY_SHARE * angle / math.pi)


def ln_count_prior(symbol: CountSymbol) -> float:
    """Return the log probability of a symbol about a count, before an urn has learnt from others.

    Examples
    --------
    >>> round(-ln_count_prior(CountSymbol("winner", 0, 403, 46, 425.6, 9.2)), 4)
    0.0248
    >>> round(-ln_count_prior(CountSymbol("unsealed", 426, 403, 46, 425.6, 9.2)), 3)
    3.133
    """
    code = CountCode(symbol.centre, symbol.tau)
    if isinstance(symbol.value, str):
        return code.ln_failure()
    last = symbol.first + symbol.width - 1
    if symbol.stream == "unsealed":
        return code.ln_within(symbol.value, symbol.first, last)
    shift = symbol.value * symbol.width
    return code.ln_mass(symbol.first + shift, last + shift)
