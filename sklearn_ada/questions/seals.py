"""What is sealed: a value that is computed when its question is asked, and released later.

It stands with its cells, or its windows, and with the probabilities that the code gives them, in the
question's record, and can be rebuilt from that: nothing that comes after the asking tunes it. `LossCount` is
a count of 0/1 losses, whose interval follows from the count. `SealedInterval` is any other value, with the
ends of its interval at the level of the asking, in one message of one length. `SealedTable` is a few counts
of rows of which value and ends are functions: these are sealed instead, where that is foreseen to cost less.

A message is kept in its record under a pad, unless a public key was given (`sklearn_ada.terms.seal_key`).
Every record has a pad of its own: two messages under one pad would tell in what they differ.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import struct
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

from sklearn_ada._validation import LN_2, plain
from sklearn_ada.accounting.codes import CountCode, largest_unsealing_nats, ln_cauchy
from sklearn_ada.accounting.events import CountRelease, CountSymbol, Symbol
from sklearn_ada.exceptions import LedgerDamagedError
from sklearn_ada.guarantees import description_length
from sklearn_ada.guarantees.description_length import intersection
from sklearn_ada.guarantees.tilted import LN_LIKELY_SIDE, Tilt
from sklearn_ada.guarantees.transcript import transcript_cell_interval, transcript_interval
from sklearn_ada.guarantees.windows import Windows
from sklearn_ada.mechanisms.rounding import CountCells, guess_error
from sklearn_ada.metrics.counted import Counted, CountedTable, Counts, nats_of

Ends = tuple[float, float]
Point = tuple[float, float, float]
"""A value, and the ends of its interval."""

# Counts of cells are checked where the cells are made.
_guess_error, _question_interval = plain(guess_error), plain(description_length.question_interval)
_FINE = 10_000.0  # points to a standard error, so that the width of a cell is whole


@dataclass(frozen=True)
class LossCount:
    """How many of n rows have a loss of 1, in cells around the guess.

    Losses (or scores) are 0 or 1.

    Parameters
    ----------
    n : int
        Number of rows.
    base, width : int
        First count of cell 0, and counts in a cell.
    expected_count, tau : float
        The count that the guess suggests, and its standard error.
    half : float
        Half a cell in standard errors.
    identical_rows : bool
        Whether rows are draws of one law; not where intervals are at the holdout's class mix.
    guess_rows : float or None, default=None
        Of how many rows the guess is that tilts the interval; None: none does.
    """

    n: int
    base: int
    width: int
    expected_count: float
    tau: float
    half: float
    identical_rows: bool
    guess_rows: float | None = None

    @classmethod
    def around(
        cls, guess: float, size: float, n: int, *, identical_rows: bool, half: float, tilted: bool = False
    ) -> Self:
        """Fix cells and code from a guess made on ``size`` rows.

        ``half`` is half of a cell, in standard errors of the guess; ``tilted`` whether the guess divides the
        level of the interval, too.
        """
        rows = max(round(size), 1)
        cells = CountCells.around(n, guess=guess, guess_rows=rows, width=half)
        tau = _guess_error(n, guess, rows)
        return cls(n, cells.base, cells.width, n * guess, tau, half, identical_rows, size if tilted else None)

    @classmethod
    def from_description(cls, mechanism: dict[str, Any]) -> Self:
        """Return the count that `describe` wrote into a record."""
        return cls(**{name: mechanism[name] for name in cls.__dataclass_fields__ if name in mechanism})

    @property
    def cells(self) -> CountCells:
        """The cells of the counts."""
        return CountCells(self.n, self.base, self.width)

    def span(self, number: int) -> tuple[int, int]:
        """Return the first and the last count of a cell."""
        return self.cells.counts(number)

    @property
    def step(self) -> float:
        """How wide a cell is, as a share of the rows."""
        return self.width / self.n

    @property
    def half_cell(self) -> float:
        """Half of that."""
        return self.step / 2.0

    def agrees(self, guess: float, value: float) -> bool:
        """Return whether a guess is in the cell that was released, of which ``value`` is the centre."""
        return self.cells.centre(self.cells.index(min(max(round(guess * self.n), 0), self.n))) == value

    @property
    def expected(self) -> int:
        """The count that the guess suggests."""
        return min(max(round(self.expected_count), 0), self.n)

    @property
    def tilt(self) -> Tilt | None:
        """How the guess divides the level of the interval; None if it does not."""
        if self.guess_rows is None:
            return None
        share = min(max(self.expected_count / self.n, 0.0), 1.0)
        return Tilt(share, self.guess_rows, self.n, self.identical_rows)

    @property
    def theorem(self) -> str:
        """Name of the interval of the count."""
        return "Clopper-Pearson" if self.tilt is None else self.tilt.theorem

    def describe(self) -> dict[str, Any]:
        """Return all that is fixed, ready for JSON."""
        fixed = {"statistic": "loss count", **vars(self)}  # all plain numbers: asdict would copy each
        return {name: each for name, each in fixed.items() if each is not None}

    def symbol(self, stream: str, value: int | str) -> CountSymbol:
        """Return the symbol of a cell, or of a failure.

        All candidates of a search have the same code, whose cells are measured in standard errors. So what
        they cost together does not depend on the order in which they are recorded.
        """
        if stream == "candidate":
            half = round(_FINE * self.half)
            return CountSymbol(stream, value, -half, 2 * half, -0.5, _FINE)
        return CountSymbol(stream, value, self.base, self.width, self.expected_count, self.tau)

    def symbol_within(self, point: int, possible: tuple[int, int]) -> CountSymbol:
        """Return the symbol of a count between the first and the last that are possible."""
        low, high = possible
        return CountSymbol("unsealed", point, low, high - low + 1, self.expected_count, self.tau)

    def largest_unsealing_nats(self, possible: tuple[int, int]) -> float:
        """Return the price of the dearest of the counts that are possible."""
        return largest_unsealing_nats(*possible, CountCode(self.expected_count, self.tau))

    def content(self, point: int) -> bytes:
        """Return a count as it is sealed."""
        return point.to_bytes(8, "big", signed=True)

    def point(self, content: bytes) -> int:
        """Return the count that was sealed."""
        return int.from_bytes(content, "big", signed=True)

    def is_within(self, point: int, cell: tuple[int, int]) -> bool:
        """Return whether a count is in a cell."""
        return cell[0] <= point <= cell[1]

    def half_width(self, ln_delta: float) -> float:
        """Return the half-width of the interval of the count that the guess suggests."""
        low, high = self.fixed_interval(self.expected, self.expected, ln_delta)
        return (high - low) / 2.0

    def fixed_interval(self, low: int, high: int, ln_delta: float) -> Ends:
        """Return the interval at the level of the asking; the range where nothing is left of that."""
        if ln_delta == -math.inf:
            return 0.0, 1.0
        if self.tilt is not None:
            return self.tilt.interval(low, high, ln_delta)
        return _question_interval(low, high, self.n, ln_beta=ln_delta, weight=1.0, nats=0.0)

    def final_interval(self, point: int, ln_delta: float) -> Ends:
        """Return the interval of a count that is published, at the level of that.

        Its cell was released before, so it may tune the interval: where it contradicts the guess, nothing is
        tilted towards that.
        """
        holds = self.cells.index(point) == 0
        return (self if holds else replace(self, guess_rows=None)).fixed_interval(point, point, ln_delta)

    def transcript_interval(self, low: int, high: int, ln_beta: float, nats: float) -> Ends:
        """Return the interval of the transcript theorem for the counts from ``low`` to ``high``.

        For rows of one law it is from the probability of the cell, else from the tails at its edges.
        """
        if self.identical_rows:
            return transcript_cell_interval(low, high, self.n, ln_beta=ln_beta, nats=nats)
        return transcript_interval(low, high, self.n, ln_beta=ln_beta, nats=nats, identical_rows=False)


UNSEALED, PUBLISHED, CLOSED = 8, 64, 2**20
"""Into how many steps a standard error is divided: by itself, as a final, once the holdout is closed."""
_MESSAGE, _COUNTS = struct.Struct(">3d"), struct.Struct(">3q")  # of one length
LEAST_LN_DELTA = -1e4  # stands for a level of which nothing is left, where a number is needed
# Of the ends around those foreseen, in standard errors, as their code expects it: where all rows decide on
# them, where the value does, and where rows of the guess foresee what all rows decide on.
_SPREAD, _BY_VALUE_SPREAD, _BY_ROWS_SPREAD = 1.0 / 8.0, 1.0 / 64.0, 3.0 / 16.0
# Where all rows decide, ends vary by more than such steps: then a final has fewer, and its ends fewer still.
_OF_FINAL, _OF_ENDS = 32, 8
_FOR_ROWS = 3  # numbers that foresee such ends


@dataclass(frozen=True)
class SealedInterval:
    """A value, with the interval that is a function of all rows, in windows around what the guess foresees.

    Parameters
    ----------
    windows : Windows
    tuning : dict
        What rows of the guess have tuned beside the metric's range, ready for JSON.
    tilted : bool, default=False
        Whether the guess divides the level of the interval among its sides.
    by_value : tuple of float, default=()
        Of ends that follow from the value: logarithm of the level of a side at which it would be published
        now, and the distances to the lower end there, from the guess and from a standard error below it, and
        to the upper end, from the guess and from a standard error above. Where all rows decide, one distance
        to each end, as rows of the guess foresee it; or empty, on older ledgers.
    """

    windows: Windows
    tuning: dict[str, Any] = field(default_factory=dict)
    tilted: bool = False
    by_value: tuple[float, ...] = ()

    @classmethod
    def from_description(cls, mechanism: dict[str, Any]) -> Self:
        """Return the interval that `describe` wrote into a record."""
        windows = {each.name: mechanism[each.name] for each in fields(Windows)}
        tilted, by_value = mechanism.get("tilted", False), tuple(mechanism.get("by_value", ()))
        return cls(Windows(**windows), mechanism.get("tuning", {}), tilted, by_value)

    def describe(self) -> dict[str, Any]:
        """Return all that is fixed, ready for JSON."""
        more = {"tuning": self.tuning, "tilted": self.tilted, "by_value": list(self.by_value)}
        return {"statistic": "interval", **vars(self.windows), **{k: v for k, v in more.items() if v}}

    @property
    def half_cell(self) -> float:
        """Half of the cell of the value."""
        return self.windows.half * self.windows.tau

    def agrees(self, guess: float, value: float) -> bool:
        """Return whether a guess is in the cell of the window that ``value`` stands for."""
        return abs(guess - value) <= self.half_cell * (1.0 + 1e-9)

    def symbol(self, stream: str, value: int | str) -> CountSymbol:
        """Return the symbol of a window, or of a failure: it is that of the cell of the value."""
        half = round(_FINE * self.windows.half)
        return CountSymbol(stream, value, -half, 2 * half, -0.5, _FINE)

    def span(self, number: int, ln_level: float | None, ln_delta: float) -> Ends:
        """Return the window that was released.

        Parameters
        ----------
        number : int
        ln_level : float or None
            Of one side of the announced window; None where description length speaks alone.
        ln_delta : float
            The level of the asking.
        """
        asked = max(ln_delta, LEAST_LN_DELTA) - LN_2
        return self.windows.window(number, asked if number or ln_level is None else ln_level)

    def content(self, point: Point) -> bytes:
        """Return a value and its ends as they are sealed."""
        return _MESSAGE.pack(*point)

    def point(self, content: bytes) -> Point:
        """Return the value and the ends that were sealed; struct.error for anything else."""
        value, low, high = _MESSAGE.unpack(content)
        return value, low, high

    def half_width(self, ln_delta: float) -> float:
        """Return about the half-width of the interval at a level, at the value that the guess suggests."""
        low, high = self.windows.foreseen(self._ln_side(ln_delta))
        return (high - low) / 2.0

    def is_within(self, point: Any, window: Ends) -> bool:
        """Return whether what was sealed is a value in the window, and finite ends."""
        return window[0] <= point[0] <= window[1] and all(map(math.isfinite, point))

    def release(
        self, point: Any, window: Ends, ln_delta: float, parts: int, *, is_released: bool = False
    ) -> CountRelease:
        """Return the event of releasing a value and its interval, rounded outwards.

        Parameters
        ----------
        point : tuple of float
        window : tuple of float
            In which they are, as was released before.
        ln_delta : float
            The level of the interval.
        parts : int
            Into how many steps a standard error is divided.
        is_released : bool, default=False
            Whether it was released before, with other steps.
        """
        step, guess = (
            self._step(_OF_FINAL if self.by_rows and parts == PUBLISHED else parts),
            self.windows.guess,
        )
        first, last = self._cells(window, step)
        value = min(max(round((point[0] - guess) / step), first), last)
        low, high = self._outwards(point[1:], self._step_of_ends(step))
        low_foreseen, high_foreseen = self._foreseen(value, step, ln_delta)
        tau = self.windows.tau / step
        scale = self._spread * self.windows.tau / self._step_of_ends(step)
        off = (Symbol("count", each, scale) for each in (low - low_foreseen, high - high_foreseen))
        return CountRelease((CountSymbol("unsealed", value, first, last - first + 1, 0.0, tau), *off))

    def read(self, event: CountRelease, ln_delta: float, ln_final: float | None) -> tuple[float, Ends, float]:
        """Return the value and the interval that were released, and the step to which they were rounded.

        Parameters
        ----------
        event : CountRelease
        ln_delta : float
            The level of the asking.
        ln_final : float or None
            That of a final; None if it was released by itself.
        """
        ln_delta = ln_delta if ln_final is None else ln_final
        first, *off = event.symbols
        assert isinstance(first, CountSymbol)
        step, windows = self.windows.tau / first.tau, self.windows
        low, high = (
            windows.guess + self._step_of_ends(step) * (each + int(symbol.value))
            for each, symbol in zip(self._foreseen(int(first.value), step, ln_delta), off, strict=True)
        )
        value = min(max(windows.guess + step * int(first.value), windows.bottom), windows.top)
        return value, (max(min(low, value), windows.bottom), min(max(high, value), windows.top)), step

    def largest_unsealing_nats(self, window: Ends) -> float:
        """Return about the price of the dearest value, with ends that are off by as much as is usual."""
        step = self._step(UNSEALED)
        first, last = self._cells(window, step)
        of_value = largest_unsealing_nats(first, last, CountCode(0.0, self.windows.tau / step))
        off = 1 if self.by_value and not self.by_rows else UNSEALED
        return of_value - 2.0 * ln_cauchy(off, self._spread * UNSEALED)

    @property
    def by_rows(self) -> bool:
        """Whether all rows decide on ends that rows of the guess foresee, released in larger steps."""
        return len(self.by_value) == _FOR_ROWS

    @property
    def _spread(self) -> float:
        if self.by_rows:
            return _BY_ROWS_SPREAD
        return _BY_VALUE_SPREAD if self.by_value else _SPREAD

    def _ln_side(self, ln_delta: float) -> float:
        """Return the logarithm of what a side has of a level, if the guess is about right."""
        return max(ln_delta, LEAST_LN_DELTA) + (LN_LIKELY_SIDE if self.tilted else -LN_2)

    def _step_of_ends(self, step: float) -> float:
        parts = round(self.windows.tau / step)  # of the closed holdout they are exact
        return step * parts / _OF_ENDS if self.by_rows and _OF_ENDS < parts <= _OF_FINAL else step

    def _step(self, parts: int) -> float:
        windows = self.windows
        return max(windows.tau / parts, 1e-13 * (windows.top - windows.bottom))

    def _cells(self, window: Ends, step: float) -> tuple[int, int]:
        low, high = ((end - self.windows.guess) / step for end in window)
        return math.floor(low), math.ceil(high)

    def _outwards(self, ends: Ends, step: float) -> tuple[int, int]:
        low, high = ((end - self.windows.guess) / step for end in ends)
        return math.floor(low - 1e-9), math.ceil(high + 1e-9)

    def _foreseen(self, value: int, step: float, ln_delta: float) -> tuple[int, int]:
        windows = self.windows
        at = min(max(windows.guess + step * value, windows.bottom), windows.top)
        foreseen = self._of_value if self.by_value else windows.foreseen
        return self._outwards(foreseen(self._ln_side(ln_delta), at), self._step_of_ends(step))

    def _of_value(self, ln_level: float, value: float) -> Ends:
        """Return ends that follow from the value, between the levels at which they were computed."""
        windows, (ln_published, *distances) = self.windows, self.by_value
        if self.by_rows:
            distances = [distances[0], distances[0], distances[1], distances[1]]
        published, announced = math.sqrt(-ln_published), math.sqrt(-windows.ln_level)
        part = (math.sqrt(-ln_level) - published) / (announced - published) if announced > published else 0.0
        away, ends = (value - windows.guess) / windows.tau, []
        for sign, end, near, far in (
            (-1.0, windows.low, *distances[:2]),
            (1.0, windows.high, *distances[2:]),
        ):
            at_half = near + windows.half * (far - near)  # as the announced one has it
            grown = abs(end - windows.guess) / at_half if at_half > 0.0 else 1.0
            ends.append(value + sign * (1.0 + part * (grown - 1.0)) * (near + sign * away * (far - near)))
        return max(ends[0], windows.bottom), min(ends[1], windows.top)


@dataclass(frozen=True)
class SealedTable(SealedInterval):
    """A table of counts, which certifies at every level, in windows around what the guess foresees.

    Parameters
    ----------
    table : CountedTable
    """

    table: CountedTable = field(kw_only=True)

    @classmethod
    def from_description(cls, mechanism: dict[str, Any]) -> Self:
        """Return the table that `describe` wrote into a record."""
        made = SealedInterval.from_description(mechanism)
        return cls(made.windows, made.tuning, table=CountedTable.from_description(mechanism["table"]))

    def describe(self) -> dict[str, Any]:
        """Return all that is fixed, ready for JSON."""
        return {**super().describe(), "table": self.table.describe()}

    def content(self, point: Any) -> bytes:
        """Return the counts as they are sealed."""
        return _COUNTS.pack(*point, *[0] * (3 - len(point)))

    def point(self, content: bytes) -> Any:
        """Return the counts that were sealed; struct.error for anything else."""
        return _COUNTS.unpack(content)[: len(self.table.foreseen)]

    def is_within(self, point: Any, window: Ends) -> bool:
        """Return whether what was sealed is a table whose value is in the window."""
        return self.table.is_possible(point) and window[0] <= self._of(point, -math.inf)[0] <= window[1]

    def release(
        self, point: Any, window: Ends, ln_delta: float, parts: int, *, is_released: bool = False
    ) -> CountRelease:
        """Return the event of releasing the counts, which no step rounds."""
        return CountRelease(self.table.symbols(point, is_released=is_released))

    def read(self, event: CountRelease, ln_delta: float, ln_final: float | None) -> tuple[float, Ends, float]:
        """Return the value and what is in both intervals: at the level of the asking, and of a final."""
        counts = self.table.counts(event.symbols)
        value, interval = self._of(counts, ln_delta)
        if ln_final is not None:
            interval = intersection(self._of(counts, ln_final)[1], [interval])
        return value, interval, 0.0

    def largest_unsealing_nats(self, window: Ends) -> float:
        """Return the price of the dearest table there is."""
        return self.table.largest_nats

    def _of(self, counts: Counts, ln_delta: float) -> tuple[float, Ends]:
        return self.table.certified(counts, ln_delta, (self.windows.bottom, self.windows.top))


Seal = LossCount | SealedInterval


def seal_of(mechanism: dict[str, Any]) -> Seal:
    """Return what is sealed in a record with this mechanism."""
    if mechanism["statistic"] != "interval":
        return LossCount.from_description(mechanism)
    return (SealedTable if "table" in mechanism else SealedInterval).from_description(mechanism)


def interval_or_table(seal: SealedInterval, counted: Counted | None) -> SealedInterval:
    """Return what is sealed of a value: counts that certify it, if the guess foresees that they cost less."""
    if counted is None:
        return seal
    windows = seal.windows
    point, range_ = (windows.guess, windows.low, windows.high), (windows.bottom, windows.top)
    if counted.table.expected_nats > nats_of(seal.release(point, range_, windows.ln_level + LN_2, PUBLISHED)):
        return seal
    return SealedTable(windows, seal.tuning, table=counted.table)


# The message, as its record keeps it where no public key was given.


def sealed_context(fingerprint: str, key: str) -> str:
    """Return what a value is sealed for: the record of this key, of a ledger with this genesis."""
    return f"sealed {fingerprint} {key}"


def hidden(content: bytes, secret: bytes, context: str) -> str:
    """Return a message as its record keeps it, hidden by the ledger's secret."""
    return _padded(content, secret, context).hex()


def shown(text: str, secret: bytes, context: str) -> bytes:
    """Return the message that `hidden` hid."""
    try:
        return _padded(bytes.fromhex(text), secret, context)
    except (TypeError, ValueError) as error:
        raise LedgerDamagedError("What a record keeps sealed cannot be read: it was edited.") from error


def _padded(content: bytes, secret: bytes, context: str) -> bytes:
    """Return bytes under the pad of a record, which also takes it off."""
    pad = hmac.new(secret, context.encode(), hashlib.sha256).digest()[: len(content)]
    return bytes(a ^ b for a, b in zip(content, pad, strict=True))
