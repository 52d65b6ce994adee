"""What a search with two workers sends them: the holdout once, not with every candidate.

Counted are the bytes that the parent process writes, to pipes and to memory-mapped files, as Linux reports
them; those of the same search with a holdout of few rows are subtracted.
"""

from __future__ import annotations

import itertools
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV

from benchmarks.speed.finding import Finding, Skipped
from benchmarks.speed.timing import timed
from sklearn_ada import Holdout, ThresholdoutScorer

COUNTER = Path("/proc/self/io")
N_CANDIDATES, N_TRAIN, N_COLUMNS, FEW = 20, 400, 50, 400
TARGET = 2.0


def measure(folder: Path, seed: int, *, n_rows: int) -> list[Finding | Skipped]:
    """Return how many times the holdout's bytes are sent in a search, for an array and for a list."""
    what = f"{N_CANDIDATES} candidates, two workers: bytes sent over those of the holdout,"
    if not COUNTER.exists():
        return [Skipped(what, "no count of bytes written on this system")]
    return [_sent(folder, f"{what} {kind}", rows) for kind, rows in _holdouts(seed, n_rows)]


def _holdouts(seed: int, n_rows: int) -> list[tuple[str, Any]]:
    numbers = np.random.default_rng(seed).normal(size=(n_rows, N_COLUMNS))
    texts = [f"record {number} " + "word " * 75 for number in range(n_rows)]
    return [("an array", numbers), ("a list of texts", texts)]


def _sent(folder: Path, what: str, rows: Any) -> Finding:
    few = min(_written(folder, rows[:FEW], rows) for _ in range(2))  # the first one may start the workers
    seconds, sent = timed(_written, folder, rows, rows)
    size = len(pickle.dumps(rows, protocol=5))
    return Finding(
        what,
        (sent - few) / size,
        f"{(sent - few) / size:.2f} ({(sent - few) / 1e6:.0f} MB of {size / 1e6:.0f} MB; {seconds:.1f} s)",
        at_most=TARGET,
    )


_numbers = itertools.count()


def _written(folder: Path, held: Any, rows: Any) -> int:
    """Return the bytes written during one search."""
    scorer = ThresholdoutScorer(
        "accuracy", Holdout(held, np.arange(len(held)) % 2, ledger=folder / f"workers {next(_numbers)}.db")
    )
    training = [f"new {text}" for text in rows[:N_TRAIN]] if isinstance(rows, list) else rows[:N_TRAIN] + 1.0
    grid = {"random_state": list(range(N_CANDIDATES))}
    search = GridSearchCV(
        DummyClassifier(strategy="stratified"), grid, scoring=scorer, cv=scorer.cv, refit=False, n_jobs=2
    )
    before = _count()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(training, np.arange(N_TRAIN) % 2)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    return _count() - before


def _count() -> int:
    fields = dict(line.split(": ") for line in COUNTER.read_text().splitlines())
    return int(fields["wchar"])
