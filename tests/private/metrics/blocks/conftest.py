"""The oracle: scikit-learn's own scorer, run block by block on stored outputs."""

from tests.support.fixtures_of_metrics_blocks import oracle

__all__ = ["oracle"]
