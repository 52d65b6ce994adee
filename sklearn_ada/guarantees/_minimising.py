"""The least half-width over free parameters; all of them are valid, so an inexact search costs only width."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import minimize, minimize_scalar

__all__ = ["NONE", "best_scale", "simplex_minimum"]

NONE = 1e9
"""A half-width where there is none: the simplex search subtracts values, so it cannot be infinite."""


def best_scale(
    half_width: Callable[[float], float], ln_low: float, ln_high: float, *, xatol: float = 1e-5
) -> float:
    """Return about the best positive parameter between two, given by their logarithms."""
    best = minimize_scalar(
        lambda x: half_width(math.exp(x)),
        bounds=(ln_low, ln_high), method="bounded", options={"xatol": xatol},
    )  # fmt: skip
    return math.exp(float(best.x))


def simplex_minimum(
    half_width: Callable[[np.ndarray[tuple[int], np.dtype[np.float64]]], float],
    start: Sequence[float],
    *,
    xatol: float = 1e-6,
    fatol: float = 1e-9,
    runs: int = 2,
) -> tuple[float, list[float]]:
    """Return the least half-width found by Nelder and Mead, and where; a restart frees a flat simplex."""
    least, at = NONE, list(start)
    for _ in range(runs):
        found = minimize(
            half_width, at, method="Nelder-Mead", options={"xatol": xatol, "fatol": fatol, "maxiter": 1000}
        )
        least, at = float(found.fun), [float(x) for x in found.x]
    return least, at
