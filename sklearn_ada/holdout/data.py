"""The rows of a holdout: checked, fingerprinted, counted by class, cut into subsamples. Never shown."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target

from sklearn_ada._checks import bad_parameter
from sklearn_ada.holdout.canonical import Undigestible, canonical_digest
from sklearn_ada.metrics.rows import n_rows

__all__ = ["HoldoutData", "content_digest"]


class HoldoutData:
    """Rows and labels of a holdout; its ``repr`` gives sizes only.

    Parameters
    ----------
    X : array-like, frame or sparse matrix of shape (n, ...)
        Opaque: NaN, strings and sparse columns are the models' business.
    y : array-like of shape (n,)
        Labels or numbers; numbers must be finite.

    Raises
    ------
    ValueError
        If y is None, not one-dimensional, not finite, empty, or not as long as X.
    """

    def __init__(self, X: Any, y: Any) -> None:
        if y is None:
            raise bad_parameter("y", "Holdout", "the labels of the rows of X", None)
        labels = np.asarray(y)
        if labels.ndim != 1:
            raise bad_parameter("y", "Holdout", "one-dimensional", f"an array of shape {labels.shape}")
        if labels.dtype.kind == "c" or (labels.dtype.kind == "f" and not np.isfinite(labels).all()):
            raise bad_parameter("y", "Holdout", "finite", "NaN, infinite or complex values")
        if labels.dtype.kind == "O" and any(v is None or v != v for v in labels):
            raise bad_parameter("y", "Holdout", "free of missing values", "None or NaN among the labels")
        if len(labels) == 0:
            raise bad_parameter("X", "Holdout", "non-empty", "0 rows")
        if n_rows(X) != len(labels):
            raise bad_parameter(
                "y", "Holdout", f"as long as X, which has {n_rows(X)} rows", f"{len(labels)} values"
            )
        self.X = X
        self.y: NDArray[Any] = labels
        self.is_classification = type_of_target(labels) in ("binary", "multiclass")
        self.classes: NDArray[Any] | None = np.unique(labels) if self.is_classification else None

    def __len__(self) -> int:
        return len(self.y)

    def __repr__(self) -> str:
        return f"HoldoutData({len(self)} rows)"

    def fingerprint(self, secret: bytes) -> str:
        """Return the digest of the content, keyed so that it tells nobody whether a row is in it."""
        return hmac.new(secret, content_digest(self.X, self.y).encode(), hashlib.sha256).hexdigest()

    def partition(self, secret: bytes, n_subsamples: int) -> NDArray[np.int64]:
        """Return row numbers of shape (n_subsamples, t): disjoint subsamples, fixed by the secret."""
        if not 1 <= n_subsamples <= len(self):
            raise bad_parameter(
                "n_subsamples", "Holdout", f"between 1 and the {len(self)} rows of the holdout", n_subsamples
            )
        seed = hmac.new(secret, b"partition", hashlib.sha256).digest()
        order = np.random.default_rng(int.from_bytes(seed, "little")).permutation(len(self))
        size = len(self) // n_subsamples
        return order[: n_subsamples * size].reshape(n_subsamples, size)


def content_digest(X: Any, y: Any) -> str:
    """Return the digest of some rows and labels: of their content, whatever their container.

    Raises
    ------
    ValueError
        If X holds objects whose content cannot be read.
    """
    rows = np.asarray(X) if isinstance(X, (list, tuple)) else X
    try:
        return canonical_digest((rows, np.asarray(y)))
    except Undigestible as error:
        raise bad_parameter("X", "Holdout", "made of readable values", type(X).__name__) from error
