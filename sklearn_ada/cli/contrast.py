"""The contrast of the demo and of the README's picture: one choice on random labels, with two intervals.

Labels are coins, so every classifier is right with probability one half, whatever it looks at. An analyst
takes the best of ``k`` candidates *on the holdout* and reports its score there. The naive interval is Clopper
and Pearson's, as if that one model had been the only one. Ours is what `Holdout.select` and `Holdout.certify`
say of the same choice: the selection is charged ``ln k`` nats, and the interval allows for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binomtest
from sklearn.base import BaseEstimator, ClassifierMixin

from sklearn_ada.holdout import Holdout

__all__ = ["TRUTH", "Contrast", "RandomDirection", "contrasts"]

TRUTH = 0.5
_COLUMNS = 20


@dataclass(frozen=True)
class Contrast:
    """One repetition: the score of the chosen candidate, and two intervals that are said to hold for it."""

    candidates: int
    naive_score: float
    naive_interval: tuple[float, float]
    certified_score: float
    certified_interval: tuple[float, float]

    @property
    def naive_misses(self) -> bool:
        """Whether the naive interval leaves the truth."""
        return not self.naive_interval[0] <= TRUTH <= self.naive_interval[1]

    @property
    def certified_misses(self) -> bool:
        """Whether the certified interval leaves the truth."""
        return not self.certified_interval[0] <= TRUTH <= self.certified_interval[1]


class RandomDirection(ClassifierMixin, BaseEstimator):
    """A linear classifier with random weights: it learns nothing, so a coin is as good."""

    def __init__(self, direction: int = 0) -> None:
        self.direction = direction

    def fit(self, X: Any, y: Any) -> RandomDirection:
        """Draw the weights."""
        self.weights_ = np.random.default_rng(self.direction).normal(size=X.shape[1])
        self.classes_, self.n_features_in_ = np.array([0, 1]), X.shape[1]
        return self

    def predict(self, X: Any) -> Any:
        """Return the side on which each row lies."""
        return (X @ self.weights_ > 0).astype(int)


def contrasts(candidates: int, repetitions: int, *, rows: int = 500, seed: int = 0) -> Iterator[Contrast]:
    """Yield so many repetitions of taking the best of ``candidates`` on a holdout of random labels."""
    for repetition in range(repetitions):
        rng = np.random.default_rng([seed, candidates, repetition])
        X, y = rng.normal(size=(rows, _COLUMNS)), rng.integers(0, 2, rows)
        models = [RandomDirection(direction).fit(X, y) for direction in range(candidates)]
        right = [int(np.sum(model.predict(X) == y)) for model in models]
        naive = binomtest(max(right), rows).proportion_ci(0.95, method="exact")
        holdout = Holdout(X, y, ledger=":memory:")
        chosen = holdout.select(models, scoring="accuracy", epsilon=None)  # the same one: the best itself
        answer = holdout.certify(models[chosen], scoring="accuracy", guess=TRUTH)
        yield Contrast(
            candidates=candidates,
            naive_score=max(right) / rows,
            naive_interval=(float(naive.low), float(naive.high)),
            certified_score=float(answer.value),
            certified_interval=(float(answer.interval[0]), float(answer.interval[1])),
        )
