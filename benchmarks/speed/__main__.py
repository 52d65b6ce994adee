"""Measure everything and print one table.

    python -m benchmarks.speed                # about ten minutes
    python -m benchmarks.speed --quick        # smaller and shorter, without peers
    python -m benchmarks.speed --large        # and holdouts of 10^7 and 10^8 rows
    python -m benchmarks.speed --json FILE    # and everything measured, as JSON

Each ratio is of times taken by turns in one run. The table goes to the standard output, progress to the
standard error. Run it on an idle machine, with ledgers on a disk (``--folder``) if commits are to be durable.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import sqlite3
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import scipy
import sklearn

import sklearn_ada
from benchmarks.speed import (
    beyond_memory,
    block_metrics,
    growth,
    import_time,
    ledger_charges,
    ledger_size,
    long_ledgers,
    many_checks,
    median,
    peers,
    planning,
    repeats,
    row_intervals,
    scorer_overhead,
    sealed,
    workers,
)
from benchmarks.speed.finding import Finding, Skipped, table
from benchmarks.speed.timing import timed

NAMES = (
    "import",
    "search",
    "workers",
    "checks",
    "sealed",
    "questions",
    "repeats",
    "rows",
    "ledger",
    "long ledgers",
    "ledger size",
    "blocks",
    "intervals",
    "memory",
    "beyond memory",
    "plan",
    "certificate",
    "peers",
)
Part = Callable[[], list]


def parts(folder: Path, seed: int, *, quick: bool, large: bool) -> Iterator[tuple[str, Part]]:
    """Yield every part by name, at the size asked for."""
    yield "import", lambda: import_time.measure(folder / "bytecode", repeats=5 if quick else 15)
    yield "search", lambda: scorer_overhead.measure(folder, seed, rounds=2 if quick else 7)
    yield "workers", lambda: workers.measure(folder, seed, n_rows=25_000 if quick else 250_000)
    yield "checks", lambda: many_checks.measure(folder, seed, n_checks=500 if quick else 10_000)
    asked, told = (500, 100) if quick else (10_000, 1_000)
    yield "sealed", lambda: sealed.measure(folder, seed, n_questions=asked, n_unsealed=told)
    ages = (10, 100, 1_000) if quick else (10, 100, 1_000, 10_000)
    times = 60 if quick else 300
    yield "questions", lambda: growth.measure_questions(folder, seed, ages=ages, repeats=times)
    largest = 1_000 if quick else 100_000
    yield "repeats", lambda: repeats.measure(folder, seed, rounds=3 if quick else 7, largest=largest)
    sizes = (10**4, 10**5, 10**6, 10**7) if large else (10**4, 10**5, 10**6)
    yield "rows", lambda: growth.measure_rows(folder, seed, sizes=sizes, repeats=5 if quick else 20)
    charges, records = (300, 10_000) if quick else (3_000, 100_000)
    yield "ledger", lambda: ledger_charges.measure(folder, seed, n_charges=charges, n_records=records)
    lengths = 1_000_000 if large else records
    yield "long ledgers", lambda: long_ledgers.measure(folder, seed, n_records=lengths)
    yield "ledger size", lambda: ledger_size.measure(folder, seed, n_records=lengths)
    yield "blocks", lambda: block_metrics.measure(seed, repeats=1 if quick else 3)
    rows = (10**3, 10**4) if quick else (10**3, 10**5, 10**6)
    yield "intervals", lambda: row_intervals.measure(seed, sizes=rows, rounds=1 if quick else 3)
    asked = rows[1:2] if quick else (10**4, 10**5)
    yield "comparisons", lambda: row_intervals.measure_comparisons(seed, sizes=asked)
    yield "populations", lambda: row_intervals.measure_populations(seed, sizes=asked)
    if large:
        yield "memory", lambda: block_metrics.measure_memory(seed)
    beyond = (10**5, 10**6, 4 * 10**6 if quick else 10**7, *([10**8] if large else []))
    yield "beyond memory", lambda: beyond_memory.measure(folder / "beyond memory", seed, sizes=beyond)
    yield "plan", lambda: planning.measure_plans(rounds=1 if quick else 3)
    yield "certificate", lambda: planning.measure_certificates(seed, ages=ages, repeats=times)
    if quick:
        yield "peers", lambda: peers.skipped(dict.fromkeys(median.PEERS, "--quick"))
    else:
        yield "peers", lambda: peers.measure(folder, seed)


def versions() -> dict[str, str]:
    """Return the versions of everything measured."""
    modules = (sklearn_ada, sklearn, np, scipy)
    return {
        "Python": platform.python_version(),
        **{module.__name__: module.__version__ for module in modules},
        "SQLite": sqlite3.sqlite_version,
    }


def main() -> None:
    """Run the parts and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__.splitlines()[0])
    parser.add_argument("--json", metavar="FILE", help="write everything measured to this file")
    parser.add_argument("--quick", action="store_true", help="smaller sizes, fewer rounds, no peers")
    parser.add_argument("--large", action="store_true", help="holdouts of 10^7 rows, too")
    parser.add_argument("--only", nargs="+", choices=NAMES, help="run these parts")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", help="where ledgers are written; by default the temporary folder")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # a class missing from a block

    lines: list[Finding | Skipped] = []
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    with tempfile.TemporaryDirectory(dir=options.folder) as name, contextlib.redirect_stdout(sys.stderr):
        for part, measure in parts(Path(name), options.seed, quick=options.quick, large=options.large):
            if options.only and part not in options.only:
                continue
            seconds, found = timed(measure)
            lines += found
            print(f"{part}: {seconds:.0f} s", flush=True)

    print(", ".join(f"{name} {version}" for name, version in versions().items()), end="; ")
    print(f"seed {options.seed}; {os.cpu_count()} cores, load before {load}")
    if options.quick:
        print("Sizes were reduced by --quick: an indication only.")
    print(f"\n{table(lines)}")
    if options.json:
        settings = {name: getattr(options, name) for name in ("seed", "quick", "large")}
        report = {**settings, "cores": os.cpu_count(), "load": load, "versions": versions()}
        report["lines"] = [line.describe() for line in lines]
        Path(options.json).write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
