"""Metrics that average over classes how much of each is predicted right, such as balanced accuracy.

Metrics that are the mean of one bounded score per record, such as accuracy.

Metrics that are a monotone function of one mean, whose interval is carried over.

The root of a mean square, and the Jaccard index over all labels.

Metrics of one class that are a ratio of two counts, such as precision and F1.

One score per record, larger is better: the terms of metrics that are means.

Means over records that do not count alike, or that come in groups.

Given the weights, the groups and the labels, a mean of scores is ``sum_i a_i X_i`` with known shares ``a_i``
that sum to one, and so is a mean of class means. The units (records, or groups of them) are independent, and
unit u moves the sum by at most ``a_u``, the sum of its shares: Hoeffding's bound with ``1 / sum_u a_u^2``
terms (Kish's size) holds for the sum's expectation *at the holdout's weights and group sizes*. Where all
``a_u`` are equal, so does Chernoff's.

It does not hold for the population's ``E[w X] / E[w]``, from which the former strays when weights go with
scores. For that target the terms ``w (X - r)`` have mean 0 at the true r and a range of the bound b of the
weights, so that ``n (mean weight / b)^2`` terms are left, and the class mix may still be conditioned on. But
the weights may not, so their mean, which the width shows, must be released and priced.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from sklearn_ada._validation import bad_parameter
from sklearn_ada.accounting.filters import SAME_CLASS, SAME_WEIGHT
from sklearn_ada.data.columns import Column, as_column, over_blocks
from sklearn_ada.data.labels import Units
from sklearn_ada.guarantees.class_tables import counts_are_narrower, ratio_half_width, ratio_interval
from sklearn_ada.guarantees.intervals import chernoff_kl, class_mean_size, hoeffding, hoeffding_half_width
from sklearn_ada.metrics.base import (
    BettingEnds,
    ClassCountEnds,
    Construction,
    Foreseen,
    IntervalRule,
    Measured,
    Range,
    UndefinedMetricError,
    check_known,
    check_positive,
    check_two_labels,
    clipped,
    count_interval,
)


@dataclass(frozen=True)
class ClassMean(IntervalRule):
    """The mean over classes of the share of each class that is predicted right.

    Parameters
    ----------
    positive : object or None
        Only this class (recall), of two; by default all classes of the rows (balanced accuracy).
    only_known : bool
        Whether there is no value if a class is predicted that has no rows. Scikit-learn's macro recall then
        counts one class more, whose recall is 0: a mean over classes that the labels do not fix. Its balanced
        accuracy does not.
    """

    positive: Any = None
    only_known: bool = False
    unit = SAME_CLASS

    @property
    def theorem(self) -> str:  # type: ignore[override]
        """Name of the fixed-question bound."""
        if self.positive is not None:
            return "Clopper-Pearson on the rows of the class"
        return "Hoeffding for independent class means (Hoeffding 1963)"

    @property
    def family(self) -> str:  # type: ignore[override]
        """That of all classes, or of one, whose recall only its own records move."""
        return "class mean" if self.positive is None else "recall"

    def known_size(self, y: NDArray[Any]) -> float:
        """Return the harmonic size of the class counts."""
        if self.positive is not None:
            check_positive(y, self.positive)
        counts = [int(np.count_nonzero(y == c)) for c in self._classes(y)]
        if self.positive is None and len(counts) < 2:
            raise UndefinedMetricError("a mean over classes needs two classes")
        return class_mean_size(tuple(counts))

    def sensitivity(self, y: NDArray[Any], width: float) -> float:
        """Return that of the smallest class."""
        counts = [int(np.count_nonzero(y == c)) for c in self._classes(y)]
        return width / (len(counts) * min(counts))

    def _check(self, y: NDArray[Any], outputs: NDArray[Any], classes: list[Any]) -> None:
        if self.positive is not None:
            check_two_labels(y, outputs, self.positive)
        elif self.only_known:
            check_known(outputs, np.asarray(classes), "a predicted label")

    def _classes(self, y: NDArray[Any]) -> list[Any]:
        return list(np.unique(y)) if self.positive is None else [self.positive]

    def measure(
        self, y: NDArray[Any], outputs: NDArray[Any], classes: NDArray[Any] | None, bounds: Range
    ) -> Measured:
        """Return the mean recall; its size is the harmonic one of the class counts."""
        classes_of_y = self._classes(y)
        self._check(y, outputs, classes_of_y)
        hits = [(outputs[y == c] == c) for c in classes_of_y]
        if not all(len(h) for h in hits):
            raise UndefinedMetricError("a class has no records")
        value = float(np.mean([h.mean() for h in hits]))
        size = class_mean_size(tuple(len(h) for h in hits))
        return Measured(value, size)

    def construction(self, known: Foreseen) -> Construction | None:
        """Return the counts of all classes, where the guess foresees a narrower interval from them."""
        if self.positive is not None:
            return None
        labels, counts = np.unique(known.y, return_counts=True)
        rows = tuple(int(count) for count in counts)
        if not counts_are_narrower([known.value] * len(rows), rows, known.ln_delta):
            return None
        return ClassCountEnds(tuple(labels.tolist()), rows)

    def terms(
        self, y: NDArray[Any], outputs: NDArray[Any], classes: NDArray[Any] | None, bounds: Range
    ) -> NDArray[np.float64]:
        """Return 1 for every record that is predicted right."""
        self._check(y, outputs, self._classes(y))
        return np.asarray(outputs == y, dtype=np.float64)

    def shares(self, y: NDArray[Any], weight: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what part of the mean each record is when records have these weights."""
        labels, parts = self._classes(y), np.zeros(len(y))
        for label in labels:
            total = weight[y == label].sum()
            if total == 0.0:
                raise UndefinedMetricError("all records of a class have weight 0")
            parts += np.where(y == label, weight / total, 0.0)
        return parts / len(labels)

    def interval(self, known: Range, size: float, ln_delta: float, bounds: Range) -> Range:
        """Return Hoeffding's interval, as a mean of unequal means is no binomial; of one class, it is."""
        if self.positive is not None:
            return count_interval(clipped(known, bounds), round(size), ln_delta)
        return hoeffding(*clipped(known, bounds), size, ln_delta, bounds)


@dataclass(frozen=True)
class Mean(IntervalRule):
    """The mean of one bounded score per record.

    Parameters
    ----------
    scores : callable
        Takes ``(y, outputs, classes)`` and returns an array (n,); clipped to the metric's range.
    zero_one : bool
        Whether every score is 0 or 1, so that the exact binomial tail applies.
    two_classes : bool
        Whether the score is defined for two classes only.
    positive : object or None
        The class that is meant, if one was named; the score is the same for either of two.
    at_class_mix : bool
        Whether a score depends on the class counts.
    """

    scores: Callable[[NDArray[Any], NDArray[Any], NDArray[Any] | None], NDArray[Any]]
    zero_one: bool = False
    two_classes: bool = False
    positive: Any = None
    at_class_mix: bool = False
    family = "mean"

    @property
    def counts(self) -> bool:  # type: ignore[override]
        """Whether the value is a count over the size."""
        return self.zero_one

    @property
    def has_variance(self) -> bool:  # type: ignore[override]
        """Whether the scores are other than 0 and 1, whose mean tells their variance."""
        return not self.zero_one

    @property
    def theorem(self) -> str:  # type: ignore[override]
        """Name of the fixed-question bound."""
        return "Clopper-Pearson" if self.zero_one else "Chernoff-KL (Hoeffding 1963)"

    def known_size(self, y: NDArray[Any]) -> float:
        """Return the number of records."""
        if self.two_classes:
            check_positive(y, self.positive)
        return len(y)

    def measure(
        self, y: NDArray[Any], outputs: NDArray[Any], classes: NDArray[Any] | None, bounds: Range
    ) -> Measured:
        """Return the mean of the clipped scores; of columns, block by block."""
        if isinstance(outputs, Column) or isinstance(y, Column):
            return self._measure_blocks(as_column(y), as_column(outputs), classes, bounds)
        scores = self.terms(y, outputs, classes, bounds)
        if self.zero_one:  # a count, so that the value is exactly count / n
            value = int(np.count_nonzero(scores)) / len(y)
            return Measured(value, len(y))
        return Measured(float(scores.mean()), len(y), float(scores.std()))

    def _measure_blocks(
        self, y: Column, outputs: Column, classes: NDArray[Any] | None, bounds: Range
    ) -> Measured:
        assert self.zero_one
        count = partial(_hits, self, classes=classes, bounds=bounds)
        return Measured(sum(over_blocks(count, y, outputs)) / len(y), len(y))

    def terms(
        self, y: NDArray[Any], outputs: NDArray[Any], classes: NDArray[Any] | None, bounds: Range
    ) -> NDArray[np.float64]:
        """Return the clipped score of every record."""
        said = self.scores(y, outputs, classes)
        scores = np.asarray(said)
        if np.ma.is_masked(said) or scores.shape != (len(y),) or scores.dtype.kind not in "biuf":
            raise UndefinedMetricError("a score per record is missing")
        if np.isnan(scores).any():
            raise UndefinedMetricError("a score per record is missing")
        return np.clip(scores.astype(np.float64), *bounds)

    def shares(self, y: NDArray[Any], weight: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what part of the mean each record is when records have these weights."""
        return weight / weight.sum()

    def beyond(
        self, y: NDArray[Any], outputs: NDArray[Any], classes: NDArray[Any] | None, bounds: Range
    ) -> NDArray[np.bool_]:
        """Return of which records the score is below the bounds."""
        return self.terms(y, outputs, classes, (-np.inf, np.inf)) < bounds[0]

    def construction(self, known: Foreseen) -> Construction | None:
        """Return bets, if the guess knows the deviation of one score."""
        if self.zero_one or known.deviation is None:
            return None
        return BettingEnds.of(
            self.terms, known, bounds=known.bounds, mean=known.value, deviation=known.deviation
        )

    def interval(self, known: Range, size: float, ln_delta: float, bounds: Range) -> Range:
        """Return Clopper-Pearson for counts, Chernoff-KL for other bounded scores."""
        if self.zero_one:
            return count_interval(clipped(known, bounds), int(size), ln_delta)
        return super().interval(known, size, ln_delta, bounds)


def _hits(
    rule: Mean, y: NDArray[Any], outputs: NDArray[Any], classes: NDArray[Any] | None, bounds: Range
) -> int:
    return int(np.count_nonzero(rule.terms(y, outputs, classes, bounds)))


class _OfAMean(IntervalRule):
    """A function of the mean of one score per record, too steep for noise that would still leave anything."""

    has_noise = False

    def known_size(self, y: NDArray[Any]) -> float:
        """Return the number of records."""
        return len(y)

    def sensitivity(self, y: NDArray[Any], width: float) -> None:
        """Return None: it is not answered with noise."""


@dataclass(frozen=True)
class RootMean(_OfAMean):
    """Minus the root of the mean of squared errors, each error clipped to plus or minus the range's end.

    Parameters
    ----------
    scores : callable
        Takes ``(y, outputs, classes)`` and returns minus the squared error of every record.
    """

    scores: Callable[[NDArray[Any], NDArray[Any], NDArray[Any] | None], NDArray[Any]]
    family = "root mean"
    theorem = "Chernoff-KL (Hoeffding 1963) for the squares"

    def measure(
        self, y: NDArray[Any], outputs: NDArray[Any], classes: NDArray[Any] | None, bounds: Range
    ) -> Measured:
        """Return minus the root; the deviation is that of the root, by its slope."""
        squares = -self._terms(y, outputs, classes, _squared(bounds))
        root = math.sqrt(float(squares.mean()))
        return Measured(-root, len(y), float(squares.std()) / (2.0 * root) if root > 0.0 else 0.0)

    def beyond(
        self, y: NDArray[Any], outputs: NDArray[Any], classes: NDArray[Any] | None, bounds: Range
    ) -> NDArray[np.bool_]:
        """Return of which records the error is beyond the bounds."""
        return Mean(self.scores).beyond(y, outputs, classes, _squared(bounds))

    def construction(self, known: Foreseen) -> Construction | None:
        """Return bets on the squares, if the guess knows their deviation."""
        if known.deviation is None:
            return None
        return BettingEnds.of(
            self._terms, known, bounds=_squared(known.bounds), mean=-(known.value**2),
            deviation=2.0 * abs(known.value) * known.deviation, root=True,
        )  # fmt: skip

    def interval(self, known: Range, size: float, ln_delta: float, bounds: Range) -> Range:
        """Return the root of Chernoff's interval for the mean of the squares."""
        low, high = clipped(known, bounds)
        ends = chernoff_kl(-(low**2), -(high**2), size, ln_delta, _squared(bounds))
        low, high = (-math.sqrt(max(-end, 0.0)) for end in ends)
        return low, high

    def half_width_bound(self, half_cell: float, size: float, ln_delta: float, width: float) -> float:
        """Return a half-width not exceeded: a root moves by no more than the root of what is under it."""
        return min(
            half_cell + math.sqrt(2.0 * hoeffding_half_width(size, ln_delta)) * width / 2.0, width / 2.0
        )

    def _terms(
        self, y: NDArray[Any], outputs: NDArray[Any], classes: NDArray[Any] | None, bounds: Range
    ) -> NDArray[np.float64]:
        return Mean(self.scores).terms(y, outputs, classes, bounds)


def _squared(bounds: Range) -> Range:
    """Return the range of minus the squared errors."""
    return -(bounds[0] ** 2), 0.0


class MicroJaccard(_OfAMean):
    """The Jaccard index over all labels, ``J = A / (2 - A)`` with the accuracy A: a row has one label.

    Of n rows nA are in both sets, and each of the others is in one of them twice: ``nA / (2n - nA)``.
    """

    family = "mean"
    theorem = "Clopper-Pearson for the accuracy"

    def measure(
        self, y: NDArray[Any], outputs: NDArray[Any], classes: NDArray[Any] | None, bounds: Range
    ) -> Measured:
        """Return the index."""
        return Measured(_index(int(np.count_nonzero(outputs == y)) / len(y)), len(y))

    def interval(self, known: Range, size: float, ln_delta: float, bounds: Range) -> Range:
        """Return the interval of the accuracy, carried over."""
        low, high = (2.0 * end / (1.0 + end) for end in clipped(known, bounds))
        low, high = count_interval((low, high), int(size), ln_delta)
        return _index(low), _index(high)

    def half_width_bound(self, half_cell: float, size: float, ln_delta: float, width: float) -> float:
        """Return a half-width not exceeded: the slope is at most 2."""
        return min(half_cell + 2.0 * hoeffding_half_width(size, ln_delta), width / 2.0)


def _index(accuracy: float) -> float:
    return accuracy / (2.0 - accuracy)


@dataclass(frozen=True)
class Ratio(IntervalRule):
    """Precision, Jaccard index or F1 of one class: a ratio of two counts of records.

    J, the precision or the Jaccard index, is the true positives over the denominator N, and
    ``F1 = 2J / (1 + J)``. N depends on the predictions, so it is released (coarsely, rounded down) and
    priced; the interval does not condition on it
    (`sklearn_ada.guarantees.class_tables`).

    Parameters
    ----------
    positive : object
        The class.
    counts_misses : bool
        Whether N holds false negatives (Jaccard, F1) or not (precision).
    doubled : bool
        Whether the score is ``2J / (1 + J)``.
    expected_size, expected_share : float
        The N and J that the interval is tuned to.
    """

    positive: Any
    counts_misses: bool
    doubled: bool
    expected_size: float = 1.0
    expected_share: float = 0.5
    size_is_released = True
    has_noise = False  # one record can move it too far
    theorem = "Chernoff's bound for a ratio, with the exponent that the guess suggests"

    def known_size(self, y: NDArray[Any]) -> None:
        """Return None: the denominator depends on the predictions."""
        check_positive(y, self.positive)

    def foreseeing(self, value: float, share: float | None, y: NDArray[Any]) -> Ratio:
        """Return the rule tuned to a guess; the denominator of a bare number is the count of the class."""
        size = np.count_nonzero(y == self.positive) if share is None else share * len(y)
        return replace(self, expected_size=max(float(size), 1.0), expected_share=self._share(value))

    def measure(
        self, y: NDArray[Any], outputs: NDArray[Any], classes: NDArray[Any] | None, bounds: Range
    ) -> Measured:
        """Return the score; its size is the denominator."""
        check_two_labels(y, outputs, self.positive)
        true, said = y == self.positive, outputs == self.positive
        hits = int(np.count_nonzero(true & said))
        size = int(np.count_nonzero(true | said if self.counts_misses else said))
        if size == 0:
            raise UndefinedMetricError("the denominator is zero")
        share = hits / size
        return Measured(self._score(share), size)

    def interval(self, known: Range, size: float, ln_delta: float, bounds: Range) -> Range:
        """Return the interval of the share, carried over to the score."""
        low, high = (self._share(end) for end in clipped(known, bounds))
        share_low, share_high = ratio_interval(
            low, high, size, ln_delta, expected_share=self.expected_share, expected_size=self.expected_size
        )
        return self._score(share_low), self._score(share_high)

    def half_width_bound(self, half_cell: float, size: float, ln_delta: float, width: float) -> float:
        """Return a half-width not exceeded at this denominator (the score's slope is at most 2)."""
        slope = 2.0 if self.doubled else 1.0
        half_width = ratio_half_width(size, ln_delta, expected_size=self.expected_size)
        return min(half_cell + slope * half_width, 0.5)

    def _score(self, share: float) -> float:
        return 2.0 * share / (1.0 + share) if self.doubled else share

    def _share(self, score: float) -> float:
        return score / (2.0 - score) if self.doubled else score


_Array = NDArray[Any]


def hits(y: _Array, outputs: _Array, classes: _Array | None) -> _Array:
    """Return 1 where the predicted label is right."""
    return np.asarray(outputs == y)


def top_two(y: _Array, outputs: _Array, classes: _Array | None) -> _Array:
    """Return 1 where the label is among the two with the largest scores, as scikit-learn breaks ties."""
    if classes is None:
        return np.full(len(y), np.nan)
    column = check_known(y, classes, "a label")
    if outputs.ndim == 1:  # of two classes
        return np.ones(len(y))
    if len(classes) == 2:  # for which scikit-learn has no score from two columns
        return np.full(len(y), np.nan)
    largest = np.argsort(outputs, axis=1, kind="mergesort")[:, ::-1][:, :2]
    return np.asarray((largest == column[:, None]).any(axis=1))


def neg_brier(y: _Array, outputs: _Array, classes: _Array | None) -> _Array:
    """Return the negative squared error of the positive class's probability."""
    if classes is None or len(classes) != 2:
        return np.full(len(y), np.nan)  # undefined: this score is for two classes
    check_known(y, classes, "a label")
    return -((_floats(outputs) - (y == classes[1])) ** 2)


def neg_log(y: _Array, outputs: _Array, classes: _Array | None) -> _Array:
    """Return the logarithm of the probability given to the true class, clipped as in scikit-learn."""
    if classes is None:
        return np.full(len(y), np.nan)
    column = check_known(y, classes, "a label")
    if outputs.dtype.kind != "f":
        outputs = outputs.astype(np.float64)
    if outputs.ndim == 2 and outputs.shape[1] == 2:
        outputs = outputs[:, 1]  # all that scikit-learn's scorer reads, whatever the other column says
    if outputs.ndim == 1:
        probability = np.where(column == 1, outputs, 1 - outputs)
    else:
        probability = outputs[np.arange(len(y)), column]
    eps = np.finfo(outputs.dtype).eps
    return np.log(_floats(probability.clip(eps, 1 - eps)))


def d2_log(y: _Array, outputs: _Array, classes: _Array | None) -> _Array:
    """Return 1 minus the log loss over that of the class shares, of which the mean is D^2."""
    shares = _shares(y, classes)
    return 1.0 + neg_log(y, outputs, classes) / -(shares @ np.log(shares))


def d2_brier(y: _Array, outputs: _Array, classes: _Array | None) -> _Array:
    """Return 1 minus the squared errors of the probabilities over those of the class shares.

    Their mean is D^2.
    """
    shares = _shares(y, classes)
    assert classes is not None
    of_class = _floats(outputs)
    if of_class.ndim == 1 or of_class.shape[1] == 2:
        positive = of_class if of_class.ndim == 1 else of_class[:, 1]
        of_class = np.column_stack((1.0 - positive, positive))  # all that scikit-learn's scorer reads
    errors = (of_class - (y[:, None] == classes)) ** 2
    return np.asarray(1.0 - errors.sum(axis=1) / (1.0 - shares @ shares))


def _shares(y: _Array, classes: _Array | None) -> _Array:
    """Return the share of each class, all of which have rows."""
    labels, counts = np.unique(y, return_counts=True)
    if classes is None or len(labels) < 2:
        raise UndefinedMetricError("it compares with the shares of two classes or more")
    check_known(y, classes, "a label")
    if len(labels) < len(classes):
        raise UndefinedMetricError("a class has no records")
    return np.asarray(counts / len(y))


def neg_absolute(y: _Array, outputs: _Array, classes: _Array | None) -> _Array:
    """Return the negative absolute error."""
    return -np.abs(_floats(y) - _floats(outputs))


def neg_squared(y: _Array, outputs: _Array, classes: _Array | None) -> _Array:
    """Return the negative squared error."""
    return -((_floats(y) - _floats(outputs)) ** 2)


def neg_squared_log(y: _Array, outputs: _Array, classes: _Array | None) -> _Array:
    """Return the negative squared error of log(1 + y); NaN for numbers of -1 or less."""
    y, outputs = _floats(y), _floats(outputs)
    defined = (y > -1) & (outputs > -1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(defined, -((np.log1p(y) - np.log1p(outputs)) ** 2), np.nan)


def neg_relative(y: _Array, outputs: _Array, classes: _Array | None) -> _Array:
    """Return the negative absolute error relative to the truth, which counts as eps at least."""
    y, outputs = _floats(y), _floats(outputs)
    return -np.abs(y - outputs) / np.maximum(np.abs(y), np.finfo(np.float64).eps)


def neg_poisson_deviance(y: _Array, outputs: _Array, classes: _Array | None) -> _Array:
    """Return the negative Poisson deviance; NaN unless y >= 0 and the prediction is positive."""
    y, outputs = _floats(y), _floats(outputs)
    defined = (y >= 0) & (outputs > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(defined, -2.0 * (xlogy(y, y / outputs) - y + outputs), np.nan)


def neg_gamma_deviance(y: _Array, outputs: _Array, classes: _Array | None) -> _Array:
    """Return the negative gamma deviance; NaN unless both are positive."""
    y, outputs = _floats(y), _floats(outputs)
    defined = (y > 0) & (outputs > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(defined, -2.0 * (np.log(outputs / y) + y / outputs - 1.0), np.nan)


def _floats(values: _Array) -> _Array:
    """Return numbers as floats, of which differences and squares do not wrap around."""
    return values if values.dtype.kind == "f" and values.dtype.itemsize > 2 else values.astype(np.float64)


@dataclass(frozen=True)
class UserScores:
    """A user's function of ``(y, outputs)`` that returns one score per record."""

    function: Callable[[_Array, _Array], _Array]

    def __call__(self, y: _Array, outputs: _Array, classes: _Array | None) -> _Array:
        """Return the user's scores; the function may work in place."""
        return self.function(y.copy(), outputs.copy())


def unequal(rule: IntervalRule, units: Units, name: str) -> IntervalRule:
    """Return the rule of a metric for a holdout with weights or groups.

    Raises
    ------
    ValueError
        If only the stable median is sound.
    """
    if (isinstance(rule, Mean) and not rule.at_class_mix) or (
        isinstance(rule, ClassMean) and units.bound is None
    ):
        return UnequalMean(rule, units)
    what = "a mean" if units.bound is not None else "a mean, or a mean of class means,"
    raise bad_parameter(
        "scoring", "a holdout with sample_weight or groups", f"{what} to have an interval of its own", name,
        f"Use the stable median: StableHoldoutScorer, or Metric({name!r}, kind='general').",
    )  # fmt: skip


@dataclass(frozen=True)
class UnequalMean(IntervalRule):
    """A mean, or a mean of class means, over the units of one holdout."""

    base: Mean | ClassMean
    units: Units
    unit = SAME_WEIGHT

    @property
    def joins_labels_and_units(self) -> bool:  # type: ignore[override]
        """Whether the shares of the records depend on their classes."""
        return isinstance(self.base, ClassMean)

    @property
    def theorem(self) -> str:  # type: ignore[override]
        """Name of the fixed-question bound."""
        if self.units.bound is not None:
            return "Hoeffding for weights below a bound (Hoeffding 1963)"
        return "Hoeffding for independent terms of unequal weight (Hoeffding 1963)"

    @property
    def family(self) -> str:  # type: ignore[override]
        """That of the base: on these rows it is asked of no other."""
        return self.base.family

    def known_size(self, y: NDArray[Any]) -> float:
        """Return how many equal records the holdout is worth."""
        self.base.known_size(y)  # raises where the labels do not allow the metric
        return self.units.size(self.base.shares(y, self.units.weight))

    def sensitivity(self, y: NDArray[Any], width: float) -> float | None:
        """Return how far one unit replaced by another of its weight moves the value; None with a bound."""
        if self.units.bound is not None:
            return None
        return width * float(self.units.totals(self.base.shares(y, self.units.weight)).max())

    def measure(
        self, y: NDArray[Any], outputs: NDArray[Any], classes: NDArray[Any] | None, bounds: Range
    ) -> Measured:
        """Return the weighted value."""
        shares = self.base.shares(y, self.units.weight)
        return Measured(float(shares @ self.base.terms(y, outputs, classes, bounds)), self.units.size(shares))

    def interval(self, known: Range, size: float, ln_delta: float, bounds: Range) -> Range:
        """Return Chernoff's interval where all units count alike, else Hoeffding's."""
        low, high = clipped(known, bounds)
        is_equal = self.units.bound is None and size >= self.units.n_units * (1.0 - 1e-9)
        return (chernoff_kl if is_equal else hoeffding)(low, high, size, ln_delta, bounds)
