r"""The lower end for Matthews' correlation of three classes or more at given shares, by a tangent.

With shares t of the classes and p of the predictions, ``MCC = E(1(y = p_i) - t_{p_i}) / (s_t s_p)``, where
``s_t^2 = 1 - |t|^2`` and ``s_p^2 = 1 - |p|^2``. The second factor is concave in p. So it is at most its
tangent at any q, with :math:`A = 1 - |q|^2`,

.. math:: s_p \le T(p) = (1 - q \cdot p) / \sqrt{A},

which is a mean over rows: for MCC <= r and r >= 0 the terms ``1(y = p_i) - t_{p_i} - r s_t (1 -
q_{p_i})/sqrt(A)`` have a mean of at most 0, and fixed bets reject r
(`sklearn_ada.guarantees.intervals.fixed_bets`). Here q is what is foreseen of p. In the other direction, if
``|p - q| <= rho`` then ``T^2 - s_p^2 = |p - q|^2 + (q.(p - q))^2 / A <= rho^2 / A`` and ``T >= T_0 = (A -
|q| rho)/sqrt(A)``, so that

.. math:: s_p \ge T(p) - \eta, \qquad \eta = T_0 - \sqrt{T_0^2 - \rho^2 / A},

and for MCC >= r >= 0 the terms ``r s_t ((1 - q_{p_i})/sqrt(A) - eta) - 1(y = p_i) + t_{p_i}`` have a mean
of at most 0. Except with a probability d, ``rho = |p_hat - q| + 1/sqrt(n) + sqrt(ln(1/d)/n)`` will do: the
mean of ``|p_hat - p|`` is at most ``1/sqrt(n)``, and a row moves it by at most ``sqrt(2)/n`` (McDiarmid,
1989). The rho of the sample is then larger than the least that holds, and wealth falls in rho while the bets
are the same, so the test with it rejects only if a valid one does. The bets are sized and centred by a rho
that is foreseen.

An upper end is minus the lower end of -MCC, so what is left is which of the two tests a lower end comes
from. It is the first where the mean of ``1(y = p_i) - t_{p_i}`` is found to be positive at a tenth of the
side's level. If the coefficient is below 0, that happens falsely with a tenth of the level at most, d is
another tenth, and eight are for the second test; if it is not, only the first test can miss, which has the
whole level.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sklearn_ada.guarantees.intervals.of_metrics.centred_bets import centred_low_end, laws_of

__all__ = ["mcc_low_of_several_classes"]

_LN_TENTH = -math.log(10.0)
"""Of a side's level: for the sign, and for how far off the predictions' shares are."""

_LN_BETS = math.log1p(-0.2)

Table = NDArray[np.float64]


def mcc_low_of_several_classes(
    counts: Table, expected: Table, ln_level: float, *, sign: float = 1.0
) -> float:
    """Return the lower end for ``sign`` times Matthews' correlation, at the level given.

    Parameters
    ----------
    counts : ndarray of shape (n_classes, n_classes)
        How many rows have each class (first axis) and prediction (second); two classes or more have rows.
    expected : ndarray of shape (n_classes, n_classes)
        Of other rows, by which the tangent and the bets are chosen.
    ln_level : float
        Logarithm of the level, negative.
    sign : float, default=1.0
        1 or -1.

    Returns
    -------
    float
        In [-1, 1], rounded down.

    Examples
    --------
    >>> seen = np.array([[300.0, 20.0, 10.0], [20.0, 290.0, 10.0], [30.0, 20.0, 300.0]])
    >>> round(mcc_low_of_several_classes(seen, seen, math.log(0.025)), 4)  # the coefficient is .8359
    0.7904
    """
    n = float(counts.sum())
    shares = counts.sum(axis=1) / n
    numerator = sign * (np.eye(len(counts)) - shares)
    spread = math.sqrt(1.0 - float(shares @ shares))
    q = _foreseen(shares, expected)
    rest, norm = 1.0 - float(q @ q), float(np.sqrt(q @ q))
    tangent = spread * np.tile((1.0 - q) / math.sqrt(rest), (len(counts), 1))
    one = np.ones_like(tangent)
    if centred_low_end(numerator, one, counts, expected, ln_level + _LN_TENTH, (-1.0, 1.0)) > 0.0:
        return max(centred_low_end(numerator, tangent, counts, expected, ln_level, (0.0, 1.0)), 0.0)
    off = (1.0 + math.sqrt(-ln_level - _LN_TENTH)) / math.sqrt(n)
    seen = float(np.linalg.norm(counts.sum(axis=0) / n - q)) + off

    def slacked(distance: float) -> Table | None:
        """Return the tangent less eta; None where it is too far off for the wealth to fall in the ratio."""
        least = (rest - norm * distance) / math.sqrt(rest)
        if least <= 0.0 or least**2 <= distance**2 / rest:
            return None
        less: Table = tangent - spread * (least - math.sqrt(least**2 - distance**2 / rest))
        return less if less.min() >= 0.0 else None

    # These rows decide how far off the shares are, so they may not decide the bets, too.
    below, planned = slacked(seen), slacked(1.0 / math.sqrt(n) + off)
    if below is None or planned is None:
        return -1.0
    bracket = (-1.0, 0.0)
    return centred_low_end(numerator, below, counts, expected, ln_level + _LN_BETS, bracket, planned)


def _foreseen(shares: Table, expected: Table) -> Table:
    """Return what is foreseen of the shares of the predictions, at the class mix of the rows."""
    q = shares @ laws_of(expected)
    # Were only one class foreseen, the tangent would be vertical.
    return q if q.max() < 0.999 else 0.99 * q + 0.01 * shares
