"""Answer with a stable median: the median of a metric's values on disjoint subsamples, drawn from a grid.

Feldman, Steinke, "Generalization for Adaptively-chosen Estimators via Stable Median", COLT 2017. It certifies
metrics that have no interval of their own. The values on the subsamples are rounded to a finite grid (the
asker's own, or laid around the guess, or evenly over the metric's range), and the median is drawn from it
with noise, or taken exactly. Either way one of finitely many grid points is released, which is a symbol with
a price in nats. Below, phi is the metric's value on one random subsample.

A value that is drawn as the median of m values has the *rank error* e if at most ``(1/2 + e) m`` of them are
below it, and at most as many above it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_ada._validation import LN_2, bad_parameter, check_integer, check_option, check_real
from sklearn_ada.accounting import events
from sklearn_ada.accounting.codes import symbols_of
from sklearn_ada.accounting.differential_privacy import exponential_epsilon
from sklearn_ada.accounting.events import Event, Symbol
from sklearn_ada.accounting.filters import Unit, subsamples_unit
from sklearn_ada.data.labels import Subsamples
from sklearn_ada.guarantees import medians
from sklearn_ada.guarantees.description_length import planned_questions
from sklearn_ada.mechanisms import quantiles
from sklearn_ada.mechanisms.rounding import Grid, UniformGrid
from sklearn_ada.metrics.metric import Metric
from sklearn_ada.questions.question import Draw, Failure, Guess, Outcome, Question, Released
from sklearn_ada.terms.holdout_data import HoldoutData
from sklearn_ada.terms.outputs import Observation, observed
from sklearn_ada.terms.policy import GRID_POINTS, Allowance, Policy
from sklearn_ada.terms.privacy_account import PrivateRelease, TransferAllowance

METHODS = ("binary_search", "exact", "exponential")


@dataclass(frozen=True)
class MedianSettings:
    """Set how the median over small samples is drawn.

    Parameters
    ----------
    n_subsamples : int or "auto"
        Into how many parts the holdout is split. "auto": one for every 20 rows (or groups), at most 400; for
        "exact" one less where that is even, as the lower median of an even number has fewer values on one of
        its sides.
    grid : Grid or "auto"
        The values that an answer may have. "auto": centred at the guess, with a step that the spread of the
        guess suggests; without a guess from rows, 1,001 points over the metric's range.
    epsilon : float or "auto"
        Privacy parameter of one draw (for "binary_search": mu of Gaussian DP). "auto" takes what the privacy
        budget leaves; where privacy does not certify, so much that the median's rank is off by about a tenth
        of the subsamples at most.
    method : {"exponential", "binary_search", "exact"}
        Draw the median by the exponential mechanism or by a noisy binary search, or take it exactly, without
        privacy.
    stratify : bool
        Give all subsamples the same class counts. The target is then the median over such subsamples.
    """

    n_subsamples: int | str = "auto"
    grid: Grid | str = "auto"
    epsilon: float | str = "auto"
    method: str = "exponential"
    stratify: bool = False

    def __post_init__(self) -> None:
        owner = "StableHoldoutScorer"
        check_option(self.method, "method", owner, METHODS)
        if not isinstance(self.stratify, bool):
            raise bad_parameter("stratify", owner, "True or False", self.stratify)
        if self.n_subsamples != "auto":
            check_integer(self.n_subsamples, "n_subsamples", owner)
        if self.epsilon != "auto":
            check_real(self.epsilon, "epsilon", owner, low=0.0)
        if self.grid != "auto" and not isinstance(self.grid, Grid):
            raise bad_parameter("grid", owner, "'auto' or a Grid such as UniformGrid(0, 1, 1001)", self.grid)

    def subsamples(self, data: HoldoutData) -> int:
        """Return the number of subsamples of some data.

        Parameters
        ----------
        data : HoldoutData
            The rows, and how they may be drawn.
        """
        owner, most = "StableHoldoutScorer", data.n_units
        of_what = "groups of the holdout" if data.has_groups else "rows of the holdout"
        if self.stratify:
            if not data.is_classification or data.has_groups:
                expected = "False where y holds numbers and with groups"
                raise bad_parameter("stratify", owner, expected, self.stratify)
            most, of_what = int(data.class_counts.min()), "rows of the rarest class"
        if isinstance(self.n_subsamples, str):
            auto = self._usual(data)
            return auto - 1 + auto % 2 if self.method == "exact" else auto
        if self.n_subsamples > most:
            raise bad_parameter("n_subsamples", owner, f"at most the {most} {of_what}", self.n_subsamples)
        return self.n_subsamples

    def subsample_size(self, data: HoldoutData) -> int:
        """Return how many rows each subsample of some data has; with groups on average.

        Parameters
        ----------
        data : HoldoutData
            The rows, and how they may be drawn.
        """
        count = self.subsamples(data)
        size = data.subsample_size(count, stratify=self.stratify)
        return len(data) // count if data.has_groups else size

    def family(self, data: HoldoutData) -> str:
        """Return the name of the medians over the same subsamples.

        They have a gap in common (`sklearn_ada.guarantees.transfer`).

        Parameters
        ----------
        data : HoldoutData
            The rows that are split into subsamples.
        """
        m = self.subsamples(data)
        number = "usual" if m == self._usual(data) else str(m)
        return f"{number} stratified subsamples" if self.stratify else f"{number} subsamples"

    def drawing(self, grid_size: int, data: HoldoutData, policy: Policy, draws: int) -> MedianDraw:
        """Return how quantiles are drawn, with the privacy parameter epsilon that the user leaves open.

        Where privacy certifies, the budget is divided by the number of questions expected, or by the number
        of ``draws`` that this one makes if that is larger. Elsewhere epsilon is such that the rank error is
        about 0.1.

        Parameters
        ----------
        grid_size : int
            Number of points of the grid.
        data : HoldoutData
            The rows that are split into subsamples.
        policy : Policy
            The holdout's.
        draws : int
            How many quantiles the question draws.
        """
        m = self.subsamples(data)
        unit = subsamples_unit(m, stratified=self.stratify)
        planned = planned_questions(policy.expected_questions)
        if not isinstance(self.epsilon, str):
            epsilon = self.epsilon
        elif policy.is_private:
            rho = policy.privacy_budget(unit, data.n_units) / max(planned, draws)
            epsilon = _epsilon_of_budget(self.method, rho)
        else:
            ln_beta = policy.ln_beta - math.log(2.0 * planned)
            epsilon = _epsilon_of_rank_error(self.method, grid_size, m, ln_beta)
        return MedianDraw(unit, grid_size, epsilon, self.method)

    def lay_grid(
        self, purpose: str, metric: Metric, guess: Guess | None, data: HoldoutData, policy: Policy
    ) -> MedianGrid:
        """Return the grid of a median; it does not depend on the holdout's values.

        Parameters
        ----------
        purpose : {"check", "certify"}
            What is asked.
        metric : Metric
            The metric that is asked for.
        guess : Guess or None
            What the median is expected to be.
        data : HoldoutData
            The rows that are split into subsamples.
        policy : Policy
            The holdout's.
        """
        if isinstance(self.grid, Grid):
            return _wide(self.grid)
        if guess is not None and guess.deviation is not None:
            m = self.subsamples(data)
            spread = spread_of(guess, metric, data.subsample_size(m, stratify=self.stratify))
            return self._around(guess, spread, m, policy, purpose)
        if metric.range is not None:
            return _wide(UniformGrid(*metric.range, GRID_POINTS))
        expected = f"given for {metric.name}, which has no finite range, unless the guess comes from rows"
        fix = "Take the guess from validation rows, guess_from=(X_val, y_val), "
        if metric.is_scorer_with_interval:
            fix += f"declare its range, Metric({metric.name!r}, range=(low, 0)), "
        fix += (
            "or ask with settings=MedianSettings(grid=sklearn_ada.mechanisms.UniformGrid(low, high, size))."
        )
        raise bad_parameter("grid", "MedianSettings", expected, self.grid, fix)

    def _around(self, guess: Guess, spread: float, m: int, policy: Policy, purpose: str) -> MedianGrid:
        """Return a grid around the guess; a check's steps are so wide that the median mostly rounds to it."""
        error = medians.MEDIAN_DEVIATION * spread * math.sqrt(1.0 / m + 1.0 / max(guess.size or m, 1.0))
        if purpose == "check":
            half_cell, scale = policy.half_cell(error, medians.MEDIAN_DEVIATION * spread, m), 0.0
            points = _EXACT_POINTS if self.method == "exact" else medians.DRAWN_POINTS
        elif self.method == "exact":
            half_cell, scale, points = error / (2.0 * _STEPS_AN_ERROR), _STEPS_AN_ERROR, _EXACT_POINTS
        else:
            half_cell, scale, points = error / 2.0, _NOISE_IN_ERRORS, GRID_POINTS
        reach = half_cell * (points - 1)
        return MedianGrid(UniformGrid(guess.value - reach, guess.value + reach, points), scale, centred=True)

    def _usual(self, data: HoldoutData) -> int:
        most = int(data.class_counts.min()) if self.stratify else data.n_units
        return max(1, min(data.n_units // 20, 400, most))


_AUTO_RANK_ERROR = 0.1


@dataclass(frozen=True)
class MedianDraw:
    """A quantile on a grid: drawn by the exponential mechanism or by noisy binary search, or exact.

    Parameters
    ----------
    unit : Unit
        What is replaced between neighbouring data sets: one subsample.
    grid_size : int
    epsilon : float
        Privacy parameter of one draw (for "binary_search": mu of Gaussian DP); not used by "exact".
    method : {"exponential", "binary_search", "exact"}
    """

    unit: Unit
    grid_size: int
    epsilon: float
    method: str

    @property
    def is_exact(self) -> bool:
        """Whether there is no noise, and so no privacy."""
        return self.method == "exact"

    def quantile(self, indices: NDArray[np.int64], level: float, rng: np.random.Generator) -> int:
        """Return the grid index of a quantile of some grid indices."""
        if self.is_exact:
            return quantiles.grid_quantile(indices, level)
        if self.method == "binary_search":
            return quantiles.noisy_search(
                indices, self.grid_size, level=level,
                tolerance=self._count_tolerance, deviation=self._count_noise, rng=rng,
            )  # fmt: skip
        ends = {"low": level, "high": level}
        return quantiles.exponential_quantile(indices, self.grid_size, self.epsilon, rng, **ends)

    def event(self, symbol: Symbol) -> Event:
        """Return the privacy event of drawing one quantile."""
        if self.method == "binary_search":
            return events.GaussianEvent(1.0 / self.epsilon, (symbol,))
        return events.ExponentialMechanismEvent(self.epsilon, (symbol,))

    def rank_error(self, ln_noise: float, draws: int) -> float:
        """Return a rank error that, with this failure probability, none of so many draws exceeds."""
        if self.is_exact:
            return 0.0
        m, beta = self.unit.parts, math.exp(ln_noise) / draws
        if self.method == "binary_search":  # its tolerance is fixed: it holds at this beta, or nothing does
            reached = quantiles.binary_search_error(self._count_noise, m, self.grid_size, beta) / 4.0
            return 2.0 * self._count_tolerance if reached <= self._count_tolerance else 0.5
        return quantiles.rank_error(self.epsilon, m, self.grid_size, beta)

    @property
    def mean_excess(self) -> float:
        """By how much a rank error exceeds `rank_error`, on average, once it does; never more than 1/2."""
        if self.method == "binary_search":  # a search that went astray may end anywhere
            return 0.5
        return min(2.0 / (self.epsilon * self.unit.parts), 0.5)  # an exponential tail

    @property
    def _count_noise(self) -> float:
        """Standard deviation of the noise of each count: so that one whole search is epsilon-GDP."""
        return math.sqrt(quantiles.n_counting_questions(self.grid_size)) / self.epsilon

    @property
    def _count_tolerance(self) -> float:
        return _AUTO_RANK_ERROR / 2.0


def _epsilon_of_budget(method: str, rho: float) -> float:
    epsilon = math.sqrt(2.0 * rho) if method == "binary_search" else exponential_epsilon(rho)
    return float(f"{epsilon:.3g}") * 0.99  # rounded, yet never above what the budget leaves


def _epsilon_of_rank_error(method: str, grid_size: int, m: int, ln_beta: float) -> float:
    if method == "binary_search":
        questions = quantiles.n_counting_questions(grid_size)
        noise = _AUTO_RANK_ERROR / 2.0 * m / math.sqrt(2.0 * (math.log(questions) - ln_beta))
        return float(f"{math.sqrt(questions) / noise:.3g}")
    return float(f"{2.0 * (math.log(grid_size) - ln_beta) / (_AUTO_RANK_ERROR * m):.3g}")


_EXACT_POINTS = 20_001  # of an exact median: its price does not depend on them, so it reaches far
# One error is the standard error of the median less the guess.
_STEPS_AN_ERROR = 10.0  # of an exact certify: finer would cost more and say no more
_NOISE_IN_ERRORS = 3.0  # about, of a certify that is drawn with noise; so its steps are whole errors


class MedianGrid(NamedTuple):
    """A grid, and what the code of its points expects.

    Attributes
    ----------
    grid : Grid
    scale : float
        How many steps from the guess the median is expected; 0 for a check whose grid is around the guess.
    centred : bool
        Whether the grid is laid around the guess, with a step made of its error.
    """

    grid: Grid
    scale: float
    centred: bool


def spread_of(guess: Guess, metric: Metric, units_each: int) -> float:
    """Return the standard deviation of the metric on one subsample that the guess suggests.

    Where all validation subsamples scored the same (a model fitted on them is perfect on each), they do not
    say how much the holdout's will vary. Then it is what one row of a subsample can change.
    """
    assert guess.deviation is not None
    size = max(abs(guess.value), 1e-3)
    if guess.deviation > 1e-6 * size:
        return guess.deviation
    low, high = metric.range or (0.0, size)
    return (high - low) / units_each


def rounding(grid: Grid) -> str:
    """Return in words what the values of the subsamples are rounded to, for the target."""
    if isinstance(grid, UniformGrid):
        return f"rounded to steps of {grid.value(1) - grid.value(0):.3g}"
    return "rounded to the points of its grid"


def open_levels(level: float, index: int, grid: Grid, bounds: tuple[float, float]) -> tuple[float, float]:
    """Return the levels of the quantiles between which a grid point is.

    They are ``level`` and ``1 - level`` inside the grid. Values beyond an end of the grid were moved to that
    end, so the level on that side is 0 or 1, unless the metric's range ends there, too.
    """
    below_all = index == 0 and grid.value(0) > bounds[0]
    above_all = index == grid.size - 1 and grid.value(index) < bounds[1]
    return (0.0 if above_all else level), (1.0 if below_all else 1.0 - level)


def _wide(grid: Grid) -> MedianGrid:
    """Return a grid that is not laid around the guess; the code expects medians far from its centre."""
    return MedianGrid(grid, max(grid.size / 50.0, 1.0), centred=False)


@dataclass(frozen=True)
class StableQuestion(Question):
    """One stable median.

    Parameters
    ----------
    purpose : {"check", "certify"}
        A check releases the median, a certify also two other quantiles of the subsamples' values, the outer
        quantiles, which enclose the population median.
    metric : Metric
    guess : Guess or None
    rows : ndarray of int, shape (m, t), or sequence of ndarray of int
        The subsamples.
    units_each : int
        How many independent units, rows or groups, each subsample has.
    stratified : bool
        Whether they all have the same class counts.
    grid : Grid
    centre : int
        The grid index of the guess; symbols are offsets from it.
    stream : {"cells", "grid"}
        Which code prices the median (`sklearn_ada.accounting.codes`).
    scale : float
        How many steps from ``centre`` that code expects it; 0 for "cells".
    centred : bool
        Whether the grid is laid around the guess, with a step made of its error.
    drawing : MedianDraw
        How a quantile of the subsamples is drawn.
    target : str
        The population quantity that is certified.
    family : str
        Name of the medians that have a gap of the privacy route in common.
    """

    is_drawn = True

    purpose: str
    metric: Metric
    guess: Guess | None
    rows: Subsamples
    units_each: int
    stratified: bool
    grid: Grid
    centre: int
    stream: str
    scale: float
    centred: bool
    drawing: MedianDraw
    target: str
    family: str
    settings_type, first_word = MedianSettings, "median"
    needs_interval = False

    @property
    def n_subsamples(self) -> int:  # type: ignore[override]
        """Of how many subsamples the median is."""
        return len(self.rows)

    @classmethod
    def plan(
        cls,
        purpose: str,
        metric: Metric,
        guess: Guess | None,
        data: HoldoutData,
        policy: Policy,
        settings: MedianSettings,
        partition: Callable[..., Subsamples],
    ) -> StableQuestion:
        """Fix subsamples, grid and code from the guess, the policy and the settings."""
        data.check_weights(metric)
        m = settings.subsamples(data)
        rows = partition(m, stratify=settings.stratify)
        units_each = data.subsample_size(m, stratify=settings.stratify)
        grid, scale, centred = settings.lay_grid(purpose, metric, guess, data, policy)
        centre = grid.size // 2 if guess is None else int(grid.index([guess.value])[0])
        drawing = settings.drawing(grid.size, data, policy, draws=3 if purpose == "certify" else 1)
        unit = "groups" if data.has_groups else "records"
        weighted = "" if data.weight is None else "weighted "
        target = f"median of {weighted}{metric.name} over random subsamples of {units_each} {unit}"
        target += _caveat(data, policy, stratified=settings.stratify)
        if purpose == "check":  # a certify's interval allows for the rounding
            target += f", {rounding(grid)}"
        return cls(
            purpose=purpose, metric=metric, guess=guess, rows=rows,
            units_each=units_each, stratified=settings.stratify,
            grid=grid, centre=centre,
            stream="cells" if centred and purpose == "check" else "grid",
            scale=scale, centred=centred, drawing=drawing, target=target, family=settings.family(data),
        )  # fmt: skip

    def describe(self) -> dict[str, Any]:
        """Return a JSON-ready description of everything that is fixed."""
        return {
            "name": f"{self.first_word} {self.purpose}", "n_subsamples": self.n_subsamples,
            "subsample_size": self.units_each, "stratified": self.stratified, "grid": repr(self.grid),
            "centre": self.centre, "scale": self.scale, "epsilon": self.drawing.epsilon,
            "method": self.drawing.method,
        }  # fmt: skip

    def chosen(self) -> dict[str, Any] | None:
        """Return everything but what the guess has fixed of grid and code."""
        of_guess = {"centre", "scale"} | ({"grid"} if self.centred else set())
        return {name: each for name, each in self.describe().items() if name not in of_guess}

    def evaluate(self, estimator: Any, data: HoldoutData) -> Observation:
        """Look at the holdout: return the metric of every subsample, as grid indices, or a failure."""
        outputs = self.metric.block_outputs(estimator, data.X, data.y)
        values = self.metric.blocks_of(outputs, estimator, data.X, data.y, self.rows, data.weight)
        return observed(self.metric, self._indices(values), outputs, values, by_value=data.by_value)

    def _indices(self, values: NDArray[np.float64]) -> NDArray[np.int64] | Failure:
        if 2 * np.count_nonzero(np.isnan(values)) >= len(values):
            return (Symbol(self.stream, events.FAILURES[5], self.scale),)
        # A subsample without a value (one class only, say) counts as the worst.
        return self.grid.index(np.where(np.isnan(values), -np.inf, values))

    def expected_symbols(self, allowance: Allowance) -> tuple[Symbol, ...]:
        """Return what would be released if the guess were exact and the spread as expected."""
        symbol = Symbol(self.stream, 0, self.scale)
        level = self._outer_level(allowance)
        if level == 0.0:
            return (symbol,)
        scale = self._spread_scale(level)
        return (symbol, *[Symbol("spread", round(scale), scale)] * 2)

    def release(self, seen: NDArray[np.int64] | Failure, allowance: Allowance, draw: Draw) -> Released:
        """Draw the median (and, for a certify, the outer quantiles) and return what was released."""
        if isinstance(seen, tuple):
            return events.CodedRelease(seen), {}
        rng = draw.own_generator()
        median = self.drawing.quantile(seen, 0.5, rng)
        symbols = [Symbol(self.stream, median - self.centre, self.scale)]
        level = self._outer_level(allowance)
        if level > 0.0:
            scale = self._spread_scale(level)
            low = min(self.drawing.quantile(seen, level, rng), median)
            high = max(self.drawing.quantile(seen, 1.0 - level, rng), median)
            symbols += [Symbol("spread", median - low, scale), Symbol("spread", high - median, scale)]
        if self.drawing.is_exact:
            return events.CodedRelease(tuple(symbols)), {}
        draws = tuple(self.drawing.event(symbol) for symbol in symbols)
        return draws[0] if len(draws) == 1 else events.ComposedEvent(draws), {}

    def half_width_bound(self, allowance: Allowance) -> tuple[float, float]:
        """Return the worst half-width in quantile levels, and 1, the width of their range."""
        level = self._level(allowance) if self.purpose == "check" else self._outer_level(allowance)
        return 0.5 - level, 1.0

    def described_outcome(self, event: Event, allowance: Allowance, memory: dict[str, Any]) -> Outcome:
        """Return what the released symbols certify by description length."""
        m, rank_error, ln_delta = self._sampling(allowance)
        covered = medians.median_is_covered(m, self._outer_level(allowance), rank_error, ln_delta)
        theorem = "binomial tail of a quantile (after Feldman, Steinke 2017)"
        return self._outcome(event, self._level(allowance), covered, theorem)

    def private_release(self, memory: dict[str, Any]) -> PrivateRelease | None:
        """Return the cost of one draw, or of three for a certify; the exact median has no privacy."""
        if self.drawing.is_exact:
            return None
        draw = self.drawing.event(Symbol(self.stream, 0, self.scale))
        event = events.ComposedEvent((draw,) * 3) if self.purpose == "certify" else draw
        return PrivateRelease(event, self.drawing.unit, self.family)

    def private_half_width(self, transfer: TransferAllowance) -> float:
        """Return the worst half-width in quantile levels by the privacy route."""
        return 0.5 - self._private_level(transfer)

    def private_outcome(self, event: Event, allowance: Allowance) -> Outcome:
        """Return what the transfer theorem certifies: one gap for all values."""
        assert allowance.transfer is not None
        covered = 0.0 < self._outer_level(allowance) <= self._private_outer_level(allowance.transfer)
        level = self._private_level(allowance.transfer)
        return self._outcome(event, level, covered, "rank error of the draw")

    def _outcome(self, event: Event, level: float, covered: bool, theorem: str) -> Outcome:
        """Make one claim only: for a check the levels of its value, for a certify an interval of the median.

        Each may be wrong with probability delta, and not at the same time, so both would take twice as much.
        """
        bounds = self.metric.range or (-math.inf, math.inf)
        symbols = symbols_of(event)
        first = symbols[0].value
        if isinstance(first, str):
            return Outcome.failed(first, bounds, self.target)
        median = self.centre + first
        interval = bounds
        if self.purpose == "certify" and covered and len(symbols) == 3:
            below, above = (int(symbol.value) for symbol in symbols[1:])
            interval = self._interval(median - below, median + above, bounds)
        levels = open_levels(level, median, self.grid, bounds) if self.purpose == "check" else None
        verdict = "differs" if first else "agrees"
        if self.purpose == "certify":
            verdict = "exact" if self.drawing.is_exact else "drawn"
        value = min(max(self.grid.value(median), bounds[0]), bounds[1])
        vacuous = interval == bounds if levels is None else levels == (0.0, 1.0)
        return Outcome(value, interval, verdict, theorem, self.target, vacuous, levels)

    def _sampling(self, allowance: Allowance) -> tuple[int, float, float]:
        """Return the number of subsamples, a draw's rank error, and ln delta of the sampling.

        Half of delta is for the mechanism's noise, if there is any.
        """
        ln_delta = allowance.ln_delta if self.drawing.is_exact else allowance.ln_delta - LN_2
        return self.n_subsamples, self._rank_error(allowance.ln_noise), ln_delta

    def _rank_error(self, ln_noise: float) -> float:
        """Return the largest rank error of up to three draws."""
        return self.drawing.rank_error(ln_noise, draws=3 if self.purpose == "certify" else 1)

    def _level(self, allowance: Allowance) -> float:
        """Return the quantile level l of a check; 0 says nothing.

        Its answer lies between the l and the 1 - l quantile of the metric on a random subsample.
        """
        return medians.quantile_interval(*self._sampling(allowance))[0]

    def _outer_level(self, allowance: Allowance) -> float:
        """Return the level of a certify's outer quantiles: of two routes, the one that is nearer the median.

        The other route then certifies nothing about them. 0 if no level encloses the median, and for a check,
        which has no outer quantiles.
        """
        if self.purpose == "check":
            return 0.0
        levels = []
        if allowance.described:
            levels.append(medians.outer_levels(*self._sampling(allowance))[0])
        if allowance.transfer is not None:
            levels.append(self._private_outer_level(allowance.transfer))
        return max(levels, default=0.0)

    def _private_level(self, transfer: TransferAllowance) -> float:
        """Return l of `_level` by the privacy route.

        For every threshold v, ``P[phi <= v]`` is within the gap of the part of the subsamples at or below v.
        """
        return max(0.5 - self._private_rank_error(transfer) - transfer.gap, 0.0)

    def _private_outer_level(self, transfer: TransferAllowance) -> float:
        """Return the level whose quantiles of the subsamples' values enclose the population median, or 0.

        Were the lower one above the population median v, at most ``level + rank error`` of the subsamples
        would be at or below v, while ``P[phi <= v] >= 1/2``: they would differ by more than the gap.
        """
        return max(0.5 - transfer.gap - self._private_rank_error(transfer) - 1e-9, 0.0)

    def _private_rank_error(self, transfer: TransferAllowance) -> float:
        """Return the rank error that the privacy route allows for; 1/2 certifies nothing."""
        ln_tail = transfer.ln_tail(self.drawing.mean_excess)
        return 0.5 if ln_tail == -math.inf else self._rank_error(ln_tail)

    def _spread_scale(self, level: float) -> float:
        """Return the expected distance of an outer quantile from the median, in grid points."""
        if not self.centred or self.guess is None or self.guess.deviation is None:
            return self.scale
        step = self.grid.value(1) - self.grid.value(0)
        spread = spread_of(self.guess, self.metric, self.units_each)
        return float(f"{max(2.5 * spread * (0.5 - level) / step, 0.5):.3g}")

    def _interval(self, low: int, high: int, bounds: tuple[float, float]) -> tuple[float, float]:
        """Return ends in units of the metric, from two grid indices.

        They are half a step further out, for the rounding; an end of the grid becomes one of ``bounds``, as
        values beyond it were moved to it.
        """
        last = self.grid.size - 1
        left = bounds[0] if low == 0 else self.grid.border(low - 1)
        right = bounds[1] if high == last else self.grid.border(high)
        return min(max(left, bounds[0]), bounds[1]), max(min(right, bounds[1]), bounds[0])


def _caveat(data: HoldoutData, policy: Policy, *, stratified: bool) -> str:
    """Return the end of a target: at what class proportions it is, and what no asker may know.

    Whoever knows class counts, weights or group sizes can favour the rows of which there are too many.
    """
    secret = []
    if data.is_classification and policy.class_mix == "conditional" and not stratified:
        secret.append("class counts (AUCs and recalls tell them)")
    if data.weight is not None:
        secret.append("weights")
    if data.has_groups:
        secret.append("group sizes")
    mix = " at the holdout's class mix" if stratified else ""
    return f"{mix}, if nobody who asks knows the holdout's {' or '.join(secret)}" if secret else mix
