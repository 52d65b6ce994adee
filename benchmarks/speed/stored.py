"""Models that return predictions made beforehand, so that nothing but the asking takes time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["StoredPredictions", "labels", "variants"]


class StoredPredictions:
    """A model of one data set: whatever it is shown, it returns what is stored."""

    def __init__(self, predictions: NDArray[Any]) -> None:
        self.predictions = predictions

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the stored predictions."""
        return self.predictions


def labels(n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return n labels of two classes."""
    return rng.integers(0, 2, n)


def variants(y: NDArray[np.int64], rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """Yield predictions that are right on about 0.8 of the rows, each different from all before."""
    first = np.where(rng.random(len(y)) < 0.8, y, 1 - y)
    while True:
        changed = rng.integers(0, len(y), 64)
        predictions = first.copy()
        predictions[changed] ^= 1
        yield predictions
