"""How a holdout is cut into disjoint subsamples, for stable medians: a secret, fixed order of its rows."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["cut", "dealt_out", "shuffled_rows", "size_of_subsamples", "whole_groups"]


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


def size_of_subsamples(counts: NDArray[np.integer[Any]], n_subsamples: int) -> int:
    """Return how many rows each of so many subsamples has; what cannot be divided evenly is left out.

    Parameters
    ----------
    counts : ndarray of int
        How many rows there are: of each class where subsamples have equal class counts, else of all.
    n_subsamples : int

    Examples
    --------
    >>> size_of_subsamples(np.array([100]), 7), size_of_subsamples(np.array([60, 40]), 7)
    (14, 13)
    """
    return int((counts // n_subsamples).sum())


def cut(order: NDArray[np.integer[Any]], n_subsamples: int) -> NDArray[np.integer[Any]]:
    """Return disjoint subsamples of equal size, as row numbers of shape (n_subsamples, t), in this order.

    Examples
    --------
    >>> cut(np.arange(7), 3)
    array([[0, 1],
           [2, 3],
           [4, 5]])
    """
    size = size_of_subsamples(np.array([len(order)]), n_subsamples)
    return order[: n_subsamples * size].reshape(n_subsamples, size)


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
        shares.append(cut(order[labels == label], n_subsamples))
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
