"""Metrics of a ranking by scores: areas under the ROC curve, and average precision.

The area under the ROC curve is of two classes, or averaged over several classes or pairs of them. Where rows
of a guess foresee how it varies, it may be certified by bets on blocks of matched rows
(`sklearn_ada.guarantees.matchings`), whichever is foreseen to be narrower; these blocks are drawn from the
ledger's secret. Average precision, the area under the curve of precision and recall, is certified by bands of
two rates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator
from sklearn.metrics import average_precision_score, make_scorer, roc_auc_score

from sklearn_ada.accounting.events import BLOCKS
from sklearn_ada.accounting.filters import SAME_CLASS
from sklearn_ada.data.class_mix import ClassMix
from sklearn_ada.data.labels import Units
from sklearn_ada.guarantees.cross_groups import Bundles, CrossGroups
from sklearn_ada.guarantees.intervals import averaged_auc_size, bentkus, hoeffding
from sklearn_ada.guarantees.matchings import LEAST_BLOCKS, AreaSpread, Matchings
from sklearn_ada.guarantees.scores import average_precision_interval
from sklearn_ada.guarantees.tilted import tilted_by
from sklearn_ada.metrics.base import (
    SELDOM_IN,
    USUAL_IN,
    AllRows,
    Array,
    Foreseen,
    Measure,
    Measured,
    Range,
    RowsInterval,
    UndefinedMetricError,
    UnsuitableUnitsError,
    class_positions,
    clipped,
    moved,
    register,
)
from sklearn_ada.metrics.outputs import CLASS_SCORES, SCORES
from sklearn_ada.metrics.units import without_weight


@register("roc_auc", response=SCORES, instead="'roc_auc_ovr'")
@dataclass(frozen=True)
class AUC(Measure):
    """The area under the ROC curve of a binary classifier, ties counting one half."""

    kind = family = "auc"
    theorem = "Bentkus for two-sample U-statistics (Bentkus 2004, Hoeffding 1963)"
    unit = SAME_CLASS
    influence = 2.0  # each class moves it all

    def size(self, y: Array) -> float:
        """Return the size of the smaller class."""
        counts = np.unique(y, return_counts=True)[1]
        if len(counts) != 2:
            raise UndefinedMetricError("the AUC needs two classes")
        return int(counts.min())

    def value(self, y: Array, outputs: Array, classes: Array | None) -> Measured:
        """Return the AUC; its size is that of the smaller class."""
        if classes is None or len(classes) != 2 or outputs.ndim != 1:
            raise UndefinedMetricError("the AUC needs two classes and one score per row")
        class_positions(y, classes, "a label")
        is_positive = np.asarray(y == classes[1])
        size = int(min(np.count_nonzero(is_positive), np.count_nonzero(~is_positive)))
        if size == 0:
            raise UndefinedMetricError("the AUC needs rows of both classes")
        scores = np.asarray(outputs, dtype=np.float64)
        return Measured(float(roc_auc_score(is_positive, outputs)), size, details=(scores, is_positive))

    def at_mix(self, mix: ClassMix) -> Measure:
        """Return this, which the shares of both classes are no part of."""
        return self

    def interval(self, ends: Range, size: float, ln_delta: float) -> Range:
        """Return Bentkus's interval, which is never wider than Chernoff's."""
        return bentkus(*clipped(ends, self.limits), int(size), ln_delta, self.limits)

    def weighted(self, units: Units) -> Measure | None:
        """Return the area over pairs of different units; None with a bound of the weights."""
        return None if units.bound is not None else AreaOfUnits(base=self, units=units, since=BLOCKS)

    def rows_interval(self, foreseen: Foreseen) -> RowsInterval | None:
        """Return bets on matched blocks, if rows of a guess foresee that they are narrower."""
        if foreseen.details is None or not (foreseen.drawn and foreseen.by_blocks):
            return None
        labels, counts = np.unique(foreseen.y, return_counts=True)
        return by_matchings(self, foreseen, _spread(foreseen.details), labels, counts, {(1, 0): 1.0})

    def with_tuning(self, tuning: dict[str, Any]) -> tuple[Measure, Any]:
        """Return this, and how the area was foreseen to vary; older releases did not foresee it."""
        return self, AreaSpread(**tuning["spread"]) if "spread" in tuning else None

    @property
    def listed(self) -> str:
        """What certifies it, for the table of scorers."""
        return f"bets on matched blocks with guess_from=, else {self.theorem}"


def _spread(details: Any) -> AreaSpread:
    """Return how an area varies, as the rows of a guess foresee it or a record has it."""
    return details if isinstance(details, AreaSpread) else AreaSpread.of_rows(*details)


def by_matchings(
    measure: Measure,
    foreseen: Foreseen,
    spread: AreaSpread,
    labels: Array,
    counts: Array,
    weights: dict[tuple[int, int], float],
) -> RowsInterval | None:
    """Return the interval of an area by bets on blocks of matched rows.

    None if the interval that follows from the value is foreseen to be as narrow.

    Parameters
    ----------
    measure : Measure
    foreseen : Foreseen
    spread : AreaSpread
    labels, counts : ndarray
        The classes of the holdout, and how many rows they have.
    weights : dict
        Of the area of a class, compared with another, by their positions.
    """
    value, ln_delta, sizes = foreseen.value, foreseen.ln_delta, counts.tolist()
    if min(sizes) < LEAST_BLOCKS:
        return None
    spread = AreaSpread(**spread.describe())  # as it is recorded
    made = Matchings.plan(sizes, value, spread, ln_delta, drawn=True)
    (low, high), usual = (
        made.foreseen(value, ln_delta),
        measure.interval((value, value), measure.size(foreseen.y), ln_delta),
    )
    if high - low >= usual[1] - usual[0]:
        return None

    def several(
        y: Array,
        outputs: Array,
        classes: Array | None,
        ln_deltas: Sequence[float],
        rng: Generator,
        even: int = 0,
    ) -> list[Range]:
        uniform = float(rng.random())
        scores = [outputs] if outputs.ndim == 1 else list(outputs.T)
        values = made.deal(scores, [np.flatnonzero(y == label) for label in labels], weights, rng)
        return [
            made.ends(values, each, uniform, None if i < even else tilt) for i, each in enumerate(ln_deltas)
        ]

    def ends(y: Array, outputs: Array, classes: Array | None, ln_delta: float, rng: Generator) -> Range:
        return several(y, outputs, classes, (ln_delta,), rng)[0]

    name, theorem = "matched blocks", "bets on matched blocks with a drawn bound (Waudby-Smith, Ramdas 2024)"
    tuning, tilt = {"blocks": made.blocks, "matchings": made.matchings, "variance": made.variance}, None
    if foreseen.guess_rows is not None:
        tuning["guess_rows"] = foreseen.guess_rows
        tilt = made.tilted(foreseen.guess_rows * made.blocks / min(sizes))
        theorem += f", {tilted_by(value, foreseen.guess_rows)} (Pratt 1961)"
    return RowsInterval(
        name, theorem, tuning, partial(made.foreseen, tilt=tilt), ends, is_drawn=True,
        announced=partial(made.foreseen, value), several=several, is_tilted=tilt is not None,
        deviation=math.sqrt(spread.variance(sizes) * min(sizes)),
        recorded={"by": name, "spread": spread.describe()}, usual_in=USUAL_IN if tilt is None else SELDOM_IN,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class AreaOfUnits(Measure):
    """The area under the ROC curve over pairs of rows of different units.

    Parameters
    ----------
    base : AUC
    units : Units
    """

    base: AUC
    units: Units
    family = "auc of units"
    theorem = "Hoeffding for disjoint pairs of units, averaged (Hoeffding 1963)"
    has_noise = False
    joins_labels_and_units = True

    @property
    def clause(self) -> str:
        """What a target says of pairs, after the mix."""
        return ", over pairs of rows of different groups" if self.units.has_groups else ""

    def size(self, y: Array) -> float:
        """Return how many independent terms there are."""
        labels = np.unique(y)
        if len(labels) != 2:
            raise UndefinedMetricError("the AUC needs two classes")
        weight = self.units.weight
        if not all(weight[y == label].any() for label in labels):
            raise without_weight()
        size = self._rows(y == labels[1]).size
        if size == 0.0:
            reason, fix = "it needs rows of both classes in different groups", "Hold out more groups."
            raise UnsuitableUnitsError(reason, "groups", "one group with all that count", fix)
        return size

    def value(self, y: Array, outputs: Array, classes: Array | None) -> Measured:
        """Return the area; the weight of a pair is the product of its rows' weights."""
        self.base.value(y, outputs, classes)  # raises where there is none
        assert classes is not None
        rows = self._rows(y == classes[1])
        return Measured(rows.area(np.asarray(outputs, dtype=np.float64)), self.size(y))

    def interval(self, ends: Range, size: float, ln_delta: float) -> Range:
        """Return Hoeffding's interval at this size."""
        return hoeffding(*clipped(ends, self.limits), size, ln_delta, self.limits)

    def rows_interval(self, foreseen: Foreseen) -> RowsInterval | None:
        """Return bets on pairs of bundles of units, if they are foreseen to be narrower."""
        if foreseen.details is None:
            return None
        value, ln_delta, size = foreseen.value, foreseen.ln_delta, self.size(foreseen.y)
        spread, rows = _spread(foreseen.details), self._rows(foreseen.y == np.unique(foreseen.y)[1])
        spread = AreaSpread(**spread.describe())  # as it is recorded
        made = Bundles.plan(rows, value, spread, ln_delta, drawn=foreseen.drawn)
        usual = self.interval((value, value), size, ln_delta)
        if made is None:
            return None
        low, high = made.foreseen(value, ln_delta)
        if high - low >= usual[1] - usual[0]:
            return None

        name, bound = "pairs of groups", " with a drawn bound" if foreseen.drawn else ""
        theorem = f"bets on pairs of groups{bound} (Waudby-Smith, Ramdas 2024)"
        tuning, tilt = {"bundles": made.bundles, "variance": made.variance}, None
        fewest = int(np.unique(foreseen.y, return_counts=True)[1].min())
        if foreseen.guess_rows is not None:
            tuning["guess_rows"] = foreseen.guess_rows
            tilt = made.tilted(foreseen.guess_rows * made.terms / fewest)
            theorem += f", {tilted_by(value, foreseen.guess_rows)} (Pratt 1961)"

        def ends(y: Array, outputs: Array, classes: Array | None, ln_delta: float, rng: Generator) -> Range:
            return several(y, outputs, classes, (ln_delta,), rng, 0)[0]

        def several(
            y: Array,
            outputs: Array,
            classes: Array | None,
            ln_deltas: Sequence[float],
            rng: Generator,
            even: int,
        ) -> list[Range]:
            uniform, scores = (
                float(rng.random()) if foreseen.drawn else None,
                np.asarray(outputs, dtype=float),
            )
            tilts = [None if i < even else tilt for i in range(len(ln_deltas))]
            return [
                made.ends(scores, *each)
                for each in zip(ln_deltas, [uniform] * len(tilts), tilts, strict=True)
            ]

        return RowsInterval(
            name, theorem, tuning, partial(made.foreseen, tilt=tilt), ends, foreseen.drawn,
            partial(made.foreseen, value), several=several, is_tilted=tilt is not None,
            error=math.sqrt(made.variance / made.terms * (1.0 + fewest / foreseen.behind)),
            recorded={"by": name, "spread": spread.describe()},
            usual_in=USUAL_IN if tilt is None else SELDOM_IN,
        )  # fmt: skip

    def _rows(self, is_positive: Array) -> CrossGroups:
        weight = self.units.weight / self.units.weight.max()  # as products of very large ones overflow
        return CrossGroups(np.asarray(is_positive), self.units.unit, weight)


_KEPT = 40  # quantiles of the scores of a guess
_averaged = partial(register, response=CLASS_SCORES, needs_every_class=True)


# The target depends on class proportions, but for the plain mean over pairs.
@_averaged("roc_auc_ovo", pairs=True, by_rows=False)
@_averaged("roc_auc_ovo_weighted", pairs=True, by_rows=True, at_class_mix=True)
@_averaged("roc_auc_ovr", pairs=False, by_rows=False, at_class_mix=True)
@_averaged("roc_auc_ovr_weighted", pairs=False, by_rows=True, at_class_mix=True)
@dataclass(frozen=True)
class AveragedAUC(Measure):
    """The mean of the AUCs of several classes.

    Of each class against the rest, or of each pair of classes.

    Parameters
    ----------
    pairs : bool
        Whether pairs of classes are compared ("ovo"), not each class with the rest ("ovr").
    by_rows : bool
        Whether classes, or pairs, count by their rows.
    """

    pairs: bool
    by_rows: bool
    kind = "auc"
    family = "averaged auc"
    alike = "compares each class with several others: use 'balanced_accuracy', or 'roc_auc' of two classes"
    theorem = "McDiarmid, or Hoeffding for two-sample U-statistics (McDiarmid 1989, Hoeffding 1963)"
    unit = SAME_CLASS
    has_noise = False

    def size(self, y: Array) -> float:
        """Return the size that the class counts give."""
        counts = np.unique(y, return_counts=True)[1]
        if len(counts) < 2:
            raise UndefinedMetricError("the AUC needs two classes")
        return averaged_auc_size(tuple(counts.tolist()), pairs=self.pairs, weighted=self.by_rows)

    def value(self, y: Array, outputs: Array, classes: Array | None) -> Measured:
        """Return scikit-learn's value, if all classes of the model have rows."""
        if classes is None:
            raise UndefinedMetricError("the AUC needs a model with classes")
        codes = class_positions(y, classes, "a label")
        if len(np.unique(y)) < len(classes):
            raise UndefinedMetricError("a class has no rows")
        scores = outputs[:, 1] if outputs.ndim == 2 and len(classes) == 2 else outputs
        pairs, average = "ovo" if self.pairs else "ovr", "weighted" if self.by_rows else "macro"
        value = roc_auc_score(y, scores, multi_class=pairs, average=average, labels=classes)
        details = (outputs, codes) if scores is outputs and outputs.ndim == 2 else None
        return Measured(float(value), self.size(y), details=details)

    def at_mix(self, mix: ClassMix) -> Measure | None:
        """Return this, if pairs of classes count alike; for other averages None."""
        return None if self.at_class_mix else self

    def interval(self, ends: Range, size: float, ln_delta: float) -> Range:
        """Return Hoeffding's interval at this size."""
        return hoeffding(*clipped(ends, self.limits), size, ln_delta, self.limits)

    def weights(self, counts: Array) -> dict[tuple[int, int], float]:
        """Return the weight of the area of a class, compared with another, at these class counts."""
        n = counts.astype(float)
        if self.pairs:
            weights = n[:, None] + n if self.by_rows else np.ones((len(n), len(n)))
        else:
            weights = (n[:, None] if self.by_rows else 1.0) * n / (n.sum() - n)[:, None]
        np.fill_diagonal(weights, 0.0)
        weights = weights / weights.sum()
        at = range(len(n))
        return {(c, other): float(weights[c, other]) for c in at for other in at if c != other}

    def rows_interval(self, foreseen: Foreseen) -> RowsInterval | None:
        """Return bets on matched blocks, if rows of a guess foresee that they are narrower."""
        if foreseen.details is None or not foreseen.drawn or not foreseen.by_blocks:
            return None
        labels, counts = np.unique(foreseen.y, return_counts=True)
        spread, weights = self._spread(foreseen.details), self.weights(counts)
        if len(spread.rows) != len(labels):
            return None
        return by_matchings(self, foreseen, spread, labels, counts, weights)

    def with_tuning(self, tuning: dict[str, Any]) -> tuple[Measure, Any]:
        """Return this, and how the mean was foreseen to vary; older releases did not foresee it."""
        return self, AreaSpread(**tuning["spread"]) if "spread" in tuning else None

    def _spread(self, details: Any) -> AreaSpread:
        if isinstance(details, AreaSpread):
            return details
        scores, codes = details
        return AreaSpread.of_classes(scores, codes, self.weights(np.bincount(codes)))

    @property
    def listed(self) -> str:
        """What certifies it, for the table of scorers."""
        return f"bets on matched blocks with guess_from=, else {self.theorem}"


@register(
    "average_precision", response=SCORES, positive=1, needs_every_class=True, instead="'roc_auc_ovr'",
    scorer_of=partial(make_scorer, average_precision_score, response_method=SCORES.methods),
)  # fmt: skip
@dataclass(frozen=True)
class AveragePrecision(AllRows):
    """Average precision of one class, from bands of two rates."""

    theorem = "Clopper-Pearson for bands of two rates"
    needs_rows = True
    alike = "depends on where each row ranks among all others: use 'roc_auc'"
    clause = ", ties broken at random"

    def size(self, y: Array) -> float:
        """Return the number of rows of the class."""
        count = int(np.count_nonzero(y == self.positive))
        if not 0 < count < len(y) or len(np.unique(y)) != 2:
            raise UndefinedMetricError("it needs rows of two classes, one of them the positive one")
        return count

    def value(self, y: Array, outputs: Array, classes: Array | None) -> Measured:
        """Return scikit-learn's value."""
        is_positive, size = np.asarray(y == self.positive), self.size(y)
        value = float(average_precision_score(is_positive, outputs))
        return Measured(value, size, details=(np.asarray(outputs, dtype=float), is_positive))

    def rows_interval(self, foreseen: Foreseen) -> RowsInterval:
        """Return bands at thresholds that the rows of the guess suggest."""
        scores, is_positive = foreseen.details
        expected = {"expected_scores": scores, "expected_positive": is_positive}

        def bands(y: Array, outputs: Array, ln_delta: float, rng: Generator) -> Range:
            seed = int(rng.integers(2**32))
            return average_precision_interval(outputs, y == self.positive, ln_delta, seed=seed, **expected)

        ends = average_precision_interval(scores, is_positive, foreseen.ln_delta, seed=0, **expected)
        ends = moved(ends, foreseen.value - float(average_precision_score(is_positive, scores)))
        scale = math.sqrt(np.count_nonzero(is_positive) / np.count_nonzero(foreseen.y == self.positive))
        made = self._around("bands", bands, foreseen, foreseen.value, ends, scale)
        return replace(made, is_drawn=True)  # as ties are broken

    def tuning(self, details: Any) -> dict[str, Any]:
        """Return quantiles of the scores that are foreseen, of the class and of others."""
        scores, is_positive = details
        at = (np.arange(_KEPT) + 0.5) / _KEPT
        return {"scores": [np.quantile(scores[is_positive == side], at).tolist() for side in (True, False)]}

    def with_tuning(self, tuning: dict[str, Any]) -> tuple[AveragePrecision, Any]:
        """Return this, and scores that are distributed like those that were foreseen."""
        scores = np.concatenate(tuning["scores"])
        return self, (scores, np.arange(len(scores)) < _KEPT)
