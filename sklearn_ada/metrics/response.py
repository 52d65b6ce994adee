"""What a model says of some rows: its outputs, in the form that a metric takes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["available_response", "outputs_are_usable", "respond"]


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
    outputs = np.asarray(getattr(estimator, method)(X))
    if one_column and method == "predict_proba" and outputs.ndim == 2 and outputs.shape[1] == 2:
        outputs = outputs[:, 1]
    return outputs


def outputs_are_usable(outputs: NDArray[Any], n_rows: int) -> bool:
    """Return whether there is one finite output (or row of outputs) for each row."""
    if outputs.ndim == 0 or outputs.shape[0] != n_rows:
        return False
    return outputs.dtype.kind not in "fc" or bool(np.isfinite(outputs).all())
