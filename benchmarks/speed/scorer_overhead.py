"""What a scorer that asks a holdout adds to a grid search.

The plain search fits on the same rows and scores as many with the same model: the validation rows and the
holdout, stacked. The other searches are timed from the construction of their Holdout, with a ledger of their
own in every round, for an answer that is already recorded would be free. Ratios are of the least times.
A bare durable commit on the same file system, after a pause as long as a fit, is the least a charge costs.
Linear algebra runs in one thread: fits are then fastest here, the ratio hardest, and another process on the
machine does not slow a fit down tenfold.
"""

from __future__ import annotations

import itertools
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from threadpoolctl import threadpool_limits

from benchmarks.speed.bare_sqlite import BareLog
from benchmarks.speed.breakdown import breakdown
from benchmarks.speed.finding import Finding
from benchmarks.speed.timing import by_turns, timed
from sklearn_ada import Holdout, StableHoldoutScorer, ThresholdoutScorer

N_TRAIN, N_HOLDOUT, N_CANDIDATES, N_SUBSAMPLES = 20_000, 10_000, 60, 200
RECORD_BYTES = 900
TARGETS = {"ThresholdoutScorer": 1.10, "StableHoldoutScorer": 1.15}


def measure(folder: Path, seed: int, *, rounds: int) -> list[Finding]:
    """Return the overhead of both scorers."""
    X, y = make_classification(
        N_TRAIN + N_HOLDOUT, 50, n_informative=10, n_redundant=10, flip_y=0.05, random_state=seed
    )
    with threadpool_limits(1):
        compared = searches(X, y, folder)
        seconds = by_turns(compared, rounds)
        profiled = [breakdown(name, compared[name], N_CANDIDATES) for name in TARGETS]
    least = {name: min(times) for name, times in seconds.items()}
    plain = least["plain"]
    commit = 1e3 * bare_commit(folder, plain / N_CANDIDATES)
    ratios = [
        Finding(
            f"GridSearchCV, {N_CANDIDATES} candidates, {name} over a plain scorer of as many rows",
            least[name] / plain,
            f"{least[name] / plain:.3f} ({least[name]:.2f} s over {plain:.2f} s: "
            f"{1e3 * (least[name] - plain) / N_CANDIDATES:.2f} ms a candidate, "
            f"a bare commit {commit:.2f} ms; {_less(least[name], commit) / plain:.3f} without commits)",
            at_most=target,
            detail={**seconds, "bare commit": commit},
        )
        for name, target in TARGETS.items()
    ]
    return [*ratios, *profiled]


def _less(seconds: float, commit: float) -> float:
    """Return the time of a search without the commit of each candidate, given in milliseconds."""
    return seconds - N_CANDIDATES * commit / 1e3


def bare_commit(folder: Path, pause: float) -> float:
    """Return the median seconds of a durable commit, each after a pause."""
    log, seconds = BareLog(folder / "search bare.db"), []
    for number in range(N_CANDIDATES):
        time.sleep(pause)
        seconds.append(timed(log.commit, f"{number:064d}", "x" * RECORD_BYTES)[0])
    return float(np.median(seconds))


def searches(X: Any, y: Any, folder: Path) -> dict[str, Any]:
    """Return the searches to be timed, by name."""
    training, held = slice(0, N_TRAIN), slice(N_TRAIN, None)
    grid = {"C": np.logspace(-4, 4, N_CANDIDATES)}
    model = LogisticRegression(max_iter=1000)
    numbers = itertools.count()

    def open_holdout() -> Holdout:
        path = folder / f"search {next(numbers)}.db"
        return Holdout(X[held], y[held], ledger=path, expected_questions=N_CANDIDATES)

    fit, validation = next(ThresholdoutScorer("accuracy", open_holdout()).cv.split(X[training], y[training]))
    stacked = [(fit, np.concatenate([validation, np.arange(N_TRAIN, N_TRAIN + N_HOLDOUT)]))]

    def plain() -> None:
        GridSearchCV(model, grid, scoring="accuracy", cv=stacked, refit=False).fit(X, y)

    def asking(kind: Any, **settings: Any) -> None:
        scorer = kind("accuracy", open_holdout(), **settings)
        search = GridSearchCV(model, grid, scoring=scorer, cv=scorer.cv, refit=False)
        search.fit(X[training], y[training])
        answered = np.isfinite(search.cv_results_["mean_test_score"]).sum()
        assert answered == scorer.holdout.report().asked["check"] == N_CANDIDATES

    return {
        "plain": plain,
        "ThresholdoutScorer": lambda: asking(ThresholdoutScorer),
        "StableHoldoutScorer": lambda: asking(StableHoldoutScorer, n_subsamples=N_SUBSAMPLES),
    }
