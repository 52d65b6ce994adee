"""Metrics that average over classes how much of each is predicted right, such as balanced accuracy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada.accounting.zcdp_filter import SAME_CLASS
from sklearn_ada.guarantees.intervals.effective_size import class_mean_size
from sklearn_ada.guarantees.intervals.hoeffding import hoeffding
from sklearn_ada.guarantees.intervals.of_metrics.recall_and_balanced_accuracy import counts_are_narrower
from sklearn_ada.metrics.rules.constructions import ClassCountEnds, Construction, Foreseen, Range
from sklearn_ada.metrics.rules.defined import (
    UndefinedMetricError,
    check_known,
    check_positive,
    check_two_labels,
)
from sklearn_ada.metrics.rules.rule import IntervalRule, Measured, clipped, count_interval

__all__ = ["ClassMean"]


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
