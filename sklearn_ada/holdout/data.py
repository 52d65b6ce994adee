"""The rows of a holdout: checked, fingerprinted, counted by class, cut into subsamples. Never shown."""

from __future__ import annotations

import hashlib
import hmac
import math
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target

from sklearn_ada._checks import bad_parameter
from sklearn_ada.holdout.canonical import Undigestible, canonical_digest
from sklearn_ada.holdout.partition import dealt_out, shuffled_rows
from sklearn_ada.metrics.rows import n_rows, take_rows

__all__ = ["HoldoutData", "check_labels", "content_digest", "rows_digest"]


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
        labels = check_labels(y)
        if not (hasattr(X, "shape") or hasattr(X, "__len__")):
            kind = type(X).__name__
            raise bad_parameter("X", "Holdout", "an array, a frame, a sparse matrix or a list", kind)
        if n_rows(X) != len(labels):
            raise bad_parameter(
                "y", "Holdout", f"as long as X, which has {n_rows(X)} rows", f"{len(labels)} values"
            )
        X = X.tocsr() if hasattr(X, "tocsr") else X  # not every sparse format has rows to take
        self.X = X
        self.y: NDArray[Any] = labels
        self.is_classification = type_of_target(labels) in ("binary", "multiclass")
        self.classes: NDArray[Any] | None = np.unique(labels) if self.is_classification else None

        self._partitions: dict[tuple[bytes, int], NDArray[np.integer]] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is derived: it may hold the secret, and workers can derive it themselves."""
        return {**vars(self), "_partitions": {}}

    def __len__(self) -> int:
        return len(self.y)

    def __repr__(self) -> str:
        return f"HoldoutData({len(self)} rows)"

    def fingerprint(self, secret: bytes) -> str:
        """Return the digest of the content, keyed so that it tells nobody whether a row is in it."""
        return hmac.new(secret, content_digest(self.X, self.y).encode(), hashlib.sha256).hexdigest()

    @cached_property
    def class_counts(self) -> NDArray[np.int64]:
        """Number of records of each class; of all records where y holds numbers."""
        counts = np.unique(self.y, return_counts=True)[1] if self.is_classification else [len(self)]
        return np.asarray(counts, dtype=np.int64)

    def subsample_size(self, n_subsamples: int, *, stratify: bool = False) -> int:
        """Return how many records each of so many subsamples has."""
        return int((self.class_counts // n_subsamples).sum()) if stratify else len(self) // n_subsamples

    def partition(self, secret: bytes, n_subsamples: int, *, stratify: bool = False) -> NDArray[np.integer]:
        """Return row numbers of shape (n_subsamples, t): disjoint subsamples, fixed by the secret.

        All questions use the same ones, so the order is drawn once. With ``stratify`` each class is dealt out
        evenly: all subsamples have the same class counts, and what is left over of a class is left out.
        """
        most = int(self.class_counts.min()) if stratify else len(self)
        if not 1 <= n_subsamples <= most:
            raise bad_parameter(
                "n_subsamples", "Holdout", f"between 1 and the {most} rows of the holdout", n_subsamples
            )
        key = (secret, n_subsamples if stratify else 0)
        if key not in self._partitions:
            order = shuffled_rows(len(self), secret)
            self._partitions = {key: dealt_out(order, self.y, n_subsamples) if stratify else order}
        rows = self._partitions[key]
        size = self.subsample_size(n_subsamples, stratify=stratify)
        return rows if stratify else rows[: n_subsamples * size].reshape(n_subsamples, size)


def check_labels(y: Any) -> NDArray[Any]:
    """Return y as a one-dimensional, non-empty array without missing or infinite values, or raise."""
    if y is None:
        raise bad_parameter("y", "Holdout", "the labels of the rows of X", None)
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise bad_parameter("y", "Holdout", "one-dimensional", f"an array of shape {labels.shape}")
    if len(labels) == 0:
        raise bad_parameter("X", "Holdout", "non-empty", "0 rows")
    if labels.dtype.kind == "O":
        numbers = [v for v in labels if isinstance(v, Real)]
        finite = all(math.isfinite(v) for v in numbers) and not any(v is None or v != v for v in labels)
    else:
        finite = labels.dtype.kind not in "fc" or bool(np.isfinite(labels).all())
    if labels.dtype.kind == "c":
        raise bad_parameter("y", "Holdout", "real", "complex values", "Complex data not supported.")
    if not finite:
        raise bad_parameter("y", "Holdout", "finite", "missing, NaN or infinite values")
    return labels


def content_digest(X: Any, y: Any) -> str:
    """Return the digest of some rows and labels: of their values, whatever their container or number type.

    Raises
    ------
    ValueError
        If X holds objects whose content cannot be read.
    """
    try:
        return canonical_digest((_values(X), _values(y)))
    except Undigestible as error:
        raise bad_parameter("X", "Holdout", "made of readable values", type(X).__name__) from error


def rows_digest(X: Any, y: Any) -> str:
    """Return a quick digest of some rows: their number, all labels and up to 256 rows, evenly spread.

    Good enough to tell which rows a guess is from: to mistake others for them only charges a question.
    """
    n = n_rows(X)
    some = np.unique(np.linspace(0, max(n - 1, 0), min(n, 256)).astype(np.int64))
    return content_digest(take_rows(X, some), y)


def _values(data: Any) -> Any:
    """Return numeric data as an array of floats, text as objects, anything else as it is."""
    if hasattr(data, "tocsr"):
        return data
    array = np.asarray(data)
    if array.dtype.kind in "biuf":
        return array.astype(np.float64) + 0.0  # -0.0 is 0.0
    return array.astype(object) if array.dtype.kind in "US" else data if hasattr(data, "columns") else array
