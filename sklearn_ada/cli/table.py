"""Aligned text and comma-separated values."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import Any, TextIO

from sklearn_ada._table import aligned

__all__ = ["aligned", "number", "write_csv"]

_COMPUTED = ("=", "+", "-", "@", "\t", "\r", "\n")


def number(value: float | None, missing: str = "") -> str:
    """Return a number with four digits, or ``missing`` for None."""
    return missing if value is None else f"{value:.4g}"


def write_csv(rows: Sequence[dict[str, Any]], file: TextIO) -> None:
    """Write dicts with the same keys as comma-separated values; None is an empty cell.

    A text that a spreadsheet would compute gets an apostrophe in front, which spreadsheets do not show.
    """
    writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _text(value) for key, value in row.items()} for row in rows)


def _text(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_COMPUTED) else value
