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

__all__ = ["FALSE_ALARM", "consistent", "misses", "naive_misses", "table"]

FALSE_ALARM = 1e-6


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


def table(conversations: int, seed: int = 0, n_jobs: int = 1) -> dict[str, dict[str, int]]:
    """Return misses by mechanism (and of the naive holdout) and analyst."""
    tasks = [("naive holdout", a) for a in ANALYSTS] + [(m, a) for m in MECHANISMS for a in ANALYSTS]
    counts = Parallel(n_jobs)(delayed(_cell)(m, a, conversations, seed) for m, a in tasks)
    rows: dict[str, dict[str, int]] = {}
    for (mechanism, analyst), missed in zip(tasks, counts, strict=True):
        rows.setdefault(mechanism, {})[analyst] = missed
    return rows


def _cell(mechanism: str, analyst: str, conversations: int, seed: int) -> int:
    if mechanism not in MECHANISMS:
        return naive_misses(ANALYSTS[analyst], conversations, seed)
    return misses(MECHANISMS[mechanism], ANALYSTS[analyst], conversations, seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--conversations", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    rows = table(options.conversations, options.seed, options.jobs)
    versions = {module.__name__: module.__version__ for module in (np, scipy, sklearn)}
    versions["python"] = platform.python_version()
    print(
        f"conversations with a wrong interval, of {options.conversations}; beta = {BETA}; seed {options.seed}"
    )
    print(f"{versions}; * more than chance allows (exact binomial, false alarm {FALSE_ALARM:g})")
    for number, name in enumerate(ANALYSTS, 1):
        print(f"  {number}: {name}")
    print(f"{'':26}" + "".join(f"{number:>7}" for number in range(1, len(ANALYSTS) + 1)))
    for mechanism, row in rows.items():
        marks = ("" if consistent(missed, options.conversations) else "*" for missed in row.values())
        cells = (f"{missed}{mark}" for missed, mark in zip(row.values(), marks, strict=True))
        print(f"{mechanism:26}" + "".join(f"{cell:>7}" for cell in cells))
    if options.json:
        head = {"conversations": options.conversations, "seed": options.seed, "beta": BETA}
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({**head, "versions": versions, "misses": rows}, file, indent=1)


if __name__ == "__main__":
    main()
