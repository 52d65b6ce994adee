"""Ten thousand checks of given predictions on one holdout, beside as many plain metrics and bare commits.

By turns, question by question: scikit-learn's metric, a check, and a durable commit of a record of the same
length to a SQLite file beside the ledger. The commits are subtracted from the ratio, and reported.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.metrics import accuracy_score

from benchmarks.speed.bare_sqlite import BareLog
from benchmarks.speed.finding import Finding
from benchmarks.speed.stored import StoredPredictions, labels, row_numbers, variants
from benchmarks.speed.timing import timed
from sklearn_ada import Holdout
from sklearn_ada.ledger import canonical_json

TARGET = 1.5
N_ROWS = 100_000


def measure(folder: Path, seed: int, *, n_checks: int, n_rows: int = N_ROWS) -> list[Finding]:
    """Return the ratio without the commits, and the commits."""
    rng = np.random.default_rng(seed)
    y = labels(n_rows, rng)
    holdout = Holdout(row_numbers(n_rows), y, ledger=folder / "checks.db", expected_questions=n_checks)
    source = variants(y, rng)
    check(holdout, next(source), 0)  # warm
    body = canonical_json(list(holdout.ledger.records())[-1].body)
    log = BareLog(folder / "checks bare.db")
    seconds = np.empty((n_checks, 3))
    for number in range(1, n_checks + 1):
        predictions = next(source)
        plain, _ = timed(accuracy_score, y, predictions)
        asked, _ = timed(check, holdout, predictions, number)
        commit, _ = timed(log.commit, f"{number:064d}", body)
        seconds[number - 1] = plain, asked, commit
    plain, asked, commit = (float(total) for total in seconds.sum(axis=0))
    detail = {"plain": plain, "checks": asked, "commits": commit, "medians": np.median(seconds, 0).tolist()}
    what = f"{n_checks:,} checks of given predictions, {n_rows:,} rows"
    return [
        Finding(
            f"{what}, less the durable commits, over accuracy_score",
            (asked - commit) / plain,
            f"{(asked - commit) / plain:.2f} ({asked:.1f} s - {commit:.1f} s over {plain:.1f} s)",
            at_most=TARGET,
            detail=detail,
        ),
        Finding(
            f"{what}: a bare durable commit on the same file system",
            1e3 * commit / n_checks,
            f"{1e3 * commit / n_checks:.2f} ms of {1e3 * asked / n_checks:.2f} ms a check",
        ),
    ]


def check(holdout: Holdout, predictions: np.ndarray, number: int) -> None:
    """Ask; one guess in a hundred is wrong."""
    guess = 0.7 if number % 100 == 99 else 0.8
    holdout.check(StoredPredictions(predictions), scoring="accuracy", guess=guess)
