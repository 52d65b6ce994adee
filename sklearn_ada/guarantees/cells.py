"""Cells of a check, and what checks, certifies and searches in cells will be worth: plans.

A *check* confirms a guess, or says in which cell around it the holdout's value lies; a *certify* gives the
exact value. Cells are fixed before the holdout is looked at. Wide cells rarely surprise but say little;
narrow cells say more but each surprise costs nats that widen every later interval, above all that of the
model which is kept in the end: `choose_half_cell` weighs these.

Guesses are taken to be right but for sampling: the difference between the holdout's value and the guess is
normal. Some share of them may be wrong beyond that. Only plans rest on this, never a certificate. What is
expected lies between the half-widths at the whole numbers of surprises next to the expected one, not at the
expected price: most runs see no surprise, and pay for none.

Each search that is answered in cells ends with one winner: its count lies in the guess's cell with
probability .975 at first and more later, as cells widen, which costs some hundredths of a nat, and else costs
about five. What is planned is the last
of k winners, the widest (`PlannedCells`): its cell while searching, by description length and by the
transcript as a test; its exact value, unsealed when the holdout is closed, or published.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln, ndtr
from scipy.stats import poisson

from sklearn_ada._validation import LN_2, checked, checked_fields
from sklearn_ada.accounting.codes import URN_WEIGHT, Code, CountCode, urn_nats
from sklearn_ada.guarantees import description_length
from sklearn_ada.guarantees.description_length import CHECK_PART, SEALED_PART, TRANSCRIPT_PART, Purse
from sklearn_ada.mechanisms.rounding import winner_width

__all__ = ["PlannedChecks", "choose_half_cell", "plan_certifies", "plan_checks"]

HalfWidth = Callable[[float, float], float]

_MULTIPLES = np.linspace(1.0, 7.0, 121)  # half cell in standard errors of (holdout - guess)
_SURPRISES = np.arange(41)
_CERTIFY_FACTOR = 3.0
_FINE = 10_000.0  # points to a standard error
_NORMAL_NATS = 0.533  # mean of ln(1 + x^2) for a standard normal x


@lru_cache(maxsize=4096)
@checked(
    n_questions="count",
    standard_error="> 0",
    interval_deviation=">= 0",
    size="> 0",
    ln_delta="< 0",
    ln_delta_certify="< 0",
)
def choose_half_cell(
    n_questions: int,
    standard_error: float,
    interval_deviation: float,
    size: float,
    ln_delta: float,
    ln_delta_certify: float,
    code: Code,
) -> float:
    """Return the best half cell for the last check and the certify after it.

    Minimises ``h + w(check) + 3 w(certify)``, the expected half-widths of the last check and of one
    certify after it; the certify counts more, as it is the number that is reported.

    The number of surprises among ``n_questions`` is taken as Poisson, with the chance that a normal
    variable exceeds h; each is priced by the urn of ``code``. Rounded to three digits, so that
    it is the same on every machine. Only efficiency depends on these assumptions, never validity.

    Parameters
    ----------
    n_questions : int
        Checks expected in all.
    standard_error : float
        Of the difference between the holdout's value and the guess.
    interval_deviation : float
        Standard deviation per row that the interval will work with.
    size : float
        Independent rows behind the interval.
    ln_delta : float
        Of the last check, with nothing revealed yet.
    ln_delta_certify : float
        Of the certify, with nothing revealed yet.
    code : Code

    Examples
    --------
    >>> h = choose_half_cell(100, 0.005, 0.36, 10_000, math.log(0.05 * 0.5 / 100), math.log(0.04), Code())
    >>> 0.015 < h < 0.020
    True
    """
    half_cells = _MULTIPLES * standard_error
    chance, nats = _surprises(n_questions, code)
    half_widths = sum(
        factor * interval_deviation * np.sqrt(2.0 * (LN_2 - delta + nats) / size)
        for factor, delta in ((1.0, ln_delta), (_CERTIFY_FACTOR, ln_delta_certify))
    )
    return float(f"{half_cells[int(np.argmin(half_cells + chance @ half_widths))]:.3g}")


@checked(n_questions="count", standard_error="> 0", deviation=">= 0", ln_beta="< 0", surprise_rate="[0, 1]")
def plan_checks(
    n_questions: int,
    standard_error: float,
    deviation: float,
    size: float,
    ln_beta: float,
    *,
    check_share: float = CHECK_PART,
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
        Standard deviation of one row, and how many rows there are: what intervals work with.
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
    code = code or Code()
    ln_check, ln_certify = description_length.planned_ln_deltas(ln_beta, check_share, n_questions)
    half_cell = choose_half_cell(n_questions, standard_error, deviation, size, ln_check, ln_certify, code)
    surprise = surprise_rate + (1.0 - surprise_rate) * 2.0 * float(ndtr(-half_cell / standard_error))
    return PlannedChecks(n_questions, half_cell, surprise, ln_check, ln_certify, code)


@checked(n_questions="count", scale="> 0", ln_beta="< 0")
def plan_certifies(
    n_questions: int,
    scale: float,
    ln_beta: float,
    *,
    check_share: float = CHECK_PART,
    code: Code | None = None,
) -> float:
    """Return ``ln delta`` of the last of k certifies of one ledger.

    A certify releases the exact value, and every later one pays for it, by a Cauchy code centred at its
    guess: ``ln(pi scale) + ln(1 + x^2)`` nats for a value that is x scales off, about a standard normal.

    Parameters
    ----------
    n_questions : int
        k, at least 1.
    scale : float
        Standard error of the value's difference from the guess, in cells: for a share, in rows. Positive.
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
    scale = max(scale, 0.5)  # no code expects less than half a cell
    price = math.log(math.pi * scale) + _NORMAL_NATS - math.log1p(-(code or Code()).failure_mass)
    return certify_level(n_questions, ln_beta, check_share) - (n_questions - 1) * price


def certify_level(n_questions: int, ln_beta: float, check_share: float = CHECK_PART) -> float:
    """Return ``ln delta`` of the last of k certifies, with nothing revealed before."""
    ln_stake = math.log(description_length.round_weight("certify", n_questions - 1, 1))
    return ln_beta + description_length.ln_share("certify", check_share) + ln_stake


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
        def at(surprises: int) -> float:
            return half_width(ln_delta - float(urn_nats(answers, np.array([surprises]), self.code)[0]))

        return _expected(answers, self.surprise, at)


@dataclass(frozen=True)
@checked_fields(n_searches="count", ln_beta="< 0", surprise_rate="[0, 1]")
class PlannedCells:
    """Expected half-widths of the last of k winners.

    Every method takes a function of ``ln delta`` and of half a cell, in standard errors of a guess (0 where
    the value itself is released), that returns the half-width of an interval at this level.

    Parameters
    ----------
    n_searches : int
        k, at least 1.
    ln_beta : float
        Logarithm of the failure probability of the whole conversation, below 0.
    surprise_rate : float, default=0.0
        Share of guesses that are off by more than sampling explains, by one cell, in [0, 1].
    shares : tuple of float, default=(0.8, 0.2)
        Parts of the failure probability: of description length, and of the transcript theorem.

    Examples
    --------
    >>> plan = PlannedCells(9, math.log(0.05))
    >>> gaussian = lambda ln_delta, cells: math.sqrt(-2.0 * ln_delta) + 1.15 * cells
    >>> [round(each(gaussian), 1) for each in (plan.coarse, plan.unsealed, plan.published)]
    [6.1, 4.3, 2.9]
    """

    n_searches: int
    ln_beta: float
    surprise_rate: float = 0.0
    shares: tuple[float, float] = (SEALED_PART, TRANSCRIPT_PART)

    @property
    def surprise(self) -> float:
        """Chance that one of the winners before the last is not in its guess's cell, in the mean."""
        before = max(self.n_searches - 1, 1)
        of_all = float(digamma(before + 4.0) - digamma(4.0)) / 10.0  # the sum of 2 (1 - Phi(c_j))
        return min(of_all / before + self.surprise_rate, 1.0)

    def coarse(self, half_width: HalfWidth) -> float:
        """Return the half-width of the last winner's coarse answer, if its guess holds."""
        ln_transcript = self.ln_beta + math.log(self.shares[1]) + LN_2  # each of its sides has that part

        def at(before: float, after: float) -> float:
            ln_deltas = self._ln_asked - before, ln_transcript - after
            return min(half_width(min(ln_delta, 0.0), self._half_cell) for ln_delta in ln_deltas)

        return self._expected(at)

    def unsealed(self, half_width: HalfWidth) -> float:
        """Return the half-width of its exact value, released after all questions.

        Its failure probability is that of its asking.
        """
        return self._expected(lambda before, after: half_width(self._ln_asked - before, 0.0))

    def published(self, half_width: HalfWidth) -> float:
        """Return the half-width of its exact value, published at the end."""
        stake, _ = Purse().after(self.n_searches).final()
        ln_final, ln_asked = self._ln_sealed + math.log(stake), self._ln_asked
        return self._expected(lambda before, after: half_width(max(ln_final - after, ln_asked - before), 0.0))

    @property
    def _half_cell(self) -> float:
        return winner_width(self.n_searches)

    @property
    def _ln_sealed(self) -> float:
        return self.ln_beta + math.log(self.shares[0])

    @property
    def _ln_asked(self) -> float:
        """Level of the last winner's asking, with nothing revealed before."""
        stake, _ = Purse().after(self.n_searches - 1).question()
        return self._ln_sealed + math.log(stake)

    def _expected(self, half_width: Callable[[float, float], float]) -> float:
        """Return a half-width's expectation, from the nats before the last winner and with it."""
        before = self.n_searches - 1  # all surprises come before the last winner

        def at(surprises: int) -> float:
            of_cells = partial(_nats, surprises=surprises, half_cell=self._half_cell)
            return half_width(of_cells(before), of_cells(before + 1))

        return _expected(before, self.surprise, at)


@lru_cache(maxsize=64)  # the same for all questions of a holdout
def _surprises(n_questions: int, code: Code) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the distribution of the number of surprises, and their price.

    There is one distribution for each width that cells may have.
    """
    expected = n_questions * 2.0 * ndtr(-_MULTIPLES)
    chance = np.asarray(poisson.pmf(_SURPRISES, expected[:, None]), dtype=np.float64)
    # More surprises than the list holds: count them at its end, where such cells lose anyway.
    chance[:, -1] += 1.0 - chance.sum(axis=1)
    return chance, urn_nats(n_questions, np.minimum(_SURPRISES, n_questions), code)


def _expected(answers: int, surprise: float, half_width: Callable[[int], float]) -> float:
    """Return a half-width's expectation over the number of surprises."""
    expected = answers * surprise
    few = min(math.floor(expected), max(answers - 1, 0))
    low, high = (half_width(min(number, answers)) for number in (few, few + 1))
    return low + (expected - few) * (high - low)


def _nats(answers: int, *, surprises: int, half_cell: float) -> float:
    """Return the price of the winners of searches, some of them surprises.

    A surprise is in a cell next to that of its guess; all have the width of the last.
    """
    code = CountCode(-0.5, _FINE)
    half = round(_FINE * half_cell)
    agrees, differs = code.ln_mass(-half, half - 1), code.ln_mass(half, 3 * half - 1)
    cells = (agrees, answers - surprises), (differs, surprises - surprises // 2), (differs, surprises // 2)
    seen = sum(_rising(URN_WEIGHT * math.exp(ln_mass), count) for ln_mass, count in cells)
    return max(_rising(URN_WEIGHT, answers) - seen, 0.0)


def _rising(start: float, count: int) -> float:
    """Return ``ln(start (start + 1) ... (start + count - 1))``."""
    return float(gammaln(start + count) - gammaln(start))
