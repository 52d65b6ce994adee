"""Answer a check or a certify without noise: which cell around the guess holds the holdout's value.

Cells are intervals of values of equal width, number 0 centred at the guess. A check asks with wide cells
whether the guess holds; the cells of a certify are so narrow that the answer is exact (one for each count
where the value is a count over n). What is released is the number of the cell, the symbol.

The cells of a `FilledCheck` take all the room that the tolerance leaves. The interval of a check reaches half
a cell beyond that of the exact value, which is the wider the more was revealed before. So while little was,
wide cells keep within the tolerance, and wide cells rarely surprise. The width of a cell follows from the
question's part of the failure probability, which earlier records decide and the answer does not: everything
is still fixed before the holdout is looked at.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sklearn_ada._validation import bad_parameter, check_real, plain
from sklearn_ada.accounting.codes import symbols_of
from sklearn_ada.accounting.events import BLOCKS, CodedRelease, Event, Symbol
from sklearn_ada.answer import ROUNDED
from sklearn_ada.guarantees.intervals import chernoff_kl, empirical_bernstein, wilson_deviation
from sklearn_ada.guarantees.tilted import LN_LEAST_SIDES, Tilt
from sklearn_ada.mechanisms.rounding import LEAST_CELL, Cells, LogBuckets
from sklearn_ada.metrics.base import Measure, Measured
from sklearn_ada.metrics.metric import Metric
from sklearn_ada.metrics.mixes import AtMix
from sklearn_ada.questions.question import Draw, Failure, Guess, Outcome, Question, Released
from sklearn_ada.questions.seals import LEAST_LN_DELTA, Ends
from sklearn_ada.terms.holdout_data import HoldoutData
from sklearn_ada.terms.outputs import Observation, observed
from sklearn_ada.terms.policy import Allowance, Policy

_wilson_deviation = plain(wilson_deviation)  # of a guess that is checked already
_COUNT_SCALE = 3.0  # how many buckets a ratio's denominator or a variance is expected to be off
_VARIANCES = LogBuckets(1.05)
_LEAST_VARIANCE = 1e-9
_LN_FALLBACK = -math.log(10.0)
_CHECKED = {True: "agrees", False: "differs"}


@dataclass(frozen=True)
class Rows:
    """What one look at the holdout gave: the value, and all that an interval is made of."""

    value: float
    size: float
    y: NDArray[Any]
    outputs: NDArray[Any]
    classes: NDArray[Any] | None


@dataclass(frozen=True)
class CodedQuestion(Question):
    """One check or certify without noise; the metric has an interval of its own.

    Parameters
    ----------
    purpose : {"check", "certify"}
    metric : Metric
    measure : Measure
        How the metric becomes an interval on these rows.
    guess : Guess
    cells : Cells
        What the value is rounded to.
    stream : {"cells", "lattice"}
        The code that prices the number of the cell: of a check's cells, or of a certify's
        (`sklearn_ada.accounting.codes`).
    scale : float
        How many cells a certify is expected to be off its guess; 0 for a check.
    size : float
        Number of independent terms behind the value; for ratios, as expected from the guess.
    target : str
        The population quantity that is certified.
    variance : float or None
        The variance of one score that the guess suggests, as a part of the squared range. If it is given,
        the variance on the holdout is released too, because the interval is then likely to be narrower.
    is_chosen : bool
        Whether the asker has chosen the width of a check's cells.
    given_rows : bool
        Whether it is about predictions that may depend on X (`predictions.Predictions`): labels are then
        drawn given X, with a probability of its own for each row.
    tilt : Tilt or None
        How the guess divides the level of a certify of a count; None where it does not.
    error : float or None
        Standard error of the holdout's value around the guess; None where nothing was guessed.
    rounding : str
        What the target of a released value says of its steps; empty where it is a count.
    """

    settings_type = float
    purposes = ("check",)
    may_be_declared = True
    is_found_by_subject = True

    purpose: str
    metric: Metric
    measure: Measure
    guess: Guess
    cells: Cells
    stream: str
    scale: float
    size: float
    target: str
    variance: float | None = None
    is_chosen: bool = False
    given_rows: bool = False
    tilt: Tilt | None = None
    error: float | None = None
    rounding: str = ""

    @classmethod
    def plan(
        cls,
        purpose: str,
        metric: Metric,
        guess: Guess | None,
        data: HoldoutData,
        policy: Policy,
        half_cell: float | None = None,
    ) -> CodedQuestion:
        """Fix cells and code from the guess, the policy and the class counts.

        `UndefinedMetricError` if the labels do not allow the metric.
        """
        (low, high), width, expected = metric.bounds, metric.width, guess
        if guess is None:
            guess = Guess((low + high) / 2.0)
        measure = data.measure_of(metric)
        labels = data.labels_for(metric, measure)
        measure = measure.foreseeing(guess.value, guess.share, labels)
        size = measure.size(labels)
        target = _target_of(metric, measure, data, policy)
        scaled = (guess.value - low) / width  # to [0, 1]
        behind = guess.size or size
        spread, deviation = _deviations(guess, scaled, size, width)
        error = deviation * math.sqrt(1.0 / size + 1.0 / behind)
        if purpose == "certify":
            if measure.counts:  # each cell holds exactly one count
                scale = error * size
                cells = Cells(low + width * round(scaled * size) / size, width * 0.5 / size)
            else:  # a tenth of a standard error: finer would cost more and say no more
                scale, cells = 10.0, Cells(guess.value, width * max(error / 20.0, LEAST_CELL))
            scale = float(f"{max(scale, 0.5):.3g}")
            variance = foreseen_variance(measure, guess, (low, high), size, policy)
            tilt = _tilt_of(expected, measure, metric, data, policy)
            about = (metric, measure, guess, cells, "lattice", scale, size, target)
            around = None if expected is None else width * error
            is_exact = measure.counts or policy.format < BLOCKS  # older ledgers do not say it
            rounding = "" if is_exact else f"{ROUNDED}{2.0 * cells.half_cell:.3g}"
            return cls(purpose, *about, variance=variance, tilt=tilt, error=around, rounding=rounding)
        if half_cell is not None:
            half_cell = check_real(half_cell, "threshold", "a check", low=width * LEAST_CELL, closed="low")
        wide = half_cell or width * max(policy.half_cell(error, spread, size), LEAST_CELL)
        cells, is_chosen = Cells(guess.value, wide), half_cell is not None
        return cls(purpose, metric, measure, guess, cells, "cells", 0.0, size, target, is_chosen=is_chosen)

    @property
    def may_use_all_rows(self) -> bool:  # type: ignore[override]
        """Whether an interval of all rows may be narrower; for a count, none is."""
        return self.purpose == "certify" and not self.measure.counts

    def describe(self) -> dict[str, Any]:
        """Return a JSON-ready description of everything that is fixed."""
        where = {"centre": self.cells.guess, "half_cell": self.cells.half_cell}
        tilt = {} if self.tilt is None else {"tilt": vars(self.tilt)}
        return {"name": self.purpose, **where, "scale": self.scale, **tilt}

    @property
    def untilted(self) -> CodedQuestion:
        """The same question, with Clopper and Pearson's interval."""
        return self if self.tilt is None else replace(self, tilt=None)

    def chosen(self) -> dict[str, Any] | None:
        """Return the width of a check's cells, if the asker has chosen it."""
        return {"half_cell": self.cells.half_cell} if self.is_chosen else {}

    def look_at(self, estimator: Any, data: HoldoutData) -> tuple[Measured, NDArray[Any]]:
        """Look at the holdout: return the value and the model's outputs.

        What the model raises becomes a failure (`looking.look`).
        """
        labels = data.labels_for(self.metric, self.measure)
        outputs = self.metric.outputs(estimator, data.X, labels)
        return self.metric.measured(estimator, labels, outputs, self.measure), outputs

    def rows_seen(self, estimator: Any, data: HoldoutData) -> tuple[Rows, NDArray[Any]]:
        """Look at the holdout: return all that an interval is made of, and the model's outputs."""
        measured, outputs = self.look_at(estimator, data)
        classes = getattr(estimator, "classes_", None) if self.metric.response.needs_classes else None
        labels = None if classes is None else np.asarray(classes)
        return Rows(measured.value, measured.size, data.y, outputs, labels), outputs

    def ends(self, seen: Rows, ln_deltas: Sequence[float], draw: Draw, even: int = 0) -> list[Ends]:
        """Return the interval that follows from the value alone at each level; a side gets half of it."""
        value, found = seen.value, []
        for ln_delta in ln_deltas:
            at_least = max(ln_delta, LEAST_LN_DELTA)
            low, high = self.measure.interval((value, value), seen.size, at_least)
            if ln_delta == -math.inf:
                low, high = self.metric.bounds
            found.append((min(low, value), max(high, value)))
        return found

    def announced(self, ln_delta: float, away: float) -> Ends:
        """Return the ends that the guess foresees at a level, where the value is so far from it as it may be.

        The interval is that of a value which is ``away`` from the guess, to the side of each end, moved back.
        """
        (bottom, top), size = (
            self.metric.bounds,
            self._size_of(0) if self.measure.size_is_released else self.size,
        )
        below, above = max(self.guess.value - away, bottom), min(self.guess.value + away, top)
        low, _ = self.measure.interval((below, below), size, ln_delta)
        _, high = self.measure.interval((above, above), size, ln_delta)
        return self.guess.value - (below - low), self.guess.value + (high - above)

    def evaluate(self, estimator: Any, data: HoldoutData) -> Observation:
        """Look at the holdout: return the symbols that will be released once they are recorded."""
        measured, outputs = self.look_at(estimator, data)
        return observed(
            self.metric, self.symbols_of(measured), outputs, measured.value, by_value=data.by_value
        )

    def symbols_of(self, measured: Measured) -> tuple[Symbol, ...]:
        """Return the symbols of what was measured: its cell, and what is released beside it."""
        symbol = Symbol(self.stream, self.cells.index(measured.value), self.scale)
        if self.measure.size_is_released:
            offset = self._sizes.index(max(measured.size, 1.0)) - self._sizes.index(max(self.size, 1.0))
            return (symbol, Symbol("count", offset, _COUNT_SCALE))
        if self.variance is not None:
            assert measured.deviation is not None
            offset = self._variance_bucket(measured.deviation) - _VARIANCES.index(self.variance)
            return (symbol, Symbol("count", offset, _COUNT_SCALE))
        return (symbol,)

    def expected_symbols(self, allowance: Allowance) -> tuple[Symbol, ...]:
        """Return what would be released if the guess were exact: number 0 of everything."""
        symbol = Symbol(self.stream, 0, self.scale)
        more = self.measure.size_is_released or self.variance is not None
        return (symbol, Symbol("count", 0, _COUNT_SCALE)) if more else (symbol,)

    def release(self, seen: tuple[Symbol, ...], allowance: Allowance, draw: Draw) -> Released:
        """Return the event of releasing these symbols; nothing is drawn and nothing remembered."""
        return CodedRelease(seen), {}

    def half_width_bound(self, allowance: Allowance) -> tuple[float, float]:
        """Return the worst half-width of the answer, and the width of the metric's range.

        That of a ratio is taken at the denominator that the guess suggests; that of a count at a guess which
        is so wrong that it leaves the least there is to both sides.
        """
        ln_delta = allowance.ln_delta + (0.0 if self.variance is None else _LN_FALLBACK)
        ln_delta += 0.0 if self.tilt is None else LN_LEAST_SIDES
        size = self._size_of(0) if self.measure.size_is_released else self.size
        return self.measure.half_width_bound(self.cells.half_cell, size, ln_delta), self.metric.width

    def described_outcome(self, event: Event, allowance: Allowance, memory: dict[str, Any]) -> Outcome:
        """Return what the symbols certify at this failure probability."""
        low, high = self.metric.bounds
        symbols = symbols_of(event)
        index = symbols[0].value
        if isinstance(index, str):
            return Outcome.failed(self.metric.why_failed(index), self.metric.bounds, self.target)
        interval, theorem = self._interval(symbols, allowance.ln_delta)
        value = min(max(self.cells.centre(index), low), high)
        verdict = "exact" if self.purpose == "certify" else _CHECKED[index == 0]
        vacuous = interval[0] <= low and interval[1] >= high
        return Outcome(value, interval, verdict, theorem, self.target + self.rounding, vacuous)

    def _interval(self, symbols: tuple[Symbol, ...], ln_delta: float) -> tuple[tuple[float, float], str]:
        """Return the interval and its theorem, from everything that was released."""
        bounds, ends = self.metric.bounds, self.cells.ends(int(symbols[0].value))
        if self.tilt is not None:  # a cell is one count
            count = min(max(round(self.cells.centre(int(symbols[0].value)) * self.size), 0), self.tilt.n)
            return self.tilt.interval(count, count, ln_delta), self.tilt.theorem
        if self.measure.size_is_released:
            size = self._size_of(int(symbols[1].value))
            return self.measure.interval(ends, size, ln_delta), self.measure.theorem
        if self.variance is None:
            return self.measure.interval(ends, self.size, ln_delta), self.measure.theorem
        # Should the variance be larger than expected, the usual interval at a tenth of delta is a fallback.
        usual = self.measure.interval(ends, self.size, ln_delta + _LN_FALLBACK)
        low, high = (min(max(end, bounds[0]), bounds[1]) for end in ends)
        variance = _VARIANCES.high(_VARIANCES.index(self.variance) + int(symbols[1].value))
        variance *= self.metric.width**2
        ln_rest = ln_delta + math.log1p(-math.exp(_LN_FALLBACK))
        narrow = empirical_bernstein(low, high, variance, int(self.size), ln_rest, bounds)
        interval = (max(usual[0], narrow[0]), min(usual[1], narrow[1]))
        return interval, f"{self.measure.theorem}; empirical Bernstein (Maurer, Pontil 2009)"

    def _variance_bucket(self, deviation: float) -> int:
        """Return the bucket of the unbiased variance, in units of the squared range."""
        unbiased = (deviation / self.metric.width) ** 2 * self.size / (self.size - 1.0)
        return _VARIANCES.index(max(unbiased, _LEAST_VARIANCE))

    def _size_of(self, offset: int) -> float:
        """Return the smallest denominator in a bucket.

        ``offset`` counts buckets from that of the expected denominator.
        """
        bucket = self._sizes.index(max(self.size, 1.0)) + offset
        return max(1.0, math.floor(self._sizes.low(bucket)))

    @property
    def _sizes(self) -> LogBuckets:
        """To what a ratio's denominator is rounded: steps of 10 % for a check, of 1 % for a certify."""
        return LogBuckets(1.1 if self.purpose == "check" else 1.01)


def _tilt_of(
    guess: Guess | None, measure: Measure, metric: Metric, data: HoldoutData, policy: Policy
) -> Tilt | None:
    """Return how a guess divides the level of an exact count of rows; None where it may not."""
    of_rows = measure.counts and data.units is None and metric.bounds == (0.0, 1.0)
    if guess is None or not of_rows or not may_tilt(policy):
        return None
    n, same_mix = len(data), policy.class_mix == "priced" or not data.is_classification
    return Tilt(min(max(guess.value, 0.0), 1.0), guess.size or n, n, identical_rows=same_mix)


def may_tilt(policy: Policy) -> bool:
    """Return whether guesses divide the levels of intervals among their sides.

    Under a tolerance they do not: a guess that is wrong makes an interval wider.
    """
    return policy.format >= 3 and policy.tolerance is None and not policy.is_private


def foreseen_variance(
    measure: Measure, guess: Guess, bounds: tuple[float, float], size: float, policy: Policy
) -> float | None:
    """Return the variance that the guess suggests, or None.

    It is a part of the squared range, for a certify that releases the variance, too: where an interval that
    uses it promises to be narrower. The guess alone decides that.
    """
    if not measure.has_variance or guess.deviation is None or size < 2:
        return None
    width = bounds[1] - bounds[0]
    scaled, ln_delta = (guess.value - bounds[0]) / width, policy.planned_ln_delta
    _, deviation = _deviations(guess, scaled, size, width)
    variance, at = max(deviation**2 if guess.deviation else 0.0, _LEAST_VARIANCE), min(max(scaled, 0.0), 1.0)
    usual = chernoff_kl(at, at, size, ln_delta)
    narrow = empirical_bernstein(at, at, variance, int(size), ln_delta + math.log1p(-math.exp(_LN_FALLBACK)))
    return variance if narrow[1] - narrow[0] < 0.97 * (usual[1] - usual[0]) else None


def _target_of(metric: Metric, measure: Measure, data: HoldoutData, policy: Policy) -> str:
    """Return what is certified: of which rows, at which mix, and to what it is clipped."""
    units, begins_with_mix = data.units, data.format >= BLOCKS
    is_bounded = units is not None and units.bound is not None
    # The asker may have learnt the class counts, and favour classes that have too many rows.
    given = [metric.mix] if policy.class_mix == "conditional" and data.is_classification else []
    if units is not None and not is_bounded:
        given += ["weights"] * units.has_weight + ["group sizes"] * units.has_groups
    at = ""
    if given:
        *others, last = given
        first = (", " if begins_with_mix else " and ").join(others)
        at = f" at the holdout's {first} and {last}" if first else f" at the holdout's {last}"
    elif policy.mix is not None:  # else it does not depend on it
        at = measure.clause if isinstance(measure, AtMix) else " at any class mix"
    whose = "population's weighted" if is_bounded and units is not None and units.has_weight else "population"
    clip = f", {metric.measure.clipping}" if metric.clips else ""
    more = "" if isinstance(measure, AtMix) else measure.clause
    return f"{whose} {metric.name}{at + clip if begins_with_mix else clip + at}{more}"


def _deviations(guess: Guess, scaled: float, size: float, width: float) -> tuple[float, float]:
    """Return the deviation of a 0/1 score with this mean, and the guess's own."""
    spread = _wilson_deviation(min(max(scaled, 0.0), 1.0), guess.size or size)
    given = guess.deviation
    return spread, spread if given is None else max(given / width, 1e-3 * spread)


FILL = "fill"


@dataclass(frozen=True)
class RefinedQuestion(Question):
    """A question whose mechanism is built on the question without noise, ``coded``."""

    coded: CodedQuestion
    purposes = ("check",)

    purpose = property(lambda self: self.coded.purpose)
    guess = property(lambda self: self.coded.guess)
    stream = property(lambda self: self.coded.stream)
    scale = property(lambda self: self.coded.scale)
    target = property(lambda self: self.coded.target)

    @property
    def metric(self) -> Metric:  # type: ignore[override]
        """The metric that is asked for."""
        return self.coded.metric

    @classmethod
    def refine(cls, coded: CodedQuestion, settings: Any, data: HoldoutData, policy: Policy) -> Self:
        """Return the same question, answered by the mechanism that these settings describe.

        Raises
        ------
        ValueError
            If the settings do not fit the question.
        """
        raise NotImplementedError  # of a mechanism that no settings ask for

    def evaluate(self, estimator: Any, data: HoldoutData) -> Observation:
        """Look at the holdout and return the metric's value."""
        measured, outputs = self.coded.look_at(estimator, data)
        return observed(self.metric, measured.value, outputs, measured.value, by_value=data.by_value)


@dataclass(frozen=True)
class FilledCheck(RefinedQuestion):
    """A check with the widest cells that the tolerance allows.

    The half cell is the tolerance minus the half-width of an exact answer at the current L. No answer is
    wider than the tolerance, and none is narrower by much: this is for those who want as many answers as
    there can be within a width that was chosen beforehand. Once less than half a row is left for the half
    cell, questions are refused.

    Parameters
    ----------
    coded : CodedQuestion
        The question; its own cells are not used.
    room : float
        Largest half-width accepted, in units of the metric.
    """

    room: float
    settings_type = str
    may_be_declared = True

    @classmethod
    def refine(cls, coded: CodedQuestion, settings: Any, data: HoldoutData, policy: Policy) -> Self:
        """Fix everything but the width; ValueError without a tolerance."""
        if policy.tolerance is None:
            expected = "something else on a holdout without a tolerance"
            fix = "Open the holdout with tolerance=, which is what cells can fill."
            raise bad_parameter("settings", "Holdout.check", expected, FILL, fix)
        return cls(coded, policy.tolerance * coded.metric.width)

    def with_cells_for(self, allowance: Allowance) -> CodedQuestion:
        """Return the check with the cells that it has at this allowance.

        The half cell is rounded down to seven digits, so that it is the same on every machine.
        """
        least = self.metric.width * max(LEAST_CELL, 0.5 / self.coded.size)
        narrowest = replace(self.coded, cells=Cells(self.coded.guess.value, least))
        half_width, _ = narrowest.half_width_bound(allowance)
        half_cell = float(f"{(self.room - half_width + least) * (1.0 - 1e-6):.7g}")
        if half_cell <= least:
            return narrowest
        return replace(self.coded, cells=Cells(self.coded.guess.value, half_cell))

    def describe(self) -> dict[str, Any]:
        """Return what is fixed by the question alone; earlier records fix the rest."""
        return {**self.coded.describe(), "half_cell": FILL}

    def chosen(self) -> dict[str, Any] | None:
        """Return that the tolerance chooses the width of the cells."""
        return {"half_cell": FILL}

    def evaluate(self, estimator: Any, data: HoldoutData) -> Observation:
        """Look at the holdout; which cell the value is in follows when it is recorded."""
        measured, outputs = self.coded.look_at(estimator, data)
        return observed(self.metric, measured, outputs, measured.value, by_value=data.by_value)

    def release(self, seen: Measured | Failure, allowance: Allowance, draw: Draw) -> Released:
        """Return the event of releasing the cell; nothing is drawn and nothing remembered."""
        symbols = seen if isinstance(seen, tuple) else self.with_cells_for(allowance).symbols_of(seen)
        return CodedRelease(symbols), {}

    def expected_symbols(self, allowance: Allowance) -> tuple[Symbol, ...]:
        """Return what would be released if the guess were exact."""
        return self.coded.expected_symbols(allowance)

    def half_width_bound(self, allowance: Allowance) -> tuple[float, float]:
        """Return the worst half-width of the answer, and the width of the metric's range."""
        return self.with_cells_for(allowance).half_width_bound(allowance)

    def described_outcome(self, event: Event, allowance: Allowance, memory: dict[str, Any]) -> Outcome:
        """Return what the symbols certify at this failure probability."""
        return self.with_cells_for(allowance).described_outcome(event, allowance, memory)
