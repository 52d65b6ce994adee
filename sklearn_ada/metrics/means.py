"""Certify metrics that are the mean of one bounded score per row.

The negative root of such a mean is certified like it.

A mean is certified by the binomial tail where every score is 0 or 1, by Chernoff's bound otherwise, and by
bets on all rows where the guess has the deviation of one score. To add one is to write the function of its
scores, larger being better, and to register it.

*The difference of two models* in such a metric is a mean, too, of their differences on the same rows. Two
models that agree on most rows have small differences, however much their scores vary, so the interval of the
difference is much narrower than the difference of two intervals (`sklearn_ada.guarantees.scores`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import xlogy
from sklearn.metrics import brier_score_loss, make_scorer

from sklearn_ada.accounting.events import BLOCKS
from sklearn_ada.data.class_mix import ClassMix
from sklearn_ada.data.columns import Column, as_column, over_blocks
from sklearn_ada.data.labels import Units
from sklearn_ada.guarantees import bets
from sklearn_ada.guarantees.intervals import chernoff_kl
from sklearn_ada.guarantees.tilted import TiltedMean, tilted_by
from sklearn_ada.metrics import pairs
from sklearn_ada.metrics.base import (
    Array,
    Foreseen,
    Measure,
    Measured,
    Range,
    RowsInterval,
    UndefinedMetricError,
    alike,
    check_positive,
    class_positions,
    clipped,
    count_interval,
    moved,
    register,
    suggested_range,
)
from sklearn_ada.metrics.blocks import probability_of_true
from sklearn_ada.metrics.counted import Counted, Counts
from sklearn_ada.metrics.mixes import MeanAtMix
from sklearn_ada.metrics.outputs import ALL_SCORES, NUMBERS, POSITIVE_PROBABILITY, PROBABILITIES
from sklearn_ada.metrics.units import (
    Floats,
    SumOfTerms,
    UnequalMean,
    UnequalRoot,
    negated_roots,
    root_half_width,
)  # fmt: skip

Scores = Callable[[Array, Array, Array | None], Array]

DIFFERENCE = "difference"
"""What records call the difference of two models."""
_MARGIN, _SQUARED_MARGIN = 1.25, 1.5  # of a suggested range beyond the farthest score


@dataclass(frozen=True)
class Mean(SumOfTerms):
    """The mean of one bounded score per row.

    Parameters
    ----------
    scores : callable
        Takes ``(y, outputs, classes)`` and returns an array (n,); clipped to the range.
    counts : bool
        Whether every score is 0 or 1, so that the exact binomial tail applies.
    two_classes : bool
        Whether the score is defined for two classes only; it is the same whichever is positive.
    """

    scores: Scores
    counts: bool = False
    two_classes: bool = False
    kind = family = "mean"
    has_differences = True
    alike = "is compared with the class shares: use 'neg_log_loss' or 'neg_brier_score'"

    @property
    def theorem(self) -> str:
        """Name of the fixed-question bound."""
        return "Clopper-Pearson" if self.counts else "Chernoff-KL (Hoeffding 1963)"

    @property
    def has_variance(self) -> bool:
        """Whether the scores are other than 0 and 1, whose mean gives their variance."""
        return not self.counts

    def size(self, y: Array) -> float:
        """Return the number of rows."""
        if self.two_classes:
            check_positive(y, self.positive)
        return len(y)

    def value(self, y: Array, outputs: Array, classes: Array | None) -> Measured:
        """Return the mean of the clipped scores; of columns, block by block."""
        if isinstance(outputs, Column) or isinstance(y, Column):
            assert self.counts
            hits_of = partial(_count, self, classes=classes)
            return Measured(sum(over_blocks(hits_of, as_column(y), as_column(outputs))) / len(y), len(y))
        if self.counts:  # so that the value is exactly count / n
            return Measured(_count(self, y, outputs, classes) / len(y), len(y))
        scores = self.terms(y, outputs, classes)
        return Measured(float(scores.mean()), len(y), float(scores.std()), scores)

    def scored(self, y: Array, outputs: Array, classes: Array | None) -> Floats:
        """Return the score of every row as it is, not clipped."""
        returned = self.scores(y, outputs, classes)
        scores = np.asarray(returned)
        is_column = scores.shape == (len(y),) and scores.dtype.kind in "biuf"
        if np.ma.is_masked(returned) or not is_column or np.isnan(scores).any():
            raise UndefinedMetricError("a score per row is missing")
        return scores.astype(np.float64)

    def terms(self, y: Array, outputs: Array, classes: Array | None) -> Floats:
        """Return the clipped score of every row."""
        return np.clip(self.scored(y, outputs, classes), *self.limits)

    def shares(self, y: Array, weight: Floats) -> Floats:
        """Return the parts of the total weight."""
        return weight / weight.sum()

    def interval(self, ends: Range, size: float, ln_delta: float) -> Range:
        """Return Clopper-Pearson for counts, Chernoff-KL for other bounded scores."""
        if self.counts:
            return count_interval(clipped(ends, self.limits), int(size), ln_delta)
        return super().interval(ends, size, ln_delta)

    def rows_interval(self, foreseen: Foreseen) -> RowsInterval | None:
        """Return bets, if the guess has the deviation of one score."""
        if self.counts or foreseen.deviation is None:
            return None
        return by_bets(self, foreseen, foreseen.value, foreseen.deviation)

    def tuned(self, y: Array, outputs: Array, classes: Array | None) -> Mean:
        """Return the mean with the range that scores of these rows suggest; of D^2, 1 at most."""
        margin = _SQUARED_MARGIN if self.power == 2 else _MARGIN
        low, high = suggested_range(self.scored(y, outputs, classes), margin)
        return replace(self, bounds=(low, min(high, 1.0) if self.at_class_mix else high))

    def beyond(self, y: Array, outputs: Array, classes: Array | None) -> NDArray[np.bool_]:
        """Return which rows have a score below the bounds."""
        return self.scored(y, outputs, classes) < self.limits[0]

    def weighted(self, units: Units) -> Measure | None:
        """Return the weighted mean, unless a score depends on the class counts."""
        return None if self.at_class_mix else UnequalMean(self, units, bounds=self.bounds)

    def paired(self) -> PairedMean:
        """Return the difference of two models."""
        return PairedMean.of(self)

    def at_mix(self, mix: ClassMix) -> Measure | None:
        """Return the mean of class means, unless a score depends on the class counts."""
        if self.at_class_mix or (self.two_classes and len(mix.shares) > 2):
            return None
        kept = {name: getattr(self, name) for name in ("response", "bounds", "positive", "scorer_of")}
        return MeanAtMix(mix=mix, base=self, needs_every_class=self.needs_every_class, **kept)

    def replayed(self, value: float, share: float | None, rows: int) -> tuple[Measure, float]:
        """Return this: an interval follows from the value and the number of rows."""
        return self, float(rows)

    @property
    def listed(self) -> str:
        """What certifies it, for the table of scorers."""
        return self.theorem if self.counts else f"betting with guess_from=, else {self.theorem}"


def _count(mean: Mean, y: Array, outputs: Array, classes: Array | None) -> int:
    return int(np.count_nonzero(mean.terms(y, outputs, classes)))


@dataclass(frozen=True)
class RootMean(Measure):
    """Minus the root of the mean of squared errors.

    Each error is clipped to plus or minus the end of the range.

    Parameters
    ----------
    scores : callable
        Takes ``(y, outputs, classes)`` and returns minus the squared error of every row.
    """

    scores: Scores
    kind = "root_mean"
    family = "root mean"
    theorem = "Chernoff-KL (Hoeffding 1963) for the squares"
    has_noise = False  # a root is too steep for noise that would still leave anything

    @property
    def squares(self) -> Mean:
        """The mean of minus the squared errors."""
        return Mean(self.scores, bounds=None if self.bounds is None else (-(self.bounds[0] ** 2), 0.0))

    def value(self, y: Array, outputs: Array, classes: Array | None) -> Measured:
        """Return minus the root; the deviation is that of the root, by its slope."""
        squares = self.squares.terms(y, outputs, classes)
        root = math.sqrt(-float(squares.mean()))
        deviation = float(squares.std()) / (2.0 * root) if root > 0.0 else 0.0
        return Measured(-root, len(y), deviation, squares)

    def interval(self, ends: Range, size: float, ln_delta: float) -> Range:
        """Return the root of Chernoff's interval for the mean of the squares."""
        low, high = clipped(ends, self.limits)
        return negated_roots(chernoff_kl(-(low**2), -(high**2), size, ln_delta, self.squares.limits))

    def half_width_bound(self, half_cell: float, size: float, ln_delta: float) -> float:
        """Return a half-width not exceeded: a root moves by no more than the root of what is under it."""
        return root_half_width(half_cell, size, ln_delta, self.width / 2.0)

    def rows_interval(self, foreseen: Foreseen) -> RowsInterval | None:
        """Return bets on the squares, if the guess has their deviation."""
        if foreseen.deviation is None:
            return None
        deviation = 2.0 * abs(foreseen.value) * foreseen.deviation
        return by_bets(self.squares, foreseen, -(foreseen.value**2), deviation, root=True)

    def weighted(self, units: Units) -> Measure:
        """Return the root of the weighted mean."""
        squares = self.squares
        return UnequalRoot(
            UnequalMean(squares, units, bounds=squares.bounds), bounds=self.bounds, since=BLOCKS
        )

    def tuned(self, y: Array, outputs: Array, classes: Array | None) -> RootMean:
        """Return the root with the range that errors of these rows suggest."""
        errors = np.sqrt(-self.squares.scored(y, outputs, classes))
        return replace(self, bounds=suggested_range(-errors, _MARGIN))

    def beyond(self, y: Array, outputs: Array, classes: Array | None) -> NDArray[np.bool_]:
        """Return which rows have an error beyond the bounds."""
        return self.squares.beyond(y, outputs, classes)

    @property
    def listed(self) -> str:
        """What certifies it, for the table of scorers."""
        return f"betting with guess_from=, else {self.theorem}"


def by_bets(
    mean: Mean, foreseen: Foreseen, value: float, deviation: float, *, root: bool = False
) -> RowsInterval:
    """Return the interval of the mean of a bounded score by betting (`sklearn_ada.guarantees.bets`).

    The bets suit a guess. They are made row by row, in an order and to a bound that are drawn, or fixed. The
    fixed ones need no secret, and hold whatever the order of the rows is.

    Parameters
    ----------
    mean : Mean
    foreseen : Foreseen
    value, deviation : float
        The mean, and the deviation of one score, as the guess has them.
    root : bool, default=False
        Whether the metric is ``-sqrt`` of the mean of the negated scores, as the RMSE.
    """
    bottom, width, n = mean.limits[0], mean.width, len(foreseen.y)
    variance = min(max((deviation / width) ** 2, 1e-6), 0.25)
    # Of the grid of predictable bets, as parts of the range: the middle, and the guess's standard error.
    centre = float(f"{min(max((value - bottom) / width, 0.0), 1.0):.6g}")
    error = float(f"{math.sqrt(variance) * foreseen.error:.3g}")
    variance = float(f"{variance:.3g}")
    by_row = foreseen.drawn and foreseen.identical_rows and n <= bets.MOST_ROWS_ONE_BY_ONE
    name = "predictable bets" if by_row else "fixed bets"
    theorem = f"betting, {name}{' with a drawn bound' if by_row else ''} (Waudby-Smith, Ramdas 2024)"
    tuning, tilt = {"centre": centre, "reach": error, "variance": variance}, None
    if foreseen.guess_rows is not None:
        tuning["guess_rows"] = foreseen.guess_rows
        tilt = TiltedMean(centre, foreseen.guess_rows, n, variance)
        theorem += f", {tilted_by(foreseen.value, foreseen.guess_rows)} (Pratt 1961)"

    def of_metric(low: float, high: float) -> Range:
        """Return ends of a scaled mean in units of the metric."""
        ends = bottom + low * width, bottom + high * width
        return (-math.sqrt(max(-ends[0], 0.0)), -math.sqrt(max(-ends[1], 0.0))) if root else ends

    half_width = partial(bets.betting_half_width, n, variance, predictable=by_row)

    def at(value: float, ln_delta: float) -> Range:
        scaled = min(max(((-(value**2) if root else value) - bottom) / width, 0.0), 1.0)
        below = above = half_width(ln_delta)
        if tilt is not None:
            parts = tilt.part_below(ln_delta)(np.array((scaled - below, scaled + above)))
            below, above = (
                half_width(min(ln_delta + math.log(2.0 * p), 0.0)) for p in (parts[0], 1.0 - parts[1])
            )
        return of_metric(max(scaled - below, 0.0), min(scaled + above, 1.0))

    def ends(y: Array, outputs: Array, classes: Array | None, ln_delta: float, rng: Generator) -> Range:
        return several(y, outputs, classes, (ln_delta,), rng, 0)[0]

    def several(
        y: Array, outputs: Array, classes: Array | None, ln_deltas: Sequence[float], rng: Generator, even: int
    ) -> list[Range]:
        return of_terms(mean.terms(y, outputs, classes), ln_deltas, rng, even)

    def of_terms(
        terms: Array, ln_deltas: Sequence[float], rng: Generator, even: int, uniform: float | None = None
    ) -> list[Range]:
        scaled = np.clip((terms - bottom) / width, 0.0, 1.0)
        tilts = [None if i < even else tilt for i in range(len(ln_deltas))]
        if not by_row:
            levels = zip(ln_deltas, tilts, strict=True)
            return [of_metric(*bets.betting_fixed(scaled, variance, each, tilt=by)) for each, by in levels]
        grids = np.stack([grid_of(each) for each in ln_deltas])
        drawn = scaled[rng.permutation(len(scaled))]
        uniform = rng.random() if uniform is None else uniform
        found = bets.predictable_ends(drawn, variance, ln_deltas, grids, uniform, tilts)
        return [of_metric(*each) for each in found]

    def grid_of(ln_delta: float) -> Floats:
        reach = _HALF_WIDTHS * half_width(ln_delta) + 6.0 * error
        return np.clip(np.linspace(centre - reach, centre + reach, _POINTS), 1e-9, 1.0 - 1e-9)

    terms_of_guess = foreseen.details

    def announced(ln_delta: float) -> Range:
        terms = alike(terms_of_guess, n)
        mean = float(terms.mean())
        by = foreseen.value - (-math.sqrt(max(-mean, 0.0)) if root else mean)
        return moved(of_terms(terms, (ln_delta,), np.random.default_rng(0), 1, 0.5)[0], by)

    return RowsInterval(
        name, theorem, tuning, at, ends, by_row,
        None if terms_of_guess is None else announced, several=several, is_tilted=tilt is not None,
    )  # fmt: skip


_POINTS = 400  # of the grid of predictable bets
_HALF_WIDTHS = 2.5  # by which the grid goes beyond what the guess foresees


# With one label a row the micro averages, and recall weighted by class counts, are the accuracy.
@register("accuracy", "f1_micro", "precision_micro", "recall_micro", "recall_weighted", of=Mean, counts=True)
def hits(y: Array, outputs: Array, classes: Array | None) -> Array:
    """Return 1 where the predicted label is right."""
    return np.asarray(outputs == y)


@register("top_k_accuracy", of=Mean, counts=True, response=ALL_SCORES, needs_every_class=True)
def top_two(y: Array, outputs: Array, classes: Array | None) -> Array:
    """Return 1 where the label has one of the two largest scores."""
    return top_scored(y, outputs, classes, k=2)


def top_scored(y: Array, outputs: Array, classes: Array | None, *, k: int) -> Array:
    """Return 1 where the label has one of the k largest scores.

    Ties are broken as in scikit-learn.
    """
    if classes is None:
        return np.full(len(y), np.nan)
    column = class_positions(y, classes, "a label")
    if outputs.ndim == 1:  # of two classes
        return np.ones(len(y))
    if len(classes) == 2:  # for which scikit-learn has no score from two columns
        return np.full(len(y), np.nan)
    largest = np.argsort(outputs, axis=1, kind="mergesort")[:, ::-1][:, :k]
    return np.asarray((largest == column[:, None]).any(axis=1))


@register(
    "neg_brier_score", of=Mean, response=POSITIVE_PROBABILITY, bounds=(-1.0, 0.0), two_classes=True,
    instead="Metric('neg_log_loss', range=(-10, 0))",
    scorer_of=partial(
        make_scorer, brier_score_loss, greater_is_better=False, response_method="predict_proba"
    ),
)  # fmt: skip
def neg_brier(y: Array, outputs: Array, classes: Array | None) -> Array:
    """Return the negative squared error of the positive class's probability."""
    if classes is None or len(classes) != 2:
        return np.full(len(y), np.nan)  # undefined: this score is for two classes
    class_positions(y, classes, "a label")
    return -((_floats(outputs) - (y == classes[1])) ** 2)


@register("neg_log_loss", of=Mean, response=PROBABILITIES, bounds=None)
def neg_log(y: Array, outputs: Array, classes: Array | None) -> Array:
    """Return the logarithm of the probability given to the true class, clipped as in scikit-learn."""
    if classes is None:
        return np.full(len(y), np.nan)
    column = class_positions(y, classes, "a label")
    if outputs.dtype.kind != "f":
        outputs = outputs.astype(np.float64)
    if outputs.ndim == 2 and outputs.shape[1] == 2:
        outputs = outputs[:, 1]  # all that scikit-learn's scorer reads, whatever the other column says
    return np.log(_floats(probability_of_true(outputs, column)))


_of_shares = partial(
    register, of=Mean, response=PROBABILITIES, bounds=None, at_class_mix=True, needs_every_class=True
)


@_of_shares("d2_log_loss_score")
def d2_log(y: Array, outputs: Array, classes: Array | None) -> Array:
    """Return 1 minus the log loss over that of the class shares.

    Their mean is D^2.
    """
    shares = _class_shares(y, classes)
    return 1.0 + neg_log(y, outputs, classes) / -(shares @ np.log(shares))


@_of_shares("d2_brier_score")
def d2_brier(y: Array, outputs: Array, classes: Array | None) -> Array:
    """Return 1 minus the squared errors of the probabilities over those of the class shares.

    Their mean is D^2.
    """
    shares = _class_shares(y, classes)
    assert classes is not None
    of_class = _floats(outputs)
    if of_class.ndim == 1 or of_class.shape[1] == 2:
        positive = of_class if of_class.ndim == 1 else of_class[:, 1]
        of_class = np.column_stack((1.0 - positive, positive))  # all that scikit-learn's scorer reads
    return np.asarray(1.0 - ((of_class - (y[:, None] == classes)) ** 2).sum(axis=1) / (1.0 - shares @ shares))


def _class_shares(y: Array, classes: Array | None) -> Array:
    """Return the share of each class, all of which have rows."""
    labels, counts = np.unique(y, return_counts=True)
    if classes is None or len(labels) < 2:
        raise UndefinedMetricError("it compares with the shares of two classes or more")
    class_positions(y, classes, "a label")
    if len(labels) < len(classes):
        raise UndefinedMetricError("a class has no rows")
    return np.asarray(counts / len(y))


_of_numbers = partial(register, response=NUMBERS, bounds=None)


@_of_numbers("neg_mean_absolute_error", of=Mean, power=1)
def neg_absolute(y: Array, outputs: Array, classes: Array | None) -> Array:
    """Return the negative absolute error."""
    return -np.abs(_floats(y) - _floats(outputs))


@_of_numbers("neg_mean_squared_error", of=Mean, power=2)
@_of_numbers("neg_root_mean_squared_error", of=RootMean, power=1)
def neg_squared(y: Array, outputs: Array, classes: Array | None) -> Array:
    """Return the negative squared error."""
    return -((_floats(y) - _floats(outputs)) ** 2)


@_of_numbers("neg_mean_squared_log_error", of=Mean)
@_of_numbers("neg_root_mean_squared_log_error", of=RootMean, power=1)
def neg_squared_log(y: Array, outputs: Array, classes: Array | None) -> Array:
    """Return the negative squared error of log(1 + y); NaN for numbers of -1 or less."""
    y, outputs = _floats(y), _floats(outputs)
    defined = (y > -1) & (outputs > -1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(defined, -((np.log1p(y) - np.log1p(outputs)) ** 2), np.nan)


@_of_numbers("neg_mean_absolute_percentage_error", of=Mean)
def neg_relative(y: Array, outputs: Array, classes: Array | None) -> Array:
    """Return the negative absolute error relative to the truth, which counts as eps at least."""
    y, outputs = _floats(y), _floats(outputs)
    return -np.abs(y - outputs) / np.maximum(np.abs(y), np.finfo(np.float64).eps)


@_of_numbers("neg_mean_poisson_deviance", of=Mean)
def neg_poisson_deviance(y: Array, outputs: Array, classes: Array | None) -> Array:
    """Return the negative Poisson deviance; NaN unless y >= 0 and the prediction is positive."""
    y, outputs = _floats(y), _floats(outputs)
    defined = (y >= 0) & (outputs > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(defined, -2.0 * (xlogy(y, y / outputs) - y + outputs), np.nan)


@_of_numbers("neg_mean_gamma_deviance", of=Mean)
def neg_gamma_deviance(y: Array, outputs: Array, classes: Array | None) -> Array:
    """Return the negative gamma deviance; NaN unless both are positive."""
    y, outputs = _floats(y), _floats(outputs)
    defined = (y > 0) & (outputs > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(defined, -2.0 * (np.log(outputs / y) + y / outputs - 1.0), np.nan)


def _floats(values: Array) -> Array:
    """Return numbers as floats, of which differences and squares do not wrap around."""
    return values if values.dtype.kind == "f" and values.dtype.itemsize > 2 else values.astype(np.float64)


@dataclass(frozen=True)
class UserScores:
    """A user's function of ``(y, outputs)`` that returns one score per row."""

    function: Callable[[Array, Array], Array]

    def __call__(self, y: Array, outputs: Array, classes: Array | None) -> Array:
        """Return the user's scores; the function may work in place."""
        return self.function(y.copy(), outputs.copy())


@dataclass(frozen=True, kw_only=True)
class PairedMean(Mean):
    """The mean of the differences of two models' scores, the second's minus the first's.

    Parameters
    ----------
    base : Mean
        Of each model.
    by : str or None
        By what 0/1 scores are certified: "chosen" when it is asked, tables of pairs, or None as in records
        that name nothing.
    """

    base: Mean
    by: str | None = pairs.CHOSEN
    kind = family = DIFFERENCE
    theorem = "Chernoff-KL (Hoeffding 1963) for differences"
    has_noise = False  # no family of private releases

    @classmethod
    def of(cls, base: Mean) -> PairedMean:
        """Return the difference of two models in a mean that has a range."""
        return cls(
            base.scores, two_classes=base.two_classes, positive=base.positive, scorer_of=base.scorer_of,
            response=base.response, at_class_mix=base.at_class_mix, bounds=(-base.width, base.width),
            base=base,
        )  # fmt: skip

    @property
    def clipping(self) -> str:
        """What a certificate says of a declared range: of each model's scores."""
        return self.base.clipping

    def terms(self, y: Array, outputs: Array, classes: Array | None) -> Floats:
        """Return the difference on every row."""
        first, second = (self.base.terms(y, outputs[:, i], classes) for i in (0, 1))
        return second - first

    def value(self, y: Array, outputs: Array, classes: Array | None) -> Measured:
        """Return the mean difference; of 0/1 scores, how often either model alone is right, too."""
        away = self.terms(y, outputs, classes)
        if not self.base.counts:
            return Measured(float(away.mean()), len(y), float(away.std()), away)
        value = (int(np.count_nonzero(away > 0)) - int(np.count_nonzero(away < 0))) / len(y)
        alone = float((away > 0).mean()), float((away < 0).mean())
        return Measured(value, len(y), float(away.std()), alone)

    def rows_interval(self, foreseen: Foreseen) -> RowsInterval | None:
        """Return what the disagreements of 0/1 scores certify; else bets, if the guess has a deviation."""
        if not self.base.counts:
            return super().rows_interval(foreseen)
        n = len(foreseen.y)
        if foreseen.details is not None:
            gain, loss = foreseen.details
        else:  # a bare number: as if the models disagreed on a tenth of the rows more
            gain = min(0.05 + max(foreseen.value, 0.0), 0.5)
            loss = min(0.05 + max(-foreseen.value, 0.0), 0.5)
        gain, loss = (float(f"{min(max(each, 1.0 / n), 0.5):.3g}") for each in (gain, loss))
        by = pairs.chosen(foreseen, (gain, loss)) if self.by == pairs.CHOSEN else self.by
        tuning = {"gain": gain, "loss": loss}
        deviation = math.sqrt(max(gain + loss - (gain - loss) ** 2, 0.0))
        if by is not None:
            return self._by_table(pairs.PairTable.around((gain, loss), foreseen), tuning, deviation)
        tosses = foreseen.given_rows and len(np.unique(foreseen.y)) > 2
        known = foreseen.given_rows and (foreseen.drawn or not tosses)
        disagreements = pairs.Disagreements(n, foreseen.identical_rows, (gain, loss), known)

        def ends(y: Array, outputs: Array, classes: Array | None, ln_delta: float, rng: Generator) -> Range:
            return disagreements.interval(self.terms(y, outputs, classes), outputs, ln_delta, rng)

        return RowsInterval(
            "disagreements", disagreements.theorem, tuning, disagreements.at, ends,
            is_drawn=known and tosses, deviation=deviation,
        )  # fmt: skip

    def _by_table(self, table: pairs.PairTable, tuning: dict[str, Any], deviation: float) -> RowsInterval:
        """Return the interval by a table of pairs."""

        def count(y: Array, outputs: Array, classes: Array | None) -> Counts:
            return table.count(y, self.terms(y, outputs, classes))

        def ends(y: Array, outputs: Array, classes: Array | None, ln_delta: float, rng: Generator) -> Range:
            return table.interval(count(y, outputs, classes), ln_delta)

        return RowsInterval(
            pairs.TABLES, f"{table.theorem}; {self.theorem}", tuning, table.at, ends, deviation=deviation,
            recorded={"by": pairs.TABLES}, usual_in=pairs.USUAL_IN, counted=Counted(table, count),
        )  # fmt: skip

    def tuning(self, details: Any) -> dict[str, Any]:
        """Return how often either model alone is right, of 0/1 scores."""
        return {"alone": [*details]} if self.base.counts and details is not None else {}

    def with_tuning(self, tuning: dict[str, Any]) -> tuple[Measure, Any]:
        """Return this, by the construction of the record, and how often either model alone is right."""
        return replace(self, by=tuning.get("by")), tuple(tuning["alone"]) if "alone" in tuning else None
