"""Rows, a fitted model, and a way to see that nothing was charged."""

from tests.support.fixtures_of_holdout import holdout, model, nearly_free, rows

__all__ = ["holdout", "model", "nearly_free", "rows"]
