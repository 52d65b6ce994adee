"""Rows, fitted models, and the interval arithmetic written down a second time."""

from tests.support.fixtures_of_metrics import asked, chernoff, data, tasks

__all__ = ["asked", "chernoff", "data", "tasks"]
