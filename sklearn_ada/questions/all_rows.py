"""A certify whose interval is a function of all rows: its ends are released, and priced.

The value is released as by any certify, and with it both ends of the interval, each as a point of a lattice
that is fixed beforehand, rounded outwards. The symbol of an end is its distance from where the guess and the
value foresee it (`sklearn_ada.metrics.base`). The interval holds at the level of the asking: it is a function
of the rows that was fixed, tuning and level included, before anything about this question was released. That
its ends are released is paid for by later questions (`sklearn_ada.guarantees.question_interval`).

An interval that depends on a few counts of rows is released by these instead, where the guess foresees them
for less: value and ends are functions of them (`sklearn_ada.metrics.counted`).

Bets are tuned by a guess of the variance and lose width where that is wrong. So nine tenths of the failure
probability are the construction's, and a tenth goes to the metric's usual interval, which follows from the
value alone and whose width is bounded beforehand: what decides on admission. Of tables of pairs, which need
less help, it is a fiftieth.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from sklearn_ada.accounting.codes import symbols_of
from sklearn_ada.accounting.events import BLOCKS, CodedRelease, CountRelease, CountSymbol, Event, Symbol
from sklearn_ada.metrics.base import Foreseen, RowsInterval, UndefinedMetricError
from sklearn_ada.metrics.counted import CountedTable, Counts, nats_of
from sklearn_ada.questions.coded import CodedQuestion, RefinedQuestion, Rows, may_tilt
from sklearn_ada.questions.question import Draw, Failure, Outcome, Question, Released
from sklearn_ada.questions.seals import LEAST_LN_DELTA, Ends
from sklearn_ada.terms.holdout_data import HoldoutData
from sklearn_ada.terms.outputs import Observation, observed
from sklearn_ada.terms.policy import Allowance, Policy

_STEPS = 30.0  # of the lattice in half a foreseen interval
_SCALE = 3.0  # how many of them an end is expected to be off


@dataclass(frozen=True)
class RowsQuestion(RefinedQuestion):
    """One certify whose interval is a function of all rows.

    Parameters
    ----------
    coded : CodedQuestion
        The same question with the interval that follows from its value alone.
    construction : RowsInterval
        How the rows become the ends.
    step : float
        Of the lattice of the ends, in units of the metric.
    """

    construction: RowsInterval
    step: float
    is_found_by_subject = True

    @property
    def table(self) -> CountedTable | None:
        """The table that is released; None if value and ends are."""
        counted = self.construction.counted
        if counted is None or counted.table.expected_nats > nats_of(CountRelease(self._expected_ends)):
            return None
        return counted.table

    @property
    def is_drawn(self) -> bool:  # type: ignore[override]
        """Whether the construction draws something from the ledger's secret."""
        return self.construction.is_drawn

    @property
    def theorem(self) -> str:
        """Name of the interval's bounds."""
        theorem = self.construction.theorem
        return theorem if self._is_alone else f"{theorem}; {self.coded.measure.theorem}"

    def counts(self, seen: Rows) -> Counts:
        """Return the counts on which the interval depends."""
        assert self.construction.counted is not None
        return self.construction.counted.count(seen.y, seen.outputs, seen.classes)

    def describe(self) -> dict[str, Any]:
        """Return a JSON-ready description of everything that is fixed."""
        how = {"step": self.step} if self.table is None else {"table": self.table.describe()}
        return {**self.coded.describe(), "interval": {**self.construction.describe(), **how}}

    def chosen(self) -> dict[str, Any] | None:
        """Return nothing: validation rows fix all of the construction."""
        return {}

    def evaluate(self, estimator: Any, data: HoldoutData) -> Observation:
        """Look at the holdout: return the value and the outputs, which nobody is shown."""
        seen, outputs = self.coded.rows_seen(estimator, data)
        return observed(self.metric, seen, outputs, seen.value, by_value=data.by_value)

    def ends(self, seen: Rows, ln_deltas: Sequence[float], draw: Draw, even: int = 0) -> list[Ends]:
        """Return the interval at each level, as it is before it is rounded.

        The guess may tilt it, but at the first ``even`` levels, of which each side gets half.
        """
        usual, own = zip(*(self._parts(max(each, LEAST_LN_DELTA)) for each in ln_deltas), strict=True)
        whole = self.metric.bounds
        others = [whole for _ in usual] if self._is_alone else self.coded.ends(seen, usual, draw)
        made, rows = self.construction, (seen.y, seen.outputs, seen.classes)
        if made.several is not None:
            found = made.several(*rows, own, draw.own_generator(), even)
        else:
            found = [made.ends(*rows, each, draw.own_generator()) for each in own]
        ends = []
        for ln_delta, (low, high), among in zip(ln_deltas, found, others, strict=True):
            if ln_delta == -math.inf:
                low, high = among = whole
            low, high = max(low, among[0]), min(high, among[1])
            if low > high:  # one of them misses, which is the failure that was allowed for
                low, high = among
            ends.append((min(low, seen.value), max(high, seen.value)))
        return ends

    def announced(self, ln_delta: float, away: float) -> Ends:
        """Return the ends that the guess foresees at a level, by its rows where they are at hand."""
        _, own = self._parts(ln_delta)
        if self.construction.announced is not None:
            with contextlib.suppress(UndefinedMetricError):  # on a sample of these rows
                return self.construction.announced(own)
        return self.construction.foreseen(self.guess.value, own)

    def _parts(self, ln_delta: float) -> tuple[float, float]:
        """Return the levels of the usual interval and of the construction."""
        if self._is_alone:
            return ln_delta, ln_delta
        return ln_delta + self._ln_usual, ln_delta + self._ln_rest

    @property
    def _ln_usual(self) -> float:
        return -math.log(self.construction.usual_in)

    @property
    def _ln_rest(self) -> float:
        return math.log1p(-math.exp(self._ln_usual))

    @property
    def _is_alone(self) -> bool:
        """Whether the usual interval is the range."""
        made = self.construction
        return self.coded.measure.of_all_rows or made.is_alone or made.counted is not None

    def release(self, seen: Rows | Failure, allowance: Allowance, draw: Draw) -> Released:
        """Return the event of releasing the value and both ends, or the failure."""
        if isinstance(seen, tuple):
            return CodedRelease(seen), {}
        if self.table is not None:
            return CountRelease(self.table.symbols(self.counts(seen))), {}
        index = self.coded.cells.index(seen.value)
        ln_delta = self._own(allowance.ln_delta)
        ends = self.construction.ends(seen.y, seen.outputs, seen.classes, ln_delta, draw.own_generator())
        low, high = self._lattice(*ends)
        low_foreseen, high_foreseen = self._foreseen(index, ln_delta)
        off = [Symbol("count", each, _SCALE) for each in (low - low_foreseen, high - high_foreseen)]
        return CodedRelease((Symbol(self.stream, index, self.scale), *off)), {}

    def expected_symbols(self, allowance: Allowance) -> tuple[CountSymbol | Symbol, ...]:
        """Return what would be released if everything were as foreseen."""
        return self._expected_ends if self.table is None else self.table.symbols(self.table.expected)

    @property
    def _expected_ends(self) -> tuple[Symbol, ...]:
        return (Symbol(self.stream, 0, self.scale), *(Symbol("count", 0, _SCALE),) * 2)

    def half_width_bound(self, allowance: Allowance) -> tuple[float, float]:
        """Return the worst half-width of the answer, and the width of the metric's range."""
        usual = 0.0 if self.construction.is_alone else self._ln_usual
        return self.coded.half_width_bound(replace(allowance, ln_delta=allowance.ln_delta + usual))

    def described_outcome(self, event: Event, allowance: Allowance, memory: dict[str, Any]) -> Outcome:
        """Return what value and ends certify at this failure probability."""
        first, *ends = symbols_of(event)
        if self.table is not None and not isinstance(first.value, str):
            return self._outcome_of_table(self.table, symbols_of(event), allowance.ln_delta)
        if self.construction.is_alone and not isinstance(first.value, str):
            value = self._value(first.value)
            target = self.target + self.coded.rounding
            usual = Outcome(value, self.metric.bounds, "exact", "", target, vacuous=True)
        else:
            usual_allowance = replace(allowance, ln_delta=allowance.ln_delta + self._ln_usual)
            usual = self.coded.described_outcome(CodedRelease((first,)), usual_allowance, {})
        if isinstance(first.value, str):
            return usual
        foreseen = self._foreseen(int(first.value), self._own(allowance.ln_delta))
        points = [each + int(symbol.value) for each, symbol in zip(foreseen, ends, strict=True)]
        centre, (bottom, top) = self.coded.cells.guess, self.metric.bounds
        low = max(centre + self.step * points[0], usual.interval[0], bottom)
        high = min(centre + self.step * points[1], usual.interval[1], top)
        if low > high:  # one of them misses, which is the failure that was allowed for
            low, high = usual.interval
        # Bets row by row may leave out the mean itself, at large levels; an answer is in its own interval.
        low, high = min(low, usual.value), max(high, usual.value)
        vacuous = low <= bottom and high >= top
        return replace(usual, interval=(low, high), theorem=self.theorem, vacuous=vacuous)

    def _outcome_of_table(self, table: CountedTable, symbols: tuple[Any, ...], ln_delta: float) -> Outcome:
        value, interval = table.certified(table.counts(symbols), ln_delta, self.metric.bounds)
        vacuous = interval == self.metric.bounds
        return Outcome(value, interval, "exact", self.theorem, self.target, vacuous)

    def _foreseen(self, index: int, ln_delta: float) -> tuple[int, int]:
        return self._lattice(*self.construction.foreseen(self._value(index), ln_delta))

    def _value(self, index: int) -> float:
        bottom, top = self.metric.bounds
        return min(max(self.coded.cells.centre(index), bottom), top)

    def _own(self, ln_delta: float) -> float:
        """Return the level of the ends that are released at once."""
        return ln_delta if self.construction.is_alone else ln_delta + self._ln_rest

    def _lattice(self, low: float, high: float) -> tuple[int, int]:
        """Return the points of the lattice just outside of two ends."""
        centre = self.coded.cells.guess
        return math.floor((low - centre) / self.step - 1e-9), math.ceil((high - centre) / self.step + 1e-9)


def with_rows_interval(
    question: Question,
    data: HoldoutData,
    policy: Policy,
    *,
    drawn: bool = True,
    tilted: bool = True,
    newer: bool = True,
) -> RowsQuestion | None:
    """Return the same question, answered with an interval of all rows.

    None if the interval that follows from the value alone is no wider. The guess decides that, before the
    holdout is looked at. ``drawn`` says whether the ends may be drawn from the ledger's secret, ``tilted``
    whether the guess may divide the level among the sides, ``newer`` whether tables of two classes may have
    their exact intervals, and blocks and units their bets: where the ledger's terms allow it, for tables also
    that no tolerance bounds widths beforehand.
    """
    if not isinstance(question, CodedQuestion) or not question.may_use_all_rows:
        return None
    is_new = policy.format >= BLOCKS and not policy.is_private
    by_blocks = newer and is_new
    if data.units is not None and (not by_blocks or question.guess.size is None):
        return None  # bets on units are sized by rows of a guess
    guess, size, measure = question.guess, question.size, question.measure
    if measure.needs_rows and guess.details is None:
        return None  # as when it is read from its record
    behind = guess.size or size
    ln_delta = policy.planned_ln_delta
    error = math.sqrt(1.0 / size + 1.0 / behind)
    same_law = policy.class_mix == "priced" or not data.is_classification
    identical = same_law and not question.given_rows
    known = guess.value, guess.deviation, error, data.y, identical, ln_delta, guess.details
    tilted = tilted and policy.format >= 4 and may_tilt(policy)
    by_tables = by_blocks and may_tilt(policy) and not question.given_rows
    foreseen = Foreseen(
        *known, drawn=drawn, guess_rows=float(behind) if tilted else None,
        as_first_released=not is_new, by_tables=by_tables, by_blocks=by_blocks, behind=float(behind),
        given_rows=question.given_rows,
    )  # fmt: skip
    construction = measure.rows_interval(foreseen)
    if construction is None:
        return None
    plain = replace(question, variance=None)
    low, high = construction.foreseen(guess.value, ln_delta)
    step = max((high - low) / (2.0 * _STEPS), 1e-9 * question.metric.width)
    return RowsQuestion(plain, construction, float(f"{step:.3g}"))


@dataclass(frozen=True)
class RecordedTable(CodedQuestion):
    """A certify whose record has a table.

    Parameters
    ----------
    table : CountedTable
    """

    table: CountedTable = field(kw_only=True)

    def described_outcome(self, event: Event, allowance: Allowance, memory: dict[str, Any]) -> Outcome:
        """Return what the table certifies at this failure probability."""
        symbols = symbols_of(event)
        if isinstance(symbols[0].value, str):
            return Outcome.failed(self.metric.why_failed(symbols[0].value), self.metric.bounds, self.target)
        counts = self.table.counts(symbols)
        value, interval = self.table.certified(counts, allowance.ln_delta, self.metric.bounds)
        vacuous = interval == self.metric.bounds
        return Outcome(value, interval, "exact", self.measure.theorem, self.target, vacuous)


def as_released(question: CodedQuestion, mechanism: dict[str, Any]) -> CodedQuestion:
    """Return the question that reads an answer's table or, whatever was released beside it, its value."""
    if "interval" not in mechanism:
        return question
    plain, made = replace(question, variance=None), mechanism["interval"]
    if "table" not in made:
        return plain
    given = {each.name: getattr(plain, each.name) for each in fields(plain) if each.init}
    return RecordedTable(**given, table=CountedTable.from_description(made["table"]))
