"""Measure how often all intervals of a conversation hold at once, whoever asks.

    python -m benchmarks.validity.coverage [--conversations 1000] [--json FILE]

Every mechanism meets every analyst in seeded conversations on five populations whose truth is known exactly.
A conversation counts as a miss if any of its certificates is wrong about its own target.
"""

from __future__ import annotations

import argparse
import json
import platform
from collections.abc import Callable

import numpy as np
import scipy
import sklearn
from joblib import Parallel, delayed
from scipy.stats import binomtest

from benchmarks.validity.analysts import ANALYSTS, Analyst
from benchmarks.validity.inquiries import BETA, MECHANISMS, Inquiry, Mechanism, NaiveInquiry
from benchmarks.validity.populations import POPULATIONS, Population

__all__ = ["FALSE_ALARM", "consistent", "misses", "naive_misses", "row"]

FALSE_ALARM = 1e-6
NAIVE = "naive holdout"


def consistent(missed: int, conversations: int, beta: float = BETA) -> bool:
    """Return whether so many misses are no surprise if each has a chance of at most beta."""
    return binomtest(missed, conversations, min(beta, 1.0), alternative="greater").pvalue >= FALSE_ALARM


def misses(mechanism: Mechanism, analyst: Analyst, conversations: int, seed: int = 0) -> int:
    """Return in how many conversations some certificate was wrong."""

    def begin(population: Population, rng: np.random.Generator) -> Inquiry:
        return Inquiry(mechanism, population, rng, tolerance=analyst.tolerance)

    return _count(begin, analyst, conversations, seed)


def naive_misses(analyst: Analyst, conversations: int, seed: int = 0) -> int:
    """Return in how many conversations some interval of the naive holdout was wrong."""
    return _count(NaiveInquiry, analyst, conversations, seed)


def _count(begin: Callable[..., Inquiry | NaiveInquiry], analyst: Analyst, runs: int, seed: int) -> int:
    missed = 0
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        inquiry = begin(POPULATIONS[run % len(POPULATIONS)], rng)
        analyst.converse(inquiry, rng)
        missed += inquiry.missed()
    return missed


def row(mechanism: str, conversations: int, seed: int = 0, n_jobs: int = 1) -> dict[str, int]:
    """Return misses of a mechanism, or of the naive holdout, by analyst."""
    if mechanism in MECHANISMS:
        tasks = [delayed(misses)(MECHANISMS[mechanism], a, conversations, seed) for a in ANALYSTS.values()]
    else:
        tasks = [delayed(naive_misses)(a, conversations, seed) for a in ANALYSTS.values()]
    return dict(zip(ANALYSTS, Parallel(n_jobs)(tasks), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--conversations", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    runs = options.conversations
    versions = {module.__name__: module.__version__ for module in (np, scipy, sklearn)}
    versions["python"] = platform.python_version()
    print(f"conversations with a wrong interval, of {runs}; beta = {BETA}; seed {options.seed}")
    print(f"{versions}; * more than chance allows (exact binomial, false alarm {FALSE_ALARM:g})")
    for number, name in enumerate(ANALYSTS, 1):
        print(f"  {number}: {name}")
    print(f"{'':26}" + "".join(f"{number:>7}" for number in range(1, len(ANALYSTS) + 1)))
    rows = {}
    for mechanism in (NAIVE, *MECHANISMS):
        rows[mechanism] = row(mechanism, runs, options.seed, options.jobs)
        cells = [f"{missed}{'' if consistent(missed, runs) else '*'}" for missed in rows[mechanism].values()]
        print(f"{mechanism:26}" + "".join(f"{cell:>7}" for cell in cells), flush=True)
    if options.json:
        head = {"conversations": runs, "seed": options.seed, "beta": BETA, "versions": versions}
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({**head, "misses": rows}, file, indent=1)


if __name__ == "__main__":
    main()
