"""Print how wide intervals of areas, and of rows with weights or groups, are out of a `Holdout`.

``python -m benchmarks.validity.unit_widths`` asks 200 new holdouts for each metric and prints the mean width
of the answers over that of a normal interval at the delta of the answer: twice its quantile times the
standard error that the holdout itself shows, the cluster-robust one where rows come in groups, of areas
DeLong's.
Validation rows, of which the guess is, are as many, and others. ``--write`` writes them into the table of the
documentation, ``docs/unit_widths.csv``. Its other column is what the same script printed when it ran with the
release that began ledgers of format 4; ``--write before`` writes that one. A metric that had no interval then
is left out there.
"""

from __future__ import annotations

import argparse
import csv
import math
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from sklearn_ada import Holdout, Metric

__all__ = ["COLUMNS", "ROWS", "TABLE", "Row", "measured"]

TABLE = Path(__file__).parents[2] / "docs" / "unit_widths.csv"
COLUMNS = ["metric", "over a normal interval", "before"]
WRITTEN = {"now": 1, "before": 2}
TOGETHER = 0.3  # of the variance of a score, or of an error, is common to the rows of a patient
BOUND = 4.0  # of weights, and of errors

Array = NDArray[Any]
Rows = tuple[Array, Array]


class Scores(ClassifierMixin, BaseEstimator):
    """A model whose scores of the classes stand in the first columns; of two classes, in the first."""

    def fit(self, X: Array, y: Array) -> Scores:
        """Learn the classes."""
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X: Array) -> Array:
        """Return the first column."""
        return np.asarray(X)[:, 0]

    def predict(self, X: Array) -> Array:
        """Return whether the first column is above .9."""
        return (np.asarray(X)[:, 0] > 0.9).astype(int)

    def predict_proba(self, X: Array) -> Array:
        """Return probabilities that rise with the first columns."""
        odds = np.exp(np.asarray(X)[:, : len(self.classes_)])
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))


class Numbers(RegressorMixin, BaseEstimator):
    """A model whose predictions stand in the first column."""

    def fit(self, X: Array, y: Array) -> Numbers:
        """Learn nothing."""
        self.fitted_ = True
        return self

    def predict(self, X: Array) -> Array:
        """Return the first column."""
        return np.asarray(X)[:, 0]


class Row(NamedTuple):
    """One row of the table: a metric of one population, and the largest ratio that is aimed at.

    ``off(X, y)`` returns of every row what the metric is, to first order, the mean of.
    """

    name: str
    most: float
    metric: Metric
    off: Callable[[Array, Array], Array]
    counts: tuple[int, ...] = ()
    rows_of_a_patient: int = 1
    weighted: bool = False

    def units(self, rng: np.random.Generator) -> dict[str, Any]:
        """Return the groups or weights of a holdout."""
        n = sum(self.counts)
        if self.weighted:
            return {"sample_weight": np.minimum(rng.exponential(size=n) + 0.05, BOUND), "weight_bound": BOUND}
        grouped = self.rows_of_a_patient > 1
        return {"groups": np.arange(n) // self.rows_of_a_patient} if grouped else {}

    def drawn(self, rng: np.random.Generator) -> Rows:
        """Return rows at a fixed class mix, which go together in patients, and their labels."""
        n, classes = sum(self.counts), len(self.counts)
        noise = math.sqrt(1.0 - TOGETHER) * rng.standard_normal((n, max(classes, 2)))
        shared = rng.standard_normal((-(-n // self.rows_of_a_patient), noise.shape[1]))
        noise += math.sqrt(TOGETHER) * np.repeat(shared, self.rows_of_a_patient, axis=0)[:n]
        if classes == 1:
            y = rng.standard_normal(n)
            return np.column_stack((y + noise[:, 0], noise[:, 1])), y
        y = rng.permutation(np.repeat(np.arange(classes), self.counts))
        if classes == 2:
            return np.column_stack((1.8 * y + noise[:, 0], noise[:, 1])), y
        return 1.3 * np.eye(classes)[y] + noise, y

    def away(self, X: Array, y: Array, weight: Array | None = None) -> Array:
        """Return by how much the weight of each row moves the metric, times that weight."""
        off, weight = self.off(X, y), np.ones(len(y)) if weight is None else weight
        return np.asarray(weight * (off - np.average(off, weights=weight)) / weight.sum())


def measured(row: Row, *, samples: int = 200, seed: int = 0) -> float:
    """Return the width of an answer over that of a normal interval; NaN if the metric has none."""
    rng, ratios = np.random.default_rng(seed), []
    model = Numbers() if len(row.counts) == 1 else Scores()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(samples):
            (X, y), units = row.drawn(rng), row.units(rng)
            opened = {"ledger": Path(folder) / f"{number}.db", "answers": "exact", "random_state": number}
            holdout = Holdout(X, y, **opened, **units)
            try:
                answer = holdout.certify(model.fit(X, y), scoring=row.metric, guess_from=row.drawn(rng))
            except ValueError:
                return math.nan
            assert answer.certificate is not None
            away = row.away(X, y, units.get("sample_weight"))
            error = math.sqrt(np.square(np.bincount(units.get("groups", np.arange(len(y))), away)).sum())
            quantile = norm.isf(math.exp(answer.certificate.ln_delta) / 2)
            ratios.append((answer.interval[1] - answer.interval[0]) / (2.0 * quantile * error))
    return float(np.mean(ratios))


def _ratio(sums: Callable[[Array, Array], tuple[Array, Array]]) -> Callable[[Array, Array], Array]:
    """Return what rows move a ratio of sums by, such as F1, of what they add to either."""

    def off(X: Array, y: Array) -> Array:
        above, below = sums(np.asarray(X[:, 0] > 0.9), y == 1)
        return np.asarray((above - above.sum() / below.sum() * below) / below.mean())

    return off


def _areas(scores: Array, is_positive: Array) -> Array:
    """Return what rows move an area by: DeLong's terms."""
    up, down = scores[is_positive], scores[~is_positive]
    of_positives = np.searchsorted(np.sort(down), up) / len(down)
    of_negatives = 1.0 - np.searchsorted(np.sort(up), down) / len(up)
    off, n = np.empty(len(scores)), len(scores)
    off[is_positive] = (of_positives - of_positives.mean()) * n / len(up)
    off[~is_positive] = (of_negatives - of_negatives.mean()) * n / len(down)
    return off


def _area(X: Array, y: Array) -> Array:
    return _areas(X[:, 0], y == 1)


def _mean_area(X: Array, y: Array) -> Array:
    """Return what rows move the mean of the areas of each class against the rest by."""
    odds = np.exp(X)
    shares = odds / odds.sum(axis=1, keepdims=True)
    return np.mean([_areas(shares[:, c], y == c) for c in range(X.shape[1])], axis=0)


def _right(X: Array, y: Array) -> Array:
    return np.asarray((X[:, 0] > 0.9) == y, dtype=float)


def _errors(X: Array, y: Array) -> Array:
    return np.minimum(abs(X[:, 0] - y), BOUND)


def _root(X: Array, y: Array) -> Array:
    squares = _errors(X, y) ** 2
    return np.asarray(squares / (2.0 * math.sqrt(squares.mean())))


_F1 = _ratio(lambda p, y: (2.0 * (p & y), 1.0 * p + y))
_PRECISION = _ratio(lambda p, y: (1.0 * (p & y), 1.0 * p))
MAE, RMSE = (
    Metric(f"neg_{name}_error", range=(-BOUND, 0)) for name in ("mean_absolute", "root_mean_squared")
)
_HALF, _NUMBERS = (500, 500), (1000,)

ROWS = [
    Row("AUC, half of 1,000 rows", 1.5, Metric("roc_auc"), _area, _HALF),
    Row("AUC, a tenth of 1,000 rows", 1.5, Metric("roc_auc"), _area, (900, 100)),
    Row(
        "AUC one-vs-rest, three classes of 100 rows", 2.6, Metric("roc_auc_ovr"), _mean_area, (100, 100, 100)
    ),
    Row("accuracy, weight_bound=", 1.5, Metric("accuracy"), _right, _HALF, weighted=True),
    Row("MAE, weight_bound=", 1.5, MAE, _errors, _NUMBERS, weighted=True),
    Row("accuracy, 250 patients", 1.2, Metric("accuracy"), _right, _HALF, 4),
    Row("MAE, 250 patients", 1.2, MAE, _errors, _NUMBERS, 4),
    Row("RMSE, 250 patients", 2.0, RMSE, _root, _NUMBERS, 4),
    Row("F1, 250 patients", 2.0, Metric("f1"), _F1, _HALF, 4),
    Row("precision, 250 patients", 2.0, Metric("precision"), _PRECISION, _HALF, 4),
    Row("AUC, 250 patients", 2.0, Metric("roc_auc"), _area, _HALF, 4),
    Row("AUC, 1,000 patients", 2.0, Metric("roc_auc"), _area, (2000, 2000), 4),
]


def main() -> None:
    """Print the table, and write a column of it where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--samples", type=int, default=200, help="holdouts for each metric; 200 by default")
    parser.add_argument(
        "--write", nargs="?", const="now", choices=WRITTEN, help="write a column of the table"
    )
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of holdouts with the same rows
    found = {}
    for row in ROWS:
        found[row.name] = measured(row, samples=arguments.samples)
        print(f"{row.name:44} {found[row.name]:8.3f} {row.most:8.2f}", flush=True)
    if arguments.write:
        old = {name: numbers for name, *numbers in csv.reader(TABLE.open())} if TABLE.exists() else {}
        table = [[row.name, *old.get(row.name, ["", ""])] for row in ROWS]
        for line in table:
            ratio = found[line[0]]
            line[WRITTEN[arguments.write]] = "" if math.isnan(ratio) else f"{ratio:.2f}"
        with TABLE.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *table])


if __name__ == "__main__":
    main()
