r"""Fixed bets on a ratio of two means over the cells of a confusion matrix, centred within the classes.

The rows are independent given their classes, and the target is the population at their class mix. A row of
class y that is predicted as p has a numerator :math:`a` and a denominator :math:`b >= 0`, and the ratio is
``sum E a_i / sum E b_i``. An interval for it is by the fixed bets of
`sklearn_ada.guarantees.intervals.fixed_bets` on ``z = a - r b``.

Centring. What classes differ in is no noise, since their shares are given, but it would be paid for: the
inequality of the means loses it. So a constant :math:`g_y` is taken from the numerators of each class, with
``sum_c n_c g_c = 0``: the ratio is the same, and the bets are on what varies within the classes. It is the
mean of z within the class, at the ratio foreseen, as foreseen without these rows; if it is wrong, the
interval is wider, and still valid.

All rows with the same class and prediction are alike, so that n only matters as a number of counts.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_ada._checks import bad_parameter
from sklearn_ada.guarantees.intervals.fixed_bets import bet_sizes, lowest_ratio

__all__ = ["centred_interval", "centred_low_end", "check_tables", "laws_of"]

Table = NDArray[np.float64]


def centred_interval(
    numerator: Table,
    denominator: Table,
    counts: Table,
    expected: Table,
    ln_level: float,
    bracket: tuple[float, float],
) -> tuple[float, float]:
    """Return both ends of a ratio of means over a confusion matrix, each at the level given.

    Parameters
    ----------
    numerator, denominator : ndarray of shape (n_classes, n_classes)
        Of a row, by its class and prediction; no denominator is negative.
    counts, expected : ndarray of shape (n_classes, n_classes)
        Confusion matrices of the rows and of those by which centring and bets are chosen.
    ln_level : float
        Logarithm of the level of each side.
    bracket : tuple of float
        The ratio is known to be in it.

    Returns
    -------
    low, high : float
    """
    low = centred_low_end(numerator, denominator, counts, expected, ln_level, bracket)
    negated = (-bracket[1], -bracket[0])
    return low, -centred_low_end(-numerator, denominator, counts, expected, ln_level, negated)


def centred_low_end(
    numerator: Table,
    denominator: Table,
    counts: Table,
    expected: Table,
    ln_level: float,
    bracket: tuple[float, float],
    planned: Table | None = None,
) -> float:
    """Return the lower end of a ratio of means over a confusion matrix, at the level given.

    Parameters are those of `centred_interval`. Where the denominator depends on the rows, ``planned`` is one
    that does not: by it the bets are sized and centred.
    """
    sizes = counts.sum(axis=1)
    occupied = sizes > 0  # a class without rows has no outcomes
    sizes, n = sizes[occupied], float(sizes.sum())
    numerator, denominator = numerator[occupied], denominator[occupied]
    flat_denominator = denominator.ravel()
    if planned is not None:
        denominator = planned[occupied]
    laws = laws_of(expected)[occupied]
    top, bottom = (float(sizes @ (laws * side).sum(axis=1)) for side in (numerator, denominator))
    ratio = min(max(top / bottom, bracket[0]), bracket[1]) if bottom > 0.0 else bracket[0]
    gains = numerator - ratio * denominator
    means = (laws * gains).sum(axis=1)
    centres = means - sizes @ means / n
    centred = numerator - centres[:, None]
    within = (laws * np.square(gains - means[:, None])).sum(axis=1)
    variance = float(sizes @ within) / n
    # Ratios that the test will have to tell apart are about so far from the one foreseen.
    reach = math.sqrt(-2.0 * variance * ln_level / n) * n / bottom if bottom > 0.0 else 0.0
    largest = min(ratio + reach, bracket[1])
    most_lost = max(float(np.max(largest * denominator - centred)), 1e-9)
    known = float(expected.sum())
    variance = (known * variance + most_lost**2) / (known + 1.0)  # as if one more row had been at its worst
    bets = bet_sizes(round(n), ln_level, variance, most_lost)
    flat = (centred.ravel(), flat_denominator)
    return lowest_ratio(
        flat[0], flat[1], ln_level, bets=bets, corners=flat, bracket=bracket, counts=counts[occupied].ravel()
    )


def check_tables(confusion: ArrayLike, expected: ArrayLike, owner: str) -> tuple[Table, Table]:
    """Return the two confusion matrices as floats, or raise ValueError."""
    tables = []
    for name, given in (("confusion", confusion), ("expected", expected)):
        table = np.asarray(given, dtype=np.float64)
        if table.ndim != 2 or table.shape[0] != table.shape[1] or len(table) < 2:
            raise bad_parameter(name, owner, "a square matrix of at least two classes", table.shape)
        if not (np.isfinite(table).all() and (table >= 0.0).all() and table.sum() >= 1.0):
            raise bad_parameter(name, owner, "a matrix of counts, of at least one row", "others")
        tables.append(table)
    if not np.array_equal(tables[0], np.round(tables[0])):
        raise bad_parameter("confusion", owner, "a matrix of whole counts", "others")
    if tables[0].shape != tables[1].shape:
        raise bad_parameter("expected", owner, f"of shape {tables[0].shape}", tables[1].shape)
    return tables[0], tables[1]


def laws_of(expected: Table) -> Table:
    """Return the shares of the predictions in each class, as foreseen; where nothing is known, all alike.

    Examples
    --------
    >>> laws_of(np.array([[160.0, 40.0], [0.0, 0.0]])).tolist()
    [[0.8, 0.2], [0.5, 0.5]]
    """
    sizes = expected.sum(axis=1, keepdims=True)
    return np.where(sizes > 0.0, expected / np.where(sizes > 0.0, sizes, 1.0), 1.0 / len(expected))
