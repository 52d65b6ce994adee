"""How wide the cells of a check should be: they are fixed before the holdout is looked at.

Wide cells rarely surprise but say little; narrow cells say more but each surprise costs nats that widen
every later interval, above all that of the model which is kept in the end.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import poisson

from sklearn_ada._checks import check_integer, check_real
from sklearn_ada._constants import LN_2
from sklearn_ada.accounting.codes import Code
from sklearn_ada.accounting.polya_urn import urn_nats
from sklearn_ada.guarantees.description_length.weights import ln_share, round_weight

__all__ = ["choose_half_cell", "planned_ln_deltas", "planned_questions"]

_MULTIPLES = np.linspace(1.0, 7.0, 121)  # half cell in standard errors of (holdout - guess)
_SURPRISES = np.arange(41)
_CERTIFY_WEIGHT = 3.0


@lru_cache(maxsize=4096)
def choose_half_cell(
    n_questions: int,
    standard_error: float,
    interval_deviation: float,
    size: float,
    ln_delta: float,
    ln_delta_certify: float,
    code: Code,
) -> float:
    """Return the half cell h that serves the last check and the certify after it best.

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
        Standard deviation per record that the interval will work with.
    size : float
        Independent records behind the interval.
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
    n_questions = check_integer(n_questions, "n_questions", "choose_half_cell")
    standard_error = check_real(standard_error, "standard_error", "choose_half_cell", low=0.0)
    deviation = check_real(
        interval_deviation, "interval_deviation", "choose_half_cell", low=0.0, closed="low"
    )
    size = check_real(size, "size", "choose_half_cell", low=0.0)
    ln_delta = check_real(ln_delta, "ln_delta", "choose_half_cell", high=0.0)
    ln_delta_certify = check_real(ln_delta_certify, "ln_delta_certify", "choose_half_cell", high=0.0)

    half_cells = _MULTIPLES * standard_error
    chance, nats = _surprises(n_questions, code)
    half_widths = sum(
        weight * deviation * np.sqrt(2.0 * (LN_2 - delta + nats) / size)
        for weight, delta in ((1.0, ln_delta), (_CERTIFY_WEIGHT, ln_delta_certify))
    )
    cost = half_cells + chance @ half_widths
    return float(f"{half_cells[int(np.argmin(cost))]:.3g}")


@lru_cache(maxsize=64)  # the same for all questions of a holdout
def _surprises(n_questions: int, code: Code) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how likely each number of surprises is, for every width of the cells, and what it costs."""
    expected = n_questions * 2.0 * ndtr(-_MULTIPLES)
    chance = np.asarray(poisson.pmf(_SURPRISES, expected[:, None]), dtype=np.float64)
    # More surprises than the list holds: count them at its end, where such cells lose anyway.
    chance[:, -1] += 1.0 - chance.sum(axis=1)
    return chance, urn_nats(n_questions, np.minimum(_SURPRISES, n_questions), code)


def planned_ln_deltas(
    ln_beta: float, check_share: float, expected_questions: int | None
) -> tuple[float, float]:
    """Return ``ln delta`` of the last expected check and of the first certify, with nothing revealed.

    Parameters
    ----------
    ln_beta : float
        Logarithm of beta.
    check_share : float
        Part of beta that belongs to checks, in (0, 1).
    expected_questions : int or None
        About how many are expected; None where nobody says.

    Examples
    --------
    >>> check, certify = planned_ln_deltas(math.log(0.05), 0.1, 100)
    >>> round(math.exp(check), 9), round(math.exp(certify), 6)
    (4e-05, 0.036)
    """
    last = planned_questions(expected_questions) - 1
    check = ln_share("check", check_share) + math.log(round_weight("check", last, 1, expected_questions))
    certify = ln_share("certify", check_share) + math.log(round_weight("certify", 0, 1))
    return ln_beta + check, ln_beta + certify


def planned_questions(expected_questions: int | None) -> int:
    """Return how many checks to plan for: 300 where the user does not say.

    Parameters
    ----------
    expected_questions : int or None
        About how many are expected; None where nobody says.

    Examples
    --------
    >>> planned_questions(None), planned_questions(20)
    (300, 20)
    """
    return 300 if expected_questions is None else expected_questions
