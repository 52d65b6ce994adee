"""How the cost of one question grows with the questions before it and with the rows of the holdout."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score

from benchmarks.speed.finding import Finding
from benchmarks.speed.many_checks import check
from benchmarks.speed.stored import StoredPredictions, labels, row_numbers, variants
from benchmarks.speed.timing import timed
from sklearn_ada import Holdout
from sklearn_ada.questions.stable_median import MedianSettings

FLAT = 1.20
N_ROWS = 1_000  # few, so that the ledger is most of the cost
N_SUBSAMPLES = 1_000


def measure_questions(folder: Path, seed: int, *, ages: tuple[int, ...], repeats: int) -> list[Finding]:
    """Return the cost of one check after so many others, by turns over ledgers of each age.

    A young ledger that has doubled its age gives way to a new one.
    """
    rng = np.random.default_rng(seed)
    y = labels(N_ROWS, rng)
    numbers, source = itertools.count(), variants(y, rng)

    def aged(age: int) -> Holdout:
        path = folder / f"age {age} {next(numbers)}.db"
        holdout = Holdout(row_numbers(N_ROWS), y, ledger=path, expected_questions=max(ages))
        for _ in range(age):
            check(holdout, next(source), next(numbers))
        return holdout

    holdouts = {age: aged(age) for age in ages}
    seconds: dict[int, list[float]] = {age: [] for age in ages}
    for turn in range(repeats):
        for age in ages:
            if age <= 100 and turn and turn % age == 0:
                holdouts[age] = aged(age)
            seconds[age].append(timed(check, holdouts[age], next(source), next(numbers))[0])
    medians = {age: float(np.median(times)) for age, times in seconds.items()}
    worst = max(medians.values()) / medians[ages[0]]
    shown = ", ".join(f"{age:,}: {1e3 * median:.2f} ms" for age, median in medians.items())
    what = f"one check after k others, {N_ROWS:,} rows, k = {ages[0]:,} to {ages[-1]:,}: dearest over first"
    return [Finding(what, worst, f"{worst:.2f} ({shown})", at_most=FLAT, detail={"medians": medians})]


def measure_rows(folder: Path, seed: int, *, sizes: tuple[int, ...], repeats: int) -> list[Finding]:
    """Return the cost of one question to holdouts of several sizes: a check and a stable median."""
    found = []
    for n in sizes:
        medians = question_costs(folder, n, seed, repeats)
        over = {name: medians[name] / medians["plain"] for name in ("check", "median")}
        found.append(
            Finding(
                f"one question, given predictions, n = {n:,}: check and stable median (m = {N_SUBSAMPLES:,}) "
                "over accuracy_score",
                over["check"],
                f"{over['check']:.2f} and {over['median']:.2f} ({1e3 * medians['check']:.3g} ms and "
                f"{1e3 * medians['median']:.3g} ms over {1e3 * medians['plain']:.3g} ms)",
                detail=medians,
            )
        )
    return found


def question_costs(folder: Path, n: int, seed: int, repeats: int) -> dict[str, float]:
    """Return the median seconds of a plain metric, a check and a stable median."""
    rng = np.random.default_rng(seed)
    y = labels(n, rng)
    holdout = Holdout(row_numbers(n), y, ledger=folder / f"rows {n}.db")
    settings = MedianSettings(n_subsamples=N_SUBSAMPLES)

    def median(predictions: np.ndarray, number: int) -> Any:
        model = StoredPredictions(predictions)
        return holdout.check(model, scoring="accuracy", guess=0.8, settings=settings)

    functions = {
        "plain": lambda predictions, number: accuracy_score(y, predictions),
        "check": lambda predictions, number: check(holdout, predictions, number),
        "median": median,
    }
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    for number, predictions in zip(range(repeats + 1), variants(y, rng), strict=False):
        for name, function in functions.items():
            seconds[name].append(timed(function, predictions, number)[0])
    return {name: float(np.median(times[1:])) for name, times in seconds.items()}  # the first one warms
