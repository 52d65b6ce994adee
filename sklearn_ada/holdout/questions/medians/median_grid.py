"""The grid to which the values of a stable median are rounded, and from which the median is drawn.

It is the asker's own, or laid around the guess, or evenly over the metric's range.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from sklearn_ada._checks import bad_parameter
from sklearn_ada.guarantees.medians.exact_median import DRAWN_POINTS, MEDIAN_DEVIATION
from sklearn_ada.holdout.questions.guess import Guess
from sklearn_ada.holdout.questions.medians.median_settings import MedianSettings
from sklearn_ada.holdout.terms.policy import GRID_POINTS, Policy
from sklearn_ada.mechanisms.rounding.grid import Grid, UniformGrid
from sklearn_ada.metrics import Metric
from sklearn_ada.metrics.registry import WITH_INTERVAL

__all__ = ["MedianGrid", "lay_grid", "open_levels", "rounding", "spread_of"]

_EXACT_POINTS = 20_001  # of an exact median: its price does not depend on them, so it reaches far
# One error is the standard error of the median less the guess.
_STEPS_AN_ERROR = 10.0  # of an exact certify: finer would cost more and say no more
_NOISE_IN_ERRORS = 3.0  # about, of a certify that is drawn with noise; so its steps are whole errors


class MedianGrid(NamedTuple):
    """A grid, and what the code of its points expects.

    Attributes
    ----------
    grid : Grid
    scale : float
        How many steps from the guess the median is expected; 0 for a check whose grid is around the guess.
    centred : bool
        Whether the grid is laid around the guess, with a step made of its error.
    """

    grid: Grid
    scale: float
    centred: bool


def lay_grid(
    purpose: str,
    metric: Metric,
    guess: Guess | None,
    n_subsamples: int,
    units_each: int,
    policy: Policy,
    settings: MedianSettings,
) -> MedianGrid:
    """Return the grid of a median; it does not depend on the holdout's values.

    ``units_each`` is how many records (or groups) each of the ``n_subsamples`` subsamples has.
    """
    if isinstance(settings.grid, Grid):
        return _wide(settings.grid)
    if guess is not None and guess.deviation is not None:
        spread = spread_of(guess, metric, units_each)
        return _around(guess, spread, n_subsamples, policy, purpose, settings.method)
    if metric.range is not None:
        return _wide(UniformGrid(*metric.range, GRID_POINTS))
    is_mean = metric.string in WITH_INTERVAL
    range_of_it = f"declare its range, Metric({metric.name!r}, range=(low, 0)), " if is_mean else ""
    raise bad_parameter(
        "grid",
        "MedianSettings",
        f"given for {metric.name}, which has no finite range, unless the guess comes from rows",
        settings.grid,
        f"Take the guess from validation rows, guess_from=(X_val, y_val), {range_of_it}or ask with "
        "settings=MedianSettings(grid=sklearn_ada.mechanisms.UniformGrid(low, high, size)).",
    )


def spread_of(guess: Guess, metric: Metric, units_each: int) -> float:
    """Return the standard deviation of the metric on one subsample that the guess suggests.

    Where all validation subsamples scored the same (a model fitted on them is perfect on each), they do not
    say how much the holdout's will vary. Then it is what one record of a subsample can change.
    """
    assert guess.deviation is not None
    size = max(abs(guess.value), 1e-3)
    if guess.deviation > 1e-6 * size:
        return guess.deviation
    low, high = metric.range or (0.0, size)
    return (high - low) / units_each


def rounding(grid: Grid) -> str:
    """Return in words what the values of the subsamples are rounded to, for the target."""
    if isinstance(grid, UniformGrid):
        return f"rounded to steps of {grid.value(1) - grid.value(0):.3g}"
    return "rounded to the points of its grid"


def open_levels(level: float, index: int, grid: Grid, bounds: tuple[float, float]) -> tuple[float, float]:
    """Return the levels of the quantiles of the rounded values between which a grid point is.

    They are ``level`` and ``1 - level`` inside the grid. Values beyond an end of the grid were moved to that
    end, so on that side nothing is known of it, unless the metric's range ends there too.
    """
    below_all = index == 0 and grid.value(0) > bounds[0]
    above_all = index == grid.size - 1 and grid.value(index) < bounds[1]
    return (0.0 if above_all else level), (1.0 if below_all else 1.0 - level)


def _wide(grid: Grid) -> MedianGrid:
    """Return a grid that is not laid around the guess; the code expects medians far from its centre."""
    return MedianGrid(grid, max(grid.size / 50.0, 1.0), centred=False)


def _around(
    guess: Guess, spread: float, n_subsamples: int, policy: Policy, purpose: str, method: str
) -> MedianGrid:
    """Return a grid around the guess; a check's steps are so wide that the median mostly rounds to it."""
    m = float(n_subsamples)
    error = MEDIAN_DEVIATION * spread * math.sqrt(1.0 / m + 1.0 / max(guess.size or m, 1.0))
    if purpose == "check":
        half_cell, scale = policy.half_cell(error, MEDIAN_DEVIATION * spread, m), 0.0
        points = _EXACT_POINTS if method == "exact" else DRAWN_POINTS
    elif method == "exact":
        half_cell, scale, points = error / (2.0 * _STEPS_AN_ERROR), _STEPS_AN_ERROR, _EXACT_POINTS
    else:
        half_cell, scale, points = error / 2.0, _NOISE_IN_ERRORS, GRID_POINTS
    reach = half_cell * (points - 1)
    return MedianGrid(UniformGrid(guess.value - reach, guess.value + reach, points), scale, centred=True)
