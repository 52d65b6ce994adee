"""Searches in a row by every metric: widths over a single use, told while searching and published in the end.

See `benchmarks.validity.metric_searches`. Guesses have three times as many rows as the holdout; those of the
real sets (`benchmarks.validity.real_twenty`) are cross-validated.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from benchmarks.validity.figures.results import Claim, Shown, Table
from benchmarks.validity.metric_searches import (
    AFTER,
    KINDS,
    MANY,
    ROWS,
    WHAT,
    many_asks,
    of_runs,
    summary,
    widths,
)
from benchmarks.validity.real_twenty import SETS
from benchmarks.validity.real_twenty import widths as widths_of_real
from sklearn_ada.planning import display

TITLE = "Searches by every metric"
SEED = 0
SEEDS = 100
SEARCHING, PUBLISHED, ELSEWHERE = (3.1, 3.5, 3.7), (1.05, 1.12, 1.16), (1.09, 1.17, 1.2)
OF_ACCURACY, REAL, NATS = (0.96, 1.02, 1.07, 1.15, 1.2), (1.0, 1.07, 1.13), 1.0
"""What was aimed at, in the median."""


def run(full: bool) -> dict[str, Any]:
    """Return widths by metric, on ledgers begun by it and on others, and those of real sets."""
    found: dict[str, Any] = {
        "after": list(AFTER),
        "many": list(MANY),
        "metrics": {},
        "others": {},
        "real": {},
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seeds = range(SEEDS if full else 2)
        for name, kind in KINDS.items():
            found["metrics"][name] = summary([widths(kind, ROWS, seed) for seed in seeds])
            if name != "accuracy":
                runs = [widths(kind, ROWS, seed, others=True) for seed in seeds]
                found["others"][name] = summary(runs)
        found["accuracy"] = of_runs([many_asks(ROWS, seed) for seed in seeds])
        for name, (load, splits) in SETS.items() if full else ():
            runs = [widths_of_real(*load(return_X_y=True), seed) for seed in range(splits)]
            found["real"][name] = {"n": runs[0]["n"], **summary(runs)}
    return found


def _table(caption: str, found: dict[str, Any], which: str) -> Table:
    """Return medians, and the 90 % quantile where it is published, of every row."""
    header = ("", "runs", *(f"{what}, after {after}" for what in which.split("; ") for after in AFTER))
    rows = []
    for name, each in found.items():
        cells = [
            f"{each[what]['median'][i]:.2f} ({each[what]['mean'][i]:.2f}, {each[what]['9 of 10'][i]:.2f})"
            for what in which.split("; ")
            for i in range(len(AFTER))
        ]
        rows.append([name, str(each["runs"]), *cells])
    return Table(caption, header, rows)


def shown(result: dict[str, Any]) -> Shown:
    """Return what the page says."""
    metrics, others, real, many = (result[key] for key in ("metrics", "others", "real", "accuracy"))
    both = "; ".join(WHAT[:2])
    tables = [
        _table(
            "Median (mean, 90 % quantile) over a single use, on ledgers begun by the metric", metrics, both
        ),
        _table("Nats paid by then: median (mean, 90 % quantile)", metrics, WHAT[2]),
        _table("The same on ledgers that were begun by an accuracy", others, both),
        Table(
            "An accuracy, its winners independent: published after so many asks",
            ("", *map(str, result["many"])),
            [[key, *(f"{value:.2f}" for value in many[key])] for key in ("median", "mean", "9 of 10")],
        ),
        _table(
            "Accuracy on real sets, n rows held out",
            {f"{name}, n = {each['n']}": each for name, each in real.items()},
            "; ".join(WHAT),
        ),
    ]
    by_metric = {name: each for name, each in metrics.items() if name != "accuracy"}
    claims = [
        _claim("while searching, by every metric", by_metric, WHAT[0], SEARCHING),
        _claim("published, on ledgers begun by the metric", by_metric, WHAT[1], PUBLISHED),
        _claim("published, on other ledgers", others, WHAT[1], ELSEWHERE),
        _claim("nats after nine searches", metrics, WHAT[2], (np.inf, NATS, np.inf)),
        _claim(
            "nats after nine searches, in nine runs of ten",
            metrics,
            WHAT[2],
            (np.inf, NATS, np.inf),
            "9 of 10",
        ),
        _within("an accuracy, published", {"": many["median"]}, OF_ACCURACY),
    ]
    if real:
        claims.append(_claim("an accuracy of a real set, published", real, WHAT[1], REAL))
    worst = [max(each[WHAT[1]]["median"][i] for each in by_metric.values()) for i in range(len(AFTER))]
    sentence = (
        f"Published after 1, 9 and 20 searches in a row, a value has an interval {many['median'][0]:.2f}, "
        f"{many['median'][1]:.2f} and {many['median'][2]:.2f} times as wide as that of a single use for an "
        f"accuracy, and at most {worst[0]:.2f}, {worst[1]:.2f} and {worst[2]:.2f} times for any other "
        "metric, in the median; where winners of accuracy are independent, one run in ten is at least "
        f"{result['accuracy']['9 of 10'][2]:.2f} times as wide after 20."
    )
    settings = (
        f"n = {ROWS:,}; guesses from three times as many rows; winners of one population, asked about on the "
        "same rows; a single use is the same construction at 95 %, unrounded, an accuracy's Clopper and "
        "Pearson's."
    )
    remarks = [
        "A difference is published here as a model's value is; `Holdout` has no method for that, and unseals "
        "it at the level of its asking, which is wider.",
        "Models of one population are asked about on the same rows, so surprises come together: few runs "
        "have any, and their means are above the medians. Where each winner is independent, as in the table "
        "of many asks, more runs have one. So it is on real sets, whose holdouts are small: a run with a "
        "surprise has paid some five nats or more.",
    ]
    return Shown(sentence, settings, tables, claims, remarks)


def _claim(name: str, found: dict[str, Any], what: str, most: tuple[float, ...], of: str = "median") -> Claim:
    return _within(name, {each: values[what][of] for each, values in found.items()}, most)


def _within(name: str, found: dict[str, Any], most: tuple[float, ...]) -> Claim:
    """Return that no value of any row is above what was aimed at."""
    largest = [max(values[i] for values in found.values()) for i in range(len(most))]
    limits = [(value, limit) for value, limit in zip(largest, most, strict=True) if np.isfinite(limit)]
    return Claim(
        f"{name}: at most {', '.join(f'{limit:g}' for _, limit in limits)}",
        ", ".join(f"{value:.2f}" for value, _ in limits),
        all(value < limit + 0.005 for value, limit in limits),
    )


def draw(result: dict[str, Any], figure: Any) -> None:
    """Draw medians while searching and published, of the widest two, the middle and the narrowest."""
    last = {name: each[WHAT[1]]["median"][-1] for name, each in result["metrics"].items()}
    by_width = sorted(last, key=last.__getitem__)
    names = (by_width[-1], by_width[-2], by_width[len(last) // 2], by_width[0])
    colours = dict(zip(WHAT, (display.SEARCHING, display.PUBLISHED), strict=False))
    for axis, (what, colour) in zip(figure.subplots(1, 2), colours.items(), strict=True):
        for name, style in zip(names, ("-", "--", "-.", ":"), strict=True):
            medians = result["metrics"][name][what]["median"]
            axis.plot(result["after"], medians, style, color=colour, label=name)
        axis.set(xlabel="searches", xticks=result["after"], ylabel=f"{what}: width over that of a single use")
        axis.set_ylim(0, 1.5 * max(axis.get_ylim()))
        axis.legend(frameon=False, loc="upper left")
