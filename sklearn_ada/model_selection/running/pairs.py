"""Precomputed kernels and distances: of a matrix of pairs of rows, the columns are split with the rows.

A model fitted on some rows takes, for any row, its pairs with those rows. So the training part has neither
rows nor columns of the holdout, and the holdout is the pairs of its rows with the training rows.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from sklearn.utils import get_tags

from sklearn_ada._checks import bad_parameter
from sklearn_ada.metrics import take_rows

__all__ = ["check_pairs", "is_of_pairs", "take_for"]


def is_of_pairs(search: Any) -> bool:
    """Return whether a search's model takes a kernel or distance matrix as X."""
    return bool(get_tags(search.estimator).input_tags.pairwise)


def check_pairs(X: Any, n_columns: int | None) -> None:
    """Raise ValueError unless X is an array or a sparse matrix with as many columns as rows.

    A holdout that is given must have as many columns, ``n_columns``; None if none is given.
    """
    shape = getattr(X, "shape", None)
    if shape is None or hasattr(X, "iloc"):
        raise bad_parameter(
            "X", "ReusableHoldoutCV.fit", "an array or a sparse matrix where the model is of pairs of rows",
            type(X).__name__, "Its rows and its columns are split: pass np.asarray(X).",
        )  # fmt: skip
    if len(shape) != 2 or shape[0] != shape[1]:
        raise bad_parameter(
            "X", "ReusableHoldoutCV.fit", "a square matrix where the model is of pairs of rows",
            f"an array of shape {tuple(shape)}", "Pass the kernel or the distance of every row to every row.",
        )  # fmt: skip
    if n_columns is not None and shape[0] != n_columns:
        raise bad_parameter(
            "X", "ReusableHoldoutCV.fit", f"of {n_columns} columns, as its holdout is", f"{shape[0]} columns",
            "The holdout's are the pairs of its rows with the training rows.",
        )  # fmt: skip


def take_for(X: Any, rows: NDArray[Any], fitted_on: NDArray[Any], of_pairs: bool) -> Any:
    """Return some rows of X as a model takes them that was fitted on the rows ``fitted_on``.

    Examples
    --------
    >>> import numpy as np
    >>> take_for(np.arange(9).reshape(3, 3), [2], [0, 1], True)
    array([[6, 7]])
    """
    part = take_rows(X, rows)
    return part[:, fitted_on] if of_pairs else part
