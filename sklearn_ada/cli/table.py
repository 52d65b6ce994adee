"""Aligned text and comma-separated values."""

from __future__ import annotations

import csv
from collections.abc import Collection, Sequence
from typing import Any, TextIO

__all__ = ["aligned", "number", "write_csv"]


def aligned(head: Sequence[str], rows: Sequence[Sequence[str]], *, right: Collection[str] = ()) -> str:
    """Return a table with a column as wide as its widest cell; ``right`` names those set to the right.

    Examples
    --------
    >>> print(aligned(["metric", "n"], [["auc", "10"], ["accuracy", "7"]], right=["n"]))
    metric     n
    auc       10
    accuracy   7
    """
    table = [head, *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]

    def line(cells: Sequence[str]) -> str:
        parts = [
            cell.rjust(width) if name in right else cell.ljust(width)
            for name, cell, width in zip(head, cells, widths, strict=True)
        ]
        return "  ".join(parts).rstrip()

    return "\n".join(map(line, table))


def number(value: float | None, missing: str = "") -> str:
    """Return a number with four digits, or ``missing`` for None."""
    return missing if value is None else f"{value:.4g}"


def write_csv(rows: Sequence[dict[str, Any]], file: TextIO) -> None:
    """Write dicts with the same keys as comma-separated values; None is an empty cell."""
    writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
