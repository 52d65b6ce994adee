"""A metric on every block of a permuted holdout, from one prediction.

The rows are permuted once and cut into equal blocks: block ``i`` is rows ``i * t`` to ``(i + 1) * t``. So
labels and predictions are matrices with one row per block, and a metric on every block is a few array
operations along the rows.
"""

from sklearn_ada.metrics.blocks._blocks import encode
from sklearn_ada.metrics.blocks._loop import loop_scores
from sklearn_ada.metrics.blocks._scores import BLOCK_SCORERS, block_scores, response_method

__all__ = ["BLOCK_SCORERS", "block_scores", "encode", "loop_scores", "response_method"]
