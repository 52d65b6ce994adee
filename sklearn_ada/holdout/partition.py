"""How a holdout is cut into disjoint subsamples: a fixed order of its rows, kept in few bytes."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["dealt_out", "shuffled_rows"]


def shuffled_rows(n: int, secret: bytes) -> NDArray[np.integer]:
    """Return the numbers of n rows in an order fixed by the secret: four bytes each below 2^31 rows.

    Examples
    --------
    >>> np.sort(shuffled_rows(5, b"secret"))
    array([0, 1, 2, 3, 4], dtype=int32)
    """
    seed = hmac.new(secret, b"partition", hashlib.sha256).digest()
    order: NDArray[np.integer] = np.arange(n, dtype=np.int32 if n < 2**31 else np.int64)
    np.random.default_rng(int.from_bytes(seed, "little")).shuffle(order)
    return order


def dealt_out(order: NDArray[np.integer], y: NDArray[Any], n_subsamples: int) -> NDArray[np.integer]:
    """Return subsamples (n_subsamples, t) with equal class counts, each class taken in the given order.

    Examples
    --------
    >>> dealt_out(np.arange(5), np.array(["a", "b", "a", "b", "a"]), 2)
    array([[0, 1],
           [2, 3]])
    """
    labels = y[order]
    shares = []
    for label in np.unique(y):
        rows = order[labels == label]
        size = len(rows) // n_subsamples
        shares.append(rows[: n_subsamples * size].reshape(n_subsamples, size))
    return np.concatenate(shares, axis=1)
