"""The best of many candidates on random labels: plain intervals leave the truth, certified ones do not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.validity.candidates import asked, publish_best
from benchmarks.validity.figures.results import Claim, Shown, Table
from sklearn_ada.answer import Answer
from sklearn_ada.guarantees import clopper_pearson
from sklearn_ada.planning.display import NAIVE, PUBLISHED, SEARCHING

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
    Clopper and Pearson, and that of the candidate of the best guess, at which it looks once. A holdout of
    sealed answers is asked about all candidates of a search, with the score of cross-validation as guess, and
    reports the best answer; then the candidate of the best guess is published.
    """
    rng = np.random.default_rng([SEED, seed])
    guesses, counts = rng.binomial(GUESS_ROWS, TRUTH, after[-1]), rng.binomial(ROWS, TRUTH, after[-1])
    searching, published, missed = [], [], []
    for each in after:
        holdout, answers = asked(guesses[:each], counts[:each], ROWS, guess_rows=GUESS_ROWS, seed=seed)
        searching.append(_interval(max(answers, key=lambda answer: float(answer.value))))
        published.append(_interval(publish_best(holdout, guesses[:each], counts[:each], GUESS_ROWS)))
        ends = [*map(_interval, answers), published[-1]]
        missed.append(not all(low <= TRUTH <= high for _, low, high in ends))
    plain = [_plain(int(counts[:each].max())) for each in after]
    once = [_plain(int(counts[guesses[:each].argmax()])) for each in after]
    return {"plain": plain, "once": once, "told": searching, "published": published, "missed": missed}


def _plain(count: int) -> Interval:
    low, high = clopper_pearson(count, count, ROWS, math.log(BETA))
    return count / ROWS, low, high


def _interval(answer: Answer) -> Interval:
    low, high = answer.interval
    return float(answer.value), low, high


def run(full: bool) -> dict[str, Any]:
    """Return, for each number of candidates, medians over the runs, and how often the truth was missed."""
    runs = [one(seed) for seed in range(100 if full else 10)]
    plain, once, searching, published = (
        np.array([each[name] for each in runs]) for name in ("plain", "once", "told", "published")
    )
    return {
        "runs": len(runs),
        "rows": ROWS,
        "after": list(AFTER),
        "plain": {"median": np.median(plain, axis=0), "missed": _missed(plain)},
        "once": {"median": np.median(once, axis=0), "missed": _missed(once)},
        "ours": {
            "told": np.median(searching, axis=0),
            "published": np.median(published, axis=0),
            "missed": np.sum([each["missed"] for each in runs], axis=0),
        },
    }


def _missed(intervals: Any) -> Any:
    """Return in how many runs an interval leaves the truth, for each number of candidates."""
    return ((intervals[..., 1] > TRUTH) | (intervals[..., 2] < TRUTH)).sum(axis=0)


def shown(result: dict[str, Any]) -> Shown:
    """Return what the page says."""
    runs, after = result["runs"], result["after"]
    plain, once, ours = result["plain"], result["once"], result["ours"]
    sentence = (
        f"On random labels, where every candidate is right half of the time, the best of {after[-1]:,} "
        f"scores on one plain holdout of {result['rows']:,} rows is {plain['median'][-1][0]:.3f}, and its "
        f"95 % interval misses the truth in {plain['missed'][-1]} of {runs} runs. Who chooses by "
        "cross-validation and looks at the plain holdout once, in the end, misses it in "
        f"{once['missed'][-1]}. Ours may look at every candidate: of its {after[-1]:,} intervals while "
        "searching and the published one, one or more missed the truth in "
        f"{ours['missed'][-1]} of {runs} runs."
    )
    rows = [
        [
            f"{each:,}",
            _text(plain["median"][number]),
            f"{plain['missed'][number]}",
            _text(once["median"][number]),
            f"{once['missed'][number]}",
            _text(ours["told"][number]),
            _text(ours["published"][number]),
            f"{ours['missed'][number]}",
        ]
        for number, each in enumerate(after)
    ]
    table = Table(
        f"The best, with its interval (medians), and runs that missed the truth, of {runs}",
        (
            *("candidates", "naive: best on the plain holdout", "missed"),
            *("best by cross-validation, one plain look", "missed"),
            *("ours: best answer while searching", "best by cross-validation, published", "missed"),
        ),
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
            bool(max(ours["missed"]) <= _allowed(runs)),
        ),
    ]
    settings = (
        "Labels are coin flips, and nothing is fitted: scores are drawn. "
        f"Guesses are scores on {GUESS_ROWS:,} rows of training data, values are "
        f"scores on the holdout's {result['rows']:,} rows; the answers came out of a ``Holdout`` with "
        '``answers="coarse"``. The naive user keeps the best score on the holdout; ours reads all answers, '
        "keeps the candidate of the best guess, as cross-validation would, and publishes its score on the "
        "holdout. The user in between chooses as ours does, but nobody may look at the holdout before: "
        f"a plain interval misses in 5 of 100 on average then. Chance allows {_allowed(runs):.0f} of {runs}."
    )
    return Shown(sentence, settings, [table], claims)


def _allowed(runs: int) -> float:
    """Return how many runs may miss: what is expected, and four standard deviations."""
    return BETA * runs + 4.0 * math.sqrt(BETA * runs)


def _text(interval: Interval) -> str:
    value, low, high = interval
    return f"{value:.3f} [{low:.3f}, {high:.3f}]"


def draw(result: dict[str, Any], figure: Any) -> None:
    """Draw two panels: the best score of a plain holdout, and what a reusable one says."""
    left, right = figure.subplots(1, 2, sharey=True)
    after, runs, plain, ours = result["after"], result["runs"], result["plain"], result["ours"]
    value, low, high = np.array(plain["median"]).T
    left.fill_between(after, low, high, color=NAIVE, alpha=0.25, lw=0, label="its plain 95 % interval")
    left.plot(after, value, color=NAIVE, label="best score on the holdout")
    _, low, high = np.array(ours["told"]).T
    right.fill_between(after, low, high, color=SEARCHING, alpha=0.2, lw=0, label="while searching")
    value, low, high = np.array(ours["published"]).T
    right.fill_between(after, low, high, color=PUBLISHED, alpha=0.4, lw=0, label="published interval")
    right.plot(after, value, color=PUBLISHED, label="published score")
    titles = (
        f"Plain holdout, the best score chosen on it:\nthe best of {after[-1]:,} missed the truth\nin "
        f"{plain['missed'][-1]} of {runs} runs",
        f"sklearn_ada, chosen by cross-validation:\none or more of {after[-1] + 1:,} intervals missed\n"
        f"it in {ours['missed'][-1]} of {runs} runs",
    )
    for axis, title in zip((left, right), titles, strict=True):
        axis.axhline(TRUTH, color="black", linestyle="--", linewidth=1, label="truth of every candidate")
        axis.set(xscale="log", xlabel="candidates scored on one holdout")
        axis.set(xlim=(after[0], after[-1]), ylim=(0.36, 0.72))
        axis.set_title(title, loc="left", fontsize="medium")
        axis.legend(loc="upper left", frameon=False)
        axis.spines[["top", "right"]].set_visible(False)
    left.set_ylabel("accuracy")
