"""Average precision, the area under the curve of precision and recall, from bands of two rates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score

from sklearn_ada.guarantees.intervals.of_metrics.average_precision import average_precision_interval
from sklearn_ada.metrics.all_rows.rule import AllRowsEnds, AllRowsRule
from sklearn_ada.metrics.rules.constructions import Foreseen, Range
from sklearn_ada.metrics.rules.defined import UndefinedMetricError
from sklearn_ada.metrics.rules.rule import Measured

__all__ = ["AveragePrecision"]

Array = NDArray[Any]


@dataclass(frozen=True)
class AveragePrecision(AllRowsRule):
    """Average precision of one class, from bands of two rates.

    Parameters
    ----------
    positive : object
        The class.
    """

    positive: Any = 1
    theorem = "Clopper-Pearson for bands of two rates"
    needs_rows = True
    clause = ", ties broken at random"

    def known_size(self, y: Array) -> float:
        """Return the number of records of the class."""
        count = int(np.count_nonzero(y == self.positive))
        if not 0 < count < len(y) or len(np.unique(y)) != 2:
            raise UndefinedMetricError("it needs records of two classes, one of them the positive one")
        return count

    def measure(self, y: Array, outputs: Array, classes: Array | None, bounds: Range) -> Measured:
        """Return scikit-learn's value."""
        is_positive = np.asarray(y == self.positive)
        size = self.known_size(y)
        value = float(average_precision_score(is_positive, outputs))
        return Measured(value, size, details=(np.asarray(outputs, dtype=float), is_positive))

    def construction(self, known: Foreseen) -> AllRowsEnds:
        """Return bands at thresholds that the rows of the guess suggest."""
        scores, is_positive = known.details
        foreseen = {"expected_scores": scores, "expected_positive": is_positive}

        def function(
            y: Array, outputs: Array, classes: Array | None, ln_delta: float, rng: np.random.Generator
        ) -> Range:
            seed = int(rng.integers(2**32))
            return average_precision_interval(outputs, y == self.positive, ln_delta, seed=seed, **foreseen)

        ends = average_precision_interval(scores, is_positive, known.ln_delta, seed=0, **foreseen)
        scale = math.sqrt(np.count_nonzero(is_positive) / np.count_nonzero(known.y == self.positive))
        return AllRowsEnds.around("bands", self.theorem, function, known, known.value, ends, scale)
