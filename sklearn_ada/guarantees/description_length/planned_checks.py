"""Expected half-widths of checks and certifies, for a plan before anything is asked.

A *check* confirms a guess, or says in which cell around it the holdout's value lies; a *certify* gives the
exact value.

Guesses are taken to be right but for sampling: the difference between the holdout's value and the guess is
normal. Some share of them may be wrong beyond that. Only the plan rests on this, never a certificate.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from sklearn_ada._checks import check_integer, check_real
from sklearn_ada.accounting.codes import Code
from sklearn_ada.accounting.polya_urn import urn_nats
from sklearn_ada.guarantees.description_length.cell_width import choose_half_cell, planned_ln_deltas
from sklearn_ada.guarantees.description_length.weights import CHECK_SHARE, ln_share, round_weight

__all__ = ["PlannedChecks", "plan_certifies", "plan_checks", "wilson_deviation"]

_NORMAL_NATS = 0.533  # mean of ln(1 + x^2) for a standard normal x


@dataclass(frozen=True)
class PlannedChecks:
    """Expected half-widths of k checks, and of one certify after them.

    Attributes
    ----------
    n_questions : int
        k.
    half_cell : float
        Half the width of a check's cells.
    surprise : float
        Chance that a guess does not hold.
    ln_check, ln_certify : float
        Logarithms of the failure probabilities of the last check and of the certify, with nothing revealed.
    code : Code
        What prices the answers.
    """

    n_questions: int
    half_cell: float
    surprise: float
    ln_check: float
    ln_certify: float
    code: Code

    def check(self, half_width: Callable[[float], float]) -> float:
        """Return the expected half-width of the last check, given the half-width at any ``ln delta``.

        Parameters
        ----------
        half_width : callable
            Takes ``ln delta`` and returns a float.
        """
        return self._expected(half_width, self.ln_check, self.n_questions - 1)

    def certify(self, half_width: Callable[[float], float]) -> float:
        """Return the expected half-width of the certify, given the half-width at any ``ln delta``.

        Parameters
        ----------
        half_width : callable
            Takes ``ln delta`` and returns a float.
        """
        return self._expected(half_width, self.ln_certify, self.n_questions)

    def _expected(self, half_width: Callable[[float], float], ln_delta: float, answers: int) -> float:
        """Between the half-widths at the whole numbers of surprises next to the expected one.

        Not at the expected price: most runs see no surprise, and pay for none.
        """
        expected = answers * self.surprise
        below = min(math.floor(expected), max(answers - 1, 0))
        nats = urn_nats(answers, np.minimum([below, below + 1], answers), self.code)
        low, high = (half_width(ln_delta - float(price)) for price in nats)
        return low + (expected - below) * (high - low)


def plan_checks(
    n_questions: int,
    standard_error: float,
    deviation: float,
    size: float,
    ln_beta: float,
    *,
    check_share: float = CHECK_SHARE,
    surprise_rate: float = 0.0,
    code: Code | None = None,
) -> PlannedChecks:
    """Return the expected half-widths of k checks of a holdout that was opened for k.

    Parameters
    ----------
    n_questions : int
        k, at least 1.
    standard_error : float
        Of the difference between the holdout's value and the guess, positive.
    deviation, size : float
        Standard deviation of one record, and how many records there are: what intervals work with.
    ln_beta : float
        Logarithm of the failure probability of the whole conversation, below 0.
    check_share : float, default=0.1
        Part of the failure probability that belongs to checks, in (0, 1).
    surprise_rate : float, default=0.0
        Share of guesses that are off by more than sampling explains, by one cell, in [0, 1].
    code : Code, optional
        By default that of a new ledger.

    Returns
    -------
    PlannedChecks

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> plan = plan_checks(1000, 0.005, 0.36, 10_000, math.log(0.05))
    >>> round(plan.half_cell, 3), plan.surprise < 0.0001
    (0.021, True)
    """
    owner = "plan_checks"
    k = check_integer(n_questions, "n_questions", owner)
    error = check_real(standard_error, "standard_error", owner, low=0.0)
    deviation = check_real(deviation, "deviation", owner, low=0.0, closed="low")
    rate = check_real(surprise_rate, "surprise_rate", owner, low=0.0, high=1.0, closed="both")
    ln_beta = check_real(ln_beta, "ln_beta", owner, high=0.0)
    code = code or Code()
    ln_check, ln_certify = planned_ln_deltas(ln_beta, check_share, k)
    half_cell = choose_half_cell(k, error, deviation, size, ln_check, ln_certify, code)
    surprise = rate + (1.0 - rate) * 2.0 * float(ndtr(-half_cell / error))
    return PlannedChecks(k, half_cell, surprise, ln_check, ln_certify, code)


def plan_certifies(
    n_questions: int,
    scale: float,
    ln_beta: float,
    *,
    check_share: float = CHECK_SHARE,
    code: Code | None = None,
) -> float:
    """Return ``ln delta`` of the last of k certifies of one ledger, after the price of those before it.

    A certify releases the exact value, by a Cauchy code centred at its guess: ``ln(pi scale) + ln(1 + x^2)``
    nats for a value that is x scales off, about a standard normal.

    Parameters
    ----------
    n_questions : int
        k, at least 1.
    scale : float
        Standard error of the value's difference from the guess, in cells: for a share, in records. Positive.
    ln_beta : float
        Logarithm of the failure probability of the whole conversation, below 0.
    check_share : float, default=0.1
        Part of the failure probability that belongs to checks, in (0, 1).
    code : Code, optional
        By default that of a new ledger.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(plan_certifies(1, 50.0, math.log(0.05)), 2), round(plan_certifies(10, 50.0, math.log(0.05)), 2)
    (-3.32, -59.53)
    """
    owner = "plan_certifies"
    k = check_integer(n_questions, "n_questions", owner)
    scale = max(check_real(scale, "scale", owner, low=0.0), 0.5)  # no code expects less than half a cell
    ln_beta = check_real(ln_beta, "ln_beta", owner, high=0.0)
    price = math.log(math.pi * scale) + _NORMAL_NATS - math.log1p(-(code or Code()).failure_mass)
    weight = math.log(round_weight("certify", k - 1, 1))
    return ln_beta + ln_share("certify", check_share) + weight - (k - 1) * price


def wilson_deviation(value: float, size: float) -> float:
    """Return the standard deviation of one 0/1 record behind a share, which may be near 0 or 1 by luck.

    At Wilson's centre, four standard errors towards 1/2; no variable in [0, 1] with such a mean has more.

    Parameters
    ----------
    value : float
        The share seen, in [0, 1].
    size : float
        How many records it is the mean of, positive.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(wilson_deviation(0.85, 1000), 4), round(wilson_deviation(1.0, 1000), 4)
    (0.3624, 0.0884)
    """
    value = check_real(value, "value", "wilson_deviation", low=0.0, high=1.0, closed="both")
    size = check_real(size, "size", "wilson_deviation", low=0.0)
    centre = (value * size + 8.0) / (size + 16.0)
    return math.sqrt(centre * (1.0 - centre))
