"""Checks of arrays, random generators and saved states, before anything is drawn."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_ada._checks import bad_parameter

__all__ = ["as_floats", "check_generator", "check_indices", "check_state", "check_values", "describe"]


def describe(values: ArrayLike) -> str:
    """Return the form of an array for an error message: its contents may be the holdout's."""
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        return f"an array of shape {array.shape} and dtype {array.dtype}"
    bad = int(array.size - np.isfinite(array).sum())
    return f"an array of shape {array.shape} and dtype {array.dtype}, {bad} of it not finite"


def check_generator(rng: object, owner: str) -> np.random.Generator:
    """Return ``rng`` if it is a numpy Generator, or raise ValueError."""
    if isinstance(rng, np.random.Generator):
        return rng
    raise bad_parameter("rng", owner, "a numpy.random.Generator", rng)


def as_floats(values: ArrayLike, name: str, owner: str) -> NDArray[np.float64]:
    """Return ``values`` as an array of floats, or raise ValueError if they are no numbers."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise bad_parameter(name, owner, "an array of numbers", type(values).__name__) from None


def check_values(values: ArrayLike, name: str, owner: str) -> NDArray[np.float64]:
    """Return ``values`` as a non-empty one-dimensional array of finite floats, or raise ValueError."""
    expected = "a non-empty one-dimensional array of finite numbers"
    array = as_floats(values, name, owner)
    if array.ndim != 1 or array.size == 0 or not np.isfinite(array).all():
        raise bad_parameter(name, owner, expected, describe(array))
    return array


def check_indices(indices: ArrayLike, grid_size: int, owner: str) -> NDArray[np.int64]:
    """Return ``indices`` as a non-empty int64 array within ``0 .. grid_size - 1``, or raise ValueError."""
    array = np.asarray(indices)
    integral = array.ndim == 1 and array.size > 0 and array.dtype.kind in "iu"
    if not integral or array.min() < 0 or array.max() >= grid_size:
        expected = f"a non-empty one-dimensional array of integers in 0 .. {grid_size - 1}"
        raise bad_parameter("indices", owner, expected, describe(array))
    return array.astype(np.int64)


def check_state(state: object, keys: Collection[str], owner: str) -> dict[str, Any]:
    """Return ``state`` as a dict if it has exactly the given ``keys``, or raise ValueError."""
    if isinstance(state, dict) and set(state) == set(keys):
        return dict(state)
    got = sorted(state) if isinstance(state, dict) else type(state).__name__
    raise bad_parameter("state", owner, "what state() returned, with the keys " + ", ".join(keys), got)
