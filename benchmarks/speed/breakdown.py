"""Where the time of a candidate goes in a search that asks a holdout: a profile of one such search."""

from __future__ import annotations

import cProfile
import pstats
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.speed.finding import Finding

__all__ = ["breakdown"]

STEPS = {
    "fit": ("linear_model/_logistic.py", "fit"),
    "all of the scorer": ("model_selection/scorers.py", "answer"),
    "digest of the guess rows": ("digest/rows.py", "rows_digest"),
    "digest of the model": ("terms/models.py", "model_digest"),
    "guess": ("model_selection/scorers.py", "_guess"),
    "look at the holdout": ("holdout/looking.py", "look"),
    "charge": ("ledger/transactions.py", "charge"),
    "of it the durable commit": ("ledger/sqlite.py", "commit"),
}


def breakdown(what: str, search: Callable[[], Any], n_candidates: int) -> Finding:
    """Return the milliseconds of each step for one candidate; the value is the scorer's share of the search.

    A profile takes time itself, more of many small calls than of few large ones.
    """
    profile = cProfile.Profile()
    profile.runcall(search)
    stats: Any = pstats.Stats(profile)
    each = {step: 1e3 * _seconds(stats, *where) / n_candidates for step, where in STEPS.items()}
    total = 1e3 * stats.total_tt / n_candidates
    shown = ", ".join(f"{step} {milliseconds:.2f}" for step, milliseconds in each.items())
    share = each["all of the scorer"] / total
    return Finding(
        f"{what}: milliseconds a candidate, by a profile",
        share,
        f"{total:.1f} in all: {shown}",
        detail={"total": total, **each},
    )


def _seconds(stats: Any, file: str, function: str) -> float:
    """Return the seconds spent in a function and all that it called."""
    found = [
        times[3]  # cumulative
        for (path, _, name), times in stats.stats.items()
        if Path(path).as_posix().endswith(f"/{file}") and name == function
    ]
    if not found:
        raise LookupError(f"{function} of {file} was not called: name another step")
    return sum(found)
