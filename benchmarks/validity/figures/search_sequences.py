"""Twenty searches in a row on one holdout: widths, optimism of the naive best, and how often everything held.

Each search has 30 candidates. On *true labels* their accuracies are N(.85, .02); on *permuted labels* all
are one half. Guesses come from three times as many rows as the holdout has. The naive analyst takes the
candidate with the highest accuracy on the holdout, over all searches so far, and reports that. Ours asks a
`Holdout` with ``answers="coarse"`` about the winner of each search by the guess, publishes the last of them
in the end, and unseals the others.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.validity.coverage import consistent
from benchmarks.validity.figures.results import Claim, Shown, Table
from benchmarks.validity.searches import AFTER, schemes
from benchmarks.validity.searches import draw as draw_winners
from benchmarks.validity.simulated import SimulatedHoldout
from sklearn_ada import Guess
from sklearn_ada.planning.display import NAIVE, PUBLISHED, SEARCHING

TITLE = "Searches in a row"
SEED = 20
CANDIDATES, SEARCHES = 30, 20
ROWS = (500, 2000)
LABELS = {"true labels": (0.85, 0.02), "permuted labels": (0.5, 0.0)}
SHOWN = {
    "cells, told": "ours, while searching",
    "cells, published": "ours, published",
    "cells, unsealed": "ours, all values at the end",
    "exact, told": "ours, every value at once",
    "Guess-and-Check in hindsight": "Guess-and-Check in hindsight",
    "splitting, number known": "new rows for each search",
    "nobody adapts": "all models fixed in advance",
}
"""Schemes of `benchmarks.validity.searches`, and what they are called on the page."""
LOOKS = {
    "new rows for each search": {"color": "tab:gray"},
    "ours, while searching": {"color": SEARCHING},
    "ours, published": {"color": PUBLISHED},
    "all models fixed in advance": {"color": "black", "linestyle": "--"},
}
"""The schemes that are drawn."""


def conversation(n: int, mean: float, sd: float, seed: int) -> dict[str, Any]:
    """Return the optimism of the naive best, and which intervals of ours held."""
    rng = np.random.default_rng([SEED, seed, n])
    true = np.clip(rng.normal(mean, sd, (SEARCHES, CANDIDATES)), 0.0, 1.0)
    guesses = rng.binomial(3 * n, true) / (3 * n)
    counts = rng.binomial(n, true)
    naive = []
    for after in AFTER:
        best = np.unravel_index(np.argmax(counts[:after]), (after, CANDIDATES))
        naive.append(float(counts[best] / n - true[best]))
    winners = guesses.argmax(axis=1)
    rows = np.arange(SEARCHES)
    reality, known, right = true[rows, winners], guesses[rows, winners], counts[rows, winners]

    def begun(searches: int) -> tuple[SimulatedHoldout, list[Any]]:
        holdout = SimulatedHoldout.of_counts(n, seed=seed, answers="coarse")
        answers = [
            holdout.ask_count(int(right[i]), "certify", Guess(float(known[i]), 3.0 * n))
            for i in range(searches)
        ]
        return holdout, answers

    holdout, answers = begun(SEARCHES)
    model = holdout.model_of_count(int(right[-1]))
    final = holdout.publish_last(holdout.plan(model, "certify", Guess(0.5)), model)
    holdout.close()
    exact = holdout.unseal_quietly()

    def all_hold(answers: list[Any], truth: Any) -> bool:
        return all(a.interval[0] <= q <= a.interval[1] for a, q in zip(answers, truth, strict=True))

    return {
        "naive": naive,
        "searching": all_hold(answers, reality),
        "at the end": all_hold([final], reality[-1:]),
        "unsealed": all_hold(exact, reality[: len(exact)]),
        "all": all_hold(answers, reality)
        and all_hold([final], reality[-1:])
        and all_hold(exact, reality[: len(exact)]),
        "ours": float(final.value - reality[-1]),
    }


def run(full: bool) -> dict[str, Any]:
    """Return coverage and optimism by labels and rows, and the table of widths."""
    conversations, seeds = (200, 30) if full else (20, 5)
    sets = {}
    for n in ROWS:
        for name, (mean, sd) in LABELS.items():
            runs = [conversation(n, mean, sd, seed) for seed in range(conversations)]
            sets[f"{name}, n = {n:,}"] = {
                "naive": np.mean([each["naive"] for each in runs], axis=0),
                "ours": float(np.mean([each["ours"] for each in runs])),
                **{
                    key: sum(each[key] for each in runs)
                    for key in ("searching", "at the end", "unsealed", "all")
                },
            }
    widths = {}
    for n in ROWS:
        runs = [schemes(*draw_winners(n, seed), n) for seed in range(seeds)]
        widths[str(n)] = {
            name: [float(np.nanmedian([each[scheme][after] for each in runs])) for after in AFTER]
            for scheme, name in SHOWN.items()
        }
    return {
        "conversations": conversations,
        "seeds": seeds,
        "after": list(AFTER),
        "sets": sets,
        "widths": widths,
    }


def shown(result: dict[str, Any]) -> Shown:
    """Return what the page says."""
    sets, widths, runs = result["sets"], result["widths"], result["conversations"]
    fine, bad = sets[f"true labels, n = {ROWS[1]:,}"], sets[f"permuted labels, n = {ROWS[0]:,}"]
    large = widths[str(ROWS[1])]
    sentence = (
        f"After {SEARCHES} searches of {CANDIDATES} candidates the naive best is {bad['naive'][-1]:.3f} too "
        f"good on permuted labels (n = {ROWS[0]}) and {fine['naive'][-1]:.3f} on true ones (n = "
        f"{ROWS[1]:,}); the model that we publish then has in the median an interval "
        f"{large['ours, published'][-1]:.2f} times as wide as that of a single use, where new rows for each "
        f"search give {large['new rows for each search'][-1]:.2f}."
    )
    optimism = Table(
        "Optimism: what is reported minus the true accuracy, naive best after so many searches, and ours "
        "published at the end",
        ("set", *(f"naive, {after}" for after in result["after"]), "ours"),
        [
            [name, *(f"{value:+.4f}" for value in each["naive"]), f"{each['ours']:+.4f}"]
            for name, each in sets.items()
        ],
    )
    coverage = Table(
        f"Conversations of {runs} in which every interval held, at 95 %",
        ("set", "while searching", "at the end", "unsealed", "all together"),
        [
            [name, *(str(each[key]) for key in ("searching", "at the end", "unsealed", "all"))]
            for name, each in sets.items()
        ],
    )
    tables = [optimism, coverage]
    for n, by_scheme in widths.items():
        rows = [[scheme, *(f"{value:.2f}" for value in values)] for scheme, values in by_scheme.items()]
        tables.append(
            Table(
                f"Width over a single use after so many searches, n = {int(n):,}, median of "
                f"{result['seeds']}",
                ("scheme", *map(str, result["after"])),
                rows,
            )
        )
    claims = [
        Claim(
            f"{name}: every interval, in all but beta of the conversations",
            f"{each['all']} of {runs}",
            consistent(runs - each["all"], runs) and runs - each["all"] <= 0.05 * runs,
        )
        for name, each in sets.items()
    ]
    mean = LABELS["true labels"][0]
    errors = [sets[f"true labels, n = {n:,}"]["naive"][-1] / math.sqrt(mean * (1.0 - mean) / n) for n in ROWS]
    remarks = [
        "Where candidates differ by more than the holdout's standard error the naive holdout is nearly fine: "
        f"on true labels its best is {errors[1]:.1f} standard errors too good at n = {ROWS[1]:,} "
        f"({errors[0]:.1f} at n = {ROWS[0]}). It is on noise, on small holdouts and over many searches that "
        "it misleads.",
        "Simulated winners only; searches of real data sets are the figure after this one. Widths are over "
        "those of the same winners' plain intervals. Those of README and of the planner are forecasts: they "
        "count on guesses from no more rows than the holdout has, and are wider.",
    ]
    settings = (
        f"{CANDIDATES} candidates a search; accuracies N(.85, .02) or all one half; guesses from three "
        "times as many rows as the holdout has."
    )
    return Shown(sentence, settings, tables, claims, remarks)


def draw(result: dict[str, Any], figure: Any) -> None:
    """Draw widths and optimism over the number of searches."""
    left, right = figure.subplots(1, 2)
    for name, look in LOOKS.items():
        left.plot(result["after"], result["widths"][str(ROWS[1])][name], marker=".", label=name, **look)
    left.set_ylabel(f"width over that of a single use, n = {ROWS[1]:,}")
    styles = ("--", "-", ":", "-.")
    for style, (name, each) in zip(styles, result["sets"].items(), strict=True):
        right.plot(result["after"], each["naive"], style, color=NAIVE, label=name)
    right.axhline(0.0, color="0.7", linewidth=0.5)
    right.set_ylabel("how much too good the naive best is")
    for axis in (left, right):
        axis.set(xlabel="searches", xticks=result["after"])
        axis.set_ylim(top=1.35 * axis.get_ylim()[1])
        axis.legend(frameon=False, loc="upper left")
