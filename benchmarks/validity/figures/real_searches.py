"""Twenty searches in a row over real and simulated sets: grid, random, Optuna, on one holdout.

A set is the population and rows are drawn from it with replacement (`benchmarks.validity.real_sets`). An
analyst searches eight families of models by grid, at random and with Optuna in turns; then the families
again behind another preparation of the columns, in the order of what the holdout said of them; and so on
until 20 searches. The *naive* analyst scores every candidate on the holdout and keeps the best. *Ours*
scores candidates on three times as many validation rows, asks a `Holdout` about the winner of each search,
keeps the winner of which it answered best, and publishes its exact value. An accuracy is asked for with
``answers="coarse"``, so that all exact values can be unsealed in the end; other metrics are checked, and
certified once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import binomtest

from benchmarks.validity.coverage import consistent
from benchmarks.validity.figures.results import Claim, Shown, Table
from benchmarks.validity.real_sets import SETS, SETTINGS, WORST_ERROR, fitted
from benchmarks.validity.search_conversations import (
    BETA,
    KINDS,
    SCHEMES,
    SEARCHES,
    SEED,
    TRIALS,
    Conversation,
    optuna_version,
)
from benchmarks.validity.searches import AFTER
from sklearn_ada.planning.display import NAIVE, PUBLISHED

__all__ = ["SEED", "TITLE", "draw", "measured", "run", "shown"]

TITLE = "Searches as people run them: real sets"
LABELS = ("true labels", "permuted labels")
SHORT = ("digits", "breast cancer", "diabetes")


def measured(name: str, labels: str, conversations: int) -> dict[str, Any] | None:
    """Return what was found on one set, or None where the package that ships it is not installed."""
    permuted = labels == LABELS[1]
    try:
        rows, candidates = fitted(name, permuted)
    except ImportError:
        return None
    runs = []
    for seed in range(conversations):
        y = np.random.default_rng([SEED, 1, seed]).permutation(rows.y) if permuted else rows.y
        one = Conversation(candidates, SETS[name].n, y, seed)
        runs.append({**one.naive(), **one.ours()})
    means = ("naive", "naive true", "ours", "ours true", "surprises")
    error = float(np.std([each["fresh"] for each in runs]))
    widths = np.array([each["widths"] for each in runs])  # conversations, after, schemes
    medians = np.median(widths, axis=0).T  # nan where nothing is sealed, in all conversations or none
    return {
        "rows": len(rows.y),
        "n": SETS[name].n,
        "metric": SETS[name].metric,
        **{key: np.mean([each[key] for each in runs], axis=0) for key in means},
        **{key: sum(each[key] for each in runs) for key in (*KINDS, "all")},
        "standard error": error,
        "naive missed": sum(abs(each["naive"][-1]) > 1.96 * error for each in runs),
        "widths": dict(zip(SCHEMES, medians, strict=True)),
    }


def run(full: bool) -> dict[str, Any]:
    """Return what was found on all sets."""
    conversations, names = (100, tuple(SETS)) if full else (10, SHORT)
    tasks = [(name, labels) for name in names for labels in LABELS]
    found = Parallel(n_jobs=2)(delayed(measured)(*task, conversations) for task in tasks)
    missing = sorted({name for (name, _), each in zip(tasks, found, strict=True) if each is None})
    names_of = [f"{name}, {labels}" for name, labels in tasks]
    return {
        "conversations": conversations,
        "after": list(AFTER),
        "optuna": optuna_version(),
        "missing": missing,
        "sets": {name: each for name, each in zip(names_of, found, strict=True) if each is not None},
    }


def how_fine(missed: int, runs: int) -> str:
    """Return whether the naive best's ordinary 95 % interval held: "yes", "nearly" or "no".

    "nearly": it missed in more than 5 % of the conversations, but no more often than chance explains (one in
    a hundred).
    """
    if missed <= BETA * runs:
        return "yes"
    chance = binomtest(missed, runs, BETA, alternative="greater").pvalue
    return "nearly" if chance >= 0.01 else "no"


def shown(result: dict[str, Any]) -> Shown:
    """Return what the page says."""
    sets, runs, after = result["sets"], result["conversations"], result["after"]
    errors = {name: each["naive"][-1] / each["standard error"] for name, each in sets.items()}
    worst = max(errors, key=lambda name: errors[name])
    fine = {name: how_fine(each["naive missed"], runs) for name, each in sets.items()}
    enough = [f"{name} ({how})" for name, how in fine.items() if how != "no"]
    ends = [each["widths"]["published"][-1] for each in sets.values()]
    split = [each["widths"]["splitting"][-1] for each in sets.values()]
    sentence = (
        f"After {SEARCHES} searches by grid, at random and with Optuna the naive best is between "
        f"{min(errors.values()):.1f} and {errors[worst]:.1f} standard errors too good (most on {worst}), and "
        f"fine, or nearly so, on {len(enough)} of {len(sets)} sets; the model that we publish has in "
        f"the median an interval {min(ends):.2f} to {max(ends):.2f} times as wide as that of a single use, "
        f"where splitting gives {min(split):.1f} to {max(split):.1f}."
    )
    optimism = Table(
        "Optimism: what is reported minus the population value, naive best after so many searches, in units "
        "of the metric",
        ("set", "rows", "holdout", "metric", *(f"naive, {k}" for k in after), "standard error", "ours"),
        [
            [
                name, f"{each['rows']:,}", f"{each['n']:,}", each["metric"],
                *(f"{value:+.4f}" for value in each["naive"]), f"{each['standard error']:.4f}",
                f"{each['ours']:+.4f}",
            ]
            for name, each in sets.items()
        ],
    )  # fmt: skip
    kept = Table(
        "The naive holdout: conversations in which its ordinary 95 % interval missed, and the population "
        "value of the model kept",
        ("set", f"missed, of {runs}", "fine", "kept by naive", "kept by ours", "surprises in our answers"),
        [
            [
                name, str(each["naive missed"]), fine[name],
                f"{each['naive true']:.4f}", f"{each['ours true']:.4f}", f"{each['surprises']:.1f}",
            ]
            for name, each in sets.items()
        ],
    )  # fmt: skip
    coverage = Table(
        f"Conversations of {runs} in which every interval of ours held, at 95 %",
        ("set", "while searching", "at the end", "unsealed", "all together"),
        [
            [
                name,
                *(
                    str(each[key]) if key != "unsealed" or each["metric"] == "accuracy" else ""
                    for key in (*KINDS, "all")
                ),
            ]
            for name, each in sets.items()
        ],
    )
    widths = Table(
        "Width over that of a single use after so many searches, median of all conversations",
        ("set", "scheme", *map(str, after)),
        [
            [name, scheme, *("" if value is None else f"{value:.2f}" for value in values)]
            for name, each in sets.items()
            for scheme, values in each["widths"].items()
            if values[0] is not None
        ],
    )
    claims = [
        Claim(
            f"{name}: every interval, in all but beta of the conversations",
            f"{each['all']} of {runs}",
            consistent(runs - each["all"], runs) and runs - each["all"] <= BETA * runs,
        )
        for name, each in sets.items()
    ]
    tuned = (
        "not installed; its turns were searched at random" if result["optuna"] is None else result["optuna"]
    )
    missing = f" Not installed, and left out: {', '.join(result['missing'])}." if result["missing"] else ""
    remarks = [
        "The naive holdout was fine (its ordinary 95 % interval missed in no more than 5 % of the "
        "conversations; nearly: in no more than chance explains at one in a hundred) on: "
        f"{'; '.join(enough) if enough else 'none of the sets'}. On true labels its best was at most "
        f"{max(errors[name] for name in sets if name.endswith(LABELS[0])):.1f} standard errors too good, on "
        f"permuted ones up to {max(errors[name] for name in sets if name.endswith(LABELS[1])):.1f}.",
        "A set is its own population: holdout and validation rows are drawn from it with replacement, as "
        "data are simulated from the empirical law of the set. What is certified is the score in the set, "
        "not in what it was drawn from. Intervals for accuracies speak of the holdout's class mix, and are "
        "compared with the population accuracy at that mix.",
        "Each candidate is fitted once: its predictions are reused in all conversations, by naive analyst "
        "and ours alike. All answers come out of a `Holdout`, whose ledger is in memory.",
    ]
    settings = (
        f"{runs} conversations of each set; guesses come from three times as many rows as the holdout has; a "
        f"search looks at {SETTINGS} settings by grid, or {TRIALS} of them at random or with Optuna (version "
        f"{tuned}). Diabetes: absolute errors clipped to {WORST_ERROR:.0f}; 1 % positives: AUC; both are "
        f"checked while searching, and nothing is sealed.{missing}"
    )
    return Shown(sentence, settings, (optimism, kept, coverage, widths), claims, remarks)


def draw(result: dict[str, Any], figure: Any) -> None:
    """Draw optimism in standard errors, and published widths, of the sets with most and least optimism."""
    left, right = figure.subplots(1, 2)
    sets = sorted(result["sets"].items(), key=lambda item: item[1]["naive"][-1] / item[1]["standard error"])
    alike = [[item for item in sets if item[0].endswith(labels)] for labels in LABELS]
    most = max(each["naive"][-1] / each["standard error"] for _, each in sets)
    drawn = [item for group in alike for item in (group[-1], group[0])]
    for style, (name, each) in zip(("--", "-.", "-", ":"), drawn, strict=True):
        values = [value / each["standard error"] for value in each["naive"]]
        left.plot(result["after"], values, style, color=NAIVE, label=name)
    name, each = max(sets, key=lambda item: item[1]["widths"]["published"][-1])
    for scheme, label, colour in (
        ("splitting", "new rows for each search", "tab:gray"),
        ("published", "ours, published", PUBLISHED),
    ):
        right.plot(result["after"], each["widths"][scheme], marker=".", color=colour, label=label)
    right.axhline(1.0, color="black", linestyle="--", label="a single use")
    left.axhline(0.0, color="0.7", linewidth=0.5)
    left.set(ylabel="how much too good the naive best is,\nin standard errors", ylim=(-0.2, 1.6 * most))
    right.set(ylabel=f"width over that of a single use\n({name}, the widest)", ylim=(0, None))
    for axis in (left, right):
        axis.set(xlabel="searches", xticks=result["after"])
        axis.legend(frameon=False, loc="upper left")
