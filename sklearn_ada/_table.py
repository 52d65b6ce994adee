"""Tables as aligned text."""

from collections.abc import Collection, Sequence

__all__ = ["aligned"]


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
