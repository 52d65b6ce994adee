"""Matthews' correlation, and averages of F1, Jaccard or precision over classes, by the confusion matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix, f1_score, jaccard_score, matthews_corrcoef, precision_score

from sklearn_ada.guarantees.class_tables import average_ratio_interval, mcc_interval
from sklearn_ada.metrics.base import (
    AllRowsEnds,
    AllRowsRule,
    Foreseen,
    Measured,
    Range,
    UndefinedMetricError,
    check_known,
)

Array = NDArray[Any]
Table = NDArray[np.float64]

_AVERAGED = {"f_beta": f1_score, "jaccard": jaccard_score, "precision": precision_score}


@dataclass(frozen=True)
class ClassTable(AllRowsRule):
    """Matthews' correlation, or an average over classes, by the confusion matrix.

    Parameters
    ----------
    metric : {"f_beta", "jaccard", "precision", "mcc"}
    average : {"macro", "weighted", ""}, default=""
    """

    metric: str
    average: str = ""
    theorem = "fixed bets on the confusion matrix (Waudby-Smith, Ramdas 2024)"

    @property
    def bounds(self) -> Range:
        """The metric's range."""
        return (-1.0 if self.metric == "mcc" else 0.0), 1.0

    def known_size(self, y: Array) -> float:
        """Return the number of records, if they are of two classes at least."""
        if len(np.unique(y)) < 2:
            raise UndefinedMetricError("it compares two classes or more")
        return len(y)

    def measure(self, y: Array, outputs: Array, classes: Array | None, bounds: Range) -> Measured:
        """Return scikit-learn's value, if no class is predicted that has no rows."""
        labels = np.unique(y)
        check_known(outputs, labels, "a predicted label")
        if self.metric == "mcc":
            value = float(matthews_corrcoef(y, outputs))
        else:
            value = float(_AVERAGED[self.metric](y, outputs, average=self.average, zero_division=0))
        seen = _Matrix(tuple(labels.tolist()), confusion_matrix(y, outputs, labels=labels).astype(float))
        return Measured(value, len(y), details=seen)

    def construction(self, known: Foreseen) -> AllRowsEnds:
        """Return fixed bets on the entries of the confusion matrix, tuned to the one foreseen."""
        labels, sizes = np.unique(known.y, return_counts=True)
        expected = self._expected(known, labels, sizes)

        def function(
            y: Array, outputs: Array, classes: Array | None, ln_delta: float, rng: np.random.Generator
        ) -> Range:
            return self._ends(confusion_matrix(y, outputs, labels=labels), expected, ln_delta)

        at_mix = np.round(expected / expected.sum(axis=1, keepdims=True) * sizes[:, None])
        ends = self._ends(at_mix, expected, known.ln_delta)
        value = min(max(known.value, ends[0]), ends[1])
        return AllRowsEnds.around("confusion matrix", self.theorem, function, known, value, ends)

    def _ends(self, table: Table, expected: Table, ln_delta: float) -> Range:
        if self.metric == "mcc":
            return mcc_interval(table, ln_delta, expected=expected)
        return average_ratio_interval(self.metric, table, ln_delta, expected=expected, average=self.average)

    def _expected(self, known: Foreseen, labels: Array, sizes: NDArray[np.int64]) -> Table:
        """Return the confusion matrix foreseen; where no rows foresee it, of equally likely mistakes."""
        shares = sizes / sizes.sum()
        chance = float(shares @ shares) if self.metric == "mcc" else 0.0
        right = min(max(known.value + (1.0 - known.value) * chance, 0.01), 0.99)
        others = np.tile(shares, (len(labels), 1)) * (1.0 - np.eye(len(labels)))
        laws = right * np.eye(len(labels)) + (1.0 - right) * others / others.sum(axis=1, keepdims=True)
        table: Table = laws * sizes[:, None]
        seen = known.details
        if isinstance(seen, _Matrix):
            position = {label: number for number, label in enumerate(seen.labels)}
            common = [(i, position[label]) for i, label in enumerate(labels.tolist()) if label in position]
            rows, columns = np.array([i for i, _ in common]), np.array([j for _, j in common])
            if len(common) == len(labels):
                table = seen.table[np.ix_(columns, columns)] + laws  # as if one more row of each class
            elif len(common):
                table[np.ix_(rows, rows)] = seen.table[np.ix_(columns, columns)]
        return table


@dataclass(frozen=True)
class _Matrix:
    """A confusion matrix, and of which labels."""

    labels: tuple[Any, ...]
    table: Table
