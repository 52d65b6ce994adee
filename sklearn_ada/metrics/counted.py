"""Release the few counts of rows on which alone an interval depends, instead of the interval's ends.

A table of two classes, or of two models, certifies by two or three counts. Where these are released, value
and ends are functions of them, at any level: exact, without a price of their own, and whoever has the record
can compute them again. Each count costs what `sklearn_ada.accounting.codes.CountCode` makes of it around the
count that the guess foresees, so a table costs about ``ln(tau) + 1.4`` nats for each of its counts, with tau
its standard error. What was released of the table before, such as a window, has no part in that code; it is
paid for as if it were news, and the probabilities of all tables and of the failures sum to at most 1.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from sklearn_ada.accounting.codes import Code, CountCode, DescriptionLength, largest_unsealing_nats
from sklearn_ada.accounting.events import CountRelease, CountSymbol, Symbol
from sklearn_ada.guarantees.intervals import Array, Interval
from sklearn_ada.mechanisms.rounding import guess_error

Counts = tuple[int, ...]


@dataclass(frozen=True)
class CountedTable(ABC):
    """A table of counts, and the code that a guess has fixed for them.

    Parameters
    ----------
    foreseen, errors : tuple of float
        The counts that the guess suggests, and their standard errors.
    """

    foreseen: tuple[float, ...]
    errors: tuple[float, ...]
    kind: ClassVar[str]

    _kinds: ClassVar[dict[str, type[CountedTable]]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._kinds[cls.kind] = cls

    @staticmethod
    def from_description(described: dict[str, Any]) -> CountedTable:
        """Return the table that `describe` wrote into a record."""
        kind = CountedTable._kinds[described["kind"]]
        given = {name: each for name, each in described.items() if name != "kind"}
        return kind(**{name: tuple(each) if isinstance(each, list) else each for name, each in given.items()})

    def describe(self) -> dict[str, Any]:
        """Return all that is fixed, ready for JSON."""
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        usual = {each.name: each.default for each in fields(self)}
        listed = {name: [*each] if isinstance(each, tuple) else each for name, each in given.items()}
        return {"kind": self.kind} | {name: each for name, each in listed.items() if each != usual[name]}

    @abstractmethod
    def most(self, before: Counts) -> int:
        """Return the most that the next count may be, after these."""

    @abstractmethod
    def value(self, counts: Counts) -> float:
        """Return the metric's value."""

    @abstractmethod
    def interval(self, counts: Counts, ln_delta: float) -> Interval:
        """Return the ends, which miss the population value with probability at most delta."""

    def symbols(self, counts: Counts, *, is_released: bool = False) -> tuple[CountSymbol | Symbol, ...]:
        """Return what is released; next to nothing, of counts that were released before."""
        made: list[CountSymbol | Symbol] = []
        for number, (count, centre, tau) in enumerate(zip(counts, self.foreseen, self.errors, strict=False)):
            first, width = (count, 1) if is_released else (0, self.most(counts[:number]) + 1)
            made.append(CountSymbol("unsealed", count, first, width, centre, tau))
        return tuple(made)

    def counts(self, symbols: Sequence[CountSymbol | Symbol]) -> Counts:
        """Return the counts that were released."""
        return tuple(int(symbol.value) for symbol in symbols)

    def certified(self, counts: Counts, ln_delta: float, bounds: Interval) -> tuple[float, Interval]:
        """Return value and interval, within the metric's range; that is all where no level is left."""
        bottom, top = bounds
        value = min(max(self.value(counts), bottom), top)
        low, high = bounds if ln_delta == -math.inf else self.interval(counts, ln_delta)
        return value, (max(min(low, value), bottom), min(max(high, value), top))

    def is_possible(self, counts: Counts) -> bool:
        """Return whether there can be these counts."""
        return all(0 <= count <= self.most(counts[:number]) for number, count in enumerate(counts))

    @property
    def expected(self) -> Counts:
        """The counts that the guess suggests."""
        counts: Counts = ()
        for each in self.foreseen:
            counts += (min(max(round(each), 0), self.most(counts)),)
        return counts

    @property
    def expected_nats(self) -> float:
        """The price of these."""
        return nats_of(CountRelease(self.symbols(self.expected)))

    @property
    def largest_nats(self) -> float:
        """The price of the dearest table."""
        return sum(
            largest_unsealing_nats(0, self.most((0,) * number), CountCode(centre, tau))
            for number, (centre, tau) in enumerate(zip(self.foreseen, self.errors, strict=True))
        )


@dataclass(frozen=True)
class Counted:
    """A table, and how it is counted on the rows.

    Parameters
    ----------
    table : CountedTable
    count : callable
        Takes ``(y, outputs, classes)`` and returns the counts.
    """

    table: CountedTable
    count: Callable[[Array, Array, Array | None], Counts]


def foreseen_count(share: float, n: int, rows: float, *, vaguely: bool) -> tuple[float, float]:
    """Return a count that a guess foresees, and its standard error.

    Parameters
    ----------
    share : float
        Of the rows, as the guess has it.
    n : int
        How many rows there are.
    rows : float
        How many there are of the guess.
    vaguely : bool
        Whether the guess is a number, with which other shares go together as well; by a factor of about two.
    """
    error = guess_error(n, min(max(share, 0.0), 1.0), max(round(rows), 1))
    if vaguely:
        error = math.hypot(error, 0.5 * n * min(share, 1.0 - share))
    return float(f"{n * share:.6g}"), float(f"{error:.4g}")


def nats_of(event: CountRelease) -> float:
    """Return the price of an event without urns, in the code of every ledger."""
    return DescriptionLength(Code()).price(event)
