"""What a model says of some rows: its outputs, in the form that a metric takes.

A model is shown many rows in chunks of `CHUNK_CELLS` numbers, so that what it needs for its work stays
bounded however large the holdout is. The chunks depend on X alone, and a model predicts row by row, so they
alter no answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada.metrics.rows import guarded, n_rows, own_copy, take_rows

__all__ = ["available_response", "outputs_are_usable", "respond"]

CHUNK_CELLS = 2**23
"""Numbers in a chunk of X: 64 MB of float64. A row of a sparse matrix counts its mean number of entries."""
LIST_CELLS = 128
"""What a row of a list, a text perhaps, counts as."""


def available_response(estimator: Any, methods: tuple[str, ...]) -> str:
    """Return the first of ``methods`` that the estimator has; TypeError if it has none."""
    for method in methods:
        if callable(getattr(estimator, method, None)):
            return method
    raise TypeError(
        f"The 'estimator' parameter must have one of the methods {', '.join(methods)} for this metric. Got "
        f"{type(estimator).__name__}, which has none; choose a metric of its predictions."
    )


def respond(estimator: Any, X: Any, methods: tuple[str, ...], *, one_column: bool) -> NDArray[Any]:
    """Return the outputs of the first available method, as scikit-learn's scorers take them.

    With ``one_column`` the probabilities of a binary classifier are reduced to those of
    ``classes_[1]``, its positive class.
    """
    method = available_response(estimator, methods)
    outputs = _in_chunks(getattr(estimator, method), X)
    if one_column and method == "predict_proba" and outputs.ndim == 2 and outputs.shape[1] == 2:
        outputs = outputs[:, 1]
    return outputs


def _in_chunks(predict: Callable[[Any], Any], X: Any) -> NDArray[Any]:
    """Return the outputs of all rows; those of one chunk, which are too few, if they are of a wrong shape."""
    n, step = n_rows(X), _rows_in_chunk(X)
    if n <= step:
        return _said(predict, X)
    outputs = np.empty(0)
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        part = _said(predict, take_rows(X, rows))
        if start == 0:
            outputs = np.empty((n, *part.shape[1:]), dtype=part.dtype)
        if part.shape != outputs[rows].shape:
            return part
        if part.dtype != outputs.dtype:  # texts of another length
            outputs = outputs.astype(np.promote_types(outputs.dtype, part.dtype))
        outputs[rows] = part
    return outputs


def _said(predict: Callable[[Any], Any], X: Any) -> NDArray[Any]:
    """Return what a model says of rows that it cannot change; one that insists on it gets a copy."""
    try:
        return np.asarray(predict(guarded(X)))
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        return np.asarray(predict(own_copy(X)))


def _rows_in_chunk(X: Any) -> int:
    """Return how many rows a model is shown at once."""
    if hasattr(X, "nnz"):
        cells = X.nnz / max(n_rows(X), 1)
    else:
        cells = math.prod(X.shape[1:]) if hasattr(X, "shape") else LIST_CELLS
    return max(int(CHUNK_CELLS // max(cells, 1)), 1)


def outputs_are_usable(outputs: NDArray[Any], n: int) -> bool:
    """Return whether there is one finite output (or row of outputs) for each of n rows."""
    if outputs.ndim == 0 or outputs.shape[0] != n:
        return False
    return outputs.dtype.kind not in "fc" or bool(np.isfinite(outputs).all())
