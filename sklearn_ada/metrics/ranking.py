"""Average precision, the area under the curve of precision and recall, from bands of two rates.

The area under the ROC curve: of two classes, or averaged over several classes or pairs of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score

from sklearn_ada.accounting.filters import SAME_CLASS
from sklearn_ada.guarantees.bets import bentkus
from sklearn_ada.guarantees.intervals import averaged_auc_size, hoeffding
from sklearn_ada.guarantees.scores import average_precision_interval
from sklearn_ada.metrics.base import (
    AllRowsEnds,
    AllRowsRule,
    Foreseen,
    IntervalRule,
    Measured,
    Range,
    UndefinedMetricError,
    check_known,
    clipped,
)

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


class AUC(IntervalRule):
    """The area under the ROC curve of a binary classifier, ties counting one half."""

    theorem = "Bentkus for two-sample U-statistics (Bentkus 2004, Hoeffding 1963)"
    family, unit = "auc", SAME_CLASS
    influence = 2.0  # each class moves it all

    def known_size(self, y: NDArray[Any]) -> float:
        """Return the size of the smaller class."""
        counts = np.unique(y, return_counts=True)[1]
        if len(counts) != 2:
            raise UndefinedMetricError("the AUC needs two classes")
        return int(counts.min())

    def measure(
        self, y: NDArray[Any], outputs: NDArray[Any], classes: NDArray[Any] | None, bounds: Range
    ) -> Measured:
        """Return the AUC; its size is that of the smaller class."""
        if classes is None or len(classes) != 2 or outputs.ndim != 1:
            raise UndefinedMetricError("the AUC needs two classes and one score per record")
        check_known(y, classes, "a label")
        positive = np.asarray(y == classes[1])
        size = int(min(np.count_nonzero(positive), np.count_nonzero(~positive)))
        if size == 0:
            raise UndefinedMetricError("the AUC needs records of both classes")
        value = float(roc_auc_score(positive, outputs))
        return Measured(value, size)

    def interval(self, known: Range, size: float, ln_delta: float, bounds: Range) -> Range:
        """Return Bentkus's interval, which is never wider than Chernoff's."""
        return bentkus(*clipped(known, bounds), int(size), ln_delta, bounds)


@dataclass(frozen=True)
class AveragedAUC(IntervalRule):
    """The mean over classes of the AUC of each against the rest, or over pairs of classes of theirs.

    Parameters
    ----------
    pairs : bool
        Whether pairs of classes are compared ("ovo"), not each class with the rest ("ovr").
    weighted : bool
        Whether classes, or pairs, count by their records.
    """

    pairs: bool
    weighted: bool
    family, unit = "averaged auc", SAME_CLASS
    has_noise = False
    theorem = "McDiarmid, or Hoeffding for two-sample U-statistics (McDiarmid 1989, Hoeffding 1963)"

    @property
    def at_class_mix(self) -> bool:  # type: ignore[override]
        """Whether the target depends on class proportions: only the plain mean over pairs does not."""
        return not self.pairs or self.weighted

    def known_size(self, y: NDArray[Any]) -> float:
        """Return the size that the class counts give."""
        counts = np.unique(y, return_counts=True)[1]
        if len(counts) < 2:
            raise UndefinedMetricError("the AUC needs two classes")
        return averaged_auc_size(tuple(counts.tolist()), pairs=self.pairs, weighted=self.weighted)

    def sensitivity(self, y: NDArray[Any], width: float) -> None:
        """Return None: it is not answered with noise."""

    def measure(
        self, y: NDArray[Any], outputs: NDArray[Any], classes: NDArray[Any] | None, bounds: Range
    ) -> Measured:
        """Return scikit-learn's value, if all classes of the model have records."""
        if classes is None:
            raise UndefinedMetricError("the AUC needs a model with classes")
        check_known(y, classes, "a label")
        if len(np.unique(y)) < len(classes):
            raise UndefinedMetricError("a class has no records")
        scores = outputs[:, 1] if outputs.ndim == 2 and len(classes) == 2 else outputs
        value = roc_auc_score(
            y,
            scores,
            multi_class="ovo" if self.pairs else "ovr",
            average="weighted" if self.weighted else "macro",
            labels=classes,
        )
        return Measured(float(value), self.known_size(y))

    def interval(self, known: Range, size: float, ln_delta: float, bounds: Range) -> Range:
        """Return Hoeffding's interval at this size."""
        return hoeffding(*clipped(known, bounds), size, ln_delta, bounds)
