"""How a holdout is cut into disjoint subsamples, for stable medians: a secret, fixed order of its rows."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["dealt_out", "shuffled_rows", "whole_groups"]


def shuffled_rows(n: int, secret: bytes) -> NDArray[np.integer]:
    """Return the numbers of n rows in an order fixed by the secret, as 32-bit integers where that is enough.

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
    """Return subsamples with equal class counts, as row numbers of shape (n_subsamples, t).

    The rows of each class are taken in the given order.

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


def whole_groups(groups: NDArray[np.integer], group_of: NDArray[np.int64]) -> list[NDArray[np.integer]]:
    """Return the rows of each subsample; row i of the matrix ``groups`` has the groups of subsample i.

    Examples
    --------
    >>> whole_groups(np.array([[2, 0], [1, 3]]), np.array([0, 0, 1, 2, 3, 3]))
    [array([3, 0, 1]), array([2, 4, 5])]
    """
    order = np.argsort(group_of, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(group_of))[:-1])
    return [np.concatenate([members[group] for group in some]) for some in groups]
