"""Any other score: one prediction, then a loop over the blocks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_ada._checks import check_integer
from sklearn_ada.metrics.blocks._inputs import check_lengths

__all__ = ["loop_scores"]


def loop_scores(
    score_function: Callable[..., float],
    y_true: ArrayLike,
    outputs: ArrayLike,
    n_blocks: int,
    *,
    sample_weight: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Return a score function's value on every block.

    Parameters
    ----------
    score_function : callable
        Called as ``score_function(y_true, outputs)`` with the rows of one block, and with
        ``sample_weight=`` if weights are given. Where it raises ValueError, as scikit-learn's metrics
        do where they are undefined, the value is NaN; other exceptions pass.
    y_true : array-like of shape (n,)
        True values, cut into ``n_blocks`` equal runs.
    outputs : array-like of shape (n, ...)
        Outputs of the model for the same rows.
    n_blocks : int
        Number of blocks; must divide n.
    sample_weight : array-like of shape (n,), default=None
        Weight of each row.

    Returns
    -------
    scores : ndarray of shape (n_blocks,)

    See Also
    --------
    block_scores : The same without the loop, for most of scikit-learn's scorers.

    Examples
    --------
    >>> from sklearn.metrics import matthews_corrcoef
    >>> loop_scores(matthews_corrcoef, [0, 1, 1, 0], [0, 1, 0, 1], n_blocks=2)
    array([ 1., -1.])
    """
    n_blocks = check_integer(n_blocks, "n_blocks", "loop_scores")
    y_true, outputs = np.asarray(y_true), np.asarray(outputs)
    weight = None if sample_weight is None else np.asarray(sample_weight)
    size = check_lengths(y_true, outputs, weight, n_blocks, "loop_scores")
    scores = np.full(n_blocks, np.nan)
    for i in range(n_blocks):
        rows = slice(i * size, (i + 1) * size)
        weights = {} if weight is None else {"sample_weight": weight[rows]}
        try:
            scores[i] = score_function(y_true[rows], outputs[rows], **weights)
        except ValueError:
            continue
    return scores
