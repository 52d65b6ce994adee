"""Print how wide intervals of metrics of confusion matrices are, out of a `Holdout`, at n = 1,000.

``python -m benchmarks.validity.table_widths`` asks 200 new holdouts for each metric and prints the mean width
of the answers over that of a normal interval at the delta of the answer: twice its quantile times the
standard deviation of the metric itself, over 4,000 samples. Validation rows, of which the guess is, are as
many, and others. ``--write`` writes them into the table of the documentation, ``docs/table_widths.csv``. Its
other column is what the same script printed when it ran with the release that began ledgers of format 4;
``--write before`` writes that one. A metric that had no interval then is left out there.
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
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import (
    cohen_kappa_score,
    f1_score,
    fbeta_score,
    jaccard_score,
    make_scorer,
    precision_score,
)

from sklearn_ada import Holdout, Metric

__all__ = ["COLUMNS", "ROWS", "TABLE", "Row", "measured"]

TABLE = Path(__file__).parents[2] / "docs" / "table_widths.csv"
COLUMNS = ["metric", "over a normal interval", "before"]
WRITTEN = {"now": 1, "before": 2}
RIGHT = 0.9, 0.85  # of the rows, with two classes and with ten

Rows = tuple[NDArray[np.float64], NDArray[np.int64]]
Tables = NDArray[np.float64]
"""Confusion matrices, one after the other."""


def of_classes(tables: Tables, name: str, beta: float = 1.0) -> Tables:
    """Return F-beta, precision, Jaccard index or recall of each class, for each table."""
    hits, sizes, predicted = np.einsum("ijj->ij", tables), tables.sum(axis=2), tables.sum(axis=1)
    more = beta**2
    over, under = {
        "F": ((1.0 + more) * hits, more * sizes + predicted),
        "precision": (hits, predicted),
        "Jaccard": (hits, sizes + predicted - hits),
        "recall": (hits, sizes),
    }[name]
    return np.divide(over, under, out=np.zeros_like(over), where=under > 0.0)


def of_class(name: str, label: int, beta: float = 1.0) -> Callable[[Tables], Tables]:
    """Return a function of tables: a metric of one class."""
    return lambda tables: of_classes(tables, name, beta)[:, label]


def averaged(name: str) -> Callable[[Tables], Tables]:
    """Return a function of tables: the mean of a metric over all classes."""
    return lambda tables: of_classes(tables, name).mean(axis=1)


def correlation(is_kappa: bool) -> Callable[[Tables], Tables]:
    """Return a function of tables: Cohen's kappa, or Matthews' correlation."""

    def value(tables: Tables) -> Tables:
        sizes, predicted = tables.sum(axis=2), tables.sum(axis=1)
        n, by_chance = sizes.sum(axis=1), (sizes * predicted).sum(axis=1)
        over = n * np.einsum("ijj->i", tables) - by_chance
        spreads = (n**2 - (x * x).sum(axis=1) for x in (sizes, predicted))
        return over / (n**2 - by_chance if is_kappa else np.sqrt(math.prod(spreads)))

    return value


class Row(NamedTuple):
    """One row of the table: a metric of one population, and the largest ratio that is aimed at."""

    name: str
    most: float
    shares: tuple[float, ...]
    scoring: Any
    score: Callable[[Tables], Tables]

    def tables(self, rng: np.random.Generator, n: int, count: int) -> Tables:
        """Return so many confusion matrices of such rows."""
        classes, right = len(self.shares), RIGHT[len(self.shares) > 2]
        laws = np.where(np.eye(classes) > 0, right, (1.0 - right) / (classes - 1))
        sizes = np.round(np.array(self.shares) * n).astype(int)
        rows = [rng.multinomial(size, law, size=count) for size, law in zip(sizes, laws, strict=True)]
        return np.stack(rows, axis=1).astype(float)

    def drawn(self, rng: np.random.Generator, n: int) -> Rows:
        """Return rows at a fixed class mix, of which a model gets most right and else errs evenly."""
        classes = len(self.shares)
        y = np.repeat(np.arange(classes), np.round(np.array(self.shares) * n).astype(int))
        other = (y + rng.integers(1, classes, len(y))) % classes
        predicted = np.where(rng.random(len(y)) < RIGHT[classes > 2], y, other)
        return np.column_stack((predicted, rng.random(len(y)))), y


class ReadsAColumn(ClassifierMixin, BaseEstimator):
    """A model whose predictions stand in the first column."""

    def fit(self, X: NDArray[np.float64], y: NDArray[np.int64]) -> ReadsAColumn:
        """Learn the classes."""
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the first column."""
        return np.asarray(X)[:, 0].astype(int)


def measured(row: Row, n: int, *, samples: int = 200, normal: int = 4000, seed: int = 0) -> float:
    """Return the width of an answer over that of a normal interval; NaN if the metric has none."""
    rng = np.random.default_rng(seed)
    if not (isinstance(row.scoring, str) or getattr(Metric(row.scoring).measure, "of_all_rows", False)):
        return math.nan
    ratios, deviation = [], float(np.std(row.score(row.tables(rng, n, normal))))
    with tempfile.TemporaryDirectory() as folder:
        for number in range(samples):
            X, y = row.drawn(rng, n)
            holdout = Holdout(
                X, y, ledger=Path(folder) / f"{number}.db", answers="exact", random_state=number
            )
            model = ReadsAColumn().fit(X, y)
            answer = holdout.certify(model, scoring=row.scoring, guess_from=row.drawn(rng, n))
            assert answer.certificate is not None
            delta = math.exp(answer.certificate.ln_delta)
            ratios.append((answer.interval[1] - answer.interval[0]) / (2 * norm.isf(delta / 2) * deviation))
    return float(np.mean(ratios))


_HALF, _TENTH, _TEN = (0.5, 0.5), (0.9, 0.1), (0.1,) * 10
_OF_ONE = {"labels": [0], "average": "macro", "zero_division": 0}

ROWS = [
    *(
        Row(f"{name}, {where}", 1.1, shares, scoring, score)
        for where, shares in (("half", _HALF), ("a tenth", _TENTH))
        for name, scoring, score in (
            ("F1", "f1", of_class("F", 1)),
            ("F2", make_scorer(fbeta_score, beta=2), of_class("F", 1, 2.0)),
            ("precision", "precision", of_class("precision", 1)),
            ("Jaccard", "jaccard", of_class("Jaccard", 1)),
            ("kappa", make_scorer(cohen_kappa_score), correlation(True)),
            ("MCC", "matthews_corrcoef", correlation(False)),
            ("balanced accuracy", "balanced_accuracy", averaged("recall")),
            ("F1-macro", "f1_macro", averaged("F")),
        )
    ),
    *(
        Row(f"{name} of one of ten", 1.25, _TEN, make_scorer(score, **_OF_ONE), of_class(name.rstrip("1"), 0))
        for name, score in (("F1", f1_score), ("precision", precision_score), ("Jaccard", jaccard_score))
    ),
    *(
        Row(f"{name}, ten classes", most, _TEN, scoring, score)
        for name, most, scoring, score in (
            ("F1-macro", 2.0, "f1_macro", averaged("F")),
            ("Jaccard-macro", math.inf, "jaccard_macro", averaged("Jaccard")),
            ("precision-macro", math.inf, "precision_macro", averaged("precision")),
            ("kappa", 1.75, make_scorer(cohen_kappa_score), correlation(True)),
            ("MCC", 2.1, "matthews_corrcoef", correlation(False)),
        )
    ),
]


def main() -> None:
    """Print the table, and write a column of it where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("n", type=int, nargs="?", default=1000, help="rows; 1,000 by default")
    parser.add_argument("--samples", type=int, default=200, help="holdouts for each metric; 200 by default")
    parser.add_argument(
        "--write", nargs="?", const="now", choices=WRITTEN, help="write a column of the table"
    )
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of holdouts with the same rows, and of scikit-learn
    found = {}
    for row in ROWS:
        found[row.name] = measured(row, arguments.n, samples=arguments.samples)
        print(f"{row.name:28} {found[row.name]:8.3f} {row.most:8.2f}", flush=True)
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
