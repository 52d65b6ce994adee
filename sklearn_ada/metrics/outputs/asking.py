"""How a model is asked for its outputs; `sklearn_ada.metrics.outputs.forms` judges them.

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

from sklearn_ada._checks import bad_parameter
from sklearn_ada.metrics.data.elsewhere import release
from sklearn_ada.metrics.data.labels import family, of_one_type
from sklearn_ada.metrics.data.rows import guarded, n_rows, own_copy, take_rows
from sklearn_ada.metrics.outputs.forms import UnusableOutputsError

__all__ = ["Given", "available_response", "classes_of", "respond", "rows_in_chunk", "said_of"]

CHUNK_CELLS = 2**23
"""Numbers in a chunk of X: 64 MB of float64. A row of a sparse matrix counts its mean number of entries."""
LIST_CELLS = 128
"""What a row of a list, a text perhaps, counts as."""


class Given:
    """Outputs that are known for all rows, whatever X holds."""

    @property
    def known_outputs(self) -> Any:
        """An array, or a column that is labels for certain."""
        raise NotImplementedError


def available_response(estimator: Any, methods: tuple[str, ...]) -> str:
    """Return the first of ``methods`` that the estimator has; TypeError if it has none."""
    for method in methods:
        if callable(getattr(estimator, method, None)):
            return method
    raise TypeError(
        f"The 'estimator' parameter must have one of the methods {', '.join(methods)} for this metric. Got "
        f"{type(estimator).__name__}, which has none; choose a metric of its predictions."
    )


def classes_of(estimator: Any, owner: str) -> NDArray[Any] | None:
    """Return the estimator's ``classes_`` as numbers or text, None if it has none.

    Raises
    ------
    ValueError
        If they are not sorted and distinct, as scikit-learn's are: its metrics sort labels.
    """
    said = getattr(estimator, "classes_", None)
    if said is None:
        return None
    expected = "a model whose classes_ are sorted and distinct labels"
    try:
        classes = of_one_type(np.asarray(said), "classes_", owner)
        fits = classes.ndim == 1 and np.array_equal(np.unique(classes), classes)
    except (TypeError, ValueError):
        fits = False
    if not fits:
        raise bad_parameter(
            "estimator",
            owner,
            expected,
            "others",
            "Fit it on one column of labels, as scikit-learn's models are.",
        )
    return classes


def respond(estimator: Any, X: Any, methods: tuple[str, ...]) -> tuple[str, NDArray[Any]]:
    """Return the first available method, and what it says of all rows.

    Raises
    ------
    UnusableOutputsError
        If that is no array of one type.
    """
    method = available_response(estimator, methods)
    if isinstance(estimator, Given):
        return method, estimator.known_outputs
    return method, _in_chunks(getattr(estimator, method), X)


def said_of(predict: Callable[[Any], Any], X: Any) -> NDArray[Any]:
    """Return what a model says of rows that it cannot change; one that insists on it gets a copy."""
    try:
        said = predict(guarded(X))
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        said = predict(own_copy(X))
    if np.ma.is_masked(said):
        raise UnusableOutputsError("Some outputs are masked.")
    try:
        return np.asarray(said)
    except ValueError:
        raise UnusableOutputsError("The outputs are no array: their rows are of several lengths.") from None


def rows_in_chunk(X: Any) -> int:
    """Return how many rows a model is shown at once."""
    if hasattr(X, "nnz"):
        cells = X.nnz / max(n_rows(X), 1)
    else:
        cells = math.prod(X.shape[1:]) if hasattr(X, "shape") else LIST_CELLS
    return max(int(CHUNK_CELLS // max(cells, 1)), 1)


def _in_chunks(predict: Callable[[Any], Any], X: Any) -> NDArray[Any]:
    """Return the outputs of all rows."""
    n, step = n_rows(X), rows_in_chunk(X)
    if n <= step:
        return said_of(predict, X)
    outputs = np.empty(0)
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        chunk = take_rows(X, rows)
        part = said_of(predict, chunk)
        release(chunk)
        if start == 0:
            outputs = np.empty((n, *part.shape[1:]), dtype=part.dtype)
        if part.shape != outputs[rows].shape:
            raise UnusableOutputsError("The outputs of a chunk of rows are of the wrong shape.")
        if part.dtype != outputs.dtype:  # texts of another length
            if family(part) != family(outputs):
                raise UnusableOutputsError("The outputs are of several types.")
            both = np.promote_types(outputs.dtype, part.dtype)
            if both.kind == "f" and outputs.dtype.kind in "biu" and part.dtype.kind in "biu":
                raise UnusableOutputsError("The outputs are integers that no type holds together.")
            outputs = outputs.astype(both)
        outputs[rows] = part
    return outputs
