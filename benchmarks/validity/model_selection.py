"""Measure, in model selection, how wide checks are, and the certify of the model that is kept.

    python -m benchmarks.validity.model_selection

Guess and holdout have n records each, true accuracies are N(.85, .02), everything holds at once at 95 %.

1. Checks with half of the failure probability, against Guess-and-Check with its tau tuned in hindsight on the
   same data, the static bounds, and a single use of the holdout.
2. The certify at the default settings after 1,000 checks, against a single use (Clopper-Pearson).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.validity.guess_and_check import smallest_tau
from benchmarks.validity.simulated import SimulatedHoldout
from sklearn_ada.answer import Answer
from sklearn_ada.guarantees import (
    clopper_pearson,
    gaussian_direct,
    gaussian_jung,
    gaussian_rogers,
    rounding_half_width,
    sample_splitting_half_width,
)
from sklearn_ada.questions.question import Guess

__all__ = ["CELLS", "certify_ratio", "checked", "comparison", "draw", "single_use"]

BETA, SEEDS = 0.05, 8
LN_BETA = math.log(BETA)
CELLS = [(n, k) for n in (1_000, 10_000, 100_000) for k in (100, 1_000)]


def draw(n: int, k: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many of n guess rows, and of n holdout rows, each of k models gets right."""
    rng = np.random.default_rng(seed)
    accuracies = np.clip(rng.normal(0.85, 0.02, k), 0.0, 1.0)
    return rng.binomial(n, accuracies), rng.binomial(n, accuracies)


def checked(
    guesses: NDArray[np.int64], values: NDArray[np.int64], n: int, **settings: Any
) -> tuple[SimulatedHoldout, list[Answer]]:
    """Check every model in turn, and return the holdout and its answers."""
    holdout = SimulatedHoldout.of_counts(n, **settings)
    return holdout, [
        holdout.ask_count(int(value), "check", Guess(guess / n, n))
        for guess, value in zip(guesses, values, strict=True)
    ]


def single_use(right: int, n: int) -> float:
    """Return the half-width of Clopper-Pearson for a holdout that is used once."""
    low, high = clopper_pearson(right, right, n, LN_BETA)
    return (high - low) / 2.0


def certify_ratio(
    holdout: SimulatedHoldout, guesses: NDArray[np.int64], values: NDArray[np.int64], n: int
) -> float:
    """Certify the model with the best guess; return its width over that of a single use."""
    kept = int(np.argmax(guesses))
    answer = holdout.ask_count(int(values[kept]), "certify", Guess(guesses[kept] / n, n))
    return answer.half_width / single_use(int(values[kept]), n)


def comparison(n: int, k: int, seeds: int = SEEDS) -> dict[str, float]:
    """Return mean half-widths of one cell of the table."""
    ours, theirs, once, kept, surprises = [], [], [], [], 0
    for seed in range(seeds):
        guesses, values = draw(n, k, seed)
        holdout, answers = checked(guesses, values, n, expected_questions=k, check_share=0.5)
        ours.append(np.mean([answer.half_width for answer in answers]))
        surprises += sum(answer.verdict == "differs" for answer in answers)
        theirs.append(smallest_tau(guesses / n, values / n, n, BETA))
        once.append(single_use(int(values[0]), n))
        kept.append(certify_ratio(holdout, guesses, values, n))
    published = min(bound(n, k, LN_BETA).half_width for bound in (gaussian_jung, gaussian_rogers))
    return {
        "check": float(np.mean(ours)),
        "guess and check": float(np.mean(theirs)),
        "splitting": sample_splitting_half_width(n, k, LN_BETA),
        "rounding": rounding_half_width(n, k, LN_BETA),
        "noise, published": published,
        "noise, direct": gaussian_direct(n, k, LN_BETA).half_width,
        "single use": float(np.mean(once)),
        "certify ratio": float(np.median(kept)),
        "surprises": surprises,
    }


def default_settings(n: int, expected: int | None, k: int = 1_000, seeds: int = SEEDS) -> dict[str, float]:
    """Return the certify's width over that of a single use: if all guesses hold, and in the scenario."""
    same = np.full(k, round(0.85 * n))
    holdout, _ = checked(same, same, n, expected_questions=expected)
    held = certify_ratio(holdout, same, same, n)
    ratios, surprises = [], 0
    for seed in range(seeds):
        guesses, values = draw(n, k, seed)
        holdout, answers = checked(guesses, values, n, expected_questions=expected)
        surprises += sum(answer.verdict == "differs" for answer in answers)
        ratios.append(certify_ratio(holdout, guesses, values, n))
    return {"held": held, "median": float(np.median(ratios)), "worst": max(ratios), "surprises": surprises}


def main() -> None:
    names = ("check", "guess and check", "splitting", "rounding", "noise, published", "noise, direct")
    names += ("single use",)
    print(f"mean half-width of {SEEDS} runs (seeds 0 to {SEEDS - 1}), check_share=.5, expected_questions=k")
    print(f"{'n':>8}{'k':>6}" + "".join(f"{name:>18}" for name in names), end="")
    print(f"{'check / G&C':>13}{'certify ratio':>15}{'surprises':>11}")
    for n, k in CELLS:
        row = comparison(n, k)
        print(f"{n:>8,}{k:>6,}" + "".join(f"{row[name]:>18.4f}" for name in names), end="")
        print(f"{row['check'] / row['guess and check']:>13.3f}", end="")
        print(f"{row['certify ratio']:>15.3f}{row['surprises']:>11.0f}", flush=True)
    print(f"\ncertify after 1,000 checks over a single use, default settings, {SEEDS} runs")
    print(f"{'n':>8}{'expected_questions':>20}{'all held':>10}{'median':>8}{'worst':>8}{'surprises':>11}")
    for n in (1_000, 10_000, 100_000):
        for expected in (None, 1_000):
            row = default_settings(n, expected)
            print(f"{n:>8,}{expected!s:>20}{row['held']:>10.3f}{row['median']:>8.3f}", end="")
            print(f"{row['worst']:>8.3f}{row['surprises']:>11.0f}", flush=True)


if __name__ == "__main__":
    main()
