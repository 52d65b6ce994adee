"""Print how often a paired difference of error rates is missed, and its width over that of two intervals.

``python -m benchmarks.validity.comparisons`` fits two models on a third of each data set. The other rows are
the population, so that the difference is known; 500 seeded holdouts are drawn from them with replacement, and
as many rows from which the form of the interval is chosen. Without pairing one has two Clopper-Pearson
intervals at delta/2 each, whose widths add up.

It prints the widths of ``Holdout.compare`` over the normal interval at the same level, too, of 200 holdouts
of 1,000 rows of which the models differ on one in twenty, with half and with a tenth of positives: as they
are, and by the sign test and bets, as they were before there were tables of pairs.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import tempfile
import warnings
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri_exp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ada import Holdout
from sklearn_ada.guarantees.intervals import clopper_pearson
from sklearn_ada.guarantees.scores import paired_zero_one_interval

__all__ = ["Column", "compared", "disagreeing", "width_over_normal"]

SPLITS, ROWS, DELTA = 500, 500, 0.05

_SETS = {
    "digits": lambda: load_digits(return_X_y=True),
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "simulated, noisy labels": lambda: make_classification(3000, n_informative=5, flip_y=0.2, random_state=0),
    "simulated, ten classes": lambda: make_classification(
        4000, n_informative=15, n_features=20, n_classes=10, random_state=1
    ),
}


class Column(ClassifierMixin, BaseEstimator):
    """Predict what a column says."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.classes_ = np.array([0, 1])

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the column."""
        return np.asarray(X)[:, self.number].astype(int)


def _linear(strength: float) -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression(C=strength, max_iter=1000))


_PAIRS = {
    "two strengths": (lambda: _linear(0.01), lambda: _linear(0.1)),
    "linear, forest": (lambda: _linear(0.1), lambda: RandomForestClassifier(50, random_state=0)),
}


def compared(wrong: NDArray[np.bool_], *, identical_rows: bool) -> tuple[int, float, float]:
    """Return how many holdouts are missed, the mean width, and that over the width of two intervals.

    ``wrong`` (n, 2) says on which rows of the population each model errs.
    """
    better, worse = wrong[:, 0] & ~wrong[:, 1], wrong[:, 1] & ~wrong[:, 0]
    truth = float(better.mean() - worse.mean())
    misses, widths, apart = 0, [], []
    for seed in range(SPLITS):
        rng = np.random.default_rng(seed)
        at, known = (rng.integers(0, len(wrong), ROWS) for _ in range(2))
        low, high = paired_zero_one_interval(
            int(better[at].sum()),
            int(worse[at].sum()),
            ROWS,
            math.log(DELTA),
            identical_rows=identical_rows,
            expected=(float(better[known].mean()), float(worse[known].mean())),
        )
        misses += not low <= truth <= high
        widths.append(high - low)
        ends = [clopper_pearson(int(k), int(k), ROWS, math.log(DELTA / 2.0)) for k in wrong[at].sum(axis=0)]
        apart.append(sum(end[1] - end[0] for end in ends))
    return misses, float(np.mean(widths)), float(np.mean(widths) / np.mean(apart))


def disagreeing(
    rng: np.random.Generator, n: int, differ: float, positives: float = 0.5
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return what two models predict, a column each, and labels; the second is right on three of five."""
    y, kind = (rng.random(n) < positives).astype(int), rng.random(n)
    right = rng.random(n) < 0.8
    first = np.where(kind < differ, kind < 0.4 * differ, right)
    second = np.where(kind < differ, kind >= 0.4 * differ, right)
    return np.column_stack([np.where(each, y, 1 - y) for each in (first, second)]).astype(float), y


def width_over_normal(
    seed: int, class_mix: str, positives: float, *, before: bool = False, n: int = 1000, differ: float = 0.05
) -> float:
    """Return the width of one comparison out of a holdout, over the normal one at the same level.

    ``before`` is for the sign test and bets.
    """
    rng = np.random.default_rng(seed)
    (X, y), guess_from = (disagreeing(rng, n, differ, positives) for _ in range(2))
    patch = mock.patch("sklearn_ada.metrics.pairs.chosen", return_value=None)
    with tempfile.TemporaryDirectory() as folder, patch if before else contextlib.nullcontext():
        holdout = Holdout(X, y, ledger=f"{folder}/ledger.db", class_mix=class_mix)
        answer = holdout.compare(Column(0), Column(1), scoring="accuracy", guess_from=guess_from)
    away = (X[:, 1] == y).astype(float) - (X[:, 0] == y)
    normal = -2.0 * float(ndtri_exp(answer.certificate.ln_delta - math.log(2.0))) * away.std() / math.sqrt(n)
    return (answer.interval[1] - answer.interval[0]) / normal


def main() -> None:
    """Print the tables."""
    warnings.simplefilter("ignore")  # the same rows are asked about on several ledgers, on purpose
    for class_mix, positives in itertools.product(("priced", "conditional"), (0.5, 0.1)):
        now, then = (
            np.mean([width_over_normal(seed, class_mix, positives, before=before) for seed in range(200)])
            for before in (False, True)
        )
        of = f"class_mix={class_mix!r}, {positives} positives"
        print(f"compare over normal, {of}: {now:.3f}, before {then:.3f}", flush=True)
    print(f"{'data':26}{'models':18}{'rows':14}{'differ':>7}{'missed':>8}{'width':>8}{'over two':>10}")
    for name, load in _SETS.items():
        x, y = load()
        x_train, x_rest, y_train, y_rest = train_test_split(x, y, train_size=1 / 3, random_state=0)
        for models, makers in _PAIRS.items():
            fitted = [make().fit(x_train, y_train) for make in makers]
            wrong = np.column_stack([model.predict(x_rest) != y_rest for model in fitted])
            differ = float((wrong[:, 0] != wrong[:, 1]).mean())
            for rows, identical in (("of one law", True), ("of any laws", False)):
                misses, width, ratio = compared(wrong, identical_rows=identical)
                print(
                    f"{name:26}{models:18}{rows:14}{differ:7.3f}{misses:4d}/{SPLITS}{width:8.4f}{ratio:10.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
