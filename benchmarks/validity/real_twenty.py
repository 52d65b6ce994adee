"""Measure widths of twenty searches in a row of real data sets, over a single use.

    python -m benchmarks.validity.real_twenty

Twenty grids of classifiers (`benchmarks.validity.families`) are searched by accuracy on one holdout, a
quarter of the rows, which a seed splits off. The sets are all those with classes that come with
scikit-learn, so that none was picked; their holdouts have 38 to 450 rows. Guesses are cross-validated scores.
After 1, 9 and 20 searches the best by its guess is published. What is said depends on the winner and its
guess alone, so each search is run once, and asked about again on a ledger of its own for each of these
numbers.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from benchmarks.validity.families import TWENTY
from benchmarks.validity.metric_searches import AFTER
from benchmarks.validity.searches import single_use
from benchmarks.validity.simulated import SimulatedHoldout
from sklearn_ada import Guess, ReusableHoldoutCV
from sklearn_ada.holdout.records import read_answer

__all__ = ["SETS", "widths"]

SETS: dict[str, tuple[Callable[..., Any], int]] = {
    "iris": (load_iris, 10),
    "wine": (load_wine, 10),
    "breast cancer": (load_breast_cancer, 10),
    "digits": (load_digits, 5),
}
"""Each set, and how many splits of it are searched."""


def widths(X: Any, y: Any, seed: int, families: Any = TWENTY) -> dict[str, Any]:
    """Return the widths over a single use while searching and published, and the size of the holdout."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    X, y = X[order], y[order]
    winners = []
    for search in families:
        fitted = ReusableHoldoutCV(
            clone(search), scoring="accuracy", ask="winner", answers="coarse", random_state=seed
        ).fit(X, y)
        record = fitted.holdout_.ledger.record(fitted.best_answer_.index)
        assert record is not None
        winners.append((fitted.best_estimator_, Guess(**read_answer(record).guess)))
    held_X, held_y = (np.delete(rows, fitted.train_indices_, axis=0) for rows in (X, y))

    def alone(model: Any) -> float:
        return single_use(int(np.sum(model.predict(held_X) == held_y)), len(held_y))

    found: dict[str, Any] = {"n": len(held_y), "while searching": [], "published": [], "nats": []}
    for number in (after for after in AFTER if after <= len(winners)):
        holdout = SimulatedHoldout(held_X, held_y, seed=seed, answers="coarse")
        for model, guess in winners[:number]:
            told = holdout.certify(model, scoring="accuracy", guess=guess)
        best, guess = max(winners[:number], key=lambda each: each[1].value)
        found["while searching"].append(told.half_width / alone(model))
        found["nats"].append(holdout.report().nats)
        final = holdout.publish(best, scoring="accuracy", guess=guess)
        found["published"].append(final.half_width / alone(best))
    return found


def main() -> None:
    warnings.simplefilter("ignore")
    for name, (load, splits) in SETS.items():
        for seed in range(splits):
            print(name, seed, widths(*load(return_X_y=True), seed), flush=True)


if __name__ == "__main__":
    main()
