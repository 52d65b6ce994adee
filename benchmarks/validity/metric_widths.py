"""Print how wide the intervals of metrics are, at n = 1,000.

``python -m benchmarks.validity.metric_widths`` prints, at delta = .05 and as the mean of 200 samples, the
width over that of a normal interval (3.92 standard deviations of the metric itself, over 4,000 samples: what
a delta-method interval estimates) and over that of the construction used before: Hoeffding's or Chernoff's
bound, the interval for a ratio of counts whose denominator is released, or the order statistics of the median
over 50 subsamples, which speaks of another quantity. The rows by which an interval is tuned are as many, and
others. ``--write`` writes the table of the documentation, ``docs/metric_widths.csv``. Metrics of confusion
matrices are in `benchmarks.validity.table_widths`.
"""

from __future__ import annotations

import argparse
import csv
import math
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes, load_digits
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    d2_absolute_error_score,
    log_loss,
    matthews_corrcoef,
    mean_absolute_error,
    mean_squared_error,
    r2_score,
    recall_score,
    roc_auc_score,
    root_mean_squared_error,
)
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ada.guarantees.bets import betting_half_width, betting_predictable, fixed_bets_mean
from sklearn_ada.guarantees.class_tables import class_mean_interval, mcc_interval
from sklearn_ada.guarantees.intervals import bentkus, chernoff_kl, hoeffding
from sklearn_ada.guarantees.medians import quantile_interval
from sklearn_ada.guarantees.scores import (
    ExpectedLosses,
    average_precision_interval,
    d2_pinball_interval,
    r_squared_interval,
)

__all__ = ["COLUMNS", "ROWS", "TABLE", "Row", "measured"]

LN_DELTA = math.log(0.05)
SUBSAMPLES = 50
TABLE = Path(__file__).parents[2] / "docs" / "metric_widths.csv"
COLUMNS = ["metric", "over a normal interval", "over the first version"]

Sample = NDArray[np.float64]
Ends = tuple[float, float]
Interval = Callable[[NDArray[np.float64], NDArray[np.float64], np.random.Generator], Ends]


class Row(NamedTuple):
    """One row of the table: a metric of one population.

    ``draw(rng, n)`` returns an array (n, 2) of targets and predictions (or scores), ``value(sample)`` the
    metric, ``interval(sample, known, rng)`` its ends, and ``first(sample)`` those of the construction used
    before, if it is not the median. ``most`` and ``most_before`` are the largest ratios that are aimed at.
    """

    name: str
    most: float
    draw: Callable[[np.random.Generator, int], Sample]
    value: Callable[[Sample], float]
    interval: Interval
    first: Callable[[Sample], Ends] | None = None
    most_before: float = math.inf


def measured(
    row: Row, n: int, *, samples: int = 200, normal: int = 4000, seed: int = 0
) -> tuple[float, float]:
    """Return the width over that of a normal interval, and over that of the construction used before."""
    rng, drawn = np.random.default_rng(seed), np.random.default_rng([seed, 1])
    deviation = np.std([row.value(row.draw(rng, n)) for _ in range(normal)])
    widths, before = [], []
    for _ in range(samples):
        seen, known = row.draw(rng, n), row.draw(rng, n)
        low, high = row.interval(seen, known, drawn)
        widths.append(high - low)
        low, high = _median(row, seen, rng) if row.first is None else row.first(seen)
        before.append(high - low)
    return float(np.mean(widths) / (3.92 * deviation)), float(np.mean(widths) / np.mean(before))


def _median(row: Row, seen: Sample, rng: np.random.Generator) -> Ends:
    """Return the order statistics that enclose the median over subsamples."""
    level = quantile_interval(SUBSAMPLES, 0.0, LN_DELTA)[0]
    parts = np.array_split(seen[rng.permutation(len(seen))], SUBSAMPLES)
    values = np.sort([row.value(part) for part in parts])
    rank = math.floor(level * SUBSAMPLES)
    return float(values[rank]), float(values[-1 - rank])


def _classes(shares: tuple[float, ...], right: float) -> Callable[[np.random.Generator, int], Sample]:
    """Return a population at a fixed class mix whose model is right with a chance, and else errs evenly."""

    def draw(rng: np.random.Generator, n: int) -> Sample:
        y = np.repeat(np.arange(len(shares)), np.round(np.array(shares) * n).astype(int))
        other = (y + rng.integers(1, len(shares), len(y))) % len(shares)
        return np.column_stack((y, np.where(rng.random(len(y)) < right, y, other))).astype(float)

    return draw


def _table(sample: Sample, classes: int) -> Sample:
    pairs = sample.astype(int)
    return np.bincount(classes * pairs[:, 0] + pairs[:, 1], minlength=classes**2).reshape(classes, classes)


def _mcc(seen: Sample, known: Sample, rng: np.random.Generator) -> Ends:
    return mcc_interval(_table(seen, 3), LN_DELTA, expected=_table(known, 3))


def _diabetes(rng: np.random.Generator, n: int) -> Sample:
    x, y = load_diabetes(return_X_y=True)
    at = rng.integers(0, len(y), n)
    return np.column_stack((y[at], Ridge(0.1).fit(x, y).predict(x)[at]))


def _r2(seen: Sample, known: Sample, rng: np.random.Generator) -> Ends:
    expected = ExpectedLosses.of_rows(*known.T, target_range=(0.0, 400.0), most_error=200.0)
    return r_squared_interval(
        *seen.T, LN_DELTA, expected=expected, target_range=(0.0, 400.0), most_error=200.0
    )


def _d2(seen: Sample, known: Sample, rng: np.random.Generator) -> Ends:
    expected = ExpectedLosses.of_rows(*known.T, target_range=(0.0, 400.0), most_error=200.0, quantile=0.5)
    return d2_pinball_interval(
        *seen.T, LN_DELTA, expected=expected, target_range=(0.0, 400.0), most_error=200.0
    )


def _rmse(seen: Sample, known: Sample, rng: np.random.Generator) -> Ends:
    square, foreseen = (np.minimum(abs(x[:, 0] - x[:, 1]), 200.0) ** 2 / 200.0**2 for x in (seen, known))
    low, high = fixed_bets_mean(
        square, LN_DELTA, expected_mean=float(foreseen.mean()), expected_variance=float(foreseen.var())
    )
    return 200.0 * math.sqrt(low), 200.0 * math.sqrt(high)


def _recall(seen: Sample, known: Sample, rng: np.random.Generator) -> Ends:
    return class_mean_interval(*_recalled(seen), LN_DELTA)


def _recall_before(seen: Sample) -> Ends:
    (hits,), (rows,) = _recalled(seen)
    return hoeffding(hits / rows, hits / rows, rows, LN_DELTA, (0.0, 1.0))


def _recalled(seen: Sample) -> tuple[list[int], list[int]]:
    """Return how many rows of class 0 are predicted right, and how many there are."""
    rows = seen[seen[:, 0] == 0]
    return [int((rows[:, 1] == 0).sum())], [len(rows)]


def _bets(
    loss: Callable[[Sample], Sample], declared: float | None = None
) -> tuple[Interval, Callable[[Sample], Ends]]:
    """Return the interval of a mean loss by predictable bets, and Chernoff's.

    Losses are clipped to what was declared, or to a quarter more than the largest of the rows that tune.
    """

    def interval(seen: Sample, known: Sample, rng: np.random.Generator) -> Ends:
        most = declared or 1.25 * float(loss(known).max())
        foreseen, scaled = (np.clip(loss(rows) / most, 0.0, 1.0) for rows in (known, seen))
        variance = float(foreseen.var())
        reach = 6.0 * betting_half_width(len(seen), variance, LN_DELTA, predictable=True)
        grid = np.linspace(foreseen.mean() - reach, foreseen.mean() + reach, 400)
        grid = grid[(grid > 0) & (grid < 1)]
        low, high = betting_predictable(scaled, variance, LN_DELTA, grid, uniform=rng.random())
        return most * low, most * high

    def first(seen: Sample) -> Ends:
        most = declared or 1.25 * float(loss(seen).max())
        mean = float(loss(seen).mean()) / most
        low, high = chernoff_kl(mean, mean, len(seen), LN_DELTA, (0.0, 1.0))
        return most * low, most * high

    return interval, first


def _probable(rng: np.random.Generator, n: int) -> Sample:
    """Return labels and their probabilities, which are right; half of them are below .12 or above .88."""
    probability = 1.0 / (1.0 + np.exp(-3.0 * rng.standard_normal(n)))
    return np.column_stack((rng.random(n) < probability, probability))


@cache
def _true_class(model: str) -> NDArray[np.float64]:
    """Return the probability that a logistic regression gives the true class of digits it has not seen."""
    kinds = {"C = 0.01": LogisticRegression(C=0.01), "C = 1": LogisticRegression()}
    x, y = load_digits(return_X_y=True)
    x_fit, x_rest, y_fit, y_rest = train_test_split(x, y, test_size=0.5, random_state=0)
    said = make_pipeline(StandardScaler(), kinds[model]).fit(x_fit, y_fit).predict_proba(x_rest)
    return np.asarray(said[np.arange(len(y_rest)), y_rest])


def _digits(model: str) -> Callable[[np.random.Generator, int], Sample]:
    """Return a population of ones and probabilities of the true class, drawn with replacement."""

    def draw(rng: np.random.Generator, n: int) -> Sample:
        return np.column_stack((np.ones(n), rng.choice(_true_class(model), n)))

    return draw


def _auc(seen: Sample, known: Sample, rng: np.random.Generator) -> Ends:
    value = float(roc_auc_score(*seen.T))
    return bentkus(value, value, int(seen[:, 0].sum()), LN_DELTA)


def _auc_before(seen: Sample) -> Ends:
    value = float(roc_auc_score(*seen.T))
    return chernoff_kl(value, value, int(seen[:, 0].sum()), LN_DELTA, (0.0, 1.0))


def _ranked(share: float, shift: float) -> Callable[[np.random.Generator, int], Sample]:
    def draw(rng: np.random.Generator, n: int) -> Sample:
        positive = np.arange(n) < share * n
        return np.column_stack((positive, rng.standard_normal(n) + shift * positive))

    return draw


def _average_precision(seen: Sample, known: Sample, rng: np.random.Generator) -> Ends:
    return average_precision_interval(
        seen[:, 1], seen[:, 0], LN_DELTA, expected_scores=known[:, 1], expected_positive=known[:, 0], seed=0
    )


def _of(function: Callable[..., float], **options: object) -> Callable[[Sample], float]:
    return lambda sample: float(function(sample[:, 0], sample[:, 1], **options))


_THREE = _classes((0.5, 0.3, 0.2), 0.8)

_RECALL = {"labels": [0], "average": "macro"}
_ERROR = _bets(lambda rows: abs(rows[:, 0] - rows[:, 1]), 200.0)
_SQUARE = _bets(lambda rows: (rows[:, 0] - rows[:, 1]) ** 2, 200.0**2)
_LOG = _bets(lambda rows: -np.log(np.where(rows[:, 0] == 1, rows[:, 1], 1.0 - rows[:, 1])))
_DIGITS = _bets(lambda rows: -np.log(rows[:, 1]))
_BRIER = _bets(lambda rows: (rows[:, 0] - rows[:, 1]) ** 2, 1.0)

ROWS = [
    Row(
        "recall, a third",
        math.inf,
        _classes((0.3, 0.7), 0.9),
        _of(recall_score, **_RECALL),
        _recall,
        _recall_before,
        0.6,
    ),
    Row(
        "AUC, 100 positives, without validation rows",
        math.inf,
        _ranked(0.1, 1.5),
        _of(roc_auc_score),
        _auc,
        _auc_before,
        0.87,
    ),
    Row("Brier score", 1.15, _probable, _of(brier_score_loss), *_BRIER, 0.6),
    *(
        Row(
            f"log loss, digits, {model}",
            1.15,
            _digits(model),
            lambda rows: -np.log(rows[:, 1]).mean(),
            *_DIGITS,
            0.6,
        )
        for model in ("C = 0.01", "C = 1")
    ),
    Row("log loss, few large ones", 1.15, _probable, _of(log_loss), *_LOG, 0.6),
    Row("MAE, diabetes", 1.15, _diabetes, _of(mean_absolute_error), *_ERROR, 0.6),
    Row("MSE, diabetes", 1.15, _diabetes, _of(mean_squared_error), *_SQUARE),
    Row("MCC, three classes", 2.1, _THREE, _of(matthews_corrcoef), _mcc),
    Row("average precision, half", 5.0, _ranked(0.5, 1.5), _of(average_precision_score), _average_precision),
    Row(
        "average precision, a tenth", 5.0, _ranked(0.1, 2.0), _of(average_precision_score), _average_precision
    ),
    Row("R^2, diabetes", 2.0, _diabetes, _of(r2_score), _r2),
    Row("D^2 of the absolute error, diabetes", 2.1, _diabetes, _of(d2_absolute_error_score), _d2),
    Row("RMSE, diabetes", 2.0, _diabetes, _of(root_mean_squared_error), _rmse),
]


def main() -> None:
    """Print the table, and write it where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("n", type=int, nargs="?", default=1000, help="rows; 1,000 by default")
    parser.add_argument("--write", action="store_true", help="write the table of the documentation")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of scikit-learn, on subsamples without some class
    print(f"{'metric':38} {'over normal':>12} {'at most':>8} {'over before':>12} {'at most':>8}")
    table = []
    for row in ROWS:
        normal, before = measured(row, arguments.n)
        print(
            f"{row.name:38} {normal:12.2f} {row.most:8.2f} {before:12.2f} {row.most_before:8.2f}", flush=True
        )
        table.append([row.name, f"{normal:.2f}", f"{before:.2f}"])
    if arguments.write:
        with TABLE.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *table])


if __name__ == "__main__":
    main()
