"""Answers about a count of rows: in which cell it lies, or which count of a cell it is.

Cells and code are fixed when the question is asked, and stand in the symbol: so its price can be computed
again (`sklearn_ada.accounting.count_code`).
"""

from __future__ import annotations

from dataclasses import dataclass

from sklearn_ada._checks import bad_parameter, check_integer, check_option, check_real
from sklearn_ada.events._base import Event
from sklearn_ada.events._coded import FAILURES, MOST_OFFSET, Symbol

__all__ = ["CountRelease", "CountSymbol"]

COUNT_STREAMS = ("winner", "candidate", "unsealed")


@dataclass(frozen=True)
class CountSymbol(Event):
    """One outcome about a count: the number of the cell that holds it, or the count itself.

    Parameters
    ----------
    stream : {"winner", "candidate", "unsealed"}
        "winner", "candidate": the number of a cell, of which each has an urn of its own: where every search
        asks about its winner, or about all its candidates. "unsealed": one count of a released cell.
    value : int or str
        Number of the cell, or the count; or one of `FAILURES`.
    first, width : int
        Cell z holds ``width`` integers from ``first + z * width`` on. Unsealed: how many counts there may be,
        and the first of them.
    centre, tau : float
        The count expected, and its standard error.
    """

    stream: str
    value: int | str
    first: int
    width: int
    centre: float
    tau: float

    def __post_init__(self) -> None:
        owner = "CountSymbol"
        check_option(self.stream, "stream", owner, COUNT_STREAMS)
        if isinstance(self.value, str):
            check_option(self.value, "value", owner, FAILURES)
        else:
            value = check_integer(self.value, "value", owner, low=-MOST_OFFSET, high=MOST_OFFSET)
            object.__setattr__(self, "value", value)
        check_integer(self.first, "first", owner, low=-MOST_OFFSET, high=MOST_OFFSET)
        check_integer(self.width, "width", owner, high=MOST_OFFSET)
        check_real(self.centre, "centre", owner)
        check_real(self.tau, "tau", owner, low=0.0)


@dataclass(frozen=True)
class CountRelease(Event):
    """Symbols about a count were released, without noise: no differential privacy whatever.

    Parameters
    ----------
    symbols : tuple of CountSymbol or Symbol
        What was revealed, in order; a failure may need more than one.
    """

    symbols: tuple[CountSymbol | Symbol, ...]

    def __post_init__(self) -> None:
        if not (
            isinstance(self.symbols, tuple)
            and self.symbols
            and all(isinstance(symbol, CountSymbol | Symbol) for symbol in self.symbols)
        ):
            raise bad_parameter(
                "symbols", "CountRelease", "a non-empty tuple of CountSymbol or Symbol", self.symbols
            )
