"""Which model to keep, decided again and again on one holdout: an agent's loop, and searches of real sets.

See `benchmarks.validity.decisions` for what an honest and a naive analyst do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from benchmarks.validity.coverage import consistent
from benchmarks.validity.decisions import (
    ARMS,
    COLUMNS,
    KINDS,
    KNOWN,
    MOST,
    ROWS,
    TELLING,
    TRAINED,
    Loop,
    searched,
)
from benchmarks.validity.figures.results import Claim, Shown, Table
from benchmarks.validity.metric_searches import of_runs
from benchmarks.validity.real_sets import rows_of
from benchmarks.validity.searches import single_use
from sklearn_ada.planning import display

__all__ = ["AFTER", "SEED", "SETS", "TITLE", "draw", "looped", "run", "shown", "summary"]

TITLE = "Keep or discard: an agent's loop, and searches in a row"
SEED = 0
AFTER = (1, 10, 30, 100, 300)
"""Proposals after which a loop ends."""
LOOPS, SPLITS = 12, 2
SETS = ("breast cancer", "digits", "fair")
BETA, FORESEEN, PUBLISHED = 0.05, 0.1, 1.2
PAIRS = ("score", "improvement")


def looped(seed: int, after: Sequence[int] = AFTER, **sizes: int) -> dict[str, Any]:
    """Return what naive keeping reports and what ours costs, of one draw of data, after so many proposals."""
    loop = Loop(max(after), seed, **sizes)
    return {"naive": loop.naive(after), "ours": loop.ours(after)}


def run(full: bool) -> dict[str, Any]:
    """Return what was found in loops and on real sets."""
    seeds, splits, after = (LOOPS, SPLITS, AFTER) if full else (2, 1, AFTER[:3])
    loops = Parallel(n_jobs=2)(delayed(looped)(SEED + seed, after) for seed in range(seeds))
    found = [name for name in SETS if _is_there(name)]
    tasks = [(name, SEED + split) for name in found for split in range(splits)]
    runs = Parallel(n_jobs=2)(delayed(searched)(*task) for task in tasks)
    sets = {name: [each for task, each in zip(tasks, runs, strict=True) if task[0] == name] for name in found}
    return summary(loops, sets, after)


def _is_there(name: str) -> bool:
    """Return whether the package that ships a set is installed."""
    try:
        rows_of(name)
    except ImportError:
        return False
    return True


def summary(
    loops: Sequence[dict[str, Any]], sets: dict[str, list[dict[str, Any]]], after: Sequence[int]
) -> dict[str, Any]:
    """Return medians, means and counts of all loops, and of all splits of each set."""
    naive, ours = [each["naive"] for each in loops], [each["ours"] for each in loops]
    reported = {what: np.array([each[what] for each in naive], dtype=float) for what in PAIRS}
    steps = np.array([step for each in naive for step in each["steps"]], dtype=float).reshape(-1, 2)
    last = [each[-1] for each in ours]

    def of(what: str) -> NDArray[Any]:
        return np.array([[end[what] for end in each] for each in ours])

    splitting = [
        [_split(end["value"], parts) for parts, end in zip(after, each, strict=True)] for each in ours
    ]
    return {
        "loops": len(loops),
        "after": list(after),
        "naive": {
            **{what: each[..., 0].mean(axis=0) for what, each in reported.items()},
            "missed": {what: each[..., 1].sum(axis=0).astype(int) for what, each in reported.items()},
            "steps": len(steps),
            "step": steps[:, 0].mean() if len(steps) else math.nan,
            "steps missed": int(steps[:, 1].sum()),
            "truth": np.mean([each["truth"] for each in naive]),
        },
        "ours": {
            **{what: of_runs(of(what)) for what in ("nats", "published", "last score", "last difference")},
            "optimism": of("optimism").mean(axis=0),
            "missed": np.sum(of("missed") > 0, axis=0),
            "publishing": np.median(of("publishing")[:, -1]),
            **{f"half-width of {kind}": np.median(of(f"half-width of {kind}"), axis=0) for kind in KINDS},
            **_costs(last),
            "truth": np.mean([each["truth"] for each in last]),
        },
        "splitting": np.median(splitting, axis=0),
        "sets": {
            name: {arm: _of_arm([each[arm] for each in splits]) for arm in ARMS}
            for name, splits in sets.items()
        },
        "splits": max(map(len, sets.values()), default=0),
        "missing": [name for name in SETS if name not in sets],
    }


def _split(value: float, parts: int) -> float:
    """Return the half-width of one of so many parts of the holdout, all at once, over that of all of it."""
    rows = ROWS // parts
    return single_use(round(value * rows), rows, BETA / parts) / single_use(round(value * ROWS), ROWS)


def _costs(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what comparisons cost, those that validation foresaw, and how many it did not foresee."""
    foreseen, all_nats = (
        np.concatenate([each[f"nats of {which}"] for each in runs]) for which in ("foreseen", "differences")
    )
    return {
        "comparisons": len(all_nats),
        "surprises": len(all_nats) - len(foreseen),
        "dear": sum(int(np.sum(np.array(each[f"nats of {kind}s"]) > 1.0)) for each in runs for kind in KINDS),
        "per comparison": np.median(foreseen),
    }


def _of_arm(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    named = (
        "rows", "kept", "better", "nats", "score", "difference", "published", "cross-validated", "value",
        *(f"half-width of {kind}" for kind in KINDS),
    )  # fmt: skip
    mean = np.mean([each["published"] for each in runs])
    return {**{key: np.median([each[key] for each in runs]) for key in named}, **_costs(runs), "mean": mean}


def shown(result: dict[str, Any]) -> Shown:
    """Return what the page says."""
    naive, ours, after, runs = result["naive"], result["ours"], result["after"], result["loops"]
    published, missed, sets = ours["published"], naive["missed"], result["sets"]
    sentence = (
        f"An agent that keeps, of {after[-1]} proposals, what is better on a plain holdout of {ROWS:,} rows "
        f"reports a score {naive['score'][-1]:.3f} too good and an improvement "
        f"{naive['improvement'][-1]:.3f} too good, whose 95 % intervals miss in {missed['score'][-1]} and "
        f"{missed['improvement'][-1]} of {runs} loops; one that keeps by validation, and asks about each "
        f"and compares it, pays {ours['nats']['median'][-1]:.2g} nats in all, and publishes the kept one "
        f"with an interval in the median {published['median'][-1]:.2f} times as wide as that of a single use "
        f"(in the mean {published['mean'][-1]:.2f})."
    )
    optimism = Table(
        "Optimism after so many proposals, means: what is reported minus the truth; and in how many of "
        f"{runs} loops an ordinary 95 % interval missed",
        (
            "proposals", "naive: score", "missed", "naive: improvement on the first model", "missed",
            "published: score", "loops in which any interval of ours missed",
        ),
        [
            [
                str(number),
                f"{naive['score'][at]:+.4f}", str(missed["score"][at]),
                f"{naive['improvement'][at]:+.4f}", str(missed["improvement"][at]),
                f"{ours['optimism'][at]:+.4f}", str(ours["missed"][at]),
            ]
            for at, number in enumerate(after)
        ],
    )  # fmt: skip
    widths = Table(
        f"Half-widths over a single use after so many proposals, medians of {runs} loops; nats of all "
        "questions",
        (
            "proposals", "newest score", "newest difference", "published", "mean", "nine of ten", "splitting",
            "nats", "mean",
        ),
        [
            [
                str(number),
                *(f"{ours[f'last {kind}']['median'][at]:.2f}" for kind in KINDS),
                *(f"{published[which][at]:.2f}" for which in ("median", "mean", "9 of 10")),
                f"{result['splitting'][at]:.2f}",
                *(f"{ours['nats'][which][at]:.2f}" for which in ("median", "mean")),
            ]
            for at, number in enumerate(after)
        ],
    )  # fmt: skip
    tables = [optimism, widths]
    if sets:
        tables += [_decisions(result), _widths(result)]
    everywhere = [ours, *(each for arms in sets.values() for each in arms.values())]
    dearest = max(each["per comparison"] for each in everywhere)
    claims = [
        Claim(
            f"a comparison that validation foresaw costs at most {FORESEEN} nats in the median, in loops and "
            "on every set",
            f"{ours['per comparison']:.4f} in loops, {dearest:.4f} at most",
            bool(dearest <= FORESEEN),
        ),
        Claim(
            f"after {after[-1]} proposals the kept model is published at {PUBLISHED} of a single use or "
            "less, in the median",
            f"{published['median'][-1]:.2f}; mean {published['mean'][-1]:.2f}",
            bool(published["median"][-1] <= PUBLISHED),
        ),
        Claim(
            "every interval of a loop at once, in all but beta of the loops",
            f"{runs - ours['missed'][-1]} of {runs}",
            bool(consistent(ours["missed"][-1], runs)),
        ),
    ]
    return Shown(sentence, _settings(result), tables, claims, _remarks(result))


def _decisions(result: dict[str, Any]) -> Table:
    rows = [
        [
            name, f"{each['rows']:.0f}", arm, f"{each['kept']:.0f}", f"{each['better']:.0f}",
            f"{each['cross-validated']:.3f}", f"{each['value']:.3f}",
        ]
        for name, arms in result["sets"].items()
        for arm, each in arms.items()
    ]  # fmt: skip
    return Table(
        f"Twenty searches of real sets: what was kept, medians of {result['splits']} splits",
        ("set", "holdout", "arm", "kept", "certified better", "cross-validated", "published"),
        rows,
    )


def _widths(result: dict[str, Any]) -> Table:
    rows = [
        [
            name, arm, f"{each['nats']:.2f}", f"{each['per comparison']:.3f}",
            f"{each['surprises']} of {each['comparisons']}",
            *(f"{each[f'half-width of {kind}']:.3f} ({each[kind]:.1f})" for kind in KINDS),
            f"{each['published']:.2f}", f"{each['mean']:.2f}",
        ]
        for name, arms in result["sets"].items()
        for arm, each in arms.items()
    ]  # fmt: skip
    return Table(
        "Twenty searches of real sets: nats, comparisons that validation did not foresee, half-widths while "
        "asking (over a normal interval of a single use), and published over a single use",
        ("set", "arm", "nats", "per foreseen comparison", "not foreseen", "score", "difference", "published",
         "mean"),
        rows,
    )  # fmt: skip


def _settings(result: dict[str, Any]) -> str:
    missing = f" Not installed, and left out: {', '.join(result['missing'])}." if result["missing"] else ""
    return (
        f"Loops: {result['loops']} draws of data with {COLUMNS} columns, of which {TELLING} tell something; "
        f"{TRAINED:,} rows to train on, {KNOWN * ROWS:,} to validate on, {ROWS:,} held out. A proposal "
        "changes two columns of the kept model's, one time in four its family (logistic, linear "
        "discriminants, naive Bayes, a tree), and is fitted to half of the training rows. Ours asks two "
        "questions about each, its score and its difference from the kept one, both of a ``Holdout`` with "
        '``answers="coarse"``. Splitting: each proposal has rows of its own, and all intervals hold at once. '
        f"Real sets: twenty grids of nine families; a quarter of at most {MOST:,} rows is held out; "
        f"guesses are cross-validated.{missing}"
    )


def _remarks(result: dict[str, Any]) -> list[str]:
    naive, ours, runs = result["naive"], result["ours"], result["loops"]
    return [
        f"Naive keeping, step by step: {naive['steps']} models were kept in all loops, each for an "
        f"improvement that was {naive['step']:.4f} too good in the mean; {naive['steps missed']} of their "
        f"ordinary intervals missed. Of all rows, what it ends with is right on {naive['truth']:.4f}, what "
        f"validation keeps on {ours['truth']:.4f}.",
        f"Of {2 * ours['comparisons']:,} questions in {runs} loops {ours['dear']} revealed more than a nat, "
        f"as validation did not foresee the answer; {ours['surprises']} of these are comparisons. All later "
        "intervals pay for it: so the mean of what is published is above the median. To publish costs "
        f"{ours['publishing']:.1f} nats more.",
        f"While asking, a score is within ±{ours['half-width of score'][-1]:.3f} and a difference within "
        f"±{ours['half-width of difference'][-1]:.3f}, in the median of all. So keep by validation: "
        "the holdout shows what is far worse. A gate keeps only what is better beyond doubt, which on some "
        "hundred rows is hardly anything.",
        "On small sets a comparison is oftener not foreseen: a few rows on which two models disagree have to "
        "say how often they do. The truth about real sets is not known, so no optimism is measured there.",
    ]


def draw(result: dict[str, Any], figure: Any) -> None:
    """Draw the optimism of what is reported, and half-widths over a single use, over the proposals."""
    left, right = figure.subplots(1, 2)
    naive, ours, after = result["naive"], result["ours"], result["after"]
    left.plot(after, naive["score"], "o-", color=display.NAIVE, label="naive keeping")
    left.plot(after, ours["optimism"], "o-", color=display.PUBLISHED, label="published")
    left.set_ylabel("how much too good what is reported is")
    for kind, style in zip(KINDS, ("o-", "o--"), strict=True):
        widths = ours[f"last {kind}"]["median"]
        right.plot(after, widths, style, color=display.SEARCHING, label=f"{kind}, while asking")
    right.plot(after, ours["published"]["median"], "o-", color=display.PUBLISHED)
    right.set_ylabel("width over that of a single use")
    right.set_ylim(bottom=0.0)
    for axis, level in ((left, 0.0), (right, 1.0)):
        axis.axhline(level, color="0.7", linewidth=0.5)
        axis.set(xscale="log", xticks=after, xticklabels=after)
        axis.set_xlabel(f"proposals on one holdout of {ROWS:,} rows")
        axis.minorticks_off()
        axis.set_ylim(top=1.35 * axis.get_ylim()[1])
        axis.legend(frameon=False, loc="upper left")
