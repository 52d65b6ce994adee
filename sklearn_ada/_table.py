"""Numbers and tables as text."""

from collections.abc import Collection, Sequence

__all__ = ["aligned", "counted", "percent", "printable"]


def percent(share: float) -> str:
    """Return a share in percent, with all its digits: a confidence of 0.999 must not be shown as 100%.

    Examples
    --------
    >>> percent(0.95), percent(0.975), percent(0.999999999)
    ('95%', '97.5%', '99.9999999%')
    """
    return f"{100.0 * share:.12g}%"


def counted(count: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "certify"), counted(2, "certify"), counted(5000, "check"), counted(3, "search")
    ('1 certify', '2 certifies', '5,000 checks', '3 searches')
    """
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}{'es' if noun.endswith('ch') else 's'}"
    return f"{count:,} {noun if count == 1 else plural}"


def printable(text: str) -> str:
    r"""Return a text whose control characters are written out: a name must not steer a terminal.

    Examples
    --------
    >>> print(printable("\x1b[2Jada"))
    \x1b[2Jada
    """
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def aligned(head: Sequence[str], rows: Sequence[Sequence[str]], *, right: Collection[str] = ()) -> str:
    """Return a table with a column as wide as its widest cell; ``right`` names those set to the right.

    Examples
    --------
    >>> print(aligned(["metric", "n"], [["auc", "10"], ["accuracy", "7"]], right=["n"]))
    metric     n
    auc       10
    accuracy   7
    """
    table = [head, *([printable(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]

    def line(cells: Sequence[str]) -> str:
        parts = [
            cell.rjust(width) if name in right else cell.ljust(width)
            for name, cell, width in zip(head, cells, widths, strict=True)
        ]
        return "  ".join(parts).rstrip()

    return "\n".join(map(line, table))
