"""Measure widths of searches in a row on one holdout, and of the model that is published in the end.

    python -m benchmarks.validity.searches [--seeds 20] [--rows 500 2000] [--json FILE]

Everything is a half-width over that of a single use (Clopper and Pearson at the same count and 95 %), after
1, 2, 5, 9 and 20 searches, the median over seeds. Simulated: each search ends with one winner, whose true
accuracy is N(.85, .02); its guess has three times as many rows as the holdout. Real sets are in
`benchmarks.validity.real_twenty`. The answers come out of a `Holdout`, but for the last three schemes:

- "cells": what is said of the newest winner; "published": the newest winner, published then; "unsealed" and
  "unsealed, widest": the median and the widest of the winners so far, if the holdout were closed then and
  everything told;
- "first exact": the same on a temporary ledger, whose first winner is exact;
- "exact": an exact certify each time, as the first version did;
- Guess-and-Check, its tau tuned in hindsight on the same data (the widest of the answers so far);
- splitting, the number of searches known; and a holdout that nobody asks adaptively.

``--seeds 100 --rows 500 2000 10000 100000`` takes an hour.
"""

from __future__ import annotations

import argparse
import json
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.validity.guess_and_check import smallest_tau
from benchmarks.validity.simulated import SimulatedHoldout
from sklearn_ada.answer import Answer
from sklearn_ada.guarantees import clopper_pearson
from sklearn_ada.questions.question import Guess

__all__ = ["AFTER", "draw", "published", "schemes", "single_use"]

AFTER = (1, 2, 5, 9, 20)
BETA = 0.05
Widths = dict[str, dict[int, float]]


def draw(n: int, seed: int, searches: int = max(AFTER)) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the guess of each search's winner, from 3n rows, and how many of n rows it gets right."""
    rng = np.random.default_rng([seed, n])
    accuracies = np.clip(rng.normal(0.85, 0.02, searches), 0.0, 1.0)
    return rng.binomial(3 * n, accuracies) / (3 * n), rng.binomial(n, accuracies)


def single_use(count: int, n: int, beta: float = BETA) -> float:
    """Return the half-width of a holdout that is used once, at this failure probability."""
    low, high = clopper_pearson(count, count, n, math.log(beta))
    return (high - low) / 2.0


def schemes(guesses: NDArray[Any], counts: NDArray[Any], n: int) -> Widths:
    """Return the widths over a single use of each scheme, after so many searches."""
    alone = np.array([single_use(int(count), n) for count in counts])

    def conversation(searches: int, answers: str) -> tuple[SimulatedHoldout, list[Answer]]:
        holdout = SimulatedHoldout.of_counts(n, answers=answers, temporary=answers == "auto")
        told = [
            holdout.ask_count(int(count), "certify", Guess(guess, 3.0 * n))
            for guess, count in zip(guesses[:searches], counts[:searches], strict=True)
        ]
        return holdout, told

    found: Widths = {}

    def put(scheme: str, after: int, half_width: float) -> None:
        found.setdefault(scheme, {})[after] = half_width / alone[after - 1]

    for answers, name in (("coarse", "cells"), ("auto", "first exact"), ("exact", "exact")):
        _, told = conversation(max(AFTER), answers)
        for after in AFTER:
            put(f"{name}, told", after, told[after - 1].half_width)
    for answers, name in (("coarse", "cells"), ("auto", "first exact")):
        for after in AFTER:
            holdout, told = conversation(after, answers)
            put(f"{name}, published", after, published(holdout, int(counts[after - 1])).half_width)
            holdout, told = conversation(after, answers)
            holdout.close()
            exact = holdout.unseal_quietly()
            sealed = [number for number, answer in enumerate(told) if answer.published is not None]
            widths = [e.half_width / alone[i] for i, e in zip(sealed, exact, strict=True)] or [math.nan]
            found.setdefault(f"{name}, unsealed", {})[after] = float(np.median(widths))
            found.setdefault(f"{name}, unsealed, widest", {})[after] = max(widths)
    for after in AFTER:
        tau = smallest_tau(guesses[:after], counts[:after] / n, n)
        put("Guess-and-Check in hindsight", after, tau)
        part = n // after
        split = single_use(round(counts[after - 1] / n * part), part, BETA / after)
        put("splitting, number known", after, split)
        put("nobody adapts", after, single_use(int(counts[after - 1]), n, BETA / after))
    return found


def published(holdout: SimulatedHoldout, count: int) -> Answer:
    """Publish the model that was asked last; `Holdout.certify` would do the same with its digest."""
    model = holdout.model_of_count(count)
    question = holdout.plan(model, "certify", Guess(0.5))  # the guess of its asking is taken, not this one
    return holdout.publish_last(question, model)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 2000])
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    report: dict[str, Any] = {"seeds": options.seeds}
    for n in options.rows:
        runs = [schemes(*draw(n, seed), n) for seed in range(options.seeds)]
        print(f"n = {n:,}: half-width over a single use, median of {options.seeds} seeds (largest)")
        print(f"{'scheme':32}" + "".join(f"{f'after {after}':>16}" for after in AFTER))
        table = report[str(n)] = {}
        for scheme in runs[0]:
            values = {after: np.array([run[scheme][after] for run in runs]) for after in AFTER}
            table[scheme] = {
                after: [float(np.nanmedian(v)), float(np.nanmax(v))] if np.isfinite(v).any() else None
                for after, v in values.items()
            }
            cells = (
                "" if both is None else f"{both[0]:.2f} ({both[1]:.2f})" for both in table[scheme].values()
            )
            print(f"{scheme:32}" + "".join(f"{cell:>16}" for cell in cells), flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1)


if __name__ == "__main__":
    main()
