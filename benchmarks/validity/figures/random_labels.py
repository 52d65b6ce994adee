"""The best of many candidates on random labels: plain intervals leave the truth, certified ones do not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.validity.candidates import asked, publish_best
from benchmarks.validity.figures.results import Claim, Shown, Table
from sklearn_ada.answer import Answer
from sklearn_ada.guarantees import clopper_pearson

TITLE = "The best of many candidates on random labels"
SEED = 0
TRUTH, BETA = 0.5, 0.05
ROWS, GUESS_ROWS = 1_000, 3_000
AFTER = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)
"""Numbers of candidates after which the best so far is looked at."""

Interval = tuple[float, float, float]


def one(seed: int, after: tuple[int, ...] = AFTER) -> dict[str, Any]:
    """Return value, low and high end of the best of so many candidates, for one draw of labels.

    All candidates are right half of the time. The plain holdout reports the best score with its interval of
    Clopper and Pearson. A holdout of sealed answers is asked about all candidates of a search, with the score
    of cross-validation as guess, and reports the best answer; then the candidate of the best guess is
    published.
    """
    rng = np.random.default_rng([SEED, seed])
    guesses, counts = rng.binomial(GUESS_ROWS, TRUTH, after[-1]), rng.binomial(ROWS, TRUTH, after[-1])
    told, published, missed = [], [], []
    for each in after:
        holdout, answers = asked(guesses[:each], counts[:each], ROWS, guess_rows=GUESS_ROWS, seed=seed)
        told.append(_interval(max(answers, key=lambda answer: float(answer.value))))
        published.append(_interval(publish_best(holdout, guesses[:each], counts[:each], GUESS_ROWS)))
        ends = [*map(_interval, answers), published[-1]]
        missed.append(not all(low <= TRUTH <= high for _, low, high in ends))
    plain = [_plain(int(counts[:each].max())) for each in after]
    return {"plain": plain, "told": told, "published": published, "missed": missed}


def _plain(count: int) -> Interval:
    low, high = clopper_pearson(count, count, ROWS, math.log(BETA))
    return count / ROWS, low, high


def _interval(answer: Answer) -> Interval:
    low, high = answer.interval
    return float(answer.value), low, high


def run(full: bool) -> dict[str, Any]:
    """Return, for each number of candidates, medians over the runs, and how often the truth was missed."""
    runs = [one(seed) for seed in range(100 if full else 10)]
    plain, told, published = (
        np.array([each[name] for each in runs]) for name in ("plain", "told", "published")
    )
    outside = (plain[..., 1] > TRUTH) | (plain[..., 2] < TRUTH)
    return {
        "runs": len(runs),
        "rows": ROWS,
        "after": list(AFTER),
        "plain": {"median": np.median(plain, axis=0), "missed": outside.sum(axis=0)},
        "ours": {
            "told": np.median(told, axis=0),
            "published": np.median(published, axis=0),
            "missed": np.sum([each["missed"] for each in runs], axis=0),
        },
    }


def shown(result: dict[str, Any]) -> Shown:
    """Return what the page says."""
    runs, after = result["runs"], result["after"]
    plain, ours = result["plain"], result["ours"]
    sentence = (
        f"On random labels, where every candidate is right half of the time, the best of {after[-1]:,} "
        f"scores on one plain holdout of {result['rows']:,} rows is {plain['median'][-1][0]:.3f}, and its "
        f"95 % interval misses the truth in {plain['missed'][-1]} of {runs} runs; of a reusable holdout's "
        f"intervals, all {after[-1]:,} and the published one, one or more missed it in "
        f"{ours['missed'][-1]} of {runs} runs."
    )
    rows = [
        [
            f"{each:,}",
            _text(plain["median"][number]),
            f"{plain['missed'][number]}",
            _text(ours["told"][number]),
            _text(ours["published"][number]),
            f"{ours['missed'][number]}",
        ]
        for number, each in enumerate(after)
    ]
    table = Table(
        f"The best, with its interval (medians), and runs that missed the truth, of {runs}",
        ("candidates", "plain holdout", "missed", "best answer while searching", "kept, published", "missed"),
        rows,
    )
    claims = [
        Claim(
            "the plain interval of the best of 1,000 misses in more than half of the runs",
            f"{plain['missed'][-1]} of {runs}",
            2 * plain["missed"][-1] > runs,
        ),
        Claim(
            "all certified intervals of a search together miss in no more runs than 5 % and chance allow",
            f"at most {max(ours['missed'])} of {runs}",
            bool(max(ours["missed"]) <= BETA * runs + 4.0 * math.sqrt(BETA * runs)),
        ),
    ]
    settings = (
        f"Labels are coin flips. Guesses are scores on {GUESS_ROWS:,} rows of training data, values are "
        f"scores on the holdout's {result['rows']:,} rows; the answers came out of a ``Holdout`` with "
        '``answers="coarse"``. A plain user keeps the best score; ours reads all answers, keeps the '
        "candidate of the best guess and publishes its exact score."
    )
    return Shown(sentence, settings, [table], claims)


def _text(interval: Interval) -> str:
    value, low, high = interval
    return f"{value:.3f} [{low:.3f}, {high:.3f}]"


def draw(result: dict[str, Any], figure: Any) -> None:
    """Draw two panels: the best score of a plain holdout, and what a reusable one says."""
    left, right = figure.subplots(1, 2, sharey=True)
    after, runs, plain, ours = result["after"], result["runs"], result["plain"], result["ours"]
    value, low, high = np.array(plain["median"]).T
    left.fill_between(after, low, high, color="0.8", label="its 95 % interval")
    left.plot(after, value, color="black", label="best score")
    _, low, high = np.array(ours["told"]).T
    right.fill_between(after, low, high, color="0.9", label="interval while searching")
    value, low, high = np.array(ours["published"]).T
    right.fill_between(after, low, high, color="0.7", label="interval of the published score")
    right.plot(after, value, color="black", label="published score of the kept one")
    titles = (
        f"Plain holdout: interval of the best of {after[-1]:,}\nmissed the truth in "
        f"{plain['missed'][-1]} of {runs} runs",
        f"Reusable holdout: one or more of {after[-1] + 1:,}\nintervals missed it in "
        f"{ours['missed'][-1]} of {runs} runs",
    )
    for axis, title in zip((left, right), titles, strict=True):
        axis.axhline(TRUTH, color="tab:red", linestyle="--", label="truth of every candidate")
        axis.set(xscale="log", xlabel="candidates scored on one holdout", title=title)
        axis.set(xlim=(after[0], after[-1]), ylim=(0.36, 0.68))
        axis.legend(fontsize=7, loc="upper left", ncols=1)
    left.set_ylabel("accuracy")
