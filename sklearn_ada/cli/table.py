"""Aligned text and comma-separated values."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import Any, TextIO

from sklearn_ada._table import aligned

__all__ = ["aligned", "number", "write_csv"]


def number(value: float | None, missing: str = "") -> str:
    """Return a number with four digits, or ``missing`` for None."""
    return missing if value is None else f"{value:.4g}"


def write_csv(rows: Sequence[dict[str, Any]], file: TextIO) -> None:
    """Write dicts with the same keys as comma-separated values; None is an empty cell."""
    writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
