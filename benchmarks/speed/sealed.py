"""Sealed answers beside checks of an exact ledger: time, size, and telling them in the end.

By turns, question by question, one process: a check on a ledger whose answers are exact, and a certify on one
that answers in cells, of the same predictions on the same rows. The ratio is of the medians of the two, so a
load on the machine, which falls on both, hardly moves it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.speed.finding import Finding
from benchmarks.speed.stored import StoredPredictions, labels, row_numbers, variants
from benchmarks.speed.timing import by_turns, timed
from sklearn_ada import Holdout

__all__ = ["measure"]

SLOWER, LARGER, SECONDS = 1.1, 1.2, 30.0
N_ROWS, N_UNSEALED_ROWS = 10_000, 100_000


def measure(folder: Path, seed: int, *, n_questions: int, n_unsealed: int) -> list[Finding]:
    """Return how much longer a sealed answer takes and how much longer its record is, and the unsealing."""
    return [*_asked(folder, seed, n_questions), _unsealed(folder, seed, n_unsealed)]


def _asked(folder: Path, seed: int, n_questions: int) -> list[Finding]:
    rng = np.random.default_rng(seed)
    y = labels(N_ROWS, rng)
    source = variants(y, rng)
    rows = row_numbers(N_ROWS)
    paths = {answers: folder / f"sealed {answers}.db" for answers in ("exact", "coarse")}
    holdouts = {
        answers: Holdout(rows, y, ledger=path, answers=answers, expected_questions=n_questions)
        for answers, path in paths.items()
    }
    models = {answers: iter(_models(source, n_questions)) for answers in paths}

    def check() -> None:
        holdouts["exact"].check(next(models["exact"]), scoring="accuracy", guess=0.8)

    def certify() -> None:
        answer = holdouts["coarse"].certify(next(models["coarse"]), scoring="accuracy", guess=0.8)
        assert answer.published is not None  # it was sealed

    seconds = by_turns({"check": check, "sealed": certify}, n_questions)
    each = {name: float(np.median(taken)) for name, taken in seconds.items()}
    ratio = each["sealed"] / each["check"]
    sizes = {answers: path.stat().st_size for answers, path in paths.items()}
    larger = sizes["coarse"] / sizes["exact"]
    what = f"{n_questions:,} sealed answers over as many checks of an exact ledger, {N_ROWS:,} rows"
    return [
        Finding(
            f"{what}: time of one",
            ratio,
            f"{ratio:.3f} ({1e3 * each['sealed']:.2f} ms over {1e3 * each['check']:.2f} ms)",
            at_most=SLOWER,
            detail=each,
        ),
        Finding(
            f"{what}: size of the ledger",
            larger,
            f"{larger:.3f} ({sizes['coarse'] / 1e6:.1f} MB over {sizes['exact'] / 1e6:.1f} MB)",
            at_most=LARGER,
            detail=sizes,
        ),
    ]


def _unsealed(folder: Path, seed: int, n_unsealed: int) -> Finding:
    rng = np.random.default_rng(seed)
    y = labels(N_UNSEALED_ROWS, rng)
    holdout = Holdout(row_numbers(N_UNSEALED_ROWS), y, ledger=folder / "unsealed.db", answers="coarse")
    for model in _models(variants(y, rng), n_unsealed):
        holdout.certify(model, scoring="accuracy", guess=0.8)
    holdout.close()
    seconds, told = timed(holdout.unseal)
    assert len(told) == n_unsealed
    return Finding(
        f"unsealing {n_unsealed:,} answers, {N_UNSEALED_ROWS:,} rows, in seconds",
        seconds,
        f"{seconds:.1f} ({1e3 * seconds / n_unsealed:.1f} ms each)",
        at_most=SECONDS * n_unsealed / 1_000,
    )


def _models(source: Iterator[NDArray[np.int64]], count: int) -> Iterator[StoredPredictions]:
    return (StoredPredictions(next(source)) for _ in range(count))
