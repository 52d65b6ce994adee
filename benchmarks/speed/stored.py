"""Models that return predictions made beforehand, so that nothing but the asking takes time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["StoredPredictions", "labels", "row_numbers", "variants"]


class StoredPredictions:
    """A model of one data set, whose rows are their numbers: it returns what is stored, without a copy."""

    classes_ = np.array([0, 1])

    def __init__(self, predictions: NDArray[Any]) -> None:
        self.predictions = predictions

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the stored predictions of some rows that follow each other."""
        first = int(X[0, 0])
        return self.predictions[first : first + len(X)]

    decision_function = predict


def row_numbers(n: int) -> NDArray[np.int32]:
    """Return the rows of a data set for `StoredPredictions`."""
    return np.arange(n, dtype=np.int32)[:, None]


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
